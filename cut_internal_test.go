package mvclust

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/score"
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
	later, links := 0, 0 // where another than the first is taken, and average linkage
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
				c, err := newCutter(m.given(), nil, k, m.Samples(), 0)
				if err != nil {
					t.Fatal(err)
				}
				next, err := m.cutFrom(t.Context(), *c, level, nearer, nil, nil)
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
		together, err := linked(t.Context(), m.Views, m.Samples(), k, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := selection.Modularity(walk, together)
		if err != nil {
			t.Fatal(err)
		}
		if w *= math.Pow(m.Levels[places[0]].Score, 0.1); w > most {
			want = fmt.Sprint(partition.Number(together))
			links++
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
	if later == 0 || links == 0 {
		t.Errorf("the first is always the best (%d others), or average linkage never (%d): the data do not tell them apart", later, links)
	}
}

// Records of one thing, of which there are few or many, are found by average linkage where their number is
// known: by a fit that is told it, and by a cut. The rows have gaps, and some are equal.
func TestClustersOfRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	const things, dims = 60, 24
	var classes []int
	for thing := range things {
		classes = append(classes, slices.Repeat([]int{thing}, 1+int(40/(1+float64(thing))))...)
	}
	var views []*View
	for range 2 {
		centres := make([]float64, things*dims)
		for k := range centres {
			centres[k] = random.NormFloat64()
		}
		data, present := make([]float32, len(classes)*dims), make([]bool, len(classes))
		for i, c := range classes {
			present[i] = i%9 > 0 || len(views) > 0
			noise := 0.25 * float64(i%4) // a quarter are copies
			for k := range dims {
				data[i*dims+k] = float32(centres[c*dims+k] + noise*random.NormFloat64())
			}
		}
		views = append(views, &View{Name: "v", Samples: len(classes), Dims: dims, Data: data, Present: present})
	}
	ari := func(labels []int) float64 {
		s, err := score.Compare(classes, labels)
		if err != nil {
			t.Fatal(err)
		}
		return s.ARI
	}
	free, err := Fit(t.Context(), views, Options{})
	if err != nil {
		t.Fatal(err)
	}
	told, err := Fit(t.Context(), views, Options{Clusters: things})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := NewModel(views, free, nil).Cut(t.Context(), CutOptions{Clusters: things})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := ari(told.Labels), ari(cut.Labels); a < 0.95 || b < 0.95 || cut.Validate() != nil || len(told.Sizes) != things {
		t.Errorf("ARI %v by the fit, %v by the cut; %v", a, b, cut.Validate())
	}
	if !slices.Equal(told.Labels, cut.Labels) || told.Level != cut.Level || told.Granularity.Resolution != cut.Settings.Resolution || !slices.Equal(told.Confidence, cut.Confidence) {
		t.Errorf("a fit that is told the number and a cut differ: ARI %v and %v", ari(told.Labels), ari(cut.Labels))
	}
	back, err := cut.Cut(t.Context(), CutOptions{Level: 0})
	if err != nil || back.Linked || free.Trace.Linked || NewModel(views, told, nil).Linked != told.Trace.Linked {
		t.Errorf("linked by the fit %v, without a number %v, at a level %v, %v", told.Trace.Linked, free.Trace.Linked, back.Linked, err)
	}
}

// A cluster that a single example rules goes to the home of its class only if that is among the three that it has the
// strongest links to; else the example alone does. The clusters of 10 samples lie on a ring, each linked to
// the others the less the farther they are.
func TestTaught(t *testing.T) {
	const each, clusters = 10, 8
	labels := make([]int, each*clusters)
	for i := range labels {
		labels[i] = i / each
	}
	apart := func(a, b int) int { return min((a-b+clusters)%clusters, (b-a+clusters)%clusters) }
	g, err := graph.FromRows(t.Context(), len(labels), func(i int) (index []int32, weight []float32) {
		for j := range labels {
			if j != i {
				index, weight = append(index, int32(j)), append(weight, 1/float32(1+2*apart(labels[i], labels[j])))
			}
		}
		return index, weight
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := func(cluster, sample, class int) selection.Example {
		return selection.Example{Sample: cluster*each + sample, Class: class}
	}
	home := []selection.Example{at(0, 0, 5), at(0, 1, 5)}
	for _, x := range []struct {
		known []selection.Example
		whole bool
	}{
		{[]selection.Example{at(1, 0, 5)}, true},
		{[]selection.Example{at(4, 0, 5)}, false},             // across the ring
		{[]selection.Example{at(4, 0, 5), at(4, 1, 5)}, true}, // of which two are sure enough
	} {
		cluster := labels[x.known[0].Sample]
		out, moved := taught(g, labels, slices.Concat(home, x.known))
		if out[x.known[0].Sample] != 0 || (out[cluster*each+5] == 0) != x.whole || (len(moved) == 0) != x.whole {
			t.Errorf("with %d examples in cluster %d, its samples go to %v, and %v are moved", len(x.known), cluster, out[cluster*each:][:each], moved)
		}
	}
}
