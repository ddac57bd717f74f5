package mvclust

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// run is one call of Fit: what its stages share. A stage takes what it works on as
// arguments, returns what it makes, and notes what it did in trace.
//
// The stages work on renumbered samples, so that every tie is broken by number and
// Options.Order decides all ties. At first, number i is sample Order[i] of the views. Once the
// neighbours are known, samples are numbered along a walk from neighbour to neighbour, which
// keeps what is used together close in memory.
type run struct {
	ctx   context.Context
	plan  *plan
	costs costs
	trace Trace
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
	if plan.Order == nil {
		plan.Order = plan.random(orderStream).Perm(plan.samples)
	}
	return &run{ctx: ctx, plan: plan, costs: plan.costs(counts)}, nil
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

// prepare scales the features and makes a space of every view. Every sample must have a
// row in one of the spaces.
func (r *run) prepare(views []*View) ([]*view.Scaler, []*similarity.Space, error) {
	step := r.begin(StagePrepare, len(views))
	scalers, spaces := make([]*view.Scaler, len(views)), make([]*similarity.Space, len(views))
	for m, v := range views {
		var err error
		if scalers[m], spaces[m], err = r.space(v, m); err != nil {
			return nil, nil, err
		}
		r.trace.Zero = append(r.trace.Zero, spaces[m].Zero)
		r.trace.FirstZero = append(r.trace.FirstZero, spaces[m].FirstZero)
		step.done(m + 1)
	}
	if err := step.end(nil); err != nil {
		return nil, nil, err
	}
	for i, sample := range r.plan.Order {
		if !slices.ContainsFunc(spaces, func(s *similarity.Space) bool { return s.Has(i) }) {
			return nil, nil, r.viewless(views, sample)
		}
	}
	return scalers, spaces, nil
}

// space makes the space of view m.
func (r *run) space(v *View, m int) (*view.Scaler, *similarity.Space, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, nil, err
	}
	scaler, err := v.Scaler(r.ctx, r.plan.scale(m), r.plan.Order)
	if err != nil {
		return nil, nil, err
	}
	scaled, err := scaler.Apply(r.ctx, v, r.plan.Threads)
	if err != nil {
		return nil, nil, err
	}
	copied := scaled != v
	if r.plan.Consume && copied {
		v.Data = nil
	}
	space, err := similarity.NewSpace(r.ctx, scaled, r.plan.Metrics[m], r.plan.Order, r.plan.Consume || copied, r.plan.Threads)
	return scaler, space, r.afterScaling(err, m)
}

// afterScaling adds to an error about view m that its values are the scaled ones. Under Mixed
// nothing needs to be added: a row without a direction there has none as it is either.
func (r *run) afterScaling(err error, m int) error {
	scale := r.plan.scale(m)
	if bad, ok := errors.AsType[*InputError](err); ok && scale != view.NoScale && scale != view.Mixed {
		return &InputError{View: bad.View, Row: bad.Row, Problem: bad.Problem + fmt.Sprintf(" (this is about the view after scale %v)", scale)}
	}
	return err
}

// viewless says why a sample has no view to be compared in.
func (r *run) viewless(views []*View, sample int) error {
	for m, v := range views {
		if v.Has(sample) {
			return r.afterScaling(&InputError{View: v.Name, Row: sample, Problem: "is all zeros, which has no cosine, and the sample has no other view; remove the sample, or choose the l1, l2 or l3 metric"}, m)
		}
	}
	return &InputError{Row: sample, Problem: "is missing from every view; remove the sample, or give it at least one view"}
}

