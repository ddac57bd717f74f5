package probability

import (
	"cmp"
	"slices"
)

// segments are the training pairs of one view, cut by ascending similarity into parts of
// equal size (Eq. f_function, |z_i| = T/I).
type segments struct {
	mean  []float64 // similarity of a segment: x_i
	count []float64 // pairs in a segment: |z_i|
	start []float64 // the straight line from 0 to 1: the initial f
	of    []int32   // by pair: its segment, -1 where its similarity is NaN
}

// cut makes at most parts segments. Pairs of equal similarity share a segment, so that it
// depends on the similarity alone. Sparse data, where many similarities are 0, therefore
// has fewer segments, of unequal size.
func cut(similarity []float32, parts int) *segments {
	s := &segments{of: make([]int32, len(similarity))}
	rank := make([]int32, 0, len(similarity))
	for t, x := range similarity {
		s.of[t] = -1
		if x == x {
			rank = append(rank, int32(t))
		}
	}
	slices.SortFunc(rank, func(a, b int32) int { return cmp.Compare(similarity[a], similarity[b]) })
	n := len(rank)
	parts = min(parts, n)
	var middle []float64 // mean rank of a segment
	lo := 0
	for part := 1; part <= parts; part++ {
		hi := int(int64(part) * int64(n) / int64(parts))
		if hi <= lo {
			continue // within a run of equal similarities
		}
		for hi < n && similarity[rank[hi]] == similarity[rank[hi-1]] {
			hi++
		}
		sum := 0.0
		for _, t := range rank[lo:hi] {
			s.of[t] = int32(len(s.mean))
			sum += float64(similarity[t])
		}
		s.mean = append(s.mean, sum/float64(hi-lo))
		s.count = append(s.count, float64(hi-lo))
		middle = append(middle, float64(lo+hi)/2)
		lo = hi
	}
	s.start = make([]float64, len(middle))
	for i, m := range middle {
		s.start[i] = 0.5
		if last := len(middle) - 1; last > 0 {
			s.start[i] = (m - middle[0]) / (middle[last] - middle[0])
		}
	}
	return s
}

// average returns the mean of f over the pairs, or 0.5 where there is no pair.
func (s *segments) average(f []float64) float64 {
	sum, pairs := 0.0, 0.0
	for i, n := range s.count {
		sum += n * f[i]
		pairs += n
	}
	if pairs == 0 {
		return 0.5
	}
	return sum / pairs
}
