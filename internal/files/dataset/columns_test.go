package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/parquet"
	"github.com/mvclust/mvclust/method/view"
)

// parquet writes a Parquet file.
func (f folder) parquet(name string, columns ...parquet.Column) string {
	f.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, columns...); err != nil {
		f.Fatal(err)
	}
	return f.write(name, b.Bytes())
}

func strs(name string, values ...string) parquet.Column {
	return parquet.Column{Name: name, Data: values}
}

func whole(name string, values ...int64) parquet.Column {
	return parquet.Column{Name: name, Data: values}
}

func reals(name string, values ...float64) parquet.Column {
	return parquet.Column{Name: name, Data: values}
}

// lists is a column of lists of dims numbers, of which those of NaN alone are
// null.
func lists(name string, dims int, values ...float32) parquet.Column {
	return parquet.Column{Name: name, Data: parquet.Lists{Dims: dims, Data: values}}
}

func TestColumnsAreViews(t *testing.T) {
	f := newFolder(t)
	a := f.parquet("a.parquet", strs("caption", "x", "y", "z"), lists("image", 2, 1, 2, nan, nan, 5, 6), strs("id", "u", "v", "w"),
		lists("text", 1, 7, 8, nan), whole("width", 1, 2, 3), whole("label", 0, 1, 0))
	set := f.load(Options{}, a)
	f.shows(set, "a.parquet:image 3 x 2 of 2", "a.parquet:text 3 x 1 of 2")
	if got := strings.Join(set.IDs, " "); got != "u v w" {
		t.Errorf("ids %s", got)
	}
	if want := []string{a + ": not taken for views: caption, width and label"}; !slices.Equal(set.Notes, want) {
		t.Errorf("notes %q", set.Notes)
	}
	for i, want := range []string{"[1 2] [7]", "- [8]", "[5 6] -"} {
		if got := f.sample(set, i); got != want {
			t.Errorf("sample %d: %s, want %s", i, got, want)
		}
	}
	// By name, in any order, and by --views.
	f.shows(f.load(Options{}, a+":text", a+":image"), "a.parquet:text 3 x 1 of 2", "a.parquet:image 3 x 2 of 2")
	f.refuse(Options{Views: []string{"text"}}, []string{a}, `a.parquet:text: row 2 (counted from 0) with the id "w" lacks every view`)
	f.refuse(Options{}, []string{a + ":image", a}, "the view a.parquet:image is named twice")
	f.refuse(Options{}, []string{a + ":txt"}, `a.parquet: holds no column "txt", only caption, image, id, text, width and label; name one of these`)
	f.refuse(Options{}, []string{a + ":width"}, `a.parquet: the column "width" has a single number or text per row, not a list of numbers; leave out its name`)
	// Beside files of other kinds, in the order of the rows.
	f.shows(f.load(Options{}, a, f.npy("b.npy", matrix("", 3, 4))), "a.parquet:image 3 x 2 of 2", "a.parquet:text 3 x 1 of 2", "b.npy 3 x 4")
	f.refuse(Options{}, []string{a, f.npy("c.npy", matrix("", 2, 4))}, "a.parquet:image is 3 x 2", "c.npy is 2 x 4")

	set = f.load(Options{}, "../arrow/testdata/polars.arrow", f.npy("d.npy", matrix("", 12, 2)))
	f.shows(set, "polars.arrow:image 12 x 4 of 9", "polars.arrow:text 12 x 3 of 10", "d.npy 12 x 2")
	set = f.load(Options{}, "../parquet/testdata/duckdb-array.parquet", f.npy("e.npy", matrix("", 12, 2)))
	f.shows(set, "duckdb-array.parquet:image 12 x 4 of 9", "duckdb-array.parquet:text 12 x 3 of 10", "e.npy 12 x 2")
	if notes := strings.Join(set.Notes, "\n"); strings.Count(notes, "duckdb/duckdb#24731") != 2 || !strings.Contains(notes, `duckdb-array.parquet: the column "image" has rows that are null and yet have elements, 3`) {
		t.Errorf("notes %s", notes)
	}
}

