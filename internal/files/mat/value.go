package mat

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

const (
	maxCells           = 1 << 20  // values of a file, with cells and struct fields
	maxDepth           = 32       // of cells and structs in each other
	maxDims            = 32       // of an array
	maxLen       int64 = 1 << 48  // product of an array's dimensions
	maxInflated  int64 = 16 << 30 // bytes kept of a v5 file, or inflated for an array of a v7.3 file
	maxDense     int64 = 8 << 30  // bytes of a sparse matrix written out in full
	maxRatio     int64 = 1032     // DEFLATE cannot shrink bytes further
	usualRatio   int64 = 64       // allocated on a header's word; more only as values arrive
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
	utf8     bool     // a single line, stored as UTF-8
	dims     []int    // MATLAB order: rows, columns, ...
	data     dense    // of numbers and text
	index    *index   // of a sparse matrix
	children []*value // cells column after column, or one struct's fields after another's
	names    []string // of a struct's fields
}

// index places the stored values of a sparse matrix: those of column c are in
// rows[starts[c]:starts[c+1]], numbers that start from 0 and ascend.
type index struct{ rows, starts dense }

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

// encoding is how one stored number lies in bytes.
type encoding struct {
	size   int  // bytes: 1, 2, 4 or 8
	float  bool // IEEE 754, of 4 or 8 bytes
	signed bool // two's complement
	big    bool // most significant byte first
}

// bits returns the first number of p, extended by zeros.
func (e encoding) bits(p []byte) uint64 {
	var u uint64
	switch e.size {
	case 1:
		return uint64(p[0])
	case 2:
		u = uint64(binary.LittleEndian.Uint16(p))
	case 4:
		u = uint64(binary.LittleEndian.Uint32(p))
	default:
		u = binary.LittleEndian.Uint64(p)
	}
	if e.big {
		u = bits.ReverseBytes64(u) >> (64 - 8*e.size)
	}
	return u
}

// real returns the first number of p as a float64.
func (e encoding) real(p []byte) float64 {
	u := e.bits(p)
	switch {
	case e.float && e.size == 8:
		return math.Float64frombits(u)
	case e.float:
		return float64(math.Float32frombits(uint32(u)))
	case e.signed:
		return float64(e.extend(u))
	}
	return float64(u)
}

// extend gives an integer from bits its sign.
func (e encoding) extend(u uint64) int64 { return int64(u<<(64-8*e.size)) >> (64 - 8*e.size) }

// whole returns the first number of p if it is a whole number of 64 bits.
func (e encoding) whole(p []byte) (int64, bool) {
	if e.float {
		x := e.real(p)
		return int64(x), x == math.Trunc(x) && x >= -1<<63 && x < 1<<63
	}
	u := e.bits(p)
	if e.signed {
		return e.extend(u), true
	}
	return int64(u), u <= math.MaxInt64
}

// literal returns the first number of p in decimal notation.
func (e encoding) literal(p []byte) string {
	if x, ok := e.whole(p); ok {
		return strconv.FormatInt(x, 10)
	}
	if e.float {
		return strconv.FormatFloat(e.real(p), 'g', -1, 8*e.size)
	}
	return strconv.FormatUint(e.bits(p), 10)
}

// badValue says what is wrong with one value of an array.
type badValue struct {
	index   int // in storage order
	problem string
}

func (e *badValue) Error() string { return e.problem }

// A converter fills dst with the first numbers of src. Errors count places from at on.
type converter[T any] func(e encoding, dst []T, src []byte, at int)

func toFloat32(e encoding, dst []float32, src []byte, at int) {
	for i := range dst {
		x := e.real(src[i*e.size:])
		dst[i] = float32(x)
		if math.IsInf(float64(dst[i]), 0) && !math.IsInf(x, 0) {
			panic(failure{&badValue{at + i, fmt.Sprintf("is %g, beyond the largest single-precision number; scale the values down", x)}})
		}
	}
}

func toInt64(e encoding, dst []int64, src []byte, at int) {
	for i := range dst {
		var ok bool
		if dst[i], ok = e.whole(src[i*e.size:]); !ok {
			panic(failure{&badValue{at + i, "is " + e.literal(src[i*e.size:]) + " where a whole number of 64 bits is needed; round it, or name another array"}})
		}
	}
}

