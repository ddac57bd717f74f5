package layout

import (
	"math"
	"slices"
)

// aspect is about the width of a map over its height.
const aspect = 1.6

// box is the size of a component.
type box struct{ width, height float64 }

// pack turns every component to be widest from left to right and puts the components side by
// side in rows, the largest first. It returns the places, x from 0 to 1 and y from 0 to height.
func pack(places []point, g *components) (x, y []float32, height float64) {
	boxes := make([]box, g.nodes.Len())
	area, width := 0.0, 0.0
	for c := range boxes {
		boxes[c] = alignToAxis(places, g.nodes.Of(c))
		area += boxes[c].width * boxes[c].height
		width = max(width, boxes[c].width)
	}
	width = max(width, math.Sqrt(area*aspect))
	x, y = make([]float32, len(places)), make([]float32, len(places))
	for lo, hi := 0, 0; lo < len(boxes); lo = hi {
		used, tall := 0.0, 0.0
		for hi = lo; hi < len(boxes) && (hi == lo || used+boxes[hi].width <= width*(1+1e-9)); hi++ {
			used += boxes[hi].width
			tall = max(tall, boxes[hi].height)
		}
		left := (width - used) / 2
		for c := lo; c < hi; c++ {
			for _, i := range g.nodes.Of(c) {
				x[i] = float32((left + float64(places[i].x)) / width)
				y[i] = float32((height + (tall-boxes[c].height)/2 + float64(places[i].y)) / width)
			}
			left += boxes[c].width
		}
		height += tall
	}
	return x, y, height / width
}

// alignToAxis turns a component to be widest from left to right, along its first principal
// axis, moves it to the origin, and returns its size, with a margin.
func alignToAxis(places []point, members []int32) box {
	var mx, my float64
	for _, i := range members {
		mx += float64(places[i].x) / float64(len(members))
		my += float64(places[i].y) / float64(len(members))
	}
	var xx, xy, yy float64
	for _, i := range members {
		dx, dy := float64(places[i].x)-mx, float64(places[i].y)-my
		xx, xy, yy = xx+dx*dx, xy+dx*dy, yy+dy*dy
	}
	sin, cos := math.Sincos(math.Atan2(2*xy, xx-yy) / 2)
	xs, ys := make([]float64, len(members)), make([]float64, len(members))
	for k, i := range members {
		dx, dy := float64(places[i].x)-mx, float64(places[i].y)-my
		xs[k], ys[k] = cos*dx+sin*dy, cos*dy-sin*dx
	}
	left, top := slices.Min(xs), slices.Min(ys)
	margin := spacing * (1 + math.Sqrt(math.Sqrt(float64(len(members)))))
	for k, i := range members {
		places[i] = point{float32(xs[k] - left + margin), float32(ys[k] - top + margin)}
	}
	return box{slices.Max(xs) - left + 2*margin, slices.Max(ys) - top + 2*margin}
}
