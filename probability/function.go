package probability

import (
	"fmt"
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

// check reports what Function promises and f does not keep.
func (f *Function) check() error {
	if len(f.X) != len(f.P) {
		return fmt.Errorf("has %d similarities and %d probabilities; give as many of each", len(f.X), len(f.P))
	}
	for i, x := range f.X {
		switch p := f.P[i]; {
		case x-x != 0:
			return fmt.Errorf("has similarity %v at point %d; give finite numbers", x, i)
		case i > 0 && x <= f.X[i-1]:
			return fmt.Errorf("has similarity %v at point %d, after %v; similarities must rise from point to point", x, i, f.X[i-1])
		case !(p >= 0 && p <= 1):
			return fmt.Errorf("has probability %v at point %d; probabilities lie between 0 and 1", p, i)
		}
	}
	return nil
}
