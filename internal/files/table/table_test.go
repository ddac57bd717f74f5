package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
)

var nan = float32(math.NaN())

// mustNew returns the table of s, separated by commas.
func mustNew(t testing.TB, s string) *Table {
	t.Helper()
	tab, err := New(strings.NewReader(s), ',')
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// wantError checks that err says want.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
}

// equal compares numbers of which some are NaN.
func equal(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return x == y || x != x && y != y })
}

func TestMatrix(t *testing.T) {
	for _, c := range []struct {
		name, in string
		columns  string // their names, separated by spaces
		cols     int
		want     []float32
	}{
		{"numbers", "1,2\n3,4\n", "col0 col1", 2, []float32{1, 2, 3, 4}},
		{"no last newline", "1,2\n3,4", "col0 col1", 2, []float32{1, 2, 3, 4}},
		{"newlines at the end", "1,2\n3,4\n\n\r\n\n", "col0 col1", 2, []float32{1, 2, 3, 4}},
		{"carriage returns", "a,b\r\n1,2\r\n3,4\r\n", "a b", 2, []float32{1, 2, 3, 4}},
		{"mark of UTF-8", "\xef\xbb\xbf1,2\n3,4\n", "col0 col1", 2, []float32{1, 2, 3, 4}},
		{"mark and quotes", "\xef\xbb\xbf\"a\",\"b\"\n\"1\",\"2\"\n", "a b", 2, []float32{1, 2}},
		{"header", "height, width \n1,2\n", "height width", 2, []float32{1, 2}},
		{"header with a gap", "a,,c\n1,2,3\n", "a col1 c", 3, []float32{1, 2, 3}},
		{"pandas", ",a,b\n0,5,6\n1,7,8\n", "col0 a b", 2, []float32{5, 6, 7, 8}},
		{"pandas without names", ",0,1,2\n0,5,6,7\n1,7,8,9\n", "col0 0 1 2", 3, []float32{5, 6, 7, 7, 8, 9}},
		{"pandas without index", "0,1,2\n5,6,7\n", "0 1 2", 3, []float32{5, 6, 7}},
		{"two columns that count", "0,1\n5,6\n", "col0 col1", 2, []float32{0, 1, 5, 6}},
		{"R", "\"\",\"V1\"\n\"a\",5\n\"b\",7\n", "col0 V1", 1, []float32{5, 7}},
		{"id", "ID,a\n00123,5\n00124,7\n", "ID a", 1, []float32{5, 7}},
		{"id later", "a,id\n5,x\n7,y\n", "a id", 1, []float32{5, 7}},
		{"text is left out", "a,kind,b\n1,cat,2\n3,dog,4\n", "a kind b", 2, []float32{1, 2, 3, 4}},
		{"text without header", "cat,1\ndog,2\n", "col0 col1", 1, []float32{1, 2}},
		{"half text is text", "a,b\n1,cat\n3,4\n", "a b", 1, []float32{1, 3}},
		{"missing", "a,b,c,d\nNaN,nan,NA,null\n,  ,na,Null\n1,2,3,4\n", "a b c d", 4,
			[]float32{nan, nan, nan, nan, nan, nan, nan, nan, 1, 2, 3, 4}},
		{"first row missing", "NaN,NaN\n1,2\n", "col0 col1", 2, []float32{nan, nan, 1, 2}},
		{"first row missing beside text", "x,NaN,NaN\ny,1,2\n", "col0 col1 col2", 2, []float32{nan, nan, 1, 2}},
		{"all missing", ",\nNA,\n", "col0 col1", 2, []float32{nan, nan, nan, nan}},
		{"infinite", "a,b\ninf,-Infinity\n+Inf,1e3\n", "a b", 2,
			[]float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Inf(1)), 1000}},
		{"first row infinite", "inf,inf\n1,2\n", "col0 col1", 2, []float32{float32(math.Inf(1)), float32(math.Inf(1)), 1, 2}},
		{"notations", "-1,+2,.5,3.,1e-2\n 7 ,-0,1E+2,00012,1.5e1\n", "col0 col1 col2 col3 col4", 5,
			[]float32{-1, 2, .5, 3, .01, 7, 0, 100, 12, 15}},
		{"too small", "1e-60\n1\n", "col0", 1, []float32{0, 1}},
		{"more digits than an integer holds", "123456789012345678901234567890\n1\n", "col0", 1, []float32{123456789012345678901234567890, 1}},
		{"quoted line break", "name,a\n\"x\n\ny\",1\nz,2\n", "name a", 1, []float32{1, 2}},
		{"one value", "5", "col0", 1, []float32{5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab := mustNew(t, c.in)
			if got := strings.Join(tab.Columns(), " "); got != c.columns {
				t.Errorf("columns %q, want %q", got, c.columns)
			}
			got, cols, err := tab.Matrix()
			if err != nil || cols != c.cols || !equal(got, c.want) {
				t.Errorf("got %v in %d columns, %v; want %v in %d", got, cols, err, c.want, c.cols)
			}
			first := tab.Arrays()[0]
			if first.Name != "" || !slices.Equal(first.Shape, []int{len(c.want) / c.cols, c.cols}) || first.Kind != array.Float {
				t.Errorf("array 0 is %+v", first)
			}
			if got, err := tab.Float32(0); err != nil || !equal(got, c.want) {
				t.Errorf("array 0 holds %v, %v", got, err)
			}
		})
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		in      string
		header  bool
		samples int
	}{
		{"label\ncat\ndog\n", true, 2},
		{" Labels \ncat\ndog\n", true, 2},
		{"cat\ndog\ncat\n", false, 3},
		{"y\nn\ny\n", false, 3},
		{"y\nn\nm\n", true, 2},
		{"name,x\nfoo,cat\n", true, 1},
		{"x,y2\nfoo,cat\n", false, 2},
		{"abc\n1\n2\n", true, 2},
		{"abc\n1\n", true, 1},
		{"abc,5\n1,2\n2,3\n", false, 3},
		{"a,\n1,\n", true, 1},
		{"a\nNaN\n", false, 2},
		{"0x10\n7\n", true, 1},
		{"1_000\n7\n", true, 1},
		{"nan,label\n1,2\n", true, 1},
	} {
		tab := mustNew(t, c.in)
		if tab.header != c.header || tab.samples != c.samples {
			t.Errorf("%q: header %v and %d samples; want %v and %d", c.in, tab.header, tab.samples, c.header, c.samples)
		}
	}
}

