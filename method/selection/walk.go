package selection

import (
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// walk is what the random walk goes over: a graph of nodes, each of one sample or, in a contraction,
// of several.
type walk struct {
	*graph.Graph           // an edge is taken as often as its weight says
	degree       []float64 // by node, of its samples: what is within the node included
	all          float64   // sum of the degrees
	samples      []int     // by node; nil where each is one sample
	spaced       []int32   // the nodes of evenly spaced samples; nil where nodes are samples
}

// walkOver returns the walk over a graph of samples.
func walkOver(g *graph.Graph) *walk {
	w := &walk{Graph: g, degree: make([]float64, g.Samples())}
	for i := range w.degree {
		_, weight := g.Of(i)
		for _, x := range weight {
			w.degree[i] += float64(x)
		}
		w.all += w.degree[i]
	}
	return w
}

// contracted returns the walk among nodes of which each stands for several, node[i] for node i. Its edges are in
// no order.
func (w *walk) contracted(node []int32) *walk {
	count := int(slices.Max(node)) + 1
	members := sparse.Collect(count, func(add func(node int, member int32)) {
		for i, c := range node {
			add(int(c), int32(i))
		}
	})
	out := &walk{Graph: &graph.Graph{Offsets: []int{0}}, degree: make([]float64, count), all: w.all}
	steps, reached := make([]float32, count), []int32(nil) // from the node at hand
	for c := range count {
		for _, i := range members.Of(c) {
			out.degree[c] += w.degree[i]
			index, weight := w.Of(int(i))
			for e, j := range index {
				d := node[j]
				if int(d) == c {
					continue
				}
				if steps[d] == 0 {
					reached = append(reached, d)
				}
				steps[d] += weight[e]
			}
		}
		for _, d := range reached {
			out.Index, out.Weight = append(out.Index, d), append(out.Weight, steps[d])
			steps[d] = 0
		}
		reached = reached[:0]
		out.Offsets = append(out.Offsets, len(out.Index))
	}
	return out
}

// size returns the number of samples of node i.
func (w *walk) size(i int32) int {
	if w.samples == nil {
		return 1
	}
	return w.samples[i]
}

// named returns the sum of plogp over the shares of the steps that go to each sample. Those of a
// node are taken to be alike.
func (w *walk) named() float64 {
	sum := 0.0
	for i, d := range w.degree {
		size := float64(w.size(int32(i)))
		sum += size * plogp(d/size/max(1, w.all))
	}
	return sum
}

// Modularity returns the share of the steps of a random walk over g that stay in a cluster, less the share
// that would by chance: in [-1/2, 1], and 0 where there is no edge. Every edge is taken as often as its
// weight says. labels holds the cluster of each sample, at least 0. The errors are those of Graph.Check,
// and labels that are not one per sample or below 0.
func Modularity(g *graph.Graph, labels []int) (float64, error) {
	_, c, err := crossed(g, labels)
	if err != nil {
		return 0, err
	}
	return c.modularity(), nil
}

// Compression returns the share by which clusters shorten the description of that walk, by the map equation:
// 1 - L / L(one cluster), below 1, and 0 where there is no edge. Arguments and errors are those of Modularity.
func Compression(g *graph.Graph, labels []int) (float64, error) {
	w, c, err := crossed(g, labels)
	if err != nil {
		return 0, err
	}
	named := w.named()
	single := newCrossings(w, make([]int32, len(labels)), 1).codeLength(named)
	if single <= 0 {
		return 0, nil
	}
	return 1 - c.codeLength(named)/single, nil
}

// Evenness returns Candidate.Evenness of clusters of such sizes, and 0 without samples.
func Evenness(sizes []int) float64 {
	all, entropy := 0, 0.0
	for _, size := range sizes {
		all += max(0, size)
	}
	if all == 0 {
		return 0
	}
	for _, size := range sizes {
		if q := float64(size) / float64(all); q > 0 {
			entropy -= q * math.Log(q)
		}
	}
	return math.Exp(entropy) / float64(len(sizes))
}

// crossed returns the walk over g and what it does among clusters.
func crossed(g *graph.Graph, labels []int) (*walk, *crossings, error) {
	if err := g.Check(); err != nil {
		return nil, nil, err
	}
	if len(labels) != g.Samples() {
		return nil, nil, fmt.Errorf("there are %d labels for a graph of %d samples; give one for each", len(labels), g.Samples())
	}
	if len(labels) > 0 && slices.Min(labels) < 0 {
		return nil, nil, fmt.Errorf("a label is %d; number clusters from 0", slices.Min(labels))
	}
	number, numbered := map[int]int32{}, make([]int32, len(labels))
	for i, l := range labels {
		if _, known := number[l]; !known {
			number[l] = int32(len(number))
		}
		numbered[i] = number[l]
	}
	w := walkOver(g)
	return w, newCrossings(w, numbered, len(number)), nil
}
