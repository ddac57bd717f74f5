package view

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

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

// Alike returns, for every row, the lowest one that equals it, which may be itself, and the number
// of distinct rows. hashes holds a hash of every row, and compare orders two rows of one hash, as
// cmp.Compare does; if it is nil, such rows are equal. A file can be made so that different rows
// have one hash: they are sorted, which takes little more time than others do.
func Alike(hashes []uint64, compare func(a, b int) int) (lowest []int32, distinct int) {
	lowest = make([]int32, len(hashes))
	order := make([]int32, len(hashes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(a, b)) })
	for len(order) > 0 {
		first, same := order[0], 1
		for same < len(order) && hashes[order[same]] == hashes[first] {
			same++
		}
		var others []int32 // of the hash of the first, and not equal to it
		for _, i := range order[:same] {
			if lowest[i] = first; compare != nil && i != first && compare(int(first), int(i)) != 0 {
				others = append(others, i)
			}
		}
		distinct += 1 + settle(lowest, others, compare)
		order = order[same:]
	}
	return lowest, distinct
}

// settle is Alike of rows of one hash.
func settle(lowest, rows []int32, compare func(a, b int) int) (distinct int) {
	slices.SortFunc(rows, func(a, b int32) int { return cmp.Or(compare(int(a), int(b)), cmp.Compare(a, b)) })
	for at, i := range rows {
		if at > 0 && compare(int(rows[at-1]), int(i)) == 0 {
			lowest[i] = lowest[rows[at-1]]
		} else {
			lowest[i] = i
			distinct++
		}
	}
	return distinct
}

// Equal returns, for every sample, the lowest one that has the same views, and the same values in
// each of them, which may be itself. 0 and -0 are one value. It returns nil where no two samples
// are equal. It is an error if the views are not of the same samples, or if ctx is done.
func Equal(ctx context.Context, views []*View, threads int) ([]int32, error) {
	if len(views) == 0 {
		return nil, nil
	}
	for m, v := range views {
		if v == nil {
			return nil, fmt.Errorf("view %d (counted from 0) is nil; leave it out", m)
		}
		if err := v.Check(); err != nil {
			return nil, err
		}
		if v.Samples != views[0].Samples {
			return nil, fmt.Errorf("view %q has %d samples, and %q has %d; give every view one row per sample", v.Name, v.Samples, views[0].Name, views[0].Samples)
		}
	}
	hashes := make([]uint64, views[0].Samples)
	err := parallel.Blocks(ctx, threads, len(hashes), 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for m, v := range views {
				if v.Has(i) {
					hashes[i] = Hash(hashes[i]^uint64(m+1), v.Row(i))
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	lowest, distinct := Alike(hashes, func(a, b int) int {
		for _, v := range views {
			switch has, other := v.Has(a), v.Has(b); {
			case has && other:
				if c := slices.Compare(v.Row(a), v.Row(b)); c != 0 {
					return c
				}
			case has:
				return 1
			case other:
				return -1
			}
		}
		return 0
	})
	if distinct == len(hashes) {
		return nil, nil
	}
	return lowest, nil
}
