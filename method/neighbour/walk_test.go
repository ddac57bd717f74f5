package neighbour_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// listsOf returns lists of the given neighbours.
func listsOf(neighbours ...[]int32) *neighbour.Lists {
	l := &neighbour.Lists{Rows: sparse.Rows[int32]{Offsets: []int{0}}}
	for _, of := range neighbours {
		l.Append(of...)
	}
	return l
}

// randomLists draws lists of up to limit neighbours; a share of the samples have none.
func randomLists(random *rand.Rand, n, limit int, missing float64) *neighbour.Lists {
	all := make([][]int32, n)
	for i := range all {
		if random.Float64() < missing {
			continue
		}
		for _, j := range random.Perm(n)[:min(n, random.IntN(limit+1))] {
			if j != i {
				all[i] = append(all[i], int32(j))
			}
		}
	}
	return listsOf(all...)
}

func walk(t testing.TB, lists ...*neighbour.Lists) []int {
	t.Helper()
	order, err := neighbour.Walk(t.Context(), lists, 2)
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]bool, lists[0].Len())
	for _, i := range order {
		if seen[i] {
			t.Fatalf("sample %d is listed twice", i)
		}
		seen[i] = true
	}
	if len(order) != len(seen) {
		t.Fatalf("%d of %d samples are listed", len(order), len(seen))
	}
	return order
}

func TestWalkKnown(t *testing.T) {
	for _, c := range []struct {
		name  string
		lists []*neighbour.Lists
		want  []int
	}{
		{"nothing", []*neighbour.Lists{listsOf()}, []int{}},
		{"no neighbours", []*neighbour.Lists{listsOf(nil, nil, nil)}, []int{0, 1, 2}},
		{"nearest first", []*neighbour.Lists{listsOf([]int32{3, 1}, []int32{0, 2}, []int32{1, 4}, []int32{0, 4}, []int32{3, 2})}, []int{0, 3, 1, 4, 2}},
		{"two parts", []*neighbour.Lists{listsOf([]int32{2}, []int32{3}, []int32{0}, []int32{1})}, []int{0, 2, 1, 3}},
		// The first neighbours of every view come before the second ones.
		{"two views", []*neighbour.Lists{listsOf([]int32{4, 1}, nil, nil, nil, nil), listsOf([]int32{3, 2}, nil, nil, nil, nil)}, []int{0, 3, 4, 1, 2}},
		{"no further than five", []*neighbour.Lists{listsOf([]int32{7, 6, 5, 4, 3, 2}, nil, nil, nil, nil, nil, nil, nil)}, []int{0, 7, 6, 5, 4, 3, 1, 2}},
	} {
		if got := walk(t, c.lists...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	// A chain longer than any batch is one walk, for a batch begins beside the last.
	way := append([]int{0}, rand.New(rand.NewPCG(6, 6)).Perm(2999)...)
	chain := make([][]int32, len(way))
	for at := range way {
		if at > 0 {
			way[at]++
			chain[way[at-1]] = []int32{int32(way[at])}
		}
	}
	if got := walk(t, listsOf(chain...)); !slices.Equal(got, way) {
		t.Error("a chain is not walked from end to end")
	}
}

// TestWalkViews gives the lists in every order: the walk is the same.
func TestWalkViews(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		n := 1 + random.IntN(900)
		views := make([]*neighbour.Lists, 3)
		for m := range views {
			views[m] = randomLists(random, n, 8, 0.3)
		}
		want := walk(t, views...)
		for _, turn := range [][]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			if got := walk(t, views[turn[0]], views[turn[1]], views[turn[2]]); !slices.Equal(got, want) {
				t.Fatalf("%d samples: in the order %v the views give another walk", n, turn)
			}
		}
	}
}

