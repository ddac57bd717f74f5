// Package partition finds the clusters that make the pair probabilities most
// likely (probabilistic clustering, Algorithm 1).
package partition

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// Settings steer the search. The zero value gives the defaults.
type Settings struct {
	// Sweeps bounds the passes over the samples, or clusters, of every level. 0 stands
	// for DefaultSweeps.
	Sweeps int `json:"sweeps"`
	// Levels bounds how often the clusters that were found are taken as wholes and
	// moved in their turn. 0 stands for 1, Algorithm 1, which moves samples alone.
	Levels int `json:"levels"`
	// Clip keeps a probability within [Clip, 1-Clip], so that one edge cannot
	// outweigh all others. 0 stands for DefaultClip.
	Clip float64 `json:"clip"`
}

// Defaults of Settings.
const (
	DefaultSweeps = 20
	DefaultClip   = 0.01
)

// Parameters returns a description of every setting, with a pointer to its field in s.
func (s *Settings) Parameters() []option.Parameter {
	return []option.Parameter{
		{
			Field: "Sweeps", Name: "sweeps", Value: option.Whole(&s.Sweeps, DefaultSweeps, 1, 1_000_000),
			Equation: "Algorithm 1",
			Meaning:  "the most passes over the samples; the search ends earlier when none moves",
		},
		{
			Field: "Levels", Name: "levels", Value: option.WholeOrAuto(&s.Levels, 1, 1, 100),
			Equation: "Algorithm 1",
			Meaning:  "how often clusters are moved as wholes after the samples; 1 moves samples alone; auto is 20 under the automatic preset, and 1 under paper",
		},
		{
			Field: "Clip", Name: "edge-clip", Value: option.Number(&s.Clip, DefaultClip, 1e-12, 0.49), PaperOnly: true,
			Equation: "Eq. pi_loss",
			Meaning:  "keeps an edge's probability within [c, 1-c]",
		},
	}
}

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error { return option.Resolve(s.Parameters()) }

// ResolutionParameter describes a resolution, the argument of Find, that is in a field
// Resolution.
func ResolutionParameter(field *float64) option.Parameter {
	return option.Parameter{
		Field: "Resolution", Name: "resolution", Value: option.NumberOrAuto(field, 0, option.Above, 1e12),
		Equation: "not in the paper",
		Meaning:  "replaces Eq. pi_loss by modularity of this resolution: the higher, the more clusters; auto is chosen from the data under the automatic preset, and Eq. pi_loss under paper",
	}
}

// resolve is Settings.Resolve, and checks the resolution.
func resolve(s *Settings, resolution float64) error {
	return option.Resolve(append(s.Parameters(), ResolutionParameter(&resolution)))
}

// Steps returns how many sweeps Find makes at most: over the samples, and, as often as
// it climbs, over the clusters of every higher level and over the samples once more; and
// all of that three times where there are cannot-links.
func (s Settings) Steps(constraints *constraint.Resolved) int {
	steps := s.Sweeps
	if s.Levels > 1 {
		steps *= 1 + cycles*s.Levels
	}
	if tokensOf(constraints).offsets != nil {
		steps *= 3
	}
	return steps
}

