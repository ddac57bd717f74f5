package selection

import (
	"math"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
)

// contract returns the graph whose nodes are the samples of each label.
func contract(g *graph.Graph, label []int) *partition.Contracted {
	nodes := 1 + slices.Max(label)
	c := &partition.Contracted{Offsets: []int{0}, Degree: make([]float64, nodes)}
	weights := make([][]float64, nodes)
	for l := range weights {
		weights[l] = make([]float64, nodes)
	}
	for i, l := range label {
		index, weight := g.Of(i)
		for e, j := range index {
			weights[l][label[j]] += float64(weight[e])
			c.Degree[l] += float64(weight[e])
			c.All += float64(weight[e])
		}
	}
	for l, row := range weights {
		for j, w := range row {
			if w > 0 && j != l {
				c.Index, c.Weight = append(c.Index, int32(j)), append(c.Weight, w)
			}
		}
		c.Offsets = append(c.Offsets, len(c.Index))
	}
	return c
}

// contraction contracts a graph by all numbers of neighbours.
func contraction(t *testing.T, g *graph.Graph, label []int) *Contraction {
	t.Helper()
	near, err := refine.Nearest(t.Context(), g, MaxNeighbours(g.Samples()), 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &Contraction{Samples: make([]int, 1+slices.Max(label)), Neighbours: Settings{}.NeighboursTried(g.Samples())}
	for _, l := range label {
		c.Samples[l]++
	}
	for _, k := range c.Neighbours {
		refined, err := near.CoNeighbours(t.Context(), k, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.Refined = append(c.Refined, contract(refined, label))
	}
	walk, err := near.Graph(t.Context(), walked, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Walk = contract(walk, label)
	return c
}

// TestSearchContractedSingles holds that nodes of one sample each are samples.
func TestSearchContractedSingles(t *testing.T) {
	g := rings(300, 30, 10, 2)
	single := make([]int, g.Samples())
	for i := range single {
		single[i] = i
	}
	want := search(t, g, Settings{}, 5, 0)
	got, err := SearchContracted(t.Context(), contraction(t, g, single), Settings{}, 5, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.Best != want.Best || len(got.Candidates) != len(want.Candidates) {
		t.Fatalf("candidate %d of %d, want %d of %d", got.Best, len(got.Candidates), want.Best, len(want.Candidates))
	}
	for c := range want.Candidates {
		x, y := &got.Candidates[c], &want.Candidates[c]
		if x.Clusters != y.Clusters || math.Abs(x.Score-y.Score) > 1e-9 || math.Abs(x.Compression-y.Compression) > 1e-9 {
			t.Errorf("candidate %d is %+v, want %+v", c, x, y)
		}
	}
	if !slices.Equal(got.Partition.Labels, want.Partition.Labels) {
		t.Error("the labels differ")
	}
}

// TestSearchContracted holds that nodes of several samples lead to the same classes, and that the
// criteria are those of the samples.
func TestSearchContracted(t *testing.T) {
	const classes, size = 12, 25
	g := rings(classes*size, size, 12, 2)
	fives, single := make([]int, g.Samples()), make([]int, g.Samples())
	for i := range fives {
		fives[i], single[i] = i/5, i
	}
	got, err := SearchContracted(t.Context(), contraction(t, g, fives), Settings{}, 5, 0)
	if err != nil {
		t.Fatal(err)
	}
	for node, l := range got.Partition.Labels {
		if l != got.Partition.Labels[node*5/size*size/5] {
			t.Errorf("node %d is not with its class", node)
		}
	}
	byNode, bySample := contraction(t, g, fives).walk(), contraction(t, g, single).walk()
	labels, spread := make([]int32, len(fives)/5), make([]int32, len(fives))
	for i := range spread {
		spread[i] = int32(i / size)
		labels[i/5] = spread[i]
	}
	a, b := newCrossings(byNode, labels, classes), newCrossings(bySample, spread, classes)
	if math.Abs(a.modularity()-b.modularity()) > 1e-9 {
		t.Errorf("modularity %v of nodes, %v of samples", a.modularity(), b.modularity())
	}
	if x, y := a.codeLength(byNode.named()), b.codeLength(bySample.named()); math.Abs(x-y) > 0.01*y {
		t.Errorf("code of %v bits of nodes, %v of samples", x, y)
	}
}

func TestContractionFinest(t *testing.T) {
	g := rings(300, 30, 10, 2)
	single := make([]int, g.Samples())
	for i := range single {
		single[i] = i
	}
	c := contraction(t, g, single)
	for _, finest := range []float64{0.001, 1, 3} {
		c.Finest = finest
		got, err := SearchContracted(t.Context(), c, Settings{}, 5, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got.Candidates {
			if x.Resolution > max(finest, coarsest) {
				t.Errorf("the resolution %v was tried, with %v as the finest", x.Resolution, finest)
			}
		}
	}
}
