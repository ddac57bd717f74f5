package neighbour

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKey holds that keys are ordered as their candidates are, and give them back.
func TestKey(t *testing.T) {
	inf := float32(math.Inf(1))
	values := []float32{-inf, -math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 0.5, 1, math.MaxFloat32, inf}
	last := key(0)
	for _, x := range values {
		for _, id := range []int32{math.MaxInt32, 7, 1, 0} { // falling, so that keys rise
			k := newKey(x, id)
			if k <= last {
				t.Errorf("%v, %d has key %x, after %x", x, id, k, last)
			}
			if k.similarity() != x || k.id() != id {
				t.Errorf("%v, %d comes back as %v, %d", x, id, k.similarity(), k.id())
			}
			last = k
		}
	}
	if negative := float32(math.Copysign(0, -1)); newKey(negative, 3) != newKey(0, 3) {
		t.Error("the two zeros differ")
	}
	if lowest > newKey(-inf, math.MaxInt32) {
		t.Error("the lowest bar cannot be reached")
	}
}

// randomKeys returns n distinct keys, of which many share their similarity.
func randomKeys(random *rand.Rand, n int) []key {
	keys := make([]key, n)
	for i, id := range random.Perm(n) {
		keys[i] = newKey(float32(random.IntN(1+n/4))-3, int32(id))
	}
	return keys
}

func TestChoose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 200; n++ {
		keys := randomKeys(random, n)
		switch n % 3 {
		case 0:
			slices.Sort(keys)
		case 1:
			sortFalling(keys)
		}
		want := slices.Clone(keys)
		sortFalling(want)
		rank := random.IntN(n)
		choose(keys, rank)
		if keys[rank] != want[rank] {
			t.Fatalf("%d keys: rank %d is %x, want %x", n, rank, keys[rank], want[rank])
		}
		sortFalling(keys[:rank])
		sortFalling(keys[rank:])
		if !slices.Equal(keys, want) {
			t.Fatalf("%d keys: keys on the wrong side of rank %d", n, rank)
		}
	}
}

// TestBank pushes candidates in two orders, and compares what is kept with a sort.
func TestBank(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for n := 1; n < 150; n += 1 + n/10 {
		for _, keep := range []int{1, 2, 5, n / 2, n} {
			for _, size := range []int{0, 2 * keep, 3*keep + 7} {
				keep = max(1, keep)
				b := newBank(3, keep, size, n)
				keys := randomKeys(random, n)
				for _, row := range []int32{0, 2} {
					for _, i := range random.Perm(n) {
						b.push(row, keys[i])
					}
				}
				sortFalling(keys)
				for _, row := range []int32{0, 2} {
					got := slices.Clone(b.best(row))
					sortFalling(got)
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

func BenchmarkChoose(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 3))
	const n = 176
	lists, keys := randomKeys(random, n*1000), make([]key, n)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		copy(keys, lists[i%1000*n:])
		choose(keys, 89)
	}
}
