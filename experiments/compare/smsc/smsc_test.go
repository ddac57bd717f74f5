package smsc

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	in, truth := systemtest.Input(t, System(), 200, 4, 2, 0.3, 0)
	systemtest.Finds(t, System(), in, truth, 0.85)
}

// With as many anchors as dimensions, no step but that for Z raises the objective. W and A have
// orthonormal columns, the columns of Z and the weights are on the simplex.
func TestObjective(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 120, 5, 3, 0.8, 0)
	s := newState(in)
	for round := range 6 {
		var objective []float64
		if round > 0 { // W was not there before
			objective = append(objective, s.objective())
		}
		for _, step := range []func() error{s.project, s.anchor, func() error { s.weigh(); return nil }} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
			objective = append(objective, s.objective())
		}
		systemtest.Falls(t, objective)
		s.represent()
	}
	for _, w := range s.w {
		systemtest.Orthonormal(t, w)
	}
	systemtest.Orthonormal(t, s.a)
	for i := range 120 {
		systemtest.OnSimplex(t, mat.Col(nil, i, s.z))
	}
	systemtest.OnSimplex(t, s.weight)
}
