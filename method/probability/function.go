package probability

import (
	"fmt"
	"math"
	"sort"
)

// Function is a view's probability function f(x) = P(same class | similarity x), Eq.
// f_function: linear between I points, one per segment of the training pairs.
type Function struct {
	// X is the mean similarity of the pairs of each segment, strictly increasing.
	X []float64 `json:"similarity"`
	// P is the probability at X, in [0, 1]. In Functions.ByView it never falls.
	P []float64 `json:"probability"`
}

// At returns the probability at similarity x: linear between the points, and the first or
// last probability beyond them. It is NaN where x is NaN, and where there are no points. It
// panics if there are fewer probabilities than similarities.
func (f *Function) At(x float64) float64 {
	return f.between(sort.SearchFloat64s(f.X, x), x)
}

// between is At where i is the first point that is not below x.
func (f *Function) between(i int, x float64) float64 {
	switch {
	case len(f.X) == 0 || x != x:
		return math.NaN()
	case i == len(f.X):
		return f.P[i-1]
	case i == 0 || f.X[i] == x:
		return f.P[i]
	}
	// Rounding must not carry the value beyond the two points.
	a, b := f.P[i-1], f.P[i]
	p := a + (x-f.X[i-1])/(f.X[i]-f.X[i-1])*(b-a)
	return min(max(p, min(a, b)), max(a, b))
}

// Lookup is a Function with a table that finds the points about x without a search.
type Lookup struct {
	*Function
	low, scale float64
	first      []int32 // by step of equal width: the first point in it or after it
}

// Lookup returns f with such a table. f must not be changed afterwards.
func (f *Function) Lookup() *Lookup {
	l := &Lookup{Function: f}
	if len(f.X) < 2 {
		return l
	}
	steps := 4 * len(f.X)
	last := f.X[len(f.X)-1]
	l.low, l.scale = f.X[0], float64(steps)/(last-f.X[0])
	if l.scale == 0 || l.scale-l.scale != 0 {
		return l // the points are too far apart, or too close, for steps
	}
	l.first = make([]int32, steps+1)
	i := 0
	for s := range l.first {
		for i < len(f.X)-1 && l.step(f.X[i]) < s {
			i++
		}
		l.first[s] = int32(i)
	}
	return l
}

// step returns the step of x, which lies between the first and the last point.
func (l *Lookup) step(x float64) int { return int((x - l.low) * l.scale) }

// At returns what Function.At does, and panics where that does.
func (l *Lookup) At(x float64) float64 {
	if l.first == nil || !(x > l.X[0] && x < l.X[len(l.X)-1]) {
		return l.Function.At(x)
	}
	// The step of a point is rounded as that of x is, so no point before the first of the
	// step can be above x.
	i := int(l.first[min(l.step(x), len(l.first)-1)])
	for l.X[i] < x {
		i++
	}
	return l.between(i, x)
}

// check reports the first thing in which f is not as Function says.
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
