package lab_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/labtest"
)

// Labels come back from JSON, and what is no list of labels is refused.
func TestLabels(t *testing.T) {
	for _, want := range []lab.Labels{{0}, {0, 1, 300, 1 << 20}, slices.Repeat([]int{7, 0}, 5000)} {
		text, err := json.Marshal(want)
		var got lab.Labels
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || !slices.Equal(got, want) || len(text) > 100 {
			t.Errorf("%v in place of %v, error %v", got, want, err)
		}
	}
	if _, err := json.Marshal(lab.Labels{-1}); err == nil {
		t.Error("a label below 0 is written")
	}
	for _, text := range []string{"3", `"!"`, `"AAAA"`, `"/////w=="`} {
		if err := new(lab.Labels).UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// Runs are compared by all pairs of them that have labels.
func TestAlike(t *testing.T) {
	a, b := &lab.Record{Labels: []int{0, 0, 1, 1}}, &lab.Record{Labels: []int{0, 1, 0, 1}}
	for _, c := range []struct {
		list        lab.Records
		mean, least float64
	}{
		{lab.Records{a, a, a}, 100, 100},
		{lab.Records{a, b, a}, 0, -50},
		{lab.Records{a}, math.NaN(), math.NaN()},
		{lab.Records{a, {}}, math.NaN(), math.NaN()},
	} {
		if mean, least := c.list.Alike(); math.Abs(mean-c.mean) > 1e-9 || math.Abs(least-c.least) > 1e-9 || (mean != mean) != (c.mean != c.mean) {
			t.Errorf("%v, at least %v; want %v and %v", mean, least, c.mean, c.least)
		}
	}
}

// Files are found in all folders; one name in two of them is an error.
func TestFolders(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	labtest.Write(t, one, "a.npz", 1, 0.2, 0)
	labtest.Write(t, two, "b.npz", 1, 0.2, 0)
	l := labtest.New(t, one, two)
	npz, _, err := l.Files()
	if err != nil || !slices.Equal(npz, []string{"a.npz", "b.npz"}) || l.Collection("b.npz") != 1 || l.Collection("c.npz") != -1 {
		t.Errorf("%v, error %v", npz, err)
	}
	if _, labels, _, err := l.Load(t.Context(), lab.Setup{File: "b.npz"}); err != nil || len(labels) != 120 {
		t.Errorf("%d labels, error %v", len(labels), err)
	}
	if _, _, _, err := l.Load(t.Context(), lab.Setup{File: "c.npz"}); err == nil || strings.Contains(err.Error(), one) {
		t.Errorf("the error is %v", err)
	}
	labtest.Write(t, two, "a.npz", 1, 0.2, 0)
	if _, _, err := l.Files(); err == nil || !strings.Contains(err.Error(), "both hold a.npz") {
		t.Errorf("the error is %v", err)
	}
}

// The names of a cloud's points are drawn, each once, and the line of equal values.
func TestCloud(t *testing.T) {
	s := lab.Series{Name: "sets", X: []float64{10, 10, 90, math.NaN()}, Y: []float64{20, 20, 99, 5}, Names: []string{"first", "second", "a long name at the edge", "none"}}
	svg, err := lab.Figure{Name: "x", Title: "y", Tall: 300, Panels: []lab.Panel{{Diagonal: true, Series: []lab.Series{s}}}}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{">first<": 1, ">second<": 1, ">a long name at the edge<": 1, ">none<": 0, ">100<": 2} {
		if got := strings.Count(string(svg), name); got != want {
			t.Errorf("%s is drawn %d times, want %d", name, got, want)
		}
	}
}
