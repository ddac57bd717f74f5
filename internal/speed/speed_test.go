package speed

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/score"
)

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		times        Times
		best, median float64
	}{
		{nil, 0, 0}, {Times{2}, 2, 2}, {Times{3, 1}, 1, 1}, {Times{5, 1, 3}, 1, 3}, {Times{4, 1, 3, 2}, 1, 2},
	} {
		given := slices.Clone(c.times)
		if best, median := c.times.Best(), c.times.Median(); best != c.best || median != c.median {
			t.Errorf("%v: best %v and median %v, want %v and %v", given, best, median, c.best, c.median)
		}
		if !slices.Equal(given, c.times) {
			t.Errorf("%v became %v", given, c.times)
		}
	}
}

func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		from, to     int
		before, then float64
		want         float64
	}{
		{100, 1000, 1, 10, 1}, {100, 1000, 1, 100, 2}, {100, 400, 3, 6, 0.5}, {100, 200, 2, 1, -1},
		{100, 100, 1, 2, 0}, {100, 200, 0, 1, 0}, {100, 200, 1, 0, 0},
	} {
		if got := growth(c.from, c.to, c.before, c.then); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestCrossingPoint(t *testing.T) {
	at := func(ratios ...float64) float64 {
		var list []Crossing
		for i, r := range ratios {
			list = append(list, Crossing{Rows: 1000 << i, Ratio: r})
		}
		return crossingPoint(list)
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

// The share of common neighbours, with a list of faiss that has the row itself, and
// fewer than were asked for.
func TestAgreement(t *testing.T) {
	l := &neighbour.Lists{Rows: sparse.Rows[int32]{Offsets: []int{0, 2, 4, 6}, Values: []int32{1, 2, 0, 2, 0, 1}}}
	file := filepath.Join(t.TempDir(), "found")
	theirs := []int64{0, 1, 2, 0, 1, -1, 2, -1, -1}
	if err := create(file, func(w io.Writer) error { return binary.Write(w, binary.LittleEndian, theirs) }); err != nil {
		t.Fatal(err)
	}
	if got, err := agreement(l, file); err != nil || got != 0.5 {
		t.Errorf("%v and error %v, want 0.5", got, err)
	}
	if got := shared(&neighbour.Lists{Rows: sparse.Rows[int32]{Offsets: []int{0, 0}}}, func(int, func(int32)) {}); got != 1 {
		t.Errorf("no neighbours: %v, want 1", got)
	}
}

func TestField(t *testing.T) {
	const text = "processor\t: 0\nmodel name\t: A: fast one\nmodel name\t: other\nempty :\n"
	for name, want := range map[string]string{"model name": "A: fast one", "processor": "0", "empty": "", "none": ""} {
		if got := field(text, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What run.json has now, and what it may have: unknown fields, and neighbours or none.
func TestReport(t *testing.T) {
	var r report
	err := json.Unmarshal([]byte(`{"settings": {"neighbors": 10, "metric": ["cosine"]}, "clusters": 7,
		"inputs": {"samples": 1000, "views": [
			{"dims": 8, "candidates": 40, "neighbours": {"method": "approximate", "recall": 0.98, "cells": 5}},
			{"dims": 2, "candidates": 40}]},
		"stages": [{"stage": "read", "seconds": 0.5}]}`), &r)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(2.5*4*1000*10 + 24*1000*10*2); r.promise() != want {
		t.Errorf("the promise is %d, want %d", r.promise(), want)
	}
	v := r.Inputs.Views
	if v[0].Neighbours == nil || *v[0].Neighbours != (Search{"approximate", 0.98}) || v[1].Neighbours != nil {
		t.Errorf("%+v", v)
	}
}

// Without any Python, and with one that is none, nothing is asked of it.
func TestPeersAbsent(t *testing.T) {
	p, err := findPeers(t.Context(), []string{filepath.Join(t.TempDir(), "python3")})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.missing(); !strings.Contains(got, "numpy, faiss, sklearn") {
		t.Errorf("%q", got)
	}
	b := &bench{ctx: t.Context(), peers: p, r: &Results{}}
	_, err = b.ask(faiss, &request{Task: "flat"})
	if !errors.Is(err, errAbsent) || b.optional("faiss", err) != nil || len(b.r.Notes) != 0 {
		t.Errorf("error %v and notes %q", err, b.r.Notes)
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

// The first Python that has a module serves for it, and one that fails is noted.
func TestPeersFound(t *testing.T) {
	first := python(t, `echo '{"numpy": "1.0"}'`)
	second := python(t, `echo '{"numpy": "2.0", "faiss": "1.7"}'`)
	p, err := findPeers(t.Context(), []string{first, second})
	if err != nil {
		t.Fatal(err)
	}
	if p.String() != "faiss 1.7, numpy 1.0" || p.python[numpy] != first || p.python[faiss] != second || !strings.Contains(p.missing(), "has sklearn:") {
		t.Errorf("%+v, %q", p, p.missing())
	}
	b := &bench{ctx: t.Context(), peers: &peers{python: map[string]string{faiss: python(t, "echo first >&2\necho 'MemoryError: too much' >&2\nexit 1\n")}}, r: &Results{}}
	_, err = b.ask(faiss, &request{Task: "flat"})
	for range 2 {
		if err := b.optional("the graph", err); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"the graph: not measured, faiss failed: MemoryError: too much"}; !slices.Equal(b.r.Notes, want) {
		t.Errorf("the notes are %q, want %q", b.r.Notes, want)
	}
	b.peers.python[numpy] = python(t, `echo '{"speeds": [1]}'`)
	if _, err := b.ask(numpy, &request{Task: "product", Dims: kernelDims}); err == nil {
		t.Error("too few speeds are taken")
	}
	b.peers.python[numpy] = python(t, "echo nothing")
	if _, err := b.ask(numpy, &request{Task: "product"}); err == nil {
		t.Error("an answer that is none is taken")
	}
}

// Where a Python has the modules, it finds the same neighbours, and its times are
// those of the work.
func TestRealPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python several times")
	}
	p, err := findPeers(t.Context(), []string{"python3", "/usr/bin/python3"})
	if err != nil {
		t.Fatal(err)
	}
	if p.python[faiss] == "" {
		t.Skip(p.missing())
	}
	b := &bench{Plan: Plan{Workload: Workload{Dims: 32, Neighbours: 5}, Folder: t.TempDir(), Threads: 1}, ctx: t.Context(), peers: p, r: &Results{}}
	v, err := b.rows(600)
	if err != nil {
		t.Fatal(err)
	}
	g, err := b.graph(v, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.r.Notes) > 0 || g.Agreement < 0.999 || len(g.Peers) == 0 || g.Peers[0].Seconds[0] <= 0 {
		t.Errorf("%+v, notes %q", g, b.r.Notes)
	}
}

// filled is a result with all parts, of numbers that were made up.
func filled() *Results {
	scores := func(ari float64) score.Scores { return score.Scores{ARI: ari, BCubedF: 0.8, Classes: 20, Clusters: 25} }
	run := func(n int, seconds, ari float64) Run {
		return Run{
			Samples: n, Classes: 20, Clusters: 25, Seconds: Times{seconds}, Scores: scores(ari),
			Stages:     []Stage{{"neighbours", seconds / 2}, {"learn", seconds / 8}, {"refine", seconds / 8}, {"partition", 0}},
			Neighbours: []Search{{"exact", 1}, {"approximate", 0.98}}, Peak: int64(3000 * n), Promise: int64(4000 * n),
		}
	}
	whole := run(100_000, 16, 0.81)
	return &Results{
		Machine: Machine{"A fast one", 2, 24 << 30, "linux/amd64", "go1.26", "avx2"}, Threads: 2, Data: recipe,
		Peers:   map[string]string{faiss: "1.7.3"},
		Kernels: []Kernel{{"mvclust avx2", []float64{120, 121.4}}, {"gonum Sgemm", []float64{14, 13.96}}},
		Graphs: []Graph{{20_000, 256, 50, Times{0.5, 0.7, 0.6}, []PeerGraph{
			{"faiss IndexFlatIP", Times{2, 2.4, 2.1}, 0.6 / 2.1}, {"scikit-learn, brute force", Times{4}, 0.15}}, 0.9999}},
		Crossing:  []Crossing{{10_000, 1, 2, 2, 0.99}, {100_000, 100, 50, 0.5, 0.98}},
		Runs:      []Run{run(10_000, 1, 0.9), whole, run(1_000_000, 250, 0.7)},
		Automatic: []Run{run(10_000, 2, 0.9), run(100_000, 20, 0.95)},
		Reference: &Reference{Samples: 100_000, Candidates: 80, Faiss: Times{32}, Ratio: 0.5, Exact: &whole, After: 0.5},
		Small:     &Small{"Handwritten.npz", 2000, 4, 10, Times{2}, scores(0.9), Times{4}, &score.Scores{ARI: 0.7}, 0.5},
	}
}

func TestAims(t *testing.T) {
	r := filled()
	r.Reference.Exact.Scores.ARI = 0.84
	aims := r.Aims()
	want := []float64{0.6 / 2.1, 0.5, 0.5, 250, 3e9, 3, 1.1938, 0.75, 0.98, 0.5}
	for i, a := range aims {
		if a.Measured == nil || math.Abs(*a.Measured-want[i]) > 1e-4 {
			t.Errorf("%s: %v, want %v", a.What, a.Measured, want[i])
			continue
		}
		if a.Reached() == (i == 5) {
			t.Errorf("%s: reached is %v at %v of %v", a.What, a.Reached(), *a.Measured, a.Bound)
		}
	}
	for _, a := range (&Results{}).Aims() {
		if a.Measured != nil || a.Reached() {
			t.Errorf("%s: measured without being", a.What)
		}
	}
	exactly, below := 0.97, 0.96
	if a := (&Aim{Bound: 0.97, AtLeast: true, Measured: &exactly}); !a.Reached() {
		t.Error("the bound itself does not count")
	}
	if a := (&Aim{Bound: 0.97, AtLeast: true, Measured: &below}); a.Reached() {
		t.Error("less than the least counts")
	}
}

// The page has every part that was measured, and none that was not.
func TestPage(t *testing.T) {
	made := Made{Command: "mvclust bench speed", Date: "2000-01-02", Version: "mvclust 9"}
	parts := []string{
		"## Approximate neighbours", "## A small set", "![Time of a whole run", "![Exact and approximate", "it, through Python: faiss 1.7.3.",
		"| 100,000, exact neighbours | 16.0 |", "| exact neighbours of 20,000 rows, time over that of faiss's flat index | ≤ 0.40 | 0.29 | yes |",
		"index takes 32.0 s", "0.50 of the time of our own exact", "|  | faiss IndexFlatIP | 2.00 | 2.10 | 3 | 0.29 | 0.9999 |", "from about 31,622 rows on",
		"| 100,000 | 20.0 | 1.00 | 1.25 |",
	}
	always := []string{
		"    mvclust bench speed\n", "on 2000-01-02 by", "## Whole runs", "## Exact neighbours", "## Inner loops", "with mvclust 9 on ",
		"--samples N --classes N/50 --views 2 --dims 128 --imbalance 0.7 --noise 0.5\n",
	}
	bare := filled()
	bare.Peers, bare.Crossing, bare.Reference, bare.Small, bare.Runs, bare.Automatic = nil, nil, nil, nil, nil, nil
	bare.Graphs[0].Peers, bare.Graphs[0].Agreement = nil, 0
	bare.Notes = []string{"No Python here has faiss."}
	for _, c := range []struct {
		r    *Results
		full bool
	}{{filled(), true}, {bare, false}} {
		page, err := c.r.Page(made, "speed")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range parts {
			if strings.Contains(page, want) != c.full {
				t.Errorf("full is %v, and %q is there or not", c.full, want)
			}
		}
		for _, want := range always {
			if !strings.Contains(page, want) {
				t.Errorf("full is %v, and there is no %q", c.full, want)
			}
		}
		if strings.Contains(page, "- No Python here has faiss.\n") == c.full || strings.Contains(page, "quick run") {
			t.Errorf("full is %v, and the notes are wrong:\n%s", c.full, page)
		}
		if strings.Contains(page, "\n\n\n") || strings.Contains(page, "%!") || strings.Contains(page, "NaN") {
			t.Error(page)
		}
		checkTables(t, page)
	}
}

// checkTables looks for rows that have not as many cells as their head.
func checkTables(t *testing.T, page string) {
	t.Helper()
	columns := 0
	for line := range strings.Lines(page) {
		n := strings.Count(line, "|")
		if n > 0 && columns > 0 && n != columns {
			t.Errorf("%d cells in place of %d: %s", n, columns, line)
		}
		columns = n
	}
}

// Figures are XML; stages that take next to nothing are left out.
func TestFigures(t *testing.T) {
	figures := filled().Figures()
	if len(figures) != 2 {
		t.Fatalf("%d figures", len(figures))
	}
	for _, f := range figures {
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if f.Name == stagesFigure && (!strings.Contains(b.String(), "refine") || strings.Contains(b.String(), "partition")) {
			t.Error("the figure has not the stages that it should have")
		}
		d := xml.NewDecoder(&b)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
	}
	if figures := (&Results{}).Figures(); len(figures) != 0 {
		t.Errorf("%d figures of nothing", len(figures))
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{digits(0), "0.00"}, {digits(9.994), "9.99"}, {digits(9.996), "10.0"}, {digits(99.94), "99.9"}, {digits(99.96), "100"}, {digits(1234.5), "1234"},
		{whole(0), "0"}, {whole(999), "999"}, {whole(1000), "1,000"}, {whole(1234567), "1,234,567"},
		{size(5 << 20), "5 MiB"}, {size(3 << 29), "1.5 GiB"}, {percent(0.1234), "12.3"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

// Every kernel is measured and does the same number of operations as it says.
func TestKernels(t *testing.T) {
	w := Quick()
	w.KernelTime, w.KernelRounds = 1, 1
	b := &bench{Plan: Plan{Workload: w}, ctx: t.Context(), peers: &peers{}, r: &Results{}}
	if err := b.kernels(); err != nil {
		t.Fatal(err)
	}
	if n := len(b.r.Kernels); n < 2 || b.r.Kernels[n-1].Name != "gonum Sgemm" || b.r.Kernels[n-2].Name != "mvclust go" {
		t.Errorf("%+v", b.r.Kernels)
	}
	for _, k := range b.r.Kernels {
		for d, x := range k.Speeds {
			if len(k.Speeds) != len(kernelDims) || !(x > 0) {
				t.Errorf("%s: %v at %d", k.Name, x, kernelDims[d])
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.ctx = ctx
	if err := b.kernels(); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A program that fails is an error in its own words.
func TestRunFails(t *testing.T) {
	p := &Plan{Workload: Quick(), Folder: t.TempDir(), Program: python(t, "echo 'mvclust: no luck' >&2\nexit 2\n"), Threads: 1}
	if _, err := p.Run(t.Context()); err == nil || err.Error() != "synth: mvclust: no luck" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.Program = python(t, "exec sleep 60\n")
	p.Say = func(string) { cancel() }
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
