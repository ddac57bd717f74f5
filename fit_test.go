package mvclust_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

func generate(t testing.TB, cfg synth.Config) *synth.Set {
	t.Helper()
	set, err := synth.Generate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func fit(t testing.TB, views []*mvclust.View, opt mvclust.Options) *mvclust.Result {
	t.Helper()
	result, err := mvclust.Fit(t.Context(), views, opt)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func compare(t testing.TB, truth, labels []int) score.Scores {
	t.Helper()
	s, err := score.Compare(truth, labels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mixed is data with everything in it that Fit has to cope with: views of
// different widths, missing rows, all-zero rows, equal rows and outliers.
func mixed(t testing.TB) *synth.Set {
	t.Helper()
	set := generate(t, synth.Config{
		Samples: 240, Classes: 8, Views: 3, Dims: []int{7, 16, 33},
		Noise: []float64{0.7}, Missing: 0.3, Outliers: 0.05, Imbalance: 0.3, Seed: 3,
	})
	v := set.Views[1]
	for i := range v.Samples {
		// Only samples that have all the views, so that none is left without.
		if slices.ContainsFunc(set.Views, func(v *view.View) bool { return !v.Has(i) }) {
			continue
		}
		switch {
		case i%10 == 0:
			clear(v.Row(i))
		case i%10 < 3:
			for k := range v.Row(i) {
				v.Row(i)[k] = float32(i % 3)
			}
		}
	}
	return set
}

// TestQuality sets a floor to the agreement with the classes, about five points
// of ARI below what was measured.
func TestQuality(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   synth.Config
		k     int
		floor float64
	}{
		{"two views", synth.Config{}, 40, 0.90},
		{"noisy", synth.Config{Noise: []float64{1.2}}, 40, 0.80},
		{"half missing", synth.Config{Missing: 0.5}, 40, 0.84},
		{"outliers", synth.Config{Outliers: 0.1}, 36, 0.80},
		{"one view", synth.Config{Views: 1}, 40, 0.81},
		{"three views", synth.Config{Views: 3, Dims: []int{16, 32, 64}, Missing: 0.3}, 40, 0.86},
		{"dependent views", synth.Config{Dependence: 0.7}, 40, 0.90},
		{"unequal classes", synth.Config{Imbalance: 0.5}, 40, 0.93},
		{"small classes", synth.Config{Classes: 32, Noise: []float64{0.6}}, 10, 0.84},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cfg.Classes == 0 {
				c.cfg.Classes = 8
			}
			if c.cfg.Noise == nil {
				c.cfg.Noise = []float64{0.8}
			}
			const seeds = 2
			mean := 0.0
			for seed := range uint64(seeds) {
				c.cfg.Samples, c.cfg.Seed = 320, seed
				set := generate(t, c.cfg)
				found := fit(t, set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: c.k})
				mean += compare(t, set.Labels, found.Labels).ARI / seeds
			}
			if !(mean >= c.floor) {
				t.Errorf("ARI %.3f, want at least %.2f", mean, c.floor)
			}
			t.Logf("ARI %.3f", mean)
		})
	}
}

// TestViewsHelpEachOther checks that two views lead to better clusters than
// either of them.
func TestViewsHelpEachOther(t *testing.T) {
	set := generate(t, synth.Config{Samples: 320, Classes: 8, Noise: []float64{1.1}})
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 40}
	both := compare(t, set.Labels, fit(t, set.Views, opt).Labels).ARI
	for _, v := range set.Views {
		if alone := compare(t, set.Labels, fit(t, []*mvclust.View{v}, opt).Labels).ARI; alone >= both {
			t.Errorf("%s alone: ARI %.3f, with the other %.3f", v.Name, alone, both)
		}
	}
}

