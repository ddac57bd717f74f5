package mvclust_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// footprint is that of a plan that can be carried out.
func footprint(t *testing.T, opt mvclust.Options, samples int, dims ...int) int64 {
	t.Helper()
	bytes, err := opt.Footprint(samples, dims)
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestFootprint holds that the footprint holds the views, and grows with all that makes
// a run larger.
func TestFootprint(t *testing.T) {
	for name, opt := range map[string]mvclust.Options{
		"auto":        {},
		"standard":    {},
		"l2":          {Metrics: []similarity.Metric{similarity.L2}},
		"scaled":      {Scale: view.MinMax},
		"exact":       {Search: neighbour.Settings{Method: neighbour.Exact}},
		"approximate": {Search: neighbour.Settings{Method: neighbour.Approximate}},
		"learner":     {Learner: constant(2)},
	} {
		if name != "auto" {
			opt.Preset = mvclust.Paper
		}
		for _, candidates := range []int{20, 80, 150} {
			for _, n := range []int{200, 1999, 10_000, 25_000, 300_000, 10_000_000} {
				for _, dims := range [][]int{{1, 1}, {64, 128}, {5000, 3}} {
					at := fmt.Sprintf("%s: %d candidates of %d samples in %d dimensions", name, candidates, n, dims)
					opt.Candidates, opt.Consume = candidates, false
					plain := footprint(t, opt, n, dims...)
					if views := int64(4 * n * (dims[0] + dims[1])); plain < views {
						t.Errorf("%s take %d bytes, their views alone %d", at, plain, views)
					}
					opt.Consume = true
					consumed := footprint(t, opt, n, dims...)
					if views := int64(4 * n * (dims[0] + dims[1])); consumed < views || consumed > plain {
						t.Errorf("%s take %d bytes in place, and otherwise %d; the views alone take %d", at, consumed, plain, views)
					}
					// Where the views are large, the copies that it saves are what counts.
					if copies := name != "l2"; copies && dims[0] == 5000 && consumed >= plain {
						t.Errorf("%s take %d bytes in place, and no less otherwise", at, consumed)
					}
					for _, opt.Consume = range []bool{false, true} {
						now := footprint(t, opt, n, dims...)
						if more := footprint(t, opt, n+n/10, dims...); more <= now {
							t.Errorf("%s take %d bytes, more samples %d", at, now, more)
						}
						if more := footprint(t, opt, n, dims[0], 10_000); more <= now {
							t.Errorf("%s take %d bytes, more dimensions %d", at, now, more)
						}
						if more := footprint(t, opt, n, dims[0], dims[1], 1); more <= now {
							t.Errorf("%s take %d bytes, with a third view %d", at, now, more)
						}
						wider := opt
						if wider.Candidates *= 2; wider.Candidates < n && dims[0] < 5000 {
							// Under Auto the graphs that are tried, which have no more neighbours, may be the most.
							if more := footprint(t, wider, n, dims...); more < now || more == now && name != "auto" {
								t.Errorf("%s take %d bytes, more candidates %d", at, now, more)
							}
						}
					}
				}
			}
		}
	}
	for _, few := range []int{-5, 0, 2} { // which Fit refuses
		if got, err := (mvclust.Options{Preset: mvclust.Paper, Neighbours: -1}).Footprint(few, []int{3}); got != 0 || err != nil {
			t.Errorf("%d samples take %d bytes, %v", few, got, err)
		}
	}
	if got, err := (mvclust.Options{Preset: mvclust.Paper}).Footprint(100, nil); got != 0 || err != nil {
		t.Errorf("samples without views take %d bytes, %v", got, err)
	}
	var of *mvclust.OptionError
	if got, err := (mvclust.Options{Preset: mvclust.Paper, Candidates: 5}).Footprint(100, []int{3}); got != 0 || !errors.As(err, &of) || of.Field != "Candidates" {
		t.Errorf("%d, %v", got, err)
	}
}

// TestFootprintKept looks again and again at what is in use during a run: never more
// than the footprint.
func TestFootprintKept(t *testing.T) {
	if testing.Short() {
		t.Skip("collects garbage all the time")
	}
	const garbage = 10
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	// Views that have nothing in common, and so few pairs.
	random := rand.New(rand.NewPCG(1, 1))
	draw := func(name string, n, dims int) *mvclust.View {
		v := &view.View{Name: name, Samples: n, Dims: dims, Data: make([]float32, n*dims)}
		for i := range v.Data {
			v.Data[i] = float32(random.NormFloat64())
		}
		return v
	}
	for name, c := range map[string]struct {
		opt         mvclust.Options
		views, dims int
	}{
		"edges":        {mvclust.Options{Preset: mvclust.Paper, Candidates: 150}, 2, 16},
		"values":       {mvclust.Options{Preset: mvclust.Paper, Neighbours: 5, Scale: view.MinMax}, 2, 300},
		"consume":      {mvclust.Options{Preset: mvclust.Paper, Neighbours: 5, Consume: true}, 2, 300},
		"learner":      {mvclust.Options{Preset: mvclust.Paper, Candidates: 100, Learner: constant(2)}, 2, 16},
		"auto":         {mvclust.Options{}, 2, 16},
		"auto, values": {mvclust.Options{Consume: true}, 2, 300},
		"auto, lean":   {mvclust.Options{Consume: true, Lean: true}, 2, 300},
		"lean":         {mvclust.Options{Preset: mvclust.Paper, Neighbours: 5, Scale: view.MinMax, Lean: true}, 2, 300},
		"auto, L2":     {mvclust.Options{Metrics: []similarity.Metric{similarity.L2}, Candidates: 20}, 2, 300},
		"auto, K":      {mvclust.Options{Neighbours: 150, Threads: 4}, 1, 8},
		"auto, 4":      {mvclust.Options{Threads: 4}, 1, 8},
		"auto, few":    {mvclust.Options{Candidates: 10, Consume: true}, 1, 8},
		"auto, views":  {mvclust.Options{Consume: true}, 10, 3},
		"views":        {mvclust.Options{Preset: mvclust.Paper, Candidates: 20, Consume: true, Learning: probability.Settings{Epochs: 2}}, 10, 3},
	} {
		n := 3000
		if c.opt.Preset == mvclust.Auto {
			n = 1000 // which takes longer
		}
		runtime.GC()
		before := heap()
		var views []*mvclust.View
		var dims []int
		for range c.views {
			views, dims = append(views, draw("v", n, c.dims)), append(dims, c.dims)
		}
		stop, highest := make(chan struct{}), make(chan int64)
		go func() {
			most := int64(0)
			for {
				select {
				case <-stop:
					highest <- most
					return
				case <-time.After(time.Millisecond):
					most = max(most, heap())
				}
			}
		}()
		fit(t, views, c.opt)
		close(stop)
		most, limit := <-highest-before, footprint(t, c.opt, n, dims...)
		if most > limit+limit*garbage/100 || most < limit/5 {
			t.Errorf("%s: %d bytes were in use, where %d were foreseen", name, most, limit)
		}
	}
}

// TestConsume holds that using up the views changes nothing but them.
func TestConsume(t *testing.T) {
	for _, scale := range []view.Scale{view.NoScale, view.MinMax} {
		for _, metrics := range [][]similarity.Metric{nil, {similarity.L2}, {similarity.L1, similarity.Cosine, similarity.L3}} {
			opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 20, Scale: scale, Metrics: metrics}
			want := timeless(fit(t, mixed(t).Views, opt))
			views := mixed(t).Views
			opt.Consume = true
			got := timeless(fit(t, views, opt))
			if !got.Options.Consume {
				t.Error("the options of the result are not those of the run")
			}
			got.Options.Consume = false
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v, %v: the result differs", scale, metrics)
			}
			for m, v := range views {
				if v.Data != nil {
					t.Errorf("%v, %v: view %d still has its values", scale, metrics, m)
				}
			}
		}
	}
}

