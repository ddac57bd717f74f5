package layout

import (
	"context"
	"math"
	"math/bits"

	"github.com/mvclust/mvclust/internal/parallel"
)

const (
	// overlapRounds is the number of rounds in which nodes that overlap move apart.
	overlapRounds = 60
	// roomShare is the distance between nodes to reach, as a share of the side of the square
	// that a component has for each of its nodes.
	roomShare = 0.55
)

// removeOverlaps moves apart the nodes of each component that lie on top of each other, so that
// each can be seen.
func removeOverlaps(ctx context.Context, places []point, g *components, threads int, progress func(done int)) error {
	room := make([]float32, g.nodes.Len())
	for c := range room {
		b := alignToAxis(places, g.nodes.Of(c))
		room[c] = float32(roomShare * math.Sqrt(b.width*b.height/float64(len(g.nodes.Of(c)))))
	}
	next := make([]point, len(places))
	cells := newCells(len(places))
	for round := range overlapRounds {
		cells.fill(places, g, room)
		err := parallel.Blocks(ctx, threads, len(places), 256, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				next[i] = cells.separated(places, int32(i), g.of[i], room[g.of[i]])
			}
		})
		if err != nil {
			return err
		}
		copy(places, next)
		progress(round + 1)
	}
	return nil
}

// cell is a square of a component's plane, as wide as the distance to reach.
type cell struct{ component, x, y int32 }

// cells is a hash table of the nodes by their cells.
type cells struct {
	first, next []int32 // -1 ends a bucket
	of          []cell
}

// newCells makes a table with at least two buckets for each node.
func newCells(nodes int) *cells {
	return &cells{make([]int32, 1<<bits.Len(uint(2*nodes))), make([]int32, nodes), make([]cell, nodes)}
}

func (c *cells) fill(places []point, g *components, room []float32) {
	for b := range c.first {
		c.first[b] = -1
	}
	for i, p := range places {
		c.of[i] = cellOf(p, g.of[i], room[g.of[i]])
		b := c.bucket(c.of[i])
		c.next[i], c.first[b] = c.first[b], int32(i)
	}
}

func (c *cells) bucket(k cell) int {
	return int(hash(uint64(uint32(k.x))<<32|uint64(uint32(k.y)), uint64(k.component)) & uint64(len(c.first)-1))
}

func cellOf(p point, component int32, room float32) cell {
	return cell{component, int32(math.Floor(float64(p.x / room))), int32(math.Floor(float64(p.y / room)))}
}

// separated returns the place of node i after a step away from those closer than room.
func (c *cells) separated(places []point, i, component int32, room float32) point {
	at := places[i]
	to := at
	centroid := cellOf(at, component, room)
	for x := centroid.x - 1; x <= centroid.x+1; x++ {
		for y := centroid.y - 1; y <= centroid.y+1; y++ {
			here := cell{component, x, y}
			for j := c.first[c.bucket(here)]; j >= 0; j = c.next[j] {
				if j == i || c.of[j] != here {
					continue
				}
				dx, dy := at.x-places[j].x, at.y-places[j].y
				d := float32(math.Sqrt(float64(dx*dx + dy*dy)))
				if d >= room {
					continue
				}
				if d == 0 { // the lower node moves to the left, the higher one to the right
					dx, d = float32(i-j), float32(max(i-j, j-i))
				}
				step := 0.2 * (room - min(d, room)) / d
				to.x += step * dx
				to.y += step * dy
			}
		}
	}
	return to
}
