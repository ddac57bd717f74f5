// Package similarity measures how alike two samples are in one view: the entries w_ij of
// the paper's matrix W, one at a time. For every metric a higher value means more alike.
//
// The similarity is NaN where one of the two samples lacks the view. From here on this is
// how stages tell each other that a view is missing: the probability of such a pair is NaN
// as well, until the views are fused.
//
// It follows the method and may change in any minor version.
package similarity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// Space is one view made ready for comparisons. Its rows are those of the view, or under
// Cosine of unit length. Similarity(i, j) equals Similarity(j, i) to the last bit.
type Space struct {
	// Name is the view's name.
	Name string
	// Samples is the number of samples, absent ones included.
	Samples int
	// Dims is the length of a row.
	Dims int
	// Zero counts the samples that count as missing because their row is all zeros, which
	// has no cosine. FirstZero is the first of them in the view's own numbering, or -1.
	Zero, FirstZero int

	metric Metric
	kernel *kernel.Kernel
	data   []float32   // rows of Dims values, some of which no sample may have
	slot   []int32     // by sample: its row in data, or absent
	sample []int32     // the samples that have the view, ascending
	scale  []float32   // by row of data: the local scale; nil where not localised
	floor  float64     // least mean distance of a local scale
	lazy   *lazyRows   // makes the rows, in place of data; nil where there is data
	stored *storedRows // where the rows are read from; nil where there is data, or lazy
	sparse *sparseRows // compares the rows of samples by what is not 0, beside lazy; else nil
}

// NewSpace prepares view v, which must be valid. Sample i of the space is sample
// order[i] of the view (nil keeps the view's numbering): all later stages break ties by number, so the order decides
// them. Under Cosine an all-zero row counts as missing.
//
// The space reads v.Data for as long as it lives, which must not change meanwhile,
// except under Cosine: there it keeps a copy of the rows, Count x Dims values, or
// with overwrite scales them in v.Data itself. threads of 0 or less stands for all
// usable processors.
//
// A view that fewer than two samples have is a *view.InputError, as are values so large or so
// small that their differences leave the range of 32-bit numbers when squared or cubed. The
// only other errors are those of View.Check and Permutation.Check, an unknown metric, a kernel
// that kernel.Check refuses, and the context's own.
func NewSpace(ctx context.Context, v *view.View, metric Metric, order sparse.Permutation, overwrite bool, threads int) (*Space, error) {
	s, largest, err := unchecked(ctx, v, metric, order, overwrite, threads)
	if err != nil {
		return nil, err
	}
	if err := s.usable(largest); err != nil {
		return nil, err
	}
	return s, nil
}

// usable returns a *view.InputError where samples cannot be compared: too few have a row, or values,
// which are of at most this magnitude, do not suit float32.
func (s *Space) usable(largest float64) error {
	problem, row := s.misfit(largest), -1
	switch {
	case problem != "":
	case s.Count() < 2 && s.Zero > 0:
		row, problem = s.FirstZero, fmt.Sprintf("is all zeros, which has no cosine, and without such rows (%d in all) only %d of %d samples have this view, where similarity needs two; drop this view", s.Zero, s.Count(), s.Samples)
	case s.Count() < 2:
		problem = fmt.Sprintf("only %d of %d samples have this view, and similarity needs two; drop the view", s.Count(), s.Samples)
	}
	if problem == "" {
		return nil
	}
	return &view.InputError{View: s.Name, Row: row, Problem: problem}
}

// Varied returns a *view.InputError where all rows are equal, or under Cosine all directions: such
// a view tells nothing about which samples belong together.
func (s *Space) Varied() error {
	switch {
	case s.Count() < 2 || !s.constant():
		return nil
	case s.metric == Cosine:
		return &view.InputError{View: s.Name, Row: -1, Problem: "the view is constant: every sample's row has the same direction, so it cannot tell samples apart; drop this view, or choose the l1, l2 or l3 metric if the rows differ in length; " + tooClose}
	}
	return &view.InputError{View: s.Name, Row: -1, Problem: "the view is constant: every sample has the same row, so it cannot tell samples apart; drop this view; " + tooClose}
}

// tooClose says why rows may be equal that were not before they became float32.
const tooClose = "if its values differ by less than float32 can hold, about 7 digits, subtract an offset from them first"

// Part is NewSpace for some rows of a view that NewSpace has accepted as a whole. These may
// be all alike, or a single one. It keeps their numbering, and under Cosine it scales them
// in v.Data itself. The errors are those of View.Check, an unknown metric and the context's own.
func Part(ctx context.Context, v *view.View, metric Metric, threads int) (*Space, error) {
	s, _, err := unchecked(ctx, v, metric, nil, true, threads)
	return s, err
}

