package mat

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/hdf5"
	"github.com/mvclust/mvclust/internal/words"
)

// version73 reads a file of version 7.3: the groups and datasets of HDF5, with attributes that
// tell what they are in MATLAB, and references to objects for cells.
type version73 struct {
	*hdf5.File
	census census
}

// readVersion73 lists the variables. Each part of the file is read once for that, except the
// few objects that several cells share; the budget of hdf5.File has a surplus for those.
func readVersion73(r io.ReaderAt, at, size int64) (vars []variable) {
	f, err := hdf5.Open(r, at, size)
	check(err)
	h := &version73{File: f}
	root, err := f.Root()
	check(err)
	for _, l := range h.links(root) {
		if !strings.HasPrefix(l.Name, "#") { // what cells and objects refer to
			within("the variable "+words.Quote(l.Name), func() {
				vars = append(vars, variable{l.Name, h.value(h.object(l.Address), 0)})
			})
		}
	}
	return vars
}

// check gives up with an error, and tells the remedy where a file uses what is not read.
func check(err error) {
	if bad, ok := errors.AsType[*hdf5.Unsupported](err); ok {
		unsupported("%s", bad.What)
	}
	if err != nil {
		panic(failure{err})
	}
}

// object is a group or a dataset with MATLAB's attributes.
type object struct {
	*hdf5.Object
	class         string
	empty, sparse bool
	rows          uint64 // of a sparse matrix
}

// object reads the object at addr.
func (h *version73) object(addr uint64) *object {
	base, err := h.Object(addr)
	check(err)
	o := &object{Object: base}
	class, err := h.Text(base, "MATLAB_class")
	check(err)
	o.class = strings.TrimRight(strings.Join(class, ""), "\x00 ")
	if n, is := h.number(base, "MATLAB_empty"); is {
		o.empty = n != 0
	}
	o.rows, o.sparse = h.number(base, "MATLAB_sparse")
	return o
}

// number returns the attribute of o with a name, and whether there is one.
func (h *version73) number(o *hdf5.Object, name string) (n uint64, is bool) {
	a, err := h.Attribute(o, name)
	check(err)
	if a == nil {
		return 0, false
	}
	if a.Type.Class != hdf5.Integer || product(a.Dims) != 1 {
		damaged("has an HDF5 attribute %s that is no number", name)
	}
	return uint64(h.listed(&object{Object: a})[0]), true
}

// links lists a group in the order of the names, which have at most the length of MATLAB's.
func (h *version73) links(o *hdf5.Object) []hdf5.Link {
	all, err := h.Members(o)
	check(err)
	for _, l := range all {
		if len(l.Name) > maxNameBytes {
			damaged("has a name of %d bytes", len(l.Name))
		}
	}
	return all
}

// value returns the MATLAB value that o stands for.
func (h *version73) value(o *object, depth int) *value {
	h.census.enter(depth)
	v := o.typed()
	switch {
	case v.class == opaque:
	case o.empty:
		v.dims = h.emptyDims(o)
	case o.sparse && o.Group && v.class == numbers:
		h.sparse(o, v)
	case o.Group:
		v.class = fields
		h.fields(o, v, depth)
	case o.Type.Class == hdf5.Reference && (v.class == cells || o.class == ""):
		v.class, v.children = cells, h.cells(o, depth)
	default:
		return h.matrix(o, v)
	}
	return v
}

// typed returns a value of the class and kind that MATLAB, or else HDF5, gives o.
func (o *object) typed() *value {
	switch o.class {
	case "double", "single", "canonical empty": // the last is a cell that was never filled
		return &value{class: numbers}
	case "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "logical":
		return &value{class: numbers, kind: array.Int}
	case "char":
		return &value{class: text}
	case "cell":
		return &value{class: cells}
	case "struct":
		return &value{class: fields}
	case "": // not written by MATLAB
		if o.Type.Class == hdf5.Integer {
			return &value{class: numbers, kind: array.Int}
		}
		return &value{class: numbers}
	}
	return &value{class: opaque}
}

// emptyDims returns the dimensions of an empty array, which has them for values.
func (h *version73) emptyDims(o *object) []int {
	var dims []int
	for _, d := range h.listed(o) {
		dims = append(dims, int(d))
	}
	if len(dims) < 2 || len(dims) > maxDims || product(dims) != 0 {
		damaged("is empty but has dimensions %d", dims)
	}
	return dims
}

// matrix makes v the numbers or characters in the dataset o.
func (h *version73) matrix(o *object, v *value) *value {
	class := o.Type.Class
	switch isNumber := v.class == numbers; {
	case class == hdf5.Compound && isNumber: // real and imaginary parts
		v.complex = true
	case class == hdf5.Float && isNumber, class == hdf5.Integer && isNumber,
		class == hdf5.Integer && v.class == text && o.Type.Size <= 2:
		v.data = h.data(o)
	default:
		return &value{class: opaque}
	}
	v.dims = slices.Clone(o.Dims)
	slices.Reverse(v.dims)
	if v.class == text && len(v.dims) < 2 {
		v.dims = []int{1, product(v.dims)}
	}
	return v
}

// sparse makes v the sparse matrix in the group o.
func (h *version73) sparse(o *object, v *value) {
	v.index = &index{}
	for _, l := range h.links(o.Object) { // "data" and "ir" are absent where all is zero
		part := h.object(l.Address)
		switch {
		case l.Name == "ir":
			v.index.rows = h.data(part)
		case l.Name == "jc":
			v.index.starts = h.data(part)
		case l.Name == "data" && part.Type.Class == hdf5.Compound:
			v.complex = true
		case l.Name == "data":
			v.data = h.data(part)
		}
	}
	v.dims = []int{int(min(o.rows, math.MaxInt)), v.index.starts.N - 1}
	product(v.dims)
}

// fields makes v the struct, or the structs, in the group o.
func (h *version73) fields(o *object, v *value, depth int) {
	var columns [][]*value // one per field
	for _, l := range h.links(o.Object) {
		f := h.object(l.Address)
		if f.class == "" && f.Type.Class == hdf5.Reference { // to the field of each struct
			columns = append(columns, h.cells(f, depth))
		} else {
			columns = append(columns, []*value{h.value(f, depth+1)})
		}
		v.names = append(v.names, l.Name)
		if len(columns[len(columns)-1]) != len(columns[0]) {
			damaged("has structs without a field %s", l.Name)
		}
	}
	for i := 0; len(columns) > 0 && i < len(columns[0]); i++ {
		for _, column := range columns {
			v.children = append(v.children, column[i])
		}
	}
}

// cells returns the values that the dataset o refers to.
func (h *version73) cells(o *object, depth int) (out []*value) {
	for _, ref := range h.listed(o) {
		out = append(out, h.value(h.object(uint64(ref)), depth+1))
	}
	return out
}

// listed returns the values of the dataset o, such as references to others.
func (h *version73) listed(o *object) []int64 {
	d := h.data(o)
	check(h.Spend(o.Object))
	return convert(d, array.ToInt64)
}

// data returns the values of the dataset o, to be read when they are asked for.
func (h *version73) data(o *object) array.Numbers {
	d, err := h.Numbers(o.Object)
	check(err)
	return d
}
