package anndata

import (
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/hdf5"
	"github.com/mvclust/mvclust/internal/words"
)

// categoriesBefore08 is the group that holds the categories of a table's columns in files
// that anndata before version 0.8 wrote.
const categoriesBefore08 = "__categories"

// frame is a table: a group of columns, one of which has the names of the rows.
type frame struct {
	members map[string]uint64
	before  map[string]uint64 // the categories of older files
	index   string
	columns []string // without the index
}

// frame reads which columns a table has.
func (f *File) frame(o *hdf5.Object) (*frame, error) {
	members, err := f.members(o)
	if err != nil {
		return nil, err
	}
	t := &frame{members: members}
	if t.index, err = f.word(o, "_index"); err != nil {
		return nil, err
	}
	for _, usual := range []string{"_index", "index"} {
		if _, is := members[usual]; is && t.index == "" {
			t.index = usual
		}
	}
	if _, is := members[t.index]; !is {
		return nil, fmt.Errorf("has no names of its rows; %s", rewrite)
	}
	if at, is := members[categoriesBefore08]; is {
		group, err := f.h.Object(at)
		if err != nil {
			return nil, err
		}
		if t.before, err = f.members(group); err != nil {
			return nil, err
		}
	}
	order, err := f.h.Text(o, "column-order")
	if err != nil {
		return nil, err
	}
	t.columns = slices.DeleteFunc(sorted(members), func(name string) bool { return name == t.index || name == categoriesBefore08 })
	slices.SortStableFunc(t.columns, func(a, b string) int { return place(order, a) - place(order, b) })
	return t, nil
}

// column is a value for each row.
type column struct {
	n      int
	kind   array.Kind
	values *hdf5.Object // or the codes of categories
	names  *hdf5.Object // the categories, or nil
	mask   *hdf5.Object // of a column with missing values, or nil
	err    error        // why it cannot be read
}

// column finds out how a column of a table is stored.
func (f *File) column(t *frame, name string) (c column) {
	o, err := f.h.Object(t.members[name])
	if err != nil {
		return column{err: err}
	}
	switch {
	case o.Group:
		c = f.compound(o)
	default:
		c.values = o
		if at, is := t.before[name]; is {
			c.names, c.err = f.h.Object(at)
		}
	}
	if c.err != nil {
		return c
	}
	if len(c.values.Dims) != 1 {
		c.err = fmt.Errorf("has the shape %v where one value per row is needed; leave it out", c.values.Dims)
		return c
	}
	c.n = c.values.Dims[0]
	switch typ := c.values.Type; {
	case c.names != nil || typ.Bool || typ.IsText():
		c.kind = array.Text
	case typ.Class == hdf5.Integer || typ.Class == hdf5.Enum:
		c.kind = array.Int
	}
	return c
}

// compound finds out how a column is stored that is a group: codes and categories, or values
// and a mask.
func (f *File) compound(o *hdf5.Object) (c column) {
	members, err := f.members(o)
	if err != nil {
		return column{err: err}
	}
	part := func(name string) *hdf5.Object {
		at, is := members[name]
		if !is || c.err != nil {
			return nil
		}
		var o *hdf5.Object
		o, c.err = f.h.Object(at)
		return o
	}
	if c.values, c.names = part("codes"), part("categories"); c.values != nil && c.names != nil {
		return c
	}
	if c.values, c.mask = part("values"), part("mask"); c.values != nil && c.mask != nil || c.err != nil {
		return c
	}
	kind, _ := f.word(o, "encoding-type")
	return column{err: fmt.Errorf("is of the kind %s, which is no column that can be read; leave it out", words.Quote(kind))}
}

// isNumeric reports whether a column is one of numbers or logical values without categories.
func (c *column) isNumeric() bool {
	return c.err == nil && c.names == nil && !c.values.Type.IsText()
}

// missing returns which rows of a column are missing, or nil.
func (f *File) missing(c column) ([]int64, error) {
	if c.mask == nil {
		return nil, nil
	}
	mask, err := f.int64s(c.mask)
	if err == nil && len(mask) != c.n {
		err = fmt.Errorf("has a mask of %d for %s; fetch or save the file again", len(mask), words.Count(c.n, "value"))
	}
	return mask, err
}

// text returns the values of a column as text, "" where one is missing.
func (f *File) text(c column) ([]string, error) {
	if c.names != nil {
		return f.categories(c)
	}
	out, err := f.strings(c.values)
	if err != nil {
		return nil, err
	}
	mask, err := f.missing(c)
	for i, missing := range mask {
		if missing != 0 {
			out[i] = ""
		}
	}
	if c.kind == array.Float {
		for i, s := range out {
			if s == "NaN" {
				out[i] = ""
			}
		}
	}
	return out, err
}

// categories returns the category of each row.
func (f *File) categories(c column) ([]string, error) {
	names, err := f.strings(c.names)
	if err != nil {
		return nil, err
	}
	codes, err := f.int64s(c.values)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(codes))
	for i, code := range codes {
		switch {
		case code == -1: // missing
		case code < 0 || code >= int64(len(names)):
			return nil, fmt.Errorf("has category %d of %d at row %d (both counted from 0); fetch or save the file again", code, len(names), i)
		default:
			out[i] = names[code]
		}
	}
	return out, nil
}

// strings returns the values of a dataset as text. Logical values are True and False.
func (f *File) strings(o *hdf5.Object) ([]string, error) {
	if o.Type.IsText() {
		return f.h.Strings(o)
	}
	d, err := f.h.Numbers(o)
	if err != nil {
		return nil, err
	}
	out, err := array.Read(d, array.ToString)
	if o.Type.Bool {
		for i, s := range out {
			out[i] = "True"
			if s == "0" {
				out[i] = "False"
			}
		}
	}
	return out, err
}

// int64s returns the values of a dataset of whole numbers.
func (f *File) int64s(o *hdf5.Object) ([]int64, error) {
	d, err := f.h.Numbers(o)
	if err != nil {
		return nil, err
	}
	return array.Read(d, array.ToInt64)
}

// float32s returns the values of a column of numbers, NaN where one is missing.
func (f *File) float32s(c column) ([]float32, error) {
	d, err := f.h.Numbers(c.values)
	if err != nil {
		return nil, err
	}
	out, err := array.Read(d, array.ToFloat32)
	if err != nil {
		return nil, err
	}
	mask, err := f.missing(c)
	for i, missing := range mask {
		if missing != 0 {
			out[i] = float32(math.NaN())
		}
	}
	return out, err
}
