package view

import "math"

// Linear takes the product of two scaled rows of length 1 apart: one row x may be prepared, so that its
// product with any y is, but for rounding,
//
//	x . y = sum over r of w_r(y) (q_r(x) . t(y) + c_r(x)),
//
// where t(y) has the dimensions of the view, and r runs over the versions of a row under Mixed, or is 0.
// To make t and w of y takes a tenth of the time of scaling it. Under Mixed the three products q_r . t are
// as long together as x is, and need no scaled y.
type Linear struct {
	scaler          *Scaler
	centre, inverse []float64 // t = (y - centre) * inverse, y as the scaler reads it
	versions        []version
}

// version is one version of a row: slope * t + at, and one more coordinate.
type version struct {
	slope, at []float64
	constant  float64
	weight    float64
	floor     float64 // of the squares of a version that has a direction
	least     float64 // of the squares where rounding does no harm: a hundredth of those of at
}

// Linear returns what takes products apart of rows of the given dimensions. It panics if s is not valid for them.
func (s *Scaler) Linear(dims int) *Linear {
	l := &Linear{scaler: s, centre: make([]float64, dims), inverse: make([]float64, dims)}
	for k := range dims {
		l.inverse[k] = 1
		switch s.Scale {
		case MinMax:
			if l.centre[k], l.inverse[k] = s.Low[k], 0; s.Span[k] > 0 {
				l.inverse[k] = 1 / s.Span[k]
			}
		case Mixed:
			if l.centre[k] = s.Mean[k]; s.Inverse[k] > 0 {
				l.inverse[k] = s.Inverse[k]
			}
		}
	}
	if s.Scale != Mixed {
		one := version{slope: make([]float64, dims), at: make([]float64, dims), weight: 1}
		for k := range one.slope {
			one.slope[k] = 1
		}
		l.versions = []version{one}
		return l
	}
	for r := range s.Weights {
		v := version{slope: make([]float64, dims), at: make([]float64, dims), constant: s.Constants[r], weight: s.Weights[r]}
		for k := range dims {
			deviation := 1 / l.inverse[k]
			switch {
			case r == 0:
				v.slope[k], v.at[k] = deviation, s.Mean[k]
			case r == 1 && s.Span[k] > 0:
				v.slope[k], v.at[k] = deviation/s.Span[k], (s.Mean[k]-s.Low[k])/s.Span[k]
			case r == 2 && s.Inverse[k] > 0:
				v.slope[k] = 1
			}
		}
		if r == 2 {
			v.floor = central * central * float64(dims)
		}
		for _, x := range v.at {
			v.least += 0.01 * x * x
		}
		l.versions = append(l.versions, v)
	}
	return l
}

// Versions returns how many products of rows of the view's dimensions one of scaled rows is made of.
func (l *Linear) Versions() int { return len(l.versions) }

// Prepare sets to to the q_r of a scaled row of length 1, one after the other, and constants to the c_r. It
// panics if they have too little room, or the row other dimensions.
func (l *Linear) Prepare(to, constants, unit []float32) {
	d := len(l.centre)
	w := len(unit) / len(l.versions)
	for r, v := range l.versions {
		q, part, sum := to[r*d:(r+1)*d], unit[r*w:(r+1)*w], 0.0
		for k := range q {
			q[k] = float32(float64(part[k]) * v.slope[k])
			sum += float64(part[k]) * v.at[k]
		}
		if w > d {
			sum += float64(part[d]) * v.constant
		}
		constants[r] = float32(sum)
	}
}

// squaresLow and squaresHigh bound the squares of rows of which every product is right in float32.
const (
	squaresLow  = 1e-50
	squaresHigh = 1e60
)

// Row sets to to t and weights to the w_r of a row; all weights are 0 where its scaled row has no length. It
// reports false where a version of the row is so much shorter than those of others, or so short or long
// itself, that the product would not be right to float32; the row is to be scaled then. It panics if the
// row is not of the dimensions of l, or to has less room.
func (l *Linear) Row(to []float32, weights *[3]float32, row []float32) bool {
	d := len(row)
	to, centre, inverse := to[:d], l.centre[:d], l.inverse[:d]
	for k, x := range row {
		to[k] = float32((l.scaler.value(x) - centre[k]) * inverse[k])
	}
	*weights = [3]float32{}
	var factors [3]float64
	total := 0.0
	for r := range l.versions {
		v := &l.versions[r]
		sum := v.squares(to)
		if sum < v.least || !(sum == 0 || sum > squaresLow && sum < squaresHigh) {
			return false
		}
		if sum > v.floor {
			factors[r] = v.weight / math.Sqrt(sum)
			total += v.weight * v.weight
		}
	}
	if total > 0 {
		for r, f := range factors {
			weights[r] = float32(f / math.Sqrt(total))
		}
	}
	return true
}

// squares returns the sum of the squares of a version of t.
func (v *version) squares(t []float32) float64 {
	// Four sums side by side, since each addition waits for the one before.
	var a, b, c, d float64
	slope, at := v.slope[:len(t)], v.at[:len(t)]
	for len(t) >= 4 && len(slope) >= 4 && len(at) >= 4 {
		w, x := slope[0]*float64(t[0])+at[0], slope[1]*float64(t[1])+at[1]
		y, z := slope[2]*float64(t[2])+at[2], slope[3]*float64(t[3])+at[3]
		a, b, c, d = a+w*w, b+x*x, c+y*y, d+z*z
		t, slope, at = t[4:], slope[4:], at[4:]
	}
	for k, x := range t {
		x := slope[k]*float64(x) + at[k]
		a += x * x
	}
	return v.constant*v.constant + a + b + c + d
}
