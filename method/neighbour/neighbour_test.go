package neighbour_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

var metrics = []similarity.Metric{similarity.Cosine, similarity.L1, similarity.L2, similarity.L3}

// normalView has random rows, with hardly a tie; gridView has whole numbers in
// [0, side), and so many ties. A share of the samples lack the view.
func normalView(random *rand.Rand, n, dims int, missing float64) *view.View {
	return newView(random, n, dims, missing, func() float32 { return float32(random.NormFloat64()) })
}

func gridView(random *rand.Rand, n, dims, side int, missing float64) *view.View {
	return newView(random, n, dims, missing, func() float32 { return float32(random.IntN(side)) })
}

func newView(random *rand.Rand, n, dims int, missing float64, value func() float32) *view.View {
	v := &view.View{Name: "v", Samples: n, Dims: dims, Data: make([]float32, n*dims), Present: make([]bool, n)}
	for i := range n {
		v.Present[i] = i < 2 || random.Float64() >= missing
		for k := range dims {
			v.Row(i)[k] = value()
		}
	}
	v.Row(0)[0], v.Row(1)[0] = 1, 2 // not constant, and not zero
	if dims > 1 {
		v.Row(0)[1], v.Row(1)[1] = 2, 1
	}
	return v
}

func newSpace(t testing.TB, v *view.View, m similarity.Metric, order []int) *similarity.Space {
	t.Helper()
	s, err := similarity.NewSpace(t.Context(), v, m, order, false, 2)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func search(t testing.TB, s *similarity.Space, k, threads int) *neighbour.Lists {
	t.Helper()
	l, err := neighbour.Search(t.Context(), s, k, 0, neighbour.Settings{Method: neighbour.Exact}, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// brute ranks, for every sample i, all others by falling alike(i, j), then by
// number.
func brute[T cmp.Ordered](s *similarity.Space, alike func(i, j int) T) [][]int32 {
	ranking, value := make([][]int32, s.Samples), make([]T, s.Samples)
	for i := range ranking {
		for j := range ranking {
			if s.Has(i) && s.Has(j) && j != i {
				ranking[i] = append(ranking[i], int32(j))
				value[j] = alike(i, j)
			}
		}
		slices.SortStableFunc(ranking[i], func(a, b int32) int { return cmp.Compare(value[b], value[a]) })
	}
	return ranking
}

// checkLists compares l with the first k of a ranking.
func checkLists(t *testing.T, s *similarity.Space, l *neighbour.Lists, k int, ranking [][]int32) {
	t.Helper()
	n := s.Samples
	if len(l.Offsets) != n+1 || l.Offsets[0] != 0 || l.Offsets[n] != len(l.Values) {
		t.Fatalf("%d offsets for %d samples, %d neighbours", len(l.Offsets), n, len(l.Values))
	}
	for i := range n {
		want := ranking[i][:min(k, len(ranking[i]))]
		if !slices.Equal(l.Of(i), want) {
			t.Fatalf("k=%d: the neighbours of sample %d are %v, want %v", k, i, l.Of(i), want)
		}
	}
}

// sizes crosses the borders of the blocks of queries and candidates.
var sizes = []int{2, 3, 31, 32, 33, 127, 128, 129, 170}

func TestSearch(t *testing.T) {
	for _, m := range metrics {
		t.Run(m.String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(m)))
			for _, n := range sizes {
				for _, missing := range []float64{0, 0.3} {
					s := newSpace(t, normalView(random, n, 2+random.IntN(20), missing), m, nil)
					ranking := brute(s, s.Similarity)
					for _, k := range []int{math.MinInt, 0, 1, 1 + random.IntN(n), s.Count() - 2, s.Count() - 1, math.MaxInt} {
						l := search(t, s, k, 2)
						if k <= 0 && len(l.Values) != 0 {
							t.Fatalf("k=%d: %d neighbours", k, len(l.Values))
						}
						checkLists(t, s, l, max(0, k), ranking)
					}
				}
			}
		})
	}
}

