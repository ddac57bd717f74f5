package lab_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
)

// easy is a setup of the set that tests make.
func easy(settings ...string) lab.Setup {
	return lab.Setup{File: "easy.npz"}.With("neighbors=20", "epochs=10").With(settings...)
}

// plan are four setups, one of them twice, and one on a set that is not there.
func plan() []lab.Case {
	return []lab.Case{
		{Label: "complete", Setups: []lab.Setup{easy()}, Seeds: 2},
		{Label: "incomplete", Setups: []lab.Setup{easy().Lacking(0.25, 0.25)}, Seeds: 2},
		{Label: "gone", Setups: []lab.Setup{{File: "gone.npz"}}, Seeds: 5},
		{Label: "again", Setups: []lab.Setup{easy()}, Seeds: 2},
		{Label: "line", Setups: []lab.Setup{easy("training=off")}, Seeds: 2},
	}
}

// bench is a lab on a store at path that counts its runs.
func bench(t *testing.T, folder, path string) (*lab.Lab, *int) {
	t.Helper()
	l := labtest.New(t, folder)
	l.Store = labtest.Open(t, path)
	runs := new(int)
	l.Say = func(line string) {
		if strings.Contains(line, ", seed ") {
			*runs++
		}
	}
	return l, runs
}

// What was run is not run again, unless the method, the data or the detail asked for are others;
// what cannot be run says why.
func TestRunResumes(t *testing.T) {
	folder, path := t.TempDir(), filepath.Join(t.TempDir(), "records.json")
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 1)
	check := func(cases []lab.Case, want int) *lab.Lab {
		t.Helper()
		l, runs := bench(t, folder, path)
		if err := l.Run(t.Context(), cases); err != nil {
			t.Fatal(err)
		}
		if *runs != want {
			t.Errorf("%d runs, want %d", *runs, want)
		}
		return l
	}
	l := check(plan(), 6)
	first, reason := l.Of(easy(), 2)
	if len(first) != 2 || reason != "" || first[0].Scores.ARI < 0.5 || first[1].Seed != 1 || first[0].Version != mvclust.Version || first[0].SHA256 == "" {
		t.Errorf("%+v, %q", first, reason)
	}
	if list, reason := l.Of(lab.Setup{File: "gone.npz"}, 5); list != nil || reason != "gone.npz is not in the folder" {
		t.Errorf("%v, %q", list, reason)
	}
	if half := l.One(easy().Lacking(0.25, 0.25)); half.Incomplete != 60 {
		t.Errorf("%d are incomplete", half.Incomplete)
	}
	again := check(plan(), 0)
	if r := again.One(easy()); *r.Scores != *first[0].Scores || !slices.Equal(r.Seconds, first[0].Seconds) {
		t.Errorf("%+v is not %+v", r, first[0])
	}

	// Figures need more of the first seed.
	detailed := plan()
	detailed[0].Detailed = true
	if l := check(detailed, 1); l.One(easy()).Detail == nil {
		t.Error("there is no detail")
	}
	// One setup is new, and the old one is forgotten.
	changed := plan()
	changed[4].Setups[0] = easy("fusion=mean")
	if l := check(changed, 2); l.One(easy("training=off")) != nil {
		t.Error("what nobody asks for is kept")
	}
	// By another version, and on other data, all is run anew.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.ReplaceAll(string(text), `"version":"`+mvclust.Version, `"version":"0`)
	if err := os.WriteFile(path, []byte(old), 0o666); err != nil {
		t.Fatal(err)
	}
	check(changed, 6)
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 2)
	check(changed, 6)
	// Records on sets that are not there are kept for when they are.
	if err := os.Remove(filepath.Join(folder, "easy.npz")); err != nil {
		t.Fatal(err)
	}
	labtest.Write(t, folder, "gone.npz", 2, 0.5, 3)
	check(changed, 5)
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 2)
	check(changed, 0)
}

// A cancelled run keeps what was done, and a later one does the rest.
func TestRunCancelled(t *testing.T) {
	folder, path := t.TempDir(), filepath.Join(t.TempDir(), "records.json")
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 1)
	whole, _ := bench(t, folder, filepath.Join(t.TempDir(), "whole.json"))
	if err := whole.Run(t.Context(), plan()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l, _ := bench(t, folder, path)
	l.Say = func(string) { cancel() }
	if err := l.Run(ctx, plan()); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v", err)
	}
	rest, runs := bench(t, folder, path)
	if err := rest.Run(t.Context(), plan()); err != nil || *runs != 5 {
		t.Errorf("%d runs are left of 6, error %v", *runs, err)
	}
	for _, s := range []lab.Setup{easy(), easy().Lacking(0.25, 0.25), easy("training=off")} {
		a, _ := whole.Of(s, 2)
		b, _ := rest.Of(s, 2)
		if *a[0].Scores != *b[0].Scores || *a[1].Scores != *b[1].Scores {
			t.Error("the scores depend on the interruption")
		}
	}
	l.Store = labtest.Open(t, filepath.Join(t.TempDir(), "x.json"))
	if err := l.Run(ctx, plan()); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	l, _ = bench(t, folder, filepath.Join(folder, "way", "records.json"))
	if err := os.WriteFile(filepath.Join(folder, "way"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context(), plan()); err == nil {
		t.Error("records that cannot be written are no error")
	}
}

