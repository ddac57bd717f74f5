package dataset

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSplitSource(t *testing.T) {
	files := []string{"a.npz", "a:b.npz", "a:b", `C:\a.npz`, "x:"}
	for source, want := range map[string][2]string{
		"a.npz":           {"a.npz", ""},
		"a.npz:view0":     {"a.npz", "view0"},
		"a.npz:p:q":       {"a.npz", "p:q"},
		"a:b.npz":         {"a:b.npz", ""},
		"a:b.npz:X":       {"a:b.npz", "X"},
		"a:b:c":           {"a:b", "c"},
		`C:\a.npz`:        {`C:\a.npz`, ""},
		`C:\a.npz:X{2}`:   {`C:\a.npz`, "X{2}"},
		"x:":              {"x:", ""},
		"x::y":            {"x:", "y"},
		"a.npz:":          {"a.npz", ""},
		"b.npz":           {},
		"b.npz:X":         {},
		":a.npz":          {},
		"":                {},
		":":               {},
		"a.npz.old:a.npz": {},
	} {
		path, name, ok := splitSource(source, contained(files))
		if got := [2]string{path, name}; got != want || ok != (want[0] != "") {
			t.Errorf("%q: %q, %v, want %q", source, got, ok, want)
		}
	}
}

func contained(files []string) func(string) bool {
	return func(path string) bool { return slices.Contains(files, path) }
}

func FuzzSplitSource(f *testing.F) {
	f.Add("a.npz:view0", "a.npz")
	f.Add("a:b:c", "a:b")
	f.Add("a::", "a:")
	f.Add(":x", "")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, source, file string) {
		path, name, ok := splitSource(source, contained([]string{file}))
		if !ok {
			if file != "" && (source == file || strings.HasPrefix(source, file+":")) {
				t.Fatalf("%q does not find the file %q", source, file)
			}
			return
		}
		if path != file || source != path && source != path+":"+name {
			t.Fatalf("%q with the file %q gives %q and %q", source, file, path, name)
		}
	})
}

func TestFormat(t *testing.T) {
	block := strings.Repeat(" ", 124)
	for _, c := range []struct{ head, path, want string }{ // want is the first of its extensions
		{"\x93NUMPY\x01\x00", "a.csv", ".npy"},
		{"PK\x03\x04...", "a", ".npy"},
		{"PK\x05\x06...", "a.mat", ".npy"},
		{block + "\x00\x01IM", "a.txt", ".mat"},
		{block + "\x01\x00MI", "a", ".mat"},
		{"\x89HDF\r\n\x1a\n", "a", ".mat"},
		{block + "\x00\x02IM" + strings.Repeat(" ", 384) + "\x89HDF\r\n\x1a\n", "a", ".mat"},
		{block + "12IM", "a.csv", ".csv"},
		{"1,2", "a.CSV", ".csv"},
		{"1,2", "a.tsv", ".csv"},
		{"1 2", "a.txt", ".csv"},
		{"", "a.npy", ".npy"},
		{"", "a.npz", ".npy"},
		{"", "a.mat", ".mat"},
		{"PAR1....", "a", ".parquet"},
		{"PARE....", "a.csv", ".parquet"},
		{"", "a.parquet", ".parquet"},
		{"ARROW1\x00\x00", "a.txt", ".arrow"},
		{"\xff\xff\xff\xff\x10\x00\x00\x00", "a", ".arrow"},
		{"FEA1", "a", ".arrow"},
		{"", "a.arrow", ".arrow"},
		{"", "a.feather", ".arrow"},
		{"\x89HDF\r\n\x1a\n", "a.h5ad", ".h5ad"},
		{"MuData (format-version=0.1.0;", "a.mat", ".h5ad"},
		{"", "a.H5MU", ".h5ad"},
		{"1,2", "a.dat", ""},
		{"", "npy", ""},
	} {
		got := ""
		if f := formatOf([]byte(c.head), c.path); f != nil {
			got = f.extensions[0]
		}
		if got != c.want {
			t.Errorf("%q in %s: %q, want %q", c.head, c.path, got, c.want)
		}
	}
}

