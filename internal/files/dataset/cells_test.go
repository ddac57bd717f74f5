package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cells returns a file of single cells: 24 cells with the ids cell-00 to cell-23.
func (f folder) cells(name string) string {
	f.Helper()
	b, err := os.ReadFile(filepath.Join("..", "anndata", "testdata", name))
	if err != nil {
		f.Fatal(err)
	}
	return f.write(name, b)
}

// The views of a .h5mu file are its modalities. Its list of all cells is the samples, and its
// maps say who lacks a modality, in whatever order the modality has its cells.
func TestModalities(t *testing.T) {
	f := newFolder(t)
	path := f.cells("small.h5mu")
	set := f.load(Options{}, path)
	f.shows(set, "small.h5mu:mod/rna/X 24 x 5 of 20", "small.h5mu:mod/atac/X 24 x 5 of 20")
	if set.IDs[0] != "cell-00" || set.IDs[23] != "cell-23" {
		t.Errorf("ids %q", set.IDs)
	}
	for i := range 24 {
		rna, atac := set.Views[0], set.Views[1]
		if rna.Has(i) != (i < 20) || atac.Has(i) != (i > 3) {
			t.Errorf("cell %d has rna: %v, atac: %v", i, rna.Has(i), atac.Has(i))
		}
		if rna.Has(i) && atac.Has(i) && !slices.Equal(rna.Row(i), atac.Row(i)) {
			t.Errorf("cell %d is %v in rna and %v in atac", i, rna.Row(i), atac.Row(i))
		}
	}
	if want := "the ids of 2 tables make 24 samples; small.h5mu:mod/rna/X lacks 4 and small.h5mu:mod/atac/X lacks 4"; !slices.Contains(set.Notes, want) {
		t.Errorf("notes %q, want %q", set.Notes, want)
	}
}

func TestOneModality(t *testing.T) {
	f := newFolder(t)
	path := f.cells("small.h5mu")
	set := f.load(Options{}, path+":atac")
	f.shows(set, "small.h5mu:mod/atac/X 20 x 5")
	if set.IDs[0] != "cell-23" || set.IDs[19] != "cell-04" {
		t.Errorf("ids %q", set.IDs)
	}
	both := f.load(Options{}, path+":mod/atac/X", path+":rna")
	if both.IDs[0] != "cell-00" || both.Views[0].Has(0) || both.Views[0].Name != "small.h5mu:mod/atac/X" {
		t.Errorf("ids %q, views %v", both.IDs, both.short())
	}
}

// Files of cells are joined with each other, and with tables, by the names of the cells.
func TestCellsJoin(t *testing.T) {
	f := newFolder(t)
	table := f.text("depth.csv", "id,depth,share", "cell-05,1,2", "new,3,4", "cell-00,5,7")
	set := f.load(Options{}, f.cells("small.h5ad"), f.cells("small-latest.h5ad"), table)
	f.shows(set, "small.h5ad:X 25 x 5 of 24", "small-latest.h5ad:X 25 x 5 of 24", "depth.csv 25 x 2 of 3")
	if set.IDs[24] != "new" || !set.Views[2].Has(5) || set.Views[2].Has(6) || set.Views[0].Has(24) {
		t.Errorf("ids %q", set.IDs)
	}
	if !slices.Equal(set.Views[0].Row(7), set.Views[1].Row(7)) {
		t.Errorf("cell 7 is %v dense and %v sparse", set.Views[0].Row(7), set.Views[1].Row(7))
	}
}

func TestCellsTruth(t *testing.T) {
	f := newFolder(t)
	dense, both := f.cells("small.h5ad"), f.cells("small.h5mu")
	for _, c := range []struct {
		source string
		ids    []string
		names  string
		labels []int
	}{
		{dense + ":celltype", []string{"cell-04", "cell-00", "cell-02"}, "B NK T", []int{2, 0, 1}},
		{dense + ":good", []string{"cell-04", "cell-01"}, "False True", []int{0, 1}},
		{both + ":rna:celltype", []string{"cell-19", "cell-02"}, "NK T", []int{1, 0}},
		{both + ":mod/atac/obs/celltype", []string{"cell-04", "cell-23"}, "NK T", []int{1, 0}},
	} {
		truth, err := Labels(t.Context(), c.source, c.ids, len(c.ids))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := strings.Join(truth.Names, " "); got != c.names || !slices.Equal(truth.Labels, c.labels) {
			t.Errorf("%s: labels %v of %s, want %v of %s", c.source, truth.Labels, got, c.labels, c.names)
		}
	}
	for source, words := range map[string]string{
		both + ":rna:celltype": `no label for the sample with the id "cell-23"`,
		both + ":celltype":     "several modalities",
	} {
		if _, err := Labels(t.Context(), source, []string{"cell-23"}, 1); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v, want %s", source, err, words)
		}
	}
}

func TestCellsID(t *testing.T) {
	f := newFolder(t)
	path := f.cells("small.h5ad")
	set := f.load(Options{ID: path}, f.npy("x.npy", matrix("", 24, 3)))
	if set.IDs[23] != "cell-23" {
		t.Errorf("ids %q", set.IDs)
	}
	f.refuse(Options{ID: path}, []string{path}, "has ids of its own")
	f.refuse(Options{}, []string{path, path + ":X"}, "named twice")
	f.refuse(Options{}, []string{f.cells("small.h5mu"), f.npy("y.npy", matrix("", 24, 3))}, "have no ids")
}
