package mvclust_test

import (
	"testing"

	"github.com/mvclust/mvclust"
)

// TestEqualRowsStayTogether clusters so many rows of two values that the neighbours are
// searched approximately, in one view and in two.
func TestEqualRowsStayTogether(t *testing.T) {
	const n = 31_000
	for views := 1; views <= 2; views++ {
		given := []*mvclust.View{
			{Name: "value", Samples: n, Dims: 1, Data: make([]float32, n)},
			{Name: "again", Samples: n, Dims: 2, Data: make([]float32, 2*n)},
		}[:views]
		for i := range n {
			value := float32(i * 7919 % n % 2)
			for _, v := range given {
				for k := range v.Row(i) {
					v.Row(i)[k] = value + float32(k)
				}
			}
		}
		r, err := mvclust.Fit(t.Context(), given, mvclust.Options{Neighbours: 10, Resolution: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Sizes) != 2 {
			t.Errorf("%d views: clusters of %v samples, want two", views, r.Sizes)
		}
		labels := map[float32]int{}
		for i, label := range r.Labels {
			value := given[0].Row(i)[0]
			if other, ok := labels[value]; ok && other != label {
				t.Fatalf("%d views: sample %d has the label %d, an equal one %d", views, i, label, other)
			}
			labels[value] = label
		}
	}
}