func toString(e encoding, dst []string, src []byte, _ int) {
	for i := range dst {
		dst[i] = e.literal(src[i*e.size:])
	}
}

func toUTF16(e encoding, dst []uint16, src []byte, _ int) {
	for i := range dst {
		dst[i] = uint16(e.bits(src[i*e.size:]))
	}
}

// dense is a row of numbers as the file stores them.
type dense struct {
	encoding
	n      int   // how many numbers
	stored int64 // bytes of the file that hold them, perhaps compressed
	// each calls do with runs of numbers, none of them cut, and the index of the
	// first. It passes on each number once.
	each func(do func(at int, run []byte))
}

// held returns the numbers of p.
func held(p []byte, e encoding) dense {
	return dense{e, len(p) / e.size, int64(len(p)), func(do func(int, []byte)) { do(0, p) }}
}

// stream calls do for runs of the next n numbers of r.
func stream(r io.Reader, e encoding, n int, do func(at int, run []byte)) {
	buf := make([]byte, min(64<<10, n*e.size))
	for at := 0; at < n; {
		run := buf[:min(len(buf), (n-at)*e.size)]
		if _, err := io.ReadFull(r, run); err != nil {
			damaged("ends after %d of %s (%w)", at, words.Count(n, "value"), err)
		}
		do(at, run)
		at += len(run) / e.size
	}
}

// convert returns the first d.n numbers of d.
func convert[T any](d dense, conv converter[T]) []T {
	if d.n == 0 {
		return []T{}
	}
	out := make([]T, 0, min(int64(d.n), usualRatio*d.stored))
	d.each(func(at int, run []byte) {
		if at >= d.n {
			return // a sparse matrix may have room for more
		}
		end := min(at+len(run)/d.size, d.n)
		if end > cap(out) {
			out = slices.Grow(out, min(max(2*cap(out), end), d.n)-len(out))
		}
		out = out[:max(end, len(out))]
		conv(d.encoding, out[at:end], run, at)
	})
	return out
}

// values returns the numbers of v column after column; zero stands for those
// that a sparse matrix leaves out.
func values[T any](v *value, zero T, conv converter[T]) []T {
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
		v.data.each(func(at int, run []byte) {
			for k := at; k < min(at+len(run)/v.data.size, len(places)); k++ {
				p := places[k]
				conv(v.data.encoding, out[p:p+1], run[(k-at)*v.data.size:], p)
			}
		})
	}
	return out
}

// turned returns the numbers of the matrix v row after row.
func (v *value) turned(info array.Info) []float32 {
	if v.class != numbers || v.complex || v.index != nil || v.data.n == 0 || int64(v.data.n) > usualRatio*v.data.stored {
		// A header's word alone is not enough to take the memory at once.
		vals := values(v, 0, toFloat32)
		out := make([]float32, len(vals))
		info.Turn(out, 0, vals)
		return out
	}
	out, buf := make([]float32, v.data.n), make([]float32, min(turnBlock, v.data.n))
	v.data.each(func(at int, run []byte) {
		for part := range slices.Chunk(run, turnBlock*v.data.size) {
			vals := buf[:len(part)/v.data.size]
			toFloat32(v.data.encoding, vals, part, at)
			info.Turn(out, at, vals)
			at += len(vals)
		}
	})
	return out
}

// places returns where in storage order each stored value of the sparse matrix
// v belongs.
func (v *value) places() []int {
	starts, stored := convert(v.index.starts, toInt64), int64(min(v.index.rows.n, v.data.n))
	if len(starts) != v.dims[1]+1 || starts[0] != 0 || !slices.IsSorted(starts) || starts[v.dims[1]] > stored {
		damaged("is a sparse matrix with %d stored values whose columns do not start in ascending order between 0 and that", stored)
	}
	ir := v.index.rows
	ir.n = int(starts[v.dims[1]])
	rows := convert(ir, toInt64)
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
		return values(v, "0", toString)
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