// TestBlocks has more samples than a block, or longer rows than a part of the
// dimensions, and threads that share the blocks.
func TestBlocks(t *testing.T) {
	for _, m := range metrics {
		random := rand.New(rand.NewPCG(9, uint64(m)))
		for _, c := range []struct{ n, dims int }{{700, 1}, {600, 40}, {300, 511}, {270, 512}, {270, 513}, {150, 1300}} {
			s := newSpace(t, normalView(random, c.n, c.dims, 0.1), m, random.Perm(c.n))
			ranking := brute(s, s.Similarity)
			for _, k := range []int{9, s.Count() - 2} {
				if c.dims == 1 && m == similarity.Cosine {
					k = s.Count() // any two rows are alike or opposite
				}
				checkLists(t, s, search(t, s, k, 5), k, ranking)
			}
		}
	}
}

// TestTies searches points of a small grid, among which most distances are
// shared, and compares with distances in whole numbers.
func TestTies(t *testing.T) {
	for m, power := range map[similarity.Metric]func(d int) int{
		similarity.L1: func(d int) int { return d },
		similarity.L2: func(d int) int { return d * d },
		similarity.L3: func(d int) int { return d * d * d },
	} {
		t.Run(m.String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(2, uint64(m)))
			for _, n := range sizes {
				for _, side := range []int{2, 4} {
					v := gridView(random, n, 1+random.IntN(4), side, 0.2)
					s := newSpace(t, v, m, nil)
					ranking := brute(s, func(i, j int) int {
						sum := 0
						for c, x := range v.Row(i) {
							sum += power(int(max(x-v.Row(j)[c], v.Row(j)[c]-x)))
						}
						return -sum
					})
					for _, k := range []int{1, 2, 5, n / 2, n} {
						checkLists(t, s, search(t, s, k, 2), k, ranking)
					}
				}
			}
		})
	}
}

// TestCosineTies adds all-zero rows, which count as missing, and rows that
// differ in length alone, which tie.
func TestCosineTies(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, n := range sizes {
		s := newSpace(t, gridView(random, n, 2, 3, 0.2), similarity.Cosine, nil)
		if n > 100 && s.Zero == 0 {
			t.Fatal("no row is all zeros")
		}
		ranking := brute(s, s.Similarity)
		for _, k := range []int{1, 3, n / 2, n} {
			checkLists(t, s, search(t, s, k, 2), k, ranking)
		}
	}
}

func TestThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, v := range []*view.View{normalView(random, 200, 8, 0.2), gridView(random, 200, 3, 4, 0.2)} {
		for _, m := range metrics {
			s := newSpace(t, v, m, nil)
			want := search(t, s, 10, 1)
			for _, threads := range []int{0, -1, 2, 3, 7, 64, math.MaxInt} {
				got := search(t, s, 10, threads)
				if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Values, want.Values) {
					t.Errorf("%v: %d threads give another result than one", m, threads)
				}
			}
		}
	}
}

// TestPermutation holds that the order of the samples decides nothing where
// there are no ties.
func TestPermutation(t *testing.T) {
	for _, m := range metrics {
		t.Run(m.String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, uint64(m)))
			const n, k = 100, 12
			checked := 0
			for range 10 {
				v := normalView(random, n, 20, 0.3)
				order := random.Perm(n)
				s := newSpace(t, v, m, nil)
				if hasTies(s, search(t, s, n, 2)) {
					continue
				}
				checked++
				plain, permuted := search(t, s, k, 2), search(t, newSpace(t, v, m, order), k, 2)
				for i := range n {
					mapped := make([]int32, 0, k)
					for _, j := range permuted.Of(i) {
						mapped = append(mapped, int32(order[j]))
					}
					if !slices.Equal(mapped, plain.Of(order[i])) {
						t.Fatalf("sample %d has the neighbours %v, and %v when permuted", order[i], plain.Of(order[i]), mapped)
					}
				}
			}
			if checked < 3 {
				t.Errorf("only %d views had no ties", checked)
			}
		})
	}
}

func hasTies(s *similarity.Space, l *neighbour.Lists) bool {
	for i := range s.Samples {
		all := make([]float32, len(l.Of(i)))
		s.Similarities(all, i, l.Of(i))
		if len(slices.Compact(slices.Clone(all))) != len(all) {
			return true
		}
	}
	return false
}

