// Package pair collects the pairs of samples that the method looks at: the union
// of the neighbour lists of all views (the T training pairs (p_t, q_t)), with
// their similarity in every view (w^(m)_{p_t,q_t}).
package pair

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/neighbour"
	"github.com/mvclust/mvclust/similarity"
)

// Set is a set of unordered pairs of samples. The pairs (p, q) with p < q are
// stored by falling p last, that is
//
//	Second[Offsets[p]:Offsets[p+1]] are the partners q > p of p, ascending,
//
// and a pair's place in Second is its number.
type Set struct {
	Offsets []int
	Second  []int32
}

// Samples returns the number of samples that the pairs are drawn from.
func (s *Set) Samples() int { return max(0, len(s.Offsets)-1) }

// Len returns the number of pairs.
func (s *Set) Len() int { return len(s.Second) }

// Union returns the pairs of which one is a neighbour of the other in at least
// one view. It needs at least one view's lists, all over the same samples.
func Union(lists ...*neighbour.Lists) *Set {
	n := len(lists[0].Offsets) - 1
	start := make([]int, n+1)
	each(lists, n, func(p, _ int32) { start[p+1]++ })
	for i := range n {
		start[i+1] += start[i]
	}
	second, fill := make([]int32, start[n]), slices.Clone(start)
	each(lists, n, func(p, q int32) {
		second[fill[p]] = q
		fill[p]++
	})
	s := &Set{Offsets: make([]int, n+1)}
	kept := second[:0]
	for p := range n {
		row := second[start[p]:start[p+1]]
		slices.Sort(row)
		kept = append(kept, slices.Compact(row)...)
		s.Offsets[p+1] = len(kept)
	}
	s.Second = slices.Clip(kept)
	return s
}

// each calls do once for every entry of every list, the lower sample first.
func each(lists []*neighbour.Lists, n int, do func(p, q int32)) {
	for _, l := range lists {
		for i := range int32(n) {
			for _, j := range l.Of(int(i)) {
				do(min(i, j), max(i, j))
			}
		}
	}
}

// Similarities returns the similarity of every pair in every view, by view and
// then by pair number; NaN where a sample of the pair lacks the view. progress,
// if not nil, is called now and then, one call at a time, with the number of
// pairs done. The only error is the context's own.
func (s *Set) Similarities(ctx context.Context, spaces []*similarity.Space, threads int, progress func(done int)) ([][]float32, error) {
	w := make([][]float32, len(spaces))
	for m := range w {
		w[m] = make([]float32, s.Len())
	}
	tick := parallel.Counter(progress)
	err := parallel.Blocks(ctx, threads, s.Samples(), 16, func(_, lo, hi int) {
		for m, space := range spaces {
			for p := lo; p < hi; p++ {
				for t := s.Offsets[p]; t < s.Offsets[p+1]; t++ {
					w[m][t] = space.Similarity(p, int(s.Second[t]))
				}
			}
		}
		tick(s.Offsets[hi] - s.Offsets[lo])
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}
