package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/memory"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/view"
)

// newcomerOptions are those of predict and update: a model, and the new samples for it.
type newcomerOptions struct {
	sourceOptions
	outputOptions
	model   string
	format  tableFormat
	threads positive
	memory  size
	// reads is mvclust.ReadModel, or OpenCurrent where that is enough; held tells the bytes of what it reads.
	reads modelReader
	held  func(i *mvclust.ModelInfo) int64
	// footprint is that of the command: predict.Footprint, or UpdateFootprint.
	footprint func(i *mvclust.ModelInfo, samples, threads int) int64
}

// newcomerHelp tells how new views are given.
const newcomerHelp = `MODEL is a folder that "mvclust fit" has written, or the model.mvclust in it. A
VIEW is given as for fit. Views are matched with the model's by the names of their
arrays or columns, whatever the files are called; if the names differ and the number
of views is the model's, they are matched by their order. NAME=VIEW names the
model's view, by its name or its number from 0. A view that is not given is missing
for all new samples; in a view that is given, a row that is null or NaN throughout
says that the sample lacks it.`

// flags defines the flags. table names the output.
func (o *newcomerOptions) flags(f *pflag.FlagSet, table string) {
	f.SortFlags = false
	o.folderFlag(f, "mvclust-out", "the results")
	o.format.flag(f, table)
	o.csvSafeFlag(f)
	o.sourceFlags(f)
	threadsFlag(f, &o.threads)
	memoryFlag(f, &o.memory)
	f.BoolVar(&o.json, "json", false, "print a report as JSON to standard output instead of the summary")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing but errors, and the report where --json is given")
	o.progressFlag(f)
}

// run parses the arguments and calls do.
func (o *newcomerOptions) run(cmd *cobra.Command, args []string, do func(ctx context.Context, out, stderr io.Writer, o newcomerOptions) error) error {
	switch len(args) {
	case 0:
		return usagef(cmd, "no MODEL is given; name a folder that \"mvclust fit\" has written, and the files of the new samples")
	case 1:
		return usagef(cmd, "no VIEW is given; name at least one file of new samples after the model %s", args[0])
	}
	o.model, o.sources = args[0], args[1:]
	return do(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), *o)
}

// newcomers are new samples and the model that they come to.
type newcomers struct {
	model *mvclust.Model
	path  string // of the model
	info  *mvclust.ModelInfo
	set   *dataset.Set
	views []*view.View // by view of the model, nil where none has it
}

// samples returns how many new samples there are.
func (n *newcomers) samples() int { return n.set.Views[0].Samples }

// begin begins the job and reads the model and the new samples.
func (o *newcomerOptions) begin(ctx context.Context, out, stderr io.Writer) (*job, *newcomers, error) {
	if err := o.format.check(); err != nil {
		return nil, nil, err
	}
	if err := checkThreads(o.threads); err != nil {
		return nil, nil, err
	}
	j, err := begin(ctx, out, stderr, o.outputOptions)
	if err != nil {
		return nil, nil, err
	}
	n, err := o.read(j)
	if err != nil {
		j.close()
		return nil, nil, err
	}
	return j, n, nil
}

// read reads the model and the new samples.
func (o *newcomerOptions) read(j *job) (*newcomers, error) {
	n := &newcomers{}
	err := j.during("reading the model", "files", func() (err error) {
		var file *os.File
		n.model, file, n.path, err = openWith(j.ctx, o.model, checked(o.reads, func(i *mvclust.ModelInfo) error {
			n.info = i
			return o.limit(j, memory.AtHand(), i, nil)
		}))
		if err == nil {
			j.atEnd(func() { _ = file.Close() })
		}
		j.model = n.path
		return err
	})
	if err != nil {
		return nil, err
	}
	j.lap("model")
	sources, place, err := n.assigned(o.sources)
	if err != nil {
		return nil, err
	}
	if n.set, err = (&sourceOptions{sources: sources, views: o.views, id: o.id, index: o.index, gaps: true}).load(j, func(samples int, dims []int, scratch int64) error {
		return o.limit(j, memory.AtHand(), n.info, &demand{sources: sources, samples: samples, dims: dims, scratch: scratch})
	}); err != nil {
		return nil, err
	}
	n.views = make([]*view.View, len(n.model.Views))
	if err := n.match(place); err != nil {
		return nil, err
	}
	if err := n.fill(); err != nil {
		return nil, translate(err, sources, n.set)
	}
	j.lap("read")
	return n, nil
}

// limit keeps the process to the memory until the job ends, or returns an error where the model and the
// new samples, which are nil where they are not known yet, need more than there may be.
func (o *newcomerOptions) limit(j *job, hand memory.Limit, info *mvclust.ModelInfo, d *demand) error {
	run, what := o.footprint(info, 0, int(o.threads)), fmt.Sprintf("new samples for a model of %d", info.Samples)
	if d != nil { // while they are read, the model is held, and nothing that is made of it
		run = max(o.footprint(info, d.samples, int(o.threads)), o.held(info)+d.values()+d.scratch) + perSample*int64(d.samples)
		what = strings.Join(baseNames(d.sources), ", ") + ": " + d.String() + " and the model"
	}
	release, err := limitModel(o.memory, hand, run, what, ", or fewer samples at a time")
	if err == nil {
		j.atEnd(release)
	}
	return err
}

