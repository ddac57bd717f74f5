package system_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
)

func TestNearest(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{0, 1, 3, 3, 10})
	lists := system.Nearest(x, 2)
	for i, want := range [][]int32{{1, 2}, {0, 2}, {3, 1}, {2, 1}, {2, 3}} {
		if got := []int32{lists[i][0].Index, lists[i][1].Index}; !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", i, got, want)
		}
	}
	if got := len(system.Nearest(x, 9)[0]); got != 4 {
		t.Errorf("%d of 4", got)
	}
	for _, list := range system.Nearest(random(30, 2), 6) {
		w := system.Weights(list)
		systemtest.OnSimplex(t, w)
		if !slices.IsSortedFunc(w, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
			t.Errorf("the weights are %v", w)
		}
	}
}

func TestComponents(t *testing.T) {
	rows := []system.Row{{Index: []int32{3}, Value: []float64{1}}, {Index: []int32{2}, Value: []float64{0}}, {}, {}, {Index: []int32{2}, Value: []float64{0.5}}}
	labels, count := system.Components(5, rows)
	if count != 3 || !slices.Equal(labels, []int{0, 1, 2, 0, 2}) {
		t.Errorf("%d components, %v", count, labels)
	}
	both := system.Symmetric(rows)
	if !slices.Equal(both[2].Index, []int32{1, 4}) || !slices.Equal(both[2].Value, []float64{0, 0.25}) {
		t.Errorf("row 2 is %v", both[2])
	}
}

// The smoothest vectors of a graph of two parts are constant on each.
func TestSmoothest(t *testing.T) {
	rows := make([]system.Row, 40)
	for i := range rows {
		if i%20 < 19 {
			rows[i] = system.Row{Index: []int32{int32(i + 1)}, Value: []float64{2}}
		}
	}
	f, err := system.Smoothest(t.Context(), system.Symmetric(rows), 2, (&system.Input{}).Random())
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Orthonormal(t, f)
	for i := range rows {
		if first := i / 20 * 20; math.Abs(f.At(i, 0)-f.At(first, 0))+math.Abs(f.At(i, 1)-f.At(first, 1)) > 1e-3 {
			t.Errorf("row %d is %v, row %d is %v", i, f.RawRowView(i), first, f.RawRowView(first))
		}
	}
}
