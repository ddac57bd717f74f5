// Package graph holds the pair probabilities as a sparse symmetric graph.
package graph

import (
	"slices"

	"github.com/mvclust/mvclust/pair"
)

// Graph is an undirected weighted graph over the samples: the weight of an edge
// is the probability that its two ends belong to the same class. The neighbours
// of sample i are
//
//	Index[Offsets[i]:Offsets[i+1]], ascending, with Weight at the same places;
//
// every edge is stored from both of its ends, and there are no loops.
type Graph struct {
	Offsets []int
	Index   []int32
	Weight  []float64
}

// Samples returns the number of nodes.
func (g *Graph) Samples() int { return max(0, len(g.Offsets)-1) }

// Edges returns the number of undirected edges.
func (g *Graph) Edges() int { return len(g.Index) / 2 }

// Of returns the neighbours of sample i and the weights of the edges to them.
func (g *Graph) Of(i int) (index []int32, weight []float64) {
	lo, hi := g.Offsets[i], g.Offsets[i+1]
	return g.Index[lo:hi], g.Weight[lo:hi]
}

// Between returns the weight of the edge between samples i and j, and whether
// there is one.
func (g *Graph) Between(i, j int) (float64, bool) {
	index, weight := g.Of(i)
	at, ok := slices.BinarySearch(index, int32(j))
	if !ok {
		return 0, false
	}
	return weight[at], true
}

// FromPairs returns the graph whose edges are the pairs of set, weighted by
// weight[t] for pair number t.
func FromPairs(set *pair.Set, weight []float64) *Graph {
	n := set.Samples()
	g := &Graph{Offsets: make([]int, n+1)}
	for p := range n {
		for t := set.Offsets[p]; t < set.Offsets[p+1]; t++ {
			g.Offsets[p+1]++
			g.Offsets[set.Second[t]+1]++
		}
	}
	for i := range n {
		g.Offsets[i+1] += g.Offsets[i]
	}
	g.Index, g.Weight = make([]int32, g.Offsets[n]), make([]float64, g.Offsets[n])
	fill := slices.Clone(g.Offsets[:n])
	put := func(i, j int32, w float64) {
		g.Index[fill[i]], g.Weight[fill[i]] = j, w
		fill[i]++
	}
	// Going through p in order, row q receives its lower neighbours p in order,
	// and all of them before row q itself adds its higher ones.
	for p := range n {
		for t := set.Offsets[p]; t < set.Offsets[p+1]; t++ {
			put(int32(p), set.Second[t], weight[t])
			put(set.Second[t], int32(p), weight[t])
		}
	}
	return g
}

// Renumber returns the graph in which sample order[i] stands for sample i of g;
// order is a permutation of the samples.
func (g *Graph) Renumber(order []int) *Graph {
	n := g.Samples()
	from := make([]int, n)
	for i, to := range order {
		from[to] = i
	}
	out := &Graph{
		Offsets: make([]int, 1, n+1),
		Index:   make([]int32, 0, len(g.Index)),
		Weight:  make([]float64, 0, len(g.Weight)),
	}
	type edge struct {
		to     int32
		weight float64
	}
	var row []edge
	for to := range n {
		row = row[:0]
		index, weight := g.Of(from[to])
		for e, j := range index {
			row = append(row, edge{int32(order[j]), weight[e]})
		}
		slices.SortFunc(row, func(a, b edge) int { return int(a.to) - int(b.to) })
		for _, e := range row {
			out.Index, out.Weight = append(out.Index, e.to), append(out.Weight, e.weight)
		}
		out.Offsets = append(out.Offsets, len(out.Index))
	}
	return out
}
