package paper

import (
	_ "embed" // for the page's text
	"fmt"
	"math"
	"slices"
	"strings"
	"text/template"

	"github.com/mvclust/mvclust/internal/markdown"
)

// Made says what made a page.
type Made struct {
	Command    string `json:"command"`
	Date       string `json:"date"`
	Version    string `json:"version"`
	Processors int    `json:"processors"`
	Quick      bool   `json:"quick"`
}

// Report is what came of a plan.
type Report struct {
	experiments []Experiment
	quick       bool
	jobs        jobs
	results     *Results
}

// Counts returns how many different setups the report is about, how many of them were
// run before, and how many could not be run.
func (r *Report) Counts() (setups, reused, failed int) {
	for _, j := range r.jobs.list {
		if j.reused {
			reused++
		}
		if j.reason != "" {
			failed++
		}
	}
	return len(r.jobs.list), reused, failed
}

// of returns the runs of a setup with its first seeds, or why there are none.
func (r *Report) of(s Setup, seeds int) (runs []*Run, reason string) {
	j := r.jobs.of[s.key()]
	return j.runs[:min(seeds, len(j.runs))], j.reason
}

// runs returns the runs of a cell, or why there are none.
func (r *Report) runs(c *Cell) (runs []*Run, reason string) {
	if c.Reason != "" {
		return nil, c.Reason
	}
	return r.of(c.Setup, c.seeds())
}

// number is what a cell has in one metric: in percent where that is a score.
type number struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	runs      int
}

// ours returns a cell's number in a metric, if the cell was run.
func (r *Report) ours(c *Cell, m Metric) (number, bool) {
	runs, _ := r.runs(c)
	if len(runs) == 0 {
		return number{}, false
	}
	x, deviation := mean(runs, m)
	return number{x, deviation, len(runs)}, true
}

// reference returns what a cell is held against in a metric, if there is anything.
func (r *Report) reference(c *Cell, m Metric) (float64, bool) {
	if c.Against == nil {
		x, ok := c.Paper[m]
		return x, ok
	}
	runs, _ := r.of(*c.Against, c.seeds())
	if len(runs) == 0 {
		return 0, false
	}
	x, _ := mean(runs, m)
	return x, true
}

// margin is how far below the paper, in percent, a cell may stay unremarked.
const margin = 1.0

// entry writes a cell's number in a metric: what it is held against, the number
// itself and the difference, as far as there are such.
func (r *Report) entry(e *Experiment, c *Cell, m Metric) string {
	against, held := r.reference(c, m)
	digits := 2 // as the paper prints
	if c.Against != nil {
		digits = 1
	}
	x, ok := r.ours(c, m)
	switch {
	case !ok && !held:
		return "–"
	case !ok:
		return fmt.Sprintf("%.*f / –", digits, against)
	case !held:
		return x.String()
	default:
		return fmt.Sprintf("%.*f / %s / %s", digits, against, x, e.difference(c, m, x.Mean-against))
	}
}

