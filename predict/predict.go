// Package predict finds the clusters of new samples. It needs the mvclust.Model of a fit,
// and not the fit's input.
//
//	Predictor.Predict  the clusters that new samples would join; the model stays as it is
//	Update             a model that has the new samples, and what changed in its clusters
package predict

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/view"
)

// None is the label of a sample that belongs to no cluster.
const None = -1

// OutlierBelow is the Result.Typicality below which a sample is an outlier and belongs to no
// cluster.
const OutlierBelow = 0.01

// Predictor predicts the clusters of new samples. Several goroutines may use it at a time.
type Predictor struct {
	m          *mvclust.Model
	linker     *linker
	duplicates *duplicates
	worth      *partition.Worth
	typicality *typicality
}

// Result holds, by new sample, what Predict has found.
type Result struct {
	// Labels holds the cluster of the model, or None.
	Labels []int
	// Confidence is how certain the label is, in [0, 1]: partition.Confidence of the
	// sample's links. For None it is 1 - Typicality, or 0 where the sample has no links
	// because it has no view that the fit used.
	Confidence []float64
	// Next holds the cluster with the largest sum of link probabilities besides Labels,
	// or None where no link leads to another cluster.
	Next []int
	// Typicality is a p-value, in [0, 1]: low for an outlier. It is the share of the
	// model's samples i with
	//
	//	r(i) <= r(new),   r(x) = min(F(support(x)), G(density(x))),
	//
	// where F and G are the shares of the model's samples whose support, or density, is no
	// higher. Of more than 100,000, as many, evenly spaced, stand for all. A sample below OutlierBelow gets the label None.
	//
	// The support is the sum of the link probabilities into the sample's cluster. If the
	// partition has no resolution, it is that of the K most probable neighbours.
	//
	// The density compares the distances d around a sample with those around its 10 most
	// probable neighbours j, as the local outlier factor does: it is the mean of
	// log(d(j) / d(x)), added up over the views and divided by the square root of their
	// number. It is left out where similarities are not localised.
	Typicality []float64
	// SameAs holds the sample of the model that has the same values in the same views, or
	// -1. The new sample then has that sample's label and confidence.
	SameAs []int
}

