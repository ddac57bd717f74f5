package posterior

import "math"

// Additive reports whether the fusion adds up what the views say, as log-odds.
func (f Fusion) Additive() bool {
	return f == Symmetric || f == Asymmetric || f == Pooled
}

// LogOdds returns what every view adds to the log-odds of Fuse(p), and NaN where p is NaN.
// With s the sum over the views, Fuse(p) = 1 / (1 + exp(-s)). A view of the probability x
// adds
//
//	log(x / (1 - x))               under Symmetric
//	log(x / (1 - x)) - log-odds    under Asymmetric, with the log-odds of the base rate;
//	                               the first view that is present adds all of it
//	log(x / (1 - x)) / sqrt(n)     under Pooled, of n views that are present
//
// It returns nil for a fusion that is not Additive, for which there is Deciding. It panics under
// Asymmetric if p has more than one entry per view.
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
		out[m] = logOdds(x)
		if e.set.Fusion == Asymmetric && n > 0 {
			out[m] -= logOdds(e.base[m])
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

// Deciding returns the view that decides Fuse(p) where the fusion is not Additive: the one of
// the largest probability under Max, of the smallest under Min and Multiply, and the one
// furthest from 1/2 under Mean. Of equals it is the first. It is -1 where the fusion is
// Additive, or all of p is NaN.
func (e *Estimator) Deciding(p []float64) int {
	if e.set.Fusion.Additive() {
		return -1
	}
	best, largest := -1, math.Inf(-1)
	for m, x := range p {
		says := -x
		switch e.set.Fusion {
		case Max:
			says = x
		case Mean:
			says = math.Abs(x - 0.5)
		}
		if says > largest {
			best, largest = m, says
		}
	}
	return best
}
