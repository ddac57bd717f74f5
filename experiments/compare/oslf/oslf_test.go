package oslf

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mvclust/mvclust/experiments/compare/latefusion"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	for _, missing := range []float64{0, 0.3} {
		in, truth := systemtest.Input(t, System(), 150, 5, 3, 0.3, missing)
		systemtest.Finds(t, System(), in, truth, 0.9)
	}
}

// The objective never falls, C and the rotations stay orthonormal, and the squares of the weights
// keep the sum 1.
func TestFuse(t *testing.T) {
	for _, missing := range []float64{0, 0.3} {
		in, _ := systemtest.Input(t, System(), 80, 4, 3, 1, missing)
		for _, lambda := range []float64{0, 1, 100} {
			width := lambda / 2 // one with cosines
			s, err := latefusion.Start(t.Context(), latefusion.Kernels(in.Views, width), 80, 4)
			if err != nil {
				t.Fatal(err)
			}
			turn, err := centres(t.Context(), s, in)
			if err != nil {
				t.Fatal(err)
			}
			systemtest.Orthonormal(t, turn)
			_, objective, err := fuse(t.Context(), s, turn, lambda)
			if err != nil {
				t.Fatal(err)
			}
			floats.Scale(-1, objective)
			systemtest.Falls(t, objective)
			for v := range s.Turn {
				systemtest.Orthonormal(t, s.Turn[v])
				s.Weight[v] *= s.Weight[v]
			}
			systemtest.OnSimplex(t, s.Weight)
		}
	}
}
