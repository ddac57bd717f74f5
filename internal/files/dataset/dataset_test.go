package dataset

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

// isRamp checks that row i of the view is row i of ramp.
func (f folder) isRamp(v *view.View) {
	f.Helper()
	if !slices.Equal(v.Data, ramp(v.Samples, v.Dims, 0)) {
		f.Errorf("%s holds %v", v.Name, v.Data)
	}
}

func TestViewsOfAFile(t *testing.T) {
	m := func(name string) entry { return matrix(name, 4, 2+len(name)%2) }
	cells := func(name string, n int) entry {
		return entry{name, nil, slices.Repeat([]entry{matrix("", 4, 3)}, n)}
	}
	for _, c := range []struct {
		name, array string
		arrays      []entry
		want, note  string
	}{
		{"numbered", "", []entry{labels(0, 1, 0, 1), m("view10"), m("view2"), m("view0")}, "view0 view2 view10", "not taken for views: labels"},
		{"X", "", []entry{m("X1"), m("X2"), ints("Y", 1, 1, 2, 2), m("W"), ints("n", 3)}, "X1 X2", "not taken for views: Y, W and n"},
		{"V", "", []entry{m("V3"), m("V1")}, "V1 V3", ""},
		{"x", "", []entry{m("x1"), m("x0")}, "x0 x1", ""},
		{"underscore", "", []entry{m("view_1"), m("view_0"), m("truth")}, "view_0 view_1", "not taken for views: truth"},
		{"savez", "", []entry{m("arr_0"), m("arr_1")}, "arr_0 arr_1", ""},
		{"one of a series", "", []entry{m("X1"), m("W")}, "X1", "not taken for views: W"},
		{"only matrix", "", []entry{ints("gnd", 1, 1, 2, 2), m("fea"), ints("k", 2)}, "fea", "not taken for views: gnd and k"},
		{"numbered settings", "", []entry{ints("x1", 3), ints("x2", 4), m("fea")}, "fea", "not taken for views: x1 and x2"},
		{"numbered settings and views", "", []entry{ints("v1", 3), m("X1"), ints("v2", 4)}, "X1", "not taken for views: v1 and v2"},
		{"numbered vectors", "", []entry{ints("x1", 1, 2), ints("x2", 3, 4)}, "x1 x2", ""},
		{"only vector", "", []entry{ints("fea", 1, 1, 2, 2)}, "fea", ""},
		{"cells X", "", []entry{cells("X", 3), ints("Y", 1, 1, 2, 2), m("A")}, "X{1} X{2} X{3}", "not taken for views: Y and A"},
		{"cells data", "", []entry{cells("truelabel", 2), cells("data", 2), cells("index", 2)}, "data{1} data{2}", "not taken for views: truelabel and index"},
		{"other cells", "", []entry{cells("things", 2), ints("Y", 1, 1, 2, 2)}, "things{1} things{2}", "not taken for views: Y"},
		{"many cells", "", []entry{cells("X", 11)}, "X{1} X{2} X{3} X{4} X{5} X{6} X{7} X{8} X{9} X{10} X{11}", ""},
		{"named", "W", []entry{m("X1"), m("X2"), m("W")}, "W", ""},
		{"named labels", "Y", []entry{m("X1"), ints("Y", 1, 1, 2, 2)}, "Y", ""},
		{"named cells", "A", []entry{cells("A", 2), cells("X", 2)}, "A{1} A{2}", ""},
		{"named cell", "A{2}", []entry{cells("A", 2), cells("X", 2)}, "A{2}", ""},
		{"text", "", []entry{m("X1"), {"names", nil, []string{"a", "b", "c", "d"}}}, "X1", "not taken for views: names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			source := f.mat("a.mat", c.arrays...)
			if c.array != "" {
				source += ":" + c.array
			}
			set := f.load(Options{}, source)
			var got []string
			for _, v := range set.Views {
				got = append(got, strings.TrimPrefix(v.Name, "a.mat:"))
				f.isRampOrInts(v)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("views %s, want %s", s, c.want)
			}
			if !strings.Contains(strings.Join(set.Notes, "\n"), c.note) || c.note == "" && strings.Contains(strings.Join(set.Notes, "\n"), "not taken") {
				t.Errorf("notes %q, want %q", set.Notes, c.note)
			}
		})
	}
}

