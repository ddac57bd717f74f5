package linkage

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// points are distances of random points on a line, of which some are equal.
func points(r *rand.Rand, n int) [][]float32 {
	at := make([]float64, n)
	for i := range at {
		at[i] = float64(r.IntN(4 * n))
	}
	d := make([][]float32, n)
	for i := range d {
		d[i] = make([]float32, n)
		for j := range d[i] {
			d[i][j] = float32(math.Abs(at[i] - at[j]))
		}
	}
	return d
}

func later(d [][]float32) func(i int, dst []float32) {
	return func(i int, dst []float32) { copy(dst, d[i][i+1:]) }
}

// plain merges the two clusters with the least mean distance of their samples until so many are left, and
// returns the sum of the mean distances at which it merged.
func plain(d [][]float32, clusters int) (labels []int, sum float64) {
	var parts [][]int
	for i := range d {
		parts = append(parts, []int{i})
	}
	for len(parts) > clusters {
		least, x, y := math.Inf(1), 0, 0
		for a := range parts {
			for b := range a {
				mean := 0.0
				for _, i := range parts[a] {
					for _, j := range parts[b] {
						mean += float64(d[i][j]) / float64(len(parts[a])*len(parts[b]))
					}
				}
				if mean < least-1e-9 {
					least, x, y = mean, b, a
				}
			}
		}
		sum += least
		parts[x] = append(parts[x], parts[y]...)
		parts = slices.Delete(parts, y, y+1)
	}
	labels = make([]int, len(d))
	for c, p := range parts {
		for _, i := range p {
			labels[i] = c
		}
	}
	return labels, sum
}

// same reports whether two labellings are one partition.
func same(a, b []int) bool {
	to, from := map[int]int{}, map[int]int{}
	for i := range a {
		if x, ok := to[a[i]]; ok && x != b[i] {
			return false
		}
		if x, ok := from[b[i]]; ok && x != a[i] {
			return false
		}
		to[a[i]], from[b[i]] = b[i], a[i]
	}
	return true
}

// The tree is that of the definition, where no two means are equal.
func TestAverage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for range 60 {
		n := 1 + r.IntN(24)
		d := points(r, n)
		for i := range d { // no ties
			for j := range i {
				d[i][j] += r.Float32() / 8
				d[j][i] = d[i][j]
			}
		}
		tree, err := Average(t.Context(), n, later(d), 1+r.IntN(3))
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k <= n; k++ {
			want, _ := plain(d, k)
			if got, err := tree.Cut(k); err != nil || !same(got, want) || slices.Max(got) != k-1 {
				t.Fatalf("%d clusters of %d: %v, %v, want %v", k, n, got, err, want)
			}
		}
	}
}

// With ties there are several trees. Every cut has as many clusters as asked for, is within the coarser
// ones, and equal samples are merged first.
func TestAverageTies(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	for range 40 {
		n := 2 + r.IntN(30)
		d := points(r, n)
		tree, err := Average(t.Context(), n, later(d), 2)
		if err != nil {
			t.Fatal(err)
		}
		coarser := make([]int, n)
		for k := 1; k <= n; k++ {
			got, err := tree.Cut(k)
			if err != nil || slices.Max(got) != k-1 || got[0] != 0 {
				t.Fatal(got, err)
			}
			parent := map[int]int{}
			for i, l := range got {
				if p, known := parent[l]; known && p != coarser[i] {
					t.Fatalf("%v is not within %v", got, coarser)
				}
				parent[l] = coarser[i]
			}
			apart := slices.ContainsFunc(tree.merges[:n-k], func(x merge) bool { return x.distance > 0 })
			for i := range n {
				for j := range i {
					if apart && d[i][j] == 0 && got[i] != got[j] {
						t.Fatalf("equal samples %d and %d are apart in %v", i, j, got)
					}
				}
			}
			coarser = got
		}
	}
}

func TestAverageRefused(t *testing.T) {
	zeros := func(_ int, dst []float32) { clear(dst) }
	bad := func(x float32) func(int, []float32) {
		return func(i int, dst []float32) {
			clear(dst)
			if i == 3 {
				dst[0] = x
			}
		}
	}
	for name, f := range map[string]func() error{
		"none":      func() error { _, err := Average(t.Context(), 0, zeros, 1); return err },
		"many":      func() error { _, err := Average(t.Context(), 1<<20, zeros, 1); return err },
		"no source": func() error { _, err := Average(t.Context(), 3, nil, 1); return err },
		"below 0":   func() error { _, err := Average(t.Context(), 9, bad(-1), 1); return err },
		"NaN":       func() error { _, err := Average(t.Context(), 9, bad(float32(math.NaN())), 1); return err },
		"infinite":  func() error { _, err := Average(t.Context(), 9, bad(float32(math.Inf(1))), 1); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	tree, err := Average(t.Context(), 9, zeros, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{-1, 0, 10} {
		if _, err := tree.Cut(k); err == nil {
			t.Errorf("%d clusters were made", k)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Average(ctx, 9, zeros, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkAverage(b *testing.B) {
	d := points(rand.New(rand.NewPCG(7, 0)), 2000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Average(b.Context(), len(d), later(d), 0); err != nil {
			b.Fatal(err)
		}
	}
}