func TestRunQuick(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 1)
	if err := os.WriteFile(filepath.Join(folder, "gone.npz"), make([]byte, 1<<20+1), 0o666); err != nil {
		t.Fatal(err)
	}
	l, runs := bench(t, folder, filepath.Join(t.TempDir(), "records.json"))
	l.Quick = true
	if err := l.Run(t.Context(), plan()); err != nil || *runs != 3 {
		t.Errorf("%d runs, error %v", *runs, err)
	}
	if _, reason := l.Of(lab.Setup{File: "gone.npz"}, 1); reason != "left out by --quick" {
		t.Errorf("%q", reason)
	}
}

// What is wrong with a setup or its data becomes a reason that tells nothing of where the folder
// is; where nothing can be run it is an error.
func TestRunReasons(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 1)
	for name, text := range map[string]string{"junk.npz": "junk", "one.csv": "a,b\n1,2\n3,4\n5,6\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	indexed := easy()
	indexed.Index = "index"
	for _, test := range []struct {
		setup lab.Setup
		want  string
	}{
		{lab.Setup{File: "gone.npz"}, "gone.npz is not in the folder"},
		{lab.Setup{File: "junk.npz"}, "junk.npz"},
		{lab.Setup{File: "one.csv"}, "one.csv"},
		{indexed, "easy.npz"},
		{lab.Setup{File: "easy.npz", Views: []int{0, 2}}, "there is no view 2; the set has 2"},
		{easy().Lacking(1), "has 2 views, and the case is about 1"},
		{easy("neighbors=120"), "Neighbours: 120 is not between 1 and 119"},
		{easy("epochs=x"), `--param epochs: "x" cannot be used`},
		{easy().By("magic"), `there is no method "magic"`},
		{easy("neighbors=0").By(lab.TrueNeighbours), "neighbours are too few"},
	} {
		l := labtest.New(t, folder)
		err := l.Run(t.Context(), []lab.Case{{Setups: []lab.Setup{test.setup}, Rounds: 2}, {Setups: []lab.Setup{easy()}}})
		if err != nil {
			t.Fatal(err)
		}
		list, reason := l.Of(test.setup, 1)
		if !strings.Contains(reason, test.want) || strings.Contains(reason, folder) || list != nil {
			t.Errorf("%+v: %q, want %q", test.setup, reason, test.want)
		}
		l = labtest.New(t, folder)
		if err := l.Run(t.Context(), []lab.Case{{Setups: []lab.Setup{test.setup}}}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: the error is %v", test.setup, err)
		}
	}
}

// Setups of a case are run in turn, as often as they may be within the time, and all of them anew
// or none; what is beside them is run once. One that fails leaves the others alone, and is not
// tried again.
func TestRunInTurn(t *testing.T) {
	folder, path := t.TempDir(), filepath.Join(t.TempDir(), "records.json")
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 1)
	var order []string
	method := func(name string, fail bool) lab.Func {
		return func(_ context.Context, task *lab.Task) error {
			order = append(order, name)
			if fail {
				return errors.New("no luck")
			}
			task.Seconds = append(task.Seconds, 1)
			task.Set("n", float64(len(task.Seconds)))
			return nil
		}
	}
	run := func(c lab.Case) *lab.Lab {
		t.Helper()
		l, _ := bench(t, folder, path)
		l.Timed = true
		l.Methods = map[lab.Method]lab.Func{"a": method("a", false), "b": method("b", false), "bad": method("bad", true), "c": method("c", false)}
		order = nil
		if err := l.Run(t.Context(), []lab.Case{c}); err != nil {
			t.Fatal(err)
		}
		return l
	}
	s := lab.Setup{File: "easy.npz"}
	c := lab.Case{Setups: []lab.Setup{s.By("a"), s.By("bad"), s.By("b")}, Beside: []lab.Setup{s.By("c")}, Rounds: 4, Enough: 4}
	l := run(c)
	if got := strings.Join(order, " "); got != "a bad b a b c" {
		t.Errorf("the order is %s", got)
	}
	if r := l.One(s.By("b")); len(r.Seconds) != 2 || r.Value("n") != 1 || r.Value("m") != 0 || r.Machine == "" {
		t.Errorf("%+v", r)
	}
	if _, reason := l.Of(s.By("bad"), 1); reason != "no luck" {
		t.Errorf("%q", reason)
	}
	if run(c); order != nil {
		t.Errorf("%v is run again", order)
	}
	c.Beside[0] = s.By("c").With("lambda=1")
	if run(c); len(order) != 6 {
		t.Errorf("%v: a part is run anew", order)
	}
}

