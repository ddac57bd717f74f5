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
	for _, dims := range []int{5, 41} {
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
		for _, scale := range []view.Scale{view.NoScale, view.MinMax, view.Mixed} {
			scaler, err := v.Scaler(t.Context(), scale, nil)
			if err != nil {
				t.Fatal(err)
			}
			v.Row(7)[1] = 9 // a later row, of another value there
			unit := func(i int) []float32 {
				to := make([]float32, scale.Dims(dims))
				scaler.Unit(to, make([]float64, len(to)), v.Row(i), view.Lengths{})
				return to
			}
			l, refused := scaler.Linear(dims), 0
			q, c := make([]float32, l.Versions()*dims), make([]float32, l.Versions())
			for i := range v.Samples {
				x := unit(i)
				l.Prepare(q, c, x)
				for j := range v.Samples {
					want := 0.0
					for k, y := range unit(j) {
						want += float64(x[k]) * float64(y)
					}
					row, weights, got := make([]float32, dims), [3]float32{}, 0.0
					if !l.Row(row, &weights, v.Row(j)) {
						refused++
						continue
					}
					for r := range l.Versions() {
						sum := float64(c[r])
						for k, y := range row {
							sum += float64(q[r*dims+k]) * float64(y)
						}
						got += float64(weights[r]) * sum
					}
					if !(math.Abs(got-want) < 1e-6) {
						t.Fatalf("%d dimensions, %v: rows %d and %d have the product %v, want %v", dims, scale, i, j, got, want)
					}
				}
			}
			v.Row(7)[1] = 7
			if refused > v.Samples*v.Samples/10 {
				t.Errorf("%d dimensions, %v: %d products must be those of scaled rows", dims, scale, refused)
			}
		}
	}
}

// A row that is so long or short that products leave float32 is to be scaled.
func TestLinearFar(t *testing.T) {
	for factor, right := range map[float64]bool{1: true, 1e-20: true, 1e20: true, 1e-30: false, 1e35: false} {
		v := &view.View{Name: "v", Samples: 3, Dims: 40, Data: make([]float32, 3*40)}
		for k := range v.Data {
			v.Data[k] = float32(factor * float64(1+k%7))
		}
		scaler, err := v.Scaler(t.Context(), view.NoScale, nil)
		if err != nil {
			t.Fatal(err)
		}
		unit, to, weights := make([]float32, 40), make([]float32, 40), [3]float32{}
		scaler.Unit(unit, make([]float64, 40), v.Row(0), view.Lengths{})
		l, constants := scaler.Linear(40), make([]float32, 1)
		q := make([]float32, 40)
		l.Prepare(q, constants, unit)
		if l.Row(to, &weights, v.Row(0)) != right {
			t.Errorf("values around %v: the row is to be scaled: %v", factor, right)
		}
		sum := float32(0)
		for k := range q {
			sum += q[k] * to[k]
		}
		if got := weights[0] * (sum + constants[0]); right && !(math.Abs(float64(got)-1) < 1e-6) {
			t.Errorf("values around %v: the product of a row with itself is %v", factor, got)
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
	var weights [3]float32
	if !scaler.Linear(40).Row(make([]float32, 40), &weights, v.Row(0)) || weights != [3]float32{} {
		t.Errorf("a row of zeros has the weights %v", weights)
	}
	if scaler, err = v.Scaler(t.Context(), view.Mixed, nil); err != nil {
		t.Fatal(err)
	}
	if scaler.Linear(40).Row(make([]float32, 40), &weights, v.Row(0)) {
		t.Error("a row of zeros among others has the version of a row")
	}
	scaler.Weights[1] = 0
	scaler.Linear(40).Row(make([]float32, 40), &weights, v.Row(2))
	if weights[1] != 0 || weights[0] == 0 || weights[2] == 0 {
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
	l, to, unit := scaler.Linear(128), make([]float32, 128), make([]float32, view.Mixed.Dims(128))
	b.Run("row", func(b *testing.B) {
		b.ReportAllocs()
		var weights [3]float32
		for i := 0; b.Loop(); i++ {
			l.Row(to, &weights, v.Row(i%1000))
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
