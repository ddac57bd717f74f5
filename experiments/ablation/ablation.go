// Package ablation takes single decisions of the default mode back, to see what each is worth.
package ablation

import (
	"cmp"
	"context"
	_ "embed" // for the page's text
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/selection"
)

// variant is the default mode with another decision.
type variant struct {
	name string
	// setting is a setting of mvclust fit; learned has the functions learned from the quantiles
	// on, and score takes the place of the score by which a partition is chosen.
	setting string
	learned bool
	score   func(c selection.Candidate) float64
}

// variants are the default mode itself, and then all others.
func variants() []variant {
	scored := func(row int) func(selection.Candidate) float64 {
		return func(c selection.Candidate) float64 {
			score := 1.0
			for _, x := range selection.Criteria() {
				score *= math.Pow(x.Factor(&c), x.Exponents[row])
			}
			return score
		}
	}
	return []variant{
		{name: "the default mode"},
		{name: "features mapped to [0, 1], in that reading alone", setting: "scale=minmax"},
		{name: "functions learned from the quantiles on", learned: true},
		{name: "fusion: mean", setting: "fusion=mean"},
		{name: "fusion: max", setting: "fusion=max"},
		{name: "fusion: min", setting: "fusion=min"},
		{name: "fusion: multiply", setting: "fusion=multiply"},
		{name: "choice: plateau alone", score: func(c selection.Candidate) float64 { return c.Plateau }},
		{name: "choice: agreement alone", score: func(c selection.Candidate) float64 { return c.Agreement }},
		{name: "choice: compression alone", score: func(c selection.Candidate) float64 { return c.Compression }},
		{name: "choice: the first score alone", score: scored(0)},
		{name: "choice: the second score alone", score: scored(1)},
	}
}

// method is the method of a variant.
func (v *variant) method() lab.Method {
	if v.learned || v.score != nil {
		return lab.Method(v.name)
	}
	return lab.Default
}

// setup is that of a variant on a set.
func (v *variant) setup(s lab.Setup) lab.Setup {
	if v.setting != "" {
		s = s.With(v.setting)
	}
	return s.By(v.method())
}

// find clusters by a variant. Where the choice is another, the candidate that it takes is made
// anew: by its number of neighbours and its resolution.
func (v *variant) find(ctx context.Context, t *lab.Task, views []*mvclust.View) ([]int, error) {
	opt := mvclust.Options{Seed: t.Seed}
	if v.learned {
		opt.Learner = func(ctx context.Context, _ [][2]int32, similarities [][]float32) (*probability.Functions, error) {
			return probability.Learn(ctx, similarities, probability.Settings{}, 0, nil)
		}
	}
	result, err := mvclust.Fit(ctx, views, opt)
	if err != nil {
		return nil, err
	}
	if v.score != nil {
		best := slices.MaxFunc(result.Trace.Tried, func(a, b selection.Candidate) int {
			return cmp.Compare(v.score(a), v.score(b))
		})
		opt.Neighbours, opt.Resolution = best.Neighbours, best.Resolution
		if result, err = mvclust.Fit(ctx, views, opt); err != nil {
			return nil, err
		}
	}
	return result.Labels, nil
}

// Experiment is all variants on every set, complete and half missing.
type Experiment struct {
	l    *lab.Lab
	sets []lab.Setup // complete
}

// seeds is how often a set with missing views is run.
const seeds = 2

// half is a set of which half of the samples lack a view.
func (e *Experiment) half(s lab.Setup) lab.Setup {
	views, _, _, err := e.l.Load(context.Background(), s)
	if err == nil && len(views) > 1 {
		s = s.Lacking(slices.Repeat([]float64{0.5 / float64(len(views))}, len(views))...)
		s.Spare = true
	}
	return s
}

// Cases lists the variants on the .npz files of the folder of at most 1 MiB, or on those named.
func (e *Experiment) Cases(_ context.Context, l *lab.Lab, names []string) ([]lab.Case, error) {
	e.l = l
	files, err := l.Sets(names)
	if err != nil {
		return nil, err
	}
	l.Methods = make(map[lab.Method]lab.Func)
	for _, v := range variants() {
		if m := v.method(); m != lab.Default {
			l.Methods[m] = lab.Clustering(v.find)
		}
	}
	var cases []lab.Case
	for _, file := range files {
		s := lab.Setup{File: file}
		if len(names) == 0 && !l.Small(file) {
			continue
		}
		e.sets = append(e.sets, s)
		for _, c := range []lab.Case{{Label: s.Name() + ", complete", Setups: []lab.Setup{s}}, {Label: s.Name() + ", half missing", Setups: []lab.Setup{e.half(s)}, Seeds: seeds}} {
			set := c.Setups[0]
			c.Setups = nil
			for _, v := range variants() {
				c.Setups = append(c.Setups, v.setup(set))
			}
			cases = append(cases, c)
		}
	}
	return cases, nil
}

//go:embed page.md.tmpl
var text string

// Page writes the section.
func (e *Experiment) Page(_ *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	rows := [][]string{{"variant", "mean ARI, complete", "against the default", "mean ARI, half missing", "against the default"}}
	var base [2]float64
	for i, v := range variants() {
		row := []string{v.name}
		for k, of := range []func(lab.Setup) lab.Setup{func(s lab.Setup) lab.Setup { return s }, e.half} {
			x := e.mean(&v, of)
			if i == 0 {
				base[k] = x
			}
			cells := []string{"–", "–"}
			if x == x {
				cells = []string{fmt.Sprintf("%.1f", x), lab.Signed(x - base[k])}
			}
			row = append(row, cells...)
		}
		rows = append(rows, row)
	}
	var names []string
	for _, s := range e.sets {
		names = append(names, lab.Text(s.Name()))
	}
	page, err := lab.Render(text, map[string]any{"Made": made, "Table": lab.Table(rows, 1), "Sets": names, "Seeds": seeds})
	return page, nil, err
}

// mean returns the mean over the sets, NaN where a set was not run.
func (e *Experiment) mean(v *variant, of func(lab.Setup) lab.Setup) float64 {
	sum := 0.0
	for _, s := range e.sets {
		list, _ := e.l.Of(v.setup(of(s)), seeds)
		if list == nil {
			return math.NaN()
		}
		sum += list.Of(lab.ARI).Mean / float64(len(e.sets))
	}
	return sum
}
