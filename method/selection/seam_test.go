package selection

import (
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/constraint"
)

// A cluster is taken apart where it first falls apart, if that separates what must not be
// together, and stays whole for one pair, or where the pairs lie across.
func TestOpened(t *testing.T) {
	whole := Candidate{Neighbours: 5, Resolution: 1, labels: []int32{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}}
	candidates := []Candidate{
		{Neighbours: 4, Resolution: 2, labels: []int32{0, 1, 0, 1, 0, 1, 0, 1, 2, 2, 2, 2}},
		whole,
		{Neighbours: 5, Resolution: 2, labels: []int32{0, 0, 0, 0, 0, 0, 0, 2, 1, 1, 1, 1}}, // a crumb
		{Neighbours: 5, Resolution: 3, labels: []int32{3, 3, 3, 3, 0, 0, 0, 2, 1, 1, 4, 4}},
		{Neighbours: 5, Resolution: 4, labels: []int32{3, 4, 3, 4, 0, 2, 0, 2, 1, 5, 1, 5}},
	}
	given := []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		pairs [][2]int
		want  []int
	}{
		"nothing":          {nil, given},
		"other clusters":   {[][2]int{{0, 8}, {1, 9}}, given},
		"one pair":         {[][2]int{{0, 4}}, given},
		"two pairs":        {[][2]int{{0, 4}, {1, 5}}, []int{2, 2, 2, 2, 3, 3, 3, 2, 1, 1, 1, 1}},
		"one of two holds": {[][2]int{{0, 4}, {1, 3}}, given},
		"three of four":    {[][2]int{{0, 4}, {1, 5}, {2, 6}, {1, 3}}, []int{2, 2, 2, 2, 3, 3, 3, 2, 1, 1, 1, 1}},
		"never apart":      {[][2]int{{8, 9}, {10, 11}}, given},
	} {
		set := constraint.Set{CannotLink: c.pairs, MustLink: [][2]int{{0, 1}}}
		known, err := set.Resolve(12)
		if err != nil {
			t.Fatal(err)
		}
		if got := opened(given, &whole, candidates, known); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	set := constraint.Set{Distinct: []int{0, -1, -1, -1, 0, 0, -1, -1, -1, -1, -1, -1}}
	known, err := set.Resolve(12)
	if err != nil {
		t.Fatal(err)
	}
	if got := cannots(known); !slices.Equal(got, [][2]int{{0, 4}, {4, 5}}) {
		t.Error(got)
	}
}
