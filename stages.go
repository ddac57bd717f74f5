package mvclust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
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

// prepare scales the features and makes a space of every view.
func (r *run) prepare(views []*View) ([]*view.Scaler, []*similarity.Space, error) {
	step := r.begin(StagePrepare, len(views))
	scalers, err := r.scalers(views)
	if err != nil {
		return nil, nil, err
	}
	spaces := make([]*similarity.Space, len(views))
	for m, v := range views {
		if spaces[m], err = r.space(v, scalers[m], m); err != nil {
			return nil, nil, err
		}
		r.trace.Zero = append(r.trace.Zero, spaces[m].Zero)
		r.trace.FirstZero = append(r.trace.FirstZero, spaces[m].FirstZero)
		step.done(m + 1)
	}
	return scalers, spaces, step.end(nil)
}

// scalers finds how the features of every view are scaled, and under Auto which version of the rows is
// compared: the views decide on each other.
func (r *run) scalers(views []*View) ([]*view.Scaler, error) {
	scalers, failed := make([]*view.Scaler, len(views)), make([]error, len(views))
	err := parallel.Blocks(r.ctx, r.plan.Threads, len(views), 1, func(_, m, _ int) {
		scalers[m], failed[m] = views[m].Scaler(r.ctx, r.plan.scale(m), r.plan.Order)
	})
	if err := cmp.Or(append(failed, err)...); err != nil {
		return nil, err
	}
	if !r.plan.reads() {
		return scalers, nil
	}
	found, err := agreement.Read(r.ctx, views, scalers, r.plan.Metrics, r.plan.Order, r.plan.Threads)
	if err != nil {
		return nil, err
	}
	r.trace.Readings = found
	return found.Apply(scalers)
}

// space makes the space of view m.
func (r *run) space(v *View, scaler *view.Scaler, m int) (*similarity.Space, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if space, err := r.sparse(v, scaler, m); space != nil || err != nil {
		return space, r.varied(space, err, m)
	}
	if r.plan.lean(m) {
		space, err := similarity.Lazy(r.ctx, v, scaler, r.plan.Order, r.plan.Threads)
		return space, r.varied(space, err, m)
	}
	scaled, err := scaler.Apply(r.ctx, v, r.plan.Threads)
	if err != nil {
		return nil, err
	}
	copied := scaled != v
	if r.plan.Consume && copied {
		v.Data = nil
	}
	space, err := similarity.NewSpace(r.ctx, scaled, r.plan.Metrics[m], r.plan.Order, r.plan.Consume || copied, r.plan.Threads)
	return space, r.varied(space, err, m)
}

// sparse returns the space of view m where it is mostly zeros, and its neighbours are found sooner by the values that
// are not; else nil. The samples of an index are compared whole.
func (r *run) sparse(v *View, scaler *view.Scaler, m int) (*similarity.Space, error) {
	if r.plan.Metrics[m] != similarity.Cosine || v.Samples >= r.plan.indexed {
		return nil, nil
	}
	space, err := similarity.Sparse(r.ctx, v, scaler, r.plan.Order, r.plan.Threads)
	if space == nil || err != nil || space.Work() > r.plan.Search.Cost(space.Count(), space.Dims, r.plan.Candidates) {
		return nil, err
	}
	return space, nil
}