// neighbours finds the nearest neighbours of every sample in every view.
func (r *run) neighbours(spaces []*similarity.Space) ([]*neighbour.Lists, error) {
	total := 0
	for _, s := range spaces {
		total += s.Count()
	}
	step, before := r.begin(StageNeighbours, total), 0
	lists := make([]*neighbour.Lists, len(spaces))
	for m, s := range spaces {
		var err error
		lists[m], err = neighbour.Search(r.ctx, s, r.plan.Candidates, r.plan.Seed, r.plan.Search, r.plan.Threads, func(done int) { step.done(before + done) })
		if err != nil {
			return nil, err
		}
		r.trace.Search = append(r.trace.Search, lists[m].Search)
		r.trace.Candidates = append(r.trace.Candidates, min(r.plan.Candidates, s.Count()-1))
		before += s.Count()
	}
	return lists, step.end(nil)
}

// leaveOut empties, under Auto, the views that agree with the others no more than noise
// would: being close in noise makes no pair.
func (r *run) leaveOut(spaces []*similarity.Space, lists []*neighbour.Lists) ([]*similarity.Space, []*neighbour.Lists, error) {
	if r.plan.Preset != Auto || len(spaces) < 2 {
		return spaces, lists, nil
	}
	found, err := agreement.Measure(r.ctx, spaces, lists, r.plan.Seed, r.plan.Threads)
	if err != nil {
		return nil, nil, err
	}
	r.trace.Agreement = found
	spaces, lists = slices.Clone(spaces), slices.Clone(lists)
	for m, out := range found.LeftOut {
		if out {
			spaces[m] = spaces[m].Emptied()
			lists[m] = lists[m].Emptied()
		}
	}
	return spaces, lists, nil
}

// pairs is what the stages from here on work on: pairs of samples in their final numbers.
type pairs struct {
	*pair.Set
	order  sparse.Permutation  // number -> sample of the views
	spaces []*similarity.Space // localised where the plan says so
	scales [][]float32         // local scales by view and sample of the views; nil where not localised
}

// pairs numbers the samples along a walk from neighbour to neighbour, localises the
// similarities and collects the pairs.
func (r *run) pairs(spaces []*similarity.Space, lists []*neighbour.Lists) (*pairs, error) {
	step := r.begin(StagePairs, 1)
	walk, err := neighbour.Walk(r.ctx, lists, r.plan.Threads)
	if err != nil {
		return nil, err
	}
	p := &pairs{order: sparse.Gather(walk, r.plan.Order), spaces: slices.Clone(spaces), scales: make([][]float32, len(spaces))}
	near := make([]*neighbour.Lists, len(lists))
	for m := range lists {
		p.spaces[m] = spaces[m].Gather(walk)
		if near[m], err = lists[m].Gather(r.ctx, walk, r.plan.Threads); err != nil {
			return nil, err
		}
		if !r.plan.Local {
			continue
		}
		if p.spaces[m], err = p.spaces[m].Localised(r.ctx, near[m].Of, r.plan.Threads); err != nil {
			return nil, err
		}
		p.scales[m] = sparse.Scatter(p.order, p.spaces[m].LocalScales())
	}
	if p.Set, err = pair.Union(r.ctx, near, r.plan.Threads); err != nil {
		return nil, err
	}
	r.trace.Pairs = p.Len()
	return p, step.end(nil)
}

// learn finds the views' probability functions on the training pairs.
func (r *run) learn(p *pairs) (*probability.Functions, error) {
	if r.plan.Learner != nil {
		return r.askLearner(p)
	}
	step := r.begin(StageLearn, r.plan.Learning.Epochs)
	similarities, err := p.Thin(r.plan.Learning.Pairs).Similarities(r.ctx, p.spaces, r.plan.Threads, nil)
	if err != nil {
		return nil, err
	}
	r.trace.Similarities = histograms(similarities)
	functions, err := probability.Learn(r.ctx, similarities, r.plan.Learning, r.plan.Threads, step.done)
	return functions, step.end(err)
}

// askLearner lets the caller's Learner take the place of probability.Learn.
func (r *run) askLearner(p *pairs) (*probability.Functions, error) {
	step := r.begin(StageLearn, 1)
	similarities, err := p.Similarities(r.ctx, p.spaces, r.plan.Threads, nil)
	if err != nil {
		return nil, err
	}
	r.trace.Similarities = histograms(similarities)
	functions, err := r.plan.Learner(r.ctx, p.ofViews(), similarities)
	if err == nil {
		err = r.plan.checkFunctions(functions)
	}
	return functions, step.end(err)
}

