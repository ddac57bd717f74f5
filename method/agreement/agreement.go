// Package agreement measures how far views agree: whether samples that are neighbours in
// one view are alike in another. Read chooses by it which version of a view's rows is compared, and
// Measure which views are left out. This is the cross-view consistency of Eq. f_cross, before
// any probability is learned. With x a neighbour of i in view b, and y a random sample,
//
//	agreement(m, b) = P(sim_m(i, x) > sim_m(i, y)) - P(sim_m(i, x) < sim_m(i, y))
//
// It follows the method and may change in any minor version.
package agreement

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// Report tells how far views agree.
type Report struct {
	// Agreement holds agreement(m, b) of the package comment, in [-1, 1]. It is near 0
	// where b tells nothing about m. It is 0 where m is b, and where too few samples have
	// both views.
	Agreement [][]float64
	// LeftOut marks the views that agree with the others no more than noise would: their
	// mean agreement is less than AtChance times the largest. Views are left out one at a
	// time, the worst first, and the rest are judged without it. Of two views neither is
	// left out, since either may be the one that is noise.
	LeftOut []bool
}

// enough is the number of samples that must have both views.
const enough = 20

// stream separates the random numbers of this stage from those of others.
const stream = 1 << 32

// For every two views, some 10,000 samples with 10 neighbours and 4 random others are
// compared, which makes a standard error of about one percent.
const (
	samples = 10_000
	nearest = 10
	others  = 4
)

// Measure compares every two views. Spaces and lists are in the same order, and number the
// samples alike. seed decides which samples are compared. The result does not depend on
// threads. It is an error if there are not as many spaces as lists, or of other samples, or if
// ctx is done; further errors are those of Space.Check and neighbour.Check.
func Measure(ctx context.Context, spaces []*similarity.Space, lists []*neighbour.Lists, seed uint64, threads int) (*Report, error) {
	views := len(spaces)
	n, err := neighbour.Check(lists)
	if err != nil {
		return nil, err
	}
	if len(lists) != views {
		return nil, fmt.Errorf("there are lists of %d views for %d spaces; give one for each", len(lists), views)
	}
	for m, s := range spaces {
		if err := s.Check(); err != nil {
			return nil, err
		}
		if s.Samples != n {
			return nil, fmt.Errorf("space %d has %d samples where the lists have %d; pass those of the same samples", m, s.Samples, n)
		}
	}
	matrix := make([][]float64, views)
	for m := range matrix {
		matrix[m] = make([]float64, views)
	}
	failed := make([]error, views*views)
	err = parallel.Blocks(ctx, threads, views*views, 1, func(_, lo, _ int) {
		m, b := lo/views, lo%views
		matrix[m][b] = math.NaN()
		if m != b {
			found, err := compare(ctx, spaces[m], lists[b:b+1], rand.New(rand.NewPCG(seed, stream+uint64(lo))), 1)
			if failed[lo] = err; err == nil {
				matrix[m][b] = found[0]
			}
		}
	})
	if err := cmp.Or(append(failed, err)...); err != nil {
		return nil, err
	}
	r := &Report{Agreement: matrix, LeftOut: atChance(matrix)}
	for _, row := range matrix {
		for b, x := range row {
			if x != x {
				row[b] = 0
			}
		}
	}
	return r, nil
}

