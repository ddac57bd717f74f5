package partition

import "github.com/mvclust/mvclust/method/graph"

// Confidence returns for every sample, in [0, 1], how sure its place is. labels
// holds the cluster of every sample, numbered from 0. Write q(c) for the sum of
// the sample's edge weights to cluster c, own for its cluster and next for the
// other cluster with the largest q. Then
//
//	confidence = (1 - product over edges e within own of (1 - P(e)))
//	             x max(0, (q(own) - q(next)) / (q(own) + q(next))):
//
// the probability that at least one of the links into the cluster is right,
// times the lead over the runner-up. It is 0 for a sample that is alone or is
// drawn as much to another cluster, and close to 1 only for a sample with strong
// links that all lead into its cluster.
func Confidence(g *graph.Graph, labels []int) []float64 {
	clusters := 0
	for _, l := range labels {
		clusters = max(clusters, l+1)
	}
	out := make([]float64, len(labels))
	q := make([]float64, clusters)
	for i, own := range labels {
		index, weight := g.Of(i)
		unlinked := 1.0
		for e, j := range index {
			p := float64(weight[e])
			q[labels[j]] += p
			if labels[j] == own {
				unlinked *= 1 - p
			}
		}
		next := 0.0
		for _, j := range index {
			if c := labels[j]; c != own {
				next = max(next, q[c])
			}
		}
		if q[own] > next {
			out[i] = (1 - unlinked) * (q[own] - next) / (q[own] + next)
		}
		for _, j := range index {
			q[labels[j]] = 0
		}
	}
	return out
}
