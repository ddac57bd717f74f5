// Package dataset turns the files that a user names into views and labels.
//
// A source is FILE, or FILE:NAME for one array of it. The first bytes of a file tell
// its format, or else its extension. These arrays of it are views:
//
//	.npy               the only one
//	.npz, .mat         those called view0, view1, ... (or X, x, V, v, data, fea, arr,
//	                   with _ or - before the number or not); or the cells of a cell
//	                   array X, data, views, fea, ...; or else the only matrix of
//	                   numbers. Labels, Y, gt, truelabel, gnd, index and their like are
//	                   passed over, and so are vectors and single numbers beside a matrix.
//	.parquet, .arrow,  the columns that hold lists of floating-point numbers; where there
//	.feather           is none, the columns of numbers together, as for .csv
//	.csv, .tsv, .txt   the columns of numbers together, without ids and labels
//	.h5ad, .h5mu       of each modality its obsm/X_pca, or else its X
//
// FILE:data names all cells of a cell array, and FILE:data{2} the second one.
//
// # Samples
//
// The number of samples is the length that all views have in common. In a MATLAB file,
// samples are rows in one view and may be columns in the next. In other files samples are
// rows.
//
// Two lengths may be common to all views. Then the first of these that fits only one of
// them decides: the ids; the --index lists; the number of labels in the same file; the
// convention that samples are rows, outside MATLAB files; the views of the sources that were not
// chosen; and last, the longer side.
//
// Views of .npy, .npz and tables are turned only where ids, an index, labels in the same
// file or a table with a header confirm the number of samples. Otherwise it is an error:
// arrays of different samples may well have as many dimensions.
//
// Files of single cells are like tables whose ids are the cells' names. Where one table has ids, they are the ids of all views. Where several tables have ids, the
// samples are the union of these, in order of first appearance. The columns of one table
// are views of the same samples.
//
// # Missing views
//
// Files have several ways to say that a sample lacks a view. In what Load returns there is
// one: the sample's row in view.View.Data is NaN throughout, and Present is false there.
//
//	.npy, .npz, .mat     the row (or column) is NaN throughout in the file
//	.csv, .tsv, .txt     every number of the row is empty, NaN, NA or null
//	.parquet, .arrow     the list is null, or every number of the row is null
//	several tables       the view's table has no row with the sample's id
//	.h5mu                the file's map of the modality has no row for the cell
//	an index             the list of the view leaves the sample out, whatever its row holds
//
// An index is a cell array with one list per view, of the numbers of the samples that have it,
// counted from 1. Or it is a matrix of samples x views, or its transpose, that holds 1 where a
// sample has the view and 0 elsewhere.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/view"
)

// Options says how sources are to be read.
type Options struct {
	// Views chooses among all the views found, and orders them: numbers counted
	// from 0, or names. Empty means all.
	Views []string
	// ID is the name of the column of ids, which every table must have, or FILE[:NAME]
	// of an array of ids in the order of the samples. Empty means the columns named
	// id, if any.
	ID string
	// Index is FILE[:NAME] of an index, which says which samples have which view (see
	// the package's documentation); empty for none. It has one list for each view
	// found, or one for each view that Views chooses.
	Index string
	// Fill says how single values that are missing are filled in: a view.Fill for all views, or
	// VIEW=FILL for one, named as by Views. Where nothing is said, they are an error.
	Fill []string
	// Gaps has them stay missing; view.Filling.Apply can fill them in.
	Gaps bool
	// Edges are tables of links, FILE or FILE:FROM,TO or FILE:FROM,TO,WEIGHT, each of which is
	// one more view; see view.FromLinks. Without sources, the samples are the ids that they
	// list, in order of first appearance.
	Edges []string
	// Sides, if not nil, is called before values are read, with the number of samples,
	// the dimensions of each view, and an estimate of the bytes that reading takes
	// beside the values. Load returns its error.
	Sides func(samples int, dims []int, scratch int64) error
	// Progress, if not nil, is called now and then with the number of bytes that were
	// read for values, and the size of the views' files.
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
	// Sources has for every view the number of its source, counted from 0, with those of
	// Options.Edges after the others.
	Sources []int
	// IDs has one id per sample, all different, or is nil where samples are
	// numbered by row.
	IDs []string
	// Files lists every file that was read, once, in order of first use.
	Files []File
	// Notes are sentences about choices that Load made.
	Notes []string
}

