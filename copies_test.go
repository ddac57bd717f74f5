package mvclust_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/predict"
)

// copied returns two views of n samples whose rows are drawn from so many distinct ones, of which
// some samples lack one, and the kind of every sample: those of one kind have equal rows.
func copied(t testing.TB, seed uint64, n, distinct int, missing float64) (views []*mvclust.View, kind []int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	kind = make([]int, n)
	for i := range kind {
		kind[i] = random.IntN(distinct)
		if i < distinct {
			kind[i] = i
		}
	}
	for m, dims := range []int{3, 5} {
		rows := make([]float32, distinct*dims)
		for i := range rows {
			rows[i] = float32(random.NormFloat64())
		}
		v := &mvclust.View{Name: fmt.Sprint("view", m), Samples: n, Dims: dims, Data: make([]float32, n*dims), Present: make([]bool, n)}
		for i, k := range kind {
			copy(v.Row(i), rows[k*dims:][:dims])
			v.Present[i] = true
		}
		views = append(views, v)
	}
	for i := range kind {
		if random.Float64() < missing {
			out := random.IntN(2)
			views[out].Present[i] = false
			kind[i] += distinct * (1 + out)
		}
	}
	return views, kind
}

// checkKinds checks that samples of a kind are in one cluster.
func checkKinds(t *testing.T, what string, kind, labels []int) {
	t.Helper()
	first := map[int]int{}
	for i, k := range kind {
		f, seen := first[k]
		if !seen {
			first[k] = i
		} else if labels[i] != labels[f] {
			t.Fatalf("%s: samples %d and %d have equal rows and the labels %d and %d", what, f, i, labels[f], labels[i])
		}
	}
}

// TestEqualRowsAreOne holds that rows which are equal in all views that they have are in one
// cluster, whatever the preset, the size and the share of missing views, at every level, in
// another granularity, where examples are given, and when some of the samples come later.
func TestEqualRowsAreOne(t *testing.T) {
	for seed, c := range []struct {
		n, distinct int
		missing     float64
		opt         mvclust.Options
	}{
		{30, 2, 0, mvclust.Options{}},
		{90, 5, 0.4, mvclust.Options{}},
		{120, 60, 0.2, mvclust.Options{}},
		{150, 10, 0.3, mvclust.Options{Preset: mvclust.Paper}},
		{150, 2, 0.3, mvclust.Options{Preset: mvclust.Paper}},
		{200, 40, 0, mvclust.Options{Preset: mvclust.Paper, Metrics: []similarity.Metric{similarity.L2}}},
		{100, 12, 0.3, mvclust.Options{Neighbours: 4, Resolution: 3}},
		{100, 12, 0.3, mvclust.Options{Clusters: 5}},
		{80, 9, 0, mvclust.Options{Examples: []mvclust.Example{{Sample: 0, Label: "a"}, {Sample: 1, Label: "b"}, {Sample: 2, Label: "a"}}}},
	} {
		what := fmt.Sprintf("%d samples of %d rows, %v", c.n, c.distinct, c.opt.Preset)
		views, kind := copied(t, uint64(seed), c.n, c.distinct, c.missing)
		r, err := mvclust.Fit(t.Context(), views, c.opt)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		checkKinds(t, what, kind, r.Labels)
		for _, l := range r.Levels {
			checkKinds(t, what+", a level", kind, l.Labels)
		}
		m := mvclust.NewModel(views, r, nil)
		for clusters := 2; clusters <= 4 && clusters <= c.distinct; clusters++ {
			if next, err := m.Cut(t.Context(), mvclust.CutOptions{Clusters: clusters}); err != nil {
				t.Errorf("%s: %v", what, err)
			} else {
				checkKinds(t, fmt.Sprintf("%s, %d clusters", what, clusters), kind, next.Labels)
			}
		}
		taught, err := m.Cut(t.Context(), mvclust.CutOptions{Level: 0, Examples: []mvclust.Example{{Sample: 0, Label: "x"}, {Sample: 1, Label: "y"}}})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		checkKinds(t, what+", with examples", kind, taught.Labels)
	}
}

// same returns a view of n samples, whose rows are all the given one.
func same(name string, n int, row ...float32) *mvclust.View {
	return &mvclust.View{Name: name, Samples: n, Dims: len(row), Data: slices.Repeat(row, n)}
}