// Sweep is one pass over the samples or, on higher levels, over clusters.
type Sweep struct {
	// Level is 0 where samples were moved, 1 where clusters of them were, and so on.
	Level int `json:"level"`
	// Moves counts what changed cluster.
	Moves int `json:"moves"`
	// Objective is the value of Eq. pi_loss after the sweep, up to its constant, or of what
	// takes its place where there is a resolution.
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
// With several levels, it then moves whole clusters in the same way, clusters of
// those, and so on, and, where any have moved, samples once more; and all of that again
// while samples move, three times at most.
//
// Eq. pi_loss adds log(P(e=0)/P(e=1)) over the pairs within clusters. Only edges
// of g enter the sum; the cost of joining a cluster is thus a sum over a
// sample's edges, and a sweep takes time in proportion to their number.
//
// With a resolution γ above 0, what is lowered is the negative of modularity times the sum of all
// weights: every edge within a cluster counts -P, and every pair within one, with an edge
// or without, γ times the weight expected of it, d(i) d(j) / (sum of all d), where d is
// the sum of a sample's weights. So there a missing edge speaks against a pair.
//
// The constraints, which may be nil, hold throughout: samples that must be together are one
// node, and no move brings together what cannot be. They can always be met, for a partition
// into the must-link components meets them.
//
// progress, if not nil, is called after every sweep with their number so far. The errors are
// those of Settings.Resolve, a resolution that is not between 0 and MaxResolution, and the
// context's own.
func Find(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, random *rand.Rand, progress func(sweep int)) (*Result, error) {
	if err := resolve(&set, resolution); err != nil {
		return nil, err
	}
	f := &finder{ctx: ctx, set: set, random: random, progress: progress}
	samples, err := edgesOf(ctx, g, resolution, constraints, set)
	if err != nil {
		return nil, err
	}
	base := components(samples, constraints)
	return f.settle(singletons(base.nodes), base)
}

// settle finds the clusters from a partition on. base has the nodes that samples are.
func (f *finder) settle(samples *state, base *level) (*Result, error) {
	if err := f.rise(samples); err != nil {
		return nil, err
	}
	samples, err := f.freed(samples)
	if err != nil {
		return nil, err
	}
	return &Result{Number(base.clusters(samples.label)), f.sweeps}, nil
}

// rise moves samples, and then clusters and samples again, while samples move.
func (f *finder) rise(samples *state) error {
	if _, err := f.descend(0, samples); err != nil {
		return err
	}
	for range cycles {
		moves, err := f.climb(samples)
		if err != nil {
			return err
		}
		if moves == 0 {
			break
		}
	}
	return nil
}

// cycles bounds how often samples are moved again after clusters were.
const cycles = 3

// climb moves clusters, level by level, and then samples, and returns the number of
// moves of samples.
func (f *finder) climb(samples *state) (moves int, err error) {
	f.part.begin(samples)
	merged := slices.Clone(samples.label)
	below, of := samples, merged // of: sample -> node of the level below
	for level := 1; level < f.set.Levels; level++ {
		number := below.compact()
		for i, cluster := range of {
			of[i] = number[cluster]
		}
		clusters := singletons(below.collapse(number))
		f.part.wake(clusters, of)
		moves, err := f.descend(level, clusters)
		if err != nil {
			return 0, err
		}
		for i, node := range of {
			of[i] = clusters.label[node]
		}
		if moves == 0 {
			break
		}
		below = clusters
	}
	if below == samples {
		return 0, nil
	}
	samples.assign(merged, below.loss)
	f.part.rouse(samples)
	return f.descend(0, samples)
}

// finder is one search.
type finder struct {
	ctx      context.Context
	set      Settings
	random   *rand.Rand
	progress func(sweep int)
	sweeps   []Sweep
	part     *part // what is moved; nil where all is
}

// descend moves the nodes of s until nothing moves and returns the number of moves.
func (f *finder) descend(level int, s *state) (moves int, err error) {
	order := make([]int32, len(s.label))
	for i := range order {
		order[i] = int32(i)
	}
	for range f.set.Sweeps {
		f.random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		now := 0
		for at, i := range order {
			if at%1024 == 0 && f.ctx.Err() != nil {
				return 0, f.ctx.Err()
			}
			if s.move(int(i)) {
				now++
			}
		}
		f.sweeps = append(f.sweeps, Sweep{level, now, s.loss})
		if f.progress != nil {
			f.progress(len(f.sweeps))
		}
		if moves += now; now == 0 {
			break
		}
	}
	return moves, nil
}

// edges are what may be within clusters: between nodes, which are samples or clusters
// of them. Those of node i are offsets[i] to offsets[i+1].
type edges struct {
	offsets []int
	to      []int32
	cost    []float64 // what the edge adds to the loss when within a cluster
	within  float64   // the cost of what is within the nodes

	// Two nodes within a cluster also cost rate x the product of their degrees; degree
	// is nil where they do not.
	degree []float64
	rate   float64

	tokens tokens
}

// edgesOf returns the edges between the samples of g.
func edgesOf(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings) (*edges, error) {
	e := &edges{offsets: g.Offsets, to: g.Index, cost: make([]float64, len(g.Weight))}
	if resolution > 0 {
		e.degree = make([]float64, g.Samples())
	}
	all := 0.0
	for i := range g.Samples() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for at := g.Offsets[i]; at < g.Offsets[i+1]; at++ {
			p := float64(g.Weight[at])
			e.cost[at] = cost(p, resolution, set.Clip)
			if e.degree != nil {
				e.degree[i] += p
				all += p
			}
		}
	}
	if all > 0 {
		e.rate = resolution / all
	}
	e.tokens = tokensOf(constraints)
	return e, nil
}

// state is the partition while it is being searched.
type state struct {
	edges
	label   []int32   // node -> cluster
	stale   []bool    // node -> whether it may want to move
	loss    float64   // the objective, carried along with the moves
	size    []int32   // cluster -> nodes
	mass    []float64 // cluster -> degrees of its nodes, where nodes have any
	taken   claims    // the tokens that the clusters hold
	free    []int32   // clusters that have become empty
	joining []float64 // scratch, by cluster: the sum of a node's costs to it
	touched []int32   // scratch: clusters in joining
}

// singletons returns the partition in which every node is alone.
func singletons(e *edges) *state {
	n := len(e.offsets) - 1
	s := &state{
		edges: *e, mass: slices.Clone(e.degree), loss: e.within,
		label: make([]int32, n), stale: make([]bool, n), size: make([]int32, n), joining: make([]float64, n),
	}
	for i := range n {
		s.label[i], s.stale[i], s.size[i] = int32(i), true, 1
	}
	s.taken = s.tokens.claims(s.label)
	return s
}

