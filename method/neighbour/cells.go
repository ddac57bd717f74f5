package neighbour

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/similarity"
)

const (
	rowsPerCell = 40 // that the cells are learned from
	rounds      = 6  // of k-means
	assignBlock = 2048
)

// cellSum is the sum by which rows are put into cells. Centres are means, which suit angles
// and Euclidean distances, and serve for L1 and L3 as well.
func (f *finder) cellSum() kernel.Sum {
	if f.space.Metric() == similarity.Cosine {
		return kernel.Dot
	}
	return kernel.Square
}

// centres finds the centres of count cells by k-means on a sample of the rows. They depend on
// the seed, not on the threads.
func (f *finder) centres(count int, random *rand.Rand) (block, error) {
	order := random.Perm(f.rows.count())
	order = order[:min(len(order), rowsPerCell*count)]
	chosen := f.reduced
	chosen.index = make([]int32, len(order))
	for t, r := range order {
		chosen.index[t] = f.reduced.index[r]
	}
	d := chosen.dims
	centres := block{data: make([]float32, count*d), dims: d, index: numbers(count), id: numbers(count)}
	for c := range count {
		copy(centres.of(c), chosen.of(c))
	}
	for range rounds {
		cell, err := f.nearest(chosen, centres, 1)
		if err != nil {
			return block{}, err
		}
		start, order, err := f.groupByCell(cell, count, numbers(len(cell)), 1)
		if err != nil {
			return block{}, err
		}
		spare := make([]int, count) // rows that take the place of empty cells
		for c := range spare {
			spare[c] = random.IntN(chosen.count())
		}
		err = parallel.Blocks(f.ctx, f.threads, count, 16, func(_, lo, hi int) {
			for c := lo; c < hi; c++ {
				f.mean(centres.of(c), chosen, order[start[c]:start[c+1]], spare[c])
			}
		})
		if err != nil {
			return block{}, err
		}
	}
	return centres, nil
}

// mean sets centre to the mean of the given members of chosen, of unit length under Cosine. It
// takes row spare where there are no members or they cancel out.
func (f *finder) mean(centre []float32, chosen block, members []int32, spare int) {
	clear(centre)
	for _, t := range members {
		for k, x := range chosen.of(int(t)) {
			centre[k] += x
		}
	}
	scale := float64(len(members))
	if f.space.Metric() == similarity.Cosine {
		scale = 0
		for _, x := range centre {
			scale += float64(x) * float64(x)
		}
		scale = math.Sqrt(scale)
	}
	if scale == 0 {
		copy(centre, chosen.of(spare))
		return
	}
	for k, x := range centre {
		centre[k] = float32(float64(x) / scale)
	}
}

// nearest returns for every row its keep nearest centres, best first.
func (f *finder) nearest(rows, centres block, keep int) ([]int32, error) {
	return f.near(rows, centres, keep, rank.Sort)
}

// bestFirst puts the best key first and leaves the others in any order.
func bestFirst(keys []rank.Key) {
	for t, k := range keys {
		if k > keys[0] {
			keys[0], keys[t] = k, keys[0]
		}
	}
}

// near returns for every row its keep nearest centres, in the order that arrange gives them.
func (f *finder) near(rows, centres block, keep int, arrange func(near []rank.Key)) ([]int32, error) {
	n := rows.count()
	done := f.meter.stage(float64(n)*float64(centres.count()), placing*f.costShare())
	cells := make([]int32, n*keep)
	place, noNumber := numbers(assignBlock), make([]int32, assignBlock)
	for t := range noNumber {
		noNumber[t] = -1 // a row is not a centre, and so is not left out
	}
	best := make([]*topK, f.threads)
	err := parallel.Blocks(f.ctx, f.threads, n, assignBlock, func(worker, lo, hi int) {
		if best[worker] == nil {
			best[worker] = newTopK(min(n, assignBlock), keep, 2*keep+8, centres.count())
		}
		best := best[worker]
		best.reset(hi - lo)
		some := block{data: rows.data, dims: rows.dims, index: rows.index[lo:hi], id: noNumber[:hi-lo], row: place[:hi-lo]}
		f.multiplySketched(f.scratch(worker).product, best, some, centres)
		for t := range hi - lo {
			near := best.best(int32(t))
			arrange(near)
			for p, k := range near {
				cells[(lo+t)*keep+p] = k.Number()
			}
		}
		done(float64(hi-lo) * float64(centres.count()))
	})
	return cells, err
}

// multiplySketched offers all centres to the rows of an empty topK, some of them first: the centres are in a random
// order, so that the best of these say from what similarity on others count.
func (f *finder) multiplySketched(p *product, best *topK, rows, centres block) {
	offer := func(rows, centres block) { p.multiply(f.ctx, f.cellSum(), best, rows, centres, oneWay) }
	all := centres.count()
	some := all / 6 &^ (wholePanels - 1)
	if some == 0 || 4*best.keep > all {
		offer(rows, centres)
		return
	}
	short := best.sketched(rows.count(), sketchOf(best.keep, float64(some)/float64(all)), nil,
		func() { offer(rows, centres.part(0, some)) },
		func() { offer(rows, centres.part(some, all)) })
	if len(short) == 0 {
		return
	}
	again := block{data: rows.data, dims: rows.dims}
	for _, t := range short {
		again.index, again.id, again.row = append(again.index, rows.index[t]), append(again.id, rows.id[t]), append(again.row, t)
	}
	offer(again, centres)
}

// groupByCell sorts items by cell: those of cell c are order[start[c]:start[c+1]]. Item
// items[t] is in each cell of cells[items[t]*per:][:per]. Within a cell, items keep their
// order. Every thread goes through all items and takes those of its own cells.
func (f *finder) groupByCell(cells []int32, count int, items []int32, per int) (start []int, order []int32, err error) {
	start, order = make([]int, count+1), make([]int32, len(cells))
	err = parallel.Ranges(f.ctx, f.threads, count, func(lo, hi int) {
		for _, c := range cells {
			if int(c) >= lo && int(c) < hi {
				start[c+1]++
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	for c := range count {
		start[c+1] += start[c]
	}
	next := slices.Clone(start[:count])
	err = parallel.Ranges(f.ctx, f.threads, count, func(lo, hi int) {
		for _, t := range items {
			for _, c := range cells[int(t)*per:][:per] {
				if int(c) >= lo && int(c) < hi {
					order[next[c]] = t
					next[c]++
				}
			}
		}
	})
	return start, order, err
}

// numbers returns 0, 1, ... n-1.
func numbers(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// Centres returns the centres of so many cells of a space, or of as many as it has rows where that
// is fewer: rows of s.Dims values, one after another, found by k-means on some of the rows. Under
// Cosine they have unit length. The seed decides which; the result is the same for any number of
// threads, of which 0 or less stands for all usable processors. The errors are those of
// Space.Check, rows that are similarity.Stored, a count below 1, and the context's own.
func Centres(ctx context.Context, s *similarity.Space, count int, seed uint64, threads int) ([]float32, error) {
	s, err := inMemory(ctx, s, threads)
	if err != nil {
		return nil, err
	}
	if count < 1 {
		return nil, fmt.Errorf("%d cells are too few; ask for at least 1", count)
	}
	f := newFinder(ctx, s, 1, seed, Settings{}, threads, nil)
	found, err := f.centres(min(count, s.Count()), rand.New(rand.NewPCG(seed, searchStream)))
	return found.data, err
}
