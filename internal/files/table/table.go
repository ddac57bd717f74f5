// Package table reads tables of text: .csv and .tsv files.
//
//	id,height,width,kind      a header, if there is one
//	00123,1.5,2,cat           one row per sample; as text, the id is "00123"
//	00124,NA,,dog             missing values: NA, NaN or null in any case, or an empty cell
//
// The first row is a header if it counts 0, 1, 2 and so on to the last of three
// or more cells, perhaps after an empty one, as pandas names columns; or if none
// of its cells is a number, at least one is text (neither missing nor infinite),
// and
//
//   - a column whose first cell is text holds numbers below it, or
//   - a cell is a usual name (id, name, label, labels, class, cluster, truth,
//     confidence, y, in any case) and does not come again in its column, or
//   - no row follows; a header without samples is an error.
//
// A column holds numbers if more than half of its cells that are not missing
// are numbers, or if all are missing. Text in it is then a mistake, and an error
// once the numbers of the column are asked for. Any other column holds text.
//
// The columns are named by the header, or else, and where a name is empty,
// col0, col1 and so on. Under a header, a column id, in any case, holds
// identifiers; so does the first column if its name is empty, as pandas and R
// write the names of rows.
//
// Cells are separated by one character and may stand in double quotes. Numbers
// are written like -12, 3.5, .5, 1e-3 or inf, with a decimal point. Empty lines
// may stand at the end only: elsewhere they may be missing values.
//
// The file is read once to learn what it holds, and again for whatever is asked for.
// Text is returned exactly as it is written.
package table

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// Table is an open table. Its methods are not safe for concurrent use.
type Table struct {
	src rows
	// header says that the first row names the columns.
	header bool
	// samples is the number of rows without the header.
	samples int
	names   []string
	kinds   []array.Kind
	// id is the column of identifiers, or -1.
	id int
}

// Open returns the table that r holds in size bytes. Its cells are separated by
// tabs if the name of the file ends in .tsv; else by the comma, the semicolon or
// the tab, whichever of them its first line has, asked in this order.
func Open(r io.ReaderAt, size int64, name string) (*Table, error) {
	comma, err := comma(r, name)
	if err != nil {
		return nil, err
	}
	return New(io.NewSectionReader(r, 0, size), comma)
}

// New returns the table that r holds from its start, its cells separated by
// comma. It keeps r, and reads it again whenever values are asked for.
func New(r io.ReadSeeker, comma rune) (*Table, error) {
	t := &Table{src: rows{r, comma}, id: -1}
	if err := t.learn(); err != nil {
		return nil, err
	}
	return t, nil
}

// learn reads the table to find its header and the kinds of its columns.
func (t *Table) learn() error {
	var first []string
	var below []tally
	err := t.src.each(func(_ int, row []string) error {
		if first == nil {
			first, below = slices.Clone(row), make([]tally, len(row))
			return nil
		}
		t.samples++
		for k, cell := range row {
			below[k].of[classify(cell)]++
			below[k].again = below[k].again || cell == first[k]
		}
		return nil
	})
	if err != nil {
		return err
	}
	if first == nil {
		return errors.New("the table is empty; write one row per sample")
	}
	t.header = isHeader(first, below, t.samples)
	if t.header && t.samples == 0 {
		return errors.New("the table has a header and no rows; write one row per sample")
	}
	if !t.header {
		t.samples++
	}
	t.names, t.kinds = make([]string, len(first)), make([]array.Kind, len(first))
	seen := make(map[string]bool, len(first))
	for k, cell := range first {
		if t.header {
			t.names[k] = strings.TrimSpace(cell)
			if t.id < 0 && (k == 0 && t.names[k] == "" || strings.EqualFold(t.names[k], "id")) {
				t.id = k
			}
		} else {
			below[k].of[classify(cell)]++
		}
		if t.names[k] == "" {
			t.names[k] = "col" + strconv.Itoa(k)
		}
		if seen[t.names[k]] {
			return fmt.Errorf("two columns have the name %s; rename one of them in the first line", words.Quote(t.names[k]))
		}
		seen[t.names[k]] = true
		t.kinds[k] = below[k].kind()
	}
	return nil
}

// tally counts the cells of a column.
type tally struct {
	of [classes]int
	// again says that the cell of the first row comes again below it.
	again bool
}

// numbers returns the number of cells that are numbers.
func (c *tally) numbers() int { return c.of[whole] + c.of[decimal] + c.of[infinite] }

// kind returns the kind of a column of such cells.
func (c *tally) kind() array.Kind {
	switch {
	case c.of[text] > 0 && c.of[text] >= c.numbers():
		return array.Text
	case c.of[whole] > 0 && c.of[whole] == c.numbers()+c.of[text]+c.of[missing]:
		return array.Int
	}
	return array.Float
}

