package anndata

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// kept returns the files of a name in testdata.
func kept(t testing.TB, names ...string) (files [][]byte) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

func open(b []byte) (*File, error) { return Open(bytes.NewReader(b), int64(len(b))) }

// checkAny asks for everything in a file of any bytes: there may be errors, but no panic, and
// as many values as the listing says.
func checkAny(t *testing.T, b []byte) {
	f, err := open(b)
	if err != nil {
		return
	}
	_, _, _ = f.Views()
	_, _ = f.All()
	for i, a := range f.Arrays() {
		if len(a.Shape) == 0 || a.Len() > 1<<20 { // a sparse matrix may be large in earnest
			continue
		}
		_, _ = f.IDs(i)
		if v, err := f.Float32(i); err == nil && len(v) != a.Len() {
			t.Errorf("%d values in %+v", len(v), a)
		}
		if v, err := f.Int64(i); err == nil && len(v) != a.Len() {
			t.Errorf("%d whole values in %+v", len(v), a)
		}
		if v, err := f.Text(i); err == nil && len(v) != a.Len() {
			t.Errorf("%d strings in %+v", len(v), a)
		}
		if len(a.Shape) == 2 {
			if v, err := f.Turned(i); err == nil && len(v) != a.Len() {
				t.Errorf("%d turned values in %+v", len(v), a)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, b := range kept(f, "small.h5ad", "small-latest.h5ad", "small.h5mu") {
		f.Add(b)
		for at := 0; at < len(b); at += 197 {
			f.Add(slices.Replace(slices.Clone(b), at, at+1, b[at]^0x41))
		}
	}
	f.Fuzz(checkAny)
}

// A file that ends early, or has a byte that is wrong, is an error or is read: nothing else.
func TestDamaged(t *testing.T) {
	for _, b := range kept(t, "small-latest.h5ad", "small.h5ad") {
		for n := 0; n < len(b); n += 331 {
			if f, err := open(b[:n]); err == nil {
				t.Errorf("%d bytes of %d are a file: %v", n, len(b), f.Arrays())
			}
		}
		for at := 0; at < len(b); at += 11 {
			b[at] ^= 0xff
			checkAny(t, b)
			b[at] ^= 0xff
		}
	}
}

// A damaged file takes no more memory than its bytes bear out.
func TestClaimsAllocateLittle(t *testing.T) {
	b := kept(t, "small-latest.h5ad")[0]
	var before, after runtime.MemStats
	for at := 0; at < len(b); at += 7 {
		old := b[at]
		b[at] = 0xff
		runtime.ReadMemStats(&before)
		checkAny(t, b)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
			t.Errorf("%d bytes allocated with byte %d of %d changed", got, at, len(b))
		}
		b[at] = old
	}
}

// What a name stands for, and what is refused by its name.
func TestNames(t *testing.T) {
	files := kept(t, "small.h5ad", "small.h5mu")
	for _, c := range []struct {
		file       []byte
		view, want string
	}{
		{files[0], "X", "X"},
		{files[0], "X_pca", `holds no matrix "X_pca", only X; name one of these`},
		{files[0], "obs/good", `holds no matrix "obs/good", only X; name one of these`},
		{files[1], "rna", "mod/rna/X"},
		{files[1], "atac/X", "mod/atac/X"},
		{files[1], "mod/atac/X", "mod/atac/X"},
		{files[1], "X", `holds no matrix "X", only mod/rna/X and mod/atac/X; name one of these`},
	} {
		f, err := open(c.file)
		if err != nil {
			t.Fatal(err)
		}
		i, err := f.View(c.view)
		if err != nil && err.Error() != c.want || err == nil && f.Arrays()[i].Name != c.want {
			t.Errorf("%s is array %d, %v; want %s", c.view, i, err, c.want)
		}
	}
	f, err := open(files[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"rna:celltype":          "mod/rna/obs/celltype",
		"mod/atac/obs/celltype": "mod/atac/obs/celltype",
		"celltype":              `has a column "celltype" in obs of several modalities`,
		"donor":                 `has no column "donor" in obs, only rna:celltype`,
	} {
		i, err := f.Column(name)
		if err != nil && !strings.HasPrefix(err.Error(), want) || err == nil && f.Arrays()[i].Name != want {
			t.Errorf("%s is array %d, %v; want %s", name, i, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	b := kept(t, "small.h5ad")[0]
	changed := func(from, to string) []byte {
		if !bytes.Contains(b, []byte(from)) {
			t.Fatalf("no %q", from)
		}
		return bytes.Replace(b, []byte(from), []byte(to), 1)
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "is no HDF5 file"},
		{"text", []byte(strings.Repeat("cell,gene\n", 100)), "is no HDF5 file"},
		{"cut", b[:len(b)-9], "is 9 bytes shorter than its HDF5 superblock says"},
		{"superblock", slices.Replace(slices.Clone(b), 8, 9, 9), "uses HDF5 superblock version 9, which cannot be read; read it with anndata"},
		{"no obs", changed("obs\x00", "obz\x00"), "holds no obs"},
		{"no index", changed("barcode", "barcodf"), "obs has no names of its rows"},
	} {
		if _, err := open(c.b); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s...", c.name, err, c.want)
		}
	}
}
