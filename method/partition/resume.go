package partition

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// Resume returns the partition that is found from a given one on, and reports progress as Find
// does. labels holds the cluster of every sample, at least 0, or -1 for a sample alone in a new
// one; they must meet the constraints. At first, only the samples that touched marks may move,
// and of the aggregates those with such samples, or that such samples have left; others follow
// once what they have edges to has moved, with a resolution and 30,000 nodes or more only where that
// has not joined them. If nothing is marked, nothing moves. The labels of the result are numbered as
// those of Find. The errors are those of Find, and labels or marks that are not one per sample.
func Resume(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, labels []int, touched []bool, random *rand.Rand, progress func(sweep int)) (*Result, error) {
	if err := check(g, resolution, constraints, &set); err != nil {
		return nil, err
	}
	if random == nil {
		return nil, errNoRandom
	}
	if n := g.Samples(); len(labels) != n || len(touched) != n {
		return nil, fmt.Errorf("there are %d labels and %d marks for a graph of %d samples; give one of each per sample", len(labels), len(touched), n)
	}
	all, err := newNetwork(ctx, g, resolution, constraints, set)
	if err != nil {
		return nil, err
	}
	base := components(all, constraints)
	samples := singletons(base.nodes)
	in, moving := slices.Repeat([]int{-1}, base.count()), make([]bool, base.count())
	for i, l := range labels {
		if l >= 0 { // a new sample goes where those are that it is moved together with
			in[base.of[i]] = l
		}
		moving[base.of[i]] = moving[base.of[i]] || touched[i]
	}
	f := &search{ctx: ctx, set: set, random: random, progress: progress}
	return f.resume(samples, base, compacted(in), moving)
}

// resume moves the nodes of base that may move on from a partition.
func (f *search) resume(samples *state, base *aggregation, start []int32, moving []bool) (*Result, error) {
	samples.assign(start, 0)
	samples.loss = samples.objective()
	copy(samples.active, moving)
	f.restricted = &restriction{touched: moving, start: slices.Clone(start)}
	if err := f.optimise(samples); err != nil {
		return nil, err
	}
	return &Result{Number(base.clusters(samples.label)), f.sweeps}, nil
}

// compacted numbers the labels from 0, in their order, and then those that are alone.
func compacted[L int | int32](labels []L) []int32 {
	used := slices.Clone(labels)
	slices.Sort(used)
	used = slices.Compact(used)
	if len(used) > 0 && used[0] < 0 {
		used = used[1:]
	}
	out, next := make([]int32, len(labels)), int32(len(used))
	for i, l := range labels {
		if at, found := slices.BinarySearch(used, l); found {
			out[i] = int32(at)
		} else {
			out[i] = next
			next++
		}
	}
	return out
}

// restriction is the part of a partition that may move. A nil *restriction restricts nothing.
type restriction struct {
	touched []bool  // by sample
	start   []int32 // clusters of the samples at the beginning
	movable []bool  // by sample: whether it is in a cluster that may move
}

// begin notes which clusters may move: those that have touched samples, or that one has left.
func (r *restriction) begin(samples *state) {
	if r == nil {
		return
	}
	clusters := make([]bool, len(samples.size))
	for i, c := range samples.label {
		if r.touched[i] || c != r.start[i] {
			clusters[c], clusters[r.start[i]] = true, true
		}
	}
	r.movable = make([]bool, len(samples.label))
	for i, c := range samples.label {
		r.movable[i] = clusters[c]
	}
}

// activateNodes makes the nodes active that may move. Sample i is in node nodeOf[i].
func (r *restriction) activateNodes(nodes *state, nodeOf []int32) {
	if r == nil {
		return
	}
	clear(nodes.active)
	for i, node := range nodeOf {
		if r.movable[i] {
			nodes.active[node] = true
		}
	}
}

// activateSamples makes the samples active that may move after aggregates did. before holds the clusters before that.
func (r *restriction) activateSamples(samples *state, before []int32) {
	if r == nil {
		return
	}
	merged := samples.activateMerged(before)
	// In the numbers that clusters have now.
	for i, c := range samples.label {
		r.start[i] = c
		r.touched[i] = r.touched[i] || merged[c]
	}
}
