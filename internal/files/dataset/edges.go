package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mvclust/mvclust/internal/files/table"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/view"
)

// edges are the links that a table lists: two ids in every row, and perhaps a weight.
type edges struct {
	src   *source
	name  string
	asked []string // the names of the columns, where the caller gives them
	unit  string   // of the places in the file; see Pairs
	links view.Links
}

// Names of the columns that hold the two ids, and of those that hold the weight. Weights of the
// last two are probabilities.
var (
	endNames    = [][2]string{{"from", "to"}, {"source", "target"}, {"src", "dst"}, {"unique_id_l", "unique_id_r"}, {"id_l", "id_r"}, {"id1", "id2"}, {"left", "right"}}
	weightNames = []string{"weight", "probability", "match_probability"}
)

// isProbability reports whether a column of this name holds probabilities.
func isProbability(name string) bool { return slices.Contains(weightNames[1:], strings.ToLower(name)) }

// edgeColumns are the places of the columns of a table of links.
type edgeColumns struct {
	from, to, weight int // weight is -1 where there is none
	probability      bool
}

// find finds the columns by their names: those that asked has, or else usual ones. It reports
// false where nothing tells.
func (c *edgeColumns) find(names, asked []string) (found bool, err error) {
	lower := make([]string, len(names))
	for k, name := range names {
		lower[k] = strings.ToLower(strings.TrimSpace(name))
	}
	place := func(name string) int { return slices.Index(lower, strings.ToLower(strings.TrimSpace(name))) }
	c.from, c.to, c.weight = -1, -1, -1
	if len(asked) > 0 {
		at := []int{-1, -1, -1}
		for k, name := range asked {
			if at[k] = place(name); at[k] < 0 {
				return false, fmt.Errorf("has no column %s, only %s; name the columns of the two ids and perhaps the weight, as in FILE:from,to,weight", words.Quote(name), words.List(names))
			}
		}
		c.from, c.to, c.weight = at[0], at[1], at[2]
	} else {
		for _, pair := range endNames {
			if c.from < 0 && place(pair[0]) >= 0 && place(pair[1]) >= 0 {
				c.from, c.to = place(pair[0]), place(pair[1])
			}
		}
		for _, name := range weightNames {
			if k := place(name); k >= 0 {
				c.weight = k
			}
		}
	}
	if c.from < 0 {
		return false, nil
	}
	if c.weight < 0 && len(asked) == 0 && len(names) == 3 {
		c.weight = 3 - c.from - c.to
	}
	c.probability = c.weight >= 0 && isProbability(lower[c.weight])
	return true, nil
}

// first takes the first two columns for the ids and the third, if there is one, for the weight.
func (c *edgeColumns) first(names []string) {
	c.from, c.to, c.weight = 0, 1, -1
	if len(names) > 2 {
		c.weight = 2
		c.probability = isProbability(strings.TrimSpace(names[2]))
	}
}

// openAllEdges opens the tables that args name, each FILE or FILE:FROM,TO or FILE:FROM,TO,WEIGHT.
func (l *library) openAllEdges(args []string) ([]*edges, error) {
	l.lines = true
	defer func() { l.lines = false }()
	var all []*edges
	for _, arg := range args {
		e, err := l.openEdges(arg)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other *edges) bool { return other.src == e.src && slices.Equal(other.asked, e.asked) }) {
			return nil, fmt.Errorf("--edges: %s is named twice; name every table of links once", arg)
		}
		all = append(all, e)
	}
	return all, nil
}

// openEdges opens one table.
func (l *library) openEdges(arg string) (*edges, error) {
	s, name, err := l.open(arg)
	if err != nil {
		return nil, err
	}
	e := &edges{src: s, name: s.base(), unit: rowUnit}
	if name != "" {
		e.name += ":" + name
		if e.asked = strings.Split(name, ","); len(e.asked) < 2 || len(e.asked) > 3 {
			return nil, s.failf("%s names %s; name the two that hold the ids and perhaps one of weights, as in FILE:from,to,weight", words.Quote(":"+name), words.Count(len(e.asked), "column"))
		}
	}
	if err := checkName(e.name); err != nil {
		return nil, s.fail(err)
	}
	switch {
	case s.format.text != nil:
		e.unit = lineUnit
	case s.table == nil:
		return nil, s.failf("is no table of links; give a table with two columns of ids, such as a .csv or a .parquet file")
	}
	return e, nil
}

// linkBytes is what a link takes while it becomes part of a view, and lineBytes the least that a
// line of text has.
const (
	linkBytes = 160
	lineBytes = 4
)

// scratch estimates how many bytes making the view takes at most, beside its values.
func (e *edges) scratch(samples int) int64 {
	rows := e.src.stat.Size() / lineBytes
	if e.unit == rowUnit {
		rows = int64(e.src.Arrays()[0].Shape[0])
	}
	return 2*4*view.LinkDims*int64(samples) + linkBytes*rows
}

// link adds the views of links to the set. Without other views, the ids of the links are those of
// the samples.
func (l *library) link(set *Set, sources int, links []*edges, opt Options) error {
	if len(links) == 0 {
		return nil
	}
	alone := len(set.Views) == 0
	number := set.entering()
	if !alone {
		number = numberOf(set.IDs, set.Views[0].Samples)
	}
	for _, e := range links {
		if err := e.read(number, alone); err != nil {
			return err
		}
	}
	samples := len(set.IDs)
	if !alone {
		samples = set.Views[0].Samples
	} else if opt.Sides != nil {
		scratch, dims := int64(0), []int{}
		for _, e := range links {
			dims, scratch = append(dims, view.LinkDims), max(scratch, e.scratch(samples))
		}
		if err := opt.Sides(samples, dims, scratch); err != nil {
			return err
		}
	}
	for k, e := range links {
		v, err := e.view(l.ctx, samples)
		if err != nil {
			return err
		}
		set.Views, set.Sources = append(set.Views, v), append(set.Sources, sources+k)
		what := words.Count(v.Links, "link")
		if e.links.Probability {
			what += " with probabilities"
		}
		set.note("%s: %s among %s", e.name, what, words.Count(v.Count(), "sample"))
	}
	return nil
}

