package opponent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/score"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func find(t testing.TB, rows [][]float32, k, restarts int, seed uint64) *Result {
	t.Helper()
	got, err := Means(t.Context(), rows, k, restarts, 2, random(seed))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// normal draws n rows of dims values, row i around the corner i%k of a cube whose
// corners are apart.
func normal(n, dims, k int, apart float64, seed uint64) (rows [][]float32, truth []int) {
	rnd := random(seed)
	for i := range n {
		row := make([]float32, dims)
		for at := range row {
			row[at] = float32(rnd.NormFloat64() + apart*float64(i%k>>(at%8)&1))
		}
		rows, truth = append(rows, row), append(truth, i%k)
	}
	return rows, truth
}

// centres returns the means of the clusters, and their sizes.
func centres(rows [][]float32, labels []int) (mean [][]float64, size []int) {
	k := slices.Max(labels) + 1
	mean, size = make([][]float64, k), make([]int, k)
	for c := range mean {
		mean[c] = make([]float64, len(rows[0]))
	}
	for i, l := range labels {
		size[l]++
		for at, x := range rows[i] {
			mean[l][at] += float64(x)
		}
	}
	for c := range mean {
		for at := range mean[c] {
			mean[c][at] /= float64(size[c])
		}
	}
	return mean, size
}

// checkResult holds a result to what Lloyd's algorithm ends at: no cluster is empty,
// every row is nearest to the mean of its own cluster, and the inertia is theirs.
func checkResult(t *testing.T, rows [][]float32, k int, got *Result) {
	t.Helper()
	if len(got.Labels) != len(rows) || slices.Min(got.Labels) != 0 {
		t.Fatalf("labels %v of %d rows", got.Labels, len(rows))
	}
	distinct := map[string]bool{}
	for _, row := range rows {
		distinct[fmt.Sprint(row)] = true
	}
	mean, size := centres(rows, got.Labels)
	if len(size) != min(k, len(distinct)) || slices.Contains(size, 0) {
		t.Errorf("clusters of %v rows, %d distinct, where %d were asked for", size, len(distinct), k)
	}
	inertia := 0.0
	for i, row := range rows {
		own := squared(row, mean[got.Labels[i]], math.Inf(1))
		inertia += own
		for c := range mean {
			if d := squared(row, mean[c], math.Inf(1)); d < own*(1-1e-12) {
				t.Errorf("row %d is %v from its centre and %v from that of %d", i, own, d, c)
			}
		}
	}
	if math.Abs(got.Inertia-inertia) > 1e-9*inertia {
		t.Errorf("inertia %v, not %v", got.Inertia, inertia)
	}
}

func TestSeparated(t *testing.T) {
	for _, k := range []int{2, 3, 7, 16} {
		rows, truth := normal(400, 20, k, 30, uint64(k))
		got := find(t, rows, k, 10, 1)
		checkResult(t, rows, k, got)
		s, err := score.Compare(truth, got.Labels)
		if err != nil {
			t.Fatal(err)
		}
		if s.ARI != 1 {
			t.Errorf("k = %d: ARI %v", k, s.ARI)
		}
	}
}

func TestAnyRows(t *testing.T) {
	rnd := random(1)
	for range 300 {
		n, dims := 1+rnd.IntN(60), 1+rnd.IntN(40)
		rows, _ := normal(n, dims, 1+rnd.IntN(5), 2, rnd.Uint64())
		for i := range rows {
			for at := range rows[i] {
				if rnd.IntN(3) == 0 {
					rows[i][at] = float32(rnd.IntN(2))
				}
			}
			if rnd.IntN(3) == 0 {
				rows[i] = rows[rnd.IntN(n)]
			}
		}
		k := 1 + rnd.IntN(n)
		checkResult(t, rows, k, find(t, rows, k, 1+rnd.IntN(3), rnd.Uint64()))
	}
}

func TestKnown(t *testing.T) {
	rows := [][]float32{{0}, {1}, {10}, {11}, {30}}
	for _, c := range []struct {
		k       int
		inertia float64
		labels  [][]int // those that share a label
	}{
		{1, 1122 - 52.0*52/5, [][]int{{0, 1, 2, 3, 4}}},
		{2, 101, [][]int{{0, 1, 2, 3}, {4}}},
		{3, 1, [][]int{{0, 1}, {2, 3}, {4}}},
		{5, 0, [][]int{{0}, {1}, {2}, {3}, {4}}},
	} {
		got := find(t, rows, c.k, 20, 1)
		checkResult(t, rows, c.k, got)
		if math.Abs(got.Inertia-c.inertia) > 1e-9 {
			t.Errorf("k = %d: inertia %v, not %v", c.k, got.Inertia, c.inertia)
		}
		for _, together := range c.labels {
			for _, i := range together {
				if got.Labels[i] != got.Labels[together[0]] {
					t.Errorf("k = %d: labels %v", c.k, got.Labels)
				}
			}
		}
	}
}

// Fewer distinct rows than clusters make a cluster each.
func TestDuplicates(t *testing.T) {
	points := [][]float32{{0.1, 0.2}, {0.3, 0.7}, {1e20, -1e20}, {1e-30, 0}}
	var rows [][]float32
	for i := range 30 {
		rows = append(rows, points[i%4], points[i%3])
	}
	for k := 4; k <= len(rows); k += 7 {
		got := find(t, rows, k, 2, uint64(k))
		checkResult(t, rows, k, got)
		if got.Inertia != 0 {
			t.Errorf("k = %d: inertia %v", k, got.Inertia)
		}
	}
	same := slices.Repeat(points[:1], 9)
	if got := find(t, same, 5, 3, 1); got.Inertia != 0 || slices.Max(got.Labels) != 0 {
		t.Errorf("%+v of equal rows", got)
	}
	empty := make([][]float32, 4) // rows of no value are equal
	if got := find(t, empty, 2, 1, 1); got.Inertia != 0 || slices.Max(got.Labels) != 0 {
		t.Errorf("%+v of empty rows", got)
	}
}

