package pair_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// randomLists gives every one of n samples between none and limit neighbours, in
// no order.
func randomLists(random *rand.Rand, n, limit int) *neighbour.Lists {
	l := &neighbour.Lists{Rows: sparse.Rows[int32]{Offsets: make([]int, 1, n+1)}}
	for i := range n {
		count := 0
		if limit > 0 {
			count = random.IntN(limit + 1)
		}
		for _, j := range random.Perm(n) {
			if j != i && count > 0 {
				l.Values = append(l.Values, int32(j))
				count--
			}
		}
		l.Offsets = append(l.Offsets, len(l.Values))
	}
	return l
}

// reference collects the pairs in a map.
func reference(lists []*neighbour.Lists) map[[2]int]bool {
	pairs := map[[2]int]bool{}
	for _, l := range lists {
		for i := range l.Len() {
			for _, j := range l.Of(i) {
				pairs[[2]int{min(i, int(j)), max(i, int(j))}] = true
			}
		}
	}
	return pairs
}

func union(t testing.TB, threads int, lists ...*neighbour.Lists) *pair.Set {
	t.Helper()
	s, err := pair.Union(t.Context(), lists, threads)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestUnion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := random.IntN(40)
		lists := make([]*neighbour.Lists, 1+random.IntN(4))
		for m := range lists {
			lists[m] = randomLists(random, n, random.IntN(8))
		}
		s := union(t, 1, lists...)
		for _, threads := range []int{2, 5, 16, 0, math.MaxInt} {
			if got := union(t, threads, lists...); !reflect.DeepEqual(got, s) {
				t.Fatalf("%d threads give %v, one gives %v", threads, got, s)
			}
		}
		want := reference(lists)
		if s.Samples() != n || s.Len() != len(want) || len(s.Partners.Offsets) != n+1 || s.Partners.Offsets[0] != 0 || s.Partners.Offsets[n] != s.Len() {
			t.Fatalf("%d pairs of %d samples with offsets %v, want %d pairs of %d", s.Len(), s.Samples(), s.Partners.Offsets, len(want), n)
		}
		for p := range n {
			partners := s.Of(p)
			last := int32(p) // so p < q, ascending, without duplicates
			for _, q := range partners {
				if q <= last || !want[[2]int{p, int(q)}] {
					t.Fatalf("the partners of %d are %v", p, partners)
				}
				last = q
			}
		}
	}
}

// TestUnionOrder holds that neither the order of the views nor a repeated view
// matters, and that the lists stay as they were.
func TestUnionOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	a, b := randomLists(random, 30, 5), randomLists(random, 30, 5)
	before := slices.Clone(a.Values)
	want := union(t, 2, a, b)
	for _, lists := range [][]*neighbour.Lists{{b, a}, {a, b, a}, {b, b, a, a}} {
		got := union(t, 2, lists...)
		if !slices.Equal(got.Partners.Offsets, want.Partners.Offsets) || !slices.Equal(got.Partners.Values, want.Partners.Values) {
			t.Errorf("%d pairs, want %d", got.Len(), want.Len())
		}
	}
	if !slices.Equal(a.Values, before) {
		t.Error("a list was changed")
	}
}

func TestEmpty(t *testing.T) {
	if zero := (&pair.Set{}); zero.Samples() != 0 || zero.Len() != 0 {
		t.Errorf("the zero value has %d pairs of %d samples", zero.Len(), zero.Samples())
	}
	for _, n := range []int{0, 1, 5} {
		s := union(t, 2, &neighbour.Lists{Rows: sparse.Rows[int32]{Offsets: make([]int, n+1)}})
		if s.Samples() != n || s.Len() != 0 {
			t.Errorf("%d pairs of %d samples, want none of %d", s.Len(), s.Samples(), n)
		}
		w, err := s.Similarities(t.Context(), nil, 2, nil)
		if err != nil || len(w) != 0 {
			t.Errorf("%v, %v", w, err)
		}
	}
}