// Every format has one way to be opened, its marks lie within what is read of a file, and
// no extension is another's.
func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range formats {
		ways := 0
		for _, has := range []bool{f.arrays != nil, f.columns != nil, f.text != nil, f.cells != nil} {
			if has {
				ways++
			}
		}
		if ways != 1 || len(f.extensions) == 0 {
			t.Errorf("%v: %d ways to open it", f.extensions, ways)
		}
		for _, e := range f.extensions {
			if seen[e] || !strings.Contains(Extensions(), e) {
				t.Errorf("the extension %s stands twice, or not in %q", e, Extensions())
			}
			seen[e] = true
		}
		for _, m := range f.marks {
			if m.at+len(m.bytes) > headBytes {
				t.Errorf("%v: the mark at %d is beyond the first %d bytes", f.extensions, m.at, headBytes)
			}
		}
	}
	if all := Extensions(); !strings.HasPrefix(all, ".npy, .npz, ") || !strings.HasSuffix(all, ", .tsv or .txt") {
		t.Errorf("extensions %q", all)
	}
}

func TestFormatByContent(t *testing.T) {
	f := newFolder(t)
	set := f.load(Options{}, f.npy("a.csv", matrix("", 5, 3)), f.mat("b", matrix("fea", 5, 2)), f.text("c.txt", "1\t2", "3\t4", "5\t6", "7\t8", "9\t1"))
	f.shows(set, "a.csv 5 x 3", "b:fea 5 x 2", "c.txt 5 x 2")
}

func TestPathWithColons(t *testing.T) {
	f := newFolder(t)
	path := f.npz("run:1/a:b.npz", matrix("p", 4, 2), matrix("q:r", 4, 3))
	f.shows(f.load(Options{}, path+":q:r", path+":p"), "a:b.npz:q:r 4 x 3", "a:b.npz:p 4 x 2")
}

func TestUnusableFiles(t *testing.T) {
	f := newFolder(t)
	good := f.npz("good.npz", matrix("view0", 4, 2))
	secret := f.npy("secret.npy", matrix("", 4, 2))
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ source, words string }{
		{filepath.Join(f.dir, "none.npy"), "none.npy: there is no such file; check"},
		{filepath.Join(f.dir, "none.npy") + ":X", "none.npy:X: there is no such file; check"},
		{f.dir, "is a directory; name"},
		{good + ":", "no name follows the colon; write FILE:NAME"},
		{good + ":view1", `good.npz: holds no array "view1", only view0; name`},
		{filepath.Join(good, "x"), "cannot be read"},
		{f.write("a.bin", []byte("hello")), "a.bin: is in no known format; give a .npy"},
		{f.write("empty.npy", nil), "empty.npy: "},
		{f.write("empty.csv", nil), "empty.csv: "},
		{f.write("empty.mat", nil), "empty.mat: is empty (0 bytes); "},
		{f.write("cut.npy", []byte("\x93NUMPY\x01\x00")), "cut.npy: "},
		{f.write("cut.mat", []byte("MATLAB 5.0")), "cut.mat: "},
	} {
		f.refuse(Options{}, []string{c.source}, c.words)
	}
	if os.Getuid() != 0 {
		f.refuse(Options{}, []string{secret}, "secret.npy: cannot be read", "permission")
	}
	f.refuse(Options{}, nil, "no view is named")
	f.refuse(Options{}, []string{""}, "no such file")
	f.refuse(Options{}, []string{os.DevNull}, "is not a regular file")
}

func TestFiles(t *testing.T) {
	f := newFolder(t)
	a := f.npz("a.npz", matrix("view0", 4, 2), matrix("view1", 4, 3))
	b := f.npy("b.npy", matrix("", 4, 5))
	ids := f.text("ids.csv", "id,x", "p,1", "q,2", "r,3", "s,4")
	index := f.mat("i.mat", entry{"index", nil, []entry{ints("", 1, 2, 3, 4), ints("", 1), ints("", 2)}})
	set := f.load(Options{ID: ids, Index: index + ":index"}, a+":view1", b, filepath.Join(f.dir, ".", "a.npz")+":view0")
	if len(set.Files) != 4 {
		t.Fatalf("files %v", set.Files)
	}
	for i, path := range []string{a, b, ids, index} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := File{path, int64(len(content)), fmt.Sprintf("%x", sha256.Sum256(content))}
		if set.Files[i] != want {
			t.Errorf("file %d: %v, want %v", i, set.Files[i], want)
		}
	}
}

