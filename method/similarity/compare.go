package similarity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/view"
)

// Lists are samples that rows are compared with, by row.
type Lists struct {
	offsets        []int
	samples, order []int32
	count          int // of the samples that there are

	// Where rows are Stored: the places of the lists, those of the first sample first.
	start []int32
	asked []asked
}

// asked is a place of the lists, and the row that it is about.
type asked struct{ row, at int32 }

// NewLists returns lists of so many samples: row i is compared with those of list from place offsets[i] to
// offsets[i+1]. order are the rows in the order in which they are worked through, which should have rows with
// common samples one after the other; rows that it leaves out are compared with none. It keeps the slices. It
// is an error if they do not fit together.
func NewLists(samples int, offsets []int, list, order []int32) (*Lists, error) {
	rows := len(offsets) - 1
	if rows < 0 || offsets[0] != 0 || offsets[rows] != len(list) || !slices.IsSorted(offsets) {
		return nil, fmt.Errorf("the lists of %d samples do not follow one another; give the place of the first sample of every row, and their number at last", len(list))
	}
	for _, j := range list {
		if j < 0 || int(j) >= samples {
			return nil, fmt.Errorf("a list has sample %d of %d", j, samples)
		}
	}
	seen := make([]bool, rows)
	for _, i := range order {
		if i < 0 || int(i) >= rows || seen[i] {
			return nil, fmt.Errorf("the order of %d rows has row %d, or has it twice", rows, i)
		}
		seen[i] = true
	}
	return &Lists{offsets: offsets, samples: list, order: order, count: samples}, nil
}

// check returns an error where the lists are not of the rows q and the samples of its space.
func (l *Lists) check(q *Queries) error {
	if l == nil || len(l.offsets) != q.Samples+1 || l.count != q.space.Samples {
		return errors.New("the lists are of other rows or samples; make them of these by NewLists")
	}
	return nil
}

// sort finds the places of the lists by sample, if that has not been done. Every thread goes through all
// lists and takes the places of its own samples.
func (l *Lists) sort(ctx context.Context, threads int) error {
	if l.start != nil {
		return nil
	}
	if len(l.samples) > math.MaxInt32 {
		return fmt.Errorf("the lists have %d samples, and %d may be compared at a time where rows are read from a file; compare fewer rows at a time", len(l.samples), math.MaxInt32)
	}
	start := make([]int32, l.count+2)
	each := func(lo, hi int, do func(a asked, sample int32)) {
		for _, i := range l.order {
			for at := l.offsets[i]; at < l.offsets[i+1]; at++ {
				if j := l.samples[at]; int(j) >= lo && int(j) < hi {
					do(asked{i, int32(at)}, j)
				}
			}
		}
	}
	err := parallel.Ranges(ctx, threads, l.count, func(lo, hi int) {
		each(lo, hi, func(_ asked, j int32) { start[j+2]++ })
	})
	if err != nil {
		return err
	}
	for j := range l.count {
		start[j+2] += start[j+1]
	}
	places := make([]asked, start[l.count+1])
	err = parallel.Ranges(ctx, threads, l.count, func(lo, hi int) {
		each(lo, hi, func(a asked, j int32) {
			places[start[j+1]] = a
			start[j+1]++
		})
	})
	if err != nil {
		return err
	}
	l.start, l.asked = start, places
	return nil
}

// of returns the places of a sample.
func (l *Lists) of(sample int32) []asked { return l.asked[l.start[sample]:l.start[sample+1]] }

// Compare returns how alike the rows and the samples of their lists are, as Similarities has it, by place of the lists. Rows that the
// order leaves out have similarities of 0. Lists are used by one call at a time.
//
// Where the rows of the space are Stored, each of those that are asked for is read and scaled once, and
// similarities differ in their last bits from those of a space that has them in memory. It takes a fraction of the
// time where given holds the rows as they were before they were scaled, which may be nil. The errors are
// those of Source.Each then, those of Queries.Check, lists or given rows that are not of these, and the
// context's own.
func (q *Queries) Compare(ctx context.Context, given *view.View, l *Lists, threads int) ([]float32, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if err := l.check(q); err != nil {
		return nil, err
	}
	dst := make([]float32, len(l.samples))
	if q.space.stored != nil {
		return dst, q.compareStored(ctx, given, l, dst, threads)
	}
	err := parallel.Blocks(ctx, threads, len(l.order), 16, func(_, lo, hi int) {
		for _, i := range l.order[lo:hi] {
			from, to := l.offsets[i], l.offsets[i+1]
			q.Similarities(dst[from:to], int(i), l.samples[from:to])
		}
	})
	return dst, err
}

// compareStored is Compare for rows that are read block by block.
func (q *Queries) compareStored(ctx context.Context, given *view.View, l *Lists, dst []float32, threads int) error {
	if err := l.sort(ctx, threads); err != nil {
		return err
	}
	s := q.space
	source := s.stored.source
	apart, err := q.takeApart(ctx, given, threads)
	if err != nil {
		return err
	}
	sample := make([]int32, source.Samples) // by row of the source
	for r := range sample {
		sample[r] = absent
	}
	for j, slot := range s.slot {
		if slot >= 0 {
			sample[slot] = int32(j)
			continue
		}
		for _, a := range l.of(int32(j)) {
			dst[a.at] = float32(math.NaN())
		}
	}
	for _, i := range l.order {
		for at := l.offsets[i]; !q.Has(int(i)) && at < l.offsets[i+1]; at++ {
			dst[at] = float32(math.NaN())
		}
	}
	wanted := func(block int) bool {
		for _, j := range sample[block*source.Block : min((block+1)*source.Block, source.Samples)] {
			if j >= 0 && len(l.of(j)) > 0 {
				return true
			}
		}
		return false
	}
	scratch := make([]compareScratch, parallel.Threads(threads))
	return source.each(ctx, threads, wanted, func(worker, block int, values []float32) error {
		x := &scratch[worker]
		var before []asked // of the row before, which is compared when that of this row is on its way
		last := 0
		for at := range len(values) / source.Dims {
			j := sample[block*source.Block+at]
			if j < 0 || len(l.of(j)) == 0 {
				continue
			}
			x.fetch(q, apart, l.of(j), dst)
			x.compare(q, apart, values[last*source.Dims:][:source.Dims], before, dst)
			before, last = l.of(j), at
		}
		x.compare(q, apart, values[last*source.Dims:][:source.Dims], before, dst)
		return nil
	})
}