// randomSpaces returns views of n samples, many of them missing.
func randomSpaces(t testing.TB, random *rand.Rand, n int, missing float64) ([]*view.View, []*similarity.Space) {
	t.Helper()
	var views []*view.View
	var spaces []*similarity.Space
	for m := range similarity.L3 + 1 {
		rows := make([][]float64, n)
		for i := range rows {
			if i < 2 || random.Float64() >= missing {
				rows[i] = []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
			}
		}
		v, err := view.FromRows("v", rows)
		if err != nil {
			t.Fatal(err)
		}
		s, err := similarity.NewSpace(t.Context(), v, m, nil, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		views, spaces = append(views, v), append(spaces, s)
	}
	return views, spaces
}

func TestSimilarities(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{2, 15, 16, 17, 100} {
		views, spaces := randomSpaces(t, random, n, 0.4)
		s := union(t, 1, randomLists(random, n, 6), randomLists(random, n, 6))
		for _, threads := range []int{0, 1, 3, math.MaxInt} {
			last := 0
			w, err := s.Similarities(t.Context(), spaces, threads, func(done int) {
				if done < last {
					t.Errorf("progress went from %d to %d", last, done)
				}
				last = done
			})
			if err != nil {
				t.Fatal(err)
			}
			if last != s.Len() || len(w) != len(spaces) {
				t.Fatalf("%d views, and progress ended at %d of %d", len(w), last, s.Len())
			}
			for m, space := range spaces {
				if len(w[m]) != s.Len() {
					t.Fatalf("view %d has %d similarities for %d pairs", m, len(w[m]), s.Len())
				}
				for p := range n {
					for e := s.Partners.Offsets[p]; e < s.Partners.Offsets[p+1]; e++ {
						q, got := int(s.Partners.Values[e]), w[m][e]
						if present := views[m].Has(p) && views[m].Has(q); present == (got != got) || present && got != space.Similarity(p, q) {
							t.Fatalf("view %d: pair %d, %d has similarity %v, want %v", m, p, q, got, space.Similarity(p, q))
						}
					}
				}
			}
		}
	}
}

func TestCancel(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	_, spaces := randomSpaces(t, random, 200, 0)
	s := union(t, 1, randomLists(random, 200, 10))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	w, err := s.Similarities(ctx, spaces, 1, func(int) {
		calls++
		cancel()
	})
	if w != nil || !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%d views, error %v, after %d calls", len(w), err, calls)
	}
	if w, err := s.Similarities(ctx, spaces, 2, nil); w != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%d views, error %v", len(w), err)
	}
}

// TestUnionCancel cancels at every question to the context in turn: there is either
// the whole set or the error.
func TestUnionCancel(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	lists := []*neighbour.Lists{randomLists(random, 3000, 3)}
	want := union(t, 1, lists...)
	for _, threads := range []int{1, 2, 5} {
		for asked := 0; ; asked++ {
			ctx := lapse.After(t.Context(), asked)
			got, err := pair.Union(ctx, lists, threads)
			if err == nil {
				if !reflect.DeepEqual(got, want) || asked < 5 {
					t.Errorf("%d threads: part of a set after %d questions", threads, asked)
				}
				break
			}
			if got != nil || !errors.Is(err, context.Canceled) {
				t.Fatalf("%d threads: %v, %v after %d questions", threads, got != nil, err, asked)
			}
		}
	}
}

// numbers returns a set of pairs of n samples, of which each is in it with the given
// probability.
func numbers(random *rand.Rand, n int, density float64) *pair.Set {
	s := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, 1, n+1)}}
	for p := range n {
		for q := p + 1; q < n; q++ {
			if random.Float64() < density {
				s.Partners.Values = append(s.Partners.Values, int32(q))
			}
		}
		s.Partners.Offsets = append(s.Partners.Offsets, len(s.Partners.Values))
	}
	return s
}

// list returns the pairs by number.
func list(s *pair.Set) [][2]int {
	var pairs [][2]int
	for p := range s.Samples() {
		for _, q := range s.Of(p) {
			pairs = append(pairs, [2]int{p, int(q)})
		}
	}
	return pairs
}

