package auto

import (
	_ "embed" // for the page's text
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/mvclust/mvclust/internal/markdown"
)

// Results are those of all subjects, in order.
type Results struct {
	List []*Result
}

// Made says what made the results.
type Made struct {
	Command    string `json:"command"`
	Date       string `json:"date"`
	Version    string `json:"version"`
	Processors int    `json:"processors"`
}

// pageText is the template of the page, with what is written by hand.
//
//go:embed page.md.tmpl
var pageText string

// page is what the template can use.
type page struct {
	Made
	*Results
}

// Page writes the results in Markdown.
func (r *Results) Page(made Made) (string, error) {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, &page{made, r}); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Processing names the processors.
func (p *page) Processing() string {
	if p.Processors == 1 {
		return "1 processor"
	}
	return strconv.Itoa(p.Processors) + " processors"
}

// Ten lists the sets that the aims are about.
func (p *page) Ten() string { return strings.Join(escaped(ten()), ", ") }

// escaped makes names harmless in Markdown.
func escaped(names []string) []string {
	names = slices.Clone(names)
	for i := range names {
		names[i] = markdown.Text(names[i])
	}
	return names
}

// MostSamples is the number of samples up to which there are opponents.
func (p *page) MostSamples() int { return MostSamples }

// NoiseDims is the number of dimensions of the noise.
func (p *page) NoiseDims() int { return noiseDims }

// AimTable is the table of what was aimed for.
func (p *page) AimTable() string {
	rows := [][]string{{"figure", "of", "bound", "aim", "measured", "reached"}}
	for _, a := range p.Aims() {
		write := func(x float64) string { return strconv.FormatFloat(x, 'f', a.decimals, 64) }
		sign, goal := "≤ ", ""
		if a.AtLeast {
			sign = "≥ "
		}
		if a.Goal != nil {
			goal = write(*a.Goal)
		}
		measured, reached := "–", "not measured"
		if a.Measured != nil {
			measured, reached = write(*a.Measured), "no"
			if a.Reached {
				reached = "yes"
			}
		}
		rows = append(rows, []string{a.What, markdown.Text(a.Where), sign + write(a.Bound), goal, measured, reached})
	}
	return markdown.Table(rows, 2)
}

// CompleteTable is the table of the complete sets.
func (p *page) CompleteTable() string { return p.table(Complete) }

// MissingTable is the table of the sets with missing views.
func (p *page) MissingTable() string { return p.table(HalfMissing) }

// NoiseTable is the table of the sets with a view of noise.
func (p *page) NoiseTable() string { return p.table(NoiseView) }

// peers are the methods beside the default mode, by the names that they have on the page.
func peers() []struct {
	name string
	run  func(*Trial) *Run
} {
	return []struct {
		name string
		run  func(*Trial) *Run
	}{
		{"paper's", byPaper},
		{"k-means, k given", func(t *Trial) *Run { return t.KMeans }},
		{"spectral, k given", func(t *Trial) *Run { return t.Spectral }},
		{"modularity", func(t *Trial) *Run { return t.Modularity }},
	}
}

// table is the table of a state, or nothing where no set was run in it. Its last row has
// the means.
func (p *page) table(state State) string {
	head := []string{"set", "N", "classes", "clusters", "ARI", "BCubed F", "s", "MiB", "time over the paper's"}
	switch state {
	case HalfMissing:
		head = append(head, "incomplete")
	case NoiseView:
		head = append(head, "fall")
	}
	for _, m := range peers() {
		head = append(head, m.name+": ARI / F")
	}
	rows := [][]string{head}
	for _, x := range p.List {
		if x.State == state && len(x.Trials) > 0 {
			rows = append(rows, p.row(x))
		}
	}
	if len(rows) == 1 {
		return "None was run.\n"
	}
	if all := p.whole(state); len(all) > 0 {
		rows = append(rows, p.means(all))
	}
	return markdown.Table(rows, 1)
}

// title is the name of the set, with its views where these are not all.
func (r *Result) title() string {
	if !r.Chosen {
		return r.Set
	}
	return fmt.Sprintf("%s, views %s", r.Set, strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Views), "[]"), " ", ", "))
}

// row is the row of a result.
func (p *page) row(x *Result) []string {
	peak, _ := x.mean(byDefault, func(r *Run) float64 { return float64(r.Peak) })
	row := []string{
		markdown.Text(x.title()), strconv.Itoa(x.Samples), strconv.Itoa(x.Classes),
		x.cell(largest, 0), x.cell(ari, 1), x.cell(bcubed, 1),
		seconds(x.seconds(byDefault)), strconv.FormatFloat(peak/(1<<20), 'f', 0, 64),
		strconv.FormatFloat(x.TimeRatio(), 'f', 2, 64),
	}
	switch x.State {
	case HalfMissing:
		row = append(row, fmt.Sprintf("%.0f%%", 100*float64(x.Incomplete)/float64(x.Samples)))
	case NoiseView:
		cell := "–"
		if fall, there := p.fallOf(x); there {
			cell = points(fall)
		}
		row = append(row, cell)
	}
	for _, m := range peers() {
		row = append(row, scores([]*Result{x}, m.run))
	}
	return row
}

// cell writes a figure of the default mode, with the deviation where there are several
// trials.
func (r *Result) cell(of func(*Run) float64, decimals int) string {
	mean, deviation := r.mean(byDefault, of)
	s := strconv.FormatFloat(mean, 'f', decimals, 64)
	if len(r.Trials) > 1 {
		s += " ± " + strconv.FormatFloat(deviation, 'f', decimals, 64)
	}
	return s
}

// means is the last row of a table.
func (p *page) means(list []*Result) []string {
	of := func(f func(*Run) float64) string { return fmt.Sprintf("%.1f", meanOver(list, byDefault, f)) }
	row := []string{fmt.Sprintf("mean of sets with all views (%d)", len(list)), "", "", "", of(ari), of(bcubed), "", "", ""}
	switch list[0].State {
	case HalfMissing:
		row = append(row, "")
	case NoiseView:
		cell := "–"
		if _, mean, where := p.falls(); where != "" {
			cell = points(mean)
		}
		row = append(row, cell)
	}
	for _, m := range peers() {
		row = append(row, scores(list, m.run))
	}
	return row
}

// scores writes the mean scores of a method, where it was run on all of the sets.
func scores(list []*Result, which func(*Trial) *Run) string {
	for _, x := range list {
		if which(&x.Trials[0]) == nil {
			return "–"
		}
	}
	return fmt.Sprintf("%.1f / %.1f", meanOver(list, which, ari), meanOver(list, which, bcubed))
}

// meanOver returns the mean over the sets of the means over their trials.
func meanOver(list []*Result, which func(*Trial) *Run, of func(*Run) float64) float64 {
	sum := 0.0
	for _, x := range list {
		mean, _ := x.mean(which, of)
		sum += mean
	}
	return sum / float64(len(list))
}

// points writes a difference of scores.
func points(x float64) string { return fmt.Sprintf("%.1f", math.Round(10*x)/10+0) } // no -0.0

// seconds writes a time with at least two digits that count.
func seconds(x float64) string {
	decimals := 2
	if x >= 10 {
		decimals = max(0, 2-int(math.Log10(x)))
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// Skipped lists what could not be run, and why.
func (p *page) Skipped() []string {
	var list []string
	for _, x := range p.List {
		if x.Skipped != "" {
			list = append(list, markdown.Text(x.Name()+": "+x.Skipped))
		}
	}
	return list
}
