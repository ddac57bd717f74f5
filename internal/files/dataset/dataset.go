// Package dataset turns the files that a user names into views and labels.
//
// A source is FILE, or FILE:NAME for one array of it. What a file is, its first
// bytes tell, or else its extension:
//
//	.npy               one view
//	.npz, .mat         the arrays that are called view0, view1, ... (or X, x, V,
//	                   v, data, fea, arr, with _ or - before the number or not),
//	                   the cells of a cell array X, data, views, fea, ..., or else
//	                   the only matrix of numbers; labels, Y, gt, truelabel,
//	                   gnd, index and their like are passed over, and so are
//	                   vectors and single numbers beside a matrix
//	.parquet, .arrow,  the columns that hold lists of floating-point numbers; if there
//	.feather           is none, the view of the numbers, as for .csv
//	.csv, .tsv, .txt   one view: the columns of numbers, without those of ids and
//	                   of labels
//
// FILE:data names all cells of a cell array and FILE:data{2} the second one.
//
// # Samples
//
// The length that all views have in common is the number of samples. A view of a
// MATLAB file may have them in rows or in columns, whatever the others do. Where
// two lengths are common, the first of these that fits one of them decides: the
// ids; the --index lists; the length of the labels in the same file; the
// convention of .npy, .npz and tables that samples are rows; the views of the
// sources that were not chosen; and last, the longer side.
//
// That convention is broken only where ids, an index, labels in the same file or
// a table with a header confirm the number of samples. Else it is an error, for
// arrays of different samples may well have as many dimensions.
//
// Where several tables have ids, the samples are the union of these, in order of
// first appearance, and a sample lacks the views of the tables that do not list
// it. Where one has, its ids are those of all views. The columns of one table are
// views of the same samples.
//
// # Missing views
//
// A row that is null or NaN throughout is missing. So is one that an index leaves out: a
// cell array with a list, counted from 1, of the present samples for each view,
// or a matrix of samples x views, or its transpose, of 1 where a sample has the
// view and 0 elsewhere.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/method/view"
)

// Options says how sources are to be read.
type Options struct {
	// Views chooses among all the views found, and orders them: numbers counted
	// from 0, or names. Empty means all.
	Views []string
	// ID is the name of the column of ids, which each table must have, or
	// FILE[:NAME] of an array of ids in the order of the samples. Empty means the
	// columns named id, if there are any.
	ID string
	// Index is FILE[:NAME] of what says which samples have which view, as in the
	// package's documentation; empty for none. It is about all the views found,
	// or about those that Views chooses, as the number of its lists tells.
	Index string
	// Sides, if not nil, is told the number of samples and that of dimensions of
	// each view before their values are read, and about how many bytes the reading
	// takes at most beside these values, as far as is known. Its error becomes that
	// of Load.
	Sides func(samples int, dims []int, scratch int64) error
	// Progress, if not nil, is called now and then with how many bytes of the
	// views' files were read for their values, and how many these files have.
	Progress func(done, total int64)
}

// File identifies the bytes of a file that was read.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Set is what Load reads.
type Set struct {
	// Views are the views, at least one, with the same number of samples, at
	// least one. Their names are "file:array", or "file" for an array without a
	// name, with the base name of the file unless two files share it.
	Views []*view.View
	// Sources holds, for every view, which of the sources it comes from, counted from 0.
	Sources []int
	// IDs has one id per sample, all different, or is nil where samples are
	// numbered by row.
	IDs []string
	// Files lists every file that was read, once, in order of first use.
	Files []File
	// Notes are sentences about choices that were made for the user.
	Notes []string
}

