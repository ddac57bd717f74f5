package mvclust_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// permute returns the views in which sample to[i] is sample i of views.
func permute(views []*mvclust.View, to []int) []*mvclust.View {
	out := make([]*mvclust.View, len(views))
	for m, v := range views {
		w := &view.View{Name: v.Name, Samples: v.Samples, Dims: v.Dims, Data: make([]float32, len(v.Data))}
		if v.Present != nil {
			w.Present = make([]bool, v.Samples)
		}
		for i, j := range to {
			copy(w.Row(j), v.Row(i))
			if v.Present != nil {
				w.Present[j] = v.Present[i]
			}
		}
		out[m] = w
	}
	return out
}

// hard is data on which ties decide most: points of small grids, by L1 distances that
// are whole numbers, without any classes. With few neighbours, the clusters are many
// and small.
func hard(views int, seed uint64) []*mvclust.View {
	const n = 400
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([]*mvclust.View, views)
	for m := range all {
		v := &view.View{Name: "grid", Samples: n, Dims: m + 4, Data: make([]float32, n*(m+4)), Present: make([]bool, n)}
		for i := range v.Data {
			v.Data[i] = float32(r.IntN(3))
		}
		for i := range v.Present {
			v.Present[i] = m == 0 || r.IntN(4) > 0
		}
		all[m] = v
	}
	return all
}

var hardOptions = mvclust.Options{Preset: mvclust.Paper, Neighbours: 8, Metrics: []similarity.Metric{similarity.L1}}

// TestHard holds the hard data to its purpose: another order, which decides ties, gives
// other clusters, and these are many.
func TestHard(t *testing.T) {
	for seed := range uint64(3) {
		opt := hardOptions
		one := fit(t, hard(2, seed), opt)
		opt.Seed = 1
		two := fit(t, hard(2, seed), opt)
		if slices.Equal(one.Labels, two.Labels) || len(one.Sizes) < 30 {
			t.Errorf("%d clusters, which another order gives as well: %t", len(one.Sizes), slices.Equal(one.Labels, two.Labels))
		}
	}
}

// TestSampleOrder stores the samples in another order, and maps Options.Order
// along. The data is full of ties.
func TestSampleOrder(t *testing.T) {
	t.Run("mixed", func(t *testing.T) {
		checkSampleOrder(t, mixed(t).Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: 20, Posterior: posterior.Settings{Completion: true}})
	})
	t.Run("hard", func(t *testing.T) {
		checkSampleOrder(t, hard(3, 7), hardOptions)
	})
}

func checkSampleOrder(t *testing.T, views []*mvclust.View, opt mvclust.Options) {
	t.Helper()
	n := views[0].Samples
	r := rand.New(rand.NewPCG(1, 2))
	orders := 3
	if opt.Preset == mvclust.Auto {
		orders = 1 // which takes longer
	}
	for range orders {
		opt.Order = r.Perm(n)
		one := fit(t, views, opt)

		to, moved := r.Perm(n), opt
		moved.Order = make([]int, n)
		for k, i := range opt.Order {
			moved.Order[k] = to[i]
		}
		two := fit(t, permute(views, to), moved)

		labels, confidence := make([]int, n), make([]float64, n)
		for i, j := range to {
			labels[i], confidence[i] = two.Labels[j], two.Confidence[j]
		}
		if !slices.Equal(partition.Number(labels), one.Labels) {
			t.Error("the clusters differ")
		}
		if !slices.Equal(two.Sizes, one.Sizes) {
			t.Errorf("the sizes are %v and %v", two.Sizes, one.Sizes)
		}
		if !slices.Equal(confidence, one.Confidence) {
			t.Error("the confidences differ")
		}
		renumbered, err := one.Graph.Scatter(t.Context(), to, 2)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(renumbered, two.Graph) {
			t.Error("the graphs differ")
		}
		if !reflect.DeepEqual(one.Functions, two.Functions) || !reflect.DeepEqual(one.Trace.Sweeps, two.Trace.Sweeps) {
			t.Error("the models or the sweeps differ")
		}
	}
}

// TestRowOrder stores the samples in another order, which the automatic mode must not notice.
func TestRowOrder(t *testing.T) {
	views := mixed(t).Views
	n := views[0].Samples
	one := fit(t, views, mvclust.Options{Seed: 3})
	for seed := range uint64(2) {
		to := rand.New(rand.NewPCG(seed, 5)).Perm(n)
		two := fit(t, permute(views, to), mvclust.Options{Seed: 3})
		labels := make([]int, n)
		for i, j := range to {
			labels[i] = two.Labels[j]
		}
		if !slices.Equal(partition.Number(labels), one.Labels) {
			t.Errorf("seed %d: the clusters differ", seed)
		}
	}
}

// TestViewOrder names the views in another order: sums over the views are then
// rounded otherwise, which moves no sample of this data.
func TestViewOrder(t *testing.T) {
	set := generate(t, synth.Config{Samples: 240, Classes: 8, Views: 3, Dims: []int{8, 24, 40}, Noise: []float64{0.8}, Missing: 0.3, Seed: 5})
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 30, Metrics: []similarity.Metric{similarity.Cosine, similarity.L2, similarity.L1}}
	want := fit(t, set.Views, opt)
	for _, order := range [][]int{{0, 2, 1}, {1, 2, 0}, {2, 1, 0}} {
		views, turned := make([]*mvclust.View, 3), opt
		turned.Metrics = make([]similarity.Metric, 3)
		for m, from := range order {
			views[m], turned.Metrics[m] = set.Views[from], opt.Metrics[from]
		}
		got := fit(t, views, turned)
		if !slices.Equal(got.Labels, want.Labels) {
			t.Errorf("views %v: ARI %.3f with the clusters of the first order", order, compare(t, want.Labels, got.Labels).ARI)
		}
		for i, c := range got.Confidence {
			if math.Abs(c-want.Confidence[i]) > 1e-6 {
				t.Errorf("views %v: sample %d has confidence %v, was %v", order, i, c, want.Confidence[i])
			}
		}
		for m, from := range order {
			for i, p := range got.Functions.ByView[m].P {
				if math.Abs(p-want.Functions.ByView[from].P[i]) > 1e-9 {
					t.Fatalf("views %v: another function is learned for %s", order, views[m].Name)
				}
			}
		}
	}
}

