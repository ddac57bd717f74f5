package speed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/score"
)

func timed(samples int, seconds float64) *lab.Record {
	return &lab.Record{Setup: wholeSet(samples, exact), Seconds: []float64{seconds}, Scores: &score.Scores{Samples: samples}}
}

func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		from, to *lab.Record
		want     float64
	}{
		{timed(100, 1), timed(1000, 10), 1}, {timed(100, 1), timed(1000, 100), 2}, {timed(100, 3), timed(400, 6), 0.5}, {timed(100, 2), timed(200, 1), -1},
	} {
		if got := growth(c.from, c.to); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	for _, x := range []float64{growth(nil, timed(1, 1)), growth(timed(1, 1), nil), growth(timed(5, 1), timed(5, 2)), ratio(nil, timed(1, 1)), ratio(timed(1, 1), nil)} {
		if x == x {
			t.Errorf("%v of nothing", x)
		}
	}
}

func TestCrossing(t *testing.T) {
	at := func(ratios ...float64) float64 {
		var list [][2]*lab.Record
		for i, r := range ratios {
			list = append(list, [2]*lab.Record{timed(1000<<i, 1), timed(1000<<i, r)})
		}
		return crossing(list)
	}
	for _, c := range []struct{ got, want float64 }{
		{at(), 0}, {at(2, 1.5), 0}, {at(0.5, 0.4), 1000}, {at(2, 0.5), 1000 * math.Sqrt2},
		{at(3, 2, 1, 0.5), 4000}, {at(0.5, 2, 0.5), 2000 * math.Sqrt2}, {at(2, 0.5, 2), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-6*c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

// The share of common neighbours, with a list of faiss that has the row itself, and fewer than
// were asked for.
func TestAgreement(t *testing.T) {
	l := new(neighbour.Lists)
	l.Append(1, 2)
	l.Append(0, 2)
	l.Append(0, 1)
	var theirs bytes.Buffer
	if err := binary.Write(&theirs, binary.LittleEndian, []int64{0, 1, 2, 0, 1, -1, 2, -1, -1}); err != nil {
		t.Fatal(err)
	}
	if got := agreement(l, theirs.Bytes()); got != 0.5 {
		t.Errorf("%v, want 0.5", got)
	}
	none := new(neighbour.Lists)
	none.Append()
	if got := shared(none, func(int, func(int32)) {}); got != 1 {
		t.Errorf("no neighbours: %v, want 1", got)
	}
}

// What run.json has now, and what it may have: unknown fields, and neighbours or none.
func TestReport(t *testing.T) {
	var r report
	err := json.Unmarshal([]byte(`{"settings": {"neighbors": 10, "metric": ["cosine"]}, "clusters": 7,
		"inputs": {"samples": 1000, "views": [
			{"dims": 8, "neighbours": {"method": "approximate", "recall": 0.98, "cells": 5}},
			{"dims": 2, "candidates": 40}]},
		"stages": [{"stage": "read", "seconds": 0.5}]}`), &r)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2.5*4*1000*10 + 24*1000*10*2; r.promise() != want {
		t.Errorf("the promise is %v, want %v", r.promise(), want)
	}
	if v := r.Inputs.Views; v[0].Neighbours.Recall != 0.98 || v[1].Neighbours.Method != "" {
		t.Errorf("%+v", v)
	}
}

// python writes a program that answers every task with the same text.
func python(t *testing.T, answer string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a script is no program on Windows")
	}
	path := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+answer), 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// The first Python that has a module serves for it, and one that fails says why.
func TestPeers(t *testing.T) {
	first := python(t, `echo '{"numpy": "1.0"}'`)
	second := python(t, `echo '{"numpy": "2.0", "faiss": "1.7"}'`)
	p, err := findPeers(t.Context(), []string{filepath.Join(t.TempDir(), "python3"), first, second})
	if err != nil {
		t.Fatal(err)
	}
	if p.python[numpy] != first || p.python[faiss] != second || p.python[sklearn] != "" || p.versions[numpy] != "1.0" {
		t.Errorf("%+v", p)
	}
	e := &Experiment{peers: p, Threads: 1}
	task := &lab.Task{Record: &lab.Record{}}
	if _, err := e.ask(t.Context(), task, sklearn, &request{}); err == nil || err.Error() != "no Python here has sklearn" {
		t.Errorf("the error is %v", err)
	}
	p.python[faiss] = python(t, "echo first >&2\necho 'MemoryError: too much' >&2\nexit 1\n")
	if _, err := e.ask(t.Context(), task, faiss, &request{}); err == nil || err.Error() != "faiss failed: MemoryError: too much" || task.Words["by"] != "faiss 1.7" {
		t.Errorf("the error is %v, and it is by %v", err, task.Words)
	}
	p.python[numpy] = python(t, `echo '{"speeds": [1]}'`)
	if _, err := e.ask(t.Context(), task, numpy, &request{Dims: kernelDims}); err == nil {
		t.Error("too few speeds are taken")
	}
	p.python[numpy] = python(t, "echo nothing")
	if _, err := e.ask(t.Context(), task, numpy, &request{}); err == nil {
		t.Error("an answer that is none is taken")
	}
}

// quick is a quick experiment, with the command mvclust.
func quick(t *testing.T, pythons ...string) (*Experiment, *lab.Lab, []lab.Case) {
	t.Helper()
	l := labtest.New(t, t.TempDir())
	l.Timed, l.Program = true, filepath.Join(l.Scratch, "mvclust")
	if err := l.Build(t.Context(), filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	e := &Experiment{Quick: true, Threads: 2, Pythons: append(pythons, filepath.Join(l.Scratch, "none"))}
	cases, err := e.Cases(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e, l, cases
}

// All of a quick run, without any Python.
func TestQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command, and runs it several times")
	}
	e, l, cases := quick(t)
	if err := l.Run(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	run := e.run(1000, wholePaper)
	if run == nil || run.Scores.Samples != 1000 || run.Scores.Classes != 20 || len(run.Words["stages"]) < 20 || run.Value("promise") != 2.5*4*1000*256+24*1000*20*2 || stage(run, "neighbours") <= 0 {
		t.Fatalf("%+v", run)
	}
	if r := e.run(1000, wholeDefault); r == nil || r.Value(newSamples) != 20 || r.Value(rowBytes) != 4*1000*256 || r.Value(explained) <= 0 || r.Value(placed) <= 0 || r.Value(updated) <= 0 || r.Value(cutCoarser) <= 0 {
		t.Errorf("%+v", r)
	}
	if run.Value("candidates") != candidates {
		t.Errorf("the run looks for %v neighbours, and faiss for %d", run.Value("candidates"), candidates)
	}
	if runtime.GOOS == "linux" && run.Peak < 5<<20 {
		t.Errorf("the peak is %d", run.Peak)
	}
	for _, m := range kernels() {
		if r := l.One(kernelSet(m)); (r == nil) != (m == openBLAS) || r != nil && (len(r.Values["256"]) != 2 || !(r.Value("128") > 0)) {
			t.Errorf("%s: %+v", m, r)
		}
	}
	page, figures, err := e.Page(l, l.Made("go run . speed"))
	if err != nil || len(figures) != 2 {
		t.Fatal(len(figures), err)
	}
	for _, want := range []string{"**This is a quick run**", "- faiss IndexFlatIP: no Python here has faiss", "| 1,000 | ", "## A small set\n\nA synthetic set", "](speed/stages.svg)"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, l.Scratch) || strings.Contains(page, "through Python") {
		t.Error(page)
	}
	labtest.CheckPage(t, page)
	for _, f := range figures {
		if _, err := f.SVG(); err != nil {
			t.Error(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(l.Scratch, "synth-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// Where a Python has the modules, it finds the same neighbours.
func TestRealPeers(t *testing.T) {
	p, err := findPeers(t.Context(), []string{"python3", "/usr/bin/python3"})
	if err != nil {
		t.Fatal(err)
	}
	if p.python[faiss] == "" || testing.Short() {
		t.Skip("no Python here has faiss")
	}
	e, l, cases := quick(t, "python3", "/usr/bin/python3")
	if err := l.Run(t.Context(), cases[len(cases)-1:]); err != nil {
		t.Fatal(err)
	}
	if r := l.One(e.graphSet(1000, faissFlat)); r == nil || r.Value("agreement") < 0.999 || r.Median() <= 0 {
		t.Errorf("%+v", r)
	}
}

// A program that fails is an error in its own words.
func TestFails(t *testing.T) {
	l := labtest.New(t, t.TempDir())
	l.Program = python(t, "echo 'mvclust: no luck' >&2\nexit 2\n")
	e := &Experiment{Quick: true, Pythons: []string{"none"}}
	cases, err := e.Cases(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context(), cases[:1]); err == nil || !strings.Contains(err.Error(), "synth: mvclust: no luck") {
		t.Errorf("the error is %v", err)
	}
}

// filled is an experiment with records that were made up.
func filled(t *testing.T) *Experiment {
	l := labtest.New(t, t.TempDir())
	l.PageOnly = true
	e := &Experiment{Full: true, Pythons: []string{"none"}}
	if _, err := e.Cases(t.Context(), l, nil); err != nil {
		t.Fatal(err)
	}
	add := func(s lab.Setup, r lab.Record) {
		r.Setup, r.Date, r.Machine = s, "2000-01-02", "A fast one"
		l.Store.Add(&r)
	}
	run := func(s lab.Setup, n int, seconds, ari float64) {
		add(s, lab.Record{
			Seconds: []float64{seconds}, Peak: int64(3000 * n), Scores: &score.Scores{ARI: ari, BCubedF: 0.8, Samples: n, Classes: 20, Clusters: 25},
			Words: map[string]string{"stages": "neighbours learn refine partition", "neighbours": "mixed"},
			Values: map[string][]float64{
				"stage neighbours": {seconds / 2}, "stage learn": {seconds / 8}, "stage refine": {seconds / 8}, "stage partition": {0},
				"promise": {float64(4000 * n)}, "recall": {0.98},
			},
		})
	}
	for n, seconds := range map[int]float64{10_000: 1, 100_000: 16, 1_000_000: 250} {
		run(wholeSet(n, wholePaper), n, seconds, 0.81)
	}
	run(wholeSet(100_000, wholePaper).With(exactSetting), 100_000, 16, 0.84)
	run(wholeSet(10_000, wholeDefault), 10_000, 2, 0.9)
	run(wholeSet(100_000, wholeDefault), 100_000, 20, 0.95)
	run(wholeSet(1_000_000, wholeDefault), 1_000_000, 200, 0.95)
	for name, x := range map[string]float64{
		explained: 0.9, placedOne: 3.2, placed: 9.2, updated: 70, cutCoarser: 20, newSamples: 20_000, rowBytes: 1 << 30, peakOf + placed: 2 << 30,
	} {
		e.run(1_000_000, wholeDefault).Values[name] = []float64{x}
	}
	add(wholeSet(100_000, faissFlat), lab.Record{Seconds: []float64{32}, Words: map[string]string{"by": "faiss 1.7.3"}})
	add(e.graphSet(20_000, exact), lab.Record{Seconds: []float64{0.5, 0.7, 0.6}})
	add(e.graphSet(20_000, faissFlat), lab.Record{Seconds: []float64{2, 2.4, 2.1}, Values: map[string][]float64{"agreement": {0.9999, 0.9999, 0.9999}}, Words: map[string]string{"by": "faiss 1.7.3"}})
	add(e.graphSet(20_000, sklearnBrute), lab.Record{Seconds: []float64{4}})
	add(e.graphSet(20_000, approximate), lab.Record{Seconds: []float64{1.2}, Values: map[string][]float64{"recall": {0.99}}})
	add(e.graphSet(100_000, exact), lab.Record{Seconds: []float64{100}})
	add(e.graphSet(100_000, approximate), lab.Record{Seconds: []float64{50}, Values: map[string][]float64{"recall": {0.98}}})
	add(kernelSet(gonumSgemm), lab.Record{Seconds: []float64{1, 1}, Values: map[string][]float64{"128": {13, 14}, "256": {13.96, 12}}})
	add(e.small.By(wholeDefault), lab.Record{Seconds: []float64{2}, Scores: &score.Scores{ARI: 0.9, Samples: 2000, Classes: 10}})
	add(e.small.By(sklearnCut), lab.Record{Seconds: []float64{4}, Scores: &score.Scores{ARI: 0.7}, Words: map[string]string{"by": "sklearn 1.2.1"}})
	return e
}

func TestAims(t *testing.T) {
	want := []float64{0.6 / 2.1, 0.5, 0.5, 250, 3e9, 3, 1.1938, 0.75, 0.98, 0.5, 0.625, 200, 3e9, 80, 1, 0.9, 3.2, 19_999. / 6, 2, 0.1}
	for i, a := range filled(t).aims() {
		if !(math.Abs(a.Measured-want[i]) < 1e-4) {
			t.Errorf("%s: %v, want %v", a.What, a.Measured, want[i])
		}
		if missed := i == 5 || i == 10 || i == 13 || i >= 16 && i <= 18; (a.Reached() == "yes") == missed {
			t.Errorf("%s: reached is %s at %v of %v", a.What, a.Reached(), a.Measured, a.Bound)
		}
	}
	e := filled(t)
	e.l.Store = labtest.Open(t, "none")
	for _, a := range e.aims() {
		if a.Measured == a.Measured {
			t.Errorf("%s: measured without being", a.What)
		}
	}
}

// The page has every part that was measured, and none that was not.
func TestPage(t *testing.T) {
	parts := []string{
		"## Approximate neighbours", "## A small set\n\nHandwritten: 2,000 samples", "![Time of a whole run", "![Exact and approximate", "it, through Python: faiss 1.7.3, sklearn 1.2.1.",
		"| 100,000, exact neighbours | 16.0 |", "| exact neighbours of 20,000 rows, time over that of faiss's flat index | ≤ 0.40 | 0.29 | yes |",
		"index takes 32.0 s", "0.50 of the time of our own exact", "|  | faiss IndexFlatIP | 2.00 | 2.10 | 3 | 0.29 | 0.9999 |", "from about 44,721 rows on",
		"| 100,000 | 20.0 | 1.00 | 1.25 |", "| predict, 20,000 | 1,000,000 | 9.20 | 2.0 GiB | 3,333 |", "| gonum Sgemm | 14.0 | 14.0 |", "with mvclust 9 on A fast one.", "on 2000-01-02 by",
	}
	always := []string{
		"    go run . speed\n", "## Whole runs", "## Exact neighbours", "## Inner loops",
		"--samples N --classes N/50 --views 2 --dims 128 --imbalance 0.7 --noise 0.5\n",
	}
	bare := filled(t)
	bare.l.Store = labtest.Open(t, "none")
	for _, c := range []struct {
		e    *Experiment
		full bool
	}{{filled(t), true}, {bare, false}} {
		made := c.e.l.Made("go run . speed")
		made.Version = "mvclust 9"
		page, figures, err := c.e.Page(nil, made)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range parts {
			if strings.Contains(page, want) != c.full {
				t.Errorf("full is %v, and %q is there or not:\n%s", c.full, want, page)
			}
		}
		for _, want := range always {
			if !strings.Contains(page, want) {
				t.Errorf("full is %v, and there is no %q", c.full, want)
			}
		}
		labtest.CheckPage(t, page)
		if (len(figures) == 2) != c.full {
			t.Errorf("%d figures", len(figures))
		}
		if c.full { // stages that take next to nothing are left out
			var names []string
			for _, s := range figures[0].Panels[0].Series {
				names = append(names, s.Name)
			}
			if want := []string{"whole run", "neighbours", "learn", "refine"}; !slices.Equal(names, want) {
				t.Errorf("the figure has %q", names)
			}
		}
	}
}

func TestWorkload(t *testing.T) {
	full, w := (&Experiment{Full: true}).workload(), (&Experiment{Quick: true}).workload()
	if full.whole[len(full.whole)-1].size != 1_000_000 || len(w.whole) != 2 {
		t.Errorf("%+v, %+v", full, w)
	}
}