// On easy data all methods find the classes; on hard data those that know them are better than
// those that do not.
func TestMethods(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "easy.npz", 2, 0.3, 1)
	labtest.Write(t, folder, "hard.npz", 2, 1.1, 1)
	l := labtest.New(t, folder)
	ari := func(s lab.Setup) float64 {
		t.Helper()
		if err := l.Run(t.Context(), []lab.Case{{Setups: []lab.Setup{s}, Seeds: 3}}); err != nil {
			t.Fatal(err)
		}
		list, _ := l.Of(s, 3)
		return list.Of(lab.ARI).Mean
	}
	for _, metric := range []string{"metric=cosine", "metric=l2"} {
		for _, m := range []lab.Method{lab.Paper, lab.Default, lab.PseudoLabels, lab.Oracle, lab.TrueNeighbours, lab.KMeans, lab.Spectral, lab.Ward, lab.Average, lab.Leiden10, lab.Leiden20} {
			for _, s := range []lab.Setup{easy(metric), easy(metric).Lacking(0.25, 0.25)} {
				if s.Missing != nil && slices.Contains([]lab.Method{lab.KMeans, lab.Average, lab.Leiden20}, m) {
					continue // what is filled in for missing views, or 20 of 120 as neighbours, does harm
				}
				if m == lab.Default {
					s.Settings = []string{metric}
				}
				if x := ari(s.By(m)); x < 75 {
					t.Errorf("%q, %s, %v missing: %.1f", m, metric, s.Missing, x)
				}
			}
		}
	}
	hard := easy()
	hard.File = "hard.npz"
	untrained, oracle, ideal := ari(hard.With("training=off")), ari(hard.By(lab.Oracle)), ari(hard.By(lab.TrueNeighbours))
	if !(ideal > 95 && ideal > oracle && oracle > untrained) {
		t.Errorf("%.1f untrained, %.1f with true functions, %.1f with true neighbours", untrained, oracle, ideal)
	}
	if got := ari(hard.By(lab.PseudoLabels)); got >= ideal {
		t.Errorf("%.1f with pseudo labels", got)
	}
}

// The seed decides the run, and the detail of a run is asked for.
func TestDetail(t *testing.T) {
	folder := t.TempDir()
	labtest.Write(t, folder, "easy.npz", 2, 0.9, 1)
	for _, m := range []lab.Method{lab.Paper, lab.PseudoLabels, lab.Oracle, lab.TrueNeighbours} {
		s := easy("epochs=200", "segments=300").Lacking(0.25, 0.25).By(m)
		run := func(detailed bool) lab.Records {
			l := labtest.New(t, folder)
			if err := l.Run(t.Context(), []lab.Case{{Setups: []lab.Setup{s}, Seeds: 2, Detailed: detailed}}); err != nil {
				t.Fatal(err)
			}
			list, _ := l.Of(s, 2)
			return list
		}
		plain, full := run(false), run(true)
		a, b, c := plain[0], full[0], full[1]
		if *a.Scores != *b.Scores || *a.Scores == *c.Scores || a.Detail != nil || c.Detail != nil {
			t.Errorf("%q: %+v, %+v, %+v", m, a, b, c)
		}
		if (b.Detail == nil) != (m == lab.TrueNeighbours) || (b.Loss != nil) != (m == lab.Paper) {
			t.Fatalf("%q: %+v", m, b)
		}
		if m == lab.TrueNeighbours {
			continue
		}
		if f := b.Detail.Functions; len(f) != 2 || len(f[0].X) != 100 || !slices.IsSorted(f[1].P) {
			t.Errorf("%q: %+v", m, b.Detail)
		}
		if m == lab.Paper && (len(b.Detail.Losses) != 100 || b.Detail.Epochs[99] != 200) {
			t.Errorf("%+v", b.Detail)
		}
	}
}

// Seeds from one on are a case's alone, and none of them is run after one that took long.
func TestRunLong(t *testing.T) {
	folder, path := t.TempDir(), filepath.Join(t.TempDir(), "records.json")
	labtest.Write(t, folder, "easy.npz", 2, 0.5, 1)
	l, _ := bench(t, folder, path)
	var order []string
	method := func(took float64) lab.Func {
		return func(_ context.Context, task *lab.Task) error {
			order = append(order, fmt.Sprint(task.Setup.Method, task.Seed))
			task.Seconds = append(task.Seconds, 1)
			task.Set(string(lab.Processor), took)
			return nil
		}
	}
	l.Methods = map[lab.Method]lab.Func{"quick": method(2), "slow": method(9)}
	var cases []lab.Case
	for _, from := range []int{0, 1} {
		for _, m := range []lab.Method{"quick", "slow"} {
			cases = append(cases, lab.Case{Setups: []lab.Setup{lab.Setup{File: "easy.npz"}.By(m)}, From: from, Seeds: 1 + 2*from, Long: 5})
		}
	}
	if err := l.Run(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "quick0 slow0 quick1 quick2" {
		t.Errorf("the order is %s", got)
	}
	if list, _ := l.Of(cases[0].Setups[0], 3); len(list) != 3 || list.Of(lab.Processor).Mean != 2 {
		t.Errorf("%v", list)
	}
}
