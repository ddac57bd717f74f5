package neighbour

import "github.com/mvclust/mvclust/internal/kernel"

// Footprint returns how many bytes Search holds at most beside the rows, its result
// included.
func (s Settings) Footprint(rows, dims int) int64 {
	n, k := int64(rows), int64(min(s.Neighbours, rows))
	bytes := n * (14*k + 320) // most of it in the bank
	if s.approximates(rows) {
		cells := int64(cellCount(rows))
		bytes += n*8*foreseen + cells*(4*int64(dims)+checked*k/2)
	}
	return bytes
}

// foreseen is how many cells a row is expected to probe.
const foreseen = 30

// Cost estimates the time of Search, in nanoseconds on two processors.
func (s Settings) Cost(rows, dims int) float64 {
	n, k := float64(rows), float64(min(s.Neighbours, rows))
	pairs := n * n / 2
	if s.approximates(rows) {
		c := float64(cellCount(rows))
		pairs = checked*n + learning*rounds*min(n, rowsPerCell*c)*c + placing*n*c + visiting*foreseen*n*n/c
	}
	perPair := max(0.5, float64(dims)/128)
	if kernel.Best().Name == "go" {
		perPair *= 30
	}
	return perPair*pairs + ranking*n*k
}
