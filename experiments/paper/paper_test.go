package paper

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
	"github.com/mvclust/mvclust/score"
)

// The table is sound: every cell is told from the others, can be run or says why not,
// and the figures that the paper has for it are shown.
func TestExperiments(t *testing.T) {
	ids := make(map[string]bool)
	for _, e := range tables() {
		if ids[e.ID] || e.ID == "" || e.Title == "" || e.Text == "" || len(e.Cells) == 0 {
			t.Errorf("experiment %q", e.ID)
		}
		ids[e.ID] = true
		names := make(map[string]bool)
		for _, c := range e.Cells {
			where := e.ID + ": " + c.name()
			if names[c.name()] || c.Group == "" || c.Label == "" {
				t.Errorf("%s: the name does not tell it from others", where)
			}
			names[c.name()] = true
			for m, x := range c.Paper {
				if x <= 0 || x > 100 || !slices.Contains(e.Columns, m) {
					t.Errorf("%s: the paper has %v for %s", where, x, m)
				}
			}
			if (c.Against != nil) != (e.Reading != "") {
				t.Errorf("%s: is held against %v", where, c.Against)
			}
			if c.Reason == "" {
				checkSetup(t, where, c.Setup)
			}
			if c.Against != nil {
				checkSetup(t, where, *c.Against)
			}
		}
	}
}

func checkSetup(t *testing.T, where string, s lab.Setup) {
	t.Helper()
	opt, err := s.Options(0)
	if err != nil || opt.Neighbours == 0 || s.File == "" {
		t.Errorf("%s: %+v: %v", where, s, err)
	}
	if s.Views != nil && s.Missing != nil && len(s.Views) != len(s.Missing) {
		t.Errorf("%s: %d views, %d shares", where, len(s.Views), len(s.Missing))
	}
	names := make(map[string]bool)
	for _, word := range s.Settings {
		name, _, _ := strings.Cut(word, "=")
		if names[name] {
			t.Errorf("%s: %s is set twice", where, name)
		}
		names[name] = true
	}
}

// The tables of the paper print this many different cells for SLS-MPC, by hand: ten of
// two views, three of four, twelve of aggregations (the formula is the main result),
// twelve and six of similarity measures (cosine is too), two of the consistency loss,
// six of its parts, six of other methods.
func TestEveryCell(t *testing.T) {
	seen := make(map[string]bool)
	for _, e := range tables() {
		for _, c := range e.Cells {
			if c.counted() {
				seen[c.identity()] = true
			}
		}
	}
	if len(seen) != 10+3+12+12+6+2+6+6 {
		t.Errorf("%d cells", len(seen))
	}
}

// Cells that the paper prints in several tables have the same figures in each.
func TestFiguresAgree(t *testing.T) {
	first := make(map[string]cell)
	for _, e := range tables() {
		for _, c := range e.Cells {
			if c.Beside || c.Reason != "" || c.Paper == nil {
				continue
			}
			before, ok := first[c.identity()]
			if !ok {
				first[c.identity()] = c
				continue
			}
			for m, x := range c.Paper {
				if y, ok := before.Paper[m]; ok && x != y {
					t.Errorf("%s, %s: %v for %s, and %v as %s", e.ID, c.name(), x, m, y, before.name())
				}
			}
		}
	}
}

// Every main result has its bounds.
func TestBounds(t *testing.T) {
	cases, err := (&Experiment{}).Cases(t.Context(), labtest.New(t, t.TempDir()), nil)
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]bool)
	for _, c := range cases {
		there[c.Setups[0].Key()] = true
	}
	for _, table := range []table{completeTwo(), incompleteTwo(), fourViews()} {
		for _, c := range table.Cells {
			for _, m := range []lab.Method{lab.Oracle, lab.TrueNeighbours} {
				if c.Reason == "" && !there[c.Setup.By(m).Key()] {
					t.Errorf("%s has no bound by %s", c.name(), m)
				}
			}
		}
	}
}

