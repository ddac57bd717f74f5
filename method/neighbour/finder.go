package neighbour

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/similarity"
)

// finder is a search in progress. Row r is that of the r-th sample that has the view, so
// that rows are numbered in the order of their samples.
type finder struct {
	ctx      context.Context
	space    *similarity.Space
	settings Settings
	seed     uint64
	threads  int
	meter    *meter

	kernel    *kernel.Kernel
	sum       kernel.Sum
	rows      block     // all rows
	reduced   block     // the rows that cells hold: projected onto axes, or rows itself
	axes      []float32 // the axes of the projection, nil where there is none
	k         int
	lists     *Lists
	indexed   bool   // whether parts are wanted
	parts     *Parts // of an index, where cells were found and parts are wanted
	perThread []scratch
}

// scratch is one thread's memory.
type scratch struct {
	product      *product
	part         partScratch
	index        []int32
	similarities []float32
	keys         []rank.Key
	seen         sampleSet
}

func newFinder(ctx context.Context, s *similarity.Space, k int, seed uint64, settings Settings, threads int, progress func(done int)) *finder {
	n := s.Count()
	f := &finder{
		ctx: ctx, space: s, settings: settings, seed: seed, threads: parallel.Threads(threads),
		meter:  newMeter(n, progress),
		kernel: kernel.Best(), sum: s.Sum(),
		k:     max(0, min(k, n-1)),
		lists: &Lists{Search: Report{Method: Exact, Recall: 1}},
	}
	f.perThread = make([]scratch, min(f.threads, n))
	f.lists.Offsets = make([]int, s.Samples+1)
	for i := range s.Samples {
		f.lists.Offsets[i+1] = f.lists.Offsets[i]
		if s.Has(i) {
			f.lists.Offsets[i+1] += f.k
		}
	}
	f.lists.Values = make([]int32, n*f.k)
	data, index := s.Rows()
	all := numbers(n)
	f.rows = block{data: data, dims: s.Dims, index: index, id: all, row: all}
	f.reduced = f.rows
	return f
}

func (f *finder) search() error {
	if f.space.Sparse() {
		return f.exactSparse()
	}
	if f.settings.approximates(f.rows.count(), f.k) {
		return f.approximate()
	}
	return f.exact()
}

// scratch returns the memory of a worker.
func (f *finder) scratch(worker int) *scratch {
	l := &f.perThread[worker]
	if l.product == nil {
		l.product = newProduct(f.kernel)
	}
	return l
}

// newTopK returns room for the best k + more candidates of each of some rows, in buffers that
// hold beside more.
func (f *finder) newTopK(rows, more, beside int) *topK {
	others := f.rows.count() - 1
	return newTopK(rows, min(f.k+more, others), f.k+more+beside, others)
}

// extra is the number of candidates kept beyond k, because the best k are chosen by the
// space's own similarities, which round differently.
func (f *finder) extra() int { return f.k/8 + 4 }

// exact compares every row with every later one, block by block.
func (f *finder) exact() error {
	n := f.rows.count()
	best := f.newTopK(n, f.extra(), f.k/8+12).locked()
	size := f.blockRows(n)
	sides := (n + size - 1) / size
	all := float64(n) * float64(n)
	f.meter.expect(all + ranking*float64(n*f.k))
	done := f.meter.stage(all, 1)
	err := parallel.Blocks(f.ctx, f.threads, sides*(sides+1)/2, 1, func(worker, task, _ int) {
		i, j := blockPair(task)
		left := f.rows.part(i*size, min((i+1)*size, n))
		right := f.rows.part(j*size, min((j+1)*size, n))
		f.scratch(worker).product.multiply(f.ctx, f.sum, best, left, right, bothWays)
		pairs := float64(left.count()) * float64(right.count())
		if i != j {
			pairs *= 2
		}
		done(pairs)
	})
	if err != nil {
		return err
	}
	err = f.fillLists(best)
	f.meter.finish()
	return err
}

// exactSparse compares every row with all others at once.
func (f *finder) exactSparse() error {
	n := f.rows.count()
	f.meter.expect(float64(n))
	done := f.meter.stage(float64(n), 1)
	err := parallel.Blocks(f.ctx, f.threads, n, 16, func(worker, lo, hi int) {
		l := &f.perThread[worker]
		l.similarities = room(l.similarities, n)
		for r := lo; r < hi; r++ {
			f.space.All(l.similarities, r)
			l.keys = l.keys[:0]
			for t, x := range l.similarities {
				if t != r {
					l.keys = append(l.keys, rank.New(x, int32(f.space.Sample(t))))
				}
			}
			f.setList(r, rank.Best(l.keys, f.k))
		}
		done(float64(hi - lo))
	})
	f.meter.finish()
	return err
}

// blockRows returns the number of rows in a block of the exact search: a strip, or fewer
// where there would be too few blocks to keep all threads busy.
func (f *finder) blockRows(n int) int {
	busy := 4 * int(math.Ceil(math.Sqrt(float64(f.threads))))
	return min(strip(f.space.Dims), max(minStrip/2, n/busy))
}

// blockPair returns the task-th pair of blocks (i, j), i <= j, column by column.
func blockPair(task int) (i, j int) {
	j = int((math.Sqrt(8*float64(task)+1) - 1) / 2)
	for j*(j+1)/2 > task {
		j--
	}
	for (j+1)*(j+2)/2 <= task {
		j++
	}
	return task - j*(j+1)/2, j
}

// fillLists fills all lists from the candidates.
func (f *finder) fillLists(from *topK) error {
	n := f.rows.count()
	done := f.meter.stage(float64(n*f.k), ranking)
	return parallel.Blocks(f.ctx, f.threads, n, 16, func(worker, lo, hi int) {
		for r := lo; r < hi; r++ {
			f.setList(r, f.rerank(f.scratch(worker), r, from.best(int32(r))))
		}
		done(float64((hi - lo) * f.k))
	})
}

// rerank returns the best k candidates of row r by the space's own similarities, best first.
// Candidates are numbered as rows, the result as samples.
func (f *finder) rerank(l *scratch, r int, candidates []rank.Key) []rank.Key {
	l.index, l.keys = l.index[:0], l.keys[:0]
	for _, c := range candidates {
		l.index = append(l.index, int32(f.space.Sample(int(c.Number()))))
	}
	f.compare(l, f.space.Sample(r))
	return rank.Best(l.keys, f.k)
}

// compare adds the samples of l.index to l.keys, by their similarity with sample i.
func (f *finder) compare(l *scratch, i int) {
	l.similarities = room(l.similarities, len(l.index))
	f.space.Similarities(l.similarities, i, l.index)
	for t, x := range l.similarities {
		l.keys = append(l.keys, rank.New(x, l.index[t]))
	}
}

// setList makes keys, numbered as samples, the list of row r.
func (f *finder) setList(r int, keys []rank.Key) {
	at := f.lists.Offsets[f.space.Sample(r)]
	for t, k := range keys {
		f.lists.Values[at+t] = k.Number()
	}
}
