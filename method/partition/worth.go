package partition

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
)

// cost returns what an edge of probability p within a cluster adds to the objective: -p
// with a Resolution, and else log((1 - p) / p), p being kept within [clip, 1-clip].
func cost(p, resolution, clip float64) float64 {
	if resolution > 0 {
		return -p
	}
	p = min(max(p, clip), 1-clip)
	return math.Log((1 - p) / p)
}

// Degrees holds sums of edge weights.
type Degrees struct {
	// Sample holds the degree of every sample: the sum of the weights of its edges.
	Sample []float64
	// Cluster holds the sum of the degrees of every cluster's samples.
	Cluster []float64
	// All is the sum of all degrees.
	All float64
}

// NewDegrees adds up the edges of g. labels holds the cluster of every sample, numbered
// from 0. The errors are those of Graph.Check, labels that are not of the samples of g, and the
// context's own.
func NewDegrees(ctx context.Context, g *graph.Graph, labels []int, threads int) (*Degrees, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := checkLabels(labels, g.Samples()); err != nil {
		return nil, err
	}
	d := &Degrees{Sample: make([]float64, len(labels))}
	err := parallel.Blocks(ctx, threads, len(labels), 4096, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			_, weight := g.Of(i)
			for _, w := range weight {
				d.Sample[i] += float64(w)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for i, c := range labels {
		for c >= len(d.Cluster) {
			d.Cluster = append(d.Cluster, 0)
		}
		d.Cluster[c] += d.Sample[i]
		d.All += d.Sample[i]
	}
	return d, nil
}

// Expected returns the weight that modularity expects of the edges between two sets of
// samples, of which a and b are the sums of the degrees: resolution x a x b / All.
func (d *Degrees) Expected(resolution, a, b float64) float64 {
	if d.All == 0 {
		return 0
	}
	return resolution * a * b / d.All
}

// Links adds up the links of one sample, or of several, by the cluster that they lead to.
type Links struct {
	// Clusters lists the clusters that links lead to, in the order of the first link to
	// each.
	Clusters []int32
	// All is the sum of the probabilities of all links.
	All float64

	to               []linkSums // by cluster
	costs            bool       // whether costs are added up
	resolution, clip float64
}

// linkSums are sums over the links into one cluster.
type linkSums struct {
	count  int
	weight float64 // of P
	wrong  float64 // the product of 1 - P, the probability that no link is right
	cost   float64 // of the costs, in the order of the links
	gain   float64 // of those below 0, negated
	loss   float64 // of the others
}

// NewLinks returns an empty sum for clusters numbered below the given number. Costs are
// those of Find with the resolution and the Clip. It panics if clusters is below 0 or too large
// for the memory.
func NewLinks(clusters int, resolution, clip float64) *Links {
	return &Links{to: make([]linkSums, clusters), costs: true, resolution: resolution, clip: clip}
}

// Add adds a link of probability p into a cluster. It panics if the cluster is
// out of range.
func (l *Links) Add(cluster int, p float64) {
	s := &l.to[cluster]
	if s.count == 0 {
		l.Clusters = append(l.Clusters, int32(cluster))
		s.wrong = 1
	}
	s.count++
	s.weight += p
	s.wrong *= 1 - p
	l.All += p
	if !l.costs {
		return
	}
	x := cost(p, l.resolution, l.clip)
	s.cost += x
	if x < 0 {
		s.gain -= x
	} else {
		s.loss += x
	}
}

// Clear forgets all links.
func (l *Links) Clear() {
	for _, c := range l.Clusters {
		l.to[c] = linkSums{}
	}
	l.Clusters, l.All = l.Clusters[:0], 0
}

// Count returns the number of links into a cluster. It panics if the cluster is
// out of range.
func (l *Links) Count(cluster int) int { return l.to[cluster].count }

// Weight returns the sum of the probabilities of the links into a cluster. It panics if the cluster is
// out of range.
func (l *Links) Weight(cluster int) float64 { return l.to[cluster].weight }

// Cost returns what the links into a cluster add to the objective within it. It panics if the cluster is
// out of range.
func (l *Links) Cost(cluster int) float64 { return l.to[cluster].cost }

// Next returns the cluster with the largest Weight but own, and the Weight: of equal ones
// the lowest number, and -1 and 0 where no Weight is above 0.
func (l *Links) Next(own int) (cluster int, weight float64) {
	cluster = -1
	for _, c := range l.Clusters {
		w := l.to[c].weight
		if int(c) != own && (w > weight || w == weight && int(c) < cluster) {
			cluster, weight = int(c), w
		}
	}
	return cluster, weight
}

// Worth says what clusters are worth to samples, by the objective that Find lowers.
type Worth struct {
	// Degrees are those of the graph and the clusters.
	Degrees *Degrees

	g                *graph.Graph
	labels           []int
	resolution, clip float64
	rate             float64 // resolution / Degrees.All
}

// Place is what a cluster is worth to a sample.
type Place struct {
	// Cluster is the number of the cluster.
	Cluster int `json:"cluster"`
	// Links counts the sample's edges into the cluster, and Weight adds up their
	// probabilities.
	Links  int     `json:"links"`
	Weight float64 `json:"weight"`
	// For and Against are the evidence for and against the sample's being there. With a
	// Resolution γ, For is Weight, and Against is γ times the weight expected by chance.
	// Without one, For is the sum of the log-odds of the edges above 1/2, and Against
	// that of the others, negated, clipped as in Eq. pi_loss.
	For     float64 `json:"for"`
	Against float64 `json:"against"`
	// Gain is For - Against: how much lower the objective is with the sample there than
	// with the sample alone. A move from one cluster to another lowers the objective by
	// the difference of their gains.
	Gain float64 `json:"gain"`
}

// NewWorth prepares the partition of g that was found with the settings. labels holds the
// cluster of every sample, numbered from 0. It keeps g and labels. The errors are those of
// Settings.Resolve, labels that are not of the samples of g, and the context's own.
func NewWorth(ctx context.Context, g *graph.Graph, labels []int, resolution float64, set Settings, threads int) (*Worth, error) {
	if err := resolve(&set, resolution); err != nil {
		return nil, err
	}
	degrees, err := NewDegrees(ctx, g, labels, threads)
	if err != nil {
		return nil, err
	}
	w := &Worth{Degrees: degrees, g: g, labels: labels, resolution: resolution, clip: set.Clip}
	if degrees.All > 0 {
		w.rate = resolution / degrees.All
	}
	return w, nil
}

// Cost returns what an edge of probability p within a cluster adds to the objective, apart
// from what chance adds.
func (w *Worth) Cost(p float64) float64 { return cost(p, w.resolution, w.clip) }

// Links returns an empty sum of links for the clusters.
func (w *Worth) Links() *Links { return NewLinks(len(w.Degrees.Cluster), w.resolution, w.clip) }

// LinksOf makes l, which is of w.Links, the sum of the links of sample i. It panics if i is out
// of range.
func (w *Worth) LinksOf(l *Links, i int) {
	l.Clear()
	index, weight := w.g.Of(i)
	for e, j := range index {
		l.Add(w.labels[j], float64(weight[e]))
	}
}

// against returns the weight expected by chance between a sample and a cluster, times the
// resolution, given the sums of the degrees of both.
func (w *Worth) against(degree, cluster float64) float64 {
	return w.rate * degree * max(0, cluster)
}

// Places returns what the clusters are worth to sample i, of which l has the links: its
// own cluster first, whether or not it has links there, and then all others that it has
// links to, by falling gain and, among equals, by number. It panics if i is out of range, or if
// l is not of w.Links.
func (w *Worth) Places(i int, l *Links) []Place {
	own := w.labels[i]
	places := []Place{w.place(i, own, l)}
	for _, c := range l.Clusters {
		if int(c) != own {
			places = append(places, w.place(i, int(c), l))
		}
	}
	slices.SortFunc(places[1:], func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), a.Cluster-b.Cluster)
	})
	return places
}

// place returns what one cluster is worth to sample i.
func (w *Worth) place(i, cluster int, l *Links) Place {
	s := &l.to[cluster]
	degree, others := w.Degrees.Sample[i], w.Degrees.Cluster[cluster]
	if cluster == w.labels[i] {
		others -= degree
	}
	p := Place{Cluster: cluster, Links: s.count, Weight: s.weight, For: s.gain}
	p.Against = s.loss + w.against(degree, others)
	p.Gain = p.For - p.Against
	return p
}

// Best returns the cluster that is worth most to a new sample with the links l, of equal
// ones the lowest number, or -1 where the sample is better off alone. The links add to the
// degrees of the samples that they lead to. It panics if l is not of w.Links.
func (w *Worth) Best(l *Links) int {
	best, least := -1, 0.0
	for _, c := range l.Clusters {
		s := &l.to[c]
		x := s.cost + w.against(l.All, w.Degrees.Cluster[c]+s.weight)
		if x < least || x == least && int(c) < best {
			best, least = int(c), x
		}
	}
	return best
}
