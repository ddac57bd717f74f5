package similarity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/method/view"
)

// Queries are rows that are compared with the samples of a Space and are none of them.
type Queries struct {
	// Samples is the number of rows, absent ones included.
	Samples int

	space *Space
	data  []float32
	slot  []int32 // by row: its place in data, or absent
}

// Queries prepares the rows of v for comparison with the samples of the space. v must be
// valid, and scaled as the space's view was. Under Cosine, Queries keeps a copy of the rows,
// or with overwrite scales them where they are, and an all-zero row counts as missing.
//
// Rows of other dimensions than the space has, and values so large that differences leave
// the range of 32-bit numbers, are a *view.InputError. The only other errors are those of
// Space.Check and View.Check, and the context's own.
func (s *Space) Queries(ctx context.Context, v *view.View, overwrite bool, threads int) (*Queries, error) {
	if err := cmp.Or(s.Check(), v.Check()); err != nil {
		return nil, err
	}
	if v.Dims != s.Dims {
		return nil, &view.InputError{View: v.Name, Row: -1, Problem: fmt.Sprintf("its rows have %d values where those of %s have %d", v.Dims, s.Name, s.Dims)}
	}
	rows := &Space{Name: v.Name, Samples: v.Samples, Dims: v.Dims, metric: s.metric, data: v.Data}
	slot := slots(v, s.metric == Cosine && !overwrite)
	largest, err := rows.prepare(ctx, v, slot, overwrite, threads)
	if err != nil {
		return nil, err
	}
	if rows.overflows(largest) { // small values do no harm: the space has others
		return nil, &view.InputError{View: v.Name, Row: -1, Problem: rows.misfit(largest)}
	}
	for i, r := range slot {
		if r == zero {
			slot[i] = absent
		}
	}
	return &Queries{v.Samples, s, rows.data, slot}, nil
}

// Check reports why q cannot be compared: it is nil, or was not made by Space.Queries.
func (q *Queries) Check() error {
	if q == nil || q.space == nil || len(q.slot) != q.Samples {
		return errors.New("there are no rows to compare; make them by Space.Queries, and leave its fields alone")
	}
	return nil
}

// Of reports whether the rows can be compared with the samples of s: they were made for it, or
// for a space with the same rows.
func (q *Queries) Of(s *Space) bool {
	return q.space == s || q.space != nil && s != nil && q.space.Samples == s.Samples && q.space.Dims == s.Dims && q.space.metric == s.metric
}

// Has reports whether row i is present. It panics if i is out of range.
func (q *Queries) Has(i int) bool { return q.slot[i] >= 0 }

// Rows returns the rows as they lie in memory, which must not be changed: row index[r] of
// data is the r-th of the rows that are present.
func (q *Queries) Rows() (data []float32, index []int32) {
	for _, r := range q.slot {
		if r >= 0 {
			index = append(index, r)
		}
	}
	return q.data, index
}

// Similarities sets dst[t] to how alike row i and sample others[t] of the space are, for
// every t, and to NaN where one of the two lacks the view. They are not localised. A row
// that equals that of a sample has the sample's similarities. It panics if i or a sample is out
// of range, or if dst is shorter than others.
func (q *Queries) Similarities(dst []float32, i int, others []int32) {
	s := q.space
	dst = dst[:len(others)]
	if q.slot[i] < 0 {
		for t := range dst {
			dst[t] = float32(math.NaN())
		}
		return
	}
	at := int(q.slot[i]) * s.Dims
	s.against(dst, q.data[at:at+s.Dims], absent, 0, others)
}

// LocalScale returns the local scale of a row, as Localised finds it, given its similarities
// with its nearest samples, most alike first. It is 1 where the space is not localised.
func (s *Space) LocalScale(nearest []float32) float32 {
	if s.scale == nil {
		return 1
	}
	return s.scaleOf(MeanDistance(s.metric, nearest))
}

// Localise turns the similarities of one row with others into localised ones, given the
// row's local scale. It leaves them as they are where the space is not localised. It panics if
// a sample is out of range, or if there are fewer similarities than samples.
func (s *Space) Localise(similarities []float32, scale float32, others []int32) {
	if s.scale == nil {
		return
	}
	for t, j := range others {
		if slot := s.slot[j]; slot >= 0 {
			similarities[t] = -s.Distance(similarities[t]) * (scale * s.scale[slot])
		}
	}
}
