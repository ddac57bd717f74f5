package partition

import "math"

// Cost returns about how many nanoseconds Find takes on two processors for samples with k
// neighbours each, and the share of them that has passed by the share of its progress. slow is
// the factor by which it is slower, by sample, than on 100,000 samples.
func (s Settings) Cost(samples, k int, slow float64) (time float64, passed func(share float64) float64) {
	steps := float64(s.Steps(nil))
	// Every sweep has about half as much to do as the one before.
	return 170 * float64(samples) * float64(k) * slow, func(share float64) float64 { return 1 - math.Pow(0.5, share*steps) }
}
