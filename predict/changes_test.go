package predict

import (
	"reflect"
	"slices"
	"testing"
)

// Clusters keep their numbers or get new ones, and the changes say which.
func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		old, found, want []int
		changes          Changes
	}{
		"kept": {
			old: []int{0, 0, 2, 2}, found: []int{1, 1, 0, 0, 0}, want: []int{0, 0, 2, 2, 2},
			changes: Changes{Kept: 2, Grown: []Cluster{{2, 3, 1}}},
		},
		"created": {
			old: []int{0, 0, 0}, found: []int{0, 0, 0, 1, 1}, want: []int{0, 0, 0, 5, 5},
			changes: Changes{Kept: 1, Created: []Cluster{{5, 2, 2}}},
		},
		"merged": {
			old: []int{0, 0, 0, 1, 1}, found: []int{0, 0, 0, 0, 0, 0}, want: []int{0, 0, 0, 0, 0, 0},
			changes: Changes{Moved: 2, Kept: 1, Grown: []Cluster{{0, 6, 1}}, Merged: []Transfer{{1, 0, 2, 6}}},
		},
		"split": {
			old: []int{3, 3, 3, 3, 3}, found: []int{0, 0, 0, 1, 1}, want: []int{3, 3, 3, 5, 5},
			changes: Changes{Moved: 2, Kept: 1, Split: []Transfer{{3, 5, 2, 2}}},
		},
		"a single old sample among new ones": {
			old: []int{1, 1, 1}, found: []int{0, 0, 1, 1, 1}, want: []int{1, 1, 5, 5, 5},
			changes: Changes{Moved: 1, Kept: 1, Created: []Cluster{{5, 3, 2}}},
		},
		"dissolved into two": {
			old: []int{0, 0, 0, 1, 1, 2, 2, 2}, found: []int{0, 0, 0, 0, 1, 1, 1, 1}, want: []int{0, 0, 0, 0, 2, 2, 2, 2},
			changes: Changes{Moved: 2, Kept: 2, Merged: []Transfer{{1, 0, 1, 4}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got Changes
			labels := got.name(c.old, c.found, 5)
			if !slices.Equal(labels, c.want) || !reflect.DeepEqual(got, c.changes) {
				t.Errorf("labels %v, want %v; changes %+v, want %+v", labels, c.want, got, c.changes)
			}
		})
	}
}
