// Package paper runs the experiments of the paper of SLS-MPC on the sets of data that are
// there, and writes a page that holds the paper's figures against ours.
//
// A table stands for a table or a figure of the paper: cells, each of which is a setup that
// is run with several seeds. The same setup may serve several tables.
package paper

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/experiments/lab"
)

// figures are figures of the paper, in percent.
type figures map[lab.Metric]float64

// cell is a row of a table: a setup, and what it is held against.
type cell struct {
	// Group is the set of data with the choice of its views, and Label what the cell is
	// about within the group.
	Group, Label string
	Setup        lab.Setup
	// Seeds is how often the setup is run; 0 stands for defaultSeeds.
	Seeds int
	// Reason says why the cell cannot be run; it is empty where it can.
	Reason string
	// Paper holds the paper's figures for the cell, nil where it has none.
	Paper figures
	// Beside marks a cell that the paper's figures stand beside for comparison, though they
	// are of other data or another method; it is not counted.
	Beside bool
	// Against, if not nil, is the setup that the cell is held against in place of the paper.
	Against *lab.Setup
	// X is the cell's place on the horizontal axis of a figure.
	X float64
}

const defaultSeeds = 5

func (c *cell) seeds() int {
	if c.Seeds == 0 {
		return defaultSeeds
	}
	return c.Seeds
}

// name names the cell within its table.
func (c *cell) name() string { return c.Group + ", " + c.Label }

// plot is a kind of figure.
type plot int

const (
	noPlot plot = iota
	// scorePlot draws the scores over cell.X, a panel for each group.
	scorePlot
	// lossPlot draws beside these panels the loss by epoch.
	lossPlot
	// functionPlot draws the views' probability functions, a panel for each view.
	functionPlot
)

// table is a table or a figure of the paper.
type table struct {
	// ID names the table, and the file of its figure.
	ID string
	// Title is the heading, Source what in the paper it stands for, empty where there is
	// nothing, and Text says what to see.
	Title, Source, Text string
	Columns             []lab.Metric
	// Reading says what the numbers of an entry are where cells are held against another
	// setup; it is empty where it is the paper.
	Reading string
	// Tolerance, where it is above 0, is how much ARI, in percent, a cell may lose against
	// the other setup.
	Tolerance float64
	Cells     []cell
	// Plot is the kind of the figure, and XLabel names its horizontal axis.
	Plot   plot
	XLabel string
}

// Experiment is all tables.
type Experiment struct {
	l      *lab.Lab
	tables []table
}

// Cases lists every setup that a cell is about or held against.
func (e *Experiment) Cases(_ context.Context, l *lab.Lab, _ []string) ([]lab.Case, error) {
	e.l = l
	if e.tables == nil { // tests bring theirs
		e.tables = tables()
	}
	var cases []lab.Case
	for i := range e.tables {
		t := &e.tables[i]
		for k := range t.Cells {
			c := &t.Cells[k]
			if c.Reason != "" {
				continue
			}
			detailed := t.Plot == lossPlot || t.Plot == functionPlot
			cases = append(cases, lab.Case{Label: t.Title + ", " + c.name(), Setups: []lab.Setup{c.Setup}, Seeds: c.seeds(), Detailed: detailed})
			if c.Against != nil {
				cases = append(cases, lab.Case{Label: t.Title + ", " + c.name() + ", reference", Setups: []lab.Setup{*c.Against}, Seeds: c.seeds()})
			}
		}
	}
	return cases, nil
}

// records returns those of a cell, or why there are none.
func (e *Experiment) records(c *cell) (lab.Records, string) {
	if c.Reason != "" {
		return nil, c.Reason
	}
	return e.of(c.Setup, c.seeds())
}

// of returns the records of a setup; a part of its seeds, as a stopped run has, are none.
func (e *Experiment) of(s lab.Setup, seeds int) (lab.Records, string) {
	if e.l.Quick {
		seeds = 1
	}
	list, reason := e.l.Of(s, seeds)
	if reason == "" && len(list) < seeds {
		return nil, "only a part of its seeds were run"
	}
	return list, reason
}

// ours returns a cell's number in a metric, if the cell was run.
func (e *Experiment) ours(c *cell, m lab.Metric) (lab.Number, bool) {
	list, _ := e.records(c)
	if list == nil {
		return lab.Number{}, false
	}
	return list.Of(m), true
}

// reference returns what a cell is held against in a metric, if there is anything.
func (e *Experiment) reference(c *cell, m lab.Metric) (float64, bool) {
	if c.Against == nil {
		x, ok := c.Paper[m]
		return x, ok
	}
	list, _ := e.of(*c.Against, c.seeds())
	if list == nil {
		return 0, false
	}
	return list.Of(m).Mean, true
}

// margin is how far below the paper, in percent, a cell may stay unremarked.
const margin = 1.0

// entry writes a cell's number in a metric: what it is held against, the number itself and
// the difference, as far as there are such.
func (e *Experiment) entry(t *table, c *cell, m lab.Metric) string {
	against, held := e.reference(c, m)
	digits, most := 2, margin // as the paper prints
	if c.Against != nil {
		digits, most = 1, t.Tolerance
	}
	x, ok := e.ours(c, m)
	switch {
	case !ok && !held:
		return "–"
	case !ok:
		return fmt.Sprintf("%.*f / –", digits, against)
	case !held:
		return x.Write(1)
	}
	difference := lab.Signed(x.Mean - against)
	if m.IsScore() && most > 0 && x.Mean-against < -most {
		difference = "**" + difference + "**"
	}
	return fmt.Sprintf("%.*f / %s / %s", digits, against, x.Write(1), difference)
}

// headline is the metric that decides on a cell: ARI, or BCubed F where the paper has no ARI.
func (c *cell) headline() lab.Metric {
	if _, ok := c.Paper[lab.ARI]; ok {
		return lab.ARI
	}
	return lab.BCubedF
}

// counted reports whether a cell is one of the paper's for SLS-MPC.
func (c *cell) counted() bool { return c.Paper != nil && c.Against == nil && !c.Beside }

// identity is the same for cells that the paper prints in several tables.
func (c *cell) identity() string {
	if c.Reason == "" {
		return c.Setup.Key()
	}
	return fmt.Sprint(c.Group, c.Paper) // maps are printed in order
}
