package mvclust_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// sound holds a result to what every result promises.
func sound(t *testing.T, views []*mvclust.View, got *mvclust.Result) {
	t.Helper()
	n := views[0].Samples
	if len(got.Labels) != n || len(got.Confidence) != n || got.Graph.Samples() != n {
		t.Fatalf("%d labels, %d confidences and a graph of %d samples, want %d", len(got.Labels), len(got.Confidence), got.Graph.Samples(), n)
	}
	if !slices.Equal(got.Labels, partition.Number(got.Labels)) || len(got.Sizes) != slices.Max(got.Labels)+1 {
		t.Errorf("the labels %v of %d sizes are not numbered by size", got.Labels, len(got.Sizes))
	}
	for i, c := range got.Confidence {
		if !(c >= 0 && c <= 1) {
			t.Errorf("sample %d has confidence %v", i, c)
		}
	}
	tried := got.Trace.Tried
	if len(tried) == 0 || got.Trace.Chosen < 0 || got.Trace.Chosen >= len(tried) {
		t.Fatalf("%d of %d candidates is chosen", got.Trace.Chosen, len(tried))
	}
	best := tried[got.Trace.Chosen]
	if best.Neighbours != got.Options.Neighbours || best.Resolution != got.Options.Resolution || best.Clusters != len(got.Sizes) {
		t.Errorf("%+v is chosen, and the result has K %d, resolution %v and %d clusters", best, got.Options.Neighbours, got.Options.Resolution, len(got.Sizes))
	}
	for _, c := range tried {
		for _, x := range []float64{c.Plateau, c.Agreement, c.Compression, c.Score} {
			if math.IsNaN(x) || x > 1+1e-9 {
				t.Errorf("there is a candidate %+v", c)
			}
		}
	}
}

// noise is a view that has nothing to do with any other.
func noise(name string, samples, dims int, seed uint64) *mvclust.View {
	random := rand.New(rand.NewPCG(seed, 9))
	v := &view.View{Name: name, Samples: samples, Dims: dims, Data: make([]float32, samples*dims)}
	for i := range v.Data {
		v.Data[i] = float32(random.NormFloat64())
	}
	return v
}

// easy is data whose classes lie well apart.
func easy(t testing.TB, views int) *synth.Set {
	t.Helper()
	return generate(t, synth.Config{Samples: 240, Classes: 6, Views: views, Dims: []int{12}, Noise: []float64{0.3}, Missing: 0.1, Seed: 1})
}

// TestAutoFindsClasses plants classes of several sizes, which the zero options find.
func TestAutoFindsClasses(t *testing.T) {
	for _, c := range []struct{ classes, size int }{{2, 150}, {5, 100}, {20, 25}, {60, 8}} {
		for seed := range uint64(2) {
			set := generate(t, synth.Config{Samples: c.classes * c.size, Classes: c.classes, Dims: []int{32}, Noise: []float64{0.4}, Seed: seed})
			got := fit(t, set.Views, mvclust.Options{})
			sound(t, set.Views, got)
			ari := compare(t, set.Labels, got.Labels).ARI
			t.Logf("%d classes of %d, seed %d: ARI %.3f with K %d, resolution %.3g, %d clusters", c.classes, c.size, seed, ari, got.Options.Neighbours, got.Options.Resolution, len(got.Sizes))
			if !(ari > 0.9) {
				t.Errorf("%d classes of %d, seed %d: ARI %.3f", c.classes, c.size, seed, ari)
			}
		}
	}
}

// TestAutoFew runs on the fewest samples that there may be.
func TestAutoFew(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for n := 3; n <= 12; n++ {
		for _, views := range []int{1, 2, 3} {
			all := make([]*mvclust.View, views)
			for m := range all {
				all[m] = noise("few", n, 1+random.IntN(3), random.Uint64())
				if m > 0 {
					all[m].Present = make([]bool, n)
					for i := range n {
						all[m].Present[i] = i < 3 || random.IntN(2) == 0
					}
				}
			}
			for _, metric := range []similarity.Metric{similarity.Cosine, similarity.L2} {
				sound(t, all, fit(t, all, mvclust.Options{Metrics: []similarity.Metric{metric}}))
			}
		}
	}
}

