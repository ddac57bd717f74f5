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
	near := make([]int32, len(labels)) // in half of the memory
	for i, l := range labels {
		near[i] = int32(l)
	}
	out, workers := make([]float64, len(labels)), make([]*Links, parallel.Threads(0))
	err := parallel.Blocks(context.Background(), len(workers), len(labels), 4096, func(worker, lo, hi int) {
		var list []fewLinks
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			if len(index) <= few {
				var s Standing
				s, list = standing(near, near[i], index, weight, list[:0])
				out[i] = s.Confidence()
				continue
			}
			if workers[worker] == nil {
				workers[worker] = &Links{to: make([]linkSums, clusters)}
			}
			links := workers[worker]
			for e, j := range index {
				links.Add(labels[j], float64(weight[e]))
			}
			out[i] = links.Standing(labels[i]).Confidence()
			links.Clear()
		}
	})
	return out, err
}

// few is the number of links up to which to search the clusters that they lead to takes less time than
// to keep a place for every cluster, which no cache holds.
const few = 100

// fewLinks are the links into one cluster.
type fewLinks struct {
	cluster       int32
	weight, wrong float64 // as in linkSums
}

// standing is Links.Standing, without Runner, of a sample in the cluster own. list is room for the
// clusters that its links lead to, and is returned.
func standing(labels []int32, own int32, index []int32, weight []float32, list []fewLinks) (Standing, []fewLinks) {
	list = append(list, fewLinks{own, 0, 1})
	for e, j := range index {
		c, p := labels[j], float64(weight[e])
		at := 0
		for at < len(list) && list[at].cluster != c {
			at++
		}
		if at == len(list) {
			list = append(list, fewLinks{c, 0, 1})
		}
		list[at].weight += p
		list[at].wrong *= 1 - p
	}
	s := Standing{Linked: 1 - list[0].wrong, Own: list[0].weight, Runner: -1}
	for _, other := range list[1:] {
		s.Next = max(s.Next, other.weight)
	}
	return s, list
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
