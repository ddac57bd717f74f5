package sets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
)

// The cases of the paper come first, then all other files, each with its K.
func TestCases(t *testing.T) {
	folder := t.TempDir()
	for _, file := range []string{"BUAA.npz", "100Leaves.npz", "other.npz", "notes.txt", "far/away.npz", "stray.mat", "mat/100Leaves.mat", "mat/BBCSport_incomplete.mat", "mat/other.npz"} {
		path := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	labtest.Write(t, folder, "easy.npz", 2, 0.3, 0)
	e := &Experiment{}
	cases, err := e.Cases(t.Context(), labtest.New(t, folder), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := len(published())
	var files []string
	for _, x := range e.list[n:] {
		files = append(files, x.setup.File)
	}
	if want := []string{"100Leaves.npz", "easy.npz", "other.npz", "mat/100Leaves.mat", "mat/BBCSport_incomplete.mat"}; !slices.Equal(files, want) {
		t.Errorf("beside those of the paper, the cases are %q, want %q", files, want)
	}
	for i, x := range e.list {
		switch {
		case x.seeds != 0 && (x.seeds != 5 || x.setup.Missing == nil):
			t.Errorf("%+v is run %d times", x, x.seeds)
		case x.setup.Missing != nil && x.setup.Views != nil && len(x.setup.Missing) != len(x.setup.Views):
			t.Errorf("%+v", x)
		case (x.setup.Index != "") != strings.Contains(x.setup.File, "incomplete"):
			t.Errorf("%+v has the index %q", x, x.setup.Index)
		case x.setup.File == "easy.npz" && (x.k != 20 || x.of != "*"), strings.Contains(x.setup.File, "100Leaves") && (x.k != 14 || x.of != ""):
			t.Errorf("%+v", x)
		case cases[i].Setups[0].Key() != x.setup.Key() || cases[i].Seeds != x.seeds:
			t.Errorf("case %d is %+v", i, cases[i])
		}
	}
	if _, err := (&Experiment{}).Cases(t.Context(), labtest.New(t, folder), []string{"otter"}); err == nil || !strings.Contains(err.Error(), `no set "otter" (did you mean other?)`) {
		t.Errorf("the error is %v", err)
	}
	if some, err := (&Experiment{}).Cases(t.Context(), labtest.New(t, folder), []string{"easy", "mat/100Leaves"}); err != nil || len(some) != 2 {
		t.Errorf("%+v, %v", some, err)
	}
	if _, err := (&Experiment{}).Cases(t.Context(), labtest.New(t, filepath.Join(folder, "none")), nil); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("the error is %v", err)
	}
}

// A quick run has one case of every small file.
func TestQuick(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "Handwritten.npz", 4, 0.3, 0)
	if err := os.WriteFile(filepath.Join(folder, "b.npz"), make([]byte, 1<<20+1), 0o666); err != nil {
		t.Fatal(err)
	}
	l := labtest.New(t, folder)
	l.Quick = true
	cases, err := (&Experiment{}).Cases(t.Context(), l, nil)
	if err != nil || len(cases) != 1 || !slices.Equal(cases[0].Setups[0].Views, []int{0, 1}) {
		t.Errorf("%+v, %v", cases, err)
	}
}

func TestPage(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "Handwritten.npz", 4, 0.3, 0)
	labtest.Write(t, folder, "e_y.npz", 3, 0.3, 0)
	l, e := labtest.New(t, folder), &Experiment{}
	cases, err := e.Cases(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range e.list { // K is that of the real set
		if x.setup.File == "Handwritten.npz" {
			e.list[i].setup = x.setup.With("neighbors=20")
			cases[i].Setups[0] = e.list[i].setup
		}
	}
	if err := l.Run(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	page, _, err := e.Page(l, lab.Made{Command: "go run . sets", Date: "2000-01-02", Version: "mvclust 9", Processors: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"    go run . sets\n", "Made on 2000-01-02", "with mvclust 9 on 2 processors.",
		"| Handwritten | 0, 1 | 0.0% | 120 | 6 | 133 | 6 |", "| Handwritten | 0, 1; 25% lack view 0, 25% lack view 1 | 50.0% | 120 |",
		"| Handwritten | all; 50% lack view 2, 50% lack view 3; completion | 100.0% |", "| e\\_y | all | 0.0% | 120 | 6 | 20* | 6 |",
		"Skipped:\n\n- 100Leaves, views 2, 1; 100Leaves, views 2, 1, 25% lack view 2, 25% lack view 1: 100Leaves.npz is not in the folder\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q in\n%s", want, page)
		}
	}
	labtest.CheckPage(t, page)
}