func TestThin(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		n := random.IntN(20)
		s := numbers(random, n, random.Float64()*random.Float64())
		before := &pair.Set{Partners: sparse.Rows[int32]{Offsets: slices.Clone(s.Partners.Offsets), Values: slices.Clone(s.Partners.Values)}}
		all := list(s)
		for limit := range s.Len() + 3 {
			thin := s.Thin(limit)
			if limit >= s.Len() {
				if thin != s {
					t.Fatalf("of %d pairs, %d at most are not the set itself", s.Len(), limit)
				}
				continue
			}
			var want [][2]int
			for k := range limit {
				want = append(want, all[k*len(all)/limit])
			}
			if got := list(thin); !slices.Equal(got, want) || thin.Len() != limit || thin.Samples() != n {
				t.Fatalf("%d of %v are %v, want %v", limit, all, got, want)
			}
		}
		if !reflect.DeepEqual(s, before) {
			t.Fatal("the set was changed")
		}
	}
}

// TestPart cuts sets in two and three, at every place.
func TestPart(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		n := random.IntN(14)
		s := numbers(random, n, random.Float64())
		before := &pair.Set{Partners: sparse.Rows[int32]{Offsets: slices.Clone(s.Partners.Offsets), Values: slices.Clone(s.Partners.Values)}}
		all := list(s)
		for lo := range n + 1 {
			for hi := lo; hi <= n; hi++ {
				part := s.Part(lo, hi)
				if part.Samples() != n || part.Len() != len(part.Partners.Values) || part.Partners.Offsets[0] != 0 || part.Partners.Offsets[n] != part.Len() || !slices.IsSorted(part.Partners.Offsets) {
					t.Fatalf("the part from %d to %d has the offsets %v and %d pairs of %d samples", lo, hi, part.Partners.Offsets, part.Len(), part.Samples())
				}
				var want [][2]int
				for _, p := range all {
					if p[0] >= lo && p[0] < hi {
						want = append(want, p)
					}
				}
				if got := list(part); !slices.Equal(got, want) {
					t.Fatalf("the part from %d to %d of %v is %v", lo, hi, all, got)
				}
				together := slices.Concat(list(s.Part(0, lo)), list(part), list(s.Part(hi, n)))
				if !slices.Equal(together, all) {
					t.Fatalf("the parts of %v up to %d, up to %d and beyond are %v", all, lo, hi, together)
				}
			}
		}
		if !reflect.DeepEqual(s, before) {
			t.Fatal("the set was changed")
		}
	}
}

// TestSimilaritiesOfParts holds that cutting a set in parts, or thinning it, changes
// no similarity.
func TestSimilaritiesOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	const n = 70
	_, spaces := randomSpaces(t, random, n, 0.3)
	s := numbers(random, n, 0.2)
	similarities := func(s *pair.Set) [][]float32 {
		w, err := s.Similarities(t.Context(), spaces, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	same := func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }
	whole := similarities(s)
	for _, size := range []int{1, 2, 16, 33, n} { // samples of a part
		parts := make([][]float32, len(spaces))
		for lo := 0; lo < n; lo += size {
			for m, w := range similarities(s.Part(lo, min(lo+size, n))) {
				parts[m] = append(parts[m], w...)
			}
		}
		for m := range spaces {
			if !slices.EqualFunc(parts[m], whole[m], same) {
				t.Errorf("view %d: the similarities of parts of %d samples are not those of the whole", m, size)
			}
		}
	}
	for _, limit := range []int{0, 1, 10, s.Len() - 1, s.Len()} {
		for m, got := range similarities(s.Thin(limit)) {
			want := make([]float32, limit)
			for k := range want {
				want[k] = whole[m][sparse.Spaced(k, limit, s.Len())]
			}
			if !slices.EqualFunc(got, want, same) {
				t.Errorf("view %d: the similarities of %d pairs are not those of the whole", m, limit)
			}
		}
	}
}

func BenchmarkUnion(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	lists := []*neighbour.Lists{randomLists(random, 1000, 60), randomLists(random, 1000, 60), randomLists(random, 1000, 60)}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				union(b, threads, lists...)
			}
		})
	}
}

func BenchmarkSimilarities(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	_, spaces := randomSpaces(b, random, 1000, 0.1)
	s := union(b, 1, randomLists(random, 1000, 60))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Similarities(b.Context(), spaces, 1, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(s.Len()*len(spaces))/b.Elapsed().Seconds(), "similarities/s")
}
