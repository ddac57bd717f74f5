package view

import "math"

// Counts reports whether the view holds counts, such as those of words in a text or of transcripts in a cell:
// all values are whole numbers from 0 on, at least half of them 0, and some above 1. Counts grow in proportion
// to themselves, so that a few large ones would decide a cosine. It panics if the view is not valid.
func (v *View) Counts() bool {
	zeros, all, largest := 0, 0, float32(0)
	for i := range v.Samples {
		if !v.Has(i) {
			continue
		}
		row := v.Row(i)
		all += len(row)
		for _, x := range row {
			if x == 0 {
				zeros++
			} else if x < 0 || x != float32(math.Floor(float64(x))) {
				return false
			}
			largest = max(largest, x)
		}
	}
	return largest > 1 && 2*zeros >= all
}

// Logarithms puts log(1 + x) in the place of every value x of the view, as Mixed reads counts.
func (v *View) Logarithms() {
	for k, x := range v.Data {
		v.Data[k] = float32(logarithm(float64(x)))
	}
}

// value returns what a value is read as.
func (s *Scaler) value(x float32) float64 {
	if s.Log && x != 0 {
		return logarithm(float64(x))
	}
	return float64(x)
}

// logarithm returns log(1 + |x|) with the sign of x.
func logarithm(x float64) float64 { return math.Copysign(math.Log1p(math.Abs(x)), x) }
