package probability

import (
	"math"
	"slices"
)

// crossing says how the pairs of each segment of one view spread over the segments
// of another. Of the pairs of segment i that have the other view, a share share[e]
// is in its segment column[e], for e in [offsets[i], offsets[i+1]).
type crossing struct {
	offsets []int
	column  []int32
	share   []float64
}

// cross counts the pairs that segments of a and b have in common. It returns nil
// where no pair has both views.
func cross(a, b *segments) *crossing {
	c := &crossing{offsets: make([]int, len(a.mean)+1)}
	// Bucket the pairs by segment of a, then count the segments of b in each.
	start := make([]int, len(a.mean)+1)
	for t, i := range a.of {
		if i >= 0 && b.of[t] >= 0 {
			start[i+1]++
		}
	}
	for i := range a.mean {
		start[i+1] += start[i]
	}
	total := start[len(a.mean)]
	if total == 0 {
		return nil
	}
	bucket, fill := make([]int32, total), slices.Clone(start)
	for t, i := range a.of {
		if j := b.of[t]; i >= 0 && j >= 0 {
			bucket[fill[i]] = j
			fill[i]++
		}
	}
	count := make([]int, len(b.mean))
	for i := range a.mean {
		row := bucket[start[i]:start[i+1]]
		for _, j := range row {
			count[j]++
		}
		slices.Sort(row)
		for _, j := range slices.Compact(row) {
			c.column = append(c.column, j)
			c.share = append(c.share, float64(count[j])/float64(start[i+1]-start[i]))
			count[j] = 0
		}
		c.offsets[i+1] = len(c.column)
	}
	return c
}

// mean returns Fcross, Eq. f_cross: the mean of the other view's f over the
// pairs of every segment, or NaN where there are none.
func (c *crossing) mean(f []float64) []float64 {
	out := make([]float64, len(c.offsets)-1)
	for i := range out {
		sum, lo, hi := 0.0, c.offsets[i], c.offsets[i+1]
		if lo == hi {
			sum = math.NaN()
		}
		for e := lo; e < hi; e++ {
			sum += c.share[e] * f[c.column[e]]
		}
		out[i] = sum
	}
	return out
}

// back adds to gradient, by segment of the other view, what the derivatives by
// Fcross mean for f.
func (c *crossing) back(gradient, by []float64) {
	for i, g := range by {
		for e := c.offsets[i]; e < c.offsets[i+1]; e++ {
			gradient[c.column[e]] += g * c.share[e]
		}
	}
}