// takenApart are rows as view.Linear makes them, where they are in Queries.data.
type takenApart struct {
	linear  *view.Linear
	rows    []float32    // the LinearRow.T
	weights [][3]float64 // theirs
	unable  []bool       // rows that are to be scaled
}

// takeApart returns the rows as they are given taken apart. It returns nil where they are not.
func (q *Queries) takeApart(ctx context.Context, given *view.View, threads int) (*takenApart, error) {
	if given == nil {
		return nil, nil
	}
	source := q.space.stored.source
	if err := given.Check(); err != nil {
		return nil, err
	}
	if given.Samples != q.Samples || given.Dims != source.Dims {
		return nil, fmt.Errorf("the rows are given as %d of %d values where they are %d of %d", given.Samples, given.Dims, q.Samples, source.Dims)
	}
	count := len(q.data) / q.space.Dims
	x := &takenApart{q.space.stored.scaler.Linear(source.Dims), make([]float32, count*source.Dims), make([][3]float64, count), make([]bool, count)}
	err := parallel.Blocks(ctx, threads, q.Samples, 256, func(_, lo, hi int) {
		var row view.LinearRow
		for i := lo; i < hi; i++ {
			if at := q.slot[i]; at >= 0 {
				row.T = x.rows[int(at)*source.Dims:][:source.Dims]
				x.unable[at] = !given.Has(i) || !x.linear.Row(&row, given.Row(i))
				x.weights[at] = row.Weights
			}
		}
	})
	return x, err
}

// compareScratch is one thread's memory.
type compareScratch struct {
	row          view.LinearRow
	index        []int32
	at           []int32 // of dst, by index
	products     [3][]float32
	scaled, unit []float32
	wide         []float64
}

// fetch fetches what compare will need: rows and places anywhere in memory.
func (x *compareScratch) fetch(q *Queries, apart *takenApart, asked []asked, dst []float32) {
	x.index, x.at = x.index[:0], x.at[:0]
	for _, a := range asked {
		if slot := q.slot[a.row]; slot >= 0 {
			x.index, x.at = append(x.index, slot), append(x.at, a.at)
		}
	}
	if apart != nil {
		q.space.kernel.Fetch(apart.rows, q.space.stored.source.Dims, x.index)
	}
	q.space.kernel.Fetch(dst, 1, x.at)
}

// compare compares a row of the source with the rows that ask for it. A row that is not given, or cannot
// be taken apart, is compared with the scaled one.
func (x *compareScratch) compare(q *Queries, apart *takenApart, values []float32, asked []asked, dst []float32) {
	if len(asked) == 0 {
		return
	}
	able := apart != nil && apart.linear.Row(&x.row, values)
	x.index, x.at = x.index[:0], x.at[:0]
	scale := false
	for _, a := range asked {
		switch slot := q.slot[a.row]; {
		case slot < 0:
		case able && !apart.unable[slot]:
			x.index, x.at = append(x.index, slot), append(x.at, a.at)
		default:
			scale = true
		}
	}
	if len(x.index) > 0 {
		x.compareApart(q.space.kernel, apart, dst)
	}
	if scale {
		x.compareScaled(q, apart, able, values, asked, dst)
	}
}

// compareApart compares the row at hand with those of index.
func (x *compareScratch) compareApart(k *kernel.Kernel, apart *takenApart, dst []float32) {
	d := len(x.row.T)
	versions := len(x.row.V) / d
	for r := range versions {
		x.products[r] = slices.Grow(x.products[r][:0], len(x.index))[:len(x.index)]
		k.Against(kernel.Dot, x.row.V[r*d:][:d], apart.rows, x.index, x.products[r])
	}
	for t, slot := range x.index {
		sum, weights := 0.0, &apart.weights[slot]
		for r := range versions {
			sum += weights[r] * x.row.Weights[r] * (float64(x.products[r][t]) + x.row.Constants[r])
		}
		dst[x.at[t]] = float32(sum)
	}
}

// compareScaled compares those of asked that are to be scaled, or all where the row itself is to be.
func (x *compareScratch) compareScaled(q *Queries, apart *takenApart, able bool, values []float32, asked []asked, dst []float32) {
	dims := q.space.Dims
	x.unit, x.wide = slices.Grow(x.unit[:0], dims)[:dims], slices.Grow(x.wide[:0], dims)[:dims]
	q.space.stored.scaler.Unit(x.unit, x.wide, values, view.Lengths{})
	x.index, x.at = x.index[:0], x.at[:0]
	for _, a := range asked {
		if slot := q.slot[a.row]; slot >= 0 && (!able || apart.unable[slot]) {
			x.index, x.at = append(x.index, slot), append(x.at, a.at)
		}
	}
	x.scaled = slices.Grow(x.scaled[:0], len(x.index))[:len(x.index)]
	q.space.kernel.Against(kernel.Dot, x.unit, q.data, x.index, x.scaled)
	for t, at := range x.at {
		dst[at] = x.scaled[t]
	}
}