// TestLean holds that rows that are scaled when they are compared change nothing.
func TestLean(t *testing.T) {
	for name, opt := range map[string]mvclust.Options{
		"auto":       {},
		"scaled":     {Preset: mvclust.Paper, Neighbours: 20, Scale: view.MinMax},
		"not scaled": {Preset: mvclust.Paper, Neighbours: 20},
		"metrics":    {Metrics: []similarity.Metric{similarity.L1, similarity.Cosine, similarity.L3}},
	} {
		want := timeless(fit(t, mixed(t).Views, opt))
		for _, consume := range []bool{false, true} {
			opt.Lean, opt.Consume = true, consume
			got := timeless(fit(t, mixed(t).Views, opt))
			got.Options.Lean, got.Options.Consume = false, false
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, consumed %v: the result differs", name, consume)
			}
		}
	}
}

// TestConsumeShared gives views that share their values, which only a run that leaves
// them alone can have.
func TestConsumeShared(t *testing.T) {
	views := generate(t, synth.Config{Samples: 60, Classes: 3, Views: 1, Dims: []int{8}}).Views
	twin := *views[0]
	for _, second := range []*mvclust.View{views[0], &twin} {
		both := append(slices.Clone(views), second)
		fit(t, both, mvclust.Options{Preset: mvclust.Paper, Neighbours: 5})
		_, err := mvclust.Fit(t.Context(), both, mvclust.Options{Preset: mvclust.Paper, Neighbours: 5, Consume: true})
		if bad, ok := errors.AsType[*mvclust.OptionError](err); !ok || bad.Field != "Consume" {
			t.Errorf("two views of the same values: %v", err)
		}
	}
	if views[0].Data == nil {
		t.Error("the values are gone")
	}
}

