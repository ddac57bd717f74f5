// Package refine corrects pair probabilities by what the graph around a pair
// says (graph-context-aware refinement).
package refine

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/graph"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
)

// Settings steer the refinement. The zero value is the paper's: path propagation
// and then one round of co-neighbour propagation.
type Settings struct {
	// WithoutPaths leaves out path propagation.
	WithoutPaths bool
	// Neighbours is how many of a sample's neighbours co-neighbour propagation
	// looks at, k. It must be positive where there is a round.
	Neighbours int
	// WithoutCoNeighbours leaves out co-neighbour propagation.
	WithoutCoNeighbours bool
	// Rounds is how often co-neighbour propagation is applied. 0 stands for 1, as
	// in the paper.
	Rounds int
}

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error {
	return option.First(
		option.Default("co-neighbors", &s.Neighbours, s.Neighbours, 1, math.MaxInt32),
		option.Default("rounds", &s.Rounds, 1, 1, 100),
	)
}

// Steps returns how many times Graph goes over the samples.
func (s Settings) Steps() int {
	steps := 0
	if !s.WithoutPaths {
		steps++
	}
	if !s.WithoutCoNeighbours {
		steps += max(1, s.Rounds)
	}
	return steps
}

// Graph applies the refinement to g. progress, if not nil, is called with the
// number of samples done, each counted once per step.
func Graph(ctx context.Context, g *graph.Graph, set Settings, threads int, progress func(done int)) (*graph.Graph, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	before := 0
	offset := func() func(done int) {
		if progress == nil {
			return nil
		}
		from := before
		before += g.Samples()
		return func(done int) { progress(from + done) }
	}
	var err error
	if !set.WithoutPaths {
		if g, err = Paths(ctx, g, threads, offset()); err != nil {
			return nil, err
		}
	}
	for round := 0; round < set.Rounds && !set.WithoutCoNeighbours; round++ {
		if g, err = CoNeighbours(ctx, g, set.Neighbours, threads, offset()); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Paths returns the graph in which every edge is at least as probable as the
// best detour over one common neighbour, Eq. pb_optpath:
//
//	P(i,j) = max(P(i,j), max over h of P(i,h) P(h,j))
//
// All detours are taken in g itself, so the result does not depend on the order
// of the samples. progress, if not nil, is called with the number of samples done.
func Paths(ctx context.Context, g *graph.Graph, threads int, progress func(done int)) (*graph.Graph, error) {
	out := &graph.Graph{Offsets: g.Offsets, Index: g.Index, Weight: make([]float64, len(g.Weight))}
	n := g.Samples()
	rows := make([][]float64, parallel.Threads(threads))
	tick := parallel.Counter(progress)
	err := parallel.Blocks(ctx, threads, n, 16, func(worker, lo, hi int) {
		if rows[worker] == nil {
			rows[worker] = make([]float64, n)
		}
		row := rows[worker] // the weights of the edges of i, spread out
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			index, weight := g.Of(i)
			for e, h := range index {
				row[h] = weight[e]
			}
			best := out.Weight[g.Offsets[i]:g.Offsets[i+1]]
			for e, j := range index {
				p := weight[e]
				next, step := g.Of(int(j))
				for k, h := range next {
					p = max(p, row[h]*step[k])
				}
				best[e] = p
			}
			for _, h := range index {
				row[h] = 0
			}
		}
		tick(hi - lo)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// CoNeighbours returns the graph of co-neighbour probabilities, Eq. pb_optknn:
// of all the probability that i and j give to their k nearest neighbours in g,
// the share that goes to neighbours that they have in common,
//
//	P(i,j) = sum over common h of (P(i,h) + P(j,h)) /
//	         (sum over h of P(i,h) + sum over h of P(j,h)).
//
// A sample counts among its own neighbours, with P(i,i) = 1. The result has an
// edge wherever one sample is among the other's k nearest. progress, if not nil,
// is called with the number of samples done.
func CoNeighbours(ctx context.Context, g *graph.Graph, k, threads int, progress func(done int)) (*graph.Graph, error) {
	n := g.Samples()
	near, err := nearest(ctx, g, k, threads)
	if err != nil {
		return nil, err
	}
	out := near.edges()
	out.Weight = make([]float64, len(out.Index))
	rows := make([][]float64, parallel.Threads(threads))
	tick := parallel.Counter(progress)
	err = parallel.Blocks(ctx, threads, n, 16, func(worker, lo, hi int) {
		if rows[worker] == nil {
			rows[worker] = make([]float64, n)
		}
		row := rows[worker]
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			index, weight := near.Of(i)
			for e, h := range index {
				row[h] = weight[e]
			}
			for e := out.Offsets[i]; e < out.Offsets[i+1]; e++ {
				j := int(out.Index[e])
				common := 0.0
				next, step := near.Of(j)
				for k, h := range next {
					// A listed neighbour has a positive probability.
					if row[h] > 0 {
						common += row[h] + step[k]
					}
				}
				out.Weight[e] = common / (near.sum[i] + near.sum[j])
			}
			for _, h := range index {
				row[h] = 0
			}
		}
		tick(hi - lo)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// lists holds every sample's nearest neighbours in a graph, itself first.
type lists struct {
	graph.Graph
	sum []float64 // of a sample's weights
}

// nearest picks each sample's k edges of the largest weight, among equals the
// one to the lower number. Edges of weight 0 are no neighbours.
func nearest(ctx context.Context, g *graph.Graph, k, threads int) (*lists, error) {
	n := g.Samples()
	l := &lists{sum: make([]float64, n)}
	l.Offsets = make([]int, n+1)
	for i := range n {
		_, weight := g.Of(i)
		positive := 0
		for _, w := range weight {
			if w > 0 {
				positive++
			}
		}
		l.Offsets[i+1] = l.Offsets[i] + 1 + min(k, positive)
	}
	l.Index, l.Weight = make([]int32, l.Offsets[n]), make([]float64, l.Offsets[n])
	err := parallel.Blocks(ctx, threads, n, 256, func(_, lo, hi int) {
		var order []int
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			order = order[:0]
			for e := range index {
				order = append(order, e)
			}
			slices.SortFunc(order, func(a, b int) int {
				switch x, y := weight[a], weight[b]; {
				case x > y:
					return -1
				case x < y:
					return 1
				}
				return a - b
			})
			at := l.Offsets[i]
			l.Index[at], l.Weight[at], l.sum[i] = int32(i), 1, 1
			for _, e := range order[:l.Offsets[i+1]-at-1] {
				at++
				l.Index[at], l.Weight[at] = index[e], weight[e]
				l.sum[i] += weight[e]
			}
		}
	})
	return l, err
}

// edges returns the graph, still without weights, that joins every sample to
// those on its list.
func (l *lists) edges() *graph.Graph {
	n := l.Samples()
	both := make([][]int32, n)
	for i := range n {
		index, _ := l.Of(i)
		for _, j := range index[1:] {
			both[i] = append(both[i], j)
			both[j] = append(both[j], int32(i))
		}
	}
	g := &graph.Graph{Offsets: make([]int, n+1)}
	for i, row := range both {
		slices.Sort(row)
		g.Index = append(g.Index, slices.Compact(row)...)
		g.Offsets[i+1] = len(g.Index)
	}
	return g
}
