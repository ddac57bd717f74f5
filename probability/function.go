package probability

import "sort"

// Function is a view's probability function f(x) = P(same class | similarity x),
// Eq. f_function: a rising line through I points, one per segment of the
// training pairs.
type Function struct {
	// X is the mean similarity of the pairs of each segment, rising.
	X []float64 `json:"similarity"`
	// P is the probability at X, in [0, 1]; it never falls as X rises.
	P []float64 `json:"probability"`
}

// At returns the probability at similarity x: the line between the points, and
// the first or last probability outside them.
func (f *Function) At(x float64) float64 {
	i := sort.SearchFloat64s(f.X, x)
	switch {
	case i == 0:
		return f.P[0]
	case i == len(f.X):
		return f.P[i-1]
	}
	share := (x - f.X[i-1]) / (f.X[i] - f.X[i-1])
	return f.P[i-1] + share*(f.P[i]-f.P[i-1])
}