// assigned separates NAME=VIEW into the source and the place of the model's view; -1 where
// no view is named.
func (n *newcomers) assigned(given []string) (sources []string, place []int, err error) {
	for _, s := range given {
		k := -1
		if name, rest, found := strings.Cut(s, "="); found && rest != "" {
			if k = viewCalled(n.model, name); k >= 0 {
				s = rest
			} else if !isFile(s) {
				return nil, nil, fmt.Errorf("%s: %s has no view %s, only %s; name one of these, or its number from 0", s, n.path, words.Quote(name), viewList(n.model))
			}
		}
		sources, place = append(sources, s), append(place, k)
	}
	return sources, place, nil
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
	return words.List(names)
}

// match finds out which views of the model were given. place holds, by source, the view that
// the caller named, or -1.
func (n *newcomers) match(place []int) error {
	m := n.model
	if !slices.ContainsFunc(m.Views, func(v mvclust.ModelView) bool { return v.Rows.Links == 0 }) {
		return fmt.Errorf("%s knows its samples by links alone, among which new samples have no place; fit again with their links", n.path)
	}
	var open []*view.View
	for i, v := range n.set.Views {
		k := place[n.set.Sources[i]]
		if k < 0 {
			open = append(open, v)
			continue
		}
		if n.views[k] != nil {
			return fmt.Errorf("%s and %s are both given as the view %s of %s; name every view once", words.Name(n.views[k].Name), words.Name(v.Name), words.Name(m.Views[k].Rows.Name), n.path)
		}
		n.views[k] = v
	}
	if !n.byName(open) && !n.byOrder(open) {
		return fmt.Errorf("%s: %s where %s has %s (%s), and not all have the names of these; say which is which by NAME=VIEW",
			words.Name(open[0].Name), words.Count(len(n.set.Views), "view"), n.path, words.Count(len(m.Views), "view"), viewList(m))
	}
	for k, v := range n.views {
		rows := m.Views[k].Rows
		if v != nil && rows.Links > 0 {
			return fmt.Errorf("%s is given as the view %s of %s, which is of links, among which new samples have no place; leave it out, or fit again with their links",
				words.Name(v.Name), words.Name(rows.Name), n.path)
		}
		if v != nil && v.Dims != rows.Dims {
			return fmt.Errorf("%s has %s where the view %s of %s has %d; give the features of that view, or say which view it is by NAME=VIEW",
				words.Name(v.Name), words.Count(v.Dims, "dimension"), words.Name(rows.Name), n.path, rows.Dims)
		}
	}
	return nil
}

// fill fills in missing values as the fit has, or reports them where it has not.
func (n *newcomers) fill() error {
	for k, v := range n.views {
		if v == nil {
			continue
		}
		known := n.model.Views[k].Rows.Filling
		if known == nil {
			if err := cmp.Or(v.CheckGaps(), v.Validate()); err != nil {
				return err
			}
			continue
		}
		if err := known.Apply(v); err != nil {
			return err
		}
	}
	return nil
}

// byName gives views the places of those that have their names, if all have one.
func (n *newcomers) byName(open []*view.View) bool {
	places := slices.Clone(n.views)
	for _, v := range open {
		k := viewNamed(n.model, v.Name)
		if k < 0 || places[k] != nil {
			return false
		}
		places[k] = v
	}
	n.views = places
	return true
}

// byOrder gives views the free places in their order, if there are as many of them.
func (n *newcomers) byOrder(open []*view.View) bool {
	var free []int
	for k, v := range n.views {
		if v == nil && n.model.Views[k].Rows.Links == 0 {
			free = append(free, k)
		}
	}
	if len(free) != len(open) {
		return false
	}
	for i, k := range free {
		n.views[k] = open[i]
	}
	return true
}

// modelReport says which model was read.
type modelReport struct {
	Path     string   `json:"path"`
	Samples  int      `json:"samples"`
	Clusters int      `json:"clusters"`
	Views    []string `json:"views"`
}

func (n *newcomers) modelReport() modelReport {
	m := n.model
	r := modelReport{Path: n.path, Samples: m.Samples(), Clusters: m.Clusters()}
	for _, v := range m.Views {
		r.Views = append(r.Views, v.Rows.Name)
	}
	return r
}

// newcomerReport says which new samples were read.
type newcomerReport struct {
	Files   []dataset.File `json:"files"`
	Samples int            `json:"samples"`
	IDs     bool           `json:"ids"`   // whether the samples have ids of their own
	Views   []string       `json:"views"` // by view of the model, empty where it is not given
}

func (n *newcomers) report() newcomerReport {
	r := newcomerReport{Files: n.set.Files, Samples: n.samples(), IDs: n.set.IDs != nil}
	for _, v := range n.views {
		name := ""
		if v != nil {
			name = v.Name
		}
		r.Views = append(r.Views, name)
	}
	return r
}