// String returns the mean, with the deviation where it is of several runs.
func (n number) String() string {
	if n.runs == 1 {
		return fmt.Sprintf("%.1f", n.Mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", n.Mean, n.Deviation)
}

// difference writes a difference, in bold where it is remarkably bad.
func (e *Experiment) difference(c *Cell, m Metric, x float64) string {
	most := margin
	if c.Against != nil {
		most = e.Tolerance
	}
	if m != Clusters && m != Seconds && most > 0 && x < -most {
		return "**" + signed(x) + "**"
	}
	return signed(x)
}

// signed writes a number with its sign.
func signed(x float64) string {
	x = math.Round(10*x) / 10
	if x == 0 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", x), "-", "−", 1)
}

// section is an experiment on the page, in Markdown.
type section struct {
	Title, Source, Text, Reading, Table, Notes, Settings, Figure string
}

// section writes an experiment; figures is the folder of the figures.
func (r *Report) section(e *Experiment, figures string) section {
	s := section{Title: e.Title, Source: e.Source, Text: e.Text, Reading: e.Reading}
	head := []string{"set", "case"}
	for _, m := range e.Columns {
		head = append(head, m.title())
	}
	rows := [][]string{append(head, "settings")}
	var settings []string
	group := ""
	for i := range e.Cells {
		c := &e.Cells[i]
		row := []string{c.Group, c.Label}
		if c.Group == group {
			row[0] = ""
		}
		group = c.Group
		for _, m := range e.Columns {
			row = append(row, r.entry(e, c, m))
		}
		number := ""
		if c.Reason == "" {
			words := r.settings(c)
			at := slices.Index(settings, words)
			if at < 0 {
				at = len(settings)
				settings = append(settings, words)
			}
			number = fmt.Sprint(at + 1)
		}
		rows = append(rows, append(row, number))
	}
	s.Table = markdown.Table(rows, 2)
	var settled strings.Builder
	for i, words := range settings {
		fmt.Fprintf(&settled, "%d. %s\n", i+1, words)
	}
	s.Settings = settled.String()
	s.Notes = r.failures(e) + r.tolerated(e)
	if len(r.panels(e)) > 0 {
		s.Figure = fmt.Sprintf("![%s](%s/%s.svg)\n", e.Title, figures, e.ID)
	}
	return s
}

// settings says how a cell is run.
func (r *Report) settings(c *Cell) string {
	words := []string{"`" + c.Setup.command() + "`"}
	for _, more := range []string{c.Setup.lacking(), c.Setup.Method.sentence()} {
		if more != "" {
			words = append(words, more)
		}
	}
	if c.Seeds != 0 && !r.quick {
		words = append(words, fmt.Sprintf("%d seeds", c.Seeds))
	}
	return strings.Join(words, "; ")
}

// failures says which groups of an experiment have cells that could not be run, by
// reason.
func (r *Report) failures(e *Experiment) string {
	var f reasons
	for i := range e.Cells {
		if _, reason := r.runs(&e.Cells[i]); reason != "" {
			f.add(reason, e.Cells[i].Group)
		}
	}
	return f.text("Not computed:", func(groups []string) string {
		slices.Sort(groups)
		return strings.Join(slices.Compact(groups), "; ")
	})
}

// reasons gathers cells by the reason why they could not be run, in order of first
// use.
type reasons struct {
	order []string
	cells map[string][]string
}

func (f *reasons) add(reason, cell string) {
	if f.cells == nil {
		f.cells = make(map[string][]string)
	}
	if f.cells[reason] == nil {
		f.order = append(f.order, reason)
	}
	f.cells[reason] = append(f.cells[reason], cell)
}

func (f *reasons) text(title string, list func(cells []string) string) string {
	if len(f.order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(title + "\n\n")
	for _, reason := range f.order {
		fmt.Fprintf(&b, "- %s: %s\n", list(f.cells[reason]), harmless(reason))
	}
	return b.String()
}

// harmless makes text, which may quote a file, one line that means nothing in
// Markdown.
func harmless(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("<", `\<`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}

// tolerated says which cells lose more than the experiment tolerates.
func (r *Report) tolerated(e *Experiment) string {
	if e.Tolerance == 0 {
		return ""
	}
	total := 0
	var worse []string
	for i := range e.Cells {
		c := &e.Cells[i]
		x, ok := r.ours(c, ARI)
		against, held := r.reference(c, ARI)
		if !ok || !held {
			continue
		}
		total++
		if x.Mean < against-e.Tolerance {
			worse = append(worse, fmt.Sprintf("%s (%s)", c.name(), signed(x.Mean-against)))
		}
	}
	s := fmt.Sprintf("In ARI, %d of %d cells gain or lose at most %g.", total-len(worse), total, e.Tolerance)
	if len(worse) > 0 {
		s += " More is lost by " + strings.Join(worse, "; ") + "."
	}
	return s + "\n"
}

// headline is the metric that decides on a cell: ARI, or BCubed F where the paper has
// no ARI.
func (c *Cell) headline() Metric {
	if _, ok := c.Paper[ARI]; ok {
		return ARI
	}
	return BCubedF
}

// counted reports whether a cell is one of the paper's for SLS-MPC.
func (c *Cell) counted() bool { return c.Paper != nil && c.Against == nil && !c.Beside }

// identity is the same for cells that the paper prints in several tables.
func (c *Cell) identity() string {
	if c.Reason == "" {
		return c.Setup.key()
	}
	return fmt.Sprint(c.Group, c.Paper) // maps are printed in order
}

// summary says how many of the paper's cells are reached, and lists those that are
// not.
func (r *Report) summary() string {
	var cells, reached, figures, reachedFigures, missing int
	var f reasons
	var below [][]string
	seen := make(map[string]bool)
	for i := range r.experiments {
		e := &r.experiments[i]
		for k := range e.Cells {
			c := &e.Cells[k]
			if !c.counted() || seen[c.identity()] {
				continue
			}
			seen[c.identity()] = true
			where := e.Title + ": " + c.name()
			if _, reason := r.runs(c); reason != "" {
				missing++
				f.add(reason, where)
				continue
			}
			cells++
			for m, paper := range c.Paper {
				figures++
				if x, _ := r.ours(c, m); x.Mean >= paper-margin {
					reachedFigures++
				}
			}
			if x, _ := r.ours(c, c.headline()); x.Mean >= c.Paper[c.headline()]-margin {
				reached++
			} else {
				below = append(below, r.belowRow(where, c))
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `The paper prints %d different cells for SLS-MPC; one that several tables repeat counts
once. %d of them could be computed here. %s of these reach the paper's ARI (BCubed F where
it prints no ARI) or stay below it by at most %.1f. Of the single figures in these cells,
which may be up to eight, that holds for %s.
`, cells+missing, cells, share(reached, cells), margin, share(reachedFigures, figures))
	if len(below) > 0 {
		fmt.Fprintf(&b, `
Below the paper by more than %.1f, with the [bounds](#bounds) where they were computed:

%s`, margin, markdown.Table(append([][]string{{"cell", "metric", "paper", "ours", "difference", "true functions", "true neighbours"}}, below...), 2))
	}
	if missing > 0 {
		b.WriteString("\n" + f.text("Not computed, as the tables below say of each:", func(cells []string) string {
			if len(cells) == 1 {
				return "1 cell"
			}
			return fmt.Sprintf("%d cells", len(cells))
		}))
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
func (r *Report) belowRow(where string, c *Cell) []string {
	m := c.headline()
	x, _ := r.ours(c, m)
	row := []string{where, m.title(), fmt.Sprintf("%.2f", c.Paper[m]), x.String(), signed(x.Mean - c.Paper[m])}
	for _, method := range []Method{Oracle, TrueNeighbours} {
		entry := "–"
		if j := r.jobs.of[c.Setup.By(method).key()]; j != nil && len(j.runs) > 0 {
			bound, _ := mean(j.runs, m)
			entry = fmt.Sprintf("%.1f", bound)
		}
		row = append(row, entry)
	}
	return row
}

// pageText is the template of the page, with all that is written by hand.
//
//go:embed page.md.tmpl
var pageText string

// pageData is what the template can use.
type pageData struct {
	Made
	Summary  string
	Sections []section
	report   *Report
}

// Ours writes the number of a cell in a metric, for use within a sentence.
func (d *pageData) Ours(experiment, group, label string, m Metric) (string, error) {
	for i := range d.report.experiments {
		e := &d.report.experiments[i]
		for k := range e.Cells {
			c := &e.Cells[k]
			if e.ID != experiment || c.Group != group || c.Label != label {
				continue
			}
			if x, ok := d.report.ours(c, m); ok {
				return fmt.Sprintf("%.1f", x.Mean), nil
			}
			return "(not computed)", nil
		}
	}
	return "", fmt.Errorf("there is no cell %q of %q in %q", label, group, experiment)
}

// Page writes the report as Markdown; figures is the folder of the figures, relative
// to the page.
func (r *Report) Page(made Made, figures string) (string, error) {
	return r.render(pageText, made, figures)
}

func (r *Report) render(text string, made Made, figures string) (string, error) {
	t, err := template.New("page").Parse(text)
	if err != nil {
		return "", err
	}
	d := &pageData{Made: made, Summary: r.summary(), report: r}
	for i := range r.experiments {
		d.Sections = append(d.Sections, r.section(&r.experiments[i], figures))
	}
	var b strings.Builder
	if err := t.Execute(&b, d); err != nil {
		return "", err
	}
	return b.String(), nil
}

// cellReport is a cell in JSON, with numbers in percent but for clusters and seconds.
type cellReport struct {
	Experiment string            `json:"experiment"`
	Group      string            `json:"set"`
	Label      string            `json:"case"`
	Setup      *Setup            `json:"setup,omitempty"`
	Seeds      int               `json:"seeds,omitempty"`
	Paper      Figures           `json:"paper,omitempty"`
	Against    *Setup            `json:"against,omitempty"`
	Ours       map[Metric]number `json:"ours,omitempty"`
	Reason     string            `json:"reason,omitempty"`
}

// JSON writes every number: the cells, and the runs, from which ParseResults reads
// them.
func (r *Report) JSON(made Made) ([]byte, error) {
	var cells []any
	for i := range r.experiments {
		e := &r.experiments[i]
		for k := range e.Cells {
			c := &e.Cells[k]
			runs, reason := r.runs(c)
			report := cellReport{
				Experiment: e.ID, Group: c.Group, Label: c.Label,
				Seeds: len(runs), Paper: c.Paper, Against: c.Against, Reason: reason,
			}
			if c.Reason == "" {
				report.Setup = &c.Setup
			}
			if len(runs) > 0 {
				report.Ours = make(map[Metric]number)
				for _, m := range e.Columns {
					report.Ours[m], _ = r.ours(c, m)
				}
			}
			cells = append(cells, report)
		}
	}
	return r.results.json(&made, cells)
}
