// Package auto measures the default mode on a folder of sets whose classes are known: the
// same options for every set, complete, with missing views and with a view of noise, beside
// the paper's method and simple opponents in the same run.
package auto

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/experiments/lab"
)

// state is what is done to a set.
type state string

const (
	complete    state = "complete"
	halfMissing state = "half missing"
	noiseView   state = "noise view"
)

// noiseDims is the number of dimensions of the noise.
const noiseDims = 100

// seeds is the number of seeds, from 0 on.
func (s state) seeds() int {
	if s == halfMissing {
		return 5
	}
	return 1
}

// Experiment is the default mode on every set in every state.
type Experiment struct {
	l    *lab.Lab
	list []subject
}

// subject is a set in a state, with a choice of its views where chosen is true.
type subject struct {
	setup  lab.Setup // of the default mode
	state  state
	chosen bool
}

func (x *subject) title() string {
	if !x.chosen {
		return x.setup.Name()
	}
	return x.setup.Name() + ", views " + lab.Numbers(x.setup.Views)
}

func (x *subject) name() string { return x.title() + ", " + string(x.state) }

// opponents are the methods beside the default mode and the paper's.
var opponents = []lab.Method{lab.KMeans, lab.Spectral, lab.Modularity}

// pairs are the choices of two views that the paper has. Those of 100Leaves are margin and
// texture: only these give the figures that the paper has for other methods.
func pairs(file string) []int {
	return map[string][]int{"Handwritten.npz": {0, 1}, "100Leaves.npz": {2, 1}}[file]
}

// Cases lists every .npz file of the folder with all of its views, and the paper's choices of
// views, in all states; of these the named ones, or all.
func (e *Experiment) Cases(ctx context.Context, l *lab.Lab, names []string) ([]lab.Case, error) {
	e.l = l
	files, _, err := l.Files()
	if err != nil {
		return nil, err
	}
	if files, err = lab.Named(files, func(f string) string { return lab.Setup{File: f}.Name() }, names); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("--data: the folder %s holds no .npz files; name a folder of data sets", l.Folder)
	}
	for _, file := range files {
		if l.Quick && !l.Small(file) {
			continue
		}
		views, _, _, err := l.Load(ctx, lab.Setup{File: file})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			views = nil // running it says why
		}
		e.add(lab.Setup{File: file}, len(views))
		if two := pairs(file); two != nil {
			e.add(lab.Setup{File: file, Views: two}, 2)
		}
	}
	var cases []lab.Case
	for i := range e.list {
		x := &e.list[i]
		c := lab.Case{Label: x.name(), Setups: []lab.Setup{x.setup, x.setup.By(lab.Paper)}, Rounds: 3, Enough: 2, Seeds: x.state.seeds()}
		for _, m := range opponents {
			c.Beside = append(c.Beside, x.setup.By(m))
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// add adds the states of a set of the given number of views. Noise is added to whole sets.
func (e *Experiment) add(s lab.Setup, views int) {
	s = s.By(lab.Default)
	chosen := s.Views != nil
	e.list = append(e.list, subject{s, complete, chosen})
	if views < 2 {
		return
	}
	half := s.Lacking(slices.Repeat([]float64{0.5 / float64(views)}, views)...)
	if s.File == "Handwritten.npz" && views == 4 { // as in the paper
		half = s.Lacking(0, 0, 0.5, 0.5)
	}
	half.Spare = true
	e.list = append(e.list, subject{half, halfMissing, chosen})
	if !chosen {
		s.Noise = noiseDims
		e.list = append(e.list, subject{s, noiseView, chosen})
	}
}

// of returns the records of a method on a subject, nil where there are none.
func (e *Experiment) of(x *subject, m lab.Method) lab.Records {
	list, _ := e.l.Of(x.setup.By(m), x.state.seeds())
	return list
}

// mean returns the mean of a metric of a method on a subject, NaN where there is none.
func (e *Experiment) mean(x *subject, m lab.Method, of lab.Metric) float64 {
	if x != nil {
		if list := e.of(x, m); list != nil {
			return list.Of(of).Mean
		}
	}
	return math.NaN()
}

// done are the subjects in a state that were run.
func (e *Experiment) done(s state) []*subject {
	var list []*subject
	for i := range e.list {
		if x := &e.list[i]; x.state == s && e.of(x, lab.Default) != nil && e.of(x, lab.Paper) != nil {
			list = append(list, x)
		}
	}
	return list
}

// whole are those with all of their views.
func (e *Experiment) whole(s state) []*subject {
	return slices.DeleteFunc(e.done(s), func(x *subject) bool { return x.chosen })
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

// seconds returns the median time of all runs of a method.
func (e *Experiment) seconds(x *subject, m lab.Method) float64 {
	var all []float64
	for _, r := range e.of(x, m) {
		all = append(all, r.Seconds...)
	}
	return median(all)
}

// timeRatio returns the time of the default mode over that of the paper's.
func (e *Experiment) timeRatio(x *subject) float64 {
	return e.seconds(x, lab.Default) / e.seconds(x, lab.Paper)
}

// fall returns by how much noise lowers the ARI.
func (e *Experiment) fall(noisy *subject) float64 {
	return e.mean(e.find(noisy.setup.Name(), complete, false), lab.Default, lab.ARI) - e.mean(noisy, lab.Default, lab.ARI)
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
