package view

// Footprint returns how many bytes the scaled copy of a view holds; NoScale makes none.
func (s Scale) Footprint(samples, dims int) int64 {
	if s == NoScale {
		return 0
	}
	return 4 * int64(samples) * int64(s.Dims(dims))
}
