package mvclust

import (
	"errors"
	"slices"

	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/structure"
	"github.com/mvclust/mvclust/method/view"
)

// structure compares some samples, taken at random, with clouds without groups, where the
// granularity is to be chosen. It returns nil where it is not, and where those samples cannot
// be clustered by themselves, such as some that are all alike.
func (r *run) structure(views []*View) (*structure.Report, error) {
	small := r.plan.compared()
	if small == nil || r.trace.Distinct == 1 {
		return nil, nil
	}
	step := r.begin(StageStructure, 1+structure.Clouds)
	report, err := r.compare(views, small, step.done)
	if _, bad := errors.AsType[*InputError](err); bad { // which Fit reports if it is one of all samples
		report, err = nil, nil
	}
	return report, step.end(err)
}

// compare carries out the comparison.
func (r *run) compare(views []*View, small *plan, done func(int)) (*structure.Report, error) {
	random := r.plan.random(structureStream)
	chosen := random.Perm(r.plan.samples)[:small.samples]
	slices.Sort(chosen) // rows that are near in the views are read one after another
	excerpt, err := view.Excerpt(views, chosen)
	if err != nil {
		return nil, err
	}
	var scores []float64
	measured := false
	for turn := range 1 + structure.Clouds {
		if turn > 0 {
			if excerpt, err = r.cloud(views, chosen, random.Uint64()); err != nil {
				return nil, err
			}
		}
		score, apart, err := r.score(excerpt, small)
		if err != nil {
			return nil, err
		}
		if turn == 0 {
			measured = apart
		}
		scores = append(scores, score)
		done(1 + turn)
	}
	return structure.Judge(scores[0], scores[1:], small.samples, measured), nil
}

// cloud draws a cloud like the chosen samples, of counts like their logarithms.
func (r *run) cloud(views []*View, chosen []int, seed uint64) ([]*View, error) {
	excerpt, err := view.Excerpt(views, chosen)
	if err != nil {
		return nil, err
	}
	for m, v := range excerpt {
		if r.plan.scale(m) == view.Mixed && v.Counts() {
			v.Logarithms()
		}
	}
	return structure.Cloud(r.ctx, excerpt, seed, r.plan.Threads)
}

// score clusters the views, which it may change, as the plan says, or the one that is compared alone. It returns the score,
// and whether separations are part of it.
func (r *run) score(views []*View, small *plan) (score float64, measured bool, err error) {
	opt := small.Options
	if r.alone != nil {
		views, opt.Metrics = views[r.alone.View:][:1], opt.Metrics[r.alone.View:][:1]
	}
	inner, err := newRun(r.ctx, views, opt)
	if err != nil {
		return 0, false, err
	}
	inner.plan.most = small.most
	e, err := inner.evidence(views)
	if err != nil {
		return 0, false, err
	}
	set := inner.plan.selection()
	set.Features = e.features.Cautious()
	found, err := selection.Choose(r.ctx, e.fused, set, inner.plan.Seed, inner.plan.Threads, nil)
	if err != nil {
		return 0, false, err
	}
	return structure.Score(found.Candidates, e.fused.Samples()), e.features != nil, nil
}

// compared plans the run on the samples that are compared with clouds; nil where there is
// nothing to choose and so nothing to compare.
func (p *plan) compared() *plan {
	if p.Preset != Auto || p.Neighbours > 0 || p.Resolution > 0 || p.Clusters > 0 || p.most > 0 {
		return nil
	}
	samples, opt := structure.Compared(p.samples), p.Options
	opt.Candidates = min(structure.Candidates, opt.Candidates, samples-1)
	opt.Consume, opt.Order, opt.Constraints, opt.Examples = true, nil, Constraints{}, nil
	opt.Learner, opt.Progress = nil, nil
	small, err := opt.plan(samples, p.dims)
	if err != nil { // what p could do, a part of its samples can
		return nil
	}
	small.most = structure.MaxNeighbours
	return small
}
