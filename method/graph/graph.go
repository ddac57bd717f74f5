// Package graph holds the pair probabilities as a sparse symmetric graph.
package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/pair"
)

// Graph is an undirected weighted graph over the samples: the weight of an edge
// is the probability that its two ends belong to the same class. The neighbours
// of sample i are
//
//	Index[Offsets[i]:Offsets[i+1]], ascending, with Weight at the same places;
//
// every edge is stored from both of its ends, and there are no loops. Weights have
// 32 bits: of all that a run holds, the edges take the most memory.
type Graph struct {
	Offsets []int
	Index   []int32
	Weight  []float32
}

// Samples returns the number of nodes.
func (g *Graph) Samples() int { return max(0, len(g.Offsets)-1) }

// Edges returns the number of undirected edges.
func (g *Graph) Edges() int { return len(g.Index) / 2 }

// Of returns the neighbours of sample i and the weights of the edges to them.
func (g *Graph) Of(i int) (index []int32, weight []float32) {
	lo, hi := g.Offsets[i], g.Offsets[i+1]
	return g.Index[lo:hi], g.Weight[lo:hi]
}

// Between returns the weight of the edge between samples i and j, and whether
// there is one.
func (g *Graph) Between(i, j int) (float32, bool) {
	index, weight := g.Of(i)
	at, ok := slices.BinarySearch(index, int32(j))
	if !ok {
		return 0, false
	}
	return weight[at], true
}

// FromPairs returns the graph whose edges are the pairs of set, weighted by
// weight[t] for pair number t, or by 0 where weight is nil. The result does not depend
// on threads; 0 stands for GOMAXPROCS. The only error is the context's own.
func FromPairs(ctx context.Context, set *pair.Set, weight []float32, threads int) (*Graph, error) {
	n := set.Samples()
	g := &Graph{Offsets: make([]int, n+1)}
	// Every thread goes through all pairs, for rows of its own.
	err := parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		for p := 0; p < hi && (p%1024 != 0 || ctx.Err() == nil); p++ {
			row := set.Of(p)
			if p >= lo {
				g.Offsets[p+1] += len(row)
			}
			for _, q := range row {
				if int(q) >= lo && int(q) < hi {
					g.Offsets[q+1]++
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		g.Offsets[i+1] += g.Offsets[i]
	}
	g.Index, g.Weight = make([]int32, g.Offsets[n]), make([]float32, g.Offsets[n])
	fill := slices.Clone(g.Offsets[:n])
	// Going through p in order, row q receives its lower neighbours p in order, and all of them before
	// row q itself adds its higher ones.
	err = parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		for p := 0; p < hi && (p%1024 != 0 || ctx.Err() == nil); p++ {
			row, from := set.Of(p), set.Partners.Offsets[p]
			if p >= lo {
				at := fill[p]
				copy(g.Index[at:], row)
				if weight != nil {
					copy(g.Weight[at:], weight[from:from+len(row)])
				}
			}
			for t, q := range row {
				if int(q) < lo || int(q) >= hi {
					continue
				}
				at := fill[q]
				fill[q]++
				g.Index[at] = int32(p)
				if weight != nil {
					g.Weight[at] = weight[from+t]
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Renumber returns the graph in which sample order[i] stands for sample i of g;
// order is a permutation of the samples. The only error is the context's own.
func (g *Graph) Renumber(ctx context.Context, order []int, threads int) (*Graph, error) {
	n := g.Samples()
	from := make([]int, n)
	for i, to := range order {
		from[to] = i
	}
	out := &Graph{
		Offsets: make([]int, n+1),
		Index:   make([]int32, len(g.Index)),
		Weight:  make([]float32, len(g.Weight)),
	}
	for to := range n {
		out.Offsets[to+1] = out.Offsets[to] + g.Offsets[from[to]+1] - g.Offsets[from[to]]
	}
	type edge struct {
		to     int32
		weight float32
	}
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		var row []edge
		for to := lo; to < hi; to++ {
			row = row[:0]
			index, weight := g.Of(from[to])
			for e, j := range index {
				row = append(row, edge{int32(order[j]), weight[e]})
			}
			slices.SortFunc(row, func(a, b edge) int { return cmp.Compare(a.to, b.to) })
			index, weight = out.Of(to)
			for e, x := range row {
				index[e], weight[e] = x.to, x.weight
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Validate reports the first thing in which g is not as Graph says.
func (g *Graph) Validate() error {
	n := g.Samples()
	if len(g.Offsets) == 0 || g.Offsets[0] != 0 || g.Offsets[n] != len(g.Index) || len(g.Weight) != len(g.Index) {
		return fmt.Errorf("a graph of %d offsets, %d ends and %d weights cannot be", len(g.Offsets), len(g.Index), len(g.Weight))
	}
	for i := range n {
		if lo, hi := g.Offsets[i], g.Offsets[i+1]; lo > hi || hi > len(g.Index) {
			return fmt.Errorf("the edges of sample %d are %d to %d of %d", i, lo, hi, len(g.Index))
		}
	}
	back := slices.Clone(g.Offsets)
	for i := range n {
		index, weight := g.Of(i)
		for e, j := range index {
			if j < 0 || int(j) >= n || int(j) == i || e > 0 && j <= index[e-1] {
				return fmt.Errorf("the edges of sample %d lead to %d, which is out of range or out of order", i, j)
			}
			if !(weight[e] >= 0 && weight[e] <= 1) {
				return fmt.Errorf("the edge from %d to %d has weight %v", i, j, weight[e])
			}
			// Going through i in order, row j meets its lower neighbours i in order.
			switch r := back[j]; {
			case int(j) < i && e >= back[i]-g.Offsets[i],
				int(j) > i && (r == g.Offsets[j+1] || g.Index[r] != int32(i) || g.Weight[r] != weight[e]):
				return fmt.Errorf("the edge between %d and %d is not the same from both ends", i, j)
			case int(j) > i:
				back[j]++
			}
		}
	}
	return nil
}