// ofViews returns the pairs in the numbers of the views, the lower sample first.
func (p *pairs) ofViews() [][2]int32 {
	list := make([][2]int32, 0, p.Len())
	for i := range p.Samples() {
		a := int32(p.order[i])
		for _, j := range p.Of(i) {
			b := int32(p.order[j])
			list = append(list, [2]int32{min(a, b), max(a, b)})
		}
	}
	return list
}

// checkFunctions reports, as an *OptionError, functions of a Learner that the later stages
// cannot use.
func (p *plan) checkFunctions(functions *probability.Functions) error {
	problem := ""
	if functions == nil {
		problem = "it returned no functions and no error; return one of them"
	} else if err := functions.Validate(len(p.dims)); err != nil {
		problem = err.Error()
	} else if p.Posterior.Fusion == posterior.Asymmetric && functions.BaseRate == nil {
		problem = "the functions have no base rates, which the asymmetric fusion needs; give one per view, or choose another fusion"
	} else if p.Posterior.Completion && functions.Cross == nil {
		problem = "the functions have no cross functions, which completion needs; give them, or do without completion"
	}
	if problem == "" {
		return nil
	}
	return &OptionError{Field: "Learner", Problem: problem}
}

// histogramSteps is fine enough for a figure.
const histogramSteps = 60

// histograms counts, by view, how alike the training pairs are.
func histograms(similarities [][]float32) []probability.Histogram {
	all := make([]probability.Histogram, len(similarities))
	for m, w := range similarities {
		all[m] = probability.NewHistogram(w, histogramSteps)
	}
	return all
}

// fuse returns the graph of the pairs' probabilities, fused over the views. Pairs are compared
// and fused in pieces, so that their similarities are never held all at once. The rows of
// consumed views are freed before the graph is made: they may be most of the memory.
func (r *run) fuse(views []*View, all *pairs, functions *probability.Functions) (*graph.Graph, error) {
	estimator, err := posterior.New(functions, r.plan.Posterior)
	if err != nil {
		return nil, err
	}
	pairs, spaces := all.Set, all.spaces
	samples, piece := pairs.Samples(), pairsAtOnce(pairs.Samples())
	fused, shares := make([]float32, 0, pairs.Len()), newEvidence(len(views), pairs.Len())
	step := r.begin(StageFuse, pairs.Len())
	for lo, hi := 0, 0; lo < samples; lo = hi {
		for hi = lo + 1; hi < samples && pairs.Partners.Offsets[hi]-pairs.Partners.Offsets[lo] < piece; {
			hi++
		}
		similarities, err := pairs.Part(lo, hi).Similarities(r.ctx, spaces, r.plan.Threads, nil)
		if err != nil {
			return nil, err
		}
		p, err := estimator.Pairs(r.ctx, similarities, r.plan.Threads, nil)
		if err != nil {
			return nil, err
		}
		if err := shares.add(r.ctx, estimator, similarities, p, len(fused), r.plan.Threads); err != nil {
			return nil, err
		}
		fused = append(fused, p...)
		step.done(len(fused))
	}
	r.trace.Evidence = shares.shares()
	r.release(views)
	g, err := graph.FromPairs(r.ctx, pairs, fused, r.plan.Threads)
	return g, step.end(err)
}

// pairsAtOnce is how many pairs are compared and fused at a time: few against all.
func pairsAtOnce(samples int) int { return max(1<<20, 4*samples) }

// release frees the rows of consumed views. The collector runs at once: the graph that
// comes next takes as much memory in one piece, and it would run only after that.
func (r *run) release(views []*View) {
	if r.plan.Consume {
		for _, v := range views {
			v.Data = nil
		}
		runtime.GC()
	}
}

// clustering is what is found in the fused graph.
type clustering struct {
	granularity Granularity
	refined     *graph.Graph
	nearest     *refine.Neighbourhoods
	partition   *partition.Result
}

