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