func TestArrays(t *testing.T) {
	tab := mustNew(t, "id,a,kind,n,gap\n00123,1.5,cat,7,1\n00124,2,\"big \"\"dog\"\"\",+9007199254740993, \n5, 3e0 , x,-9223372036854775808,2\n")
	want := []array.Info{
		{Shape: []int{3, 3}, Kind: array.Float},
		{Name: "id", Shape: []int{3}, Kind: array.Int},
		{Name: "a", Shape: []int{3}, Kind: array.Float},
		{Name: "kind", Shape: []int{3}, Kind: array.Text},
		{Name: "n", Shape: []int{3}, Kind: array.Int},
		{Name: "gap", Shape: []int{3}, Kind: array.Float},
	}
	if got := tab.Arrays(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if tab.ID() != "id" {
		t.Errorf("identifiers %q", tab.ID())
	}
	for i, want := range [][]string{
		{"1.5", "7", "1", "2", "+9007199254740993", " ", " 3e0 ", "-9223372036854775808", "2"},
		{"00123", "00124", "5"},
		{"1.5", "2", " 3e0 "},
		{"cat", `big "dog"`, " x"},
	} {
		if got, err := tab.Text(i); err != nil || !slices.Equal(got, want) {
			t.Errorf("text %d: %q, %v; want %q", i, got, err, want)
		}
	}
	if got, err := tab.Int64(4); err != nil || !slices.Equal(got, []int64{7, 9007199254740993, math.MinInt64}) {
		t.Errorf("integers: %v, %v", got, err)
	}
	if got, err := tab.Float32(5); err != nil || !equal(got, []float32{1, nan, 2}) {
		t.Errorf("gap: %v, %v", got, err)
	}
	_, err := tab.Int64(2)
	wantError(t, err, `line 2, column "a": "1.5" is not a whole number`)
	_, err = tab.Int64(5)
	wantError(t, err, `line 3, column "gap": " " is not a whole number`)
	_, err = tab.Float32(3)
	wantError(t, err, `line 2, column "kind": "cat" is not a number`)

	// Without numbers there is no matrix.
	tab = mustNew(t, "id,kind\n1,cat\n2,dog\n")
	if a := tab.Arrays(); len(a) != 2 || a[0].Name != "id" || a[1].Name != "kind" {
		t.Errorf("%v", a)
	}
	if got, err := tab.Text(1); err != nil || !slices.Equal(got, []string{"cat", "dog"}) {
		t.Errorf("%v, %v", got, err)
	}
	_, _, err = tab.Matrix()
	wantError(t, err, "no column of numbers is left")
}

func TestExclude(t *testing.T) {
	tab := mustNew(t, "a,b,truth\n1,2,0\n3,4,1\n")
	if tab.ID() != "" {
		t.Errorf("identifiers %q", tab.ID())
	}
	got, cols, err := tab.Matrix("truth", "a")
	if err != nil || cols != 1 || !equal(got, []float32{2, 4}) {
		t.Errorf("%v in %d columns, %v", got, cols, err)
	}
	_, _, err = tab.Matrix("a", "b", "truth")
	wantError(t, err, "no column of numbers is left")
	_, _, err = tab.Matrix("c")
	wantError(t, err, `no column has the name "c"; the first are ["a" "b" "truth"]`)
}

// A mistake in a column matters only to those who read its numbers.
func TestMistakes(t *testing.T) {
	tab := mustNew(t, "a,b\n1,1\n2,2\n\"3\",x3\n4,1e39\n")
	_, _, err := tab.Matrix()
	wantError(t, err, `line 4, column "b": "x3" is not a number; correct it`)
	if got, cols, err := tab.Matrix("b"); err != nil || cols != 1 || !equal(got, []float32{1, 2, 3, 4}) {
		t.Errorf("%v in %d columns, %v", got, cols, err)
	}
	if got, err := tab.Text(2); err != nil || !slices.Equal(got, []string{"1", "2", "x3", "1e39"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct{ in, want string }{
		{"1\n1e39\n", `line 2, column "col0": "1e39" is beyond the largest float32`},
		{"1\n2\n-9e999999999999\n", `line 3, column "col0": "-9e999999999999" is beyond`},
		{"1\n2\n0x10\n", `line 3, column "col0": "0x10" is not a number`},
		{"1\n2\n1_000\n", `"1_000" is not a number`},
		{"1\n2\n1e\n", `"1e" is not a number`},
		{"1\n2\n.\n", `"." is not a number`},
		{"1\n2\n-\n", `"-" is not a number`},
		{"1\n2\n" + strings.Repeat("long", 100) + "\n", `"longlonglonglonglonglonglonglonglonglong" is not`},
		{"s,a\n\"x\n\n\",1\ny,2\nz,q\n", `line 6, column "a": "q" is not a number`},
	} {
		_, _, err := mustNew(t, c.in).Matrix()
		wantError(t, err, c.want)
	}
	for _, in := range []string{"9223372036854775808", "1e300", "nan", "0.5", "inf", "9007199254740994.0"} {
		_, err := mustNew(t, in).Int64(0)
		wantError(t, err, "is not a whole number of at most 63 bits")
	}
}

func TestBadTables(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "the table is empty"},
		{"mark only", "\xef\xbb\xbf", "the table is empty"},
		{"newlines", "\n\r\n\n", "the table is empty"},
		{"header only", "a,b\n", "a header and no rows"},
		{"counting header only", "0,1,2\n", "a header and no rows"},
		{"short row", "1,2\n3\n", "line 2 and line 1 differ in their number of cells, 1 and 2;"},
		{"long row", "a,b\n\"1\n\",2\n3,4,5\n", "line 4 and line 1 differ in their number of cells, 3 and 2;"},
		{"empty line", "1\n2\n\n3\n", "line 3 is empty"},
		{"empty lines", "1,2\r\n\r\n\r\n3,4\r\n", "line 2 is empty"},
		{"empty first line", "\n1\n2\n", "line 1 is empty"},
		{"empty line after a quoted break", "x,\"\n\n\"\n\ny,1\n", "line 4 is empty"},
		{"same names", "a,b,a\n1,2,3\n", `two columns have the name "a"`},
		{"same as a given name", ",col0\n1,2\n", `two columns have the name "col0"`},
		{"quote in a cell", "a,b\n1,5\"x\n", `line 2, character 4: bare "`},
		{"open quote", "a,b\n1,\"5\n", `extraneous or missing "`},
		{"zero byte", "a,b\n1,\x002\n", "not plain text: byte 6 is zero"},
		{"zero byte at the start", "\x00\n" + strings.Repeat("1\n", 100000), "byte 0 is zero"},
		{"late zero byte", strings.Repeat("1\n", 100000) + "\x00", "byte 200000 is zero"},
		{"UTF-16", "\xff\xfe1\x00,\x002\x00", "byte 3 is zero"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab, err := New(strings.NewReader(c.in), ',')
			wantError(t, err, c.want)
			if tab != nil {
				t.Error("a table comes with the error")
			}
		})
	}
	_, err := New(strings.NewReader("1"), '"')
	if err == nil {
		t.Error("a quote is taken for a separator")
	}
}

