package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/method/view"
)

// newcomerOptions say which new samples come to a model.
type newcomerOptions struct {
	model   string
	sources []string
	output  string
	format  string
	views   []string
	id      string
	index   string
	threads positive
	json    bool
	quiet   bool
}

// newcomerHelp tells how new views are given.
const newcomerHelp = `MODEL is a folder that "mvclust fit" has written, or the model.mvclust in it. A
VIEW is given as for fit. Views are those of the model that have the same names
(of arrays or columns, whatever the files are called), or, where as many are given
as the model has, the model's in their order. NAME=VIEW says outright which view
of the model it is, by its name or its number from 0. Views of the model that are
not given are missing for all new samples; of the others, a row that is null or
NaN throughout says that the sample lacks the view.`

// flags defines what predict and update share; what names the labels' file.
func (o *newcomerOptions) flags(f *pflag.FlagSet, what string) {
	f.SortFlags = false
	f.StringVarP(&o.output, "output", "o", "mvclust-out", "folder `DIR` for the results, made where it is missing")
	f.StringVar(&o.format, "format", "csv", "`NAME` of the format of the labels, csv or parquet: "+what+".csv or "+what+".parquet")
	f.StringSliceVar(&o.views, "views", nil, "`LIST` of the views to use of those in the files, by number from 0 or by name, with commas between (default all)")
	f.StringVar(&o.id, "id", "", "`COLUMN` of tables that holds the samples' ids, or FILE[:NAME] of an array of ids (default a column named id, or one that has the names of rows)")
	f.StringVar(&o.index, "index", "", "`FILE:NAME` of a cell array that lists, for each view, the samples that have it, counted from 1, or of a matrix of 0 and 1 with a column per view")
	f.Var(&o.threads, "threads", "`NUMBER` of processors to use; does not change the result (default all)")
	f.BoolVar(&o.json, "json", false, "print a report as JSON to standard output instead of the summary")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing but errors, and the report where --json is given")
}

// check reports what no run could begin with.
func (o *newcomerOptions) check() error {
	if err := checkFormat(o.format); err != nil {
		return err
	}
	if int(o.threads) > maxThreads {
		return fmt.Errorf("--threads: %d is more than %d; leave it out to use all processors", o.threads, maxThreads)
	}
	return nil
}

// newcomers are samples on their way to a model.
type newcomers struct {
	set   *dataset.Set
	views []*view.View // by view of the model, nil where none has it
}

// samples returns how many there are.
func (n *newcomers) samples() int { return n.set.Views[0].Samples }

// openModel reads the model.
func (o *newcomerOptions) openModel(p *progress) (*mvclust.Model, string, error) {
	p.update("reading the model", "files", 0, 1, 0)
	m, path, err := openModel(o.model)
	if err == nil {
		p.update("reading the model", "files", 1, 1, 0)
	}
	return m, path, err
}

// sizeOf returns the bytes of a file.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// load reads the views, and tells which of the model's they are.
func (o *newcomerOptions) load(ctx context.Context, m *mvclust.Model, path string, p *progress) (*newcomers, error) {
	sources := slices.Clone(o.sources)
	place := make([]int, len(sources)) // of the model's views, as NAME= says, or -1
	for i, s := range sources {
		place[i] = -1
		name, rest, found := strings.Cut(s, "=")
		if !found || rest == "" {
			continue
		}
		if k := viewCalled(m, name); k >= 0 {
			place[i], sources[i] = k, rest
		} else if !isFile(s) {
			return nil, fmt.Errorf("%s: %s has no view %q, only %s; name one of these, or its number from 0", s, path, name, viewList(m))
		}
	}
	const reading = "reading files"
	set, err := dataset.Load(ctx, sources, dataset.Options{
		Views: o.views, ID: o.id, Index: o.index,
		Progress: func(done, total int64) { p.update(reading, "bytes", int(min(done, total-1)), int(total), 0) },
	})
	if err != nil {
		return nil, err
	}
	p.update(reading, "bytes", 1, 1, 0)
	for _, note := range set.Notes {
		p.note(note)
	}
	n := &newcomers{set: set, views: make([]*view.View, len(m.Views))}
	return n, n.match(m, path, place)
}

// isFile reports whether a source names a file, perhaps with an array of it.
func isFile(source string) bool {
	for path := source; path != ""; path = path[:max(0, strings.LastIndexByte(path, ':'))] {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// viewNamed returns the place of the only view of the given name, with its file or
// without, or -1.
func viewNamed(m *mvclust.Model, name string) int {
	if k := slices.IndexFunc(m.Views, func(v mvclust.ModelView) bool { return v.Rows.Name == name }); k >= 0 {
		return k
	}
	found := -1
	for k := range m.Views {
		if shortName(m.Views[k].Rows.Name) != shortName(name) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = k
	}
	return found
}

// viewCalled is viewNamed for what may be a number, too.
func viewCalled(m *mvclust.Model, name string) int {
	if k, err := strconv.Atoi(name); err == nil && k >= 0 && k < len(m.Views) && viewNamed(m, name) < 0 {
		return k
	}
	return viewNamed(m, name)
}

// shortName leaves the file out of the name of a view.
func shortName(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

func viewList(m *mvclust.Model) string {
	var names []string
	for _, v := range m.Views {
		names = append(names, v.Rows.Name)
	}
	return strings.Join(names, ", ")
}

// match finds out which views of the model the given ones are. place holds, by source, what
// is said outright.
func (n *newcomers) match(m *mvclust.Model, path string, place []int) error {
	var open []*view.View
	for i, v := range n.set.Views {
		k := place[n.set.Sources[i]]
		if k < 0 {
			open = append(open, v)
			continue
		}
		if n.views[k] != nil {
			return fmt.Errorf("%s and %s are both said to be the view %s of %s; name every view once", n.views[k].Name, v.Name, m.Views[k].Rows.Name, path)
		}
		n.views[k] = v
	}
	free := 0
	for _, v := range n.views {
		if v == nil {
			free++
		}
	}
	if !n.byName(m, open) {
		if len(open) != free {
			return fmt.Errorf("%s: %s where %s has %s (%s), and not all have the names of these; say which is which by NAME=VIEW",
				open[0].Name, count(len(n.set.Views), "view"), path, count(len(m.Views), "view"), viewList(m))
		}
		for k := range n.views {
			if n.views[k] == nil {
				n.views[k], open = open[0], open[1:]
			}
		}
	}
	for k, v := range n.views {
		if known := m.Views[k].Rows; v != nil && v.Dims != known.Dims {
			return fmt.Errorf("%s has %s where the view %s of %s has %d; give the features of that view, or say which view it is by NAME=VIEW",
				v.Name, count(v.Dims, "dimension"), known.Name, path, known.Dims)
		}
	}
	return nil
}

// byName gives views the places of those that have their names, if all have one.
func (n *newcomers) byName(m *mvclust.Model, open []*view.View) bool {
	places := slices.Clone(n.views)
	for _, v := range open {
		k := viewNamed(m, v.Name)
		if k < 0 || places[k] != nil {
			return false
		}
		places[k] = v
	}
	n.views = places
	return true
}
