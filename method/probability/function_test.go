package probability

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
)

// rising draws a function of n points. Products have more digits than random
// numbers, whose differences are always exact.
func rising(seed uint64, n int) *Function {
	rnd, f := random(seed), &Function{}
	for len(f.X) < n {
		f.X, f.P = append(f.X, rnd.NormFloat64()), append(f.P, rnd.Float64()*rnd.Float64())
		slices.Sort(f.X)
		f.X = slices.Compact(f.X)
	}
	slices.Sort(f.P)
	return f
}

func FuzzFunctionAt(f *testing.F) {
	f.Add(uint64(1), uint8(1), 0.5, 0.25)
	f.Add(uint64(2), uint8(2), -1e300, 1e300)
	f.Add(uint64(3), uint8(9), 0.1, math.Nextafter(0.1, 1))
	f.Add(uint64(4), uint8(200), math.Inf(-1), math.Inf(1))
	f.Fuzz(func(t *testing.T, seed uint64, points uint8, x, y float64) {
		if x != x || y != y {
			return
		}
		fn := rising(seed, 1+int(points))
		x, y = min(x, y), max(x, y)
		checkRising(t, fn, x, y)
		// Next to a point, where rounding matters.
		at := fn.X[int(points)/2]
		checkRising(t, fn, math.Nextafter(at, -1e9), at)
		checkRising(t, fn, at, math.Nextafter(at, 1e9))
		checkRising(t, fn, math.Nextafter(at, -1e9), math.Nextafter(at, 1e9))
	})
}

func checkRising(t *testing.T, f *Function, x, y float64) {
	t.Helper()
	p, q := f.At(x), f.At(y)
	if last := len(f.P) - 1; !(f.P[0] <= p && p <= q && q <= f.P[last]) {
		t.Errorf("from %v to %v the function goes from %v to %v, its points from %v to %v", x, y, p, q, f.P[0], f.P[last])
	}
}

func TestFunctionAt(t *testing.T) {
	rnd := random(22)
	for seed := range uint64(300) {
		f := rising(seed, 1+rnd.IntN(12))
		last := len(f.X) - 1
		for i, x := range f.X {
			if p := f.At(x); p != f.P[i] {
				t.Fatalf("point %d is %v, not %v", i, p, f.P[i])
			}
			checkRising(t, f, math.Nextafter(x, -10), x)
			checkRising(t, f, x, math.Nextafter(x, 10))
			if i == last {
				break
			}
			share := rnd.Float64()
			between := x + share*(f.X[i+1]-x)
			if p, want := f.At(between), f.P[i]+share*(f.P[i+1]-f.P[i]); !near(p, want, 1e-9) {
				t.Fatalf("%v at %v, not %v", p, between, want)
			}
		}
		for _, far := range []float64{1e-9, 1, 1e300, math.Inf(1)} {
			if low, high := f.At(f.X[0]-far), f.At(f.X[last]+far); low != f.P[0] || high != f.P[last] {
				t.Fatalf("%v and %v beyond the ends %v and %v", low, high, f.P[0], f.P[last])
			}
		}
		xs := make([]float64, 100)
		for i := range xs {
			xs[i] = 2 * rnd.NormFloat64()
		}
		slices.Sort(xs)
		for i := 1; i < len(xs); i++ {
			checkRising(t, f, xs[i-1], xs[i])
		}
	}
}

func TestFunctionAtKnown(t *testing.T) {
	line := &Function{X: []float64{0, 1, 3}, P: []float64{0.25, 0.5, 1}}
	falling := &Function{X: []float64{0, 1}, P: []float64{0.9, 0.1}} // a cross function may
	single := &Function{X: []float64{2}, P: []float64{0.4}}
	for _, c := range []struct {
		f       *Function
		x, want float64
	}{
		{line, -5, 0.25}, {line, 0, 0.25}, {line, 0.5, 0.375}, {line, 1, 0.5}, {line, 2, 0.75}, {line, 3, 1}, {line, 4, 1},
		{falling, 0, 0.9}, {falling, 0.5, 0.5}, {falling, 1, 0.1},
		{single, 1, 0.4}, {single, 2, 0.4}, {single, 3, 0.4},
		{line, math.NaN(), math.NaN()}, {&Function{}, 1, math.NaN()},
	} {
		if got := c.f.At(c.x); !near(got, c.want, 1e-16) {
			t.Errorf("%v at %v is %v, not %v", *c.f, c.x, got, c.want)
		}
	}
}