// A table that is cut within a cell of its last row cannot be told from a whole
// one, but every row before that, and every cell of it before the last, is as
// it was.
func TestEveryTruncation(t *testing.T) {
	for _, whole := range []string{
		"id,a,b\n1,2.5,x\n2,NA,y\n3,-4e5,\"z, z\"\n", "1,2\n3,4\n5,6", "\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n", "x,y\n1,\"\n\"\n2,\"\"\"\"\n",
	} {
		mustNew(t, whole)
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(whole, "\xef\xbb\xbf")))
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for n := range whole {
			tab, err := New(strings.NewReader(whole[:n]), ',')
			if err != nil {
				continue
			}
			first := 0
			if tab.header {
				first = 1
			}
			wide := len(tab.names)
			if wide > len(rows[0]) || wide < len(rows[0]) && strings.Contains(whole[:n], "\n") {
				t.Fatalf("%q: %d columns", whole[:n], wide)
			}
			for k, name := range tab.names {
				i := slices.IndexFunc(tab.Arrays(), func(a array.Info) bool { return a.Name == name })
				got, err := tab.Text(i)
				if err != nil {
					t.Fatalf("%q: %v", whole[:n], err)
				}
				for j, cell := range got {
					want := rows[first+j][k]
					last := j == len(got)-1 && k == wide-1
					if cell != want && !(last && strings.HasPrefix(want, cell)) {
						t.Errorf("%q: row %d of column %q is %q, want %q", whole[:n], j, name, cell, want)
					}
				}
			}
		}
	}
}

