package mvclust

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/synth"
)

// A number of clusters is made from that of the two best levels, or from the partition of another resolution
// near it, whose modularity times its level's score to the tenth is the largest.
func TestCutBest(t *testing.T) {
	set, err := synth.Generate(synth.Config{Samples: 400, Classes: 9, Dims: []int{12, 12}, Noise: []float64{0.9, 0.9}, Imbalance: 0.6, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	result, err := Fit(t.Context(), set.Views, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := NewModel(set.Views, result, nil)
	if len(m.Levels) < 3 {
		t.Fatalf("%d levels", len(m.Levels))
	}
	walk, err := m.Neighbourhoods.Graph(t.Context(), 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	later := 0 // where another than the first is taken
	for k := 2; k < 30; k++ {
		places := []int{0, 1, 2, 3, 4, 5, 6}[:len(m.Levels)]
		suits := func(at int) float64 {
			return selection.Suitability(m.Levels[at].Labels, m.Levels[at].Score, k, nil)
		}
		slices.SortStableFunc(places, func(a, b int) int {
			if suits(a) > suits(b) {
				return -1
			}
			return 1
		})
		most, want, first := math.Inf(-1), "", ""
		for _, level := range places[:2] {
			for _, nearer := range []bool{true, false} {
				next, err := m.cutFrom(t.Context(), level, nearer, CutOptions{Clusters: k}, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				w, err := selection.Modularity(walk, next.Labels)
				if err != nil {
					t.Fatal(err)
				}
				if first == "" {
					first = fmt.Sprint(next.Labels)
				}
				if w *= math.Pow(m.Levels[level].Score, 0.1); w > most {
					most, want = w, fmt.Sprint(next.Labels)
				}
			}
		}
		got, err := m.Cut(t.Context(), CutOptions{Clusters: k})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Labels) != want {
			t.Errorf("%d clusters are not those of the largest modularity", k)
		}
		if want != first {
			later++
		}
	}
	if later == 0 {
		t.Error("the first is always the best; the data do not tell them apart")
	}
}
