package dataset

import (
	"context"
	"strings"

	"github.com/mvclust/mvclust/internal/words"
)

// Rows are the cells of a table, as text, for people to read.
type Rows struct {
	// Columns are the names of the columns but for that of the ids.
	Columns []string

	cells [][]string // by column
	row   []int      // sample -> row, or -1
}

// ReadRows reads a table with one row per sample: joined by ids where both sides have them, and
// in the order of the samples otherwise. Columns that hold lists are left out.
func ReadRows(ctx context.Context, path string, ids []string, samples int) (*Rows, error) {
	l := newLibrary(ctx)
	defer l.close()
	s, name, err := l.open(path)
	switch {
	case err != nil:
		return nil, err
	case s.table == nil:
		return nil, s.failf("is no table; give one with a row per sample, such as a .csv or a .parquet file")
	case name != "":
		return nil, s.failf("is shown with all columns, so it takes no name such as %s; name the file alone", words.Quote(":"+name))
	}
	r := &Rows{}
	columns := s.table.Columns()
	first := len(s.Arrays()) - len(columns) // the matrix of all numbers may stand before the columns
	for k, column := range columns {
		if column == s.table.ID() {
			continue
		}
		cells, err := s.Text(first + k)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue // of lists
		}
		r.Columns, r.cells = append(r.Columns, column), append(r.cells, cells)
	}
	if len(r.Columns) == 0 {
		return nil, s.failf("has no column to show; give one with a text or a number per sample")
	}
	if r.row, err = s.rowsFor(ids, samples, len(r.cells[0]), "row"); err != nil {
		return nil, err
	}
	return r, nil
}

// Of returns the cells of a sample, by column; nil where the table has no row for it.
func (r *Rows) Of(sample int) []string {
	row := r.row[sample]
	if row < 0 {
		return nil
	}
	out := make([]string, len(r.cells))
	for k, cells := range r.cells {
		out[k] = strings.ToValidUTF8(cells[row], "\uFFFD")
	}
	return out
}

// rowsFor returns the row of every sample, by ids where both have them, or -1; what is the word
// for a row.
func (s *source) rowsFor(ids []string, samples, rows int, what string) ([]int, error) {
	out := make([]int, samples)
	if ids == nil || s.table.ID() == "" {
		if rows != samples {
			return nil, s.failf("holds %s for %s; give one per sample, in the order of the samples, or a column of ids to both", words.Count(rows, what), words.Count(samples, "sample"))
		}
		for i := range out {
			out[i] = i
		}
		return out, nil
	}
	own, err := s.ids(s.table.ID())
	if err != nil {
		return nil, s.fail(err)
	}
	row := rowsOf(own)
	for i, id := range ids {
		k, ok := row[id]
		if !ok {
			k = -1
		}
		out[i] = k
	}
	return out, nil
}