// TestWalkNear holds the walk to its purpose: in its order, neighbours are close to
// each other.
func TestWalkNear(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	const n = 6000
	v := classView(random, n, 8, 60, 0.2)
	s := newSpace(t, v, similarity.Cosine, random.Perm(n))
	l := search(t, s, 5, 2)
	renumbered, err := l.Gather(t.Context(), walk(t, l), 2)
	if err != nil {
		t.Fatal(err)
	}
	distance := func(l *neighbour.Lists) (sum float64) {
		for i := range n {
			for _, j := range l.Of(i) {
				sum += float64(max(i-int(j), int(j)-i)) / float64(len(l.Values))
			}
		}
		return sum
	}
	if before, after := distance(l), distance(renumbered); !(after < before/2) {
		t.Errorf("neighbours are %.0f places apart, %.0f before the walk", after, before)
	}
}

// TestGather holds that lists are renumbered as the samples are, threads or not, and
// that the first ones stay as they are.
func TestGather(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 2, 50, 1023, 1024, 2500} {
		l := randomLists(random, n, 10, 0.2)
		l.Search = neighbour.Report{Method: neighbour.Approximate, Recall: 0.98, Checked: 7, Cells: 5, Probes: 3, Passes: 2, Widened: 1}
		before := &neighbour.Lists{Rows: sparse.Rows[int32]{Offsets: slices.Clone(l.Offsets), Values: slices.Clone(l.Values)}, Search: l.Search}
		order := random.Perm(n)
		for _, threads := range []int{0, 1, 3} {
			got, err := l.Gather(t.Context(), order, threads)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Offsets) != n+1 || got.Search != l.Search {
				t.Fatalf("%d offsets for %d samples, %+v", len(got.Offsets), n, got.Search)
			}
			for i, from := range order {
				mapped := make([]int32, 0, 10)
				for _, j := range got.Of(i) {
					mapped = append(mapped, int32(order[j]))
				}
				if !slices.Equal(mapped, l.Of(from)) {
					t.Fatalf("%d samples: sample %d has the neighbours %v, want %v", n, from, mapped, l.Of(from))
				}
			}
		}
		if !reflect.DeepEqual(l, before) {
			t.Fatal("the lists have changed")
		}
	}
}

// TestGatherSpace holds that renumbered lists are those of the renumbered space,
// where there are no ties.
func TestGatherSpace(t *testing.T) {
	for _, m := range metrics {
		random := rand.New(rand.NewPCG(4, uint64(m)))
		const n = 120
		s := newSpace(t, normalView(random, n, 20, 0.3), m, random.Perm(n))
		l := search(t, s, 10, 2)
		if hasTies(s, search(t, s, n, 2)) {
			t.Fatalf("%v: there are ties", m)
		}
		order := walk(t, l)
		got, err := l.Gather(t.Context(), order, 2)
		if err != nil {
			t.Fatal(err)
		}
		if want := search(t, s.Gather(order), 10, 2); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: the lists are not those of the space", m)
		}
	}
}

// TestWalkCancel ends the context at every place that checks it.
func TestWalkCancel(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	l := randomLists(random, 3000, 6, 0.1)
	for name, do := range map[string]func(ctx context.Context) (whole bool, err error){
		"Walk": func(ctx context.Context) (bool, error) {
			order, err := neighbour.Walk(ctx, []*neighbour.Lists{l}, 2)
			return order != nil, err
		},
		"Gather": func(ctx context.Context) (bool, error) {
			out, err := l.Gather(ctx, random.Perm(3000), 2)
			return out != nil, err
		},
	} {
		for n := 0; ; n += 1 + n/10 {
			ctx := lapse.After(t.Context(), n)
			whole, err := do(ctx)
			if err == nil {
				if !whole || n < 3 {
					t.Errorf("%s: the context was asked %d times in all", name, n)
				}
				break
			}
			if whole || !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: a result (%v), error %v after %d questions", name, whole, err, n)
			}
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	s := newSpace(b, classView(rand.New(rand.NewPCG(1, 1)), 20000, 8, 400, 0), similarity.Cosine, nil)
	l := search(b, s, 20, 0)
	b.ReportAllocs()
	for b.Loop() {
		walk(b, l, l)
	}
}