// varied returns the error that there was in making the space of view m, or that its rows are all
// equal where those of other views are not.
func (r *run) varied(space *similarity.Space, err error, m int) error {
	if err == nil && r.trace.Distinct != 1 {
		err = space.Varied()
	}
	return r.afterScaling(err, m)
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

// neighbours finds the nearest neighbours of every sample in every view and, of many samples, how the
// samples of the views, in their own numbers, are searched for the neighbours of new ones.
func (r *run) neighbours(spaces []*similarity.Space) ([]*neighbour.Lists, []*neighbour.Parts, error) {
	total := 0
	for _, s := range spaces {
		total += s.Count()
	}
	step, before := r.begin(StageNeighbours, total), 0
	own := sparse.Permutation(r.plan.Order).Inverse()
	lists, indexes := make([]*neighbour.Lists, len(spaces)), make([]*neighbour.Parts, len(spaces))
	for m, s := range spaces {
		kept := s
		var err error
		if !s.Sparse() {
			if kept, err = s.Kept(r.ctx, r.plan.Threads); err != nil { // until the next view
				return nil, nil, err
			}
		}
		report := func(done int) { step.done(before + done) }
		if s.Samples < r.plan.indexed {
			lists[m], err = neighbour.Search(r.ctx, kept, r.plan.Candidates, r.plan.Seed, r.plan.Search, r.plan.Threads, report)
		} else {
			lists[m], indexes[m], err = neighbour.SearchParts(r.ctx, kept, r.plan.Candidates, r.plan.Seed, r.plan.Search, r.plan.Threads, report)
			if indexes[m] != nil && r.plan.lean(m) {
				indexes[m].Rows = nil // until all views have been searched
			}
			indexes[m] = indexes[m].Gather(s, own)
		}
		if err != nil {
			return nil, nil, err
		}
		r.forget(kept != s)
		r.trace.Search = append(r.trace.Search, lists[m].Search)
		r.trace.Candidates = append(r.trace.Candidates, min(r.plan.Candidates, s.Count()-1))
		before += s.Count()
	}
	for m, p := range indexes {
		if p == nil || !r.plan.lean(m) {
			continue
		}
		var err error
		if indexes[m], err = p.Project(r.ctx, spaces[m].Gather(own), r.plan.Threads); err != nil {
			return nil, nil, err
		}
	}
	return lists, indexes, step.end(nil)
}

// pairs is what the stages from here on work on: pairs of samples in their final numbers.
type pairs struct {
	*pair.Set
	order  sparse.Permutation  // number -> sample of the views
	spaces []*similarity.Space // localised where the plan says so
	scales [][]float32         // local scales by view and sample of the views; nil where not localised
	// similarities hold those of all pairs, by view, where they are known; else nil.
	similarities [][]float32
}

// pairs numbers the samples along a walk from neighbour to neighbour, localises the
// similarities and collects the pairs. It takes the lists away.
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
		lists[m] = nil // it may be freed
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
	similarities, err := r.training(p)
	if err != nil {
		return nil, err
	}
	r.trace.Similarities = histograms(similarities)
	functions, err := probability.Learn(r.ctx, similarities, r.plan.Learning, r.plan.Threads, step.done)
	return functions, step.end(err)
}

