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

// MostLinked is the most samples for which average linkage is tried under Auto: it compares all pairs.
const MostLinked = 5000

// linked returns so many clusters of samples by average linkage, nil where no view tells samples apart or
// where equal rows would be apart. alike is what view.Equal returns.
func linked(ctx context.Context, views []ModelView, samples, clusters int, alike []int32, threads int) ([]int, error) {
	d, err := distances(ctx, views, nil, threads)
	if err != nil || d.Views() == 0 {
		return nil, err
	}
	tree, err := linkage.Average(ctx, samples, d.Of, threads)
	if err != nil {
		return nil, err
	}
	labels, err := tree.Cut(clusters)
	if err != nil || parted(labels, alike) {
		return nil, err
	}
	return partition.Number(labels), nil
}

// parted reports whether samples of equal rows are in different clusters. alike is what view.Equal returns.
func parted(labels []int, alike []int32) bool {
	for i, first := range alike {
		if labels[i] != labels[first] {
			return true
		}
	}
	return false
}

// distances returns those of the rows as they are given, in the views that are not left out. Sample i is order[i]
// of the views; nil keeps their numbers.
func distances(ctx context.Context, views []ModelView, order sparse.Permutation, threads int) (*linkage.Distances, error) {
	var spaces []*similarity.Space
	for _, v := range views {
		if v.LeftOut || !v.HasRows() {
			continue
		}
		s, err := similarity.NewSpace(ctx, v.Rows, v.Metric, order, false, threads)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil { // else, as they are given, the rows cannot be compared; scaled, they could
			spaces = append(spaces, s)
		}
	}
	return linkage.NewDistances(spaces...)
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
