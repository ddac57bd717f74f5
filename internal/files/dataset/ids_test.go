package dataset

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/parquet"
)

func TestIDsOfOneTable(t *testing.T) {
	f := newFolder(t)
	table := f.text("a.csv", "id,p,q", "007,1,1001", " s 2,2,1002", "s3,3,1003")
	want := []string{"007", "s 2", "s3"}
	set := f.load(Options{}, table)
	f.isRamp(set.Views[0])
	if !slices.Equal(set.IDs, want) {
		t.Errorf("ids %q", set.IDs)
	}
	// Its rows go with those of files without ids.
	set = f.load(Options{}, f.npy("b.npy", matrix("", 3, 5)), table, f.mat("c.mat", entry{"fea", []int{2, 3}, flip(ramp(3, 2, 0), 3, 2)}), f.text("d.csv", "1", "2", "3"))
	f.shows(set, "b.npy 3 x 5", "a.csv 3 x 2", "c.mat:fea 3 x 2", "d.csv 3 x 1")
	for _, v := range set.Views {
		f.isRamp(v)
	}
	if !slices.Equal(set.IDs, want) {
		t.Errorf("ids %q", set.IDs)
	}
	f.refuse(Options{}, []string{table, f.npy("e.npy", matrix("", 4, 5))}, "a.csv is 3 x 2 and e.npy is 4 x 5")
	// Not even with as many samples as the table has columns.
	f.refuse(Options{}, []string{table, f.npy("g.npy", matrix("", 2, 5))}, "a.csv is 3 x 2 and g.npy is 2 x 5")
	if set := f.load(Options{}, f.text("h.csv", "p,q", "1,2")); set.IDs != nil {
		t.Errorf("ids %q out of nowhere", set.IDs)
	}
}

func TestIDsJoin(t *testing.T) {
	f := newFolder(t)
	a := f.text("a.csv", "id,p,q", "u,1,2", "v,3,4", "w,5,6")
	b := f.text("b.tsv", "z\tID", "8\tx", "7\tw", "9\tu")
	set := f.load(Options{}, a, b)
	if got := strings.Join(set.IDs, " "); got != "u v w x" {
		t.Errorf("ids %s", got)
	}
	f.shows(set, "a.csv 4 x 2 of 3", "b.tsv 4 x 1 of 3")
	for i, want := range []string{"[1 2] [9]", "[3 4] -", "[5 6] [7]", "- [8]"} {
		if got := f.sample(set, i); got != want {
			t.Errorf("sample %d: %s, want %s", i, got, want)
		}
	}
	if want := "the ids of 2 tables make 4 samples; a.csv lacks 1 and b.tsv lacks 1"; len(set.Notes) != 1 || set.Notes[0] != want {
		t.Errorf("notes %q", set.Notes)
	}
	// The order is that of the chosen views, and the others add no samples.
	if got := strings.Join(f.load(Options{Views: []string{"1", "0"}}, a, b).IDs, " "); got != "x w u v" {
		t.Errorf("ids %s", got)
	}
	if got := strings.Join(f.load(Options{Views: []string{"b.tsv"}}, a, b).IDs, " "); got != "x w u" {
		t.Errorf("ids %s", got)
	}
	// The same ids in the same order need no note.
	set = f.load(Options{}, a, f.text("c.csv", "id,r", "u,1", "v,NA", "w,3"))
	f.shows(set, "a.csv 3 x 2", "c.csv 3 x 1 of 2")
	if len(set.Notes) > 0 {
		t.Errorf("notes %q", set.Notes)
	}
	// And in another order.
	set = f.load(Options{}, a, f.text("d.csv", "id,r", "w,3", "v,NA", "u,1"))
	f.shows(set, "a.csv 3 x 2", "d.csv 3 x 1 of 2")
	if got := f.sample(set, 0) + f.sample(set, 1) + f.sample(set, 2); got != "[1 2] [1][3 4] -[5 6] [3]" {
		t.Error(got)
	}
}

