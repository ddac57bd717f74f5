package selection

import (
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

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
	bytes += 5 * 2 * min(n*largest, edges)
	atOnce := min(parallel.Threads(threads), len(p.neighbours))
	return bytes + max(p.trying(edges, atOnce), p.settling(edges, atOnce))
}

// graphBytes are those of a refined graph with k neighbours, and of a series of partitions of it: the
// edges between clusters, and the state.
func (p plan) graphBytes(edges int64, k int) (graph, series int64) {
	n := int64(p.samples)
	ends := 2 * min(n*int64(k), edges)
	return ends * (4 + 4), ends*(4+8) + 64*n
}

// trying returns the bytes of the largest graphs and partitions of them that are tried at once.
func (p plan) trying(edges int64, atOnce int) (sum int64) {
	for _, k := range p.neighbours[len(p.neighbours)-atOnce:] {
		graph, series := p.graphBytes(edges, k)
		sum += graph + series
	}
	return sum
}

// settling returns the bytes of the graphs and partitions that are held while levels are settled, which
// goes by falling number of neighbours: those of so many levels at once, of which some have the same
// graph, and the graph of the chosen one, which stays.
func (p plan) settling(edges int64, atOnce int) (most int64) {
	atOnce = min(atOnce, MostLevels-1)
	for distinct := 1; distinct <= atOnce; distinct++ {
		for _, chosen := range []int{0, 1} { // whether the graph of the chosen one is a further one
			if distinct+chosen > len(p.neighbours) {
				continue
			}
			sum := int64(0)
			for t, k := range slices.Backward(p.neighbours[len(p.neighbours)-distinct-chosen:]) {
				graph, series := p.graphBytes(edges, k)
				sum += graph
				switch t {
				case distinct: // the chosen one
				case distinct - 1:
					sum += int64(1+atOnce-distinct) * series
				default:
					sum += series
				}
			}
			most = max(most, sum)
		}
	}
	return most
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
