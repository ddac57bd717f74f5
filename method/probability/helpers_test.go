package probability

import (
	"math"
	"math/rand/v2"
	"testing"
)

var nan32 = float32(math.NaN())

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// gaussian draws training pairs from a simple model of dependent views: three
// pairs in ten are of one class, and given that, the similarities are normal and
// independent from view to view, around 0.6 within a class and 0.3 across. A share
// missing of the entries is NaN.
func gaussian(pairs, views int, missing float64, seed uint64) [][]float32 {
	rnd := random(seed)
	w := make([][]float32, views)
	for m := range w {
		w[m] = make([]float32, pairs)
	}
	for t := range pairs {
		centre := 0.3
		if rnd.Float64() < 0.3 {
			centre = 0.6
		}
		for m := range w {
			w[m][t] = float32(centre + 0.12*rnd.NormFloat64())
			if rnd.Float64() < missing {
				w[m][t] = nan32
			}
		}
	}
	return w
}

// An absence takes similarities away.
type absence struct {
	name string
	take func(w [][]float32)
}

var absences = []absence{
	{"complete", func([][]float32) {}},
	{"missing", func(w [][]float32) {
		rnd := random(11)
		for m := range w {
			for t := range w[m] {
				if rnd.IntN(3) == 0 {
					w[m][t] = nan32
				}
			}
		}
	}},
	// The lower segments of view 0 have no pair of the next view.
	{"gap", func(w [][]float32) {
		for t, x := range w[0] {
			if len(w) > 1 && x < 0.4 {
				w[1][t] = nan32
			}
		}
	}},
	// View 0 and the last view have no pair in common.
	{"apart", func(w [][]float32) {
		for t := range w[0] {
			if len(w) > 1 {
				w[t%2*(len(w)-1)][t] = nan32
			}
		}
	}},
}

// interior draws function values away from 0 and 1, in no order.
func interior(o *objective, seed uint64) [][]float64 {
	rnd, f := random(seed), o.zeros()
	for m := range f {
		for i := range f[m] {
			f[m][i] = 0.05 + 0.9*rnd.Float64()
		}
	}
	return f
}

func resolved(t testing.TB, set Settings) Settings {
	t.Helper()
	if err := set.Resolve(); err != nil {
		t.Fatal(err)
	}
	return set
}

func learn(t testing.TB, w [][]float32, set Settings) *Functions {
	t.Helper()
	model, err := Learn(t.Context(), w, set, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// near reports whether a and b differ by at most tolerance, or are both NaN.
func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance || a != a && b != b
}
