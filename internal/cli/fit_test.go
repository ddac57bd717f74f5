package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/method/selection"
)

// quickOptions are those of a run that takes a moment.
func quickOptions(dir string) fitOptions {
	data := filepath.Join(dir, "synth.npz")
	return fitOptions{
		sourceOptions: sourceOptions{sources: []string{data}}, outputOptions: outputOptions{output: filepath.Join(dir, "out")}, truth: data + ":labels",
		preset: "paper", format: "csv", neighbours: 20, metrics: []string{"cosine"}, params: []string{"epochs=20"},
	}
}

func TestFitFunc(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	var out bytes.Buffer
	o := quickOptions(dir)
	o.json = true
	if err := fitFunc(t.Context(), &out, io.Discard, o); err != nil {
		t.Fatal(err)
	}
	wantNames(t, filepath.Join(dir, "out"), "labels.csv", "model.mvclust", "report.html", "run.json")
	if read(t, dir, "out", "run.json") != out.String() {
		t.Error("--json does not print run.json")
	}
	var r runReport
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}

	table, err := csv.NewReader(strings.NewReader(read(t, dir, "out", "labels.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table[0], []string{"id", "label", "confidence"}) || len(table) != 301 {
		t.Fatalf("labels.csv has %d lines, the first %q", len(table), table[0])
	}
	sizes := make([]int, r.Clusters)
	mean := 0.0
	for i, row := range table[1:] {
		label, err := strconv.Atoi(row[1])
		if row[0] != strconv.Itoa(i) || err != nil || label < 0 || label >= r.Clusters {
			t.Fatalf("line %d of labels.csv is %q", i+2, row)
		}
		sizes[label]++
		confidence, err := strconv.ParseFloat(row[2], 64)
		if err != nil || confidence < 0 || confidence > 1 {
			t.Fatalf("line %d of labels.csv is %q", i+2, row)
		}
		mean += confidence / 300
	}
	if !slices.Equal(sizes, r.Sizes) || !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) {
		t.Errorf("labels.csv has the sizes %v, run.json %v", sizes, r.Sizes)
	}
	if diff := mean - r.Confidence; diff > 1e-6 || diff < -1e-6 {
		t.Errorf("the mean confidence is %v, and %v in run.json", mean, r.Confidence)
	}

	switch {
	case r.Version != mvclust.Version || r.Command != "fit" || r.Preset != "paper" || r.Threads < 1:
		t.Errorf("run.json begins %+v", r)
	case len(r.Inputs.Files) != 1 || r.Inputs.Truth == nil || r.Inputs.Truth.File != r.Inputs.Files[0] || len(r.Inputs.Truth.SHA256) != 64:
		t.Errorf("the files are %+v and the truth %+v", r.Inputs.Files, r.Inputs.Truth)
	case r.Inputs.Samples != 300 || r.Inputs.IDs || len(r.Inputs.Views) != 2:
		t.Errorf("the inputs are %+v", r.Inputs)
	case r.Inputs.Views[0].Present+r.Inputs.Views[1].Present != 540:
		t.Errorf("of 300 samples in 2 views, 60 of which lack one, %d and %d are there", r.Inputs.Views[0].Present, r.Inputs.Views[1].Present)
	case r.Learning.Epochs != 20 || len(r.Learning.Curve) != 21 || r.Learning.Curve[r.Learning.Kept].Total != r.Learning.Least || r.Learning.First <= r.Learning.Least:
		t.Errorf("learning: %+v", r.Learning)
	case len(r.Partition.Sweeps) == 0 || r.Partition.Moves < 300-r.Singletons || r.Pairs == 0 || r.Edges == 0:
		t.Errorf("pairs %d, edges %d, partition %+v", r.Pairs, r.Edges, r.Partition)
	case r.Scores == nil || r.Scores.Samples != 300 || r.Scores.Classes != 6 || r.Scores.Clusters != r.Clusters || r.Scores.ARI < 0.1:
		t.Errorf("the scores are %+v", r.Scores)
	case len(r.Functions) != 2 || len(r.Functions[1].X) == 0 || len(r.Functions[1].X) != len(r.Functions[1].P) || r.Functions[1].View != r.Inputs.Views[1].Name:
		t.Errorf("the functions are %+v", r.Functions)
	}
	var stages []string
	for _, s := range r.Stages {
		stages = append(stages, s.Stage)
	}
	if want := "read prepare neighbours pairs learn fuse refine partition report"; strings.Join(stages, " ") != want {
		t.Errorf("the stages are %q, want %q", stages, want)
	}
	for _, p := range new(mvclust.Options).Parameters() {
		if _, ok := r.Settings[p.Name]; !ok {
			t.Errorf("run.json lacks the setting %s", p.Name)
		}
	}
	for name, want := range map[string]any{"epochs": 20.0, "neighbors": 20.0, "candidates": 80.0, "pairs": 250000.0, "segments": 362.0, "fusion": "symmetric"} {
		if got := r.Settings[name]; got != want {
			t.Errorf("run.json has %s %v, want %v", name, got, want)
		}
	}
}

