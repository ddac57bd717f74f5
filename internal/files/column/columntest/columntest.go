// Package columntest checks, for the tests of the readers of columns, the table that
// all their fixtures hold.
package columntest

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/mvclust/mvclust/internal/files/column"
)

// rows is the number of rows of the fixtures.
const rows = 12

// Check checks a table that a fixture should hold: see testdata/make.js of package
// parquet.
func Check(t *testing.T, tab *column.Table) {
	t.Helper()
	if tab.ID() != "id" || !slices.Equal(tab.Embeddings(), []string{"image", "text"}) {
		t.Errorf("the ids are %q and the lists %q", tab.ID(), tab.Embeddings())
	}
	for name, of := range map[string]func(i int) string{
		"id":    func(i int) string { return "s" + strconv.Itoa(i) },
		"num":   func(i int) string { return strconv.Itoa(10 * i) },
		"price": func(i int) string { return strconv.FormatFloat(float64(i)/2, 'g', -1, 64) },
		"label": func(i int) string { return "abc"[i%3:][:1] },
	} {
		got, err := tab.Text(tab.Array(name))
		if err != nil || len(got) != rows {
			t.Errorf("%s: %q, %v", name, got, err)
			continue
		}
		for i, s := range got {
			if s != of(i) {
				t.Errorf("%s, row %d: %q, want %q", name, i, s, of(i))
			}
		}
	}
	matrix, cols, err := tab.Matrix()
	if err != nil || cols != 2 || len(matrix) != 2*rows || matrix[2*7] != 70 || matrix[2*7+1] != 3.5 {
		t.Errorf("the matrix of numbers is %v, %d columns, %v", matrix, cols, err)
	}
	lists(t, tab, "image", 4, 4, 2, func(i, k int) float32 { return float32(i) + float32(k)/8 })
	lists(t, tab, "text", 3, 5, 3, func(i, k int) float32 { return -float32(i) - float32(k)/4 })
}

// lists checks a column of lists, null where i mod m is r.
func lists(t *testing.T, tab *column.Table, name string, dims, m, r int, of func(i, k int) float32) {
	t.Helper()
	at := tab.Array(name)
	if d, err := tab.Dims(at); d != dims || err != nil {
		t.Errorf("%s: %d dimensions, %v; want %d", name, d, err, dims)
		return
	}
	got, err := tab.Float32(at)
	if err != nil || len(got) != rows*dims {
		t.Errorf("%s: %d values, %v", name, len(got), err)
		return
	}
	for i := range rows {
		for k, x := range got[i*dims:][:dims] {
			if missing := x != x; missing != (i%m == r) || !missing && x != of(i, k) {
				t.Errorf("%s, row %d: %v", name, i, got[i*dims:][:dims])
				break
			}
		}
	}
	if shape := fmt.Sprint(tab.Arrays()[at].Shape); shape != fmt.Sprint([]int{rows, dims}) {
		t.Errorf("%s: its shape is %s", name, shape)
	}
}
