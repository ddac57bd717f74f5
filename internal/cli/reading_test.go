package cli

import (
	"maps"
	"testing"

	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/view"
)

// A note says which version of the rows is compared, and by how much the other views confirm it more.
func TestReadingNote(t *testing.T) {
	r := &agreement.Readings{
		Taken:     []view.Version{view.Joined, view.Given, view.Ranged, view.Standard},
		Confirmed: [][]float64{{0.5, 0.4, 0.4, 0.4}, {0.5, 0.6, 0, 0.1}, {0.8, 0.7, 0.9, 0.1}, {0.6, 0, 0, 0.7}},
	}
	for m, want := range []string{
		"",
		"rows are compared as they are, not in three ways at once: the neighbours found so disagree 20% less with the other views",
		"rows are compared with every feature scaled to [0, 1], not in three ways at once: the neighbours found so disagree 50% less with the other views",
		"rows are compared with every feature scaled to variance 1, not in three ways at once: the neighbours found so disagree 25% less with the other views",
	} {
		if got := readingNote(r, m); got != want {
			t.Errorf("view %d: %q, want %q", m, got, want)
		}
	}
	want := map[string]float64{"joined": 0.5, "given": 0.6, "standard": 0.1}
	if got := confirmed(r.Confirmed[1]); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
