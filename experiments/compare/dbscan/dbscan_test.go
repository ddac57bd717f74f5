package dbscan

import (
	"math"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestCluster(t *testing.T) {
	in, truth := systemtest.Input(t, System(), 160, 4, 2, 0.15, 0)
	in.Settings = system.Settings{"points": 4, "share": 0.9}
	systemtest.Finds(t, System(), in, truth, 0.85)
	in, truth = systemtest.Input(t, System(), 160, 4, 2, 0.15, 0.2)
	systemtest.Finds(t, System(), in, truth, 0.5)
}

// Points on a line: two dense runs, a border on the right of the second, and noise.
func TestGrow(t *testing.T) {
	places := []float64{0, 1, 2, 10, 11, 12, 13, 50}
	near := func(i, j int) bool { return math.Abs(places[i]-places[j]) <= 1 }
	core := func(i int) bool {
		count := 0
		for j := range places {
			if near(i, j) {
				count++
			}
		}
		return count >= 3
	}
	labels := grow(len(places), core, near)
	if !slices.Equal(labels, []int{0, 0, 0, 1, 1, 1, 1, 2}) {
		t.Errorf("the labels are %v", labels)
	}
	// No two cores within the radius are apart, and every cluster of more than one has a core.
	for i := range places {
		for j := range places {
			if core(i) && core(j) && near(i, j) && labels[i] != labels[j] {
				t.Errorf("the cores %d and %d are apart", i, j)
			}
		}
	}
}

func TestRadius(t *testing.T) {
	reach := []float64{9, 1, 1.1, 1.2, 1.3, 8}
	if got := radius(reach, 0); got != 1.3 {
		t.Errorf("the knee is %v", got)
	}
	if got := radius(reach, 0.5); got != 1.3 {
		t.Errorf("the median is %v", got)
	}
	if got := radius([]float64{2, 2}, 0); got != 2 {
		t.Errorf("of equal ones: %v", got)
	}
}
