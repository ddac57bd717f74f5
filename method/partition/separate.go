package partition

import (
	"context"
	"math/rand/v2"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// mostSeparating bounds the resolutions at which clusters are taken apart: a factor of 10^5.
const mostSeparating = 25

// Separate takes apart the clusters that hold samples of two classes or more. labels holds the
// cluster of every sample, and class its class, below 0 for none. Such a cluster is partitioned
// by itself, at resolutions that rise from the given one on until no part holds two classes;
// parts without a class, and those of the class that most of the cluster's samples with one have,
// stay together. The constraints, which may be nil, hold as in Find. A cluster that cannot be taken
// apart so is left as it is. The result holds labels, with new numbers for the parts that leave,
// one for each class and cluster. The errors are those of Find and of labels or classes that are
// not one per sample.
func Separate(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, labels, class []int, random *rand.Rand) ([]int, error) {
	if err := check(g, resolution, constraints, &set); err != nil {
		return nil, err
	}
	if random == nil {
		return nil, errNoRandom
	}
	for _, list := range [][]int{labels, class} {
		if len(list) != g.Samples() {
			return nil, checkLabels(list, g.Samples())
		}
	}
	if err := checkLabels(labels, g.Samples()); err != nil {
		return nil, err
	}
	if resolution == 0 {
		resolution = 1
	}
	s := newSeparation(labels, class)
	for range mostSeparating {
		if len(s.ruling) == 0 {
			break
		}
		inner, err := s.inner(ctx, g)
		if err != nil {
			return nil, err
		}
		found, err := Find(ctx, inner, resolution, constraints, set, random, nil)
		if err != nil {
			return nil, err
		}
		s.take(found.Labels)
		resolution = min(largest, resolution*finer)
	}
	return s.out, ctx.Err()
}

// separation is one call of Separate.
type separation struct {
	labels, class, out []int
	ruling             map[int]int    // cluster that is to be taken apart -> the class that stays
	number             map[[2]int]int // cluster, class that leaves -> its new number
	next               int
}

func newSeparation(labels, class []int) *separation {
	s := &separation{labels: labels, class: class, out: append([]int{}, labels...), ruling: map[int]int{}, number: map[[2]int]int{}}
	counts, mixed, first := map[[2]int]int{}, map[int]bool{}, map[int]int{}
	for i, l := range labels {
		s.next = max(s.next, l+1)
		c := class[i]
		if c < 0 {
			continue
		}
		counts[[2]int{l, c}]++
		if before, has := first[l]; !has {
			first[l] = c
		} else if before != c {
			mixed[l] = true
		}
	}
	for at, n := range counts {
		l, c := at[0], at[1]
		if !mixed[l] {
			continue
		}
		now, has := s.ruling[l]
		if most := counts[[2]int{l, now}]; !has || n > most || n == most && c < now {
			s.ruling[l] = c
		}
	}
	return s
}

// inner returns the graph within the clusters that are to be taken apart.
func (s *separation) inner(ctx context.Context, g *graph.Graph) (*graph.Graph, error) {
	return graph.FromRows(ctx, g.Samples(), func(i int) (to []int32, w []float32) {
		if _, open := s.ruling[s.labels[i]]; !open {
			return nil, nil
		}
		index, weight := g.Of(i)
		for e, j := range index {
			if s.labels[j] == s.labels[i] {
				to, w = append(to, j), append(w, weight[e])
			}
		}
		return to, w
	}, 0)
}

// take takes apart the clusters that parts separates.
func (s *separation) take(parts []int) {
	classOf := map[int]int{} // part -> its class
	failed := map[int]bool{} // clusters of which a part holds two classes
	for i, part := range parts {
		if c := s.class[i]; c >= 0 {
			if before, has := classOf[part]; has && before != c {
				failed[s.labels[i]] = true
			}
			classOf[part] = c
		}
	}
	for i, part := range parts {
		l := s.labels[i]
		stays, open := s.ruling[l]
		c, has := classOf[part]
		if !open || failed[l] || !has || c == stays {
			continue
		}
		at := [2]int{l, c}
		if _, has := s.number[at]; !has {
			s.number[at] = s.next
			s.next++
		}
		s.out[i] = s.number[at]
	}
	for l := range s.ruling {
		if !failed[l] {
			delete(s.ruling, l)
		}
	}
}
