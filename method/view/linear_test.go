package view_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

// The products that Linear takes apart are those of the scaled rows, wherever the columns lie.
func TestLinear(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	normal := func(dims int) *view.View {
		v := &view.View{Name: "v", Samples: 60, Dims: dims, Data: make([]float32, 60*dims)}
		for i := range v.Samples {
			for k := range dims {
				v.Row(i)[k] = float32(random.NormFloat64())
			}
			v.Row(i)[0] += 1e5 // far from 0
			v.Row(i)[1] = 7    // of one value
			v.Row(i)[2] *= 1e-20
			v.Row(i)[3] *= 1e12
		}
		return v
	}
	for _, v := range []*view.View{normal(5), normal(41), poisson(60, 70, random)} {
		dims := v.Dims
		for _, scale := range []view.Scale{view.NoScale, view.MinMax, view.Mixed} {
			scaler, err := v.Scaler(t.Context(), scale, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := v.Row(7)[1]
			v.Row(7)[1] = 9 // a later row, of another value there
			unit := func(i int) []float32 {
				to := make([]float32, scale.Dims(dims))
				scaler.Unit(to, make([]float64, len(to)), v.Row(i), view.Lengths{})
				return to
			}
			l, refused := scaler.Linear(dims), 0
			var a, b view.LinearRow
			for i := range v.Samples {
				x, right := unit(i), l.Row(&a, v.Row(i))
				for j := range v.Samples {
					want := 0.0
					for k, y := range unit(j) {
						want += float64(x[k]) * float64(y)
					}
					if !l.Row(&b, v.Row(j)) || !right {
						refused++
						continue
					}
					got := product(&a, &b)
					if !(math.Abs(got-want) < 1e-6) {
						t.Fatalf("%d dimensions, %v: rows %d and %d have the product %v, want %v", dims, scale, i, j, got, want)
					}
				}
			}
			v.Row(7)[1] = before
			if refused > v.Samples*v.Samples/10 {
				t.Errorf("%d dimensions, %v: %d products must be those of scaled rows", dims, scale, refused)
			}
		}
	}
}

// product is that of two rows which Linear has taken apart.
func product(x, y *view.LinearRow) float64 {
	all, d := 0.0, len(x.T)
	for r := range len(y.V) / d {
		sum := y.Constants[r]
		for k, t := range x.T {
			sum += float64(t) * float64(y.V[r*d+k])
		}
		all += x.Weights[r] * y.Weights[r] * sum
	}
	return all
}

// A row that is so long or short that products leave float32 is to be scaled.
func TestLinearFar(t *testing.T) {
	for factor, right := range map[float64]bool{1: true, 1e-14: true, 1e14: true, 1e-20: false, 1e20: false, 1e-30: false, 1e35: false} {
		v := &view.View{Name: "v", Samples: 3, Dims: 40, Data: make([]float32, 3*40)}
		for k := range v.Data {
			v.Data[k] = float32(factor * float64(1+k%7))
		}
		scaler, err := v.Scaler(t.Context(), view.NoScale, nil)
		if err != nil {
			t.Fatal(err)
		}
		var row view.LinearRow
		if scaler.Linear(40).Row(&row, v.Row(0)) != right {
			t.Errorf("values around %v: the row is to be scaled: %v", factor, right)
		}
		if got := product(&row, &row); right && !(math.Abs(got-1) < 1e-6) {
			t.Errorf("values around %v: the product of a row with itself is %v", factor, got)
		}
	}
}

// Products of many dimensions are as right as those of few.
func TestLinearWide(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	v := &view.View{Name: "v", Samples: 40, Dims: 30_000, Data: make([]float32, 40*30_000)}
	for k := range v.Data {
		v.Data[k] = float32(3 + random.NormFloat64())
	}
	scaler, err := v.Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := scaler.Linear(v.Dims)
	for i := range v.Samples {
		var row view.LinearRow
		if !l.Row(&row, v.Row(i)) {
			t.Fatalf("row %d is to be scaled", i)
		}
		if got := product(&row, &row); !(math.Abs(got-1) < 3e-7) {
			t.Errorf("the product of row %d with itself is %v", i, got)
		}
	}
}

// A row of zeros has no weight, nor has a version that is left out.
func TestLinearOfNothing(t *testing.T) {
	v := &view.View{Name: "v", Samples: 3, Dims: 40, Data: make([]float32, 3*40)}
	for k := range 40 {
		v.Row(1)[k], v.Row(2)[k] = float32(k), float32(k*k)
	}
	scaler, err := v.Scaler(t.Context(), view.NoScale, nil)
	if err != nil {
		t.Fatal(err)
	}
	var row view.LinearRow
	if !scaler.Linear(40).Row(&row, v.Row(0)) || row.Weights != [3]float64{} {
		t.Errorf("a row of zeros has the weights %v", row.Weights)
	}
	if scaler, err = v.Scaler(t.Context(), view.Mixed, nil); err != nil {
		t.Fatal(err)
	}
	if scaler.Linear(40).Row(&row, v.Row(0)) {
		t.Error("a row of zeros among others has the version of a row")
	}
	scaler.Weights[1] = 0
	scaler.Linear(40).Row(&row, v.Row(2))
	if weights := row.Weights; weights[1] != 0 || weights[0] == 0 || weights[2] == 0 {
		t.Errorf("the weights are %v", weights)
	}
}

func BenchmarkLinear(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	v := &view.View{Name: "v", Samples: 1000, Dims: 128, Data: make([]float32, 1000*128)}
	for k := range v.Data {
		v.Data[k] = float32(random.NormFloat64())
	}
	scaler, err := v.Scaler(b.Context(), view.Mixed, nil)
	if err != nil {
		b.Fatal(err)
	}
	l, unit := scaler.Linear(128), make([]float32, view.Mixed.Dims(128))
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		var row view.LinearRow
		for i := 0; b.Loop(); i++ {
			l.Row(&row, v.Row(i%1000))
		}
	})
	b.Run("scaled", func(b *testing.B) {
		b.ReportAllocs()
		wide := make([]float64, len(unit))
		for i := 0; b.Loop(); i++ {
			scaler.Unit(unit, wide, v.Row(i%1000), view.Lengths{})
		}
	})
}