// TestAllRowsEqual holds that samples which no view tells apart are one cluster, of which nothing
// is in doubt, also after a cut and when others like them come.
func TestAllRowsEqual(t *testing.T) {
	values := func(n int) map[string][]*mvclust.View {
		absent := same("absent", n, 2, 1)
		absent.Present = slices.Repeat([]bool{true}, n)
		return map[string][]*mvclust.View{
			"one view":   {same("a", n, 3, 3, 4)},
			"one value":  {same("a", n, 7)},
			"zeros":      {same("a", n, 0, 0)},
			"two views":  {same("a", n, 1, -2), absent},
			"some zeros": {same("a", n, 1, 2, 3), same("zero", n, 0)},
		}
	}
	for _, n := range []int{3, 4, 60} {
		for name, views := range values(n) {
			for opt, o := range map[string]mvclust.Options{
				"auto": {}, "paper": {Preset: mvclust.Paper}, "l1": {Preset: mvclust.Paper, Metrics: []similarity.Metric{similarity.L1}},
				"minmax": {Preset: mvclust.Paper, Scale: view.MinMax}, "K": {Neighbours: 1}, "one cluster": {Clusters: 1},
			} {
				what := fmt.Sprintf("%s, %d samples, %s", name, n, opt)
				r, err := mvclust.Fit(t.Context(), views, o)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if r.Trace.Distinct != 1 {
					t.Errorf("%s: %d distinct samples", what, r.Trace.Distinct)
				}
				m := mvclust.NewModel(views, r, nil)
				checkOne(t, what, m)
				if len(m.Levels) > 0 {
					if m, err = m.Cut(t.Context(), mvclust.CutOptions{}); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					checkOne(t, what+", cut", m)
				}
				checkNewcomers(t, what, m, values(2)[name])
			}
		}
	}
}

// checkOne checks that the model is valid, and of one cluster that is certain.
func checkOne(t *testing.T, what string, m *mvclust.Model) {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if m.Clusters() != 1 || slices.Min(m.Confidence) != 1 {
		t.Errorf("%s: %d clusters, of a confidence of %v at least", what, m.Clusters(), slices.Min(m.Confidence))
	}
}

// checkNewcomers gives a model of equal rows two samples with these rows, and two with others.
func checkNewcomers(t *testing.T, what string, m *mvclust.Model, like []*mvclust.View) {
	t.Helper()
	other := []*mvclust.View{same("a", 2, slices.Repeat([]float32{9, 1, 5}, 2)[:like[0].Dims]...)}
	other = append(other, like[1:]...)
	for labels, views := range map[int][]*mvclust.View{0: like, predict.None: other} {
		p, err := predict.New(t.Context(), m, 1)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		r, err := p.Predict(t.Context(), views, nil, 1, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if r.Labels[0] != labels || r.Labels[1] != labels || r.Confidence[0] != 1 && len(m.Graph.Index) > 0 && labels == 0 {
			t.Errorf("%s: labels %v of confidence %v, want %d", what, r.Labels, r.Confidence, labels)
		}
		next, _, err := predict.Update(t.Context(), m, views, []string{"x", "y"}, 1, nil)
		if _, refused := errors.AsType[*mvclust.InputError](err); refused != (labels != 0) {
			t.Errorf("%s: an update ends with %v", what, err)
		}
		if err == nil && next.Clusters() != 1 {
			t.Errorf("%s: an update has %d clusters", what, next.Clusters())
		}
	}
}

// TestOneViewIsConstant holds that a view without differences is refused beside one that has some:
// it is more likely a mistake than meant.
func TestOneViewIsConstant(t *testing.T) {
	views, _ := copied(t, 5, 40, 10, 0)
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		for name, constant := range map[string]*mvclust.View{"constant": same("c", 40, 1, 2), "all zeros": same("c", 40, 0)} {
			_, err := mvclust.Fit(t.Context(), append(views[:1:1], constant), mvclust.Options{Preset: preset})
			if bad, ok := errors.AsType[*mvclust.InputError](err); !ok || bad.View != "c" || !strings.Contains(bad.Problem, name) {
				t.Errorf("%v, %s: %v", preset, name, err)
			}
		}
	}
}

