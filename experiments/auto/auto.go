// Package auto measures the default mode on folders of sets whose classes are known: the same
// options for every set, complete, with missing views, with a view of noise, and updated, beside
// the paper's method and simple opponents in the same run.
package auto

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// state is what is done to a set.
type state string

const (
	complete    state = "complete"
	halfMissing state = "half missing"
	noiseView   state = "noise view"
	updated     state = "updated"
)

// order is that in which states are run: what tells most comes first.
var order = []state{complete, updated, halfMissing, noiseView}

// noiseDims is the number of dimensions of the noise.
const noiseDims = 100

// seeds is the number of seeds of the default mode, from 0 on. All else has the first.
const seeds = 5

// Experiment is the default mode on every set in every state.
type Experiment struct {
	l    *lab.Lab
	list []subject
}

// subject is a set in a state, with a choice of its views where chosen is true.
type subject struct {
	setup  lab.Setup // of the default mode, or of the update
	state  state
	chosen bool
	folder int // which one has it
}

func (x *subject) title() string {
	if !x.chosen {
		return x.setup.Name()
	}
	return x.setup.Name() + ", views " + lab.Numbers(x.setup.Views)
}

func (x *subject) name() string { return x.title() + ", " + string(x.state) }

// told are the opponents that are told the number of classes, untold the others.
var (
	told   = []lab.Method{lab.KMeans, lab.Spectral, lab.Ward, lab.Average}
	untold = []lab.Method{lab.Leiden10, lab.Leiden20}
)

// pairs are the choices of two views that the paper has. Those of 100Leaves are margin and
// texture: only these give the figures that the paper has for other methods.
func pairs(file string) []int {
	return map[string][]int{"Handwritten.npz": {0, 1}, "100Leaves.npz": {2, 1}}[file]
}