func TestProgress(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	s := newSpace(t, normalView(random, 300, 4, 0.3), similarity.L2, nil)
	for _, threads := range []int{1, 4} {
		last := 0
		_, err := neighbour.Search(t.Context(), s, 5, 0, neighbour.Settings{}, threads, func(done int) {
			if done <= last {
				t.Errorf("progress went from %d to %d", last, done)
			}
			last = done
		})
		if err != nil || last != s.Count() {
			t.Errorf("progress ended at %d of %d, %v", last, s.Count(), err)
		}
	}
}

func TestCancel(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	s := newSpace(t, normalView(random, 500, 4, 0), similarity.L1, nil)
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, k := range []int{0, 5} {
			l, err := neighbour.Search(ctx, s, k, 0, neighbour.Settings{}, 2, func(int) { t.Error("progress after the end") })
			if !errors.Is(err, context.Canceled) || k > 0 && l != nil {
				t.Errorf("k=%d: lists %v, error %v", k, l, err)
			}
		}
	})
	t.Run("deadline", func(t *testing.T) {
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancel()
		if l, err := neighbour.Search(ctx, s, 5, 0, neighbour.Settings{}, 2, nil); l != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("lists %v, error %v", l, err)
		}
	})
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprintf("during, %d threads", threads), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls := 0
			l, err := neighbour.Search(ctx, s, 5, 0, neighbour.Settings{}, threads, func(int) {
				calls++
				cancel()
			})
			if l != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("lists %v, error %v", l, err)
			}
			if calls > threads {
				t.Errorf("%d blocks were finished after the end, by %d threads", calls, threads)
			}
		})
	}
}

// TestCancelAnywhere ends the context at every place that checks it: the result
// is whole or there is none.
func TestCancelAnywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	s := newSpace(t, normalView(random, 140, 3, 0), similarity.L2, nil)
	ranking := brute(s, s.Similarity)
	for _, threads := range []int{1, 2} {
		for n := 0; ; n++ {
			ctx := lapse.After(t.Context(), n)
			l, err := neighbour.Search(ctx, s, 3, 0, neighbour.Settings{}, threads, nil)
			if err == nil {
				checkLists(t, s, l, 3, ranking)
				if n < 10 {
					t.Errorf("%d threads: the context was asked %d times in all", threads, n)
				}
				break
			}
			if l != nil || !errors.Is(err, context.Canceled) {
				t.Fatalf("%d threads: lists %v, error %v after %d questions", threads, l, err, n)
			}
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, m := range metrics {
		for _, dims := range []int{16, 256} {
			b.Run(fmt.Sprintf("%v/dims=%d", m, dims), func(b *testing.B) {
				const n = 1000
				s := newSpace(b, normalView(rand.New(rand.NewPCG(1, 1)), n, dims, 0), m, nil)
				b.ReportAllocs()
				for b.Loop() {
					search(b, s, 30, 1)
				}
				b.ReportMetric(float64(b.N)*n*n/b.Elapsed().Seconds(), "pairs/s")
			})
		}
	}
}

// BenchmarkTies is the worst case for keeping the best: every candidate of a
// query ties with many others.
func BenchmarkTies(b *testing.B) {
	s := newSpace(b, gridView(rand.New(rand.NewPCG(1, 1)), 1000, 8, 2, 0), similarity.L1, nil)
	b.ReportAllocs()
	for b.Loop() {
		search(b, s, 30, 1)
	}
}

// Rows that are mostly zeros have the neighbours that their similarities say, ties by number.
func TestSparse(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	v := newView(random, 160, 80, 0.2, func() float32 { return float32(max(0, random.IntN(60)-57)) })
	scaler, err := v.Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := similarity.Sparse(t.Context(), v, scaler, random.Perm(v.Samples), 2)
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	ranking := brute(s, s.Similarity)
	for _, k := range []int{1, 7, s.Count() - 1} {
		for threads := 1; threads <= 3; threads++ {
			checkLists(t, s, search(t, s, k, threads), k, ranking)
		}
	}
	last := 0
	l, err := neighbour.Search(t.Context(), s, 5, 0, neighbour.Settings{Method: neighbour.Approximate}, 2, func(done int) { last = done })
	if err != nil || last != s.Count() {
		t.Errorf("%d of %d rows are done; %v", last, s.Count(), err)
	}
	if l.Search.Method != neighbour.Exact || l.Search.Recall != 1 {
		t.Errorf("the search was %v", l.Search)
	}
}
