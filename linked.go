package mvclust

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/linkage"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// linkable is the most samples for which average linkage is tried: it compares all pairs.
const linkable = 5000

// linked returns so many clusters of samples by average linkage, nil where equal rows would be apart. Two
// samples are as far apart as they are on average in the views that both have, each in units of its mean
// distance; without such a view they are at that mean. Rows are compared as they are given. alike is what
// view.Equal returns.
func linked(ctx context.Context, views []ModelView, samples, clusters int, alike []int32, threads int) ([]int, error) {
	var spaces []*similarity.Space
	var means []float64
	for _, v := range views {
		if v.LeftOut || !v.HasRows() {
			continue
		}
		s, err := similarity.NewSpace(ctx, v.Rows, v.Metric, nil, false, threads)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // as they are given, the rows cannot be compared; scaled, they could
		}
		if mean := meanDistance(s); mean > 0 {
			spaces, means = append(spaces, s), append(means, mean)
		}
	}
	if len(spaces) == 0 {
		return nil, ctx.Err()
	}
	all := make([]int32, samples)
	for i := range all {
		all[i] = int32(i)
	}
	tree, err := linkage.Average(ctx, samples, func(i int, dst []float32) {
		alone, count := make([]float32, len(dst)), make([]float32, len(dst))
		clear(dst)
		for v, s := range spaces {
			s.Similarities(alone, i, all[:i])
			for t, x := range alone {
				if x == x { // both have the view
					dst[t] += float32(float64(s.Distance(x)) / means[v])
					count[t]++
				}
			}
		}
		for t, c := range count {
			if dst[t] /= max(1, c); c == 0 {
				dst[t] = 1
			}
		}
	}, threads)
	if err != nil {
		return nil, err
	}
	labels, err := tree.Cut(clusters)
	if err != nil {
		return nil, err
	}
	for i, first := range alike {
		if labels[i] != labels[first] {
			return nil, nil
		}
	}
	return partition.Number(labels), nil
}

// leaving is the share of the samples that may gain by leaving their clusters at the resolution of holding,
// and least the lowest one.
const (
	leaving = 0.01
	least   = 1e-6
)

// holding returns the largest resolution, at most the given one, at which nearly all samples of the clusters
// gain by being in theirs. That of the level that the graph is from suits other clusters: by it, new
// samples of a large cluster would have no place, and an update would take it apart.
func holding(ctx context.Context, g *graph.Graph, labels []int, resolution float64, threads int) (float64, error) {
	degrees, err := partition.NewDegrees(ctx, g, labels, threads)
	if err != nil {
		return 0, err
	}
	var most []float64 // by sample: the resolution at which it gains nothing
	for i, l := range labels {
		inside := 0.0
		index, weight := g.Of(i)
		for e, j := range index {
			if labels[j] == l {
				inside += float64(weight[e])
			}
		}
		if others := degrees.Sample[i] * (degrees.Cluster[l] - degrees.Sample[i]); others > 0 {
			most = append(most, inside*degrees.All/others)
		}
	}
	if len(most) == 0 {
		return resolution, nil
	}
	slices.Sort(most)
	return min(resolution, max(least, most[int(leaving*float64(len(most)))])), nil
}

// walked returns the graph that partitions are compared on: that of the 10 most probable neighbours, or of
// all links where these are not known.
func walked(ctx context.Context, near *refine.Neighbourhoods, links *graph.Graph, threads int) (*graph.Graph, error) {
	if near == nil {
		return links, nil
	}
	return near.Graph(ctx, min(10, near.K()), threads)
}

// measured is how many samples a mean distance rests on.
const measured = 300

// meanDistance returns that of some of the samples which have the view, evenly spaced.
func meanDistance(s *similarity.Space) float64 {
	count := min(measured, s.Count())
	some, values := make([]int32, count), make([]float32, count)
	for t := range some {
		some[t] = int32(s.Sample(sparse.Spaced(t, count, s.Count())))
	}
	sum := 0.0
	for t, i := range some {
		s.Similarities(values, int(i), some)
		for u, x := range values {
			if u != t {
				sum += float64(s.Distance(x))
			}
		}
	}
	return sum / float64(max(1, count*(count-1)))
}