// A table without lists is one view, as one of text is.
func TestNumbersAreAView(t *testing.T) {
	f := newFolder(t)
	a := f.parquet("a.parquet", reals("p", 1, 2, 3), strs("kind", "x", "y", "z"), whole("q", 1001, 1002, 1003), whole("label", 0, 1, 0), whole("id", 7, 8, 9))
	set := f.load(Options{}, a)
	f.shows(set, "a.parquet 3 x 2")
	f.isRamp(set.Views[0])
	if got := strings.Join(set.IDs, " "); got != "7 8 9" {
		t.Errorf("ids %s", got)
	}
	if want := []string{a + ": not taken for views: kind and label"}; !slices.Equal(set.Notes, want) {
		t.Errorf("notes %q", set.Notes)
	}
	f.shows(f.load(Options{ID: "kind"}, a), "a.parquet 3 x 2")
	f.refuse(Options{}, []string{f.parquet("b.parquet", strs("kind", "x"), whole("label", 1))}, "b.parquet: holds no column of numbers or of lists of floating-point numbers besides ids and labels, only kind and label; cast one")
	f.refuse(Options{}, []string{f.parquet("c.parquet", reals("p", 1, math.NaN(), 3), reals("q", 1, 2, 3))}, "c.parquet", "row 1 (counted from 0)", "NaN")
	f.refuse(Options{}, []string{f.parquet("d.parquet", reals("p", 1, 1e39, 3))}, `d.parquet: row 1 (counted from 0) of the column "p" is 1e+39, which is beyond`)
}

// Tables are joined by ids, whatever their formats and orders, all columns of one
// alike.
func TestColumnsJoin(t *testing.T) {
	f := newFolder(t)
	a := f.parquet("a.parquet", strs("key", "u", "v", "w"), lists("image", 2, 1, 2, nan, nan, 5, 6), lists("sound", 1, 1, 2, 3))
	b := f.parquet("b.parquet", lists("text", 1, 9, 8, 7), strs("key", "x", "w", "u"))
	c := f.text("c.csv", "key,price", "w,40", "y,50", "u,30")
	set := f.load(Options{ID: "key"}, a, b, c)
	f.shows(set, "a.parquet:image 5 x 2 of 2", "a.parquet:sound 5 x 1 of 3", "b.parquet:text 5 x 1 of 3", "c.csv 5 x 1 of 3")
	if got := strings.Join(set.IDs, " "); got != "u v w x y" {
		t.Errorf("ids %s", got)
	}
	for i, want := range []string{"[1 2] [1] [7] [30]", "- [2] - -", "[5 6] [3] [8] [40]", "- - [9] -", "- - - [50]"} {
		if got := f.sample(set, i); got != want {
			t.Errorf("sample %d: %s, want %s", i, got, want)
		}
	}
	if want := "the ids of 3 tables make 5 samples; a.parquet lacks 2, b.parquet lacks 2 and c.csv lacks 2"; !slices.Contains(set.Notes, want) {
		t.Errorf("notes %q", set.Notes)
	}
	// Columns of one table alone need no joining, so that --index counts its rows.
	index := f.npy("index.npy", entry{"", []int{3, 2}, []int64{1, 1, 0, 1, 1, 0}})
	f.shows(f.load(Options{ID: "key", Index: index}, a), "a.parquet:image 3 x 2 of 2", "a.parquet:sound 3 x 1 of 2")
	f.refuse(Options{ID: "key", Index: index}, []string{a, b}, "--index", "joined by their ids")
	// Whole numbers as ids join with the same in text.
	d := f.parquet("d.parquet", whole("id", 3, 1, 2), lists("image", 1, 3, 1, 2))
	set = f.load(Options{}, d, f.text("e.csv", "id,p", "1,10", "2,20", "3,30"))
	if got := f.sample(set, 0); got != "[3] [30]" {
		t.Error(got)
	}
	f.refuse(Options{}, []string{d, f.text("g.csv", "id,p", "1,10", "2,20", "3,30"), b}, "the rows of b.parquet:text have no ids, and those of d.parquet:image and g.csv have several lists of them")
	// One table with ids lends them to all views.
	f.shows(f.load(Options{}, d, b), "d.parquet:image 3 x 1", "b.parquet:text 3 x 1")
}

