package mvclust

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/synth"
)

// A fit finds the indexes that the rows of its model have, and a file keeps them.
func TestIndexes(t *testing.T) {
	set, err := synth.Generate(synth.Config{Samples: 10_300, Classes: 40, Views: 2, Dims: []int{32, 4}, Noise: []float64{0.6}, Missing: 0.02, Seed: 3})
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
		want, err := neighbour.FindParts(t.Context(), s, m.Settings.Candidates, m.Settings.Seed, 1)
		if err != nil || want == nil && s.Count() >= 10_000 {
			t.Fatal(want, err)
		}
		if !reflect.DeepEqual(r.Indexes[v], want) || !reflect.DeepEqual(m.Views[v].Index, want) {
			t.Errorf("view %d: the fit has another index than its rows, or the file another than the fit", v)
		}
	}
	if p := r.Indexes[0]; p == nil || len(p.Rows) == 0 {
		t.Error("there is no index with rows along axes")
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
