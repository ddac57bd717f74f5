package view

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Links are links between samples: citations, friendships, or pairs that may be one thing. They
// have no direction, and a pair that is listed twice has the larger weight.
type Links struct {
	// Pairs holds the two samples of every link. A sample that is linked to itself alone has
	// the view, and no link to another.
	Pairs [][2]int
	// Weights holds the weight of every link, at least 0; nil stands for 1 each.
	Weights []float64
	// Probability says that the weights are probabilities that the two samples belong
	// together, in [0, 1].
	Probability bool
}

// LinkDims is the number of values of a row that FromLinks makes.
const LinkDims = 256

// The walks whose ends a row sums up.
const (
	walkSteps = 10
	walkEnds  = 0.1 // the probability that a walk ends where it is, before every step
)

// linkStream separates the random numbers of the directions from those of other stages.
const linkStream = 7 << 32

// FromLinks returns a view of samples that are known by their links. The cosine of two rows is
// about that of the places where walks from the two samples end: personalised PageRank,
//
//	row(i) = sum over t of a (1 - a)^t x (P^t G)(i),   a = 0.1, t = 0 ... 10,
//
// with P(i, j) = w(i, j) / (sum of w(i, .)) and G a random direction of LinkDims dimensions for
// every sample. Rows are brought to length 1. So samples are alike that are linked, or share
// links, or are linked by several short ways. Where links are probabilities, a sample is linked to itself by probability 1, so
// that a walk leaves a sample by an unlikely link only rarely.
//
// A sample in no pair lacks the view. The random directions belong to the samples' numbers; those
// of two samples have a cosine of about 0 and a standard deviation of 1/16.
//
// It takes 4 x 3 x LinkDims bytes per sample and 32 per link. The result does not depend on
// threads. The errors are *InputError, whose Row is the number of a pair and no sample, and the
// context's own.
func FromLinks(ctx context.Context, name string, samples int, links Links, threads int) (*View, error) {
	if err := links.Validate(name, samples); err != nil {
		return nil, err
	}
	g := newLinkGraph(samples, &links)
	v := &View{Name: name, Samples: samples, Dims: LinkDims, Links: g.links()}
	if slices.Contains(g.has, false) {
		v.Present = g.has
	}
	var err error
	v.Data, err = g.walk(ctx, threads)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Validate reports, as an *InputError about the view of the given name, the first link that
// cannot be.
func (l *Links) Validate(name string, samples int) error {
	bad := func(at int, format string, args ...any) error {
		problem := fmt.Sprintf(format, args...)
		if at >= 0 {
			problem = fmt.Sprintf("link %d (counted from 0) %s", at, problem)
		}
		return &InputError{name, -1, problem}
	}
	switch {
	case samples < 1 || samples > math.MaxInt32:
		return bad(-1, "there are %d samples; give from 1 to %d", samples, math.MaxInt32)
	case len(l.Pairs) == 0:
		return bad(-1, "there is no link; give at least one, or leave the view out")
	case l.Weights != nil && len(l.Weights) != len(l.Pairs):
		return bad(-1, "%d weights for %d links; give one for each, or none", len(l.Weights), len(l.Pairs))
	}
	for at, p := range l.Pairs {
		if p[0] < 0 || p[1] < 0 || p[0] >= samples || p[1] >= samples {
			return bad(at, "joins %d and %d, which are not both among the %d samples", p[0], p[1], samples)
		}
	}
	for at, w := range l.Weights {
		switch {
		case !(w >= 0 && w <= math.MaxFloat32):
			return bad(at, "has the weight %v; give a finite number of at least 0", w)
		case l.Probability && w > 1:
			return bad(at, "has the probability %v; give a number from 0 to 1", w)
		}
	}
	return nil
}

// linkGraph holds the links of every sample, at both ends.
type linkGraph struct {
	start []int
	to    []int32
	share []float32 // of the steps from the sample; what is left of 1 stays there
	has   []bool
}

// end is one end of a link.
type end struct {
	from, to int32
	weight   float64
}

func newLinkGraph(samples int, links *Links) *linkGraph {
	g := &linkGraph{start: make([]int, samples+1), has: make([]bool, samples)}
	ends := make([]end, 0, 2*len(links.Pairs))
	for at, p := range links.Pairs {
		w := 1.0
		if links.Weights != nil {
			w = links.Weights[at]
		}
		g.has[p[0]], g.has[p[1]] = true, true
		if p[0] != p[1] && w > 0 {
			ends = append(ends, end{int32(p[0]), int32(p[1]), w}, end{int32(p[1]), int32(p[0]), w})
		}
	}
	slices.SortFunc(ends, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(b.weight, a.weight))
	})
	ends = slices.CompactFunc(ends, func(a, b end) bool { return a.from == b.from && a.to == b.to })
	g.to, g.share = make([]int32, len(ends)), make([]float32, len(ends))
	at := 0
	for i := range samples {
		lo, sum := at, 0.0
		if links.Probability {
			sum = 1
		}
		for ; at < len(ends) && int(ends[at].from) == i; at++ {
			g.to[at] = ends[at].to
			sum += ends[at].weight
		}
		for k := lo; k < at; k++ {
			g.share[k] = float32(ends[k].weight / sum)
		}
		g.start[i+1] = at
	}
	return g
}

// links returns the number of links between two samples.
func (g *linkGraph) links() int { return len(g.to) / 2 }

// walk returns the rows.
func (g *linkGraph) walk(ctx context.Context, threads int) ([]float32, error) {
	n := len(g.has)
	now, next, sum := make([]float32, n*LinkDims), make([]float32, n*LinkDims), make([]float32, n*LinkDims)
	err := parallel.Blocks(ctx, threads, n, 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			random := rand.New(rand.NewPCG(uint64(i), linkStream))
			for k := range LinkDims {
				x := float32(random.NormFloat64())
				now[i*LinkDims+k], sum[i*LinkDims+k] = x, walkEnds*x
			}
		}
	})
	for t, left := 0, walkEnds*(1-walkEnds); t < walkSteps && err == nil; t, left = t+1, left*(1-walkEnds) {
		err = parallel.Blocks(ctx, threads, n, 64, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				to := next[i*LinkDims : (i+1)*LinkDims]
				g.step(to, now, i)
				for k, x := range to {
					sum[i*LinkDims+k] += float32(float32(left) * x)
				}
			}
		})
		now, next = next, now
	}
	if err != nil {
		return nil, err
	}
	for i, has := range g.has {
		finish(sum[i*LinkDims:(i+1)*LinkDims], has)
	}
	return sum, nil
}

// finish brings a row to length 1, or marks it as that of a sample that lacks the view.
func finish(row []float32, has bool) {
	squares := 0.0
	for _, x := range row {
		squares += float64(float64(x) * float64(x))
	}
	factor := 1 / math.Sqrt(squares)
	if !has {
		factor = math.NaN()
	}
	for k, x := range row {
		row[k] = float32(float64(x) * factor)
	}
}

// step sets to to the mean of the rows where a step from sample i leads.
func (g *linkGraph) step(to, rows []float32, i int) {
	stay := float32(1)
	clear(to)
	for e := g.start[i]; e < g.start[i+1]; e++ {
		share := g.share[e]
		stay -= share
		for k, x := range rows[int(g.to[e])*LinkDims:][:LinkDims] {
			to[k] += float32(share * x)
		}
	}
	if g.start[i] < g.start[i+1] && stay < 1e-5 {
		return
	}
	for k, x := range rows[i*LinkDims:][:LinkDims] {
		to[k] += float32(stay * x)
	}
}
