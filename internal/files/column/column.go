// Package column makes arrays of tables that are stored column by column. The readers of
// Parquet and Arrow files hand over the rows of one column at a time.
//
// A column holds one value per row, or a list of them. Lists of numbers, all of
// one length but for those that are null, are the rows of a matrix: an embedding.
package column

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/words"
)

// Null is the length of a row that is null.
const Null = -1

// Info describes a column.
type Info struct {
	Name string
	// Kind is that of its values.
	Kind array.Kind
	// List says that a row is a list of values, and not a single one.
	List bool
	// Problem says why the values cannot be read, or is nil.
	Problem error
}

// AllNull is the error for a column of lists that is null in every row.
type AllNull struct{ Column string }

// Error returns one sentence.
func (e *AllNull) Error() string {
	return fmt.Sprintf("the column %s is null in every row; leave it out, or give at least two rows a list of numbers", words.Quote(e.Column))
}

// Chunk is some consecutive rows of a column. It is valid only during the call that
// hands it over.
type Chunk struct {
	// Lengths are the numbers of values of the rows, each at least 0, or Null. In a
	// column of single values they are 1, or Null.
	Lengths []int32
	// Starts says where the values of each row begin, or is nil where those of one
	// row follow those of the row before.
	Starts []int
	// More says that the first of the rows goes on where the chunk before ended,
	// and is not null.
	More bool
	// Values are a []float32, or a slice of another array.Number, or a []string.
	Values any
}

// Source is an open file of columns.
type Source interface {
	// Rows is the number of rows.
	Rows() int
	// Columns are the columns of the file.
	Columns() []Info
	// Scan calls take with the rows of column k, from the first to the last. It stops
	// where take returns an error, and returns that error unchanged. A null within a
	// list, and damage, are errors too.
	Scan(k int, take func(Chunk) error) error
	// Scratch estimates how many bytes Scan of column k holds at most at a time.
	Scratch(k int) (int64, error)
	// Notes are sentences about faults of the file that Scan has read past.
	Notes() []string
}

// Table is a file of columns as arrays. Its methods are not safe for concurrent
// use.
type Table struct {
	src     Source
	columns []Info
	rows    int
	// maxValues bounds the values of an array.
	maxValues int
	// dims has the lengths of the lists of columns, once they are known.
	dims map[int]int
	id   int // the column of identifiers, or -1
}

// A file may hold slack values, and inflation more for each of its bytes. A file that
// promises more is damaged, and nothing is allocated for it. No .npz file holds more
// either: 1032 is the most that deflate reaches.
const (
	inflation = 1032
	slack     = 1 << 20
)

// MaxValues is how many values a file of size bytes may hold.
func MaxValues(size int64) int {
	if size > (math.MaxInt-slack)/inflation {
		return math.MaxInt
	}
	return slack + inflation*int(size)
}

// New returns the columns of a file of size bytes. The column of identifiers is the
// first that is called id, in any case, or else __index_level_0__, as pandas calls
// the names of rows.
func New(src Source, size int64) (*Table, error) {
	t := &Table{src: src, columns: slices.Clone(src.Columns()), rows: src.Rows(), maxValues: MaxValues(size), dims: map[int]int{}, id: -1}
	if len(t.columns) == 0 {
		return nil, errors.New("holds no column; save a table with one column per view, or more")
	}
	if t.rows < 1 {
		return nil, errors.New("holds no row; write one row per sample")
	}
	if t.rows > t.maxValues {
		return nil, array.Damaged("it promises %d rows, which its %d bytes cannot hold", t.rows, size)
	}
	seen := make(map[string]bool, len(t.columns))
	for k, c := range t.columns {
		if c.List && c.Kind == array.Text && c.Problem == nil {
			t.columns[k].Problem = Unreadable("lists of text", "make them lists of numbers, or leave it out")
		}
		if seen[c.Name] {
			return nil, fmt.Errorf("has two columns with the name %s; rename one of them", words.Quote(c.Name))
		}
		seen[c.Name] = true
		if t.id < 0 && strings.EqualFold(c.Name, "id") && single(c) {
			t.id = k
		}
	}
	if t.id < 0 {
		t.id = slices.IndexFunc(t.columns, func(c Info) bool { return c.Name == "__index_level_0__" && single(c) })
	}
	return t, nil
}

// single reports whether a column has one readable value per row.
func single(c Info) bool { return !c.List && c.Problem == nil }

// Columns returns the names of all columns, in the order of the file.
func (t *Table) Columns() []string {
	names := make([]string, len(t.columns))
	for k, c := range t.columns {
		names[k] = c.Name
	}
	return names
}