// assign makes label the partition, whose objective is loss.
func (s *state) assign(label []int32, loss float64) {
	copy(s.label, label)
	for i := range s.stale {
		s.stale[i] = true
	}
	clear(s.size)
	clear(s.mass)
	for i, c := range label {
		s.size[c]++
		if s.degree != nil {
			s.mass[c] += s.degree[i]
		}
	}
	s.free = s.free[:0]
	for c, size := range s.size {
		if size == 0 {
			s.free = append(s.free, int32(c))
		}
	}
	s.taken = s.tokens.claims(s.label)
	s.loss = loss
}

// move puts node i where it costs least and reports whether that is elsewhere.
// Staying wins ties, then the lower cluster number. A node that has not moved, or has
// moved, stays where it is until one that it has an edge to moves.
func (s *state) move(i int) bool {
	if !s.stale[i] {
		return false
	}
	s.stale[i] = false
	own := s.label[i]
	s.sum(i)
	best, least := own, s.joining[own]
	degree := 0.0
	if s.degree != nil {
		degree = s.degree[i] * s.rate
		least += degree * (s.mass[own] - s.degree[i])
	}
	stay := least
	for _, c := range s.touched {
		if c == own {
			continue
		}
		x := s.joining[c]
		if degree > 0 {
			x += degree * s.mass[c]
		}
		if x < least || x == least && best != own && c < best {
			if s.taken.bar(s.tokens.of(i), c) {
				s.stale[i] = true // what bars it may leave
				continue
			}
			best, least = c, x
		}
	}
	s.forget()
	if least > 0 && s.size[own] > 1 { // better off alone
		best = s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
		least = 0
	}
	if best == own {
		return false
	}
	s.label[i] = best
	s.taken.drop(s.tokens.of(i), own)
	s.taken.take(s.tokens.of(i), best)
	s.loss += least - stay
	for e := s.offsets[i]; e < s.offsets[i+1]; e++ {
		s.stale[s.to[e]] = true
	}
	if s.degree != nil {
		s.mass[own] -= s.degree[i]
		s.mass[best] += s.degree[i]
	}
	s.size[best]++
	if s.size[own]--; s.size[own] == 0 {
		if s.degree != nil {
			s.mass[own] = 0 // but for rounding, it is
		}
		s.free = append(s.free, own)
	}
	return true
}

// sum adds up in joining what node i's edges cost, by the cluster that they lead to.
func (s *state) sum(i int) {
	for e := s.offsets[i]; e < s.offsets[i+1]; e++ {
		c := s.label[s.to[e]]
		if s.joining[c] == 0 {
			s.touched = append(s.touched, c)
		}
		s.joining[c] += s.cost[e]
	}
}

// forget makes joining zeros again.
func (s *state) forget() {
	for _, c := range s.touched {
		s.joining[c] = 0
	}
	s.touched = s.touched[:0]
}

// objective returns Eq. pi_loss over the edges, without its constant.
func (s *state) objective() float64 {
	sum := 0.0
	for i, c := range s.label {
		for e := s.offsets[i]; e < s.offsets[i+1]; e++ {
			if s.label[s.to[e]] == c {
				sum += s.cost[e]
			}
		}
	}
	for i, d := range s.degree {
		sum += s.rate * d * (s.mass[s.label[i]] - d)
	}
	return s.within + sum/2
}

// compact numbers the clusters that are not empty from 0 and returns the numbers.
func (s *state) compact() []int32 {
	number, next := make([]int32, len(s.size)), int32(0)
	for c, size := range s.size {
		if size > 0 {
			number[c] = next
			next++
		}
	}
	return number
}

// collapse returns the edges between the clusters, which become nodes of the given
// numbers: an edge costs what those between members of the two add up to.
func (s *state) collapse(number []int32) *edges {
	members := make([]int32, len(s.label)) // by cluster
	start := make([]int, len(s.size)+1)
	for c, size := range s.size {
		start[c+1] = start[c] + int(size)
	}
	fill := slices.Clone(start)
	for i, c := range s.label {
		members[fill[c]] = int32(i)
		fill[c]++
	}
	out := &edges{offsets: []int{0}, within: s.loss, rate: s.rate}
	for c := range s.size {
		if s.size[c] == 0 {
			continue
		}
		if s.degree != nil {
			out.degree = append(out.degree, s.mass[c])
		}
		for _, i := range members[start[c]:start[c+1]] {
			s.sum(int(i))
			out.tokens.add(s.tokens.of(int(i)))
		}
		out.tokens.end(s.tokens)
		for _, d := range s.touched {
			// A sum that passed through 0 is listed again.
			if cost := s.joining[d]; int(d) != c && cost != 0 {
				out.to, out.cost = append(out.to, number[d]), append(out.cost, cost)
				s.joining[d] = 0
			}
		}
		s.forget()
		out.offsets = append(out.offsets, len(out.to))
	}
	return out
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
