package lab

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a figure of a page: panels in two columns, or a single one.
type Figure struct {
	// Name is that of its file, without the extension.
	Name, Title string
	Panels      []Panel
	// Tall is the height of a row of panels, in points; 0 stands for 230.
	Tall int
}

// Panel is a line chart.
type Panel struct {
	Title, X, Y string
	// LogX and LogY make axes logarithmic.
	LogX, LogY bool
	// Top is where the vertical axis ends; 0 stands for the data's end.
	Top    float64
	Series []Series
	// Bare leaves out the vertical axis, whose values mean nothing.
	Bare bool
	// Diagonal draws the line of equal values, and has both axes reach to 100.
	Diagonal bool
}

// Series is a line. A name has the same colour in all panels. Error is nil, or half the
// length of each point's whisker. With Names it is a cloud of points with these names.
type Series struct {
	Name        string
	X, Y, Error []float64
	Names       []string
}

// Link is the Markdown that shows the figure from a folder.
func (f Figure) Link(folder string) string {
	return fmt.Sprintf("![%s](%s/%s.svg)\n", f.Title, folder, f.Name)
}

// The colours of lines on white and on black, after Okabe and Ito, and those of text, marks
// and the grid. The drawing has the first of each pair, which recolour replaces by a variable
// that follows the reader's colour scheme.
var colours = [][2]uint32{
	{0x0072b2, 0x56b4e9}, {0xc94f00, 0xf0803c}, {0x009e73, 0x1fbf93}, {0xb8578f, 0xe79ac8},
	{0x1f2328, 0xe6edf3}, {0xd89a00, 0xf0e442}, {0x4fabe3, 0x8f9bff},
	{0x59636e, 0x9198a1}, {0xd8dee4, 0x30363d},
}

const (
	lines  = 7 // of the colours; then come
	labels = 7
	grid   = 8
)

func colour(i int) color.Color {
	c := colours[i][0]
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255}
}

var (
	shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.CrossGlyph{}}
	dashes = [][]vg.Length{nil, {8, 4}, {2, 3}, {10, 3, 2, 3}, {4, 3}, {14, 4}, {8, 3, 2, 3, 2, 3}}
)

// face is a font whose widths those of Arial and Helvetica equal.
var face = font.Font{Typeface: "Liberation", Variant: "Sans"}

// SVG draws the figure.
func (f Figure) SVG() ([]byte, error) {
	columns := min(2, len(f.Panels))
	rows := (len(f.Panels) + columns - 1) / columns
	const width, head = 600, 22
	tall := cmp.Or(f.Tall, 230)
	var names []string
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	style := text.Style{Color: colour(labels), Font: face, Handler: plot.DefaultTextHandler}
	style.Font.Size = 11
	const perRow = 4
	legend := (len(names) + perRow - 1) / perRow * 16
	height := head + legend + rows*tall
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, vg.Length(height)))
	all := draw.New(canvas)
	title := style
	title.Font.Size, title.Font.Weight = 14, 2 // bold
	all.FillText(title, vg.Point{X: 4, Y: vg.Length(height - 15)}, f.Title)
	for i, name := range names {
		at := vg.Point{X: vg.Length(8 + i%perRow*width/perRow), Y: vg.Length(height - head - 12 - i/perRow*16)}
		if !f.cloud(name) {
			all.StrokeLine2(line(i), at.X, at.Y+4, at.X+26, at.Y+4)
		}
		all.DrawGlyph(glyph(i), vg.Point{X: at.X + 13, Y: at.Y + 4})
		all.FillText(style, vg.Point{X: at.X + 32, Y: at.Y}, name)
	}
	plots := make([][]*plot.Plot, rows)
	for i, p := range f.Panels {
		drawn, err := p.draw(names)
		if err != nil {
			return nil, fmt.Errorf("figure %s, panel %q: %w", f.Name, p.Title, err)
		}
		plots[i/columns] = append(plots[i/columns], drawn)
	}
	for len(plots[rows-1]) < columns {
		plots[rows-1] = append(plots[rows-1], nil)
	}
	below := draw.Crop(all, 4, -8, 4, -vg.Length(head+legend))
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 14, PadY: 10}
	for r, row := range plot.Align(plots, tiles, below) {
		for c, place := range row {
			if plots[r][c] != nil {
				plots[r][c].Draw(place)
			}
		}
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	return recolour(b.Bytes(), f.Title), nil
}

// cloud reports whether the series of a name is a cloud of points.
func (f Figure) cloud(name string) bool {
	return slices.ContainsFunc(f.Panels, func(p Panel) bool {
		return slices.ContainsFunc(p.Series, func(s Series) bool { return s.Name == name && s.Names != nil })
	})
}

