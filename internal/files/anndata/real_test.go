package anndata

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/files/array"
)

// expected is what h5py and anndata read of a file; testdata/variants.py writes it.
type expected struct {
	Arrays map[string]struct {
		Shape  []int
		Values []any
	}
	IDs    map[string][]string
	Obsmap map[string][]int
}

// Files that anndata and h5py write read the same here as there, in every variant of HDF5.
func TestVariants(t *testing.T) {
	if testing.Short() {
		t.Skip("writes files with Python")
	}
	const python = "/usr/bin/python3"
	if err := exec.CommandContext(t.Context(), python, "-c", "import anndata, h5py, scipy").Run(); err != nil {
		t.Skipf("%s has no anndata: %v", python, err)
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "variants.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := compareAll(t, dir); n < 30 {
		t.Errorf("only %d variants were written", n)
	}
}

// A few of the variants, so that they are read without Python too.
func TestKept(t *testing.T) {
	if n := compareAll(t, "testdata"); n < 3 {
		t.Errorf("only %d files were found", n)
	}
}

// Files of other versions and programs, in the folder that MVCLUST_CELLS names, with what
// testdata/variants.py --expect makes of them.
func TestRealFiles(t *testing.T) {
	dir := os.Getenv("MVCLUST_CELLS")
	if dir == "" {
		t.Skip("MVCLUST_CELLS names no folder of files")
	}
	compareAll(t, dir)
}

// compareAll compares the files of a folder that have a file of what they should read as.
func compareAll(t *testing.T, dir string) int {
	t.Helper()
	lists, err := filepath.Glob(filepath.Join(dir, "*.h5*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		t.Run(strings.TrimSuffix(filepath.Base(list), ".json"), func(t *testing.T) {
			var want expected
			text, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(strings.TrimSuffix(list, ".json"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, b, &want)
		})
	}
	return len(lists)
}

// compare reads everything in the file that b holds.
func compare(t *testing.T, b []byte, want *expected) {
	t.Helper()
	f, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range want.Arrays {
		i := f.find(name)
		if i < 0 {
			t.Errorf("%s is not listed", name)
			continue
		}
		if info := f.Arrays()[i]; !slices.Equal(info.Shape, w.Shape) {
			t.Errorf("%s has the shape %v, want %v (%v)", name, info.Shape, w.Shape, f.wrong(i))
			continue
		}
		compareArray(t, f, i, w.Values)
	}
	for _, p := range f.parts {
		ids, err := f.cells(p)
		if err != nil {
			t.Error(err)
			continue
		}
		own := want.IDs[p.path]
		if rows := want.Obsmap[p.name]; rows != nil {
			own = make([]string, len(own))
			for cell, row := range rows {
				if row > 0 {
					own[row-1] = want.IDs[""][cell]
				}
			}
		}
		if !slices.Equal(ids, own) {
			t.Errorf("the cells of %q are %q, want %q", p.path, ids, own)
		}
	}
}

// compareArray compares numbers, or text where text is wanted.
func compareArray(t *testing.T, f *File, i int, want []any) {
	t.Helper()
	name := f.Arrays()[i].Name
	isText := slices.ContainsFunc(want, func(x any) bool { _, is := x.(string); return is })
	if isText {
		got, err := f.Text(i)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d values for %d, %v", name, len(got), len(want), err)
			return
		}
		for k, x := range want {
			if got[k] != x {
				t.Errorf("%s is %q at %d, want %q", name, got[k], k, x)
				return
			}
		}
		return
	}
	got, err := f.Float32(i)
	if err != nil || len(got) != len(want) {
		t.Errorf("%s: %d values for %d, %v", name, len(got), len(want), err)
		return
	}
	for k, x := range want {
		number, is := x.(float64)
		if !is {
			number = math.NaN()
		}
		if w := float32(number); got[k] != w && (w == w || got[k] == got[k]) {
			t.Errorf("%s is %g at %d, want %g", name, got[k], k, w)
			return
		}
	}
}

var _ array.File = (*File)(nil)
