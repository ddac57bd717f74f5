package lab

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dot is a point with a name.
type dot struct {
	x, y float64
	name string
	look draw.GlyphStyle
}

// dots returns the points of a series, in the look of number i.
func (s Series) dots(i int) []dot {
	var list []dot
	for k, name := range s.Names {
		if x, y := s.X[k], s.Y[k]; !math.IsNaN(x) && !math.IsNaN(y) {
			list = append(list, dot{x, y, name, glyph(i)})
		}
	}
	return list
}

// cloud draws points, and their names where they cover least.
type cloud []dot

// DataRange is that of the points.
func (c cloud) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, d := range c {
		xmin, xmax, ymin, ymax = min(xmin, d.x), max(xmax, d.x), min(ymin, d.y), max(ymax, d.y)
	}
	return xmin, xmax, ymin, ymax
}

// The places of a name around its point: how far it is off, in parts of its width and height, and
// in points.
var around = [][4]float64{
	{0, -0.5, 4, 0}, {-1, -0.5, -4, 0}, {-0.5, 0, 0, 4}, {-0.5, -1, 0, -4},
	{0, 0, 3, 2}, {-1, 0, -3, 2}, {0, -1, 3, -2}, {-1, -1, -3, -2},
	{-0.5, 0, 0, 11}, {-0.5, -1, 0, -11}, {0, 0, 8, 8}, {-1, 0, -8, 8}, {0, -1, 8, -8}, {-1, -1, -8, -8},
}

// Plot draws the points and then the names, one after the other.
func (c cloud) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	style := text.Style{Color: colour(labels), Font: face, Handler: plot.DefaultTextHandler} //nolint:misspell // its name
	style.Font.Size = 7
	var taken []vg.Rectangle
	for _, d := range c {
		at := vg.Point{X: toX(d.x), Y: toY(d.y)}
		canvas.DrawGlyph(d.look, at)
		taken = append(taken, box(at, vg.Point{X: -3, Y: -3}, 6, 6))
	}
	for _, d := range c {
		at := vg.Point{X: toX(d.x), Y: toY(d.y)}
		width, height := style.Width(d.name), style.Font.Size
		var best vg.Rectangle
		least := math.Inf(1)
		for turn, off := range around {
			r := box(at, vg.Point{X: vg.Length(off[0])*width + vg.Length(off[2]), Y: vg.Length(off[1])*height + vg.Length(off[3])}, width, height)
			covered := 0.1 * float64(turn) // the first of equally good ones
			for _, t := range taken {
				covered += overlap(r, t)
			}
			inside := overlap(r, canvas.Rectangle)
			if covered += 10 * (float64(width*height) - inside); covered < least {
				best, least = r, covered
			}
		}
		canvas.FillText(style, best.Min, d.name)
		taken = append(taken, best)
	}
}

// box returns a rectangle that begins off a point.
func box(at, off vg.Point, width, height vg.Length) vg.Rectangle {
	corner := at.Add(off)
	return vg.Rectangle{Min: corner, Max: corner.Add(vg.Point{X: width, Y: height})}
}

// overlap returns the area that two rectangles have in common.
func overlap(a, b vg.Rectangle) float64 {
	width := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	height := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	return float64(max(0, width) * max(0, height))
}

// diagonal is the line of equal values, from 0 to 100.
type diagonal struct{}

// DataRange reaches from 0 to 100 on both axes.
func (diagonal) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, 100, 0, 100 }

// Plot draws the line.
func (diagonal) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	canvas.StrokeLine2(draw.LineStyle{Color: colour(labels), Width: 0.75}, toX(0), toY(0), toX(100), toY(100)) //nolint:misspell // its name
}
