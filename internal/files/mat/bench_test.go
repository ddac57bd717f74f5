package mat

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"
)

// benchmarkValues reads the first array of the file that data holds.
func benchmarkValues(b *testing.B, data []byte, n int) {
	f := parse(b, data)
	b.SetBytes(int64(8 * n))
	b.ReportAllocs()
	for b.Loop() {
		if v, err := f.Float32(0); err != nil || len(v) != n {
			b.Fatal(len(v), err)
		}
	}
}

// A million doubles, about half of them zero.
func BenchmarkFloat32(b *testing.B) {
	const rows, cols = 1000, 1000
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, rows*cols)
	for i := range values {
		values[i] = max(0, rng.NormFloat64())
	}
	m := little.double("x", rows, cols, values...)
	b.Run("plain", func(b *testing.B) { benchmarkValues(b, little.file(m), len(values)) })
	b.Run("big-endian", func(b *testing.B) {
		benchmarkValues(b, big.file(big.double("x", rows, cols, values...)), len(values))
	})
	b.Run("deflated", func(b *testing.B) { benchmarkValues(b, little.file(little.deflated(m)), len(values)) })
	b.Run("cell", func(b *testing.B) {
		benchmarkValues(b, little.file(little.deflated(little.cell("c", []int{1, 1}, m))), len(values))
	})
}

// A sparse matrix of a million values, one in a hundred of them stored.
func BenchmarkSparse(b *testing.B) {
	const rows, cols = 1000, 1000
	var ir, jc, values []float64
	for c := range cols {
		jc = append(jc, float64(len(ir)))
		for r := c % 100; r < rows; r += 100 {
			ir, values = append(ir, float64(r)), append(values, float64(c))
		}
	}
	jc = append(jc, float64(len(ir)))
	benchmarkValues(b, little.file(little.sparse("s", 0, []int{rows, cols}, ir, jc, values)), rows*cols)
}

func BenchmarkOpen(b *testing.B) {
	v73, err := os.ReadFile("testdata/v73.mat")
	if err != nil {
		b.Fatal(err)
	}
	labels := make([][]byte, 10000)
	for i := range labels {
		labels[i] = little.char("", "label")
	}
	for name, data := range map[string][]byte{
		"v7.3":   v73,
		"labels": little.file(little.deflated(little.cell("names", []int{len(labels), 1}, labels...))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(bytes.NewReader(data), int64(len(data))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
