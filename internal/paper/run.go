package paper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/bench"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/kmeans"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
)

// Run is one run of a setup, and what came of it.
type Run struct {
	Setup Setup `json:"setup"`
	bench.Trial
	// Version is that of mvclust, and SHA256 that of the set's file: a run of
	// another version or on other data counts for nothing.
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	// Loss is the loss of the functions that the run used, nil where none was
	// lowered, and Epoch the one that it is of.
	Loss  *probability.Losses `json:"loss,omitempty"`
	Epoch int                 `json:"epoch,omitempty"`
	// Detail is what figures need; nil where none needs it.
	Detail *Detail `json:"detail,omitempty"`
}

// Detail holds a part of the points of the curves of a run, enough to draw them.
type Detail struct {
	// Epochs and Losses are the curve of the whole loss.
	Epochs []float64 `json:"epochs,omitempty"`
	Losses []float64 `json:"losses,omitempty"`
	// Functions are the views' probability functions.
	Functions []probability.Function `json:"functions,omitempty"`
}

// data is a set that was read.
type data struct {
	views  []*mvclust.View
	labels []int
	names  int // classes
	sha256 string
}

// load reads a set. The error says nothing of where the folder is.
func load(ctx context.Context, folder, file string) (*data, error) {
	path := filepath.Join(folder, filepath.FromSlash(file))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not in the folder", file)
	}
	set, err := dataset.Load(ctx, []string{path}, dataset.Options{})
	if err == nil {
		var truth *dataset.Truth
		if truth, err = dataset.Labels(ctx, path, set.IDs, set.Views[0].Samples); err == nil {
			return &data{set.Views, truth.Labels, len(truth.Names), set.Files[0].SHA256}, nil
		}
	}
	return nil, errors.New(strings.ReplaceAll(err.Error(), filepath.Clean(folder)+string(filepath.Separator), ""))
}

// choose returns the views of the given numbers, nil for all.
func (d *data) choose(numbers []int) ([]*mvclust.View, error) {
	if numbers == nil {
		return d.views, nil
	}
	var views []*mvclust.View
	for _, v := range numbers {
		if v < 0 || v >= len(d.views) {
			return nil, fmt.Errorf("there is no view %d; the set has %d", v, len(d.views))
		}
		views = append(views, d.views[v])
	}
	return views, nil
}

// run runs a setup once.
func (d *data) run(ctx context.Context, s Setup, seed uint64, detailed bool) (*Run, error) {
	views, err := d.choose(s.Views)
	if err != nil {
		return nil, err
	}
	if views, err = bench.Mask(views, s.Missing, seed); err != nil {
		return nil, err
	}
	opt, err := s.options(seed)
	if err != nil {
		return nil, err
	}
	r := &Run{Setup: s, Version: mvclust.Version, SHA256: d.sha256}
	r.Seed = seed
	start := time.Now()
	var found []int
	if s.Method == TrueNeighbours {
		found, err = d.ideal(ctx, views, opt)
	} else {
		found, err = d.fit(ctx, r, views, opt, detailed)
	}
	if err != nil {
		return nil, err
	}
	r.Seconds = round(time.Since(start).Seconds())
	r.Scores, err = score.Compare(d.labels, found)
	return r, err
}

// fit clusters by mvclust.Fit.
func (d *data) fit(ctx context.Context, r *Run, views []*mvclust.View, opt mvclust.Options, detailed bool) ([]int, error) {
	switch r.Setup.Method {
	case SelfLearning:
	case Oracle:
		opt.Learner = calibrate(opt.Learning, func(int) []int { return d.labels })
	case PseudoLabels:
		labels, err := d.pseudo(ctx, views, opt)
		if err != nil {
			return nil, err
		}
		opt.Learner = calibrate(opt.Learning, func(view int) []int { return labels[view] })
	default:
		return nil, fmt.Errorf("there is no method %q", r.Setup.Method)
	}
	result, err := mvclust.Fit(ctx, views, opt)
	if err != nil {
		return nil, err
	}
	m := result.Functions
	if m.Curve != nil {
		r.Loss, r.Epoch = &m.Curve[m.Kept], m.Kept
	}
	if detailed {
		r.Detail = detail(m)
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

// pseudoStream is the stream of random numbers of the pseudo labels, one that
// mvclust.Fit and bench.Mask do not use.
const pseudoStream = 100

// restarts is the number of descents of k-means.
const restarts = 10

// pseudo returns, by view, the clusters that k-means finds among the rows that the
// similarities compare; -1 for samples without one.
func (d *data) pseudo(ctx context.Context, views []*mvclust.View, opt mvclust.Options) ([][]int, error) {
	random := rand.New(rand.NewPCG(opt.Seed, pseudoStream))
	metric := similarity.Cosine
	if len(opt.Metrics) > 0 {
		metric = opt.Metrics[0] // options has one for all
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
		found, err := kmeans.Find(ctx, rows, min(d.names, len(rows)), restarts, opt.Threads, random)
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

// idealStream is the stream of random numbers of ideal.
const idealStream = 101

// ideal refines and partitions the graph whose edges are the candidate pairs of
// mvclust.Fit, weighted 1 where both samples are of one class and 0 elsewhere. As in
// Fit, samples are renumbered at random, since their numbers decide ties.
func (d *data) ideal(ctx context.Context, views []*mvclust.View, opt mvclust.Options) ([]int, error) {
	random := rand.New(rand.NewPCG(opt.Seed, idealStream))
	n := len(d.labels)
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
	for i, l := range d.labels {
		class[order[i]] = l
	}
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, 1, n+1)}}
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
		set.Partners.Values = append(set.Partners.Values, row...)
		set.Partners.Offsets = append(set.Partners.Offsets, len(set.Partners.Values))
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

// points is how many points of a curve are kept.
const points = 100

// detail returns a part of the curves of a model.
func detail(m *probability.Functions) *Detail {
	d := &Detail{}
	for _, at := range spaced(len(m.Curve)) {
		d.Epochs = append(d.Epochs, float64(at))
		d.Losses = append(d.Losses, round(m.Curve[at].Total))
	}
	for _, f := range m.ByView {
		var part probability.Function
		for _, at := range spaced(len(f.X)) {
			part.X, part.P = append(part.X, round(f.X[at])), append(part.P, round(f.P[at]))
		}
		d.Functions = append(d.Functions, part)
	}
	return d
}

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

// round keeps five digits, which is more than a figure shows.
func round(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return rounded
}
