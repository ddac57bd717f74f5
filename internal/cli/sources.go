package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust/internal/files/dataset"
)

// sourceOptions say which files hold the views, and how to read them.
type sourceOptions struct {
	sources []string
	views   []string
	id      string
	index   string
	// edges are tables of links, for a command that has the flag.
	edges []string
	// fill says how missing values are filled in, for a command that has the flag; gaps leaves
	// them.
	fill []string
	gaps bool
}

func (o *sourceOptions) sourceFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.views, "views", nil, "`LIST` of the views to use, by number from 0 or by name, separated by commas (default all)")
	f.StringVar(&o.id, "id", "", "`COLUMN` of the tables that holds the sample ids, or FILE[:NAME] of an array of ids (default a column named id, or one of row names)")
	f.StringVar(&o.index, "index", "", "`FILE:NAME` of a cell array that lists, for each view, the samples that have it, counted from 1, or of a matrix of 0 and 1 with a column per view")
}

// load reads the views. sides, if not nil, is told how large they are before any value is
// read.
func (o *sourceOptions) load(j *job, sides func(samples int, dims []int, scratch int64) error) (*dataset.Set, error) {
	const reading = "reading files"
	j.progress.update(reading, "bytes", 0, 1, 0)
	set, err := dataset.Load(j.ctx, o.sources, dataset.Options{
		Views: o.views, ID: o.id, Index: o.index, Edges: o.edges, Fill: o.fill, Gaps: o.gaps, Sides: sides,
		Progress: func(done, total int64) { j.progress.update(reading, "bytes", int(min(done, total-1)), int(total), 0) },
	})
	if err != nil {
		return nil, err
	}
	j.opened(paths(set.Files)...)
	j.progress.update(reading, "bytes", 1, 1, 0)
	for _, note := range set.Notes {
		j.progress.note(note)
	}
	return set, nil
}

// named returns the files as they were named, those of links after the others.
func (o *sourceOptions) named() []string { return slices.Concat(o.sources, o.edges) }

// paths returns the paths of files.
func paths(files []dataset.File) []string {
	var list []string
	for _, f := range files {
		list = append(list, f.Path)
	}
	return list
}

// maxThreads is far more than any machine has processors.
const maxThreads = 1024

func threadsFlag(f *pflag.FlagSet, threads *positive) {
	f.Var(threads, "threads", "`NUMBER` of processors to use; does not change the result (default all)")
}

func checkThreads(threads positive) error {
	if threads > maxThreads {
		return fmt.Errorf("--threads: %d is more than %d; leave it out to use all processors", threads, maxThreads)
	}
	return nil
}
