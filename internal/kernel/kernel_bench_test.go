package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/internal/kernel"
)

// each runs a benchmark for every kernel, sum and number of dimensions. The
// rate counts two operations per dimension of a pair whatever the sum, so that
// sums compare.
func each(b *testing.B, sums []kernel.Sum, run func(b *testing.B, k *kernel.Kernel, s kernel.Sum, dims int) (pairs int)) {
	for _, k := range kernel.Available() {
		for _, s := range sums {
			for _, dims := range []int{128, 256, 1024} {
				b.Run(fmt.Sprintf("%s/%s/%d", k.Name, sumNames[s], dims), func(b *testing.B) {
					b.ReportAllocs()
					pairs := run(b, k, s, dims)
					b.ReportMetric(2*float64(pairs)*float64(dims)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
				})
			}
		}
	}
}

// Eight panels of one side with eight of the other, as a search would.
func BenchmarkTile(b *testing.B) {
	each(b, allSums, func(b *testing.B, k *kernel.Kernel, s kernel.Sum, dims int) int {
		const panels = 8
		rng := rand.New(rand.NewPCG(1, 2))
		a, c := random(rng, panels*dims*k.Rows), make([]float32, k.Rows*k.Columns)
		columns := random(rng, panels*dims*k.Columns)
		for b.Loop() {
			for i := range panels {
				for j := range panels {
					k.Tile(s, dims, a[i*dims*k.Rows:], columns[j*dims*k.Columns:], c, false)
				}
			}
		}
		return panels * panels * len(c)
	})
}

// The same with bars that hardly any pair reaches: compare with BenchmarkTile.
func BenchmarkTileAbove(b *testing.B) {
	each(b, []kernel.Sum{kernel.Dot}, func(b *testing.B, k *kernel.Kernel, s kernel.Sum, dims int) int {
		const panels = 8
		rng := rand.New(rand.NewPCG(1, 2))
		a, c := random(rng, panels*dims*k.Rows), make([]float32, k.Rows*k.Columns)
		columns := random(rng, panels*dims*k.Columns)
		bars := make([]float32, k.Columns)
		for i := range bars {
			bars[i] = float32(dims) * float32(dims)
		}
		byRow, byColumn := make([]uint32, k.Rows), make([]uint32, k.Rows)
		for b.Loop() {
			for i := range panels {
				for j := range panels {
					k.Tile(s, dims, a[i*dims*k.Rows:], columns[j*dims*k.Columns:], c, false)
					if k.Above(c, bars, bars, byRow, byColumn) {
						b.Fatal("a bar was reached")
					}
				}
			}
		}
		return panels * panels * len(c)
	})
}

// Lists of 64 random rows: of few rows, which stay in the cache, and of 64 MiB.
func BenchmarkAgainst(b *testing.B) {
	for name, values := range map[string]int{"cached": 1 << 17, "memory": 1 << 24} {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			data := random(rng, values)
			each(b, []kernel.Sum{kernel.Dot, kernel.Square}, func(b *testing.B, k *kernel.Kernel, s kernel.Sum, dims int) int {
				const list = 64
				index, dst := make([]int32, 1<<16), make([]float32, list)
				for t := range index {
					index[t] = rng.Int32N(int32(values / dims))
				}
				at := 0
				b.SetBytes(int64(4 * list * dims))
				for b.Loop() {
					k.Against(s, data[:dims], data, index[at:][:list], dst)
					at = (at + list) % len(index)
				}
				return list
			})
		})
	}
}

func BenchmarkPack(b *testing.B) {
	for _, k := range kernel.Available() {
		for _, width := range []int{k.Rows, k.Columns} {
			b.Run(fmt.Sprintf("%s/%d", k.Name, width), func(b *testing.B) {
				const rows, dims = 384, 256
				data := random(rand.New(rand.NewPCG(1, 2)), rows*dims)
				index := make([]int32, rows)
				for t := range index {
					index[t] = int32(t)
				}
				dst := make([]float32, kernel.Panels(rows, width)*width*dims)
				b.SetBytes(4 * rows * dims)
				b.ReportAllocs()
				for b.Loop() {
					k.Pack(dst, data, dims, index, width)
				}
			})
		}
	}
}

// What is made of a row before it is compared.
func BenchmarkLines(b *testing.B) {
	for _, k := range kernel.Available() {
		b.Run(k.Name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			const dims = 128
			row, slope, at := random(rng, dims), random(rng, dims), random(rng, dims)
			t, to := make([]float32, dims), make([]float32, dims)
			b.ReportAllocs()
			for b.Loop() {
				k.Standardise(t, row, at, at, slope)
				k.Affine(to, t, slope, at)
			}
		})
	}
}
