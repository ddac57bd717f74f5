package probability

import (
	"math"
	"sort"
)

// Function is a view's probability function f(x) = P(same class | similarity x),
// Eq. f_function: a line through I points, one per segment of the training pairs.
type Function struct {
	// X is the mean similarity of the pairs of each segment, strictly rising.
	X []float64 `json:"similarity"`
	// P is the probability at X, in [0, 1]; in Model.Functions it never falls as X
	// rises.
	P []float64 `json:"probability"`
}

// At returns the probability at similarity x: the line between the points, and
// the first or last probability outside them. It is NaN where x is, and where the
// function has no points.
func (f *Function) At(x float64) float64 {
	i := sort.SearchFloat64s(f.X, x)
	switch {
	case len(f.X) == 0 || x != x:
		return math.NaN()
	case i == len(f.X):
		return f.P[i-1]
	case i == 0 || f.X[i] == x:
		return f.P[i]
	}
	// Rounding must not carry the line past the point that it leads to.
	a, b := f.P[i-1], f.P[i]
	p := a + (x-f.X[i-1])/(f.X[i]-f.X[i-1])*(b-a)
	return min(max(p, min(a, b)), max(a, b))
}
