// Package refine corrects pair probabilities by what the graph around a pair
// says (graph-context-aware refinement).
package refine

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust/graph"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
)

// Settings steer the refinement. But for Neighbours, which has no default, the
// zero value is the paper's: path propagation and then one round of co-neighbour
// propagation.
type Settings struct {
	// WithoutPaths leaves out path propagation.
	WithoutPaths bool
	// Neighbours is how many of a sample's neighbours co-neighbour propagation
	// looks at, k: at least 1, unless it is left out.
	Neighbours int
	// WithoutCoNeighbours leaves out co-neighbour propagation.
	WithoutCoNeighbours bool
	// Rounds is how often co-neighbour propagation is applied. 0 stands for 1, as
	// in the paper.
	Rounds int
}

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error {
	if s.Neighbours < 1 && !s.WithoutCoNeighbours {
		return option.Errorf("co-neighbors", "%d neighbours are too few; give at least 1", s.Neighbours)
	}
	return option.Default("rounds", &s.Rounds, 1, 1, 100)
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

// Graph applies the refinement to g, which it does not change. progress, if not
// nil, is called with the number of samples done, each counted once per step.
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
	n := g.Samples()
	near, err := nearest(ctx, g, n, threads)
	if err != nil {
		return nil, err
	}
	out := &graph.Graph{Offsets: g.Offsets, Index: g.Index, Weight: make([]float64, len(g.Weight))}
	err = each(ctx, n, threads, progress, func(i int, row []float64) {
		index, weight := g.Of(i)
		for e, h := range index {
			row[h] = weight[e]
		}
		best := out.Weight[g.Offsets[i]:g.Offsets[i+1]]
		for e, j := range index {
			// The list of j begins with j itself, the direct way, and goes on by
			// falling weight: no detour is more probable than its second step.
			theirs, step := near.Of(int(j))
			for l, h := range theirs {
				if step[l] <= best[e] {
					break
				}
				best[e] = max(best[e], row[h]*step[l])
			}
		}
		for _, h := range index {
			row[h] = 0
		}
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
// A sample counts among its own neighbours, with P(i,i) = 1, and beside its k
// others. The result has an edge wherever one sample is among the other's k
// nearest. progress, if not nil, is called with the number of samples done.
func CoNeighbours(ctx context.Context, g *graph.Graph, k, threads int, progress func(done int)) (*graph.Graph, error) {
	n := g.Samples()
	near, err := nearest(ctx, g, k, threads)
	if err != nil {
		return nil, err
	}
	out := near.edges()
	out.Weight = make([]float64, len(out.Index))
	err = each(ctx, n, threads, progress, func(i int, listed []float64) {
		mine, _ := near.Of(i)
		for _, h := range mine {
			listed[h] = 1
		}
		for e := out.Offsets[i]; e < out.Offsets[i+1]; e++ {
			// The half of the common sum that j gives, for now.
			theirs, weight := near.Of(int(out.Index[e]))
			for l, h := range theirs {
				out.Weight[e] += listed[h] * weight[l]
			}
		}
		for _, h := range mine {
			listed[h] = 0
		}
	})
	if err != nil {
		return nil, err
	}
	near.join(out)
	return out, nil
}

// each calls do for every sample i, with n zeros to write to that do turns back
// into zeros.
func each(ctx context.Context, n, threads int, progress func(done int), do func(i int, row []float64)) error {
	rows := make([][]float64, min(parallel.Threads(threads), n))
	tick := parallel.Counter(progress)
	return parallel.Blocks(ctx, threads, n, 16, func(worker, lo, hi int) {
		if rows[worker] == nil {
			rows[worker] = make([]float64, n)
		}
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			do(i, rows[worker])
		}
		tick(hi - lo)
	})
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
		l.Offsets[i+1] = l.Offsets[i] + 1 + max(0, min(k, positive))
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
				return cmp.Or(cmp.Compare(weight[b], weight[a]), a-b)
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

// join turns the halves of the common sum, stored at either end of every edge
// of g, into the probability. Every half is added up along one list, by falling
// weight, and so is the whole list. That makes the two ends equal to the last
// bit, keeps the result from depending on the samples' numbers, and bounds it by
// 1, for a sum over part of a list cannot be rounded beyond that over all of it.
func (l *lists) join(g *graph.Graph) {
	// Going through i in order, row j meets its lower neighbours i in order.
	back := slices.Clone(g.Offsets)
	for i := range g.Samples() {
		for e := g.Offsets[i]; e < g.Offsets[i+1]; e++ {
			j := int(g.Index[e])
			if j < i {
				continue
			}
			r := back[j]
			back[j]++
			p := (g.Weight[e] + g.Weight[r]) / (l.sum[i] + l.sum[j])
			g.Weight[e], g.Weight[r] = p, p
		}
	}
}
