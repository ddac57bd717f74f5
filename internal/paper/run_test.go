package paper

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// keeper is a plan's Save and Status, and what they were given.
type keeper struct {
	saved  [][]byte
	status []Status
}

func (k *keeper) plan(folder string, experiments []Experiment) *Plan {
	return &Plan{
		Folder: folder, Experiments: experiments,
		Save:   func(text []byte) error { k.saved = append(k.saved, text); return nil },
		Status: func(s Status) { k.status = append(k.status, s) },
	}
}

// runs are the plan's runs of the method.
func runs(t *testing.T, p *Plan, known *Results) *Report {
	t.Helper()
	r, err := p.Run(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reparse returns results as a later call reads them.
func reparse(t *testing.T, r *Report) *Results {
	t.Helper()
	text, err := r.JSON(Made{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	known, err := ParseResults(text)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func scores(t *testing.T, r *Report) string {
	t.Helper()
	var all []any
	for _, run := range r.results.runs {
		all = append(all, []any{run.Setup.key(), run.Seed, run.Scores})
	}
	slices.SortFunc(all, func(a, b any) int {
		x, y := a.([]any), b.([]any)
		return strings.Compare(runText(x), runText(y))
	})
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func runText(x []any) string { text, _ := json.Marshal(x[:2]); return string(text) }

// Three setups of two seeds each serve five cells. What was run is not run again,
// and what cannot be run says why.
func TestRunResumes(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2, 0.5, 1)
	var first keeper
	r := runs(t, first.plan(folder, sample()), NewResults())
	if len(first.saved) != 6 || len(first.status) != 6 {
		t.Fatalf("%d runs and %d reports", len(first.saved), len(first.status))
	}
	if setups, reused, failed := r.Counts(); setups != 4 || reused != 0 || failed != 1 {
		t.Errorf("%d setups, %d from before, %d failed", setups, reused, failed)
	}
	begin, end := first.status[0], first.status[1]
	if begin.Ended || begin.Number != 1 || begin.Total != 4 || begin.Case != "Main results, easy, complete" {
		t.Errorf("%+v", begin)
	}
	if !end.Ended || end.Case != begin.Case || end.ARI < 50 || end.ARI > 100 || end.Elapsed <= 0 || end.Left <= 0 || end.Reason != "" {
		t.Errorf("%+v", end)
	}
	if left := first.status[5].Left; left != 0 {
		t.Errorf("%v are left in the end", left)
	}
	for i, want := range []string{"", "", "gone.npz is not in the folder", "nobody has *it*"} {
		if _, reason := r.runs(&sample()[0].Cells[i]); reason != want {
			t.Errorf("cell %d: %q", i, reason)
		}
	}

	var second keeper
	again := runs(t, second.plan(folder, sample()), reparse(t, r))
	if len(second.saved)+len(second.status) > 0 {
		t.Errorf("%d runs again", len(second.saved))
	}
	if _, reused, _ := again.Counts(); reused != 3 {
		t.Errorf("%d setups from before", reused)
	}
	if !reflect.DeepEqual(again.results, reparse(t, r)) {
		t.Error("the results are not those from before")
	}

	// One setting, and so one setup, is new; the old one is forgotten.
	var third keeper
	changed := sample()
	changed[2].Cells[0].Against = nil
	changed[2].Cells[0].Setup = easy("fusion=mean")
	third.plan(folder, changed)
	other := runs(t, third.plan(folder, changed), reparse(t, r))
	if len(third.saved) != 2 || len(other.results.runs) != 6 {
		t.Errorf("%d runs, %d results", len(third.saved), len(other.results.runs))
	}

	// On other data, and by another version, everything is.
	old := reparse(t, r)
	for _, run := range old.runs {
		run.Version = "0"
	}
	var fourth keeper
	if runs(t, fourth.plan(folder, sample()), old); len(fourth.saved) != 6 {
		t.Errorf("%d runs after another version", len(fourth.saved))
	}
	write(t, folder, "easy.npz", 2, 0.5, 2)
	var fifth keeper
	if runs(t, fifth.plan(folder, sample()), reparse(t, r)); len(fifth.saved) != 6 {
		t.Errorf("%d runs on other data", len(fifth.saved))
	}

	// Results on sets that are not there are kept for when they are.
	if err := os.Remove(filepath.Join(folder, "easy.npz")); err != nil {
		t.Fatal(err)
	}
	write(t, folder, "gone.npz", 2, 0.5, 3)
	var sixth keeper
	moved := sample()
	moved[0].Cells[2].Setup = easy()
	moved[0].Cells[2].Setup.File = "gone.npz"
	if last := runs(t, sixth.plan(folder, moved), reparse(t, r)); len(last.results.runs) != 6+DefaultSeeds {
		t.Errorf("%d results", len(last.results.runs))
	}
}

// A cancelled run keeps what was done, and a later one does the rest.
func TestRunCancelled(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2, 0.5, 1)
	whole := runs(t, &Plan{Folder: folder, Experiments: sample()}, NewResults())

	ctx, cancel := context.WithCancel(t.Context())
	var kept []byte
	p := &Plan{Folder: folder, Experiments: sample(), Save: func(text []byte) error {
		if kept != nil {
			t.Error("it goes on")
		}
		kept = text
		cancel()
		return nil
	}}
	if r, err := p.Run(ctx, NewResults()); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, %v", r, err)
	}
	known, err := ParseResults(kept)
	if err != nil || len(known.runs) != 1 {
		t.Fatalf("%s: %v", kept, err)
	}
	var rest keeper
	r := runs(t, rest.plan(folder, sample()), known)
	if len(rest.saved) != 5 {
		t.Errorf("%d runs are left of 6", len(rest.saved))
	}
	if scores(t, r) != scores(t, whole) {
		t.Error("the scores depend on the interruption")
	}

	if r, err := (&Plan{Folder: folder, Experiments: sample()}).Run(ctx, NewResults()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
	full := errors.New("the disk is full")
	p.Save = func([]byte) error { return full }
	if _, err := p.Run(t.Context(), NewResults()); !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
}

func TestRunQuick(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2, 0.5, 1)
	if err := os.WriteFile(filepath.Join(folder, "gone.npz"), make([]byte, small+1), 0o666); err != nil {
		t.Fatal(err)
	}
	var k keeper
	p := k.plan(folder, sample())
	p.Quick = true
	before := NewResults()
	before.add(&Run{Setup: Setup{File: "easy.npz"}, SHA256: "x"})
	r := runs(t, p, before)
	if len(k.saved) != 3 || len(r.results.runs) != 4 {
		t.Errorf("%d runs, %d results", len(k.saved), len(r.results.runs))
	}
	if _, reason := r.runs(&sample()[0].Cells[2]); reason != "left out by --quick" {
		t.Errorf("%q", reason)
	}
}

// What is wrong with a setup or its data becomes a reason that tells nothing of where
// the folder is; where there is no data at all it is an error.
func TestRunReasons(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2, 0.5, 1)
	for name, text := range map[string]string{"junk.npz": "junk", "one.csv": "a,b\n1,2\n3,4\n5,6\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		setup Setup
		want  string
	}{
		{Setup{File: "gone.npz"}, "gone.npz is not in the folder"},
		{Setup{File: "junk.npz"}, "junk.npz"},
		{Setup{File: "one.csv"}, "one.csv"},
		{Setup{File: "easy.npz", Views: []int{0, 2}}, "there is no view 2; the set has 2"},
		{easy().Lacking(1), "has 2 views, and the case is about 1"},
		{easy("neighbors=120"), "neighbors: 120 is not between 1 and 119"},
		{easy("epochs=x"), `--param epochs: "x" cannot be used`},
		{easy().By("magic"), `there is no method "magic"`},
		{easy("neighbors=0").By(TrueNeighbours), "neighbours are too few"},
	} {
		p := &Plan{Folder: folder, Experiments: []Experiment{{ID: "e", Columns: []Metric{ARI}, Cells: []Cell{
			{Group: "g", Label: "l", Setup: test.setup}, {Group: "g", Label: "good", Setup: easy(), Seeds: 1},
		}}}}
		r := runs(t, p, NewResults())
		got, reason := r.runs(&p.Experiments[0].Cells[0])
		if !strings.Contains(reason, test.want) || strings.Contains(reason, folder) || len(got) > 0 {
			t.Errorf("%+v: %q, want %q", test.setup, reason, test.want)
		}
	}
	for _, folder := range []string{t.TempDir(), filepath.Join(folder, "none"), filepath.Join(folder, "easy.npz")} {
		if _, err := (&Plan{Folder: folder, Experiments: sample()}).Run(t.Context(), NewResults()); err == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("the error is %v", err)
		}
	}
}

// On easy data all methods find the classes; on hard data those that know them are
// better than those that do not, and the order of the samples does not matter.
func TestMethods(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2, 0.3, 1)
	write(t, folder, "hard.npz", 2, 1.1, 1)
	ari := func(s Setup) float64 {
		p := &Plan{Folder: folder, Experiments: []Experiment{{ID: "e", Cells: []Cell{{Setup: s, Seeds: 3}}}}}
		r := runs(t, p, NewResults())
		x, ok := r.ours(&p.Experiments[0].Cells[0], ARI)
		if !ok {
			_, reason := r.runs(&p.Experiments[0].Cells[0])
			t.Fatalf("%+v: %s", s, reason)
		}
		return x.Mean
	}
	for _, metric := range []string{"metric=cosine", "metric=l2"} {
		for _, m := range []Method{SelfLearning, PseudoLabels, Oracle, TrueNeighbours} {
			for _, s := range []Setup{easy(metric), easy(metric).Lacking(0.25, 0.25)} {
				if x := ari(s.By(m)); x < 75 {
					t.Errorf("%q, %s, %v missing: %.1f", m, metric, s.Missing, x)
				}
			}
		}
	}
	hard := easy()
	hard.File = "hard.npz"
	untrained, oracle, ideal := ari(hard.With("training=off")), ari(hard.By(Oracle)), ari(hard.By(TrueNeighbours))
	if !(ideal > 95 && ideal > oracle && oracle > untrained) {
		t.Errorf("%.1f untrained, %.1f with true functions, %.1f with true neighbours", untrained, oracle, ideal)
	}
	if got := ari(hard.By(PseudoLabels)); got >= ideal {
		t.Errorf("%.1f with pseudo labels", got)
	}
}