// training returns the similarities of the training pairs. Where all pairs are compared at once, that is done
// here, and fuse has no need to.
func (r *run) training(p *pairs) ([][]float32, error) {
	few := r.plan.Learning.Pairs
	if p.Len() > pairsAtOnce(p.Samples()) {
		return p.Thin(few).Similarities(r.ctx, p.spaces, r.plan.Threads, nil)
	}
	var err error
	p.similarities, err = p.Similarities(r.ctx, p.spaces, r.plan.Threads, nil)
	return probability.Thin(p.similarities, few), err
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
	known := all.similarities
	if all.similarities = nil; known != nil { // of all pairs, in one piece
		piece = pairs.Len() + 1
	}
	fused, shares := make([]float32, 0, pairs.Len()), newViewShares(len(views), pairs.Len())
	step := r.begin(StageFuse, pairs.Len())
	for lo, hi := 0, 0; lo < samples; lo = hi {
		for hi = lo + 1; hi < samples && pairs.Partners.Offsets[hi]-pairs.Partners.Offsets[lo] < piece; {
			hi++
		}
		similarities := known
		if known = nil; similarities == nil {
			if similarities, err = pairs.Part(lo, hi).Similarities(r.ctx, spaces, r.plan.Threads, nil); err != nil {
				return nil, err
			}
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
	r.trace.Shares = shares.shares()
	r.release(views)
	g, err := graph.FromPairs(r.ctx, pairs, fused, r.plan.Threads)
	return g, step.end(err)
}

// pairsAtOnce is how many pairs are compared and fused at a time: few against all.
func pairsAtOnce(samples int) int { return max(1<<20, 4*samples) }

// release frees the rows of consumed views.
func (r *run) release(views []*View) {
	if r.plan.Consume {
		for _, v := range views {
			v.Data = nil
		}
	}
	r.forget(r.plan.Consume)
}

// forget has the collector run at once, if there are rows that it may free: what comes next takes
// as much memory in one piece, and it would run only after that.
func (r *run) forget(rows bool) {
	if rows {
		runtime.GC()
	}
}

// clustering is what is found in the fused graph.
type clustering struct {
	granularity Granularity
	refined     *graph.Graph
	nearest     *refine.Neighbourhoods
	partition   *partition.Result
	levels      []selection.Level
	level       int
}

// cluster refines the fused graph and finds the clusters in it.
func (r *run) cluster(fused *graph.Graph, known, loose *constraint.Resolved, e *evidence) (*clustering, error) {
	if r.plan.Preset == Auto {
		return r.choose(fused, known, loose, e)
	}
	fused, err := known.Clamp(r.ctx, fused, r.plan.Threads)
	if err != nil {
		return nil, err
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
	given := Granularity{Neighbours: r.plan.Neighbours, Resolution: r.plan.Resolution}
	return &clustering{granularity: given, refined: refined, nearest: nearest, partition: found, level: -1}, nil
}

// choose refines and partitions with many numbers of neighbours and resolutions, and takes
// the best.
func (r *run) choose(fused *graph.Graph, known, loose *constraint.Resolved, e *evidence) (*clustering, error) {
	set := r.plan.selection()
	set.Features, set.Discriminant, set.Doubted = e.features, e.discriminant, r.doubted
	if set.Loose = loose; known == loose {
		known = nil
	}
	step := r.begin(StageChoose, set.Steps(fused.Samples()))
	found, err := selection.Search(r.ctx, fused, known, set, r.plan.Seed, r.plan.Threads, step.done)
	if err := step.end(err); err != nil {
		return nil, err
	}
	r.trace.Edges = found.Graph.Edges()
	r.trace.Tried, r.trace.Chosen, r.trace.Doubted = found.Candidates, found.Best, found.Doubted
	best := &found.Candidates[found.Best]
	chosen := Granularity{best.Neighbours, best.Resolution, r.plan.Neighbours == 0 && r.plan.Resolution == 0}
	return &clustering{chosen, found.Graph, found.Neighbourhoods, found.Partition, found.Levels, found.Level}, nil
}

// refine propagates the probabilities on the graph, and what is known of pairs.
func (r *run) refine(fused *graph.Graph, known *constraint.Resolved) (*graph.Graph, *refine.Neighbourhoods, error) {
	step := r.begin(StageRefine, r.plan.Refinement.Steps()*fused.Samples())
	refined, nearest, err := refine.Consume(r.ctx, fused, r.plan.Neighbours, r.plan.Refinement, r.plan.Threads, step.done)
	if err != nil {
		return nil, nil, err
	}
	refined, err = known.Propagate(r.ctx, refined, r.plan.Threads)
	return refined, nearest, step.end(err)
}

// partition moves samples between clusters.
func (r *run) partition(refined *graph.Graph, known *constraint.Resolved) (*partition.Result, error) {
	step := r.begin(StagePartition, r.plan.Partition.Steps(known))
	found, err := partition.Find(r.ctx, refined, r.plan.Resolution, known, r.plan.Partition, r.plan.random(partitionStream), step.done)
	return found, step.end(err)
}

// sharePairs is about how many pairs the views' shares rest on: more would change no
// digit that anybody reads.
const sharePairs = 1 << 20

// viewShares sums up what the views say of evenly spaced pairs.
type viewShares struct {
	sums  []float64
	every int
}

func newViewShares(views, pairs int) *viewShares {
	return &viewShares{make([]float64, views), max(1, (pairs+sharePairs-1)/sharePairs)}
}

// add adds pairs, after the given number of earlier ones.
func (e *viewShares) add(ctx context.Context, estimator *posterior.Estimator, similarities [][]float32, fused []float32, before, threads int) error {
	first := (e.every - before%e.every) % e.every
	sums, err := estimator.Evidence(ctx, similarities, fused, first, e.every, threads)
	for m, x := range sums {
		e.sums[m] += x
	}
	return err
}

func (e *viewShares) shares() []float64 {
	all := 0.0
	for _, x := range e.sums {
		all += x
	}
	if all > 0 {
		for m := range e.sums {
			e.sums[m] /= all
		}
	}
	return e.sums
}
