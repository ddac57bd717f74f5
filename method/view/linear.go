package view

import (
	"math"

	"github.com/mvclust/mvclust/internal/kernel"
)

// Linear takes the product of two scaled rows of length 1 apart, without making them. It is, but for
// rounding,
//
//	x . y = sum over r of w_r(x) w_r(y) (t(x) . v_r(y) + c_r(y)),
//
// where t and v_r have the dimensions of the view, and r runs over the versions of a row under Mixed, or is
// 0. Row makes these of a row in a fraction of the time of scaling it.
type Linear struct {
	scaler             *Scaler
	high, low, inverse []float32 // t = (row - high - low) * inverse, with values as the scaler reads them
	versions           []version
	kernel             *kernel.Kernel
}

// version is one version of a row: u = slope * t + at, and one more coordinate. v is slope * u, and c the sum
// of at * u and the square of that coordinate.
type version struct {
	slope, at []float32
	constant  float64
	weight    float64
	floor     float64 // of the squares of a version that has a direction
	least     float64 // of the squares where rounding does no harm: a hundredth of those of at
}

// LinearRow is a row as Linear makes it.
type LinearRow struct {
	T         []float32
	V         []float32 // by version, one after the other
	Constants [3]float64
	// Weights are all 0 where the scaled row has no length.
	Weights [3]float64

	logarithms []float32 // of a row of counts
}

// Linear returns what takes products apart of rows of the given dimensions. It panics if s is not valid for them.
func (s *Scaler) Linear(dims int) *Linear {
	l := &Linear{scaler: s, high: make([]float32, dims), low: make([]float32, dims), inverse: make([]float32, dims), kernel: kernel.Best()}
	centre, inverse := make([]float64, dims), make([]float64, dims)
	for k := range dims {
		inverse[k] = 1
		switch s.Scale {
		case MinMax:
			if centre[k], inverse[k] = s.Low[k], 0; s.Span[k] > 0 {
				inverse[k] = 1 / s.Span[k]
			}
		case Mixed:
			if centre[k] = s.Mean[k]; s.Inverse[k] > 0 {
				inverse[k] = s.Inverse[k]
			}
		}
		l.high[k], l.inverse[k] = float32(centre[k]), float32(inverse[k])
		l.low[k] = float32(centre[k] - float64(l.high[k]))
	}
	if s.Scale != Mixed {
		one := version{slope: make([]float32, dims), at: make([]float32, dims), weight: 1}
		for k := range one.slope {
			one.slope[k] = 1
		}
		l.versions = []version{one}
		return l
	}
	for r := range s.Weights {
		v := version{slope: make([]float32, dims), at: make([]float32, dims), constant: s.Constants[r], weight: s.Weights[r]}
		for k := range dims {
			slope, at := 0.0, 0.0
			switch {
			case r == 0:
				slope, at = 1/inverse[k], s.Mean[k]
			case r == 1 && s.Span[k] > 0:
				slope, at = 1/inverse[k]/s.Span[k], (s.Mean[k]-s.Low[k])/s.Span[k]
			case r == 2 && s.Inverse[k] > 0:
				slope = 1
			}
			v.slope[k], v.at[k] = float32(slope), float32(at)
			v.least += 0.01 * at * at
		}
		if r == 2 {
			v.floor = central * central * float64(dims)
		}
		l.versions = append(l.versions, v)
	}
	return l
}

const (
	// squaresLow and squaresHigh bound the squares of rows of which every product is right in float32.
	squaresLow  = 1e-30
	squaresHigh = 1e36
	// linearPart is the number of dimensions that are summed in float32.
	linearPart = 1024
)

// Row makes to of a row, in the memory that to has. It reports false where a version of the row is so much
// shorter than those of others, or so short or long itself, that products would not be right to float32; the
// row is to be scaled then. It panics if the row is not of the dimensions of l.
func (l *Linear) Row(to *LinearRow, row []float32) bool {
	d := len(l.high)
	row = row[:d:d]
	to.T, to.V = room(to.T, d), room(to.V, d*len(l.versions))
	to.Constants, to.Weights = [3]float64{}, [3]float64{}
	if d == 0 {
		return true
	}
	if l.scaler.Log {
		to.logarithms = room(to.logarithms, d)
		for k, x := range row {
			to.logarithms[k] = float32(l.scaler.value(x))
		}
		row = to.logarithms
	}
	l.kernel.Standardise(to.T, row, l.high, l.low, l.inverse)
	var factors [3]float64
	total := 0.0
	for r := range l.versions {
		v := &l.versions[r]
		squares := v.constant * v.constant
		constant := squares
		for lo := 0; lo < d; lo += linearPart {
			hi := min(d, lo+linearPart)
			part, along := l.kernel.Affine(to.V[r*d+lo:r*d+hi], to.T[lo:hi], v.slope[lo:hi], v.at[lo:hi])
			squares += float64(part)
			constant += float64(along)
		}
		if squares < v.least || !(squares > squaresLow && squares < squaresHigh) && !(squares == 0 && l.zero(v, row)) {
			return false
		}
		if to.Constants[r] = constant; squares > v.floor {
			factors[r] = v.weight / math.Sqrt(squares)
			total += v.weight * v.weight
		}
	}
	if total > 0 {
		for r, f := range factors {
			to.Weights[r] = f / math.Sqrt(total)
		}
	}
	return true
}

// zero reports whether a version of a row is all zeros: the squares of small values are 0 in float32.
func (l *Linear) zero(v *version, row []float32) bool {
	for k, x := range row {
		if t := (float64(x) - float64(l.high[k]) - float64(l.low[k])) * float64(l.inverse[k]); float64(v.slope[k])*t+float64(v.at[k]) != 0 {
			return false
		}
	}
	return true
}

// room returns a slice of n values, of any content, in the memory of s where that suffices.
func room(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
