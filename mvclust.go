// Package mvclust groups samples that are described in several ways, without being told how
// many groups there are and with some descriptions missing.
//
// It implements SLS-MPC, self-learning symmetric multi-view probabilistic clustering. Fit runs
// the method. Each stage is a package under method, in this order:
//
//	view         the input: the same samples as rows of several matrices
//	similarity   how alike two samples are in one view
//	neighbour    the nearest neighbours of every sample in one view
//	agreement    which views agree with the others no more than noise would
//	pair         the pairs of samples that are neighbours in some view
//	probability  learns, without labels, P(same class | similarity) of each view
//	posterior    fuses the views' probabilities of a pair into one
//	graph        the pairs and their probabilities as a sparse graph
//	constraint   enters what is known of pairs: together, or never together
//	refine       corrects a probability by the paths and the common neighbours around the pair
//	partition    moves samples between clusters while the objective improves
//	selection    chooses how many neighbours to look at and how fine the clusters are
//	structure    tells whether there is more to find than in a cloud without groups
//
// The zero Options choose everything from the data. Preset Paper is the method as it was
// published.
//
// A Result can be kept as a Model, which packages predict and explain work on. Package report
// makes a page of a Result, package score compares it with known classes, and package synth
// makes data to try things on. These packages and this one keep their API within a major
// version; the packages under method may change in any minor one.
package mvclust

import (
	"context"
	"time"

	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/structure"
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

// Fill is a way to fill in single values that are missing: view.Mean, view.Median or view.Zero.
type Fill = view.Fill

// NewFilledView is NewView, but values that are NaN in a row of others are filled in, in data
// itself. The view's Filling says how many.
func NewFilledView(name string, samples, dims int, data []float32, how Fill) (*View, error) {
	return view.NewFilled(name, samples, dims, data, how)
}

// ViewFromRows returns a view with a copy of rows; a nil row marks a sample that
// lacks the view.
func ViewFromRows[T float32 | float64](name string, rows [][]T) (*View, error) {
	return view.FromRows(name, rows)
}

// Links are links between samples; see package view.
type Links = view.Links

// ViewFromLinks returns a view of samples that are known by their links: citations, friendships,
// or pairs that may be one thing. Walks from samples that are alike end at the same places. A
// sample in no pair lacks the view.
func ViewFromLinks(ctx context.Context, name string, samples int, links Links) (*View, error) {
	return view.FromLinks(ctx, name, samples, links, 0)
}

// Constraints are what is known of pairs of samples; see package constraint.
type Constraints = constraint.Set

// ConstraintError is the error of Fit for constraints that cannot be used or contradict each
// other; see package constraint.
type ConstraintError = constraint.Error

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
	// Neighbourhoods holds the most probable neighbours of every sample: as many as the level
	// of the most neighbours compares. Co-neighbour propagation compared the first K. It is nil
	// where that is left out.
	Neighbourhoods *refine.Neighbourhoods
	// Levels holds, under Auto, the granularities that the data support, coarse to fine; Level
	// is the place among them of the one that Labels are of, or -1 where they are of none.
	Levels []Level
	Level  int
	// Structure tells, where the granularity was chosen, whether there is more to find than in a
	// cloud without groups. It is nil otherwise, and where a part of the samples cannot be
	// clustered by itself.
	Structure *structure.Report
	// Against holds those of Options.Examples that the clusters contradicted before they had to
	// meet them.
	Against []Example
	// Scalers holds, by view, what rows were scaled with, and LocalScales what their
	// distances were multiplied by, as similarity.Space.LocalScales has it; nil where
	// similarities are not localised.
	Scalers     []*view.Scaler
	LocalScales [][]float32
	// Indexes holds, by view, how the rows are searched for the neighbours of new ones; nil where
	// there are fewer than 300,000 samples, or hardly any have the view.
	Indexes []*neighbour.Parts
	// Constraints is what follows from Options.Constraints and Options.Examples; nil without
	// either.
	Constraints *constraint.Resolved
	// Options are those that ask for this very result: every default is filled in, and what
	// was chosen from the data is given. Where Trace.Alone tells of one view, they ask for the result of all.
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
	// Distinct is the number of distinct samples: those that have the same views, and equal rows
	// in each of them, count once.
	Distinct int
	// Zero counts, by view, the samples whose row is all zeros once it is scaled: under
	// the cosine metric they lack the view. FirstZero is the first of them, or -1.
	Zero, FirstZero []int
	// Search tells, by view, how the neighbours were found, and what share of the true
	// ones.
	Search []neighbour.Report
	// Linked says whether the clusters are those of average linkage: one distance tells them, or Options.Clusters
	// asked for so many.
	Linked bool
	// Readings tells, under Auto and with several views, which version of the rows of each was
	// compared, and how far the others confirm the neighbours that each version finds.
	Readings *agreement.Readings
	// Agreement tells, under Auto and with several views, how far they agree and which were
	// left out because they agree with the others no more than noise would.
	Agreement *agreement.Report
	// Alone tells of the one view that is compared, since what is chosen in it alone is much clearer than what is
	// chosen in all views; nil where there is none. Agreement.LeftOut marks the others.
	Alone *Alone
	// Tried holds, under Auto, the partitions among which the one at Chosen was chosen. Doubted says that a plateau was as
	// stable as a clear one, but did not count, since clouds without groups have such plateaus, too.
	Tried   []selection.Candidate
	Chosen  int
	Doubted bool
	// Pairs is the number of pairs that were looked at, T.
	Pairs int
	// Similarities counts, by view, how alike the training pairs are, on the scale of the
	// view's probability function.
	Similarities []probability.Histogram
	// Shares holds the share of each view in the decisions on the pairs: of the sum of
	// |log(p / (1 - p))|, with p the view's probability, over the pairs that were decided as
	// the view would have it; see posterior.Estimator.Evidence. Of many pairs, some are
	// taken, evenly spaced. The shares add up to 1, or are 0 where no view says anything.
	Shares []float64
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
