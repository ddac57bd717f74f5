package selection

import "github.com/mvclust/mvclust/internal/parallel"

// Footprint returns how many bytes Search holds at its peak, at most, beside a graph of the
// given numbers of samples and edges. Every thread holds a refined graph and its partitions.
func (s Settings) Footprint(samples int, edges int64, threads int) int64 {
	if s.Resolve() != nil {
		return 0
	}
	p, n := s.plan(samples), int64(samples)
	largest := int64(p.neighbours[len(p.neighbours)-1])
	bytes := 8*n*(max(largest, walked)+1) + 4*n*int64(len(p.neighbours)*len(p.resolutions)*p.orders) // lists, labels
	bytes += 8 * n * MostLevels
	refined := func(k int) int64 {
		ends := 2 * min(n*int64(k), edges)
		// The graph, the edges between clusters, and the state.
		return ends*(4+4+4+8) + 64*n
	}
	bytes += 5 * 2 * min(n*largest, edges)
	rows, atOnce := int64(0), min(parallel.Threads(threads), len(p.neighbours))
	for _, k := range p.neighbours[len(p.neighbours)-atOnce:] {
		rows += refined(k)
	}
	// All levels may have the largest number of neighbours.
	levels := int64(min(atOnce, MostLevels-1)) * refined(int(largest))
	return bytes + max(rows, levels)
}

// Cost returns about how many nanoseconds Search takes on two processors.
func (s Settings) Cost(samples int) float64 {
	if s.Resolve() != nil {
		return 0
	}
	p, n := s.plan(samples), float64(samples)
	refining, partition := 0.0, 0.0 // of every number of neighbours
	for _, k := range p.neighbours {
		refining += 10 * n * float64(k*k)
		partition += 50 * n * float64(k)
	}
	levels := MostLevels / float64(len(p.neighbours))
	return refining*(1+levels) + partition*(float64(len(p.resolutions)*p.orders)+levels)
}
