package compare

import (
	"math"
	"slices"
	"testing"
)

// The values of Demšar's table of critical values.
func TestStudentised(t *testing.T) {
	for k, want := range map[int]float64{2: 1.960, 3: 2.343, 5: 2.728, 10: 3.164} {
		if got := studentised(k); math.Abs(got-want) > 0.002 {
			t.Errorf("%d systems: %.4f, want %.3f", k, got, want)
		}
	}
}

func TestRank(t *testing.T) {
	r := rank([]string{"a", "b", "c"}, [][]float64{{1, 1, 1}, {3, 2, 5}, {2, 2, 4}})
	if !slices.Equal(r.systems, []string{"b", "c", "a"}) {
		t.Errorf("the order is %v", r.systems)
	}
	for i, want := range []float64{3.5 / 3, 5.5 / 3, 3} {
		if math.Abs(r.rank[i]-want) > 1e-12 {
			t.Errorf("the ranks are %v", r.rank)
		}
	}
	if want := studentised(3) * math.Sqrt(3*4/(6*3.0)); math.Abs(r.difference-want) > 1e-12 {
		t.Errorf("the critical difference is %v, want %v", r.difference, want)
	}
}

func TestCliques(t *testing.T) {
	for _, c := range []struct {
		rank       []float64
		difference float64
		want       [][2]int
	}{
		{[]float64{1, 2, 3, 4}, 1.5, [][2]int{{0, 1}, {1, 2}, {2, 3}}},
		{[]float64{1, 1.1, 3, 4}, 1.5, [][2]int{{0, 1}, {2, 3}}},
		{[]float64{1, 1.1, 1.2, 9}, 1.5, [][2]int{{0, 2}}},
		{[]float64{1, 5}, 1.5, nil},
	} {
		r := ranking{rank: c.rank, difference: c.difference}
		if got := r.cliques(); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.rank, got, c.want)
		}
	}
}
