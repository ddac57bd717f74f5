package mvclust

import (
	"context"
	"slices"
	"time"

	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// basis is what samples are compared by, view by view, and the nearest neighbours of each.
type basis struct {
	scalers []*view.Scaler
	spaces  []*similarity.Space
	lists   []*neighbour.Lists
	indexes []*neighbour.Parts // as Result has them
}

// basis prepares the views and finds the neighbours. Under Auto, views that agree with the others no more than noise
// would are left out, and the others are what they would be had these never been there; or all but the one that is
// compared alone.
func (r *run) basis(views []*View) (*basis, error) {
	if r.alone != nil {
		return r.basisAlone(views)
	}
	b := &basis{}
	var err error
	if b.scalers, b.spaces, err = r.prepare(views); err != nil {
		return nil, err
	}
	for i, sample := range r.plan.Order {
		if !slices.ContainsFunc(b.spaces, func(s *similarity.Space) bool { return s.Has(i) }) {
			return nil, r.viewless(views, sample)
		}
	}
	if b.lists, b.indexes, err = r.neighbours(b.spaces); err != nil || r.plan.Preset != Auto || len(views) < 2 {
		return b, err
	}
	if r.trace.Agreement, err = agreement.Measure(r.ctx, b.spaces, b.lists, r.plan.Seed, r.plan.Threads); err != nil {
		return nil, err
	}
	if r.plan.choosesAlone() {
		r.emptied = b.but(slices.Repeat([]bool{true}, len(views)))
	}
	leftOut := r.trace.Agreement.LeftOut
	if !slices.Contains(leftOut, true) {
		return b, nil
	}
	b = b.but(leftOut)
	if r.plan.Consume { // the rows are gone
		return b, nil
	}
	return b, r.without(views, b, leftOut)
}

// basisAlone is basis where one view is compared alone. What the others are was found before.
func (r *run) basisAlone(views []*View) (*basis, error) {
	leftOut := r.alone.but(len(views))
	r.trace.Agreement = &agreement.Report{Agreement: r.trace.Agreement.Agreement, LeftOut: leftOut}
	return r.emptied, r.without(views, r.emptied, leftOut)
}

// but returns the basis as if no sample had the views that are left out.
func (b *basis) but(leftOut []bool) *basis {
	b = &basis{slices.Clone(b.scalers), slices.Clone(b.spaces), slices.Clone(b.lists), slices.Clone(b.indexes)}
	for m, out := range leftOut {
		if out {
			b.spaces[m], b.lists[m], b.indexes[m] = b.spaces[m].Emptied(), b.lists[m].Emptied(), nil
		}
	}
	return b
}

// without makes b again, but for the views that are left out. They had a say in the order of the samples, by which ties
// are broken, in which versions of the other rows are compared, and in the number of candidates.
func (r *run) without(views []*View, b *basis, leftOut []bool) error {
	opt := r.asked
	opt.Metrics = nil
	var kept []*View
	var dims, place []int
	for m, v := range views {
		if !leftOut[m] {
			kept, dims, place = append(kept, v), append(dims, v.Dims), append(place, m)
			opt.Metrics = append(opt.Metrics, r.plan.Metrics[m])
		}
	}
	if progress := opt.Progress; progress != nil {
		share := r.costs.share(StageNeighbours, 1, 1)
		opt.Progress = func(p Progress) {
			p.Share = share
			progress(p)
		}
	}
	plan, err := opt.plan(r.plan.samples, dims)
	if err != nil {
		return err
	}
	if err := plan.number(r.ctx, kept); err != nil {
		return err
	}
	for _, m := range place {
		b.spaces[m], b.lists[m], b.indexes[m] = nil, nil, nil // they may be freed
	}
	r.forget(true)
	inner := &run{ctx: r.ctx, plan: plan, costs: r.costs, trace: Trace{Distinct: r.trace.Distinct}}
	scalers, spaces, err := inner.prepare(kept)
	if err != nil {
		return err
	}
	lists, indexes, err := inner.neighbours(spaces)
	if err != nil {
		return err
	}
	r.plan.Order, r.plan.Candidates = plan.Order, plan.Candidates
	for at, m := range place {
		b.scalers[m], b.spaces[m], b.lists[m], b.indexes[m] = scalers[at], spaces[at], lists[at], indexes[at]
	}
	r.trace.again(&inner.trace, place)
	return nil
}

// alike returns what equalRows does of the views that are compared, given what it is of all.
func (r *run) alike(views []*View, all []int32) ([]int32, error) {
	if r.trace.Agreement == nil || r.plan.Consume {
		return all, nil
	}
	return equalRows(r.ctx, views, r.trace.Agreement.LeftOut, all, r.plan.Threads)
}

// equalRows returns what view.Equal returns for the views that are not left out, given what it returns for all. Samples
// that have none of these are not equal by that.
func equalRows(ctx context.Context, views []*View, leftOut []bool, all []int32, threads int) ([]int32, error) {
	var kept []*View
	for m, v := range views {
		if !leftOut[m] {
			kept = append(kept, v)
		}
	}
	if len(kept) == len(views) {
		return all, nil
	}
	alike, err := view.Equal(ctx, kept, threads)
	if err != nil || alike == nil {
		return all, err
	}
	for i := range alike {
		if slices.ContainsFunc(kept, func(v *View) bool { return v.Has(i) }) {
			continue
		}
		if alike[i] = int32(i); all != nil {
			alike[i] = all[i]
		}
	}
	return alike, nil
}

// again takes over what was noted when the views at the given places were prepared and searched once more.
func (t *Trace) again(inner *Trace, place []int) {
	for at, m := range place {
		t.Zero[m], t.FirstZero[m] = inner.Zero[at], inner.FirstZero[at]
		t.Search[m], t.Candidates[m] = inner.Search[at], inner.Candidates[at]
		switch {
		case t.Readings == nil:
		case inner.Readings == nil: // no other view is left that could confirm any
			t.Readings.Taken[m] = view.Joined
		default:
			t.Readings.Taken[m], t.Readings.Confirmed[m] = inner.Readings.Taken[at], inner.Readings.Confirmed[at]
		}
	}
	spent := map[Stage]time.Duration{}
	for _, s := range inner.Stages {
		spent[s.Stage] += s.Duration
	}
	for at := range t.Stages {
		t.Stages[at].Duration += spent[t.Stages[at].Stage]
	}
}
