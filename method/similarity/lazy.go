package similarity

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// lazyRows makes the rows of a space of those of a view when they are compared. That takes less memory
// than to keep them, and more time where a row is compared several times.
type lazyRows struct {
	view   *view.View
	scaler *view.Scaler
	known  []view.Lengths // by sample, of the rows that Fill has made
	places int            // of each lazyScratch
	spare  spares[lazyScratch]
}

// lazyScratch holds the rows that one thread has compared last: the samples that come next often
// have the same neighbours.
type lazyScratch struct {
	wide   []float64
	query  []float32
	rows   []float32 // a place for each row
	sample []int32   // by place: whose row it is, or absent
	turn   []uint32  // by place: the comparison that took it last
	turns  uint32
	places [atATime]int32
}

// keptBytes bounds the rows that the threads keep, unless these are few.
const keptBytes = 64 << 20

// kept returns how many rows each of some threads keeps.
func kept(samples, dims, threads int) int {
	return min(samples, max(2*atATime, keptBytes/(4*max(1, dims)*parallel.Threads(threads))))
}

// atATime is how many rows are compared at a time.
const atATime = 256

// Lazy is NewSpace, under Cosine, of a view scaled by the scaler. It keeps few rows that are scaled,
// and makes the others anew when they are compared. The view and the scaler must not change
// meanwhile. The errors are those of NewSpace and Scaler.Validate.
func Lazy(ctx context.Context, v *view.View, scaler *view.Scaler, order sparse.Permutation, threads int) (*Space, error) {
	if err := checkScaled(v, scaler, order); err != nil {
		return nil, err
	}
	s := newLazy(v, scaler, threads)
	slot := slots(v, false)
	err := parallel.Blocks(ctx, threads, v.Samples, 1024, func(_, lo, hi int) {
		row := make([]float32, s.Dims)
		for i := lo; i < hi; i++ {
			if slot[i] != absent && !scaler.Lasting(v.Row(i)) && s.lazy.fill(row, int32(i)).Norm == 0 {
				slot[i] = zero
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s.countZeros(slot)
	s.number(slot, order)
	if err := s.usable(0); err != nil {
		return nil, err
	}
	return s, nil
}

// checkScaled reports why no space can be made of a view scaled by the scaler.
func checkScaled(v *view.View, scaler *view.Scaler, order sparse.Permutation) error {
	if err := cmp.Or(kernel.Check(), v.Check()); err != nil {
		return err
	}
	if err := scaler.Validate(v.Dims); err != nil {
		return err
	}
	if order == nil {
		return nil
	}
	return order.Check(v.Samples)
}

// newLazy returns the space of a view scaled by the scaler, without its samples.
func newLazy(v *view.View, scaler *view.Scaler, threads int) *Space {
	s := &Space{
		Name: v.Name, Samples: v.Samples, Dims: scaler.Scale.Dims(v.Dims), FirstZero: -1, metric: Cosine, kernel: kernel.Best(),
		lazy: &lazyRows{view: v, scaler: scaler, known: make([]view.Lengths, v.Samples)},
	}
	s.lazy.places = kept(s.Samples, s.Dims, threads)
	return s
}

// Kept returns the space with all rows in memory, those of the samples that have the view alone; s itself
// where it has them. The error is the context's own.
func (s *Space) Kept(ctx context.Context, threads int) (*Space, error) {
	if s.lazy == nil {
		return s, nil
	}
	out := *s
	out.lazy, out.sparse, out.data, out.slot = nil, nil, make([]float32, s.Count()*s.Dims), slices.Repeat([]int32{absent}, s.Samples)
	if s.scale != nil {
		out.scale = make([]float32, s.Count())
	}
	err := parallel.Blocks(ctx, threads, s.Count(), 64, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			i := s.sample[r]
			out.slot[i] = int32(r)
			s.Fill(out.data[r*s.Dims:][:s.Dims], r)
			if s.scale != nil {
				out.scale[r] = s.scale[s.slot[i]]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Fill sets to to the row of the r-th sample that has the view, as Row has it. Comparisons with a row that
// Fill has made take less time; it must not be called for a row while that is compared. It panics if r is
// not in [0, Count), or if to is not of the dimensions of the space.
func (s *Space) Fill(to []float32, r int) {
	if s.lazy == nil {
		copy(to[:s.Dims], s.Row(r))
		return
	}
	i := s.slot[s.sample[r]]
	s.lazy.known[i] = s.lazy.fill(to[:s.Dims], i)
}

// borrow returns a scratch for rows of the given dimensions, which is to be given back.
func (l *lazyRows) borrow(dims int) *lazyScratch {
	return l.spare.borrow(func() *lazyScratch {
		return &lazyScratch{
			wide: make([]float64, dims), query: make([]float32, dims), rows: make([]float32, l.places*dims),
			sample: slices.Repeat([]int32{absent}, l.places), turn: make([]uint32, l.places),
		}
	})
}

func (l *lazyRows) giveBack(x *lazyScratch) { l.spare.giveBack(x) }

// spares are the scratches of threads that are not in use.
type spares[T any] struct {
	mu   sync.Mutex
	free []*T
}

// borrow returns the scratch that was given back last, or a new one.
func (s *spares[T]) borrow(make func() *T) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return make()
	}
	x := s.free[last]
	s.free = s.free[:last]
	return x
}

func (s *spares[T]) giveBack(x *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, x)
}

// fill sets to to the row of a sample.
func (l *lazyRows) fill(to []float32, sample int32) view.Lengths {
	x := l.borrow(len(to))
	defer l.giveBack(x)
	return l.scaler.Unit(to, x.wide, l.view.Row(int(sample)), l.known[sample])
}

// between is against for the row of a sample.
func (l *lazyRows) between(s *Space, sample int32, samples []int32, dst []float32) {
	x := l.borrow(s.Dims)
	defer l.giveBack(x)
	copy(x.query, l.row(x, s.Dims, x.place(sample), sample))
	l.compare(x, s, x.query, samples, dst)
}

// against is Kernel.Against for the rows of some samples, atATime at most.
func (l *lazyRows) against(s *Space, query []float32, samples []int32, dst []float32) {
	x := l.borrow(s.Dims)
	defer l.giveBack(x)
	l.compare(x, s, query, samples, dst)
}

// compare is against with a scratch. Where two rows have the same place, the first is compared before
// the second takes it.
func (l *lazyRows) compare(x *lazyScratch, s *Space, query []float32, samples []int32, dst []float32) {
	from := 0
	flush := func(to int) {
		s.kernel.Against(s.Sum(), query, x.rows, x.places[from:to], dst[from:to])
		from = to
		x.turns++
	}
	x.turns++
	for t, i := range samples {
		p := x.place(i)
		if x.turn[p] == x.turns && x.sample[p] != i {
			flush(t)
		}
		l.row(x, s.Dims, p, i)
		x.places[t], x.turn[p] = p, x.turns
	}
	flush(len(samples))
}

// place returns the place of a sample's row.
func (x *lazyScratch) place(sample int32) int32 {
	return int32(uint64(uint32(sample)*2654435769) * uint64(len(x.sample)) >> 32)
}

// row returns the row of a sample at its place, and makes it where another is there.
func (l *lazyRows) row(x *lazyScratch, dims int, place, sample int32) []float32 {
	row := x.rows[int(place)*dims:][:dims]
	if x.sample[place] != sample {
		l.scaler.Unit(row, x.wide, l.view.Row(int(sample)), l.known[sample])
		x.sample[place] = sample
	}
	return row
}

// places returns how many rows there is room for, some of which no sample may have.
func (s *Space) places() int {
	if s.lazy != nil || s.stored != nil {
		return s.Samples
	}
	return len(s.data) / s.Dims
}