// TestAutoAwkward has inputs that leave little to compare.
func TestAutoAwkward(t *testing.T) {
	set := easy(t, 2)
	n := set.Views[0].Samples
	clone := func(v *mvclust.View) *mvclust.View {
		c := *v
		c.Data, c.Present = slices.Clone(v.Data), slices.Clone(v.Present)
		return &c
	}
	all := func(v *mvclust.View) *mvclust.View {
		v = clone(v)
		if v.Present == nil {
			v.Present = slices.Repeat([]bool{true}, n)
		}
		return v
	}
	for _, c := range []struct {
		name  string
		views func() []*mvclust.View
		want  float64 // ARI, at least
	}{
		{"one view", func() []*mvclust.View {
			return generate(t, synth.Config{Samples: 240, Classes: 6, Views: 1, Dims: []int{12}, Noise: []float64{0.3}, Seed: 1}).Views
		}, -1},
		{"duplicates", func() []*mvclust.View {
			a, b := all(set.Views[0]), all(set.Views[1])
			for _, v := range []*mvclust.View{a, b} {
				for i := range n {
					if i%2 == 0 {
						v.Present[i] = true
						copy(v.Row(i), []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
					}
				}
			}
			return []*mvclust.View{a, b}
		}, -1},
		{"all but two samples equal", func() []*mvclust.View {
			v := clone(noise("equal", n, 4, 1))
			for i := 2; i < n; i++ {
				copy(v.Row(i), v.Row(1))
			}
			return []*mvclust.View{v}
		}, -1},
		{"a constant feature", func() []*mvclust.View {
			a, b := all(set.Views[0]), all(set.Views[1])
			for i := range n {
				a.Row(i)[3] = 7
			}
			return []*mvclust.View{a, b}
		}, 0.9},
		{"half missing", func() []*mvclust.View {
			return generate(t, synth.Config{Samples: 240, Classes: 6, Views: 2, Dims: []int{12}, Noise: []float64{0.3}, Missing: 0.5, Seed: 1}).Views
		}, -1},
		{"twelve views", func() []*mvclust.View {
			return generate(t, synth.Config{Samples: 240, Classes: 6, Views: 12, Dims: []int{12}, Noise: []float64{0.3}, Missing: 0.5, Seed: 1}).Views
		}, -1},
		{"views of one column", func() []*mvclust.View {
			return []*mvclust.View{noise("a", n, 1, 1), noise("b", n, 1, 2), noise("c", n, 1, 3)}
		}, -1},
		{"views of two values", func() []*mvclust.View {
			a, b := noise("a", n, 1, 1), noise("b", n, 1, 2)
			for i := range n {
				a.Data[i], b.Data[i] = float32(i%2), float32(i%3/2)
			}
			return []*mvclust.View{a, b}
		}, -1},
		{"nothing but noise", func() []*mvclust.View {
			return []*mvclust.View{noise("a", n, 9, 1), noise("b", n, 9, 2), noise("c", n, 9, 3), noise("d", n, 9, 4)}
		}, -1},
		{"huge and tiny values", func() []*mvclust.View {
			a, b := all(set.Views[0]), all(set.Views[1])
			for i := range a.Data {
				a.Data[i] *= 1e37
				b.Data[i] *= 1e-37
			}
			return []*mvclust.View{a, b}
		}, 0.9},
		{"a noise view", func() []*mvclust.View { return append(slices.Clone(easy(t, 3).Views), noise("noise", n, 9, 5)) }, -1},
		{"the same view four times", func() []*mvclust.View {
			v := noise("v", n, 3, 1)
			return []*mvclust.View{v, v, v, v}
		}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			views := c.views()
			got := fit(t, views, mvclust.Options{})
			sound(t, views, got)
			if ari := compare(t, set.Labels, got.Labels).ARI; ari < c.want {
				t.Errorf("ARI %.3f, want %v", ari, c.want)
			}
		})
	}
}