// sample returns the rows of sample i, "-" where it lacks the view.
func (f folder) sample(set *Set, i int) string {
	var rows []string
	for _, v := range set.Views {
		row := "-"
		if v.Has(i) {
			row = fmt.Sprint(v.Row(i))
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, " ")
}

func TestIDColumn(t *testing.T) {
	f := newFolder(t)
	a := f.text("a.csv", "p,key,q", "1,k1,2", "3,k2,4")
	b := f.text("b.csv", "key,id,r", "k2,1,5", "k3,2,6")
	set := f.load(Options{ID: "key"}, a, b)
	f.shows(set, "a.csv 3 x 2 of 2", "b.csv 3 x 1 of 2")
	if got := strings.Join(set.IDs, " "); got != "k1 k2 k3" {
		t.Errorf("ids %s", got)
	}
	if got := f.sample(set, 1); got != "[3 4] [5]" {
		t.Error(got)
	}
	numeric := f.load(Options{ID: "p"}, a)
	if got := f.sample(numeric, 0); got != "[2]" || numeric.IDs[1] != "3" {
		t.Error(got, numeric.IDs)
	}
	c := f.text("c.csv", "p,q", "1,2", "3,4")
	f.refuse(Options{ID: "key"}, []string{a, c}, `c.csv: has no column "key" for the ids, only p and q`)
	f.refuse(Options{ID: "kye"}, []string{a, c}, "--id kye is neither a file nor a column", "p, key, q, p and q")
	f.refuse(Options{ID: "key"}, []string{f.npy("d.npy", matrix("", 2, 3))}, "--id key is neither a file nor a column")
	f.shows(f.load(Options{ID: "key"}, a, f.npy("e.npy", matrix("", 2, 3))), "a.csv 2 x 2", "e.npy 2 x 3")
}

func TestIDFile(t *testing.T) {
	f := newFolder(t)
	a := f.npy("a.npy", matrix("", 3, 5))
	for _, id := range []string{
		f.text("ids.csv", "id,p", "u,1", "v,2", "w,3"),
		f.text("ids.txt", "u", "v", "w"),
		f.text("keys.csv", "key,p", "u,1", "v,2", "w,3") + ":key",
		f.mat("names.mat", entry{"names", nil, []string{"u", "v", "w"}}, matrix("p", 3, 4)) + ":names",
		f.mat("ids.mat", entry{"ids", nil, []string{"u", "v", "w"}}, matrix("p", 3, 4)),
	} {
		if got := strings.Join(f.load(Options{ID: id}, a).IDs, " "); got != "u v w" {
			t.Errorf("%s: ids %s", id, got)
		}
	}
	numbers := f.npy("numbers.npy", entry{"", []int{3}, []int64{5, -1, 7}})
	if got := strings.Join(f.load(Options{ID: numbers}, a).IDs, " "); got != "5 -1 7" {
		t.Errorf("ids %s", got)
	}
	// Their number tells which side the samples are.
	set := f.load(Options{ID: numbers}, f.npy("b.npy", entry{"", []int{5, 3}, flip(ramp(3, 5, 0), 3, 5)}))
	f.shows(set, "b.npy 3 x 5")
	f.isRamp(set.Views[0])

	f.refuse(Options{ID: numbers}, []string{f.npy("c.npy", matrix("", 4, 6))}, "--id "+numbers+" has 3 ids, and c.npy is 4 x 6; give one id per sample")
	f.refuse(Options{ID: numbers}, []string{f.text("d.csv", "id,p", "a,1", "b,2", "c,3")}, "--id", "d.csv has ids of its own")
	f.refuse(Options{ID: numbers + ":x"}, []string{a}, "numbers.npy: holds a single array, without a name")
	f.refuse(Options{ID: f.npy("m.npy", matrix("", 3, 2))}, []string{a}, "m.npy: the array has the shape [3 2]; give one value per sample")
	f.refuse(Options{ID: f.npz("n.npz", matrix("p", 3, 2), matrix("q", 3, 2))}, []string{a}, "n.npz: holds p and q; say which are the ids by FILE:NAME")
	f.refuse(Options{ID: f.text("o.csv", "p,q", "1,2")}, []string{a}, `o.csv: has no column "id", only p and q; name that of the ids by FILE:NAME`)
	f.refuse(Options{ID: f.dir}, []string{a}, "is a directory")
}

func TestBadIDs(t *testing.T) {
	f := newFolder(t)
	a := f.text("a.csv", "id,p", "u,1", "v,2", "u,3")
	f.refuse(Options{}, []string{a}, `a.csv: rows 0 and 2 (counted from 0) have the same id "u"`)
	f.refuse(Options{ID: a}, []string{f.npy("b.npy", matrix("", 3, 2))}, `a.csv: rows 0 and 2 (counted from 0) have the same id "u"`)
	f.refuse(Options{}, []string{f.text("c.csv", "id,p", "u,1", " ,2")}, "c.csv: row 1 (counted from 0) has an empty id")
	d, e := f.text("d.csv", "id,p", "u,1", "v,2"), f.text("e.csv", "id,q", "u,1", "v,2")
	f.refuse(Options{}, []string{d, e, f.npy("g.npy", matrix("", 2, 5))}, "the rows of g.npy have no ids, and those of d.csv and e.csv have")
}

// An id that is not UTF-8 would be another one in the model, perhaps that of another sample.
func TestIDsNotUTF8(t *testing.T) {
	f := newFolder(t)
	want := []string{`row 1 (counted from 0) has the id "M\xfcller", which is not UTF-8; save the file in UTF-8`}
	bad := []string{"Muller", "M\xfcller", "M\xf6ller"}
	var b bytes.Buffer
	if err := parquet.Write(&b, []parquet.Column{{Name: "id", Data: bad}, {Name: "p", Data: []int64{1, 2, 3}}}...); err != nil {
		f.Fatal(err)
	}
	table := f.write("d.parquet", b.Bytes())
	bytesFile := f.write("s.npy", npyText(8, bad))
	for _, source := range []string{
		f.text("a.csv", "id,p", bad[0]+",1", bad[1]+",2", bad[2]+",3"),
		f.text("b.tsv", "p\tid", "1\t"+bad[0], "2\t"+bad[1], "3\t"+bad[2]),
		table,
	} {
		f.refuse(Options{}, []string{source}, append(want, source)...)
	}
	view := f.npy("v.npy", matrix("", 3, 2))
	for _, ids := range []string{f.text("ids.txt", bad...), bytesFile, table + ":id"} {
		f.refuse(Options{ID: ids}, []string{view}, append(want, strings.TrimSuffix(ids, ":id"))...)
	}
	// Those of labels and pairs are looked up among the ids, and so are refused as well.
	good := f.text("c.csv", "id,p", "Muller,1", "b,2", "c,3")
	if got := f.load(Options{}, good).IDs; !slices.Equal(got, []string{"Muller", "b", "c"}) {
		t.Errorf("ids %q", got)
	}
}

// npyText returns the .npy file of texts, stored as bytes.
func npyText(width int, texts []string) []byte {
	header := fmt.Sprintf("{'descr': '|S%d', 'fortran_order': False, 'shape': (%d,), }", width, len(texts))
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)+1), 0)
	b = append(b, header+"\n"...)
	for _, s := range texts {
		b = append(b, s+strings.Repeat("\x00", width-len(s))...)
	}
	return b
}