// The seed decides the run, and the detail of a run is asked for.
func TestRunOnce(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2, 0.9, 1)
	d, err := load(t.Context(), folder, "easy.npz")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Method{SelfLearning, PseudoLabels, Oracle, TrueNeighbours} {
		s := easy("epochs=200", "segments=300").Lacking(0.25, 0.25).By(m)
		run := func(seed uint64, detailed bool) *Run {
			r, err := d.run(t.Context(), s, seed, detailed)
			if err != nil {
				t.Fatal(err)
			}
			r.Seconds = 0
			return r
		}
		a, b, c := run(0, false), run(0, true), run(1, false)
		if a.Scores != b.Scores || a.Scores == c.Scores || a.Detail != nil {
			t.Errorf("%q: %+v, %+v, %+v", m, a, b, c)
		}
		if (b.Detail == nil) != (m == TrueNeighbours) || (b.Loss != nil) != (m == SelfLearning) {
			t.Fatalf("%q: %+v", m, b)
		}
		if m == TrueNeighbours {
			continue
		}
		if len(b.Detail.Functions) != 2 || len(b.Detail.Functions[0].X) != points || !slices.IsSorted(b.Detail.Functions[1].P) {
			t.Errorf("%q: %+v", m, b.Detail)
		}
		if m == SelfLearning && (len(b.Detail.Losses) != points || b.Detail.Epochs[points-1] != 200) {
			t.Errorf("%+v", b.Detail)
		}
	}
}

