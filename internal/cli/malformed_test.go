package cli

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/files/parquet"
)

const (
	rows = 40
	cols = 3
)

// values returns rows x cols random numbers as change, which may be nil, leaves them.
func values(change func(x []float32)) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	if change != nil {
		change(x)
	}
	return x
}

// npyFile returns the bytes of a .npy file.
func npyFile(t *testing.T, data any, shape ...int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Write(&b, shape, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npyHeader returns a .npy file of that header and payload bytes of zeros.
func npyHeader(header string, payload int) []byte {
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)+1), 0)
	b = append(b, header+"\n"...)
	return append(b, make([]byte, payload)...)
}

// parquetFile returns a Parquet file with a column of ids and one of lists.
func parquetFile(t *testing.T, id func(i int) string, change func(x []float32)) []byte {
	t.Helper()
	var names []string
	for i := range rows {
		names = append(names, id(i))
	}
	var b bytes.Buffer
	err := parquet.Write(&b, parquet.Column{Name: "id", Data: names},
		parquet.Column{Name: "emb", Data: parquet.Lists{Dims: cols, Data: values(change)}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pairsFile returns a Parquet file of two pairs of ids, of which the second is s0 and other.
func pairsFile(t *testing.T, one, other string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := parquet.Write(&b, parquet.Column{Name: "a", Data: []string{one, "s0"}}, parquet.Column{Name: "b", Data: []string{"s2", other}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ids returns names with a number.
func ids(name string) func(i int) string { return func(i int) string { return fmt.Sprint(name, i) } }

type named struct {
	name  string
	shape []int
	data  any
}

// npzFile returns the bytes of a .npz file.
func npzFile(t *testing.T, arrays ...named) []byte {
	t.Helper()
	var b bytes.Buffer
	w := npy.NewWriter(&b)
	for _, a := range arrays {
		if err := w.Add(a.name, a.shape, a.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb returns a .npz file of a few hundred bytes that promises an array of 2^40
// bytes, and has the archive promise it too.
func bomb(t *testing.T) []byte {
	t.Helper()
	member := npyHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 64), }", 100)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{
		Name: "view0.npy", Method: zip.Store,
		CompressedSize64: uint64(len(member)), UncompressedSize64: 1 << 40,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Write(member)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipFile returns an archive with one text file.
func zipFile(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("readme.txt")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "nothing here")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npzWith returns a .npz file with a text file of the given name.
func npzWith(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := npy.NewWriter(&b)
	if err := w.AddFile(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mat5 returns a MATLAB file of version 5 with one matrix of doubles, which says
// that it has the given sides.
func mat5(name string, rows, cols int, x []float32) []byte {
	le := binary.LittleEndian
	element := func(kind int, data []byte) []byte {
		b := le.AppendUint32(nil, uint32(kind))
		b = le.AppendUint32(b, uint32(len(data)))
		b = append(b, data...)
		return append(b, make([]byte, -len(b)&7)...)
	}
	var data []byte
	for _, v := range x {
		data = le.AppendUint64(data, math.Float64bits(float64(v)))
	}
	const double = 6
	matrix := slices.Concat(
		element(6, le.AppendUint64(nil, double)),
		element(5, le.AppendUint32(le.AppendUint32(nil, uint32(rows)), uint32(cols))),
		element(1, []byte(name)),
		element(9, data))
	head := fmt.Appendf(nil, "%-124s", "MATLAB 5.0 MAT-file")
	head = append(le.AppendUint16(head, 0x0100), "IM"...)
	return append(head, element(14, matrix)...)
}

// csvFile returns a table with ids and one bad line among good ones.
func csvFile(bad string) []byte {
	good := func(i int) string { return fmt.Sprintf("s%d,%d,%d.5", i, i%7, i%5) }
	return []byte("id,x,y\n" + lines(20, good) + bad + "\n" + lines(20, func(i int) string { return good(i + 20) }))
}

// malformed is a run that must be refused.
type malformed struct {
	name string
	// file is given as bad.EXT, where EXT is the first word of the name.
	file []byte
	// args stand in for "fit bad.EXT".
	args []string
	// want are words of the message.
	want []string
}

func malformedRuns(t *testing.T) []malformed {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	matrix := npyFile(t, values(nil), rows, cols)
	v73 := []byte(read(t, "..", "files", "mat", "testdata", "v73.mat"))
	cells := []byte(read(t, "..", "files", "anndata", "testdata", "small.h5ad"))
	emb := parquetFile(t, ids("s"), nil)
	pair := npzFile(t, named{"view0", []int{rows, cols}, values(nil)}, named{"view1", []int{rows, cols}, values(nil)})
	mat := mat5("X", rows, cols, values(nil))
	changed := func(change func(x []float32)) []byte { return npyFile(t, values(change), rows, cols) }
	saved, predictions := savedModelFile(t), []string{"predict", "bad.mvclust", "good.npy"}
	fit := func(args ...string) []string { return append([]string{"fit"}, args...) }
	return []malformed{
		// One array in a file of NumPy.
		{"npy empty", nil, nil, []string{"bad.npy", "empty"}},
		{"npy cut in the mark", matrix[:4], nil, []string{"bad.npy"}},
		{"npy cut in the version", matrix[:7], nil, []string{"bad.npy"}},
		{"npy cut in the header", matrix[:60], nil, []string{"bad.npy"}},
		{"npy cut before the values", matrix[:128], nil, []string{"bad.npy"}},
		{"npy cut in the values", matrix[:len(matrix)-1], nil, []string{"bad.npy"}},
		{"npy with more than the values", append(slices.Clone(matrix), 0), nil, []string{"bad.npy"}},
		{"npy of garbage", []byte("this is not an array"), nil, []string{"bad.npy", "numpy.save"}},
		{"npy of 2^60 rows", npyHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976, 4), }", 64), nil, []string{"bad.npy"}},
		{"npy of 2^40 rows", npyHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 4), }", 64), nil, []string{"bad.npy"}},
		{"npy of a negative side", npyHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (-4, 4), }", 64), nil, []string{"bad.npy"}},
		{"npy of Python objects", npyHeader("{'descr': '|O', 'fortran_order': False, 'shape': (4, 4), }", 64), nil, []string{"bad.npy"}},
		{"npy of text", npyHeader("{'descr': '<U4', 'fortran_order': False, 'shape': (2, 2), }", 64), nil, []string{"bad.npy", "text"}},
		{"npy of one side", npyFile(t, values(nil), rows*cols), nil, []string{"bad.npy"}},
		{"npy of three sides", npyFile(t, values(nil), rows/2, 2, cols), nil, []string{"bad.npy", "3 sides"}},
		{"npy with NaN inside a row", changed(func(x []float32) { x[7*cols+1] = nan }), nil, []string{"bad.npy", "row 7", "NaN", "fill"}},
		{"npy with Inf", changed(func(x []float32) { x[8*cols+2] = inf }), nil, []string{"bad.npy", "row 8", "column 2", "finite"}},
		{"npy of doubles beyond float32", npyDoubles(1e300), nil, []string{"bad.npy"}},
		{"npy of nothing but NaN", changed(func(x []float32) { fill(x, nan) }), nil, []string{"row 0", "remove the sample"}},
		{"npy with a sample of no view", changed(func(x []float32) { fill(x[5*cols:6*cols], nan) }), nil, []string{"row 5", "remove the sample"}},
		{"npy of 0 samples", npyFile(t, []float32{}, 0, cols), nil, []string{"bad.npy"}},
		{"npy of 1 sample", npyFile(t, values(nil)[:cols], 1, cols), nil, []string{"bad.npy", "at least 3"}},
		{"npy of 2 samples", npyFile(t, values(nil)[:2*cols], 2, cols), nil, []string{"bad.npy", "at least 3"}},
		{"npy of 0 dimensions", npyFile(t, []float32{}, rows, 0), nil, []string{"bad.npy"}},
		{"npy that is constant", changed(func(x []float32) { fill(x, 2) }), fit("good.npy", "bad.npy"), []string{"bad.npy", "constant", "drop this view"}},
		{"npy of zeros", changed(func(x []float32) { fill(x, 0) }), fit("good.npy", "bad.npy"), []string{"bad.npy", "zeros", "drop this view"}},
		{"npy with a row of zeros", changed(func(x []float32) { fill(x[9*cols:10*cols], 0) }), nil, []string{"bad.npy", "row 9", "zeros", "l2"}},
		{"npy too large for l3", changed(func(x []float32) { x[0] = 1e20 }), fit("bad.npy", "--metric", "l3"), []string{"bad.npy", "too large", "scale"}},

		// Archives of them.
		{"npz empty", nil, nil, []string{"bad.npz", "empty"}},
		{"npz cut in half", pair[:len(pair)/2], nil, []string{"bad.npz"}},
		{"npz cut in the directory", pair[:len(pair)-30], nil, []string{"bad.npz"}},
		{"npz cut at the end", pair[:len(pair)-1], nil, []string{"bad.npz"}},
		{"npz with a changed byte", flip(pair, 300), nil, []string{"bad.npz", "view0"}},
		{"npz without arrays", zipFile(t), nil, []string{"bad.npz", "no array"}},
		{"npz that is a bomb", bomb(t), nil, []string{"bad.npz", "view0"}},
		{"npz of many matrices", npzFile(t, named{"a", []int{rows, cols}, values(nil)}, named{"b", []int{rows, cols}, values(nil)}), nil, []string{"bad.npz", "a and b", "FILE:NAME"}},
		{"npz of unequal views", npzFile(t, named{"view0", []int{rows, cols}, values(nil)}, named{"view1", []int{rows / 2, 2 * cols}, values(nil)}), nil, []string{"bad.npz"}},
		{"npz without the name", pair, fit("bad.npz:view7"), []string{"bad.npz", "view7", "view0 and view1"}},
		{"npz and a view too many", pair, fit("bad.npz", "--views", "0,2"), []string{"2", "--views"}},
		{"npz and a negative view", pair, fit("bad.npz", "--views", "-1"), []string{"-1", "--views"}},
		{"npz and a view of another name", pair, fit("bad.npz", "--views", "sound"), []string{"sound", "--views"}},

		// MATLAB files.
		{"mat empty", nil, nil, []string{"bad.mat"}},
		{"mat cut in the header", mat[:100], nil, []string{"bad.mat"}},
		{"mat cut in a tag", mat[:132], nil, []string{"bad.mat"}},
		{"mat cut in the sides", mat[:162], nil, []string{"bad.mat"}},
		{"mat cut in the values", mat[:len(mat)-8], nil, []string{"bad.mat"}},
		{"mat of more values than bytes", mat5("X", 1<<30, 1<<30, values(nil)), nil, []string{"bad.mat"}},
		{"mat with NaN inside a row", mat5("X", rows, cols, values(func(x []float32) { x[7] = nan })), nil, []string{"bad.mat", "row 7", "NaN"}},
		{"mat 7.3 cut in the header", v73[:520], fit("bad.mat:grid"), []string{"bad.mat"}},
		{"mat 7.3 cut in half", v73[:len(v73)/2], fit("bad.mat:grid"), []string{"bad.mat"}},
		{"mat 7.3 cut at the end", v73[:len(v73)-1], fit("bad.mat:grid"), []string{"bad.mat"}},
		{"mat 7.3 without the name", v73, fit("bad.mat:gird"), []string{"bad.mat", "gird", "grid"}},
		{"mat 7.3 of text", v73, fit("bad.mat:word"), []string{"bad.mat", "word"}},

		// Single cells.
		{"h5ad empty", nil, nil, []string{"bad.h5ad", "no HDF5 file"}},
		{"h5ad of text", []byte("cell,gene\n"), nil, []string{"bad.h5ad", "no HDF5 file"}},
		{"h5ad cut in half", cells[:len(cells)/2], nil, []string{"bad.h5ad", "shorter"}},
		{"h5ad cut at the end", cells[:len(cells)-1], nil, []string{"bad.h5ad", "1 byte shorter"}},
		{"h5ad without obs", bytes.Replace(cells, []byte("obs\x00"), []byte("obz\x00"), 1), nil, []string{"bad.h5ad", "no obs"}},
		{"h5ad with a cell twice", bytes.Replace(cells, []byte("cell-07"), []byte("cell-03"), 1), nil, []string{"bad.h5ad", "rows 3 and 7", "cell-03"}},
		{"h5ad without the matrix", cells, fit("bad.h5ad:X_pca"), []string{"bad.h5ad", "X_pca", "only X"}},
		{"h5ad by a column", cells, fit("bad.h5ad:obs/good"), []string{"bad.h5ad", "obs/good", "only X"}},
		{"h5ad truth without the column", cells, fit("bad.h5ad", "--truth", "bad.h5ad:donor"), []string{"bad.h5ad", "donor", "celltype and good"}},
		{"h5ad truth without a name", cells, fit("bad.h5ad", "--truth", "bad.h5ad"), []string{"bad.h5ad", "celltype and good", "FILE:NAME"}},

		// Parquet and Arrow.
		{"parquet empty", nil, nil, []string{"bad.parquet", "too short", "copy it again"}},
		{"parquet cut in the middle", emb[:len(emb)/2], nil, []string{"bad.parquet", "truncated"}},
		{"parquet cut at the end", emb[:len(emb)-1], nil, []string{"bad.parquet", "truncated"}},
		{"parquet with a long footer", append(slices.Clone(emb[:len(emb)-8]), "\xff\xff\xff\x7fPAR1"...), nil, []string{"bad.parquet", "footer of 2147483647 bytes"}},
		{"parquet encrypted", append([]byte("PARE"), emb[4:]...), nil, []string{"bad.parquet", "encrypted"}},
		{"parquet with NaN in a row", parquetFile(t, ids("s"), func(x []float32) { x[3*cols+1] = nan }), nil, []string{"bad.parquet:emb", "s3", "NaN"}},
		{"parquet with Inf", parquetFile(t, ids("s"), func(x []float32) { x[3*cols+1] = float32(math.Inf(1)) }), nil, []string{"bad.parquet:emb", "s3"}},
		{"parquet with an id twice", parquetFile(t, func(int) string { return "same" }, nil), nil, []string{"bad.parquet", "rows 0 and 1", "same"}},
		{"parquet with an empty id", parquetFile(t, func(i int) string { return strings.Repeat("s", i) }, nil), nil, []string{"bad.parquet", "row 0", "empty id"}},
		{"parquet without the column", emb, fit("bad.parquet:text"), []string{"bad.parquet", "text", "id and emb"}},
		{"parquet by a column of single values", emb, fit("bad.parquet:id"), []string{"bad.parquet", "single", "leave out its name"}},
		{"parquet without the id column", emb, fit("bad.parquet", "--id", "name"), []string{"--id name", "column"}},
		{"parquet truth of lists", emb, fit("good.npy", "--truth", "bad.parquet:emb"), []string{"bad.parquet", "emb", "single values"}},
		{"arrow empty", nil, nil, []string{"bad.arrow", "empty"}},
		{"arrow cut at the end", []byte("ARROW1\x00\x00\xff\xff\xff\xff"), nil, []string{"bad.arrow", "damaged"}},
		{"arrow of another kind", []byte("remember the milk\n"), nil, []string{"bad.arrow", "damaged"}},
		{"feather of version 1", []byte("FEA1....FEA1"), nil, []string{"bad.feather", "version 2"}},

		// Tables.
		{"csv empty", nil, nil, []string{"bad.csv", "empty"}},
		{"csv of a header", []byte("id,x,y\n"), nil, []string{"bad.csv"}},
		{"csv with text for a number", csvFile("odd,1,much"), nil, []string{"bad.csv", "22", "much"}},
		{"csv with a short row", csvFile("odd,1"), nil, []string{"bad.csv", "22"}},
		{"csv with a long row", csvFile("odd,1,2,3"), nil, []string{"bad.csv", "22"}},
		{"csv cut in quotes", csvFile(`"odd,1,2`), nil, []string{"bad.csv"}},
		{"csv with an empty cell", csvFile("odd,1,"), nil, []string{"bad.csv", "NaN"}},
		{"csv with Inf", csvFile("odd,1,inf"), nil, []string{"bad.csv"}},
		{"csv with an id twice", csvFile("s3,1,2"), nil, []string{"bad.csv", "s3"}},
		{"csv of bytes", []byte("a,b\n\x00\xff\xfe,\x01\n\x02,\x03\n"), nil, []string{"bad.csv"}},
		{"csv without the id column", csvFile("odd,1,2"), fit("bad.csv", "--id", "name"), []string{"--id name", "column"}},

		// Models.
		{"mvclust empty", nil, predictions, []string{"bad.mvclust", "no whole model", "copy the file again"}},
		{"mvclust cut in half", saved[:len(saved)/2], predictions, []string{"bad.mvclust", "no whole model"}},
		{"mvclust cut at the end", saved[:len(saved)-1], predictions, []string{"bad.mvclust"}},
		{"mvclust with a changed byte", flip(saved, 200), predictions, []string{"bad.mvclust", "damaged", "copy the file again"}},
		{"mvclust with a changed row, to explain", flip(saved, 200), []string{"explain", "bad.mvclust", "0"}, []string{"bad.mvclust", "damaged", "rows 0 to 39 of view good.npy", "copy the file again"}},
		{"mvclust that is another archive", pair, predictions, []string{"bad.mvclust", "manifest.json"}},
		{"mvclust of a later version", npzWith(t, "manifest.json", `{"format":"mvclust model","version":9}`), predictions, []string{"bad.mvclust", "version 9", "newer mvclust"}},
		{"mvclust and views of other dimensions", saved, []string{"predict", "bad.mvclust", "short.npy"}, []string{"short.npy has 4 dimensions", "has 3", "NAME=VIEW"}},
		{"mvclust and a file that is missing", saved, []string{"update", "bad.mvclust", "gone.npy"}, []string{"gone.npy", "no such file"}},
		{"mvclust cut in half, to update", saved[:len(saved)/2], []string{"update", "bad.mvclust", "good.npy"}, []string{"bad.mvclust", "no whole model"}},

		// Constraints.
		{"csv must-link empty", nil, fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "lists no pair", "leave the file out"}},
		{"csv must-link of a header", []byte("one,other\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "lists no pair"}},
		{"csv must-link of one column", []byte("1\n2\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 1", "1 cell", "two ids"}},
		{"csv must-link with a short row", []byte("1,2\n3\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 2"}},
		{"csv must-link of three columns", []byte("1,2,3\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 1", "3 cells"}},
		{"csv must-link beyond the rows", []byte("1,2\n3,40\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 2", "40", "from 0 to 39"}},
		{"csv must-link of half a header", []byte("1,other\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 1", "other"}},
		{"csv must-link with an empty cell", []byte("1,2\n3,\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 2"}},
		{"csv must-link with an empty line", []byte("1,2\n\n3,4\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 2", "empty"}},
		{"csv must-link of bytes", []byte("1,\x00\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "plain text"}},
		{"csv must-link to itself", []byte("1,2\n7,7\n"), fit("good.npy", "--must-link", "bad.csv"), []string{"bad.csv", "line 2", "sample 7", "itself"}},
		{"csv cannot-link to itself", []byte("one,other\n7,7\n"), fit("good.npy", "--cannot-link", "bad.csv"), []string{"bad.csv", "line 2", "sample 7", "itself"}},
		{"csv cannot-link of an unknown id", []byte("s1,s2\nnobody,s3\n"), fit("good.csv", "--cannot-link", "bad.csv"), []string{"bad.csv", "line 2", "nobody", "correct it"}},
		{"csv links that contradict each other", []byte("1,2\n"), fit("good.npy", "--must-link", "bad.csv", "--cannot-link", "bad.csv"), []string{"bad.csv, line 1", "sample 1 and sample 2", "remove one"}},
		{"csv must-link with a name", []byte("1,2\n"), fit("good.npy", "--must-link", "bad.csv:a"), []string{"bad.csv", ":a", "the file alone"}},
		{"csv distinct without the column", []byte("photo,face\n1,2\n"), fit("good.npy", "--distinct", "bad.csv:film"), []string{"bad.csv", "film", "photo and face"}},
		{"csv distinct of another length", []byte("photo\n1\n"), fit("good.npy", "--distinct", "bad.csv:photo"), []string{"bad.csv", "1 group for 40 samples"}},
		{"csv distinct without an id", []byte("id,photo\ns1,1\n"), fit("good.csv", "--distinct", "bad.csv:photo"), []string{"bad.csv", "no group", "s0", "add a row"}},
		{"npy must-link", npyFile(t, []float32{1, 2}, 1, 2), fit("good.npy", "--must-link", "bad.npy"), []string{"bad.npy", "no table", ".csv"}},
		{"parquet must-link of lists", emb, fit("good.npy", "--must-link", "bad.parquet"), []string{"bad.parquet", "emb", "single values"}},
		{"parquet must-link of an unknown id", pairsFile(t, "s1", "nobody"), fit("good.csv", "--must-link", "bad.parquet"), []string{"bad.parquet", "row 1 (counted from 0)", "nobody"}},
		{"constraints that are missing", nil, fit("good.npy", "--cannot-link", "gone.csv"), []string{"gone.csv", "no such file"}},

		// What goes together.
		{"two files of unequal length", nil, fit("good.npy", "short.npy"), []string{"good.npy", "short.npy"}},
		{"a missing file", nil, fit("gone.npy"), []string{"gone.npy", "no such file", "check the path"}},
		{"a folder for a file", nil, fit("folder"), []string{"folder", "directory"}},
		{"a file of unknown format", nil, fit("notes.doc"), []string{"notes.doc", "format"}},
		{"an empty name", nil, fit("good.npy:"), []string{"good.npy:", "FILE:NAME"}},
		{"K of all samples", nil, fit("good.npy", "--neighbors", "40"), []string{"--neighbors: 40 is not between 1 and 39"}},
		{"more metrics than views", nil, fit("good.npy", "--metric", "l1,l2"), []string{"--metric: 2 metrics for 1 views", "one per view"}},
		{"an unknown metric", nil, fit("good.npy", "--metric", "l4"), []string{"--metric", "l4", "choose cosine"}},
		{"an unknown preset", nil, fit("good.npy", "--preset", "fast"), []string{"--preset", "fast", "choose auto or paper"}},
		{"an unknown setting", nil, fit("good.npy", "--param", "speed=9"), []string{"--param speed", "fit --help"}},
		{"a setting out of range", nil, fit("good.npy", "--param", "edge-clip=0.5"), []string{"--param edge-clip", "0.5", "0.49"}},
		{"truth of another length", nil, fit("good.npy", "--truth", "short.csv"), []string{"short.csv", "40"}},
		{"truth that is missing", nil, fit("good.npy", "--truth", "gone.csv"), []string{"gone.csv", "no such file"}},
		{"an index that is missing", nil, fit("good.npy", "--index", "gone.mat:index"), []string{"gone.mat", "no such file"}},
		{"ids that are too few", nil, fit("good.npy", "--id", "short.csv"), []string{"39 ids", "40"}},
	}
}

// savedModelFile returns the model of a fit of values.
func savedModelFile(t *testing.T) []byte {
	t.Helper()
	v, err := mvclust.NewView("good.npy", rows, cols, values(nil))
	if err != nil {
		t.Fatal(err)
	}
	result, err := mvclust.Fit(t.Context(), []*mvclust.View{v}, mvclust.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := mvclust.NewModel([]*mvclust.View{v}, result, nil).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fill(x []float32, value float32) {
	for i := range x {
		x[i] = value
	}
}

// flip returns b with one byte changed.
func flip(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 0x40
	return b
}

// npyDoubles returns a matrix of doubles, 4 x 2, whose last is x.
func npyDoubles(x float64) []byte {
	b := npyHeader("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2), }", 7*8)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// Every malformed input gets exit status 2 and one line that says what is wrong,
// and leaves nothing behind.
func TestMalformed(t *testing.T) {
	for _, m := range malformedRuns(t) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "good.npy", npyFile(t, values(nil), rows, cols))
			write(t, dir, "good.csv", []byte("id,x,y\n"+lines(rows, func(i int) string { return fmt.Sprintf("s%d,%d,%d", i, i%7, i%5+1) })))
			write(t, dir, "short.npy", npyFile(t, values(nil)[:4*(rows/2)], rows/2, 4))
			write(t, dir, "short.csv", []byte(lines(rows-1, func(i int) string { return fmt.Sprint("c", i) })))
			write(t, dir, "notes.doc", []byte("remember the milk\n"))
			if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
				t.Fatal(err)
			}
			bad := "bad." + strings.Fields(m.name)[0]
			write(t, dir, bad, m.file)
			args := m.args
			if args == nil {
				args = []string{"fit", bad}
			}
			before := names(t, dir)
			flags := []string{args[0], "--quiet", "--output", filepath.Join("new", "out")}
			switch args[0] {
			case "explain":
				flags = flags[:1] // which has no such flags, and writes nothing
			case "fit":
				flags = append(flags, "--preset", "paper", "--param", "epochs=2")
			}
			o := command(t, dir, append(flags, args[1:]...)...)
			if o.status != statusFailed {
				t.Errorf("exit status %d", o.status)
			}
			if o.stdout != "" {
				t.Errorf("standard output: %q", o.stdout)
			}
			if !isLine(o.stderr) || !strings.HasPrefix(o.stderr, "mvclust: ") {
				t.Errorf("standard error is not one line: %q", o.stderr)
			}
			for _, w := range m.want {
				if !strings.Contains(o.stderr, w) {
					t.Errorf("%q is not in %q", w, o.stderr)
				}
			}
			wantNames(t, dir, before...)
		})
	}
}

// The output folder is looked at before the work begins: the views do not exist.
func TestUnwritableOutput(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", nil)
	for _, out := range []string{"file", "file/below", "file/far/below"} {
		o := command(t, dir, "fit", "gone.npy", "--output", out)
		if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, "the output folder "+out+" cannot be written") || !strings.Contains(o.stderr, "--output") {
			t.Errorf("%s: exit status %d, %q", out, o.status, o.stderr)
		}
	}
	wantNames(t, dir, "file")
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write to any folder")
	}
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"locked", "locked/below"} {
		if o := command(t, dir, "fit", "gone.npy", "--output", out); o.status != statusFailed || !strings.Contains(o.stderr, "permission denied") {
			t.Errorf("%s: exit status %d, %q", out, o.status, o.stderr)
		}
	}
}

func TestUnreadableInput(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read any file")
	}
	dir := t.TempDir()
	write(t, dir, "locked.npy", npyFile(t, values(nil), rows, cols))
	if err := os.Chmod(filepath.Join(dir, "locked.npy"), 0); err != nil {
		t.Fatal(err)
	}
	o := command(t, dir, "fit", "locked.npy", "--quiet")
	if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, "locked.npy") || !strings.Contains(o.stderr, "permission denied") {
		t.Errorf("exit status %d, %q", o.status, o.stderr)
	}
	wantNames(t, dir, "locked.npy")
}

// A result must not replace an input, nor a folder of its name.
func TestOutputOverInput(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "view.npy", npyFile(t, values(nil), rows, cols))
	truth := lines(rows, func(i int) string { return fmt.Sprint("c", i%3) })
	write(t, dir, "labels.csv", []byte(truth))
	o := command(t, dir, quick("view.npy", "--truth", "labels.csv", "--quiet", "--output", ".")...)
	if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, "would replace the input labels.csv") {
		t.Errorf("exit status %d, %q", o.status, o.stderr)
	}
	if read(t, dir, "labels.csv") != truth {
		t.Error("the input was changed")
	}
	if err := os.Mkdir(filepath.Join(dir, "run.json"), 0o777); err != nil {
		t.Fatal(err)
	}
	o = command(t, dir, quick("view.npy", "--quiet", "--output", ".")...)
	if o.status != statusFailed || !isLine(o.stderr) || !strings.Contains(o.stderr, "run.json is in the way") {
		t.Errorf("exit status %d, %q", o.status, o.stderr)
	}
	wantNames(t, dir, "labels.csv", "run.json", "view.npy")
}