func (f folder) isRampOrInts(v *view.View) {
	f.Helper()
	if v.Dims > 1 {
		f.isRamp(v)
	}
}

func TestViewsNotFound(t *testing.T) {
	cells := func(name string, of ...entry) entry { return entry{name, nil, of} }
	m := func(name string) entry { return matrix(name, 4, 2) }
	for _, c := range []struct {
		name, array string
		arrays      []entry
		words       []string
	}{
		{"several matrices", "", []entry{m("A"), m("B"), ints("Y", 1)}, []string{"a.mat: holds several arrays that could be views: A and B; ", "FILE:NAME"}},
		{"two series", "", []entry{m("X1"), m("X2"), m("V1")}, []string{"X... and V...;", "FILE:NAME"}},
		{"series and cells", "", []entry{m("X1"), cells("data", m(""))}, []string{"X... and data;", "FILE:NAME"}},
		{"several cell arrays", "", []entry{cells("A", m("")), cells("B", m(""))}, []string{"A and B;", "FILE:NAME"}},
		{"labels only", "", []entry{ints("Y", 1, 2), ints("gnd", 1, 2)}, []string{"holds no matrix", "only Y and gnd", "FILE:NAME"}},
		{"labels alone", "", []entry{{"Y", nil, []string{"a", "b"}}}, []string{"Y holds text where numbers are needed"}},
		{"name", "Q", []entry{m("X1"), cells("A", m(""), m(""))}, []string{`holds no array "Q", only X1 and A; name`}},
		{"cell", "A{3}", []entry{m("X1"), cells("A", m(""), m(""))}, []string{`holds no array "A{3}", only X1 and A; name`}},
		{"text", "names", []entry{m("X1"), {"names", nil, []string{"a", "b"}}}, []string{"a.mat: names holds text"}},
		{"empty", "", []entry{m("X1"), {"X2", []int{4, 0}, []float32{}}}, []string{"a.mat: X2 is empty, 4 x 0; give"}},
		{"no samples", "", []entry{{"X1", []int{0, 3}, []float32{}}}, []string{"X1 is empty, 0 x 3; give"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			source := f.mat("a.mat", c.arrays...)
			if c.array != "" {
				source += ":" + c.array
			}
			f.refuse(Options{}, []string{source}, c.words...)
		})
	}
	f := newFolder(t)
	f.refuse(Options{}, []string{f.npy("v.npy", entry{"", []int{4}, []float32{1, 2, 3, 4}})}, "v.npy: the array has the shape [4]", "samples x 1")
	f.refuse(Options{}, []string{f.npy("t.npy", entry{"", []int{2, 2, 1}, []float32{1, 2, 3, 4}})}, "t.npy: the array has 3 sides, [2 2 1]; reshape")
	f.refuse(Options{}, []string{f.npy("s.npy", entry{"", nil, []float32{1}})}, "s.npy: the array has the shape []")
	f.refuse(Options{}, []string{f.npy("e.npy", entry{"", []int{0, 2}, []float32{}})}, "e.npy: the array is empty, 0 x 2")
	f.refuse(Options{}, []string{f.npy("m.npy", matrix("", 4, 2)) + ":X"}, `m.npy: holds a single array, without a name; leave out ":X"`)
	f.refuse(Options{}, []string{f.text("c.csv", "1,2", "3,4") + ":X"}, `c.csv: a table is one view`, `leave out ":X"`)
	f.refuse(Options{}, []string{f.text("n.csv", "id,label", "a,1")}, `n.csv: holds no column of numbers besides ids and labels`)
	many := make([]entry, 40)
	for i := range many {
		many[i] = m(fmt.Sprintf("A%02d", i))
	}
	f.refuse(Options{}, []string{f.mat("many.mat", many...)}, "A00, A01", "A11 and 28 more;")
}

