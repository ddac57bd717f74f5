package anndata

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/hdf5"
	"github.com/mvclust/mvclust/internal/words"
)

// matrix is how a matrix is stored: dense, sparse, or as the columns of a table.
type matrix interface {
	shape() []int
	kind() array.Kind
	// float32s returns the values row after row.
	float32s(f *File) ([]float32, error)
	// scratch is how many bytes float32s takes at most beside the values.
	scratch() int64
}

// matrix finds out how the matrix at an address is stored.
func (f *File) matrix(at uint64) (matrix, error) {
	o, err := f.h.Object(at)
	if err != nil {
		return nil, err
	}
	if !o.Group {
		if !isNumber(o.Type) {
			return nil, fmt.Errorf("holds HDF5 values of class %d where numbers are needed; name another matrix", o.Type.Class)
		}
		return dense{o}, nil
	}
	kind, err := f.word(o, "encoding-type")
	if err != nil {
		return nil, err
	}
	if kind == "" { // of files that other programs wrote
		format, err := f.word(o, "h5sparse_format")
		if err != nil {
			return nil, err
		}
		if format != "" {
			kind = format + "_matrix"
		}
	}
	switch kind {
	case "csr_matrix", "csc_matrix":
		return f.sparse(o, kind == "csc_matrix")
	case "dataframe":
		return f.table(o)
	}
	return nil, fmt.Errorf("is of the kind %s, which cannot be read as a matrix; save it as an array, or name another matrix", words.Quote(kind))
}

func isNumber(t hdf5.Type) bool {
	return t.Class == hdf5.Integer || t.Class == hdf5.Float || t.Class == hdf5.Enum
}

// dense is a matrix whose values are all stored.
type dense struct{ *hdf5.Object }

func (d dense) shape() []int { return d.Dims }

func (d dense) kind() array.Kind {
	if d.Type.Class == hdf5.Float {
		return array.Float
	}
	return array.Int
}

func (d dense) float32s(f *File) ([]float32, error) {
	n, err := f.h.Numbers(d.Object)
	if err != nil {
		return nil, err
	}
	return array.Read(n, array.ToFloat32)
}

// scratch is that of a chunk in two stages of its filters.
func (d dense) scratch() int64 { return 2 * d.ChunkBytes() }

// sparse is a matrix of which the values that are not zero are stored, line after line. Its
// lines are its rows or, if byColumn, its columns. Those of line i are values starts[i] to
// starts[i+1], and places has where in the line each is.
type sparse struct {
	dims                   []int
	byColumn               bool
	values, places, starts *hdf5.Object
}

// sparse reads how a sparse matrix is stored.
func (f *File) sparse(o *hdf5.Object, byColumn bool) (matrix, error) {
	s := &sparse{byColumn: byColumn}
	for _, name := range []string{"shape", "h5sparse_shape"} {
		a, err := f.h.Attribute(o, name)
		if err != nil {
			return nil, err
		}
		if a == nil || s.dims != nil {
			continue
		}
		shape, err := f.int64s(a)
		if err != nil {
			return nil, err
		}
		for _, n := range shape {
			s.dims = append(s.dims, int(n))
		}
	}
	if len(s.dims) != 2 || s.dims[0] < 0 || s.dims[1] < 0 || s.dims[1] > 0 && int64(s.dims[0]) > maxLen/int64(s.dims[1]) {
		return nil, fmt.Errorf("is a sparse matrix of the shape %v; fetch or save the file again", s.dims)
	}
	members, err := f.members(o)
	if err != nil {
		return nil, err
	}
	for name, to := range map[string]**hdf5.Object{"data": &s.values, "indices": &s.places, "indptr": &s.starts} {
		at, is := members[name]
		if !is {
			return nil, fmt.Errorf("is a sparse matrix without %s; fetch or save the file again", name)
		}
		if *to, err = f.h.Object(at); err != nil {
			return nil, err
		}
		if len((*to).Dims) != 1 {
			return nil, fmt.Errorf("is a sparse matrix whose %s has the shape %v; fetch or save the file again", name, (*to).Dims)
		}
	}
	return s, nil
}

func (s *sparse) shape() []int { return s.dims }

func (s *sparse) kind() array.Kind { return dense{s.values}.kind() }