// ID returns the name of the column of identifiers, or "" if there is none.
func (t *Table) ID() string {
	if t.id < 0 {
		return ""
	}
	return t.columns[t.id].Name
}

// Embeddings returns the names of the columns of lists of floating-point numbers.
func (t *Table) Embeddings() []string {
	var names []string
	for _, c := range t.columns {
		if c.List && c.Kind == array.Float && c.Problem == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// Notes are sentences about faults of the file that were read past.
func (t *Table) Notes() []string { return t.src.Notes() }

// matrix returns the columns of single numbers, without that of the identifiers and
// those that are excluded by name.
func (t *Table) matrix(exclude ...string) []int {
	var out []int
	for k, c := range t.columns {
		if single(c) && c.Kind != array.Text && k != t.id && !slices.Contains(exclude, c.Name) {
			out = append(out, k)
		}
	}
	return out
}

// Arrays lists the matrix of the single numbers without a name, as Matrix returns
// it, if there are any, and then each column. The second side of a column of lists
// is 0 as long as Dims has not been asked for it.
func (t *Table) Arrays() []array.Info {
	var infos []array.Info
	if m := t.matrix(); len(m) > 0 {
		infos = append(infos, array.Info{Shape: []int{t.rows, len(m)}})
	}
	for k, c := range t.columns {
		info := array.Info{Name: c.Name, Shape: []int{t.rows}, Kind: c.Kind}
		if c.List {
			info.Shape = append(info.Shape, t.dims[k])
		}
		infos = append(infos, info)
	}
	return infos
}

// column returns the column that array i is, or -1 for the matrix.
func (t *Table) column(i int) int {
	if len(t.matrix()) > 0 {
		i--
	}
	return i
}

// Array returns the place among the arrays of the column with a name, or -1.
func (t *Table) Array(name string) int {
	k := slices.Index(t.Columns(), name)
	if k >= 0 && len(t.matrix()) > 0 {
		k++
	}
	return k
}

// Dims returns the length of the lists of array i, a column. It reads the first list.
// Whether all others are as long is checked when the values are read.
func (t *Table) Dims(i int) (int, error) {
	k := t.column(i)
	if !t.columns[k].List {
		return 0, fmt.Errorf("the column %s has a single number or text per row, not a list of numbers; leave out its name to have all columns of single numbers as one view", words.Quote(t.columns[k].Name))
	}
	if t.dims[k] == 0 {
		dims, err := t.firstList(k)
		if err != nil {
			return 0, err
		}
		if dims > t.maxValues/t.rows {
			return 0, fmt.Errorf("the column %s has %d rows of %d values, which is more than a file of this size can hold; check where it came from", words.Quote(t.columns[k].Name), t.rows, dims)
		}
		t.dims[k] = dims
	}
	return t.dims[k], nil
}

// firstList returns the length of the first list of column k that is not null.
func (t *Table) firstList(k int) (int, error) {
	enough := errors.New("enough")
	row, dims := -1, Null
	err := t.scan(k, func(c Chunk) error {
		for i, n := range c.Lengths {
			goesOn := i == 0 && c.More
			if !goesOn {
				if dims != Null {
					return enough
				}
				row++
			}
			switch {
			case n == Null:
			case goesOn:
				dims += int(n)
			default:
				dims = int(n)
			}
		}
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, enough):
		return 0, err
	case dims == Null:
		return 0, &AllNull{t.columns[k].Name}
	case dims == 0:
		return 0, t.emptyList(k, row)
	}
	return dims, nil
}

func (t *Table) emptyList(k, row int) error {
	return t.at(k, row, "has an empty list; write null where the view is missing")
}

// at says what is wrong with a row.
func (t *Table) at(k, row int, format string, a ...any) error {
	return fmt.Errorf("row %d (counted from 0) of the column %s %s", row, words.Quote(t.columns[k].Name), fmt.Sprintf(format, a...))
}

// scan is Scan of a column whose values can be read.
func (t *Table) scan(k int, take func(Chunk) error) error {
	c := t.columns[k]
	err := c.Problem
	if err == nil {
		err = t.src.Scan(k, take)
	} else {
		err = fmt.Errorf("the column %s %w", words.Quote(c.Name), err)
	}
	return err
}

// Scratch estimates how many bytes reading array i holds at most, beside its values.
func (t *Table) Scratch(i int) (int64, error) {
	columns := []int{t.column(i)}
	if columns[0] < 0 {
		columns = t.matrix()
	}
	var largest int64
	for _, k := range columns {
		n, err := t.src.Scratch(k)
		if err != nil {
			return 0, err
		}
		largest = max(largest, n)
	}
	return largest, nil
}

// Matrix returns the single numbers of the table row after row, and the number of
// columns. Columns of text and of lists, that of the identifiers and those that are
// excluded by name are left out. Null is NaN.
func (t *Table) Matrix(exclude ...string) (data []float32, cols int, err error) {
	columns := t.matrix(exclude...)
	if len(columns) == 0 {
		return nil, 0, errors.New("no column of single numbers is left; exclude fewer columns")
	}
	if len(columns) > t.maxValues/t.rows {
		return nil, 0, fmt.Errorf("has %d rows of %d columns, which is more than a file of this size can hold; check where it came from", t.rows, len(columns))
	}
	data = make([]float32, t.rows*len(columns))
	for i, k := range columns {
		r := &rows[float32]{t: t, column: k, dst: data[i:], dims: 1, stride: len(columns)}
		if err := r.read(); err != nil {
			return nil, 0, err
		}
	}
	return data, len(columns), nil
}

// Float32 returns the values of array i row after row, NaN where a row is null.
func (t *Table) Float32(i int) ([]float32, error) {
	k := t.column(i)
	if k < 0 {
		data, _, err := t.Matrix()
		return data, err
	}
	return values[float32](t, k)
}

// Turned returns the values of array i column after column.
func (t *Table) Turned(i int) ([]float32, error) {
	vals, err := t.Float32(i)
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(vals))
	array.Info{Shape: []int{t.rows, len(vals) / t.rows}}.Turn(out, 0, vals)
	return out, nil
}

// Int64 returns the values of array i row after row, of which none may be null.
func (t *Table) Int64(i int) ([]int64, error) {
	if k := t.column(i); k >= 0 {
		return values[int64](t, k)
	}
	columns := t.matrix()
	data := make([]int64, t.rows*len(columns))
	for i, k := range columns {
		r := &rows[int64]{t: t, column: k, dst: data[i:], dims: 1, stride: len(columns)}
		if err := r.read(); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Text returns the values of array i, a column of single values. Null and NaN are
// "".
func (t *Table) Text(i int) ([]string, error) {
	k := t.column(i)
	if k < 0 || t.columns[k].List {
		return nil, fmt.Errorf("the column %s holds lists; name one of single values", words.Quote(t.Columns()[max(k, 0)]))
	}
	out, err := values[string](t, k)
	for i, s := range out {
		if s == "NaN" && t.columns[k].Kind == array.Float {
			out[i] = ""
		}
	}
	return out, err
}

// values returns the values of column k row after row.
func values[U float32 | int64 | string](t *Table, k int) ([]U, error) {
	r := &rows[U]{t: t, column: k, dims: 1}
	if t.columns[k].List {
		var err error
		if r.dims, err = t.Dims(t.Array(t.columns[k].Name)); err != nil {
			return nil, err
		}
	}
	r.stride = r.dims
	r.dst = make([]U, t.rows*r.dims)
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.dst, nil
}

// rows puts the rows of a column to their places.
type rows[U float32 | int64 | string] struct {
	t      *Table
	column int
	// dst takes dims values for each row, stride apart.
	dst          []U
	dims, stride int
	// row is the row at hand, counted from 1; filled is how many values it has so far.
	row, filled int
	buf         []U
}

// read reads the whole column.
func (r *rows[U]) read() error {
	r.filled = r.dims
	err := r.t.scan(r.column, r.take)
	if err == nil {
		err = r.complete()
	}
	if err == nil && r.row != r.t.rows {
		err = fmt.Errorf("the column %s ends after %d rows of %d: the file is damaged; copy it again from where it came", words.Quote(r.t.columns[r.column].Name), r.row, r.t.rows)
	}
	return err
}

func (r *rows[U]) take(c Chunk) error {
	switch v := c.Values.(type) {
	case []float32:
		return numbers(r, c, v)
	case []float64:
		return numbers(r, c, v)
	case []int8:
		return numbers(r, c, v)
	case []int16:
		return numbers(r, c, v)
	case []int32:
		return numbers(r, c, v)
	case []int64:
		return numbers(r, c, v)
	case []uint8:
		return numbers(r, c, v)
	case []uint16:
		return numbers(r, c, v)
	case []uint32:
		return numbers(r, c, v)
	case []uint64:
		return numbers(r, c, v)
	case []string:
		return put(r, c, v, func(dst []U, src []string) error {
			out, ok := any(dst).([]string)
			if !ok {
				return &array.ValueError{Problem: "is text where a number is wanted; choose another column"}
			}
			copy(out, src)
			return nil
		})
	}
	return fmt.Errorf("values of type %T cannot be read", c.Values)
}

func numbers[U float32 | int64 | string, T array.Number](r *rows[U], c Chunk, vals []T) error {
	return put(r, c, vals, array.Convert[U, T])
}

// put takes the rows of a chunk. Rows that are whole, not null and stored one after
// another are converted at once.
func put[U float32 | int64 | string, T any](r *rows[U], c Chunk, vals []T, convert func([]U, []T) error) error {
	from := 0
	for i := 0; i < len(c.Lengths); i++ {
		if i > 0 || !c.More {
			if err := r.next(); err != nil {
				return err
			}
		}
		n := int(c.Lengths[i])
		if n == Null {
			if err := r.null(); err != nil {
				return err
			}
			continue
		}
		if n == 0 && r.filled == 0 {
			return r.t.emptyList(r.column, r.row-1)
		}
		if r.filled+n > r.dims {
			return r.unequal(r.filled + n)
		}
		if c.Starts != nil {
			from = c.Starts[i]
		}
		more := 0 // whole rows that follow
		for n == r.dims && i+more+1 < len(c.Lengths) && int(c.Lengths[i+more+1]) == n && r.row+more < r.t.rows &&
			(c.Starts == nil || c.Starts[i+more+1] == from+n*(more+1)) {
			more++
		}
		size := n * (1 + more)
		if from < 0 || from+size > len(vals) {
			return fmt.Errorf("the column %s is damaged: its lists go beyond its values; copy the file again from where it came", words.Quote(r.t.columns[r.column].Name))
		}
		err := r.store(func(dst []U) error { return convert(dst, vals[from:from+size]) }, size)
		if bad, ok := errors.AsType[*array.ValueError](err); ok {
			return r.t.at(r.column, r.row-1+(r.filled+bad.At)/r.dims, "%s", strings.ReplaceAll(bad.Problem, "array", "column"))
		}
		if err != nil {
			return err
		}
		r.filled += n
		r.row += more
		i += more
		from += size
	}
	return nil
}

// store converts size values into their places, from the row at hand on.
func (r *rows[U]) store(convert func(dst []U) error, size int) error {
	at := (r.row-1)*r.stride + r.filled
	if r.stride == r.dims {
		return convert(r.dst[at : at+size])
	}
	r.buf = slices.Grow(r.buf[:0], size)[:size]
	if err := convert(r.buf); err != nil {
		return err
	}
	for _, x := range r.buf { // single numbers, or their column is a matrix by itself
		r.dst[at] = x
		at += r.stride
	}
	return nil
}

// next goes on to the next row.
func (r *rows[U]) next() error {
	if err := r.complete(); err != nil {
		return err
	}
	if r.row == r.t.rows {
		return fmt.Errorf("the column %s goes on after the %d rows of the file, which is damaged; copy it again from where it came", words.Quote(r.t.columns[r.column].Name), r.row)
	}
	r.row++
	r.filled = 0
	return nil
}

// complete checks that the row at hand has all its values.
func (r *rows[U]) complete() error {
	if r.filled == r.dims {
		return nil
	}
	return r.unequal(r.filled)
}

func (r *rows[U]) unequal(n int) error {
	return r.t.at(r.column, r.row-1, "has %d values, and the first list of the column has %d; give lists of one length, or name the columns that are views by FILE:NAME", n, r.dims)
}

// null makes the row at hand a missing one: NaN throughout, or empty text.
func (r *rows[U]) null() error {
	at := (r.row - 1) * r.stride
	switch out := any(r.dst[at : at+r.dims]).(type) {
	case []float32:
		for i := range out {
			out[i] = float32(math.NaN())
		}
	case []int64:
		return r.t.at(r.column, r.row-1, "is null where a whole number is wanted; give every row one")
	}
	r.filled = r.dims
	return nil
}

// Numbers returns the first n numbers of b, without copying them. They must be aligned in
// b, with the lowest byte first.
func Numbers[T array.Number](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	out := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		size := int(unsafe.Sizeof(out[0]))
		for b = b[:n*size]; len(b) > 0; b = b[size:] {
			slices.Reverse(b[:size])
		}
	}
	return out
}

// Unreadable is the error for a column of a kind that cannot be read, and its remedy.
func Unreadable(kind, remedy string) error {
	return fmt.Errorf("holds %s, which cannot be read; %s", kind, cmp.Or(remedy, "cast it to numbers or text, or leave it out"))
}
