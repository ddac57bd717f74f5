package posterior

import (
	"math"
	"testing"

	"github.com/mvclust/mvclust/method/probability"
)

// The log-odds of the views add up to those of the fused probability, whichever views
// are there.
func TestLogOddsAddUp(t *testing.T) {
	rnd := random(11)
	for range 20_000 {
		p := draw(rnd)
		base := make([]float64, len(p))
		for m := range p {
			base[m] = 0.02 + 0.96*rnd.Float64()
			if rnd.IntN(4) == 0 {
				p[m] = nan
			}
		}
		for _, fusion := range []Fusion{Symmetric, Asymmetric, Pooled} {
			e := estimator(t, &probability.Functions{BaseRate: base}, Settings{Fusion: fusion})
			fused := e.Fuse(p)
			sum, n := 0.0, 0
			for m, x := range e.LogOdds(p) {
				if x == x != (p[m] == p[m]) {
					t.Fatalf("%v of %v: the view %d has log-odds %v", fusion, p, m, x)
				}
				if x == x {
					sum += x
					n++
				}
			}
			if n == 0 {
				if fused != 0 {
					t.Fatalf("nothing is known, and the probability is %v", fused)
				}
				continue
			}
			if got := 1 / (1 + math.Exp(-sum)); !near(got, fused, 1e-12) {
				t.Fatalf("%v of %v: log-odds of %v make %v, not %v", fusion, p, sum, got, fused)
			}
			// Near 1, few digits are left of 1 - fused.
			if math.Abs(sum) < 14 && !near(sum, math.Log(fused/(1-fused)), 1e-9) {
				t.Fatalf("%v of %v: log-odds add up to %v, not %v", fusion, p, sum, math.Log(fused/(1-fused)))
			}
		}
	}
}

func TestDeciding(t *testing.T) {
	p := []float64{nan, 0.4, 0.9, 0.05}
	for fusion, want := range map[Fusion]int{Symmetric: -1, Asymmetric: -1, Pooled: -1, Max: 2, Mean: 3, Min: 3, Multiply: 3} {
		e := estimator(t, &probability.Functions{BaseRate: []float64{.5, .5, .5, .5}}, Settings{Fusion: fusion})
		if got := e.Deciding(p); got != want {
			t.Errorf("%v: view %d, want %d", fusion, got, want)
		}
		if (e.LogOdds(p) == nil) == fusion.Additive() {
			t.Errorf("%v: log-odds %v", fusion, e.LogOdds(p))
		}
		if got := e.Deciding([]float64{nan, nan, nan, nan}); got != -1 {
			t.Errorf("%v: view %d decides, and none is there", fusion, got)
		}
	}
}
