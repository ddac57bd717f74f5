package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/paper"
	"github.com/mvclust/mvclust/internal/files/dataset"
)

const (
	// seeds is how often a system is run as its authors have it, unless the seed changes nothing;
	// a grid is run once.
	seeds = 3
	// limit is for how long processors may work on a run, and limitGrid on all runs of a grid: of
	// two, twenty minutes and half an hour. A run that takes longer than long is not repeated.
	limit, limitGrid, long = 40 * time.Minute, time.Hour, 5 * time.Minute
	// largest is the number of samples up to which sets are run that the paper does not have, unless
	// they are named.
	largest = 2500
	// published and ours are mvclust's own two ways.
	published = "SLS-MPC"
	ours      = "mvclust"
)

// contestant is a system and how the lab knows it.
type contestant struct {
	system.System
	method lab.Method
}

// subject is a set of data with a choice of its views, in one state.
type subject struct {
	name string
	// setup is that of the data, and settings are those of SLS-MPC on it.
	setup    lab.Setup
	settings []string
	lacking  bool
	paper    bool // has a table of the paper
	folder   int  // which one has it
	// samples and classes are 0 where the set cannot be read.
	samples, classes int
}

// title names the subject with its state.
func (x *subject) title() string {
	if x.lacking {
		return x.name + ", half missing"
	}
	return x.name
}

// Experiment is every system on every set, or on files of one's own.
type Experiment struct {
	// Views and Truth are files of one's own, as "mvclust fit" takes them; empty for the sets
	// of the folders.
	Views []string
	Truth string

	l        *lab.Lab
	all      []contestant
	subjects []subject
	large    []string // sets that are left out for their size
}

// contestants lists the systems, and mvclust in its two ways.
func contestants() []contestant {
	var all []contestant
	for _, s := range Systems() {
		all = append(all, contestant{s, lab.Method(s.Name)})
	}
	return append(all,
		contestant{system.System{
			Name: published, Source: "Liu et al., Self-learning symmetric multi-view probabilistic clustering, 2023", Samples: math.MaxInt,
			Note: "its numbers of neighbours, candidates and epochs are chosen by hand on the sets of the paper; on others, the number of neighbours is the mean size of the classes",
		}, lab.Paper},
		contestant{system.System{Name: ours, Source: "the default mode, of which nothing is set", Samples: math.MaxInt}, lab.Default})
}

// Cases lists every system on every set of the paper and of the folders, complete and with views
// missing; of these the named ones, or all. Of files of one's own there is one set, as it is.
func (e *Experiment) Cases(ctx context.Context, l *lab.Lab, names []string) ([]lab.Case, error) {
	e.l = l
	if e.all == nil { // tests bring theirs
		e.all = contestants()
	}
	l.Methods = make(map[lab.Method]lab.Func)
	for _, c := range e.all {
		if c.Cluster != nil {
			l.Methods[c.method] = e.method(c)
		}
	}
	var err error
	if e.Truth != "" {
		err = e.own(ctx)
	} else {
		err = e.sets(ctx, names)
	}
	if err != nil {
		return nil, err
	}
	return e.cases(), nil
}

// cases lists the runs in the order by which a stopped run has the most: the sets of the paper
// first and small ones first, on them the systems that are quick; then grids; then other sets, more
// seeds, and at last what is slow of both.
func (e *Experiment) cases() []lab.Case {
	var parts [7][]lab.Case
	var order []*subject
	for i := range e.subjects {
		order = append(order, &e.subjects[i])
	}
	slices.SortStableFunc(order, func(a, b *subject) int { return cmp.Compare(a.samples, b.samples) })
	for _, x := range order {
		for _, c := range e.all {
			label := c.Name + " on " + x.title()
			one := lab.Case{Label: label, Setups: []lab.Setup{e.setup(x, c)}, Seeds: 1}
			first, grid := 0, 2
			switch foreign := !x.paper && e.Truth == ""; {
			case foreign && c.Slow:
				first = 6
			case foreign:
				first = 3
			case c.Slow:
				first, grid = 1, 5
			}
			parts[first] = append(parts[first], one)
			for _, s := range e.grid(x, c) {
				parts[grid] = append(parts[grid], lab.Case{Label: label + ", " + strings.Join(s.Settings, ", "), Setups: []lab.Setup{s}, Seeds: 1})
			}
			if n := e.seeds(x, c); n > 1 {
				one.From, one.Seeds, one.Long = 1, n, long.Seconds()
				parts[4] = append(parts[4], one)
			}
		}
	}
	return slices.Concat(parts[:]...)
}