// With restarts enough, the best of all partitions of a few rows is found.
func TestMeansBest(t *testing.T) {
	for seed := range uint64(10) {
		rows, _ := normal(8, 2, 4, 2, seed)
		const k = 3
		least := math.Inf(1)
		labels := make([]int, len(rows))
		for code := range 6561 { // 3^8
			for i, c := 0, code; i < len(rows); i, c = i+1, c/k {
				labels[i] = c % k
			}
			mean, size := centres(rows, labels)
			if len(size) < k || slices.Contains(size, 0) {
				continue
			}
			inertia := 0.0
			for i, row := range rows {
				inertia += squared(row, mean[labels[i]], math.Inf(1))
			}
			least = min(least, inertia)
		}
		if got := find(t, rows, k, 60, seed); math.Abs(got.Inertia-least) > 1e-9*least {
			t.Errorf("inertia %v, the least is %v", got.Inertia, least)
		}
	}
}

func TestRestarts(t *testing.T) {
	rows, _ := normal(300, 5, 16, 3, 1)
	last := math.Inf(1)
	for restarts := 1; restarts < 20; restarts++ {
		got := find(t, rows, 16, restarts, 2).Inertia
		if got > last {
			t.Errorf("inertia %v with %d restarts, was %v with fewer", got, restarts, last)
		}
		last = got
	}
	if first := find(t, rows, 16, 1, 2).Inertia; last == first {
		t.Error("restarts make no difference")
	}
}

func TestThreads(t *testing.T) {
	rows, _ := normal(500, 30, 10, 2, 1)
	want, err := Means(t.Context(), rows, 10, 3, 1, random(4))
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{0, 2, 7} {
		if got, err := Means(t.Context(), rows, 10, 3, threads, random(4)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads give another result, %v", threads, err)
		}
	}
	if got := find(t, rows, 10, 3, 5); reflect.DeepEqual(got, want) {
		t.Error("the seed makes no difference")
	}
}

// A centre far from all rows gets some nonetheless.
func TestEmptyClusters(t *testing.T) {
	for _, far := range []int{1, 2, 3} {
		rows, _ := normal(50, 3, 2, 4, 1)
		s := &search{ctx: t.Context(), threads: 2, rows: rows, labels: make([]int, 50), distance: make([]float64, 50)}
		for c := range 4 {
			centre := make([]float64, 3)
			if c < far {
				centre[0] = 1e9
			}
			s.centres = append(s.centres, centre)
		}
		if err := s.descend(); err != nil {
			t.Fatal(err)
		}
		inertia := 0.0
		for _, d := range s.distance {
			inertia += d
		}
		checkResult(t, rows, 4, &Result{s.labels, inertia})
	}
}

// squared is exact up to its bound, and above it says no more than that.
func TestSquared(t *testing.T) {
	rnd := random(1)
	for range 2000 {
		row, centre := make([]float32, rnd.IntN(70)), make([]float64, 70)
		want := 0.0
		for at := range row {
			row[at], centre[at] = float32(rnd.NormFloat64()), rnd.NormFloat64()
			want += math.Pow(float64(row[at])-centre[at], 2)
		}
		bound := 200 * rnd.Float64()
		switch got := squared(row, centre, bound); {
		case want > bound && got <= bound:
			t.Errorf("%v is not above %v", got, bound)
		case want <= bound && math.Abs(got-want) > 1e-12*want:
			t.Errorf("%v, not %v", got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, c := range []struct {
		rows        [][]float32
		k, restarts int
		want        string
	}{
		{nil, 1, 1, "0 rows cannot make 1 clusters; choose between 1 and the number of rows"},
		{[][]float32{{1}, {2}}, 0, 1, "2 rows cannot make 0 clusters; choose between 1 and the number of rows"},
		{[][]float32{{1}, {2}}, 3, 1, "2 rows cannot make 3 clusters; choose between 1 and the number of rows"},
		{[][]float32{{1}, {2}}, 2, 0, "0 restarts; choose at least 1"},
		{[][]float32{{1}, {2, 3}}, 2, 1, "row 1 has 2 values where row 0 has 1; give all the same length"},
		{[][]float32{{1, nan}, {2, 3}}, 2, 1, "row 0 holds NaN in column 1; give finite numbers"},
		{[][]float32{{1, 2}, {inf, 3}}, 2, 1, "row 1 holds -Inf in column 0; give finite numbers"},
	} {
		if got, err := Means(t.Context(), c.rows, c.k, c.restarts, 1, random(1)); got != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v, %v, want %s", got, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rows, _ := normal(100, 2, 2, 1, 1)
	for _, k := range []int{1, 5} {
		if got, err := Means(ctx, rows, k, 1, 1, random(1)); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

func TestLeavesItsInput(t *testing.T) {
	rows, _ := normal(50, 3, 2, 1, 1)
	before, _ := normal(50, 3, 2, 1, 1)
	find(t, rows, 4, 2, 1)
	if !reflect.DeepEqual(rows, before) {
		t.Error("the rows have changed")
	}
}

// BenchmarkFind clusters 2,000 rows of 216 values into ten.
func BenchmarkFind(b *testing.B) {
	rows, _ := normal(2000, 216, 10, 1, 1)
	b.ReportAllocs()
	for b.Loop() {
		find(b, rows, 10, 10, 1)
	}
}