// TestSearch holds that either search leads to a whole result, and says how it went.
func TestSearch(t *testing.T) {
	set := generate(t, synth.Config{Samples: 2200, Classes: 50, Dims: []int{16, 24}, Noise: []float64{0.4}, Missing: 0.1})
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 20, Candidates: 40}
	results := map[neighbour.Method]*mvclust.Result{}
	for _, method := range []neighbour.Method{neighbour.Exact, neighbour.Approximate} {
		opt.Search.Method = method
		got := fit(t, set.Views, opt)
		results[method] = got
		if len(got.Labels) != 2200 || len(got.Trace.Search) != 2 || got.Options.Search.Method != method {
			t.Fatalf("%v: %d labels, %+v", method, len(got.Labels), got.Trace.Search)
		}
		if s := compare(t, set.Labels, got.Labels); s.ARI < 0.8 {
			t.Errorf("%v: ARI %.3f", method, s.ARI)
		}
		for m, r := range got.Trace.Search {
			plain := r == neighbour.Report{Method: neighbour.Exact, Recall: 1}
			if r.Method != method || r.Recall < neighbour.DefaultRecall || plain != (method == neighbour.Exact) || plain == (r.Checked > 0 && r.Probes > 0) {
				t.Errorf("%v: view %d is searched %+v", method, m, r)
			}
		}
	}
	exact, near := results[neighbour.Exact], results[neighbour.Approximate]
	if ari := compare(t, exact.Labels, near.Labels).ARI; ari < 0.95 {
		t.Errorf("an approximate search leads to clusters with an ARI of %.3f with those of an exact one", ari)
	}
	opt.Search.Recall = 1
	if got := fit(t, set.Views, opt); got.Trace.Search[0].Method != neighbour.Exact || got.Trace.Search[0].Widened == 0 || !reflect.DeepEqual(got.Graph, exact.Graph) {
		t.Errorf("all neighbours are wanted, and the search was %+v", got.Trace.Search)
	}
}

// TestPortable runs without assembly, whose sums are rounded otherwise, and finds the
// same clusters where they lie well apart.
func TestPortable(t *testing.T) {
	set := generate(t, synth.Config{Samples: 400, Classes: 8, Noise: []float64{0.3}})
	for _, metric := range []similarity.Metric{similarity.Cosine, similarity.L1, similarity.L2, similarity.L3} {
		opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 40, Metrics: []similarity.Metric{metric}}
		want := fit(t, set.Views, opt)
		t.Run(metric.String(), func(t *testing.T) {
			t.Setenv("MVCLUST_KERNEL", "go")
			if name := kernel.Best().Name; name != "go" {
				t.Fatalf("the kernel is %s", name)
			}
			got := fit(t, set.Views, opt)
			if !slices.Equal(got.Labels, want.Labels) || compare(t, set.Labels, got.Labels).ARI < 0.99 {
				t.Errorf("ARI %.3f, with assembly %.3f", compare(t, set.Labels, got.Labels).ARI, compare(t, set.Labels, want.Labels).ARI)
			}
			for i, c := range got.Confidence {
				if !(math.Abs(c-want.Confidence[i]) <= 0.1) {
					t.Errorf("sample %d has confidence %v, with assembly %v", i, c, want.Confidence[i])
				}
			}
		})
	}
}
