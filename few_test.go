package mvclust_test

import (
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/structure"
	"github.com/mvclust/mvclust/score"
)

// plane returns samples in two dimensions, and their classes.
func plane(n, classes int, place func(class int, normal func() float64) (x, y float64)) (*mvclust.View, []int) {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	v, labels := &mvclust.View{Name: "plane", Samples: n, Dims: 2, Data: make([]float32, 0, 2*n)}, make([]int, n)
	for i := range labels {
		labels[i] = i % classes
		x, y := place(labels[i], random.NormFloat64)
		v.Data = append(v.Data, float32(x), float32(y))
	}
	return v, labels
}

// TestFewFeatures finds what the eye sees in a plane: clouds apart, also where some lie in one direction
// from the mean, and nothing in a single cloud.
func TestFewFeatures(t *testing.T) {
	for _, test := range []struct {
		name       string
		n, classes int
		place      func(class int, normal func() float64) (x, y float64)
		verdict    structure.Verdict
	}{
		{"three clouds", 300, 3, func(class int, normal func() float64) (float64, float64) {
			return 8*float64(class%2) + normal(), 8*float64(class/2) + normal()
		}, structure.Clear},
		{"three clouds on a line", 600, 3, func(class int, normal func() float64) (float64, float64) {
			return 12*float64(class) + normal(), 9*float64(class) + normal()
		}, structure.Clear},
		{"one cloud", 400, 1, func(_ int, normal func() float64) (float64, float64) { return normal(), normal() }, structure.None},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, truth := plane(test.n, test.classes, test.place)
			got := fit(t, []*mvclust.View{v}, mvclust.Options{})
			if got.Structure.Verdict < test.verdict || test.classes == 1 && got.Structure.Verdict != test.verdict {
				t.Errorf("%v, want %v", got.Structure, test.verdict)
			}
			if test.classes == 1 {
				return
			}
			table, err := score.Compare(truth, got.Labels)
			if err != nil {
				t.Fatal(err)
			}
			if table.ARI < 0.97 {
				t.Errorf("%d clusters, ARI %.3f", table.Clusters, table.ARI)
			}
		})
	}
}
