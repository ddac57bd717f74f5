package compare

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/simple"
	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
	"github.com/mvclust/mvclust/method/view"
)

// stand returns an experiment with few systems: one that is right by the setting good alone, one
// that fails, one for pairs of views, and mvclust.
func stand(calls *int) *Experiment {
	all := contestants()
	right := system.System{
		Name: "GMC", Source: "nobody", Told: true, Fills: true, Default: system.Settings{"good": 0},
		Grid: []system.Settings{{"good": 0}, {"good": 1}},
		Cluster: func(ctx context.Context, in *system.Input) ([]int, error) {
			*calls++
			for _, v := range in.Views {
				if v.Count() != v.Samples {
					return nil, errors.New("the views are not filled")
				}
			}
			if in.Settings["good"] == 0 {
				return make([]int, in.Samples()), nil
			}
			return simple.Systems()[0].Cluster(ctx, in)
		},
	}
	fails := system.System{Name: "PIC", Source: "nobody", Grid: []system.Settings{{"x": 1}}, Cluster: func(context.Context, *system.Input) ([]int, error) {
		*calls++
		return nil, &lab.Lasting{Reason: "is too slow"}
	}}
	pairs := system.System{Name: "IMCCP", Source: "nobody", Least: 2, Most: 2, Cluster: func(ctx context.Context, in *system.Input) ([]int, error) {
		p, err := in.Probabilities(ctx)
		if err != nil {
			return nil, err
		}
		return onProbabilities(p), nil
	}}
	return &Experiment{all: append([]contestant{{right, "GMC"}, {fails, "PIC"}, {pairs, "IMCCP"}}, all[len(all)-2:]...)}
}

// onProbabilities puts a sample into the cluster of the first other one that is more likely than
// not of its class.
func onProbabilities(p *mat.SymDense) []int {
	labels := make([]int, p.SymmetricDim())
	for i := range labels {
		labels[i] = i
		for j := range i {
			if p.At(i, j) > 0.5 {
				labels[i] = labels[j]
				break
			}
		}
	}
	return labels
}

func run(t *testing.T, l *lab.Lab, e *Experiment, names ...string) string {
	t.Helper()
	cases, err := e.Cases(t.Context(), l, names)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context(), cases); err != nil {
		t.Fatal(err)
	}
	text, figures, err := e.Page(l, l.Made("command"))
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckPage(t, text)
	for _, f := range figures {
		if _, err := f.SVG(); err != nil {
			t.Error(err)
		}
	}
	return text
}

// A page has the paper's figures, ours, the grid's best and the reasons; a second run takes all
// from the records.
func TestPage(t *testing.T) {
	data := t.TempDir()
	labtest.Write(t, data, "BUAA.npz", 2, 0.3, 1)
	labtest.Write(t, data, "other.npz", 3, 0.3, 2)
	l := labtest.New(t, data)
	calls := 0
	text := run(t, l, stand(&calls))
	for _, want := range []string{
		"### BUAA\n", "### BUAA, half missing\n", "### Humbi240, the paper's figures alone\n", "| other | 120 | 6 |",
		"| PIC | 44.25 / – | 43.65 / – |", "PIC on BUAA; PIC on BUAA, half missing; PIC on other; PIC on other, half missing: is too slow", "IMCCP on other; IMCCP on other, half missing: takes 2 views at most", "| good=1 |",
		"the number of classes", "mean fill", "ranks.svg", "ranks-incomplete.svg", "cost.svg", "good: 0, 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	first := calls
	e := stand(&calls)
	if again := run(t, l, e); again != text || calls != first {
		t.Errorf("a second run calls systems %d times", calls-first)
	}
	subject, system := &e.subjects[0], e.all[slices.IndexFunc(e.all, func(c contestant) bool { return c.Name == "GMC" })]
	if done, all := e.searched(subject, system); done != all || all != 1 || strings.Contains(text, "points of the grid") {
		t.Errorf("%d of %d points of the grid were run on %s", done, all, subject.title())
	}
	stopped := *e
	stopped.l = labtest.New(t, data)
	if done, all := stopped.searched(subject, system); done != 0 || all != 1 {
		t.Errorf("%d of %d points of the grid were run on %s", done, all, subject.title())
	}
	raw, err := e.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Results []result }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(file.Results, func(r result) bool { return r.System == "GMC" && r.Set == "BUAA" && !r.Lacking })
	if at < 0 || file.Results[at].Default["ari"] != 0 || file.Results[at].Grid["ari"] < 90 || file.Results[at].Missing != "mean fill" {
		t.Errorf("result %d of %s", at, raw)
	}
	at = slices.IndexFunc(file.Results, func(r result) bool { return r.System == "PIC" && r.Set == "BUAA" && !r.Lacking })
	if at < 0 || file.Results[at].Paper[lab.BCubedF] != 43.65 || file.Results[at].Reason != "is too slow" {
		t.Errorf("result %d of %s", at, raw)
	}
}

