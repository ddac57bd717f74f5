// Package neighbour finds the K nearest neighbours of every sample in one view
// (KNN^(m) of the paper).
package neighbour

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/similarity"
)

// Lists holds the neighbours of every sample in one view, most alike first and,
// among equals, the lower number first. A sample without the view has none, and
// a sample is not its own neighbour. The list of sample i is
//
//	Index[Offsets[i]:Offsets[i+1]], with similarities at the same places.
type Lists struct {
	Offsets    []int
	Index      []int32
	Similarity []float32
}

// Of returns the neighbours of sample i, most alike first.
func (l *Lists) Of(i int) []int32 { return l.Index[l.Offsets[i]:l.Offsets[i+1]] }

// Block sizes: a block of queries and a block of candidates stay in the
// second-level cache together at common row lengths.
const (
	queryBlock     = 32
	candidateBlock = 128
)

// Search compares every sample that has the view with every other one and keeps
// the k most alike, or all of them where there are fewer. It holds one block of
// similarities per thread, never a matrix. threads of 0 or less stands for all
// usable processors; the result is the same for any number. progress, if not
// nil, is called now and then, one call at a time, with the number of samples
// done. The only error is the context's own.
func Search(ctx context.Context, s *similarity.Space, k, threads int, progress func(done int)) (*Lists, error) {
	n := s.Count()
	k = max(0, min(k, n-1))
	l := &Lists{Offsets: make([]int, s.Samples+1)}
	for i := range s.Samples {
		l.Offsets[i+1] = l.Offsets[i]
		if s.Has(i) {
			l.Offsets[i+1] += k
		}
	}
	l.Index = make([]int32, n*k)
	l.Similarity = make([]float32, n*k)
	if k == 0 {
		return l, ctx.Err()
	}
	tick := parallel.Counter(progress)
	scratch := make([]searcher, min(parallel.Threads(threads), n))
	err := parallel.Blocks(ctx, threads, n, queryBlock, func(worker, lo, hi int) {
		w := &scratch[worker]
		w.search(ctx, s, lo, hi, k)
		for r := lo; r < hi; r++ {
			at := l.Offsets[s.Sample(r)]
			for _, f := range w.best[r-lo].sorted() {
				l.Index[at], l.Similarity[at] = int32(s.Sample(int(f.row))), f.similarity
				at++
			}
		}
		tick(hi - lo)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// searcher is one thread's scratch space.
type searcher struct {
	sums []float32
	best []top
}

// search fills best with the k nearest of packed rows [lo, hi).
func (w *searcher) search(ctx context.Context, s *similarity.Space, lo, hi, k int) {
	if w.best == nil {
		w.sums = make([]float32, candidateBlock)
		w.best = make([]top, queryBlock)
	}
	for q := range hi - lo {
		w.best[q].reset(k)
	}
	for c := 0; c < s.Count() && ctx.Err() == nil; c += candidateBlock {
		sums := w.sums[:min(candidateBlock, s.Count()-c)]
		for r := lo; r < hi; r++ {
			s.Block(sums, r, c, len(sums))
			best := &w.best[r-lo]
			for j, x := range sums {
				if x >= best.bar && c+j != r {
					best.add(found{x, int32(c + j)})
				}
			}
		}
	}
}

// found is a candidate neighbour.
type found struct {
	similarity float32
	row        int32
}

// before orders candidates: more alike first, then the lower number. Packed
// rows are numbered as their samples are.
func (f found) before(g found) bool {
	return f.similarity > g.similarity || f.similarity == g.similarity && f.row < g.row
}

// top keeps the k best of the candidates it is given, in a buffer of 2k that is
// cut back to k whenever it is full.
type top struct {
	k   int
	bar float32 // no candidate below it can be among the k best
	buf []found
}

func (t *top) reset(k int) {
	if cap(t.buf) < 2*k {
		t.buf = make([]found, 0, 2*k)
	}
	t.k, t.bar, t.buf = k, float32(math.Inf(-1)), t.buf[:0]
}

func (t *top) add(f found) {
	t.buf = append(t.buf, f)
	if len(t.buf) == 2*t.k {
		t.cut()
		t.bar = t.buf[t.k-1].similarity
	}
}

func (t *top) cut() {
	slices.SortFunc(t.buf, func(a, b found) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	t.buf = t.buf[:min(t.k, len(t.buf))]
}

// sorted returns the k best, best first.
func (t *top) sorted() []found {
	t.cut()
	return t.buf
}