// run.json tells how the neighbours of every view were sought, and how well.
func TestFitSearch(t *testing.T) {
	dir := t.TempDir()
	if err := run(t.Context(), []string{"synth", "-o", dir, "--samples", "2200", "--classes", "40", "--dims", "8,6", "--noise", "0.4", "--missing", "0.1"}, new(bytes.Buffer), new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	type sought map[string]any
	for _, c := range []struct {
		params []string
		check  func(settings, neighbours sought) bool
	}{
		{nil, func(settings, n sought) bool {
			return settings["neighbor-search"] == "auto" && settings["recall"] == 0.97 && settings["levels"] == 1.0 && //nolint:misspell // spelt as --neighbors is
				n["method"] == "exact" && n["recall"] == 1.0 && n["checked"] == 0.0 && n["cells"] == 0.0
		}},
		{[]string{"neighbor-search=approximate", "recall=0.9", "levels=3"}, func(settings, n sought) bool { //nolint:misspell // spelt as --neighbors is
			return settings["neighbor-search"] == "approximate" && settings["recall"] == 0.9 && settings["levels"] == 3.0 && //nolint:misspell // spelt as --neighbors is
				n["method"] == "approximate" && n["recall"].(float64) >= 0.9 && n["recall"].(float64) <= 1 && n["checked"] == 256.0 &&
				n["cells"].(float64) > 0 && n["probes"].(float64) > 0
		}},
		// All the neighbours that there are is more than an approximate search finds.
		{[]string{"neighbor-search=approximate", "recall=1"}, func(settings, n sought) bool { //nolint:misspell // spelt as --neighbors is
			return settings["recall"] == 1.0 && n["method"] == "exact" && n["recall"] == 1.0 && n["widened"].(float64) > 0 && n["cells"].(float64) > 0
		}},
	} {
		args := quick("synth.npz", "--json", "--quiet")
		for _, p := range c.params {
			args = append(args, "--param", p)
		}
		var r struct {
			Settings sought
			Inputs   struct {
				Views []struct {
					Neighbours sought
				}
			}
			Partition struct {
				Sweeps []struct{ Level int }
			}
		}
		if err := json.Unmarshal([]byte(succeed(t, dir, args...).stdout), &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Inputs.Views) != 2 {
			t.Fatalf("%v: %+v", c.params, r.Inputs)
		}
		for _, v := range r.Inputs.Views {
			if len(v.Neighbours) != 7 || !c.check(r.Settings, v.Neighbours) {
				t.Errorf("%v: with the settings %v: %v", c.params, r.Settings, v.Neighbours)
			}
		}
		levels := 0
		for _, s := range r.Partition.Sweeps {
			levels = max(levels, s.Level)
		}
		if more := slices.Contains(c.params, "levels=3"); (levels > 0) != more {
			t.Errorf("%v: the sweeps are %v", c.params, r.Partition.Sweeps)
		}
	}
}

// Without assembly, whose sums are rounded otherwise, a run gives the same clusters of
// data that lies well apart.
func TestPortableKernel(t *testing.T) {
	dir := t.TempDir()
	if err := run(t.Context(), []string{"synth", "-o", dir, "--samples", "300", "--classes", "6", "--dims", "40", "--noise", "0.3"}, new(bytes.Buffer), new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	labels := func(out string) (labels []string) {
		t.Helper()
		succeed(t, dir, "fit", "synth.npz", "--quiet", "--neighbors", "40", "-o", out)
		wantNames(t, filepath.Join(dir, out), "labels.csv", "levels.csv", "model.mvclust", "report.html", "run.json")
		table, err := csv.NewReader(strings.NewReader(read(t, dir, out, "labels.csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table {
			labels = append(labels, row[1])
		}
		return labels
	}
	want := labels("own")
	for _, k := range kernel.Available() {
		t.Setenv("MVCLUST_KERNEL", k.Name)
		if got := labels(k.Name); len(got) != 301 || !slices.Equal(got, want) {
			t.Errorf("the kernel %s finds other clusters", k.Name)
		}
	}
	t.Setenv("MVCLUST_KERNEL", "unheard-of")
	o := command(t, dir, "fit", "synth.npz", "-o", "none")
	if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, `MVCLUST_KERNEL is "unheard-of"`) {
		t.Errorf("a kernel that does not exist: status %d, %q", o.status, o.stderr)
	}
}

// No change of the flags that must not matter changes labels.csv, and the seed
// alone decides what is drawn.
func TestSameLabels(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	labels := func(out string, args ...string) string {
		t.Helper()
		succeed(t, dir, append(quick("synth.npz", "--quiet", "--output", out), args...)...)
		return read(t, dir, out, "labels.csv")
	}
	want := labels("a", "--threads", "1")
	for i, args := range [][]string{
		{"--threads", "8"}, {}, {"--preset", "paper"}, {"--truth", "synth.npz:labels"},
		{"--metric", "cosine,cosine"}, {"--param", "lambda=20"}, {"--param", "candidates=80"}, {"--views", "0,1"},
	} {
		if labels(fmt.Sprint("b", i), args...) != want {
			t.Errorf("%q changes the labels", args)
		}
	}
	// With so few neighbours the classes fall apart in ways that ties decide.
	if labels("c", "--neighbors", "3", "--seed", "1") == labels("d", "--neighbors", "3") {
		t.Error("the seed does not change the labels")
	}
}

// What goes to a pipe has no control codes, and run.json nothing but JSON.
func TestPiped(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	o := succeed(t, dir, quick("synth.npz", "--json")...)
	if strings.ContainsAny(o.stdout+o.stderr, "\r\x1b\b") {
		t.Errorf("control codes in %q", o.stderr)
	}
	if !json.Valid([]byte(o.stdout)) {
		t.Errorf("not JSON: %s", o.stdout)
	}
	for _, stage := range []string{"reading files", "finding neighbours", "learning functions", "moving samples"} {
		if !strings.Contains(o.stderr, stage+"\n") || !strings.Contains(o.stderr, stage+": done in ") {
			t.Errorf("%q does not begin and end in %q", stage, o.stderr)
		}
	}
}

// Told to stop, the command says so, has the status that shells expect, and
// leaves nothing.
func TestInterrupt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := t.TempDir()
			small(t, dir)
			// Without the signal this would take hours.
			cmd := exec.CommandContext(t.Context(), "mvclust", "fit", "synth.npz", "--preset", "paper", "--param", "epochs=10000000", "--output", "new/out")
			cmd.Dir = dir
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			buf := make([]byte, 1<<12)
			for n := 0; err == nil; n, err = stderr.Read(buf) {
				said.Write(buf[:n])
				if n > 0 && strings.HasSuffix(said.String(), "learning functions\n") {
					if err := cmd.Process.Signal(sig); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != statusInterrupted {
				t.Errorf("ended with %v", err)
			}
			if !strings.HasSuffix(said.String(), "learning functions\ninterrupted; nothing was written\n") {
				t.Errorf("said %q", said.String())
			}
			wantNames(t, dir, "synth.npz")
		})
	}
}

// Told to stop in any stage of a larger run, the command ends at once and leaves
// nothing.
func TestInterruptStages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	dir := t.TempDir()
	large(t, dir, 6_000)
	stages := []string{"reading files"}
	for _, s := range []mvclust.Stage{
		mvclust.StagePrepare, mvclust.StageNeighbours, mvclust.StagePairs, mvclust.StageLearn,
		mvclust.StageFuse, mvclust.StageChoose, mvclust.StageRefine, mvclust.StagePartition,
	} {
		doing, _ := stageWords(s)
		stages = append(stages, doing)
	}
	choosing, _ := stageWords(mvclust.StageChoose)
	for i, stage := range stages {
		preset := "paper"
		if stage == choosing {
			preset = "auto" // which alone has this stage, and not the two that follow
		}
		cmd := exec.CommandContext(t.Context(), "mvclust", "fit", "synth.npz", "--preset", preset, "--output", "new/out")
		cmd.Dir = dir
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var told time.Time
		said := bufio.NewScanner(stderr)
		last := ""
		for said.Scan() {
			if last = said.Text(); last == stage {
				time.Sleep(time.Duration(i%3) * 10 * time.Millisecond)
				told = time.Now()
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
		err = cmd.Wait()
		took := time.Since(told)
		if err == nil && i >= len(stages)-2 {
			// It was done before the signal came, and all is there.
			wantNames(t, filepath.Join(dir, "new", "out"), "labels.csv", "levels.csv", "model.mvclust", "report.html", "run.json")
			if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if cmd.ProcessState.ExitCode() != statusInterrupted || last != "interrupted; nothing was written" || took > 2*time.Second {
			t.Errorf("%s: ended with %v after %v, and said %q", stage, err, took, last)
		}
		wantNames(t, dir, "synth.npz")
	}
}

// A context that is done stops every command before it leaves anything.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	data := filepath.Join(dir, "synth.npz")
	before := names(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"fit", data, "-o", filepath.Join(dir, "out")},
		{"synth", "-o", filepath.Join(dir, "out")},
		{"eval", "--truth", data + ":labels", data + ":labels"},
		{"demo", "-o", filepath.Join(dir, "out")},
	} {
		var out, stderr bytes.Buffer
		if err := run(ctx, args, &out, &stderr); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the error is %v", args[0], err)
		}
		wantNames(t, dir, before...)
	}
}

