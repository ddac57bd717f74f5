package mvclust

import (
	"errors"
	"slices"
	"time"

	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
)

// mostAlone is the number of samples from which on views are not clustered one at a time: it takes as long again as
// the run.
const mostAlone = 30_000

// Alone tells of the one view that is compared, since the others only blur its clusters.
type Alone struct {
	// View is its number, from 0.
	View int `json:"view"`
	// Own is what is chosen in that view alone, All in all views, and Rand the adjusted Rand index of the two:
	// selection.Candidate.Clearer holds them against each other.
	Own  selection.Candidate `json:"own"`
	All  selection.Candidate `json:"all"`
	Rand float64             `json:"rand"`
}

// choice is a candidate that was chosen, and the clusters, numbered as the views are.
type choice struct {
	selection.Candidate
	labels []int
}

// fitAlone is fit, and fits again in one view where that is clearer alone.
func (r *run) fitAlone(views []*View) (*Result, error) {
	result, err := r.fit(views)
	if err != nil || len(views) < 2 || !r.plan.choosesAlone() {
		return result, err
	}
	begun := time.Now()
	step := r.begin(StageAlone, len(views)+1)
	var alone *Alone
	if !r.trace.Doubted && r.chosen.Unclear() {
		if alone, err = r.clearest(views, step.done); err != nil {
			return nil, err
		}
	}
	if alone == nil {
		if err := step.end(nil); err != nil {
			return nil, err
		}
		result.Trace.Stages = r.trace.Stages
		return result, nil
	}
	opt, share := r.asked, r.costs.share(StageAlone, len(views), len(views)+1)
	if progress := opt.Progress; progress != nil {
		opt.Progress = func(p Progress) {
			p.Share = share + (1-share)*p.Share
			progress(p)
		}
	}
	again, err := newRun(r.ctx, views, opt)
	if err != nil {
		return nil, err
	}
	again.alone, again.costs = alone, again.costs[:len(again.costs)-1] // without StageAlone
	again.emptied = r.emptied
	again.trace = Trace{
		Candidates: r.trace.Candidates, Zero: r.trace.Zero, FirstZero: r.trace.FirstZero, Search: r.trace.Search,
		Readings: r.trace.Readings, Agreement: r.trace.Agreement,
	}
	if result, err = again.fit(views); err != nil {
		return nil, err
	}
	result.Options.Progress = r.asked.Progress
	result.Trace.Stages = append(r.trace.Stages, Timing{StageAlone, time.Since(begun)})
	return result, nil
}

// choosesAlone says whether the granularity is chosen such that views may be compared one at a time.
func (p *plan) choosesAlone() bool {
	return p.Preset == Auto && p.Neighbours == 0 && p.Resolution == 0 && p.most == 0 && p.samples < mostAlone && !p.Consume && p.Learner == nil
}

// clearest returns the view that is clearest alone, of those that all samples have; nil where none is clearer than
// all views.
func (r *run) clearest(views []*View, done func(int)) (*Alone, error) {
	var best *Alone
	for m, v := range views {
		if v.Count() == v.Samples && !r.trace.leftOut(m) {
			own, err := r.choice(v, m)
			if err != nil {
				return nil, err
			}
			if own != nil {
				s, err := score.Compare(r.chosen.labels, own.labels)
				if err != nil {
					return nil, err
				}
				if own.Clearer(r.chosen.Candidate, s.ARI) && (best == nil || own.Stability() > best.Own.Stability()) {
					best = &Alone{m, own.Candidate, r.chosen.Candidate, s.ARI}
				}
			}
		}
		done(m + 1)
	}
	return best, nil
}

// choice returns what is chosen in view m alone; nil where it cannot be clustered by itself.
func (r *run) choice(v *View, m int) (*choice, error) {
	opt := r.asked
	opt.Metrics, opt.Progress = r.plan.Metrics[m:m+1], nil
	opt.Constraints, opt.Examples, opt.Clusters = Constraints{}, nil, 0
	own := []*View{v}
	inner, err := newRun(r.ctx, own, opt)
	if err != nil {
		return nil, err
	}
	e, err := inner.evidence(own)
	if _, bad := errors.AsType[*InputError](err); bad { // of zeros, or constant
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	alike, err := view.Equal(r.ctx, own, r.plan.Threads)
	if err != nil {
		return nil, err
	}
	set := inner.plan.selection()
	set.Features, set.Discriminant, set.Loose, set.Orders = e.features, e.discriminant, e.together(alike), 1 // with more it is clearer, if anything, and takes longer
	found, err := selection.Choose(r.ctx, e.fused, set, inner.plan.Seed, inner.plan.Threads, nil)
	if err != nil {
		return nil, err
	}
	return &choice{found.Candidates[found.Best], sparse.Scatter(e.order, found.Partition.Labels)}, nil
}

// but returns which views are left out where one is compared alone.
func (a *Alone) but(views int) []bool {
	out := slices.Repeat([]bool{true}, views)
	out[a.View] = false
	return out
}

// aloneFootprint returns the bytes of a fit in one view, beside what was found in all.
func (p *plan) aloneFootprint() int64 {
	if !p.choosesAlone() || len(p.dims) < 2 {
		return 0
	}
	samples, most := int64(p.samples), int64(selection.MaxNeighbours(p.samples))
	found := 8*2*samples*most + 8*samples*(most+1) + 80*samples
	largest := int64(0)
	for m, d := range p.dims {
		opt := Options{Metrics: p.Metrics[m : m+1], Candidates: max(p.Candidates, Candidates(p.samples, 1)), Threads: p.Threads, Scale: p.Scale, Search: p.Search, Lean: p.Lean}
		if own, err := opt.plan(p.samples, []int{d}); err == nil {
			largest = max(largest, own.footprint()-4*samples*int64(d))
		}
	}
	return p.given() + found + largest
}

// leftOut says whether view m is left out.
func (t *Trace) leftOut(m int) bool {
	return t != nil && t.Agreement != nil && m >= 0 && at(t.Agreement.LeftOut, m)
}

// WhyLeftOut returns in words why view m was left out; "" where it was not.
func (t *Trace) WhyLeftOut(m int) string {
	switch {
	case !t.leftOut(m):
		return ""
	case t.Alone != nil:
		return "the clusters of another view are much clearer without it"
	}
	return "it agrees with the other views no more than noise would"
}
