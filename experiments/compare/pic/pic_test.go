package pic

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	for _, missing := range []float64{0, 0.3} {
		in, truth := systemtest.Input(t, System(), 150, 5, 3, 0.3, missing)
		systemtest.Finds(t, System(), in, truth, 0.95)
	}
	in, _ := systemtest.Input(t, System(), 4, 2, 2, 0.3, 0.5) // fewer samples than neighbours
	if labels, err := Cluster(t.Context(), in); err != nil || len(labels) != 4 {
		t.Errorf("labels %v, error %v", labels, err)
	}
}

// Where the probabilities tell the classes, the views do not matter.
func TestOnProbabilities(t *testing.T) {
	systemtest.FindsByProbabilities(t, OnProbabilities(), 1)
}

// A sample's weights are on the simplex, and on its nearest neighbours; so are those of samples that
// lack the view.
func TestNeighbours(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 60, 4, 2, 1, 0.3)
	spread := []*mat.Dense{neighbours(in.Views[0], 5), neighbours(in.Views[1], 5)}
	for i := range 60 {
		count := 0
		for _, x := range spread[0].RawRowView(i) {
			if x > 0 {
				count++
			}
		}
		if has := in.Views[0].Has(i); has && (count < 4 || count > 5) || !has && count > 0 {
			t.Errorf("sample %d has %d neighbours", i, count)
		}
	}
	fill(spread, in.Views)
	for _, s := range spread {
		for i := range 60 {
			systemtest.OnSimplex(t, s.RawRowView(i))
			if s.At(i, i) != 0 {
				t.Errorf("sample %d is its own neighbour", i)
			}
		}
	}
}

// The eigenvalues of a normalised matrix are at most 1, and one is.
func TestNormal(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 40, 3, 1, 1, 0)
	var e mat.EigenSym
	if !e.Factorize(normal(symmetric(neighbours(in.Views[0], 5))), false) { //nolint:misspell // gonum's name
		t.Fatal("no eigenvalues")
	}
	if most := floats.Max(e.Values(nil)); math.Abs(most-1) > 1e-9 {
		t.Errorf("the largest eigenvalue is %v", most)
	}
}

// The weights stay on the simplex, the objective never rises, and no move from one weight to
// another would lower it.
func TestMinimise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		const views = 5
		root, f := mat.NewDense(views, views, nil), make([]float64, views)
		for i := range f {
			f[i] = 3 * r.NormFloat64()
			for j := range f {
				root.Set(i, j, r.NormFloat64())
			}
		}
		h := new(mat.SymDense)
		h.SymOuterK(1, root)
		w, objective := minimise(h, f)
		systemtest.OnSimplex(t, w)
		if len(objective) > 1 {
			systemtest.Falls(t, objective)
		}
		slope := make([]float64, views)
		for i := range slope {
			slope[i] = -f[i]
			for j := range w {
				slope[i] += h.At(i, j) * w[j]
			}
		}
		for i := range slope {
			if w[i] > 1e-9 && slope[i] > floats.Min(slope)+1e-6 {
				t.Errorf("the slopes are %v at %v", slope, w)
			}
		}
	}
}

// A view that has nothing in common with the two others weighs little.
func TestWeights(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 90, 3, 2, 0.3, 0)
	other, _ := systemtest.Input(t, System(), 90, 3, 1, 50, 0)
	var all []*mat.SymDense
	for _, v := range append(in.Views, other.Views...) {
		all = append(all, normal(symmetric(neighbours(v, 10))))
	}
	in.Settings = system.Settings{"beta": 0}
	w, err := weights(t.Context(), all, in)
	if err != nil {
		t.Fatal(err)
	}
	systemtest.OnSimplex(t, w)
	if w[2] > 0.2 {
		t.Errorf("the weights are %v", w)
	}
}
