package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/synth"
)

// write makes folder/file, a .npz file of 120 samples of 6 classes, easy to tell
// apart, in the given number of views.
func write(t *testing.T, folder, file string, views int) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 120, Classes: 6, Views: views, Dims: []int{8}, Noise: []float64{0.3}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dataset.Write(f, set.Views, set.Labels), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// junk makes folder/file with a number of bytes that mean nothing.
func junk(t *testing.T, folder, file string, size int) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
}

func files(cases []Case) []string {
	var list []string
	for _, c := range cases {
		list = append(list, c.File)
	}
	return list
}

func TestCases(t *testing.T) {
	folder := t.TempDir()
	for _, file := range []string{
		"BUAA.npz", "100Leaves.npz", "other.npz", "notes.txt", "far/away.npz", "stray.mat",
		"mat/100Leaves.mat", "mat/BBCSport_incomplete.mat", "mat/other.npz",
	} {
		junk(t, folder, file, 1)
	}
	cases, err := Cases(folder)
	if err != nil {
		t.Fatal(err)
	}
	n := len(paper())
	want := []string{"100Leaves.npz", "other.npz", "mat/100Leaves.mat", "mat/BBCSport_incomplete.mat"}
	if got := files(cases[n:]); !slices.Equal(got, want) {
		t.Errorf("beside those of the paper, the cases are %q, want %q", got, want)
	}
	for i, c := range cases {
		switch {
		case c.Seeds != 1 && (c.Seeds != 5 || c.Missing == nil):
			t.Errorf("%+v is run %d times", c, c.Seeds)
		case c.Missing != nil && c.Views != nil && len(c.Missing) != len(c.Views):
			t.Errorf("%+v", c)
		case (c.K == 0) != (i >= n && !strings.Contains(c.File, "100Leaves")):
			t.Errorf("%+v has the K %d", c, c.K)
		case (c.Index != "") != strings.Contains(c.File, "incomplete"):
			t.Errorf("%+v has the index %q", c, c.Index)
		}
	}
	if got := cases[n+2].Name(); got != "mat/100Leaves" {
		t.Errorf("the name is %q", got)
	}
}

func TestCasesOfNoFolder(t *testing.T) {
	folder := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(folder, "none"): "cannot be read: ",
		folder:                        "holds neither .npz files nor mat/*.mat",
	} {
		if _, err := Cases(path); err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
}

func TestQuick(t *testing.T) {
	folder := t.TempDir()
	junk(t, folder, "a.npz", 1<<20)
	junk(t, folder, "b.npz", 1<<20+1)
	got := Quick(folder, []Case{{File: "gone.npz"}, {File: "b.npz"}, {File: "a.npz", K: 1}, {File: "a.npz", K: 2}})
	if len(got) != 1 || got[0].K != 1 {
		t.Errorf("%+v", got)
	}
}

func TestRun(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 3)
	for _, test := range []struct {
		c           Case
		views       []int
		k           int
		fromClasses bool
		incomplete  int
	}{
		{Case{Seeds: 1}, []int{0, 1, 2}, 20, true, 0},
		{Case{Seeds: 1, K: 15}, []int{0, 1, 2}, 15, false, 0},
		{Case{Seeds: 2, Views: []int{2, 0}, Missing: []float64{0.25, 0.25}, K: 15}, []int{2, 0}, 15, false, 60},
		{Case{Seeds: 1, Missing: []float64{0, 0.5, 0.5}, Completion: true}, []int{0, 1, 2}, 20, true, 120},
	} {
		test.c.File = "easy.npz"
		r, err := Run(t.Context(), folder, test.c)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Skipped != "":
			t.Errorf("%+v was skipped: %s", test.c, r.Skipped)
			continue
		case r.Set != "easy" || r.Samples != 120 || r.Classes != 6 || !slices.Equal(r.Views, test.views):
			t.Errorf("%+v gives %+v", test.c, r)
		case r.K != test.k || r.FromClasses != test.fromClasses || r.Incomplete != test.incomplete || r.Completion != test.c.Completion:
			t.Errorf("%+v gives %+v", test.c, r)
		case len(r.Trials) != test.c.Seeds:
			t.Errorf("%+v has %d trials", test.c, len(r.Trials))
		}
		for i, trial := range r.Trials {
			if trial.Seed != uint64(i) || trial.Seconds <= 0 || trial.Scores.ARI < 0.7 || trial.Scores.Samples != 120 {
				t.Errorf("%+v: trial %d is %+v", test.c, i, trial)
			}
		}
	}
}

