package opponent

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

// blobs makes 240 samples of 6 classes that lie well apart, a fifth of which lack one of
// three views.
func blobs(t testing.TB) *synth.Set {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 240, Classes: 6, Views: 3, Dims: []int{12}, Noise: []float64{0.2}, Missing: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// methods are the opponents, those that are told the number told six.
func methods() map[string]func(ctx context.Context, views []*view.View, seed uint64, threads int) ([]int, error) {
	return map[string]func(ctx context.Context, views []*view.View, seed uint64, threads int) ([]int, error){
		"k-means": func(ctx context.Context, views []*view.View, seed uint64, threads int) ([]int, error) {
			return KMeans(ctx, views, 6, seed, threads)
		},
		"spectral": alike(func(ctx context.Context, a *Alike, seed uint64, threads int) ([]int, error) {
			return a.Spectral(ctx, 6, seed, threads)
		}),
		"Ward": alike(func(ctx context.Context, a *Alike, _ uint64, _ int) ([]int, error) { return a.Ward(ctx, 6) }),
		"average": alike(func(ctx context.Context, a *Alike, _ uint64, _ int) ([]int, error) {
			return a.Average(ctx, 6)
		}),
		"Leiden": alike(func(ctx context.Context, a *Alike, seed uint64, _ int) ([]int, error) {
			return a.Leiden(ctx, 20, seed)
		}),
	}
}

// alike makes a method of one that wants the samples compared.
func alike(method func(ctx context.Context, a *Alike, seed uint64, threads int) ([]int, error)) func(ctx context.Context, views []*view.View, seed uint64, threads int) ([]int, error) {
	return func(ctx context.Context, views []*view.View, seed uint64, threads int) ([]int, error) {
		a, err := Measure(ctx, views, threads)
		if err != nil {
			return nil, err
		}
		return method(ctx, a, seed, threads)
	}
}

// measured compares the samples of views.
func measured(t testing.TB, views ...*view.View) *Alike {
	t.Helper()
	a, err := Measure(t.Context(), views, 2)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Classes that lie well apart are found, the same for any number of threads.
func TestBlobs(t *testing.T) {
	set := blobs(t)
	for name, method := range methods() {
		one, err := method(t.Context(), set.Views, 7, 1)
		if err != nil {
			t.Fatal(err)
		}
		s, err := score.Compare(set.Labels, one)
		if err != nil {
			t.Fatal(err)
		}
		if s.ARI < 0.97 || s.Clusters != 6 {
			t.Errorf("%s: %d clusters, ARI %v", name, s.Clusters, s.ARI)
		}
		for _, threads := range []int{1, 3} {
			again, err := method(t.Context(), set.Views, 7, threads)
			if err != nil || !slices.Equal(one, again) {
				t.Errorf("%s: another result by %d threads, error %v", name, threads, err)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, method := range methods() {
		if _, err := method(ctx, blobs(t).Views, 0, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A view that cannot be compared is an error of all.
func TestUnusable(t *testing.T) {
	v, err := view.New("v", 30, 2, make([]float32, 60))
	if err != nil {
		t.Fatal(err)
	}
	for name, method := range methods() {
		if _, err := method(t.Context(), []*view.View{v}, 0, 0); err == nil {
			t.Errorf("%s: rows of zeros are clustered", name)
		}
	}
}

// gaussian makes a view of independent values that the given samples lack.
func gaussian(t testing.TB, samples, dims int, seed uint64, lack ...int) *view.View {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	rows := make([][]float64, samples)
	for i := range rows {
		row := make([]float64, dims)
		for c := range row {
			row[c] = random.NormFloat64()
		}
		if !slices.Contains(lack, i) {
			rows[i] = row
		}
	}
	v, err := view.FromRows("v", rows)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// cosine is that of two rows, in double precision.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for c := range a {
		x, y := float64(a[c]), float64(b[c])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// The lists hold the most alike by a plain loop, also across the edges of chunks and
// blocks, and none that has no view in common.
func TestFused(t *testing.T) {
	const n, k = 2*chunk + 40, 6
	var first, second []int
	for i := range n {
		switch i % 8 {
		case 0:
			first = append(first, i)
		case 1:
			second = append(second, i)
		}
	}
	views := []*view.View{gaussian(t, n, 9, 1, first...), gaussian(t, n, 5, 2, second...)}
	lists := measured(t, views...).nearest(k)
	for i, list := range lists {
		type other struct {
			j    int32
			mean float64
		}
		var others []other
		for j := range n {
			sum, common := 0.0, 0.0
			for _, v := range views {
				if v.Has(i) && v.Has(j) {
					sum += cosine(v.Row(i), v.Row(j))
					common++
				}
			}
			if j != i && common > 0 {
				others = append(others, other{int32(j), sum / common})
			}
		}
		slices.SortFunc(others, func(a, b other) int { return cmp.Compare(b.mean, a.mean) })
		if len(list) != k || !slices.IsSorted(list) {
			t.Fatalf("sample %d: %v", i, list)
		}
		for at, o := range others {
			// Those next to the last place may be told apart by rounding alone.
			if at < k && o.mean > others[k].mean+1e-6 && !slices.Contains(list, o.j) {
				t.Fatalf("sample %d: %v lacks %d", i, list, o.j)
			}
		}
	}
}

// Samples that have nothing in common with others have short lists.
func TestFusedFew(t *testing.T) {
	views := []*view.View{gaussian(t, 7, 3, 1, 0, 1, 2), gaussian(t, 7, 3, 2, 3, 4, 5, 6)}
	lists := measured(t, views...).nearest(5)
	want := [][]int32{{1, 2}, {0, 2}, {0, 1}, {4, 5, 6}, {3, 5, 6}, {3, 4, 6}, {3, 4, 5}}
	for i := range want {
		if !slices.Equal(lists[i], want[i]) {
			t.Errorf("sample %d: %v, want %v", i, lists[i], want[i])
		}
	}
}

func TestBest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	for n := range 30 {
		for k := range 12 {
			list := make([]int32, n)
			for i := range list {
				list[i] = random.Int32N(20)
			}
			want := slices.Sorted(slices.Values(list))[:min(k, n)]
			if got := best(slices.Clone(list), k, cmp.Compare[int32]); !slices.Equal(got, want) {
				t.Fatalf("the first %d of %v are %v, want %v", k, list, got, want)
			}
		}
	}
}

// A sample without a view gets the mean of the others' rows of unit length.
func TestJoined(t *testing.T) {
	a, err := view.FromRows("a", [][]float64{{3, 4}, {0, 2}, {1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := view.FromRows("b", [][]float64{{0, 5}, nil, {7, 0}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := spaces(t.Context(), []*view.View{a, b}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float32{{0.6, 0.8, 0, 1}, {0, 1, 0.5, 0.5}, {1, 0, 1, 0}}
	for i, row := range joined(all) {
		for c, x := range row {
			if math.Abs(float64(x-want[i][c])) > 1e-6 || len(row) != 4 {
				t.Errorf("row %d is %v, want %v", i, row, want[i])
			}
		}
	}
}

// Of three samples in a row of which the ends list the middle, and the middle one end, and
// one more that nobody lists.
func TestLaplacian(t *testing.T) {
	s := laplacian([][]int32{{1}, {0}, {1}, nil})
	// Weights: 0-1 is 1, 1-2 is a half; sums: 1, 3/2, 1/2.
	want := map[[2]int]float64{{0, 1}: 1 / math.Sqrt(1.5), {1, 2}: 0.5 / math.Sqrt(0.75)}
	entries := 0
	for i, list := range s.Index {
		for at, j := range list {
			entries++
			if x := want[[2]int{min(i, int(j)), max(i, int(j))}]; math.Abs(s.Value[i][at]-x) > 1e-12 {
				t.Errorf("at (%d, %d) is %v, want %v", i, j, s.Value[i][at], x)
			}
		}
	}
	if entries != 4 {
		t.Errorf("%d entries, want 4", entries)
	}
}

// The leading eigenvectors are those that a dense solver finds, also where eigenvalues are
// equal and where all are wanted.
func TestLeading(t *testing.T) {
	for _, test := range []struct{ n, k int }{{300, 5}, {300, 60}, {40, 40}, {40, 1}} {
		v := gaussian(t, test.n, 4, 1)
		lists := measured(t, v).nearest(8)
		// Two halves that do not touch have the eigenvalue 1 twice.
		for i := range lists {
			lists[i] = slices.DeleteFunc(lists[i], func(j int32) bool { return (i < test.n/2) != (int(j) < test.n/2) })
		}
		s := laplacian(lists)
		dense := mat.NewSymDense(test.n, nil)
		for i, list := range s.Index {
			for at, j := range list {
				dense.SetSym(i, int(j), s.Value[i][at])
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(dense, false) { //nolint:misspell // gonum's name
			t.Fatal("no eigenvalues")
		}
		want := eigen.Values(nil)
		slices.Reverse(want)
		values, x, err := Leading(t.Context(), s, test.k, 2, stream(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		for c := range test.k {
			column := mat.NewVecDense(test.n, mat.Col(nil, c, x))
			var image mat.VecDense
			image.MulVec(dense, column)
			if got := mat.Dot(column, &image); math.Abs(got-want[c]) > 1e-8 || math.Abs(values[c]-want[c]) > 1e-8 {
				t.Errorf("%d of %d: eigenvalue %d is %v, want %v", test.k, test.n, c, got, want[c])
			}
			image.AddScaledVec(&image, -want[c], column)
			if miss := mat.Norm(&image, 2); miss > 2*exact {
				t.Errorf("%d of %d: vector %d misses by %v", test.k, test.n, c, miss)
			}
			for d := range c + 1 {
				if got := mat.Dot(column, mat.NewVecDense(test.n, mat.Col(nil, d, x))); (d < c && math.Abs(got) > 1e-9) || (d == c && math.Abs(got-1) > 1e-9) {
					t.Errorf("%d of %d: the product of the vectors %d and %d is %v", test.k, test.n, c, d, got)
				}
			}
		}
	}
}

func TestUnit(t *testing.T) {
	if got := unit([]float64{3, -4}); got[0] != 0.6 || got[1] != -0.8 {
		t.Errorf("%v", got)
	}
	if got := unit([]float64{0, 0}); got[0] != 0 || got[1] != 0 {
		t.Errorf("%v", got)
	}
}

func BenchmarkSpectral(b *testing.B) {
	set, err := synth.Generate(synth.Config{Samples: 1000})
	if err != nil {
		b.Fatal(err)
	}
	a := measured(b, set.Views...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Spectral(b.Context(), 20, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}