// TestResult checks what a result promises about itself.
func TestResult(t *testing.T) {
	set := mixed(t)
	got := fit(t, set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: 25})
	n := set.Views[0].Samples

	if !slices.Equal(got.Labels, partition.Number(got.Labels)) {
		t.Error("the labels are not numbered by falling size")
	}
	sizes := make([]int, len(got.Sizes))
	for i, l := range got.Labels {
		sizes[l]++
		if c := got.Confidence[i]; !(c >= 0 && c <= 1) {
			t.Errorf("sample %d has confidence %v", i, c)
		}
	}
	if !slices.Equal(got.Sizes, sizes) || len(got.Labels) != n || len(got.Confidence) != n {
		t.Errorf("sizes %v, want %v", got.Sizes, sizes)
	}
	again, err := partition.Confidence(got.Graph, got.Labels)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range again {
		if math.Abs(c-got.Confidence[i]) > 1e-12 {
			t.Errorf("sample %d has confidence %v, by the graph %v", i, got.Confidence[i], c)
		}
	}
	for i, c := range got.Confidence {
		if sizes[got.Labels[i]] == 1 && c != 0 {
			t.Errorf("sample %d is alone with confidence %v", i, c)
		}
	}

	trace := got.Trace
	if trace.Edges != got.Graph.Edges() || got.Graph.Samples() != n || trace.Edges == 0 {
		t.Errorf("%d edges, the graph has %d", trace.Edges, got.Graph.Edges())
	}
	if most := n * (n - 1) / 2; trace.Pairs < n*25/2 || trace.Pairs > most {
		t.Errorf("%d pairs of at most %d", trace.Pairs, most)
	}
	for m, v := range set.Views {
		zero, first := 0, -1
		for i := range n {
			if v.Has(i) && !slices.ContainsFunc(v.Row(i), func(x float32) bool { return x != 0 }) {
				if zero++; first < 0 {
					first = i
				}
			}
		}
		if trace.Zero[m] != zero || trace.FirstZero[m] != first {
			t.Errorf("%s: %d all-zero rows from %d, want %d from %d", v.Name, trace.Zero[m], trace.FirstZero[m], zero, first)
		}
		if trace.Candidates[m] != got.Options.Candidates {
			t.Errorf("%s: %d candidates, want %d", v.Name, trace.Candidates[m], got.Options.Candidates)
		}
	}
	if trace.Zero[1] == 0 {
		t.Error("no all-zero row")
	}
	objective, loss := trace.Sweeps[len(trace.Sweeps)-1].Objective, 0.0
	for i, l := range got.Labels {
		index, weight := got.Graph.Of(i)
		for e, j := range index {
			if got.Labels[j] == l && int(j) > i {
				p := max(partition.DefaultClip, min(float64(weight[e]), 1-partition.DefaultClip))
				loss += math.Log(1-p) - math.Log(p)
			}
		}
	}
	if math.Abs(objective-loss) > 1e-6 {
		t.Errorf("the objective of the last sweep is %v, that of the labels %v", objective, loss)
	}
	var stages []mvclust.Stage
	for _, s := range trace.Stages {
		stages = append(stages, s.Stage)
		if s.Duration < 0 {
			t.Errorf("%s took %v", s.Stage, s.Duration)
		}
	}
	if !slices.Equal(stages, allStages) {
		t.Errorf("the stages are %v", stages)
	}
	if len(got.Functions.ByView) != 3 || len(got.Functions.Curve) != got.Options.Learning.Epochs+1 {
		t.Errorf("%d functions after %d epochs", len(got.Functions.ByView), len(got.Functions.Curve)-1)
	}
}

// TestStages does by hand, with all similarities at once, what Fit does. Without
// refinement, the graph shows the probability of every pair. The later stages number the
// samples by a walk.
func TestStages(t *testing.T) {
	set := mixed(t)
	opt := mvclust.Options{
		Preset:     mvclust.Paper,
		Neighbours: 20, Candidates: 60,
		Posterior: posterior.Settings{Completion: true},
		Order:     make([]int, set.Views[0].Samples),
	}
	for i := range opt.Order {
		opt.Order[i] = i
	}

	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	spaces, lists := make([]*similarity.Space, len(set.Views)), make([]*neighbour.Lists, len(set.Views))
	for m, v := range set.Views {
		var err error
		spaces[m], err = similarity.NewSpace(t.Context(), v, similarity.Cosine, nil, false, 0)
		must(err)
		lists[m], err = neighbour.Search(t.Context(), spaces[m], opt.Candidates, 0, neighbour.Settings{}, 1, nil)
		must(err)
	}
	walk, err := neighbour.Walk(t.Context(), lists, 2)
	must(err)
	for m := range lists {
		spaces[m] = spaces[m].Gather(walk)
		lists[m], err = lists[m].Gather(t.Context(), walk, 1)
		must(err)
	}
	pairs, err := pair.Union(t.Context(), lists, 1)
	must(err)
	similarities, err := pairs.Similarities(t.Context(), spaces, 1, nil)
	must(err)
	model, err := probability.Learn(t.Context(), similarities, probability.Settings{}, 1, nil)
	must(err)
	estimator, err := posterior.New(model, opt.Posterior)
	must(err)
	p, err := estimator.Pairs(t.Context(), similarities, 1, nil)
	must(err)
	for _, opt.Refinement = range []refine.Settings{
		{WithoutPaths: true, WithoutCoNeighbours: true},
		{Rounds: 2},
	} {
		got := fit(t, set.Views, opt)
		fused, err := graph.FromPairs(t.Context(), pairs, p, 1)
		must(err)
		refined, _, err := refine.Graph(t.Context(), fused, 20, opt.Refinement, 1, nil)
		must(err)
		numbered, err := refined.Scatter(t.Context(), walk, 1)
		must(err)
		if got.Trace.Pairs != pairs.Len() || !reflect.DeepEqual(got.Functions, model) || !reflect.DeepEqual(got.Graph, numbered) {
			t.Errorf("%+v: Fit finds %d pairs and %d edges, its stages %d and %d, or they weigh them otherwise", opt.Refinement, got.Trace.Pairs, got.Trace.Edges, pairs.Len(), refined.Edges())
		}
		labels, confidence := make([]int, len(walk)), make([]float64, len(walk))
		for i, sample := range walk {
			labels[i] = got.Labels[sample]
		}
		sure, err := partition.Confidence(refined, labels)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range sure {
			confidence[walk[i]] = c
		}
		if !slices.Equal(got.Confidence, confidence) {
			t.Errorf("%+v: Fit has other confidences than its stages", opt.Refinement)
		}
	}
}

