package predict

import (
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/selection"
)

// A better granularity becomes a level, coarse to fine, in the place of one that is close, if that
// is not the current one, or of the nearest where there are as many as can be.
func TestOffer(t *testing.T) {
	of := func(clusters int) []int {
		labels := make([]int, 600)
		for i := range labels {
			labels[i] = i % clusters
		}
		return labels
	}
	for _, x := range []struct {
		have            []int
		level, clusters int
		want            []int
		current, place  int
	}{
		{[]int{2, 40}, 1, 10, []int{2, 10, 40}, 2, 1},
		{[]int{2, 40}, 0, 100, []int{2, 40, 100}, 0, 2},
		{[]int{2, 8, 40}, 2, 10, []int{2, 10, 40}, 2, 1},
		{[]int{2, 8, 40}, 1, 10, []int{2, 8, 10, 40}, 1, 2},
		{[]int{2, 4, 8, 16, 32, 64, 128}, 6, 300, []int{2, 4, 8, 16, 32, 128, 300}, 5, 6},
		{[]int{2, 4, 8, 16, 32, 64, 128}, -1, 3, []int{2, 3, 8, 16, 32, 64, 128}, -1, 1},
	} {
		u := &update{next: &mvclust.Model{Level: x.level}}
		for _, n := range x.have {
			u.next.Levels = append(u.next.Levels, mvclust.Level{Labels: of(n)})
		}
		better := &Granularity{Level: -1, level: selection.Level{Labels: of(x.clusters)}}
		u.offer(better)
		var got []int
		for _, l := range u.next.Levels {
			got = append(got, 1+slices.Max(l.Labels))
		}
		if !slices.Equal(got, x.want) || u.next.Level != x.current || better.Level != x.place {
			t.Errorf("%d clusters offered to %v with %d current: %v with %d current, at %d; want %v", x.clusters, x.have, x.level, got, u.next.Level, better.Level, x.want)
		}
	}
}
