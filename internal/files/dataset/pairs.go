package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/files/table"
	"github.com/mvclust/mvclust/internal/words"
)

// Pairs are pairs of samples that a file lists.
type Pairs struct {
	// Pairs holds the numbers of the two samples of every row.
	Pairs [][2]int
	// File is the file that they come from.
	File File

	// rows are the pairs' lines in a text file, counted from 1, or their rows in
	// another table, counted from 0; unit says which.
	rows []int
	unit string
}

// Where returns words for the places in the file of some pairs, given by number.
func (p *Pairs) Where(pairs []int) string {
	rows := make([]int, len(pairs))
	for i, at := range pairs {
		rows[i] = p.rows[at]
	}
	return p.File.Path + ", " + p.place(rows...)
}

func (p *Pairs) place(rows ...int) string {
	var numbers []string
	for _, row := range rows {
		numbers = append(numbers, strconv.Itoa(row))
	}
	unit, note := p.unit, ""
	if len(rows) > 1 {
		unit += "s"
	}
	if p.unit == rowUnit {
		note = " (counted from 0)"
	}
	return fmt.Sprintf("%s %s%s", unit, words.List(numbers), note)
}

const (
	lineUnit = "line"
	rowUnit  = "row"
)

// ReadPairs reads pairs of samples from a table of two columns: of ids, or, where ids is
// nil, of row numbers from 0 to samples-1. The first line of text is a header if neither of
// its words is an id. A third cell in a line of text is an answer, same, different or skip: of
// such lines, those with the given answer are pairs. What stands in a fourth is not read. An id that
// no sample has may be one with ' before it.
func ReadPairs(ctx context.Context, path string, ids []string, samples int, answer string) (*Pairs, error) {
	l := newLibrary(ctx)
	l.lines = true
	defer l.close()
	s, name, err := l.open(path)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return nil, s.failf("is a table of pairs, which takes no name such as %s; name the file alone", words.Quote(":"+name))
	}
	p := &Pairs{unit: lineUnit}
	if s.format.text == nil {
		p.unit = rowUnit
	}
	number := numberOf(ids, samples)
	err = s.pairs(answer, func(row int, a, b string) error {
		x, misfitX := number(a)
		y, misfitY := number(b)
		if p.unit == lineUnit && row == 1 && misfitX != nil && misfitY != nil {
			return nil
		}
		if err := cmp.Or(misfitX, misfitY); err != nil {
			return s.failf("%s: %w", p.place(row), err)
		}
		p.Pairs, p.rows = append(p.Pairs, [2]int{x, y}), append(p.rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(p.Pairs) == 0 {
		return nil, s.failf("lists no pair; give two ids in every row, and no other answers than %s, or leave the file out", answer)
	}
	files, err := l.files()
	if err != nil {
		return nil, err
	}
	p.File = files[0]
	return p, nil
}

// numberOf returns a function that finds the sample of an id.
func numberOf(ids []string, samples int) func(id string) (int, error) {
	if ids == nil {
		return func(id string) (int, error) {
			n, err := strconv.Atoi(strings.TrimSpace(id))
			if err != nil || n < 0 || n >= samples {
				return 0, fmt.Errorf("%.40q is no sample; the samples have no ids, so give the numbers of their rows, from 0 to %d", id, samples-1)
			}
			return n, nil
		}
	}
	row := rowsOf(ids)
	return func(id string) (int, error) {
		n, ok := row[strings.TrimSpace(id)]
		if bare, marked := strings.CutPrefix(id, "'"); !ok && marked {
			n, ok = row[strings.TrimSpace(bare)] // as --csv-safe writes it
		}
		if !ok {
			return 0, fmt.Errorf("no sample has the id %.40q; correct it, or remove the row", id)
		}
		return n, nil
	}
}

// pairs calls do with the first two cells of every row that has the answer, or none. Errors of
// do are returned as they are.
func (s *source) pairs(answer string, do func(row int, a, b string) error) error {
	if s.format.text != nil {
		var failed error
		err := table.Each(&s.input, s.stat.Size(), s.path, func(line int, row []string) error {
			switch {
			case len(row) < 2, len(row) > 4, len(row) > 2 && !slices.Contains([]string{"same", "different", "skip", "level"}, row[2]):
				return fmt.Errorf("line %d has %s; write two ids, with a comma or a tab between, and after them at most same, different or skip, and a remark", line, words.Count(len(row), "cell"))
			case len(row) > 2 && row[2] != answer:
				return nil
			}
			failed = do(line, row[0], row[1])
			return failed
		})
		if failed == nil && err != nil {
			return s.fail(err)
		}
		return failed
	}
	if s.table == nil {
		return s.failf("is no table; give a table of two columns of ids, such as a .csv or a .parquet file")
	}
	columns := s.table.Columns()
	if len(columns) != 2 {
		return s.failf("has %s, %s; keep the two that hold the ids", words.Count(len(columns), "column"), words.List(columns))
	}
	at := len(s.Arrays()) - len(columns) // the matrix of all numbers may stand before the columns
	first, err := s.Text(at)
	if err != nil {
		return s.fail(err)
	}
	second, err := s.Text(at + 1)
	if err != nil {
		return s.fail(err)
	}
	for row := range first {
		if err := do(row, first[row], second[row]); err != nil {
			return err
		}
	}
	return nil
}

// Groups is one group, or none, per sample.
type Groups struct {
	// Groups holds the number of every sample's group, or -1.
	Groups []int
	// Names are the groups by number.
	Names []string
	// IDs are the samples' ids where the groups come from a table with a column of ids,
	// else nil.
	IDs []string
	// File is the file that they come from.
	File File
}

// ReadGroups reads one group per sample from source, as Labels reads classes. A value that is
// missing, empty, NaN, NA or null, is no group.
func ReadGroups(ctx context.Context, source string, ids []string, samples int) (*Groups, error) {
	values, own, file, err := perSample(ctx, source, ids, samples, "group")
	if err != nil {
		return nil, err
	}
	g := &Groups{Groups: make([]int, len(values)), IDs: own, File: file}
	number := map[string]int{}
	for i, v := range values {
		v = strings.TrimSpace(v)
		switch strings.ToLower(v) {
		case "", "nan", "na", "null":
			g.Groups[i] = -1
			continue
		}
		n, ok := number[v]
		if !ok {
			n = len(g.Names)
			number[v] = n
			g.Names = append(g.Names, v)
		}
		g.Groups[i] = n
	}
	return g, nil
}
