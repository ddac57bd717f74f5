package mvclust

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/mvclust/mvclust/method/similarity"
)

// SpacesOf is Spaces for some of the samples, and takes time and memory for these alone.
// Sample k of its spaces is samples[k]. The similarity of two samples does not depend on
// the others. The errors are those of Spaces, a sample that is out of range, and rows in the file of
// OpenModel that cannot be read or are damaged. It does not look at the values of rows in memory.
func (m *Model) SpacesOf(ctx context.Context, samples []int, threads int) ([]*similarity.Space, error) {
	n := m.Samples()
	for _, i := range samples {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("there is no sample %d; the model has %d, counted from 0", i, n)
		}
	}
	for _, v := range m.Views {
		if err := v.check(n); err != nil {
			return nil, err
		}
		if err := v.Rows.Check(); v.stored == nil && err != nil {
			return nil, err
		}
	}
	spaces := make([]*similarity.Space, len(m.Views))
	for at, v := range m.Views {
		rows, scales, err := v.part(samples)
		if err != nil {
			return nil, err
		}
		scaled, err := v.Scaler.Apply(ctx, rows, threads)
		if err != nil {
			return nil, err
		}
		s, err := similarity.Part(ctx, scaled, v.Metric, threads)
		if err != nil {
			return nil, err
		}
		if scales != nil {
			s = s.WithLocalScales(scales)
		}
		if v.LeftOut {
			s = s.Emptied()
		}
		spaces[at] = s
	}
	return spaces, nil
}

// part copies the rows and scales of some samples.
func (v *ModelView) part(samples []int) (rows *View, scales []float32, err error) {
	if v.LocalScales != nil {
		for _, i := range samples {
			scales = append(scales, v.LocalScales[i])
		}
	}
	if v.stored != nil {
		rows, err = v.rowsOf(samples)
		return rows, scales, err
	}
	rows = &View{
		Name: v.Rows.Name, Samples: len(samples), Dims: v.Rows.Dims,
		Data: make([]float32, 0, len(samples)*v.Rows.Dims), Present: make([]bool, len(samples)),
	}
	for k, i := range samples {
		rows.Data = append(rows.Data, v.Rows.Row(i)...)
		rows.Present[k] = v.Rows.Has(i)
	}
	return rows, scales, nil
}

// Index returns the number of the sample with the given ID, and whether there is one.
func (m *Model) Index(id string) (int, bool) {
	if m.IDs == nil {
		i, err := strconv.Atoi(id)
		return i, err == nil && i >= 0 && i < m.Samples() && strconv.Itoa(i) == id
	}
	i := slices.Index(m.IDs, id)
	return i, i >= 0
}