// TestViewsStayAsTheyAre also has rows of absent samples that hold values, which
// are never read.
func TestViewsStayAsTheyAre(t *testing.T) {
	set := mixed(t)
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 20, Metrics: []similarity.Metric{similarity.Cosine, similarity.L1, similarity.L2}}
	want := fit(t, set.Views, opt)
	before := make([]view.View, len(set.Views))
	for m, v := range set.Views {
		for i := range v.Samples {
			if !v.Has(i) {
				for k := range v.Row(i) {
					v.Row(i)[k] = float32(math.Inf(i%2*2 - 1))
				}
			}
		}
		before[m] = *v
		before[m].Data, before[m].Present = slices.Clone(v.Data), slices.Clone(v.Present)
	}
	if got := fit(t, set.Views, opt); !slices.Equal(got.Labels, want.Labels) {
		t.Error("the rows of absent samples make a difference")
	}
	for m, v := range set.Views {
		if !reflect.DeepEqual(*v, before[m]) {
			t.Errorf("%s has changed", v.Name)
		}
	}
}

func TestResolvedOptions(t *testing.T) {
	set := generate(t, synth.Config{Samples: 200, Classes: 4})
	got := fit(t, set.Views, mvclust.Options{Preset: mvclust.Paper, Threads: 3, Seed: 9}).Options
	want := mvclust.Options{
		Preset:     mvclust.Paper,
		Neighbours: mvclust.DefaultNeighbours,
		Candidates: 80,
		Metrics:    []similarity.Metric{similarity.Cosine, similarity.Cosine},
		Search:     neighbour.Settings{Recall: neighbour.DefaultRecall},
		Learning: probability.Settings{
			Segments: got.Learning.Segments, // depends on the number of pairs
			Pairs:    probability.DefaultPairs, Lambda: probability.DefaultLambda,
			Low: probability.DefaultLow, High: probability.DefaultHigh,
			Epochs: probability.DefaultEpochs, Rate: probability.DefaultRate,
			Momentum: probability.DefaultMomentum, Decay: probability.DefaultDecay,
		},
		Posterior:  posterior.Settings{Clip: posterior.DefaultClip},
		Refinement: refine.Settings{Rounds: 1},
		Partition:  partition.Settings{Sweeps: partition.DefaultSweeps, Levels: 1, Clip: partition.DefaultClip},
		Seed:       9,
		Order:      got.Order, // drawn
		Threads:    3,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got.Learning.Segments < 100 {
		t.Errorf("%d segments", got.Learning.Segments)
	}
	order := slices.Clone(got.Order)
	slices.Sort(order)
	for i, sample := range order {
		if sample != i {
			t.Fatalf("the order is not one of all samples: %v", got.Order)
		}
	}

	small := generate(t, synth.Config{Samples: 40, Classes: 4, Views: 9, Dims: []int{3}})
	for views, candidates := range map[int]int{1: 20, 2: 20, 3: 13, 8: 5, 9: 5} {
		if o := fit(t, small.Views[:views], mvclust.Options{Preset: mvclust.Paper, Neighbours: 5}).Options; o.Candidates != candidates {
			t.Errorf("%d candidates in each of %d views, want %d", o.Candidates, views, candidates)
		}
	}
	few := fit(t, set.Views, mvclust.Options{
		Preset:     mvclust.Paper,
		Neighbours: 60, Threads: math.MaxInt32,
		Search: neighbour.Settings{Method: neighbour.Exact, Recall: 0.5},
	}).Options
	if few.Candidates != 199 {
		t.Errorf("%d candidates for 200 samples", few.Candidates)
	}
	if want := (neighbour.Settings{Method: neighbour.Exact, Recall: 0.5}); few.Search != want {
		t.Errorf("the search is %+v, want %+v", few.Search, want)
	}
	if few.Threads != 200 {
		t.Errorf("%d threads for 200 samples", few.Threads)
	}
}

// TestSameAgain runs with the options of a result.
func TestSameAgain(t *testing.T) {
	set := mixed(t)
	first := fit(t, set.Views, mvclust.Options{Preset: mvclust.Paper, Seed: 7})
	if again := fit(t, set.Views, first.Options); !reflect.DeepEqual(timeless(again), timeless(first)) {
		t.Error("the options of a result lead to another")
	}
}

// timeless returns a copy of r without what may differ between equal runs.
func timeless(r *mvclust.Result) *mvclust.Result {
	c := *r
	c.Trace.Stages = nil
	c.Options.Threads = 0
	c.Options.Progress = nil
	return &c
}

func TestThreads(t *testing.T) {
	set := mixed(t)
	opt := mvclust.Options{
		Preset:     mvclust.Paper,
		Metrics:    []similarity.Metric{similarity.Cosine, similarity.Cosine, similarity.L3},
		Posterior:  posterior.Settings{Completion: true},
		Refinement: refine.Settings{Rounds: 2},
		Partition:  partition.Settings{Levels: 3},
	}
	opt.Threads = 1
	one := timeless(fit(t, set.Views, opt))
	for _, threads := range []int{2, 8, 1000} {
		opt.Threads = threads
		if got := timeless(fit(t, set.Views, opt)); !reflect.DeepEqual(got, one) {
			t.Errorf("%d threads give another result than one", threads)
		}
	}
}

func TestSeeds(t *testing.T) {
	set := generate(t, synth.Config{Samples: 200, Classes: 8, Noise: []float64{1.5}})
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 25}
	first := fit(t, set.Views, opt)
	differ := false
	for opt.Seed = 1; opt.Seed < 10; opt.Seed++ {
		differ = differ || !slices.Equal(fit(t, set.Views, opt).Labels, first.Labels)
	}
	if !differ {
		t.Error("ten seeds give the same clusters of noisy data")
	}
}

