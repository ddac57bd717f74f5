package probability

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestCut(t *testing.T) {
	rnd := random(1)
	draws := map[string]func() float32{
		"distinct": func() float32 { return float32(rnd.NormFloat64()) },
		"tied":     func() float32 { return float32(rnd.IntN(20)) / 20 },
		"sparse": func() float32 {
			return float32(max(0, rnd.NormFloat64()))
		},
		"signed zeros": func() float32 {
			return float32(math.Copysign(float64(rnd.IntN(2)), rnd.NormFloat64()))
		},
		"tiny and huge": func() float32 {
			return float32(math.Copysign(math.Pow(10, rnd.Float64()*70-35), rnd.NormFloat64()))
		},
		"next to 1": func() float32 { return math.Float32frombits(math.Float32bits(1) - rnd.Uint32N(40)) },
	}
	for name, draw := range draws {
		t.Run(name, func(t *testing.T) {
			for range 300 {
				w := make([]float32, 1+rnd.IntN(200))
				for i := range w {
					w[i] = draw()
					if rnd.IntN(5) == 0 {
						w[i] = nan32
					}
				}
				checkSegments(t, w, 1+rnd.IntN(60))
				if t.Failed() {
					t.Fatalf("similarities %v", w)
				}
			}
		})
	}
}

// checkSegments cuts w and holds the result to all that Eq. f_function and cut
// promise.
func checkSegments(t *testing.T, w []float32, parts int) {
	t.Helper()
	s := cut(w, parts)
	got := len(s.mean)
	if len(s.count) != got || len(s.start) != got || len(s.of) != len(w) {
		t.Fatalf("%d means, %d counts, %d starts; %d of %d pairs", got, len(s.count), len(s.start), len(s.of), len(w))
	}
	count, sum, size := make([]float64, got), make([]float64, got), make([]float64, got)
	var present []int
	for i, x := range w {
		if x != x {
			if s.of[i] != -1 {
				t.Errorf("pair %d lacks the view and is in segment %d", i, s.of[i])
			}
			continue
		}
		present = append(present, i)
		count[s.of[i]]++
		sum[s.of[i]] += float64(x)
		size[s.of[i]] = max(size[s.of[i]], math.Abs(float64(x)))
	}
	if !slices.Equal(count, s.count) {
		t.Errorf("counts %v, not %v", s.count, count)
	}
	for i, x := range s.mean {
		if mean := sum[i] / count[i]; !near(x, mean, 1e-12*size[i]) {
			t.Errorf("segment %d: mean %v, not %v", i, x, mean)
		}
		if i > 0 && !(s.mean[i-1] < x && s.start[i-1] < s.start[i]) {
			t.Errorf("segment %d: mean %v after %v, start %v after %v", i, x, s.mean[i-1], s.start[i], s.start[i-1])
		}
	}
	slices.SortFunc(present, func(a, b int) int { return int(s.of[a] - s.of[b]) })
	ties := false
	for k := 1; k < len(present); k++ {
		a, b := present[k-1], present[k]
		if s.of[a] < s.of[b] && w[a] >= w[b] {
			t.Errorf("similarity %v is in segment %d, %v in %d", w[a], s.of[a], w[b], s.of[b])
		}
	}
	values := slices.Clone(w)
	values = slices.DeleteFunc(values, func(x float32) bool { return x != x })
	slices.Sort(values)
	for k := 1; k < len(values); k++ {
		ties = ties || values[k-1] == values[k]
	}
	switch n := len(present); {
	case n == 0 && got != 0, n > 0 && (got < 1 || got > min(parts, n)):
		t.Errorf("%d segments of %d pairs, %d wanted", got, n, parts)
	case n > 0 && !ties:
		if got != min(parts, n) || slices.Max(count)-slices.Min(count) > 1 {
			t.Errorf("%d segments of %v pairs, %d wanted", got, count, min(parts, n))
		}
	}
	switch {
	case got == 1 && s.start[0] != 0.5:
		t.Errorf("a single segment starts at %v", s.start[0])
	case got > 1 && (s.start[0] != 0 || s.start[got-1] != 1):
		t.Errorf("the line goes from %v to %v", s.start[0], s.start[got-1])
	}
	// The order of the pairs is of no importance.
	order := random(uint64(len(w))).Perm(len(w))
	shuffled := make([]float32, len(w))
	for i, from := range order {
		shuffled[i] = w[from]
	}
	other := cut(shuffled, parts)
	if !slices.Equal(s.mean, other.mean) || !slices.Equal(s.count, other.count) || !slices.Equal(s.start, other.start) {
		t.Error("the segments depend on the order of the pairs")
	}
	for i, from := range order {
		if other.of[i] != s.of[from] {
			t.Errorf("pair %d is in segment %d, or %d in another order", from, s.of[from], other.of[i])
		}
	}
}

func TestCutKnown(t *testing.T) {
	for _, c := range []struct {
		name        string
		w           []float32
		parts       int
		mean, start []float64
		of          []int32
	}{
		{"a part each", []float32{3, 1, 2}, 3, []float64{1, 2, 3}, []float64{0, 0.5, 1}, []int32{2, 0, 1}},
		{"fewer pairs than parts", []float32{3, nan32, 1}, 5, []float64{1, 3}, []float64{0, 1}, []int32{1, -1, 0}},
		{"all equal", []float32{2, 2, 2, 2}, 3, []float64{2}, []float64{0.5}, []int32{0, 0, 0, 0}},
		{"one part", []float32{1, 2, 6}, 1, []float64{3}, []float64{0.5}, []int32{0, 0, 0}},
		{"no pair", []float32{nan32, nan32}, 3, nil, nil, []int32{-1, -1}},
		{"uneven", []float32{5, 4, 3, 2, 1}, 2, []float64{1.5, 4}, []float64{0, 1}, []int32{1, 1, 1, 0, 0}},
		// The run of zeros swallows the first two of four parts. The middles of the
		// segments have ranks 2.5, 5.5 and 7: the line follows them.
		{"a run", []float32{0, 0, 0, 0, 0, 1, 3, 4}, 4, []float64{0, 1, 3.5}, []float64{0, 3.0 / 4.5, 1}, []int32{0, 0, 0, 0, 0, 1, 2, 2}},
	} {
		s := cut(c.w, c.parts)
		if !slices.Equal(s.mean, c.mean) || !slices.Equal(s.of, c.of) ||
			!slices.EqualFunc(s.start, c.start, func(a, b float64) bool { return near(a, b, 1e-15) }) {
			t.Errorf("%s: means %v, starts %v, pairs %v; want %v, %v, %v", c.name, s.mean, s.start, s.of, c.mean, c.start, c.of)
		}
	}
	// Equal parts make the paper's uniform line.
	w := make([]float32, 100)
	for i := range w {
		w[i] = float32(i * i)
	}
	for i, x := range cut(w, 10).start {
		if !near(x, float64(i)/9, 1e-15) {
			t.Errorf("the line is at %v in segment %d of 10", x, i)
		}
	}
}

func TestDefaultSegments(t *testing.T) {
	for pairs, want := range map[int]int{0: 100, 1: 100, 5049: 100, 5050: 101, 49_999: 999, 50_000: 1000, math.MaxInt32: 1000} {
		t.Run(fmt.Sprint(pairs), func(t *testing.T) {
			if got := defaultSegments(pairs); got != want {
				t.Errorf("%d segments, not %d", got, want)
			}
		})
	}
}
