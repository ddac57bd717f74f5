package paper

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The table is sound: every cell is told from the others, can be run or says why not,
// and the figures that the paper has for it are shown.
func TestExperiments(t *testing.T) {
	ids := make(map[string]bool)
	for _, e := range Experiments() {
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

func checkSetup(t *testing.T, where string, s Setup) {
	t.Helper()
	opt, err := s.options(0)
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
	for _, e := range Experiments() {
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
	first := make(map[string]Cell)
	for _, e := range Experiments() {
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
	all := (&Plan{Experiments: Experiments()}).jobs().of
	for _, e := range []Experiment{completeTwo(), incompleteTwo(), fourViews()} {
		for _, c := range e.Cells {
			for _, m := range []Method{Oracle, TrueNeighbours} {
				if c.Reason == "" && all[c.Setup.By(m).key()] == nil {
					t.Errorf("%s has no bound by %s", c.name(), m)
				}
			}
		}
	}
}

func TestSetup(t *testing.T) {
	base := Setup{File: "a.npz", Views: []int{2, 0}, Settings: []string{"neighbors=7", "lambda=20"}}
	s := base.With("metric=l1", "lambda=5")
	if want := []string{"neighbors=7", "lambda=5", "metric=l1"}; !slices.Equal(s.Settings, want) {
		t.Errorf("%q, want %q", s.Settings, want)
	}
	if want := []string{"neighbors=7", "lambda=20"}; !slices.Equal(base.Settings, want) {
		t.Errorf("With changed the setup to %q", base.Settings)
	}
	if got, want := s.command(), "mvclust fit a.npz --views 2,0 --neighbors 7 --param lambda=5 --metric l1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := s.Lacking(0.25, 0.5).lacking(), "25% lack view 2, 50% lack view 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := (Setup{Missing: []float64{0, 0.5}}).lacking(), "50% lack view 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}

	other := Setup{File: "a.npz", Views: []int{2, 0}, Settings: []string{"lambda=5", "metric=l1", "neighbors=7"}}
	if s.key() != other.key() {
		t.Error("the order of settings matters")
	}
	keys := map[string]bool{s.key(): true}
	for _, different := range []Setup{
		base, s.By(Oracle), s.Lacking(0.5, 0), s.Lacking(0, 0.5), {File: "a.npz", Settings: s.Settings},
		{File: "a.npz", Views: []int{0, 2}, Settings: s.Settings}, {File: "b.npz", Views: s.Views, Settings: s.Settings},
	} {
		if keys[different.key()] {
			t.Errorf("%+v has the key of another", different)
		}
		keys[different.key()] = true
	}
}

func TestOptions(t *testing.T) {
	opt, err := Setup{Settings: []string{"neighbors=7", "metric=l2", "lambda=5"}}.options(3)
	if err != nil || opt.Neighbours != 7 || fmt.Sprint(opt.Metrics) != "[l2]" || opt.Learning.Lambda != 5 || opt.Seed != 3 {
		t.Errorf("%+v, %v", opt, err)
	}
	for _, word := range []string{"neighbors=x", "neighbors", "metric=l9", "lambda=x", "lamda=1", ""} {
		if _, err := (Setup{Settings: []string{word}}).options(0); err == nil {
			t.Errorf("%q is accepted", word)
		}
	}
}
