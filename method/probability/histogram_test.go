package probability

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHistogram(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name  string
		w     []float32
		steps int
		want  Histogram
	}{
		{"ends belong to it", []float32{0, 1, 2, 3, 4, nan}, 4, Histogram{0, 4, []int{1, 1, 1, 2}, 1}},
		{"one value", []float32{.5, .5}, 3, Histogram{.5, .5, []int{2, 0, 0}, 0}},
		{"none", []float32{nan, nan}, 2, Histogram{0, 0, []int{0, 0}, 2}},
		{"no pair", nil, 2, Histogram{0, 0, []int{0, 0}, 0}},
		{"negative", []float32{-3, -1, -1}, 2, Histogram{-3, -1, []int{1, 2}, 0}},
		{"no steps", []float32{1, 2}, 0, Histogram{1, 2, []int{2}, 0}},
	} {
		got := NewHistogram(c.w, c.steps)
		if got.Low != c.want.Low || got.High != c.want.High || got.Missing != c.want.Missing || !slices.Equal(got.Count, c.want.Count) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Every similarity is counted once, in the step that it lies in.
func TestHistogramCountsAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		w := make([]float32, 1+r.IntN(200))
		for i := range w {
			if w[i] = float32(r.NormFloat64()); r.IntN(4) == 0 {
				w[i] = float32(math.NaN())
			}
		}
		h := NewHistogram(w, 1+r.IntN(30))
		total := h.Missing
		for k, n := range h.Count {
			total += n
			lo := h.Low + (h.High-h.Low)*float64(k)/float64(len(h.Count))
			hi := h.Low + (h.High-h.Low)*float64(k+1)/float64(len(h.Count))
			inside := 0
			for _, x := range w {
				if x := float64(x); x >= lo-1e-9 && x <= hi+1e-9 {
					inside++
				}
			}
			if inside < n {
				t.Fatalf("step %d has %d of the %d from %v to %v", k, n, inside, lo, hi)
			}
		}
		if total != len(w) {
			t.Fatalf("%d of %d are counted", total, len(w))
		}
	}
}
