package posterior

import "math"

// Additive reports whether the fusion adds up what the views say, as log-odds.
func (f Fusion) Additive() bool {
	return f == Symmetric || f == Asymmetric || f == Pooled
}

// LogOdds returns what every view adds to the log-odds of Fuse(p), NaN where p is: their
// sum s gives Fuse(p) = 1 / (1 + exp(-s)). It returns nil for a fusion that is not
// Additive, of which Deciding tells more.
//
// Under Symmetric a view adds log(p / (1 - p)); under Asymmetric, every one but the first
// that is there adds so much less the log-odds of its base rate; under Pooled, so much
// over the root of the number of views that are there.
func (e *Estimator) LogOdds(p []float64) []float64 {
	if !e.set.Fusion.Additive() {
		return nil
	}
	out := make([]float64, len(p))
	n := 0
	for m, x := range p {
		out[m] = math.NaN()
		if x != x {
			continue
		}
		out[m] = odds(x)
		if e.set.Fusion == Asymmetric && n > 0 {
			out[m] -= odds(e.clip(e.model.BaseRate[m]))
		}
		n++
	}
	if e.set.Fusion == Pooled {
		for m := range out {
			out[m] /= math.Sqrt(float64(n))
		}
	}
	return out
}

func odds(p float64) float64 { return math.Log(p / (1 - p)) }

// Deciding returns the view that Fuse(p) goes by most where the fusion is not Additive: the
// one of the largest probability under Max, of the least under Min and Multiply, and the
// one furthest from 1/2 under Mean; the first of equals, and -1 where the fusion is
// Additive or p has nothing but NaN.
func (e *Estimator) Deciding(p []float64) int {
	if e.set.Fusion.Additive() {
		return -1
	}
	best, most := -1, math.Inf(-1)
	for m, x := range p {
		says := -x
		switch e.set.Fusion {
		case Max:
			says = x
		case Mean:
			says = math.Abs(x - 0.5)
		}
		if says > most {
			best, most = m, says
		}
	}
	return best
}
