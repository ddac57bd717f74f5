package single

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Products are those of the definition, whatever is turned.
func TestMultiply(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	fill := func(rows, columns int) *Matrix {
		m := New(rows, columns)
		for i := range m.Data {
			m.Data[i] = float32(random.NormFloat64())
		}
		return m
	}
	at := func(p Factor, i, d int) float64 {
		if p.turned {
			return float64(p.of.Row(d)[i])
		}
		return float64(p.of.Row(i)[d])
	}
	var w Multiplier
	for _, size := range [][3]int{{1, 1, 1}, {7, 33, 5}, {13, 64, 70}, {25, 31, 2}} {
		n, m, dims := size[0], size[1], size[2]
		for turned := range 4 {
			a, b := Rows(fill(n, dims)), Rows(fill(m, dims))
			if turned&1 > 0 {
				a = Columns(fill(dims, n))
			}
			if turned&2 > 0 {
				b = Columns(fill(dims, m))
			}
			c := w.Multiply(nil, a, b)
			for i := range n {
				for j := range m {
					want := 0.0
					for d := range dims {
						want += at(a, i, d) * at(b, j, d)
					}
					if math.Abs(float64(c.Row(i)[j])-want) > 1e-4 {
						t.Fatalf("%v, turned %d: product %d, %d is %v, want %v", size, turned, i, j, c.Row(i)[j], want)
					}
				}
			}
		}
	}
}
