package neighbour

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/method/similarity"
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
	// Report is that of the index.
	Report Report
}

// FindParts returns the parts of the index that NewIndex makes with the same arguments; nil where there
// are so few rows that there is nothing to find out. The errors are those of NewIndex.
func FindParts(ctx context.Context, s *similarity.Space, k int, seed uint64, threads int) (*Parts, error) {
	if err := s.Check(); err != nil {
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
	if x.cells == nil {
		return &Parts{Report: x.exact()}, nil
	}
	p := &Parts{Axes: f.axes, Centres: x.centres.data, Cells: x.cells.own, Report: x.report}
	if 0 < len(f.axes) && len(f.axes) <= MaxStored*s.Dims {
		p.Rows = f.reduced.data
	}
	return p, nil
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
	for _, values := range [][]float32{p.Axes, p.Centres, p.Rows} {
		for _, x := range values {
			if x-x != 0 {
				return fmt.Errorf("an axis, a centre or a row of the index holds %v", x)
			}
		}
	}
	if len(p.Axes) > 0 {
		dims = len(p.Axes) / dims
	}
	if n := len(p.Rows); n > 0 && (len(p.Axes) == 0 || n != len(p.Cells)*dims) {
		return fmt.Errorf("the index has %d coordinates of %d rows along %d axes", n, len(p.Cells), dims)
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

// Restore returns the index that NewIndex made of the same samples, k and seed, given its Parts, or
// where these are nil makes it. The errors are those of NewIndex, and parts of other rows.
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
	x := &Index{made: *newFinder(ctx, s, k, seed, Settings{}, threads, nil), report: p.Report, probes: p.Report.Probes}
	f := &x.made
	f.lists = &Lists{}
	if len(p.Centres) == 0 {
		return x, x.undivided()
	}
	n := f.rows.count()
	if len(p.Cells) != n {
		return nil, fmt.Errorf("the index has %d rows where the space has %d", len(p.Cells), n)
	}
	switch {
	case len(p.Rows) > 0:
		f.reduced = block{data: p.Rows, dims: len(p.Axes) / s.Dims}
	case len(p.Axes) > 0:
		var err error
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
