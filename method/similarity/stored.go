package similarity

import (
	"cmp"
	"context"
	"errors"
	"math"
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