// What the data lack becomes a reason, which tells nothing of the folder.
func TestRunSkips(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "mat/easy.npz", 2)
	junk(t, folder, "junk.npz", 7)
	for _, test := range []struct {
		c    Case
		want string
	}{
		{Case{File: "gone.npz"}, "gone.npz: "},
		{Case{File: "junk.npz"}, "junk.npz: "},
		{Case{File: "mat/easy.npz", Index: "index"}, `mat/easy.npz`},
		{Case{File: "mat/easy.npz", Views: []int{0, 2}}, `there is no view "2"`},
		{Case{File: "mat/easy.npz", K: 120}, "neighbors: 120 is not between 1 and 119"},
		{Case{File: "mat/easy.npz", Missing: []float64{1}}, "has 2 views, and the case is about 1"},
	} {
		test.c.Seeds = 1
		r, err := Run(t.Context(), folder, test.c)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Skipped, test.want) || strings.Contains(r.Skipped, folder) || len(r.Trials) > 0 {
			t.Errorf("%+v: skipped for %q after %d trials, want %q", test.c, r.Skipped, len(r.Trials), test.want)
		}
	}
}

func TestRunCancelled(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, folder, Case{File: "easy.npz", Seeds: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
}

// The shares are exact, no sample loses two views, the seed decides which do, and
// the views themselves stay whole.
func TestMask(t *testing.T) {
	var views []*mvclust.View
	for range 3 {
		v, err := mvclust.NewView("v", 101, 1, slices.Repeat([]float32{1}, 101))
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, v)
	}
	lost := func(seed uint64, missing ...float64) []int {
		masked, err := Mask(views, missing, seed)
		if err != nil {
			t.Fatal(err)
		}
		of := make([]int, 101)
		for i := range of {
			of[i] = -1
			for m, v := range masked {
				if !v.Has(i) {
					if of[i] >= 0 {
						t.Errorf("sample %d lacks the views %d and %d", i, of[i], m)
					}
					of[i] = m
				}
			}
		}
		return of
	}
	count := func(of []int) [3]int {
		var n [3]int
		for _, m := range of {
			if m >= 0 {
				n[m]++
			}
		}
		return n
	}
	first := lost(0, 0.25, 0, 0.25)
	if got := count(first); got != [3]int{25, 0, 26} {
		t.Errorf("the views lose %v", got)
	}
	if got := count(lost(0, 0, 0.5, 0.5)); got != [3]int{0, 51, 50} {
		t.Errorf("the views lose %v", got)
	}
	if !slices.Equal(first, lost(0, 0.25, 0, 0.25)) || slices.Equal(first, lost(1, 0.25, 0, 0.25)) {
		t.Error("the seed does not decide the draw")
	}
	for _, v := range views {
		if v.Count() != 101 {
			t.Error("a view was changed")
		}
	}
}

func TestMean(t *testing.T) {
	seconds := func(t *Trial) float64 { return t.Seconds }
	r := Result{Trials: []Trial{{Seconds: 1}, {Seconds: 2}, {Seconds: 6}}}
	if mean, sd := r.Mean(seconds); math.Abs(mean-3) > 1e-12 || math.Abs(sd-math.Sqrt(7)) > 1e-12 {
		t.Errorf("%v ± %v, want 3 ± the root of 7", mean, sd)
	}
	r.Trials = r.Trials[2:]
	if mean, sd := r.Mean(seconds); mean != 6 || sd != 0 {
		t.Errorf("%v ± %v, want 6 ± 0", mean, sd)
	}
}

func TestMeanSize(t *testing.T) {
	for _, test := range [][3]int{{120, 6, 20}, {1051, 2, 262}, {737, 5, 147}, {10, 10, 1}, {3, 1, 1}} {
		if got := meanSize(test[0], test[1]); got != test[2] {
			t.Errorf("%d samples of %d classes: %d, want %d", test[0], test[1], got, test[2])
		}
	}
}
