package refine

// Footprint returns how many bytes Consume holds at its peak, at most, for a graph of the given
// number of edges, which is included: 16 per edge, and the neighbours and the refined graph.
func Footprint(edges int64) int64 { return 24 * edges }

// Cost returns about how many nanoseconds Consume takes on two processors, and the share of
// them that has passed by the share of its progress, or nil where these are alike. slow is the
// factor by which paths, which read all over the graph, are slower than on 100,000 samples.
func (s Settings) Cost(edges, slow float64) (time float64, passed func(share float64) float64) {
	steps := float64(s.Steps())
	if steps > 0 {
		time = 10 * edges * steps
	}
	if s.WithoutPaths {
		return time, nil
	}
	paths := 25 * edges * slow
	time += paths
	// Paths come first, one step of all, and take most of the time.
	return time, func(share float64) float64 {
		return (paths*min(1, share*steps) + (time-paths)*share) / time
	}
}
