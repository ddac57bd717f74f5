package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/graph"
	"github.com/mvclust/mvclust/pair"
)

// edges holds the weight of every edge from its lower to its higher end.
type edges map[[2]int]float64

func (e edges) between(i, j int) (float64, bool) {
	w, ok := e[[2]int{min(i, j), max(i, j)}]
	return w, ok
}

// randomGraph makes a graph of n samples in which each edge is present with the
// given probability, and holds the same in a map.
func randomGraph(random *rand.Rand, n int, density float64) (*graph.Graph, edges) {
	set, want := &pair.Set{Offsets: make([]int, 1, n+1)}, edges{}
	var weight []float64
	for p := range n {
		for q := p + 1; q < n; q++ {
			if random.Float64() < density {
				w := random.Float64()
				set.Second, weight = append(set.Second, int32(q)), append(weight, w)
				want[[2]int{p, q}] = w
			}
		}
		set.Offsets = append(set.Offsets, len(set.Second))
	}
	return graph.FromPairs(set, weight), want
}

// check compares g with the map, and looks at all that Graph promises.
func check(t *testing.T, g *graph.Graph, n int, want edges) {
	t.Helper()
	if g.Samples() != n || g.Edges() != len(want) || len(g.Index) != 2*len(want) || len(g.Weight) != len(g.Index) || g.Offsets[0] != 0 || g.Offsets[n] != len(g.Index) {
		t.Fatalf("%d samples, %d edges, %d ends; want %d samples, %d edges", g.Samples(), g.Edges(), len(g.Index), n, len(want))
	}
	for i := range n {
		index, weight := g.Of(i)
		if len(index) != len(weight) || !slices.IsSorted(index) || len(slices.Compact(slices.Clone(index))) != len(index) || slices.Contains(index, int32(i)) {
			t.Fatalf("sample %d has the neighbours %v and the weights %v", i, index, weight)
		}
		for e, j := range index {
			if w, ok := want.between(i, int(j)); !ok || w != weight[e] {
				t.Fatalf("edge %d, %d has weight %v, want %v, %t", i, j, weight[e], w, ok)
			}
		}
		for j := range n {
			got, has := g.Between(i, j)
			if w, ok := want.between(i, j); got != w || has != ok {
				t.Fatalf("between %d and %d: %v, %t; want %v, %t", i, j, got, has, w, ok)
			}
		}
	}
}

func TestFromPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 40 {
		for _, density := range []float64{0, 0.1, 0.5, 1} {
			g, want := randomGraph(random, n, density)
			check(t, g, n, want)
		}
	}
}

func TestZeroWeight(t *testing.T) {
	g := graph.FromPairs(&pair.Set{Offsets: []int{0, 1, 1, 1}, Second: []int32{2}}, []float64{0})
	if w, ok := g.Between(2, 0); w != 0 || !ok {
		t.Errorf("an edge of weight 0 is %v, %t", w, ok)
	}
	if w, ok := g.Between(0, 1); w != 0 || ok {
		t.Errorf("no edge is %v, %t", w, ok)
	}
}

func TestEmpty(t *testing.T) {
	if zero := (&graph.Graph{}); zero.Samples() != 0 || zero.Edges() != 0 || zero.Renumber(nil).Samples() != 0 {
		t.Errorf("the zero value has %d samples", zero.Samples())
	}
	for _, set := range []*pair.Set{{}, {Offsets: []int{0}}, {Offsets: []int{0, 0, 0, 0}}} {
		g := graph.FromPairs(set, nil)
		check(t, g, set.Samples(), nil)
		check(t, g.Renumber(rand.New(rand.NewPCG(1, 1)).Perm(set.Samples())), set.Samples(), nil)
	}
}

// TestRenumber holds that edges keep their weights between renumbered ends, and
// that the inverse order brings the graph back.
func TestRenumber(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for n := range 40 {
		g, want := randomGraph(random, n, random.Float64())
		before := slices.Clone(g.Index)
		order, inverse := random.Perm(n), make([]int, n)
		renumbered := edges{}
		for e, w := range want {
			i, j := order[e[0]], order[e[1]]
			renumbered[[2]int{min(i, j), max(i, j)}] = w
		}
		for i, to := range order {
			inverse[to] = i
		}
		h := g.Renumber(order)
		check(t, h, n, renumbered)
		check(t, h.Renumber(inverse), n, want)
		if !slices.Equal(g.Index, before) {
			t.Fatal("the graph was changed")
		}
	}
}

func BenchmarkFromPairs(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			set := &pair.Set{Offsets: make([]int, 1, n+1)}
			for p := range n {
				for q := p + 1; q < n; q++ {
					if random.IntN(10) == 0 {
						set.Second = append(set.Second, int32(q))
					}
				}
				set.Offsets = append(set.Offsets, len(set.Second))
			}
			weight := make([]float64, set.Len())
			b.ReportAllocs()
			for b.Loop() {
				graph.FromPairs(set, weight)
			}
		})
	}
}

func BenchmarkRenumber(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	g, _ := randomGraph(random, 1000, 0.1)
	order := random.Perm(1000)
	b.ReportAllocs()
	for b.Loop() {
		g.Renumber(order)
	}
}

func BenchmarkBetween(b *testing.B) {
	g, _ := randomGraph(rand.New(rand.NewPCG(1, 1)), 1000, 0.1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		g.Between(i%1000, i*7%1000)
		i++
	}
}
