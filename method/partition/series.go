package partition

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// Series finds partitions of one graph at many resolutions. Of up to few samples, each
// is found on its own. Of more, samples are moved out of singletons once, at the finest
// resolution, and the other partitions are made of whole clusters of finer ones, until
// Refine moves samples again.
type Series struct {
	set         Settings
	constraints *constraint.Resolved
	samples     *level  // samples that must be together are one node
	all         float64 // sum of all degrees
	inner       float64 // sum of the products of degrees within these nodes
}

// few is a number of nodes out of which partitions are found without more ado.
const few = 5000

// level is a partition whose clusters are nodes.
type level struct {
	nodes *edges
	of    []int32 // sample -> node
}

// NewSeries prepares g for resolutions up to finest, under constraints, which may be nil. The
// errors are those of Find.
func NewSeries(ctx context.Context, g *graph.Graph, finest float64, constraints *constraint.Resolved, set Settings) (*Series, error) {
	if err := resolve(&set, finest); err != nil {
		return nil, err
	}
	samples, err := edgesOf(ctx, g, finest, constraints, set)
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

// base returns what the finest partitions are made of: single samples, or, of many, the
// clusters of the finest resolution.
func (s *Series) base(ctx context.Context, random *rand.Rand) (*level, error) {
	if s.samples.count() <= few {
		return s.samples, nil
	}
	found := singletons(s.samples.nodes)
	f := &finder{ctx: ctx, set: s.set, random: random}
	if _, err := f.descend(0, found); err != nil {
		return nil, err
	}
	return found.level(s.samples.clusters(found.label)), nil
}

// level returns the partition's clusters as nodes; cluster holds that of every sample.
func (s *state) level(cluster []int32) *level {
	number := s.compact()
	l := &level{s.collapse(number), make([]int32, len(cluster))}
	for i, c := range cluster {
		l.of[i] = number[c]
	}
	return l
}

// clusters returns the cluster of every sample, given that of every node.
func (l *level) clusters(label []int32) []int32 {
	out := make([]int32, len(l.of))
	for i, node := range l.of {
		out[i] = label[node]
	}
	return out
}

// count returns the number of nodes.
func (l *level) count() int { return len(l.nodes.offsets) - 1 }

// at returns the edges at a resolution.
func (s *Series) at(e *edges, resolution float64) *edges {
	out := *e
	if out.rate = 0; s.all > 0 {
		out.rate = resolution / s.all
	}
	return &out
}

// apart is how many resolutions finer at least the clusters are that those of a
// resolution are made of, where there are more than few of them.
const apart = 5

// Each calls do with the partition at every one of resolutions, which rise: the cluster
// of every sample, numbered from 0 in no particular order, the number of clusters, and the
// strain of what is Known: how far it contradicts the pairs that would be together if whole
// clusters could be merged all the same, from 0 to 1.
// random is asked for a source for each, and for that of resolution 0, which serves before
// them. The only error is the context's own.
func (s *Series) Each(ctx context.Context, resolutions []float64, random func(resolution float64) *rand.Rand, do func(r int, labels []int32, clusters int, strain float64)) error {
	base, err := s.base(ctx, random(0))
	if err != nil {
		return err
	}
	next := base
	for r, resolution := range slices.Backward(resolutions) {
		f := &finder{ctx: ctx, set: s.set, random: random(resolution)}
		nodes := singletons(s.at(base.nodes, resolution))
		if _, err := f.descend(1, nodes); err != nil {
			return err
		}
		if _, err := f.climb(nodes); err != nil {
			return err
		}
		found := nodes.level(base.clusters(nodes.label))
		strain, err := f.strain(found, s.constraints)
		if err != nil {
			return err
		}
		do(r, found.of, found.count(), strain)
		if (len(resolutions)-1-r)%apart == 0 && base.count() > few {
			base, next = next, found
		}
	}
	return nil
}

// Refine moves samples and clusters from a partition on, as Find does from singletons
// on. The only error is the context's own.
func (s *Series) Refine(ctx context.Context, resolution float64, labels []int32, random *rand.Rand) (*Result, error) {
	f := &finder{ctx: ctx, set: s.set, random: random}
	samples := singletons(s.at(s.samples.nodes, resolution))
	samples.within += samples.rate * s.inner
	of := make([]int32, len(samples.label))
	for i, node := range s.samples.of {
		of[node] = labels[i]
	}
	samples.assign(of, 0)
	samples.loss = samples.objective()
	return f.settle(samples, s.samples)
}