// Load reads the views that sources name. Each must be named once. The errors
// are sentences that name the file; those about a sample are *view.InputError.
func Load(ctx context.Context, sources []string, opt Options) (*Set, error) {
	l := newLibrary(ctx)
	defer l.close()
	all, notes, err := l.candidates(sources, opt.ID)
	if err != nil {
		return nil, err
	}
	order, err := choose(all, opt.Views)
	if err != nil {
		return nil, err
	}
	chosen := make([]*candidate, len(order))
	for i, k := range order {
		chosen[i] = all[k]
	}
	set := &Set{Notes: notes}
	joined, err := l.identify(set, chosen, opt.ID)
	if err != nil {
		return nil, err
	}
	var here *presence
	if opt.Index != "" {
		if joined {
			return nil, fmt.Errorf("--index %s counts samples by row, and the tables' rows are joined by their ids; leave it out: a sample lacks the view of a table that does not list it", opt.Index)
		}
		if here, err = l.presence(opt.Index, len(all), order); err != nil {
			return nil, err
		}
	}
	if !joined {
		if err := orient(set, chosen, all, here, opt.ID); err != nil {
			return nil, err
		}
	}
	if opt.Sides != nil {
		samples, dims := set.sides(chosen, joined)
		scratch, err := set.scratch(chosen)
		if err == nil {
			err = opt.Sides(samples, dims, scratch)
		}
		if err != nil {
			return nil, err
		}
	}
	if opt.Progress != nil {
		l.watch(chosen, opt.Progress)
	}
	for i, c := range chosen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var present []bool
		if here != nil {
			n, _ := c.sides()
			if present, err = here.mask(i, n); err != nil {
				return nil, err
			}
		}
		v, err := c.view(present)
		if err != nil {
			return nil, c.explain(err, set.IDs)
		}
		if n := lost(v, present); n > 0 {
			set.note("%s lacks %s that --index lists, being NaN throughout there", c.name, count(n, "sample"))
		}
		if !c.stays(len(set.IDs)) {
			v = spread(v, c.places, len(set.IDs))
		}
		set.Views, set.Sources = append(set.Views, v), append(set.Sources, c.source)
		if c.src.columns != nil {
			for _, note := range c.src.columns.Notes() {
				set.noteOnce("%s: %s", c.src.path, note)
			}
		}
	}
	if err := set.check(chosen); err != nil {
		return nil, err
	}
	if set.Files, err = l.files(); err != nil {
		return nil, err
	}
	return set, nil
}

// sides returns the number of samples and that of dimensions of each view.
func (s *Set) sides(chosen []*candidate, joined bool) (samples int, dims []int) {
	for _, c := range chosen {
		n, d := c.sides()
		samples, dims = n, append(dims, d)
	}
	if joined {
		samples = len(s.IDs)
	}
	return samples, dims
}

// scratch returns about how many bytes the reading of a view takes at most beside
// the values of all views. One that is spread over more samples, or others than in
// its file, is held twice for a moment.
func (s *Set) scratch(chosen []*candidate) (int64, error) {
	var most int64
	for _, c := range chosen {
		n, err := c.scratch()
		if err != nil {
			return 0, err
		}
		if rows, dims := c.sides(); !c.stays(len(s.IDs)) {
			n = max(n, 4*int64(rows)*int64(dims))
		}
		most = max(most, n)
	}
	return most, nil
}

// lost counts the samples that are marked as present and lack the view.
func lost(v *view.View, present []bool) int {
	n := 0
	for i, has := range present {
		if has && !v.Has(i) {
			n++
		}
	}
	return n
}

// check reports a sample without any view, by its row in the first file that
// has one for it.
func (s *Set) check(chosen []*candidate) error {
	for i := range s.Views[0].Samples {
		if slices.ContainsFunc(s.Views, func(v *view.View) bool { return v.Has(i) }) {
			continue
		}
		for _, c := range chosen {
			row := i
			if c.places != nil {
				row = slices.Index(c.places, i)
			}
			if row >= 0 {
				return c.explain(&view.InputError{View: c.name, Row: row, Problem: "lacks every view; remove the sample, or give it at least one"}, s.IDs)
			}
		}
	}
	return nil
}

// called returns the words that tell the id of sample i, if it has one.
func called(ids []string, i int) string {
	if ids == nil {
		return ""
	}
	return fmt.Sprintf("with the id %q ", ids[i])
}

func (s *Set) note(format string, a ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, a...)) }

func (s *Set) noteOnce(format string, a ...any) {
	if note := fmt.Sprintf(format, a...); !slices.Contains(s.Notes, note) {
		s.Notes = append(s.Notes, note)
	}
}

// identify sets the ids of the samples. If joined, rows of tables are samples
// as their ids tell, and not in order.
func (l *library) identify(set *Set, chosen []*candidate, id string) (joined bool, err error) {
	with := keep(chosen, func(c *candidate) bool { return c.ids != nil })
	if id != "" && !slices.ContainsFunc(with, func(c *candidate) bool { return c.key == id }) {
		return false, l.fileIDs(set, chosen, with, id)
	}
	for _, c := range chosen {
		if id != "" && c.src.table != nil && c.key != id {
			return false, c.src.failf("has no column %q for the ids, only %s; add it", id, list(c.src.table.Columns()))
		}
	}
	switch {
	case len(with) == 0:
	case !slices.ContainsFunc(with, func(c *candidate) bool { return c.src != with[0].src }):
		set.IDs = with[0].ids // of one table
	case len(with) == len(chosen):
		set.join(chosen)
		return true, nil
	default:
		without := keep(chosen, func(c *candidate) bool { return c.ids == nil })
		return false, fmt.Errorf("the rows of %s have no ids, and those of %s have several lists of them; give ids to all views, or to one only", list(names(without)), list(names(with)))
	}
	return false, nil
}

