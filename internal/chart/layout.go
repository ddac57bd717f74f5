package chart

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// Sizes in the drawing's units, which are pixels where it is shown in full.
const (
	fullWidth = 600 // of one or two columns
	pad       = 8   // around text
	row       = 24  // height of a line of text
	right     = 20  // right of the plot area, for half of the last X label
	sample    = 32  // length of the line in a legend
)

// drawing is a grid of charts with what they have in common.
type drawing struct {
	title         string
	panels        []panel
	columns       int
	width, height float64        // of a panel
	plot          float64        // height of its plot area
	slot          map[string]int // style of each series name, in order of appearance
	legend        []entry        // of all panels, or empty where each has its own
}

// panel is one chart with its axes. Places are relative to its upper left corner.
type panel struct {
	Line
	title          []string
	legend         []entry // empty where all panels share one
	x, y           scale
	xTicks, yTicks []tick
	xLabel, yLabel string
}

// entry is a place in a legend.
type entry struct {
	name   string
	slot   int  // which style
	marked bool // whether the line has markers
	x, y   float64
}

// newDrawing checks the charts and lays them out.
func newDrawing(title string, lines []Line, columns int) (*drawing, error) {
	if len(lines) == 0 {
		return nil, fmt.Errorf("nothing to draw; give at least one panel")
	}
	d := &drawing{title: title, columns: columns, width: fullWidth, plot: 280, slot: make(map[string]int)}
	if columns > 1 {
		d.width, d.plot = fullWidth/2, 180
	}
	for i, l := range lines {
		if err := l.check(); err != nil {
			if len(lines) > 1 {
				err = fmt.Errorf("panel %d (counted from 0), %q: %w", i, l.Title, err)
			}
			return nil, err
		}
		for _, s := range l.Series {
			if _, ok := d.slot[s.Name]; !ok {
				d.slot[s.Name] = len(d.slot)
			}
		}
		d.panels = append(d.panels, panel{Line: l})
	}
	d.placeLegends()
	d.placeAxes()
	return d, nil
}

// placeLegends finds one legend for all panels, or one for each.
func (d *drawing) placeLegends() {
	shared := true
	for _, p := range d.panels {
		shared = shared && len(p.Series) == len(d.slot)
	}
	if shared {
		d.legend = d.entries(d.panels, d.width*float64(d.columns))
		return
	}
	for i := range d.panels {
		d.panels[i].legend = d.entries(d.panels[i:i+1], d.width)
	}
}

// entries returns the series names of the panels, flowing in rows of the given
// width. A single series without a name makes no legend.
func (d *drawing) entries(panels []panel, width float64) []entry {
	var list []entry
	place := make(map[string]int)
	for _, p := range panels {
		for _, s := range p.Series {
			k, ok := place[s.Name]
			if !ok {
				k = len(list)
				place[s.Name] = k
				list = append(list, entry{name: s.Name, slot: d.slot[s.Name]})
			}
			list[k].marked = list[k].marked || d.marked(s)
		}
	}
	if len(list) == 1 && list[0].name == "" {
		return nil
	}
	x, y := float64(pad), 0.0
	for i := range list {
		e := &list[i]
		e.name = fit(e.name, width-sample-3*pad)
		w := sample + pad + textWidth(e.name)
		if x > pad && x+w > width-pad {
			x, y = pad, y+row
		}
		e.x, e.y = x, y
		x += w + 2*pad
	}
	return list
}

// legendHeight returns the height of the rows of a legend.
func legendHeight(list []entry) float64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].y + row
}

// marked reports whether the points of s have room for markers.
func (d *drawing) marked(s Series) bool {
	n := 0
	for _, y := range s.Y {
		if y == y {
			n++
		}
	}
	return float64(15*n) <= d.width
}

// placeAxes gives all plot areas the same size and place within their panels.
func (d *drawing) placeAxes() {
	var left, head, foot float64
	for i := range d.panels {
		p := &d.panels[i]
		x, y := p.extent()
		p.x.log, p.y.log = p.X.Log, p.Y.Log
		p.x.lo, p.x.hi = widen(x[0], x[1], p.X.Log)
		p.y.lo, p.y.hi = widen(y[0], y[1], p.Y.Log)
		most := int(d.plot / 36)
		if !p.Y.fixed() {
			p.y.lo, p.y.hi = snap(p.y.lo, p.y.hi, p.Y.Log, most)
		}
		var power int
		p.yTicks, power = ticks(p.y.lo, p.y.hi, p.Y.Log, most)
		p.yLabel = scaled(p.Y.Label, power, d.width-2*pad)
		for _, t := range p.yTicks {
			left = max(left, pad+textWidth(t.label)+pad)
		}
		p.title = wrap(p.Title, d.width-2*pad)
		above := row*float64(len(p.title)) + legendHeight(p.legend) + 2*pad
		if p.yLabel != "" {
			above += row
		}
		head = max(head, above)
	}
	for i := range d.panels {
		p := &d.panels[i]
		p.x.from, p.x.to = left, d.width-right
		p.y.from, p.y.to = head+d.plot, head
		p.placeX()
		foot = max(foot, row)
		if p.xLabel != "" {
			foot = 2 * row
		}
	}
	d.height = head + d.plot + foot + 2*pad
}

// placeX finds as many ticks for the X axis as have room for their labels.
func (p *panel) placeX() {
	for most := int((p.x.to - p.x.from) / 40); ; most-- {
		t, power := ticks(p.x.lo, p.x.hi, p.X.Log, most)
		p.xTicks, p.xLabel = t, scaled(p.X.Label, power, p.x.to-p.x.from)
		fits, end := true, math.Inf(-1)
		for _, k := range t {
			if k.label != "" {
				at, half := p.x.at(k.value), textWidth(k.label)/2
				fits = fits && at-half >= end+pad
				end = at + half
			}
		}
		if fits || most <= 1 {
			return
		}
	}
}

// scaled returns an axis label, shortened to the given width, that says in which
// power of ten the ticks count.
func scaled(label string, power int, most float64) string {
	if power == 0 {
		return fit(label, most)
	}
	unit := "×" + powerOf10(power)
	return strings.TrimSpace(fit(label, most-textWidth(" "+unit)) + " " + unit)
}

// describe says in words what the drawing shows.
func (d *drawing) describe() string {
	var b strings.Builder
	for i, p := range d.panels {
		if i > 0 {
			b.WriteByte(' ')
		}
		if p.Title != "" {
			b.WriteString(p.Title + ": ")
		}
		fmt.Fprintf(&b, "%s from %.4g to %.4g against %s from %.4g to %.4g.", cmp.Or(p.Y.Label, "Y"), p.y.lo, p.y.hi, cmp.Or(p.X.Label, "X"), p.x.lo, p.x.hi)
		for _, s := range p.Series {
			n, first, last := 0, 0, 0
			for i, y := range s.Y {
				if y == y {
					if n == 0 {
						first = i
					}
					last = i
					n++
				}
			}
			fmt.Fprintf(&b, " %s: ", cmp.Or(s.Name, "the line"))
			switch n {
			case 0:
				b.WriteString("no points.")
			case 1:
				fmt.Fprintf(&b, "%.4g at %.4g.", s.Y[first], s.X[first])
			default:
				fmt.Fprintf(&b, "%d points, %.4g at %.4g to %.4g at %.4g.", n, s.Y[first], s.X[first], s.Y[last], s.X[last])
			}
		}
	}
	return b.String()
}