func TestBadColumns(t *testing.T) {
	f := newFolder(t)
	emb := lists("emb", 1, 1, 2, 3)
	f.refuse(Options{}, []string{f.parquet("a.parquet", strs("id", "u", "v", "u"), emb)}, `a.parquet: rows 0 and 2 (counted from 0) have the same id "u"; give every sample an id of its own`)
	f.refuse(Options{}, []string{f.parquet("b.parquet", whole("id", 1, 2, 1), emb)}, `b.parquet: rows 0 and 2 (counted from 0) have the same id "1"`)
	f.refuse(Options{}, []string{f.parquet("c.parquet", strs("id", "u", "", "w"), emb)}, "c.parquet: row 1 (counted from 0) has an empty id")
	f.refuse(Options{}, []string{f.parquet("d.parquet", reals("id", 1, math.NaN(), 2), emb)}, "d.parquet: row 1 (counted from 0) has an empty id")
	f.refuse(Options{ID: "key"}, []string{f.parquet("e.parquet", strs("id", "u", "v", "w"), emb)}, "--id key is neither a file nor a column of the tables")
	f.refuse(Options{}, []string{f.parquet("g.parquet", strs("id", "u", "v"), lists("emb", 2, 1, 2, 3, nan))}, `g.parquet:emb: row 1 (counted from 0) with the id "v"`, "NaN")
	f.refuse(Options{}, []string{f.parquet("h.parquet", lists("emb", 2, nan, nan, nan, nan))}, `h.parquet: the column "emb" is null in every row`)
	f.refuse(Options{}, []string{f.parquet("i.parquet", strs("id"), emb1())}, "i.parquet: holds no row; write one row per sample")
	f.refuse(Options{}, []string{f.write("empty.parquet", nil)}, "empty.parquet: is too short for a Parquet file")
	f.refuse(Options{}, []string{f.write("cut.parquet", []byte("PAR1 and more"))}, "cut.parquet: is damaged: it ends without the mark PAR1")
	f.refuse(Options{}, []string{f.write("empty.arrow", nil)}, "empty.arrow: is empty (0 bytes)")
	f.refuse(Options{}, []string{f.write("old.feather", []byte("FEA1...."))}, "old.feather: is a Feather file of version 1")
	for n := 1; n <= 2; n++ {
		set := f.load(Options{}, f.parquet("few.parquet", lists("emb", 2, []float32{1, 2, 3, 4}[:2*n]...)))
		f.shows(set, fmt.Sprintf("few.parquet:emb %d x 2", n))
	}
}

func emb1() parquet.Column { return lists("emb", 1) }

