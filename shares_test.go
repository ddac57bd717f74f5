package mvclust_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/synth"
)

// The views' shares add up, a better view has the larger one, and one that is left out none.
func TestShares(t *testing.T) {
	set, err := synth.Generate(synth.Config{Samples: 400, Classes: 8, Views: 3, Noise: []float64{0.3, 0.3, 30}})
	if err != nil {
		t.Fatal(err)
	}
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		trace := fit(t, set.Views, mvclust.Options{Preset: preset, Threads: 1}).Trace
		sum := 0.0
		for m, share := range trace.Shares {
			sum += share
			if out := trace.Agreement != nil && trace.Agreement.LeftOut[m]; out != (share == 0) {
				t.Errorf("%v: view %d is left out: %v, and its share is %v", preset, m, out, share)
			}
		}
		if math.Abs(sum-1) > 1e-9 || trace.Shares[0] <= trace.Shares[2] || len(trace.Shares) != 3 {
			t.Errorf("%v: the shares are %v", preset, trace.Shares)
		}
		many := fit(t, set.Views, mvclust.Options{Preset: preset, Threads: 4}).Trace
		if !reflect.DeepEqual(many.Shares, trace.Shares) || !reflect.DeepEqual(many.Similarities, trace.Similarities) {
			t.Errorf("%v: shares or histograms depend on the threads", preset)
		}
		for m, h := range trace.Similarities {
			pairs := h.Missing
			for _, n := range h.Count {
				pairs += n
			}
			if want := min(trace.Pairs, 250_000); pairs != want {
				t.Errorf("%v: view %d has %d pairs in its histogram, want %d", preset, m, pairs, want)
			}
		}
	}
}
