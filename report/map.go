package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/layout"
)

// Map is the picture of the samples.
type Map struct {
	// Samples are those that are drawn, ascending: all, or 20,000 of them, in
	// proportion from every cluster.
	Samples []int `json:"samples"`
	// X and Y are their places: X from 0 to 1, Y from 0 to Height.
	X      []float32 `json:"x"`
	Y      []float32 `json:"y"`
	Height float64   `json:"height"`
	// Colours holds, for each of the described clusters, the number of its colour, such
	// that clusters that lie together differ, as far as colours go.
	Colours []int `json:"colours"`
	// Near holds, for each of Samples, the neighbours with the largest probabilities, the
	// largest first.
	Near [][]Neighbour `json:"neighbours"`

	present [][]bool // by view, or nil where all have it
}

// Neighbour is a neighbour of a sample.
type Neighbour struct {
	Sample      int     `json:"sample"`
	Probability float32 `json:"probability"`
}

const (
	// shownNeighbours is how many neighbours of a sample are told.
	shownNeighbours = 5
	// colours is how many colours there are.
	colours = 8
)

func newMap(drawn *layout.Map, result *mvclust.Result, views []*mvclust.View) *Map {
	m := &Map{Samples: drawn.Samples, X: drawn.X, Y: drawn.Y, Height: drawn.Height}
	for _, i := range m.Samples {
		m.Near = append(m.Near, near(result, i))
	}
	for _, v := range views {
		m.present = append(m.present, v.Present)
	}
	m.Colours = m.paint(result.Labels, min(len(result.Sizes), MostClusters))
	return m
}

// near returns the nearest neighbours of sample i.
func near(result *mvclust.Result, i int) []Neighbour {
	index, weight := result.Graph.Of(i)
	all := make([]Neighbour, 0, len(index))
	for e, j := range index {
		if weight[e] > 0 {
			all = append(all, Neighbour{int(j), weight[e]})
		}
	}
	slices.SortFunc(all, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Probability, a.Probability), a.Sample-b.Sample)
	})
	return slices.Clone(all[:min(len(all), shownNeighbours)])
}

// paint chooses the colours of the first clusters: one after another, each takes the
// colour of which the clusters painted before lie farthest.
func (m *Map) paint(labels []int, clusters int) []int {
	xs, ys, count := make([]float64, clusters), make([]float64, clusters), make([]float64, clusters)
	for k, i := range m.Samples {
		if c := labels[i]; c < clusters {
			xs[c] += float64(m.X[k])
			ys[c] += float64(m.Y[k])
			count[c]++
		}
	}
	out := make([]int, clusters)
	var used [colours]int
	for c := range out {
		xs[c] /= max(1, count[c])
		ys[c] /= max(1, count[c])
		var crowd [colours]float64 // what of each colour is close
		for b := range c {
			d := math.Hypot(xs[c]-xs[b], ys[c]-ys[b])
			crowd[out[b]] += math.Exp(-d * math.Sqrt(float64(clusters)) * 3)
		}
		best := 0
		for k := range crowd {
			// The shares of the colours are kept alike by a little.
			if crowd[k]+1e-3*float64(used[k]) < crowd[best]+1e-3*float64(used[best]) {
				best = k
			}
		}
		out[c] = best
		used[best]++
	}
	return out
}
