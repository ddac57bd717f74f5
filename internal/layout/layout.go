// Package layout draws the samples of a graph in the plane, so that linked samples lie
// together: a force-directed layout with negative sampling, as in UMAP.
//
//	graph of all samples
//	  sample.go      the samples to draw, at most 20,000
//	  coarsen.go     their graph, with the links of the others merged in
//	  component.go   its connected components
//	  embed.go       the clusters of each component, and then its samples
//	  overlap.go     samples on top of each other move apart
//	  pack.go        the components side by side
//	places of the samples drawn
package layout

import (
	"context"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/method/graph"
)

// Settings are those of Draw. The zero value means the defaults.
type Settings struct {
	// MaxSamples bounds the samples that are drawn; 0 means DefaultMaxSamples.
	MaxSamples int
	// Seed seeds all random numbers.
	Seed uint64
}

// DefaultMaxSamples is a number of samples that a page shows smoothly.
const DefaultMaxSamples = 20_000

// Map holds the places of samples in the plane.
type Map struct {
	// Samples are the samples that are drawn, ascending.
	Samples []int
	// X and Y are the places of Samples: X from 0 to 1, and Y from 0 to Height.
	X, Y   []float32
	Height float64
}

// Draw lays out the samples of g, whose clusters labels holds, numbered from 0. Of more than
// Most samples it draws Most: at least one of each cluster, as far as that goes, and otherwise
// in proportion to the clusters' sizes. The links of the others still count. Clusters stay in
// one piece; components that no link joins lie side by side. progress, if not nil, is called
// with the number of Steps done. The result does not depend on threads; 0 means GOMAXPROCS. It
// is an error if labels do not fit g, or if ctx is done.
func Draw(ctx context.Context, g *graph.Graph, labels []int, set Settings, threads int, progress func(done int)) (*Map, error) {
	n := g.Samples()
	if len(labels) != n {
		return nil, fmt.Errorf("there are %d labels for a graph of %d samples; give one per sample", len(labels), n)
	}
	for i, l := range labels {
		if l < 0 || l >= n {
			return nil, fmt.Errorf("sample %d (counted from 0) has the label %d; number the clusters of %d samples from 0 to %d at most", i, l, n, n-1)
		}
	}
	if set.MaxSamples < 0 {
		return nil, fmt.Errorf("%d samples cannot be drawn; give at least 1", set.MaxSamples)
	}
	if set.MaxSamples == 0 {
		set.MaxSamples = DefaultMaxSamples
	}
	m := &Map{Samples: sample(labels, set.MaxSamples, set.Seed)}
	if len(m.Samples) == 0 {
		return m, ctx.Err()
	}
	drawn, err := coarsen(ctx, g, labels, m.Samples, threads)
	if err != nil {
		return nil, err
	}
	label := make([]int32, len(m.Samples))
	for k, i := range m.Samples {
		label[k] = int32(labels[i])
	}
	components := component(drawn, label)
	places, err := embed(ctx, drawn, label, components, set.Seed, threads, progress)
	if err != nil {
		return nil, err
	}
	separated := func(done int) {
		if progress != nil {
			progress(coarseSteps + steps + done)
		}
	}
	if err := removeOverlaps(ctx, places, components, threads, separated); err != nil {
		return nil, err
	}
	m.X, m.Y, m.Height = pack(places, components)
	return m, nil
}

// Steps is how many steps Draw takes.
const Steps = coarseSteps + steps + overlapRounds

// point is a place in the plane.
type point struct{ x, y float32 }

func (p point) norm() float64 { return math.Hypot(float64(p.x), float64(p.y)) }

// hash returns a pseudo-random number that a and b determine.
func hash(a, b uint64) uint64 {
	x := a + 0x9e3779b97f4a7c15*(b+1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
