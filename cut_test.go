package mvclust_test

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/synth"
)

// cutModel returns a model of made data, with its classes.
func cutModel(t testing.TB, opt mvclust.Options) (*mvclust.Model, []int) {
	t.Helper()
	data, err := synth.Generate(synth.Config{Samples: 240, Classes: 12, Noise: []float64{1, 1.2}, Missing: 0.1, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	r, err := mvclust.Fit(t.Context(), data.Views, opt)
	if err != nil {
		t.Fatal(err)
	}
	return mvclust.NewModel(data.Views, r, nil), data.Labels
}

func cut(t testing.TB, m *mvclust.Model, opt mvclust.CutOptions) *mvclust.Model {
	t.Helper()
	next, err := m.Cut(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Validate(); err != nil {
		t.Fatal(err)
	}
	return next
}

// A cut to a level has the labels of the level, and a cut back those of before.
func TestCutBack(t *testing.T) {
	m, _ := cutModel(t, mvclust.Options{})
	if len(m.Levels) < 2 {
		t.Fatalf("%d levels", len(m.Levels))
	}
	for at := range m.Levels {
		next := cut(t, m, mvclust.CutOptions{Level: at})
		if next.Level != at || !slices.Equal(next.Labels, m.Levels[at].Labels) || next.Settings.Neighbours != m.Levels[at].Neighbours {
			t.Errorf("level %d: the model is at level %d with %d clusters", at, next.Level, next.Clusters())
		}
		back := cut(t, next, mvclust.CutOptions{Level: m.Level})
		if !slices.Equal(back.Labels, m.Labels) || !slices.Equal(back.Graph.Weight, m.Graph.Weight) {
			t.Errorf("level %d: back at level %d, the labels or the graph are others", at, m.Level)
		}
	}
}

// The levels are well apart, coarse to fine, and the current one is among them.
func TestLevels(t *testing.T) {
	m, _ := cutModel(t, mvclust.Options{})
	before := 0.0
	for at, l := range m.Levels {
		sizes, height := make([]int, l.Clusters), 0.0
		for _, c := range l.Labels {
			if sizes[c]++; sizes[c] == 3 {
				height++
			}
		}
		if height < 1.1*before { // 1.2 beside the current one, before single samples were moved once more
			t.Errorf("level %d has %v clusters of 3 samples, and the one before %v", at, height, before)
		}
		before = height
		if !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) {
			t.Errorf("level %d is not numbered by falling size: %v", at, sizes)
		}
	}
	if !slices.Equal(m.Levels[m.Level].Labels, m.Labels) {
		t.Errorf("the labels are not those of level %d", m.Level)
	}
}

// A number of clusters is met exactly, with constraints too.
func TestCutClusters(t *testing.T) {
	free, _ := cutModel(t, mvclust.Options{})
	bound, _ := cutModel(t, mvclust.Options{Constraints: mvclust.Constraints{MustLink: [][2]int{{0, 1}, {1, 2}}, CannotLink: [][2]int{{0, 3}, {0, 4}, {3, 4}}}})
	for name, m := range map[string]*mvclust.Model{"free": free, "bound": bound} {
		n := m.Samples()
		for _, k := range []int{1, 2, 3, 4, 7, 12, 13, 40, n / 2, n - 2, n} {
			next, err := m.Cut(t.Context(), mvclust.CutOptions{Clusters: k})
			if name == "bound" && (k < 3 || k > n-2) {
				if err == nil {
					t.Errorf("%s: %d clusters were made", name, k)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %d clusters: %v", name, k, err)
				continue
			}
			if next.Clusters() != k || next.Validate() != nil {
				t.Errorf("%s: %d clusters, want %d: %v", name, next.Clusters(), k, next.Validate())
			}
		}
	}
	if _, err := free.Cut(t.Context(), mvclust.CutOptions{Clusters: 241}); err == nil {
		t.Error("241 clusters of 240 samples were made")
	}
}

// A fit with a number of clusters has that number, under either preset.
func TestFitClusters(t *testing.T) {
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		m, _ := cutModel(t, mvclust.Options{Preset: preset, Clusters: 5})
		if m.Clusters() != 5 {
			t.Errorf("%v: %d clusters", preset, m.Clusters())
		}
	}
}

// A fit that is told a number of clusters, or examples, is the cut of one that is not.
func TestFitIsCut(t *testing.T) {
	known := mvclust.Constraints{MustLink: [][2]int{{7, 19}}, CannotLink: [][2]int{{3, 15}}}
	plain, truth := cutModel(t, mvclust.Options{Constraints: known})
	var examples []mvclust.Example
	for i := 0; i < 60; i += 4 {
		examples = append(examples, mvclust.Example{Sample: i, Label: string(rune('a' + truth[i]/2))})
	}
	for _, x := range []struct {
		clusters int
		examples []mvclust.Example
	}{{8, nil}, {0, examples}, {0, examples[:2]}, {14, examples}} {
		told, _ := cutModel(t, mvclust.Options{Constraints: known, Clusters: x.clusters, Examples: x.examples})
		made := cut(t, plain, mvclust.CutOptions{Clusters: x.clusters, Examples: x.examples})
		if !slices.Equal(told.Labels, made.Labels) || !slices.Equal(told.Confidence, made.Confidence) || told.Level != made.Level || told.Settings != made.Settings {
			t.Errorf("%d clusters, %d examples: a fit has %d clusters at level %d, and a cut %d at %d", x.clusters, len(x.examples), told.Clusters(), told.Level, made.Clusters(), made.Level)
		}
		if !slices.Equal(told.Against, made.Against) || !slices.Equal(told.Examples, made.Examples) || !reflect.DeepEqual(told.Constraints, made.Constraints) {
			t.Errorf("%d clusters, %d examples: a fit knows %+v, and a cut %+v", x.clusters, len(x.examples), told.Constraints, made.Constraints)
		}
	}
}

// A level has the graph of its number of neighbours, whether or not the model has it already.
func TestCutGraph(t *testing.T) {
	m, _ := cutModel(t, mvclust.Options{})
	for at, l := range m.Levels {
		want, err := m.Neighbourhoods.CoNeighbours(t.Context(), l.Neighbours, 1)
		if err != nil {
			t.Fatal(err)
		}
		if next := cut(t, m, mvclust.CutOptions{Level: at}); !reflect.DeepEqual(next.Graph, want) || next.Usable() != nil {
			t.Errorf("level %d has another graph, or is no model: %v", at, next.Usable())
		}
	}
}

// Examples are met, name the clusters, survive the file, and choose among levels.
func TestExamples(t *testing.T) {
	for _, way := range []string{"fit", "cut"} {
		m, truth := cutModel(t, mvclust.Options{})
		var examples []mvclust.Example
		for i := 0; i < 60; i += 2 {
			examples = append(examples, mvclust.Example{Sample: i, Label: string(rune('a' + truth[i]%6))})
		}
		if way == "cut" {
			m = cut(t, m, mvclust.CutOptions{Examples: examples})
		} else {
			m, _ = cutModel(t, mvclust.Options{Examples: examples})
		}
		names := mvclust.Names(m.Labels, m.Examples)
		for _, x := range examples {
			if names[m.Labels[x.Sample]] != x.Label {
				t.Errorf("%s: sample %d of %s is in a cluster called %q", way, x.Sample, x.Label, names[m.Labels[x.Sample]])
			}
		}
		if against := mvclust.Against(m.Labels, examples); len(against) > 0 {
			t.Errorf("%s: the clusters contradict %v", way, against)
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		read, err := mvclust.ReadModel(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(read.Examples, m.Examples) || read.Level != m.Level || len(read.Levels) != len(m.Levels) || !slices.Equal(read.Levels[0].Labels, m.Levels[0].Labels) {
			t.Errorf("%s: the file has other levels or examples", way)
		}
		// Other examples take the place of these.
		other := cut(t, m, mvclust.CutOptions{Examples: []mvclust.Example{{Sample: 0, Label: "x"}, {Sample: 2, Label: "x"}}})
		if len(other.Constraints.MustLink) != 1 || len(other.Constraints.CannotLink) != 0 {
			t.Errorf("%s: the constraints are %v", way, other.Constraints)
		}
	}
}

// What was known beside the examples is so after a cut, also what was added after them.
func TestCutKeepsConstraints(t *testing.T) {
	m, classes := cutModel(t, mvclust.Options{Examples: []mvclust.Example{{Sample: 0, Label: "x"}, {Sample: 1, Label: "y"}, {Sample: 2, Label: "y"}}})
	var same [2]int
	for i := 3; same[1] == 0; i++ {
		if j := slices.Index(classes[i+1:], classes[i]); j >= 0 && m.Labels[i] == m.Labels[i+1+j] {
			same = [2]int{i, i + 1 + j}
		}
	}
	m.Constraints.MustLink = append(m.Constraints.MustLink, same)
	next := cut(t, m, mvclust.CutOptions{Level: 0})
	if len(next.Constraints.MustLink) != 2 || !slices.Contains(next.Constraints.MustLink, same) || len(next.Constraints.CannotLink) != len(m.Constraints.CannotLink) {
		t.Errorf("the constraints are %v, of %v", next.Constraints, m.Constraints)
	}
	other := cut(t, m, mvclust.CutOptions{Examples: []mvclust.Example{{Sample: 0, Label: "x"}, {Sample: 1, Label: "x"}}})
	if want := [][2]int{same, {0, 1}}; !slices.Equal(other.Constraints.MustLink, want) || len(other.Constraints.CannotLink) != 0 {
		t.Errorf("with other examples the constraints are %v, want %v", other.Constraints, want)
	}
}

// The levels beside the clusters are found by their numbers where they are at none.
func TestBeside(t *testing.T) {
	levels := []mvclust.Level{{Clusters: 2}, {Clusters: 4}, {Clusters: 8}}
	for _, c := range []struct{ level, clusters, coarser, finer int }{
		{0, 2, -1, 1}, {1, 4, 0, 2}, {2, 8, 1, -1}, {1, 5, 0, 2}, // its own place comes first
		{-1, 1, -1, 0}, {-1, 2, -1, 1}, {-1, 3, 0, 1}, {-1, 4, 0, 2}, {-1, 9, 2, -1}, {7, 3, 0, 1},
	} {
		m := &mvclust.Model{Levels: levels, Level: c.level, Labels: make([]int, 20)}
		for i := range m.Labels {
			m.Labels[i] = i % c.clusters
		}
		if coarser, finer := m.Beside(); coarser != c.coarser || finer != c.finer {
			t.Errorf("level %d, %d clusters: %d and %d, want %d and %d", c.level, c.clusters, coarser, finer, c.coarser, c.finer)
		}
	}
	if coarser, finer := (&mvclust.Model{Labels: []int{0}, Level: -1}).Beside(); coarser != -1 || finer != -1 {
		t.Errorf("without levels: %d and %d", coarser, finer)
	}
}

// What cannot be is refused.
func TestCutRefused(t *testing.T) {
	m, _ := cutModel(t, mvclust.Options{})
	for name, opt := range map[string]mvclust.CutOptions{
		"no such level":  {Level: 99},
		"below 0":        {Level: -1},
		"clusters":       {Clusters: -1},
		"no such sample": {Examples: []mvclust.Example{{Sample: 1000, Label: "x"}}},
		"no label":       {Examples: []mvclust.Example{{Sample: 1}}},
		"a long label":   {Examples: []mvclust.Example{{Sample: 1, Label: strings.Repeat("x", 1001)}}},
		"no text":        {Examples: []mvclust.Example{{Sample: 1, Label: "\xff"}}},
		"two labels":     {Examples: []mvclust.Example{{Sample: 1, Label: "x"}, {Sample: 1, Label: "y"}}},
	} {
		if _, err := m.Cut(t.Context(), opt); err == nil {
			t.Errorf("%s: it was cut", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Cut(ctx, mvclust.CutOptions{}); err == nil {
		t.Error("it was cut although the context is done")
	}
}
