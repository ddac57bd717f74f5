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
	"context"
	"fmt"
	"math"
	"math/rand/v2"

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
	err = parallel.Blocks(ctx, threads, views*views, 1, func(_, lo, _ int) {
		m, b := lo/views, lo%views
		matrix[m][b] = math.NaN()
		if m != b {
			matrix[m][b] = compare(ctx, spaces[m], lists[b], rand.New(rand.NewPCG(seed, stream+uint64(lo))))
		}
	})
	if err != nil {
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

// compare returns the agreement of a view with the neighbours in another one, NaN where too
// few samples have both.
func compare(ctx context.Context, space *similarity.Space, lists *neighbour.Lists, random *rand.Rand) float64 {
	n := min(space.Count(), samples)
	won, all, shared := 0, 0, 0
	near, far := make([]float32, nearest), make([]float32, others)
	drawn := make([]int32, others)
	for t := 0; t < n && ctx.Err() == nil; t++ {
		i := space.Sample(sparse.Spaced(t, n, space.Count()))
		list := lists.Of(i)
		list = list[:min(len(list), nearest)]
		if len(list) > 0 {
			shared++
		}
		space.Similarities(near, i, list)
		for s := range drawn {
			drawn[s] = int32(space.Sample(random.IntN(space.Count())))
		}
		space.Similarities(far, i, drawn)
		for s, j := range drawn {
			if int(j) == i {
				continue
			}
			for _, x := range near[:len(list)] {
				switch { // a neighbour that lacks the view has NaN and does not count
				case x > far[s]:
					won++
					all++
				case x < far[s]:
					won--
					all++
				case x == far[s]:
					all++
				}
			}
		}
	}
	if all == 0 || shared < enough {
		return math.NaN()
	}
	return float64(won) / float64(all)
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
