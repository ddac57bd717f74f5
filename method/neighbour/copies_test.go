package neighbour_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// copiedView has n rows that are drawn from a number of distinct ones. class tells which.
func copiedView(random *rand.Rand, n, distinct, dims int, missing float64) (v *view.View, class []int) {
	rows := normalView(random, max(2, distinct), dims, 0)
	v, class = normalView(random, n, dims, missing), make([]int, n)
	for i := range n {
		class[i] = random.IntN(distinct)
		if i < distinct {
			class[i] = i
		}
		copy(v.Row(i), rows.Row(class[i]))
	}
	return v, class
}

// checkTogether checks that rows of one class have the same neighbours but for themselves and
// the last one, which makes room for a row that is among the neighbours of the others.
func checkTogether(t *testing.T, s *similarity.Space, l *neighbour.Lists, class []int) {
	t.Helper()
	first := map[int]int{}
	for i, c := range class {
		if !s.Has(i) {
			continue
		}
		f, ok := first[c]
		if !ok {
			first[c] = i
			continue
		}
		for _, pair := range [][2]int{{f, i}, {i, f}} {
			of, others := l.Of(pair[0]), l.Of(pair[1])
			for e, j := range of[:len(of)-1] {
				if int(j) != pair[1] && !slices.Contains(others, j) {
					t.Fatalf("samples %d and %d are equal, and neighbour %d, at place %d of the first, is none of the second", pair[0], pair[1], j, e)
				}
			}
		}
	}
}

// TestCopies searches rows of which many are equal: none is separated from its copies, and
// where there are few distinct rows, the lists are those of an exact search.
func TestCopies(t *testing.T) {
	for _, m := range metrics {
		for _, c := range []struct{ n, distinct, k int }{
			{1999, 2, 10}, {2001, 2, 10}, // the least number of rows for an approximate search
			{4000, 10, 7}, {4200, 1, 10}, // pieces of 4096
			{3000, 1999, 10}, {3000, 2001, 10}, // the least number of distinct rows
		} {
			t.Run(fmt.Sprint(m, c.n, c.distinct), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(c.n), uint64(m)))
				v, class := copiedView(random, c.n, c.distinct, 3, 0.1)
				if c.distinct == 1 {
					v.Row(0)[0], class[0] = 40, 1 // a view in which all rows are equal is refused
				}
				order := random.Perm(c.n)
				s := newSpace(t, v, m, order)
				numbered := make([]int, c.n)
				for i, from := range order {
					numbered[i] = class[from]
				}
				l, exact := found(t, s, c.k, 3, neighbour.Settings{}, 2), search(t, s, c.k, 2)
				checkTogether(t, s, l, numbered)
				checkTogether(t, s, exact, numbered)
				if c.distinct < 2000 && !slices.Equal(l.Values, exact.Values) {
					t.Error("the lists differ from those of an exact search")
				}
				if got := recall(s, exact, l); got < neighbour.DefaultRecall-0.02 {
					t.Errorf("recall %v, said to be %v", got, l.Search.Recall)
				}
			})
		}
	}
}

// TestCopiesAuto has as many rows as Auto searches approximately, and fewer.
func TestCopiesAuto(t *testing.T) {
	for n, distinct := range map[int]int{29_999: 2000, 31_000: 2} {
		v, class := copiedView(rand.New(rand.NewPCG(1, 1)), n, distinct, 1, 0)
		s := newSpace(t, v, similarity.L2, nil)
		last := 0
		l, err := neighbour.Search(t.Context(), s, 20, 0, neighbour.Settings{}, 2, func(done int) {
			if done <= last {
				t.Errorf("progress went from %d to %d", last, done)
			}
			last = done
		})
		if err != nil || last != n {
			t.Fatalf("progress ended at %d of %d, %v", last, n, err)
		}
		checkTogether(t, s, l, class)
	}
}

// TestCopiesThreads holds that copies come out alike for any number of threads.
func TestCopiesThreads(t *testing.T) {
	v, _ := copiedView(rand.New(rand.NewPCG(2, 2)), 5000, 3000, 4, 0.1)
	s := newSpace(t, v, similarity.Cosine, nil)
	want := found(t, s, 12, 3, neighbour.Settings{}, 1)
	for _, threads := range []int{0, 2, 5} {
		if got := found(t, s, 12, 3, neighbour.Settings{}, threads); got.Search != want.Search || !slices.Equal(got.Values, want.Values) {
			t.Errorf("%d threads: %+v, one: %+v", threads, got.Search, want.Search)
		}
	}
}

// TestCopiesOfOneRow searches a part of a space in which all rows are equal.
func TestCopiesOfOneRow(t *testing.T) {
	v := &view.View{Name: "v", Samples: 2500, Dims: 2, Data: make([]float32, 5000)}
	for i := range v.Data {
		v.Data[i] = 1
	}
	s, err := similarity.Part(t.Context(), v, similarity.L2, 2)
	if err != nil {
		t.Fatal(err)
	}
	l := found(t, s, 5, 0, neighbour.Settings{}, 2)
	if got := l.Of(2000); !slices.Equal(got, []int32{0, 1, 2, 3, 4}) {
		t.Errorf("neighbours %v", got)
	}
}

// TestIndexCopies searches an index of many copies, with fewer rows than make cells and more:
// equal new rows have the same neighbours.
func TestIndexCopies(t *testing.T) {
	for _, c := range []struct{ n, distinct int }{{9999, 300}, {10_001, 300}, {10_001, 5000}} {
		for _, m := range []similarity.Metric{similarity.Cosine, similarity.L1, similarity.L2} {
			v, class := copiedView(rand.New(rand.NewPCG(3, uint64(m))), c.n, c.distinct, 3, 0)
			s := newSpace(t, v, m, nil)
			x, err := neighbour.NewIndex(t.Context(), s, 10, 0, neighbour.Settings{}, 2)
			if err != nil {
				t.Fatal(err)
			}
			const queries = 1000
			part := &view.View{Name: "v", Samples: queries, Dims: v.Dims, Data: v.Data[(c.n-queries)*v.Dims:]}
			q, err := s.Queries(t.Context(), part, false, 2)
			if err != nil {
				t.Fatal(err)
			}
			got, err := x.Search(t.Context(), q, nil, 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			first := map[int]int{}
			for i := range queries {
				f, ok := first[class[c.n-queries+i]]
				if !ok {
					first[class[c.n-queries+i]] = i
					continue
				}
				a, _ := got.Of(f)
				if b, _ := got.Of(i); !slices.Equal(a, b) {
					t.Fatalf("%v, %d rows: equal rows have the neighbours %v and %v", m, c.n, a, b)
				}
			}
		}
	}
}