// TestThreeSamples runs on the fewest samples that there may be.
func TestThreeSamples(t *testing.T) {
	v, err := mvclust.ViewFromRows("points", [][]float64{{1, 0}, {0, 1}, {1, 0.01}})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []int{2, 1, 2} {
		got := fit(t, []*mvclust.View{v}, mvclust.Options{Preset: mvclust.Paper, Neighbours: k})
		if len(got.Labels) != 3 || len(got.Confidence) != 3 || got.Options.Neighbours != want {
			t.Errorf("K = %d: %+v", k, got)
		}
	}
}

// TestRareView has a view of two samples only, and trains on so few pairs that
// none of them has it.
func TestRareView(t *testing.T) {
	set := generate(t, synth.Config{Samples: 200, Classes: 4, Noise: []float64{0.5}})
	rare := set.Views[1]
	rare.Present = make([]bool, rare.Samples)
	rare.Present[20], rare.Present[100] = true, true
	for _, pairs := range []int{1, 10, 0} {
		got := fit(t, set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: 50, Learning: probability.Settings{Pairs: pairs}})
		if got.Trace.Candidates[1] != 1 {
			t.Errorf("%d candidates among two samples", got.Trace.Candidates[1])
		}
		for i, c := range got.Confidence {
			if !(c >= 0 && c <= 1) {
				t.Errorf("trained on %d pairs: sample %d has confidence %v", pairs, i, c)
			}
		}
	}
}

// TestEqualSamples has classes that are one point each, so that all similarities
// are equal.
func TestEqualSamples(t *testing.T) {
	rows := make([][]float32, 60)
	truth := make([]int, len(rows))
	for i := range rows {
		truth[i] = i % 3
		rows[i] = [][]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}[i%3]
	}
	v, err := mvclust.ViewFromRows("points", rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []similarity.Metric{similarity.Cosine, similarity.L1, similarity.L2, similarity.L3} {
		got := fit(t, []*mvclust.View{v}, mvclust.Options{Preset: mvclust.Paper, Neighbours: 19, Candidates: 19, Metrics: []similarity.Metric{metric}})
		if !slices.Equal(got.Labels, truth) {
			t.Errorf("%v: the labels are %v", metric, got.Labels)
		}
	}
}

func TestWrappers(t *testing.T) {
	nan := float32(math.NaN())
	a, err := mvclust.NewView("a", 3, 2, []float32{1, 2, nan, nan, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	b, err := mvclust.ViewFromRows("a", [][]float32{{1, 2}, nil, {3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Has(1) || b.Has(1) || !slices.Equal(a.Row(2), b.Row(2)) {
		t.Errorf("%v and %v", a, b)
	}
}

// BenchmarkFit clusters 2,000 samples of 20 classes in two views of 64 dimensions.
func BenchmarkFit(b *testing.B) {
	set := generate(b, synth.Config{})
	b.ReportAllocs()
	for b.Loop() {
		fit(b, set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: 100})
	}
}
