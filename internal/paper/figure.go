package paper

import (
	"fmt"
	"io"
	"slices"

	"github.com/mvclust/mvclust/internal/chart"
)

// Figure is a figure of the page.
type Figure struct {
	// Name is the name of its file.
	Name string
	// Write writes it as SVG.
	Write func(w io.Writer) error
}

// Figures returns the figures of all experiments that have any points.
func (r *Report) Figures() []Figure {
	var list []Figure
	for i := range r.experiments {
		e := &r.experiments[i]
		if panels := r.panels(e); len(panels) > 0 {
			list = append(list, Figure{e.ID + ".svg", func(w io.Writer) error {
				return chart.Grid(w, 2, e.Title, panels)
			}})
		}
	}
	return list
}

// panels returns the panels of an experiment's figure; none where it has no points.
func (r *Report) panels(e *Experiment) []chart.Line {
	switch e.Plot {
	case ScorePlot:
		return r.scorePanels(e)
	case LossPlot:
		return append(r.scorePanels(e), r.lossPanels(e)...)
	case FunctionPlot:
		return r.functionPanels(e)
	default:
		return nil
	}
}

// scorePanels draws, for each group, the scores of its cells over Cell.X.
func (r *Report) scorePanels(e *Experiment) []chart.Line {
	var panels []chart.Line
	for i := range e.Cells {
		group := e.Cells[i].Group
		if slices.ContainsFunc(panels, func(l chart.Line) bool { return l.Title == group }) {
			continue
		}
		if series := r.scoreSeries(e, group); len(series) > 0 {
			panels = append(panels, chart.Line{
				Title: group, X: chart.Axis{Label: e.XLabel}, Y: chart.Axis{Label: "score in %"}, Series: series,
			})
		}
	}
	return panels
}

func (r *Report) scoreSeries(e *Experiment, group string) []chart.Series {
	var list []chart.Series
	for _, m := range e.Columns {
		if m == Clusters || m == Seconds {
			continue
		}
		s := chart.Series{Name: m.title()}
		for i := range e.Cells {
			c := &e.Cells[i]
			if x, ok := r.ours(c, m); ok && c.Group == group {
				s.X, s.Y, s.Error = append(s.X, c.X), append(s.Y, x.Mean), append(s.Error, x.Deviation)
			}
		}
		if len(s.X) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// lossPanels draws the loss by epoch of the run with the most epochs.
func (r *Report) lossPanels(e *Experiment) []chart.Line {
	var longest *Detail
	var group string
	for i := range e.Cells {
		d := r.detail(&e.Cells[i])
		if d != nil && len(d.Epochs) > 0 && (longest == nil || d.Epochs[len(d.Epochs)-1] > longest.Epochs[len(longest.Epochs)-1]) {
			longest, group = d, e.Cells[i].Group
		}
	}
	if longest == nil {
		return nil
	}
	return []chart.Line{{
		Title: group + ", loss", X: chart.Axis{Label: e.XLabel}, Y: chart.Axis{Label: "loss"},
		Series: []chart.Series{{Name: "loss", X: longest.Epochs, Y: longest.Losses}},
	}}
}

// detail returns what figures need of a cell, nil where it was not run.
func (r *Report) detail(c *Cell) *Detail {
	runs, _ := r.runs(c)
	if len(runs) == 0 {
		return nil
	}
	return runs[0].Detail
}

// functionPanels draws, for each view, the functions of all cells.
func (r *Report) functionPanels(e *Experiment) []chart.Line {
	var panels []chart.Line
	for i := range e.Cells {
		d := r.detail(&e.Cells[i])
		if d == nil {
			continue
		}
		for view, f := range d.Functions {
			if view == len(panels) {
				panels = append(panels, chart.Line{
					Title: fmt.Sprint("view ", view),
					X:     chart.Axis{Label: e.XLabel}, Y: chart.Axis{Label: "P(same class)", Max: 1},
				})
			}
			if len(f.X) > 0 {
				panels[view].Series = append(panels[view].Series, chart.Series{Name: e.Cells[i].Label, X: f.X, Y: f.P})
			}
		}
	}
	// A view that no pair has leaves nothing to draw.
	return slices.DeleteFunc(panels, func(l chart.Line) bool { return len(l.Series) == 0 })
}