// setup is that of a system as its authors have it.
func (e *Experiment) setup(x *subject, c contestant) lab.Setup {
	s := x.setup.By(c.method)
	if c.Name == published {
		return s.With(x.settings...)
	}
	return s.With(c.Default.Words()...)
}

// grid are the setups among which the labels choose, without the one above; none on sets that the
// paper does not have.
func (e *Experiment) grid(x *subject, c contestant) []lab.Setup {
	var list []lab.Setup
	if !x.paper && e.Truth == "" {
		return nil
	}
	own := e.setup(x, c).Key()
	for _, point := range c.Grid {
		set := make(system.Settings)
		maps.Copy(set, c.Default)
		maps.Copy(set, point)
		if s := x.setup.By(c.method).With(set.Words()...); s.Key() != own {
			list = append(list, s)
		}
	}
	return list
}

// sets lists the sets of the paper, and then those of the folders that are not among them.
func (e *Experiment) sets(ctx context.Context, names []string) error {
	files, err := e.l.Sets(names)
	if err != nil {
		return err
	}
	var all []subject
	for _, c := range paper.Cases() {
		if !slices.Contains(files, c.Complete.File) {
			continue
		}
		for _, s := range []lab.Setup{c.Complete, c.Incomplete} {
			settings := s.Settings
			s.Settings = nil
			all = append(all, subject{name: c.Name, setup: s, settings: settings, lacking: s.Missing != nil, paper: true})
		}
	}
	whole := func(file string) bool { // there is all of it already
		return slices.ContainsFunc(all, func(x subject) bool { return x.setup.File == file && x.setup.Views == nil })
	}
	for _, file := range files {
		if whole(file) {
			continue
		}
		s := lab.Setup{File: file}
		all = append(all, subject{name: s.Name(), setup: s})
		views, _, _, err := e.l.Load(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && len(views) > 1 { // else running it says why
			s = s.Lacking(slices.Repeat([]float64{0.5 / float64(len(views))}, len(views))...)
			s.Spare = true
			all = append(all, subject{name: s.Name(), setup: s, lacking: true})
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("--data: %s holds no .npz files; name a folder of data sets", strings.Join(e.l.Folders, ", "))
	}
	return e.describe(ctx, all, len(names) > 0)
}

// describe fills in what is known of the subjects, and leaves out those that are not of a quick
// run, or are large and not named.
func (e *Experiment) describe(ctx context.Context, all []subject, named bool) error {
	for _, x := range all {
		if e.l.Quick && !e.l.Small(x.setup.File) {
			continue
		}
		x.folder = e.l.Collection(x.setup.File)
		_, labels, classes, err := e.l.Load(ctx, x.setup)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && len(labels) > largest && !named && !x.paper {
			if !x.lacking {
				e.large = append(e.large, x.name)
			}
			continue
		}
		if err == nil {
			x.samples, x.classes = len(labels), classes
			if x.settings == nil {
				size := int(math.Round(float64(x.samples) / float64(x.classes)))
				x.settings = []string{fmt.Sprint("neighbors=", max(1, min(size, x.samples/4)))}
			}
		}
		e.subjects = append(e.subjects, x)
	}
	return nil
}

// own makes one set of the given files.
func (e *Experiment) own(ctx context.Context) error {
	set, err := dataset.Load(ctx, e.Views, dataset.Options{})
	if err != nil {
		return err
	}
	truth, err := dataset.Labels(ctx, e.Truth, set.IDs, set.Views[0].Samples)
	if err != nil {
		return err
	}
	missing := float32(math.NaN())
	for _, v := range set.Views {
		for i := range v.Samples {
			if !v.Has(i) {
				for c := range v.Row(i) {
					v.Row(i)[c] = missing
				}
			}
		}
	}
	base := filepath.Base(e.Views[0])
	file := strings.TrimSuffix(base, filepath.Ext(base)) + ".npz"
	folder := filepath.Join(e.l.Scratch, "own")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, file))
	if err != nil {
		return err
	}
	if err := errors.Join(dataset.Write(f, set.Views, truth.Labels), f.Close()); err != nil {
		return err
	}
	e.l.Folders = []string{folder}
	s := lab.Setup{File: file}
	return e.describe(ctx, []subject{{name: s.Name(), setup: s}}, true)
}

