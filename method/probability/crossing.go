package probability

import (
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/sparse"
)

// crossing says how the pairs of each segment of one view are distributed over the segments
// of another. Row i lists the segments of the other view that have pairs of segment i; share
// holds, at the same places, their shares of those pairs that have both views.
type crossing struct {
	sparse.Rows[int32]
	share []float64
}

// cross counts the pairs that segments of a and b have in common. It returns nil
// where no pair has both views.
func cross(a, b *segments) *crossing {
	both := sparse.Collect(len(a.mean), func(add func(i int, j int32)) {
		for t, i := range a.of {
			if j := b.of[t]; i >= 0 && j >= 0 {
				add(int(i), j)
			}
		}
	})
	if len(both.Values) == 0 {
		return nil
	}
	c := &crossing{Rows: sparse.Rows[int32]{Offsets: make([]int, len(a.mean)+1)}}
	count := make([]int, len(b.mean))
	for i := range a.mean {
		row := both.Of(i)
		pairs := float64(len(row))
		for _, j := range row {
			count[j]++
		}
		slices.Sort(row)
		for _, j := range slices.Compact(row) {
			c.Values = append(c.Values, j)
			c.share = append(c.share, float64(count[j])/pairs)
			count[j] = 0
		}
		c.Offsets[i+1] = len(c.Values)
	}
	return c
}

// mean returns Fcross, Eq. f_cross: the mean of the other view's f over the pairs of every
// segment, or NaN where there are none.
func (c *crossing) mean(f []float64) []float64 {
	out := make([]float64, c.Len())
	for i := range out {
		sum, lo, hi := 0.0, c.Offsets[i], c.Offsets[i+1]
		if lo == hi {
			sum = math.NaN()
		}
		for e := lo; e < hi; e++ {
			sum += c.share[e] * f[c.Values[e]]
		}
		out[i] = sum
	}
	return out
}

// back adds the derivatives by f to gradient, by segment of the other view, given those by
// Fcross.
func (c *crossing) back(gradient, by []float64) {
	for i, g := range by {
		for e := c.Offsets[i]; e < c.Offsets[i+1]; e++ {
			gradient[c.Values[e]] += g * c.share[e]
		}
	}
}
