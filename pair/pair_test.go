package pair_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/neighbour"
	"github.com/mvclust/mvclust/pair"
	"github.com/mvclust/mvclust/similarity"
	"github.com/mvclust/mvclust/view"
)

// randomLists gives every one of n samples between none and most neighbours, in
// no order.
func randomLists(random *rand.Rand, n, most int) *neighbour.Lists {
	l := &neighbour.Lists{Offsets: make([]int, 1, n+1)}
	for i := range n {
		count := 0
		if most > 0 {
			count = random.IntN(most + 1)
		}
		for _, j := range random.Perm(n) {
			if j != i && count > 0 {
				l.Index = append(l.Index, int32(j))
				count--
			}
		}
		l.Offsets = append(l.Offsets, len(l.Index))
	}
	l.Similarity = make([]float32, len(l.Index))
	return l
}

// reference collects the pairs in a map.
func reference(lists []*neighbour.Lists) map[[2]int]bool {
	pairs := map[[2]int]bool{}
	for _, l := range lists {
		for i := range len(l.Offsets) - 1 {
			for _, j := range l.Of(i) {
				pairs[[2]int{min(i, int(j)), max(i, int(j))}] = true
			}
		}
	}
	return pairs
}

func TestUnion(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := random.IntN(40)
		lists := make([]*neighbour.Lists, 1+random.IntN(4))
		for m := range lists {
			lists[m] = randomLists(random, n, random.IntN(8))
		}
		s := pair.Union(lists...)
		want := reference(lists)
		if s.Samples() != n || s.Len() != len(want) || len(s.Offsets) != n+1 || s.Offsets[0] != 0 || s.Offsets[n] != s.Len() {
			t.Fatalf("%d pairs of %d samples with offsets %v, want %d pairs of %d", s.Len(), s.Samples(), s.Offsets, len(want), n)
		}
		for p := range n {
			partners := s.Second[s.Offsets[p]:s.Offsets[p+1]]
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
	before := slices.Clone(a.Index)
	want := pair.Union(a, b)
	for _, lists := range [][]*neighbour.Lists{{b, a}, {a, b, a}, {b, b, a, a}} {
		got := pair.Union(lists...)
		if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Second, want.Second) {
			t.Errorf("%d pairs, want %d", got.Len(), want.Len())
		}
	}
	if !slices.Equal(a.Index, before) {
		t.Error("a list was changed")
	}
}

func TestEmpty(t *testing.T) {
	if zero := (&pair.Set{}); zero.Samples() != 0 || zero.Len() != 0 {
		t.Errorf("the zero value has %d pairs of %d samples", zero.Len(), zero.Samples())
	}
	for _, n := range []int{0, 1, 5} {
		s := pair.Union(&neighbour.Lists{Offsets: make([]int, n+1)})
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
		s, err := similarity.NewSpace(v, m, nil)
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
		s := pair.Union(randomLists(random, n, 6), randomLists(random, n, 6))
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
					for e := s.Offsets[p]; e < s.Offsets[p+1]; e++ {
						q, got := int(s.Second[e]), w[m][e]
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
	s := pair.Union(randomLists(random, 200, 10))
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

func BenchmarkUnion(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	lists := []*neighbour.Lists{randomLists(random, 1000, 60), randomLists(random, 1000, 60), randomLists(random, 1000, 60)}
	b.ReportAllocs()
	for b.Loop() {
		pair.Union(lists...)
	}
}

func BenchmarkSimilarities(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	_, spaces := randomSpaces(b, random, 1000, 0.1)
	s := pair.Union(randomLists(random, 1000, 60))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Similarities(b.Context(), spaces, 1, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(s.Len()*len(spaces))/b.Elapsed().Seconds(), "similarities/s")
}
