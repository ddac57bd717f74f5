// Package layout lays the samples of a graph out in the plane, so that what is linked
// lies together.
//
//	graph of all samples                       g
//	samples that are drawn                     choose.go
//	graph of these; the others lend theirs     contract.go
//	groups: what is linked in any way          group.go
//	each group's clusters in the plane         embed.go
//	its samples, from their clusters on        embed.go
//	groups side by side                        pack.go
package layout

import (
	"context"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/method/graph"
)

// Settings steer the drawing. The zero value gives the defaults.
type Settings struct {
	// Most bounds the samples that are drawn. 0 stands for DefaultMost.
	Most int
	// Seed decides all that is drawn at random.
	Seed uint64
}

// DefaultMost is what a page shows without effort.
const DefaultMost = 20_000

// Map holds places in the plane.
type Map struct {
	// Samples are those that are drawn, ascending.
	Samples []int
	// X and Y are the places of Samples: X from 0 to 1, and Y from 0 to Height.
	X, Y   []float32
	Height float64
}

// Draw lays out the samples of g, whose clusters labels holds, numbered from 0. Of more
// than Most samples it draws as many, in proportion from every cluster, and at least one of
// each as long as these are no more; the others still act, through the links that they make
// between those. A cluster stays in one piece; groups of clusters that no link joins lie
// side by side. The result does not depend on threads; 0 stands for GOMAXPROCS.
// progress, if not nil, is called with the number of Steps done. It is an error if labels do
// not fit g, or if ctx is done.
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
	if set.Most < 0 {
		return nil, fmt.Errorf("%d samples cannot be drawn; give at least 1", set.Most)
	}
	if set.Most == 0 {
		set.Most = DefaultMost
	}
	m := &Map{Samples: choose(labels, set.Most, set.Seed)}
	if len(m.Samples) == 0 {
		return m, ctx.Err()
	}
	drawn, err := contract(ctx, g, labels, m.Samples, threads)
	if err != nil {
		return nil, err
	}
	label := make([]int32, len(m.Samples))
	for k, i := range m.Samples {
		label[k] = int32(labels[i])
	}
	groups := group(drawn, label)
	places, err := embed(ctx, drawn, label, groups, set.Seed, threads, progress)
	if err != nil {
		return nil, err
	}
	loosened := func(done int) {
		if progress != nil {
			progress(coarseSteps + steps + done)
		}
	}
	if err := loosen(ctx, places, groups, threads, loosened); err != nil {
		return nil, err
	}
	m.X, m.Y, m.Height = pack(places, groups)
	return m, nil
}

// Steps is how many steps Draw takes.
const Steps = coarseSteps + steps + rounds

// point is a place in the plane.
type point struct{ x, y float32 }

func (p point) norm() float64 { return math.Hypot(float64(p.x), float64(p.y)) }

// mix makes a number that looks random of two.
func mix(a, b uint64) uint64 {
	x := a + 0x9e3779b97f4a7c15*(b+1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
