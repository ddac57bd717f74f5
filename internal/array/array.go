// Package array is the common language of the file readers: it says what a
// file holds and hands over one array at a time, so that a large file is never
// held twice and an array that nobody asked for is never read.
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

// File is an open file of arrays. Its methods are not safe for concurrent use.
type File interface {
	// Arrays lists what the file holds, in the file's order.
	Arrays() []Info
	// Float32 returns the values of array i in storage order. A finite value
	// that does not fit a float32 is an error that names its place.
	Float32(i int) ([]float32, error)
	// Int64 returns the values of array i in storage order. A value that is not
	// a whole number is an error that names its place.
	Int64(i int) ([]int64, error)
	// Text returns the values of array i in storage order as strings: text as
	// it stands, whole numbers in decimal notation, others as strconv's 'g'.
	Text(i int) ([]string, error)
	// Close releases the file.
	Close() error
}
