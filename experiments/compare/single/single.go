// Package single multiplies matrices in single precision, by the kernels of the search for neighbours:
// several times as fast as gonum does in double precision.
package single

import (
	"context"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
)

// Matrix has its values row after row.
type Matrix struct {
	Rows, Columns int
	Data          []float32
}

// New returns a matrix of zeros.
func New(rows, columns int) *Matrix {
	return &Matrix{rows, columns, make([]float32, rows*columns)}
}

// Sized returns a matrix of that size, of any content, in the memory of m where that suffices; m may
// be nil.
func (m *Matrix) Sized(rows, columns int) *Matrix {
	if m == nil || cap(m.Data) < rows*columns {
		return New(rows, columns)
	}
	return &Matrix{rows, columns, m.Data[:rows*columns]}
}

// Row returns a row.
func (m *Matrix) Row(i int) []float32 { return m.Data[i*m.Columns:][:m.Columns] }

// Factor is what stands on one side of a product: the rows of a matrix or its columns, each of as many
// values as the product sums over.
type Factor struct {
	of     *Matrix
	turned bool
}

// Rows makes a factor of the rows of m.
func Rows(m *Matrix) Factor { return Factor{m, false} }

// Columns makes a factor of the columns of m.
func Columns(m *Matrix) Factor { return Factor{m, true} }

// size returns the number of rows, and of values in each.
func (f Factor) size() (n, dims int) {
	if f.turned {
		return f.of.Columns, f.of.Rows
	}
	return f.of.Rows, f.of.Columns
}

// pack writes the rows from at on into dst as one panel of that width.
func (f Factor) pack(k *kernel.Kernel, dst []float32, at, width int) {
	n, dims := f.size()
	count := min(width, n-at)
	if !f.turned {
		var index [64]int32
		for i := range count {
			index[i] = int32(at + i)
		}
		k.Pack(dst, f.of.Data, dims, index[:count], width)
		return
	}
	for d := range dims {
		to := dst[d*width:][:width]
		clear(to[copy(to, f.of.Row(d)[at:at+count]):])
	}
}

// Multiplier multiplies matrices, one pair at a time; the zero value is ready for use.
type Multiplier struct {
	left  []float32
	right [][]float32 // by worker
}

// Multiply writes the products of every part of a with every part of b into c, a row for each of a, and
// returns it. It is in the memory of c where that suffices; c may be nil.
func (w *Multiplier) Multiply(c *Matrix, a, b Factor) *Matrix {
	k := kernel.Best()
	n, dims := a.size()
	m, _ := b.size()
	c = c.Sized(n, m)
	high := k.Rows * dims
	left := room(&w.left, kernel.Panels(n, k.Rows)*high)
	for i := 0; i < n; i += k.Rows {
		a.pack(k, left[i*dims:][:high], i, k.Rows)
	}
	if w.right == nil {
		w.right = make([][]float32, parallel.Threads(0))
	}
	Spread(kernel.Panels(m, k.Columns), 1, func(worker, lo, hi int) {
		right, tile := room(&w.right[worker], dims*k.Columns), make([]float32, k.Rows*k.Columns)
		for j := lo * k.Columns; j < min(hi*k.Columns, m); j += k.Columns {
			b.pack(k, right, j, k.Columns)
			for i := 0; i < n; i += k.Rows {
				k.Tile(kernel.Dot, dims, left[i*dims:], right, tile, false)
				for r := range min(k.Rows, n-i) {
					copy(c.Row(i + r)[j:min(j+k.Columns, m)], tile[r*k.Columns:])
				}
			}
		}
	})
	return c
}

// room returns n values, of any content, in the memory of s where that suffices, else in new memory
// that s is then.
func room(s *[]float32, n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	return (*s)[:n]
}

// Spread calls do for ranges that cover [0, n), which may be worked on at once.
func Spread(n, block int, do func(worker, lo, hi int)) {
	_ = parallel.Blocks(context.Background(), 0, n, block, do) // its context does not end
}