// One wrong byte is an error or other values, and nothing worse.
func TestEveryWrongByte(t *testing.T) {
	whole := "\xef\xbb\xbfid,a,b\r\n1,2.5,x\n2,NA,\"y,\n\"\r\n3,-4e5,1\n"
	for at := range whole {
		for _, wrong := range []byte("\x00\r\n\", x1.-e\xef\xff") {
			b := []byte(whole)
			b[at] = wrong
			checkAny(t, b, ',')
		}
	}
}

// failing fails to read, or to go back.
type failing struct {
	io.ReadSeeker
	seek error
}

func (f failing) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

func (f failing) Seek(int64, int) (int64, error) { return 0, f.seek }

func TestReadFails(t *testing.T) {
	if _, err := New(failing{}, ','); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
	_, err := New(failing{seek: io.ErrClosedPipe}, ',')
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestChanged(t *testing.T) {
	for _, in := range []string{"1,2\n", "1,2\n3,4\n5,6\n", "1\n2\n"} {
		r := strings.NewReader("1,2\n3,4\n")
		tab, err := New(r, ',')
		if err != nil {
			t.Fatal(err)
		}
		r.Reset(in)
		_, _, err = tab.Matrix()
		wantError(t, err, "was changed while it was being read")
	}
}

func TestOpen(t *testing.T) {
	for _, c := range []struct{ name, in string }{
		{"a.csv", "x,y\n1,2\n"},
		{"b.csv", "x;y\n1;2\n"},
		{"c.CSV", "x\ty\n1\t2\n"},
		{"d.tsv", "x\ty\n1\t2\n"},
		{"e.TSV", "\"x\"\t\"y\"\r\n\"1\"\t2"},
	} {
		tab, err := Open(strings.NewReader(c.in), int64(len(c.in)), c.name)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, cols, err := tab.Matrix()
		if err != nil || cols != 2 || !equal(got, []float32{1, 2}) {
			t.Errorf("%s: %v in %d columns, %v", c.name, got, cols, err)
		}
		if turned, err := tab.Turned(0); err != nil || !equal(turned, got) {
			t.Errorf("%s: a single row turned is %v, %v", c.name, turned, err)
		}
	}
	in := "1,2\t3\n4\n"
	_, err := Open(strings.NewReader(in), int64(len(in)), "a.tsv")
	wantError(t, err, "line 2 and line 1 differ")
	in = "1,2\n3,4\n5,6\n"
	tab, err := Open(strings.NewReader(in), int64(len(in)), "a.csv")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tab.Turned(0); err != nil || !equal(got, []float32{1, 3, 5, 2, 4, 6}) {
		t.Errorf("turned: %v, %v", got, err)
	}
}

// TestRoundTrip writes random tables in all manners and reads them again.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		rows, cols := 1+rng.IntN(40), 1+rng.IntN(8)
		comma := []rune(",;\t|")[rng.IntN(4)]
		newline := []string{"\n", "\r\n"}[rng.IntN(2)]
		header, quoted := rng.IntN(2) == 0, rng.IntN(2) == 0
		var text strings.Builder
		line := func(cells []string) {
			for k, c := range cells {
				if k > 0 {
					text.WriteRune(comma)
				}
				if quoted || c == "" && cols == 1 {
					c = strconv.Quote(c)
				}
				text.WriteString(c)
			}
			text.WriteString(newline)
		}
		names := make([]string, cols)
		for k := range names {
			names[k] = "col" + strconv.Itoa(k)
			if header {
				names[k] = "feature" + strconv.Itoa(k)
			}
		}
		if header {
			line(names)
		}
		want := make([]float32, 0, rows*cols)
		var raw []string
		for i := range rows {
			cells := make([]string, cols)
			for k := range cells {
				x := float32(rng.NormFloat64() * math.Pow(10, float64(rng.IntN(20)-10)))
				cells[k] = strconv.FormatFloat(float64(x), []byte("efg")[rng.IntN(3)], -1, 32)
				if i > 0 && rng.IntN(5) == 0 {
					x, cells[k] = nan, []string{"", "NA", "nan", "null"}[rng.IntN(4)]
				}
				want = append(want, x)
			}
			raw = append(raw, cells...)
			line(cells)
		}
		tab, err := New(strings.NewReader(text.String()), comma)
		if err != nil {
			t.Fatalf("trial %d: %v in %q", trial, err, text.String())
		}
		if !slices.Equal(tab.Columns(), names) {
			t.Fatalf("trial %d: columns %q, want %q", trial, tab.Columns(), names)
		}
		got, n, err := tab.Matrix()
		if err != nil || n != cols || !equal(got, want) {
			t.Fatalf("trial %d: got %v in %d columns, %v; want %v", trial, got, n, err, want)
		}
		if got, err := tab.Text(0); err != nil || !slices.Equal(got, raw) {
			t.Fatalf("trial %d: text %q, %v; want %q", trial, got, err, raw)
		}
		k := rng.IntN(cols)
		column, err := tab.Float32(1 + k)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range column {
			if y := want[i*cols+k]; x != y && y == y {
				t.Fatalf("trial %d: column %d holds %v, want %v", trial, k, x, y)
			}
		}
	}
}

