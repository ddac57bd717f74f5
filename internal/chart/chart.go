// Package chart draws line charts as SVG that read well on a web page in light
// and dark, on a phone and in print.
//
//	Title                            the title, wrapped
//	--o-- ACC   - -#- - NMI          the legend, one entry per series name
//	score                            Y.Label
//	1.0 |  o---o__
//	0.5 |         #- - #             plot area
//	0.0 +----+----+----+
//	    0   0.2  0.4  0.6
//	       missing rate              X.Label
//
// The background is transparent and the colours follow the reader's colour
// scheme. Every series has a colour, a marker and a dash pattern of its own, so
// that colour is never the only difference. Text stays text, in the reader's
// own sans serif font, and the drawing is described in words for screen
// readers. The same chart always gives the same bytes.
package chart

import (
	"fmt"
	"io"
	"math"
)

// Axis describes one axis of a chart.
type Axis struct {
	// Label names the quantity and its unit. It is shortened where it does not
	// fit, as is every other text that cannot be wrapped.
	Label string
	// Min and Max are the ends of the axis, Min < Max. Both 0 means that they
	// come from the data. Whatever lies outside is cut off at the plot's edge.
	Min, Max float64
	// Log makes the axis logarithmic. Its values must be positive.
	Log bool
}

// Series is one line of a chart.
type Series struct {
	// Name stands in the legend. Names differ within a chart; a chart's only
	// series may do without one, and then has no legend.
	Name string
	// X and Y are the points in the order in which the line joins them, of equal
	// length. X is finite. The line breaks where Y is NaN.
	X, Y []float64
	// Error is nil, or half the length of the whisker of each point, at least 0,
	// in the unit of Y; NaN means no whisker. A series that has too many points
	// for markers shows a band in place of whiskers.
	Error []float64
}

// Line is a line chart.
type Line struct {
	Title  string
	X, Y   Axis
	Series []Series
}

// WriteSVG writes the chart as one SVG document. It is an error, and nothing is
// written, if the lengths of a series differ, if a value is infinite or does not
// fit the axis, or if no series has a point.
func (l Line) WriteSVG(w io.Writer) error {
	title := l.Title
	l.Title = ""
	d, err := newDrawing(title, []Line{l}, 1)
	if err != nil {
		return fmt.Errorf("chart %q: %w", title, err)
	}
	return d.write(w)
}

// Grid writes the panels as one SVG document with the given number of columns,
// row after row, under a common title. A series name looks the same in every
// panel; panels that all have the same names share one legend, and others have
// one each. Two columns are as many as a phone shows in comfort. The errors are
// those of Line.WriteSVG, and a number of columns below 1.
func Grid(w io.Writer, columns int, title string, panels []Line) error {
	if columns < 1 {
		return fmt.Errorf("chart %q: %d columns; give at least 1", title, columns)
	}
	d, err := newDrawing(title, panels, min(columns, max(1, len(panels))))
	if err != nil {
		return fmt.Errorf("chart %q: %w", title, err)
	}
	return d.write(w)
}

// limit is the largest magnitude that is drawn, and 1/limit the smallest value
// of a logarithmic axis: with these, nothing computed on the way overflows.
const limit = 1e300

// check reports the first thing that keeps a chart from being drawn.
func (l Line) check() error {
	for _, a := range []struct {
		name string
		Axis
	}{{"X", l.X}, {"Y", l.Y}} {
		if err := a.check(); err != nil {
			return fmt.Errorf("axis %s: %w", a.name, err)
		}
	}
	names := make(map[string]bool, len(l.Series))
	points := 0
	for _, s := range l.Series {
		if names[s.Name] {
			return fmt.Errorf("two series have the name %q; give each its own", s.Name)
		}
		names[s.Name] = true
		n, err := s.check(l.X.Log, l.Y.Log)
		if err != nil {
			return fmt.Errorf("series %q: %w", s.Name, err)
		}
		points += n
	}
	if points == 0 {
		return fmt.Errorf("nothing to draw; give at least one point whose Y is not NaN")
	}
	return nil
}

// check reports ends that do not make an axis.
func (a Axis) check() error {
	switch {
	case !a.fixed():
	case !(math.Abs(a.Min) <= limit && math.Abs(a.Max) <= limit):
		return fmt.Errorf("runs from %v to %v; give finite ends of at most %v", a.Min, a.Max, limit)
	case a.Max <= a.Min || narrow(a.Min, a.Max):
		return fmt.Errorf("runs from %v to %v; make Max clearly larger than Min", a.Min, a.Max)
	case a.Log && a.Min < 1/limit:
		return fmt.Errorf("starts at %v; a logarithmic axis needs a positive Min", a.Min)
	}
	return nil
}

// fixed reports whether the caller set the ends.
func (a Axis) fixed() bool { return a.Min != 0 || a.Max != 0 }

// check reports values that cannot be drawn, and counts the points that can.
func (s Series) check(logX, logY bool) (points int, err error) {
	if len(s.X) != len(s.Y) {
		return 0, fmt.Errorf("%d X and %d Y; give one Y per X", len(s.X), len(s.Y))
	}
	if s.Error != nil && len(s.Error) != len(s.Y) {
		return 0, fmt.Errorf("%d Y and %d Error; give one Error per Y, or none at all", len(s.Y), len(s.Error))
	}
	for i, x := range s.X {
		y := s.Y[i]
		switch {
		case !(math.Abs(x) <= limit):
			return 0, fmt.Errorf("X[%d] is %v; give a finite value of at most %v", i, x, limit)
		case math.Abs(y) > limit:
			return 0, fmt.Errorf("Y[%d] is %v; give a finite value of at most %v, or NaN for a gap", i, y, limit)
		case logX && x < 1/limit:
			return 0, fmt.Errorf("X[%d] is %v; a logarithmic axis needs positive values", i, x)
		case logY && y < 1/limit:
			return 0, fmt.Errorf("Y[%d] is %v; a logarithmic axis needs positive values, or NaN for a gap", i, y)
		case s.Error != nil && (s.Error[i] < 0 || s.Error[i] > limit):
			return 0, fmt.Errorf("Error[%d] is %v; give a finite value of at least 0, or NaN for no whisker", i, s.Error[i])
		}
		if y == y {
			points++
		}
	}
	return points, nil
}

// extent returns the ends of the X and Y axes: those that the caller set, else
// those of the data with their whiskers.
func (l Line) extent() (x, y [2]float64) {
	x = [2]float64{math.Inf(1), math.Inf(-1)}
	y = x
	for _, s := range l.Series {
		for i, v := range s.Y {
			if v != v {
				continue
			}
			x[0], x[1] = min(x[0], s.X[i]), max(x[1], s.X[i])
			y[0], y[1] = min(y[0], v), max(y[1], v)
			if e := s.whisker(i); e > 0 {
				y[1] = max(y[1], v+e)
				// A whisker that reaches 0 has no lower end on a logarithmic axis.
				if !l.Y.Log || v-e >= 1/limit {
					y[0] = min(y[0], v-e)
				}
			}
		}
	}
	if l.X.fixed() {
		x = [2]float64{l.X.Min, l.X.Max}
	}
	if l.Y.fixed() {
		y = [2]float64{l.Y.Min, l.Y.Max}
	}
	return x, y
}

// whisker returns half the length of the whisker of point i, or 0.
func (s Series) whisker(i int) float64 {
	if s.Error == nil || s.Error[i] != s.Error[i] {
		return 0
	}
	return s.Error[i]
}
