// Package partition finds the clusters that make the pair probabilities most likely
// (probabilistic clustering, Algorithm 1). It lowers Eq. pi_loss, or the negative of
// modularity, by moving nodes between clusters, as the Louvain method does: first samples,
// then, on several levels, clusters that were aggregated to nodes.
//
// It follows the method and may change in any minor version.
package partition

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
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

var errNoRandom = errors.New("there is no source of random numbers; pass one")

// check resolves the settings and reports what no search can start from.
func check(g *graph.Graph, resolution float64, constraints *constraint.Resolved, set *Settings) error {
	if err := resolve(set, resolution); err != nil {
		return err
	}
	if err := g.Check(); err != nil {
		return err
	}
	return constraints.Check(g.Samples())
}

// checkLabels reports labels that are not one for each of the samples, or that no clusters of
// theirs can have.
func checkLabels(labels []int, samples int) error {
	if len(labels) != samples {
		return fmt.Errorf("there are %d labels for a graph of %d samples; give one per sample", len(labels), samples)
	}
	most := max(1<<20, 4*samples) // of which updates may have left some unused
	for i, l := range labels {
		if l < 0 || l >= most {
			return fmt.Errorf("sample %d (counted from 0) has the label %d; number clusters from 0 to at most %d", i, l, most-1)
		}
	}
	return nil
}

// resolve is Settings.Resolve, and checks the resolution.
func resolve(s *Settings, resolution float64) error {
	return option.Resolve(append(s.Parameters(), ResolutionParameter(&resolution)))
}

