package mvclust

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/discriminant"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/separation"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// Fit clusters the samples that views describe. All views must have the same
// number of samples, at least three. The views are not changed, unless Options.Consume
// allows it.
//
// Samples that have the same views, and equal rows in each of them, are in one cluster, unless
// constraints or examples keep them apart; views that are left out do not count. If that is true of all samples, there is one cluster, of
// confidence 1, and Trace.Distinct is 1. Where rows differ in some view, one in which they do not
// is an error.
//
// The same views, options and seed give the same result for any number of threads. Views in
// another order give the same result but for the rounding of sums over the views. There are
// three exceptions: a fusion that depends on the order of the views, a view so near to
// chance that the samples drawn decide whether Auto leaves it out, and one of which two versions
// are confirmed so much alike that they decide which Auto compares.
//
// The errors are *InputError for views that cannot be used, *OptionError for options,
// *ConstraintError for constraints, whatever Options.Learner returns, the context's own, and
// one for an environment variable MVCLUST_KERNEL that names no kernel of this processor and
// build. Fit returns within a second after ctx is done on up to some ten million pairs.
func Fit(ctx context.Context, views []*View, opt Options) (*Result, error) {
	r, err := newRun(ctx, views, opt)
	if err != nil {
		return nil, err
	}
	return r.fitAlone(views)
}

// fit is Fit as planned.
func (r *run) fit(views []*View) (*Result, error) {
	p := r.plan
	constraints, err := p.Constraints.Resolve(p.samples)
	if err != nil {
		return nil, err
	}
	if r.cutter, err = newCutter(p.Constraints, p.Examples, p.Clusters, p.samples, p.Threads); err != nil {
		return nil, err
	}
	alike, err := view.Equal(r.ctx, views, p.Threads)
	if err != nil {
		return nil, err
	}
	r.count(views, alike)
	compared, err := r.structure(views)
	if err != nil {
		return nil, err
	}
	r.doubted = compared.Doubted(p.samples)
	e, err := r.evidence(views)
	if err != nil {
		return nil, err
	}
	if alike, err = r.alike(views, alike); err != nil {
		return nil, err
	}
	r.cutter.keep(alike, nil)
	loose := e.together(alike)
	renumbered := loose
	if constraints != nil {
		renumbered = constraints.Together(alike, nil).Gather(e.order)
	}
	fused := e.fused
	e.fused = nil // it may be freed in cluster
	found, err := r.cluster(fused, renumbered, loose, e)
	if err != nil {
		return nil, err
	}
	if r.plan.tells() {
		if err := r.tell(found, views, e.order, renumbered); err != nil {
			return nil, err
		}
	}
	result, err := r.result(e.order, found)
	if err != nil {
		return nil, err
	}
	result.Functions, result.Scalers, result.LocalScales, result.Indexes = e.functions, e.scalers, e.scales, e.indexes
	result.Constraints, result.Structure = constraints, compared
	if compared != nil {
		compared.Hold(p.samples, len(result.Sizes))
	}
	if p.Preset == Auto {
		r.chosen = &choice{r.trace.Tried[r.trace.Chosen], result.Labels}
	}
	if err := r.cut(result, views); err != nil {
		return nil, err
	}
	if p.Learner == nil {
		result.Options.Learning = e.functions.Settings
	}
	return result, nil
}

// run is one call of Fit: what its stages share. A stage takes what it works on as
// arguments, returns what it makes, and notes what it did in trace.
//
// The stages work on renumbered samples, so that every tie is broken by number and
// Options.Order decides all ties. At first, number i is sample Order[i] of the views. Once the
// neighbours are known, samples are numbered along a walk from neighbour to neighbour, which
// keeps what is used together close in memory.
type run struct {
	ctx   context.Context
	asked Options
	plan  *plan
	costs costs
	trace Trace
	// cutter makes the result meet Options.Clusters and Options.Examples.
	cutter *cutter
	// chosen is what was chosen under Auto, before it meets Options.Clusters and Options.Examples.
	chosen *choice
	// doubted is the number of clusters up to which no plateau is clear.
	doubted int
	// alone is the one view that is compared; nil for all.
	alone *Alone
	// emptied is the basis of all views as if no sample had them, where one may be compared alone.
	emptied *basis
}

// newRun checks the views and plans the run.
func newRun(ctx context.Context, views []*View, opt Options) (*run, error) {
	if err := checkViews(views); err != nil {
		return nil, err
	}
	dims, counts := make([]int, len(views)), make([]int, len(views))
	for m, v := range views {
		dims[m], counts[m] = v.Dims, v.Count()
	}
	plan, err := opt.plan(views[0].Samples, dims)
	if err != nil {
		return nil, err
	}
	if plan.Consume {
		if err := checkConsume(views); err != nil {
			return nil, err
		}
	}
	if err := plan.number(ctx, views); err != nil {
		return nil, err
	}
	return &run{ctx: ctx, asked: opt, plan: plan, costs: plan.costs(counts)}, nil
}