// easy is a setup of the set that tests make.
func easy(settings ...string) lab.Setup {
	return lab.Setup{File: "easy.npz"}.With("neighbors=20", "epochs=10").With(settings...)
}

// sample are three tables that share setups, one of them with a figure.
func sample() []table {
	line := easy("training=off")
	half := easy().Lacking(0.25, 0.25)
	return []table{
		{
			ID: "main", Title: "Main results", Source: "table 1", Text: "What to see.",
			Columns: []lab.Metric{lab.BCubedF, lab.ARI, lab.Clusters},
			Cells: []cell{
				{Group: "easy", Label: "complete", Setup: easy(), Seeds: 2, Paper: figures{lab.BCubedF: 90, lab.ARI: 85.5}},
				{Group: "easy", Label: "incomplete", Setup: half, Seeds: 2, Paper: figures{lab.BCubedF: 110}},
				{Group: "gone", Label: "complete", Setup: lab.Setup{File: "gone.npz"}, Paper: figures{lab.ARI: 50}},
				{Group: "secret", Label: "complete", Reason: "nobody has *it*", Paper: figures{lab.ARI: 60}},
			},
		},
		{
			ID: "rates", Title: "Missing rates", Columns: []lab.Metric{lab.ARI}, Plot: scorePlot, XLabel: "rate",
			Cells: []cell{
				{Group: "easy", Label: "0", Setup: easy(), Seeds: 2},
				{Group: "easy", Label: "0.5", Setup: half, Seeds: 2, X: 0.5},
			},
		},
		{
			ID: "learning", Title: "Learning", Columns: []lab.Metric{lab.ARI}, Reading: "line / learned", Tolerance: 0.5,
			Cells: []cell{{Group: "easy", Label: "complete", Setup: easy(), Seeds: 2, Against: &line}},
		},
	}
}

// made is an experiment of sample with numbers that were made up.
func made(t *testing.T) *Experiment {
	l := labtest.New(t, t.TempDir())
	l.PageOnly = true
	add := func(s lab.Setup, f, ari []float64, clusters int) {
		for seed := range f {
			l.Store.Add(&lab.Record{Setup: s, Seed: uint64(seed), Seconds: []float64{1.5}, Scores: &score.Scores{
				BCubedF: f[seed] / 100, ARI: ari[seed] / 100, Samples: 120, Clusters: clusters + seed,
			}})
		}
	}
	add(easy(), []float64{89, 93}, []float64{80, 82}, 7)
	add(easy().Lacking(0.25, 0.25), []float64{70, 70}, []float64{60, 60}, 9)
	add(easy("training=off"), []float64{90, 92}, []float64{82, 82}, 7)
	l.Store.Add(&lab.Record{Setup: lab.Setup{File: "gone.npz"}, Reason: "gone.npz is not in the folder"})
	e := &Experiment{tables: sample()}
	if _, err := e.Cases(t.Context(), l, nil); err != nil {
		t.Fatal(err)
	}
	return e
}

var update = flag.Bool("update", false, "write testdata/page.md anew")

