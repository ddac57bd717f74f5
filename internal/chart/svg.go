package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// style is how one series looks.
type style struct {
	light, dark string // colours
	marker      string // path relative to the point
	dash        string // lengths of strokes and gaps; empty for a solid line
}

// styles follow the palette of Okabe and Ito. The colours are shifted so that
// the first five have a contrast of at least 3 to 1 on white and all have it on
// black, and so that they stay apart for readers who see fewer colours.
var styles = [...]style{
	{"#0072b2", "#56b4e9", "m0-4a4 4 0 1 0 .1 0z", ""},
	{"#c94f00", "#f0803c", "m-3.5-3.5h7v7h-7z", "8 4"},
	{"#009e73", "#1fbf93", "m0-5 4.7 8h-9.4z", "2 3"},
	{"#b8578f", "#e79ac8", "m0-5 5 5-5 5-5-5z", "10 3 2 3"},
	{"#1f2328", "#e6edf3", "m0 5 4.7-8h-9.4z", "4 3"},
	{"#d89a00", "#f0e442", "m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z", "14 4"},
	{"#4fabe3", "#8f9bff", "m-4-4 8 8v-8l-8 8z", "8 3 2 3 2 3"},
}

// styleOf returns the look of the i-th series name. Once all colours are used,
// they come again with other markers and dashes.
func styleOf(i int) style {
	s := styles[i%len(styles)]
	other := styles[(i+i/len(styles))%len(styles)]
	s.marker, s.dash = other.marker, other.dash
	return s
}

// write writes the drawing in one piece.
func (d *drawing) write(w io.Writer) error {
	width := d.width * float64(d.columns)
	var body bytes.Buffer
	y := float64(pad)
	for _, line := range wrap(d.title, (width-2*pad)/heading) {
		text(&body, pad, y+17, ` class="title"`, line)
		y += row + 2
	}
	d.writeLegend(&body, d.legend, y)
	y += legendHeight(d.legend) + pad/2
	for i := range d.panels {
		x, y := d.width*float64(i%d.columns), y+d.height*float64(i/d.columns)
		fmt.Fprintf(&body, "<g transform=\"translate(%s %s)\">\n", num(x), num(y))
		d.writePanel(&body, &d.panels[i])
		body.WriteString("</g>\n")
	}
	y += d.height * float64((len(d.panels)+d.columns-1)/d.columns)

	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" class=\"chart\" width=\"%s\" height=\"%s\" viewBox=\"0 0 %[1]s %[2]s\">\n", num(width), num(y))
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", escape(cmp.Or(d.title, "Line chart")), escape(d.describe()))
	d.writeStyle(&b, width)
	b.Write(body.Bytes())
	b.WriteString("</svg>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write chart %q: %w", d.title, err)
	}
	return nil
}

// writeStyle writes the style sheet. Every selector starts from the class of the
// chart, so that charts and other drawings can share a page. Print takes the
// light colours.
func (d *drawing) writeStyle(b *bytes.Buffer, width float64) {
	fmt.Fprintf(b, `<style>
.chart{font:%dpx -apple-system,BlinkMacSystemFont,"Segoe UI","Noto Sans",Helvetica,Arial,sans-serif}
.chart text{fill:#1f2328}
.chart .title,.chart .name{font-weight:600}
.chart .title{font-size:%gem}
.chart .muted text{fill:#59636e}
.chart .line{fill:none;stroke-width:2;stroke-linejoin:round}
.chart .whisker{fill:none;stroke-width:1.25}
.chart .band{stroke:none;fill-opacity:.2}
.chart .mark{stroke:none}
.chart .grid{fill:none;stroke:#d8dee4}
.chart .axis{fill:none;stroke:#818b98}
`, textSize, heading)
	for i := range len(d.slot) {
		s := styleOf(i)
		fmt.Fprintf(b, ".chart .s%d{stroke:%s;fill:%[2]s}", i, s.light)
		if s.dash != "" {
			fmt.Fprintf(b, ".chart .s%d .line{stroke-dasharray:%s}", i, s.dash)
		}
		b.WriteByte('\n')
	}
	b.WriteString("@media screen and (prefers-color-scheme:dark){\n") //nolint:misspell // the name that CSS has
	b.WriteString(`.chart text{fill:#e6edf3}
.chart .muted text{fill:#9198a1}
.chart .grid{stroke:#30363d}
.chart .axis{stroke:#6e7681}
`)
	for i := range len(d.slot) {
		fmt.Fprintf(b, ".chart .s%d{stroke:%s;fill:%[2]s}\n", i, styleOf(i).dark)
	}
	fmt.Fprintf(b, "}\n@media(max-width:%spx){.chart{font-size:%dpx}}\n</style>\n", num(width*0.8), smallScreenSize)
}

