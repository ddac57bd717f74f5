package view_test

import (
	"math"
	"math/rand/v2"
	"slices"
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

// TestAlike compares groups of equal rows with those of a map, for hashes that tell rows apart,
// some that do not, and one for all.
func TestAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, distinct := range []int{1, 2, 7, 300} {
		rows := make([]int, 300)
		for i := range rows {
			rows[i] = random.IntN(distinct)
		}
		compare := func(a, b int) int { return rows[a] - rows[b] }
		for _, hash := range []func(row int) uint64{
			func(row int) uint64 { return uint64(row) * 0x9e3779b97f4a7c15 },
			func(row int) uint64 { return uint64(row % 3) },
			func(int) uint64 { return 5 },
		} {
			hashes, first := make([]uint64, len(rows)), map[int]int32{}
			want := make([]int32, len(rows))
			for i, row := range rows {
				hashes[i] = hash(row)
				if _, seen := first[row]; !seen {
					first[row] = int32(i)
				}
				want[i] = first[row]
			}
			if got, count := view.Alike(hashes, compare); count != len(first) || !slices.Equal(got, want) {
				t.Fatalf("%d distinct rows of %d: %v", count, len(first), got)
			}
		}
	}
	if got, count := view.Alike([]uint64{4, 2, 4}, nil); count != 2 || !slices.Equal(got, []int32{0, 1, 0}) {
		t.Errorf("by the hashes alone: %v, %d distinct", got, count)
	}
}

// TestEqual finds samples that have the same views and values, and no others.
func TestEqual(t *testing.T) {
	nan, minus := float32(math.NaN()), float32(math.Copysign(0, -1))
	a, err := view.New("a", 7, 1, []float32{1, 1, 0, minus, 1, nan, nan})
	if err != nil {
		t.Fatal(err)
	}
	b, err := view.New("b", 7, 2, []float32{5, 6, 5, 6, nan, nan, nan, nan, nan, nan, 5, 6, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 3} {
		got, err := view.Equal(t.Context(), []*view.View{a, b}, threads)
		if want := []int32{0, 0, 2, 2, 4, 5, 5}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	c, err := view.New("c", 7, 1, []float32{1, 2, 3, 4, 5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := view.Equal(t.Context(), []*view.View{a, b, c}, 1); err != nil || got != nil {
		t.Errorf("%v, %v where no two samples are equal", got, err)
	}
	c.Samples, c.Data = 6, c.Data[:6]
	if _, err := view.Equal(t.Context(), []*view.View{a, c}, 1); err == nil {
		t.Error("no error for views of 7 and 6 samples")
	}
}
