package levels

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
	"github.com/mvclust/mvclust/score"
)

// What is known of a set is told in all ways, and a file that cannot be used is skipped.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "two.npz", 2, 0.3, 1)
	if err := os.WriteFile(filepath.Join(folder, "junk.npz"), []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, e := labtest.New(t, folder), &Experiment{Seeds: 1}
	cases, err := e.Cases(t.Context(), l, nil)
	if err == nil {
		err = l.Run(t.Context(), cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(e.list) != 2 || e.list[0].name() != "junk" {
		t.Fatalf("%+v", e.list)
	}
	x := &e.list[1]
	for _, name := range []string{
		bestOfFive, bestOfAll, byCut(20), byCut(50), restOf(20), restOf(50),
		cutClusters, after(10), after(50), askedFit, randomFit,
	} {
		if a := e.value(x, name); !(a > 60 && a <= 100) {
			t.Errorf("%s: %v", name, a)
		}
	}
	if e.value(x, bestOfAll) < e.value(x, bestOfFive) || e.value(x, bestOfFive) < e.start(x) || e.value(x, count) < 1 {
		t.Errorf("%v levels, the best %v", e.value(x, count), e.value(x, bestOfAll))
	}
	page, _, err := e.Page(l, lab.Made{Processors: 1})
	if err != nil || !strings.Contains(page, "- junk: junk.npz: ") || strings.Contains(page, folder) {
		t.Errorf("%v\n%s", err, page)
	}
	labtest.CheckPage(t, page)
	if _, err := (&Experiment{}).Cases(t.Context(), labtest.New(t, t.TempDir()), nil); err == nil || !strings.Contains(err.Error(), "holds no .npz files") {
		t.Error(err)
	}
}

// The aims and the rows of the tables, of records that were made up.
func TestPage(t *testing.T) {
	l := labtest.New(t, t.TempDir(), t.TempDir())
	l.PageOnly = true
	e := &Experiment{Seeds: 2, l: l}
	add := func(name string, folder int, start float64, values map[string]float64) {
		x := subject{lab.Setup{File: name + ".npz", Method: measuring}, folder}
		for seed, off := range []float64{1, -1} {
			r := &lab.Record{Setup: x.setup, Seed: uint64(seed), Seconds: []float64{1}, Values: map[string][]float64{}, Scores: &score.Scores{ARI: (start + off) / 100, Samples: 120, Classes: 6, Clusters: 5}}
			for name, v := range values {
				r.Values[name] = []float64{v + off}
			}
			l.Store.Add(r)
		}
		e.list = append(e.list, x)
	}
	told := func(by float64) map[string]float64 {
		v := map[string]float64{count: 4}
		for _, name := range []string{bestOfFive, bestOfAll, byCut(20), byCut(50), restOf(20), restOf(50), cutClusters, after(10), after(20), after(30), after(40), after(50), askedFit, randomFit} {
			v[name] = by
		}
		return v
	}
	for _, set := range lab.Ten() {
		add(set, 0, 70, told(80))
	}
	add("a_b", 1, 50, told(60))
	add("b", 1, 50, told(47))
	add("large", 1, 50, map[string]float64{count: 4, bestOfFive: 70, bestOfAll: 70, byCut(20): 70, byCut(50): 70, cutClusters: 70})
	want := []struct {
		measured float64
		where    string
	}{
		{59, ""}, {59, ""}, {59, ""}, {-3, "b"}, {59, ""}, {80, ""}, {53.5, ""}, {0, ""}, {-3, "b"}, {-3, "b"}, {-3, "b"},
	}
	for at, a := range e.aims() {
		if !(math.Abs(a.Measured-want[at].measured) < 1e-9) || a.Where != want[at].where {
			t.Errorf("%+v, want %+v", a, want[at])
		}
	}
	page, _, err := e.Page(l, lab.Made{Processors: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		`| a\_b | 120 | 6 | 50.0 | 4.0 | 60.0 | 60.0 | 60.0 | 60.0 | 60.0 | 60.0 | 60.0 |`,
		`| large | 120 | 6 | 50.0 | 4.0 | 70.0 | 70.0 | 70.0 | – | 70.0 | – | 70.0 |`,
		`| **mean of 2** |  |  | 50.0 | 53.5 | 53.5 | 53.5 | 53.5 | 53.5 | 53.5 | 53.5 |`,
	} {
		if !strings.Contains(page, row) {
			t.Errorf("there is no %q in\n%s", row, page)
		}
	}
	labtest.CheckPage(t, page)
	e.list = nil
	for _, a := range e.aims() {
		if a.Measured == a.Measured {
			t.Errorf("%+v", a)
		}
	}
}
