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
	"time"

	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/selection"
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
	// Granularity says how fine the clusters are, and whether that was chosen.
	Granularity Granularity
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
	// Options are those that ask for this very result: every default is filled in, and what
	// was chosen from the data is given.
	Options Options
	// Trace tells what every stage did.
	Trace Trace
}

// Granularity says how fine a clustering is.
type Granularity struct {
	// Neighbours is K, the number of most probable neighbours that samples are compared by.
	Neighbours int
	// Resolution is that of the partition; 0 stands for Eq. pi_loss, which has none.
	Resolution float64
	// Chosen says that both were chosen from the data, and not asked for.
	Chosen bool
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
	constraints, err := opt.Constraints.Resolve(r.plan.samples)
	if err != nil {
		return nil, err
	}
	scalers, spaces, err := r.prepare(views)
	if err != nil {
		return nil, err
	}
	lists, err := r.neighbours(spaces)
	if err != nil {
		return nil, err
	}
	spaces, lists, err = r.leaveOut(spaces, lists)
	if err != nil {
		return nil, err
	}
	pairs, err := r.pairs(spaces, lists)
	if err != nil {
		return nil, err
	}
	functions, err := r.learn(pairs)
	if err != nil {
		return nil, err
	}
	order, scales := pairs.order, pairs.scales // the rest of pairs may be freed in fuse
	fused, err := r.fuse(views, pairs, functions)
	if err != nil {
		return nil, err
	}
	constraints = constraints.Renumber(order)
	if fused, err = constraints.Fix(ctx, fused, r.plan.Threads); err != nil {
		return nil, err
	}
	found, err := r.cluster(fused, constraints)
	if err != nil {
		return nil, err
	}
	result, err := r.result(order, found)
	if err != nil {
		return nil, err
	}
	result.Functions, result.Scalers, result.LocalScales = functions, scalers, scales
	if opt.Learner == nil {
		result.Options.Learning = functions.Settings
	}
	return result, nil
}