// Ids are kept to the character, line ends and other control characters included.
func TestIDsKeepControlCharacters(t *testing.T) {
	f := newFolder(t)
	want := []string{"a\r\nb", "a\nb", "a\rb", "\x1b[31m", "\"\r\n\"", "ü\tx"}
	var b strings.Builder
	b.WriteString("id,p\r\n")
	for i, id := range want {
		fmt.Fprintf(&b, "\"%s\",%d\r\n", strings.ReplaceAll(id, `"`, `""`), i)
	}
	csv := f.write("a.csv", []byte(b.String()))
	if got := f.load(Options{}, csv).IDs; !slices.Equal(got, want) {
		t.Errorf("ids %q, want %q", got, want)
	}
	var p bytes.Buffer
	if err := parquet.Write(&p, []parquet.Column{{Name: "id", Data: want}, {Name: "q", Data: []int64{1, 2, 3, 4, 5, 6}}}...); err != nil {
		f.Fatal(err)
	}
	// They are the same in every format.
	set := f.load(Options{}, csv, f.write("b.parquet", p.Bytes()))
	if !slices.Equal(set.IDs, want) {
		t.Errorf("ids %q, want %q", set.IDs, want)
	}
}

// However long an id is, the sentence about it is short.
func TestLongIDsAreShortened(t *testing.T) {
	f := newFolder(t)
	long := strings.Repeat("x", 1<<20)
	for _, source := range []string{f.text("a.csv", "id,p", long+",1", "b,2", long+",3"), f.text("b.csv", "id,p", long+",1", "b,2", long+"\xff,3")} {
		if err := f.refusal(Options{}, []string{source}); len(err.Error()) > 1000 {
			t.Errorf("a sentence of %d bytes", len(err.Error()))
		}
	}
}
