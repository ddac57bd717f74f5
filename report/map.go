package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/layout"
)

// Map places samples in the plane, so that linked samples lie together.
type Map struct {
	// Samples are the samples on the map, ascending: all, or 20,000 of them, drawn from
	// the clusters in proportion to their sizes.
	Samples []int `json:"samples"`
	// X and Y are their coordinates: X from 0 to 1, Y from 0 to Height.
	X      []float32 `json:"x"`
	Y      []float32 `json:"y"`
	Height float64   `json:"height"`
	// Colours holds, for each of Report.Clusters, the number of its colour, from 0 to 7.
	// Clusters close to each other have different colours where possible.
	Colours []int `json:"colours"`
	// Near holds, for each of Samples, its most probable neighbours, at most 5, by falling
	// probability.
	Near [][]Neighbour `json:"neighbours"`

	present [][]bool // by view; nil where no sample lacks it
}

// Neighbour is a neighbour of a sample and the probability of their link.
type Neighbour struct {
	Sample      int     `json:"sample"`
	Probability float32 `json:"probability"`
}

const (
	// shownNeighbours is how many neighbours of a sample the page shows.
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
	m.Colours = m.paint(result.Labels, min(len(result.Sizes), maxClusters), nil)
	return m
}

// near returns the most probable neighbours of sample i.
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

// paint chooses the colours of the first clusters. Those that have a colour keep it; one after
// another, each other cluster takes the colour whose clusters lie farthest from it.
func (m *Map) paint(labels []int, clusters int, kept map[int]int) []int {
	xs, ys, points := make([]float64, clusters), make([]float64, clusters), make([]float64, clusters)
	for k, i := range m.Samples {
		if c := labels[i]; c < clusters {
			xs[c] += float64(m.X[k])
			ys[c] += float64(m.Y[k])
			points[c]++
		}
	}
	out := make([]int, clusters)
	var used [colours]int
	for c := range out {
		xs[c] /= max(1, points[c])
		ys[c] /= max(1, points[c])
		var crowd [colours]float64 // how close the clusters of each colour are
		for b := range c {
			d := math.Hypot(xs[c]-xs[b], ys[c]-ys[b])
			crowd[out[b]] += math.Exp(-d * math.Sqrt(float64(clusters)) * 3)
		}
		best, has := kept[c]
		for k := range crowd {
			if has {
				break
			}
			// Among colours alike in that, the one that is used least.
			if crowd[k]+1e-3*float64(used[k]) < crowd[best]+1e-3*float64(used[best]) {
				best = k
			}
		}
		out[c] = best
		used[best]++
	}
	return out
}