// A view that is left out changes nothing, wherever it is among the others and on any number of threads.
func TestAutoNoiseChangesNothing(t *testing.T) {
	set := generate(t, synth.Config{Samples: 240, Classes: 9, Views: 3, Dims: []int{12}, Noise: []float64{0.6}, Missing: 0.1, Seed: 2})
	for _, v := range set.Views { // of which some are equal
		for i := range 20 {
			copy(v.Row(2*i+1), v.Row(2*i))
			if v.Present != nil {
				v.Present[2*i+1] = v.Present[2*i]
			}
		}
	}
	for seed := range uint64(3) {
		without := fit(t, set.Views, mvclust.Options{Seed: seed})
		for place := range 4 {
			views := slices.Insert(slices.Clone(set.Views), place, noise("noise", 240, 30, seed))
			got := fit(t, views, mvclust.Options{Seed: seed, Threads: 1 + place})
			sound(t, views, got)
			switch out := got.Trace.Agreement.LeftOut; {
			case !out[place] || slices.Contains(slices.Delete(slices.Clone(out), place, place+1), true):
				t.Fatalf("seed %d, noise at %d: left out are %v", seed, place, out)
			case !slices.Equal(got.Labels, without.Labels) || !slices.Equal(got.Confidence, without.Confidence):
				t.Errorf("seed %d, noise at %d: the ARI with the clusters without it is %.3f", seed, place, compare(t, without.Labels, got.Labels).ARI)
			case got.Options.Candidates != without.Options.Candidates || !slices.Equal(got.Options.Order, without.Options.Order):
				t.Errorf("seed %d, noise at %d: %d candidates where there are %d without it, or another order", seed, place, got.Options.Candidates, without.Options.Candidates)
			}
		}
	}
}

// TestAutoNoiseView has views that agree and one that is noise, which has no say, also
// not about samples that have no other view: they remain alone.
func TestAutoNoiseView(t *testing.T) {
	set := easy(t, 3)
	n := set.Views[0].Samples
	without := fit(t, set.Views, mvclust.Options{})
	if ari := compare(t, set.Labels, without.Labels).ARI; ari < 0.9 {
		t.Fatalf("ARI %.3f", ari)
	}
	views := append(slices.Clone(set.Views), noise("noise", n, 9, 5))
	got := fit(t, views, mvclust.Options{Candidates: without.Options.Candidates})
	sound(t, views, got)
	if !slices.Equal(got.Trace.Agreement.LeftOut, []bool{false, false, false, true}) {
		t.Fatalf("%+v", got.Trace.Agreement)
	}
	if !slices.Equal(got.Labels, without.Labels) {
		t.Errorf("ARI %.3f with the clusters without the noise", compare(t, without.Labels, got.Labels).ARI)
	}

	lonely := []int{0, 17, 100}
	for m, v := range set.Views {
		w := *v
		w.Data, w.Present = slices.Clone(v.Data), make([]bool, n)
		for i := range n {
			w.Present[i] = v.Has(i) && !slices.Contains(lonely, i)
		}
		views[m] = &w
	}
	got = fit(t, views, mvclust.Options{})
	sound(t, views, got)
	if !got.Trace.Agreement.LeftOut[3] {
		t.Fatalf("%+v", got.Trace.Agreement)
	}
	for _, i := range lonely {
		if got.Sizes[got.Labels[i]] != 1 || got.Confidence[i] != 0 {
			t.Errorf("sample %d, of which nothing is known, is in a cluster of %d with confidence %v", i, got.Sizes[got.Labels[i]], got.Confidence[i])
		}
	}
	if ari := compare(t, set.Labels, got.Labels).ARI; ari < 0.9 {
		t.Errorf("ARI %.3f", ari)
	}
}

