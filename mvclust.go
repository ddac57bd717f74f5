// Package mvclust groups samples that are described in several ways, without
// being told how many groups there are and with some descriptions missing.
//
// It implements SLS-MPC, self-learning symmetric multi-view probabilistic
// clustering. Fit runs the whole method, one package per stage:
//
//	view         the input: the same samples as rows of several matrices
//	similarity   how alike two samples are in one view
//	neighbour    the K nearest neighbours of every sample in one view
//	pair         the pairs that are neighbours in some view
//	probability  learns, without labels, P(same class | similarity) for each view
//	posterior    fuses the views' probabilities of a pair into one
//	refine       corrects it by the paths and the common neighbours around the pair
//	partition    moves samples between clusters while the joint probability rises
//
// Unless told otherwise, Fit also decides what the paper leaves to its user: package
// agreement tells views from noise, and package granularity how many neighbours to look
// at and how fine the clusters are to be.
//
// What is known of pairs of samples, that they belong together or do not, is honoured where
// Options.Constraints say it: package constraint.
//
// Every stage is usable on its own. Package score compares a partition with the
// truth, package synth makes data to try things on.
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

// Version is the version of the module.
const Version = "0.1.0"

// View is one description of the samples; see package view.
type View = view.View

// InputError is the error of Fit for views that cannot be used; see package view.
type InputError = view.InputError

// NewView returns a view of samples x dims values, row after row. A row that is
// NaN throughout marks a sample that lacks the view.
func NewView(name string, samples, dims int, data []float32) (*View, error) {
	return view.New(name, samples, dims, data)
}

// ViewFromRows returns a view with a copy of rows; a nil row marks a sample that
// lacks the view.
func ViewFromRows[T float32 | float64](name string, rows [][]T) (*View, error) {
	return view.FromRows(name, rows)
}

// Result is a clustering and how it came about. Samples are numbered as in the
// views.
type Result struct {
	// Labels holds the cluster of every sample, numbered from 0 by falling size.
	Labels []int
	// Confidence says how sure each label is, in [0, 1]; partition.Confidence has
	// the formula.
	Confidence []float64
	// Sizes holds the number of samples of every cluster.
	Sizes []int
	// Functions holds the learned probability functions and the learning curve.
	Functions *probability.Functions
	// Graph holds the refined pair probabilities.
	Graph *graph.Graph
	// Neighbourhoods holds the K most probable neighbours of every sample, which
	// co-neighbour propagation compared; nil where it is left out.
	Neighbourhoods *refine.Neighbourhoods
	// Scalers holds, by view, what rows were scaled with, and LocalScales what their
	// distances were multiplied by, as similarity.Space.LocalScales has it; nil where
	// similarities are not localised.
	Scalers     []*view.Scaler
	LocalScales [][]float32
	// Options are the options of the run, with all defaults filled in.
	Options Options
	// Trace tells what every stage did.
	Trace Trace
}

// Trace tells what the stages of a run did.
type Trace struct {
	// Stages holds the time that each stage took, in order.
	Stages []Timing
	// Candidates is the number of neighbours that were sought, by view: fewer
	// than asked for where fewer samples have the view.
	Candidates []int
	// Zero counts, by view, the samples whose row is all zeros, once scaled, which
	// count as missing under the cosine metric; FirstZero is the first of them, or -1.
	Zero, FirstZero []int
	// Search tells, by view, how the neighbours were found, and what share of the true
	// ones.
	Search []neighbour.Report
	// Agreement tells, where there are several views under Auto, how far they agree, and
	// which of them had no say because they agree with the others no more than noise would.
	Agreement *agreement.Report
	// Tried holds, under Auto, the partitions among which the one at Chosen was chosen.
	Tried  []selection.Candidate
	Chosen int
	// Pairs is the number of pairs that were looked at, T.
	Pairs int
	// Similarities counts, by view, how alike the training pairs are, on the scale of the
	// view's probability function.
	Similarities []probability.Histogram
	// Evidence is the share of each view in the decisions on the pairs: in the sum of
	// |log(p / (1 - p))|, with p the view's probability, over the pairs that were decided
	// as the view would have it; see posterior.Estimator.Evidence. Where there are many
	// pairs it rests on some of them, evenly spaced. The shares add up to 1, or are 0
	// where no view says anything.
	Evidence []float64
	// Edges is the number of pairs with a refined probability.
	Edges int
	// Sweeps holds the moves and the objective of every sweep of the partition.
	Sweeps []partition.Sweep
}

