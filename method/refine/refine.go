// Package refine corrects the pair probabilities by the graph around each pair
// (graph-context-aware refinement): path propagation, Eq. pb_optpath, raises a probability to
// that of the best path over one common neighbour, and co-neighbour propagation, Eq.
// pb_optknn, compares whom two samples have for neighbours.
//
// It follows the method and may change in any minor version.
package refine

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
)

// Settings steer the refinement. The zero value is the paper's: path propagation and then one
// round of co-neighbour propagation.
type Settings struct {
	// WithoutPaths leaves out path propagation.
	WithoutPaths bool `json:"without_paths"`
	// WithoutCoNeighbours leaves out co-neighbour propagation.
	WithoutCoNeighbours bool `json:"without_co_neighbors"`
	// Rounds is how often co-neighbour propagation is applied. 0 stands for 1, as
	// in the paper.
	Rounds int `json:"rounds"`
}

// Parameters returns a description of every setting, with a pointer to its field in s.
func (s *Settings) Parameters() []option.Parameter {
	return []option.Parameter{
		{
			Field: "WithoutPaths", Name: "paths", Value: option.Off(&s.WithoutPaths), PaperOnly: true,
			Equation: "Eq. pb_optpath",
			Meaning:  "path propagation",
		},
		{
			Field: "WithoutCoNeighbours", Name: "co-neighbor-propagation", Value: option.Off(&s.WithoutCoNeighbours), PaperOnly: true, //nolint:misspell // spelt as --neighbors is
			Equation: "Eq. pb_optknn",
			Meaning:  "co-neighbour propagation",
		},
		{
			Field: "Rounds", Name: "rounds", Value: option.Whole(&s.Rounds, 1, 1, 100), PaperOnly: true,
			Equation: "Eq. pb_optknn",
			Meaning:  "how often co-neighbour propagation is applied",
		},
	}
}

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error {
	return option.Resolve(s.Parameters())
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

// Graph returns the refined probabilities, and the neighbours that the last round of
// co-neighbour propagation compared: the k nearest of every sample. Where that propagation is
// left out, there are no such neighbours, and k is not used. g is not changed; where nothing
// is to be done, it is the result.
//
// progress, if not nil, is called with the number of samples done, each counted once per
// step. The result does not depend on threads; 0 stands for GOMAXPROCS. The errors are those
// of Settings.Resolve and Graph.Check, a k below 1, and the context's own.
func Graph(ctx context.Context, g *graph.Graph, k int, set Settings, threads int, progress func(done int)) (*graph.Graph, *Neighbourhoods, error) {
	if err := g.Check(); err != nil {
		return nil, nil, err
	}
	if !set.WithoutPaths && !set.WithoutCoNeighbours {
		g = &graph.Graph{Offsets: g.Offsets, Index: slices.Clone(g.Index), Weight: slices.Clone(g.Weight)}
	}
	return Consume(ctx, g, k, set, threads, progress)
}

// Consume is Graph without the copy of g that path propagation works on: it leaves the edges
// of g in another order, so that g must not be used any more. The copy would be the largest
// object of a run.
func Consume(ctx context.Context, g *graph.Graph, k int, set Settings, threads int, progress func(done int)) (*graph.Graph, *Neighbourhoods, error) {
	if err := set.Resolve(); err != nil {
		return nil, nil, err
	}
	if err := g.Check(); err != nil {
		return nil, nil, err
	}
	if k < 1 && !set.WithoutCoNeighbours {
		return nil, nil, option.Errorf("Neighbours", "%d neighbours are too few; give at least 1", k)
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
	rounds := set.Rounds
	if set.WithoutCoNeighbours {
		rounds = 0
	}
	var near *Neighbourhoods
	var err error
	switch {
	case set.WithoutPaths && rounds == 0:
		return g, nil, nil
	case set.WithoutPaths:
		near, err = Nearest(ctx, g, k, threads)
	case rounds == 0:
		g, err = Paths(ctx, g, threads, offset())
		return g, nil, err
	default:
		// The weights that paths give are never held all at once: only the largest of every
		// sample are needed.
		near, err = nearestByPaths(ctx, g, k, threads, offset())
	}
	for round := 0; err == nil; {
		if g, err = near.coNeighbours(ctx, threads, offset()); err != nil {
			break
		}
		if round++; round == rounds {
			return g, near, nil
		}
		near, err = Nearest(ctx, g, k, threads)
	}
	return nil, nil, err
}

// Paths returns the graph in which every edge is at least as probable as the best path over
// one common neighbour, Eq. pb_optpath:
//
//	P(i,j) = max(P(i,j), max over h of P(i,h) P(h,j))
//
// All paths are taken in g itself, so the result does not depend on the order of the samples.
// g is not changed. progress, if not nil, is called with the number of samples done. The errors
// are those of Graph.Check and the context's own.
func Paths(ctx context.Context, g *graph.Graph, threads int, progress func(done int)) (*graph.Graph, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	ranked := &graph.Graph{Offsets: g.Offsets, Index: slices.Clone(g.Index), Weight: slices.Clone(g.Weight)}
	if err := sortByWeight(ctx, ranked, threads); err != nil {
		return nil, err
	}
	out := &graph.Graph{Offsets: g.Offsets, Index: slices.Clone(g.Index), Weight: make([]float32, len(g.Weight))}
	err := each(ctx, g.Samples(), threads, progress, func(r *Row, i int) {
		byWeight, _ := ranked.Of(i)
		r.largest(ranked, i, len(byWeight))
		index, weight := out.Of(i)
		for e, j := range byWeight {
			if at, found := slices.BinarySearch(index, j); found { // as in every valid graph
				weight[at] = r.best[e]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// nearestByPaths returns every sample's k nearest neighbours after path propagation. It
// reorders the edges of g.
func nearestByPaths(ctx context.Context, g *graph.Graph, k, threads int, progress func(done int)) (*Neighbourhoods, error) {
	if err := sortByWeight(ctx, g, threads); err != nil {
		return nil, err
	}
	n := newNeighbourhoods(g, k)
	err := each(ctx, g.Samples(), threads, progress, func(r *Row, i int) {
		r.largest(g, i, k)
		index, _ := g.Of(i)
		n.fill(i, index, r.best, r)
	})
	return n, err
}

// sortByWeight puts the edges of every sample in the order of falling weight and, among
// equals, rising number.
func sortByWeight(ctx context.Context, g *graph.Graph, threads int) error {
	return parallel.Blocks(ctx, threads, g.Samples(), 256, func(_, lo, hi int) {
		var r Row
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			for e, key := range r.ranked(index, weight, len(index)) {
				index[e], weight[e] = key.Number(), key.Score()
			}
		}
	})
}

// each calls do for every sample i.
func each(ctx context.Context, n, threads int, progress func(done int), do func(r *Row, i int)) error {
	rows := make([]*Row, min(parallel.Threads(threads), n))
	tick := parallel.Counter(progress)
	return parallel.Blocks(ctx, threads, n, 64, func(worker, lo, hi int) {
		if rows[worker] == nil {
			rows[worker] = NewRow(n)
		}
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			do(rows[worker], i)
		}
		tick(hi - lo)
	})
}
