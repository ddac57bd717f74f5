package auto

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
	"github.com/mvclust/mvclust/score"
)

// All files are run in the states that they have, with the masks of the page's prose.
func TestCases(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "one.npz", 1, 0.2, 0)
	labtest.Write(t, folder, "two.npz", 2, 0.2, 0)
	labtest.Write(t, folder, "Handwritten.npz", 4, 0.2, 0)
	for _, file := range []string{"junk.npz", "notes.txt", "c.mat"} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte("junk"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	e := &Experiment{}
	cases, err := e.Cases(t.Context(), labtest.New(t, folder), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, c.Label)
		if len(c.Setups) != 2 || len(c.Beside) != 3 || c.Setups[0].Method != lab.Default || c.Setups[1].Method != lab.Paper || (c.Seeds == 5) != (c.Setups[0].Missing != nil) {
			t.Errorf("%+v", c)
		}
	}
	want := []string{
		"Handwritten, complete", "Handwritten, half missing", "Handwritten, noise view", "Handwritten, views 0, 1, complete", "Handwritten, views 0, 1, half missing",
		"junk, complete", "one, complete", "two, complete", "two, half missing", "two, noise view",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, missing := range map[int][]float64{1: {0, 0, 0.5, 0.5}, 4: {0.25, 0.25}, 8: {0.25, 0.25}} {
		if s := cases[i].Setups[0]; !slices.Equal(s.Missing, missing) || !s.Spare {
			t.Errorf("%+v", s)
		}
	}
	if s := cases[9].Setups[0]; s.Noise != 100 || s.Missing != nil {
		t.Errorf("%+v", s)
	}
	for path, want := range map[string]string{filepath.Join(folder, "none"): "cannot be read", t.TempDir(): "holds no .npz files"} {
		if _, err := (&Experiment{}).Cases(t.Context(), labtest.New(t, path), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
}

// What cannot be used is skipped, and the rest measured by all methods.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "two.npz", 2, 0.2, 0)
	if err := os.WriteFile(filepath.Join(folder, "junk.npz"), []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	l, e := labtest.New(t, folder), &Experiment{}
	cases, err := e.Cases(t.Context(), l, nil)
	if err == nil {
		err = l.Run(t.Context(), cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range e.done(complete) {
		for _, m := range append([]lab.Method{lab.Default, lab.Paper}, opponents...) {
			if r := e.of(x, m)[0]; r.Scores.ARI < 0.7 || r.Large < 2 || r.Peak <= 0 || r.Scores.Samples != 120 {
				t.Errorf("%s: %+v", m, r)
			}
		}
	}
	if x := e.find("two", halfMissing, false); x == nil || len(e.of(x, lab.Spectral)) != 5 || e.of(x, lab.Default)[4].Incomplete != 60 {
		t.Errorf("%+v", x)
	}
	page, _, err := e.Page(l, lab.Made{Processors: 1})
	if err != nil || !strings.Contains(page, "- junk, complete: junk.npz: ") || strings.Contains(page, folder) || !strings.Contains(page, "on 1 processor.") {
		t.Errorf("%v\n%s", err, page)
	}
	labtest.CheckPage(t, page)
}

// made is an experiment with records that were made up.
type made struct {
	*Experiment
	t *testing.T
}

// add adds a subject: the default mode has the given scores, one for each seed, 12 clusters, and
// twice the time of the paper's method. The best opponent is spectral clustering, by 75.
func (e *made) add(name string, views []int, s state, aris ...float64) {
	x := subject{lab.Setup{File: name + ".npz", Views: views, Method: lab.Default}, s, views != nil}
	switch s {
	case halfMissing:
		x.setup.Missing = []float64{0.25, 0.25}
	case noiseView:
		x.setup.Noise = noiseDims
	}
	e.list = append(e.list, x)
	for seed, ari := range aris {
		e.set(&x, lab.Default, uint64(seed), ari, 12, 2, 4, 3)
		e.set(&x, lab.Paper, uint64(seed), 50, 40, 1.5)
		e.set(&x, lab.KMeans, uint64(seed), 40, 6, 1)
		e.set(&x, lab.Spectral, uint64(seed), 75, 6, 1)
		e.set(&x, lab.Modularity, uint64(seed), -1, 4, 1)
	}
}

func (e *made) set(x *subject, m lab.Method, seed uint64, ari float64, large int, seconds ...float64) {
	e.l.Store.Add(&lab.Record{
		Setup: x.setup.By(m), Seed: seed, Seconds: seconds, Large: large, Peak: 5 << 20, Incomplete: 60,
		Scores: &score.Scores{ARI: ari / 100, BCubedF: (ari + 1) / 100, Samples: 120, Classes: 6, Clusters: large},
	})
}

// all has all that the aims are about.
func all(t *testing.T) *made {
	e := &made{&Experiment{l: labtest.New(t, t.TempDir())}, t}
	e.l.PageOnly = true
	for _, set := range ten {
		e.add(set, nil, complete, 70)
		e.add(set, nil, noiseView, 69)
	}
	e.add("Handwritten", nil, halfMissing, 76, 80, 76, 80, 78)
	for _, set := range []string{"Handwritten", "100Leaves"} {
		e.add(set, pairs(set+".npz"), complete, 88)
		e.add(set, pairs(set+".npz"), halfMissing, 71, 73, 72, 72, 72)
	}
	return e
}

func TestAims(t *testing.T) {
	e := all(t)
	check := func(want []float64, reached string) {
		t.Helper()
		for i, a := range e.aims() {
			if !(math.Abs(a.Measured-want[i]) <= 1e-9) || (a.Reached() == "yes") != (reached[i] == 'y') {
				t.Errorf("%+v, want %v", a, want[i])
			}
		}
	}
	check([]float64{70, 78, 70. / 75, 1, 10, 2, 2}, "yyyyyyy")
	msrc := e.find("MSRC", complete, false)
	e.set(msrc, lab.Default, 0, 30, 13, 9)
	e.set(e.find("ORL", complete, false), lab.Default, 0, 70, 2, 2, 4, 3)
	e.set(e.find("BUAA", noiseView, false), lab.Default, 0, 60, 12, 1)
	check([]float64{66, 78, 0.4, 10, 8, 2, 6}, "nynnyyn")
	if a := e.aims(); a[2].Where != "MSRC" || a[3].Where != "BUAA; the mean is -2.1" || a[6].Where != "MSRC" {
		t.Errorf("%+v", a)
	}
	// An opponent that is no better than chance is no measure.
	e.set(msrc, lab.KMeans, 0, 0, 6, 1)
	e.set(msrc, lab.Spectral, 0, -2, 6, 1)
	if a := e.aims()[2]; a.Where == "MSRC" || a.Reached() != "yes" {
		t.Errorf("%+v", a)
	}
	// What an aim needs and is not there leaves it unmeasured.
	e.list = slices.DeleteFunc(e.list, func(x subject) bool {
		return x.setup.Name() == "ORL" && x.state == complete || x.setup.Name() == "Handwritten" && x.state == halfMissing
	})
	for i, a := range e.aims() {
		if (a.Measured != a.Measured) != (i == 0 || i == 1 || i == 4) {
			t.Errorf("%+v", a)
		}
	}
	e.list = nil
	for _, a := range e.aims() {
		if a.Measured == a.Measured || a.Where != "" {
			t.Errorf("%+v", a)
		}
	}
}

// The rows of the tables, by hand.
func TestPage(t *testing.T) {
	e := all(t)
	e.list = e.list[len(e.list)-7:] // of WebKB-course on
	e.add("big_set", nil, complete, 65)
	e.add("small", nil, complete, -0.04)
	for _, m := range opponents {
		e.l.Store.Add(&lab.Record{Setup: lab.Setup{File: "big_set.npz", Method: m}, Reason: "more than 20000 samples"})
	}
	page, _, err := e.Page(nil, lab.Made{Processors: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| WebKB-course | 120 | 6 | 12 | 70.0 | 71.0 | 3.00 | 5 | 2.00 | 50.0 / 51.0 | 40.0 / 41.0 | 75.0 / 76.0 | -1.0 / 0.0 |",
		"| big\\_set | 120 | 6 | 12 | 65.0 | 66.0 | 3.00 | 5 | 2.00 | 50.0 / 51.0 | – | – | – |",
		"| Handwritten, views 0, 1 | 120 | 6 | 12 | 88.0 |",
		"| mean of sets with all views (3) |  |  |  | 45.0 | 46.0 |  |  |  | 50.0 / 51.0 | – | – | – |",
		"| Handwritten | 120 | 6 | 12 ± 0 | 78.0 ± 2.0 | 79.0 ± 2.0 | 3.00 | 5 | 2.00 | 50% | 50.0 / 51.0 |",
		"| WebKB-course | 120 | 6 | 12 | 69.0 | 70.0 | 3.00 | 5 | 2.00 | 1.0 | 50.0 / 51.0 |",
		"| mean of sets with all views (1) |  |  |  | 69.0 | 70.0 |  |  |  | 1.0 |",
		"| fall of the ARI by a view of noise, points, the largest of all sets | WebKB-course; the mean is 1.0 | ≤ 3.0 |  | 1.0 | yes |",
		"100Leaves\\_aligned", "beyond 20000 there",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "Skipped") {
		t.Error("something is skipped")
	}
	labtest.CheckPage(t, page)
}
