package view

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNewFilled(t *testing.T) {
	nan := float32(math.NaN())
	rows := func() []float32 {
		return []float32{1, 10, nan, nan, nan, 30, 3, nan, 8, 20} // the second row is missing
	}
	for _, c := range []struct {
		how    Fill
		values []float32
	}{
		{Mean, []float32{4, 20}},
		{Median, []float32{3, 20}},
		{Zero, []float32{0, 0}},
	} {
		v, err := NewFilled("tab", 5, 2, rows(), c.how)
		if err != nil {
			t.Fatal(err)
		}
		if f := v.Filling; f.How != c.how || !slices.Equal(f.Values, c.values) || f.Cells != 2 {
			t.Errorf("%v: %+v", c.how, f)
		}
		if v.Has(1) || v.Count() != 4 || v.Row(2)[0] != c.values[0] || v.Row(3)[1] != c.values[1] || v.Row(3)[0] != 3 {
			t.Errorf("%v: %v", c.how, v.Data)
		}
		// The same values for rows that come later.
		later, err := WithGaps("new", 2, 2, []float32{nan, 7, 1, 2})
		if err != nil || later.CheckGaps() == nil {
			t.Fatal(err)
		}
		if err := v.Filling.Apply(later); err != nil || later.Row(0)[0] != c.values[0] || later.Filling.Cells != 1 || v.Filling.Cells != 2 {
			t.Errorf("%v: %v, %v", c.how, later, err)
		}
	}
	if _, err := NewFilled("tab", 5, 2, rows(), NoFill); err == nil || !strings.Contains(err.Error(), "row 2 (counted from 0) has 1 NaN") {
		t.Error(err)
	}
}

func TestNewFilledRefused(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		data []float32
		how  Fill
		want string
	}{
		{[]float32{1, nan, 2, nan}, Mean, "column 1 has no value in any row, and so no mean"},
		{[]float32{1, nan, 2, inf}, Zero, "holds +Inf in column 1"},
		{[]float32{1, nan, 2}, Mean, "3 values do not make 2 rows of 2"},
		{[]float32{1, nan, 2, 3}, 9, "fill"},
	} {
		if _, err := NewFilled("tab", 2, 2, c.data, c.how); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.data, err)
		}
	}
	v, err := New("tab", 1, 2, []float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Filling{nil, {}, {How: Mean}, {How: Zero, Values: []float32{0, inf}}, {How: Zero, Values: []float32{0, 0}, Cells: -1}} {
		if f.Apply(v) == nil {
			t.Errorf("%+v fills in", f)
		}
	}
	var fill Fill
	if err := errors.Join(fill.UnmarshalText([]byte("median")), v.CheckGaps()); err != nil || fill != Median {
		t.Error(fill, err)
	}
	if _, err := ParseFill("max"); err == nil {
		t.Error("max fills in")
	}
}
