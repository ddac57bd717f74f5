package similarity

import (
	"context"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/method/view"
)

// Queries are rows that are compared with those of a Space without being among its
// samples.
type Queries struct {
	// Samples is the number of rows, absent ones included.
	Samples int

	space *Space
	data  []float32
	slot  []int32
}

// Queries makes the rows of v, which must be valid and scaled as those of the space were,
// ready to be compared with these. Under Cosine it keeps a copy, or with overwrite scales
// the rows where they are, and an all-zero row counts as missing.
//
// Rows of other dimensions than the space has, and values so large that differences leave
// the range of 32-bit numbers, are a *view.InputError. The only other error is the
// context's own.
func (s *Space) Queries(ctx context.Context, v *view.View, overwrite bool, threads int) (*Queries, error) {
	if v.Dims != s.Dims {
		return nil, &view.InputError{View: v.Name, Row: -1, Problem: fmt.Sprintf("its rows have %d values where those of %s have %d", v.Dims, s.Name, s.Dims)}
	}
	rows := &Space{Name: v.Name, Samples: v.Samples, Dims: v.Dims, metric: s.metric, data: v.Data}
	place := places(v, s.metric == Cosine && !overwrite)
	largest, err := rows.prepare(ctx, v, place, overwrite, threads)
	if err != nil {
		return nil, err
	}
	if largest > 0 {
		// How small values are does not matter: the space has others.
		if power := map[Metric]float64{L1: 1, L2: 2, L3: 3}[s.metric]; math.Pow(2*largest, power)*float64(s.Dims) > math.MaxFloat32 {
			return nil, &view.InputError{View: v.Name, Row: -1, Problem: rows.misfit(largest)}
		}
	}
	for i, r := range place {
		if r == zero {
			place[i] = absent
		}
	}
	return &Queries{v.Samples, s, rows.data, place}, nil
}

// Has reports whether row i is there.
func (q *Queries) Has(i int) bool { return q.slot[i] >= 0 }

// Data returns the rows as they lie in memory, as Space.Data does; Slot says which of them
// is row i, or -1.
func (q *Queries) Data() []float32 { return q.data }

// Slot returns which row of Data is row i, or -1.
func (q *Queries) Slot(i int) int32 { return q.slot[i] }

// Similarities sets dst[t] to how alike row i and sample others[t] of the space are, for
// every t of others, before they are localised, and to NaN where one of the two lacks the
// view. A row that equals that of a sample has the sample's similarities.
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
	s.against(dst, q.data[at:at+s.Dims], 0, others)
}

// LocalScale returns what the distances of a row are multiplied by, as Localised finds it, given
// its similarities with its nearest samples, most alike first; 1 where the space is not
// localised.
func (s *Space) LocalScale(nearest []float32) float32 {
	if s.scale == nil {
		return 1
	}
	nearest = nearest[:min(len(nearest), Local)]
	sum := 0.0
	for _, x := range nearest {
		sum += float64(s.distance(x))
	}
	return s.scaleOf(sum / float64(max(1, len(nearest))))
}

// Localise turns similarities of one row, which has the given scale, with others into
// local ones; it leaves them alone where the space is not localised.
func (s *Space) Localise(similarities []float32, scale float32, others []int32) {
	if s.scale == nil {
		return
	}
	for t, j := range others {
		if slot := s.slot[j]; slot >= 0 {
			similarities[t] = -s.distance(similarities[t]) * (scale * s.scale[slot])
		}
	}
}