// TestTwoViews exchanges two views: sums and products of two do not depend on their
// order, so that nothing else may, however many ties there are.
func TestTwoViews(t *testing.T) {
	for seed := range uint64(4) {
		views := hard(2, seed)
		one, two := fit(t, views, hardOptions), fit(t, []*mvclust.View{views[1], views[0]}, hardOptions)
		if !slices.Equal(one.Labels, two.Labels) || !slices.Equal(one.Confidence, two.Confidence) {
			t.Errorf("the clusters differ: ARI %.3f", compare(t, one.Labels, two.Labels).ARI)
		}
		if !reflect.DeepEqual(one.Graph, two.Graph) || !reflect.DeepEqual(one.Trace.Sweeps, two.Trace.Sweeps) {
			t.Error("the graphs or the sweeps differ")
		}
		for m := range views {
			if !reflect.DeepEqual(one.Functions.ByView[m], two.Functions.ByView[1-m]) {
				t.Errorf("another function is learned for view %d", m)
			}
		}
	}
	// Of three, sums are rounded otherwise, which on this data moves no sample.
	views := hard(3, 1)
	want := fit(t, views, hardOptions)
	for _, order := range [][]int{{0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {1, 2, 0}} {
		got := fit(t, []*mvclust.View{views[order[0]], views[order[1]], views[order[2]]}, hardOptions)
		if !slices.Equal(got.Labels, want.Labels) {
			t.Errorf("views %v: ARI %.3f with the clusters of the first order", order, compare(t, want.Labels, got.Labels).ARI)
		}
	}
}

// TestScale multiplies every row by a power of two of its own, which no cosine
// can see, and which is exact in binary.
func TestScale(t *testing.T) {
	set := mixed(t)
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 20}
	want := timeless(fit(t, set.Views, opt))
	r := rand.New(rand.NewPCG(3, 4))
	for _, v := range set.Views {
		for i := range v.Samples {
			factor := float32(math.Ldexp(1, r.IntN(41)-20))
			for k := range v.Row(i) {
				v.Row(i)[k] *= factor
			}
		}
	}
	if got := timeless(fit(t, set.Views, opt)); !reflect.DeepEqual(got, want) {
		t.Error("the result depends on the length of the rows")
	}
}

// TestFeatureScale shifts and stretches every feature, which min-max scaling undoes:
// exactly so, since the values are whole numbers and the factors powers of two. The
// views are not changed, and scaling them beforehand comes to the same.
func TestFeatureScale(t *testing.T) {
	set := mixed(t)
	changed, scaled := make([]*mvclust.View, len(set.Views)), make([]*mvclust.View, len(set.Views))
	r := rand.New(rand.NewPCG(5, 6))
	before := make([]view.View, len(set.Views))
	for m, v := range set.Views {
		w := *v
		w.Data = make([]float32, len(v.Data))
		for k := range v.Dims {
			factor, shift := float32(math.Ldexp(1, r.IntN(41)-20)), float32(r.IntN(2000)-1000)
			for i := range v.Samples {
				if v.Has(i) {
					v.Row(i)[k] = float32(math.Round(1000 * float64(v.Row(i)[k])))
					w.Row(i)[k] = factor * (v.Row(i)[k] + shift)
				}
			}
		}
		changed[m] = &w
		var err error
		if scaled[m], err = v.Scaled(t.Context(), view.MinMax, nil, 0); err != nil {
			t.Fatal(err)
		}
		before[m] = *v
		before[m].Data = slices.Clone(v.Data)
	}
	for _, metric := range []similarity.Metric{similarity.Cosine, similarity.L1} {
		opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 20, Metrics: []similarity.Metric{metric}}
		plain := timeless(fit(t, set.Views, opt))
		beforehand := timeless(fit(t, scaled, opt))
		opt.Scale = view.MinMax
		want := timeless(fit(t, set.Views, opt))
		got := timeless(fit(t, changed, opt))
		for _, r := range []*mvclust.Result{beforehand, want, got} {
			r.Scalers = nil // which are in the units of the features
		}
		if reflect.DeepEqual(plain.Graph, want.Graph) {
			t.Errorf("%v: scaling makes no difference", metric)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: the result depends on the units of the features", metric)
		}
		beforehand.Options.Scale = view.MinMax
		if !reflect.DeepEqual(beforehand, want) {
			t.Errorf("%v: scaling beforehand gives another result", metric)
		}
	}
	for m, v := range set.Views {
		if !slices.EqualFunc(v.Data, before[m].Data, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			t.Errorf("%s has changed", v.Name)
		}
	}
}

// TestRename checks that names serve for messages only.
func TestRename(t *testing.T) {
	set := mixed(t)
	want := timeless(fit(t, set.Views, mvclust.Options{Preset: mvclust.Paper}))
	for _, v := range set.Views {
		v.Name = ""
	}
	if got := timeless(fit(t, set.Views, mvclust.Options{Preset: mvclust.Paper})); !reflect.DeepEqual(got, want) {
		t.Error("the result depends on the views' names")
	}
}
