//go:build !race

package mvclust_test

import (
	"math"
	"testing"

	"github.com/mvclust/mvclust"
)

// TestRealLinks holds links to ten points above connected components: bibliographic references,
// and the pairs that are of one paper with a probability of at least 0.1 by the mean cosine of
// their fields.
func TestRealLinks(t *testing.T) {
	views, truth := realData(t, "CoraER_derived", nil)
	var links mvclust.Links
	number, known := map[int]int{}, []int(nil)
	enter := func(i int) int {
		n, ok := number[i]
		if !ok {
			n = len(known)
			number[i], known = n, append(known, truth[i])
		}
		return n
	}
	for i := range truth {
		for j := range i {
			if p := 1 / (1 + math.Exp(13.86-24.36*meanCosine(views, i, j))); p >= 0.1 {
				links.Pairs, links.Weights = append(links.Pairs, [2]int{enter(i), enter(j)}), append(links.Weights, p)
			}
		}
	}
	links.Probability = true
	v, err := mvclust.ViewFromLinks(t.Context(), "pairs", len(known), links)
	if err != nil {
		t.Fatal(err)
	}
	chained := bcubed(compare(t, known, components(len(known), links.Pairs)))
	found := bcubed(compare(t, known, fit(t, []*mvclust.View{v}, mvclust.Options{}).Labels))
	t.Logf("BCubed F %.1f, of connected components %.1f", found, chained)
	if !(found >= chained+10) {
		t.Errorf("BCubed F %.1f, where connected components have %.1f", found, chained)
	}
}

// meanCosine returns the mean over the views that both samples have.
func meanCosine(views []*mvclust.View, i, j int) float64 {
	sum, n := 0.0, 0.0
	for _, v := range views {
		ab, aa, bb := 0.0, 0.0, 0.0
		for k, x := range v.Row(i) {
			y := v.Row(j)[k]
			ab, aa, bb = ab+float64(x*y), aa+float64(x*x), bb+float64(y*y)
		}
		if aa > 0 && bb > 0 {
			sum, n = sum+ab/math.Sqrt(aa*bb), n+1
		}
	}
	return sum / max(1, n)
}

// components numbers the connected components.
func components(samples int, pairs [][2]int) []int {
	up := make([]int, samples)
	for i := range up {
		up[i] = i
	}
	root := func(i int) int {
		for up[i] != i {
			i = up[i]
		}
		return i
	}
	for _, p := range pairs {
		up[root(p[0])] = root(p[1])
	}
	labels := make([]int, samples)
	for i := range labels {
		labels[i] = root(i)
	}
	return labels
}
