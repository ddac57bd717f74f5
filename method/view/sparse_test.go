package view_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

// sparseView returns a view of which about one value in twenty is not 0; some samples lack it, have no words or the same
// row as the one before, and one feature is the same everywhere.
func sparseView(samples, dims int, counts bool, seed uint64) *view.View {
	random := rand.New(rand.NewPCG(seed, 0))
	v := &view.View{Name: "words", Samples: samples, Dims: dims, Data: make([]float32, samples*dims), Present: make([]bool, samples)}
	for i := range samples {
		v.Present[i] = i%11 != 3
		row := v.Row(i)
		switch {
		case i%17 == 5:
		case i%13 == 4:
			copy(row, v.Row(i-1))
		default:
			for range max(1, dims/20) {
				x := float32(random.NormFloat64())
				if counts {
					x = float32(1 + random.IntN(4))
				}
				row[random.IntN(dims)] = x
			}
		}
		row[dims-1] = 2
	}
	return v
}

// Products by what two rows have in common are those of the rows as Unit makes them, and the same to the last bit in
// either direction and for all at once.
func TestSparse(t *testing.T) {
	for _, dims := range []int{30, 60, 400} { // with constants, and without
		for _, counts := range []bool{false, true} {
			v := sparseView(150, dims, counts, uint64(dims))
			whole, err := v.Scaler(t.Context(), view.Mixed, nil)
			if err != nil {
				t.Fatal(err)
			}
			if whole.Log != counts {
				t.Fatalf("%d dimensions: counts are told as %v", dims, whole.Log)
			}
			for _, version := range whole.Versions() {
				scaler, err := whole.Only(version)
				if err != nil {
					t.Fatal(err)
				}
				apart, err := scaler.Sparse(t.Context(), v, 2)
				if err != nil || apart == nil {
					t.Fatalf("%d dimensions, %v: %v, %v", dims, version, apart, err)
				}
				checkSparse(t, v, scaler, apart)
			}
		}
	}
}

func checkSparse(t *testing.T, v *view.View, scaler *view.Scaler, apart *view.Sparse) {
	t.Helper()
	d := scaler.Scale.Dims(v.Dims)
	rows, wide := make([][]float32, v.Samples), make([]float64, d)
	for i := range rows {
		rows[i] = make([]float32, d)
		length := 0.0
		if v.Has(i) {
			length = scaler.Unit(rows[i], wide, v.Row(i), view.Lengths{}).Norm
		}
		if apart.Zero(i) != (length == 0) {
			t.Fatalf("row %d of length %v: zero is %v", i, length, apart.Zero(i))
		}
	}
	var x, y view.Spread
	to, common := make([]float32, v.Samples), make([][3]float64, v.Samples)
	for i := 0; i < v.Samples; i += 7 {
		apart.Spread(&x, i)
		apart.Products(to, common, i)
		for j := range v.Samples {
			want := 0.0
			for k, a := range rows[i] {
				want += float64(a) * float64(rows[j][k])
			}
			got := x.Product(j)
			if math.Abs(got-want) > 2e-6 {
				t.Fatalf("rows %d and %d: %v, want %v", i, j, got, want)
			}
			if float32(got) != to[j] {
				t.Fatalf("rows %d and %d: %v alone, %v of all", i, j, got, to[j])
			}
			if apart.Spread(&y, j); y.Product(i) != got {
				t.Fatalf("rows %d and %d: %v, the other way round %v", i, j, got, y.Product(i))
			}
		}
	}
}

// Weights of a sparse view are those that products of whole rows give.
func TestSparseWeights(t *testing.T) {
	v := sparseView(120, 300, false, 1)
	got, err := v.Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := plainMixed(v)
	scaled, err := got.Apply(t.Context(), v, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Samples {
		for k, x := range scaled.Row(i) {
			if v.Has(i) && math.Abs(float64(x)-want[i][k]) > 1e-5 {
				t.Fatalf("row %d: value %d is %v, want %v", i, k, x, want[i][k])
			}
		}
	}
}

// Views that are not mostly zeros, or have a feature far from 0, are not taken apart.
func TestSparseNot(t *testing.T) {
	full := sparseView(40, 100, false, 2)
	for i := range full.Samples {
		for k := range 12 {
			full.Row(i)[k] = 1
		}
	}
	far := sparseView(40, 100, false, 2)
	for i := range far.Samples {
		far.Row(i)[99] = 1000 + float32(i%2)
	}
	for name, v := range map[string]*view.View{"full": full, "far": far} {
		scaler, err := v.Scaler(t.Context(), view.Mixed, nil)
		if err != nil {
			t.Fatal(err)
		}
		if apart, err := scaler.Sparse(t.Context(), v, 1); apart != nil || err != nil {
			t.Errorf("%s: %v, %v", name, apart, err)
		}
	}
	v := sparseView(40, 100, false, 2)
	if apart, err := (&view.Scaler{}).Sparse(t.Context(), v, 1); apart != nil || err != nil {
		t.Errorf("unscaled: %v, %v", apart, err)
	}
}

func BenchmarkSparseProducts(b *testing.B) {
	v := sparseView(2000, 3000, true, 3)
	scaler, err := v.Scaler(b.Context(), view.Mixed, nil)
	if err != nil {
		b.Fatal(err)
	}
	apart, err := scaler.Sparse(b.Context(), v, 1)
	if err != nil {
		b.Fatal(err)
	}
	to, common := make([]float32, v.Samples), make([][3]float64, v.Samples)
	b.ReportAllocs()
	for i := range b.N {
		apart.Products(to, common, i%v.Samples)
	}
}
