package mvclust

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/synth"
)

// A fit finds the indexes that the rows of its model have, and a file keeps them.
func TestIndexes(t *testing.T) {
	cfg := synth.Config{Samples: 10_300, Classes: 40, Views: 2, Dims: []int{32, 4}, Noise: []float64{0.6}, Missing: 0.02, Seed: 3}
	set, err := synth.Generate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w := NewModelWriter(&file)
	for _, v := range set.Views {
		if err := w.Rows(v); err != nil {
			t.Fatal(err)
		}
	}
	run, err := newRun(t.Context(), set.Views, Options{Preset: Paper, Local: true, Neighbours: 4, Consume: true, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	run.plan.indexed = 10_000
	r, err := run.fit(set.Views)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(NewModel(set.Views, r, nil)); err != nil {
		t.Fatal(err)
	}
	m, err := ReadModel(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := m.Spaces(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for v, s := range spaces {
		p := r.Indexes[v]
		if (p == nil) != (s.Count() < 10_000) || !reflect.DeepEqual(p, m.Views[v].Index) {
			t.Fatalf("view %d of %d rows has the index %+v, and the file another, or there is none", v, s.Count(), p)
		}
		if p == nil {
			continue
		}
		x, err := neighbour.Restore(t.Context(), s, 20, m.Settings.Seed, p, 1)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := neighbour.NewIndex(t.Context(), s, 20, 0, neighbour.Settings{Method: neighbour.Exact}, 1)
		if err != nil {
			t.Fatal(err)
		}
		late, err := s.Queries(t.Context(), &View{Name: "late", Samples: 200, Dims: s.Dims, Data: rowsOf(s, 200)}, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		found, err := x.Search(t.Context(), late, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := exact.Search(t.Context(), late, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		hits := 0
		for i := range late.Samples {
			a, _ := found.Of(i)
			b, _ := want.Of(i)
			for _, j := range a {
				if slices.Contains(b, j) {
					hits++
				}
			}
		}
		if share := float64(hits) / float64(len(want.Index)); share < 0.95 || p.Report.Method == neighbour.Approximate && p.Report.Recall < 0.97 {
			t.Errorf("view %d: the index finds %.3f of the neighbours, and reports %+v", v, share, p.Report)
		}
	}
	if p := r.Indexes[0]; p == nil || len(p.Rows) == 0 {
		t.Error("there is no index with rows along axes")
	}
	again, err := synth.Generate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if run, err = newRun(t.Context(), again.Views, Options{Preset: Paper, Local: true, Neighbours: 4, Lean: true, Threads: 1}); err != nil {
		t.Fatal(err)
	}
	run.plan.indexed = 10_000
	lean, err := run.fit(again.Views)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(lean.Indexes, r.Indexes) {
		t.Error("where rows stay as they are given, the indexes are others")
	}
	bad := *m
	bad.Views = append([]ModelView(nil), m.Views...)
	for v := range bad.Views {
		if p := bad.Views[v].Index; p != nil {
			other := *p
			other.Cells = append([]int32{-1}, p.Cells[1:]...)
			bad.Views[v].Index = &other
			if bad.Validate() == nil {
				t.Errorf("view %d: a row in cell -1 is valid", v)
			}
			bad.Views[v].Index = p
		}
	}
}

// rowsOf returns the first rows of a space, one after the other, each with some of the next.
func rowsOf(s *similarity.Space, count int) []float32 {
	var rows []float32
	for r := range count {
		next := s.Row(r + 1)
		for k, x := range s.Row(r) {
			rows = append(rows, x+0.1*next[k])
		}
	}
	return rows
}
