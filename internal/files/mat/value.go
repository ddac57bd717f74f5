package mat

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/mvclust/mvclust/internal/files/array"
)

const (
	maxCells           = 1 << 20  // values of a file, with cells and struct fields
	maxDepth           = 32       // of cells and structs in each other
	maxDims            = 32       // of an array
	maxLen       int64 = 1 << 48  // product of an array's dimensions
	maxInflated  int64 = 16 << 30 // bytes kept of a v5 file, or inflated for an array of a v7.3 file
	maxDense     int64 = 8 << 30  // bytes of a sparse matrix written out in full
	maxRatio     int64 = 1032     // DEFLATE cannot shrink bytes further
	turnBlock          = 16 << 10 // values put in the other order at a time
	maxNameBytes       = 255      // of a variable or field; MATLAB's have at most 63
)

const resave = "load it in MATLAB and save it again with save(..., '-v7')"

// failure is what the parsers panic with when they cannot go on. It never
// leaves the package: catch turns it into an error.
type failure struct{ error }

// fail gives up with an error.
func fail(format string, a ...any) { panic(failure{fmt.Errorf(format, a...)}) }

// damaged gives up on bytes that break the rules of the format.
func damaged(format string, a ...any) {
	fail(format+"; the file is damaged or cut short, so fetch or save it again", a...)
}

// unsupported gives up on a feature of the format that is not read.
func unsupported(format string, a ...any) {
	fail("uses "+format+", which cannot be read; "+resave, a...)
}

// catch, when deferred, turns a failure into an error.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

// within calls do and puts where before the error of a failure.
func within(where string, do func()) {
	err := func() (err error) {
		defer catch(&err)
		do()
		return nil
	}()
	if err != nil {
		fail("%s %w", where, err)
	}
}

// class is what a MATLAB value is, as far as the reader cares.
type class uint8

const (
	numbers class = iota
	text
	cells
	fields
	opaque // a function or an object
)

// value is one MATLAB value. Cell arrays and structs hold further values;
// together they make a tree.
type value struct {
	class    class
	kind     array.Kind // of numbers
	complex  bool
	utf8     bool          // a single line, stored as UTF-8
	dims     []int         // MATLAB order: rows, columns, ...
	data     array.Numbers // of numbers and text
	index    *index        // of a sparse matrix
	children []*value      // cells column after column, or one struct's fields after another's
	names    []string      // of a struct's fields
}

// index places the stored values of a sparse matrix: those of column c are in
// rows[starts[c]:starts[c+1]], numbers that start from 0 and ascend.
type index struct{ rows, starts array.Numbers }

// census counts the values of a file.
type census int

// enter adds a value that lies within depth cells and structs.
func (c *census) enter(depth int) {
	if *c++; *c > maxCells {
		fail("holds more than %d cells and fields; save the views as one matrix each", maxCells)
	}
	if depth > maxDepth {
		fail("has cells or structs nested more than %d deep; save what is needed as variables of their own", maxDepth)
	}
}

// product returns the number of values that dims stand for.
func product(dims []int) int {
	n := int64(1)
	for _, d := range dims {
		if d < 0 || int64(d) > maxLen || d > 0 && n > min(maxLen, math.MaxInt)/int64(d) {
			damaged("has dimensions %d out of range", dims)
		}
		n *= int64(d)
	}
	return int(n)
}

// toUTF16 is a converter to UTF-16 units.
func toUTF16(e array.Encoding, dst []uint16, src []byte) error {
	for i := range dst {
		dst[i] = uint16(e.Bits(src[i*e.Size:]))
	}
	return nil
}

// convert returns the first d.N numbers of d.
func convert[T any](d array.Numbers, conv array.Converter[T]) []T {
	out, err := array.Read(d, conv)
	check(err)
	return out
}

