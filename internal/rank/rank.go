// Package rank orders numbered scores from the best to the worst: the higher score first
// and, among equals, the lower number. Of two different numbers one is always better, so
// what is selected does not depend on the order in which scores arrive.
package rank

import (
	"math"
	"math/bits"
	"slices"
)

// Key is a score and a number as one integer, higher for what is better: the bits of the
// score, turned so that they increase with it, above the inverted bits of the number.
type Key uint64

// New returns the key of a score that is not NaN and a number that is not negative.
func New(score float32, number int32) Key {
	x := math.Float32bits(score + 0) // which makes -0 a 0
	if x>>31 != 0 {
		x = ^x
	} else {
		x |= 1 << 31
	}
	return Key(x)<<32 | Key(^uint32(number))
}

// Number returns the number of a key.
func (k Key) Number() int32 { return int32(^uint32(k)) }

// Score returns the score of a key.
func (k Key) Score() float32 {
	x := uint32(k >> 32)
	if x>>31 != 0 {
		x &^= 1 << 31
	} else {
		x = ^x
	}
	return math.Float32frombits(x)
}

// Best returns the best n of distinct keys, or all where there are fewer, best first, and none
// where n is below 1. It reorders keys.
func Best(keys []Key, n int) []Key {
	if n < 1 {
		return keys[:0]
	}
	if len(keys) > n {
		Select(keys, n-1)
		keys = keys[:n]
	}
	Sort(keys)
	return keys
}

// Sort sorts keys, best first.
func Sort(keys []Key) {
	slices.Sort(keys)
	slices.Reverse(keys)
}

// Select moves the key of rank r, counted from 0, to place r, better ones before it and worse
// ones behind it. The keys are distinct.
func Select(keys []Key, r int) {
	for len(keys) > 12 {
		last := len(keys) - 1
		pivot := median(keys[0], keys[last/2], keys[last])
		// No branch depends on the keys, since none could be predicted: every key is swapped
		// to the border, which moves on unless the key is below the pivot.
		border := 0
		for i, k := range keys {
			keys[i] = keys[border]
			keys[border] = k
			_, below := bits.Sub64(uint64(k), uint64(pivot), 0)
			border += 1 - int(below)
		}
		if r < border {
			keys = keys[:border]
			if r == border-1 || border == last+1 {
				worstLast(keys)
				if r == border-1 {
					return
				}
				keys = keys[:border-1]
			}
		} else {
			keys, r = keys[border:], r-border
		}
	}
	Sort(keys)
}

func median(a, b, c Key) Key { return max(min(a, b), min(max(a, b), c)) }

// worstLast swaps the lowest key to the end.
func worstLast(keys []Key) {
	least := 0
	for i, k := range keys {
		if k < keys[least] {
			least = i
		}
	}
	last := len(keys) - 1
	keys[least], keys[last] = keys[last], keys[least]
}
