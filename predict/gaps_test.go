package predict

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/view"
)

// New samples have no place among links, and what fills in missing values is kept by the file.
func TestLinksAndFilling(t *testing.T) {
	const samples, dims = 30, 3
	data, pairs := make([]float32, samples*dims), [][2]int(nil)
	for i := range samples {
		for k := range dims {
			data[i*dims+k] = float32(4*(k+i%2*(dims-1-2*k))) + float32((i*7+k*3)%11)/10
		}
		pairs = append(pairs, [2]int{i, (i + 2) % samples}, [2]int{i, (i + 4) % samples})
	}
	data[4] = float32(math.NaN())
	rows, err := mvclust.NewFilledView("rows", samples, dims, data, view.Median)
	if err != nil {
		t.Fatal(err)
	}
	links, err := mvclust.ViewFromLinks(t.Context(), "links", samples, mvclust.Links{Pairs: pairs})
	if err != nil {
		t.Fatal(err)
	}
	model := func(views ...*view.View) *mvclust.Model {
		result, err := mvclust.Fit(t.Context(), views, mvclust.Options{Clusters: 2})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := mvclust.NewModel(views, result, nil).Write(&file); err != nil {
			t.Fatal(err)
		}
		m, err := mvclust.ReadModel(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := model(rows, links)
	if f := m.Views[0].Rows.Filling; f == nil || f.How != view.Median || f.Cells != 1 || m.Views[1].Rows.Links != links.Links || m.Views[0].Rows.Links != 0 {
		t.Errorf("%+v, %+v", m.Views[0].Rows, m.Views[1].Rows.Links)
	}
	p, err := New(t.Context(), m, 1)
	if err != nil {
		t.Fatal(err)
	}
	fresh := &view.View{Name: "new", Samples: 1, Dims: dims, Data: []float32{8.2, 4.1, 0.3}}
	if r, err := p.Predict(t.Context(), []*view.View{fresh, nil}, nil, 1, nil); err != nil || r.Labels[0] != m.Labels[1] {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := p.Predict(t.Context(), []*view.View{fresh, fresh}, nil, 1, nil); err == nil || !strings.Contains(err.Error(), "is of links") {
		t.Error(err)
	}
	alone := model(links)
	if _, _, err := Update(t.Context(), alone, []*view.View{nil}, nil, 1, nil); err == nil || !strings.Contains(err.Error(), "by links alone") {
		t.Error(err)
	}
}
