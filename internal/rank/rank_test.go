package rank_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/rank"
)

// TestKey holds that keys are ordered as Key says, and give back score and number.
func TestKey(t *testing.T) {
	inf := float32(math.Inf(1))
	scores := []float32{-inf, -math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 0.5, 1, math.MaxFloat32, inf}
	last := rank.Key(0)
	for _, x := range scores {
		for _, number := range []int32{math.MaxInt32, 7, 1, 0} { // worst first
			k := rank.New(x, number)
			if k <= last {
				t.Errorf("%v, %d has key %x, after %x", x, number, k, last)
			}
			if k.Score() != x || k.Number() != number {
				t.Errorf("%v, %d comes back as %v, %d", x, number, k.Score(), k.Number())
			}
			last = k
		}
	}
	if negative := float32(math.Copysign(0, -1)); rank.New(negative, 3) != rank.New(0, 3) {
		t.Error("the two zeros differ")
	}
}

// randomKeys returns n distinct keys, of which many share their score.
func randomKeys(random *rand.Rand, n int) []rank.Key {
	keys := make([]rank.Key, n)
	for i, number := range random.Perm(n) {
		keys[i] = rank.New(float32(random.IntN(1+n/4))-3, int32(number))
	}
	return keys
}

func TestSelect(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 200; n++ {
		keys := randomKeys(random, n)
		switch n % 3 {
		case 0:
			slices.Sort(keys)
		case 1:
			rank.Sort(keys)
		}
		want := slices.Clone(keys)
		rank.Sort(want)
		r := random.IntN(n)
		rank.Select(keys, r)
		if keys[r] != want[r] {
			t.Fatalf("%d keys: rank %d is %x, want %x", n, r, keys[r], want[r])
		}
		rank.Sort(keys[:r])
		rank.Sort(keys[r:])
		if !slices.Equal(keys, want) {
			t.Fatalf("%d keys: keys on the wrong side of rank %d", n, r)
		}
	}
}

func TestBest(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for n := range 60 {
		for _, count := range []int{1, 2, n / 2, n, n + 3} {
			count = max(1, count)
			keys := randomKeys(random, n)
			want := slices.Clone(keys)
			rank.Sort(want)
			if got := rank.Best(keys, count); !slices.Equal(got, want[:min(n, count)]) {
				t.Fatalf("best %d of %d: %x, want %x", count, n, got, want[:min(n, count)])
			}
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 3))
	const n = 176
	lists, keys := randomKeys(random, n*1000), make([]rank.Key, n)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		copy(keys, lists[i%1000*n:])
		rank.Select(keys, 89)
	}
}

// Of fewer than one key, none is the best.
func TestBestOfNone(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		if got := rank.Best([]rank.Key{rank.New(1, 1), rank.New(2, 2)}, n); len(got) != 0 {
			t.Errorf("the best %d are %v", n, got)
		}
	}
}
