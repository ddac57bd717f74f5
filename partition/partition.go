// Package partition finds the clusters that make the pair probabilities most
// likely (probabilistic clustering, Algorithm 1).
package partition

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/graph"
	"github.com/mvclust/mvclust/internal/option"
)

// Settings steer the search. The zero value gives the defaults.
type Settings struct {
	// Sweeps bounds the passes over the samples. 0 stands for DefaultSweeps.
	Sweeps int
	// Clip keeps a probability within [Clip, 1-Clip], so that one edge cannot
	// outweigh all others. 0 stands for DefaultClip.
	Clip float64
}

// Defaults of Settings.
const (
	DefaultSweeps = 20
	DefaultClip   = 0.01
)

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error {
	return option.First(
		option.Default("sweeps", &s.Sweeps, DefaultSweeps, 1, 1_000_000),
		option.Default("edge-clip", &s.Clip, DefaultClip, 1e-12, 0.49),
	)
}

// Sweep is one pass over the samples.
type Sweep struct {
	// Moves counts the samples that changed cluster.
	Moves int `json:"moves"`
	// Objective is the value of Eq. pi_loss after the sweep, up to its constant.
	Objective float64 `json:"objective"`
}

// Result is a partition and how it was found.
type Result struct {
	// Labels numbers the clusters from 0 by falling size; of clusters of equal
	// size the one with the lowest sample comes first.
	Labels []int
	// Sweeps tells of every pass.
	Sweeps []Sweep
}

// Find starts from singletons and moves one sample at a time, in an order drawn
// anew for every sweep from random, to the cluster among those of its neighbours
// that lowers Eq. pi_loss most, or out into one of its own, until nothing moves.
//
// Eq. pi_loss adds log(P(e=0)/P(e=1)) over the pairs within clusters. Only edges
// of g enter the sum; the cost of joining a cluster is thus a sum over a
// sample's edges, and a sweep takes time in proportion to their number.
func Find(ctx context.Context, g *graph.Graph, set Settings, random *rand.Rand, progress func(sweep int)) (*Result, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	n := g.Samples()
	s := singletons(g, set.Clip)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	r := &Result{}
	for sweep := range set.Sweeps {
		random.Shuffle(n, func(a, b int) { order[a], order[b] = order[b], order[a] })
		moves := 0
		for at, i := range order {
			if at%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if s.move(i) {
				moves++
			}
		}
		r.Sweeps = append(r.Sweeps, Sweep{moves, s.objective()})
		if progress != nil {
			progress(sweep + 1)
		}
		if moves == 0 {
			break
		}
	}
	r.Labels = Number(s.label)
	return r, nil
}

// state is the partition while it is being searched.
type state struct {
	g       *graph.Graph
	cost    []float64 // by edge: what it adds to the loss when within a cluster
	label   []int32   // sample -> cluster
	size    []int32   // cluster -> samples
	free    []int32   // clusters that have become empty
	joining []float64 // scratch, by cluster: the sum of a sample's costs to it
	touched []int32   // scratch: clusters in joining
}

// singletons returns the partition of g in which every sample is alone.
func singletons(g *graph.Graph, clip float64) *state {
	n := g.Samples()
	s := &state{g: g, cost: make([]float64, len(g.Weight)), label: make([]int32, n), size: make([]int32, n), joining: make([]float64, n)}
	for e, p := range g.Weight {
		p = min(max(p, clip), 1-clip)
		s.cost[e] = math.Log((1 - p) / p)
	}
	for i := range n {
		s.label[i], s.size[i] = int32(i), 1
	}
	return s
}

// move puts sample i where it costs least and reports whether that is elsewhere.
// Staying wins ties, then the lower cluster number.
func (s *state) move(i int) bool {
	lo, hi := s.g.Offsets[i], s.g.Offsets[i+1]
	own := s.label[i]
	s.touched = s.touched[:0]
	for e := lo; e < hi; e++ {
		c := s.label[s.g.Index[e]]
		if s.joining[c] == 0 {
			s.touched = append(s.touched, c)
		}
		s.joining[c] += s.cost[e]
	}
	best, least := own, s.joining[own]
	for _, c := range s.touched {
		if x := s.joining[c]; x < least || x == least && best != own && c < best {
			best, least = c, x
		}
	}
	for _, c := range s.touched {
		s.joining[c] = 0
	}
	if least > 0 { // better off alone; only a sample in company can pay
		best = s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
	}
	if best == own {
		return false
	}
	s.label[i] = best
	s.size[best]++
	if s.size[own]--; s.size[own] == 0 {
		s.free = append(s.free, own)
	}
	return true
}

// objective returns Eq. pi_loss over the edges, without its constant.
func (s *state) objective() float64 {
	sum := 0.0
	for i := range s.label {
		for e := s.g.Offsets[i]; e < s.g.Offsets[i+1]; e++ {
			if s.label[s.g.Index[e]] == s.label[i] {
				sum += s.cost[e]
			}
		}
	}
	return sum / 2
}

// Number renames labels to 0, 1, ... by falling size of their clusters and, among
// equals, by the first sample.
func Number[L comparable](labels []L) []int {
	type cluster struct{ size, first, name int }
	clusters := map[L]*cluster{}
	var seen []*cluster
	for i, l := range labels {
		c := clusters[l]
		if c == nil {
			c = &cluster{first: i}
			clusters[l] = c
			seen = append(seen, c)
		}
		c.size++
	}
	slices.SortFunc(seen, func(a, b *cluster) int { return cmp.Or(b.size-a.size, a.first-b.first) })
	for name, c := range seen {
		c.name = name
	}
	out := make([]int, len(labels))
	for i, l := range labels {
		out[i] = clusters[l].name
	}
	return out
}