// unchecked is NewSpace without the check whether the view can be used. It also returns
// the largest absolute value, 0 under Cosine.
func unchecked(ctx context.Context, v *view.View, metric Metric, order sparse.Permutation, overwrite bool, threads int) (s *Space, largest float64, err error) {
	if _, err := metric.MarshalText(); err != nil {
		return nil, 0, err
	}
	if err := kernel.Check(); err != nil {
		return nil, 0, err
	}
	if err := v.Check(); err != nil {
		return nil, 0, err
	}
	if order != nil {
		if err := order.Check(v.Samples); err != nil {
			return nil, 0, err
		}
	}
	s = &Space{
		Name: v.Name, Samples: v.Samples, Dims: v.Dims, FirstZero: -1,
		metric: metric, kernel: kernel.Best(), data: v.Data,
	}
	slot := slots(v, metric == Cosine && !overwrite)
	largest, err = s.prepare(ctx, v, slot, overwrite, threads)
	if err != nil {
		return nil, 0, err
	}
	s.countZeros(slot)
	s.number(slot, order)
	return s, largest, nil
}

// countZeros counts the samples marked as zero, and marks them as absent.
func (s *Space) countZeros(slot []int32) {
	for i, r := range slot {
		if r == zero {
			s.Zero++
			if s.FirstZero < 0 {
				s.FirstZero = i
			}
			slot[i] = absent
		}
	}
}

// Marks of samples that have no row.
const (
	absent = -1 // the sample lacks the view
	zero   = -2 // its row is all zeros and has no cosine; absent once these are counted
)

// slots returns the row of every sample, absent where it lacks the view: its own row of the
// view or, with packed, its rank among the samples that have the view.
func slots(v *view.View, packed bool) []int32 {
	slot := make([]int32, v.Samples)
	next := int32(0)
	for i := range slot {
		switch {
		case !v.Has(i):
			slot[i] = absent
		case packed:
			slot[i] = next
			next++
		default:
			slot[i] = int32(i)
		}
	}
	return slot
}

// prepare scales the rows to unit length under Cosine, and marks zero rows in slot. For the
// other metrics it returns the largest absolute value.
func (s *Space) prepare(ctx context.Context, v *view.View, slot []int32, overwrite bool, threads int) (float64, error) {
	if s.metric == Cosine && !overwrite {
		s.data = make([]float32, v.Count()*v.Dims)
	}
	largest := make([]float32, parallel.Threads(threads))
	err := parallel.Blocks(ctx, threads, v.Samples, 1+valuesAtATime/v.Dims, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			switch {
			case slot[i] == absent:
			case s.metric != Cosine:
				largest[worker] = max(largest[worker], magnitude(v.Row(i)))
			case !unit(s.row(slot[i]), v.Row(i)):
				slot[i] = zero
			}
		}
	})
	return float64(slices.Max(largest)), err
}

// valuesAtATime bounds the work between two looks at the context.
const valuesAtATime = 1 << 16

// magnitude returns the largest absolute value of row.
func magnitude(row []float32) float32 {
	var largest float32
	for _, x := range row {
		largest = max(largest, x, -x)
	}
	return largest
}

// unit sets to to row scaled to length 1, and reports false where row is all zeros. Sums in
// 64 bits neither overflow nor underflow.
func unit(to, row []float32) bool {
	sum := 0.0
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return false
	}
	norm := math.Sqrt(sum)
	for k, x := range row {
		to[k] = float32(float64(x) / norm)
	}
	return true
}

// number makes sample order[i] of slot sample i; nil keeps the numbering.
func (s *Space) number(slot []int32, order sparse.Permutation) {
	s.slot = slot
	if order != nil {
		s.slot = sparse.Gather(order, slot)
	}
	present := 0
	for _, r := range s.slot {
		if r >= 0 {
			present++
		}
	}
	s.sample = make([]int32, 0, present)
	for i, r := range s.slot {
		if r >= 0 {
			s.sample = append(s.sample, int32(i))
		}
	}
}

// Gather returns the space in which sample i is sample p[i] of s. It shares the rows of s, and
// panics if p does not list every sample once.
func (s *Space) Gather(p sparse.Permutation) *Space {
	out := *s
	out.number(s.slot, p)
	return &out
}

// Emptied returns the space as if no sample had the view. It holds no rows.
func (s *Space) Emptied() *Space {
	out := s.Only(nil)
	out.data, out.lazy, out.stored, out.sparse = nil, nil, nil, nil
	if s.scale != nil {
		out.scale = []float32{}
	}
	return out
}

// Only returns the space as if no sample but those listed had the view. They must have it and
// ascend. It shares the rows of s, and panics if a sample is out of range.
func (s *Space) Only(samples []int32) *Space {
	out := *s
	out.slot, out.sample = slices.Repeat([]int32{absent}, len(s.slot)), samples
	for _, i := range samples {
		out.slot[i] = s.slot[i]
	}
	return &out
}

// overflows reports whether the sum of |x-y|^p over two rows of such values may leave
// float32's range.
func (s *Space) overflows(largest float64) bool {
	return s.metric != Cosine && math.Pow(2*largest, measures[s.metric].power)*float64(s.Dims) > math.MaxFloat32
}

