package neighbour_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// classView has normal classes of sizes that fall like 1/rank, around centres of the
// same spread.
func classView(random *rand.Rand, n, dims, classes int, missing float64) *view.View {
	centres := make([]float32, classes*dims)
	for i := range centres {
		centres[i] = float32(random.NormFloat64())
	}
	class, at := 0, 0
	return newView(random, n, dims, missing, func() float32 {
		if at%dims == 0 {
			class = int(math.Pow(float64(classes), random.Float64())) - 1
		}
		at++
		return centres[class*dims+(at-1)%dims] + 0.6*float32(random.NormFloat64())
	})
}

// found searches approximately and checks that the lists are whole and in order.
func found(t *testing.T, s *similarity.Space, k int, seed uint64, settings neighbour.Settings, threads int) *neighbour.Lists {
	t.Helper()
	settings.Method = neighbour.Approximate
	l, err := neighbour.Search(t.Context(), s, k, seed, settings, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]int, s.Samples)
	for i := range s.Samples {
		of := l.Of(i)
		if want := min(k, s.Count()-1); s.Has(i) && len(of) != want || !s.Has(i) && len(of) > 0 {
			t.Fatalf("sample %d has %d neighbours, want %d", i, len(of), want)
		}
		var last float32
		for e, j := range of {
			if int(j) == i || seen[j] == i+1 {
				t.Fatalf("sample %d has the neighbour %d, which is itself or twice there", i, j)
			}
			seen[j] = i + 1
			x := s.Similarity(i, int(j))
			if e > 0 && (x > last || x == last && j < of[e-1]) {
				t.Fatalf("the neighbours of sample %d are out of order at place %d", i, e)
			}
			last = x
		}
	}
	return l
}

// recall is the share of the entries of l that are as alike as the last of exact.
func recall(s *similarity.Space, exact, l *neighbour.Lists) float64 {
	hits := 0
	for i := range s.Samples {
		for _, j := range l.Of(i) {
			if last := exact.Values[l.Offsets[i+1]-1]; s.Similarity(i, int(j)) >= s.Similarity(i, int(last)) {
				hits++
			}
		}
	}
	return float64(hits) / float64(len(l.Values))
}

func TestApproximate(t *testing.T) {
	for _, m := range metrics {
		t.Run(m.String(), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(m)))
			s := newSpace(t, classView(random, 6000, 8, 60, 0.2), m, random.Perm(6000))
			for _, k := range []int{5, 30} {
				l := found(t, s, k, 1, neighbour.Settings{}, 2)
				r := l.Search
				if r.Method != neighbour.Approximate || r.Recall < neighbour.DefaultRecall || r.Checked < 200 || r.Cells == 0 || r.Probes == 0 {
					t.Errorf("k=%d: %+v", k, r)
				}
				if truly := recall(s, search(t, s, k, 2), l); math.Abs(truly-r.Recall) > 0.015 {
					t.Errorf("k=%d: the recall is %v, said to be %v", k, truly, r.Recall)
				}
			}
		})
	}
}

func TestApproximateThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	s := newSpace(t, classView(random, 5000, 6, 50, 0.1), similarity.Cosine, nil)
	want := found(t, s, 12, 3, neighbour.Settings{}, 1)
	for _, threads := range []int{0, 2, 5} {
		got := found(t, s, 12, 3, neighbour.Settings{}, threads)
		if got.Search != want.Search || !slices.Equal(got.Values, want.Values) {
			t.Errorf("%d threads: %+v, one: %+v", threads, got.Search, want.Search)
		}
	}
}

// TestRecallWanted asks for ever more: the cells probed rise, and all of them are an
// exact search.
func TestRecallWanted(t *testing.T) {
	s := newSpace(t, classView(rand.New(rand.NewPCG(3, 3)), 5000, 8, 50, 0), similarity.L2, nil)
	last := 0
	for _, wanted := range []float64{0.5, 0.9, 0.97} {
		r := found(t, s, 10, 0, neighbour.Settings{Recall: wanted}, 2).Search
		if r.Recall < wanted || r.Probes <= last {
			t.Errorf("recall %v: %+v after %d probes", wanted, r, last)
		}
		last = r.Probes
	}
	l := found(t, s, 10, 0, neighbour.Settings{Recall: 1}, 2)
	if want := (neighbour.Report{Method: neighbour.Exact, Recall: 1, Cells: l.Search.Cells, Widened: 1}); l.Search != want || l.Search.Cells == 0 {
		t.Errorf("recall 1: %+v", l.Search)
	}
}

// TestHard searches data without any parts, in which no cell is a good guess.
func TestHard(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	s := newSpace(t, newView(random, 2500, 64, 0, random.Float32), similarity.L2, nil)
	l, exact := found(t, s, 10, 0, neighbour.Settings{}, 2), search(t, s, 10, 2)
	if l.Search.Method != neighbour.Exact || l.Search.Widened == 0 || l.Search.Recall != 1 || l.Search.Checked != 0 {
		t.Errorf("%+v", l.Search)
	}
	if !slices.Equal(l.Values, exact.Values) {
		t.Error("the lists differ from those of an exact search")
	}
}

