package neighbour_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// parted returns a space of the first samples of a view and the others as queries; every
// seventh sample lacks the view.
func parted(t testing.TB, metric similarity.Metric, samples, known, classes int) (*similarity.Space, *view.View, *similarity.Queries) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: samples, Classes: classes, Dims: []int{40}, Noise: []float64{0.7}})
	if err != nil {
		t.Fatal(err)
	}
	v := set.Views[0]
	v.Present = make([]bool, samples)
	for i := range samples {
		v.Present[i] = i%7 != 3
	}
	part := func(lo, hi int) *view.View {
		return &view.View{Name: v.Name, Samples: hi - lo, Dims: v.Dims, Data: v.Data[lo*v.Dims : hi*v.Dims], Present: v.Present[lo:hi]}
	}
	s, err := similarity.NewSpace(t.Context(), part(0, known), metric, nil, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Queries(t.Context(), part(known, samples), false, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s, v, q
}

// The neighbours that an index of few rows finds are the most alike of all.
func TestIndexIsExact(t *testing.T) {
	for _, metric := range metrics {
		for _, k := range []int{1, 10, 400} {
			t.Run(fmt.Sprint(metric, k), func(t *testing.T) {
				s, _, q := parted(t, metric, 300, 200, 5)
				x, err := neighbour.NewIndex(t.Context(), s, k, 0, neighbour.Settings{}, 2)
				if err != nil {
					t.Fatal(err)
				}
				found, err := x.Search(t.Context(), q, nil, 2, nil)
				if err != nil {
					t.Fatal(err)
				}
				all := make([]float32, s.Samples)
				for i := range q.Samples {
					index, similarity := found.Of(i)
					if !q.Has(i) {
						if len(index) > 0 {
							t.Fatalf("row %d is absent and has neighbours", i)
						}
						continue
					}
					if want := min(k, s.Count()-1); len(index) != want {
						t.Fatalf("row %d has %d neighbours, want %d", i, len(index), want)
					}
					others := make([]int32, s.Samples)
					for j := range others {
						others[j] = int32(j)
					}
					q.Similarities(all, i, others)
					slices.SortStableFunc(others, func(a, b int32) int {
						switch x, y := all[a], all[b]; {
						case x != x || y != y:
							return boolOrder(x != x, y != y)
						case x > y:
							return -1
						case x < y:
							return 1
						}
						return 0
					})
					if !slices.Equal(index, others[:len(index)]) {
						t.Fatalf("row %d has neighbours %v, want %v", i, index, others[:len(index)])
					}
					for e, j := range index {
						if similarity[e] != all[j] {
							t.Fatalf("row %d: similarity %v with %d, want %v", i, similarity[e], j, all[j])
						}
					}
				}
			})
		}
	}
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Asked for its own samples, an index finds what Search does.
func TestIndexFindsWhatSearchDoes(t *testing.T) {
	s, v, _ := parted(t, similarity.Cosine, 500, 500, 5)
	q, err := s.Queries(t.Context(), v, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	self := make([]int32, s.Samples)
	for i := range self {
		self[i] = int32(i)
	}
	x, err := neighbour.NewIndex(t.Context(), s, 20, 0, neighbour.Settings{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	found, err := x.Search(t.Context(), q, self, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := neighbour.Search(t.Context(), s, 20, 0, neighbour.Settings{}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found.Index, want.Values) || !slices.Equal(found.Offsets, want.Offsets) {
		t.Error("the index and the search differ")
	}
}

// An index of many rows keeps its promise on rows that it has not seen, and finds the same
// whatever the threads, and whatever is asked beside a row.
func TestIndexOfManyRows(t *testing.T) {
	s, v, q := parted(t, similarity.Cosine, 12_500, 12_000, 30)
	x, err := neighbour.NewIndex(t.Context(), s, 20, 0, neighbour.Settings{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	report := x.Report()
	if report.Method != neighbour.Approximate || report.Recall < neighbour.DefaultRecall || report.Probes < 1 {
		t.Errorf("the index reports %+v", report)
	}
	found, err := x.Search(t.Context(), q, nil, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := neighbour.NewIndex(t.Context(), s, 20, 0, neighbour.Settings{Method: neighbour.Exact}, 2)
	if err != nil {
		t.Fatal(err)
	}
	want, err := plain.Search(t.Context(), q, nil, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for i := range q.Samples {
		index, _ := found.Of(i)
		truth, _ := want.Of(i)
		for _, j := range truth {
			if slices.Contains(index, j) {
				hits++
			}
		}
	}
	recall := float64(hits) / float64(len(want.Index))
	t.Logf("recall %.3f of rows that are not in the index, with %+v", recall, report)
	if recall < neighbour.DefaultRecall-0.02 {
		t.Errorf("recall %v", recall)
	}
	again, err := neighbour.NewIndex(t.Context(), s, 20, 0, neighbour.Settings{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		at := 12_000 + i
		one := &view.View{Name: "one", Samples: 1, Dims: v.Dims, Data: v.Data[at*v.Dims : (at+1)*v.Dims], Present: v.Present[at : at+1]}
		q1, err := s.Queries(t.Context(), one, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := again.Search(t.Context(), q1, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if index, _ := found.Of(i); !slices.Equal(alone.Index, index) {
			t.Fatalf("row %d alone has neighbours %v, among others %v", i, alone.Index, index)
		}
	}
}

// Rows that are all alike lie in a few cells and leave the others next to empty.
func TestIndexOfEqualRows(t *testing.T) {
	const n, d = 10_000, 8
	data := make([]float32, n*d)
	for i := range n {
		data[i*d+i%2] = 1
		if i >= n-30 {
			data[i*d+2+i%6] = float32(i)
		}
	}
	v := &view.View{Name: "v", Samples: n, Dims: d, Data: data}
	s, err := similarity.NewSpace(t.Context(), v, similarity.L2, nil, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := neighbour.NewIndex(t.Context(), s, 50, 0, neighbour.Settings{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Queries(t.Context(), &view.View{Name: "q", Samples: 2, Dims: d, Data: data[(n-2)*d:]}, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	found, err := x.Search(t.Context(), q, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		index, similarity := found.Of(i)
		if index[0] != int32(n-2+i) || similarity[0] != 0 || len(index) != 50 {
			t.Errorf("row %d has %d neighbours, the nearest %d at %v", i, len(index), index[0], similarity[0])
		}
		for e := range index[1:] {
			if index[e] == index[e+1] || similarity[e] < similarity[e+1] {
				t.Fatalf("neighbours %v at %v are not different ones, most alike first", index, similarity)
			}
		}
	}
}

func TestIndexEndsWithItsContext(t *testing.T) {
	s, _, q := parted(t, similarity.Cosine, 300, 200, 5)
	x, err := neighbour.NewIndex(t.Context(), s, 10, 0, neighbour.Settings{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, q, nil, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := neighbour.NewIndex(ctx, s, 10, 0, neighbour.Settings{}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestQueriesRefuse(t *testing.T) {
	s, _, _ := parted(t, similarity.L3, 300, 200, 5)
	for _, c := range []struct {
		name string
		dims int
		x    float32
	}{
		{"other dimensions", 39, 1},
		{"beyond the range", 40, math.MaxFloat32 / 2},
	} {
		v := &view.View{Name: "q", Samples: 1, Dims: c.dims, Data: make([]float32, c.dims)}
		v.Data[0] = c.x
		_, err := s.Queries(t.Context(), v, false, 0)
		if _, ok := errors.AsType[*view.InputError](err); !ok {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// BenchmarkIndex has 2,000 rows against 100,000 of 384 dimensions, of which far fewer would
// do, as of samples read in several ways.
func BenchmarkIndex(b *testing.B) {
	const known, rows = 100_000, 2000
	set, err := synth.Generate(synth.Config{Samples: known + rows, Classes: 100, Dims: []int{384}, Views: 1})
	if err != nil {
		b.Fatal(err)
	}
	part := func(lo, hi int) *view.View {
		return &view.View{Samples: hi - lo, Dims: 384, Data: set.Views[0].Data[lo*384 : hi*384]}
	}
	s, err := similarity.NewSpace(b.Context(), part(0, known), similarity.Cosine, nil, false, 0)
	if err != nil {
		b.Fatal(err)
	}
	q, err := s.Queries(b.Context(), part(known, known+rows), false, 0)
	if err != nil {
		b.Fatal(err)
	}
	for _, method := range []neighbour.Method{neighbour.Auto, neighbour.Exact} {
		settings := neighbour.Settings{Method: method}
		x, err := neighbour.NewIndex(b.Context(), s, 80, 0, settings, 0)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("new/"+method.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := neighbour.NewIndex(b.Context(), s, 80, 0, settings, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("search/"+method.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Search(b.Context(), q, nil, 0, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
