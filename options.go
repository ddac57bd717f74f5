package mvclust

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/neighbour"
	"github.com/mvclust/mvclust/partition"
	"github.com/mvclust/mvclust/posterior"
	"github.com/mvclust/mvclust/probability"
	"github.com/mvclust/mvclust/refine"
	"github.com/mvclust/mvclust/similarity"
	"github.com/mvclust/mvclust/view"
)

// Options steer Fit. The zero value runs the paper's method with the default
// number of neighbours.
type Options struct {
	// Neighbours is K, the number of most probable neighbours that a sample is
	// compared by; the best value is near the size of the classes. 0 stands for
	// DefaultNeighbours, or one fewer than the samples where that is less.
	Neighbours int
	// Candidates is the number of nearest neighbours per view whose pairs are
	// looked at, from which the K most probable are then taken. 0 stands for 8 K
	// shared out among the views, at least K and at most 4 K for each, or one
	// fewer than the samples where that is less.
	Candidates int
	// Scale makes the features of every view alike in size before similarities are
	// measured. Under cosine, a sample whose features all become 0 counts as missing.
	Scale view.Scale
	// Metrics holds the similarity measure of every view, or one for all. nil
	// stands for cosine.
	Metrics []similarity.Metric
	// Search steers how the nearest neighbours are found. Fit sets its Neighbours to
	// Candidates and its Seed to Seed.
	Search neighbour.Settings
	// Learning steers how the probability functions are learned.
	Learning probability.Settings
	// Learner, if not nil, takes the place of probability.Learn, and Learning is
	// not used.
	Learner Learner
	// Posterior steers how a pair's views are fused.
	Posterior posterior.Settings
	// Refinement steers the graph refinement. Fit sets its Neighbours to K.
	Refinement refine.Settings
	// Partition steers the search for the clusters.
	Partition partition.Settings
	// Seed decides all that is drawn at random.
	Seed uint64
	// Order decides ties and moves: it holds every sample once, the earlier
	// winning. Permute the samples and Order alike, and the clusters are the same
	// samples. nil stands for an order drawn from Seed.
	Order []int
	// Threads bounds the goroutines that compute at a time; 0 stands for
	// GOMAXPROCS. It does not change the result.
	Threads int
	// Consume lets Fit scale the rows of the views where they are, which saves a copy,
	// and let go of them once they have served: afterwards, also after an error, the
	// views' Data is not to be used. No two views may share it.
	Consume bool
	// Progress, if not nil, is called now and then, by one goroutine at a time.
	// It should return quickly.
	Progress func(Progress)
}

// Learner finds the views' probability functions: P(same class | similarity).
//
// pairs holds the two samples of every pair that is looked at, numbered as in the
// views, the lower first; the pairs are in no particular order. similarities holds, by
// view and pair, how alike the two are, and NaN where one of them lacks the view; it
// must not be changed. The model must pass probability.Model.Validate, and have base
// rates for posterior.Asymmetric and cross functions for completion.
type Learner func(ctx context.Context, pairs [][2]int32, similarities [][]float32) (*probability.Model, error)

// DefaultNeighbours is the number of neighbours where none is asked for.
const DefaultNeighbours = 20

// Stage is a step of Fit.
type Stage string

// The stages of Fit, in order.
const (
	StagePrepare    Stage = "prepare"
	StageNeighbours Stage = "neighbours"
	StagePairs      Stage = "pairs"
	StageLearn      Stage = "learn"
	StageFuse       Stage = "fuse"
	StageRefine     Stage = "refine"
	StagePartition  Stage = "partition"
)

// Progress says how far a stage is. A stage may end before Done reaches Total:
// then a last report has both equal.
type Progress struct {
	Stage       Stage
	Done, Total int
	// Share is about how much of the whole run's time has passed, from 0 to 1.
	Share float64
}

// OptionError says which option cannot be used and why.
type OptionError = option.Error

// resolve checks the options for a number of views and samples and fills in what
// is left at zero.
func (o Options) resolve(views, samples int) (Options, error) {
	bad := func(name, format string, args ...any) (Options, error) {
		return o, option.Errorf(name, format, args...)
	}
	if o.Neighbours < 0 || o.Neighbours >= samples {
		return bad("neighbors", "%d is not between 1 and %d, one fewer than the samples; choose about the size of a class", o.Neighbours, samples-1)
	}
	if o.Neighbours == 0 {
		o.Neighbours = min(DefaultNeighbours, samples-1)
	}
	if o.Candidates == 0 {
		o.Candidates = min(max(o.Neighbours, min(4*o.Neighbours, 8*o.Neighbours/views)), samples-1)
	}
	if o.Candidates < o.Neighbours || o.Candidates >= samples {
		return bad("candidates", "%d is not between %d, the number of neighbours, and %d, one fewer than the samples", o.Candidates, o.Neighbours, samples-1)
	}
	o.Refinement.Neighbours = o.Neighbours
	o.Search.Neighbours, o.Search.Seed = o.Candidates, o.Seed
	o.Threads = min(parallel.Threads(o.Threads), samples) // more would find no work
	if n := len(o.Metrics); n > 1 && n != views {
		return bad("metric", "%d metrics for %d views; give one for all, or one per view", n, views)
	}
	metrics := make([]similarity.Metric, views)
	for m := range metrics {
		if len(o.Metrics) > 0 {
			metrics[m] = o.Metrics[min(m, len(o.Metrics)-1)]
		}
		if _, err := similarity.ParseMetric(metrics[m].String()); err != nil {
			return bad("metric", "%v", err)
		}
	}
	o.Metrics = metrics
	if _, err := view.ParseScale(o.Scale.String()); err != nil {
		return bad("scale", "%v", err)
	}
	if err := option.First(o.Search.Resolve(), o.Learning.Resolve(), o.Posterior.Resolve(), o.Refinement.Resolve(), o.Partition.Resolve()); err != nil {
		return o, err
	}
	if o.Order != nil {
		if len(o.Order) != samples {
			return bad("order", "%d entries for %d samples; list every sample once", len(o.Order), samples)
		}
		seen := make([]bool, samples)
		for _, i := range o.Order {
			if i < 0 || i >= samples || seen[i] {
				return bad("order", "sample %d is out of range or listed twice; list every sample from 0 to %d once", i, samples-1)
			}
			seen[i] = true
		}
		o.Order = slices.Clone(o.Order) // Result keeps it
	}
	return o, nil
}
