package constraint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/sparse"
)

// TestTogether holds what is moved together: groups, but for what exclusions and clusters keep
// apart, and what must-links join to them.
func TestTogether(t *testing.T) {
	groups := []int32{0, 0, 0, 3, 3, 5}
	for name, c := range map[string]struct {
		set    Set
		labels []int
		want   []int32
	}{
		"groups alone":         {want: []int32{0, 0, 0, 3, 3, 5}},
		"a must-link":          {set: Set{MustLink: [][2]int{{2, 5}}}, want: []int32{0, 0, 0, 3, 3, 0}},
		"two groups linked":    {set: Set{MustLink: [][2]int{{1, 4}}}, want: []int32{0, 0, 0, 0, 0, 5}},
		"a cannot-link within": {set: Set{CannotLink: [][2]int{{0, 2}}}, want: []int32{0, 0, 2, 3, 3, 5}},
		"one outside":          {set: Set{CannotLink: [][2]int{{0, 5}}}, want: []int32{0, 0, 0, 3, 3, 5}},
		"one through a link":   {set: Set{MustLink: [][2]int{{1, 5}}, CannotLink: [][2]int{{0, 5}}}, want: []int32{0, 1, 0, 3, 3, 1}},
		"distinct samples":     {set: Set{Distinct: []int{7, 7, 7, -1, 7, -1}}, want: []int32{0, 1, 2, 3, 3, 5}},
		"clusters":             {labels: []int{1, 0, 1, 2, 2, 2}, want: []int32{0, 1, 0, 3, 3, 5}},
		"clusters of two":      {labels: []int{1, 0, 0, 2, 2, 2}, want: []int32{0, 1, 1, 3, 3, 5}},
		"new samples":          {labels: []int{1, 0, -1, 2, -1, -1}, want: []int32{0, 1, 0, 3, 3, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.set.Resolve(len(groups))
			if err != nil {
				t.Fatal(err)
			}
			joined := r.Together(groups, c.labels)
			if got, any := joined.Nodes(); !any || !slices.Equal(got, c.want) {
				t.Errorf("%v are moved together, want %v", got, c.want)
			}
			if err := joined.Check(len(groups)); err != nil {
				t.Error(err)
			}
			if err := joined.Check(len(groups) + 1); err == nil {
				t.Error("no error for another number of samples")
			}
			if joined.Count() != r.Count() {
				t.Errorf("%+v constraints, before %+v", joined.Count(), r.Count())
			}
			if nodes, _ := r.Nodes(); r != nil && !slices.Equal(nodes, r.Component) {
				t.Error("what is moved together has changed in the argument")
			}
		})
	}
	if r := (*Resolved)(nil).Together(nil, nil); r != nil {
		t.Errorf("no groups make the constraints %+v", r)
	}
}

// TestTogetherRandom holds of random constraints and groups that no two members of an exclusion
// are moved together, that must-links are, and that the numbers of the samples do not matter.
func TestTogetherRandom(t *testing.T) {
	const n = 40
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		set, groups := Set{}, make([]int32, n)
		for i := range groups {
			groups[i] = int32(i)
			if g := random.IntN(n); g < i {
				groups[i] = groups[g]
			}
		}
		for range random.IntN(20) {
			if a, b := random.IntN(n), random.IntN(n); a != b {
				if random.IntN(2) == 0 {
					set.MustLink = append(set.MustLink, [2]int{a, b})
				} else {
					set.CannotLink = append(set.CannotLink, [2]int{a, b})
				}
			}
		}
		r, err := set.Resolve(n)
		if err != nil {
			continue // they contradict each other
		}
		joined := r.Together(groups, nil)
		nodes, _ := joined.Nodes()
		for _, p := range set.CannotLink {
			if nodes[p[0]] == nodes[p[1]] {
				t.Fatalf("seed %d: samples %v, which cannot be together, are moved together", seed, p)
			}
		}
		for _, p := range set.MustLink {
			if nodes[p[0]] != nodes[p[1]] {
				t.Fatalf("seed %d: samples %v, which must be together, are not", seed, p)
			}
		}
		if len(set.CannotLink) == 0 {
			for i, g := range groups {
				if nodes[i] != nodes[g] {
					t.Fatalf("seed %d: sample %d is not with its group", seed, i)
				}
			}
		}
		order := sparse.Permutation(random.Perm(n))
		moved, _ := joined.Gather(order).Nodes()
		for i, a := range order {
			for k, b := range order {
				if (moved[i] == moved[k]) != (nodes[a] == nodes[b]) {
					t.Fatalf("seed %d: samples %d and %d are no longer what they were to each other", seed, a, b)
				}
			}
		}
	}
}

// TestTogetherIsNoEvidence holds that groups change no probability.
func TestTogetherIsNoEvidence(t *testing.T) {
	g, _ := drawGraph(rand.New(rand.NewPCG(1, 1)), 12)
	groups := make([]int32, g.Samples())
	only := (*Resolved)(nil).Together(groups, nil)
	clamped, err := only.Clamp(t.Context(), g, 1)
	if err != nil || clamped != g {
		t.Errorf("the graph is another one, %v", err)
	}
	propagated, err := only.Propagate(t.Context(), g, 1)
	if err != nil || propagated != g {
		t.Errorf("the graph is another one, %v", err)
	}
}
