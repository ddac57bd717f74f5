package similarity

// Footprint returns how many bytes the rows of a Space hold beside those of its view:
// under Cosine a copy, unless the view's own rows are overwritten.
func (m Metric) Footprint(samples, dims int, overwrite bool) int64 {
	if m != Cosine || overwrite {
		return 0
	}
	return 4 * int64(samples) * int64(dims)
}

// Cost estimates the time to prepare a Space, in nanoseconds on two processors, by the
// number of values in its rows.
func Cost(values float64) float64 { return 0.3 * values }