// values returns the numbers of v column after column; zero stands for those
// that a sparse matrix leaves out.
func values[T any](v *value, zero T, conv array.Converter[T]) []T {
	switch {
	case v.class != numbers:
		fail("holds text where numbers are needed; name another array")
	case v.complex:
		fail("holds complex numbers; save their real part or their modulus as an array of its own")
	case v.index == nil:
		return convert(v.data, conv)
	}
	n := product(v.dims)
	if int64(n) > maxDense/int64(reflect.TypeFor[T]().Size()) {
		fail("is a sparse matrix of %d x %d, which takes more than %d GiB when written out in full; reduce its dimensions first", v.dims[0], v.dims[1], maxDense>>30)
	}
	places := v.places()
	out := slices.Repeat([]T{zero}, n)
	if len(places) > 0 {
		check(v.data.Each(func(at int, run []byte) error {
			for k := at; k < min(at+len(run)/v.data.Size, len(places)); k++ {
				p := places[k]
				if err := conv(v.data.Encoding, out[p:p+1], run[(k-at)*v.data.Size:]); err != nil {
					return array.Shift(err, p)
				}
			}
			return nil
		}))
	}
	return out
}

// turned returns the numbers of the matrix v row after row.
func (v *value) turned(info array.Info) []float32 {
	if v.class != numbers || v.complex || v.index != nil || v.data.N == 0 || int64(v.data.N) > array.UsualRatio*v.data.Stored {
		// A header's word alone is not enough to take the memory at once.
		vals := values(v, 0, array.ToFloat32)
		out := make([]float32, len(vals))
		info.Turn(out, 0, vals)
		return out
	}
	out, buf := make([]float32, v.data.N), make([]float32, min(turnBlock, v.data.N))
	check(v.data.Each(func(at int, run []byte) error {
		for part := range slices.Chunk(run, turnBlock*v.data.Size) {
			vals := buf[:len(part)/v.data.Size]
			if err := array.ToFloat32(v.data.Encoding, vals, part); err != nil {
				return array.Shift(err, at)
			}
			info.Turn(out, at, vals)
			at += len(vals)
		}
		return nil
	}))
	return out
}

// places returns where in storage order each stored value of the sparse matrix
// v belongs.
func (v *value) places() []int {
	starts, stored := convert(v.index.starts, array.ToInt64), int64(min(v.index.rows.N, v.data.N))
	if len(starts) != v.dims[1]+1 || starts[0] != 0 || !slices.IsSorted(starts) || starts[v.dims[1]] > stored {
		damaged("is a sparse matrix with %d stored values whose columns do not start in ascending order between 0 and that", stored)
	}
	ir := v.index.rows
	ir.N = int(starts[v.dims[1]])
	rows := convert(ir, array.ToInt64)
	out := make([]int, len(rows))
	for c := range v.dims[1] {
		last := int64(-1)
		for k := starts[c]; k < starts[c+1]; k++ {
			if rows[k] <= last || rows[k] >= int64(v.dims[0]) {
				damaged("is a sparse matrix with row %d of %d out of order in column %d", rows[k]+1, v.dims[0], c+1)
			}
			last = rows[k]
			out[k] = c*v.dims[0] + int(last)
		}
	}
	return out
}

// lines returns the number of strings of a character matrix. An empty one has
// none, save that one row without columns is an empty string.
func (v *value) lines() int {
	if v.dims[0] != 1 && product(v.dims) == 0 {
		return 0
	}
	return v.dims[0]
}

// strings returns the rows of a character matrix, the cells of a cell array of strings, or
// numbers in decimal notation. If a matrix has several rows, the blanks that pad them to
// one length are removed.
func (v *value) strings() []string {
	switch v.class {
	case numbers:
		return values(v, "0", array.ToString)
	case cells:
		out := make([]string, len(v.children))
		for i, c := range v.children {
			copy(out[i:i+1], c.strings())
		}
		return out
	}
	out, units := make([]string, v.lines()), convert(v.data, toUTF16)
	row := make([]uint16, 0, len(units)/max(1, len(out)))
	for i := range out {
		row = row[:0]
		for k := i; k < len(units); k += len(out) {
			row = append(row, units[k])
		}
		out[i] = string(utf16.Decode(row))
		if v.utf8 {
			out[i] = fromUTF8(row)
		}
		if len(out) > 1 {
			out[i] = strings.TrimRight(out[i], " \x00")
		}
	}
	return out
}

// fromUTF8 returns the string whose bytes are in units.
func fromUTF8(units []uint16) string {
	b := make([]byte, len(units))
	for i, u := range units {
		b[i] = byte(u)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