// Timing is the time that a stage took.
type Timing struct {
	Stage    Stage
	Duration time.Duration
}

// Fit clusters the samples that views describe. All views must have the same
// number of samples, at least three. The views are not changed, unless Options.Consume
// allows it.
//
// The same views, options and seed give the same result, whatever the number of
// threads. Views in another order give the same result but for the rounding of
// sums over the views, unless Options ask for a fusion that tells them apart, or a view
// is so near to chance that it depends on the samples drawn whether Auto leaves it out.
//
// The errors of Fit are *InputError for unusable views, *OptionError for unusable
// options, *constraint.Error for constraints that cannot be honoured, whatever
// Options.Learner returns, and the context's own when ctx is done,
// which Fit heeds within a second on up to some ten million pairs.
func Fit(ctx context.Context, views []*View, opt Options) (*Result, error) {
	r, err := newRun(ctx, views, opt)
	if err != nil {
		return nil, err
	}
	spaces, err := r.spaces()
	if err != nil {
		return nil, err
	}
	lists, err := r.neighbours(spaces)
	if err != nil {
		return nil, err
	}
	if err := r.compareViews(lists, spaces); err != nil {
		return nil, err
	}
	pairs, err := r.pairs(lists, spaces)
	if err != nil {
		return nil, err
	}
	model, err := r.learn(pairs, spaces)
	if err != nil {
		return nil, err
	}
	fused, err := r.fuse(model, pairs, spaces)
	if err != nil {
		return nil, err
	}
	if fused, err = r.constrain(fused); err != nil {
		return nil, err
	}
	found, err := r.cluster(fused)
	if err != nil {
		return nil, err
	}
	return r.result(model, found)
}

// run is one call of Fit. The stages work on renumbered samples: at first, sample
// Order[i] of the views is number i, and once the neighbours are known, samples are
// numbered in the order of a walk from neighbour to neighbour. Since every tie is broken
// by number, and the walk depends on nothing else, Order decides all ties, and a result
// depends on how the samples are stored only through it.
type run struct {
	ctx   context.Context
	views []*View
	opt   Options           // resolved
	order []int             // number -> sample of the views
	known *constraint.Known // by the samples of the views
	costs costs
	trace Trace

	scalers     []*view.Scaler
	localScales [][]float32 // in the numbers of the views
}

func newRun(ctx context.Context, views []*View, opt Options) (*run, error) {
	if err := checkViews(views); err != nil {
		return nil, err
	}
	n := views[0].Samples
	opt, err := opt.resolve(len(views), n)
	if err != nil {
		return nil, err
	}
	if opt.Consume && shared(views) {
		return nil, option.Errorf("Consume", "two views have the same Data, which would be scaled twice; leave one of them out, or do not consume them")
	}
	known, err := opt.Constraints.Resolve(n)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, views: views, opt: opt, known: known, costs: estimate(opt, views)}
	if r.opt.Order == nil {
		r.opt.Order = r.random(orderStream).Perm(n)
	}
	r.order = r.opt.Order
	return r, nil
}

// shared reports whether two views begin with the same value in memory.
func shared(views []*View) bool {
	seen := map[*float32]bool{}
	for _, v := range views {
		if len(v.Data) > 0 {
			if seen[&v.Data[0]] {
				return true
			}
			seen[&v.Data[0]] = true
		}
	}
	return false
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

// Streams of random numbers, so that one stage's use does not shift another's.
const (
	orderStream = iota + 1
	partitionStream
)

func (r *run) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(r.opt.Seed, stream)) }

// stage times do, reports its progress and ends the run where ctx is done.
func (r *run) stage(stage Stage, total int, do func(progress func(done int)) error) error {
	report := func(done, total int) {
		if r.opt.Progress != nil {
			r.opt.Progress(Progress{stage, done, total, r.costs.share(stage, done, total)})
		}
	}
	start := time.Now()
	report(0, total)
	if err := do(func(done int) { report(done, total) }); err != nil {
		return err
	}
	report(total, total)
	r.trace.Stages = append(r.trace.Stages, Timing{stage, time.Since(start)})
	return r.ctx.Err()
}

