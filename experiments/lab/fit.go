package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/opponent"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// The methods that all experiments have.
const (
	// Paper is the method of the paper.
	Paper Method = ""
	// Default is the default mode.
	Default Method = "default"
	// PseudoLabels fits every view's function, by isotonic regression, on the clusters that
	// k-means finds in the view, given the true number of classes: how MPC, the predecessor
	// of SLS-MPC, does it.
	PseudoLabels Method = "pseudo labels"
	// Oracle fits every view's function on the true classes: a bound for all learning of
	// functions.
	Oracle Method = "oracle"
	// TrueNeighbours gives the candidate pairs the probability 1 where they are of one class
	// and 0 elsewhere, and refines and partitions as usual: a bound for all estimates of
	// probabilities.
	TrueNeighbours Method = "true neighbours"
	// The opponents: these are told the true number of classes, and those of Leiden, on graphs of
	// the 10 and of the 20 nearest, are not.
	KMeans   Method = "k-means"
	Spectral Method = "spectral"
	Ward     Method = "Ward"
	Average  Method = "average"
	Leiden10 Method = "Leiden 10"
	Leiden20 Method = "Leiden 20"
)

// MostSamples is the number of samples up to which there are opponents, whose time and memory
// grow with its square.
const MostSamples = opponent.MostSamples

// common returns what runs a method that all experiments have, nil for another.
func common(m Method) Func {
	switch m {
	case Paper, Default, PseudoLabels, Oracle:
		return Clustering(fit)
	case TrueNeighbours:
		return Clustering(ideal)
	case KMeans, Spectral, Ward, Average, Leiden10, Leiden20:
		return Clustering(rival)
	default:
		return nil
	}
}

// rival clusters by an opponent.
func rival(ctx context.Context, t *Task, views []*mvclust.View) ([]int, error) {
	classes := t.Data.classes
	if views[0].Samples > MostSamples {
		return nil, fmt.Errorf("more than %d samples", MostSamples)
	}
	if t.Setup.Method == KMeans {
		return opponent.KMeans(ctx, views, classes, t.Seed, 0)
	}
	a, err := t.alike(ctx, views)
	if err != nil {
		return nil, err
	}
	switch t.Setup.Method {
	case Spectral:
		return a.Spectral(ctx, classes, t.Seed, 0)
	case Ward:
		return a.Ward(ctx, classes)
	case Average:
		return a.Average(ctx, classes)
	case Leiden10:
		return a.Leiden(ctx, 10, t.Seed)
	default:
		return a.Leiden(ctx, 20, t.Seed)
	}
}

// alike compares the samples of a task, as the opponents want it. The last comparison is kept:
// they are run one after the other. So their times say nothing.
func (t *Task) alike(ctx context.Context, views []*mvclust.View) (*opponent.Alike, error) {
	key := recordKey(t.Setup.By(""), t.Seed)
	if last := &t.Lab.alike; last.key != key {
		last.key, last.of = "", nil
		a, err := opponent.Measure(ctx, views, 0)
		if err != nil {
			return nil, err
		}
		last.key, last.of = key, a
	}
	return t.Lab.alike.of, nil
}

// fit clusters by mvclust.Fit.
func fit(ctx context.Context, t *Task, views []*mvclust.View) ([]int, error) {
	opt, err := t.Setup.Options(t.Seed)
	if err != nil {
		return nil, err
	}
	switch t.Setup.Method {
	case Oracle:
		opt.Learner = calibrate(opt.Learning, func(int) []int { return t.Data.labels })
	case PseudoLabels:
		if opt.Learner, err = PseudoLearner(ctx, views, t.Data.classes, opt); err != nil {
			return nil, err
		}
	}
	result, err := mvclust.Fit(ctx, views, opt)
	if err != nil {
		return nil, err
	}
	m := result.Functions
	if m.Curve != nil {
		t.Loss, t.Epoch = &m.Curve[m.Kept], m.Kept
	}
	if t.Detailed {
		t.Detail = detail(m)
	}
	return result.Labels, nil
}

// calibrate returns a learner that fits the functions of labelled samples.
func calibrate(set probability.Settings, labels func(view int) []int) mvclust.Learner {
	return func(ctx context.Context, pairs [][2]int32, similarities [][]float32) (*probability.Functions, error) {
		same := func(view, pair int) bool {
			l := labels(view)
			return l[pairs[pair][0]] == l[pairs[pair][1]]
		}
		return probability.Calibrate(ctx, similarities, same, set)
	}
}

