// Package array is what the readers of files have in common: the interface File, the
// conversion of values, and the error for damaged files.
//
// A File says what it holds and reads one array at a time. So an array that nobody
// asks for is never read, and a large one is never held twice.
package array

// Kind says how a file stores the values of an array.
type Kind int

const (
	// Float is any floating-point type.
	Float Kind = iota
	// Int is any integer or logical type.
	Int
	// Text is a list of strings, or characters.
	Text
)

// String returns "float", "int" or "text".
func (k Kind) String() string {
	switch k {
	case Float:
		return "float"
	case Int:
		return "int"
	default:
		return "text"
	}
}

// Info describes one array of a file without reading its values.
type Info struct {
	// Name is the array's own name, or "name{k}" for the k-th cell (counted
	// from 1) of a MATLAB cell array. It is empty where the format has no names.
	Name string
	// Group is the name of the cell array that the array belongs to, or empty.
	Group string
	// Shape is the length of each side as the file gives it; empty for a scalar.
	Shape []int
	// Kind is how the values are stored.
	Kind Kind
	// ColumnMajor says that Float32, Int64 and Text return the values column
	// after column, as MATLAB and Fortran store them, and not row after row.
	ColumnMajor bool
}

// Len returns the number of values of the array.
func (i Info) Len() int {
	n := 1
	for _, s := range i.Shape {
		n *= s
	}
	return n
}

// Turn puts some values of a matrix to their places in dst, which holds the matrix in
// the other order: row after row if it is ColumnMajor, else column after column. The
// values stand from position at on in storage order.
func (i Info) Turn(dst []float32, at int, vals []float32) {
	lines, length := i.Shape[0], i.Shape[1] // as they are stored
	if i.ColumnMajor {
		lines, length = length, lines
	}
	for len(vals) > 0 {
		line, k := at/length, at%length
		run := vals[:min(len(vals), length-k)]
		to := k*lines + line
		for _, x := range run {
			dst[to] = x
			to += lines
		}
		at += len(run)
		vals = vals[len(run):]
	}
}

// File is a file of arrays. Its methods are not safe for concurrent use.
type File interface {
	// Arrays lists what the file holds, in the file's order.
	Arrays() []Info
	// Float32 returns the values of array i in storage order. A finite value
	// that does not fit a float32 is an error that names its place.
	Float32(i int) ([]float32, error)
	// Turned returns the values of array i, a matrix, as Float32 does, but in the
	// other order. It holds them twice only where that cannot be avoided.
	Turned(i int) ([]float32, error)
	// Int64 returns the values of array i in storage order. A value that is not
	// a whole number is an error that names its place.
	Int64(i int) ([]int64, error)
	// Text returns the values of array i in storage order as strings: text as
	// it stands, whole numbers in decimal notation, others as strconv's 'g'.
	Text(i int) ([]string, error)
}