// cluster refines the fused graph and finds the clusters in it.
func (r *run) cluster(fused *graph.Graph, known *constraint.Known) (*clustering, error) {
	if r.plan.Preset == Auto {
		return r.choose(fused, known)
	}
	refined, nearest, err := r.refine(fused, known)
	if err != nil {
		return nil, err
	}
	r.trace.Edges = refined.Edges()
	found, err := r.partition(refined, known)
	if err != nil {
		return nil, err
	}
	return &clustering{Granularity{Neighbours: r.plan.Neighbours, Resolution: r.plan.Resolution}, refined, nearest, found}, nil
}

// choose refines and partitions with many numbers of neighbours and resolutions, and takes
// the best.
func (r *run) choose(fused *graph.Graph, known *constraint.Known) (*clustering, error) {
	set := r.plan.selection()
	set.Partition.Known = known
	step := r.begin(StageChoose, set.Steps(fused.Samples()))
	found, err := selection.Search(r.ctx, fused, set, r.plan.Threads, step.done)
	if err := step.end(err); err != nil {
		return nil, err
	}
	r.trace.Edges = found.Graph.Edges()
	r.trace.Tried, r.trace.Chosen = found.Candidates, found.Best
	best := &found.Candidates[found.Best]
	chosen := Granularity{best.Neighbours, best.Resolution, r.plan.Neighbours == 0 && r.plan.Resolution == 0}
	return &clustering{chosen, found.Graph, found.Neighbourhoods, found.Partition}, nil
}

// refine propagates the probabilities on the graph, and what is known of pairs.
func (r *run) refine(fused *graph.Graph, known *constraint.Known) (*graph.Graph, *refine.Neighbourhoods, error) {
	step := r.begin(StageRefine, r.plan.Refinement.Steps()*fused.Samples())
	refined, nearest, err := refine.Graph(r.ctx, fused, r.plan.Refinement, r.plan.Threads, step.done)
	if err != nil {
		return nil, nil, err
	}
	refined, err = known.Spread(r.ctx, refined, r.plan.Threads)
	return refined, nearest, step.end(err)
}

// partition moves samples between clusters.
func (r *run) partition(refined *graph.Graph, known *constraint.Known) (*partition.Result, error) {
	set := r.plan.Partition
	set.Known, set.Resolution = known, r.plan.Resolution
	step := r.begin(StagePartition, set.Steps())
	found, err := partition.Find(r.ctx, refined, set, r.plan.random(partitionStream), step.done)
	return found, step.end(err)
}

// result numbers everything as the views do. All sums are formed before: what
// they come to depends, in the last bit, on the order.
func (r *run) result(order sparse.Permutation, found *clustering) (*Result, error) {
	refined, err := found.refined.Renumber(r.ctx, order, r.plan.Threads)
	if err != nil {
		return nil, err
	}
	nearest := found.nearest
	if nearest != nil {
		if nearest, err = nearest.Renumber(r.ctx, order, found.granularity.Neighbours, r.plan.Threads); err != nil {
			return nil, err
		}
	}
	result := &Result{
		// Equally large clusters are numbered by their first sample in the views.
		Labels:         partition.Number(sparse.Scatter(order, found.partition.Labels)),
		Confidence:     sparse.Scatter(order, partition.Confidence(found.refined, found.partition.Labels)),
		Granularity:    found.granularity,
		Graph:          refined,
		Neighbourhoods: nearest,
		Options:        r.plan.Options,
	}
	result.Sizes = make([]int, 1+slices.Max(result.Labels))
	for _, l := range result.Labels {
		result.Sizes[l]++
	}
	result.Options.Refinement.Neighbours = max(1, found.granularity.Neighbours)
	result.Options.Neighbours, result.Options.Resolution = found.granularity.Neighbours, found.granularity.Resolution
	r.trace.Sweeps = found.partition.Sweeps
	result.Trace = r.trace
	return result, nil
}