// The parts of the page that are computed, against a file that was checked by hand.
func TestPage(t *testing.T) {
	e := made(t)
	p := &page{e: e}
	ours := func(label string) string {
		s, err := p.Ours("main", label, "complete", lab.ARI)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	text := e.summary() + "\nARI of " + ours("easy") + " and of " + ours("gone") + ".\n"
	for i := range e.tables {
		s := e.section(&e.tables[i])
		text += fmt.Sprintf("\n## %s\n\n%s\n%s\n%s\n%s\n", s.Title, s.Table, s.Notes, s.Settings, s.Figure)
	}
	const golden = "testdata/page.md"
	if *update {
		if err := lab.WriteFile(golden, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the page is\n%s\nand not that of %s", text, golden)
	}
	if _, err := p.Ours("main", "easy", "compete", lab.ARI); err == nil {
		t.Error("a cell that is not there is passed over")
	}
}

// The whole page works for the real tables, where most sets are not there.
func TestRealPage(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "MSRC.npz", 5, 0.5, 1)
	l, e := labtest.New(t, folder), &Experiment{}
	cases, err := e.Cases(t.Context(), l, nil)
	if err == nil {
		err = l.Run(t.Context(), cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, quick := range []bool{false, true} {
		l.Quick = quick
		page, figures, err := e.Page(l, lab.Made{Command: "go run . paper", Date: "2000-01-02", Version: "mvclust 9", Processors: 3, Quick: quick})
		if err != nil || len(figures) > 0 {
			t.Fatal(figures, err)
		}
		for _, want := range []string{
			"    go run . paper\n", "on 2000-01-02 by", "with mvclust 9 on 3 processors", "\n## Summary\n",
			"The paper prints 57 different cells", "\n## Two views, complete\n", "Humbi240: we do not have the set",
			"Handwritten.npz is not in the folder", "98.12 / –", "\n## Bounds\n",
			"`mvclust fit 100Leaves.npz --views 2,1 --preset paper --neighbors 14 ",
		} {
			if !strings.Contains(page, want) {
				t.Errorf("there is no %q", want)
			}
		}
		if strings.Contains(page, "quick run") != quick || strings.Contains(page, "\n## What to believe\n") == quick {
			t.Errorf("quick is %v", quick)
		}
		if strings.Contains(page, folder) || strings.Contains(page, "](paper/") {
			t.Error(page)
		}
		labtest.CheckPage(t, page)
	}
}

// Every kind of figure has its panels.
func TestFigures(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "easy.npz", 3, 0.7, 1)
	cells := []cell{
		{Group: "g", Label: "10", Setup: easy(), Seeds: 2, X: 10},
		{Group: "g", Label: "20", Setup: easy("epochs=20"), Seeds: 1, X: 20},
		{Group: "h", Label: "truth", Setup: easy().By(lab.Oracle), Seeds: 1, X: 30},
		{Group: "gone", Label: "gone", Setup: lab.Setup{File: "gone.npz"}},
		{Group: "never", Label: "never", Reason: "never"},
	}
	l, e := labtest.New(t, folder), &Experiment{}
	for _, p := range []plot{noPlot, scorePlot, lossPlot, functionPlot} {
		e.tables = append(e.tables, table{ID: fmt.Sprint("p", p), Title: "T", Columns: []lab.Metric{lab.ARI, lab.NMI, lab.Clusters, lab.Seconds}, Cells: cells, Plot: p, XLabel: "x"})
	}
	e.tables = append(e.tables, table{ID: "none", Cells: cells[3:], Plot: scorePlot})
	cases, err := e.Cases(t.Context(), l, nil)
	if err == nil {
		err = l.Run(t.Context(), cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 2, 3, 3, 0} {
		f := e.figure(&e.tables[i])
		if len(f.Panels) != want {
			t.Errorf("%s has %d panels", f.Name, len(f.Panels))
		}
		if strings.Contains(e.section(&e.tables[i]).Figure, "paper/"+f.Name+".svg") != (want > 0) {
			t.Errorf("%s is not linked as it should be", f.Name)
		}
		if want > 0 {
			if _, err := f.SVG(); err != nil {
				t.Error(err)
			}
		}
	}
	if s := e.figure(&e.tables[1]).Panels[0].Series; len(s) != 2 || len(s[0].X) != 2 || s[0].X[1] != 20 {
		t.Errorf("%+v", s)
	}
	if s := e.figure(&e.tables[2]).Panels[2].Series[0]; s.X[len(s.X)-1] != 20 {
		t.Errorf("the loss is not of the longest run: %v", s.X)
	}
	if s := e.figure(&e.tables[3]).Panels[0].Series; len(s) != 3 || s[2].Name != "truth" {
		t.Errorf("%+v", s)
	}
}
