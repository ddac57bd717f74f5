package view_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/view"
)

// plainMixed transcribes Mixed for views of at most 128 samples, all of whose pairs tell
// the spread of a cosine.
func plainMixed(v *view.View) [][]float64 {
	width := v.Dims
	if v.Dims <= 32 {
		width++ // the constant
	}
	var present []int
	for i := range v.Samples {
		if v.Has(i) {
			present = append(present, i)
		}
	}
	n := float64(len(present))
	out := make([][]float64, v.Samples)
	for i := range out {
		out[i] = make([]float64, 3*width)
	}
	for k := range v.Dims {
		low, high, mean, variance := math.Inf(1), math.Inf(-1), 0.0, 0.0
		for _, i := range present {
			x := float64(v.Row(i)[k])
			low, high, mean = min(low, x), max(high, x), mean+x/n
		}
		for _, i := range present {
			d := float64(v.Row(i)[k]) - mean
			variance += d * d / n
		}
		for _, i := range present {
			x := float64(v.Row(i)[k])
			out[i][k] = x
			if high > low {
				out[i][width+k], out[i][2*width+k] = (x-low)/(high-low), (x-mean)/math.Sqrt(variance)
			}
		}
	}
	var weight [3]float64
	for part := range weight {
		of := func(i int) []float64 { return out[i][part*width : (part+1)*width] }
		if width > v.Dims {
			square := 0.0
			for _, i := range present {
				for _, x := range of(i) {
					square += x * x / n
				}
			}
			for _, i := range present {
				of(i)[v.Dims] = math.Sqrt(10 * square / float64(v.Dims))
			}
		}
		for _, i := range present {
			length := 0.0
			for _, x := range of(i) {
				length += x * x
			}
			for k, x := range of(i) {
				if length > 0 {
					of(i)[k] = x / math.Sqrt(length)
				}
			}
		}
		var cosines []float64
		for _, i := range present {
			for _, j := range present {
				if i >= j {
					continue
				}
				cosine := 0.0
				for k, x := range of(i) {
					cosine += x * of(j)[k]
				}
				cosines = append(cosines, cosine)
			}
		}
		mean, variance := 0.0, 0.0
		for _, x := range cosines {
			mean += x / float64(len(cosines))
		}
		for _, x := range cosines {
			variance += (x - mean) * (x - mean) / float64(len(cosines))
		}
		if variance > 1e-12 {
			weight[part] = 1 / math.Sqrt(math.Sqrt(variance))
		}
	}
	if weight == [3]float64{} {
		weight[0] = 1
	}
	for i := range out {
		for k := range out[i] {
			out[i][k] *= weight[k/width]
		}
	}
	return out
}

// drawnView has normal rows, with features of several sizes and places.
func drawnView(random *rand.Rand, n, dims int, missing float64) *view.View {
	v := &view.View{Name: "v", Samples: n, Dims: dims, Data: make([]float32, n*dims), Present: make([]bool, n)}
	for i := range n {
		v.Present[i] = i < 3 || random.Float64() >= missing
		for k := range dims {
			v.Row(i)[k] = float32(math.Pow(3, float64(k%5))*random.NormFloat64() + float64(k%3))
		}
	}
	return v
}

func TestMixed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for run := range 100 {
		n, dims := 3+random.IntN(100), []int{1 + random.IntN(8), 31 + random.IntN(4)}[run/4%2]
		v := drawnView(random, n, dims, 0.2)
		switch run % 4 {
		case 0: // a constant feature
			for i := range n {
				v.Row(i)[dims-1] = 5
			}
		case 1: // a row of zeros
			clear(v.Row(1))
		case 2: // equal rows
			copy(v.Row(1), v.Row(0))
		}
		if dims == 1 && run%4 == 0 {
			continue // a constant view, see below
		}
		before := slices.Clone(v.Data)
		got, want := scaled(t, v, view.Mixed), plainMixed(v)
		if got.Dims != view.Mixed.Dims(dims) || got.Dims != len(want[0]) || got.Samples != n || got.Name != v.Name || !slices.Equal(got.Present, v.Present) {
			t.Fatalf("%+v of %+v", got, v)
		}
		for i := range n {
			for k, x := range got.Row(i) {
				if !(math.Abs(float64(x)-want[i][k]) <= 1e-5*max(1, math.Abs(want[i][k]))) {
					t.Fatalf("run %d, %d x %d: sample %d, value %d is %v, want %v", run, n, dims, i, k, x, want[i][k])
				}
			}
		}
		if !slices.Equal(v.Data, before) {
			t.Fatal("the view has changed")
		}
	}
}

// TestMixedConstant has views that cannot tell samples apart: they stay so, and what is
// not there stays 0.
func TestMixedConstant(t *testing.T) {
	const b, c = 11.180339887498949, 15.811388300841896 // the constants: roots of 10 * 25 / 2 and of 10 * 25
	for _, c := range []struct {
		dims       int
		data, want []float32
	}{
		{2, []float32{3, 4, 3, 4, 3, 4}, slices.Repeat([]float32{3 / length(3, 4, b), 4 / length(3, 4, b), b / length(3, 4, b), 0, 0, 0, 0, 0, 0}, 3)},
		{1, []float32{-5, nan, -5}, []float32{-5 / length(-5, c), c / length(-5, c), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5 / length(-5, c), c / length(-5, c), 0, 0, 0, 0}},
		{1, []float32{0, 0}, make([]float32, 12)},
		{1, []float32{nan, nan}, make([]float32, 12)},
		{33, slices.Repeat([]float32{2}, 66), slices.Repeat(append(slices.Repeat([]float32{2 / length(slices.Repeat([]float32{2}, 33)...)}, 33), make([]float32, 66)...), 2)},
		{3, nil, nil},
	} {
		v, err := view.New("v", len(c.data)/c.dims, c.dims, c.data)
		if err != nil {
			t.Fatal(err)
		}
		got := scaled(t, v, view.Mixed)
		if !slices.EqualFunc(got.Data, c.want, func(x, y float32) bool { return math.Abs(float64(x-y)) < 1e-6 }) {
			t.Errorf("%v becomes %v, want %v", c.data, got.Data, c.want)
		}
	}
}

