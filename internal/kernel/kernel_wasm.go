//go:build js && wasm && simd128 && !purego && !noasm

package kernel

// simd128 is the name of the kernel in package wasm, whose values are those of the portable one
// to the last bit.
const simd128 = "simd128"

func native() []*Kernel {
	if ableSIMD() == 0 {
		return nil
	}
	return []*Kernel{{Name: simd128, Rows: 8, Columns: 32}}
}

//go:wasmimport kernel able
func ableSIMD() int32

//go:wasmimport kernel tile
//go:noescape
func tileSIMD(sum, dims int32, a, b, c *float32, add bool)

//go:wasmimport kernel above
//go:noescape
func aboveSIMD(c, rows, columns *float32, byRow, byColumn *uint32) int32

//go:wasmimport kernel against
//go:noescape
func againstSIMD(sum, dims int32, q, data *float32, index *int32, n int32, dst *float32)

//go:wasmimport kernel pack
//go:noescape
func packSIMD(dst *float32, width int32, data *float32, dims int32, index *int32, n int32)

func (k *Kernel) tile(s Sum, dims int, a, b, c []float32, add bool) {
	if k.Name == portable {
		tilePortable(s, dims, a, b, c, add)
		return
	}
	tileSIMD(int32(s), int32(dims), &a[0], &b[0], &c[0], add)
}

func (k *Kernel) above(c, rows, columns []float32, byRow, byColumn []uint32) bool {
	if k.Name == portable {
		return abovePortable(c, rows, columns, byRow, byColumn)
	}
	return aboveSIMD(&c[0], &rows[0], &columns[0], &byRow[0], &byColumn[0]) != 0
}

func (k *Kernel) against(s Sum, q, data []float32, index []int32, dst []float32) {
	if k.Name == portable {
		againstPortable(s, q, data, index, dst)
		return
	}
	againstSIMD(int32(s), int32(len(q)), &q[0], &data[0], &index[0], int32(len(index)), &dst[0])
}

func (k *Kernel) pack(dst, data []float32, dims int, index []int32, width int) {
	if k.Name == portable {
		packPortable(dst, data, dims, index, width)
		return
	}
	if len(index) < width {
		clear(dst)
	}
	packSIMD(&dst[0], int32(width), &data[0], int32(dims), &index[0], int32(len(index)))
}

func (k *Kernel) standardise(to, row, high, low, inverse []float32) {
	standardisePortable(to, row, high, low, inverse)
}

func (k *Kernel) affine(to, x, slope, at []float32) (squares, along float32) {
	return affinePortable(to, x, slope, at)
}

func (k *Kernel) fetch([]float32, int, []int32) {}
