package view

import "math"

// Hash returns a hash of a row, mixed with h. Rows whose values are equal have the same hash,
// 0 and -0 included; rows of the same hash need not be equal.
func Hash(h uint64, row []float32) uint64 {
	for _, x := range row {
		h = (h ^ uint64(math.Float32bits(x+0))) * 0x9e3779b97f4a7c15 // x+0 makes -0 a 0
		h ^= h >> 29
	}
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>31
}
