package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/probability"
)

// figure is an SVG drawing, styled by the page's style sheet.
type figure struct {
	strings.Builder
	width, height            float64
	left, right, top, bottom float64 // margins of the plot
	x, y                     axis
}

// axis maps values to [0, 1], linearly or by their logarithm.
type axis struct {
	low, high float64
	log       bool
	whole     bool // ticks are whole numbers
}

func (a axis) at(v float64) float64 {
	if a.log {
		return (math.Log(v) - math.Log(a.low)) / (math.Log(a.high) - math.Log(a.low))
	}
	return (v - a.low) / (a.high - a.low)
}

// newAxis spans low to high, or a range around them where they are equal.
func newAxis(low, high float64, log bool) axis {
	if !(high > low) {
		if log {
			low, high = low/2, high*2
		} else {
			low, high = low-0.5, high+0.5
		}
	}
	return axis{low: low, high: high, log: log}
}

// newFigure begins a figure with a title and a description for screen readers.
func newFigure(title, description string, width, height float64, x, y axis) *figure {
	f := &figure{width: width, height: height, left: 46, right: 12, top: 10, bottom: 38, x: x, y: y}
	class := "chart"
	if width > 500 {
		class = "chart wide" // fills the page; the style sheet scales its text
	}
	f.writef(`<svg class="`+class+`" role="img" viewBox="0 0 %s %s"><title>%s</title><desc>%s</desc>`,
		num(width), num(height), html.EscapeString(title), html.EscapeString(description))
	return f
}

func (f *figure) writef(format string, a ...any) { fmt.Fprintf(&f.Builder, format, a...) }

// px and py return the coordinates of values.
func (f *figure) px(v float64) float64 {
	return f.left + (f.width-f.left-f.right)*f.x.at(v)
}

func (f *figure) py(v float64) float64 {
	return f.height - f.bottom - (f.height-f.top-f.bottom)*f.y.at(v)
}

// axes draws ticks, a light grid and the names of the axes.
func (f *figure) axes(x, y string) {
	base := f.height - f.bottom
	for _, v := range f.y.ticks(4) {
		f.writef(`<path class="grid" d="M%s %sH%s"/><text class="tick" text-anchor="end" x="%s" y="%s">%s</text>`,
			num(f.left), num(f.py(v)), num(f.width-f.right), num(f.left-6), num(f.py(v)+4), tick(v))
	}
	for _, v := range f.x.ticks(6) {
		f.writef(`<text class="tick" text-anchor="middle" x="%s" y="%s">%s</text>`, num(f.px(v)), num(base+16), tick(v))
	}
	f.writef(`<path class="axis" d="M%s %sH%s"/>`, num(f.left), num(base), num(f.width-f.right))
	f.writef(`<text class="name" text-anchor="middle" x="%s" y="%s">%s</text>`, num((f.left+f.width-f.right)/2), num(f.height-6), html.EscapeString(x))
	f.writef(`<text class="name" text-anchor="middle" transform="translate(11 %s) rotate(-90)">%s</text>`, num((f.top+base)/2), html.EscapeString(y))
}

