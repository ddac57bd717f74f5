package view

import (
	"reflect"
	"testing"
)

// TestExcerpt holds that an excerpt has the chosen rows, and that they are copies.
func TestExcerpt(t *testing.T) {
	vs := []*View{
		{Name: "a", Samples: 7, Dims: 2, Data: []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}},
		{Name: "b", Samples: 7, Dims: 1, Data: []float32{0, 1, 2, 3, 4, 5, 6}, Present: []bool{true, true, false, false, true, true, true}},
	}
	got, err := Excerpt(vs, []int{5, 0, 3})
	if err != nil {
		t.Fatal(err)
	}
	for m, v := range got {
		for at, i := range []int{5, 0, 3} {
			if v.Has(at) != vs[m].Has(i) || v.Has(at) && !reflect.DeepEqual(v.Row(at), vs[m].Row(i)) {
				t.Errorf("view %d: row %d is not that of sample %d", m, at, i)
			}
		}
	}
	before := vs[0].Data[10]
	got[0].Data[0]++
	if vs[0].Data[10] != before {
		t.Error("the rows are shared")
	}
	for _, samples := range [][]int{{-1}, {7}} {
		if _, err := Excerpt(vs, samples); err == nil {
			t.Errorf("samples %v are no error", samples)
		}
	}
	if _, err := Excerpt([]*View{nil}, nil); err == nil {
		t.Error("a nil view is no error")
	}
}
