package auto

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
	"github.com/mvclust/mvclust/score"
)

// All files are run in the states that they have, with the masks of the page's prose.
func TestCases(t *testing.T) {
	folder, second := t.TempDir(), t.TempDir()
	labtest.Write(t, folder, "one.npz", 1, 0.2, 0)
	labtest.Write(t, second, "two.npz", 2, 0.2, 0)
	labtest.Write(t, folder, "Handwritten.npz", 4, 0.2, 0)
	for _, file := range []string{"junk.npz", "notes.txt", "c.mat"} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte("junk"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	e := &Experiment{}
	cases, err := e.Cases(t.Context(), labtest.New(t, folder, second), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, c := range cases {
		got = append(got, c.Label)
		beside := map[state]int{complete: 7, halfMissing: 6, noiseView: 6}[e.list[i].state]
		if len(c.Setups) != 1 || c.Seeds != 5 || c.BesideSeeds != 1 || len(c.Beside) != beside || (e.list[i].folder == 1) != strings.HasPrefix(c.Label, "two") {
			t.Errorf("%+v", c)
		}
	}
	want := []string{
		"Handwritten, complete", "Handwritten, views 0, 1, complete", "junk, complete", "one, complete", "two, complete",
		"Handwritten, updated", "one, updated", "two, updated",
		"Handwritten, half missing", "Handwritten, views 0, 1, half missing", "two, half missing",
		"Handwritten, noise view", "two, noise view",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, missing := range map[int][]float64{8: {0, 0, 0.5, 0.5}, 9: {0.25, 0.25}, 10: {0.25, 0.25}} {
		if s := cases[i].Setups[0]; !slices.Equal(s.Missing, missing) || !s.Spare {
			t.Errorf("%+v", s)
		}
	}
	if s := cases[12].Setups[0]; s.Noise != 100 || s.Missing != nil {
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
	x := e.find("two", complete, false)
	for _, m := range append([]lab.Method{lab.Default, lab.Paper}, slices.Concat(told, untold)...) {
		if r := e.l.One(x.setup.By(m)); r.Scores.ARI < 0.7 || r.Large < 2 || r.Scores.Samples != 120 {
			t.Errorf("%s: %+v", m, r)
		}
	}
	if len(e.own(x)) != 5 || !(e.leastAlike(x) > 80 && e.leastAlike(x) <= e.alike(x)) {
		t.Errorf("%d seeds, %v at least of %v", len(e.own(x)), e.leastAlike(x), e.alike(x))
	}
	if e.value(x, bestLevel) < e.mean(x, lab.ARI) {
		t.Errorf("the best level has %v", e.value(x, bestLevel))
	}
	half := e.find("two", halfMissing, false)
	if list := e.own(half); len(list) != 5 || list[4].Incomplete != 60 || list[4].Labels != nil {
		t.Errorf("%+v", half)
	}
	u := e.find("two", updated, false)
	if u == nil || !(e.value(u, kept) > 70 && e.value(u, before) > 70 && e.value(u, after) > 70 && e.leastKept(u) <= e.value(u, kept)) {
		t.Errorf("%+v", u)
	}
	page, figures, err := e.Page(l, lab.Made{Processors: 1})
	if err != nil || !strings.Contains(page, "- junk, complete: junk.npz: ") || strings.Contains(page, folder) || !strings.Contains(page, "on 1 processor.") {
		t.Errorf("%v\n%s", err, page)
	}
	labtest.CheckPage(t, page)
	svg, err := figures[0].SVG()
	if err != nil || !strings.Contains(string(svg), ">two<") {
		t.Errorf("%v: %s", err, svg)
	}
}

// The rows of a view of some samples.
func TestRows(t *testing.T) {
	v := &mvclust.View{Name: "v", Samples: 3, Dims: 2, Data: []float32{1, 2, 3, 4, 5, 6}, Present: []bool{true, true, false}}
	got := rows(v, []int{2, 0})
	if got.Samples != 2 || got.Has(0) || !got.Has(1) || !slices.Equal(got.Row(1), []float32{1, 2}) || got.Check() != nil {
		t.Errorf("%+v", got)
	}
}

// made is an experiment with records that were made up.
type made struct {
	*Experiment
	t *testing.T
}

// add adds a subject: the default mode has the given scores, one for each seed, 12 clusters, and
// twice the time of the paper's method. The best opponent is spectral clustering, by 75; Leiden
// has 60.
func (e *made) add(name string, views []int, s state, folder int, aris ...float64) *subject {
	x := subject{lab.Setup{File: name + ".npz", Views: views, Method: lab.Default}, s, views != nil, folder}
	switch s {
	case halfMissing:
		x.setup.Missing = []float64{0.25, 0.25}
	case noiseView:
		x.setup.Noise = noiseDims
	}
	for seed, ari := range aris {
		e.set(&x, lab.Default, uint64(seed), ari, 12, 3)
	}
	e.set(&x, lab.Paper, 0, 50, 40, 1.5)
	for _, m := range told {
		e.set(&x, m, 0, 40, 6, 1)
	}
	e.set(&x, lab.Spectral, 0, 75, 6, 1)
	e.set(&x, lab.Leiden10, 0, -1, 4, 1)
	e.set(&x, lab.Leiden20, 0, 60, 4, 1)
	e.list = append(e.list, x)
	if s == complete && views == nil {
		u := subject{x.setup.By(updating), updated, false, folder}
		for seed := range uint64(2) {
			e.l.Store.Add(&lab.Record{Setup: u.setup, Seed: seed, Seconds: []float64{0.5}, Values: map[string][]float64{kept: {96 + float64(seed)}, before: {80}, after: {78}}})
		}
		e.list = append(e.list, u)
	}
	return &x
}

func (e *made) set(x *subject, m lab.Method, seed uint64, ari float64, large int, seconds ...float64) {
	e.l.Store.Add(&lab.Record{
		Setup: x.setup.By(m), Seed: seed, Seconds: seconds, Large: large, Peak: 5 << 20, Incomplete: 60, Labels: []int{0, 0, 0, 1, 1, 1},
		Values: map[string][]float64{bestLevel: {90}},
		Scores: &score.Scores{ARI: ari / 100, BCubedF: (ari + 1) / 100, Samples: 120, Classes: 6, Clusters: large},
	})
}

// all has all that the aims are about, and three sets of collection two.
func all(t *testing.T) *made {
	e := &made{&Experiment{l: labtest.New(t, t.TempDir(), t.TempDir())}, t}
	e.l.PageOnly = true
	for _, set := range lab.Ten() {
		e.add(set, nil, complete, 0, 80, 80)
		e.add(set, nil, noiseView, 0, 79.5)
	}
	e.add("Handwritten", nil, halfMissing, 0, 86, 90, 86, 90, 88)
	for _, set := range []string{"Handwritten", "100Leaves"} {
		e.add(set, pairs(set+".npz"), complete, 0, 98)
		e.add(set, pairs(set+".npz"), halfMissing, 0, 81, 83, 82, 82, 82)
	}
	for _, set := range []string{"a", "b", "c"} {
		e.add(set, nil, complete, 1, 77, 75)
		e.add(set, nil, noiseView, 1, 75)
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
	noise := (10*0.5 + 3*1) / 13
	check([]float64{76, 80, 88, 100, 0, 96.5, 96, 0, 3, 3, noise, 1, 2, 2}, "yyyyyyyynnyyyy")
	a, b := e.find("a", complete, false), e.find("b", complete, false)
	e.set(a, lab.Default, 0, 30, 30, 24)
	e.set(a, lab.Default, 1, 30, 30, 24)
	r := *e.own(b)[1]
	r.Labels = []int{0, 1, 2, 0, 1, 2}
	e.l.Store.Add(&r)
	e.set(e.find("BUAA", noiseView, false), lab.Default, 0, 60, 12, 1)
	u := *e.own(e.find("c", updated, false))[1]
	u.Values = map[string][]float64{kept: {12}}
	e.l.Store.Add(&u)
	apart := e.leastAlike(b)
	noise = (9*0.5 + 20 + 2*1 - 45) / 13
	check([]float64{(30 + 76 + 76) / 3., 80, 88, (12*100 + apart) / 13, 1, (12*96.5 + (96+12)/2.) / 13, 12, 1, 2, 2, noise, 20, 2, 16}, "yyynyn"+"nnnnynyn")
	for i, where := range map[int]string{4: "b", 6: "c", 7: "a", 11: "BUAA", 13: "a"} {
		if got := e.aims()[i].Where; got != where {
			t.Errorf("aim %d is of %q, want %q", i, got, where)
		}
	}
	// What an aim needs and is not there leaves it unmeasured.
	e.list = slices.DeleteFunc(e.list, func(x subject) bool {
		return x.setup.Name() == "ORL" && x.state == complete || x.setup.Name() == "Handwritten" && x.state == halfMissing
	})
	for i, a := range e.aims() {
		if (a.Measured != a.Measured) != (i == 1 || i == 2 || i == 10) {
			t.Errorf("%d: %+v", i, a)
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
	e.add("big_set", nil, complete, 1, 65)
	for _, m := range slices.Concat(told, untold) {
		e.l.Store.Add(&lab.Record{Setup: lab.Setup{File: "big_set.npz", Method: m}, Reason: "more than 20000 samples"})
	}
	page, figures, err := e.Page(nil, lab.Made{Processors: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| WebKB-course | 120 | 6 | 12 ± 0 | 80.0 ± 0.0 | 81.0 ± 0.0 | 90.0 | 100.0 | 100.0 | 40.0 | 75.0 | 40.0 | 40.0 | -1.0 | 60.0 | 50.0 | 3.00 | 2.00 | 5 |",
		"| big\\_set | 120 | 6 | 12 | 65.0 | 66.0 | 90.0 | – | – | – | – | – | – | – | – | 50.0 | 3.00 | 2.00 | 5 |",
		"| Handwritten, views 0, 1 | 120 | 6 | 12 | 98.0 |",
		"| **mean of 10** |  |  |  | 80.0 | 81.0 | 90.0 | 100.0 | 100.0 | 40.0 | 75.0 |",
		"| **mean of 4** |  |  |  | 73.3 | 74.3 | 90.0 | – | – | – | – |",
		"| Handwritten | 12 ± 0 | 88.0 ± 2.0 | 89.0 ± 2.0 | 90.0 | 50% | 40.0 | 75.0 |",
		"| WebKB-course | 12 | 79.5 | 80.5 | 90.0 | 0.5 | 40.0 |",
		"| **mean of 3** |  | 75.0 | 76.0 | 90.0 | 1.0 | 40.0 |",
		"| WebKB-course | 96.5 | 96.0 | 80.0 | 78.0 | 0.50 |",
		"100Leaves\\_aligned", "beyond 20,000 there", "(auto/against.svg)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in\n%s", want, page)
		}
	}
	if strings.Contains(page, "Skipped") {
		t.Error("something is skipped")
	}
	labtest.CheckPage(t, page)
	if s := figures[0].Panels[0].Series; len(s) != 2 || len(s[0].Names) != 10 || !slices.Equal(s[1].Names, []string{"a", "b", "c"}) || s[1].X[0] != 75 || s[1].Y[0] != 76 {
		t.Errorf("%+v", s)
	}
}
