package view_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// checkError compares err with a sentence; an empty one stands for no error.
func checkError(t *testing.T, err error, want string, row int) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("unwanted error: %v", err)
		}
		return
	}
	input, ok := errors.AsType[*view.InputError](err)
	if !ok {
		t.Fatalf("error %v (%T), want an *InputError: %s", err, err, want)
	}
	if input.Error() != want {
		t.Errorf("error\n\t%s, want\n\t%s", input, want)
	}
	if input.Row != row {
		t.Errorf("row %d, want %d", input.Row, row)
	}
}

func TestInputError(t *testing.T) {
	for _, c := range []struct {
		err  view.InputError
		want string
	}{
		{view.InputError{View: "text", Row: 3, Problem: "is odd"}, "text: row 3 (counted from 0) is odd"},
		{view.InputError{View: "text", Row: -1, Problem: "is odd"}, "text: is odd"},
		{view.InputError{Row: 0, Problem: "is odd"}, "row 0 (counted from 0) is odd"},
		{view.InputError{Row: -1, Problem: "it is odd"}, "it is odd"},
	} {
		checkError(t, &c.err, c.want, c.err.Row)
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		name          string
		samples, dims int
		data          []float32
		present       []bool
		row           int
		err           string
	}{
		{"all present", 2, 2, []float32{1, 2, 3, 4}, nil, 0, ""},
		{"no sample", 0, 3, nil, nil, 0, ""},
		{"extremes", 1, 2, []float32{math.MaxFloat32, math.SmallestNonzeroFloat32}, nil, 0, ""},
		{"first missing", 2, 2, []float32{nan, nan, 3, 4}, []bool{false, true}, 0, ""},
		{"last missing", 3, 1, []float32{1, 2, nan}, []bool{true, true, false}, 0, ""},
		{"all missing", 2, 1, []float32{nan, nan}, []bool{false, false}, 0, ""},
		{"too little data", 2, 2, []float32{1, 2, 3}, nil, -1, "v: 3 values do not make 2 rows of 2; pass samples x dims values, and at least one dimension"},
		{"too much data", 2, 2, []float32{1, 2, 3, 4, 5, 6}, nil, -1, "v: 6 values do not make 2 rows of 2; pass samples x dims values, and at least one dimension"},
		{"a value too many", 2, 2, []float32{1, 2, 3, 4, 5}, nil, -1, "v: 5 values do not make 2 rows of 2; pass samples x dims values, and at least one dimension"},
		{"no dimension", 2, 0, nil, nil, -1, "v: 0 values do not make 2 rows of 0; pass samples x dims values, and at least one dimension"},
		{"negative samples", -1, 1, nil, nil, -1, "v: 0 values do not make -1 rows of 1; pass samples x dims values, and at least one dimension"},
		{"negative sides", -2, -2, []float32{1, 2, 3, 4}, nil, -1, "v: 4 values do not make -2 rows of -2; pass samples x dims values, and at least one dimension"},
		{"NaN in part", 3, 3, []float32{1, 2, 3, nan, nan, nan, 7, nan, nan}, nil, 2, "v: row 2 (counted from 0) has 2 NaN among its 3 values; fill them in, or make the whole row NaN to say that the sample lacks this view"},
		{"NaN in part beside an infinity", 1, 2, []float32{nan, inf}, nil, 0, "v: row 0 (counted from 0) has 1 NaN among its 2 values; fill them in, or make the whole row NaN to say that the sample lacks this view"},
		{"infinite", 2, 2, []float32{1, 2, 3, inf}, nil, 1, "v: row 1 (counted from 0) holds +Inf in column 1; replace it by a finite number of at most 3.4e38"},
		{"negative infinite", 2, 1, []float32{nan, -inf}, nil, 1, "v: row 1 (counted from 0) holds -Inf in column 0; replace it by a finite number of at most 3.4e38"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := view.New("v", c.samples, c.dims, c.data)
			checkError(t, err, c.err, c.row)
			if c.err != "" {
				if v != nil {
					t.Error("a view beside the error")
				}
				return
			}
			if v.Name != "v" || v.Samples != c.samples || v.Dims != c.dims || !slices.Equal(v.Present, c.present) || (v.Present == nil) != (c.present == nil) {
				t.Errorf("got %+v", v)
			}
			if err := v.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOverflow passes sides whose product overflows to the length of the data.
func TestOverflow(t *testing.T) {
	v, err := view.New("v", math.MaxInt/2+1, 4, nil)
	if v != nil || err == nil {
		t.Fatal("accepted")
	}
	if err := (&view.View{Samples: math.MaxInt/2 + 1, Dims: 4}).Validate(); err == nil {
		t.Error("valid")
	}
}

func TestFromRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testFromRows[float32](t) })
	t.Run("float64", func(t *testing.T) { testFromRows[float64](t) })
}

