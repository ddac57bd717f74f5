package view

import "math"

// Footprint returns how many bytes the scaled copy of a view holds; NoScale makes none.
func (s Scale) Footprint(samples, dims int) int64 {
	if s == NoScale {
		return 0
	}
	return 4 * int64(samples) * int64(s.Dims(dims))
}

// ScalerFootprint returns how many bytes View.Scaler holds meanwhile.
func (s Scale) ScalerFootprint(samples, dims int) int64 {
	if s != Mixed {
		return 0
	}
	return 8*int64(samples) + int64(measured(samples, dims))*(4*int64(dims)+8*int64(width(dims))+32)
}

// measured returns how many rows have their cosines measured under Mixed.
func measured(rows, dims int) int {
	return min(rows, max(fewestDrawn, int(math.Sqrt(drawn/float64(dims)))))
}
