package auto

import (
	_ "embed" // for the page's text
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// page is what the template can use.
type page struct {
	lab.Made
	e      *Experiment
	figure lab.Figure
}

//go:embed page.md.tmpl
var text string

// Page writes the section.
func (e *Experiment) Page(_ *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	p := &page{made, e, e.against()}
	s, err := lab.Render(text, p)
	if p.figure.Panels == nil {
		return s, nil, err
	}
	return s, []lab.Figure{p.figure}, err
}

// against is the figure of the default mode against the best opponent that is told the number of
// classes.
func (e *Experiment) against() lab.Figure {
	f := lab.Figure{Name: "against", Title: "The default mode against the best method told the number of classes", Tall: 560}
	panel := lab.Panel{X: "ARI of the best of " + words(told) + ", told the number of classes", Y: "ARI of the default mode, told nothing, mean of the seeds", Diagonal: true}
	for folder, name := range collections {
		s := lab.Series{Name: "collection " + name}
		for _, x := range e.whole(complete, folder) {
			if best := e.best(x, told); best == best {
				s.X, s.Y, s.Names = append(s.X, best), append(s.Y, e.mean(x, lab.ARI)), append(s.Names, x.title())
			}
		}
		if s.Names != nil {
			panel.Series = append(panel.Series, s)
		}
	}
	if panel.Series != nil {
		f.Panels = []lab.Panel{panel}
	}
	return f
}

// collections are the names of the folders, in order.
var collections = []string{"one", "two"}

func words(methods []lab.Method) string {
	var list []string
	for _, m := range methods {
		list = append(list, string(m))
	}
	return strings.Join(list, ", ")
}

// Figure shows the figure, where there is one.
func (p *page) Figure() string {
	if p.figure.Panels == nil {
		return ""
	}
	return p.figure.Link("auto")
}

// Ten lists the sets that the aims are about.
func (p *page) Ten() string { return lab.Text(strings.Join(lab.Ten(), ", ")) }

// Seeds is the number of seeds, MostSamples the number of samples up to which there are opponents,
// MostUpdated that up to which there is an update, NoiseDims the number of dimensions of the noise
// and Large the size of the clusters that count.
func (p *page) Seeds() int       { return seeds }
func (p *page) MostSamples() int { return lab.MostSamples }
func (p *page) MostUpdated() int { return mostUpdated }
func (p *page) NoiseDims() int   { return noiseDims }
func (p *page) Large() int       { return lab.LargeCluster }

// AimTable is the table of what was aimed for.
func (p *page) AimTable() string { return lab.AimTable(p.e.aims()) }

// column is a column of a table: the cell of a subject, and that of the mean of several.
type column struct {
	head string
	of   func(x *subject) string
	mean func(list []*subject) string
}

// number is a column of numbers with one decimal.
func number(head string, of func(x *subject) float64) column {
	return column{head, func(x *subject) string { return lab.Points(of(x)) }, func(list []*subject) string { return lab.Points(over(list, of)) }}
}

// own is a column of a metric of the default mode, with its deviation.
func (p *page) own(head string, of lab.Metric, decimals int) column {
	c := column{head: head, of: func(x *subject) string { return p.e.own(x).Of(of).Write(decimals) }}
	if of.IsScore() {
		c.mean = func(list []*subject) string {
			return lab.Points(over(list, func(x *subject) float64 { return p.e.mean(x, of) }))
		}
	}
	return c
}

// columns are those of the table of a state, behind the name of the set.
func (p *page) columns(s state) []column {
	e := p.e
	if s == updated {
		value := func(name string) func(x *subject) float64 {
			return func(x *subject) float64 { return e.value(x, name) }
		}
		return []column{
			number("old labels kept", value(kept)), number("the least of the seeds", e.leastKept),
			number("ARI before", value(before)), number("ARI after", value(after)),
			{head: "s", of: func(x *subject) string { return lab.Digits(e.seconds(x)) }},
		}
	}
	var list []column
	if s == complete {
		list = append(list, column{head: "N", of: func(x *subject) string { return strconv.Itoa(e.own(x)[0].Scores.Samples) }},
			column{head: "classes", of: func(x *subject) string { return strconv.Itoa(e.own(x)[0].Scores.Classes) }})
	}
	list = append(list, p.own("clusters", lab.Large, 0), p.own("ARI", lab.ARI, 1), p.own("BCubed F", lab.BCubedF, 1))
	list = append(list, number(bestLevel, func(x *subject) float64 { return e.value(x, bestLevel) }))
	switch s {
	case complete:
		list = append(list, number("between seeds", e.alike), number("the least", e.leastAlike))
	case noiseView:
		list = append(list, number("fall", e.fall))
	case halfMissing:
		list = append(list, column{head: "incomplete", of: func(x *subject) string {
			r := e.own(x)[0]
			return fmt.Sprintf("%.0f%%", 100*float64(r.Incomplete)/float64(r.Scores.Samples))
		}})
	}
	for _, m := range slices.Concat(told, untold) {
		list = append(list, number(string(m), func(x *subject) float64 { return e.rival(x, m) }))
	}
	if s == complete {
		list = append(list, number("paper's", func(x *subject) float64 { return e.rival(x, lab.Paper) }),
			column{head: "s", of: func(x *subject) string { return lab.Digits(e.seconds(x)) }},
			column{head: "over the paper's", of: func(x *subject) string { return lab.Digits(e.timeRatio(x)) }},
			column{head: "MiB", of: func(x *subject) string { return fmt.Sprintf("%.0f", e.own(x).Of(lab.Peak).Mean/(1<<20)) }})
	}
	return list
}

// Table is the table of a state, or says that there is none: the sets of one folder after the
// other, and after each the means.
func (p *page) Table(in string) string {
	s := state(in)
	columns := p.columns(s)
	head := []string{"set"}
	for _, c := range columns {
		head = append(head, c.head)
	}
	rows := [][]string{head}
	for folder := range p.e.l.Folders {
		for _, x := range p.e.done(s) {
			if x.folder == folder {
				row := []string{lab.Text(x.title())}
				for _, c := range columns {
					row = append(row, c.of(x))
				}
				rows = append(rows, row)
			}
		}
		if all := p.e.whole(s, folder); len(all) > 1 {
			row := []string{fmt.Sprintf("**mean of %d**", len(all))}
			for _, c := range columns {
				cell := ""
				if c.mean != nil {
					cell = c.mean(all)
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 1 {
		return "None was run.\n"
	}
	return lab.Table(rows, 1)
}

// over returns the mean over the subjects, NaN where one has none.
func over(list []*subject, of func(x *subject) float64) float64 {
	var all []float64
	for _, x := range list {
		all = append(all, of(x))
	}
	return average(all)
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