// misfit says why values of at most this magnitude do not suit float32, or returns "": sums
// of |x-y|^p may overflow, or values that differ by a thousandth of the largest may count
// as equal.
func (s *Space) misfit(largest float64) string {
	switch {
	case s.metric == Cosine:
		return ""
	case s.overflows(largest):
		return fmt.Sprintf("values up to %.3g are too large for the %v metric in 32-bit arithmetic; scale the view down, or use cosine", largest, s.metric)
	case largest > 0 && math.Pow(largest/1000, measures[s.metric].power) < smallestNormal:
		return fmt.Sprintf("values up to %.3g are too small for the %v metric in 32-bit arithmetic; scale the view up, or use cosine", largest, s.metric)
	}
	return ""
}

// smallestNormal is the least positive float32 that has all its digits.
const smallestNormal = 0x1p-126

// constant reports whether all rows are equal. In most views it compares only two.
func (s *Space) constant() bool {
	for r := 1; r < s.Count(); r++ {
		if !slices.Equal(s.Row(r), s.Row(0)) {
			return false
		}
	}
	return true
}

// Check reports why nothing can be compared in s: it is nil, or was not made by NewSpace or a
// method of Space.
func (s *Space) Check() error {
	if s == nil || s.kernel == nil || len(s.slot) != s.Samples || s.Dims < 1 {
		return errors.New("there is no space to compare samples in; make one by NewSpace, and leave its fields alone")
	}
	return nil
}

// Metric returns the similarity measure.
func (s *Space) Metric() Metric { return s.metric }

// Count returns the number of samples that have the view.
func (s *Space) Count() int { return len(s.sample) }

// Has reports whether sample i has the view. It panics if i is out of range.
func (s *Space) Has(i int) bool { return s.slot[i] >= 0 }

// Sample returns the r-th of the samples that have the view, in ascending order. It panics if r
// is not in [0, Count).
func (s *Space) Sample(r int) int { return int(s.sample[r]) }

// Row returns the row of the r-th sample that has the view, of unit length under
// Cosine. It must not be changed. It panics if r is not in [0, Count).
func (s *Space) Row(r int) []float32 { return s.row(s.slot[s.sample[r]]) }

// Rows returns the rows as they lie in memory, Dims values each, which must not be changed:
// row index[r] of data is that of the r-th sample that has the view. In a space that Lazy or Stored has made,
// data is nil; Fill makes rows, and Scan makes them or reads them.
func (s *Space) Rows() (data []float32, index []int32) {
	index = make([]int32, len(s.sample))
	for r, i := range s.sample {
		index[r] = s.slot[i]
	}
	return s.data, index
}

func (s *Space) row(slot int32) []float32 {
	if s.lazy != nil {
		row := make([]float32, s.Dims)
		s.lazy.fill(row, slot)
		return row
	}
	at := int(slot) * s.Dims
	return s.data[at : at+s.Dims : at+s.Dims]
}

// Similarity returns how alike samples i and j are, or NaN where one of them
// lacks the view. It panics if i or j is out of range.
func (s *Space) Similarity(i, j int) float32 {
	var out [1]float32
	s.Similarities(out[:], i, []int32{int32(j)})
	return out[0]
}

// Similarities sets dst[t] to how alike samples i and others[t] are, for every t, and to NaN
// where one of the two lacks the view. The values are those of Similarity. It panics if a sample
// is out of range, or if dst is shorter than others.
func (s *Space) Similarities(dst []float32, i int, others []int32) {
	dst = dst[:len(others)]
	if s.slot[i] < 0 {
		for t := range dst {
			dst[t] = float32(math.NaN())
		}
		return
	}
	scale := float32(0)
	if s.scale != nil {
		scale = s.scale[s.slot[i]]
	}
	var query []float32
	if s.lazy == nil {
		query = s.row(s.slot[i])
	}
	s.against(dst, query, s.slot[i], scale, others)
}

// against sets dst[t] to how alike query and sample others[t] are, and to NaN where the
// sample lacks the view. Without a query it is the row of a slot. A scale other than 0 is the
// query's local scale.
func (s *Space) against(dst, query []float32, slot int32, scale float32, others []int32) {
	var slots [atATime]int32
	for len(others) > 0 {
		n := min(len(others), len(slots))
		for t, j := range others[:n] {
			slots[t] = max(s.slot[j], 0) // any row will do for an absent one
		}
		switch {
		case s.sparse != nil && query == nil:
			s.sparse.between(slot, slots[:n], dst)
		case s.lazy == nil:
			s.kernel.Against(s.Sum(), query, s.data, slots[:n], dst)
		case query == nil:
			s.lazy.between(s, slot, slots[:n], dst)
		default:
			s.lazy.against(s, query, slots[:n], dst)
		}
		s.metric.finish(dst[:n])
		if scale != 0 {
			s.localise(dst[:n], scale, slots[:n])
		}
		for t, j := range others[:n] {
			if s.slot[j] < 0 {
				dst[t] = float32(math.NaN())
			}
		}
		dst, others = dst[n:], others[n:]
	}
}