func TestSameViewTwice(t *testing.T) {
	f := newFolder(t)
	a, b := f.npz("a.npz", matrix("view0", 4, 2), matrix("view1", 4, 3)), f.npy("b.npy", matrix("", 4, 2))
	c := f.text("c.csv", "1,2", "3,4", "5,6", "7,8")
	f.refuse(Options{}, []string{a, a}, "the view a.npz:view0 is named twice")
	f.refuse(Options{}, []string{a, a + ":view1"}, "a.npz:view1", "the view a.npz:view1 is named twice")
	f.refuse(Options{}, []string{b, f.dir + "/./b.npy"}, "/./b.npy: the view b.npy is named twice")
	f.refuse(Options{}, []string{c, c}, "the view c.csv is named twice")
	f.shows(f.load(Options{}, a+":view1", b, a+":view0"), "a.npz:view1 4 x 3", "b.npy 4 x 2", "a.npz:view0 4 x 2")
}

func TestSameBaseName(t *testing.T) {
	f := newFolder(t)
	a, b := f.npz("p/a.npz", matrix("view0", 4, 2)), f.npz("q/a.npz", matrix("view0", 4, 3))
	f.shows(f.load(Options{}, a, b), a+":view0 4 x 2", b+":view0 4 x 3")
}

func TestChooseViews(t *testing.T) {
	f := newFolder(t)
	a := f.npz("a.npz", matrix("view0", 4, 1), matrix("view1", 4, 2), matrix("view2", 4, 3))
	b := f.npz("b.npz", matrix("view0", 4, 5))
	c := f.npy("c.npy", matrix("", 4, 6))
	sources := []string{a, b, c}
	for _, k := range []struct{ views, want string }{
		{"", "[1 2 3 5 6]"},
		{"4 0", "[6 1]"},
		{"view1 2", "[2 3]"},
		{"b.npz:view0", "[5]"},
		{"c.npy view2", "[6 3]"},
		{"b.npz 0", "[5 1]"},
	} {
		var dims []int
		for _, v := range f.load(Options{Views: strings.Fields(k.views)}, sources...).Views {
			dims = append(dims, v.Dims)
			f.isRamp(v)
		}
		if got := fmt.Sprint(dims); got != k.want {
			t.Errorf("%q gives %s, want %s", k.views, got, k.want)
		}
	}
	f.refuse(Options{Views: []string{"5"}}, sources, `--views: there is no view "5"; choose among 0 (a.npz:view0), 1 (a.npz:view1), 2 (a.npz:view2), 3 (b.npz:view0) and 4 (c.npy)`)
	f.refuse(Options{Views: []string{"-1"}}, sources, `there is no view "-1"`)
	f.refuse(Options{Views: []string{"q"}}, sources, `there is no view "q"`)
	f.refuse(Options{Views: []string{"view0"}}, sources, `"view0" stands for more than one of`, "choose by number")
	f.refuse(Options{Views: []string{"1", "0", "view1"}}, sources, "a.npz:view1 is chosen twice")
}

func TestChosenViewsNeedNotFitOthers(t *testing.T) {
	f := newFolder(t)
	a := f.npz("a.npz", matrix("view0", 4, 2), matrix("view1", 5, 3))
	f.refuse(Options{}, []string{a}, "no side in common", "a.npz:view0 is 4 x 2 and a.npz:view1 is 5 x 3;")
	f.shows(f.load(Options{Views: []string{"1"}}, a), "a.npz:view1 5 x 3")
}