// scratch is that of the places and the starts, and of chunks of the values.
func (s *sparse) scratch() int64 {
	return 4*int64(s.places.Dims[0]) + 8*int64(s.starts.Dims[0]) + 3*(s.values.ChunkBytes()+s.places.ChunkBytes())
}

// float32s reads where the values are, and then puts one part of them after another there.
// Values that are stored twice are added, as scipy does.
func (s *sparse) float32s(f *File) ([]float32, error) {
	lines, length := s.dims[0], s.dims[1]
	if s.byColumn {
		lines, length = length, lines
	}
	starts, err := f.int64s(s.starts)
	if err != nil {
		return nil, err
	}
	places, err := f.places(s.places, length)
	if err != nil {
		return nil, err
	}
	values, err := f.h.Numbers(s.values)
	if err != nil {
		return nil, err
	}
	stored := int64(min(len(places), values.N))
	if len(starts) != lines+1 || starts[0] != 0 || !slices.IsSorted(starts) || starts[lines] > stored {
		return nil, fmt.Errorf("is a sparse matrix with %d stored values whose %d lines do not start in ascending order between 0 and that; fetch or save the file again", stored, lines)
	}
	out, line := make([]float32, s.dims[0]*s.dims[1]), 0
	var part []float32
	err = values.Each(func(at int, run []byte) error {
		n := min(len(run)/values.Size, int(starts[lines])-at)
		if n <= 0 {
			return nil
		}
		part = slices.Grow(part[:0], n)[:n]
		if err := array.ToFloat32(values.Encoding, part, run); err != nil {
			return array.Shift(err, at)
		}
		for k, x := range part {
			for int64(at+k) >= starts[line+1] {
				line++
			}
			if place := int(places[at+k]); s.byColumn {
				out[place*lines+line] += x
			} else {
				out[line*length+place] += x
			}
		}
		return nil
	})
	return out, err
}

// places returns whole numbers below length.
func (f *File) places(o *hdf5.Object, length int) ([]int32, error) {
	d, err := f.h.Numbers(o)
	if err != nil {
		return nil, err
	}
	most := min(int64(length), math.MaxInt32)
	var wide []int64
	return array.Read(d, func(e array.Encoding, dst []int32, src []byte) error {
		wide = slices.Grow(wide[:0], len(dst))[:len(dst)]
		if err := array.ToInt64(e, wide, src); err != nil {
			return err
		}
		for i, x := range wide {
			if x < 0 || x >= most {
				return fmt.Errorf("is a sparse matrix with a value at place %d of %d in its line; fetch or save the file again", x, length)
			}
			dst[i] = int32(x)
		}
		return nil
	})
}

// table is the columns of numbers of a table.
type table struct {
	rows    int
	columns []column
}

// table reads which columns of a table are numbers.
func (f *File) table(o *hdf5.Object) (matrix, error) {
	t, err := f.frame(o)
	if err != nil {
		return nil, err
	}
	m := &table{}
	for _, name := range t.columns {
		c := f.column(t, name)
		if !c.isNumeric() {
			continue
		}
		if len(m.columns) > 0 && c.n != m.rows {
			return nil, fmt.Errorf("has %d and %d rows in two columns; fetch or save the file again", m.rows, c.n)
		}
		m.rows, m.columns = c.n, append(m.columns, c)
	}
	if len(m.columns) == 0 {
		return nil, errors.New("is a table without a column of numbers; name another matrix")
	}
	return m, nil
}

func (t *table) shape() []int { return []int{t.rows, len(t.columns)} }

func (t *table) kind() array.Kind { return array.Float }

// scratch is that of a column, its mask and its chunks.
func (t *table) scratch() int64 {
	chunk := int64(0)
	for _, c := range t.columns {
		chunk = max(chunk, c.values.ChunkBytes())
	}
	return 12*int64(t.rows) + 2*chunk
}

func (t *table) float32s(f *File) ([]float32, error) {
	var out []float32
	for k, c := range t.columns {
		values, err := f.float32s(c)
		if err != nil {
			return nil, err
		}
		if out == nil { // now that there are so many
			out = make([]float32, t.rows*len(t.columns))
		}
		for i, x := range values {
			out[i*len(t.columns)+k] = x
		}
	}
	return out, nil
}
