// Package kernel holds the inner loops of neighbour search: sums over the
// dimensions of two rows, for whole tiles of packed rows and for one row against
// a list of others.
//
// Tiles serve the search: every row of one packed panel with every row of another, each
// sum in one accumulator, dimension after dimension. One pass then compares a tile with
// the least similarity that is still of use to each row and column. Lists serve all else:
// one row with rows anywhere in memory, which are fetched ahead. Similarities are measured by
// lists.
//
// Assembly serves amd64 processors with AVX2 and FMA, or with AVX-512; a portable
// twin in Go serves all others, and every build with the tag purego or noasm. The
// two kinds of assembly give the same values to the last bit. The portable twin
// rounds after every multiplication, which the assembly does not, so its sums
// differ from theirs in the last bits: neighbours that tie may be ranked
// differently on different kinds of processor, but never from run to run or with
// the number of threads.
//
// Programs for browsers that are built with the tag simd128 import the loops of
// package wasm, which give the values of the portable twin to the last bit.
package kernel

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

//go:generate go -C _generate run . -out ../loops_amd64.s -stubs ../loops_amd64.go -pkg kernel
//go:generate go -C _generate run ./webassembly -out ../wasm/loops.wasm

// Sum is what is summed over the dimensions of two rows; higher always means
// more alike.
type Sum int

// The sums. Every kernel knows all four, in tiles and in rows.
const (
	Dot      Sum = iota // The sum of a*b.
	Absolute            // Minus the sum of |a-b|.
	Cube                // Minus the sum of |a-b|^3.
	Square              // Minus the sum of (a-b)^2.
)

// Kernel is the set of inner loops for one kind of processor. Its methods keep no
// state and may be called by any number of goroutines at a time. Lengths and
// indices that do not fit together are an error of the caller: the methods check
// them before anything is read, and panic.
type Kernel struct {
	Name    string // "avx512", "avx2", "simd128" or "go".
	Rows    int    // Rows of a tile, which is the width of the panels a.
	Columns int    // Columns of a tile, the width of the panels b; at most 32.
}

// portable is the name of the kernel that runs everywhere.
const portable = "go"

// Best returns the fastest kernel that this processor can run, or the one that
// the environment variable MVCLUST_KERNEL names ("go", "avx2", "avx512", "simd128"). Where that
// names none that can be run, Best returns the fastest, and Check an error.
func Best() *Kernel {
	available := Available()
	return available[max(0, named(available))]
}

// Check returns an error where MVCLUST_KERNEL names no kernel that can be run.
func Check() error {
	available := Available()
	if named(available) >= 0 {
		return nil
	}
	var names []string
	for _, k := range available {
		names = append(names, k.Name)
	}
	return fmt.Errorf("the environment variable MVCLUST_KERNEL is %q, which is no kernel that this build has for this processor; set it to %s, or unset it", os.Getenv("MVCLUST_KERNEL"), strings.Join(names, " or "))
}

// named returns the place of the kernel that MVCLUST_KERNEL names: the first where it is
// empty, -1 where there is none such.
func named(available []*Kernel) int {
	name := os.Getenv("MVCLUST_KERNEL")
	if name == "" {
		return 0
	}
	return slices.IndexFunc(available, func(k *Kernel) bool { return k.Name == name })
}

// Available returns every kernel that this processor can run, the fastest first;
// the last is the portable one.
func Available() []*Kernel {
	return append(native(), &Kernel{Name: portable, Rows: portableRows, Columns: portableColumns})
}

// Tile sets c, Rows x Columns values row after row, to the sums over dims
// dimensions of every row of panel a with every row of panel b; with add it
// continues the sums that c holds. Panels are dimension-major, a[k*Rows+i] and
// b[k*Columns+j], as Pack writes them, so that a part of the dimensions is a
// slice of a panel.
//
// Every sum runs over the dimensions in order in one accumulator. The value of a
// pair therefore depends neither on the place of its rows in their panels, nor on
// which of them is in a, nor on where the dimensions are split between calls.
func (k *Kernel) Tile(s Sum, dims int, a, b, c []float32, add bool) {
	checkSum(s)
	if dims < 1 || len(a)/k.Rows < dims || len(b)/k.Columns < dims || len(c) < k.Rows*k.Columns {
		panic("kernel: a tile needs a dimension at least, and panels and sums of its size")
	}
	k.tile(s, dims, a, b, c, add)
}

