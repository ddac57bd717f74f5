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

	"github.com/mvclust/mvclust/internal/array"
	"github.com/mvclust/mvclust/view"
)

// candidate is an array that may become a view.
type candidate struct {
	src   *source
	index int // among the arrays of src
	info  array.Info
	name  string // for messages
	// exclude lists the columns of a table that are not part of the view.
	exclude []string
	// ids are those of a table's rows, or nil; places are the samples with them.
	ids    []string
	places []int
	// fixed says that the samples cannot be the columns.
	fixed bool
	// columns says that the samples are the columns.
	columns bool
}

// base is the name of the file without its folders.
func (s *source) base() string { return filepath.Base(s.path) }

// views returns the views of a file and the names of what it holds besides.
func (s *source) views(name, id string) (found []*candidate, passed []string, err error) {
	if s.table != nil {
		if name != "" {
			return nil, nil, fmt.Errorf("a table is one view as a whole; leave out %q", ":"+name)
		}
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

// tableView returns the view that a table is, and the columns it leaves out.
func (s *source) tableView(id string) (*candidate, []string, error) {
	names := s.table.Columns()
	c := &candidate{src: s, name: s.base()}
	for k, name := range names {
		// Only a header gives other names, and under it are the samples.
		c.fixed = c.fixed || name != "col"+strconv.Itoa(k)
	}
	column := s.table.ID()
	if slices.Contains(names, id) {
		column = id
	}
	if column != "" {
		var err error
		if c.ids, err = s.ids(column); err != nil {
			return nil, nil, err
		}
		c.fixed, c.exclude = true, []string{column}
	}
	var passed []string
	dims := 0
	for _, info := range s.Arrays() {
		switch name := info.Name; {
		case name == "", name == column:
		case name == s.table.ID(), info.Kind == array.Text:
			passed = append(passed, name)
		case isLabelName(name) && !(plain(name) == "y" && isPlane(names)):
			passed = append(passed, name)
			c.exclude = append(c.exclude, name)
		default:
			dims++
		}
	}
	if dims == 0 {
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

// checkIDs trims ids and says which are empty or the same.
func checkIDs(ids []string) error {
	first := make(map[string]int, len(ids))
	for i, id := range ids {
		id = strings.TrimSpace(id)
		if id == "" {
			return fmt.Errorf("row %d (counted from 0) has an empty id; give every sample an id", i)
		}
		if k, ok := first[id]; ok {
			return fmt.Errorf("rows %d and %d (counted from 0) have the same id %q; give every sample an id of its own", k, i, id)
		}
		first[id] = i
		ids[i] = id
	}
	return nil
}

// sides returns the number of samples and that of dimensions.
func (c *candidate) sides() (samples, dims int) {
	if c.columns {
		return c.info.Shape[1], c.info.Shape[0]
	}
	return c.info.Shape[0], c.info.Shape[1]
}

// view reads the values. The samples that are not present lack the view,
// whatever the file holds for them; nil says nothing.
func (c *candidate) view(present []bool) (*view.View, error) {
	var data []float32
	var err error
	switch {
	case c.columns != c.info.ColumnMajor: // columns stored as such are rows already
		data, err = c.src.Turned(c.index)
	case c.src.table != nil:
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
			fill(data[i*dims:(i+1)*dims], float32(math.NaN()))
		}
	}
	return view.New(c.name, n, dims, data)
}

// explain adds to an error of view what tells the file or the sample.
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

// spread returns the view of n samples in which row i of v is sample places[i].
func spread(v *view.View, places []int, n int) *view.View {
	if n == v.Samples && slices.IsSorted(places) {
		return v
	}
	out := &view.View{Name: v.Name, Samples: n, Dims: v.Dims, Data: make([]float32, n*v.Dims), Present: make([]bool, n)}
	for i, at := range places {
		copy(out.Row(at), v.Row(i))
		out.Present[at] = v.Has(i)
	}
	return out
}

func fill(a []float32, x float32) {
	for i := range a {
		a[i] = x
	}
}
