package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Case is a set of data, a choice of its views, and how the method is run on it.
type Case struct {
	// File is the set's file in the folder, with slashes.
	File string
	// Index is the array of File that lists the samples of every view, or empty.
	Index string
	// Views are the views that are used, in order, counted from 0; nil for all.
	Views []int
	// Missing is the share of the samples that is made to lack each of these
	// views, no sample lacking two; nil for none.
	Missing []float64
	// Completion turns the completion of missing views on.
	Completion bool
	// K is the number of neighbours; 0 stands for the mean size of the classes,
	// but at most a quarter of the samples.
	K int
	// Seeds is how often the case is run, with the seeds 0, 1 and so on, which
	// draw the samples that lack a view and all that the method draws.
	Seeds int
}

// Name returns the name of the set: its file without the extension.
func (c Case) Name() string { return strings.TrimSuffix(c.File, path.Ext(c.File)) }

// neighbours holds one K per set, by the base name of its file. It is set per set
// because the paper's method needs it: the result is best where K is near the
// size of the classes, which the method has no way to find out. Sets that are not
// listed are run with the mean size of their classes.
var neighbours = map[string]int{
	"Handwritten":    133,
	"100Leaves":      14,
	"BUAA":           7,
	"BBCSport":       150,
	"BBCSport_tfidf": 150,
}

// indices holds the arrays that list the samples of every view, by file.
var indices = map[string]string{"mat/BBCSport_incomplete.mat": "index"}

// paper lists the cases of the paper. A K of 0 is to be looked up.
func paper() []Case {
	quarters := []float64{0.25, 0.25}
	halves := []float64{0, 0, 0.5, 0.5}
	return []Case{
		{File: "Handwritten.npz", Views: []int{0, 1}},
		{File: "Handwritten.npz"},
		// Margin and texture: only these give the figures that the paper has
		// for other methods.
		{File: "100Leaves.npz", Views: []int{2, 1}},
		{File: "BUAA.npz"},
		{File: "BBCSport_tfidf.npz"},
		{File: "Handwritten.npz", Views: []int{0, 1}, Missing: quarters, Seeds: 5},
		{File: "100Leaves.npz", Views: []int{2, 1}, Missing: quarters, Seeds: 5},
		{File: "Handwritten.npz", Missing: halves},
		{File: "Handwritten.npz", Missing: halves, Completion: true},
	}
}

// Cases lists the cases of the paper, whether their files are there or not, and
// then every .npz file of the folder and .mat file of its folder mat, with all of
// its views, that is not among them yet.
func Cases(folder string) ([]Case, error) {
	cases := paper()
	found := 0
	for _, sub := range []struct{ dir, ext string }{{".", ".npz"}, {"mat", ".mat"}} {
		entries, err := os.ReadDir(filepath.Join(folder, sub.dir))
		if err != nil && !(sub.dir == "mat" && errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("the folder %s cannot be read: %w; name a folder of data sets", folder, cause(err))
		}
		for _, e := range entries {
			if e.IsDir() || path.Ext(e.Name()) != sub.ext {
				continue
			}
			found++
			file := path.Join(sub.dir, e.Name())
			listed := slices.ContainsFunc(cases, func(c Case) bool {
				return c.File == file && c.Views == nil && c.Missing == nil
			})
			if !listed {
				cases = append(cases, Case{File: file, Index: indices[file]})
			}
		}
	}
	if found == 0 {
		return nil, fmt.Errorf("the folder %s holds neither .npz files nor mat/*.mat; name a folder of data sets", folder)
	}
	for i := range cases {
		c := &cases[i]
		if c.K == 0 {
			c.K = neighbours[path.Base(c.Name())]
		}
		c.Seeds = max(1, c.Seeds)
	}
	return cases, nil
}

// cause leaves out of an error which system call it came from, and the path.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Quick returns the first case of every set whose file has at most 1 MiB.
func Quick(folder string, cases []Case) []Case {
	var quick []Case
	for _, c := range cases {
		info, err := os.Stat(filepath.Join(folder, c.File))
		small := err == nil && info.Size() <= 1<<20
		if small && !slices.ContainsFunc(quick, func(q Case) bool { return q.File == c.File }) {
			quick = append(quick, c)
		}
	}
	return quick
}