// TestAutoVersions holds that a view whose many small columns are noise is compared as it is: with equal
// variance they drown the others. The model keeps that, for new samples.
func TestAutoVersions(t *testing.T) {
	set := generate(t, synth.Config{Samples: 400, Classes: 5, Dims: []int{10}, Noise: []float64{0.6}, Seed: 3})
	random := rand.New(rand.NewPCG(1, 2))
	clean, columns := set.Views[1], 10+200
	noisy := &mvclust.View{Name: "noisy", Samples: 400, Dims: columns, Data: make([]float32, 400*columns)}
	for i := range 400 {
		row := noisy.Row(i)
		copy(row, clean.Row(i))
		for k := 10; k < len(row); k++ {
			row[k] = float32(0.01 * random.NormFloat64())
		}
	}
	result := fit(t, []*mvclust.View{set.Views[0], noisy}, mvclust.Options{})
	if got, want := result.Trace.Readings.Taken, []view.Version{view.Joined, view.Given}; !slices.Equal(got, want) {
		t.Fatalf("compared are %v of %.3f, want %v", got, result.Trace.Readings.Confirmed, want)
	}
	if w := result.Scalers[1].Weights; w[0] <= 0 || w[1] != 0 || w[2] != 0 {
		t.Errorf("the scaler has the weights %v", w)
	}
	if s := compare(t, set.Labels, result.Labels); s.ARI < 0.95 {
		t.Errorf("the ARI is %.3f", s.ARI)
	}
	for _, opt := range []mvclust.Options{{Preset: mvclust.Paper}, {Metrics: []similarity.Metric{similarity.L2}}} {
		result := fit(t, []*mvclust.View{set.Views[0], noisy}, opt)
		if result.Trace.Readings != nil {
			t.Errorf("%+v has several versions", opt)
		}
	}
}

// TestAutoAgain gives back the number of neighbours and the resolution that were chosen,
// by hand and as the options of the result: the labels are the same.
func TestAutoAgain(t *testing.T) {
	for name, views := range map[string][]*mvclust.View{"mixed": mixed(t).Views, "easy": easy(t, 3).Views, "hard": hard(3, 7)} {
		want := fit(t, views, mvclust.Options{})
		if a := want.Trace.Alone; a != nil { // the options are about all views
			views = views[a.View : a.View+1]
			if want = fit(t, views, mvclust.Options{}); want.Trace.Alone != nil {
				t.Errorf("%s: of one view, one is compared alone", name)
			}
		}
		for how, opt := range map[string]mvclust.Options{
			"the options of the result": want.Options,
			"what was chosen":           {Neighbours: want.Options.Neighbours, Resolution: want.Options.Resolution},
		} {
			got := fit(t, views, opt)
			if len(got.Trace.Tried) != 1 {
				t.Errorf("%s, %s: %d candidates", name, how, len(got.Trace.Tried))
			}
			if !slices.Equal(got.Labels, want.Labels) || !slices.Equal(got.Confidence, want.Confidence) || !reflect.DeepEqual(got.Graph, want.Graph) {
				t.Errorf("%s, %s: another result", name, how)
			}
			if how == "the options of the result" && !reflect.DeepEqual(got.Options, want.Options) {
				t.Errorf("%s: the options %+v become %+v", name, want.Options, got.Options)
			}
		}
	}
}

