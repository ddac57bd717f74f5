package ablation

import (
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
)

// Every variant is run on every set, and on easy data all but agreement alone find the classes.
func TestAblation(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "easy.npz", 3, 0.2, 1)
	labtest.Write(t, folder, "other.npz", 2, 0.2, 2)
	l, e := labtest.New(t, folder), &Experiment{}
	cases, err := e.Cases(t.Context(), l, []string{"easy"})
	if err == nil {
		err = l.Run(t.Context(), cases)
	}
	if err != nil || len(cases) != 2 || cases[1].Seeds != seeds || cases[1].Setups[0].Missing[2] != 0.5/3 {
		t.Fatalf("%+v, %v", cases, err)
	}
	seen := make(map[string]bool)
	for _, v := range variants() {
		s := v.setup(lab.Setup{File: "easy.npz"})
		if seen[s.Key()] {
			t.Errorf("%s is another variant", v.name)
		}
		seen[s.Key()] = true
		r := l.One(s)
		if r == nil || r.Scores.ARI < 0.7 && v.name != "choice: agreement alone" {
			t.Errorf("%s: %+v", v.name, r)
		}
	}
	page, _, err := e.Page(l, lab.Made{Command: "go run . ablation"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"    go run . ablation\n", "| the default mode | 100.0 | 0.0 | ", "| fusion: max | ", "percent over easy: complete"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in\n%s", want, page)
		}
	}
	labtest.CheckPage(t, page)

	// Sets that were not run leave no figures.
	l.PageOnly = true
	bare := &Experiment{}
	if _, err := bare.Cases(t.Context(), l, nil); err != nil {
		t.Fatal(err)
	}
	if page, _, err := bare.Page(l, lab.Made{}); err != nil || !strings.Contains(page, "| the default mode | – | – | – | – |") {
		t.Errorf("%v\n%s", err, page)
	}
}
