// Package labtest makes what tests of experiments need.
package labtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/synth"
)

// Write makes folder/file, a set of 120 samples of 6 classes; the more noise, the harder it is.
func Write(t testing.TB, folder, file string, views int, noise float64, seed uint64) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 120, Classes: 6, Views: views, Dims: []int{8}, Noise: []float64{noise}, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dataset.Write(f, set.Views, set.Labels), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// New returns a lab on folders, with an empty store.
func New(t testing.TB, folders ...string) *lab.Lab {
	t.Helper()
	return &lab.Lab{Folders: folders, Scratch: t.TempDir(), Store: Open(t, filepath.Join(t.TempDir(), "records.json")), Threads: 2}
}

// Open opens a store.
func Open(t testing.TB, path string) *lab.Store {
	t.Helper()
	s, err := lab.OpenStore(path, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// CheckPage looks for rows that have not as many cells as their head, and for what no page
// should have.
func CheckPage(t testing.TB, page string) {
	t.Helper()
	columns := 0
	for line := range strings.Lines(page) {
		n := 0
		if strings.HasPrefix(line, "|") {
			n = strings.Count(line, "|") - strings.Count(line, `\|`)
		}
		if n > 0 && columns > 0 && n != columns {
			t.Errorf("%d cells in place of %d: %s", n, columns, line)
		}
		columns = n
	}
	for _, bad := range []string{"\n\n\n", "NaN", "Inf", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q:\n%s", bad, page)
		}
	}
}
