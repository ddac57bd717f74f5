package compare

import (
	_ "embed" // for the page's text
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// page is what the template can use.
type page struct {
	lab.Made
	Own     bool
	Seeds   int
	Minutes int
	Long    int
	Both    int
	Hours   int
	e       *Experiment
	figures []lab.Figure
}

//go:embed page.md.tmpl
var text string

// Page writes the page.
func (e *Experiment) Page(_ *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	p := &page{Made: made, Own: e.Truth != "", Seeds: seeds, Minutes: int(limit.Minutes()), Both: int(limit.Minutes()) / 2, Long: int(long.Minutes()), Hours: int(limitGrid.Hours()), e: e}
	if e.l.Quick {
		p.Seeds = 1
	}
	s, err := lab.Render(text, p)
	for strings.Contains(s, "\n\n\n") { // around parts that are not there
		s = strings.ReplaceAll(s, "\n\n\n", "\n\n")
	}
	return s, p.figures, err
}

// Systems is the table of what the systems are told.
func (p *page) Systems() string {
	rows := [][]string{{"system", "from", "told", "missing views", "settings", "grid"}}
	for _, c := range p.e.all {
		told := "nothing"
		switch {
		case c.Told:
			told = "the number of classes"
		case c.Name == published:
			told = "the mean size of the classes, or settings for the set"
		}
		rows = append(rows, []string{
			c.Name, lab.Text(c.Source), told, c.missing(), lab.Text(strings.Join(c.Default.Words(), ", ")), c.points(),
		})
	}
	return lab.Table(rows, 6)
}

// missing says what becomes of missing views.
func (c contestant) missing() string {
	if c.Fills {
		return "mean fill"
	}
	return "its own way"
}

// points says of which values the grid is.
func (c contestant) points() string {
	if c.Grid == nil {
		return ""
	}
	values := make(map[string][]string)
	var names []string
	for _, set := range c.Grid {
		for _, word := range set.Words() {
			name, value, _ := strings.Cut(word, "=")
			if values[name] == nil {
				names = append(names, name)
			}
			if !slices.Contains(values[name], value) {
				values[name] = append(values[name], value)
			}
		}
	}
	var parts []string
	for _, name := range names {
		parts = append(parts, name+": "+strings.Join(values[name], ", "))
	}
	return lab.Text(strings.Join(parts, "; "))
}

// Notes lists what the systems here leave out.
func (p *page) Notes() string {
	var b strings.Builder
	for _, c := range p.e.all {
		if c.Note != "" {
			fmt.Fprintf(&b, "- %s: %s.\n", c.Name, lab.Text(c.Note))
		}
	}
	return b.String()
}

// section is a table of a set, with its heading.
type section struct{ Title, Table string }

// Papers are the tables of the paper.
func (p *page) Papers() []section {
	var list []section
	for i := range p.e.subjects {
		if x := &p.e.subjects[i]; x.paper {
			list = append(list, section{x.title(), p.e.table(x)})
		}
	}
	if list == nil {
		return nil
	}
	for _, lacking := range []bool{false, true} {
		x := &subject{name: humbi, lacking: lacking, paper: true}
		list = append(list, section{x.title() + ", the paper's figures alone", p.e.table(x)})
	}
	return list
}

// Single are the tables of sets of one's own.
func (p *page) Single() []section {
	var list []section
	for i := range p.e.subjects {
		x := &p.e.subjects[i]
		title := fmt.Sprintf("%s: %s samples, %d classes", lab.Text(x.name), lab.Whole(x.samples), x.classes)
		if own, _ := p.e.records(x, p.e.all[len(p.e.all)-1]); own != nil && own[0].Incomplete > 0 {
			title += fmt.Sprintf(", %s samples lack a view", lab.Whole(own[0].Incomplete))
		}
		list = append(list, section{title, p.e.table(x)})
	}
	return list
}

// columns are the metrics of a table: those of the paper's, where it has one.
func columns(x *subject) []lab.Metric {
	if x.name == "BUAA" || x.name == "BBCSport, tf-idf" {
		return []lab.Metric{lab.BCubedPrecision, lab.BCubedF, lab.ARI}
	}
	return []lab.Metric{lab.PairwiseF, lab.BCubedF, lab.NMI, lab.ARI}
}

// table is that of a subject: a row for each system that was run, or of which the paper has
// figures.
func (e *Experiment) table(x *subject) string {
	head := []string{"system"}
	for _, m := range columns(x) {
		head = append(head, m.Title())
	}
	if x.paper {
		head = append(head, "difference")
	}
	rows := [][]string{append(head, "clusters", "processor s", "MiB", "chosen in the grid")}
	for _, c := range e.listed() {
		own, _ := e.records(x, c)
		says := printed(x.name, c.Name, x.lacking)
		if own == nil && says == nil {
			continue
		}
		best := e.best(x, c)
		line := []string{c.Name}
		for _, m := range columns(x) {
			line = append(line, entry(says, own, best, m, x.paper))
		}
		if x.paper {
			d := e.difference(x, c)
			if d == d {
				line = append(line, lab.Signed(d))
			} else {
				line = append(line, "–")
			}
		}
		clusters, seconds, memory, chosen := "–", "–", "–", ""
		if own != nil {
			clusters, seconds = own.Of(lab.Clusters).Write(0), lab.Digits(own.Of(lab.Processor).Mean)
			memory = fmt.Sprintf("%.0f", own.Of(lab.Peak).Mean/(1<<20))
		}
		if best != nil {
			chosen = lab.Text(strings.Join(best.Setup.Settings, ", "))
		}
		rows = append(rows, append(line, clusters, seconds, memory, chosen))
	}
	if len(rows) == 1 {
		return "None was run.\n"
	}
	return lab.Table(rows, 1)
}

// listed are the contestants, and before mvclust's those that the paper alone has.
func (e *Experiment) listed() []contestant {
	all := slices.Clone(e.all)
	for _, name := range names() {
		if !slices.ContainsFunc(all, func(c contestant) bool { return c.Name == name }) {
			var c contestant
			c.Name, c.method = name, lab.Method(name)
			all = slices.Insert(all, max(0, len(all)-2), c)
		}
	}
	return all
}

// entry writes the paper's figure, that of the authors' settings and that of the grid, as far as
// there are such.
func entry(says figures, own lab.Records, best *lab.Record, m lab.Metric, paper bool) string {
	var parts []string
	if paper {
		parts = append(parts, "–")
		if x, ok := says[m]; ok {
			parts[0] = fmt.Sprintf("%.2f", x)
		}
	}
	here := "–"
	if own != nil {
		here = own.Of(m).Write(1)
	}
	parts = append(parts, here)
	if best != nil {
		parts = append(parts, fmt.Sprintf("%.1f", m.Of(best)))
	}
	return strings.Join(parts, " / ")
}

// Collection is the table of the ARI of all systems on the sets of a state, folder by folder, with
// the means of those sets that all have.
func (p *page) Collection(lacking bool) string {
	e := p.e
	head := []string{"set", "N", "classes"}
	for _, c := range e.all {
		head = append(head, c.Name)
	}
	rows := [][]string{head}
	for folder := range e.l.Folders {
		for i := range e.subjects {
			x := &e.subjects[i]
			if x.lacking != lacking || x.folder != folder {
				continue
			}
			line := []string{lab.Text(x.name), fmt.Sprint(x.samples), fmt.Sprint(x.classes)}
			ran := false
			for _, c := range e.all {
				v := e.value(x, c, lab.ARI)
				ran = ran || v == v
				line = append(line, lab.Points(v))
			}
			if ran {
				rows = append(rows, line)
			}
		}
	}
	if len(rows) == 1 {
		return "None was run.\n"
	}
	if some, enough := e.shared(lacking); len(some) > 1 {
		line := []string{fmt.Sprintf("**mean of %d**", len(some)), "", ""}
		for _, c := range e.all {
			mean := math.NaN()
			if slices.ContainsFunc(enough, func(o contestant) bool { return o.Name == c.Name }) {
				mean = 0
				for _, x := range some {
					mean += e.value(x, c, lab.ARI) / float64(len(some))
				}
			}
			line = append(line, lab.Points(mean))
		}
		rows = append(rows, line)
	}
	return lab.Table(rows, 1)
}

// Ranks shows the mean ranks of a state, where there are such.
func (p *page) Ranks(lacking bool) string {
	r := p.e.ranking(lacking)
	if r == nil {
		return ""
	}
	return p.show(p.e.figure(r, "ranks"+suffix(lacking), "Mean ranks by ARI, "+state(lacking)))
}

// Cost shows the ARI over the time of a state, where there are such.
func (p *page) Cost(lacking bool) string {
	f := p.e.cost(lacking, "cost"+suffix(lacking), "Quality and time, "+state(lacking))
	if f.Panels == nil {
		return ""
	}
	return p.show(f)
}

func (p *page) show(f lab.Figure) string {
	p.figures = append(p.figures, f)
	return f.Link("compare")
}

func suffix(lacking bool) string {
	if lacking {
		return "-incomplete"
	}
	return ""
}

func state(lacking bool) string {
	if lacking {
		return "half of the samples lack a view"
	}
	return "complete"
}

// margin is by how many points a figure may differ from the paper's unremarked.
const margin = 5

// decisive is the metric by which figures of the paper are compared with ours.
func decisive(says figures) lab.Metric {
	if _, there := says[lab.ARI]; there {
		return lab.ARI
	}
	return lab.BCubedF
}

// difference is by how much our figure of a system, that of the grid where there is one, lies above
// the paper's; NaN where one of them is missing.
func (e *Experiment) difference(x *subject, c contestant) float64 {
	says := printed(x.name, c.Name, x.lacking)
	if says == nil {
		return math.NaN()
	}
	m := decisive(says)
	here := e.value(x, c, m)
	if best := e.best(x, c); best != nil {
		here = m.Of(best)
	}
	return here - says[m]
}

// Differ lists where ours differs from the paper's figure by more than the margin.
func (p *page) Differ() string {
	rows := [][]string{{"system", "set", "metric", "paper", "authors' settings", "grid", "difference", "their program, ARI"}}
	for _, c := range p.e.all {
		for i := range p.e.subjects {
			x := &p.e.subjects[i]
			d := p.e.difference(x, c)
			if !(math.Abs(d) > margin) {
				continue
			}
			says, chosen := printed(x.name, c.Name, x.lacking), "–"
			m := decisive(says)
			if best := p.e.best(x, c); best != nil {
				chosen = lab.Points(m.Of(best))
			}
			rows = append(rows, []string{c.Name, x.title(), m.Title(), fmt.Sprintf("%.2f", says[m]), lab.Points(p.e.value(x, c, m)), chosen, lab.Signed(d), lab.Points(program(x.name, c.Name, x.lacking))})
		}
	}
	if len(rows) == 1 {
		return ""
	}
	return lab.Table(rows, 3)
}

// Programs holds our figures beside those of the authors' programs.
func (p *page) Programs() string {
	rows := [][]string{{"system", "set", "their program", "authors' settings", "grid", "difference"}}
	for _, c := range p.e.all {
		for i := range p.e.subjects {
			x := &p.e.subjects[i]
			theirs := program(x.name, c.Name, x.lacking)
			own, _ := p.e.records(x, c)
			if math.IsNaN(theirs) || own == nil {
				continue
			}
			here, chosen := own.Of(lab.ARI).Mean, "–"
			grid := p.e.grid(x, c)
			if tuned(c.Name) { // theirs is on cosines
				grid = slices.DeleteFunc(grid, gaussian)
			}
			if best := p.e.bestOf(x, c, grid); best != nil {
				chosen = lab.Points(lab.ARI.Of(best))
				if tuned(c.Name) {
					here = lab.ARI.Of(best)
				}
			}
			rows = append(rows, []string{c.Name, x.title(), lab.Points(theirs), own.Of(lab.ARI).Write(1), chosen, lab.Signed(here - theirs)})
		}
	}
	if len(rows) == 1 {
		return ""
	}
	return lab.Table(rows, 2)
}

// gaussian reports whether a setup is on a Gaussian kernel.
func gaussian(s lab.Setup) bool {
	return slices.ContainsFunc(s.Settings, func(word string) bool {
		return strings.HasPrefix(word, "width=") && word != "width=0"
	})
}

// Descents says how far the seed of k-means matters to PIC on Handwritten; nothing where it was not
// run.
func (p *page) Descents() string {
	for i := range p.e.subjects {
		x := &p.e.subjects[i]
		for _, c := range p.e.all {
			if c.Name != "PIC" || x.name != "Handwritten, 2 views" || x.lacking {
				continue
			}
			own, _ := p.e.records(x, c)
			if len(own) < 2 {
				return ""
			}
			var all []float64
			for _, r := range own {
				all = append(all, lab.ARI.Of(r))
			}
			return fmt.Sprintf("over %d seeds, the ARI of ours is %s, from %.1f to %.1f", len(own), own.Of(lab.ARI).Write(1), slices.Min(all), slices.Max(all))
		}
	}
	return ""
}

// Skipped lists what could not be run, and why.
func (p *page) Skipped() string {
	var skipped lab.Reasons
	for _, name := range p.e.large {
		skipped.Add(fmt.Sprintf("more than %s samples; naming the set runs it", lab.Whole(largest)), name)
	}
	for i := range p.e.subjects {
		x := &p.e.subjects[i]
		if !p.e.touched(x) {
			skipped.Add("no method was run on it yet", x.title())
			continue
		}
		for _, c := range p.e.all {
			if list, reason := p.e.records(x, c); list == nil {
				skipped.Add(reason, c.Name+" on "+x.title())
				continue
			}
			if run, all := p.e.searched(x, c); run < all {
				skipped.Add("so many points of the grid were run, and the best of these is shown", fmt.Sprintf("%d of %d for %s on %s", run, all, c.Name, x.title()))
			}
		}
	}
	return skipped.List("Not run:", false)
}

// searched returns how many points of a grid were run, and how many there are.
func (e *Experiment) searched(x *subject, c contestant) (run, all int) {
	grid := e.grid(x, c)
	for _, s := range grid {
		if e.l.One(s) != nil {
			run++
		}
	}
	return run, len(grid)
}

// touched reports whether any system was run on a subject.
func (e *Experiment) touched(x *subject) bool {
	return slices.ContainsFunc(e.all, func(c contestant) bool {
		list, _ := e.records(x, c)
		return list != nil
	})
}

// result is a system on a set, in JSON.
type result struct {
	Set     string             `json:"set"`
	Lacking bool               `json:"half_missing,omitempty"`
	System  string             `json:"system"`
	Told    bool               `json:"told_classes"`
	Missing string             `json:"missing_views"`
	Paper   figures            `json:"paper,omitempty"`
	Program *float64           `json:"program_ari,omitempty"`
	Default map[string]float64 `json:"default,omitempty"`
	Grid    map[string]float64 `json:"grid,omitempty"`
	// DefaultSettings and GridSettings are what it was told, as NAME=VALUE.
	DefaultSettings []string `json:"default_settings,omitempty"`
	GridSettings    []string `json:"grid_settings,omitempty"`
	Reason          string   `json:"reason,omitempty"`
}

// JSON returns all that the page has, a result for each system and set.
func (e *Experiment) JSON() ([]byte, error) {
	var list []result
	for i := range e.subjects {
		x := &e.subjects[i]
		for _, c := range e.listed() {
			own, reason := e.records(x, c)
			r := result{
				Set: x.name, Lacking: x.lacking, System: c.Name, Told: c.Told, Missing: c.missing(),
				Paper: printed(x.name, c.Name, x.lacking), Default: numbers(own), Reason: reason,
			}
			if a := program(x.name, c.Name, x.lacking); a == a {
				r.Program = &a
			}
			if own != nil {
				r.DefaultSettings = own[0].Setup.Settings
			} else if r.Paper == nil && c.Cluster == nil && c.Source == "" {
				continue
			}
			if best := e.best(x, c); best != nil {
				r.Grid, r.GridSettings = numbers(lab.Records{best}), best.Setup.Settings
			}
			list = append(list, r)
		}
	}
	return json.MarshalIndent(map[string]any{"format": "mvclust compare 1", "results": list}, "", " ")
}

// numbers are the means of what was measured; nil where nothing was.
func numbers(list lab.Records) map[string]float64 {
	if list == nil {
		return nil
	}
	out := map[string]float64{"runs": float64(len(list))}
	for _, m := range []lab.Metric{lab.PairwiseF, lab.BCubedPrecision, lab.BCubedF, lab.NMI, lab.ARI, lab.Clusters, lab.Processor, lab.Seconds, lab.Peak} {
		n := list.Of(m)
		out[string(m)] = lab.Round(n.Mean)
		if m == lab.ARI && n.Count > 1 {
			out["ari_deviation"] = lab.Round(n.Deviation)
		}
	}
	return out
}
