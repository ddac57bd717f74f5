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

func earlier(d [][]float32) func(i int, dst []float32) {
	return func(i int, dst []float32) { copy(dst, d[i]) }
}

// plain merges the two nearest clusters until so many are left, by the definitions: the mean distance between
// them, or twice what their union adds to the sum of all squared distances within a cluster over the
// number of its samples.
func plain(d [][]float32, clusters int, squares bool) (labels []int, heights []float64) {
	var parts [][]int
	for i := range d {
		parts = append(parts, []int{i})
	}
	between := func(a, b []int) (sum float64) {
		for _, i := range a {
			for _, j := range b {
				sum += float64(d[i][j])
			}
		}
		return sum
	}
	within := func(a []int) float64 { return between(a, a) / 2 / float64(len(a)) }
	distance := func(a, b []int) float64 {
		if squares {
			return 2 * (within(slices.Concat(a, b)) - within(a) - within(b))
		}
		return between(a, b) / float64(len(a)*len(b))
	}
	for len(parts) > clusters {
		least, x, y := math.Inf(1), 0, 0
		for a := range parts {
			for b := range a {
				if mean := distance(parts[a], parts[b]); mean < least {
					least, x, y = mean, b, a
				}
			}
		}
		heights = append(heights, least)
		parts[x] = append(parts[x], parts[y]...)
		parts = slices.Delete(parts, y, y+1)
	}
	labels = make([]int, len(d))
	for c, p := range parts {
		for _, i := range p {
			labels[i] = c
		}
	}
	return labels, heights
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

// The trees are those of the definitions, where no two distances are equal, and their merges rise.
func TestTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for round := range 60 {
		n := 1 + r.IntN(24)
		d := points(r, n)
		for i := range d {
			for j := range i {
				d[i][j] += r.Float32() // no ties
				if round%2 == 1 {
					d[i][j] *= d[i][j] / 16
				}
				d[j][i] = d[i][j]
			}
		}
		make := Average
		if round%2 == 1 {
			make = Ward
		}
		tree, err := make(t.Context(), n, earlier(d), 1+r.IntN(3))
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k <= n; k++ {
			want, heights := plain(d, k, round%2 == 1)
			if got, err := tree.Cut(k); err != nil || !same(got, want) || slices.Max(got) != k-1 {
				t.Fatalf("%d clusters of %d: %v, %v, want %v", k, n, got, err, want)
			}
			for i, h := range heights {
				if x := float64(tree.merges[i].distance); math.Abs(x-h) > 1e-4*max(1, h) || i > 0 && tree.merges[i].distance < tree.merges[i-1].distance {
					t.Fatalf("merge %d is at %v, want %v", i, x, h)
				}
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
		tree, err := Average(t.Context(), n, earlier(d), 2)
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
				dst[1] = x
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
		if _, err := Average(b.Context(), len(d), earlier(d), 0); err != nil {
			b.Fatal(err)
		}
	}
}