// TestAutoResolved says what the zero options stand for, and that what is set remains.
func TestAutoResolved(t *testing.T) {
	set := easy(t, 2)
	o := fit(t, set.Views, mvclust.Options{}).Options
	if o.Preset != mvclust.Auto || o.Candidates != 80 || o.Scale != view.Mixed || !o.Local || !o.Learning.Untrained ||
		o.Posterior.Fusion != posterior.Pooled || !o.Refinement.WithoutPaths || o.Partition.Levels != 20 || o.Neighbours < 1 || o.Resolution <= 0 {
		t.Errorf("%+v", o)
	}
	o = fit(t, set.Views, mvclust.Options{Neighbours: 7, Candidates: 30, Scale: view.MinMax, Posterior: posterior.Settings{Fusion: posterior.Mean}, Resolution: 2, Partition: partition.Settings{Levels: 3}}).Options
	if o.Neighbours != 7 || o.Candidates != 30 || o.Scale != view.MinMax || o.Posterior.Fusion != posterior.Mean || o.Resolution != 2 || o.Partition.Levels != 3 {
		t.Errorf("%+v", o)
	}
	for views, want := range map[int]int{1: 80, 5: 80, 12: 80, 16: 60, 50: 20} {
		if testing.Short() && views > 16 {
			continue // the views are compared each with each, under the race detector for a minute
		}
		samples := 240
		if views > 16 {
			samples = 90
		}
		all := generate(t, synth.Config{Samples: samples, Classes: 6, Views: views, Dims: []int{4}}).Views
		if got := fit(t, all, mvclust.Options{Neighbours: 5, Resolution: 1}).Options.Candidates; got != want {
			t.Errorf("%d candidates in each of %d views, want %d", got, views, want)
		}
	}
}

// TestAutoSampleOrder stores the samples in another order, and maps Options.Order along.
func TestAutoSampleOrder(t *testing.T) {
	for name, views := range map[string][]*mvclust.View{"mixed": mixed(t).Views, "hard": hard(3, 7), "noise": append(easy(t, 3).Views, noise("noise", 240, 9, 5))} {
		t.Run(name, func(t *testing.T) { checkSampleOrder(t, views, mvclust.Options{}) })
	}
}

// TestAutoViewOrder names the views in another order, which finds the same classes.
func TestAutoViewOrder(t *testing.T) {
	set := easy(t, 4)
	views := append(slices.Clone(set.Views), noise("noise", 240, 9, 5))
	want := fit(t, views, mvclust.Options{})
	if ari := compare(t, set.Labels, want.Labels).ARI; ari < 0.9 {
		t.Fatalf("ARI %.3f", ari)
	}
	for _, order := range [][]int{{4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}} {
		moved := make([]*mvclust.View, len(views))
		for m, from := range order {
			moved[m] = views[from]
		}
		got := fit(t, moved, mvclust.Options{})
		if ari := compare(t, want.Labels, got.Labels).ARI; ari != 1 {
			t.Errorf("views %v: ARI %.3f with the clusters before", order, ari)
		}
		if left := got.Trace.Agreement.LeftOut; !left[slices.Index(order, 4)] {
			t.Errorf("views %v: %+v", order, got.Trace.Agreement)
		}
	}
}

func TestAutoThreads(t *testing.T) {
	for name, views := range map[string][]*mvclust.View{"mixed": mixed(t).Views, "hard": hard(3, 7)} {
		var want *mvclust.Result
		for _, threads := range []int{1, 2, 8} {
			got := timeless(fit(t, views, mvclust.Options{Threads: threads}))
			got.Options.Threads = 0
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d threads give another result", name, threads)
			}
		}
	}
}

// TestAutoConsume holds that using up the views changes nothing but them.
func TestAutoConsume(t *testing.T) {
	for _, metrics := range [][]similarity.Metric{nil, {similarity.L2}, {similarity.L1, similarity.Cosine, similarity.L3}} {
		opt := mvclust.Options{Metrics: metrics}
		want := timeless(fit(t, mixed(t).Views, opt))
		views := mixed(t).Views
		opt.Consume = true
		got := timeless(fit(t, views, opt))
		got.Options.Consume = false
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: the result differs", metrics)
		}
		for m, v := range views {
			if v.Data != nil {
				t.Errorf("%v: view %d still has its values", metrics, m)
			}
		}
	}
	views := mixed(t).Views
	fit(t, views, mvclust.Options{})
	for m, v := range mixed(t).Views {
		for i, x := range v.Data {
			if y := views[m].Data[i]; x != y && (x == x || y == y) {
				t.Fatalf("view %d is not consumed, and changed", m)
			}
		}
	}
}