// writeLegend writes the entries from height y on.
func (d *drawing) writeLegend(b *bytes.Buffer, list []entry, y float64) {
	for _, e := range list {
		mid := y + e.y + row/2
		fmt.Fprintf(b, "<g class=\"s%d\"><path class=\"line\" d=\"M%s,%sh%d\"/>", e.slot, num(e.x), num(mid), sample)
		if e.marked {
			fmt.Fprintf(b, "<path class=\"mark\" d=\"M%s,%s%s\"/>", num(e.x+sample/2), num(mid), styleOf(e.slot).marker)
		}
		b.WriteString("</g>")
		text(b, e.x+sample+pad, mid+5, "", e.name)
	}
}

// writePanel writes one chart: titles, axes and then the lines.
func (d *drawing) writePanel(b *bytes.Buffer, p *panel) {
	y := 0.0
	for _, line := range p.title {
		text(b, pad, y+17, ` class="name"`, line)
		y += row
	}
	d.writeLegend(b, p.legend, y)
	p.writeAxes(b)
	for _, s := range p.Series {
		d.writeSeries(b, p, s)
	}
}

// writeAxes writes the grid, the ticks and the labels.
func (p *panel) writeAxes(b *bytes.Buffer) {
	var grid, axis bytes.Buffer
	fmt.Fprintf(&axis, "M%s,%sH%s", num(p.x.to), num(p.y.from), num(p.x.from))
	if p.y.log { // it has minor ticks, which need a line to stand on
		fmt.Fprintf(&axis, "V%s", num(p.y.to))
	}
	b.WriteString("<g class=\"muted\" text-anchor=\"end\">\n")
	for _, t := range p.yTicks {
		y := p.y.at(t.value)
		if t.label == "" {
			fmt.Fprintf(&axis, "M%s,%sh-4", num(p.x.from), num(y))
			continue
		}
		text(b, p.x.from-pad, y+5, "", t.label)
		if y != p.y.from { // where the axis is
			fmt.Fprintf(&grid, "M%s,%sH%s", num(p.x.from), num(y), num(p.x.to))
		}
	}
	b.WriteString("</g>\n<g class=\"muted\" text-anchor=\"middle\">\n")
	for _, t := range p.xTicks {
		x := p.x.at(t.value)
		if t.label == "" {
			fmt.Fprintf(&axis, "M%s,%sv4", num(x), num(p.y.from))
			continue
		}
		fmt.Fprintf(&axis, "M%s,%sv6", num(x), num(p.y.from))
		text(b, min(x, p.x.to+right-textWidth(t.label)/2), p.y.from+22, "", t.label)
		if p.x.log {
			fmt.Fprintf(&grid, "M%s,%sV%s", num(x), num(p.y.from), num(p.y.to))
		}
	}
	if p.xLabel != "" {
		text(b, (p.x.from+p.x.to)/2, p.y.from+row+21, "", p.xLabel)
	}
	b.WriteString("</g>\n")
	if p.yLabel != "" {
		fmt.Fprintf(b, "<g class=\"muted\">")
		text(b, pad, p.y.to-17, "", p.yLabel)
		b.WriteString("</g>\n")
	}
	fmt.Fprintf(b, "<path class=\"grid\" d=\"%s\"/>\n<path class=\"axis\" d=\"%s\"/>\n", &grid, &axis)
}

// writeSeries writes the line of s with its band or whiskers and its markers.
func (d *drawing) writeSeries(b *bytes.Buffer, p *panel, s Series) {
	marked, marker := d.marked(s), styleOf(d.slot[s.Name]).marker
	var band, line, whiskers, marks bytes.Buffer
	inside := true
	for _, r := range runs(s.Y) {
		for i := r.from; i < r.to; i++ {
			low, high := p.bound(s, i, -1), p.bound(s, i, 1)
			here := p.x.has(s.X[i]) && p.y.has(s.Y[i])
			inside = inside && here && (marked || p.y.has(low) && p.y.has(high))
			if !here {
				continue
			}
			x, y := p.x.at(s.X[i]), p.y.at(s.Y[i])
			if low < high && (marked || r.to-r.from == 1) {
				p.whisker(&whiskers, x, low, high)
			}
			if marked || r.to-r.from == 1 {
				fmt.Fprintf(&marks, "M%s,%s%s", num(x), num(y), marker)
			}
		}
		if r.to-r.from == 1 {
			continue
		}
		polyline(&line, "M", p.points(s, r, 0))
		if s.Error != nil && !marked {
			back := p.points(s, r, -1)
			slices.Reverse(back)
			polyline(&band, "M", p.points(s, r, 1))
			polyline(&band, "L", back)
			band.WriteByte('z')
		}
	}
	fmt.Fprintf(b, "<g class=\"s%d\">\n", d.slot[s.Name])
	if !inside {
		// An inner drawing cuts off what leaves it, but for half a line's width.
		x, y, w, h := p.x.from-1, p.y.to-1, p.x.to-p.x.from+2, p.y.from-p.y.to+2
		fmt.Fprintf(b, "<svg x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" viewBox=\"%[1]s %[2]s %[3]s %[4]s\">\n", num(x), num(y), num(w), num(h))
	}
	path(b, "band", &band)
	path(b, "line", &line)
	if !inside {
		b.WriteString("</svg>\n")
	}
	path(b, "whisker", &whiskers)
	path(b, "mark", &marks)
	b.WriteString("</g>\n")
}

