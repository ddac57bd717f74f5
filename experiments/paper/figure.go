package paper

import (
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/experiments/lab"
)

// figure returns the figure of a table; one without panels where there are no points.
func (e *Experiment) figure(t *table) lab.Figure {
	f := lab.Figure{Name: t.ID, Title: t.Title}
	switch t.Plot {
	case scorePlot:
		f.Panels = e.scorePanels(t)
	case lossPlot:
		f.Panels = append(e.scorePanels(t), e.lossPanel(t)...)
	case functionPlot:
		f.Panels = e.functionPanels(t)
	}
	return f
}

// scorePanels draws, for each group, the scores of its cells over cell.X.
func (e *Experiment) scorePanels(t *table) []lab.Panel {
	var panels []lab.Panel
	for i := range t.Cells {
		group := t.Cells[i].Group
		if slices.ContainsFunc(panels, func(p lab.Panel) bool { return p.Title == group }) {
			continue
		}
		p := lab.Panel{Title: group, X: t.XLabel, Y: "score in %"}
		for _, m := range t.Columns {
			if !m.IsScore() {
				continue
			}
			s := lab.Series{Name: m.Title()}
			for k := range t.Cells {
				c := &t.Cells[k]
				if x, ok := e.ours(c, m); ok && c.Group == group {
					s.X, s.Y, s.Error = append(s.X, c.X), append(s.Y, x.Mean), append(s.Error, x.Deviation)
				}
			}
			if len(s.X) > 0 {
				p.Series = append(p.Series, s)
			}
		}
		if p.Series != nil {
			panels = append(panels, p)
		}
	}
	return panels
}

// lossPanel draws the loss by epoch of the run with the most epochs.
func (e *Experiment) lossPanel(t *table) []lab.Panel {
	var longest *lab.Detail
	var group string
	for i := range t.Cells {
		d := e.detail(&t.Cells[i])
		if d != nil && len(d.Epochs) > 0 && (longest == nil || d.Epochs[len(d.Epochs)-1] > longest.Epochs[len(longest.Epochs)-1]) {
			longest, group = d, t.Cells[i].Group
		}
	}
	if longest == nil {
		return nil
	}
	return []lab.Panel{{Title: group + ", loss", X: t.XLabel, Y: "loss", Series: []lab.Series{{Name: "loss", X: longest.Epochs, Y: longest.Losses}}}}
}

// detail returns what figures need of a cell, nil where it was not run.
func (e *Experiment) detail(c *cell) *lab.Detail {
	list, _ := e.records(c)
	if list == nil {
		return nil
	}
	return list[0].Detail
}

// functionPanels draws, for each view, the functions of all cells.
func (e *Experiment) functionPanels(t *table) []lab.Panel {
	var panels []lab.Panel
	for i := range t.Cells {
		d := e.detail(&t.Cells[i])
		if d == nil {
			continue
		}
		for view, f := range d.Functions {
			if view == len(panels) {
				panels = append(panels, lab.Panel{Title: fmt.Sprint("view ", view), X: t.XLabel, Y: "P(same class)", Top: 1})
			}
			if len(f.X) > 0 {
				panels[view].Series = append(panels[view].Series, lab.Series{Name: t.Cells[i].Label, X: f.X, Y: f.P})
			}
		}
	}
	// A view that no pair has leaves nothing to draw.
	return slices.DeleteFunc(panels, func(p lab.Panel) bool { return len(p.Series) == 0 })
}
