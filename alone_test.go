package mvclust_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/synth"
)

// blurred returns two views of samples with known classes: the first has them clearly, and the second classes of its own
// that have nothing to do with them.
func blurred(t testing.TB, own, other synth.Config) (views []*mvclust.View, classes []int) {
	t.Helper()
	set, more := generate(t, own), generate(t, other)
	turned := *more.Views[0]
	turned.Data = nil
	for _, i := range rand.New(rand.NewPCG(own.Seed, 1)).Perm(turned.Samples) {
		turned.Data = append(turned.Data, more.Views[0].Row(i)...)
	}
	return []*mvclust.View{set.Views[0], &turned}, set.Labels
}

// blurs are such views.
var blurs = [][2]synth.Config{
	{{Samples: 600, Classes: 10, Views: 1, Dims: []int{12}, Noise: []float64{0.35}, Seed: 1}, {Samples: 600, Classes: 30, Views: 1, Dims: []int{40}, Noise: []float64{0.6}, Seed: 101}},
	{{Samples: 600, Classes: 8, Views: 1, Dims: []int{12}, Noise: []float64{0.5}, Seed: 1}, {Samples: 600, Classes: 20, Views: 1, Dims: []int{40}, Noise: []float64{0.9}, Seed: 101}},
}

// Where a second view only blurs the clusters of the first, that is compared alone, as if it had been given alone; and
// on any number of threads.
func TestAlone(t *testing.T) {
	for seed, cfg := range blurs {
		views, classes := blurred(t, cfg[0], cfg[1])
		want := fit(t, views[:1], mvclust.Options{})
		for threads := 1; threads <= 3; threads += 2 {
			var last mvclust.Progress
			got := fit(t, views, mvclust.Options{Threads: threads, Progress: func(p mvclust.Progress) {
				if p.Share < last.Share || p.Share > 1 {
					t.Errorf("seed %d: %+v after %+v", seed, p, last)
				}
				last = p
			}})
			if last.Share < 1-1e-12 || last.Done != last.Total {
				t.Errorf("seed %d: the last report is %+v", seed, last)
			}
			a := got.Trace.Alone
			if a == nil || a.View != 0 || !a.Own.Clearer(a.All, a.Rand) {
				t.Fatalf("seed %d: %+v is compared alone", seed, a)
			}
			if !slices.Equal(got.Labels, want.Labels) {
				t.Errorf("seed %d: the clusters are not those of the view by itself", seed)
			}
			if s := compare(t, classes, got.Labels); s.ARI < 0.9 {
				t.Errorf("seed %d: the ARI is %.3f", seed, s.ARI)
			}
			if got.Trace.WhyLeftOut(0) != "" || got.Trace.WhyLeftOut(1) == "" || got.Trace.Shares[1] != 0 {
				t.Errorf("seed %d: left out %v, shares %v", seed, got.Trace.Agreement.LeftOut, got.Trace.Shares)
			}
			m := mvclust.NewModel(views, got, nil)
			if m.Validate() != nil || m.Views[0].LeftOut || !m.Views[1].LeftOut {
				t.Errorf("seed %d: the model is %v", seed, m.Validate())
			}
		}
		// All views are compared where the granularity is given, and where some samples lack the clear one.
		if got := fit(t, views, mvclust.Options{Neighbours: 10}); got.Trace.Alone != nil {
			t.Errorf("seed %d: with neighbours given, a view is compared alone", seed)
		}
		lacking := *views[0]
		lacking.Present = slices.Repeat([]bool{true}, lacking.Samples)
		lacking.Present[5] = false
		if a := fit(t, []*mvclust.View{&lacking, views[1]}, mvclust.Options{}).Trace.Alone; a != nil && a.View == 0 {
			t.Errorf("seed %d: a view that a sample lacks is compared alone", seed)
		}
	}
}

// Views that are clear together are all compared, and a number of clusters is made of what is found without it.
func TestAloneNone(t *testing.T) {
	set := easy(t, 2)
	if got := fit(t, set.Views, mvclust.Options{}); got.Trace.Alone != nil || got.Trace.WhyLeftOut(0) != "" {
		t.Errorf("%+v is compared alone", got.Trace.Alone)
	}
	views, classes := blurred(t, blurs[0][0], blurs[0][1])
	got := fit(t, views, mvclust.Options{Clusters: 10})
	if s := compare(t, classes, got.Labels); got.Trace.Alone == nil || s.ARI < 0.9 {
		t.Errorf("of 10 clusters, the ARI is %.3f, and alone is %+v", s.ARI, got.Trace.Alone)
	}
}
