package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/view"
)

// candidate is an array that may become a view.
type candidate struct {
	src    *source
	source int // its place among the words that name sources
	index  int // among the arrays of src
	info   array.Info
	name   string // for messages
	// whole says that the view is the numbers of a table, save for the columns
	// that exclude lists.
	whole   bool
	exclude []string
	// key is the column of a table that holds its ids, or empty; ids are those of
	// its rows, or nil; places are the samples with them.
	key    string
	ids    []string
	places []int
	// fixed says that the samples cannot be the columns.
	fixed bool
	// columns says that the samples are the columns.
	columns bool
}

// checkName refuses the name of a view that JSON, and so the model, cannot hold.
func checkName(name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("makes a view of the name %s, which is not UTF-8; rename the file or the array", words.Quote(name))
	}
	return nil
}

// base is the name of the file without its folders.
func (s *source) base() string { return filepath.Base(s.path) }

// views returns the views of a file and the names of what it holds besides.
func (s *source) views(name, id string) (found []*candidate, passed []string, err error) {
	switch {
	case s.cells != nil:
		return s.cellViews(name)
	case s.columns != nil && (name != "" || len(s.embeddings()) > 0):
		return s.listViews(name, id)
	case s.table != nil && name != "":
		return nil, nil, fmt.Errorf("a table is one view as a whole; leave out %s", words.Quote(":"+name))
	case s.table != nil:
		c, passed, err := s.tableView(id)
		return []*candidate{c}, passed, err
	}
	infos := s.Arrays()
	members, passed, err := views(infos, name)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range members {
		info := infos[i]
		if err := checkMatrix(info); err != nil {
			return nil, nil, fmt.Errorf("%s %w", cmp.Or(info.Name, "the array"), err)
		}
		c := &candidate{src: s, index: i, info: info, name: s.base()}
		if info.Name != "" {
			c.name += ":" + info.Name
		}
		found = append(found, c)
	}
	return found, passed, nil
}

// embeddings returns the columns of lists that are views without being named.
func (s *source) embeddings() []string {
	return keep(s.columns.Embeddings(), func(name string) bool {
		return !isLabelName(name) && !isIndexName(name) && !isIDName(name)
	})
}

// listViews returns the views that columns of lists are: the one called name, or
// all, and the columns it leaves out.
func (s *source) listViews(name, id string) (found []*candidate, passed []string, err error) {
	views := s.embeddings()
	if name != "" {
		if !slices.Contains(s.columns.Columns(), name) {
			return nil, nil, fmt.Errorf("holds no column %s, only %s; name one of these", words.Quote(name), words.List(s.columns.Columns()))
		}
		views = []string{name}
	}
	key, ids, err := s.tableIDs(id)
	if err != nil {
		return nil, nil, err
	}
	for _, view := range views {
		i := s.columns.Array(view)
		c := &candidate{src: s, index: i, name: s.base() + ":" + view, key: key, ids: ids, fixed: true}
		dims, err := s.columns.Dims(i)
		if err != nil {
			return nil, nil, err
		}
		c.info = s.Arrays()[i]
		c.info.Shape = []int{c.info.Shape[0], dims}
		found = append(found, c)
	}
	if name == "" {
		passed = keep(s.columns.Columns(), func(name string) bool { return name != key && !slices.Contains(views, name) })
	}
	return found, passed, nil
}

// tableIDs returns the name of the column with a table's ids, or "", and the ids. The
// column called id comes before all others.
func (s *source) tableIDs(id string) (key string, ids []string, err error) {
	key = s.table.ID()
	if slices.Contains(s.table.Columns(), id) {
		key = id
	}
	if key != "" && key != s.key {
		if s.keys, err = s.ids(key); err != nil {
			return "", nil, err
		}
		s.key = key
	}
	return key, s.keys, nil
}

// tableView returns the view that the numbers of a table are, and the columns it
// leaves out.
func (s *source) tableView(id string) (*candidate, []string, error) {
	names := s.table.Columns()
	c := &candidate{src: s, name: s.base(), whole: true, fixed: s.columns != nil}
	for k, name := range names {
		// Only a header gives other names, and under it are the samples.
		c.fixed = c.fixed || name != "col"+strconv.Itoa(k)
	}
	var err error
	if c.key, c.ids, err = s.tableIDs(id); err != nil {
		return nil, nil, err
	}
	column := c.key
	if column != "" {
		c.fixed, c.exclude = true, []string{column}
	}
	var passed []string
	dims := 0
	for _, info := range s.Arrays() {
		switch name := info.Name; {
		case name == "", name == column:
		case name == s.table.ID(), info.Kind == array.Text, len(info.Shape) > 1:
			passed = append(passed, name)
		case isLabelName(name) && !(plain(name) == "y" && isPlane(names)):
			passed = append(passed, name)
			c.exclude = append(c.exclude, name)
		default:
			dims++
		}
	}
	if dims == 0 {
		if s.columns != nil {
			return nil, nil, fmt.Errorf("holds no column of numbers or of lists of floating-point numbers besides ids and labels, only %s; cast one to such, or name a column of lists of whole numbers by FILE:NAME", words.List(names))
		}
		return nil, nil, errors.New("holds no column of numbers besides ids and labels; check its separator and its decimal points")
	}
	c.info.Shape = []int{s.Arrays()[0].Shape[0], dims}
	return c, passed, nil
}

