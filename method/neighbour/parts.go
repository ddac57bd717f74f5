package neighbour

import (
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// Parts are what NewIndex finds out about the rows of a space: from them and the rows, Restore makes
// the same index in a fraction of the time.
type Parts struct {
	// Axes holds the axes that rows are projected onto, one after the other, each of the
	// dimensions of the space; nil where they are not projected.
	Axes []float32
	// Centres holds the centres of the cells, one after the other, by axes or else by dimensions;
	// nil where all rows are in one cell.
	Centres []float32
	// Cells holds the cell of every row, in the order of the samples that have the view.
	Cells []int32
	// Rows holds the coordinates of every row along the axes: those of the first cell first, in a cell in
	// the order of the samples. It is nil where there are no axes or more than 32; Restore projects the
	// rows then.
	Rows []float32
	// Load, where it is not nil, reads Rows when they are needed, and they are nil.
	Load func() ([]float32, error) `json:"-"`
	// Report is that of the index.
	Report Report
}

// FindParts returns the parts of the index that NewIndex makes with the same arguments and the zero Settings;
// nil where there are so few rows that there is nothing to find out. The errors are those of NewIndex.
func FindParts(ctx context.Context, s *similarity.Space, k int, seed uint64, threads int) (*Parts, error) {
	s, err := inMemory(ctx, s, threads)
	if err != nil {
		return nil, err
	}
	x := &Index{made: *newFinder(ctx, s, k, seed, Settings{}, threads, nil)}
	f := &x.made
	f.lists = &Lists{}
	if !f.divides() {
		return nil, ctx.Err()
	}
	if err := x.buildCells(); err != nil {
		return nil, err
	}
	return x.parts(), nil
}

// parts returns the parts of an index that has been found.
func (x *Index) parts() *Parts {
	if x.cells == nil {
		return &Parts{Report: x.exact()}
	}
	f := &x.made
	p := &Parts{Axes: f.axes, Centres: x.centres.data, Cells: x.cells.own, Report: x.report}
	if 0 < len(f.axes) && len(f.axes) <= MaxStored*f.space.Dims {
		p.Rows = f.reduced.data
	}
	return p
}

// keepParts finds the parts of an index that has the cells of a search, if they are wanted and reach the
// recall of FindParts.
func (f *finder) keepParts(t *truth, centres block, c *cells, lost float64) error {
	if !f.indexed {
		return nil
	}
	x := &Index{made: *f, centres: centres, report: Report{Method: Approximate, Checked: len(t.rows), Cells: centres.count()}}
	x.made.settings = Settings{}
	var err error
	if x.probes, err = x.made.probesForNew(t, centres, lost); err != nil {
		return err
	}
	x.keep(c)
	if err := x.tuneProbes(t); err != nil {
		return err
	}
	if x.cells != nil {
		f.parts = x.parts()
	}
	return nil
}

// Gather returns the parts of an index of s.Gather(order), where those given are of s. It panics if they are
// of other rows, or if order does not list every sample once.
func (p *Parts) Gather(s *similarity.Space, order sparse.Permutation) *Parts {
	if p == nil || len(p.Cells) == 0 {
		return p
	}
	out := *p
	out.Load = nil                  // which has another order
	old := make([]int32, s.Samples) // by sample of s: its row
	for r := range s.Count() {
		old[s.Sample(r)] = int32(r)
	}
	from := make([]int32, 0, s.Count()) // by new row: the old one
	for _, i := range order {
		if s.Has(i) {
			from = append(from, old[i])
		}
	}
	out.Cells = make([]int32, len(from))
	for r, o := range from {
		out.Cells[r] = p.Cells[o]
	}
	if len(p.Rows) == 0 {
		return &out
	}
	before, after := placesByCell(p.Cells), placesByCell(out.Cells)
	d := len(p.Rows) / len(p.Cells)
	out.Rows = make([]float32, len(p.Rows))
	for r, o := range from {
		copy(out.Rows[int(after[r])*d:][:d], p.Rows[int(before[o])*d:][:d])
	}
	return &out
}

// Project returns the parts with Rows, made anew of those of s, and without Load, where they have few enough
// axes for them. The errors are those of Space.Scan, and parts of other rows.
func (p *Parts) Project(ctx context.Context, s *similarity.Space, threads int) (*Parts, error) {
	if p == nil || len(p.Axes) == 0 {
		return p, ctx.Err()
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := p.Validate(s.Dims); err != nil {
		return nil, err
	}
	if len(p.Cells) != s.Count() {
		return nil, p.misfit(s)
	}
	d := len(p.Axes) / s.Dims
	if d > MaxStored {
		return p, ctx.Err()
	}
	out, place, all, k := *p, placesByCell(p.Cells), numbers(d), kernel.Best()
	out.Rows, out.Load = make([]float32, len(p.Cells)*d), nil
	return &out, s.Scan(ctx, threads, func(r int, row []float32) {
		k.Against(kernel.Dot, row, p.Axes, all, out.Rows[int(place[r])*d:][:d])
	})
}

// misfit is the error of parts of other rows than those of s.
func (p *Parts) misfit(s *similarity.Space) error {
	return fmt.Errorf("the index has %d rows where the space has %d", len(p.Cells), s.Count())
}

// placesByCell returns the place of every row where those of the first cell come first, in a cell in
// their order.
func placesByCell(cells []int32) []int32 {
	start := make([]int32, slices.Max(cells)+2)
	for _, c := range cells {
		start[c+1]++
	}
	for c := range len(start) - 1 {
		start[c+1] += start[c]
	}
	place := make([]int32, len(cells))
	for r, c := range cells {
		place[r] = start[c]
		start[c]++
	}
	return place
}

// MaxStored is the largest number of axes for which Parts have Rows.
const MaxStored = 32

// exact is the report of an index of one cell.
func (x *Index) exact() Report {
	return Report{Method: Exact, Recall: 1, Cells: x.report.Cells, Widened: x.report.Widened}
}

// divides says whether an index has so many rows that cells may save time.
func (f *finder) divides() bool {
	n := f.rows.count()
	return f.settings.Method != Exact && n >= minIndexed && n/100 >= f.k
}

// Validate reports why p cannot be the parts of an index of rows of the given dimensions.
func (p *Parts) Validate(dims int) error {
	if dims < 1 || len(p.Axes)%dims != 0 || len(p.Axes) > dims*dims {
		return fmt.Errorf("the axes of the index are %d numbers for rows of %d dimensions", len(p.Axes), dims)
	}
	for _, values := range [][]float32{p.Axes, p.Centres} {
		for _, x := range values {
			if x-x != 0 {
				return fmt.Errorf("an axis or a centre of the index holds %v", x)
			}
		}
	}
	if len(p.Axes) > 0 {
		dims = len(p.Axes) / dims
	}
	if err := p.validateRows(p.Rows, dims); err != nil {
		return err
	}
	count := len(p.Centres) / dims
	if len(p.Centres)%dims != 0 || count > len(p.Cells) || count == 0 && len(p.Cells)+len(p.Axes) > 0 {
		return fmt.Errorf("the index has %d numbers of centres of %d dimensions, and the cells of %d rows", len(p.Centres), dims, len(p.Cells))
	}
	if count > 0 && (p.Report.Probes < 1 || p.Report.Probes > count) {
		return fmt.Errorf("the index probes %d of %d cells", p.Report.Probes, count)
	}
	for r, c := range p.Cells {
		if c < 0 || int(c) >= count {
			return fmt.Errorf("row %d of the index is in cell %d of %d", r, c, count)
		}
	}
	return nil
}

// validateRows is Validate for Rows along so many axes.
func (p *Parts) validateRows(rows []float32, axes int) error {
	if n := len(rows); n > 0 && (len(p.Axes) == 0 || n != len(p.Cells)*axes) {
		return fmt.Errorf("the index has %d coordinates of %d rows along %d axes", n, len(p.Cells), axes)
	}
	for _, x := range rows {
		if x-x != 0 {
			return fmt.Errorf("a row of the index holds %v", x)
		}
	}
	return nil
}

// Restore returns the index that the Parts are of, which FindParts or SearchParts found for the same
// samples, k and seed; where they are nil it is that of NewIndex. Of the samples of a space that is
// similarity.Stored it needs parts with axes. The errors are those of NewIndex and Parts.Load, and parts of other rows.
func Restore(ctx context.Context, s *similarity.Space, k int, seed uint64, p *Parts, threads int) (*Index, error) {
	if p == nil {
		return NewIndex(ctx, s, k, seed, Settings{}, threads)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := p.Validate(s.Dims); err != nil {
		return nil, err
	}
	if len(p.Axes) == 0 || len(p.Centres) == 0 { // rows themselves are compared
		var err error
		if s, err = inMemory(ctx, s, threads); err != nil {
			return nil, err
		}
	}
	x := &Index{made: *newFinder(ctx, s, k, seed, Settings{}, threads, nil), report: p.Report, probes: p.Report.Probes}
	f := &x.made
	f.lists = &Lists{}
	if len(p.Centres) == 0 {
		return x, x.undivided()
	}
	if len(p.Cells) != f.rows.count() {
		return nil, p.misfit(s)
	}
	rows, err := p.coordinates(s.Dims)
	if err != nil {
		return nil, err
	}
	switch {
	case len(rows) > 0:
		f.reduced = block{data: rows, dims: len(p.Axes) / s.Dims}
	case len(p.Axes) > 0:
		if f.reduced, err = f.project(f.rows, p.Axes); err != nil {
			return nil, err
		}
	}
	if len(p.Axes) > 0 {
		f.axes, f.reduced.id, f.reduced.row = p.Axes, f.rows.id, f.rows.id
	}
	count := len(p.Centres) / f.reduced.dims
	x.centres = block{data: p.Centres, dims: f.reduced.dims, index: numbers(count), id: numbers(count)}
	c, err := f.divided(p.Cells, nil, count)
	if err != nil {
		return nil, err
	}
	x.keep(c)
	x.trim()
	f.perThread = nil
	return x, ctx.Err()
}

// coordinates returns Rows, or what Load reads. The rows of the space have so many dimensions.
func (p *Parts) coordinates(dims int) ([]float32, error) {
	if p.Load == nil {
		return p.Rows, nil
	}
	rows, err := p.Load()
	if err != nil {
		return nil, err
	}
	return rows, p.validateRows(rows, len(p.Axes)/dims)
}