func TestOrientation(t *testing.T) {
	// A made file, and the views as "samples x dims". In all of them sample i has
	// value(i, k) if the samples are where they should be.
	turned := func(name string, samples, dims int) entry {
		return entry{name, []int{dims, samples}, flip(ramp(samples, dims, 0), samples, dims)}
	}
	m := matrix
	y := func(n int) entry { return ints("Y", make([]int64, n)...) }
	cells := func(of ...entry) entry { return entry{"data", nil, of} }
	type files func(f folder) []string
	npz := func(a ...entry) files { return func(f folder) []string { return []string{f.npz("a.npz", a...)} } }
	mat := func(a ...entry) files { return func(f folder) []string { return []string{f.mat("a.mat", a...)} } }
	csv := func(lines ...string) files {
		return func(f folder) []string { return []string{f.text("a.csv", lines...)} }
	}
	both := func(a, b files) files { return func(f folder) []string { return append(a(f), b(f)...) } }
	for _, c := range []struct {
		name  string
		files files
		views []string // chosen
		want  string
		note  string
	}{
		{"one npy is rows", npz(m("a", 3, 5)), nil, "3 x 5", ""},
		{"npz rows", npz(m("view0", 6, 3), m("view1", 6, 4)), nil, "6 x 3, 6 x 4", ""},
		{"npz rows of the same shape", npz(m("view0", 3, 4), m("view1", 3, 4)), nil, "3 x 4, 3 x 4", ""},
		{"npz columns", npz(turned("view0", 6, 3), turned("view1", 6, 4), labels(1, 2, 3, 1, 2, 3)), nil, "6 x 3, 6 x 4", "the columns, and not the rows, are taken for the samples, 6 in number, in a.npz:view0 and a.npz:view1"},
		{"npz mixture", npz(m("view0", 6, 3), turned("view1", 6, 4), labels(1, 2, 3, 1, 2, 3)), nil, "6 x 3, 6 x 4", "number, in a.npz:view1"},
		{"npz labels beat rows", npz(turned("view0", 6, 3), turned("view1", 6, 3), labels(1, 2, 3, 1, 2, 3)), nil, "6 x 3, 6 x 3", "columns"},
		{"npz rows disagree", npz(turned("view0", 4, 3), m("view1", 4, 3), labels(1, 2, 1, 2)), nil, "4 x 3, 4 x 3", "number, in a.npz:view0"},
		{"npz rows beat the other views", npz(m("view0", 6, 3), m("view1", 5, 3)), []string{"0"}, "6 x 3", ""},
		{"mat rows", mat(m("X1", 6, 3), m("X2", 6, 4)), nil, "6 x 3, 6 x 4", ""},
		{"mat columns", mat(turned("X1", 6, 3), turned("X2", 6, 4)), nil, "6 x 3, 6 x 4", "columns"},
		{"mat mixture", mat(turned("X1", 6, 3), m("X2", 6, 4)), nil, "6 x 3, 6 x 4", "number, in a.mat:X1"},
		{"mat labels say columns", mat(cells(turned("", 6, 3), turned("", 6, 3)), y(6)), nil, "6 x 3, 6 x 3", "samples, 6 in number, in a.mat:data{1} and a.mat:data{2}"},
		{"mat labels say rows", mat(cells(m("", 3, 6), m("", 3, 6)), y(3)), nil, "3 x 6, 3 x 6", ""},
		{"mat labels in a row", mat(m("fea", 3, 6), entry{"gnd", []int{1, 3}, []int64{1, 1, 2}}), nil, "3 x 6", ""},
		{"mat labels of a cell array", mat(cells(m("", 3, 6)), entry{"truelabel", nil, []entry{y(3), y(3)}}), nil, "3 x 6", ""},
		{"mat labels as text", mat(m("fea", 3, 6), entry{"label", nil, []string{"a", "b", "b"}}), nil, "3 x 6", ""},
		{"mat labels as indicators", mat(m("fea", 3, 6), entry{"Y", []int{3, 2}, []int64{1, 1, 0, 0, 0, 1}}), nil, "3 x 6", ""},
		{"mat presence", mat(cells(m("", 3, 6), m("", 3, 6)), entry{"MissingStatus", []int{3, 2}, []int64{1, 1, 1, 0, 0, 1}}), nil, "3 x 6, 3 x 6", ""},
		{"mat longer side", mat(cells(turned("", 6, 3), turned("", 6, 3))), nil, "6 x 3, 6 x 3", "both sides of a.mat:data{1} and a.mat:data{2} could be the samples, and the longer one, 6, is taken"},
		{"mat one view", mat(m("fea", 6, 3)), nil, "6 x 3", "longer"},
		{"useless labels", mat(m("fea", 6, 3), y(4)), nil, "6 x 3", "longer"},
		{"the other views", mat(m("X1", 3, 6), m("X2", 3, 5)), []string{"0"}, "3 x 6", ""},
		{"npy decides for mat", both(npz(m("a", 3, 6)), mat(m("fea", 3, 6))), nil, "3 x 6, 3 x 6", ""},
		{"csv rows", csv("1,1001", "2,1002", "3,1003"), nil, "3 x 2", ""},
		{"header confirms rows", both(csv("p,q", "1,1001", "2,1002", "3,1003"), npz(turned("a", 3, 5))), nil, "3 x 2, 3 x 5", "number, in a.npz:a"},
		{"square follows its file", mat(turned("X1", 3, 5), turned("X2", 3, 3)), nil, "3 x 5, 3 x 3", "number, in a.mat:X1 and a.mat:X2"},
		{"square before its guide", mat(turned("X1", 3, 3), turned("X2", 3, 5)), nil, "3 x 3, 3 x 5", "number, in a.mat:X1 and a.mat:X2"},
		{"square rows", mat(m("X1", 3, 5), m("X2", 3, 3)), nil, "3 x 5, 3 x 3", ""},
		{"square in another file", both(npz(m("a", 3, 3)), mat(turned("fea", 3, 5))), nil, "3 x 3, 3 x 5", "number, in a.mat:fea"},
		{"one sample", npz(m("view0", 1, 3), m("view1", 1, 4)), nil, "1 x 3, 1 x 4", ""},
		{"one dimension", npz(m("view0", 5, 1)), nil, "5 x 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			set := f.load(Options{Views: c.views}, c.files(f)...)
			var got []string
			for _, v := range set.Views {
				got = append(got, fmt.Sprintf("%d x %d", v.Samples, v.Dims))
				f.isRamp(v)
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("views %s, want %s", s, c.want)
			}
			notes := slices.DeleteFunc(set.Notes, func(n string) bool { return strings.Contains(n, "not taken") })
			if c.note == "" && len(notes) > 0 || !strings.Contains(strings.Join(notes, "\n"), c.note) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
		})
	}
}