func TestInterruption(t *testing.T) {
	kept := fmt.Errorf("step: %w", &keptError{"demo", context.Canceled})
	if got := interruption(kept); !strings.Contains(got, "demo keeps the files") {
		t.Errorf("%q", got)
	}
	if got := interruption(context.Canceled); got != "interrupted; nothing was written" {
		t.Errorf("%q", got)
	}
}

// Errors of the library come in the words of the command line.
func TestExplain(t *testing.T) {
	plain := errors.New("plain")
	sources := []string{"far/a.npy", "b.npz:x"}
	many := slices.Repeat([]string{"a.npy"}, 6)
	for _, test := range []struct {
		err     error
		sources []string
		ids     []string
		want    string
	}{
		{plain, sources, nil, "plain"},
		{&mvclust.OptionError{Field: "Neighbours", Problem: "wrong"}, sources, nil, "--neighbors: wrong"},
		{&mvclust.OptionError{Field: "Metrics", Problem: "wrong"}, sources, nil, "--metric: wrong"},
		{&mvclust.OptionError{Field: "Learning.Epochs", Problem: "wrong"}, sources, nil, "--param epochs: wrong"},
		{&mvclust.OptionError{Field: "Partition.Clip", Problem: "wrong"}, sources, nil, "--param edge-clip: wrong"},
		{&mvclust.OptionError{Field: "Posterior.Clip", Problem: "wrong"}, sources, nil, "--param function-clip: wrong"},
		{&mvclust.OptionError{Field: "Candidates", Problem: "wrong"}, sources, nil, "--param candidates: wrong"},
		{&mvclust.OptionError{Field: "Order", Problem: "wrong"}, sources, nil, "Order: wrong"},
		{&mvclust.InputError{View: "b.npz:x", Row: -1, Problem: "is wrong"}, sources, nil, "b.npz:x: is wrong"},
		{&mvclust.InputError{Row: 1, Problem: "is wrong"}, sources, nil, "a.npy, b.npz:x: row 1 (counted from 0) is wrong"},
		{&mvclust.InputError{View: "b", Row: 1, Problem: "is wrong"}, sources, []string{"p", "q"}, `b: sample "q" (row 1, counted from 0) is wrong`},
		{&mvclust.InputError{Row: -1, Problem: "is wrong"}, many, nil, "a.npy, a.npy, a.npy, a.npy, ...: is wrong"},
	} {
		if got := translate(test.err, test.sources, &dataset.Set{IDs: test.ids}).Error(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// A message is one line that no terminal takes for a command, whatever the names in it.
func TestMessagesAreEscaped(t *testing.T) {
	var b strings.Builder
	if status := Main([]string{"fit", "no\r\nsuch\x1b[31m\tfile é"}, io.Discard, &b); status != statusFailed {
		t.Errorf("status %d", status)
	}
	if want := `mvclust: no\r\nsuch\x1b[31m\tfile é: there is no such file`; !strings.Contains(b.String(), want) || strings.Count(b.String(), "\n") != strings.Count(b.String(), "reading files\n")+1 {
		t.Errorf("%q, want %s", b.String(), want)
	}
	r := runReport{Sizes: []int{1}, Settings: map[string]any{"neighbors": 1}}
	r.Inputs.Views = []viewReport{{Name: "a.npz:\x1b[2J" + strings.Repeat("x", 1<<20), Samples: 1}}
	if s := r.summary("out\x1b[0m"); strings.Contains(s, "\x1b") || len(s) > 2000 {
		t.Errorf("%.2000q", s)
	}
}

// run.json is for people too: lists of numbers take one line, and nothing else
// is changed.
func TestEncode(t *testing.T) {
	x := map[string]any{
		"a": []float64{1, -2.5e-30, 3}, "b": []string{"1", "2"}, "c": map[string]int{"x": 1, "y": 2},
		"d": "<[\n 1,\n 2\n]>", "e": []int{}, "f": []map[string]int{{"x": 1}, {"x": 2}}, "g": []int{7},
	}
	got, err := encode(x)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "a": [1, -2.5e-30, 3],
  "b": [
    "1",
    "2"
  ],
  "c": {"x": 1, "y": 2},
  "d": "<[\n 1,\n 2\n]>",
  "e": [],
  "f": [
    {"x": 1},
    {"x": 2}
  ],
  "g": [7]
}
`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestRowNumbers(t *testing.T) {
	for _, test := range []struct {
		ids  []string
		want []int
	}{
		{nil, nil}, {[]string{"0"}, []int{0}}, {[]string{"2", "0", "1"}, []int{2, 0, 1}},
		{[]string{"1", "2"}, nil}, {[]string{"0", "0"}, nil}, {[]string{"0", "x"}, nil}, {[]string{"-1", "0"}, nil},
	} {
		got, ok := rowNumbers(test.ids)
		if ok != (test.want != nil) || ok && !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, %v", test.ids, got, ok)
		}
	}
}

func TestQuoted(t *testing.T) {
	if got, want := quoted([]string{"fit", "my data", "it's", "a.npz:x"}), `fit 'my data' 'it'\''s' a.npz:x`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The errors of standard output are not lost.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	dir := t.TempDir()
	small(t, dir)
	data := filepath.Join(dir, "synth.npz")
	for _, args := range [][]string{
		{"version"}, {"version", "--json"},
		{"eval", "--truth", data + ":labels", data + ":labels"},
		{"synth", "-o", dir, "--samples", "30", "--classes", "2"},
		{"demo", "-o", filepath.Join(dir, "demo")},
	} {
		if err := run(t.Context(), args, full, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "cannot be printed") {
			t.Errorf("%q: the error is %v", args, err)
		}
	}
}

// With --csv-safe no id is a formula; without it ids are as they were given.
func TestCSVSafe(t *testing.T) {
	dir := t.TempDir()
	ids := []string{"=1+1", "+1", "-1", "@a", "a=1", "'b", "c", "d-"}
	var table strings.Builder
	table.WriteString("id,a,b\n")
	for i, id := range ids {
		fmt.Fprintf(&table, "%s,%d,%d\n", id, 1+i%3, 9-i)
	}
	write(t, dir, "data.csv", []byte(table.String()))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, ids},
		{[]string{"--csv-safe"}, []string{"'=1+1", "'+1", "'-1", "'@a", "a=1", "'b", "c", "d-"}},
	} {
		succeed(t, dir, append([]string{"fit", "data.csv", "--quiet", "-o", "out"}, c.args...)...)
		rows, err := csv.NewReader(strings.NewReader(read(t, dir, "out", "labels.csv"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range rows[1:] {
			got = append(got, row[0])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: the ids are %q, want %q", c.args, got, c.want)
		}
	}
	succeed(t, dir, "predict", "out", "data.csv", "--quiet", "-o", "out", "--csv-safe")
	if got := read(t, dir, "out", "predictions.csv"); !strings.Contains(got, "\n'=1+1,") {
		t.Errorf("the predictions are %s", got)
	}
}

// The questions of suggest are safe, too, and constraints read them again.
func TestCSVSafeQuestions(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	write(t, dir, "ids.csv", []byte("id\n"+lines(300, func(i int) string { return fmt.Sprintf("=%d", i) })))
	succeed(t, dir, quick("synth.npz", "--id", "ids.csv", "-o", "out", "--quiet")...)
	succeed(t, dir, "suggest", "out", "--csv-safe", "-o", "ask")
	text := read(t, dir, "ask", questionsFile)
	for _, cell := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if !strings.HasPrefix(cell, "'=") {
			t.Fatalf("the questions hold %q", cell)
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	write(t, dir, "no.csv", []byte(first+"\n"))
	succeed(t, dir, quick("synth.npz", "--id", "ids.csv", "-o", "next", "--quiet", "--cannot-link", "no.csv")...)
}

// A picture is an input: no output replaces it.
func TestPictureIsInput(t *testing.T) {
	dir := t.TempDir()
	small(t, dir)
	write(t, dir, "ids.csv", []byte("id\nmodel.mvclust\nrun.json\n"+lines(298, func(i int) string { return fmt.Sprint("s", i) })))
	for _, name := range []string{modelFile, runFile} {
		pictures := filepath.Join(dir, "of "+name)
		if err := os.Mkdir(pictures, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, pictures, name, pictureVictim("bad.png").text)
		o := command(t, dir, quick("synth.npz", "--id", "ids.csv", "-o", pictures, "--thumbs", pictures, "--quiet")...)
		if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, "would replace the input") {
			t.Errorf("%s: status %d, %q", name, o.status, o.stderr)
		}
		wantNames(t, pictures, name)
	}
}

// The name of a view is UTF-8, as JSON must hold it: that of a file or of an array.
func TestViewNameUTF8(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"caf\xe9.npy", "b.npz"} {
		text := npyFile(t, values(nil), rows, cols)
		if name == "b.npz" {
			text = npzFile(t, named{"view\xe9", []int{rows, cols}, values(nil)})
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Skipf("no such name here: %v", err)
		}
		o := command(t, dir, "fit", name, "--quiet", "-o", "out")
		if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, "not UTF-8") || !strings.Contains(o.stderr, "rename") {
			t.Errorf("%q: status %d, %q", name, o.status, o.stderr)
		}
	}
}

// Doubles that differ by less than float32 can hold are one cluster, and a note says why; beside
// another view they are refused with the same words.
func TestRounded(t *testing.T) {
	dir := t.TempDir()
	file := npyHeader("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }", 0)
	for i := range 8 {
		file = binary.LittleEndian.AppendUint64(file, math.Float64bits(1e13+float64(i*i)))
	}
	write(t, dir, "far.npy", file)
	write(t, dir, "near.npy", npyFile(t, []float32{1, 5, 2, 8, -3, 4, 1, -1}, 4, 2))
	for _, metric := range []string{"cosine", "l2"} {
		const says = "less than float32 can hold, about 7 digits, subtract an offset"
		o := command(t, dir, "fit", "far.npy", "--metric", metric, "-o", "out")
		if o.status != 0 || !strings.Contains(o.stderr, "note: all 4 samples have the same rows, so they are one cluster; ") || !strings.Contains(o.stderr, says) || !strings.Contains(o.stdout, "1 cluster,") {
			t.Errorf("%s: status %d, %q, %q", metric, o.status, o.stderr, o.stdout)
		}
		o = command(t, dir, "fit", "near.npy", "far.npy", "--metric", metric, "--quiet", "-o", "out")
		if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: status %d, %q", metric, o.status, o.stderr)
		}
	}
}

