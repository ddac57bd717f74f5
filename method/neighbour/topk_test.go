package neighbour

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/rank"
)

// randomKeys returns n distinct keys, of which many share their similarity.
func randomKeys(random *rand.Rand, n int) []rank.Key {
	keys := make([]rank.Key, n)
	for i, id := range random.Perm(n) {
		keys[i] = rank.New(float32(random.IntN(1+n/4))-3, int32(id))
	}
	return keys
}

// TestTopK pushes candidates in two orders, and compares what is kept with a sort.
func TestTopK(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for n := 1; n < 150; n += 1 + n/10 {
		for _, keep := range []int{1, 2, 5, n / 2, n} {
			for _, size := range []int{0, 2 * keep, 3*keep + 7} {
				keep = max(1, keep)
				b := newTopK(3, keep, size, n)
				keys := randomKeys(random, n)
				for _, row := range []int32{0, 2} {
					for _, i := range random.Perm(n) {
						b.push(row, keys[i])
					}
				}
				rank.Sort(keys)
				for _, row := range []int32{0, 2} {
					got := slices.Clone(b.best(row))
					rank.Sort(got)
					if !slices.Equal(got, keys[:min(keep, n)]) {
						t.Fatalf("%d of %d, room for %d: kept %x, want %x", keep, n, size, got, keys[:keep])
					}
				}
				if len(b.best(1)) != 0 {
					t.Fatal("a row without candidates keeps some")
				}
			}
		}
	}
}
