package predict_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// made generates samples.
func made(t testing.TB, cfg synth.Config) *synth.Set {
	t.Helper()
	set, err := synth.Generate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// indexed gives a model the indexes of its views.
func indexed(t testing.TB, m *mvclust.Model) {
	t.Helper()
	spaces, err := m.Spaces(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for v, s := range spaces {
		if m.Views[v].Index, err = neighbour.FindParts(t.Context(), s, m.Settings.Candidates, m.Settings.Seed, 0); err != nil || m.Views[v].Index == nil {
			t.Fatal(m.Views[v].Index, err)
		}
	}
}

// take returns a copy of some rows of views.
func take(views []*view.View, rows []int) []*view.View {
	out := make([]*view.View, len(views))
	for m, v := range views {
		if v == nil {
			continue
		}
		out[m] = &view.View{Name: v.Name, Samples: len(rows), Dims: v.Dims}
		for _, i := range rows {
			out[m].Data = append(out[m].Data, v.Row(i)...)
			if v.Present != nil {
				out[m].Present = append(out[m].Present, v.Has(i))
			}
		}
	}
	return out
}

// labelsOf returns those of some samples.
func labelsOf[T any](labels []T, rows []int) []T {
	var out []T
	for _, i := range rows {
		out = append(out, labels[i])
	}
	return out
}

// span returns lo, lo+1, ... hi-1.
func span(lo, hi int) []int {
	var rows []int
	for i := lo; i < hi; i++ {
		rows = append(rows, i)
	}
	return rows
}

// fitted clusters samples and returns the model.
func fitted(t testing.TB, views []*view.View, opt mvclust.Options) *mvclust.Model {
	t.Helper()
	r, err := mvclust.Fit(t.Context(), views, opt)
	if err != nil {
		t.Fatal(err)
	}
	m := mvclust.NewModel(views, r, nil)
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

// real reads a set that is kept beside the repository.
func real(t *testing.T, name string) ([]*view.View, []int) {
	t.Helper()
	if testing.Short() {
		t.Skip("many fits of real data")
	}
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "datasets")
	}
	path := filepath.Join(dir, name+".npz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data: %v; set MVCLUST_DATA to the folder that holds them", err)
	}
	set, err := dataset.Load(t.Context(), []string{path}, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := dataset.Labels(t.Context(), path, nil, set.Views[0].Samples)
	if err != nil {
		t.Fatal(err)
	}
	return set.Views, truth.Labels
}

// majority returns the most frequent class of every cluster.
func majority(labels, classes []int) map[int]int {
	counts := map[int]map[int]int{}
	for i, l := range labels {
		if counts[l] == nil {
			counts[l] = map[int]int{}
		}
		counts[l][classes[i]]++
	}
	out := map[int]int{}
	for l, count := range counts {
		best := -1
		for c, n := range count {
			if best < 0 || n > count[best] || n == count[best] && c < best {
				best = c
			}
		}
		out[l] = best
	}
	return out
}

// accuracy is the share of samples whose cluster has their class for its majority.
func accuracy(class map[int]int, labels, classes []int) float64 {
	right := 0
	for i, l := range labels {
		if c, ok := class[l]; ok && c == classes[i] {
			right++
		}
	}
	return float64(right) / float64(len(labels))
}