// What classify takes for a number, strconv can read.
func TestClassify(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		b := make([]byte, rng.IntN(6))
		for i := range b {
			b[i] = "0129+-.eE x_nai"[rng.IntN(15)]
		}
		s := strings.TrimSpace(string(b))
		_, err := strconv.ParseFloat(s, 64)
		number := err == nil || errors.Is(err, strconv.ErrRange)
		_, err = strconv.Atoi(s)
		want := text
		switch {
		case s == "" || strings.EqualFold(s, "nan") || strings.EqualFold(s, "na"):
			want = missing
		case err == nil:
			want = whole
		case number && !strings.ContainsAny(s, "xn_"):
			want = decimal
		case strings.EqualFold(strings.Trim(s, "+-"), "inf") && number:
			want = infinite
		}
		if got := classify(string(b)); got != want {
			t.Fatalf("%q is of class %d, want %d", b, got, want)
		}
	}
}

func FuzzTable(f *testing.F) {
	for _, s := range []string{
		"id,a,b\n1,2.5,x\n2,NA,y\n", "1,2\n3,4\n", "\xef\xbb\xbfa,b\r\n1,2\r\n", ",0,1,2\n0,5,6,7\n",
		"a,\"b\n\nc\"\n1,2\n", "1\n\n2\n", "x\n1\n2\nthree\n", "1e39\n", "\x00", "label\ncat\ndog\n", "inf,nan\n,-1\n",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(strings.ReplaceAll(s, ",", "\t")), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, tabs bool) {
		comma := ','
		if tabs {
			comma = '\t'
		}
		checkAny(t, b, comma)
	})
}