func testFromRows[T float32 | float64](t *testing.T) {
	absent, infinite := T(math.NaN()), T(math.Inf(-1))
	for _, c := range []struct {
		name    string
		rows    [][]T
		present []bool
		row     int
		err     string
	}{
		{"all present", [][]T{{1, 2}, {3, 4}}, nil, 0, ""},
		{"nil rows", [][]T{nil, {1, 2}, nil}, []bool{false, true, false}, 0, ""},
		{"a NaN row", [][]T{{1, 2}, {absent, absent}}, []bool{true, false}, 0, ""},
		{"no rows", nil, nil, -1, "v: 0 values do not make 0 rows of 0; pass samples x dims values, and at least one dimension"},
		{"only nil rows", [][]T{nil, nil}, nil, -1, "v: 0 values do not make 2 rows of 0; pass samples x dims values, and at least one dimension"},
		{"empty rows", [][]T{{}, {}}, nil, -1, "v: 0 values do not make 2 rows of 0; pass samples x dims values, and at least one dimension"},
		{"a short row", [][]T{nil, {1, 2}, {3}}, nil, 2, "v: row 2 (counted from 0) has 1 values where the rows before it have 2; give every row the same length, or nil where the sample lacks the view"},
		{"a long row", [][]T{{1, 2}, {3, 4, 5}}, nil, 1, "v: row 1 (counted from 0) has 3 values where the rows before it have 2; give every row the same length, or nil where the sample lacks the view"},
		{"an empty row", [][]T{{1, 2}, {}}, nil, 1, "v: row 1 (counted from 0) has 0 values where the rows before it have 2; give every row the same length, or nil where the sample lacks the view"},
		{"NaN in part", [][]T{{1, absent}}, nil, 0, "v: row 0 (counted from 0) has 1 NaN among its 2 values; fill them in, or make the whole row NaN to say that the sample lacks this view"},
		{"infinite", [][]T{{1, infinite}}, nil, 0, "v: row 0 (counted from 0) holds -Inf in column 1; replace it by a finite number of at most 3.4e38"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := view.FromRows("v", c.rows)
			checkError(t, err, c.err, c.row)
			if c.err != "" {
				if v != nil {
					t.Error("a view beside the error")
				}
				return
			}
			if !slices.Equal(v.Present, c.present) {
				t.Errorf("present %v, want %v", v.Present, c.present)
			}
			for i, r := range c.rows {
				for k, x := range r {
					if v.Has(i) && v.Row(i)[k] != float32(x) {
						t.Errorf("row %d is %v, want %v", i, v.Row(i), r)
					}
				}
			}
		})
	}
}

