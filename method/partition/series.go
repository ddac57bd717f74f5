package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// Series finds partitions of one graph at many resolutions. Of at most smallGraph nodes, each is
// found from singletons on. In larger graphs, single samples are moved once, at the finest
// resolution; partitions of coarser resolutions are then made of the clusters of finer ones.
// Refine moves single samples again.
type Series struct {
	set         Settings
	constraints *constraint.Resolved
	samples     *aggregation // samples that must be together are one node
	all         float64      // sum of all degrees
	inner       float64      // sum of the products of degrees within these nodes
}

// smallGraph is the number of nodes up to which every partition is found from singletons on.
const smallGraph = 5000

// aggregation is a partition whose clusters are nodes.
type aggregation struct {
	nodes *network
	of    []int32 // sample -> node
}

// NewSeries prepares g for resolutions up to finest, under constraints, which may be nil. The
// errors are those of Find.
func NewSeries(ctx context.Context, g *graph.Graph, finest float64, constraints *constraint.Resolved, set Settings) (*Series, error) {
	if err := check(g, finest, constraints, &set); err != nil {
		return nil, err
	}
	samples, err := newNetwork(ctx, g, finest, constraints, set)
	if err != nil {
		return nil, err
	}
	s := &Series{set: set, constraints: constraints, samples: components(samples, constraints)}
	s.inner = samples.inner(s.samples)
	s.samples.nodes.within -= samples.rate * s.inner
	for _, d := range samples.degree {
		s.all += d
	}
	return s, nil
}

// base returns the nodes of the finest partitions: what is moved together, or, in larger graphs,
// the clusters of the finest resolution.
func (s *Series) base(ctx context.Context, random *rand.Rand) (*aggregation, error) {
	if random == nil {
		return nil, errNoRandom
	}
	if s.samples.count() <= smallGraph {
		return s.samples, nil
	}
	found := singletons(s.samples.nodes)
	f := &search{ctx: ctx, set: s.set, random: random}
	if _, err := f.moveNodes(0, found); err != nil {
		return nil, err
	}
	return found.aggregation(s.samples.clusters(found.label)), nil
}

// aggregation returns the clusters as nodes; cluster holds that of every sample.
func (s *state) aggregation(cluster []int32) *aggregation {
	number := s.numberClusters()
	return &aggregation{s.aggregate(number), renamed(cluster, number)}
}

// renamed returns the numbers of the clusters.
func renamed(clusters, number []int32) []int32 {
	out := make([]int32, len(clusters))
	for i, c := range clusters {
		out[i] = number[c]
	}
	return out
}

// clusters returns the cluster of every sample, given that of every node.
func (l *aggregation) clusters(label []int32) []int32 {
	out := make([]int32, len(l.of))
	for i, node := range l.of {
		out[i] = label[node]
	}
	return out
}

// count returns the number of nodes.
func (l *aggregation) count() int { return len(l.nodes.offsets) - 1 }

// at returns the edges at a resolution.
func (s *Series) at(e *network, resolution float64) *network {
	out := *e
	if out.rate = 0; s.all > 0 {
		out.rate = resolution / s.all
	}
	return &out
}

// attracting returns e without the edges that weigh less than what it costs that their ends are in one
// cluster: they alone join nothing, and in large graphs of clusters most are such.
func (e *network) attracting() *network {
	out := *e
	out.offsets, out.to, out.cost = make([]int, 1, len(e.offsets)), nil, nil
	for i, degree := range e.degree {
		for at := e.offsets[i]; at < e.offsets[i+1]; at++ {
			if j := e.to[at]; e.cost[at]+e.rate*degree*e.degree[j] <= 0 {
				out.to, out.cost = append(out.to, j), append(out.cost, e.cost[at])
			}
		}
		out.offsets = append(out.offsets, len(out.to))
	}
	return &out
}

// step is how many resolutions finer the clusters are, at least, that the nodes of a larger
// graph's partition are.
const step = 5

// Each calls do with a partition at every one of the resolutions, which must rise: its place in
// them, the cluster of every sample, numbered from 0 in no particular order, and the number of
// clusters. random returns the source of random numbers for a resolution; it is called with 0
// first, for the nodes of larger graphs. Each returns the node of every sample, of which all these
// clusters are made; nil where it is a single sample, or what is moved together. It is an error if a
// function is nil, if random returns nil, if a resolution is out of range, or if ctx is done.
func (s *Series) Each(ctx context.Context, resolutions []float64, random func(resolution float64) *rand.Rand, do func(r int, labels []int32, clusters int)) (nodes []int32, err error) {
	if random == nil || do == nil {
		return nil, errors.New("there is no source of random numbers, or no function to call with partitions; pass both")
	}
	for _, resolution := range resolutions {
		if !(resolution > 0 && resolution <= math.MaxFloat64) {
			return nil, fmt.Errorf("the resolution %v is not above 0 and finite", resolution)
		}
	}
	base, err := s.base(ctx, random(0))
	if err != nil {
		return nil, err
	}
	if base != s.samples {
		nodes = base.of
	}
	next, edges := base, (*network)(nil) // edges: those of base that matter at the resolutions at hand
	for r, resolution := range slices.Backward(resolutions) {
		f := &search{ctx: ctx, set: s.set, random: random(resolution)}
		if f.random == nil {
			return nil, errNoRandom
		}
		done := len(resolutions) - 1 - r
		if edges == nil {
			edges = base.nodes
			if base.count() > smallGraph && len(base.of) >= manyNodes {
				until := max(1, (done+step-1)/step) * step // when base is replaced
				edges = s.at(base.nodes, resolutions[max(0, len(resolutions)-1-until)]).attracting()
			}
		}
		state := singletons(s.at(edges, resolution))
		if _, err := f.moveNodes(1, state); err != nil {
			return nil, err
		}
		if _, err := f.moveAggregates(state); err != nil {
			return nil, err
		}
		number := state.numberClusters()
		labels := renamed(base.clusters(state.label), number)
		do(r, labels, len(state.size)-len(state.empty))
		if done%step == 0 && base.count() > smallGraph {
			if base != next {
				edges = nil
			}
			state.network = *s.at(base.nodes, resolution)
			base, next = next, &aggregation{state.aggregate(number), labels}
		}
	}
	return nodes, nil
}

// Refine moves samples and clusters from a partition on, as Find does from singletons
// on. labels are as Each gives them. It is an error if they are not, if the resolution is out of
// range, if random is nil, or if ctx is done.
func (s *Series) Refine(ctx context.Context, resolution float64, labels []int32, random *rand.Rand) (*Result, error) {
	if !(resolution > 0 && resolution <= math.MaxFloat64) {
		return nil, fmt.Errorf("the resolution %v is not above 0 and finite", resolution)
	}
	if random == nil {
		return nil, errNoRandom
	}
	if len(labels) != len(s.samples.of) {
		return nil, fmt.Errorf("there are %d labels for a graph of %d samples; give one per sample", len(labels), len(s.samples.of))
	}
	for i, l := range labels {
		if l < 0 || int(l) >= s.samples.count() {
			return nil, fmt.Errorf("sample %d (counted from 0) has the label %d; number clusters from 0 to at most %d", i, l, s.samples.count()-1)
		}
	}
	f := &search{ctx: ctx, set: s.set, random: random}
	samples := singletons(s.at(s.samples.nodes, resolution))
	samples.within += samples.rate * s.inner
	of := make([]int32, len(samples.label))
	for i, node := range s.samples.of {
		of[node] = labels[i]
	}
	samples.assign(of, 0)
	samples.loss = samples.objective()
	return f.run(samples, s.samples)
}
