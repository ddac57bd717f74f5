package mvclust

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/linkage"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
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
					dst[t] += float32(distance(s, x) / means[v])
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
	return labels, nil
}

// walked returns the graph that partitions are compared on: that of the 10 most probable neighbours, or of
// all links where these are not known.
func walked(ctx context.Context, near *refine.Neighbourhoods, links *graph.Graph, threads int) (*graph.Graph, error) {
	if near == nil {
		return links, nil
	}
	return near.Graph(ctx, min(10, near.K()), threads)
}

// distance returns how far two samples of the given similarity are apart.
func distance(s *similarity.Space, x float32) float64 {
	if s.Metric() == similarity.Cosine {
		return math.Max(0, 1-float64(x))
	}
	return -float64(x)
}

// measured is how many samples a mean distance rests on.
const measured = 300

// meanDistance returns that of some of the samples which have the view, evenly spaced.
func meanDistance(s *similarity.Space) float64 {
	count := min(measured, s.Count())
	some, values := make([]int32, count), make([]float32, count)
	for t := range some {
		some[t] = int32(s.Sample(t * s.Count() / count))
	}
	sum := 0.0
	for t, i := range some {
		s.Similarities(values, int(i), some)
		for u, x := range values {
			if u != t {
				sum += distance(s, x)
			}
		}
	}
	return sum / float64(max(1, count*(count-1)))
}
