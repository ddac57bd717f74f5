package similarity

import (
	"context"
	"fmt"
	"sync"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/view"
)

// lazyRows makes the rows of a space of those of a view when they are compared. That takes less memory
// than to keep them, and more time where a row is compared several times.
type lazyRows struct {
	view   *view.View
	scaler *view.Scaler
	known  []view.Lengths // by sample, of the rows that Fill has made
	pool   sync.Pool      // of *lazyScratch
}

// lazyScratch is room for some rows at a time.
type lazyScratch struct {
	rows  []float32
	wide  []float64
	slots []int32 // 0, 1, 2, ...
}

// atATime is how many rows are compared at a time.
const atATime = 256

// Lazy is NewSpace, under Cosine, of a view scaled by the scaler, which keeps no row that is scaled: it
// makes them anew for every comparison. The view and the scaler must not change meanwhile. The errors
// are those of NewSpace and Scaler.Validate.
func Lazy(ctx context.Context, v *view.View, scaler *view.Scaler, threads int) (*Space, error) {
	if err := kernel.Check(); err != nil {
		return nil, err
	}
	if err := v.Check(); err != nil {
		return nil, err
	}
	if err := scaler.Validate(v.Dims); err != nil {
		return nil, err
	}
	s := &Space{
		Name: v.Name, Samples: v.Samples, Dims: scaler.Scale.Dims(v.Dims), FirstZero: -1, metric: Cosine, kernel: kernel.Best(),
		lazy: &lazyRows{view: v, scaler: scaler, known: make([]view.Lengths, v.Samples)},
	}
	s.lazy.pool.New = func() any {
		x := &lazyScratch{rows: make([]float32, atATime*s.Dims), wide: make([]float64, s.Dims)}
		for t := range int32(atATime) {
			x.slots = append(x.slots, t)
		}
		return x
	}
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
	s.number(slot, nil)
	if s.Count() < 2 {
		return nil, &view.InputError{View: v.Name, Row: -1, Problem: fmt.Sprintf("only %d of %d samples have this view, and similarity needs two; drop the view", s.Count(), v.Samples)}
	}
	return s, nil
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

// fill sets to to the row of a sample.
func (l *lazyRows) fill(to []float32, sample int32) view.Lengths {
	x := l.pool.Get().(*lazyScratch)
	defer l.pool.Put(x)
	return l.scaler.Unit(to, x.wide, l.view.Row(int(sample)), l.known[sample])
}

// against is Kernel.Against for the rows of some samples, atATime at most.
func (l *lazyRows) against(s *Space, query []float32, samples []int32, dst []float32) {
	x := l.pool.Get().(*lazyScratch)
	defer l.pool.Put(x)
	for t, i := range samples {
		l.scaler.Unit(x.rows[t*s.Dims:][:s.Dims], x.wide, l.view.Row(int(i)), l.known[i])
	}
	s.kernel.Against(s.Sum(), query, x.rows, x.slots[:len(samples)], dst)
}

// places returns how many rows there is room for, some of which no sample may have.
func (s *Space) places() int {
	if s.lazy != nil {
		return s.Samples
	}
	return len(s.data) / s.Dims
}