// checkViews reports views that cannot be clustered together.
func checkViews(views []*View) error {
	if len(views) == 0 {
		return &InputError{Row: -1, Problem: "there is no view; pass at least one"}
	}
	for m, v := range views {
		if v == nil {
			return &InputError{Row: -1, Problem: fmt.Sprintf("view %d (counted from 0) is nil; leave it out", m)}
		}
	}
	n := views[0].Samples
	for _, v := range views {
		if err := v.Validate(); err != nil {
			return err
		}
		if v.Samples != n {
			return &InputError{View: v.Name, Row: -1, Problem: fmt.Sprintf("%d samples where %s has %d; give every view one row per sample, in the same order", v.Samples, views[0].Name, n)}
		}
	}
	if n < 3 {
		return &InputError{Row: -1, Problem: fmt.Sprintf("there are too few samples to cluster, %d; give at least 3", n)}
	}
	return nil
}

// checkConsume reports views that cannot be consumed: two that share their values would be
// scaled twice.
func checkConsume(views []*View) error {
	seen := map[*float32]bool{}
	for _, v := range views {
		if len(v.Data) == 0 {
			continue
		}
		if seen[&v.Data[0]] {
			return option.Errorf("Consume", "two views have the same Data, which would be scaled twice; leave one of them out, or do not consume them")
		}
		seen[&v.Data[0]] = true
	}
	return nil
}

// Streams of random numbers, so that one stage's use does not shift another's.
const (
	orderStream = iota + 1
	partitionStream
	structureStream
	toldStream = 16 // after those of an update
)

func (p *plan) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(p.Seed, stream)) }

// step is a stage under way.
type step struct {
	run   *run
	stage Stage
	total int
	start time.Time
}

// begin starts a stage of so much work.
func (r *run) begin(stage Stage, total int) step {
	s := step{r, stage, total, time.Now()}
	s.done(0)
	return s
}

// done reports how much of the stage is done.
func (s step) done(done int) {
	if s.run.plan.Progress != nil {
		s.run.plan.Progress(Progress{s.stage, done, s.total, s.run.costs.share(s.stage, done, s.total)})
	}
}

// end notes the stage's time. It returns err, or else the context's error.
func (s step) end(err error) error {
	if err != nil {
		return err
	}
	s.done(s.total)
	s.run.trace.Stages = append(s.run.trace.Stages, Timing{s.stage, time.Since(s.start)})
	return s.run.ctx.Err()
}

// result numbers everything as the views do. All sums are formed before: what
// they come to depends, in the last bit, on the order.
func (r *run) result(order sparse.Permutation, found *clustering) (*Result, error) {
	refined, err := found.refined.Scatter(r.ctx, order, r.plan.Threads)
	if err != nil {
		return nil, err
	}
	nearest := found.nearest
	if nearest != nil {
		if nearest, err = nearest.First(found.mostNeighbours()).Scatter(r.ctx, order, r.plan.Threads); err != nil {
			return nil, err
		}
	}
	labels := found.partition.Labels
	sure, err := confidence(found.refined, labels, r.cutter.equal)
	if err != nil {
		return nil, err
	}
	result := &Result{
		// Equally large clusters are numbered by their first sample in the views.
		Labels:         partition.Number(sparse.Scatter(order, labels)),
		Confidence:     sparse.Scatter(order, sure),
		Granularity:    found.granularity,
		Graph:          refined,
		Neighbourhoods: nearest,
		Levels:         newLevels(found.levels, order),
		Level:          found.level,
		Options:        r.plan.Options,
	}
	result.Sizes = sizes(result.Labels)
	r.trace.Alone = r.alone
	result.Options.Neighbours, result.Options.Resolution = found.granularity.Neighbours, found.granularity.Resolution
	r.trace.Sweeps = found.partition.Sweeps
	result.Trace = r.trace
	return result, nil
}

// evidence is what the views say of pairs.
type evidence struct {
	scalers   []*view.Scaler
	functions *probability.Functions
	order     sparse.Permutation // number in fused -> sample of the views
	scales    [][]float32        // local scales, as Result has them
	indexes   []*neighbour.Parts // as Result has them
	features  *separation.Features
	// discriminant tells how far the views foretell clusters; nil where that is not asked.
	discriminant *discriminant.Coordinates
	fused        *graph.Graph
}

// evidence runs the stages from the views to the fused graph.
func (r *run) evidence(views []*View) (*evidence, error) {
	features, err := r.features(views)
	if err != nil {
		return nil, err
	}
	b, err := r.basis(views)
	if err != nil {
		return nil, err
	}
	pairs, err := r.pairs(b.spaces, b.lists)
	if err != nil {
		return nil, err
	}
	functions, err := r.learn(pairs)
	if err != nil {
		return nil, err
	}
	e := &evidence{scalers: b.scalers, functions: functions, order: pairs.order, scales: pairs.scales, indexes: b.indexes} // the rest of pairs may be freed in fuse
	if features != nil {
		var leftOut []bool
		if r.trace.Agreement != nil {
			leftOut = r.trace.Agreement.LeftOut
		}
		e.features = features.Features(e.order, leftOut)
	}
	if e.discriminant, err = r.discriminant(pairs); err != nil {
		return nil, err
	}
	e.fused, err = r.fuse(views, pairs, functions)
	return e, err
}

