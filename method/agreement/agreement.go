// Package agreement measures how far views speak of the same thing: whether samples that
// are neighbours in one view are alike in another (cross-view consistency, the idea of
// Eq. f_cross, before any probability is learned).
package agreement

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// Report tells how far views agree.
type Report struct {
	// Agreement holds, by view m and view b, how much more alike neighbours in b are in m
	// than samples drawn at random: the share of comparisons in which they are, less the
	// share in which the others are, in [-1, 1]. It is near 0 where b knows nothing of m,
	// and 0 where m is b, or hardly any sample has both.
	Agreement [][]float64
	// LeftOut says which views agree with the others hardly more than noise would: whose
	// mean agreement is less than AtChance times that of the view that agrees most. Views
	// are left out one at a time, the worst first, and the rest judged without it. Of two
	// views neither can be told to be the one at fault, and none is left out.
	LeftOut []bool
}

// enough is how many samples must have both views for chance not to decide.
const enough = 20

// stream keeps the numbers drawn here apart from those of other stages.
const stream = 1 << 32

// samples, nearest and others bound the comparisons: some 10,000 x 10 x 4 for every two
// views, whose share has a standard error of about one percent.
const (
	samples = 10_000
	nearest = 10
	others  = 4
)

// Measure compares every two of the views. The spaces and lists are in the same order and
// numbering; seed decides which samples are compared. The result does not depend on
// threads. The only error is the context's own.
func Measure(ctx context.Context, spaces []*similarity.Space, lists []*neighbour.Lists, seed uint64, threads int) (*Report, error) {
	views := len(spaces)
	matrix := make([][]float64, views)
	for m := range matrix {
		matrix[m] = make([]float64, views)
	}
	err := parallel.Blocks(ctx, threads, views*views, 1, func(_, lo, _ int) {
		m, b := lo/views, lo%views
		matrix[m][b] = math.NaN()
		if m != b {
			matrix[m][b] = compare(ctx, spaces[m], lists[b], rand.New(rand.NewPCG(seed, stream+uint64(lo))))
		}
	})
	if err != nil {
		return nil, err
	}
	r := &Report{Agreement: matrix, LeftOut: unlike(matrix)}
	for _, row := range matrix {
		for b, x := range row {
			if x != x {
				row[b] = 0
			}
		}
	}
	return r, nil
}

// compare returns the entry of the matrix for a view and the neighbours in another.
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
				switch { // NaN, where the neighbour lacks the view, is neither
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

// AtChance is the share of the best view's agreement below which a view is taken to be
// at chance.
const AtChance = 0.25

// clear is an agreement that does not come about by chance.
const clear = 0.05

// unlike returns the views that are to be left out; entries of a that are NaN do not count.
func unlike(a [][]float64) []bool {
	out := make([]bool, len(a))
	for left := len(a); left > 2; left-- {
		worst, least, most := -1, math.Inf(1), 0.0
		for m, row := range a {
			if out[m] {
				continue
			}
			x, ok := mean(row, out)
			if !ok {
				continue
			}
			most = max(most, x)
			if x < least {
				worst, least = m, x
			}
		}
		if worst < 0 || most < clear || least >= AtChance*most {
			break
		}
		out[worst] = true
	}
	return out
}

// mean returns a view's mean agreement with those that are not left out, and whether it
// shares samples with any of them.
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
