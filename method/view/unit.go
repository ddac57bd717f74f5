package view

import "math"

// Lengths are what a row's versions are divided by on the way to a scaled row of length 1, so that it
// is made again in a third of the time. The zero value says that they are not known.
type Lengths struct {
	// factors are those of the versions under Mixed; 0 for one that is left out.
	factors [3]float64
	// Norm is the length of the scaled row; 0 for a row of zeros, too.
	Norm float64
}

// Unit sets to to the scaled row, as Apply makes it, brought to length 1, or to zeros where it has no
// length, and returns the lengths that this took. known holds them where they are known. wide is room for
// as many values as to has. It panics if row and to are not of the dimensions of s.
func (s *Scaler) Unit(to []float32, wide []float64, row []float32, known Lengths) Lengths {
	if known.Norm > 0 && s.Scale == Mixed {
		s.again(to, row, &known)
		return known
	}
	switch s.Scale {
	case Mixed:
		known.factors = s.join(wide, row)
	case MinMax:
		s.range01(wide, row)
	default:
		for k, x := range row {
			wide[k] = float64(x)
		}
	}
	sum := 0.0
	for k, x := range wide {
		to[k] = float32(x)
		sum += float64(to[k]) * float64(to[k])
	}
	if known.Norm = math.Sqrt(sum); sum == 0 {
		return known
	}
	for k, x := range to {
		to[k] = float32(float64(x) / known.Norm)
	}
	return known
}

// again is Unit where the lengths are known. All is rounded as there.
func (s *Scaler) again(to []float32, row []float32, known *Lengths) {
	norm, d, w := known.Norm, len(row), width(len(row))
	raw, ranged, standard := to[:w], to[w:2*w], to[2*w:3*w]
	if f := known.factors[0]; f == 0 {
		clear(raw)
	} else {
		for k, x := range row {
			raw[k] = float32(float64(float32(s.value(x)*f)) / norm)
		}
	}
	if f := known.factors[1]; f == 0 {
		clear(ranged)
	} else {
		low, span := s.Low[:d], s.Span[:d]
		for k, x := range row {
			ranged[k] = 0
			if span[k] > 0 {
				ranged[k] = float32(float64(float32((s.value(x)-low[k])/span[k]*f)) / norm)
			}
		}
	}
	if f := known.factors[2]; f == 0 {
		clear(standard)
	} else {
		mean, inverse := s.Mean[:d], s.Inverse[:d]
		for k, x := range row {
			standard[k] = float32(float64(float32((s.value(x)-mean[k])*inverse[k]*f)) / norm)
		}
	}
	for part, f := range known.factors {
		if w > d {
			to[part*w+d] = float32(float64(float32(s.Constants[part]*f)) / norm)
		}
	}
}

// Lasting reports whether a row certainly has a length once it is scaled. It looks at few values.
func (s *Scaler) Lasting(row []float32) bool {
	if s.Scale == MinMax || s.Scale == Mixed && s.Weights[0] < 1e-12 {
		return false
	}
	for _, x := range row {
		if x > 1e-12 || x < -1e-12 {
			return true
		}
	}
	return false
}
