package view_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float32
		absent bool // of the last row
		want   bool
	}{
		{"counts", []float32{0, 3, 0, 0, 1, 0}, false, true},
		{"half zeros", []float32{0, 3, 0, 2, 1, 0}, false, true},
		{"fewer zeros", []float32{0, 3, 5, 2, 1, 0}, false, false},
		{"marks", []float32{0, 1, 0, 0, 1, 0}, false, false},
		{"zeros", []float32{0, 0, 0, 0, 0, 0}, false, false},
		{"a share", []float32{0, 3, 0, 0, 0.5, 0}, false, false},
		{"below 0", []float32{0, 3, 0, 0, -1, 0}, false, false},
		{"a share in a row that is absent", []float32{0, 3, 0, 0, 0.5, 0}, true, true},
		{"large", []float32{0, math.MaxFloat32, 0, 0, 1, 0}, false, true},
	} {
		v := &view.View{Name: "v", Samples: 3, Dims: 2, Data: c.values}
		if c.absent {
			v.Present = []bool{true, true, false}
		}
		if got := v.Counts(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// poisson returns a view of small counts, most of them 0.
func poisson(samples, dims int, random *rand.Rand) *view.View {
	v := &view.View{Name: "counts", Samples: samples, Dims: dims, Data: make([]float32, samples*dims)}
	for k := range v.Data {
		for random.IntN(5) == 0 {
			v.Data[k] = 2*v.Data[k] + 1
		}
	}
	return v
}

// TestScaledCounts holds that counts are scaled as their logarithms are, under Mixed alone.
func TestScaledCounts(t *testing.T) {
	for _, dims := range []int{7, 50} {
		v := poisson(60, dims, rand.New(rand.NewPCG(1, 2)))
		logarithms := *v
		logarithms.Data = slices.Clone(v.Data)
		logarithms.Logarithms()
		if !v.Counts() || logarithms.Counts() {
			t.Fatal("counts are not told from their logarithms")
		}
		for _, scale := range []view.Scale{view.NoScale, view.MinMax, view.Mixed} {
			scaler, err := v.Scaler(t.Context(), scale, nil)
			if err != nil {
				t.Fatal(err)
			}
			if scaler.Log != (scale == view.Mixed) {
				t.Fatalf("%v: logarithms %v", scale, scaler.Log)
			}
			of := v
			if scaler.Log {
				of = &logarithms
			}
			got, want := scaled(t, v, scale), scaled(t, of, scale)
			for k, x := range got.Data {
				if !(math.Abs(float64(x-want.Data[k])) < 1e-5) {
					t.Fatalf("%d dimensions, %v: value %d is %v, want %v", dims, scale, k, x, want.Data[k])
				}
			}
		}
	}
}

// TestScaledLater holds that rows that are no counts are scaled by the scaler of counts, too: a later sample may have
// any value.
func TestScaledLater(t *testing.T) {
	v := poisson(60, 50, rand.New(rand.NewPCG(1, 3)))
	scaler, err := v.Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	later := &view.View{Name: "later", Samples: 2, Dims: 50, Data: make([]float32, 100)}
	for k := range later.Data {
		later.Data[k] = float32(k%7) - 2.5
	}
	later.Data[3], later.Data[4] = -math.MaxFloat32, math.MaxFloat32
	got, err := scaler.Apply(t.Context(), later, 1)
	if err != nil {
		t.Fatal(err)
	}
	to, wide := make([]float32, got.Dims), make([]float64, got.Dims)
	for i := range later.Samples {
		known := scaler.Unit(to, wide, later.Row(i), view.Lengths{})
		first := slices.Clone(to)
		scaler.Unit(to, wide, later.Row(i), known)
		if !slices.Equal(first, to) {
			t.Errorf("row %d is scaled in two ways", i)
		}
		for _, x := range got.Row(i) {
			if x-x != 0 {
				t.Errorf("row %d has the value %v", i, x)
			}
		}
	}
}
