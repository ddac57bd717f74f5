package similarity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/view"
)

// Source is where the rows of a view are read from that are not in memory. Several goroutines may call its
// functions at a time, whose errors are handed on as they are.
type Source struct {
	Name          string
	Samples, Dims int
	// Block is the number of rows that are read together; the last block may have fewer.
	Block int
	// Read returns the values of a block, for which it may use the memory of room.
	Read func(block int, room []float32) ([]float32, error)
	// Check returns a block that was read as a view: it says which samples have it, and what is wrong with
	// the values.
	Check func(block int, values []float32) (*view.View, error)
}

// check returns an error where nothing can be read from s.
func (s *Source) check() error {
	if s == nil || s.Read == nil || s.Check == nil || s.Samples < 1 || s.Dims < 1 || s.Block < 1 || s.Block > math.MaxInt32 {
		return errors.New("there is nothing to read rows from; pass a source with its sides and functions, as mvclust.ModelView.Source returns it")
	}
	return nil
}

// blocks returns how many blocks there are.
func (s *Source) blocks() int { return (s.Samples + s.Block - 1) / s.Block }

// Each reads and checks all rows. It calls do with every block of them and the sample of its first, from
// several goroutines at a time. The rows are valid until do returns. The errors are those of Read and Check,
// a source that lacks something, no function, and the context's own.
func (s *Source) Each(ctx context.Context, threads int, do func(first int, rows *view.View)) error {
	if do == nil {
		return errNothing
	}
	all := func(int) bool { return true }
	return s.each(ctx, threads, all, func(_, block int, values []float32) error {
		rows, err := s.Check(block, values)
		if err == nil {
			do(block*s.Block, rows)
		}
		return err
	})
}

// each calls do with the blocks that are wanted and the number of the goroutine.
func (s *Source) each(ctx context.Context, threads int, wanted func(block int) bool, do func(worker, block int, values []float32) error) error {
	if err := s.check(); err != nil {
		return err
	}
	room := make([][]float32, parallel.Threads(threads))
	failed := make([]error, s.blocks())
	var first atomic.Int64 // of the blocks that have failed; those before it are still read
	first.Store(int64(len(failed)))
	err := parallel.Blocks(ctx, threads, len(failed), 8, func(worker, lo, hi int) {
		for at := lo; at < hi && int64(at) < first.Load(); at++ {
			if !wanted(at) {
				continue
			}
			if room[worker] == nil {
				room[worker] = make([]float32, min(s.Block, s.Samples)*s.Dims)
			}
			values, err := s.Read(at, room[worker])
			if err == nil {
				err = do(worker, at, values)
			}
			if failed[at] = err; err != nil {
				lower(&first, int64(at))
			}
		}
	})
	return cmp.Or(append(failed, err)...)
}

// lower makes x at most to.
func lower(x *atomic.Int64, to int64) {
	for now := x.Load(); to < now && !x.CompareAndSwap(now, to); now = x.Load() {
	}
}

