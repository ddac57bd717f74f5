package view_test

import (
	"math"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

// TestHash holds that equal rows have one hash, and that other values, another order and
// another start make another.
func TestHash(t *testing.T) {
	minus := float32(math.Copysign(0, -1))
	of := view.Hash(1, []float32{1, 0, 2})
	if view.Hash(1, []float32{1, minus, 2}) != of {
		t.Error("0 and -0 have different hashes")
	}
	for _, other := range [][]float32{{1, 2, 0}, {1, 0}, {1, 0, 2, 0}, {1, 0, 2.0000002}, {}} {
		if view.Hash(1, other) == of {
			t.Errorf("%v has the hash of other values", other)
		}
	}
	if view.Hash(2, []float32{1, 0, 2}) == of {
		t.Error("another start makes the same hash")
	}
}
