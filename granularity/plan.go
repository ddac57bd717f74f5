package granularity

import "github.com/mvclust/mvclust/internal/parallel"

// Footprint returns how many bytes Search holds at its peak, at most, beside the graph.
// Every thread holds a partition of its own.
func (s Settings) Footprint(samples, threads int) int64 {
	if s.Resolve() != nil {
		return 0
	}
	p, n := s.plan(samples), int64(samples)
	most := int64(p.neighbours[len(p.neighbours)-1])
	lists := 8 * n * (most + 1)
	refined := 2 * n * most * (4 + 4 + 4) // both ends of every edge, and the half sums
	searched := 2*n*most*(8+4+8) + 48*n   // costs, the edges between clusters, and the state
	searches := int64(min(parallel.Threads(threads), len(p.resolutions)))
	labels := 4 * n * int64(len(p.neighbours)*len(p.resolutions))
	return lists + refined + searches*searched + labels
}

// Cost returns about how many nanoseconds Search takes on two processors.
func (s Settings) Cost(samples int) float64 {
	if s.Resolve() != nil {
		return 0
	}
	p, n, cost := s.plan(samples), float64(samples), 0.0
	for _, k := range p.neighbours {
		cost += 10*n*float64(k*k) + 50*n*float64(k)*float64(len(p.resolutions))
	}
	return cost
}
