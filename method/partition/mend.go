package partition

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// Mend returns a partition that meets the constraints and is near the one of labels, which need
// not: samples that must be together are in the cluster that most of them were in, of several the
// lowest; of two in a cluster that may not be, the one that is linked less to it leaves. Then these
// samples, and those that they have edges to, move on as in Resume. The errors are those of Find,
// and labels that are not one per sample and at least 0.
func Mend(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, labels []int, random *rand.Rand) (*Result, error) {
	if err := check(g, resolution, constraints, &set); err != nil {
		return nil, err
	}
	if random == nil {
		return nil, errNoRandom
	}
	if err := checkLabels(labels, g.Samples()); err != nil {
		return nil, err
	}
	all, err := newNetwork(ctx, g, resolution, constraints, set)
	if err != nil {
		return nil, err
	}
	base := components(all, constraints)
	given := compacted(labels)
	most := base.most(given)
	free := singletons(base.nodes.unconstrained())
	free.assign(compacted(most), 0)
	before := slices.Clone(free.label)
	start := free.repair(base.nodes)
	moving := make([]bool, base.count())
	for i, node := range base.of {
		if given[i] == most[node] && start[node] == before[node] {
			continue
		}
		moving[node] = true
		for e := all.offsets[i]; e < all.offsets[i+1]; e++ {
			moving[base.of[all.to[e]]] = true
		}
	}
	f := &search{ctx: ctx, set: set, random: random}
	return f.resume(singletons(base.nodes), base, start, moving)
}

// most returns for every node the label that most of its samples have, of several the lowest.
func (l *aggregation) most(labels []int32) []int32 {
	counts := map[[2]int32]int32{}
	out := slices.Repeat([]int32{-1}, l.count())
	for i, node := range l.of {
		at := [2]int32{node, labels[i]}
		counts[at]++
		n, best := counts[at], counts[[2]int32{node, out[node]}]
		if n > best || n == best && labels[i] < out[node] {
			out[node] = labels[i]
		}
	}
	return out
}