// Classes and ids come from columns too.
func TestLabelsInColumns(t *testing.T) {
	f := newFolder(t)
	a := f.parquet("a.parquet", strs("id", "w", "u", "v"), strs("kind", "x", "y", "x"), whole("label", 4, 2, 4), lists("emb", 1, 1, 2, 3))
	for source, want := range map[string]string{a: "[1 0 1] [2 4] [w u v]", a + ":kind": "[0 1 0] [x y] [w u v]"} {
		truth, err := Labels(t.Context(), source, nil, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(truth.Labels, truth.Names, truth.IDs); got != want {
			t.Errorf("%s: %s, want %s", source, got, want)
		}
	}
	truth, err := Labels(t.Context(), a, []string{"u", "v", "w"}, 3)
	if err != nil || !slices.Equal(truth.Labels, []int{0, 1, 1}) {
		t.Errorf("%v, %v", truth, err)
	}
	_, err = Labels(t.Context(), a+":emb", nil, 3)
	f.mentions(err, `a.parquet: the column "emb" holds lists; name one of single values`)
	if got := strings.Join(f.load(Options{ID: a}, f.npy("b.npy", matrix("", 3, 1))).IDs, " "); got != "w u v" {
		t.Errorf("ids %s", got)
	}
}

// What is written is read as it was.
func TestWriteParquet(t *testing.T) {
	f := newFolder(t)
	v, err := view.New("", 3, 2, []float32{1, 2, nan, nan, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	w, err := view.New("", 3, 1, []float32{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteParquet(&b, []*view.View{v, w}, []int{1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	path := f.write("synth.parquet", b.Bytes())
	set := f.load(Options{}, path)
	f.shows(set, "synth.parquet:view0 3 x 2 of 2", "synth.parquet:view1 3 x 1")
	if got := strings.Join(set.IDs, " "); got != "0 1 2" {
		t.Errorf("ids %s", got)
	}
	truth, err := Labels(t.Context(), path, nil, 3)
	if err != nil || !slices.Equal(truth.Labels, []int{1, 0, 1}) {
		t.Errorf("%v, %v", truth, err)
	}

	// Ids are numbers where all are written as such.
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{nil, "int"}, {[]string{"3", "-1", "20"}, "int"}, {[]string{"3", "007", "1"}, "text"}, {[]string{"3", "+7", "1"}, "text"},
		{[]string{"u", "v", "w"}, "text"}, {[]string{"1", "2", "99999999999999999999"}, "text"},
	} {
		var b, again bytes.Buffer
		for _, out := range []*bytes.Buffer{&b, &again} {
			if err := WriteLabels(out, c.ids, []int{0, 1, 0}, []float64{0.5, 1, 0.25}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%q: the bytes differ from one time to the next", c.ids)
		}
		tab, err := parquet.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		at := tab.Array("id")
		if got := tab.Arrays()[at].Kind.String(); got != c.want || strings.Join(tab.Columns(), " ") != "id label confidence" {
			t.Errorf("%q: ids are of the kind %s, columns %q", c.ids, got, tab.Columns())
		}
		if ids, err := tab.Text(at); err != nil || c.ids != nil && !slices.Equal(ids, c.ids) {
			t.Errorf("%q: ids %q, %v", c.ids, ids, err)
		}
	}
}

// What the reading takes beside the views is told, as far as is known.
func TestScratch(t *testing.T) {
	f := newFolder(t)
	const n, d = 2000, 50
	values := ramp(n, d, 0)
	var ids, back []int64
	for i := range int64(n) {
		ids, back = append(ids, i), append(back, n-1-i)
	}
	a := f.parquet("a.parquet", whole("id", ids...), lists("x", d, values...))
	b := f.parquet("b.parquet", whole("id", back...), lists("z", d, values...))
	for _, c := range []struct {
		sources    []string
		low, above int64
	}{
		{[]string{a}, 4 * n * d, 8 * 4 * n * d},
		{[]string{a, b}, 4 * n * d, 8 * 4 * n * d},
		{[]string{f.npy("c.npy", matrix("", n, d))}, 0, 1},
		{[]string{f.text("d.csv", "id,p", "1,2", "2,3"), f.text("e.csv", "id,p", "2,2", "1,3")}, 8, 9}, // one is held twice for a moment
	} {
		told := int64(-1)
		f.load(Options{Sides: func(_ int, _ []int, scratch int64) error { told = scratch; return nil }}, c.sources...)
		if told < c.low || told >= c.above {
			t.Errorf("%v: %d bytes, not from %d to below %d", c.sources, told, c.low, c.above)
		}
	}
}