// Above finds the entries of a tile c that reach a bar: bit j of byRow[i] says
// that c[i*Columns+j] >= rows[i], and bit j of byColumn[i] that c[i*Columns+j] >=
// columns[j]. It sets the first Rows masks of both and reports whether any bit is
// set. A bar of +Inf is reached by no finite sum; NaN reaches no bar and is
// reached by none.
func (k *Kernel) Above(c, rows, columns []float32, byRow, byColumn []uint32) bool {
	if len(c) < k.Rows*k.Columns || len(rows) < k.Rows || len(columns) < k.Columns ||
		len(byRow) < k.Rows || len(byColumn) < k.Rows {
		panic("kernel: a tile needs a bar for every row and column, and two masks for every row")
	}
	return k.above(c, rows, columns, byRow, byColumn)
}

// Against sets dst[t], for every t of index, to the sum of the row q with row
// index[t] of data, in which rows of len(q) values follow one another. The
// dimensions are spread over several accumulators, always in the same way:
// exchanging the two rows, or asking in another order or company, gives the same
// value to the last bit. That value may differ in its last bits from the one that
// Tile gives. Rows that are still to come are fetched into the cache ahead of
// time, for lists that jump about in data.
func (k *Kernel) Against(s Sum, q, data []float32, index []int32, dst []float32) {
	checkSum(s)
	if len(index) == 0 {
		return
	}
	if len(q) == 0 || len(dst) < len(index) {
		panic("kernel: a row needs a dimension at least, and a sum for every index")
	}
	checkIndex(index, data, len(q))
	k.against(s, q, data, index, dst)
}

// Fetch brings the rows index[0], index[1]... of data, in which rows of dims values follow one another, into the
// cache, where the processor can be told to, and does not wait for them.
func (k *Kernel) Fetch(data []float32, dims int, index []int32) {
	if dims < 1 {
		panic("kernel: a row needs a dimension at least")
	}
	if len(index) == 0 {
		return
	}
	checkIndex(index, data, dims)
	k.fetch(data, dims, index)
}

// Standardise sets to[k] to row[k] - high[k] - low[k], times inverse[k]: high and low are a centre in
// twice the precision. Every kernel gives the same values to the last bit.
func (k *Kernel) Standardise(to, row, high, low, inverse []float32) {
	if n := len(row); n == 0 || len(to) < n || len(high) < n || len(low) < n || len(inverse) < n {
		panic("kernel: a row needs a dimension at least, and a centre and a scale for each")
	}
	k.standardise(to, row, high, low, inverse)
}

// Affine sets to[k] to slope[k] * u[k], where u[k] is slope[k] * x[k] + at[k], and returns the sums of
// u[k]^2 and of at[k] * u[k]. The dimensions are spread over several accumulators, always in the same way.
func (k *Kernel) Affine(to, x, slope, at []float32) (squares, along float32) {
	if n := len(x); n == 0 || len(to) < n || len(slope) < n || len(at) < n {
		panic("kernel: a row needs a dimension at least, and a line for each")
	}
	return k.affine(to, x, slope, at)
}

// Pack writes the rows index[0], index[1]... of data, in which rows of dims values
// follow one another, into panels of width rows each: value d of row index[t] goes
// to dst[(t/width*dims+d)*width+t%width]. The last panel is filled up with zeros,
// so dst holds Panels(len(index), width) * dims * width values.
func (k *Kernel) Pack(dst, data []float32, dims int, index []int32, width int) {
	if dims < 1 || width < 1 || len(dst)/dims/width < Panels(len(index), width) {
		panic("kernel: panels need a dimension and a row at least, and room for all rows")
	}
	checkIndex(index, data, dims)
	for len(index) > 0 {
		n := min(width, len(index))
		k.pack(dst[:dims*width], data, dims, index[:n], width)
		dst, index = dst[dims*width:], index[n:]
	}
}

// Panels returns how many panels of width rows hold n rows.
func Panels(n, width int) int {
	panels := n / width
	if n%width > 0 {
		panels++
	}
	return panels
}

func checkSum(s Sum) {
	if s < Dot || s > Square {
		panic("kernel: no such sum")
	}
}

// checkIndex panics unless data holds every row of index, so that no kernel reads
// beyond it. A negative index is a huge unsigned one.
func checkIndex(index []int32, data []float32, dims int) {
	if len(index) == 0 {
		return
	}
	top := uint32(0)
	for _, i := range index {
		top = max(top, uint32(i))
	}
	if uint64(top) >= uint64(len(data)/dims) {
		panic("kernel: an index points beyond the rows")
	}
}
