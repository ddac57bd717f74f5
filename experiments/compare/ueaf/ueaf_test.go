package ueaf

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	for _, missing := range []float64{0, 0.3} {
		in, truth := systemtest.Input(t, System(), 100, 5, 3, 0.3, missing)
		systemtest.Finds(t, System(), in, truth, 0.85)
	}
}

// The objective never rises, the matrices stay orthonormal, and the weights and the rows of S on the
// simplex; rows that are there stay as they are.
func TestDescend(t *testing.T) {
	for _, c := range []struct {
		missing float64
		set     system.Settings
	}{
		{0, System().Default},
		{0.3, System().Default},
		{0.3, system.Settings{"lambda1": 10, "lambda2": 10, "lambda3": 1}},
	} {
		in, _ := systemtest.Input(t, System(), 60, 4, 3, 1, c.missing)
		in.Settings = c.set
		s, err := start(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		before := mat.DenseCopyOf(s.parts[0].rows)
		objective, err := s.descend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		systemtest.Falls(t, objective)
		systemtest.Orthonormal(t, s.spectral)
		systemtest.OnSimplex(t, s.weight)
		for i := range 60 {
			systemtest.OnSimplex(t, s.graph.RawRowView(i))
		}
		for _, p := range s.parts {
			systemtest.Orthonormal(t, p.turn)
		}
		for i := range 60 {
			if in.Views[0].Has(i) && !slices.Equal(before.RawRowView(i), s.parts[0].rows.RawRowView(i)) {
				t.Errorf("row %d has changed", i)
			}
		}
	}
}

// No move from one value to another lowers the sum.
func TestWeightedSimplex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		const n = 12
		row, cost, stiff := make([]float64, n), make([]float64, n), make([]float64, n)
		order := make([]int, n)
		for i := range n {
			cost[i], stiff[i], order[i] = r.Float64(), 0.1+r.Float64(), i
		}
		weightedSimplex(row, cost, stiff, order)
		systemtest.OnSimplex(t, row)
		for i := range n {
			for j := range n {
				if row[i] > 1e-12 && stiff[i]*row[i]+cost[i] > stiff[j]*row[j]+cost[j]+1e-9 {
					t.Fatalf("a move from %d to %d is better", i, j)
				}
			}
		}
	}
}
