package mcdcf

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	s := System()
	s.Default = system.Settings{"beta": 1, "width": 1, "layer1": 12, "layer2": 6}
	for _, missing := range []float64{0, 0.1} {
		in, truth := systemtest.Input(t, s, 45, 3, 2, 0.3, missing)
		systemtest.Finds(t, s, in, truth, 0.7)
	}
}

// No step raises the objective, and none makes a value negative.
func TestSteps(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 45, 3, 2, 1, 0)
	set := system.Settings{"width": 1, "layer1": 12, "layer2": 6}
	random := in.Random()
	p, err := newPart(t.Context(), in.Views[0], set, random)
	if err != nil {
		t.Fatal(err)
	}
	q, err := newPart(t.Context(), in.Views[1], set, random)
	if err != nil {
		t.Fatal(err)
	}
	const pull = 30
	common := mean([]*part{p, q})
	last := func(ctx context.Context) error { return p.improveV2(ctx, common, pull) }
	var objective []float64
	for range 3 {
		for _, improve := range []func(context.Context) error{p.improveW1, p.improveV1, p.improveW2, last} {
			x, err := p.cost(t.Context(), common, pull)
			if err == nil {
				err = improve(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			objective = append(objective, x)
		}
	}
	systemtest.Falls(t, objective)
	for _, m := range [][]float64{p.w1.RawMatrix().Data, p.v1.RawMatrix().Data, p.w2.RawMatrix().Data, p.v2.RawMatrix().Data} {
		if slices.Min(m) < 0 {
			t.Error("a factor has a negative value")
		}
	}
	whole := product(product(p.w1, p.v1.T()), product(p.w2, p.v2.T()))
	even(p.v1, p.w1, p.kw1)
	if !mat.EqualApprox(whole, product(product(p.w1, p.v1.T()), product(p.w2, p.v2.T())), 1e-9) {
		t.Error("even columns change the product")
	}
	if !mat.EqualApprox(p.kw1, p.kernel.times(p.w1), 1e-4*mat.Max(p.kw1)) {
		t.Error("what is kept is not the kernel times the factor")
	}
}