func TestNoCommonSide(t *testing.T) {
	f := newFolder(t)
	a, b := f.npy("a.npy", matrix("", 4, 2)), f.mat("b.mat", matrix("fea", 5, 3))
	f.refuse(Options{}, []string{a, b}, "no side in common", "a.npy is 4 x 2 and b.mat:fea is 5 x 3", "tables with ids")
	// Columns under a header are not samples, even where they are as many.
	c, d := f.text("c.csv", "p,q", "1,2", "3,4", "5,6"), f.text("d.csv", "p,q", "1,2", "3,4")
	f.refuse(Options{}, []string{c, d}, "c.csv is 3 x 2 and d.csv is 2 x 2")
}

// Where only dimensions agree in number, nothing is taken for samples, unless
// their number is known from elsewhere.
func TestColumnsNeedConfirmation(t *testing.T) {
	f := newFolder(t)
	a, b := f.npy("a.npy", matrix("", 40, 3)), f.npy("b.npy", matrix("", 39, 3))
	f.refuse(Options{}, []string{a, b}, "samples are rows", "a.npy is 40 x 3 and b.npy is 39 x 3; give views of the same samples, or transpose")
	f.refuse(Options{}, []string{f.npz("c.npz", matrix("view0", 40, 3), matrix("view1", 39, 3))}, "c.npz:view0 is 40 x 3 and c.npz:view1 is 39 x 3;")
	f.refuse(Options{}, []string{a, f.text("d.csv", "1,2,3", "4,5,6")}, "a.npy is 40 x 3 and d.csv is 2 x 3;")
	f.refuse(Options{}, []string{a, f.mat("e.mat", matrix("fea", 50, 3))}, "a.npy is 40 x 3 and e.mat:fea is 50 x 3;")
	f.refuse(Options{}, []string{f.npy("g.npy", matrix("", 3, 4)), f.npy("h.npy", matrix("", 4, 3))}, "g.npy is 3 x 4 and h.npy is 4 x 3;")
	f.refuse(Options{Index: f.mat("few.mat", entry{"index", nil, []entry{ints("", 1, 2), ints("", 1)}})}, []string{a, b}, "a.npy is 40 x 3")

	want := []string{"a.npy 3 x 40", "b.npy 3 x 39"}
	f.shows(f.load(Options{ID: f.text("ids.csv", "u", "v", "w")}, a, b), want...)
	f.shows(f.load(Options{Index: f.npy("marks.npy", entry{"", []int{3, 2}, []int64{1, 1, 1, 1, 1, 1}})}, a, b), want...)
	f.shows(f.load(Options{Index: f.mat("lists.mat", entry{"index", nil, []entry{ints("", 1, 2, 3), ints("", 1, 2, 3)}})}, a, b), want...)
	f.shows(f.load(Options{}, a, f.npz("i.npz", matrix("view0", 39, 3), labels(1, 1, 2))), "a.npy 3 x 40", "i.npz:view0 3 x 39")
	f.shows(f.load(Options{Views: []string{"1"}}, a, b), "b.npy 39 x 3")
}

