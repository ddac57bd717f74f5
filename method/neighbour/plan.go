package neighbour

import "github.com/mvclust/mvclust/internal/kernel"

// Footprint returns how many bytes Search for k neighbours holds at most beside the rows,
// its result included.
func (s Settings) Footprint(rows, dims, k int) int64 {
	k = min(k, rows)
	n, k64 := int64(rows), int64(k)
	bytes := n * (14*k64 + 320) // most of it in the topK
	if s.approximates(rows, k) {
		// It may end as an exact search. Before that, the rows are packed by cell, in whole
		// panels, or the reduced rows exist twice.
		// The groups of equal rows are kept beside all that.
		cells := int64(cellCount(rows))
		bytes = max(bytes, n*(4*k64+100+8*foreseenProbes)+packedFootprint(n, dims, cells)) + cells*(4*int64(dims)+20*checked+8*k64) + 24*n
	}
	return bytes
}

// packedFootprint returns the bytes of rows by cell, in whole panels.
func packedFootprint(n int64, dims int, cells int64) int64 {
	return 4 * int64(dims) * (n + wholePanels*cells)
}

// PartsFootprint returns how many bytes FindParts for k neighbours holds at most beside the rows, its
// result included.
func PartsFootprint(rows, dims, k int) int64 {
	n, cells := int64(rows), int64(indexCells(rows))
	return n*120 + packedFootprint(n, dims, cells) + cells*(4*int64(dims)+20*checked+8*int64(k))
}

// Expected of an approximate search: probes per row, and costShare.
const (
	foreseenProbes = 30
	foreseenShare  = 0.6
)

// Cost estimates the time of Search for k neighbours, in nanoseconds on two processors.
func (s Settings) Cost(rows, dims, k int) float64 {
	k = min(k, rows)
	n, each := float64(rows), float64(k)
	work := n*n/2 + ranking*n*each
	if s.approximates(rows, k) {
		work = approximateWork(n, each, float64(cellCount(rows)), checked, foreseenShare)
	}
	scale := max(0.5, float64(dims)/128)
	if kernel.Best().Name == "go" {
		scale *= 30
	}
	return scale * work
}

// approximateWork estimates the work of an approximate search for k neighbours of n rows.
func approximateWork(n, k, cells, checked, share float64) float64 {
	return 2*checked*n + placing*share*(checked*(k+1)*cells+rounds*min(n, rowsPerCell*cells)*cells) +
		probeWork(n, k, cells, foreseenProbes, share)
}

// probeWork estimates the part of it that comes once the cells are known.
func probeWork(n, k, cells, probes, share float64) float64 {
	return share*(placing*n*cells+2*visiting*probes*n*n/cells) + ranking*n*k
}

// ListsFootprint returns how many bytes lists of k neighbours hold.
func ListsFootprint(samples, k int) int64 { return 4 * int64(samples) * int64(k) }