// discriminant reads what clusters are foretold by, where the granularity is to be chosen. It returns nil where it is
// not, and for samples that are only held against clouds.
func (r *run) discriminant(p *pairs) (*discriminant.Coordinates, error) {
	if r.plan.Preset != Auto || r.plan.most > 0 {
		return nil, nil
	}
	return discriminant.Read(r.ctx, p.spaces, r.plan.Threads)
}

// together keeps equal rows together, numbered as the evidence is: alike is what view.Equal returns.
func (e *evidence) together(alike []int32) *constraint.Resolved {
	return (*constraint.Resolved)(nil).Together(alike, nil).Gather(e.order)
}

// features keeps what a choice of the granularity needs of the features themselves.
func (r *run) features(views []*View) (*separation.Views, error) {
	if r.plan.Preset != Auto {
		return nil, nil
	}
	return separation.Read(r.ctx, views, r.plan.Threads)
}

// count notes how many samples are distinct: alike is what view.Equal returns. Where all are the
// same, rows without a direction are compared by their distances.
func (r *run) count(views []*View, alike []int32) {
	r.trace.Distinct = r.plan.samples
	for i, first := range alike {
		if int(first) != i {
			r.trace.Distinct--
		}
	}
	for m, v := range views {
		if r.trace.Distinct == 1 && r.plan.Metrics[m] == similarity.Cosine && (r.plan.scale(m) == view.MinMax || zeros(v)) {
			r.plan.Metrics[m] = similarity.L2
		}
	}
}

// zeros reports whether the rows of the view, which are all equal, are zero.
func zeros(v *View) bool {
	return v.Has(0) && !slices.ContainsFunc(v.Row(0), func(x float32) bool { return x != 0 })
}

// confidence returns partition.Confidence. Equal rows are one for certain: if all are, and in one
// cluster, it is 1. alike is what view.Equal returns.
func confidence(g *graph.Graph, labels []int, alike []int32) ([]float64, error) {
	out, err := partition.Confidence(g, labels)
	if err == nil && len(alike) > 0 && slices.Max(alike) == 0 && slices.Max(labels) == 0 {
		for i := range out {
			out[i] = 1
		}
	}
	return out, err
}

// sizes counts the samples of every cluster.
func sizes(labels []int) []int {
	counts := make([]int, 1+slices.Max(labels))
	for _, l := range labels {
		counts[l]++
	}
	return counts
}

// cut makes the result meet Options.Clusters and Options.Examples: by a cut of its model, or under Paper, which has no
// levels, from its clusters on.
func (r *run) cut(result *Result, views []*View) error {
	if len(r.cutter.examples) == 0 && r.cutter.clusters == 0 {
		return nil
	}
	if r.plan.cuts() {
		return r.cutModel(result, views)
	}
	result.Against = Against(result.Labels, r.plan.Examples)
	p := &granular{result.Graph, result.Labels, result.Granularity.Resolution, r.plan.Partition, r.plan.Seed}
	if err := r.cutter.apply(r.ctx, p); err != nil {
		return err
	}
	result.Graph, result.Labels, result.Sizes, result.Constraints = p.graph, p.labels, sizes(p.labels), r.cutter.known
	var err error
	result.Confidence, err = confidence(p.graph, p.labels, r.cutter.equal)
	return err
}

// cutModel makes the result that of a cut of its model to the number of clusters, or to what suits the examples.
func (r *run) cutModel(result *Result, views []*View) error {
	opt := CutOptions{Clusters: r.plan.Clusters, Examples: r.plan.Examples, Threads: r.plan.Threads}
	next, err := NewModel(views, result, nil).cut(r.ctx, opt, r.cutter.equal)
	if err != nil {
		return err
	}
	result.Graph, result.Labels, result.Sizes, result.Confidence = next.Graph, next.Labels, sizes(next.Labels), next.Confidence
	result.Level, result.Trace.Linked = next.Level, next.Linked
	if len(r.plan.Examples) > 0 {
		result.Against, result.Constraints = next.Against, r.cutter.known
	}
	result.Granularity.Neighbours, result.Granularity.Resolution = next.Settings.Neighbours, next.Settings.Resolution
	result.Options.Neighbours, result.Options.Resolution = next.Settings.Neighbours, next.Settings.Resolution
	for at, c := range result.Trace.Tried {
		if c.Neighbours == next.Settings.Neighbours && c.Resolution == next.Settings.Resolution {
			result.Trace.Chosen = at
		}
	}
	return nil
}

// given returns the views as they were given, with what became of them.
func (r *run) given(views []*View) []ModelView {
	out := make([]ModelView, len(views))
	for m, v := range views {
		out[m] = ModelView{Rows: v, Metric: r.plan.Metrics[m], LeftOut: r.trace.leftOut(m)}
	}
	return out
}
