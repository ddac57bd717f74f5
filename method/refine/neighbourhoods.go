package refine

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// Neighbourhoods holds every sample's nearest neighbours in a graph, most probable first,
// so that co-neighbour propagation can be tried with several numbers of them.
type Neighbourhoods struct{ lists *lists }

// Nearest finds every sample's k nearest neighbours in g, among equally probable ones
// those of the lowest number. g is not changed. The only error is the context's own.
func Nearest(ctx context.Context, g *graph.Graph, k, threads int) (*Neighbourhoods, error) {
	l, err := nearest(ctx, g, k, threads)
	if err != nil {
		return nil, err
	}
	return &Neighbourhoods{l}, nil
}

// CoNeighbours is the function CoNeighbours with the k nearest of these neighbours.
func (n *Neighbourhoods) CoNeighbours(ctx context.Context, k, threads int) (*graph.Graph, error) {
	return n.lists.first(k).coNeighbours(ctx, threads, nil)
}

// Graph joins every sample to the k nearest of its neighbours; all weights are 1.
func (n *Neighbourhoods) Graph(ctx context.Context, k, threads int) (*graph.Graph, error) {
	g, err := n.lists.first(k).edges(ctx, threads)
	if err != nil {
		return nil, err
	}
	for e := range g.Weight {
		g.Weight[e] = 1
	}
	return g, nil
}

// Samples returns the number of samples.
func (n *Neighbourhoods) Samples() int { return len(n.lists.length) }

// Of returns the neighbours of sample i, most probable first, and the probabilities.
// Neither may be changed.
func (n *Neighbourhoods) Of(i int) (index []int32, probability []float32) {
	index, probability = n.lists.of(i)
	return index[1:], probability[1:]
}

// Most returns the largest number of neighbours that a sample may have.
func (n *Neighbourhoods) Most() int { return n.lists.room - 1 }

// NewNeighbourhoods returns the neighbourhoods that index and probability hold: k of
// each sample, most probable first, or fewer, and then -1 up to the k-th. It is an error
// if a number is no other sample's, is listed twice, or has no probability above 0 and up
// to 1, or if these rise.
func NewNeighbourhoods(k int, index []int32, probability []float32) (*Neighbourhoods, error) {
	if k < 1 || len(index)%k != 0 || len(index) != len(probability) {
		return nil, fmt.Errorf("%d neighbours and %d probabilities are not %d for every sample", len(index), len(probability), k)
	}
	n := len(index) / k
	l := &lists{1 + k, make([]int32, n), make([]int32, n*(1+k)), make([]float32, n*(1+k)), make([]float32, n)}
	seen := make([]int32, n)
	for i := range n {
		most := float32(1)
		at := i * l.room
		l.index[at], l.weight[at], l.length[i] = int32(i), 1, 1
		seen[i] = int32(i) + 1
		for t := i * k; t < (i+1)*k && index[t] != -1; t++ {
			j, p := index[t], probability[t]
			if j < 0 || int(j) >= n || seen[j] == int32(i)+1 || !(p > 0 && p <= most) {
				return nil, fmt.Errorf("sample %d has neighbour %d with probability %v, which cannot be", i, j, p)
			}
			seen[j], most = int32(i)+1, p
			at++
			l.index[at], l.weight[at] = j, p
			l.length[i]++
		}
	}
	return &Neighbourhoods{l.first(k)}, nil
}

// First returns the k nearest of the neighbours: a copy, unless there are no more of any
// sample.
func (n *Neighbourhoods) First(k int) *Neighbourhoods {
	if n.Most() <= k {
		return n
	}
	from, room := n.lists.first(k), 1+max(0, k)
	samples := len(from.length)
	to := &lists{room, from.length, make([]int32, samples*room), make([]float32, samples*room), from.sum}
	for i := range samples {
		index, weight := from.of(i)
		copy(to.index[i*room:], index)
		copy(to.weight[i*room:], weight)
	}
	return &Neighbourhoods{to}
}

// Scatter returns the neighbourhoods in which sample p[i] stands for sample i of n. The only
// error is the context's own.
func (n *Neighbourhoods) Scatter(ctx context.Context, p sparse.Permutation, threads int) (*Neighbourhoods, error) {
	from := n.lists
	room := from.room
	size := len(p) * room
	to := &lists{room, sparse.Scatter(p, from.length), make([]int32, size), make([]float32, size), sparse.Scatter(p, from.sum)}
	err := parallel.Blocks(ctx, threads, len(p), 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := from.of(i)
			for t, j := range index {
				to.index[p[i]*room+t], to.weight[p[i]*room+t] = int32(p[j]), weight[t]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return &Neighbourhoods{to}, nil
}
