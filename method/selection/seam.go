package selection

import (
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
)

const (
	// leastDoubts is the number of pairs in a cluster that must not be together from which on the
	// cluster itself is doubted, and not the samples: one may be misplaced.
	leastDoubts = 2
	// leastHeld is the share of them that its parts must separate: by chance it is about half.
	leastHeld = 0.75
	// leastPart is the share of a cluster that a part has at least.
	leastPart = 0.1
)

// opened returns the labels of a partition in which clusters are taken apart that constraints
// doubt: those with two pairs or more that must not be together, if most of these are separated
// where the cluster first falls apart as the resolution rises from that of c. finer holds all
// candidates, by rising resolution for each number of neighbours.
func opened(given []int, c *Candidate, finer []Candidate, known *constraint.Resolved) []int {
	labels, next := slices.Clone(given), 1+slices.Max(given)
	doubts := map[int][][2]int{}
	for _, pair := range cannots(known) {
		if l := labels[pair[0]]; l == labels[pair[1]] {
			doubts[l] = append(doubts[l], pair)
		}
	}
	for l := range next { // in order, so that numbers do not depend on chance
		if len(doubts[l]) < leastDoubts {
			continue
		}
		parts := c.seam(given, l, finer)
		if parts == nil {
			continue
		}
		held := 0.0
		for _, p := range doubts[l] {
			if parts[p[0]] != parts[p[1]] {
				held++
			}
		}
		if held < leastHeld*float64(len(doubts[l])) {
			continue
		}
		numbers := map[int32]int{}
		for i, part := range parts {
			if part < 0 {
				continue
			}
			if _, has := numbers[part]; !has {
				numbers[part] = next
				next++
			}
			labels[i] = numbers[part]
		}
	}
	return labels
}

// seam returns the part of every sample of a cluster of labels where it first falls apart, and -1
// for all others; nil where it does not. Parts that are too small stay with the largest.
func (c *Candidate) seam(labels []int, cluster int, finer []Candidate) []int32 {
	size := 0
	for _, l := range labels {
		if l == cluster {
			size++
		}
	}
	least := max(small, int(leastPart*float64(size)))
	for at := range finer {
		f := &finer[at]
		if f.Neighbours != c.Neighbours || f.Resolution <= c.Resolution {
			continue
		}
		count := map[int32]int{}
		for i, l := range labels {
			if l == cluster {
				count[f.labels[i]]++
			}
		}
		largest, whole := int32(-1), 0
		for part, n := range count {
			if n >= least {
				whole++
			}
			if largest < 0 || n > count[largest] || n == count[largest] && part < largest {
				largest = part
			}
		}
		if whole < 2 {
			continue
		}
		parts := make([]int32, len(labels))
		for i, l := range labels {
			switch {
			case l != cluster:
				parts[i] = -1
			case count[f.labels[i]] < least:
				parts[i] = largest
			default:
				parts[i] = f.labels[i]
			}
		}
		return parts
	}
	return nil
}

// cannots returns pairs of samples that must not be together: all of exclusions of two, and of
// larger ones those that are next to each other by number.
func cannots(known *constraint.Resolved) (list [][2]int) {
	last := map[int32]int{}
	for i := range known.Component {
		for _, x := range known.Exclusions.Of(i) {
			if before, has := last[x]; has {
				list = append(list, [2]int{before, i})
			}
			last[x] = i
		}
	}
	return list
}