func TestSpaced(t *testing.T) {
	if got := spaced(3); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("%v", got)
	}
	got := spaced(1001)
	if len(got) != points || got[0] != 0 || got[points-1] != 1000 || !slices.IsSorted(got) {
		t.Errorf("%v", got)
	}
}

func TestParseResults(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "easy.npz", 2, 0.5, 1)
	r := runs(t, &Plan{Folder: folder, Experiments: sample()[1:2]}, NewResults())
	text, err := r.JSON(Made{})
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	for name, bad := range map[string]string{
		"empty":             "",
		"cut":               good[:len(good)/2],
		"trailing":          good + "x",
		"another format":    strings.Replace(good, format, "other 1", 1),
		"foreign":           `{"name": "package"}`,
		"null":              `{"format": "` + format + `", "runs": [null]}`,
		"no scores":         `{"format": "` + format + `", "runs": [{"setup": {"file": "a.npz"}}]}`,
		"no file":           strings.ReplaceAll(good, `"setup":{"file":"easy.npz"`, `"setup":{"file":""`),
		"too good":          strings.ReplaceAll(good, `"nmi":`, `"nmi":7`),
		"other type":        strings.ReplaceAll(good, `"seed":0`, `"seed":"0"`),
		"unequal functions": strings.ReplaceAll(good, `"version":"`, `"detail":{"functions":[{"similarity":[1]}]},"version":"`),
		"unequal losses":    strings.ReplaceAll(good, `"version":"`, `"detail":{"epochs":[1]},"version":"`),
	} {
		if bad == good {
			t.Fatalf("%s changes nothing", name)
		}
		if known, err := ParseResults([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", name, known)
		}
	}
	if _, err := ParseResults(text); err != nil {
		t.Error(err)
	}
}

// Whatever is in the file, there is an error or results that can be written and read.
func FuzzParseResults(f *testing.F) {
	f.Add([]byte(`{"format": "` + format + `", "runs": []}`))
	f.Add([]byte(`{"format": "` + format + `", "runs": [{"setup": {"file": "a.npz", "views": [1], "settings": ["a"]}, "seed": 1, "seconds": 2,
		"scores": {"samples": 3, "clusters": 1, "ari": 0.5}, "detail": {"epochs": [1], "losses": [2], "functions": [{"similarity": [1], "probability": [2]}]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		known, err := ParseResults(text)
		if err != nil {
			return
		}
		out, err := known.json(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseResults(out)
		if err != nil || len(again.runs) != len(known.runs) {
			t.Fatalf("%s\n%v", out, err)
		}
	})
}