// TestStorageDoesNotMatter stores random views in every way that there is.
func TestStorageDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		f := newFolder(t)
		n := 2 + r.IntN(90)
		var sources []string
		var want [][]float32
		for k := range 2 + r.IntN(3) {
			d := 100*(k+1) + r.IntN(50) // so that n alone is common
			rows := make([]float32, n*d)
			for i := range rows {
				rows[i] = r.Float32()
			}
			want = append(want, rows)
			a := entry{"a", []int{n, d}, rows}
			if r.IntN(2) == 0 {
				a = entry{"a", []int{d, n}, flip(rows, n, d)}
			}
			name := fmt.Sprint(k)
			switch r.IntN(3) {
			case 0:
				sources = append(sources, f.npy(name, a))
			case 1:
				sources = append(sources, f.npz(name, a))
			default:
				sources = append(sources, f.mat(name, a))
			}
		}
		ids := make([]int64, n)
		for i := range ids {
			ids[i] = int64(i)
		}
		set := f.load(Options{ID: f.npy("ids", ints("", ids...))}, sources...)
		for k, v := range set.Views {
			if v.Samples != n || !slices.Equal(v.Data, want[k]) {
				t.Fatalf("round %d: view %d of %q differs", round, k, set.short())
			}
		}
	}
}

