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
	work := n*n/2 + ranking*n*k
	if s.approximates(rows) {
		work = approximateWork(n, k, float64(cellCount(rows)), checked)
	}
	scale := max(0.5, float64(dims)/128)
	if kernel.Best().Name == "go" {
		scale *= 30
	}
	return scale * work
}

// approximateWork is what an approximate search for k neighbours of n rows is expected
// to take, before anything is known of them.
func approximateWork(n, k, cells, checked float64) float64 {
	return checked*n + placing*checked*(k+1)*cells + learning*rounds*min(n, rowsPerCell*cells)*cells +
		probeWork(n, k, cells, foreseen)
}

// probeWork is the part of it that comes when the cells are known.
func probeWork(n, k, cells, probes float64) float64 {
	return placing*n*cells + visiting*probes*n*n/cells + ranking*n*k
}
