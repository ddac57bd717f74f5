package partition

import (
	"context"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
)

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
//
// The errors are those of Graph.Check, and labels that are not of the samples of g.
func Confidence(g *graph.Graph, labels []int) ([]float64, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := checkLabels(labels, g.Samples()); err != nil {
		return nil, err
	}
	clusters := 0
	for _, l := range labels {
		clusters = max(clusters, l+1)
	}
	out, workers := make([]float64, len(labels)), make([]*Links, parallel.Threads(0))
	err := parallel.Blocks(context.Background(), len(workers), len(labels), 4096, func(worker, lo, hi int) {
		if workers[worker] == nil {
			workers[worker] = &Links{to: make([]linkSums, clusters)}
		}
		links := workers[worker]
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			for e, j := range index {
				links.Add(labels[j], float64(weight[e]))
			}
			out[i] = links.Standing(labels[i]).Confidence()
			links.Clear()
		}
	})
	return out, err
}

// Standing is what the confidence of a sample is made of.
type Standing struct {
	// Linked is the probability that at least one link into the own cluster is right.
	Linked float64
	// Own is q(own), and Next is q(next).
	Own, Next float64
	// Runner is the cluster next, or -1 where there is none.
	Runner int
}

// Standing returns the standing of a sample with these links in the cluster own. It panics if
// own is out of range.
func (l *Links) Standing(own int) Standing {
	s := Standing{Own: l.to[own].weight}
	if l.to[own].count > 0 {
		s.Linked = 1 - l.to[own].wrong
	}
	s.Runner, s.Next = l.Next(own)
	return s
}

// Lead returns max(0, (Own - Next) / (Own + Next)).
func (s Standing) Lead() float64 {
	if s.Own <= s.Next {
		return 0
	}
	return (s.Own - s.Next) / (s.Own + s.Next)
}

// Confidence returns Linked x Lead, by the formula of the function Confidence.
func (s Standing) Confidence() float64 {
	if s.Own <= s.Next {
		return 0
	}
	return s.Linked * (s.Own - s.Next) / (s.Own + s.Next)
}