// New prepares a model, which must be valid and must not change. It scales the rows again
// and indexes them, which takes about twice the memory of the scaled rows; under view.Mixed
// these have three times as many values as the rows. Rows that mvclust.OpenCurrent has left in the file
// stay there: they are read twice by New, and once for every 32,768 new samples. threads of 0 or less stands for all
// processors, and changes no result. The errors are those of Model.Validate and
// Model.Spaces, and the context's own.
func New(ctx context.Context, m *mvclust.Model, threads int) (*Predictor, error) {
	if err := m.Usable(); err != nil {
		return nil, err
	}
	spaces, err := m.Spaces(ctx, threads)
	if err != nil {
		return nil, err
	}
	m = m.Current()
	p := &Predictor{m: m}
	parts := make([]*neighbour.Parts, len(m.Views))
	for i := range parts {
		parts[i] = m.Views[i].Index
	}
	steps := []func() error{
		func() (err error) { p.linker, err = newLinker(ctx, m, spaces, parts, threads); return err },
		func() (err error) { p.duplicates, err = newDuplicates(ctx, m, threads); return err },
		func() (err error) { p.typicality, err = newTypicality(ctx, m, threads); return err },
		func() (err error) {
			set := m.Settings
			p.worth, err = partition.NewWorth(ctx, m.Graph, m.Labels, set.Resolution, set.Partition, threads)
			return err
		},
	}
	failed := make([]error, len(steps))
	err = parallel.Blocks(ctx, threads, len(steps), 1, func(_, at, _ int) { failed[at] = steps[at]() })
	if err := cmp.Or(append(failed, err)...); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

// Search reports, by view, how the nearest samples are searched, and the share of the true
// ones that is found, where it was measured on samples of the model.
func (p *Predictor) Search() []neighbour.Report {
	var reports []neighbour.Report
	for _, x := range p.linker.indexes {
		reports = append(reports, x.Report())
	}
	return reports
}

// batchSize is how many samples are searched for at a time, which bounds the memory.
const batchSize = 1 << 15

// Predict returns the clusters of new samples. The labels are those of the model's
// clusters. views holds the samples' rows, one view for every view of the model, in its
// order, and nil where no sample has the view. ids holds the new samples' ids, or is nil.
//
// A sample is linked to the model's samples as Fit would have linked it, had it alone been
// added. It gets the cluster that lowers the objective of the fit most. It gets None if no
// cluster lowers it, or if it is an outlier: its Typicality is below OutlierBelow. New
// samples do not influence each other. Where all samples of the model have the same rows, every
// sample with others is an outlier.
//
// A sample whose views equal those of a sample of the model, value by value, gets that
// sample's label. Of several such samples, the one with the same id counts, or else the
// one with the highest confidence.
//
// progress, if not nil, is called with the number of samples done. The errors are
// *view.InputError for views that cannot be used, rows of the model in a file that cannot be read or are
// damaged, and the context's own.
func (p *Predictor) Predict(ctx context.Context, views []*view.View, ids []string, threads int, progress func(done int)) (*Result, error) {
	count, err := check(p.m, views, ids)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Labels: make([]int, count), Confidence: make([]float64, count), Next: make([]int, count),
		Typicality: make([]float64, count), SameAs: make([]int, count),
	}
	scratch := p.linker.perThread(threads, p.worth)
	tick := parallel.Counter(progress)
	for lo := 0; lo < count; lo += batchSize {
		hi := min(count, lo+batchSize)
		some := rowsOf(views, lo, hi)
		b, err := p.linker.search(ctx, some, hi-lo, nil, threads)
		if err != nil {
			return nil, err
		}
		var own []string
		if ids != nil {
			own = ids[lo:hi]
		}
		same, err := p.duplicates.find(ctx, some, hi-lo, own, threads)
		if err != nil {
			return nil, err
		}
		err = parallel.Blocks(ctx, threads, hi-lo, 64, func(worker, from, to int) {
			w := scratch(worker)
			for _, at := range b.order[from:to] {
				if i, old := int(at), int(same[at]); old >= 0 {
					p.copy(w, r, lo+i, old)
				} else {
					p.assign(w, r, lo+i, b, some, i)
				}
			}
			tick(to - from)
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// check returns the number of new samples, or says why their views cannot be used.
func check(m *mvclust.Model, views []*view.View, ids []string) (count int, err error) {
	bad := func(name, format string, args ...any) (int, error) {
		return 0, &view.InputError{View: name, Row: -1, Problem: fmt.Sprintf(format, args...)}
	}
	if len(views) != len(m.Views) {
		return bad("", "%d views for a model of %d; pass one for each of its views, nil where no sample has it", len(views), len(m.Views))
	}
	count = -1
	for i, v := range views {
		known := m.Views[i].Rows
		if v == nil {
			continue
		}
		if known.Links > 0 {
			return bad(v.Name, "view %s of the model is of links, among which new samples have no place; leave it out, or fit again with their links", words.Name(known.Name))
		}
		if err := v.Validate(); err != nil {
			return 0, err
		}
		switch {
		case v.Dims != known.Dims:
			return bad(v.Name, "%d dimensions where %s of the model has %d; pass the views in the model's order, with the same features", v.Dims, known.Name, known.Dims)
		case count >= 0 && v.Samples != count:
			return bad(v.Name, "%d samples where another view has %d; give every view one row per sample, in the same order", v.Samples, count)
		}
		count = v.Samples
	}
	if !slices.ContainsFunc(m.Views, func(v mvclust.ModelView) bool { return v.Rows.Links == 0 }) {
		return bad("", "the model knows its samples by links alone, among which new samples have no place; fit again with their links")
	}
	if count < 0 {
		return bad("", "there is no view; pass at least one of the model's")
	}
	if ids != nil && len(ids) != count {
		return bad("", "%d ids for %d samples; pass one for each, or none", len(ids), count)
	}
	for i := range count {
		if !slices.ContainsFunc(views, func(v *view.View) bool { return v != nil && v.Has(i) }) {
			return 0, &view.InputError{Row: i, Problem: "is missing from every view; remove the sample, or give it at least one view"}
		}
	}
	return count, nil
}

// rowsOf returns the views of samples lo to hi-1, which share their memory.
func rowsOf(views []*view.View, lo, hi int) []*view.View {
	some := make([]*view.View, len(views))
	for m, v := range views {
		if v == nil {
			continue
		}
		some[m] = v.Part(lo, hi)
	}
	return some
}

// copy gives new sample at the result of sample old of the model, which it equals.
func (p *Predictor) copy(w *newSample, r *Result, at, old int) {
	r.Labels[at], r.Confidence[at], r.SameAs[at] = p.m.Labels[old], p.m.Confidence[old], old
	density := 0.0
	if p.typicality.density != nil {
		density = p.typicality.densityOf(old)
	}
	r.Typicality[at] = p.typicality.of(p.typicality.supportOf(old), density)
	p.worth.LinksOf(w.sums, old)
	r.Next[at], _ = w.sums.Next(p.m.Labels[old])
}

// assign finds the cluster of new sample at, which is sample i of the batch, whose rows are in some.
func (p *Predictor) assign(w *newSample, r *Result, at int, b *batch, some []*view.View, i int) {
	w.fuse(b, i)
	w.link()
	label := p.worth.Best(w.sums)
	typicality := p.typicality.of(p.support(w, label), p.density(w, b, i))
	if p.duplicates.same && !agrees(p.duplicates.first, some, i) {
		typicality = 0
	}
	if typicality < OutlierBelow {
		label = None
	}
	r.Labels[at], r.Typicality[at], r.SameAs[at] = label, typicality, -1
	r.Next[at], _ = w.sums.Next(label)
	switch {
	case label != None:
		r.Confidence[at] = w.sums.Standing(label).Confidence()
	case len(w.links) > 0:
		r.Confidence[at] = 1 - typicality
	}
}

// support returns the support of the new sample of w, to which the cluster label is worth
// most.
func (p *Predictor) support(w *newSample, label int) float64 {
	switch {
	case byLinks(p.m):
		if label == None {
			return 0
		}
		return w.sums.Weight(label)
	case p.m.Neighbourhoods == nil:
		return w.sums.All
	}
	sum := 0.0
	for _, t := range w.list {
		sum += float64(w.p[t])
	}
	return sum
}

// density returns the density of sample i of the batch, of which w has the neighbours.
func (p *Predictor) density(w *newSample, b *batch, i int) float64 {
	if p.typicality.density == nil {
		return 0
	}
	w.some = w.some[:0]
	for _, t := range w.list[:min(len(w.list), surrounding)] {
		w.some = append(w.some, w.candidates[t])
	}
	return p.typicality.densityAmong(w.some, func(m int) float64 {
		if b.queries[m] == nil || !b.queries[m].Has(i) {
			return math.NaN()
		}
		return float64(b.scales[m][i])
	})
}