// Steps returns how many sweeps Find makes at most: over the samples, and, in every cycle, over
// the aggregates of every higher level and over the samples once more; and three times as many
// where there are cannot-links.
func (s Settings) Steps(constraints *constraint.Resolved) int {
	steps := s.Sweeps
	if s.Levels > 1 {
		steps *= 1 + maxCycles*s.Levels
	}
	if constraints != nil && len(constraints.Exclusions.Values) > 0 {
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

// Find returns the partition of g that it finds from singletons on. It visits the samples in an
// order drawn anew for every sweep from random, and moves each to the cluster of a neighbour, or
// to one of its own, where the objective falls most, until nothing moves. With several levels it
// then aggregates the clusters to nodes, moves these in the same way, and so on, and moves single
// samples again; all of that while samples move, three times at most.
//
// The objective is Eq. pi_loss: the sum of log(P(e=0)/P(e=1)) over the edges within clusters.
// Pairs without an edge do not count, so that a sweep takes time in proportion to the edges.
//
// With a resolution γ above 0, it is the negative of modularity times the sum of all weights:
// every edge within a cluster counts -P, and every pair within one, with an edge or without,
// γ d(i) d(j) / (sum of all d), where d is the sum of a sample's weights. So there a missing edge
// counts against a pair.
//
// The constraints, which may be nil, hold throughout: what is moved together, such as a must-link
// component, is one node, and no move brings members of an exclusion together. They can always be
// met, since a partition into the nodes meets them.
//
// progress, if not nil, is called after every sweep with their number so far. The errors are
// those of Settings.Resolve, a resolution that is out of range, those of Graph.Check,
// constraints on other samples, no source of random numbers, and the context's own. A graph
// that Graph.Validate refuses, and Check does not, gives a partition that means nothing.
func Find(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, random *rand.Rand, progress func(sweep int)) (*Result, error) {
	if err := check(g, resolution, constraints, &set); err != nil {
		return nil, err
	}
	if random == nil {
		return nil, errNoRandom
	}
	f := &search{ctx: ctx, set: set, random: random, progress: progress}
	samples, err := newNetwork(ctx, g, resolution, constraints, set)
	if err != nil {
		return nil, err
	}
	base := components(samples, constraints)
	return f.run(singletons(base.nodes), base)
}

// search is one search for a partition.
type search struct {
	ctx        context.Context
	set        Settings
	random     *rand.Rand
	progress   func(sweep int)
	sweeps     []Sweep
	restricted *restriction // what may move; nil for all
}

// run finds the clusters from the partition s of the nodes of base on.
func (f *search) run(s *state, base *aggregation) (*Result, error) {
	if err := f.optimise(s); err != nil {
		return nil, err
	}
	s, err := f.relax(s)
	if err != nil {
		return nil, err
	}
	return &Result{Number(base.clusters(s.label)), f.sweeps}, nil
}

// maxCycles bounds how often samples are moved again after aggregates were.
const maxCycles = 3

// optimise moves samples, and then aggregates and samples again, while samples move.
func (f *search) optimise(samples *state) error {
	if _, err := f.moveNodes(0, samples); err != nil {
		return err
	}
	for range maxCycles {
		moves, err := f.moveAggregates(samples)
		if err != nil {
			return err
		}
		if moves == 0 {
			break
		}
	}
	return nil
}

// moveAggregates moves clusters as nodes, level by level, and then single samples, and
// returns the number of moves of samples.
func (f *search) moveAggregates(samples *state) (moves int, err error) {
	f.restricted.begin(samples)
	merged := slices.Clone(samples.label)
	below, nodeOf := samples, merged // nodeOf: sample -> node of the level below
	for level := 1; level < f.set.Levels; level++ {
		number := below.numberClusters()
		for i, cluster := range nodeOf {
			nodeOf[i] = number[cluster]
		}
		nodes := singletons(below.aggregate(number))
		f.restricted.activateNodes(nodes, nodeOf)
		moves, err := f.moveNodes(level, nodes)
		if err != nil {
			return 0, err
		}
		for i, node := range nodeOf {
			nodeOf[i] = nodes.label[node]
		}
		if moves == 0 {
			break
		}
		below = nodes
	}
	if below == samples {
		return 0, nil
	}
	before := slices.Clone(samples.label)
	samples.assign(merged, below.loss)
	if samples.many() {
		samples.activateMerged(before)
	}
	f.restricted.activateSamples(samples, before)
	return f.moveNodes(0, samples)
}

// moveNodes is local moving: it sweeps over the nodes of s until none moves, and returns the
// number of moves.
func (f *search) moveNodes(level int, s *state) (moves int, err error) {
	order := make([]int32, len(s.label))
	for i := range order {
		order[i] = int32(i)
	}
	for range f.set.Sweeps {
		f.shuffle(order)
		now := 0
		for at, i := range order {
			if at%1024 == 0 && f.ctx.Err() != nil {
				return 0, f.ctx.Err()
			}
			s.fetch(order, at, false)
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

// fetch brings the edges of the node that comes soon after place at in order into the cache: if it is active, or
// of any.
func (s *state) fetch(order []int32, at int, any bool) {
	at += edgesAhead
	if at >= len(order) || len(s.label) < manyNodes {
		return
	}
	i := order[at]
	if !any && !s.active[i] {
		return
	}
	from, end := s.offsets[i], s.offsets[i+1]
	kernel.Ahead(s.to[from:end])
	if s.cost == nil {
		kernel.Ahead(s.weight[from:end])
	} else {
		kernel.Ahead(s.cost[from:end])
	}
}

// edgesAhead is how many nodes before its turn the edges of a node are fetched.
const edgesAhead = 4

const (
	// manyNodes is the number of nodes from which on they are visited in blocks of blockNodes, since nodes
	// of near numbers share neighbours, whose labels then stay in the caches; and from which on fewer of them
	// are looked at again, see state.relabel and search.moveAggregates.
	manyNodes  = 30_000
	blockNodes = 512
)

// shuffle puts nodes in a random order: of many, blocks of them, and the nodes of each block.
func (f *search) shuffle(order []int32) {
	within := func(some []int32) {
		f.random.Shuffle(len(some), func(a, b int) { some[a], some[b] = some[b], some[a] })
	}
	if len(order) < manyNodes {
		within(order)
		return
	}
	at := 0
	for _, block := range f.random.Perm((len(order) + blockNodes - 1) / blockNodes) {
		from := at
		for i := block * blockNodes; i < min(len(order), (block+1)*blockNodes); i++ {
			order[at] = int32(i)
			at++
		}
		within(order[from:at])
	}
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
