package probability

// Footprint returns how many bytes Learn and its similarities hold at most. The cross
// functions take memory by the pairs that are trained on. The settings must be resolved.
func (s Settings) Footprint(pairs int64, views int) int64 {
	v := int64(views)
	return min(pairs, int64(s.Pairs)) * (8 + 8*v + 16*v*(v-1))
}

// Cost estimates the time of Learn, in nanoseconds on two processors. The settings must be
// resolved.
func (s Settings) Cost(pairs float64, views int) float64 {
	return 13 * (min(pairs, float64(s.Pairs)) * float64(views)) * float64(s.Epochs)
}
