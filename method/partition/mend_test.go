package partition

import (
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// twoCliques is a graph of samples 0 to 4 and 5 to 9, each linked to all of its half.
func twoCliques(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := graph.FromRows(t.Context(), 10, func(i int) (to []int32, w []float32) {
		for j := range 10 {
			if j != i && j/5 == i/5 {
				to, w = append(to, int32(j)), append(w, 0.9)
			}
		}
		return to, w
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Labels that meet the constraints stay, and others move no more samples than they must.
func TestMend(t *testing.T) {
	g := twoCliques(t)
	halves := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	for _, c := range []struct {
		name   string
		set    constraint.Set
		labels []int
		want   []int
	}{
		{"nothing is known", constraint.Set{}, halves, halves},
		{"met", constraint.Set{MustLink: [][2]int{{0, 1}}, CannotLink: [][2]int{{0, 9}}}, halves, halves},
		{"together", constraint.Set{MustLink: [][2]int{{0, 9}, {9, 8}}}, halves, []int{0, 1, 1, 1, 1, 0, 0, 0, 0, 0}},
		{"apart", constraint.Set{CannotLink: [][2]int{{5, 9}}}, halves, []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 2}},
		{"one cluster for two", constraint.Set{CannotLink: [][2]int{{0, 9}}}, []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, nil},
	} {
		known, err := c.set.Resolve(10)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Mend(t.Context(), g, 0.5, known, Settings{}, c.labels, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if pair, broken := known.Violation(found.Labels); broken {
			t.Errorf("%s: %v has %v", c.name, found.Labels, pair)
		}
		if c.want == nil {
			continue
		}
		alike := true
		for i := range c.want {
			for j := range c.want {
				alike = alike && (c.want[i] == c.want[j]) == (found.Labels[i] == found.Labels[j])
			}
		}
		if !alike {
			t.Errorf("%s: %v, want %v", c.name, found.Labels, c.want)
		}
	}
	if _, err := Mend(t.Context(), g, 0.5, nil, Settings{}, halves[1:], rand.New(rand.NewPCG(1, 2))); err == nil {
		t.Error("labels of other samples are taken")
	}
	if _, err := Mend(t.Context(), g, 0.5, nil, Settings{}, halves, nil); err == nil {
		t.Error("there are no random numbers")
	}
}