// Load reads the views that sources name, and those of the links of opt.Edges after them. Each
// must be named once. The errors are sentences that name the file; those about a sample are
// *view.InputError.
func Load(ctx context.Context, sources []string, opt Options) (*Set, error) {
	l := newLibrary(ctx)
	defer l.close()
	links, err := l.openAllEdges(opt.Edges)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	var chosen []*candidate
	if len(sources) > 0 || len(links) == 0 {
		if chosen, err = l.features(set, sources, links, opt); err != nil {
			return nil, err
		}
	}
	if err := l.link(set, len(sources), links, opt); err != nil {
		return nil, err
	}
	if err := set.check(chosen); err != nil {
		return nil, err
	}
	if set.Files, err = l.files(); err != nil {
		return nil, err
	}
	return set, nil
}

// features reads the views that sources name.
func (l *library) features(set *Set, sources []string, links []*edges, opt Options) ([]*candidate, error) {
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
	set.Notes = notes
	joined, err := l.identify(set, chosen, opt.ID)
	if err != nil {
		return nil, err
	}
	here, err := l.index(opt.Index, joined, len(all), order)
	if err != nil {
		return nil, err
	}
	if !joined {
		if err := orient(set, chosen, all, here, opt.ID); err != nil {
			return nil, err
		}
	}
	how, err := fills(chosen, opt)
	if err != nil {
		return nil, err
	}
	if err := set.announce(chosen, joined, links, opt.Sides); err != nil {
		return nil, err
	}
	if opt.Progress != nil {
		l.watch(chosen, opt.Progress)
	}
	for i, c := range chosen {
		if err := l.ctx.Err(); err != nil {
			return nil, err
		}
		if err := set.read(c, i, here, how[i]); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// index reads arg, the value of --index, if there is one.
func (l *library) index(arg string, joined bool, found int, order []int) (*presence, error) {
	switch {
	case arg == "":
		return nil, nil
	case joined:
		return nil, fmt.Errorf("--index %s counts samples by row, and the tables' rows are joined by their ids; leave it out: a sample lacks the view of a table that does not list it", arg)
	}
	return l.presence(arg, found, order)
}

// announce calls tell with the sides of the views, those of links after the others, and the
// bytes that reading takes.
func (s *Set) announce(chosen []*candidate, joined bool, links []*edges, tell func(samples int, dims []int, scratch int64) error) error {
	if tell == nil {
		return nil
	}
	samples, dims := s.sides(chosen, joined)
	scratch, err := s.scratch(chosen)
	if err != nil {
		return err
	}
	for _, e := range links {
		dims, scratch = append(dims, view.LinkDims), max(scratch, e.scratch(samples))
	}
	return tell(samples, dims, scratch)
}

// read reads view i.
func (s *Set) read(c *candidate, i int, here *presence, how filler) error {
	var present []bool
	if here != nil {
		n, _ := c.sides()
		var err error
		if present, err = here.mask(i, n); err != nil {
			return err
		}
	}
	v, err := c.view(present, how)
	if err != nil {
		return c.explain(err, s.IDs)
	}
	if f := v.Filling; f != nil && f.Cells > 0 {
		s.note("%s: %s filled in by %v", c.name, words.Count(f.Cells, "missing value"), f.How)
	}
	if n := lost(v, present); n > 0 {
		s.note("%s lacks %s that --index lists, being NaN throughout there", c.name, words.Count(n, "sample"))
	}
	if !c.stays(len(s.IDs)) {
		v = spread(v, c.places, len(s.IDs))
	}
	s.Views, s.Sources = append(s.Views, v), append(s.Sources, c.source)
	if c.src.columns != nil {
		for _, note := range c.src.columns.Notes() {
			s.noteOnce("%s: %s", c.src.path, note)
		}
	}
	return nil
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

// scratch estimates how many bytes reading a view takes at most, beside the values of all
// views. A view that is spread over other samples than those of its file is held twice
// for a moment.
func (s *Set) scratch(chosen []*candidate) (int64, error) {
	var largest int64
	for _, c := range chosen {
		n, err := c.scratch()
		if err != nil {
			return 0, err
		}
		if rows, dims := c.sides(); !c.stays(len(s.IDs)) {
			n = max(n, 4*int64(rows)*int64(dims))
		}
		largest = max(largest, n)
	}
	return largest, nil
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

// check returns an error for a sample without any view. It names the row in the first
// file that lists the sample.
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
	return fmt.Sprintf("with the id %s ", words.Quote(ids[i]))
}

func (s *Set) note(format string, a ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, a...)) }

func (s *Set) noteOnce(format string, a ...any) {
	if note := fmt.Sprintf(format, a...); !slices.Contains(s.Notes, note) {
		s.Notes = append(s.Notes, note)
	}
}

// identify sets the ids of the samples. joined says that the rows of tables are matched
// by id; otherwise the order counts.
func (l *library) identify(set *Set, chosen []*candidate, id string) (joined bool, err error) {
	with := keep(chosen, func(c *candidate) bool { return c.ids != nil })
	if id != "" && !slices.ContainsFunc(with, func(c *candidate) bool { return c.key == id }) {
		return false, l.fileIDs(set, chosen, with, id)
	}
	for _, c := range chosen {
		if id != "" && c.src.table != nil && c.key != id {
			return false, c.src.failf("has no column %s for the ids, only %s; add it", words.Quote(id), words.List(c.src.table.Columns()))
		}
	}
	switch {
	case len(with) == 0:
	case !slices.ContainsFunc(with, func(c *candidate) bool { return !c.sameRows(with[0]) }):
		set.IDs = with[0].ids // of one table
	case len(with) == len(chosen):
		return true, set.join(chosen)
	default:
		without := keep(chosen, func(c *candidate) bool { return c.ids == nil })
		return false, fmt.Errorf("the rows of %s have no ids, and those of %s have several lists of them; give ids to all views, or to one only", words.List(names(without)), words.List(names(with)))
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
		return fmt.Errorf("--id %s is neither a file nor a column of the tables, which have %s; check the name", id, words.List(columns))
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

// join makes the samples the union of the ids of tables: first those of each file of single
// cells, in its order, and then in order of first appearance.
func (s *Set) join(tables []*candidate) error {
	at := make(map[string]int)
	for _, c := range tables {
		for _, id := range c.ids {
			at[id] = -1
		}
	}
	enter := func(ids []string) {
		for _, id := range ids {
			if k, wanted := at[id]; wanted && k < 0 {
				at[id] = len(s.IDs)
				s.IDs = append(s.IDs, id)
			}
		}
	}
	for i, c := range tables {
		if c.src.cells != nil {
			order, err := c.src.cellIDs("")
			if err != nil {
				return c.src.fail(err)
			}
			enter(order)
		}
		enter(c.ids)
		if k := slices.IndexFunc(tables[:i], c.sameRows); k >= 0 {
			c.places = tables[k].places
			continue
		}
		c.places = make([]int, len(c.ids))
		for i, id := range c.ids {
			c.places[i] = at[id]
		}
	}
	var lack []string
	lists := 0
	for i, c := range tables {
		if slices.ContainsFunc(tables[:i], c.sameRows) {
			continue
		}
		lists++
		if n := len(s.IDs) - len(c.ids); n > 0 {
			name := c.name
			if c.src.cells == nil {
				name = strings.TrimSuffix(name, ":"+c.info.Name)
			}
			lack = append(lack, fmt.Sprintf("%s lacks %d", name, n))
		}
	}
	if len(lack) > 0 {
		s.note("the ids of %d tables make %d samples; %s", lists, len(s.IDs), words.List(lack))
	}
	return nil
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
		for k := 0; err == nil && k < len(found); k++ {
			err = checkName(found[k].name)
		}
		if err != nil {
			return nil, nil, s.fail(err)
		}
		if len(passed) > 0 {
			notes = append(notes, fmt.Sprintf("%s: not taken for views: %s", s.path, words.List(passed)))
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
		fit, err := matches(all, a, "--views")
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
func matches(all []*candidate, asked, flag string) (int, error) {
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
			return 0, fmt.Errorf("%s: %s stands for more than one of %s; choose by number", flag, words.Quote(asked), words.List(there))
		}
		fit = k
	}
	if fit < 0 {
		return 0, fmt.Errorf("%s: there is no view %s; choose among %s", flag, words.Quote(asked), words.List(there))
	}
	return fit, nil
}
