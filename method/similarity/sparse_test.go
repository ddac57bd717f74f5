package similarity_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// words returns a view of counts, mostly zeros; some samples lack it or have none.
func words(t *testing.T, samples, dims int) *view.View {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]float32, samples*dims)
	for i := range samples {
		row := data[i*dims : (i+1)*dims]
		for k := range row {
			switch {
			case i%9 == 4:
				row[k] = float32(math.NaN())
			case i%10 != 3 && random.IntN(25) == 0:
				row[k] = float32(1 + random.IntN(5))
			}
		}
	}
	v, err := view.New("words", samples, dims, data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A space that compares what is not 0 says what one says that makes all rows, and All says what Similarity says.
func TestSparse(t *testing.T) {
	v := words(t, 120, 90)
	whole, err := v.Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	order := sparse.Permutation(rand.New(rand.NewPCG(3, 4)).Perm(v.Samples))
	for _, version := range whole.Versions() {
		scaler, err := whole.Only(version)
		if err != nil {
			t.Fatal(err)
		}
		want, err := similarity.Lazy(t.Context(), v, scaler, order, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := similarity.Sparse(t.Context(), v, scaler, order, 2)
		if err != nil || got == nil {
			t.Fatal(got, err)
		}
		if !got.Sparse() || want.Sparse() || !(got.Work() > 0) {
			t.Errorf("sparse: %v, lazy: %v, work %v", got.Sparse(), want.Sparse(), got.Work())
		}
		if got.Count() != want.Count() || got.Zero != want.Zero || got.FirstZero != want.FirstZero || got.Dims != want.Dims {
			t.Fatalf("%v: %d rows, %d zeros from %d; want %d, %d, %d", version, got.Count(), got.Zero, got.FirstZero, want.Count(), want.Zero, want.FirstZero)
		}
		kept, err := got.Kept(t.Context(), 1)
		if err != nil || kept.Sparse() || math.Abs(float64(kept.Similarity(0, 1)-got.Similarity(0, 1))) > 1e-5 {
			t.Errorf("sparse: %v; %v", kept.Sparse(), err)
		}
		scales, others := make([]float32, v.Samples), make([]int32, v.Samples)
		for i := range scales {
			scales[i], others[i] = float32(1+i%3), int32(i)
		}
		a, b := make([]float32, v.Samples), make([]float32, v.Samples)
		for i := range v.Samples {
			for _, scaled := range []bool{false, true} {
				x, y := got, want
				if scaled {
					x, y = x.WithLocalScales(scales), y.WithLocalScales(scales)
				}
				x.Similarities(a, i, others)
				y.Similarities(b, i, others)
				for j := range a {
					if math.IsNaN(float64(a[j])) != math.IsNaN(float64(b[j])) || math.Abs(float64(a[j]-b[j])) > 1e-5 {
						t.Fatalf("%v: samples %d and %d: %v, want %v", version, i, j, a[j], b[j])
					}
				}
			}
		}
		for r := range got.Count() {
			got.All(a, r)
			if !slices.Equal(got.Row(r), want.Row(r)) {
				t.Fatalf("%v: row %d", version, r)
			}
			for u := range got.Count() {
				if x := got.Similarity(got.Sample(r), got.Sample(u)); x != a[u] {
					t.Fatalf("%v: rows %d and %d: %v of all, %v alone", version, r, u, a[u], x)
				}
			}
		}
	}
}

// One row, or none with words, is refused as a view, and taken as a part of one.
func TestSparsePart(t *testing.T) {
	v := words(t, 40, 90)
	scaler, err := v.Scaler(t.Context(), view.Mixed, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := v.Part(0, 1)
	if _, err := similarity.Sparse(t.Context(), one, scaler, nil, 1); err == nil {
		t.Error("a single row was taken")
	} else if _, ok := errors.AsType[*view.InputError](err); !ok {
		t.Error(err)
	}
	space, err := similarity.SparsePart(t.Context(), one, scaler, 1)
	if err != nil || space.Count() != 1 {
		t.Fatal(space, err)
	}
	full := &view.View{Name: "full", Samples: 2, Dims: 90, Data: slices.Repeat([]float32{1, 2}, 90)}
	if space, err := similarity.Sparse(t.Context(), full, scaler, nil, 1); space != nil || err != nil {
		t.Error(space, err)
	}
}