// Stored is NewSpace, under Cosine, of rows of a source scaled by the scaler, which stay where they are:
// they are read when Queries.Compare, Scan or Stored itself goes through them. What needs single rows
// panics: Row, Fill, Varied, Localised, and all similarities but those of Compare. The errors are those of
// NewSpace, Scaler.Validate and Source.Each.
func Stored(ctx context.Context, source *Source, scaler *view.Scaler, threads int) (*Space, error) {
	if err := kernel.Check(); err != nil {
		return nil, err
	}
	if err := source.check(); err != nil {
		return nil, err
	}
	if err := scaler.Validate(source.Dims); err != nil {
		return nil, err
	}
	s := &Space{
		Name: source.Name, Samples: source.Samples, Dims: scaler.Scale.Dims(source.Dims), FirstZero: -1, metric: Cosine, kernel: kernel.Best(),
		stored: &storedRows{source, scaler},
	}
	slot := make([]int32, s.Samples)
	err := source.Each(ctx, threads, func(first int, rows *view.View) {
		var to []float32
		var wide []float64
		for r := range rows.Samples {
			switch i := first + r; {
			case !rows.Has(r):
				slot[i] = absent
			case scaler.Lasting(rows.Row(r)):
				slot[i] = int32(i)
			default:
				if to == nil {
					to, wide = make([]float32, s.Dims), make([]float64, s.Dims)
				}
				if slot[i] = int32(i); scaler.Unit(to, wide, rows.Row(r), view.Lengths{}).Norm == 0 {
					slot[i] = zero
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s.countZeros(slot)
	s.number(slot, nil)
	if err := s.usable(0); err != nil {
		return nil, err
	}
	return s, nil
}

// Stored reports whether the rows of s are read from a source, so that single ones are not at hand.
func (s *Space) Stored() bool { return s.stored != nil }

// errNothing is the error of a function that is nil.
var errNothing = errors.New("there is no function to call with rows; pass one")

// storedRows makes the rows of a space of those of a source.
type storedRows struct {
	source *Source
	scaler *view.Scaler
}

// Scan calls do with the row of every sample that has the view, the r-th with r, from several goroutines
// at a time. The row is valid until do returns. The errors are those of Space.Check, those of Source.Each where
// the rows are Stored, no function, and the context's own.
func (s *Space) Scan(ctx context.Context, threads int, do func(r int, row []float32)) error {
	if err := s.Check(); err != nil {
		return err
	}
	if do == nil {
		return errNothing
	}
	if s.stored == nil {
		return parallel.Blocks(ctx, threads, s.Count(), 1024, func(_, lo, hi int) {
			row := make([]float32, s.Dims)
			for r := lo; r < hi; r++ {
				s.Fill(row, r)
				do(r, row)
			}
		})
	}
	place := make([]int32, s.stored.source.Samples) // by row of the source: its r, counted from 1
	for r, i := range s.sample {
		place[s.slot[i]] = int32(r + 1)
	}
	return s.stored.source.Each(ctx, threads, func(first int, rows *view.View) {
		to, wide := make([]float32, s.Dims), make([]float64, s.Dims)
		for at, r := range place[first : first+rows.Samples] {
			if r > 0 {
				s.stored.scaler.Unit(to, wide, rows.Row(at), view.Lengths{})
				do(int(r-1), to)
			}
		}
	})
}

// Compare returns how alike the rows and lists of samples are, as Similarities has it: those of row i with
// the samples from place offsets[i] to offsets[i+1], at the same places. Rows are worked through in the
// given order, which should have rows with common samples one after the other; rows that it leaves out
// have similarities of 0.
//
// Where the rows of the space are Stored, each of those that are asked for is read and scaled once, and
// similarities differ in their last bits from those of a space that has them in memory. The errors are
// those of Source.Each then, those of Queries.Check, lists that are not of these rows and samples, and the
// context's own.
func (q *Queries) Compare(ctx context.Context, offsets []int, samples, order []int32, threads int) ([]float32, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if err := q.checkLists(offsets, samples, order); err != nil {
		return nil, err
	}
	dst := make([]float32, len(samples))
	if q.space.stored != nil {
		return dst, q.compareStored(ctx, offsets, samples, order, dst, threads)
	}
	err := parallel.Blocks(ctx, threads, len(order), 16, func(_, lo, hi int) {
		for _, i := range order[lo:hi] {
			from, to := offsets[i], offsets[i+1]
			q.Similarities(dst[from:to], int(i), samples[from:to])
		}
	})
	return dst, err
}

// checkLists returns an error where lists are not of the rows and samples that there are.
func (q *Queries) checkLists(offsets []int, samples, order []int32) error {
	if q.space.stored != nil && len(samples) > math.MaxInt32 {
		return fmt.Errorf("the lists have %d samples, and %d may be compared at a time where rows are read from a file; compare fewer rows at a time", len(samples), math.MaxInt32)
	}
	if len(offsets) != q.Samples+1 || offsets[0] != 0 || offsets[q.Samples] != len(samples) || !slices.IsSorted(offsets) {
		return fmt.Errorf("the lists of samples are not those of %d rows; give the place of the first sample of every row, and their number at last", q.Samples)
	}
	for _, j := range samples {
		if j < 0 || int(j) >= q.space.Samples {
			return fmt.Errorf("a list has sample %d of %d", j, q.space.Samples)
		}
	}
	seen := make([]bool, q.Samples)
	for _, i := range order {
		if i < 0 || int(i) >= q.Samples || seen[i] {
			return fmt.Errorf("the order of %d rows has row %d, or has it twice", q.Samples, i)
		}
		seen[i] = true
	}
	return nil
}

// asked is a place of the lists, and the row that it is about.
type asked struct{ row, at int32 }

// compareStored is Compare for rows that are read block by block.
func (q *Queries) compareStored(ctx context.Context, offsets []int, samples, order []int32, dst []float32, threads int) error {
	s := q.space
	source := s.stored.source
	by := q.byBlock(offsets, samples, order, dst)
	linear := s.stored.scaler.Linear(source.Dims)
	versions := linear.Versions()
	prepared, constants := q.prepared(linear, threads)
	scratch := make([]storedScratch, parallel.Threads(threads))
	wanted := func(block int) bool { return by.start[block] < by.start[block+1] }
	return source.each(ctx, threads, wanted, func(worker, block int, values []float32) error {
		x, first := &scratch[worker], block*source.Block
		x.sort(by.pairs[by.start[block]:by.start[block+1]], func(at int32) int { return int(s.slot[samples[at]]) - first }, len(values)/source.Dims)
		for row := range len(values) / source.Dims {
			pairs := x.pairs[x.start[row]:x.start[row+1]]
			if len(pairs) == 0 {
				continue
			}
			given := values[row*source.Dims:][:source.Dims]
			x.to = slices.Grow(x.to[:0], source.Dims)[:source.Dims]
			if !linear.Row(x.to, &x.weights, given) {
				x.scaled(q, given, pairs, dst)
				continue
			}
			x.index = x.index[:0]
			for _, p := range pairs {
				for r := range versions {
					x.index = append(x.index, q.slot[p.row]*int32(versions)+int32(r))
				}
			}
			x.products = slices.Grow(x.products[:0], len(x.index))[:len(x.index)]
			s.kernel.Against(kernel.Dot, x.to, prepared, x.index, x.products)
			for t, p := range pairs {
				sum := 0.0
				for r := range versions {
					at := t*versions + r
					sum += float64(x.weights[r]) * (float64(x.products[at]) + float64(constants[x.index[at]]))
				}
				dst[p.at] = float32(sum)
			}
		}
		return nil
	})
}

// storedScratch is one thread's memory.
type storedScratch struct {
	start        []int32 // by row of a block
	pairs        []asked // those of the first row first
	to, products []float32
	weights      [3]float32
	index        []int32
	unit         []float32
	wide         []float64
}

// scaled compares the rows of pairs with one row of a sample, which it scales.
func (x *storedScratch) scaled(q *Queries, given []float32, pairs []asked, dst []float32) {
	dims := q.space.Dims
	x.unit, x.wide = slices.Grow(x.unit[:0], dims)[:dims], slices.Grow(x.wide[:0], dims)[:dims]
	q.space.stored.scaler.Unit(x.unit, x.wide, given, view.Lengths{})
	x.index = x.index[:0]
	for _, p := range pairs {
		x.index = append(x.index, q.slot[p.row])
	}
	x.products = slices.Grow(x.products[:0], len(pairs))[:len(pairs)]
	q.space.kernel.Against(kernel.Dot, x.unit, q.data, x.index, x.products)
	for t, p := range pairs {
		dst[p.at] = x.products[t]
	}
}

// sort sorts pairs of a block of so many rows by the row of the block, which row tells by the place.
func (x *storedScratch) sort(pairs []asked, row func(at int32) int, rows int) {
	x.start = slices.Grow(x.start[:0], rows+2)[:rows+2]
	clear(x.start)
	x.pairs = slices.Grow(x.pairs[:0], len(pairs))[:len(pairs)]
	for _, p := range pairs {
		x.start[row(p.at)+2]++
	}
	for r := range rows {
		x.start[r+2] += x.start[r+1]
	}
	for _, p := range pairs {
		at := &x.start[row(p.at)+1]
		x.pairs[*at] = p
		*at++
	}
}

// prepared returns the rows as Linear.Prepare makes them, where they are in q.data, and their constants.
func (q *Queries) prepared(linear *view.Linear, threads int) (rows, constants []float32) {
	versions, dims := linear.Versions(), q.space.stored.source.Dims
	count := len(q.data) / q.space.Dims
	rows, constants = make([]float32, count*versions*dims), make([]float32, count*versions)
	_ = parallel.Blocks(context.Background(), threads, count, 256, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			linear.Prepare(rows[r*versions*dims:][:versions*dims], constants[r*versions:][:versions], q.data[r*q.space.Dims:][:q.space.Dims])
		}
	})
	return rows, constants
}

// pairsByBlock are the places of lists, those of samples of the first block first.
type pairsByBlock struct {
	start []int // by block
	pairs []asked
}

// byBlock sorts the places of the lists by the block that the sample is in. In dst, rows and samples that
// are absent get NaN.
func (q *Queries) byBlock(offsets []int, samples, order []int32, dst []float32) pairsByBlock {
	source, slot := q.space.stored.source, q.space.slot
	by := pairsByBlock{start: make([]int, source.blocks()+2)}
	for _, i := range order {
		for at := offsets[i]; at < offsets[i+1]; at++ {
			if s := slot[samples[at]]; q.Has(int(i)) && s >= 0 {
				by.start[int(s)/source.Block+2]++
			} else {
				dst[at] = float32(math.NaN())
			}
		}
	}
	for b := range source.blocks() {
		by.start[b+2] += by.start[b+1]
	}
	by.pairs = make([]asked, by.start[len(by.start)-1])
	for _, i := range order {
		for at := offsets[i]; at < offsets[i+1] && q.Has(int(i)); at++ {
			if s := slot[samples[at]]; s >= 0 {
				b := int(s)/source.Block + 1
				by.pairs[by.start[b]] = asked{i, int32(at)}
				by.start[b]++
			}
		}
	}
	return by
}
