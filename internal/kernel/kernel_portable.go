//go:build (!amd64 && !(js && wasm && simd128)) || purego || noasm

package kernel

func native() []*Kernel { return nil }

func (k *Kernel) tile(s Sum, dims int, a, b, c []float32, add bool) {
	tilePortable(s, dims, a, b, c, add)
}

func (k *Kernel) above(c, rows, columns []float32, byRow, byColumn []uint32) bool {
	return abovePortable(c, rows, columns, byRow, byColumn)
}

func (k *Kernel) against(s Sum, q, data []float32, index []int32, dst []float32) {
	againstPortable(s, q, data, index, dst)
}

func (k *Kernel) pack(dst, data []float32, dims int, index []int32, width int) {
	packPortable(dst, data, dims, index, width)
}

func (k *Kernel) standardise(to, row, high, low, inverse []float32) {
	standardisePortable(to, row, high, low, inverse)
}

func (k *Kernel) affine(to, x, slope, at []float32) (squares, along float32) {
	return affinePortable(to, x, slope, at)
}

func (k *Kernel) fetch([]float32, int, []int32) {}
