package similarity

import (
	"context"

	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// sparseRows compares the rows of samples that are mostly zeros.
type sparseRows struct {
	apart *view.Sparse
	spare spares[sparseScratch]
}

// sparseScratch is one thread's memory.
type sparseScratch struct {
	row    view.Spread
	all    []float32 // by sample of the view
	common [][3]float64
}

// Sparse is NewSpace, under Cosine, of a view scaled by the scaler, for views that are mostly zeros: samples are compared by the
// values that both have, and their rows are made only where others ask for them. It returns nil for other views, see
// view.Scaler.Sparse. The view and the scaler must not change meanwhile. The errors are those of Lazy.
func Sparse(ctx context.Context, v *view.View, scaler *view.Scaler, order sparse.Permutation, threads int) (*Space, error) {
	s, err := sparseSpace(ctx, v, scaler, order, threads)
	if s == nil || err != nil {
		return nil, err
	}
	if err := s.usable(0); err != nil {
		return nil, err
	}
	return s, nil
}

// SparsePart is Sparse for some rows of a view that Sparse has accepted as a whole. These may be all alike, or a single one.
func SparsePart(ctx context.Context, v *view.View, scaler *view.Scaler, threads int) (*Space, error) {
	return sparseSpace(ctx, v, scaler, nil, threads)
}

// sparseSpace is Sparse without the check whether the view can be used.
func sparseSpace(ctx context.Context, v *view.View, scaler *view.Scaler, order sparse.Permutation, threads int) (*Space, error) {
	if err := checkScaled(v, scaler, order); err != nil {
		return nil, err
	}
	apart, err := scaler.Sparse(ctx, v, threads)
	if apart == nil || err != nil {
		return nil, err
	}
	s := newLazy(v, scaler, threads)
	s.sparse = &sparseRows{apart: apart}
	slot := slots(v, false)
	for i := range slot {
		if slot[i] != absent && apart.Zero(i) {
			slot[i] = zero
		}
	}
	s.countZeros(slot)
	s.number(slot, order)
	return s, nil
}

// Sparse reports whether the samples are compared by the values that are not 0. All does that for all at once.
func (s *Space) Sparse() bool { return s.sparse != nil }

// Work estimates the time of All for every sample, in nanoseconds on two processors. It panics if the space is not Sparse.
func (s *Space) Work() float64 {
	work := 2.5 * float64(s.Samples) * float64(s.Samples)
	columns := &s.sparse.apart.Columns
	for k := range columns.Len() {
		filled := float64(len(columns.Of(k)))
		work += filled * filled
	}
	return work
}

// All sets dst[t] to how alike the r-th and the t-th of the samples that have the view are, for every t. The values are those of
// Similarity in the space that is not localised. It panics if the space is not Sparse, if r is not in [0, Count), or if dst is shorter than Count.
func (s *Space) All(dst []float32, r int) {
	x := s.sparse.borrow()
	defer s.sparse.giveBack(x)
	if x.all == nil {
		x.all, x.common = make([]float32, s.sparse.apart.Rows.Len()), make([][3]float64, s.sparse.apart.Rows.Len())
	}
	s.sparse.apart.Products(x.all, x.common, int(s.slot[s.sample[r]]))
	for t, i := range s.sample {
		dst[t] = x.all[s.slot[i]]
	}
}

// between sets dst[t] to the product of the rows of two slots, for every one of the others.
func (a *sparseRows) between(slot int32, others []int32, dst []float32) {
	x := a.borrow()
	defer a.giveBack(x)
	a.apart.Spread(&x.row, int(slot))
	for t, other := range others {
		dst[t] = float32(x.row.Product(int(other)))
	}
}

func (a *sparseRows) borrow() *sparseScratch {
	return a.spare.borrow(func() *sparseScratch { return &sparseScratch{} })
}

func (a *sparseRows) giveBack(x *sparseScratch) { a.spare.giveBack(x) }
