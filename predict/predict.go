// Package predict finds the clusters of new samples with what a fit has left in a model:
// Predictor tells where each would belong, and Update takes them in.
package predict

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/view"
)

// None is the label of a sample that belongs to no cluster.
const None = -1

// Unlike is the typicality below which a sample belongs to no cluster.
const Unlike = 0.01

// Predictor assigns new samples to the clusters of a model. It may be used by several
// goroutines at a time.
type Predictor struct {
	m       *mvclust.Model
	linker  *linker
	known   *known
	worth   *partition.Worth
	typical *typical
}

// Result says where new samples belong.
type Result struct {
	// Labels holds the cluster of every sample, or None.
	Labels []int
	// Confidence says how sure each label is, in [0, 1]: by the formula of
	// partition.Confidence on the sample's links, and 1 - Typicality for None, or 0 where
	// nothing is known of a sample because it has no view that has a say.
	Confidence []float64
	// Next holds the cluster that comes next: of those that the sample has links to, the
	// one with the largest sum of them beside its own, or of all where its label is None;
	// None where there is no such cluster.
	Next []int
	// Typicality is the share, in [0, 1], of the model's samples that are no better at
	// home than the sample is. Below Unlike, its label is None. It goes by two things, of
	// which the one counts in which fewer of the model's samples are worse: the sum of the
	// links into the own cluster, or, where the partition has no Resolution, of the
	// probabilities of the K most probable neighbours; and, where similarities are
	// measured against the surroundings, how far the sample is from its 10 most probable
	// neighbours, compared with how far these are from theirs.
	Typicality []float64
	// Known holds the sample of the model that has the same views with the same values,
	// bit for bit, or -1. The label, and the confidence, are then that sample's.
	Known []int
}

// New prepares a model, which must be valid and stay unchanged: it scales the rows once
// more, and packs them or puts them into cells. It takes about twice the memory of the
// scaled rows, which are three times as many values as the rows under view.Mixed.
// threads of 0 or less stands for all usable processors; it changes no result. The errors
// are those of Model.Spaces and the context's own.
func New(ctx context.Context, m *mvclust.Model, threads int) (*Predictor, error) {
	spaces, err := m.Spaces(ctx, threads)
	if err != nil {
		return nil, err
	}
	p := &Predictor{m: m, known: newKnown(m), typical: newTypical(m)}
	if p.linker, err = newLinker(ctx, m, spaces, threads); err != nil {
		return nil, err
	}
	set := m.Settings
	if p.worth, err = partition.NewWorth(ctx, m.Graph, m.Labels, set.Resolution, set.Partition, threads); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

// Search tells, by view, how the nearest samples are found, and what share of the true
// ones: that of samples of the model, as far as it was measured.
func (p *Predictor) Search() []neighbour.Report {
	var reports []neighbour.Report
	for _, x := range p.linker.indexes {
		reports = append(reports, x.Report())
	}
	return reports
}

// atOnce bounds the memory of what is known of samples on their way.
const atOnce = 1 << 14

// Predict finds the clusters of samples. views holds their rows, one view for every view of
// the model, in its order, nil where no sample has it. A new sample is linked to the
// model's samples as Fit would have linked it, had it been the only one to come, and goes
// to the cluster where it costs least by the objective of the fit: to none where it is
// better off alone, and where its links are as weak as those of hardly any sample of the
// model (Unlike). New samples do not influence each other, and in which company they come
// changes nothing.
//
// One whose views equal those of a sample of the model, bit for bit, gets that sample's
// label. Where several samples do, the one of the same id is taken, and else that of the
// highest confidence. ids holds the new samples' ids, or is nil.
//
// progress, if not nil, is called with the number of samples done. The errors are
// *view.InputError for views that cannot be used, and the context's own.
func (p *Predictor) Predict(ctx context.Context, views []*view.View, ids []string, threads int, progress func(done int)) (*Result, error) {
	count, err := check(p.m, views, ids)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Labels: make([]int, count), Confidence: make([]float64, count), Next: make([]int, count),
		Typicality: make([]float64, count), Known: make([]int, count),
	}
	walkers := p.linker.walkers(threads, p.worth)
	tick := parallel.Counter(progress)
	for lo := 0; lo < count; lo += atOnce {
		hi := min(count, lo+atOnce)
		some := part(views, lo, hi)
		c, err := p.linker.approach(ctx, some, hi-lo, nil, threads)
		if err != nil {
			return nil, err
		}
		order := c.order()
		err = parallel.Blocks(ctx, threads, hi-lo, 64, func(worker, from, to int) {
			w := walkers(worker)
			for _, at := range order[from:to] {
				i, id := int(at), ""
				if ids != nil {
					id = ids[lo+i]
				}
				if old := p.known.find(some, i, id); old >= 0 {
					p.recall(w, r, lo+i, old)
				} else {
					p.assign(w, r, lo+i, c, i)
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

// check says how many samples there are, or why the views cannot be used.
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

// part returns some samples' rows.
func part(views []*view.View, lo, hi int) []*view.View {
	some := make([]*view.View, len(views))
	for m, v := range views {
		if v == nil {
			continue
		}
		some[m] = &view.View{Name: v.Name, Samples: hi - lo, Dims: v.Dims, Data: v.Data[lo*v.Dims : hi*v.Dims]}
		if v.Present != nil {
			some[m].Present = v.Present[lo:hi]
		}
	}
	return some
}

// recall tells of new sample at what is known of sample old, which it equals.
func (p *Predictor) recall(w *walker, r *Result, at, old int) {
	r.Labels[at], r.Confidence[at], r.Known[at] = p.m.Labels[old], p.m.Confidence[old], old
	near := 0.0
	if p.typical.near != nil {
		near = p.typical.nearOf(old)
	}
	r.Typicality[at] = p.typical.share(p.typical.supportOf(old), near)
	p.worth.LinksOf(w.sums, old)
	r.Next[at], _ = w.sums.Next(p.m.Labels[old])
}

// assign finds the cluster of new sample at, which is newcomer i.
func (p *Predictor) assign(w *walker, r *Result, at int, c *newcomers, i int) {
	w.fuse(c, i)
	w.walk()
	label := p.worth.Best(w.sums)
	typicality := p.typicality(w, c, i, label)
	if typicality < Unlike {
		label = None
	}
	r.Labels[at], r.Typicality[at], r.Known[at] = label, typicality, -1
	r.Next[at], _ = w.sums.Next(label)
	switch {
	case label != None:
		r.Confidence[at] = w.sums.Standing(label).Confidence()
	case len(w.links) > 0:
		r.Confidence[at] = 1 - typicality
	}
	w.leave()
}

// typicality is that of newcomer i, which costs least in the cluster label.
func (p *Predictor) typicality(w *walker, c *newcomers, i, label int) float64 {
	support, near := 0.0, 0.0
	switch {
	case byLinks(p.m):
		if label != None {
			support = w.sums.Weight(label)
		}
	case p.m.Neighbourhoods == nil:
		support = w.sums.All
	default:
		for _, t := range w.list {
			support += float64(w.p[t])
		}
	}
	if p.typical.near != nil {
		w.some = w.some[:0]
		for _, t := range w.list[:min(len(w.list), surrounding)] {
			w.some = append(w.some, w.candidates[t])
		}
		near = p.typical.nearness(w.some, func(m int) float64 {
			if c.queries[m] == nil || !c.queries[m].Has(i) {
				return math.NaN()
			}
			return float64(c.scales[m][i])
		})
	}
	return p.typical.share(support, near)
}