var autoStages = []mvclust.Stage{
	mvclust.StageStructure, mvclust.StagePrepare, mvclust.StageNeighbours, mvclust.StagePairs, mvclust.StageLearn, mvclust.StageFuse, mvclust.StageChoose,
	mvclust.StageAlone,
}

// TestAutoProgress follows the reports: shares that rise from 0 to 1, stage by stage.
func TestAutoProgress(t *testing.T) {
	for name, views := range map[string][]*mvclust.View{
		"mixed": mixed(t).Views, "few": {noise("few", 5, 2, 1)},
		"one view": generate(t, synth.Config{Samples: 100, Classes: 4, Views: 1}).Views,
	} {
		var stages []mvclust.Stage
		var last mvclust.Progress
		autoStages := autoStages
		if len(views) == 1 {
			autoStages = autoStages[:len(autoStages)-1]
		}
		opt := mvclust.Options{Threads: 8, Progress: func(p mvclust.Progress) {
			if p.Stage != last.Stage {
				if last.Done != last.Total || p.Done != 0 {
					t.Errorf("%s: %+v after %+v", name, p, last)
				}
				stages = append(stages, p.Stage)
			} else if p.Done < last.Done || p.Total != last.Total {
				t.Errorf("%s: %+v after %+v", name, p, last)
			}
			if p.Done < 0 || p.Done > p.Total || !(p.Share >= last.Share && p.Share <= 1) {
				t.Errorf("%s: %+v after %+v", name, p, last)
			}
			last = p
		}}
		got := fit(t, views, opt)
		if !slices.Equal(stages, autoStages) {
			t.Errorf("%s: the stages are %v", name, stages)
		}
		if last.Share < 1-1e-12 || last.Done != last.Total || last.Stage == mvclust.StageChoose && last.Total <= len(got.Trace.Tried) {
			t.Errorf("%s: the last report of %d partitions is %+v", name, len(got.Trace.Tried), last)
		}
		for s, timing := range got.Trace.Stages {
			if timing.Stage != autoStages[s] {
				t.Errorf("%s: %+v", name, got.Trace.Stages)
			}
		}
	}
}

// TestAutoCancel cancels at the first, a middle and the last report of each stage, and at
// many questions whether the context is done.
func TestAutoCancel(t *testing.T) {
	set := mixed(t)
	for _, stage := range autoStages {
		for moment, now := range map[string]func(p mvclust.Progress) bool{
			"first":  func(mvclust.Progress) bool { return true },
			"middle": func(p mvclust.Progress) bool { return p.Done > 0 },
			"last":   func(p mvclust.Progress) bool { return p.Done == p.Total },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			got, err := mvclust.Fit(ctx, set.Views, mvclust.Options{Threads: 2, Progress: func(p mvclust.Progress) {
				if ctx.Err() != nil && p.Stage != stage {
					t.Errorf("%s: cancelled at the %s report, it goes on to %s", stage, moment, p.Stage)
				}
				if p.Stage == stage && now(p) {
					cancel()
				}
			}})
			cancel()
			if got != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s report: %v", stage, moment, err)
			}
		}
	}
	few := generate(t, synth.Config{Samples: 40, Classes: 3, Views: 3, Dims: []int{4}}).Views
	ended := false
	for questions := 0; !ended; questions += 1 + questions/20 {
		got, err := mvclust.Fit(lapse.After(t.Context(), questions), few, mvclust.Options{Threads: 1})
		if ended = err == nil; !ended && (got != nil || !errors.Is(err, context.Canceled)) {
			t.Fatalf("after %d questions: %v", questions, err)
		}
	}
}