// TestTooLarge passes a number that float64 can hold and float32 cannot.
func TestTooLarge(t *testing.T) {
	_, err := view.FromRows("v", [][]float64{{1}, {1e39}})
	checkError(t, err, "v: row 1 (counted from 0) holds +Inf in column 0; replace it by a finite number of at most 3.4e38", 1)
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		v    view.View
		row  int
		err  string
	}{
		{"all present", view.View{Samples: 2, Dims: 1, Data: []float32{1, 2}}, 0, ""},
		{"absent rows are not read", view.View{Samples: 3, Dims: 2, Data: []float32{nan, 1, 2, 3, inf, nan}, Present: []bool{false, true, false}}, 0, ""},
		{"zero value", view.View{}, -1, "0 values do not make 0 rows of 0; pass samples x dims values, and at least one dimension"},
		{"sides", view.View{Name: "v", Samples: 2, Dims: 2, Data: []float32{1}}, -1, "v: 1 values do not make 2 rows of 2; pass samples x dims values, and at least one dimension"},
		{"few marks", view.View{Name: "v", Samples: 2, Dims: 1, Data: []float32{1, 2}, Present: []bool{true}}, -1, "v: 1 presence marks for 2 samples; give one per sample, or none"},
		{"no marks", view.View{Name: "v", Samples: 2, Dims: 1, Data: []float32{1, 2}, Present: []bool{}}, -1, "v: 0 presence marks for 2 samples; give one per sample, or none"},
		{"NaN", view.View{Name: "v", Samples: 2, Dims: 2, Data: []float32{1, 2, nan, nan}}, 1, "v: row 1 (counted from 0) holds NaN in column 0; replace it by a finite number of at most 3.4e38"},
		{"infinite", view.View{Name: "v", Samples: 2, Dims: 2, Data: []float32{1, -inf, nan, nan}, Present: []bool{true, true}}, 0, "v: row 0 (counted from 0) holds -Inf in column 1; replace it by a finite number of at most 3.4e38"},
	} {
		t.Run(c.name, func(t *testing.T) { checkError(t, c.v.Validate(), c.err, c.row) })
	}
}

// TestPresence knocks out random rows and asks for them back.
func TestPresence(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n, dims := random.IntN(20), 1+random.IntN(5)
		data, has, count := make([]float32, n*dims), make([]bool, n), 0
		for i := range n {
			has[i] = random.IntN(3) > 0
			if has[i] {
				count++
			}
			for k := range dims {
				data[i*dims+k] = nan
				if has[i] {
					data[i*dims+k] = random.Float32()
				}
			}
		}
		v, err := view.New("v", n, dims, data)
		if err != nil {
			t.Fatal(err)
		}
		if v.Count() != count || (v.Present == nil) != (count == n) {
			t.Fatalf("Count is %d and Present %v, want %d of %d", v.Count(), v.Present, count, n)
		}
		for i := range n {
			if v.Has(i) != has[i] {
				t.Fatalf("Has(%d) is %t", i, v.Has(i))
			}
			row := v.Row(i)
			if len(row) != dims || cap(row) != dims || &row[0] != &data[i*dims] {
				t.Fatalf("row %d is not the %d values from %d on", i, dims, i*dims)
			}
		}
	}
}

// TestOwnership holds that New keeps the data and FromRows copies it.
func TestOwnership(t *testing.T) {
	data := []float32{1, 2}
	kept, err := view.New("v", 2, 1, data)
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]float32{{1}, {2}}
	copied, err := view.FromRows("v", rows)
	if err != nil {
		t.Fatal(err)
	}
	data[1], rows[1][0] = 7, 7
	if kept.Row(1)[0] != 7 || copied.Row(1)[0] != 2 {
		t.Errorf("kept %v, copied %v", kept.Row(1), copied.Row(1))
	}
}

func BenchmarkNew(b *testing.B) {
	const n, dims = 10000, 64
	data := make([]float32, n*dims)
	for i := range data {
		data[i] = float32(i)
	}
	b.ReportAllocs()
	b.SetBytes(4 * n * dims)
	for b.Loop() {
		if _, err := view.New("v", n, dims, data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFromRows(b *testing.B) {
	const n, dims = 10000, 64
	rows := make([][]float64, n)
	for i := range rows {
		if i%10 > 0 {
			rows[i] = make([]float64, dims)
		}
	}
	b.ReportAllocs()
	b.SetBytes(8 * n * dims)
	for b.Loop() {
		if _, err := view.FromRows("v", rows); err != nil {
			b.Fatal(err)
		}
	}
}