// A model that is no regular file is refused before it is opened.
func TestModelIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "out", "model.mvclust"), 0o777); err != nil {
		t.Fatal(err)
	}
	o := command(t, dir, "explain", "out", "1")
	if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, "is not a regular file") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
}

// The line about the choice counts what was passed over since the views do not foretell it, and a single cluster is not among that.
func TestChoiceReportPassedOver(t *testing.T) {
	trace := &mvclust.Trace{Chosen: 1, Tried: []selection.Candidate{
		{Neighbours: 5, Resolution: 30, Clusters: 400, Discriminability: 0.4, Score: 0.1},
		{Neighbours: 40, Resolution: 1, Clusters: 9, Discriminability: 0.5, Score: 0.2},
		{Neighbours: 40, Resolution: 0.1, Clusters: 1, Score: 0},
		{Neighbours: 40, Resolution: 2, Clusters: 20, Discriminability: 1, Score: 0.1},
	}}
	const passed = "; 1 other passed over, in whose clusters the views do not place samples"
	if got := newChoiceReport(trace, false).Why; !strings.HasSuffix(got, passed) {
		t.Errorf("%q does not end with %q", got, passed)
	}
	if got := newChoiceReport(trace, true).Why; strings.Contains(got, "passed over") {
		t.Errorf("%q, which was asked for", got)
	}
	trace.Tried[0].Discriminability = 0.8
	if got := newChoiceReport(trace, false).Why; strings.Contains(got, "passed over") {
		t.Errorf("%q, where nothing was", got)
	}
}
