// Package levels measures what a person who knows a little gets from the default mode: the levels
// of a fit, a number of clusters, a few examples, and answers to questions, all simulated from the
// classes of sets where they are known.
package levels

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// Experiment is the default mode on every set, with what a person knows.
type Experiment struct {
	// Seeds is the number of seeds, from 0 on.
	Seeds int
	l     *lab.Lab
	list  []subject
}

// DefaultSeeds is the number of seeds unless told otherwise.
const DefaultSeeds = 5

// subject is a set.
type subject struct {
	setup  lab.Setup
	folder int
}

func (x *subject) name() string { return x.setup.Name() }

// Cases lists every .npz file of the folders, small ones first; of these the named ones, or all.
func (e *Experiment) Cases(_ context.Context, l *lab.Lab, names []string) ([]lab.Case, error) {
	e.l = l
	l.Methods = map[lab.Method]lab.Func{measuring: measure}
	files, err := l.Sets(names)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("--data: %s holds no .npz files; name a folder of data sets", strings.Join(l.Folders, ", "))
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(e.bytes(a), e.bytes(b)) })
	var cases []lab.Case
	for _, file := range files {
		if l.Quick && !l.Small(file) {
			continue
		}
		x := subject{lab.Setup{File: file, Method: measuring}, l.Collection(file)}
		e.list = append(e.list, x)
		cases = append(cases, lab.Case{Label: x.name(), Setups: []lab.Setup{x.setup}, Seeds: e.Seeds})
	}
	return cases, nil
}

// bytes returns the size of a file, 0 where it is unknown.
func (e *Experiment) bytes(file string) int64 {
	if folder := e.l.Collection(file); folder >= 0 {
		if info, err := os.Stat(filepath.Join(e.l.Folders[folder], filepath.FromSlash(file))); err == nil {
			return info.Size()
		}
	}
	return 0
}

// own returns the records of a subject.
func (e *Experiment) own(x *subject) lab.Records {
	list, _ := e.l.Of(x.setup, e.Seeds)
	return list
}

// with returns the records of a subject that have a number.
func (e *Experiment) with(x *subject, name string) lab.Records {
	return slices.DeleteFunc(slices.Clone(e.own(x)), func(r *lab.Record) bool { return r.Values[name] == nil })
}

// value returns the mean of a number over the seeds, NaN where there is none.
func (e *Experiment) value(x *subject, name string) float64 {
	list := e.with(x, name)
	sum := 0.0
	for _, r := range list {
		sum += r.Value(name)
	}
	return sum / float64(len(list))
}

// start returns the mean ARI of the default mode.
func (e *Experiment) start(x *subject) float64 { return e.own(x).Of(lab.ARI).Mean }

// before returns the mean ARI of the default mode over the seeds that have a number.
func (e *Experiment) before(x *subject, name string) float64 {
	return e.with(x, name).Of(lab.ARI).Mean
}

// gain returns by how much a number is above the ARI of the default mode.
func (e *Experiment) gain(x *subject, name string) float64 {
	return e.value(x, name) - e.before(x, name)
}

// answered returns the least number of seeds with answers, of the sets that have any.
func (e *Experiment) answered() int {
	least := e.Seeds
	for _, x := range e.done(-1, after(pairs)) {
		least = min(least, len(e.with(x, after(pairs))))
	}
	return least
}

// done are the subjects of a folder that were run, of all where it is below 0, and that have a
// number.
func (e *Experiment) done(folder int, name string) []*subject {
	var list []*subject
	for i := range e.list {
		x := &e.list[i]
		if (folder < 0 || x.folder == folder) && e.own(x) != nil && !math.IsNaN(e.value(x, name)) {
			list = append(list, x)
		}
	}
	return list
}

// mean returns the mean over subjects, NaN where there are none.
func mean(list []*subject, of func(*subject) float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += of(x)
	}
	return sum / float64(len(list))
}

// over returns the mean of a number over subjects.
func (e *Experiment) over(list []*subject, name string) float64 {
	return mean(list, func(x *subject) float64 { return e.value(x, name) })
}