// isHeader reports whether the first row of a table is a header, given what its
// columns hold in the samples below it.
func isHeader(first []string, below []tally, samples int) bool {
	if counts(first) {
		return true
	}
	texts, sure := false, samples == 0
	for k, cell := range first {
		switch c := &below[k]; classify(cell) {
		case whole, decimal:
			return false
		case text:
			texts = true
			numeric := c.numbers() > 0 && c.kind() != array.Text
			if numeric || usual(cell) && !c.again {
				sure = true
			}
		}
	}
	return texts && sure
}

// counts reports whether the cells count from 0, at least to 2.
func counts(cells []string) bool {
	if cells[0] == "" {
		cells = cells[1:]
	}
	for k, cell := range cells {
		if cell != strconv.Itoa(k) {
			return false
		}
	}
	return len(cells) > 2
}

// usual reports whether cell is a usual name of a column.
func usual(cell string) bool {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "id", "name", "label", "labels", "class", "cluster", "truth", "confidence", "y":
		return true
	}
	return false
}

// Columns returns the names of all columns, from left to right.
func (t *Table) Columns() []string { return slices.Clone(t.names) }

// ID returns the name of the column of identifiers, or "" if there is none.
func (t *Table) ID() string {
	if t.id < 0 {
		return ""
	}
	return t.names[t.id]
}

// matrix returns the columns that hold numbers, without that of the identifiers
// and those that are excluded by name.
func (t *Table) matrix(exclude ...string) []int {
	var cols []int
	for k, kind := range t.kinds {
		if kind != array.Text && k != t.id && !slices.Contains(exclude, t.names[k]) {
			cols = append(cols, k)
		}
	}
	return cols
}

// Matrix returns the numbers of the table row after row, and the number of
// columns. Columns of text, that of the identifiers and those that are excluded
// by name are left out. A missing value is NaN. Text among the numbers, and a
// finite value beyond the largest float32, are errors that name the place.
func (t *Table) Matrix(exclude ...string) (data []float32, cols int, err error) {
	for _, name := range exclude {
		if !slices.Contains(t.names, name) {
			return nil, 0, fmt.Errorf("no column has the name %q; the first are %.40q", name, t.names[:min(10, len(t.names))])
		}
	}
	matrix := t.matrix(exclude...)
	if len(matrix) == 0 {
		return nil, 0, errors.New("no column of numbers is left; exclude fewer columns, or check the separator and the decimal point")
	}
	data, err = cells(t, matrix, parseFloat)
	return data, len(matrix), err
}

// columns returns the columns of array i.
func (t *Table) columns(i int) []int {
	if m := t.matrix(); len(m) > 0 {
		if i == 0 {
			return m
		}
		i--
	}
	return []int{i}
}

// Arrays lists the matrix of numbers without a name, as Matrix returns it, if
// the table has any, and then each column, that of the identifiers included.
func (t *Table) Arrays() []array.Info {
	var infos []array.Info
	if m := t.matrix(); len(m) > 0 {
		infos = append(infos, array.Info{Shape: []int{t.samples, len(m)}})
	}
	for k, name := range t.names {
		infos = append(infos, array.Info{Name: name, Shape: []int{t.samples}, Kind: t.kinds[k]})
	}
	return infos
}

// Float32 returns the values of array i, NaN where they are missing.
func (t *Table) Float32(i int) ([]float32, error) { return cells(t, t.columns(i), parseFloat) }

// Turned returns the values of array i column after column.
func (t *Table) Turned(i int) ([]float32, error) {
	vals, err := t.Float32(i)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(vals))
	array.Info{Shape: []int{t.samples, len(t.columns(i))}}.Turn(out, 0, vals)
	return out, nil
}

// Int64 returns the values of array i, of which none may be missing.
func (t *Table) Int64(i int) ([]int64, error) { return cells(t, t.columns(i), parseInt) }

// Text returns the cells of array i exactly as they are written.
func (t *Table) Text(i int) ([]string, error) {
	return cells(t, t.columns(i), func(cell string) (string, error) {
		return strings.Clone(cell), nil // and not the whole row with it
	})
}

// cells returns what parse makes of the cells of some columns, row after row.
func cells[T any](t *Table, columns []int, parse func(string) (T, error)) ([]T, error) {
	changed := errors.New("the table was changed while it was being read; read it again")
	out := make([]T, 0, t.samples*len(columns))
	skip := t.header
	err := t.src.each(func(line int, row []string) error {
		if skip {
			skip = false
			return nil
		}
		if len(row) != len(t.names) || len(out) == cap(out) {
			return changed
		}
		for _, k := range columns {
			v, err := parse(row[k])
			if err != nil {
				return fmt.Errorf("line %d, column %s: %.40q %w", line, words.Quote(t.names[k]), row[k], err)
			}
			out = append(out, v)
		}
		return nil
	})
	if err == nil && len(out) < cap(out) {
		err = changed
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