// isPlane reports whether a column named y has one named x beside it, and so
// holds coordinates rather than labels.
func isPlane(columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool { return plain(name) == "x" })
}

// ids returns the ids that a file holds: the array or column called name or,
// without a name, id or ids, or the only one there is.
func (s *source) ids(name string) ([]string, error) {
	var ids []string
	if s.cells != nil {
		return s.cellIDs(name)
	}
	if s.table != nil {
		i, err := s.column(name, "ids", cmp.Or(s.table.ID(), "id"))
		if err != nil {
			return nil, err
		}
		if ids, err = s.Text(i); err != nil {
			return nil, err
		}
		return ids, checkIDs(ids)
	}
	u, err := one(s.Arrays(), name, "ids", isIDName)
	if err != nil {
		return nil, err
	}
	if ids, err = s.vector(u.members[0]); err != nil {
		return nil, err
	}
	return ids, checkIDs(ids)
}

// checkIDs trims ids and says which are empty, no UTF-8, or the same.
func checkIDs(ids []string) error {
	first := make(map[string]int, len(ids))
	for i, id := range ids {
		id = strings.TrimSpace(id)
		if id == "" {
			return fmt.Errorf("row %d (counted from 0) has an empty id; give every sample an id", i)
		}
		if !utf8.ValidString(id) {
			return fmt.Errorf("row %d (counted from 0) has the id %s, which is not UTF-8; save the file in UTF-8", i, words.Quote(id))
		}
		if k, ok := first[id]; ok {
			return fmt.Errorf("rows %d and %d (counted from 0) have the same id %s; give every sample an id of its own", k, i, words.Quote(id))
		}
		first[id] = i
		ids[i] = id
	}
	return nil
}

// rowsOf returns the row of each id.
func rowsOf(ids []string) map[string]int {
	rows := make(map[string]int, len(ids))
	for i, id := range ids {
		rows[id] = i
	}
	return rows
}

// sides returns the number of samples and that of dimensions.
func (c *candidate) sides() (samples, dims int) {
	if c.columns {
		return c.info.Shape[1], c.info.Shape[0]
	}
	return c.info.Shape[0], c.info.Shape[1]
}

// scratch estimates how many bytes reading the values takes beside them, if that is known.
func (c *candidate) scratch() (int64, error) {
	if c.src.columns == nil {
		if f, ok := c.src.File.(interface{ Scratch(i int) int64 }); ok {
			return f.Scratch(c.index), nil
		}
		return 0, nil
	}
	n, err := c.src.columns.Scratch(c.index)
	if err != nil {
		return 0, c.src.fail(err)
	}
	return n, nil
}

// view reads the values. Samples that are not present lack the view, whatever the file
// holds for them. Where present is nil, the file alone decides.
func (c *candidate) view(present []bool, how filler) (*view.View, error) {
	var data []float32
	var err error
	switch {
	case c.columns != c.info.ColumnMajor: // columns stored as such are rows already
		data, err = c.src.Turned(c.index)
	case c.whole:
		data, _, err = c.src.table.Matrix(c.exclude...)
	default:
		data, err = c.src.Float32(c.index)
	}
	if err != nil {
		return nil, err
	}
	n, dims := c.sides()
	for i, has := range present {
		if !has {
			setMissing(data[i*dims : (i+1)*dims])
		}
	}
	return how(c.name, n, dims, data)
}

// explain adds to an error of package view the file, or the id of the sample.
func (c *candidate) explain(err error, ids []string) error {
	bad, ok := errors.AsType[*view.InputError](err)
	if !ok {
		return c.src.fail(err)
	}
	if c.ids != nil {
		ids = c.ids
	}
	told := *bad
	if told.Row >= 0 {
		told.Problem = called(ids, told.Row) + told.Problem
	}
	if c.columns {
		told.Problem += "; rows are here the columns of the file"
	}
	return &told
}

// stays reports whether the rows are the samples, n in number, in their order.
func (c *candidate) stays(n int) bool {
	return c.places == nil || n == len(c.places) && slices.IsSorted(c.places)
}

// spread returns the view of n samples in which row i of v is sample places[i]. The
// samples without a row are NaN throughout.
func spread(v *view.View, places []int, n int) *view.View {
	out := &view.View{Name: v.Name, Samples: n, Dims: v.Dims, Filling: v.Filling, Data: make([]float32, n*v.Dims), Present: make([]bool, n)}
	setMissing(out.Data)
	for i, at := range places {
		copy(out.Row(at), v.Row(i))
		out.Present[at] = v.Has(i)
	}
	return out
}

// setMissing makes values those of samples that lack the view.
func setMissing(values []float32) {
	for i := range values {
		values[i] = float32(math.NaN())
	}
}