func line(i int) draw.LineStyle {
	return draw.LineStyle{Color: colour(i % lines), Width: 1.75, Dashes: dashes[i%len(dashes)]}
}

func glyph(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colour(i % lines), Radius: 3, Shape: shapes[(i+i/lines)%len(shapes)]}
}

// draw draws a panel; names are those of all series, whose place decides how one looks.
func (p Panel) draw(names []string) (*plot.Plot, error) {
	d := plot.New()
	d.BackgroundColor = nil
	d.Title.Text, d.X.Label.Text, d.Y.Label.Text = p.Title, p.X, p.Y
	for _, s := range []*text.Style{&d.Title.TextStyle, &d.X.Label.TextStyle, &d.Y.Label.TextStyle, &d.X.Tick.Label, &d.Y.Tick.Label} {
		s.Font.Typeface, s.Font.Variant, s.Font.Size, s.Color = face.Typeface, face.Variant, 11, colour(labels)
	}
	for _, a := range []struct {
		axis *plot.Axis
		log  bool
	}{{&d.X, p.LogX}, {&d.Y, p.LogY}} {
		a.axis.Color, a.axis.Tick.Color = colour(labels), colour(labels)
		if a.log {
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		}
	}
	mesh := plotter.NewGrid()
	mesh.Horizontal.Color, mesh.Vertical.Color = colour(grid), colour(grid)
	if p.Bare {
		d.HideY()
		mesh.Horizontal.Color = nil
	}
	d.Add(mesh)
	if p.Diagonal {
		d.Add(diagonal{})
	}
	var points cloud
	for _, s := range p.Series {
		i := slices.Index(names, s.Name)
		if s.Names != nil {
			points = append(points, s.dots(i)...)
		} else if err := s.draw(d, i, p.LogY); err != nil {
			return nil, err
		}
	}
	if points != nil {
		d.Add(points)
	}
	if points != nil && !p.Diagonal {
		widen(&d.X, p.LogX)
		widen(&d.Y, p.LogY)
	}
	if p.Top > 0 {
		d.Y.Min, d.Y.Max = 0, p.Top
	}
	return d, nil
}

// widen gives an axis room beside the outermost points, which have names.
func widen(a *plot.Axis, log bool) {
	const room = 0.04
	if log {
		by := max(1.01, math.Pow(a.Max/a.Min, room)) // a single point has some, too
		a.Min, a.Max = a.Min/by, a.Max*by
		return
	}
	by := room * (a.Max - a.Min)
	a.Min, a.Max = a.Min-by, a.Max+by
}

// draw adds the series to a plot, in the look of number i, without points that a logarithmic axis
// has no place for.
func (s Series) draw(d *plot.Plot, i int, log bool) error {
	var points plotter.XYs
	var whiskers plotter.YErrors
	for k, y := range s.Y {
		if math.IsNaN(y) || log && y <= 0 {
			continue
		}
		points = append(points, plotter.XY{X: s.X[k], Y: y})
		if s.Error != nil {
			whiskers = append(whiskers, struct{ Low, High float64 }{s.Error[k], s.Error[k]})
		}
	}
	if len(points) == 0 {
		return nil
	}
	l, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	l.LineStyle, marks.GlyphStyle = line(i), glyph(i)
	d.Add(l)
	if len(points) <= 20 {
		d.Add(marks)
	}
	if s.Error != nil {
		bars, err := plotter.NewYErrorBars(struct {
			plotter.XYs
			plotter.YErrors
		}{points, whiskers})
		if err != nil {
			return err
		}
		bars.Color = colour(i % lines)
		d.Add(bars)
	}
	return nil
}

// recolour has the colours follow the reader's scheme, and text the reader's fonts.
func recolour(svg []byte, title string) []byte {
	var light, dark strings.Builder
	pairs := []string{"font-family:Liberation Sans", "font-family:Liberation Sans,Arial,Helvetica,sans-serif"}
	for i, c := range colours {
		fmt.Fprintf(&light, "--c%d:#%06x;", i, c[0])
		fmt.Fprintf(&dark, "--c%d:#%06x;", i, c[1])
		pairs = append(pairs, fmt.Sprintf("#%06X", c[0]), fmt.Sprintf("var(--c%d)", i))
	}
	drawing := strings.NewReplacer(pairs...).Replace(string(svg))
	head, rest, _ := strings.Cut(drawing, "<g ")
	return []byte(fmt.Sprintf("%s<title>%s</title>\n<style>:root{%s}@media screen and (prefers-color-scheme:dark){:root{%s}}</style>\n<g %s",
		head, html.EscapeString(title), light.String(), dark.String(), rest))
}