// Cases lists every .npz file of the folders with all of its views, and the paper's choices of
// views, in all states; of these the named ones, or all.
func (e *Experiment) Cases(ctx context.Context, l *lab.Lab, names []string) ([]lab.Case, error) {
	e.l = l
	l.Methods = map[lab.Method]lab.Func{lab.Default: fit, updating: update}
	files, err := l.Sets(names)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("--data: %s holds no .npz files; name a folder of data sets", strings.Join(l.Folders, ", "))
	}
	for _, file := range files {
		if l.Quick && !l.Small(file) {
			continue
		}
		views, labels, _, err := l.Load(ctx, lab.Setup{File: file})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			views = nil // running it says why
		}
		e.add(lab.Setup{File: file}, len(views), len(labels))
		if two := pairs(file); two != nil {
			e.add(lab.Setup{File: file, Views: two}, 2, len(labels))
		}
	}
	slices.SortStableFunc(e.list, func(a, b subject) int { return slices.Index(order, a.state) - slices.Index(order, b.state) })
	var cases []lab.Case
	for i := range e.list {
		x := &e.list[i]
		c := lab.Case{Label: x.name(), Setups: []lab.Setup{x.setup}, Seeds: seeds, BesideSeeds: 1}
		if x.state == complete {
			c.Beside = append(c.Beside, x.setup.By(lab.Paper))
		}
		if x.state != updated {
			for _, m := range slices.Concat(told, untold) {
				c.Beside = append(c.Beside, x.setup.By(m))
			}
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// add adds the states of a set of the given numbers of views and samples. Noise is added to whole
// sets, and these are updated.
func (e *Experiment) add(s lab.Setup, views, samples int) {
	s = s.By(lab.Default)
	folder, chosen := e.l.Collection(s.File), s.Views != nil
	e.list = append(e.list, subject{s, complete, chosen, folder})
	if views > 1 {
		half := s.Lacking(slices.Repeat([]float64{0.5 / float64(views)}, views)...)
		if s.File == "Handwritten.npz" && views == 4 { // as in the paper
			half = s.Lacking(0, 0, 0.5, 0.5)
		}
		half.Spare = true
		e.list = append(e.list, subject{half, halfMissing, chosen, folder})
	}
	if chosen || views == 0 {
		return
	}
	if views > 1 {
		noisy := s
		noisy.Noise = noiseDims
		e.list = append(e.list, subject{noisy, noiseView, chosen, folder})
	}
	if samples <= mostUpdated {
		e.list = append(e.list, subject{s.By(updating), updated, chosen, folder})
	}
}

// own returns the records of the default mode on a subject, or of its update, nil where there are
// none.
func (e *Experiment) own(x *subject) lab.Records {
	list, _ := e.l.Of(x.setup, seeds)
	return list
}

// mean returns the mean of a metric of the default mode on a subject over its seeds, NaN where
// there is none.
func (e *Experiment) mean(x *subject, of lab.Metric) float64 {
	if x != nil {
		if list := e.own(x); list != nil {
			return list.Of(of).Mean
		}
	}
	return math.NaN()
}

// value returns the mean over the seeds of a number that a run has beside its scores, NaN where
// there is none.
func (e *Experiment) value(x *subject, name string) float64 {
	var all []float64
	for _, r := range e.own(x) {
		if r.Values[name] != nil {
			all = append(all, r.Value(name))
		}
	}
	return average(all)
}

// rival returns the ARI of another method on a subject, NaN where there is none.
func (e *Experiment) rival(x *subject, m lab.Method) float64 {
	if x != nil {
		if r := e.l.One(x.setup.By(m)); r != nil {
			return lab.ARI.Of(r)
		}
	}
	return math.NaN()
}

// best returns the highest ARI of the methods, NaN where there is none.
func (e *Experiment) best(x *subject, methods []lab.Method) float64 {
	best := math.NaN()
	for _, m := range methods {
		if a := e.rival(x, m); a == a && !(a <= best) {
			best = a
		}
	}
	return best
}

// done are the subjects in a state that were run.
func (e *Experiment) done(s state) []*subject {
	var list []*subject
	for i := range e.list {
		if x := &e.list[i]; x.state == s && e.own(x) != nil {
			list = append(list, x)
		}
	}
	return list
}

// whole are those of a folder with all of their views; those of all where folder is below 0.
func (e *Experiment) whole(s state, folder int) []*subject {
	return slices.DeleteFunc(e.done(s), func(x *subject) bool { return x.chosen || folder >= 0 && x.folder != folder })
}

// find returns a subject that was run, nil where there is none.
func (e *Experiment) find(name string, s state, chosen bool) *subject {
	for _, x := range e.done(s) {
		if x.setup.Name() == name && x.chosen == chosen {
			return x
		}
	}
	return nil
}

// seconds returns the median time of the runs of the default mode.
func (e *Experiment) seconds(x *subject) float64 {
	var all []float64
	for _, r := range e.own(x) {
		all = append(all, r.Seconds...)
	}
	return median(all)
}

// timeRatio returns the time of the default mode over that of the paper's, NaN where there is
// none.
func (e *Experiment) timeRatio(x *subject) float64 {
	if r := e.l.One(x.setup.By(lab.Paper)); r != nil {
		return e.seconds(x) / r.Median()
	}
	return math.NaN()
}

// fall returns by how much noise lowers the ARI.
func (e *Experiment) fall(noisy *subject) float64 {
	return e.mean(e.find(noisy.setup.Name(), complete, false), lab.ARI) - e.mean(noisy, lab.ARI)
}

// median returns the middle of the numbers, of an even number of them the mean of the two in
// the middle; NaN where there is none.
func median(list []float64) float64 {
	n := len(list)
	if n == 0 {
		return math.NaN()
	}
	list = slices.Sorted(slices.Values(list))
	return (list[(n-1)/2] + list[n/2]) / 2
}

// average returns the mean, NaN where there is none.
func average(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}