// TestAllRowsEqualApart holds that constraints keep equal rows apart though all are equal.
func TestAllRowsEqualApart(t *testing.T) {
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		r, err := mvclust.Fit(t.Context(), []*mvclust.View{same("a", 30, 1, 2)}, mvclust.Options{Preset: preset, Constraints: mvclust.Constraints{CannotLink: [][2]int{{0, 7}}}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Labels[0] == r.Labels[7] || len(r.Sizes) != 2 {
			t.Errorf("%v: clusters of %v samples", preset, r.Sizes)
		}
	}
}

// TestEqualRowsComeLater updates a model with samples whose rows it has, and some of which are
// equal to each other.
func TestEqualRowsComeLater(t *testing.T) {
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		views, kind := copied(t, 7, 160, 20, 0.2)
		first, later := make([]*mvclust.View, len(views)), make([]*mvclust.View, len(views))
		for m, v := range views {
			cut := 120
			first[m] = &mvclust.View{Name: v.Name, Samples: cut, Dims: v.Dims, Data: v.Data[:cut*v.Dims], Present: v.Present[:cut]}
			later[m] = &mvclust.View{Name: v.Name, Samples: v.Samples - cut, Dims: v.Dims, Data: v.Data[cut*v.Dims:], Present: v.Present[cut:]}
		}
		r, err := mvclust.Fit(t.Context(), first, mvclust.Options{Preset: preset})
		if err != nil {
			t.Fatal(err)
		}
		m := mvclust.NewModel(first, r, nil)
		next, _, err := predict.Update(t.Context(), m, later, nil, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkKinds(t, preset.String(), kind, next.Labels)
	}
}

// TestEqualRowsApart holds that constraints and examples keep equal rows apart, and no more of
// them than they say.
func TestEqualRowsApart(t *testing.T) {
	views, kind := copied(t, 3, 90, 6, 0)
	same := -1 // a sample equal to sample 0
	for i := 1; same < 0; i++ {
		if kind[i] == kind[0] {
			same = i
		}
	}
	for name, opt := range map[string]mvclust.Options{
		"cannot-link": {Constraints: mvclust.Constraints{CannotLink: [][2]int{{0, same}}}},
		"examples":    {Examples: []mvclust.Example{{Sample: 0, Label: "a"}, {Sample: same, Label: "b"}}},
	} {
		r, err := mvclust.Fit(t.Context(), views, opt)
		if err != nil {
			t.Fatal(err)
		}
		if r.Labels[0] == r.Labels[same] {
			t.Errorf("%s: equal rows that cannot be together are", name)
		}
		kind := append([]int{}, kind...)
		kind[same] = -1 // by itself, and the others of the kind with sample 0
		checkKinds(t, name, kind, r.Labels)
	}
}

// BenchmarkEqualRows clusters rows of which few are distinct. By sample, more of them should take
// no longer.
func BenchmarkEqualRows(b *testing.B) {
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		for _, n := range []int{5_000, 20_000} {
			for _, distinct := range []int{1, 2, 10, 1000} {
				views, _ := copied(b, 1, n, distinct, 0)
				b.Run(fmt.Sprintf("%v/%d/%d", preset, n, distinct), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := mvclust.Fit(b.Context(), views, mvclust.Options{Preset: preset}); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sample")
				})
			}
		}
	}
}

// TestEqualRowsStayTogether clusters so many rows of two values that the neighbours are
// searched approximately, in one view and in two.
func TestEqualRowsStayTogether(t *testing.T) {
	const n = 31_000
	for views := 1; views <= 2; views++ {
		given := []*mvclust.View{
			{Name: "value", Samples: n, Dims: 1, Data: make([]float32, n)},
			{Name: "again", Samples: n, Dims: 2, Data: make([]float32, 2*n)},
		}[:views]
		for i := range n {
			value := float32(i * 7919 % n % 2)
			for _, v := range given {
				for k := range v.Row(i) {
					v.Row(i)[k] = value + float32(k)
				}
			}
		}
		r, err := mvclust.Fit(t.Context(), given, mvclust.Options{Neighbours: 10, Resolution: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Sizes) != 2 {
			t.Errorf("%d views: clusters of %v samples, want two", views, r.Sizes)
		}
		labels := map[float32]int{}
		for i, label := range r.Labels {
			value := given[0].Row(i)[0]
			if other, ok := labels[value]; ok && other != label {
				t.Fatalf("%d views: sample %d has the label %d, an equal one %d", views, i, label, other)
			}
			labels[value] = label
		}
	}
}
