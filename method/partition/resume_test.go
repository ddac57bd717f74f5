package partition

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

// cliques returns a graph of groups of five samples that are all linked, by 0.9 within a
// group, and by between to the five of the group before.
func cliques(between []float32) *graph.Graph {
	n := 5 * len(between)
	g := &graph.Graph{Offsets: []int{0}}
	for i := range n {
		for j := range n {
			w := float32(0)
			switch a, b := i/5, j/5; {
			case a == b && i != j:
				w = 0.9
			case a == b+1:
				w = between[a]
			case b == a+1:
				w = between[b]
			}
			if w > 0 {
				g.Index, g.Weight = append(g.Index, int32(j)), append(g.Weight, w)
			}
		}
		g.Offsets = append(g.Offsets, len(g.Index))
	}
	return g
}

// Only what is touched, and what that leads to, moves.
func TestResume(t *testing.T) {
	// The first two groups are one, and so are the last two; nobody has told either.
	g := cliques([]float32{0, 0.9, 0, 0.9})
	start := []int{4, 4, 4, 4, 4, 7, 7, 7, 7, 7, 2, 2, 2, 2, 2, 9, 9, 9, 9, 9}
	for name, c := range map[string]struct {
		touched []int
		want    []int
	}{
		"nothing":         {nil, []int{0, 1, 2, 3}},
		"one sample":      {[]int{6}, []int{0, 0, 1, 2}},
		"two far samples": {[]int{6, 19}, []int{0, 0, 1, 1}},
	} {
		for _, levels := range []int{1, 5} {
			touched := make([]bool, 20)
			for _, i := range c.touched {
				touched[i] = true
			}
			before := slices.Clone(touched)
			set := Settings{Levels: levels}
			found, err := Resume(t.Context(), g, 0.5, nil, set, start, touched, rand.New(rand.NewPCG(1, 1)), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for group := range 4 {
				got = append(got, found.Labels[5*group])
			}
			// Moved one by one, two equal cliques are one as well.
			if !slices.Equal(Number(got), Number(c.want)) {
				t.Errorf("%s, %d levels: groups are in clusters %v, want %v", name, levels, got, c.want)
			}
			if !slices.Equal(touched, before) {
				t.Errorf("%s: the caller's marks have changed", name)
			}
		}
	}
}

// Samples that are alone find their clusters, and those of a new class one of their own.
func TestResumeNewSamples(t *testing.T) {
	g := cliques([]float32{0, 0, 0})
	start := []int{0, 0, 0, -1, -1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1}
	touched := make([]bool, 15)
	for i, l := range start {
		touched[i] = l < 0
	}
	found, err := Resume(t.Context(), g, 1, nil, Settings{}, start, touched, rand.New(rand.NewPCG(1, 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2}; !slices.Equal(found.Labels, want) {
		t.Errorf("labels %v, want %v", found.Labels, want)
	}
}

// The objective that is carried along is that of the partition.
func TestResumeObjective(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		n := 5 + r.IntN(40)
		g := random(t, r, n, r.Float64(), func(r *rand.Rand) float64 { return r.Float64() })
		start, touched := make([]int, n), make([]bool, n)
		for i := range start {
			start[i], touched[i] = r.IntN(n)-1, r.IntN(2) == 0
		}
		set, resolution := Settings{Levels: 3}, 0.1+r.Float64()
		found, err := Resume(t.Context(), g, resolution, nil, set, start, touched, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, want := found.Sweeps[len(found.Sweeps)-1].Objective, modularity(g, found.Labels, resolution)
		if diff := got - want; diff > 1e-6 || diff < -1e-6 {
			t.Fatalf("the objective is %v, want %v", got, want)
		}
	}
}
