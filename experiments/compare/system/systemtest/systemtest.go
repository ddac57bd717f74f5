// Package systemtest has what the tests of compared systems need.
package systemtest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

// Input makes samples of so many classes in so many views of 10 dimensions, of which a share
// lacks one, and returns them with their classes. The settings are the system's default. The
// noise 0.3 is easy.
func Input(t testing.TB, s system.System, samples, classes, views int, noise, missing float64) (*system.Input, []int) {
	t.Helper()
	set, err := synth.Generate(synth.Config{
		Samples: samples, Classes: classes, Views: views, Dims: []int{10},
		Noise: []float64{noise}, Missing: missing, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	in := &system.Input{Views: set.Views, Clusters: classes, Settings: s.Default, Seed: 1}
	if s.Fills {
		in.Views = system.Fill(set.Views)
	}
	return in, set.Labels
}

// Finds tests that a system finds the classes of made-up data at least so well, by ARI from 0 to 1;
// that another run finds the same clusters; that it leaves its input alone; and that it ends when
// the context does.
func Finds(t *testing.T, s system.System, in *system.Input, truth []int, least float64) {
	t.Helper()
	before := slices.Clone(in.Views[0].Data)
	labels, err := s.Cluster(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	found, err := score.Compare(truth, labels)
	if err != nil {
		t.Fatal(err)
	}
	if found.ARI < least {
		t.Errorf("%s: ARI %.3f with %d clusters, want at least %.3f", s.Name, found.ARI, found.Clusters, least)
	}
	again, err := s.Cluster(t.Context(), in)
	if err != nil || !slices.Equal(labels, again) {
		t.Errorf("%s: another run finds other clusters, error %v", s.Name, err)
	}
	if !slices.EqualFunc(before, in.Views[0].Data, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
		t.Errorf("%s changes its input", s.Name)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Cluster(done, in); !errors.Is(err, context.Canceled) {
		t.Errorf("%s: a cancelled run returns the error %v", s.Name, err)
	}
}

// FindsByProbabilities tests that a system that is given probabilities finds the classes by these at
// least so well, whatever the views, and leaves them alone.
func FindsByProbabilities(t *testing.T, s system.System, least float64) {
	t.Helper()
	in, truth := Input(t, s, 100, 4, 2, 3, 0)
	p := mat.NewSymDense(len(truth), nil)
	for i, a := range truth {
		for j, b := range truth[:i+1] {
			if a == b {
				p.SetSym(i, j, 0.9)
			}
		}
		p.SetSym(i, i, 1)
	}
	in.Probabilities = func(ctx context.Context) (*mat.SymDense, error) { return p, ctx.Err() }
	Finds(t, s, in, truth, least)
	if p.At(0, 0) != 1 {
		t.Error("the probabilities were changed")
	}
}

// slack is the relative error that rounding may make.
const slack = 1e-7

// Falls tests that an objective, by round, never rises.
func Falls(t testing.TB, objective []float64) {
	t.Helper()
	if len(objective) < 2 {
		t.Errorf("the objective is known of %d rounds only", len(objective))
	}
	for i := 1; i < len(objective); i++ {
		if !(objective[i] <= objective[i-1]+slack*max(1, math.Abs(objective[i-1]))) {
			t.Errorf("round %d: the objective rises from %v to %v", i, objective[i-1], objective[i])
		}
	}
}

// Orthonormal tests that the columns of m are.
func Orthonormal(t testing.TB, m mat.Matrix) {
	t.Helper()
	var p mat.Dense
	p.Mul(m.T(), m)
	k, _ := p.Dims()
	for i := range k {
		for j := range k {
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(p.At(i, j)-want) <= 1e-6) {
				t.Fatalf("the product of columns %d and %d is %v, want %v", i, j, p.At(i, j), want)
			}
		}
	}
}

// OnSimplex tests that the values of v are at least 0 and have the sum 1.
func OnSimplex(t testing.TB, v []float64) {
	t.Helper()
	sum := 0.0
	for i, x := range v {
		if !(x >= -1e-9) {
			t.Errorf("value %d is %v", i, x)
		}
		sum += x
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		t.Errorf("the sum is %v", sum)
	}
}