// length returns the length of a row.
func length(row ...float32) float32 {
	sum := 0.0
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	return float32(math.Sqrt(sum))
}

// TestMixedFew has rows of few features that differ in length alone: they are told apart.
func TestMixedFew(t *testing.T) {
	for _, dims := range []int{1, 2, view.Few, view.Few + 1} {
		v := &view.View{Samples: 40, Dims: dims, Data: make([]float32, 40*dims)}
		for i := range v.Samples {
			for k := range dims {
				v.Row(i)[k] = float32(i + 1)
			}
		}
		got := scaled(t, v, view.Mixed)
		one, two := got.Row(5)[:got.Dims/3], got.Row(30)[:got.Dims/3] // the rows as they are
		apart := 0.0
		for k := range one {
			apart += math.Abs(float64(one[k] - two[k]))
		}
		if few := dims <= view.Few; few != (apart > 1e-3) {
			t.Errorf("%d features: rows of one direction are %v apart", dims, apart)
		}
	}
}

// TestMixedOrder stores the samples in another order, and maps the order of the sums
// along: not a bit changes. There are more samples than are drawn.
func TestMixedOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 0))
	for _, n := range []int{5, 100, 700} {
		v := drawnView(random, n, 6, 0.3)
		order, to := random.Perm(n), random.Perm(n)
		moved := drawnView(random, n, 6, 0)
		movedOrder := make([]int, n)
		for i, j := range to {
			copy(moved.Row(j), v.Row(i))
			moved.Present[j] = v.Present[i]
		}
		for at, i := range order {
			movedOrder[at] = to[i]
		}
		one, err := v.Scaled(t.Context(), view.Mixed, order, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{0, 2, 8} {
			two, err := moved.Scaled(t.Context(), view.Mixed, movedOrder, threads)
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range to {
				if !slices.Equal(one.Row(i), two.Row(j)) {
					t.Fatalf("%d samples, %d threads: sample %d is %v and %v", n, threads, i, one.Row(i), two.Row(j))
				}
			}
		}
	}
}

// TestMixedExtremes has values at the ends of what 32 bits hold: what comes out is finite,
// and rows that differ do so.
func TestMixedExtremes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	for _, scale := range []float64{math.MaxFloat32 / 2, 1e30, 1e-30, 1e-38, 20 * math.SmallestNonzeroFloat32} {
		for _, shift := range []float64{0, 0.9, -0.9} {
			t.Run(fmt.Sprint(scale, " ", shift), func(t *testing.T) {
				v := drawnView(random, 50, 4, 0.1)
				for i := range v.Data {
					v.Data[i] = float32(scale * (shift + math.Tanh(random.NormFloat64())))
				}
				v.Row(1)[0] = float32(scale * 2)
				v.Row(2)[1] = -float32(scale * 2)
				clear(v.Row(0))
				got := scaled(t, v, view.Mixed)
				different := false
				for i := range v.Samples {
					for _, x := range got.Row(i) {
						if !(math.Abs(float64(x)) < 1e4) {
							t.Fatalf("sample %d becomes %v", i, got.Row(i))
						}
					}
					different = different || v.Has(i) && i > 0 && !slices.Equal(got.Row(i), got.Row(1))
				}
				if !different {
					t.Error("all rows are equal")
				}
			})
		}
	}
}

// TestMixedMiddle has a row that is the mean of all: it has no direction from there, and is
// not given that of a rounding error.
func TestMixedMiddle(t *testing.T) {
	for _, x := range []float32{0.1, 0.3, 0.7, 1.1, 1e6 + 0.1} {
		const n, dims = 7, 3
		v := &view.View{Samples: n, Dims: dims, Data: make([]float32, n*dims)}
		for i := range n {
			for k := range dims {
				v.Row(i)[k] = x
			}
			if i > 0 {
				v.Row(i)[(i-1)/2] += float32(1 - 2*(i%2))
			}
		}
		got := scaled(t, v, view.Mixed)
		for k, y := range got.Row(0)[2*(dims+1):][:dims] {
			if math.Abs(float64(y)) > 1e-3 {
				t.Errorf("around %v: feature %d of the middle is %v", x, k, y)
			}
		}
	}
}

func TestMixedCancelled(t *testing.T) {
	v := drawnView(rand.New(rand.NewPCG(4, 0)), 300, 4, 0.1)
	asked := 0
	for ended := false; !ended; asked++ {
		got, err := v.Scaled(lapse.After(t.Context(), asked), view.Mixed, nil, 1)
		if ended = err == nil; !ended && (got != nil || !errors.Is(err, context.Canceled)) {
			t.Fatalf("after %d questions: %v", asked, err)
		}
	}
	if asked < 100 {
		t.Errorf("it asks %d times", asked)
	}
}
