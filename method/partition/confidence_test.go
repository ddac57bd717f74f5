package partition

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

// confidence transcribes the formula for one sample.
func confidence(g *graph.Graph, labels []int, i int) float64 {
	q := map[int]float64{}
	wrong := 1.0
	for j := range labels {
		p, ok := g.Between(i, j)
		if !ok {
			continue
		}
		q[labels[j]] += float64(p)
		if labels[j] == labels[i] {
			wrong *= 1 - float64(p)
		}
	}
	own, next := q[labels[i]], 0.0
	for c, sum := range q {
		if c != labels[i] {
			next = max(next, sum)
		}
	}
	if own+next == 0 {
		return 0
	}
	return (1 - wrong) * max(0, (own-next)/(own+next))
}

func TestConfidenceFormula(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			n := 1 + r.IntN(40)
			g := random(t, r, n, r.Float64(), weight)
			labels := make([]int, n)
			for i := range labels {
				labels[i] = r.IntN(1 + n/4)
			}
			before := slices.Clone(labels)
			all, err := Confidence(g, labels)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range all {
				if want := confidence(g, labels, i); !(math.Abs(got-want) <= 1e-12) {
					t.Fatalf("%s: sample %d: %v, want %v", kind, i, got, want)
				}
				if !(got >= 0 && got <= 1) {
					t.Fatalf("%s: sample %d: %v is outside [0, 1]", kind, i, got)
				}
			}
			if !slices.Equal(labels, before) {
				t.Fatal("the labels have changed")
			}
		}
	}
}

func TestConfidenceByHand(t *testing.T) {
	// Samples 0, 1, 2 make a cluster, 3 and 4 another, and 5 is alone.
	labels := []int{0, 0, 0, 1, 1, 2}
	links := map[[2]int]float64{
		{0, 1}: 0.5, {0, 2}: 0.5, // 0 has no other links
		{1, 3}: 0.25,               // 1 is drawn to the other cluster as well
		{2, 3}: 0.25, {2, 4}: 0.25, // 2 as much to either
		{3, 4}: 0.375, // 3 more to the first cluster
		{4, 5}: 0.125, // 5 has links, but not into its cluster
	}
	g := build(t, 6, func(i, j int) float64 {
		if p, ok := links[[2]int{i, j}]; ok {
			return p
		}
		return -1
	})
	want := []float64{
		1 - 0.5*0.5,
		0.5 * (0.5 - 0.25) / (0.5 + 0.25),
		0,
		0, // 0.375 against 0.25 + 0.25
		0.375 * (0.375 - 0.25) / (0.375 + 0.25),
		0,
	}
	all, err := Confidence(g, labels)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range all {
		if !(math.Abs(got-want[i]) <= 1e-15) {
			t.Errorf("sample %d: %v, want %v", i, got, want[i])
		}
	}
}

// TestConfidenceExtremes has certain links into one cluster, no samples, and
// samples without any link.
func TestConfidenceExtremes(t *testing.T) {
	sure := build(t, 4, func(_, _ int) float64 { return 1 })
	if got := confident(t, sure, []int{0, 0, 0, 0}); !slices.Equal(got, []float64{1, 1, 1, 1}) {
		t.Errorf("certain links give %v", got)
	}
	if got := confident(t, sure, []int{0, 1, 2, 3}); !slices.Equal(got, make([]float64, 4)) {
		t.Errorf("samples that are alone have %v", got)
	}
	if got := confident(t, sure, []int{0, 1, 0, 1}); got[0] != 0 {
		t.Errorf("one certain link against two gives %v", got)
	}
	none := build(t, 3, func(_, _ int) float64 { return -1 })
	if got := confident(t, none, []int{0, 0, 0}); !slices.Equal(got, make([]float64, 3)) {
		t.Errorf("no links give %v", got)
	}
	if got := confident(t, build(t, 0, nil), nil); len(got) != 0 {
		t.Errorf("no samples give %v", got)
	}
}

// confident is Confidence of what it can take.
func confident(t *testing.T, g *graph.Graph, labels []int) []float64 {
	t.Helper()
	c, err := Confidence(g, labels)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
