package layout

import (
	"context"
	"math"
	"math/bits"

	"github.com/mvclust/mvclust/internal/parallel"
)

const (
	// rounds is how often nodes that lie too close to each other move apart.
	rounds = 60
	// elbow is the room that a node is given, as a share of the side of what its group
	// has for each.
	elbow = 0.55
)

// loosen moves the nodes of each group apart that lie on top of each other, so that each
// can be seen, and leaves the rest.
func loosen(ctx context.Context, places []point, g *groups, threads int, progress func(done int)) error {
	room := make([]float32, g.count())
	for c := range room {
		b := flatten(places, g.members(c))
		room[c] = float32(elbow * math.Sqrt(b.width*b.height/float64(len(g.members(c)))))
	}
	next := make([]point, len(places))
	cells := newCells(len(places))
	for round := range rounds {
		cells.fill(places, g, room)
		err := parallel.Blocks(ctx, threads, len(places), 256, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				next[i] = cells.apart(places, int32(i), g.of[i], room[g.of[i]])
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

// cell is a square of a group's plane, as wide as the group's room.
type cell struct{ group, x, y int32 }

// cells tells which nodes are in which square: those of a bucket, from first on, that have
// its cell.
type cells struct {
	first, next []int32 // -1 ends a bucket
	of          []cell
}

// newCells puts the nodes into buckets, twice as many at least.
func newCells(nodes int) *cells {
	return &cells{make([]int32, 1<<bits.Len(uint(2*nodes))), make([]int32, nodes), make([]cell, nodes)}
}

func (c *cells) fill(places []point, g *groups, room []float32) {
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
	return int(mix(uint64(uint32(k.x))<<32|uint64(uint32(k.y)), uint64(k.group)) & uint64(len(c.first)-1))
}

func cellOf(p point, group int32, room float32) cell {
	return cell{group, int32(math.Floor(float64(p.x / room))), int32(math.Floor(float64(p.y / room)))}
}

// apart returns where node i goes to from those that are closer than room.
func (c *cells) apart(places []point, i, group int32, room float32) point {
	at := places[i]
	to := at
	middle := cellOf(at, group, room)
	for x := middle.x - 1; x <= middle.x+1; x++ {
		for y := middle.y - 1; y <= middle.y+1; y++ {
			here := cell{group, x, y}
			for j := c.first[c.bucket(here)]; j >= 0; j = c.next[j] {
				if j == i || c.of[j] != here {
					continue
				}
				dx, dy := at.x-places[j].x, at.y-places[j].y
				d := float32(math.Sqrt(float64(dx*dx + dy*dy)))
				if d >= room {
					continue
				}
				if d == 0 { // the lower goes one way, the higher the other
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
