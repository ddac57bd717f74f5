package imccp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

// small are settings for few samples.
func small() system.System {
	s := System()
	s.Default = system.Settings{"width": 16, "code": 8, "epochs": 150, "rate": 3e-3}
	return s
}

func TestCluster(t *testing.T) {
	for _, missing := range []float64{0, 0.2} {
		in, truth := systemtest.Input(t, small(), 60, 3, 2, 0.2, missing)
		systemtest.Finds(t, small(), in, truth, 0.5)
	}
	in, _ := systemtest.Input(t, small(), 60, 3, 3, 0.2, 0)
	if _, err := Cluster(t.Context(), in); err == nil {
		t.Error("three views are taken")
	}
}

// The gradients are those that small moves of the parameters show.
func TestGradient(t *testing.T) {
	s := small()
	s.Default = system.Settings{"width": 6, "code": 4}
	in, _ := systemtest.Input(t, s, 12, 3, 2, 1, 0)
	m := newModel(in)
	samples := []int{0, 1, 2, 3, 5, 7, 8, 11}
	cost := func() float64 {
		m.learn(samples, true)
		return m.contrast + m.back + m.across
	}
	cost()
	slopes := make([][]float64, len(m.all))
	for at, p := range m.all {
		slopes[at] = append(slopes[at], p.slope...)
	}
	const move = 1e-5
	off, count := 0, 0
	for at, p := range m.all {
		for i := 0; i < len(p.value); i += 3 {
			p.value[i] += move
			up := cost()
			p.value[i] -= 2 * move
			down := cost()
			p.value[i] += move
			if want := (up - down) / (2 * move); math.Abs(slopes[at][i]-want) > 1e-5+1e-3*math.Abs(want) {
				off++
			}
			count++
		}
	}
	if off > count/50 { // some units are at the bend of their activation
		t.Errorf("%d of %d gradients are wrong", off, count)
	}
}

// Training lowers the objective, and codes are on the simplex.
func TestTrain(t *testing.T) {
	in, _ := systemtest.Input(t, small(), 60, 3, 2, 0.5, 0)
	m := newModel(in)
	both := make([]int, 60)
	for i := range both {
		both[i] = i
	}
	objective, err := m.train(t.Context(), both, in)
	if err != nil {
		t.Fatal(err)
	}
	if first, last := floats.Sum(objective[:10]), floats.Sum(objective[140:]); !(last < first) {
		t.Errorf("the objective goes from %v to %v", first, last)
	}
	codes := m.codes(in.Views)
	for i := range 60 {
		systemtest.OnSimplex(t, codes.RawRowView(i)[:8])
		systemtest.OnSimplex(t, codes.RawRowView(i)[8:])
	}
}