// fileIDs sets the ids from a file of their own.
func (l *library) fileIDs(set *Set, chosen, with []*candidate, id string) error {
	if _, _, ok := splitSource(id, exists); !ok {
		var columns []string
		for _, c := range chosen {
			if c.src.table != nil {
				columns = append(columns, c.src.table.Columns()...)
			}
		}
		return fmt.Errorf("--id %s is neither a file nor a column of the tables, which have %s; check the name", id, list(columns))
	}
	if len(with) > 0 {
		return fmt.Errorf("--id %s: %s has ids of its own; leave out --id, or that column", id, with[0].name)
	}
	s, name, err := l.open(id)
	if err != nil {
		return fmt.Errorf("--id %w", err)
	}
	if set.IDs, err = s.ids(name); err != nil {
		return s.fail(err)
	}
	return nil
}

// join makes the samples the union of the ids of tables.
func (s *Set) join(tables []*candidate) {
	at := make(map[string]int)
	for i, c := range tables {
		if k := slices.IndexFunc(tables[:i], func(d *candidate) bool { return d.src == c.src }); k >= 0 {
			c.places = tables[k].places
			continue
		}
		c.places = make([]int, len(c.ids))
		for i, id := range c.ids {
			k, ok := at[id]
			if !ok {
				k = len(s.IDs)
				at[id] = k
				s.IDs = append(s.IDs, id)
			}
			c.places[i] = k
		}
	}
	var lack []string
	files := make(map[*source]bool)
	for _, c := range tables {
		if n := len(s.IDs) - len(c.ids); n > 0 && !files[c.src] {
			lack = append(lack, fmt.Sprintf("%s lacks %d", strings.TrimSuffix(c.name, ":"+c.info.Name), n))
		}
		files[c.src] = true
	}
	if len(lack) > 0 {
		s.note("the ids of %d tables make %d samples; %s", len(files), len(s.IDs), list(lack))
	}
}

// candidates lists the views of all sources, in order.
func (l *library) candidates(sources []string, id string) (all []*candidate, notes []string, err error) {
	if len(sources) == 0 {
		return nil, nil, errors.New("no view is named; give at least one FILE or FILE:NAME")
	}
	for turn, arg := range sources {
		if err := l.ctx.Err(); err != nil {
			return nil, nil, err
		}
		s, name, err := l.open(arg)
		if err != nil {
			return nil, nil, err
		}
		found, passed, err := s.views(name, id)
		if err != nil {
			return nil, nil, s.fail(err)
		}
		if len(passed) > 0 {
			notes = append(notes, fmt.Sprintf("%s: not taken for views: %s", s.path, list(passed)))
		}
		for _, c := range found {
			if slices.ContainsFunc(all, func(d *candidate) bool { return c.src == d.src && c.index == d.index }) {
				return nil, nil, fmt.Errorf("%s: the view %s is named twice; name every view once", arg, c.name)
			}
			c.source = turn
			all = append(all, c)
		}
	}
	for _, s := range l.sources {
		if slices.ContainsFunc(l.sources, func(t *source) bool { return t != s && t.base() == s.base() }) {
			for _, c := range all {
				if c.src == s {
					c.name = s.path + strings.TrimPrefix(c.name, s.base())
				}
			}
		}
	}
	return all, notes, nil
}

// choose returns the places in all of the views that were asked for.
func choose(all []*candidate, asked []string) ([]int, error) {
	var order []int
	if len(asked) == 0 {
		for k := range all {
			order = append(order, k)
		}
	}
	for _, a := range asked {
		fit, err := matches(all, a)
		if err != nil {
			return nil, err
		}
		if slices.Contains(order, fit) {
			return nil, fmt.Errorf("--views: %s is chosen twice; choose every view once", all[fit].name)
		}
		order = append(order, fit)
	}
	return order, nil
}

// matches returns the place in all of the view with a number or a name.
func matches(all []*candidate, asked string) (int, error) {
	var there []string
	for k, c := range all {
		there = append(there, fmt.Sprintf("%d (%s)", k, c.name))
	}
	if k, err := strconv.Atoi(asked); err == nil && k >= 0 && k < len(all) {
		return k, nil
	}
	fit := -1
	for k, c := range all {
		if c.name != asked && c.info.Name != asked && c.src.base() != asked {
			continue
		}
		if fit >= 0 {
			return 0, fmt.Errorf("--views: %q stands for more than one of %s; choose by number", asked, list(there))
		}
		fit = k
	}
	if fit < 0 {
		return 0, fmt.Errorf("--views: there is no view %q; choose among %s", asked, list(there))
	}
	return fit, nil
}