// method runs a system within its limits.
func (e *Experiment) method(c contestant) lab.Func {
	run := lab.Clustering(func(ctx context.Context, t *lab.Task, views []*mvclust.View) ([]int, error) {
		set, err := system.Parse(t.Setup.Settings)
		if err != nil {
			return nil, err
		}
		in := &system.Input{Views: views, Clusters: t.Data.Classes(), Settings: set, Seed: t.Seed}
		in.Probabilities = func(ctx context.Context) (*mat.SymDense, error) { return e.probabilities(ctx, t, views) }
		if c.Fills {
			in.Views = system.Fill(views)
		}
		bounded, cancel := lab.Bounded(ctx, limit)
		defer cancel()
		labels, err := c.Cluster(bounded, in)
		if err != nil && errors.Is(context.Cause(bounded), lab.ErrLasts) {
			return nil, &lab.Lasting{Reason: fmt.Sprintf("takes more than %d minutes of a processor", int(limit.Minutes()))}
		}
		return labels, err
	})
	return func(ctx context.Context, t *lab.Task) error {
		if err := e.refuse(ctx, c, t); err != nil {
			return err
		}
		return run(ctx, t)
	}
}

// refuse says why a task is not run.
func (e *Experiment) refuse(ctx context.Context, c contestant, t *lab.Task) error {
	views, err := t.Views(ctx)
	if err != nil {
		return err
	}
	most := c.Samples
	if most == 0 {
		most = system.DenseSamples
	}
	switch n := len(views); {
	case n < c.Least:
		return fmt.Errorf("needs %d views", c.Least)
	case c.Most > 0 && n > c.Most:
		return fmt.Errorf("takes %d views at most", c.Most)
	case views[0].Samples > most:
		return fmt.Errorf("more than %d samples", most)
	}
	x := e.subject(t.Setup)
	own := e.setup(x, c)
	if own.Key() == t.Setup.Key() {
		return nil
	}
	list, reason := e.l.Of(own, 1)
	if list == nil {
		return errors.New(reason)
	}
	if took := lab.Processor.Of(list[0]) * float64(len(c.Grid)); took > limitGrid.Seconds() {
		return &lab.Lasting{Reason: fmt.Sprintf("the grid takes more than %d minutes of a processor", int(limitGrid.Minutes()))}
	}
	return nil
}

// subject returns that of a setup.
func (e *Experiment) subject(s lab.Setup) *subject {
	s.Method, s.Settings = "", nil
	i := slices.IndexFunc(e.subjects, func(x subject) bool { return x.setup.Key() == s.Key() })
	return &e.subjects[i]
}

// probabilities returns those of SLS-MPC on the views of a task.
func (e *Experiment) probabilities(ctx context.Context, t *lab.Task, views []*mvclust.View) (*mat.SymDense, error) {
	x := e.subject(t.Setup)
	s := x.setup.With(x.settings...)
	opt, err := s.Options(t.Seed)
	if err != nil {
		return nil, err
	}
	result, err := mvclust.Fit(ctx, views, opt)
	if err != nil {
		return nil, err
	}
	n := views[0].Samples
	p := mat.NewSymDense(n, nil)
	for i := range n {
		index, weight := result.Graph.Of(i)
		for at, j := range index {
			p.SetSym(i, int(j), float64(weight[at]))
		}
		p.SetSym(i, i, 1)
	}
	return p, nil
}

// records returns those of a system as its authors have it, or why there are none.
func (e *Experiment) records(x *subject, c contestant) (lab.Records, string) {
	return e.l.Of(e.setup(x, c), e.seeds(x, c))
}

// seeds is how often a system is run on a subject.
func (e *Experiment) seeds(x *subject, c contestant) int {
	if e.l.Quick || c.Steady && x.setup.Missing == nil {
		return 1
	}
	if x.paper {
		return cmp.Or(c.Seeds, seeds)
	}
	return seeds
}

// best returns the run of the highest ARI among that of the authors' settings and those of the
// grid, all with the first seed; nil where there is no grid.
func (e *Experiment) best(x *subject, c contestant) *lab.Record {
	return e.bestOf(x, c, e.grid(x, c))
}

// bestOf is best with a part of the grid.
func (e *Experiment) bestOf(x *subject, c contestant, grid []lab.Setup) *lab.Record {
	best := e.l.One(e.setup(x, c))
	found := false
	for _, s := range grid {
		if r := e.l.One(s); r != nil {
			found = true
			if best == nil || lab.ARI.Of(r) > lab.ARI.Of(best) {
				best = r
			}
		}
	}
	if !found {
		return nil
	}
	return best
}

// value returns the mean of a metric of a system, NaN where it was not run.
func (e *Experiment) value(x *subject, c contestant, m lab.Metric) float64 {
	list, _ := e.records(x, c)
	if list == nil {
		return math.NaN()
	}
	return list.Of(m).Mean
}
