package gmc

import (
	"testing"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	in, truth := systemtest.Input(t, System(), 160, 4, 2, 0.3, 0)
	systemtest.Finds(t, System(), in, truth, 0.95)
}

// Rows of U are on the simplex, F is orthonormal, and learning them in turn never raises the
// objective.
func TestObjective(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 120, 4, 3, 0.8, 0)
	s := newState(in)
	for _, row := range s.unified {
		systemtest.OnSimplex(t, row.Value)
	}
	var objective []float64
	for round := range 6 {
		both := system.Symmetric(s.unified)
		f, err := system.Smoothest(t.Context(), both, in.Clusters, s.random)
		if err != nil {
			t.Fatal(err)
		}
		systemtest.Orthonormal(t, f)
		if s.f = f; round > 0 {
			objective = append(objective, s.objective())
		}
		s.unify()
		for _, row := range s.unified {
			systemtest.OnSimplex(t, row.Value)
		}
		objective = append(objective, s.objective())
	}
	systemtest.Falls(t, objective)
}
