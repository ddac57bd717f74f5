package posterior

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/probability"
)

func TestEvidence(t *testing.T) {
	line := probability.Function{X: []float64{0, 1}, P: []float64{0, 1}}
	e, err := New(&probability.Functions{ByView: []probability.Function{line, line}}, Settings{Clip: .1})
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	w := [][]float32{{.5, .9, 0, nan, .3}, {nan, .1, .75, nan, .5}}
	fused := []float32{.5, .9, .6, 0, .2} // the second view is overruled on the second pair, and the first on the third
	nine := math.Log(9)
	for _, c := range []struct {
		name         string
		first, every int
		want         []float64
	}{
		{"all", 0, 1, []float64{nine + math.Log(.7/.3), math.Log(3)}},
		{"every other", 1, 2, []float64{nine, 0}},
		{"the last two", 2, 2, []float64{math.Log(.7 / .3), math.Log(3)}},
		{"beyond", 5, 3, []float64{0, 0}},
	} {
		got, err := e.Evidence(t.Context(), w, fused, c.first, c.every, 1)
		if err != nil {
			t.Fatal(err)
		}
		for m := range got {
			if math.Abs(got[m]-c.want[m]) > 1e-6 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
	silent, err := New(&probability.Functions{ByView: []probability.Function{{}, line}}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := silent.Evidence(t.Context(), w, fused, 0, 1, 1); err != nil || got[0] != 0 || !(got[1] > 0) {
		t.Errorf("a function without points says %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Evidence(ctx, w, fused, 0, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestEvidenceAndThreads(t *testing.T) {
	line := probability.Function{X: []float64{0, .3, 1}, P: []float64{0, .2, 1}}
	e, err := New(&probability.Functions{ByView: []probability.Function{line}}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	w := [][]float32{make([]float32, 50_001)}
	for i := range w[0] {
		w[0][i] = r.Float32()
	}
	one, err := e.Evidence(t.Context(), w, w[0], 1, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	many, err := e.Evidence(t.Context(), w, w[0], 1, 3, 7)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one, many) || one[0] == 0 {
		t.Errorf("%v with one thread, %v with seven", one, many)
	}
}