// run is a stretch [from, to) of points without a gap.
type run struct{ from, to int }

// runs returns the stretches of y without NaN.
func runs(y []float64) []run {
	var list []run
	from := 0
	for i := 0; i <= len(y); i++ {
		if i == len(y) || y[i] != y[i] {
			if i > from {
				list = append(list, run{from, i})
			}
			from = i + 1
		}
	}
	return list
}

// bound returns the Y of point i, moved by side times its error. On a
// logarithmic axis that is never below the smallest value of such an axis.
func (p *panel) bound(s Series, i int, side float64) float64 {
	v := s.Y[i] + side*s.whisker(i)
	if p.y.log {
		v = max(v, 1/limit)
	}
	return v
}

// whisker adds a whisker from low to high, without a cap where it is cut off.
func (p *panel) whisker(b *bytes.Buffer, x, low, high float64) {
	fmt.Fprintf(b, "M%s,%sV%s", num(x), num(p.y.at(max(low, p.y.lo))), num(p.y.at(min(high, p.y.hi))))
	for _, end := range []float64{low, high} {
		if p.y.has(end) {
			fmt.Fprintf(b, "M%s,%sh6", num(x-3), num(p.y.at(end)))
		}
	}
}

// point is a place in a drawing.
type point struct{ x, y float64 }

// points returns the points of a run, moved by side times their error, without
// those that the line does not need.
func (p *panel) points(s Series, r run, side float64) []point {
	list := make([]point, 0, r.to-r.from)
	for i := r.from; i < r.to; i++ {
		list = append(list, point{p.x.at(s.X[i]), p.y.at(p.bound(s, i, side))})
	}
	return simplify(list)
}

// simplify leaves out points that lie within 0.1 of the line through the others
// (Douglas and Peucker, 1973). It keeps both ends, and works in place.
func simplify(list []point) []point {
	keep := make([]bool, len(list))
	keep[0], keep[len(list)-1] = true, true
	open := []run{{0, len(list) - 1}}
	for len(open) > 0 {
		r := open[len(open)-1]
		open = open[:len(open)-1]
		worst, at := 0.1, 0
		for i := r.from + 1; i < r.to; i++ {
			if d := distance(list[i], list[r.from], list[r.to]); d > worst {
				worst, at = d, i
			}
		}
		if at > 0 {
			keep[at] = true
			open = append(open, run{r.from, at}, run{at, r.to})
		}
	}
	n := 0
	for i, k := range keep {
		if k {
			list[n] = list[i]
			n++
		}
	}
	return list[:n]
}

// distance returns how far p is from the segment from a to b.
func distance(p, a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	t := 0.0
	if l := dx*dx + dy*dy; l > 0 {
		t = max(0, min(1, ((p.x-a.x)*dx+(p.y-a.y)*dy)/l))
	}
	return math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy)
}

// polyline adds points to a path, the first with the given command.
func polyline(b *bytes.Buffer, command string, list []point) {
	for i, p := range list {
		if i == 0 {
			b.WriteString(command)
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(num(p.x) + "," + num(p.y))
	}
}

// path writes a path of the given class unless it is empty.
func path(b *bytes.Buffer, class string, d *bytes.Buffer) {
	if d.Len() > 0 {
		fmt.Fprintf(b, "<path class=\"%s\" d=\"%s\"/>\n", class, d)
	}
}

// text writes a line of text whose baseline starts at (x, y). The attributes
// start with a space.
func text(b *bytes.Buffer, x, y float64, attributes, s string) {
	fmt.Fprintf(b, "<text x=\"%s\" y=\"%s\"%s>%s</text>\n", num(x), num(y), attributes, escape(s))
}

// num returns v with at most one decimal.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64) // + 0 makes -0 a 0
}
