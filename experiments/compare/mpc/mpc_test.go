package mpc

import (
	"math"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	for _, missing := range []float64{0, 0.3} {
		in, truth := systemtest.Input(t, System(), 150, 5, 3, 0.3, missing)
		systemtest.Finds(t, System(), in, truth, 0.9)
	}
}

// Each view's function rises from pairs that k-means parts to those that it does not, and its mean
// over the pairs is the base rate.
func TestFunctions(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 100, 4, 2, 0.5, 0)
	opt, err := options(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if opt.Neighbours != 25 {
		t.Errorf("%d neighbours of classes of 25", opt.Neighbours)
	}
	var pairs [][2]int32
	similarities := make([][]float32, 2)
	for i := range int32(100) {
		for j := range i {
			pairs = append(pairs, [2]int32{j, i})
			for v := range similarities {
				similarities[v] = append(similarities[v], cosine(in.Views[v].Row(int(i)), in.Views[v].Row(int(j))))
			}
		}
	}
	found, err := opt.Learner(t.Context(), pairs, similarities)
	if err != nil {
		t.Fatal(err)
	}
	for v, f := range found.ByView {
		if !slices.IsSorted(f.P) || f.P[0] > 0.1 || f.P[len(f.P)-1] < 0.9 {
			t.Errorf("view %d: the function is %v", v, f.P)
		}
		sum := 0.0
		for _, w := range similarities[v] {
			sum += f.At(float64(w)) / float64(len(pairs))
		}
		if math.Abs(sum-found.BaseRate[v]) > 0.02 {
			t.Errorf("view %d: the mean is %v, the base rate %v", v, sum, found.BaseRate[v])
		}
	}
}

func cosine(a, b []float32) float32 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return float32(ab / math.Sqrt(aa*bb))
}
