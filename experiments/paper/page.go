package paper

import (
	_ "embed" // for the page's text
	"fmt"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// section is a table on the page, in Markdown.
type section struct {
	Title, Source, Text, Reading, Table, Notes, Settings, Figure string
}

// section writes a table.
func (e *Experiment) section(t *table) section {
	s := section{Title: t.Title, Source: t.Source, Text: t.Text, Reading: t.Reading}
	head := []string{"set", "case"}
	for _, m := range t.Columns {
		head = append(head, m.Title())
	}
	rows := [][]string{append(head, "settings")}
	var settings []string
	var failures lab.Reasons
	group := ""
	for i := range t.Cells {
		c := &t.Cells[i]
		row := []string{c.Group, c.Label}
		if c.Group == group {
			row[0] = ""
		}
		group = c.Group
		for _, m := range t.Columns {
			row = append(row, e.entry(t, c, m))
		}
		number := ""
		if c.Reason == "" {
			words := e.settings(c)
			at := slices.Index(settings, words)
			if at < 0 {
				at = len(settings)
				settings = append(settings, words)
			}
			number = fmt.Sprint(at + 1)
		}
		rows = append(rows, append(row, number))
		if list, reason := e.records(c); list == nil {
			failures.Add(reason, c.Group)
		}
	}
	s.Table = lab.Table(rows, 2)
	for i, words := range settings {
		s.Settings += fmt.Sprintf("%d. %s\n", i+1, words)
	}
	s.Notes = failures.List("Not computed:", false)
	if text := e.tolerated(t); text != "" {
		s.Notes = text + "\n" + s.Notes
	}
	if f := e.figure(t); f.Panels != nil {
		s.Figure = f.Link("paper")
	}
	return s
}

// sentences say what the methods do, for the page.
var sentences = map[lab.Method]string{
	lab.PseudoLabels:   "functions fitted on the clusters of k-means in each view, which is told the number of classes",
	lab.Oracle:         "functions fitted on the true classes",
	lab.TrueNeighbours: "candidate pairs weighted 1 or 0 by the true classes",
}

// settings says how a cell is run.
func (e *Experiment) settings(c *cell) string {
	words := []string{"`mvclust fit " + c.Setup.File + " " + strings.Join(c.Setup.Arguments(), " ") + "`"}
	for _, more := range []string{c.Setup.Lacks(), sentences[c.Setup.Method]} {
		if more != "" {
			words = append(words, more)
		}
	}
	if c.Seeds != 0 && !e.l.Quick {
		words = append(words, lab.Count(c.Seeds, "seed"))
	}
	return strings.Join(words, "; ")
}

// tolerated says which cells lose more than the table tolerates.
func (e *Experiment) tolerated(t *table) string {
	if t.Tolerance == 0 {
		return ""
	}
	total := 0
	var worse []string
	for i := range t.Cells {
		c := &t.Cells[i]
		x, ok := e.ours(c, lab.ARI)
		against, held := e.reference(c, lab.ARI)
		if !ok || !held {
			continue
		}
		total++
		if x.Mean < against-t.Tolerance {
			worse = append(worse, fmt.Sprintf("%s (%s)", c.name(), lab.Signed(x.Mean-against)))
		}
	}
	s := fmt.Sprintf("In ARI, %d of %d cells gain or lose at most %g.", total-len(worse), total, t.Tolerance)
	if len(worse) > 0 {
		s += " More is lost by " + strings.Join(worse, "; ") + "."
	}
	return s + "\n"
}

// summary says how many of the paper's cells are reached, and lists those that are not.
func (e *Experiment) summary() string {
	var cells, reached, single, reachedSingle, missing int
	var failures lab.Reasons
	var below [][]string
	seen := make(map[string]bool)
	for i := range e.tables {
		t := &e.tables[i]
		for k := range t.Cells {
			c := &t.Cells[k]
			if !c.counted() || seen[c.identity()] {
				continue
			}
			seen[c.identity()] = true
			where := t.Title + ": " + c.name()
			if list, reason := e.records(c); list == nil {
				missing++
				failures.Add(reason, where)
				continue
			}
			cells++
			for m, paper := range c.Paper {
				single++
				if x, _ := e.ours(c, m); x.Mean >= paper-margin {
					reachedSingle++
				}
			}
			if x, _ := e.ours(c, c.headline()); x.Mean >= c.Paper[c.headline()]-margin {
				reached++
			} else {
				below = append(below, e.belowRow(where, c))
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `The paper prints %d different cells for SLS-MPC; one that several tables repeat counts
once. %d of them could be computed here. %s of these reach the paper's ARI (BCubed F where
it prints no ARI) or stay below it by at most %.1f. Of the single figures in these cells,
which may be up to eight, that holds for %s.
`, cells+missing, cells, share(reached, cells), margin, share(reachedSingle, single))
	if below != nil {
		fmt.Fprintf(&b, `
Below the paper by more than %.1f, with the [bounds](#bounds) where they were computed:

%s`, margin, lab.Table(append([][]string{{"cell", "metric", "paper", "ours", "difference", "true functions", "true neighbours"}}, below...), 2))
	}
	if missing > 0 {
		b.WriteString("\n" + failures.List("Not computed, as the tables below say of each:", true))
	}
	return b.String()
}

// share writes a part of a whole.
func share(part, whole int) string {
	if whole == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.0f%%)", part, 100*float64(part)/float64(whole))
}

// belowRow is the row of a cell that stays below the paper.
func (e *Experiment) belowRow(where string, c *cell) []string {
	m := c.headline()
	x, _ := e.ours(c, m)
	row := []string{where, m.Title(), fmt.Sprintf("%.2f", c.Paper[m]), x.Write(1), lab.Signed(x.Mean - c.Paper[m])}
	for _, method := range []lab.Method{lab.Oracle, lab.TrueNeighbours} {
		bound := "–"
		if list, _ := e.of(c.Setup.By(method), c.seeds()); list != nil {
			bound = fmt.Sprintf("%.1f", list.Of(m).Mean)
		}
		row = append(row, bound)
	}
	return row
}

//go:embed page.md.tmpl
var pageText string

// page is what the template can use.
type page struct {
	lab.Made
	Summary  string
	Sections []section
	e        *Experiment
}

// Ours writes the number of a cell in a metric, for use within a sentence.
func (p *page) Ours(id, group, label string, m lab.Metric) (string, error) {
	for i := range p.e.tables {
		t := &p.e.tables[i]
		for k := range t.Cells {
			c := &t.Cells[k]
			if t.ID != id || c.Group != group || c.Label != label {
				continue
			}
			if x, ok := p.e.ours(c, m); ok {
				return fmt.Sprintf("%.1f", x.Mean), nil
			}
			return "(not computed)", nil
		}
	}
	return "", fmt.Errorf("there is no cell %q of %q in %q", label, group, id)
}

// Page writes the page.
func (e *Experiment) Page(_ *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	p := &page{Made: made, Summary: e.summary(), e: e}
	var drawn []lab.Figure
	for i := range e.tables {
		p.Sections = append(p.Sections, e.section(&e.tables[i]))
		if f := e.figure(&e.tables[i]); f.Panels != nil {
			drawn = append(drawn, f)
		}
	}
	text, err := lab.Render(pageText, p)
	return text, drawn, err
}
