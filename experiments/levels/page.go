package levels

import (
	_ "embed" // for the page's text
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/mvclust/mvclust/experiments/lab"
)

// page is what the template can use.
type page struct {
	lab.Made
	e *Experiment
}

//go:embed page.md.tmpl
var text string

// Page writes the section.
func (e *Experiment) Page(_ *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	s, err := lab.Render(text, &page{made, e})
	return s, nil, err
}

// Seeds is the number of seeds, Draws that of the draws of examples, MostAnswered that of the
// samples of the largest sets with answers, and PerRound and Pairs those of the answers.
func (p *page) Seeds() string     { return lab.Count(p.e.Seeds, "seed") }
func (p *page) Draws() int        { return draws }
func (p *page) MostAnswered() int { return mostAnswered }
func (p *page) PerRound() int     { return perRound }
func (p *page) Pairs() int        { return pairs }

// Answered is the least number of seeds that sets have answers with, empty where they have all.
func (p *page) Answered() string {
	if n := p.e.answered(); n < p.e.Seeds {
		return lab.Count(n, "seed")
	}
	return ""
}

// AimTable is the table of what was aimed for.
func (p *page) AimTable() string { return lab.AimTable(p.e.aims()) }

// aims holds what was measured against what was aimed for.
func (e *Experiment) aims() []lab.Aim {
	one := lab.Decimals(1)
	second := e.done(1, bestOfFive)
	small := e.done(1, after(pairs))
	told := fmt.Sprintf(", collection two (%d sets)", len(second))
	answered := fmt.Sprintf(", the %d sets of collection two with at most %s samples", len(small), lab.Whole(mostAnswered))
	of := func(what string, bound float64, measured float64) lab.Aim {
		return lab.Aim{What: what, Bound: bound, AtLeast: true, Measured: measured, Write: one}
	}
	least := func(what, name string, list []*subject) lab.Aim {
		a := of(what, -2, math.NaN())
		for _, x := range list {
			if g := e.gain(x, name); !(a.Measured <= g) {
				a.Measured, a.Where = g, x.name()
			}
		}
		return a
	}
	random := e.over(small, randomFit)
	return []lab.Aim{
		of("mean ARI of the best of at most five levels"+told, 60, e.over(second, bestOfFive)),
		of("with 20 examples, cut or fit"+told, 60, e.over(second, byCut(20))),
		of("with 50 examples, cut or fit"+told, 63, e.over(second, byCut(50))),
		least("change by 50 examples, the least of all sets", byCut(50), e.done(-1, byCut(50))),
		of("with the number of classes, cut or fit"+told, 56, e.over(second, cutClusters)),
		of("the same, the ten sets of collection one", 77, e.ten(cutClusters)),
		of(fmt.Sprintf("after %d answers%s", pairs, answered), 59, e.over(small, after(pairs))),
		of("above as many random pairs, fit", 2, e.over(small, after(pairs))-random),
		least("change by answers, the least of these sets", after(pairs), small),
		least("change by the same pairs, fit", askedFit, small),
		least("change by random pairs, fit", randomFit, small),
	}
}

// ten returns the mean of a number over the ten sets that aims are about.
func (e *Experiment) ten(name string) float64 {
	var list []*subject
	for _, set := range lab.Ten() {
		for i := range e.list {
			if e.list[i].name() == set {
				list = append(list, &e.list[i])
			}
		}
	}
	if len(list) < len(lab.Ten()) {
		return math.NaN()
	}
	return e.over(list, name)
}

// column is a column of a table.
type column struct {
	head string
	of   func(x *subject) float64
}

// column is one of a number of the runs.
func (e *Experiment) column(head, name string) column {
	return column{head, func(x *subject) float64 { return e.value(x, name) }}
}

// Known is the table of levels, numbers of clusters and examples.
func (p *page) Known() string {
	e := p.e
	columns := []column{
		{"told nothing", e.start}, e.column("levels", count), e.column("best of five", bestOfFive), e.column("of all", bestOfAll),
	}
	for _, n := range given {
		columns = append(columns, e.column(fmt.Sprintf("%d examples", n), byCut(n)), e.column("the rest", restOf(n)))
	}
	return p.table(append(columns, e.column("number of clusters", cutClusters)), bestOfFive)
}

// Answers is the table of answers.
func (p *page) Answers() string {
	e := p.e
	columns := []column{{"before", func(x *subject) float64 { return e.before(x, after(pairs)) }}}
	for round := range rounds {
		n := (round + 1) * perRound
		columns = append(columns, e.column(fmt.Sprintf("after %d", n), after(n)))
	}
	return p.table(append(columns, e.column(askedFit, askedFit), e.column(randomFit, randomFit)), after(pairs))
}

// table is a table of the sets that have a number, one folder after the other, and after each the
// means.
func (p *page) table(columns []column, with string) string {
	head := []string{"set", "N", "classes"}
	for _, c := range columns {
		head = append(head, c.head)
	}
	rows := [][]string{head}
	for folder := range p.e.l.Folders {
		list := p.e.done(folder, with)
		for _, x := range list {
			s := p.e.own(x)[0].Scores
			row := []string{lab.Text(x.name()), strconv.Itoa(s.Samples), strconv.Itoa(s.Classes)}
			for _, c := range columns {
				row = append(row, lab.Points(c.of(x)))
			}
			rows = append(rows, row)
		}
		small := slices.DeleteFunc(slices.Clone(list), func(x *subject) bool { return p.e.own(x)[0].Scores.Samples > mostAnswered })
		if len(small) > 1 && len(small) < len(list) {
			rows = append(rows, means(fmt.Sprintf("**mean of the %d with at most %s**", len(small), lab.Whole(mostAnswered)), small, columns))
		}
		if len(list) > 1 {
			rows = append(rows, means(fmt.Sprintf("**mean of %d**", len(list)), list, columns))
		}
	}
	if len(rows) == 1 {
		return "None was run.\n"
	}
	return lab.Table(rows, 1)
}

// means is the row of the means of columns over subjects.
func means(head string, list []*subject, columns []column) []string {
	row := []string{head, "", ""}
	for _, c := range columns {
		row = append(row, lab.Points(mean(list, c.of)))
	}
	return row
}

// Skipped lists what could not be run, and why.
func (p *page) Skipped() string {
	var skipped lab.Reasons
	for i := range p.e.list {
		x := &p.e.list[i]
		if records, reason := p.e.l.Of(x.setup, 1); records == nil {
			skipped.Add(reason, x.name())
		}
	}
	return skipped.List("Skipped:", false)
}
