package agreement

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// prepare returns what Measure asks for.
func prepare(t testing.TB, views []*view.View) ([]*similarity.Space, []*neighbour.Lists) {
	t.Helper()
	var spaces []*similarity.Space
	var lists []*neighbour.Lists
	for _, v := range views {
		s, err := similarity.NewSpace(t.Context(), v, similarity.Cosine, nil, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		l, err := neighbour.Search(t.Context(), s, 20, 0, neighbour.Settings{}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		spaces, lists = append(spaces, s), append(lists, l)
	}
	return spaces, lists
}

func measure(t testing.TB, views []*view.View, seed uint64, threads int) *Report {
	t.Helper()
	spaces, lists := prepare(t, views)
	r, err := Measure(t.Context(), spaces, lists, seed, threads)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// classes is views of the same classes.
func classes(t testing.TB, views int, missing float64) []*view.View {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 6, Views: views, Dims: []int{10}, Noise: []float64{0.5}, Missing: missing, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return set.Views
}

// noise is a view of nothing.
func noise(seed uint64) *view.View {
	r := rand.New(rand.NewPCG(seed, 2))
	v := &view.View{Name: "noise", Samples: 300, Dims: 10, Data: make([]float32, 3000)}
	for i := range v.Data {
		v.Data[i] = float32(r.NormFloat64())
	}
	return v
}

// only is v for the samples from lo to hi.
func only(v *view.View, lo, hi int) *view.View {
	out := *v
	out.Present = make([]bool, v.Samples)
	for i := lo; i < hi; i++ {
		out.Present[i] = v.Has(i)
	}
	return &out
}

func TestMeasure(t *testing.T) {
	good := classes(t, 5, 0)
	for _, c := range []struct {
		name  string
		views []*view.View
		out   []bool
	}{
		{"two that agree and noise", []*view.View{good[0], noise(1), good[1]}, []bool{false, true, false}},
		{"three that agree and two of noise", []*view.View{noise(1), good[0], good[1], noise(2), good[2]}, []bool{true, false, false, true, false}},
		{"all agree", good, make([]bool, 5)},
		{"half missing", classes(t, 5, 0.9), make([]bool, 5)},
		{"two", []*view.View{good[0], noise(1)}, make([]bool, 2)},
		{"one", good[:1], make([]bool, 1)},
		{"nothing but noise", []*view.View{noise(1), noise(2), noise(3)}, make([]bool, 3)},
		{"no sample in common", []*view.View{only(good[0], 0, 100), only(good[1], 100, 200), only(good[2], 200, 300)}, make([]bool, 3)},
		{"one that shares none", []*view.View{only(good[0], 0, 200), only(good[1], 0, 200), only(noise(1), 200, 300)}, make([]bool, 3)},
		{"noise that half have", []*view.View{good[0], good[1], only(noise(1), 0, 150)}, []bool{false, false, true}},
	} {
		for seed := range uint64(5) {
			got := measure(t, c.views, seed, 2)
			if !slices.Equal(got.LeftOut, c.out) {
				t.Errorf("%s: %+v", c.name, got)
			}
			for m, row := range got.Agreement {
				for b, x := range row {
					shared := false
					for i := range 300 {
						shared = shared || c.views[m].Has(i) && c.views[b].Has(i)
					}
					if !(x >= -1 && x <= 1) || (m == b || !shared) && x != 0 {
						t.Errorf("%s: views %d and %d agree by %v", c.name, m, b, x)
					}
					noisy := c.views[m].Name == "noise" || c.views[b].Name == "noise"
					if m != b && shared && c.name != "half missing" && noisy != (math.Abs(x) < 0.2) {
						t.Errorf("%s: views %d and %d agree by %v", c.name, m, b, x)
					}
				}
			}
		}
	}
}

// TestMeasureAlike has a view twice, whose neighbours are more alike than any others, and
// one whose samples are all alike but for one, where nothing can be told.
func TestMeasureAlike(t *testing.T) {
	v := classes(t, 1, 0)[0]
	got := measure(t, []*view.View{v, v}, 1, 1)
	if got.Agreement[0][1] < 0.9 || got.Agreement[1][0] < 0.9 {
		t.Errorf("%v", got.Agreement)
	}
	flat := &view.View{Name: "flat", Samples: 300, Dims: 2, Data: make([]float32, 600)}
	for i := range 300 {
		copy(flat.Row(i), []float32{1, float32(i / 299)})
	}
	if got := measure(t, []*view.View{flat, v}, 1, 1); math.Abs(got.Agreement[0][1]) > 0.05 {
		t.Errorf("%v", got.Agreement)
	}
}

func TestMeasureThreads(t *testing.T) {
	spaces, lists := prepare(t, append(classes(t, 4, 0.3), noise(1)))
	var want *Report
	for _, threads := range []int{1, 2, 8, 0} {
		got, err := Measure(t.Context(), spaces, lists, 3, threads)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads: %+v, want %+v", threads, got, want)
		}
	}
}

func TestMeasureCancelled(t *testing.T) {
	spaces, lists := prepare(t, classes(t, 3, 0))
	for questions := 0; ; questions += 1 + questions/5 {
		got, err := Measure(lapse.After(t.Context(), questions), spaces, lists, 0, 1)
		if err == nil {
			if questions < 100 {
				t.Errorf("it asks %d times", questions)
			}
			return
		}
		if got != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d questions: %v", questions, err)
		}
	}
}

func TestAtChance(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		a    [][]float64
		want []bool
	}{
		{"none", nil, []bool{}},
		{"two", [][]float64{{nan, 0}, {0.9, nan}}, []bool{false, false}},
		{"the worst", [][]float64{{nan, 0.8, 0}, {0.8, nan, 0}, {0.1, 0, nan}}, []bool{false, false, true}},
		{"a weak one is kept", [][]float64{{nan, 0.8, 0.2}, {0.8, nan, 0.2}, {0.2, 0.2, nan}}, []bool{false, false, false}},
		{"nothing agrees", [][]float64{{nan, 0.04, 0}, {0.04, nan, 0}, {0, 0, nan}}, []bool{false, false, false}},
		{"down to two", [][]float64{{nan, 0.8, 0, 0}, {0.8, nan, 0, 0}, {0, 0, nan, 0}, {0, 0, 0, nan}}, []bool{false, false, true, true}},
		{"shares no sample", [][]float64{{nan, 0.8, nan}, {0.8, nan, nan}, {nan, nan, nan}}, []bool{false, false, false}},
		{"below chance", [][]float64{{nan, 0.8, -0.3}, {0.8, nan, -0.3}, {-0.3, -0.3, nan}}, []bool{false, false, true}},
		// Once the first is out, the others agree so well that the next one is out as well.
		{"one after the other", [][]float64{
			{nan, 0.9, 0.3, 0}, {0.9, nan, 0.3, 0}, {0.2, 0.2, nan, 0.2}, {0, 0, 0, nan},
		}, []bool{false, false, false, true}},
	} {
		if got := atChance(c.a); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
