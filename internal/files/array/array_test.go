package array_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
)

func TestKind(t *testing.T) {
	for k, want := range map[array.Kind]string{array.Float: "float", array.Int: "int", array.Text: "text"} {
		if got := k.String(); got != want {
			t.Errorf("kind %d is %q, want %q", int(k), got, want)
		}
	}
}

func TestLen(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  int
	}{
		{nil, 1},
		{[]int{}, 1},
		{[]int{0}, 0},
		{[]int{7}, 7},
		{[]int{3, 4}, 12},
		{[]int{3, 0, 4}, 0},
		{[]int{2, 3, 4, 1}, 24},
	} {
		if got := (array.Info{Shape: c.shape}).Len(); got != c.want {
			t.Errorf("shape %v has %d values, want %d", c.shape, got, c.want)
		}
	}
}

// Turn undoes storage in the other order, in whatever pieces the values come.
func TestTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		rows, cols := 1+r.IntN(50), 1+r.IntN(50)
		byRow, byColumn := make([]float32, rows*cols), make([]float32, rows*cols)
		for i := range rows {
			for k := range cols {
				byRow[i*cols+k], byColumn[k*rows+i] = float32(i*cols+k), float32(i*cols+k)
			}
		}
		for _, c := range []struct {
			columnMajor bool
			from, want  []float32
		}{{false, byRow, byColumn}, {true, byColumn, byRow}} {
			info := array.Info{Shape: []int{rows, cols}, ColumnMajor: c.columnMajor}
			got := make([]float32, rows*cols)
			for at := 0; at < len(got); {
				end := min(len(got), at+1+r.IntN(2*cols))
				info.Turn(got, at, c.from[at:end])
				at = end
			}
			if !slices.Equal(got, c.want) {
				t.Fatalf("%d x %d, column-major %v: %v, want %v", rows, cols, c.columnMajor, got, c.want)
			}
		}
	}
}

func BenchmarkTurn(b *testing.B) {
	const rows, cols = 1 << 18, 128
	info := array.Info{Shape: []int{rows, cols}, ColumnMajor: true}
	from, to := make([]float32, rows*cols), make([]float32, rows*cols)
	b.SetBytes(4 * rows * cols)
	b.ReportAllocs()
	for b.Loop() {
		info.Turn(to, 0, from)
	}
}
