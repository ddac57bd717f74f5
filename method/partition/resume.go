package partition

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// Resume moves samples on from a partition that was found before. Only those that touched
// marks want to move at first, and only clusters that have such samples, or have had them,
// are moved as wholes; others follow where what they have edges to has moved. Nothing
// happens where nothing is marked. labels holds the cluster of every sample, at least 0,
// or -1 for one that is alone in a new one; they must meet the constraints, and the result does. It returns the labels as Result has them, and reports progress, as Find does.
func Resume(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, labels []int, touched []bool, random *rand.Rand, progress func(sweep int)) (*Result, error) {
	if err := resolve(&set, resolution); err != nil {
		return nil, err
	}
	all, err := edgesOf(ctx, g, resolution, constraints, set)
	if err != nil {
		return nil, err
	}
	base := components(all, constraints)
	samples := singletons(base.nodes)
	start, moving := make([]int32, base.count()), make([]bool, base.count())
	for i, l := range compacted(labels) {
		start[base.of[i]] = l
		moving[base.of[i]] = moving[base.of[i]] || touched[i]
	}
	samples.assign(start, 0)
	samples.loss = samples.objective()
	copy(samples.stale, moving)
	f := &finder{ctx: ctx, set: set, random: random, progress: progress, part: &part{touched: moving, start: slices.Clone(start)}}
	if err := f.rise(samples); err != nil {
		return nil, err
	}
	return &Result{Number(base.clusters(samples.label)), f.sweeps}, nil
}

// compacted numbers the labels from 0, in their order, and then those that are alone.
func compacted(labels []int) []int32 {
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

// part is what is moved of a partition, where not all is.
type part struct {
	touched []bool  // by sample
	start   []int32 // clusters of the samples at the beginning
	mark    []bool  // by sample: whether it is in a cluster that is moved
	before  []int32 // clusters of the samples before they were moved as wholes
}

// begin notes which clusters may be moved: those that have touched samples, or that one
// has left.
func (p *part) begin(samples *state) {
	if p == nil {
		return
	}
	p.before = slices.Clone(samples.label)
	clusters := make([]bool, len(samples.size))
	for i, c := range samples.label {
		if p.touched[i] || c != p.start[i] {
			clusters[c], clusters[p.start[i]] = true, true
		}
	}
	p.mark = make([]bool, len(samples.label))
	for i, c := range samples.label {
		p.mark[i] = clusters[c]
	}
}

// wake marks the nodes, of which sample i is in of[i], that may want to move.
func (p *part) wake(nodes *state, of []int32) {
	if p == nil {
		return
	}
	clear(nodes.stale)
	for i, node := range of {
		if p.mark[i] {
			nodes.stale[node] = true
		}
	}
}

// rouse marks the samples that may want to move after clusters were: those of clusters
// that are now one, and what has edges to them.
func (p *part) rouse(samples *state) {
	if p == nil {
		return
	}
	clear(samples.stale)
	first, joined := make([]int32, len(samples.size)), make([]bool, len(samples.size))
	for c := range first {
		first[c] = -1
	}
	for i, c := range samples.label {
		switch {
		case first[c] < 0:
			first[c] = p.before[i]
		case first[c] != p.before[i]:
			joined[c] = true
		}
	}
	for i, c := range samples.label {
		if !joined[c] {
			continue
		}
		samples.stale[i] = true
		for e := samples.offsets[i]; e < samples.offsets[i+1]; e++ {
			samples.stale[samples.to[e]] = true
		}
	}
	// In the numbers that clusters have now.
	for i, c := range samples.label {
		p.start[i] = c
		p.touched[i] = p.touched[i] || joined[c]
	}
}
