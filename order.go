package mvclust

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

// number sets the order of the samples, unless one was given: under Auto by their values, else at random.
func (p *plan) number(ctx context.Context, views []*View) (err error) {
	switch {
	case p.Order != nil:
	case p.Preset == Auto:
		p.Order, err = orderByValues(ctx, views, p.Seed, p.Threads)
	default:
		p.Order = p.random(orderStream).Perm(p.samples)
	}
	return err
}

// orderByValues returns the samples in an order that depends on the seed and their values
// alone, and so not on the order of the rows: by a hash of both. Only samples that are equal in
// all views keep the order that they have.
func orderByValues(ctx context.Context, views []*View, seed uint64, threads int) ([]int, error) {
	n := views[0].Samples
	key := make([]uint64, n)
	err := parallel.Blocks(ctx, threads, n, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			h := mix(seed)
			for m, v := range views {
				h = mix(h ^ uint64(m))
				if v.Has(i) {
					h = hashRow(h, v.Row(i))
				}
			}
			key[i] = h
		}
	})
	if err != nil {
		return nil, err
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(key[a], key[b]), a-b) })
	return order, nil
}

// hashRow adds the values of a row to a hash. 0 and -0 are one value.
func hashRow(h uint64, row []float32) uint64 {
	for _, x := range row {
		h = bits.RotateLeft64((h^uint64(math.Float32bits(x+0)))*odd, 31)
	}
	return mix(h)
}

// odd is 2^64 over the golden ratio, which spreads bits when it multiplies.
const odd = 0x9e3779b97f4a7c15

// mix makes every bit depend on every other.
func mix(h uint64) uint64 {
	h += odd
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