// read reads the links. number finds the sample of an id. A first line of text is a header where
// its weight is no number or, unless the links are alone, where neither id is that of a sample.
func (e *edges) read(number func(id string) (int, error), alone bool) error {
	read := e.readColumns
	if e.unit == lineUnit {
		read = e.readText
	}
	if err := read(number, alone); err != nil {
		return err
	}
	if len(e.links.Pairs) == 0 {
		return e.src.failf("lists no link; give two ids in every row, or leave the file out")
	}
	return nil
}

// readText reads a table of text.
func (e *edges) readText(number func(id string) (int, error), alone bool) error {
	var c edgeColumns
	var failed error
	err := table.Each(&e.src.input, e.src.stat.Size(), e.src.path, func(line int, row []string) error {
		if line == 1 {
			if len(row) < 2 {
				return fmt.Errorf("line 1 has %s; write two ids, with a comma or a tab between, and after them perhaps a weight", words.Count(len(row), "cell"))
			}
			header, err := c.header(row, e.asked, number, alone)
			if header || err != nil {
				return err
			}
		}
		cell := ""
		if c.weight >= 0 {
			cell = row[c.weight]
		}
		failed = e.add(line, row[c.from], row[c.to], cell, &c, number)
		return failed
	})
	if failed == nil && err != nil {
		return e.src.fail(err)
	}
	return failed
}

// header finds the columns, and reports whether the first row names them.
func (c *edgeColumns) header(row, asked []string, number func(id string) (int, error), alone bool) (bool, error) {
	if found, err := c.find(row, asked); found || err != nil {
		return found, err
	}
	if c.first(row); c.weight >= 0 {
		if _, err := strconv.ParseFloat(strings.TrimSpace(row[2]), 64); err != nil {
			return true, nil
		}
	}
	c.probability = false
	if len(row) > 3 {
		return false, fmt.Errorf("line 1 has %s and names none as from and to; name the columns of the two ids and perhaps the weight, as in FILE:from,to,weight", words.Count(len(row), "cell"))
	}
	if alone {
		return false, nil
	}
	_, misfitX := number(row[0])
	_, misfitY := number(row[1])
	return misfitX != nil && misfitY != nil, nil
}

// readColumns reads a table of columns.
func (e *edges) readColumns(number func(id string) (int, error), _ bool) error {
	s, names := e.src, e.src.table.Columns()
	var c edgeColumns
	found, err := c.find(names, e.asked)
	if err != nil {
		return s.fail(err)
	}
	if !found {
		if len(names) < 2 || len(names) > 3 {
			return s.failf("has %s, %s; name the columns of the two ids and perhaps the weight, as in FILE:from,to,weight", words.Count(len(names), "column"), words.List(names))
		}
		c.first(names)
	}
	at := len(s.Arrays()) - len(names) // the matrix of all numbers may stand before the columns
	from, err := s.Text(at + c.from)
	if err != nil {
		return s.fail(err)
	}
	to, err := s.Text(at + c.to)
	if err != nil {
		return s.fail(err)
	}
	var weights []float32
	if c.weight >= 0 {
		if weights, err = s.Float32(at + c.weight); err != nil {
			return s.fail(err)
		}
	}
	for row := range from {
		cell := ""
		if weights != nil {
			cell = strconv.FormatFloat(float64(weights[row]), 'g', -1, 32)
		}
		if err := e.add(row, from[row], to[row], cell, &c, number); err != nil {
			return err
		}
	}
	return nil
}

// add adds a link.
func (e *edges) add(row int, from, to, weight string, c *edgeColumns, number func(id string) (int, error)) error {
	bad := func(err error) error {
		p := Pairs{unit: e.unit}
		return e.src.failf("%s: %w", p.place(row), err)
	}
	x, misfitX := number(from)
	y, misfitY := number(to)
	if err := cmp.Or(misfitX, misfitY); err != nil {
		return bad(err)
	}
	if c.weight >= 0 {
		w, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if err != nil || !(w >= 0 && w <= math.MaxFloat32) {
			return bad(fmt.Errorf("the weight is %.40q; write a finite number of at least 0, or remove the row", weight))
		}
		e.links.Weights = append(e.links.Weights, w)
	}
	e.links.Probability = c.probability
	e.links.Pairs = append(e.links.Pairs, [2]int{x, y})
	return nil
}

// view makes the view. Weights of a column of probabilities are such if none is above 1.
func (e *edges) view(ctx context.Context, samples int) (*view.View, error) {
	if l := &e.links; l.Probability {
		l.Probability = slices.Max(l.Weights) <= 1
	}
	return view.FromLinks(ctx, e.name, samples, e.links, 0)
}

// entering returns a function that finds the sample of an id, and enters ids that are new.
func (s *Set) entering() func(id string) (int, error) {
	at := map[string]int{}
	return func(id string) (int, error) {
		id = strings.TrimSpace(id)
		n, ok := at[id]
		if !ok {
			id = strings.Clone(id) // and not the whole row with it
			switch {
			case id == "":
				return 0, errors.New("an id is empty; give every sample an id")
			case !utf8.ValidString(id):
				return 0, fmt.Errorf("the id %s is not UTF-8; save the file in UTF-8", words.Quote(id))
			}
			n = len(s.IDs)
			at[id], s.IDs = n, append(s.IDs, id)
		}
		return n, nil
	}
}