// ticks returns about as many round values as asked for, and none where the axis has no such
// values: a figure may show what a file says.
func (a axis) ticks(about int) []float64 {
	var out []float64
	if !(a.high > a.low) || a.high-a.low > math.MaxFloat64 || a.log && a.low <= 0 {
		return nil
	}
	if a.log {
		for e := math.Floor(math.Log10(a.low)); e <= math.Ceil(math.Log10(a.high)); e++ {
			for _, k := range []float64{1, 2, 5} {
				v := k * math.Pow(10, e)
				if v >= a.low*0.999 && v <= a.high*1.001 && (k == 1 || a.high/a.low < 300) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	step := math.Pow(10, math.Floor(math.Log10((a.high-a.low)/float64(about))))
	for _, k := range []float64{2, 2.5, 2} {
		if (a.high-a.low)/step > float64(about) {
			step *= k
		}
	}
	if a.whole {
		step = max(1, math.Round(step))
	}
	for v := math.Ceil(a.low/step-1e-9) * step; v <= a.high+1e-9*step; v += step {
		if out = append(out, v); v+step == v {
			break
		}
	}
	return out
}

// line draws a line through points.
func (f *figure) line(class string, xs, ys []float64) {
	f.writef(`<path class="%s" d="`, class)
	for i := range xs {
		command := "L"
		if i == 0 {
			command = "M"
		}
		f.writef("%s%s %s", command, num(f.px(xs[i])), num(f.py(ys[i])))
	}
	f.WriteString(`"/>`)
}

// bar draws a bar from the base line up, with a tooltip.
func (f *figure) bar(class string, from, to, value float64, words string) {
	x, y := f.px(from), f.py(value)
	gap := min(12, 0.15*(f.px(to)-x))
	f.writef(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`,
		class, num(x+gap/2), num(y), num(f.px(to)-x-gap), num(max(0, f.height-f.bottom-y)), html.EscapeString(words))
}

func (f *figure) done() template.HTML {
	f.WriteString("</svg>")
	return template.HTML(f.String()) //nolint:gosec // all text in it was escaped
}

// num formats a coordinate.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

// tick formats a value at an axis.
func tick(v float64) string {
	switch a := math.Abs(v); {
	case a < 1e-12:
		return "0"
	case a >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 3, 64) + "M"
	case a >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	case a >= 1e3:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strings.Replace(strconv.FormatFloat(v, 'g', 3, 64), "-", "−", 1)
	}
}

// sizesChart draws the sizes of the clusters.
func sizesChart(sizes []int) template.HTML {
	all := len(sizes)
	sizes = sizes[:min(all, maxClusters)]
	n := len(sizes)
	f := newFigure("Sizes of the clusters", fmt.Sprintf("%s, from %s down to %s.", count(all, "cluster"), count(sizes[0], "sample"), count(sizes[n-1], "sample")),
		700, 130, axis{low: -0.5, high: float64(n) - 0.5, whole: true}, axis{high: float64(sizes[0]), whole: true})
	f.axes("cluster", "samples")
	for c, size := range sizes {
		f.bar("bar", float64(c)-0.5, float64(c)+0.5, float64(size), fmt.Sprintf("cluster %d: %s", c, count(size, "sample")))
	}
	return f.done()
}

// shown is the part of a histogram that a figure shows: all but the lowest 0.2% of the
// pairs, which may lie far off.
type shown struct {
	from int // the first bin
	left int // pairs below it
	most int // pairs in the largest bin
	all  int // pairs
}

func (v *View) shown() shown {
	h, s := &v.Similarities, shown{}
	for _, n := range h.Count {
		s.all += n
		s.most = max(s.most, n)
	}
	for k, n := range h.Count {
		if s.left+n > s.all/500 {
			s.from = k
			break
		}
		s.left += n
	}
	return s
}

// edge returns the similarity at which bin k of the histogram begins.
func edge(v *View, k int) float64 {
	h := &v.Similarities
	return h.Low + (h.High-h.Low)*float64(k)/float64(len(h.Count))
}

// functionChart draws the probability function of a view over the histogram of its
// similarities.
func (r *Report) functionChart(v *View) template.HTML {
	s := v.shown()
	last := len(v.Function.X) - 1
	if s.all == 0 || last < 0 {
		return ""
	}
	x := newAxis(edge(v, s.from), v.Similarities.High, false)
	f := newFigure("Probability function of "+v.Name,
		fmt.Sprintf("The probability that two samples are of one class rises from %.2f at a similarity of %s to %.2f at %s; behind it, the histogram of the similarities of %s.",
			v.Function.P[0], tick(v.Function.X[0]), v.Function.P[last], tick(v.Function.X[last]), count(s.all, "pair")),
		420, 250, x, axis{high: 1})
	f.axes("similarity", "P(same class)")
	for k := s.from; k < len(v.Similarities.Count); k++ {
		n, from, to := v.Similarities.Count[k], edge(v, k), edge(v, k+1)
		if to <= from {
			from, to = x.low, x.high
		}
		f.bar("bin", from, to, 0.95*float64(n)/float64(s.most),
			fmt.Sprintf("similarity %s to %s: %s, P = %.2f in the middle", tick(from), tick(to), count(n, "pair"), v.Function.At((from+to)/2)))
		if to == x.high && from == x.low {
			break
		}
	}
	var xs, ys []float64
	for k := range 121 {
		at := x.low + (x.high-x.low)*float64(k)/120
		xs, ys = append(xs, at), append(ys, v.Function.At(at))
	}
	f.line("curve", xs, ys)
	return f.done()
}

// step is a row of the table beneath a function.
type step struct {
	From, To string
	Pairs    int
	P        string
}

// steps lists the bins of the figure of a function.
func (v *View) steps() []step {
	s := v.shown()
	var out []step
	for k := s.from; k < len(v.Similarities.Count) && s.all > 0; k++ {
		from, to := edge(v, k), edge(v, k+1)
		if to <= from && k > s.from {
			break // all similarities are equal
		}
		out = append(out, step{tick(from), tick(to), v.Similarities.Count[k], fmt.Sprintf("%.3f", v.Function.At((from+to)/2))})
	}
	return out
}

// curveChart draws the loss and its terms by epoch. Each is divided by its first value,
// since they differ by orders of magnitude.
func (r *Report) curveChart() template.HTML {
	curve, kept := r.Learning.Curve, r.Learning.Kept
	epochs := make([]float64, len(curve))
	for i := range epochs {
		epochs[i] = float64(i)
	}
	low, high := 1.0, 1.0
	part := func(of func(l probability.Losses) float64) []float64 {
		out := make([]float64, len(curve))
		for i, l := range curve {
			out[i] = 1
			if start := of(curve[0]); start > 0 {
				out[i] = of(l) / start
			}
			low, high = min(low, out[i]), max(high, out[i])
		}
		return out
	}
	total := part(func(l probability.Losses) float64 { return l.Total })
	terms := [][]float64{
		part(func(l probability.Losses) float64 { return l.Single }),
		part(func(l probability.Losses) float64 { return l.Cross }),
		part(func(l probability.Losses) float64 { return l.Constraint }),
	}
	f := newFigure("Learning curve", fmt.Sprintf("The loss falls from %.4g to %.4g, its least, after %s.", curve[0].Total, curve[kept].Total, count(kept, "epoch")),
		700, 200, axis{high: float64(len(curve) - 1), whole: true}, newAxis(low, high, false))
	f.axes("epoch", "loss, 1 at the start")
	for k, term := range terms {
		f.line(fmt.Sprint("line s", k+2), epochs, term)
	}
	f.line("curve", epochs, total)
	f.writef(`<circle class="kept" cx="%s" cy="%s" r="4.5"><title>epoch %d is kept: loss %.4g</title></circle>`, num(f.px(float64(kept))), num(f.py(total[kept])), kept, curve[kept].Total)
	return f.done()
}

// choiceChart draws the scores of the partitions that were tried.
func (r *Report) choiceChart() template.HTML {
	low, high, top := math.Inf(1), 0.0, 0.0
	for _, c := range r.Choice.Tried {
		low, high, top = min(low, float64(c.Clusters)), max(high, float64(c.Clusters)), max(top, c.Score)
	}
	chosen := r.Choice.Tried[r.Choice.Chosen]
	f := newFigure("Partitions that were tried", fmt.Sprintf("Of %s, the one with %s was chosen, with a score of %.3f.", count(len(r.Choice.Tried), "partition"), count(chosen.Clusters, "cluster"), chosen.Score),
		700, 200, newAxis(low, high, true), axis{high: cmp.Or(top, 1)})
	f.axes("clusters (logarithmic)", "score")
	var last strings.Builder
	for i, c := range r.Choice.Tried {
		words := fmt.Sprintf("%s: score %.3f, with %s at resolution %.3g", count(c.Clusters, "cluster"), c.Score, count(c.Neighbours, "neighbour"), c.Resolution)
		if c.Linked {
			words += ", of average linkage"
		}
		class, radius, button := "dot", 3.2, ""
		if i == r.Choice.Chosen {
			class, radius = "kept", 6
		}
		at := slices.IndexFunc(r.Levels, func(l Level) bool {
			return len(r.Levels) > 1 && l.Neighbours == c.Neighbours && l.Resolution == c.Resolution
		})
		if at >= 0 {
			class, radius = class+" step", max(radius, 5)
			button = fmt.Sprintf(` data-level="%d" role="button" tabindex="0" aria-label="Show the level: %s"`, at, html.EscapeString(words))
		}
		dot := fmt.Sprintf(`<circle class="%s"%s cx="%s" cy="%s" r="%s"><title>%s</title></circle>`, class, button, num(f.px(float64(c.Clusters))), num(f.py(c.Score)), num(radius), html.EscapeString(words))
		if at >= 0 { // on top of the others
			last.WriteString(dot)
		} else {
			f.WriteString(dot)
		}
	}
	f.WriteString(last.String())
	text := f.done()
	if last.Len() > 0 { // what an image holds cannot be operated
		text = template.HTML(strings.Replace(string(text), `role="img"`, `role="group" aria-label="Partitions that were tried"`, 1)) //nolint:gosec // as above
	}
	return text
}

// count writes a number of things, its digits in threes.
func count(n int, thing string) string { return grouped(n) + " " + words.Plural(n, thing) }

// grouped writes a number with its digits in threes.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
