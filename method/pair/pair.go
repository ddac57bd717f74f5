// Package pair collects the pairs of samples whose probability the method estimates: the
// union of the neighbour lists of all views, which is the paper's T training pairs
//
//	{(p_t, q_t)}, t = 1..T,  with the similarities w^(m)_{p_t,q_t} in every view m.
//
// It follows the method and may change in any minor version.
package pair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// Set is a set of unordered pairs (p, q) of samples, p < q. They are numbered by p, then
// by q.
type Set struct {
	// Partners has one row per sample: the partners q > p of p, ascending. Pair t has the
	// partner Partners.Values[t].
	Partners sparse.Rows[int32]
}

// Samples returns the number of samples that the pairs are drawn from.
func (s *Set) Samples() int { return s.Partners.Len() }

// Len returns the number of pairs.
func (s *Set) Len() int { return len(s.Partners.Values) }

// Check reports the first thing that makes the pairs impossible to walk along: rows that do not
// fit, and partners that are not above p or out of range.
func (s *Set) Check() error {
	if s == nil {
		return errors.New("there are no pairs; pass a set, if need be an empty one")
	}
	if err := s.Partners.Validate(); err != nil {
		return fmt.Errorf("the pairs cannot be: %w", err)
	}
	n := s.Samples()
	for p := range n {
		for _, q := range s.Of(p) {
			if int(q) <= p || int(q) >= n {
				return fmt.Errorf("sample %d has the partner %d; partners are above it, and below %d", p, q, n)
			}
		}
	}
	return nil
}

// Of returns the partners q > p of p, ascending. It panics if p is out of range.
func (s *Set) Of(p int) []int32 { return s.Partners.Of(p) }

// Union returns the pairs of samples of which one is a neighbour of the other in at least
// one of the lists. threads of 0 or less stands for all usable processors; the result is the
// same for any number. It is an error if there is no list, if the lists are not all of the same
// samples, or if ctx is done.
func Union(ctx context.Context, lists []*neighbour.Lists, threads int) (*Set, error) {
	n, err := neighbour.Check(lists)
	if err != nil {
		return nil, err
	}
	// Every thread goes through all lists, and takes the pairs of its own range of p.
	start := make([]int, n+1)
	err = parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		each(ctx, lists, n, func(p, _ int32) {
			if int(p) >= lo && int(p) < hi {
				start[p+1]++
			}
		})
	})
	if err != nil {
		return nil, err
	}
	next := sparse.Cumulate(start)
	second := make([]int32, start[n])
	count := make([]int, n)
	err = parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		each(ctx, lists, n, func(p, q int32) {
			if int(p) >= lo && int(p) < hi {
				second[next[p]] = q
				next[p]++
			}
		})
		for p := lo; p < hi && (p%1024 != 0 || ctx.Err() == nil); p++ {
			row := second[start[p]:start[p+1]]
			slices.Sort(row)
			count[p] = len(slices.Compact(row))
		}
	})
	if err != nil {
		return nil, err
	}
	kept := sparse.Rows[int32]{Offsets: make([]int, n+1), Values: second[:0]}
	for p := range n {
		kept.Values = append(kept.Values, second[start[p]:start[p]+count[p]]...)
		kept.Offsets[p+1] = len(kept.Values)
	}
	kept.Values = slices.Clip(kept.Values)
	return &Set{kept}, nil
}

// each calls do for every entry of every list, with the lower sample first, until ctx is
// done.
func each(ctx context.Context, lists []*neighbour.Lists, n int, do func(p, q int32)) {
	for _, l := range lists {
		for i := range int32(n) {
			if i%1024 == 0 && ctx.Err() != nil {
				return
			}
			for _, j := range l.Of(int(i)) {
				do(min(i, j), max(i, j))
			}
		}
	}
}

// Thin returns n of the pairs, evenly spaced, or the set itself where it has no more. It panics if
// n is below 0.
func (s *Set) Thin(n int) *Set {
	if s.Len() <= n {
		return s
	}
	offsets := s.Partners.Offsets
	thin := sparse.Rows[int32]{Offsets: make([]int, len(offsets)), Values: make([]int32, n)}
	p := 0
	for k := range n {
		t := sparse.Spaced(k, n, s.Len())
		for t >= offsets[p+1] {
			p++
			thin.Offsets[p] = k
		}
		thin.Values[k] = s.Partners.Values[t]
	}
	for p++; p < len(offsets); p++ {
		thin.Offsets[p] = n
	}
	return &Set{thin}
}

// Part returns the pairs (p, q) with p in [lo, hi). It shares its memory with s. It panics if
// lo or hi is out of range.
func (s *Set) Part(lo, hi int) *Set {
	offsets := s.Partners.Offsets
	part := sparse.Rows[int32]{Offsets: make([]int, len(offsets)), Values: s.Partners.Values[offsets[lo]:offsets[hi]]}
	for p := lo; p < len(offsets); p++ {
		part.Offsets[p] = offsets[min(p, hi)] - offsets[lo]
	}
	return &Set{part}
}

// Similarities returns the similarity of every pair in every view, by view and pair number,
// NaN where one of the two samples lacks the view. progress, if not nil, is called now and
// then, one call at a time, with the number of pairs done. The errors are those of Check,
// spaces of other samples, and the context's own.
func (s *Set) Similarities(ctx context.Context, spaces []*similarity.Space, threads int, progress func(done int)) ([][]float32, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	for m, space := range spaces {
		if err := space.Check(); err != nil {
			return nil, err
		}
		if space.Samples != s.Samples() {
			return nil, fmt.Errorf("space %d has %d samples where the pairs are of %d; pass the spaces that the pairs were found in", m, space.Samples, s.Samples())
		}
	}
	w := make([][]float32, len(spaces))
	for m := range w {
		w[m] = make([]float32, s.Len())
	}
	tick, offsets := parallel.Counter(progress), s.Partners.Offsets
	err := parallel.Blocks(ctx, threads, s.Samples(), 16, func(_, lo, hi int) {
		for m, space := range spaces {
			for p := lo; p < hi; p++ {
				space.Similarities(w[m][offsets[p]:offsets[p+1]], p, s.Of(p))
			}
		}
		tick(offsets[hi] - offsets[lo])
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}
