package selection

import (
	"math"
	"slices"
	"testing"
)

// partitionOf has the given number of clusters of equal size, as nearly as can be, and some
// samples alone.
func partitionOf(samples, clusters, alone int) []int32 {
	labels := make([]int32, samples)
	for i := range labels {
		labels[i] = int32(i % clusters)
		if i < alone {
			labels[i] = int32(clusters + i)
		}
	}
	return labels
}

func TestLadder(t *testing.T) {
	scores := []struct {
		clusters, alone int
		score           float64
		taken           bool
	}{
		{10, 0, 1, true}, {11, 0, 0.97, false}, {11, 40, 0.96, false}, {12, 0, 0.95, true}, {8, 0, 0.94, false}, {3, 0, 0.5, true}, {5, 0, 0.9, true},
		{25, 0, 0.8, true}, {24, 0, 0.85, true}, {60, 0, 0.24, false}, {2, 0, 0, false},
	}
	scores[7].taken = false // 24 comes first
	var candidates []Candidate
	var values []float64
	for _, x := range scores {
		candidates = append(candidates, Candidate{Clusters: x.clusters + x.alone, labels: partitionOf(400, x.clusters, x.alone)})
		values = append(values, x.score)
	}
	// 3 is within a factor of 2 of 5, which comes before it.
	scores[5].taken = false
	got := ladder(candidates, values, 0)
	for at, x := range scores {
		if slices.Contains(got, at) != x.taken {
			t.Errorf("%d clusters, %d alone, score %v: taken is %v", x.clusters, x.alone, x.score, !x.taken)
		}
	}
	if got[0] != 0 {
		t.Errorf("the first is %d", got[0])
	}
	if got := ladder(candidates, values, 10); got[0] != 10 {
		t.Errorf("the chosen one is not among %v", got)
	}
}

func TestSuitability(t *testing.T) {
	ten, five := partitionOf(100, 10, 0), partitionOf(100, 5, 0)
	if a, b := Suitability(ten, 0.5, 10, nil), Suitability(five, 0.5, 10, nil); a != 0.5 || b >= a {
		t.Errorf("10 clusters have %v and 5 have %v where 10 are wanted", a, b)
	}
	want := 0.5 * math.Exp(-math.Pow(math.Log(0.5)/0.35, 2)/2)
	if got := Suitability(five, 0.5, 10, nil); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	var examples []Example
	for i := range 40 {
		examples = append(examples, Example{i, i % 5})
	}
	if a, b := Suitability(five, 0.5, 0, examples), Suitability(ten, 0.5, 0, examples); math.Abs(a-math.Pow(0.5, 0.2)*math.Sqrt((140+2.4)/148*(40+2.4)/48)) > 1e-12 || b >= a {
		t.Errorf("the classes have %v, their halves %v", a, b)
	}
	var strangers []Example // of which no two are of one class: they tell that clusters are not as coarse
	for i := range 10 {
		strangers = append(strangers, Example{i, i})
	}
	if a, b := Suitability(five, 0.5, 0, strangers), Suitability(ten, 0.5, 0, strangers); a >= b || a <= 0 {
		t.Errorf("by examples of as many classes, 5 clusters have %v and 10 have %v", a, b)
	}
	if a, b := Suitability(five, 0.5, 0, strangers[:5]), Suitability(ten, 0.5, 0, strangers[:5]); a != b {
		t.Errorf("by five examples of as many classes, 5 clusters have %v and 10 have %v", a, b)
	}
	if got := Suitability([]int{0, -1}, 1, 1, nil); got != 0 {
		t.Errorf("a label below 0 has %v", got)
	}
	if got := Suitability(ten, 1, 0, []Example{{200, 0}}); got != 0 {
		t.Errorf("an example that is not there has %v", got)
	}
}

// Another level takes its place by its number of clusters, in the place of a level that is close, or of the nearest where
// there are as many as can be.
func TestPlace(t *testing.T) {
	of := func(clusters int) []int {
		labels := make([]int, 300)
		for i := range labels {
			labels[i] = i % clusters
		}
		return labels
	}
	for _, x := range []struct {
		have           []int
		keep, own      int
		gone, at, kept int
	}{
		{nil, -1, 5, -1, 0, -1},
		{[]int{2, 40}, 1, 10, -1, 1, 2},
		{[]int{2, 8, 40}, 2, 10, 1, 1, 2},
		{[]int{2, 8, 40}, 1, 10, -1, 2, 1},
		{[]int{2, 8, 40}, -1, 10, 1, 1, -1},
		{[]int{2, 8, 40}, 2, 3, 0, 0, 2},
		{[]int{2, 4, 8, 16, 32, 64, 128}, 6, 250, 5, 6, 5},
	} {
		var levels [][]int
		for _, n := range x.have {
			levels = append(levels, of(n))
		}
		if gone, at, kept := Place(levels, x.keep, of(x.own)); gone != x.gone || at != x.at || kept != x.kept {
			t.Errorf("%d clusters among %v, keeping %d: %d is gone, at %d, kept at %d, want %d, %d, %d", x.own, x.have, x.keep, gone, at, kept, x.gone, x.at, x.kept)
		}
	}
}
