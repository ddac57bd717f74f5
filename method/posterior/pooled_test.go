package posterior

import (
	"math"
	"slices"
	"testing"
)

// plainPooled transcribes Pooled: the sum of the log-odds over the root of their number.
func plainPooled(p []float64) float64 {
	sum := 0.0
	for _, x := range p {
		sum += math.Log(x) - math.Log(1-x)
	}
	odds := math.Exp(sum / math.Sqrt(float64(len(p))))
	return odds / (1 + odds)
}

func TestPooledFormula(t *testing.T) {
	rnd := random(31)
	for range 3000 {
		p := draw(rnd)
		got := fuse(t, Pooled, p)
		if want := plainPooled(p); !near(got, want, 1e-13) {
			t.Fatalf("%v fuses to %v, not %v", p, got, want)
		}
		complement := make([]float64, len(p))
		for m := range p {
			complement[m] = 1 - p[m]
		}
		if other := fuse(t, Pooled, complement); !near(got+other, 1, 1e-14) {
			t.Fatalf("%v fuses to %v, its complement to %v", p, got, other)
		}
		// Never beyond Symmetric, on the same side of even odds, and equal for one view.
		symmetric := fuse(t, Symmetric, p)
		if math.Abs(got-0.5) > math.Abs(symmetric-0.5)+1e-14 || (got-0.5)*(symmetric-0.5) < -1e-28 {
			t.Fatalf("%v fuses to %v, and to %v by %v", p, got, symmetric, Symmetric)
		}
		if one := fuse(t, Pooled, p[:1]); !near(one, fuse(t, Symmetric, p[:1]), 1e-15) {
			t.Fatalf("%v alone is %v", p[0], one)
		}
		// What one view gains the pair does not lose.
		m := rnd.IntN(len(p))
		higher := slices.Clone(p)
		higher[m] += (0.98 - p[m]) * rnd.Float64()
		if other := fuse(t, Pooled, higher); other < got-1e-15 {
			t.Fatalf("%v fuses to %v, %v to %v", p, got, higher, other)
		}
		// A view that says the same as the others together adds to them by the root.
		if k := 1 + rnd.IntN(9); !near(fuse(t, Pooled, slices.Repeat(p[:1], k)), plainPooled(slices.Repeat(p[:1], k)), 1e-13) {
			t.Fatalf("%d times %v", k, p[0])
		}
	}
}

// TestPooledMany has enough sure views for their products to vanish.
func TestPooledMany(t *testing.T) {
	for _, c := range []struct {
		p    []float64
		want float64
	}{
		{slices.Repeat([]float64{1e-12}, 10_000), 0},
		{slices.Repeat([]float64{1 - 1e-12}, 10_000), 1},
		{slices.Repeat([]float64{1e-12, 1 - 1e-12}, 5000), 0.5},
		{slices.Repeat([]float64{0.5}, 10_000), 0.5},
	} {
		if got := fuse(t, Pooled, c.p); !near(got, c.want, 1e-3) {
			t.Errorf("%d views of %v fuse to %v, not %v", len(c.p), c.p[0], got, c.want)
		}
	}
}
