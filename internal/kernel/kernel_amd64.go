//go:build amd64 && !purego && !noasm

package kernel

import "golang.org/x/sys/cpu"

// The names of the assembly.
const (
	avx512 = "avx512"
	avx2   = "avx2"
)

func native() []*Kernel {
	var kernels []*Kernel
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return nil
	}
	if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2 {
		kernels = append(kernels, &Kernel{Name: avx512, Rows: 12, Columns: 32})
	}
	return append(kernels, &Kernel{Name: avx2, Rows: 6, Columns: 16})
}

// The methods below choose with a switch rather than call through a field of
// Kernel, because then slices of the caller need not move to the heap.

func (k *Kernel) tile(s Sum, dims int, a, b, c []float32, add bool) {
	switch k.Name {
	case avx512:
		tileAVX512(int(s), dims, &a[0], &b[0], &c[0], add)
	case avx2:
		tileAVX2(int(s), dims, &a[0], &b[0], &c[0], add)
	default:
		tilePortable(s, dims, a, b, c, add)
	}
}

func (k *Kernel) above(c, rows, columns []float32, byRow, byColumn []uint32) bool {
	switch k.Name {
	case avx512:
		return aboveAVX512(&c[0], &rows[0], &columns[0], &byRow[0], &byColumn[0])
	case avx2:
		return aboveAVX2(&c[0], &rows[0], &columns[0], &byRow[0], &byColumn[0])
	default:
		return abovePortable(c, rows, columns, byRow, byColumn)
	}
}

// fetchBytes is how far ahead of the sums rows are fetched into the cache.
const fetchBytes = 8192

func (k *Kernel) against(s Sum, q, data []float32, index []int32, dst []float32) {
	ahead := max(1, fetchBytes/(4*len(q)))
	switch k.Name {
	case avx512:
		againstAVX512(int(s), len(q), &q[0], &data[0], &index[0], len(index), ahead, &dst[0])
	case avx2:
		againstAVX2(int(s), len(q), &q[0], &data[0], &index[0], len(index), ahead, &dst[0])
	default:
		againstPortable(s, q, data, index, dst)
	}
}

func (k *Kernel) fetch(data []float32, dims int, index []int32) {
	if k.Name != portable {
		fetchAMD64(&data[0], dims, &index[0], len(index))
	}
}

func (k *Kernel) standardise(to, row, high, low, inverse []float32) {
	switch k.Name {
	case avx512:
		standardiseAVX512(&to[0], &row[0], &high[0], &low[0], &inverse[0], len(row))
	case avx2:
		standardiseAVX2(&to[0], &row[0], &high[0], &low[0], &inverse[0], len(row))
	default:
		standardisePortable(to, row, high, low, inverse)
	}
}

func (k *Kernel) affine(to, x, slope, at []float32) (squares, along float32) {
	var sums [2]float32
	switch k.Name {
	case avx512:
		affineAVX512(&to[0], &x[0], &slope[0], &at[0], len(x), &sums[0])
	case avx2:
		affineAVX2(&to[0], &x[0], &slope[0], &at[0], len(x), &sums[0])
	default:
		return affinePortable(to, x, slope, at)
	}
	return sums[0], sums[1]
}

// pack writes one panel. Whole panels go in blocks of four rows; the last block
// begins where it ends with the panel, and so may write some rows again.
func (k *Kernel) pack(dst, data []float32, dims int, index []int32, width int) {
	const rows, columns = 4, 8
	if k.Name == portable || len(index) < width || width < rows || dims < columns {
		packPortable(dst, data, dims, index, width)
		return
	}
	whole := dims / columns * columns
	for i := 0; i < width; i += rows {
		i = min(i, width-rows)
		var row [rows][]float32
		for t := range row {
			row[t] = data[int(index[i+t])*dims:][:dims]
		}
		packAVX2(&dst[i], width, &row[0][0], &row[1][0], &row[2][0], &row[3][0], whole/columns)
		for d := whole; d < dims; d++ {
			to := dst[d*width+i:][:rows]
			to[0], to[1], to[2], to[3] = row[0][d], row[1][d], row[2][d], row[3][d]
		}
	}
}