// checkAny checks that what b is accepted for is what encoding/csv finds in it.
func checkAny(t *testing.T, b []byte, comma rune) {
	tab, err := New(bytes.NewReader(b), comma)
	if err != nil {
		return
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
	r.Comma = comma
	all, err := r.ReadAll()
	if err != nil {
		t.Fatalf("accepted, though %v", err)
	}
	if tab.header {
		all = all[1:]
	}
	infos := tab.Arrays()
	if len(infos) > 50 {
		return
	}
	for i, info := range infos {
		got, err := tab.Text(i)
		if err != nil || len(got) != info.Len() || info.Shape[0] != len(all) {
			t.Fatalf("array %d: %d cells, %v, of %v", i, len(got), err, info.Shape)
		}
		if info.Name != "" {
			k := slices.Index(tab.Columns(), info.Name)
			for j, row := range all {
				// encoding/csv drops the carriage returns before line feeds.
				if strings.ReplaceAll(got[j], "\r\n", "\n") != row[k] {
					t.Fatalf("row %d of column %d is %q, want %q", j, k, got[j], row[k])
				}
			}
		}
		x, err := tab.Float32(i)
		if err == nil && len(x) != info.Len() {
			t.Fatalf("array %d: %d numbers of %d", i, len(x), info.Len())
		}
		n, err := tab.Int64(i)
		if err == nil && len(n) != info.Len() {
			t.Fatalf("array %d: %d integers of %d", i, len(n), info.Len())
		}
	}
}

// benchTable returns a table of 2000 rows of 100 numbers and an identifier.
func benchTable() []byte {
	rng := rand.New(rand.NewPCG(5, 6))
	b := []byte("id")
	for k := range 100 {
		b = fmt.Appendf(b, ",x%d", k)
	}
	for i := range 2000 {
		b = fmt.Appendf(b, "\n%06d", i)
		for range 100 {
			b = fmt.Appendf(b, ",%.7g", rng.NormFloat64())
		}
	}
	return b
}

func BenchmarkNew(b *testing.B) {
	data := benchTable()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(bytes.NewReader(data), ','); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMatrix(b *testing.B) {
	data := benchTable()
	tab := mustNew(b, string(data))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := tab.Matrix(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	data := benchTable()
	tab := mustNew(b, string(data))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tab.Text(1); err != nil {
			b.Fatal(err)
		}
	}
}
