// Package pair collects the pairs of samples that the method looks at: the union
// of the neighbour lists of all views (the T training pairs (p_t, q_t)), with
// their similarity in every view (w^(m)_{p_t,q_t}).
package pair

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
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

// Of returns the partners q > p of p, ascending.
func (s *Set) Of(p int) []int32 { return s.Second[s.Offsets[p]:s.Offsets[p+1]] }

// Union returns the pairs of which one is a neighbour of the other in at least
// one of lists. There must be at least one, and all over the same samples. The
// result does not depend on threads; 0 stands for GOMAXPROCS. The only error is the
// context's own.
func Union(ctx context.Context, lists []*neighbour.Lists, threads int) (*Set, error) {
	n := len(lists[0].Offsets) - 1
	// Every thread goes through all lists, for pairs of samples of its own.
	start := make([]int, n+1)
	err := parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		each(ctx, lists, n, func(p, _ int32) {
			if int(p) >= lo && int(p) < hi {
				start[p+1]++
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		start[i+1] += start[i]
	}
	second, fill := make([]int32, start[n]), slices.Clone(start)
	count := make([]int, n)
	err = parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		each(ctx, lists, n, func(p, q int32) {
			if int(p) >= lo && int(p) < hi {
				second[fill[p]] = q
				fill[p]++
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
	s := &Set{Offsets: make([]int, n+1)}
	kept := second[:0]
	for p := range n {
		kept = append(kept, second[start[p]:start[p]+count[p]]...)
		s.Offsets[p+1] = len(kept)
	}
	s.Second = slices.Clip(kept)
	return s, nil
}

// each calls do once for every entry of every list, the lower sample first, until ctx
// is done.
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

// Thin returns the set itself where it has at most most pairs, or else most of its
// pairs, evenly spaced.
func (s *Set) Thin(most int) *Set {
	if s.Len() <= most {
		return s
	}
	thin := &Set{Offsets: make([]int, len(s.Offsets)), Second: make([]int32, most)}
	p := 0
	for k := range most {
		t := Spaced(k, most, s.Len())
		for t >= s.Offsets[p+1] {
			p++
			thin.Offsets[p] = k
		}
		thin.Second[k] = s.Second[t]
	}
	for p++; p < len(thin.Offsets); p++ {
		thin.Offsets[p] = most
	}
	return thin
}

// Spaced returns the number of the k-th of n pairs evenly spaced among all.
func Spaced(k, n, all int) int {
	return int(int64(k) * int64(all) / int64(n)) // the product may leave a 32-bit int
}

// Part returns the pairs whose lower sample is in [lo, hi).
func (s *Set) Part(lo, hi int) *Set {
	part := &Set{Offsets: make([]int, len(s.Offsets)), Second: s.Second[s.Offsets[lo]:s.Offsets[hi]]}
	for p := lo; p < len(s.Offsets); p++ {
		part.Offsets[p] = s.Offsets[min(p, hi)] - s.Offsets[lo]
	}
	return part
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
				space.Similarities(w[m][s.Offsets[p]:s.Offsets[p+1]], p, s.Of(p))
			}
		}
		tick(s.Offsets[hi] - s.Offsets[lo])
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}