// checkLookup holds that a function made ready answers as the function does, to the
// last bit: at the points, next to them, between and beyond them, and at whatever is
// no number.
func checkLookup(t *testing.T, f *Function, xs ...float64) {
	t.Helper()
	l := f.Lookup()
	xs = append(xs, math.NaN(), math.Inf(-1), math.Inf(1), 0, math.Copysign(0, -1),
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64)
	for i, x := range f.X {
		below, above := math.Nextafter(x, math.Inf(-1)), math.Nextafter(x, math.Inf(1))
		xs = append(xs, x, below, above, math.Nextafter(below, math.Inf(-1)), math.Nextafter(above, math.Inf(1)), float64(float32(x)))
		if i > 0 {
			xs = append(xs, f.X[i-1]/2+x/2)
		}
	}
	if n := len(f.X); n > 1 { // the borders of the steps, wherever they are
		for i := range 8*n + 1 {
			x := f.X[0] + float64(i)/float64(8*n)*(f.X[n-1]-f.X[0])
			xs = append(xs, x, math.Nextafter(x, math.Inf(-1)), math.Nextafter(x, math.Inf(1)))
		}
	}
	for _, x := range xs {
		if got, want := l.At(x), f.At(x); math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
			t.Fatalf("of %d points %v, at %v: %v, not %v", len(f.X), f.X, x, got, want)
		}
	}
}

// spaced returns a function of the given points and probabilities that tell them apart.
func spaced(x ...float64) *Function {
	f := &Function{X: x}
	for i := range x {
		f.P = append(f.P, float64(i+1)/float64(len(x)+2))
	}
	return f
}

func TestLookup(t *testing.T) {
	next := func(x float64, steps int) float64 {
		for range steps {
			x = math.Nextafter(x, math.Inf(1))
		}
		return x
	}
	const small, large = math.SmallestNonzeroFloat64, math.MaxFloat64
	for _, x := range [][]float64{
		{}, {0.5}, {0, 1}, {-1, 1}, {-1, 0, 1},
		{0.5, next(0.5, 1)}, {0.5, next(0.5, 1), next(0.5, 2), next(0.5, 9)}, {-next(0.5, 3), -next(0.5, 1), -0.5},
		{-small, 0, small}, {0, small}, {0, 3 * small, 4 * small}, {0, 1e-310, 1e-300},
		{0, small, 1}, {-1, 1 - 1e-16, 1}, {0, 1e-300, 2e-300, 1}, {-1, -1 + 1e-15, 1 - 1e-15, 1},
		{1e300, next(1e300, 1), 1e301}, {1e15, 1e15 + 1}, {-3e38, 0, 3e38},
		{-large, large}, {-large, 0, large}, {-large, -1, 1, large}, {0, large}, {-1e308, 0.5, 1e308},
	} {
		checkLookup(t, spaced(x...), 0.5, 0.25, -0.75, 1e307, -1e307)
	}
	rnd := random(23)
	for seed := range uint64(200) {
		f := rising(seed, 1+rnd.IntN(40))
		var xs []float64
		for range 200 {
			xs = append(xs, 2*rnd.NormFloat64(), float64(float32(rnd.NormFloat64())))
		}
		checkLookup(t, f, xs...)
		// Clumps of points far from each other.
		for i := range f.X {
			f.X[i] = math.Ldexp(f.X[i], rnd.IntN(200)-100)
		}
		slices.Sort(f.X)
		f.X = slices.Compact(f.X)
		f.P = f.P[:len(f.X)]
		checkLookup(t, f, xs...)
	}
	// A cross function may fall.
	checkLookup(t, &Function{X: []float64{0, 0.3, 1}, P: []float64{0.9, 0.2, 0.1}}, 0.1, 0.5)
}

func FuzzLookup(f *testing.F) {
	f.Add(uint64(1), uint8(1), 0.5, 1.0, 0.0)
	f.Add(uint64(2), uint8(2), -1e300, 1e300, 1.0)
	f.Add(uint64(3), uint8(9), 0.1, 1e-17, 0.1)
	f.Add(uint64(4), uint8(200), math.Inf(-1), 1e308, -1e308)
	f.Fuzz(func(t *testing.T, seed uint64, points uint8, x, scale, shift float64) {
		fn := rising(seed, 1+int(points)%32)
		for i, at := range fn.X {
			if fn.X[i] = scale*at + shift; fn.X[i]-fn.X[i] != 0 {
				return
			}
		}
		slices.Sort(fn.X)
		fn.X = slices.Compact(fn.X)
		fn.P = fn.P[:len(fn.X)]
		checkLookup(t, fn, x)
	})
}

func TestFunctionJSON(t *testing.T) {
	want := rising(1, 5)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Function
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(&got, want) {
		t.Errorf("%v, %v from %s", got, err, text)
	}
}