func TestMissingAndBadValues(t *testing.T) {
	f := newFolder(t)
	inf := float32(math.Inf(1))
	rows := func(values ...float32) entry { return entry{"", []int{len(values) / 2, 2}, values} }
	full := f.npy("full.npy", matrix("", 3, 5))
	set := f.load(Options{}, full, f.npy("some.npy", rows(1, 2, nan, nan, 5, 6)), f.text("some.csv", "p,q", "1,2", "3,4", "NaN,"))
	f.shows(set, "full.npy 3 x 5", "some.npy 3 x 2 of 2", "some.csv 3 x 2 of 2")
	if set.Views[1].Has(1) || set.Views[2].Has(2) {
		t.Error("the wrong sample is missing")
	}
	for _, c := range []struct {
		source string
		view   string
		row    int
		words  []string
	}{
		{f.npy("part.npy", rows(1, 2, nan, 4, 5, 6)), "part.npy", 1, []string{"part.npy: row 1 (counted from 0) has 1 NaN"}},
		{f.npy("inf.npy", rows(1, 2, 3, 4, 5, inf)), "inf.npy", 2, []string{"inf.npy: row 2 (counted from 0) holds +Inf in column 1"}},
		{f.npz("part.npz", entry{"view0", []int{3, 2}, []float32{1, 2, nan, 4, 5, 6}}), "part.npz:view0", 1, []string{"part.npz:view0: row 1"}},
		{f.mat("part.mat", entry{"data", nil, []entry{{"", []int{2, 3}, []float32{1, 2, nan, 4, 5, 6}}}}), "part.mat:data{1}", 2, []string{"part.mat:data{1}: row 2", "rows are here the columns of the file"}},
		{f.text("part.csv", "1,2", "3,", "5,6"), "part.csv", 1, []string{"part.csv: row 1"}},
		{f.text("ids.csv", "id,p,q", "a,1,2", "b,3,", "c,5,6"), "ids.csv", 1, []string{`ids.csv: row 1 (counted from 0) with the id "b" has 1 NaN`}},
	} {
		err := f.refusal(Options{}, []string{full, c.source})
		f.mentions(err, c.words...)
		bad, ok := errors.AsType[*view.InputError](err)
		if !ok || bad.View != c.view || bad.Row != c.row {
			t.Errorf("%v is %#v", err, bad)
		}
	}
	f.refuse(Options{}, []string{f.text("words.csv", "p,q", "1,2", "3,x", "5,6")}, `words.csv: line 3, column "q": "x" is not a number`)
	f.refuse(Options{}, []string{f.mat("big.mat", entry{"X1", []int{1, 2}, []int64{1, 2}}, entry{"names", nil, []string{"a"}}) + ":names"}, "names holds text")

	err := f.refusal(Options{}, []string{f.npy("g.npy", rows(1, 2, nan, nan, 5, 6)), f.npy("h.npy", rows(1, 2, nan, nan, 5, 6))})
	if bad, ok := errors.AsType[*view.InputError](err); !ok || bad.Row != 1 || bad.View != "g.npy" {
		t.Errorf("%v is %#v", err, bad)
	}
	f.mentions(err, "g.npy: row 1 (counted from 0) lacks every view; remove the sample, or give it at least one")
	i := f.text("i.csv", "id,p", "a,1", "b,", "c,3")
	f.refuse(Options{}, []string{i}, `i.csv: row 1 (counted from 0) with the id "b" lacks every view`)
	// Where ids join tables, the row is that of the first one with this id.
	j := f.text("j.csv", "id,q", "c,1", "z,", "a,2", "b,3")
	f.refuse(Options{}, []string{i, j}, `j.csv: row 1 (counted from 0) with the id "z" lacks every view`)
	f.refuse(Options{}, []string{f.mat("k.mat", entry{"X1", []int{2, 3}, []float32{1, nan, 3, 4, nan, 6}})}, "k.mat:X1: row 1 (counted from 0) lacks every view", "rows are here the columns")
}

func TestNumbersOfAnyKind(t *testing.T) {
	f := newFolder(t)
	set := f.load(Options{}, f.npy("i.npy", entry{"", []int{2, 2}, []int64{1, -2, 3, 1 << 40}}), f.text("c.csv", "1,2.5", "-3,4e2"))
	if got := fmt.Sprint(set.Views[0].Data, set.Views[1].Data); got != "[1 -2 3 1.0995116e+12] [1 2.5 -3 400]" {
		t.Error(got)
	}
}

func TestTableColumns(t *testing.T) {
	f := newFolder(t)
	for _, c := range []struct {
		lines []string
		want  string
		note  string
	}{
		{[]string{"p,q", "1,2", "3,4"}, "[1 2 3 4]", ""},
		{[]string{"p,label,q", "1,7,2", "3,8,4"}, "[1 2 3 4]", "not taken for views: label"},
		{[]string{"p,kind,q,class", "1,u,2,5", "3,v,4,6"}, "[1 2 3 4]", "not taken for views: kind and class"},
		{[]string{"p,q,y", "1,2,0", "3,4,1"}, "[1 2 3 4]", "not taken for views: y"},
		{[]string{"x,y", "1,2", "3,4"}, "[1 2 3 4]", ""},
		{[]string{"ID,p,q", "7,1,2", "8,3,4"}, "[1 2 3 4]", ""},
	} {
		set := f.load(Options{}, f.text("a.csv", c.lines...))
		if got := fmt.Sprint(set.Views[0].Data); got != c.want {
			t.Errorf("%q: %s", c.lines, got)
		}
		if got := strings.Join(set.Notes, "\n"); !strings.HasSuffix(got, c.note) || c.note == "" && got != "" {
			t.Errorf("%q: notes %q", c.lines, got)
		}
	}
}