// compare returns the agreement of a view with the neighbours in others, by their lists, NaN where too few samples have
// both and where a list is nil. All lists are held against the same random samples.
func compare(ctx context.Context, space *similarity.Space, lists []*neighbour.Lists, random *rand.Rand, threads int) ([]float64, error) {
	n := min(space.Count(), samples)
	drawn := make([]int32, n*others)
	for t := range drawn {
		drawn[t] = int32(space.Sample(random.IntN(space.Count())))
	}
	workers := make([]*comparison, parallel.Threads(threads))
	err := parallel.Blocks(ctx, threads, n, 16, func(worker, lo, hi int) {
		if workers[worker] == nil {
			workers[worker] = &comparison{space: space, lists: lists, counts: make([]counts, len(lists)), place: make([]int32, space.Samples)}
		}
		for t := lo; t < hi; t++ {
			workers[worker].add(space.Sample(sparse.Spaced(t, n, space.Count())), drawn[t*others:][:others])
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(lists))
	for l := range out {
		var sum counts
		for _, w := range workers {
			if w != nil {
				sum.won, sum.all, sum.shared = sum.won+w.counts[l].won, sum.all+w.counts[l].all, sum.shared+w.counts[l].shared
			}
		}
		if out[l] = float64(sum.won) / float64(sum.all); sum.all == 0 || sum.shared < enough {
			out[l] = math.NaN()
		}
	}
	return out, nil
}

// counts says how often a neighbour was more similar than a random sample, less how often it was not, how many were
// held against each other, and how many samples have neighbours.
type counts struct{ won, all, shared int }

// comparison counts for some samples what compare does, on one thread.
type comparison struct {
	space  *similarity.Space
	lists  []*neighbour.Lists
	counts []counts // by list
	place  []int32  // by sample: its place among those that are compared, counted from 1; 0 if it is none
	asked  []int32
	values []float32
	far    [others]float32
}

// add compares sample i with its neighbours in all lists and with those drawn. A sample is compared once however many
// lists it is in.
func (c *comparison) add(i int, drawn []int32) {
	c.asked = c.asked[:0]
	for _, l := range c.lists {
		for _, j := range first(l, i) {
			if c.place[j] == 0 {
				c.asked = append(c.asked, j)
				c.place[j] = int32(len(c.asked))
			}
		}
	}
	c.values = slices.Grow(c.values[:0], len(c.asked))[:len(c.asked)]
	c.space.Similarities(c.values, i, c.asked)
	c.space.Similarities(c.far[:], i, drawn)
	for l, list := range c.lists {
		near, to := first(list, i), &c.counts[l]
		if len(near) > 0 {
			to.shared++
		}
		for s, j := range drawn {
			if int(j) == i {
				continue
			}
			for _, h := range near {
				switch x := c.values[c.place[h]-1]; { // a neighbour that lacks the view has NaN and does not count
				case x > c.far[s]:
					to.won++
					to.all++
				case x < c.far[s]:
					to.won--
					to.all++
				case x == c.far[s]:
					to.all++
				}
			}
		}
	}
	for _, j := range c.asked {
		c.place[j] = 0
	}
}

// first returns the nearest of the neighbours of sample i; none of a list that is nil.
func first(l *neighbour.Lists, i int) []int32 {
	if l == nil {
		return nil
	}
	list := l.Of(i)
	return list[:min(len(list), nearest)]
}

// AtChance is the share of the largest mean agreement below which a view counts as noise.
const AtChance = 0.25

// significant is an agreement that does not come about by chance.
const significant = 0.05

// atChance returns Report.LeftOut; entries of a that are NaN do not count.
func atChance(a [][]float64) []bool {
	out := make([]bool, len(a))
	for left := len(a); left > 2; left-- {
		worst, least, largest := -1, math.Inf(1), 0.0
		for m, row := range a {
			if out[m] {
				continue
			}
			x, ok := mean(row, out)
			if !ok {
				continue
			}
			largest = max(largest, x)
			if x < least {
				worst, least = m, x
			}
		}
		if worst < 0 || largest < significant || least >= AtChance*largest {
			break
		}
		out[worst] = true
	}
	return out
}

// mean returns a view's mean agreement with those that are not left out, and whether it
// could be compared with any of them.
func mean(row []float64, out []bool) (float64, bool) {
	sum, n := 0.0, 0
	for b, x := range row {
		if x == x && !out[b] {
			sum += x
			n++
		}
	}
	return sum / float64(max(1, n)), n > 0
}
