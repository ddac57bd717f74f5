package constraint_test

import (
	"testing"

	"github.com/mvclust/mvclust/method/constraint"
)

func TestPairs(t *testing.T) {
	set := constraint.Set{
		MustLink:   [][2]int{{0, 1}, {1, 2}},
		CannotLink: [][2]int{{2, 3}},
		Distinct:   []int{-1, -1, -1, -1, 5, 5, -1, 8},
	}
	known, err := set.Resolve(8)
	if err != nil {
		t.Fatal(err)
	}
	pairs := known.Pairs()
	for p, want := range map[[2]int]constraint.Kind{
		{0, 2}: constraint.MustLink, {0, 3}: constraint.CannotLink, {3, 2}: constraint.CannotLink,
		{4, 5}: constraint.CannotLink, {0, 4}: "", {6, 7}: "", {3, 6}: "",
	} {
		if got := pairs.Of(p[0], p[1]); got != want || pairs.Of(p[1], p[0]) != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
	for i, want := range []bool{true, true, true, true, true, true, false, false} {
		if pairs.Bound(i) != want {
			t.Errorf("sample %d: bound is %v", i, !want)
		}
	}
	none := (&constraint.Set{}).Empty()
	if pairs = (*constraint.Resolved)(nil).Pairs(); !none || pairs.Of(0, 1) != "" || pairs.Bound(0) {
		t.Error("nothing is something")
	}
}
