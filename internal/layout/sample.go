package layout

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// sample returns at most limit samples, ascending: all of them, or a random sample of each
// cluster in proportion to its size.
func sample(labels []int, limit int, seed uint64) []int {
	n := len(labels)
	if n <= limit {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	members := make([][]int, slices.Max(labels)+1)
	for i, l := range labels {
		members[l] = append(members[l], i)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	var out []int
	for c, want := range quotas(members, n, limit) {
		m := members[c]
		for k := range want {
			swap := k + random.IntN(len(m)-k)
			m[k], m[swap] = m[swap], m[k]
		}
		out = append(out, m[:want]...)
	}
	slices.Sort(out)
	return out
}

// quotas returns how many members of each cluster are drawn, of n samples in all: one of each,
// the largest clusters first, and the others in proportion to the sizes.
func quotas(members [][]int, n, limit int) []int {
	bySize := make([]int, len(members))
	for c := range bySize {
		bySize[c] = c
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return len(members[b]) - len(members[a]) })
	quota, left := make([]int, len(members)), limit
	clusters := 0
	for _, c := range bySize {
		if left > 0 && len(members[c]) > 0 {
			quota[c], left = 1, left-1
			clusters++
		}
	}
	if left == 0 {
		return quota
	}
	rest := make([]int, len(members)) // remainders of the divisions
	spare := left
	for c, m := range members {
		if len(m) > 0 {
			due := int64(len(m)-1) * int64(left)
			quota[c] += int(due / int64(n-clusters))
			rest[c] = int(due % int64(n-clusters))
			spare -= int(due / int64(n-clusters))
		}
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, c := range bySize[:spare] {
		quota[c]++
	}
	return quota
}
