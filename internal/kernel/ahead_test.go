package kernel_test

import (
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/kernel"
)

// TestAhead changes nothing, whatever the lengths and sizes of values, at the ends of memory too.
func TestAhead(t *testing.T) {
	for n := range 100 {
		doubles, flags := make([]float64, n), make([]bool, n)
		for i := range n {
			doubles[i], flags[i] = float64(i), i%3 == 0
		}
		before, marks := slices.Clone(doubles), slices.Clone(flags)
		for from := range n {
			kernel.Ahead(doubles[from:])
			kernel.Ahead(flags[from:])
		}
		kernel.Ahead(doubles)
		kernel.Ahead([]struct{}{{}, {}})
		if !slices.Equal(doubles, before) || !slices.Equal(flags, marks) {
			t.Errorf("%d values have changed", n)
		}
	}
}

// BenchmarkAhead fetches the edges of a node: 64 numbers.
func BenchmarkAhead(b *testing.B) {
	edges := make([]int32, 1<<20)
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		kernel.Ahead(edges[at : at+64])
		at = (at + 16001) & (1<<20 - 64)
	}
}
