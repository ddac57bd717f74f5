package partition

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

// ringsOf returns a graph of cliques in a ring, each joined to the next by one weak edge.
func ringsOf(t *testing.T, cliques, size int) *graph.Graph {
	t.Helper()
	n := cliques * size
	g, err := graph.FromRows(t.Context(), n, func(i int) (index []int32, weight []float32) {
		for j := i / size * size; j < i; j++ {
			index, weight = append(index, int32(j)), append(weight, 0.9)
		}
		if i%size == 0 {
			index, weight = append(index, int32((i+n-1)%n)), append(weight, 0.1)
		}
		return index, weight
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// contracted returns the graph in which the samples of one label are a node.
func contracted(g *graph.Graph, label []int) *Contracted {
	nodes := 1 + slices.Max(label)
	weights := make([]map[int]float64, nodes)
	c := &Contracted{Offsets: []int{0}, Degree: make([]float64, nodes)}
	for i := range weights {
		weights[i] = map[int]float64{}
	}
	for i, l := range label {
		index, weight := g.Of(i)
		for e, j := range index {
			c.Degree[l] += float64(weight[e])
			c.All += float64(weight[e])
			if label[j] != l {
				weights[l][label[j]] += float64(weight[e])
			}
		}
	}
	for _, to := range weights {
		for j := range nodes {
			if w := to[j]; w > 0 {
				c.Index, c.Weight = append(c.Index, int32(j)), append(c.Weight, w)
			}
		}
		c.Offsets = append(c.Offsets, len(c.Index))
	}
	return c
}

// TestContractedSeries holds that a partition of nodes has the modularity of that of their samples.
func TestContractedSeries(t *testing.T) {
	const cliques, size = 30, 6
	g := ringsOf(t, cliques, size)
	halves := make([]int, cliques*size) // each clique is two nodes
	for i := range halves {
		halves[i] = i / (size / 2)
	}
	s, err := NewContractedSeries(contracted(g, halves), 10, Settings{Levels: 20})
	if err != nil {
		t.Fatal(err)
	}
	random := func(float64) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	_, err = s.Each(t.Context(), []float64{0.06, 10}, random, func(r int, labels []int32, clusters int) {
		for i, l := range labels {
			if l != labels[i/2*2] {
				t.Errorf("resolution %d: node %d is not with the other half of its clique", r, i)
			}
		}
		if r == 1 && clusters != cliques {
			t.Errorf("%d clusters, want %d", clusters, cliques)
		}
		if r == 0 && clusters >= cliques {
			t.Errorf("%d clusters at the coarser resolution", clusters)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMoveInside(t *testing.T) {
	const cliques, size = 8, 6
	g := ringsOf(t, cliques, size)
	single := make([]int, cliques*size)
	for i := range single {
		single[i] = i
	}
	c := contracted(g, single)
	for name, test := range map[string]struct {
		inner int
		want  func(i int) int
	}{
		"all":        {cliques * size, func(i int) int { return i / size }},
		"none":       {0, nil},
		"whole ones": {3 * size, func(i int) int { return i / size }},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := MoveInside(t.Context(), c, test.inner, 8, Settings{}, rand.New(rand.NewPCG(4, 4)))
			if err != nil || len(got) != test.inner {
				t.Fatalf("%d labels, want %d; %v", len(got), test.inner, err)
			}
			for i, l := range got {
				if int(l) != test.want(i) {
					t.Errorf("node %d is in %d, want %d", i, l, test.want(i))
				}
			}
		})
	}
}

// TestMoveInsideWaits holds that a node does not join what it likes less because the other one is
// frozen, and that it is not lost when it may move.
func TestMoveInsideWaits(t *testing.T) {
	c := &Contracted{ // 0 -0.4- 1 -0.9- 2 -0.1- 3
		Offsets: []int{0, 1, 3, 5, 6}, Index: []int32{1, 0, 2, 1, 3, 2}, Weight: []float64{0.4, 0.4, 0.9, 0.9, 0.1, 0.1},
		Degree: []float64{0.4, 1.3, 1, 0.1}, All: 2.8,
	}
	for inner, want := range [][]int32{{}, {0}, {0, 1}, {0, 1, 1}} {
		got, err := MoveInside(t.Context(), c, inner, 1.5, Settings{}, rand.New(rand.NewPCG(4, 4)))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("of %d nodes that may move, the clusters are %v, want %v; %v", inner, got, want, err)
		}
	}
}
