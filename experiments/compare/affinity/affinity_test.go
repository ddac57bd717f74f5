package affinity

import (
	"math"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
	"github.com/mvclust/mvclust/experiments/opponent"
	"github.com/mvclust/mvclust/method/view"
)

func TestCluster(t *testing.T) {
	in, truth := systemtest.Input(t, System(), 120, 4, 2, 0.2, 0.2)
	in.Settings = system.Settings{"preference": 0, "damping": 0.9}
	systemtest.Finds(t, System(), in, truth, 0.8)
}

// Of few samples, the exemplars are those of the largest net similarity of all choices.
func TestExemplars(t *testing.T) {
	angles := []float64{0, 0.1, 0.25, 1.5, 1.6, 1.75, 3, 3.1, 3.3}
	var data []float32
	for _, a := range angles {
		data = append(data, float32(math.Cos(a)), float32(math.Sin(a)))
	}
	v, err := view.New("a", len(angles), 2, data)
	if err != nil {
		t.Fatal(err)
	}
	in := &system.Input{Views: []*view.View{v}, Settings: system.Settings{"preference": 0.5, "damping": 0.7}}
	alike, err := opponent.Measure(t.Context(), in.Views, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := newMessages(alike, in)
	best := math.Inf(-1)
	var want []int
	for set := 1; set < 1<<len(angles); set++ {
		var chosen []int
		for k := range angles {
			if set>>k&1 == 1 {
				chosen = append(chosen, k)
			}
		}
		if x := m.net(m.assign(chosen), chosen); x > best {
			best, want = x, chosen
		}
	}
	for range 200 {
		m.responsibilities()
		m.availabilities()
	}
	if got := m.exemplars(); !slices.Equal(got, want) {
		t.Errorf("the exemplars are %v, want %v", got, want)
	}
}