func TestCancelled(t *testing.T) {
	f := newFolder(t)
	path := f.npz("a.npz", matrix("view0", 4, 2), labels(0, 0, 1, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, []string{path}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Load: %v", err)
	}
	if _, err := Labels(ctx, path, nil, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Labels: %v", err)
	}
}

// manyPieces returns sources of each format, of several pieces each, of 40000 samples.
func manyPieces(f folder) map[string]string {
	const n, d = 40000, 16
	views := entry{"view0", []int{n, d}, ramp(n, d, 0)}
	across := entry{"view0", []int{d, n}, flip(ramp(n, d, 0), n, d)}
	row := strings.TrimSuffix(strings.Repeat("1.25000,", d), ",")
	return map[string]string{
		"npy":  f.npy("a.npy", views),
		"npz":  f.npz("a.npz", views),
		"mat":  f.mat("a.mat", views),
		"turn": f.mat("b.mat", across),
		"csv":  f.text("a.csv", slices.Repeat([]string{row}, n)...),
		"parq": f.parquet("a.parquet", lists("x", d, noise(n*d)...)),
	}
}

// noise is values that cannot be packed.
func noise(n int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, n)
	for i := range x {
		x[i] = r.Float32()
	}
	return x
}

// The reading tells how far it is, from nothing to all bytes, without going back.
func TestProgress(t *testing.T) {
	f := newFolder(t)
	for name, path := range manyPieces(f) {
		stat, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		last, calls := int64(-1), 0
		f.load(Options{Progress: func(done, total int64) {
			if calls++; done < last || calls == 1 && done != 0 || done > total || total != stat.Size() {
				t.Errorf("%s: %d of %d after %d, where the file has %d", name, done, total, last, stat.Size())
			}
			last = done
		}}, path)
		if last < stat.Size()-1000 || calls < 3 { // a header is not read again
			t.Errorf("%s: ended after %d calls at %d of %d", name, calls, last, stat.Size())
		}
	}
}

// Reading stops at the next piece once the context is done.
func TestCancelledWhileReading(t *testing.T) {
	f := newFolder(t)
	for name, path := range manyPieces(f) {
		ctx, cancel := context.WithCancel(t.Context())
		after := 0
		_, err := Load(ctx, []string{path}, Options{Progress: func(done, _ int64) {
			if ctx.Err() != nil {
				after++
			}
			if done > 0 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) || after > 0 {
			t.Errorf("%s: %d pieces were read after the end, and the error is %v", name, after, err)
		}
		cancel()
	}
}

// The sides are told before any value is read, and can end the reading.
func TestSides(t *testing.T) {
	f := newFolder(t)
	enough := errors.New("enough")
	for _, c := range []struct {
		name    string
		opt     Options
		sources []string
		want    string
	}{
		{"npy", Options{}, []string{f.npy("a.npy", matrix("", 7, 3))}, "7 [3]"},
		{"npz", Options{Views: []string{"1"}}, []string{f.npz("a.npz", matrix("view0", 7, 3), matrix("view1", 7, 4))}, "7 [4]"},
		{"columns", Options{}, []string{f.mat("a.mat", matrix("X1", 3, 9), matrix("X2", 9, 2), ints("Y", 1, 1, 1, 2, 2, 2, 3, 3, 3))}, "9 [3 2]"},
		{"cells", Options{}, []string{f.mat("b.mat", entry{"X", nil, []entry{matrix("", 5, 2), matrix("", 5, 6)}})}, "5 [2 6]"},
		{"table", Options{}, []string{f.text("a.csv", "1,2", "3,4", "5,6")}, "3 [2]"},
		{"joined", Options{}, []string{f.text("b.csv", "id,x", "p,1", "q,2"), f.text("c.csv", "id,x,y", "r,1,2", "q,2,3")}, "3 [1 2]"},
	} {
		told := ""
		c.opt.Sides = func(samples int, dims []int, _ int64) error {
			told = fmt.Sprint(samples, dims)
			return enough
		}
		c.opt.Progress = func(int64, int64) { t.Errorf("%s: values are read", c.name) }
		if _, err := Load(t.Context(), c.sources, c.opt); !errors.Is(err, enough) || told != c.want {
			t.Errorf("%s: told %s, want %s; the error is %v", c.name, told, c.want, err)
		}
		c.opt.Progress, enough = nil, nil
		set := f.load(c.opt, c.sources...)
		var dims []int
		for _, v := range set.Views {
			dims = append(dims, v.Dims)
		}
		if read := fmt.Sprint(set.Views[0].Samples, dims); read != told {
			t.Errorf("%s: told %s, read %s", c.name, told, read)
		}
		enough = errors.New("enough")
	}
}