// PseudoLearner returns a learner that fits the function of every view on the clusters that k-means
// finds in it, as many as there are classes.
func PseudoLearner(ctx context.Context, views []*mvclust.View, classes int, opt mvclust.Options) (mvclust.Learner, error) {
	labels, err := pseudo(ctx, views, classes, opt)
	if err != nil {
		return nil, err
	}
	return calibrate(opt.Learning, func(view int) []int { return labels[view] }), nil
}

// restarts is the number of descents of k-means for pseudo labels.
const restarts = 10

// pseudo returns, by view, the clusters that k-means finds among the rows that the
// similarities compare; -1 for samples without one.
func pseudo(ctx context.Context, views []*mvclust.View, classes int, opt mvclust.Options) ([][]int, error) {
	random := rand.New(rand.NewPCG(opt.Seed, pseudoStream))
	metric := similarity.Cosine
	if len(opt.Metrics) > 0 {
		metric = opt.Metrics[0] // a setup has one for all
	}
	var labels [][]int
	for _, v := range views {
		scaled, err := v.Scaled(ctx, opt.Scale, nil, opt.Threads)
		if err != nil {
			return nil, err
		}
		space, err := similarity.NewSpace(ctx, scaled, metric, nil, opt.Scale != view.NoScale, opt.Threads)
		if err != nil {
			return nil, err
		}
		rows := make([][]float32, space.Count())
		for r := range rows {
			rows[r] = space.Row(r)
		}
		found, err := opponent.Means(ctx, rows, min(classes, len(rows)), restarts, opt.Threads, random)
		if err != nil {
			return nil, err
		}
		of := slices.Repeat([]int{-1}, v.Samples)
		for r, l := range found.Labels {
			of[space.Sample(r)] = l
		}
		labels = append(labels, of)
	}
	return labels, nil
}

// errCandidates ends a run of which only the candidate pairs are wanted.
var errCandidates = errors.New("the candidate pairs are known")

// ideal refines and partitions the graph whose edges are the candidate pairs of
// mvclust.Fit, weighted 1 where both samples are of one class and 0 elsewhere. As in Fit,
// samples are renumbered at random, since their numbers decide ties.
func ideal(ctx context.Context, t *Task, views []*mvclust.View) ([]int, error) {
	opt, err := t.Setup.Options(t.Seed)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(opt.Seed, idealStream))
	n := len(t.Data.labels)
	order := random.Perm(n) // sample i becomes number order[i]
	partners := make([][]int32, n)
	opt.Learner = func(_ context.Context, pairs [][2]int32, _ [][]float32) (*probability.Functions, error) {
		for _, p := range pairs {
			a, b := int32(order[p[0]]), int32(order[p[1]])
			partners[min(a, b)] = append(partners[min(a, b)], max(a, b))
		}
		return nil, errCandidates
	}
	if _, err := mvclust.Fit(ctx, views, opt); !errors.Is(err, errCandidates) {
		return nil, err
	}
	class := make([]int, n)
	for i, l := range t.Data.labels {
		class[order[i]] = l
	}
	set := new(pair.Set)
	var weight []float32
	for a, row := range partners {
		slices.Sort(row)
		for _, b := range row {
			w := float32(0)
			if class[a] == class[b] {
				w = 1
			}
			weight = append(weight, w)
		}
		set.Partners.Append(row...)
	}
	truth, err := graph.FromPairs(ctx, set, weight, opt.Threads)
	if err != nil {
		return nil, err
	}
	refined, _, err := refine.Graph(ctx, truth, opt.Neighbours, opt.Refinement, opt.Threads, nil)
	if err != nil {
		return nil, err
	}
	found, err := partition.Find(ctx, refined, opt.Resolution, nil, opt.Partition, random, nil)
	if err != nil {
		return nil, err
	}
	labels := make([]int, n)
	for i := range labels {
		labels[i] = found.Labels[order[i]]
	}
	return labels, nil
}

// detail returns a part of the curves of a model.
func detail(m *probability.Functions) *Detail {
	d := &Detail{}
	for _, at := range spaced(len(m.Curve)) {
		d.Epochs = append(d.Epochs, float64(at))
		d.Losses = append(d.Losses, Round(m.Curve[at].Total))
	}
	for _, f := range m.ByView {
		var part probability.Function
		for _, at := range spaced(len(f.X)) {
			part.X, part.P = append(part.X, Round(f.X[at])), append(part.P, Round(f.P[at]))
		}
		d.Functions = append(d.Functions, part)
	}
	return d
}

// points is how many points of a curve are kept.
const points = 100

// spaced returns at most points numbers below n, evenly spaced, the ends among them.
func spaced(n int) []int {
	var at []int
	for k := range min(n, points) {
		if n <= points {
			at = append(at, k)
		} else {
			at = append(at, k*(n-1)/(points-1))
		}
	}
	return at
}
