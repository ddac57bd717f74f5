package partition

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/method/graph"
)

// Places tells what every place of a sample is worth in a partition, in the terms that
// Find goes by.
type Places struct {
	g      *graph.Graph
	labels []int
	set    Settings
	degree []float64 // as those of edges
	mass   []float64 // cluster -> degrees of its samples
	rate   float64
}

// Place is what a cluster is worth to a sample.
type Place struct {
	// Cluster is the number of the cluster.
	Cluster int `json:"cluster"`
	// Links counts the sample's edges into the cluster, and Weight adds up their
	// probabilities.
	Links  int     `json:"links"`
	Weight float64 `json:"weight"`
	// For is what speaks for being there, and Against what speaks against it: with a
	// Resolution γ, Weight, and γ times the weight expected of so many and so strong
	// links by chance; without one, the log-odds of the edges above 1/2, and the negative
	// of those of the others, clipped as Eq. pi_loss has them.
	For     float64 `json:"for"`
	Against float64 `json:"against"`
	// Gain is For less Against: by how much being there lowers what Find lowers, in
	// comparison with being alone. Where a sample moves from one cluster to another, the
	// objective falls by the difference of their gains.
	Gain float64 `json:"gain"`
}

// NewPlaces prepares the partition of g, found by set, in which labels holds the cluster of
// every sample, numbered from 0. It keeps both. The errors are those of Settings.Resolve,
// labels that are not of the samples of g, and the context's own.
func NewPlaces(ctx context.Context, g *graph.Graph, labels []int, set Settings) (*Places, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	if len(labels) != g.Samples() {
		return nil, fmt.Errorf("there are %d labels for a graph of %d samples; give one per sample", len(labels), g.Samples())
	}
	p := &Places{g: g, labels: labels, set: set}
	for i, l := range labels {
		if l < 0 {
			return nil, fmt.Errorf("sample %d (counted from 0) has the label %d; number clusters from 0", i, l)
		}
	}
	if set.Resolution == 0 {
		return p, nil
	}
	p.degree = make([]float64, len(labels))
	all := 0.0
	for i, l := range labels {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		_, weight := g.Of(i)
		for _, w := range weight {
			p.degree[i] += float64(w)
		}
		for l >= len(p.mass) {
			p.mass = append(p.mass, 0)
		}
		p.mass[l] += p.degree[i]
		all += p.degree[i]
	}
	if all > 0 {
		p.rate = set.Resolution / all
	}
	return p, nil
}

// Of returns what the clusters are worth to sample i: its own first, whether or not it
// has an edge to others there, and then all others that it has an edge to, those of the
// largest gain first and, among equals, those of the lowest number.
func (p *Places) Of(i int) []Place {
	own := p.labels[i]
	places := []Place{{Cluster: own}}
	at := map[int]int{own: 0}
	index, weight := p.g.Of(i)
	for e, j := range index {
		k, ok := at[p.labels[j]]
		if !ok {
			k = len(places)
			at[p.labels[j]] = k
			places = append(places, Place{Cluster: p.labels[j]})
		}
		x := &places[k]
		w := float64(weight[e])
		x.Links++
		x.Weight += w
		switch cost := p.set.cost(w); {
		case cost < 0:
			x.For -= cost
		default:
			x.Against += cost
		}
	}
	for k := range places {
		x := &places[k]
		if p.degree != nil {
			others := p.mass[x.Cluster]
			if k == 0 {
				others -= p.degree[i]
			}
			x.Against += p.rate * p.degree[i] * max(0, others)
		}
		x.Gain = x.For - x.Against
	}
	slices.SortFunc(places[1:], func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Gain, a.Gain), a.Cluster-b.Cluster)
	})
	return places
}