// Files of one's own make one set, with the samples that lack a view.
func TestOwn(t *testing.T) {
	data := t.TempDir()
	labtest.Write(t, data, "mine.npz", 2, 0.3, 1)
	path := filepath.Join(data, "mine.npz")
	l := labtest.New(t)
	calls := 0
	e := stand(&calls)
	e.Views, e.Truth = []string{path + ":view0", path + ":view1"}, path+":labels"
	text := run(t, l, e)
	for _, want := range []string{"## mine: 120 samples, 6 classes\n", "| 0.0 ± 0.0 / ", "| mvclust |", "| SLS-MPC |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, data) || strings.Contains(text, "Humbi") {
		t.Errorf("the page has what it should not have:\n%s", text)
	}
	e = stand(&calls)
	e.Views, e.Truth = []string{filepath.Join(data, "none.npz")}, path
	if _, err := e.Cases(t.Context(), l, nil); err == nil || !strings.Contains(err.Error(), "none.npz: there is no such file") {
		t.Errorf("a missing file: %v", err)
	}
}

// Every system says what it is, and every name of the paper's tables is one of the registered
// systems or stands in the tables alone.
func TestSystems(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range contestants() {
		if c.Name == "" || c.Source == "" || seen[c.Name] {
			t.Errorf("system %q from %q is there twice, or says nothing", c.Name, c.Source)
		}
		seen[c.Name] = true
		for _, set := range c.Grid {
			for name := range set {
				if _, there := c.Default[name]; !there {
					t.Errorf("%s: the grid has the setting %q, the authors have not", c.Name, name)
				}
			}
		}
	}
	if n := len(names()); n != 13 {
		t.Errorf("the paper has figures for %d systems in its first table, want 13", n)
	}
	if f := printed("BUAA", "UEAF", true); f[lab.BCubedF] != 30.05 {
		t.Errorf("the paper's figures are %v", f)
	}
}

// No system panics on few samples, a single view or feature, equal rows, rows of zeros or missing
// views: it finds a cluster for every sample, or says why not.
func TestOdd(t *testing.T) {
	nan := float32(math.NaN())
	odd := map[string][]*view.View{
		"one feature":  {odd(t, 6, 1, 1, 2, 3, 10, 11, 12)},
		"equal rows":   {odd(t, 6, 2, slices.Repeat([]float32{1, 2}, 6)...), odd(t, 6, 1, 1, 2, 3, 10, 11, 12)},
		"zeros":        {odd(t, 5, 2, make([]float32, 10)...), odd(t, 5, 2, 1, 2, 1, 3, 0, 0, -5, 2, -5, 3)},
		"missing":      {odd(t, 6, 1, 1, 2, nan, 10, 11, 12), odd(t, 6, 2, 1, 0, nan, nan, 1, 1, 0, 1, 0, 2, nan, nan)},
		"three views":  {odd(t, 4, 1, 1, 2, 8, 9), odd(t, 4, 1, 1, 1, 8, 8), odd(t, 4, 1, 5, 4, 3, 2)},
		"two samples":  {odd(t, 2, 2, 1, 0, 0, 1), odd(t, 2, 2, 1, 0, 0, 1)},
		"few of three": {odd(t, 3, 2, 1, 0, 0, 1, 1, 1), odd(t, 3, 1, 1, 2, 3)},
	}
	for name, views := range odd {
		for _, s := range Systems() {
			if len(views) < s.Least || s.Most > 0 && len(views) > s.Most {
				continue
			}
			n := views[0].Samples
			in := &system.Input{Views: views, Clusters: 2, Settings: maps.Clone(s.Default), Seed: 1}
			for name, few := range map[string]float64{"epochs": 3, "width": 8, "code": 4, "layer1": 4, "layer2": 3} { // of a network and of layers
				if in.Settings[name] > 0 {
					in.Settings[name] = few
				}
			}
			in.Probabilities = func(context.Context) (*mat.SymDense, error) {
				p := mat.NewSymDense(n, nil)
				for i := range n {
					p.SetSym(i, i, 1)
				}
				return p, nil
			}
			if s.Fills {
				in.Views = system.Fill(views)
			}
			labels, err := s.Cluster(t.Context(), in)
			switch {
			case err != nil:
				t.Logf("%s on %s: %v", s.Name, name, err)
			case len(labels) != n || slices.Min(labels) < 0:
				t.Errorf("%s on %s: the labels are %v", s.Name, name, labels)
			}
		}
	}
}

func odd(t *testing.T, samples, dims int, data ...float32) *view.View {
	t.Helper()
	v, err := view.New("odd", samples, dims, data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What a stopped run should have comes first: the paper's sets before others, what is quick before what
// is slow, the authors' settings before grids, and further seeds after these.
func TestOrder(t *testing.T) {
	data := t.TempDir()
	labtest.Write(t, data, "BUAA.npz", 2, 0.3, 1)
	labtest.Write(t, data, "other.npz", 2, 0.3, 2)
	calls := 0
	e := stand(&calls)
	e.all[1].Slow = true // PIC
	cases, err := e.Cases(t.Context(), labtest.New(t, data), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(label string, from int) int {
		i := slices.IndexFunc(cases, func(c lab.Case) bool { return c.Label == label && c.From == from })
		if i < 0 {
			t.Fatalf("there is no case %q from seed %d", label, from)
		}
		return i
	}
	order := []int{
		at("GMC on BUAA", 0), at("PIC on BUAA", 0), at("GMC on BUAA, good=1", 0), at("GMC on other", 0),
		at("GMC on BUAA", 1), at("PIC on BUAA, x=1", 0), at("PIC on other", 0),
	}
	if !slices.IsSorted(order) || order[0] != 0 {
		t.Errorf("the order is %v", order)
	}
}