func (r *run) spaces() ([]*similarity.Space, error) {
	spaces := make([]*similarity.Space, len(r.views))
	err := r.stage(StagePrepare, len(r.views), func(progress func(int)) error {
		for m, v := range r.views {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			scaler, err := v.Scaler(r.ctx, r.opt.scale(r.opt.Metrics[m]), r.opt.Order)
			if err != nil {
				return err
			}
			scaled, err := scaler.Apply(r.ctx, v, r.opt.Threads)
			if err != nil {
				return err
			}
			r.scalers = append(r.scalers, scaler)
			if r.opt.Consume && scaled != v {
				v.Data = nil
			}
			s, err := similarity.NewSpace(r.ctx, scaled, r.opt.Metrics[m], r.opt.Order, r.opt.Consume || scaled != v, r.opt.Threads)
			if err != nil {
				return r.afterScaling(err)
			}
			spaces[m] = s
			r.trace.Zero = append(r.trace.Zero, s.Zero)
			r.trace.FirstZero = append(r.trace.FirstZero, s.FirstZero)
			progress(m + 1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, sample := range r.order {
		if !slices.ContainsFunc(spaces, func(s *similarity.Space) bool { return s.Has(i) }) {
			return nil, r.viewless(sample)
		}
	}
	return spaces, nil
}

// afterScaling says that an error about a view is not about the values that the caller
// knows, where they were scaled. A row that has a direction in none of Mixed's readings has
// none as it is either.
func (r *run) afterScaling(err error) error {
	if bad, ok := errors.AsType[*InputError](err); ok && r.opt.Scale != view.NoScale && r.opt.Scale != view.Mixed {
		return &InputError{View: bad.View, Row: bad.Row, Problem: bad.Problem + fmt.Sprintf(" (this is about the view after scale %v)", r.opt.Scale)}
	}
	return err
}

// viewless says why a sample has no view to be compared in.
func (r *run) viewless(sample int) error {
	for _, v := range r.views {
		if v.Has(sample) {
			return r.afterScaling(&InputError{View: v.Name, Row: sample, Problem: "is all zeros, which has no cosine, and the sample has no other view; remove the sample, or choose the l1, l2 or l3 metric"})
		}
	}
	return &InputError{Row: sample, Problem: "is missing from every view; remove the sample, or give it at least one view"}
}

func (r *run) neighbours(spaces []*similarity.Space) ([]*neighbour.Lists, error) {
	lists := make([]*neighbour.Lists, len(spaces))
	total := 0
	for _, s := range spaces {
		total += s.Count()
	}
	err := r.stage(StageNeighbours, total, func(progress func(int)) error {
		before := 0
		for m, s := range spaces {
			l, err := neighbour.Search(r.ctx, s, r.opt.Candidates, r.opt.Seed, r.opt.Search, r.opt.Threads, func(done int) { progress(before + done) })
			if err != nil {
				return err
			}
			r.trace.Search = append(r.trace.Search, l.Search)
			lists[m] = l
			r.trace.Candidates = append(r.trace.Candidates, min(r.opt.Candidates, s.Count()-1))
			before += s.Count()
		}
		return nil
	})
	return lists, err
}

// compareViews finds, under Auto, the views that are at chance, and empties their lists:
// pairs are not looked at for being close in noise.
func (r *run) compareViews(lists []*neighbour.Lists, spaces []*similarity.Space) error {
	if r.opt.Preset != Auto || len(spaces) < 2 {
		return nil
	}
	found, err := agreement.Measure(r.ctx, spaces, lists, r.opt.Seed, r.opt.Threads)
	if err != nil {
		return err
	}
	r.trace.Agreement = found
	for m, out := range found.LeftOut {
		if out {
			spaces[m] = spaces[m].Emptied()
			lists[m] = lists[m].Emptied()
		}
	}
	return nil
}

// pairs renumbers lists and spaces, and collects the pairs.
func (r *run) pairs(lists []*neighbour.Lists, spaces []*similarity.Space) (*pair.Set, error) {
	var pairs *pair.Set
	err := r.stage(StagePairs, 1, func(func(int)) (err error) {
		if err = r.walk(lists, spaces); err != nil {
			return err
		}
		pairs, err = pair.Union(r.ctx, lists, r.opt.Threads)
		return err
	})
	if err == nil {
		r.trace.Pairs = pairs.Len()
	}
	return pairs, err
}

// walk renumbers the samples so that neighbours are close to each other in memory.
func (r *run) walk(lists []*neighbour.Lists, spaces []*similarity.Space) error {
	walk, err := neighbour.Walk(r.ctx, lists, r.opt.Threads)
	if err != nil {
		return err
	}
	for m := range lists {
		spaces[m] = spaces[m].Gather(walk)
		if lists[m], err = lists[m].Gather(r.ctx, walk, r.opt.Threads); err != nil {
			return err
		}
		if !r.opt.Local {
			continue
		}
		if spaces[m], err = spaces[m].Localised(r.ctx, lists[m].Of, r.opt.Threads); err != nil {
			return err
		}
	}
	order := sparse.Permutation(sparse.Gather(walk, r.order))
	r.order = order
	r.localScales = make([][]float32, len(spaces))
	for m, s := range spaces {
		if scales := s.LocalScales(); scales != nil {
			r.localScales[m] = sparse.Scatter(order, scales)
		}
	}
	return nil
}

func (r *run) learn(pairs *pair.Set, spaces []*similarity.Space) (*probability.Functions, error) {
	if r.opt.Learner != nil {
		return r.askLearner(pairs, spaces)
	}
	var model *probability.Functions
	err := r.stage(StageLearn, r.opt.Learning.Epochs, func(progress func(int)) error {
		similarities, err := pairs.Thin(r.opt.Learning.Pairs).Similarities(r.ctx, spaces, r.opt.Threads, nil)
		if err != nil {
			return err
		}
		r.count(similarities)
		model, err = probability.Learn(r.ctx, similarities, r.opt.Learning, r.opt.Threads, progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.opt.Learning = model.Settings
	return model, nil
}

// askLearner has the caller's Learner in the place of probability.Learn.
func (r *run) askLearner(pairs *pair.Set, spaces []*similarity.Space) (*probability.Functions, error) {
	var model *probability.Functions
	err := r.stage(StageLearn, 1, func(func(int)) error {
		similarities, err := pairs.Similarities(r.ctx, spaces, r.opt.Threads, nil)
		if err != nil {
			return err
		}
		r.count(similarities)
		if model, err = r.opt.Learner(r.ctx, r.numbered(pairs), similarities); err != nil {
			return err
		}
		return r.checkModel(model)
	})
	return model, err
}

// numbered returns the pairs in the numbers of the views.
func (r *run) numbered(pairs *pair.Set) [][2]int32 {
	list := make([][2]int32, 0, pairs.Len())
	for p := range pairs.Samples() {
		a := int32(r.order[p])
		for _, q := range pairs.Of(p) {
			b := int32(r.order[q])
			list = append(list, [2]int32{min(a, b), max(a, b)})
		}
	}
	return list
}

// checkModel reports, as an *OptionError, a model that the later stages cannot use.
func (r *run) checkModel(model *probability.Functions) error {
	problem := ""
	if model == nil {
		problem = "it returned no model and no error; return one of them"
	} else if err := model.Validate(len(r.views)); err != nil {
		problem = err.Error()
	} else if r.opt.Posterior.Fusion == posterior.Asymmetric && model.BaseRate == nil {
		problem = "the model has no base rates, which the asymmetric fusion needs; give one per view, or choose another fusion"
	} else if r.opt.Posterior.Completion && model.Cross == nil {
		problem = "the model has no cross functions, which completion needs; give them, or do without completion"
	}
	if problem == "" {
		return nil
	}
	return &OptionError{Field: "Learner", Problem: problem}
}

// atATime is how many pairs of so many samples are compared and fused at a time: few
// against all, whose similarities are never held all at once.
func atATime(samples int) int { return max(1<<20, 4*samples) }

func (r *run) fuse(model *probability.Functions, pairs *pair.Set, spaces []*similarity.Space) (*graph.Graph, error) {
	var fused *graph.Graph
	err := r.stage(StageFuse, pairs.Len(), func(progress func(int)) error {
		estimator, err := posterior.New(model, r.opt.Posterior)
		if err != nil {
			return err
		}
		p, said := make([]float32, 0, pairs.Len()), newEvidence(len(spaces), pairs.Len())
		for lo, hi := 0, 0; lo < pairs.Samples(); lo = hi {
			for hi = lo + 1; hi < pairs.Samples() && pairs.Partners.Offsets[hi]-pairs.Partners.Offsets[lo] < atATime(pairs.Samples()); {
				hi++
			}
			similarities, err := pairs.Part(lo, hi).Similarities(r.ctx, spaces, r.opt.Threads, nil)
			if err != nil {
				return err
			}
			some, err := estimator.Pairs(r.ctx, similarities, r.opt.Threads, nil)
			if err != nil {
				return err
			}
			if err := said.add(r.ctx, estimator, similarities, some, len(p), r.opt.Threads); err != nil {
				return err
			}
			p = append(p, some...)
			progress(len(p))
		}
		r.trace.Evidence = said.shares()
		r.release(spaces)
		fused, err = graph.FromPairs(r.ctx, pairs, p, r.opt.Threads)
		return err
	})
	return fused, err
}

// release lets go of the rows, which have served: they may be most of the memory. They
// are collected at once where they were consumed, for the graph that comes next takes
// as much in one piece, and the collector looks for garbage only after such a piece.
func (r *run) release(spaces []*similarity.Space) {
	clear(spaces)
	if r.opt.Consume {
		for _, v := range r.views {
			v.Data = nil
		}
		runtime.GC()
	}
}

// clustering is what is found in the fused graph.
type clustering struct {
	refined   *graph.Graph
	near      *refine.Neighbourhoods
	partition *partition.Result
}

// cluster refines the fused graph and finds the clusters in it.
func (r *run) cluster(fused *graph.Graph) (*clustering, error) {
	if r.opt.Preset == Auto {
		return r.choose(fused)
	}
	found, err := r.refine(fused)
	if err != nil {
		return nil, err
	}
	found.partition, err = r.partition(found.refined)
	return found, err
}

// choose refines and partitions with many numbers of neighbours and resolutions, and
// takes the best.
func (r *run) choose(fused *graph.Graph) (*clustering, error) {
	var found *selection.Result
	set := r.opt.granularity()
	set.Partition.Known = r.known
	err := r.stage(StageChoose, set.Steps(fused.Samples()), func(progress func(int)) (err error) {
		found, err = selection.Search(r.ctx, fused, set, r.opt.Threads, progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	best := &found.Candidates[found.Best]
	r.opt.Neighbours, r.opt.Refinement.Neighbours = best.Neighbours, best.Neighbours
	r.opt.Partition.Resolution = best.Resolution
	r.trace.Edges = found.Graph.Edges()
	r.trace.Tried, r.trace.Chosen = found.Candidates, found.Best
	return &clustering{found.Graph, found.Neighbourhoods, found.Partition}, nil
}

func (r *run) refine(fused *graph.Graph) (*clustering, error) {
	found := &clustering{}
	err := r.stage(StageRefine, r.opt.Refinement.Steps()*fused.Samples(), func(progress func(int)) (err error) {
		found.refined, found.near, err = refine.Graph(r.ctx, fused, r.opt.Refinement, r.opt.Threads, progress)
		if err != nil {
			return err
		}
		found.refined, err = r.known.Spread(r.ctx, found.refined, r.opt.Threads)
		return err
	})
	return found, err
}

func (r *run) partition(refined *graph.Graph) (*partition.Result, error) {
	r.trace.Edges = refined.Edges()
	var found *partition.Result
	set := r.opt.Partition
	set.Known = r.known
	err := r.stage(StagePartition, set.Steps(), func(progress func(int)) (err error) {
		found, err = partition.Find(r.ctx, refined, set, r.random(partitionStream), progress)
		return err
	})
	return found, err
}

// result numbers everything as the views do. All sums are formed before: what
// they come to depends, in the last bit, on the order.
func (r *run) result(model *probability.Functions, found *clustering) (*Result, error) {
	n := len(r.order)
	numbered, err := found.refined.Renumber(r.ctx, r.order, r.opt.Threads)
	if err != nil {
		return nil, err
	}
	near := found.near
	if near != nil {
		if near, err = near.Renumber(r.ctx, r.order, r.opt.Neighbours, r.opt.Threads); err != nil {
			return nil, err
		}
	}
	result := &Result{
		Labels:      make([]int, n),
		Confidence:  make([]float64, n),
		Functions:   model,
		Graph:       numbered,
		Options:     r.opt,
		Scalers:     r.scalers,
		LocalScales: r.localScales,

		Neighbourhoods: near,
	}
	confidence := partition.Confidence(found.refined, found.partition.Labels)
	for i, sample := range r.order {
		result.Labels[sample], result.Confidence[sample] = found.partition.Labels[i], confidence[i]
	}
	// Equally large clusters are numbered by their first sample in the views.
	result.Labels = partition.Number(result.Labels)
	for _, l := range result.Labels {
		for l >= len(result.Sizes) {
			result.Sizes = append(result.Sizes, 0)
		}
		result.Sizes[l]++
	}
	r.trace.Sweeps = found.partition.Sweeps
	result.Trace = r.trace
	return result, nil
}
