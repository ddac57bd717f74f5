package array_test

import (
	"testing"

	"github.com/mvclust/mvclust/internal/array"
)

func TestKind(t *testing.T) {
	for k, want := range map[array.Kind]string{array.Float: "float", array.Int: "int", array.Text: "text"} {
		if got := k.String(); got != want {
			t.Errorf("kind %d is %q, want %q", int(k), got, want)
		}
	}
}

func TestLen(t *testing.T) {
	for _, c := range []struct {
		shape []int
		want  int
	}{
		{nil, 1},
		{[]int{}, 1},
		{[]int{0}, 0},
		{[]int{7}, 7},
		{[]int{3, 4}, 12},
		{[]int{3, 0, 4}, 0},
		{[]int{2, 3, 4, 1}, 24},
	} {
		if got := (array.Info{Shape: c.shape}).Len(); got != c.want {
			t.Errorf("shape %v has %d values, want %d", c.shape, got, c.want)
		}
	}
}