// TestFew holds that few samples are searched exactly, whatever the method.
func TestFew(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct{ n, k int }{{2, 1}, {100, 5}, {1999, 5}, {2100, 300}} {
		s := newSpace(t, normalView(random, c.n, 3, 0), similarity.Cosine, nil)
		l, exact := found(t, s, c.k, 0, neighbour.Settings{}, 2), search(t, s, c.k, 2)
		if l.Search != (neighbour.Report{Method: neighbour.Exact, Recall: 1}) || !slices.Equal(l.Values, exact.Values) {
			t.Errorf("%d samples, %d neighbours: %+v", c.n, c.k, l.Search)
		}
	}
}

// TestEqualRows searches views of a few different rows, of which any number are
// equal to any row.
func TestEqualRows(t *testing.T) {
	for _, n := range []int{3000, 9000} {
		for _, m := range []similarity.Metric{similarity.Cosine, similarity.L2} {
			random := rand.New(rand.NewPCG(6, uint64(m)))
			s := newSpace(t, gridView(random, n, 3, 2, 0.1), m, nil)
			l := found(t, s, 10, 0, neighbour.Settings{}, 2)
			if r := recall(s, search(t, s, 10, 2), l); r < 0.99 || l.Search.Recall < 0.99 {
				t.Errorf("%v, %d samples: recall %v, said to be %v", m, n, r, l.Search.Recall)
			}
		}
	}
}

func TestApproximateProgress(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	easy, hard := classView(random, 4000, 8, 50, 0.1), newView(random, 2500, 40, 0, random.Float32)
	for _, v := range []*view.View{easy, hard} {
		s := newSpace(t, v, similarity.L2, nil)
		last, calls := 0, 0
		_, err := neighbour.Search(t.Context(), s, 10, 0, neighbour.Settings{Method: neighbour.Approximate}, 3, func(done int) {
			if done <= last {
				t.Errorf("progress went from %d to %d", last, done)
			}
			last = done
			calls++
		})
		if err != nil || last != s.Count() || calls < 10 {
			t.Errorf("progress ended at %d of %d after %d calls, %v", last, s.Count(), calls, err)
		}
	}
}

// TestApproximateCancel ends the context at places all over a search.
func TestApproximateCancel(t *testing.T) {
	s := newSpace(t, classView(rand.New(rand.NewPCG(8, 8)), 2500, 4, 50, 0), similarity.Cosine, nil)
	for n := 0; ; n += 1 + n/3 {
		ctx := lapse.After(t.Context(), n)
		l, err := neighbour.Search(ctx, s, 5, 0, neighbour.Settings{Method: neighbour.Approximate}, 2, nil)
		if err == nil {
			if n < 100 {
				t.Errorf("the context was asked %d times in all", n)
			}
			break
		}
		if l != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("lists %v, error %v after %d questions", l, err, n)
		}
	}
}

// TestAuto holds that the method is chosen by the number of samples.
func TestAuto(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for n, want := range map[int]neighbour.Method{5000: neighbour.Exact, 31000: neighbour.Approximate} {
		s := newSpace(t, classView(random, n, 4, 300, 0), similarity.Cosine, nil)
		l, err := neighbour.Search(t.Context(), s, 5, 0, neighbour.Settings{}, 2, nil)
		if err != nil || l.Search.Method != want || l.Search.Recall < neighbour.DefaultRecall {
			t.Errorf("%d samples: %+v, %v", n, l.Search, err)
		}
	}
}

func TestMethodText(t *testing.T) {
	for i, name := range []string{"auto", "exact", "approximate"} {
		m := neighbour.Method(i)
		if m.String() != name {
			t.Errorf("%s is named %v", name, m)
		}
		text, err := m.MarshalText()
		if err != nil || string(text) != name {
			t.Errorf("%s is written as %s, %v", name, text, err)
		}
		var back neighbour.Method
		if err := back.UnmarshalText(text); err != nil || back != m {
			t.Errorf("%s is read back as %v, %v", name, back, err)
		}
	}
	const want = `unknown search method "fast"; choose auto, exact or approximate`
	m := neighbour.Exact
	if err := m.UnmarshalText([]byte("fast")); err == nil || err.Error() != want || m != neighbour.Exact {
		t.Errorf("error %v and method %v, want %s", err, m, want)
	}
	if text, err := neighbour.Method(3).MarshalText(); err == nil {
		t.Errorf("method 3 is written as %s", text)
	}
}

func BenchmarkApproximate(b *testing.B) {
	s := newSpace(b, classView(rand.New(rand.NewPCG(1, 1)), 20000, 32, 400, 0), similarity.Cosine, nil)
	for _, method := range []neighbour.Method{neighbour.Exact, neighbour.Approximate} {
		b.Run(method.String(), func(b *testing.B) {
			b.ReportAllocs()
			var l *neighbour.Lists
			for b.Loop() {
				var err error
				if l, err = neighbour.Search(b.Context(), s, 20, 0, neighbour.Settings{Method: method}, 2, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(l.Search.Recall, "recall")
		})
	}
}
