// Package refine corrects pair probabilities by what the graph around a pair
// says (graph-context-aware refinement).
package refine

import (
	"context"
	"math"
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

// Graph applies the refinement to g, which it takes over: the edges of g are left in
// another order. It also returns the neighbours that the last round of co-neighbour
// propagation with the k nearest compared, k being at least 1 there; nil where it is left out. progress, if not nil, is called with
// the number of samples done, each counted once per step. The result does not depend on threads; 0 stands for
// GOMAXPROCS. The only errors are those of Settings.Resolve and the context's own.
func Graph(ctx context.Context, g *graph.Graph, k int, set Settings, threads int, progress func(done int)) (*graph.Graph, *Neighbourhoods, error) {
	if err := set.Resolve(); err != nil {
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
	var near *lists
	var err error
	switch {
	case set.WithoutPaths && rounds == 0:
		return g, nil, nil
	case set.WithoutPaths:
		near, err = nearest(ctx, g, k, threads)
	case rounds == 0:
		g, err = Paths(ctx, g, threads, offset())
		return g, nil, err
	default:
		// The weights that paths give are never held all at once: all that is
		// asked of them is which are the largest of every sample.
		near, err = paths(ctx, g, k, threads, offset())
	}
	for round := 0; err == nil; {
		if g, err = near.coNeighbours(ctx, threads, offset()); err != nil {
			break
		}
		if round++; round == rounds {
			return g, &Neighbourhoods{near}, nil
		}
		near, err = nearest(ctx, g, k, threads)
	}
	return nil, nil, err
}

// Paths returns the graph in which every edge is at least as probable as the
// best detour over one common neighbour, Eq. pb_optpath:
//
//	P(i,j) = max(P(i,j), max over h of P(i,h) P(h,j))
//
// All detours are taken in g itself, so the result does not depend on the order
// of the samples. g is not changed. progress, if not nil, is called with the number
// of samples done.
func Paths(ctx context.Context, g *graph.Graph, threads int, progress func(done int)) (*graph.Graph, error) {
	ranked := &graph.Graph{Offsets: g.Offsets, Index: slices.Clone(g.Index), Weight: slices.Clone(g.Weight)}
	if err := rank(ctx, ranked, threads); err != nil {
		return nil, err
	}
	out := &graph.Graph{Offsets: g.Offsets, Index: slices.Clone(g.Index), Weight: make([]float32, len(g.Weight))}
	err := each(ctx, g.Samples(), threads, progress, func(s *scratch, i int) {
		s.all(ranked, i)
		index, weight := out.Of(i)
		byWeight, _ := ranked.Of(i)
		for e, j := range byWeight {
			at, _ := slices.BinarySearch(index, j)
			weight[at] = s.best[e]
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// paths returns every sample's k nearest neighbours after path propagation. It
// reorders the edges of g.
func paths(ctx context.Context, g *graph.Graph, k, threads int, progress func(done int)) (*lists, error) {
	if err := rank(ctx, g, threads); err != nil {
		return nil, err
	}
	l := newLists(g, k)
	err := each(ctx, g.Samples(), threads, progress, func(s *scratch, i int) {
		s.largest(g, i, k)
		index, _ := g.Of(i)
		l.pick(i, index, s.best, s)
	})
	return l, err
}

// rank puts the edges of every sample in the order of falling weight and, among
// equals, rising number.
func rank(ctx context.Context, g *graph.Graph, threads int) error {
	return parallel.Blocks(ctx, threads, g.Samples(), 256, func(_, lo, hi int) {
		var keys []uint64
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			keys = sorted(keys, index, weight, 0)
			for e, x := range keys {
				index[e], weight[e] = unkey(x)
			}
		}
	})
}

// sorted returns, in the place of keys, a key for every edge of a weight that is not
// below floor, those of the largest weight first and, among equals, those to the lowest
// number.
func sorted(keys []uint64, index []int32, weight []float32, floor float32) []uint64 {
	keys = keys[:0]
	for e, j := range index {
		if w := weight[e]; w >= floor {
			// The bits of a positive number rise with it.
			keys = append(keys, uint64(^math.Float32bits(w))<<32|uint64(j))
		}
	}
	slices.Sort(keys)
	return keys
}

// unkey returns the edge that a key stands for.
func unkey(x uint64) (index int32, weight float32) {
	return int32(uint32(x)), math.Float32frombits(^uint32(x >> 32))
}

// all sets best to the weights that paths give to the edges of sample i of g, which are
// ranked, in their order.
func (s *scratch) all(g *graph.Graph, i int) {
	index, weight := g.Of(i)
	s.best = append(s.best[:0], weight...)
	for e, h := range index {
		s.place[h] = int32(e) + 1
	}
	for e, j := range index {
		// No detour is more probable than its second step, by falling weight, after
		// the best first one.
		theirs, step := g.Of(int(j))
		most := weight[e]
		for l, h := range theirs {
			if weight[0]*step[l] <= most {
				break
			}
			if at := s.place[h] - 1; at >= 0 {
				most = max(most, weight[at]*step[l])
			}
		}
		s.best[e] = most
	}
	for _, h := range index {
		s.place[h] = 0
	}
}

// largest does the same for those edges whose weights are then among the sample's k
// largest. The others are anything below these, and the largest are at least floor.
func (s *scratch) largest(g *graph.Graph, i, k int) {
	index, weight := g.Of(i)
	s.best, s.near, s.floor = append(s.best[:0], weight...), s.near[:0], 0
	if k = min(max(1, k), len(index)); k > 0 {
		s.floor = weight[k-1]
	}
	for e, j := range index {
		s.place[j] = int32(e) + 1
		if weight[e] >= s.floor {
			s.near = append(s.near, int32(e))
		}
	}
	enough := 2 * k
	// No step raises the probability of a path, so that few first steps come into
	// question, and few second ones after each.
	for e, h := range index {
		if weight[e] < s.floor {
			break
		}
		theirs, step := g.Of(int(h))
		for l, j := range theirs {
			p := weight[e] * step[l]
			if p < s.floor {
				break
			}
			at := s.place[j] - 1
			if at < 0 || p <= s.best[at] {
				continue
			}
			if s.best[at] < s.floor {
				s.near = append(s.near, at)
			}
			s.best[at] = p
		}
		if len(s.near) >= enough {
			s.raise(k)
			enough = 2 * max(k, len(s.near)) // of which many may tie
		}
	}
	for _, h := range index {
		s.place[h] = 0
	}
}

// raise sets the floor to the k-th largest weight so far.
func (s *scratch) raise(k int) {
	s.top = s.top[:0]
	for _, at := range s.near {
		s.top = append(s.top, s.best[at])
	}
	slices.Sort(s.top)
	s.floor = s.top[len(s.top)-k]
	s.near = slices.DeleteFunc(s.near, func(at int32) bool { return s.best[at] < s.floor })
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
// nearest. g is not changed. progress, if not nil, is called with the number of
// samples done.
func CoNeighbours(ctx context.Context, g *graph.Graph, k, threads int, progress func(done int)) (*graph.Graph, error) {
	near, err := nearest(ctx, g, k, threads)
	if err != nil {
		return nil, err
	}
	return near.coNeighbours(ctx, threads, progress)
}

// scratch is one thread's.
type scratch struct {
	place []int32   // by sample: where it is on a list, counted from 1; to be left at 0
	best  []float32 // the weights of a sample's edges
	floor float32   // below which none of the largest is
	near  []int32   // the edges that reach it
	top   []float32 // their weights
	keys  []uint64
}

// each calls do for every sample i.
func each(ctx context.Context, n, threads int, progress func(done int), do func(s *scratch, i int)) error {
	scratches := make([]scratch, min(parallel.Threads(threads), n))
	tick := parallel.Counter(progress)
	return parallel.Blocks(ctx, threads, n, 64, func(worker, lo, hi int) {
		s := &scratches[worker]
		if s.place == nil {
			s.place = make([]int32, n)
		}
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			do(s, i)
		}
		tick(hi - lo)
	})
}

// lists holds every sample's nearest neighbours in a graph, itself first. There is
// room for the same number of each sample.
type lists struct {
	room   int
	length []int32
	index  []int32
	weight []float32
	sum    []float32 // of a sample's weights
}

// newLists has room for k neighbours of every sample of g, or as many as it has.
func newLists(g *graph.Graph, k int) *lists {
	n, most := g.Samples(), 0
	for i := range n {
		most = max(most, g.Offsets[i+1]-g.Offsets[i])
	}
	room := 1 + max(0, min(k, most))
	return &lists{room, make([]int32, n), make([]int32, n*room), make([]float32, n*room), make([]float32, n)}
}

// of returns the neighbours of sample i.
func (l *lists) of(i int) (index []int32, weight []float32) {
	lo, hi := i*l.room, i*l.room+int(l.length[i])
	return l.index[lo:hi], l.weight[lo:hi]
}

// first returns the lists cut after their k nearest. It shares them with l.
func (l *lists) first(k int) *lists {
	out := &lists{l.room, make([]int32, len(l.length)), l.index, l.weight, make([]float32, len(l.sum))}
	most := 1 + int32(max(0, min(k, l.room-1)))
	for i, length := range l.length {
		out.length[i] = min(length, most)
		_, weight := out.of(i)
		sum := 0.0
		for _, w := range weight {
			sum += float64(w)
		}
		out.sum[i] = float32(sum)
	}
	return out
}

// nearest picks each sample's k edges of the largest weight, among equals the
// one to the lower number. Edges of weight 0 are no neighbours.
func nearest(ctx context.Context, g *graph.Graph, k, threads int) (*lists, error) {
	l := newLists(g, k)
	err := parallel.Blocks(ctx, threads, g.Samples(), 256, func(_, lo, hi int) {
		var s scratch
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			l.pick(i, index, weight, &s)
		}
	})
	return l, err
}

// pick fills the list of sample i from its edges.
func (l *lists) pick(i int, index []int32, weight []float32, s *scratch) {
	at := i * l.room
	l.index[at], l.weight[at] = int32(i), 1
	l.length[i] = 1
	sum := 1.0
	s.keys = sorted(s.keys, index, weight, s.floor)
	for _, x := range s.keys[:min(len(s.keys), l.room-1)] {
		j, w := unkey(x)
		if w == 0 {
			break
		}
		at++
		l.index[at], l.weight[at] = j, w
		l.length[i]++
		sum += float64(w)
	}
	l.sum[i] = float32(sum)
}

// coNeighbours is CoNeighbours on the nearest neighbours.
func (l *lists) coNeighbours(ctx context.Context, threads int, progress func(done int)) (*graph.Graph, error) {
	out, err := l.edges(ctx, threads)
	if err != nil {
		return nil, err
	}
	err = each(ctx, len(l.length), threads, progress, func(s *scratch, i int) {
		mine, _ := l.of(i)
		for _, h := range mine {
			s.place[h] = 1
		}
		index, half := out.Of(i)
		for e, j := range index {
			// The half of the common sum that j gives, for now.
			theirs, weight := l.of(int(j))
			sum := 0.0
			for t, h := range theirs {
				sum += float64(float32(s.place[h]) * weight[t])
			}
			half[e] = float32(sum)
		}
		for _, h := range mine {
			s.place[h] = 0
		}
	})
	if err != nil {
		return nil, err
	}
	l.join(out)
	return out, nil
}

// edges returns the graph, still without weights, that joins every sample to
// those on its list.
func (l *lists) edges(ctx context.Context, threads int) (*graph.Graph, error) {
	return graph.FromRows(ctx, len(l.length), func(i int) ([]int32, []float32) {
		index, _ := l.of(i)
		return index[1:], nil
	}, threads)
}

// join turns the halves of the common sum, stored at either end of every edge
// of g, into the probability. Every half is added up along one list, by falling
// weight, and so is the whole list, and both are rounded alike. That makes the two
// ends equal to the last bit, keeps the result from depending on the samples'
// numbers, and bounds it by 1, for a sum over part of a list cannot be rounded beyond
// that over all of it.
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
			p := float32((float64(g.Weight[e]) + float64(g.Weight[r])) / (float64(l.sum[i]) + float64(l.sum[j])))
			g.Weight[e], g.Weight[r] = p, p
		}
	}
}
