package speed

import (
	_ "embed" // for the page's text
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"

	"github.com/mvclust/mvclust/internal/markdown"
)

// Made says what made the results.
type Made struct {
	Command string `json:"command"`
	Date    string `json:"date"`
	Version string `json:"version"`
	Quick   bool   `json:"quick"`
}

// pageText is the template of the page, with what is written by hand.
//
//go:embed page.md.tmpl
var pageText string

// page is what the template can use.
type page struct {
	Made
	*Results
	figures map[string]bool
	folder  string
}

// Page writes the results in Markdown. figures is the folder of the figures, relative
// to the page.
func (r *Results) Page(made Made, figures string) (string, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"whole": whole, "digits": digits}).Parse(pageText)
	if err != nil {
		return "", err
	}
	p := &page{made, r, make(map[string]bool), figures}
	for _, f := range r.Figures() {
		p.figures[f.Name] = true
	}
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Figure links a figure, where there is one.
func (p *page) Figure(title, name string) string {
	if !p.figures[name] {
		return ""
	}
	return fmt.Sprintf("![%s](%s/%s)\n", title, p.folder, name)
}

// Computer describes the machine.
func (p *page) Computer() string {
	m := p.Machine
	words := []string{m.System}
	if m.Processor != "" {
		words = append([]string{m.Processor}, words...)
	}
	words = append(words, fmt.Sprintf("%d cores", m.Cores))
	if m.Memory > 0 {
		words = append(words, size(m.Memory)+" of memory")
	}
	return strings.Join(words, ", ")
}

// PeerVersions lists the peers that were found.
func (p *page) PeerVersions() string { return (&peers{versions: p.Peers}).String() }

// AimTable is the table of what was aimed for.
func (p *page) AimTable() string {
	rows := [][]string{{"aim", "bound", "measured", "reached"}}
	for _, a := range p.Aims() {
		measured, reached := "–", "not measured"
		if a.Measured != nil {
			measured, reached = a.write(*a.Measured), "no"
			if a.Reached() {
				reached = "yes"
			}
		}
		sign := "≤ "
		if a.AtLeast {
			sign = "≥ "
		}
		rows = append(rows, []string{a.What, sign + a.write(a.Bound), measured, reached})
	}
	return markdown.Table(rows, 1)
}

// KernelTable is the table of the kernels.
func (p *page) KernelTable() string {
	head := []string{"inner loop, one core"}
	for _, d := range kernelDims {
		head = append(head, fmt.Sprintf("GFLOP/s at %d", d))
	}
	rows := [][]string{head}
	for _, k := range p.Kernels {
		row := []string{k.Name}
		for _, x := range k.Speeds {
			row = append(row, digits(x))
		}
		rows = append(rows, row)
	}
	return markdown.Table(rows, 1)
}

// GraphTable is the table of the exact neighbour graphs.
func (p *page) GraphTable() string {
	rows := [][]string{{"rows", "by", "best, s", "median, s", "times", "ours to this", "agreement"}}
	for _, g := range p.Graphs {
		rows = append(rows, []string{whole(g.Rows), "mvclust", digits(g.Seconds.Best()), digits(g.Seconds.Median()), strconv.Itoa(len(g.Seconds)), "", ""})
		for i, peer := range g.Peers {
			agreement := ""
			if i == 0 && g.Agreement > 0 {
				agreement = strconv.FormatFloat(g.Agreement, 'f', 4, 64)
			}
			rows = append(rows, []string{"", peer.Name, digits(peer.Seconds.Best()), digits(peer.Seconds.Median()), strconv.Itoa(len(peer.Seconds)), decimals(peer.Ratio), agreement})
		}
	}
	return markdown.Table(rows, 2)
}

// CrossingTable is the table of exact against approximate search.
func (p *page) CrossingTable() string {
	rows := [][]string{{"rows", "exact, s", "approximate, s", "ratio", "recall"}}
	for _, c := range p.Crossing {
		rows = append(rows, []string{whole(c.Rows), digits(c.Exact), digits(c.Approximate), decimals(c.Ratio), strconv.FormatFloat(c.Recall, 'f', 4, 64)})
	}
	return markdown.Table(rows, 0)
}

// CrossingPoint says from where on the approximate search is faster.
func (p *page) CrossingPoint() string {
	at := crossingPoint(p.Crossing)
	switch {
	case at == 0:
		return "At these sizes the approximate search is not faster."
	case at == float64(p.Crossing[0].Rows):
		return "The approximate search is faster at all of these sizes."
	default:
		return fmt.Sprintf("The approximate search is faster from about %s rows on.", whole(int(at)))
	}
}

// RunTable is the table of the whole runs.
func (p *page) RunTable() string {
	rows := [][]string{{"samples", "s", "growth", "peak", "of the promise", "neighbours", "recall", "ARI", "BCubed F", "clusters", "classes"}}
	add := func(name string, r *Run) {
		grown, peak, of := "", "–", "–"
		if r.Growth != 0 {
			grown = decimals(r.Growth)
		}
		if r.Peak > 0 {
			peak, of = size(r.Peak), percent(float64(r.Peak)/float64(r.Promise))+"%"
		}
		by, recall := r.searched()
		rows = append(rows, []string{name, digits(r.Seconds.Median()), grown, peak, of, by, recall,
			percent(r.Scores.ARI), percent(r.Scores.BCubedF), whole(r.Clusters), whole(r.Classes)})
	}
	for i := range p.Runs {
		add(whole(p.Runs[i].Samples), &p.Runs[i])
	}
	if p.Reference != nil && p.Reference.Exact != nil {
		add(whole(p.Reference.Samples)+", exact neighbours", p.Reference.Exact)
	}
	return markdown.Table(rows, 1)
}

// AutomaticTable is the table of the runs in the default mode, beside those of the published
// method; empty where there are none.
func (p *page) AutomaticTable() string {
	if len(p.Automatic) == 0 {
		return ""
	}
	rows := [][]string{{"samples", "s", "growth", "to the published method", "peak", "ARI", "BCubed F", "clusters", "classes"}}
	for i := range p.Automatic {
		r, peak, grown := &p.Automatic[i], "–", ""
		if r.Peak > 0 {
			peak = size(r.Peak)
		}
		if i > 0 {
			before := &p.Automatic[i-1]
			grown = decimals(growth(before.Samples, r.Samples, before.Seconds.Median(), r.Seconds.Median()))
		}
		rows = append(rows, []string{whole(r.Samples), digits(r.Seconds.Median()), grown, decimals(ratio(r.Seconds.Median(), p.of(r.Samples).Seconds.Median())), peak,
			percent(r.Scores.ARI), percent(r.Scores.BCubedF), whole(r.Clusters), whole(r.Classes)})
	}
	return markdown.Table(rows, 0)
}

// searched says how the neighbours were found, and with which recall at the least.
func (r *Run) searched() (by, recall string) {
	if len(r.Neighbours) == 0 {
		return "–", "–"
	}
	by = r.Neighbours[0].Method
	for _, s := range r.Neighbours[1:] {
		if s.Method != by {
			by = "mixed"
		}
	}
	return by, strconv.FormatFloat(r.recall(), 'f', 4, 64)
}

// recall returns the lowest recall of the views.
func (r *Run) recall() float64 {
	least := 1.0
	for _, s := range r.Neighbours {
		least = min(least, s.Recall)
	}
	return least
}

// StageTable is the table of the stages' times.
func (p *page) StageTable() string {
	names := p.stages()
	rows := [][]string{append(append([]string{"samples"}, names...), "rest", "whole")}
	for i := range p.Runs {
		r := &p.Runs[i]
		row := []string{whole(r.Samples)}
		for _, name := range names {
			row = append(row, digits(r.stage(name)))
		}
		all := r.Seconds.Median()
		rows = append(rows, append(row, digits(max(0, all-r.stage(names...))), digits(all)))
	}
	return markdown.Table(rows, 0)
}

// SpectralScore is the ARI of spectral clustering.
func (s *Small) SpectralScore() string {
	if s.SpectralScores == nil {
		return "–"
	}
	return percent(s.SpectralScores.ARI)
}

// SmallTable compares the small run with spectral clustering.
func (p *page) SmallTable() string {
	s := p.Small
	rows := [][]string{{"by", "best, s", "median, s", "times", "ARI", "told the number of classes"},
		{"mvclust, all of it", digits(s.Seconds.Best()), digits(s.Seconds.Median()), strconv.Itoa(len(s.Seconds)), percent(s.Scores.ARI), "no"}}
	if s.SpectralScores != nil {
		rows = append(rows, []string{"scikit-learn, of the fused graph", digits(s.Spectral.Best()), digits(s.Spectral.Median()),
			strconv.Itoa(len(s.Spectral)), s.SpectralScore(), "yes"})
	}
	return markdown.Table(rows, 1)
}

// digits writes a positive number with three digits, or more before the point.
func digits(x float64) string {
	switch {
	case x >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	default:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
}

// decimals writes a number with two digits after the point.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// percent writes a share in percent.
func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) }

// whole writes a whole number with commas between the thousands.
func whole(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// size writes bytes in binary units.
func size(bytes int64) string {
	x := float64(bytes)
	if x < math.Pow(2, 30) {
		return fmt.Sprintf("%.0f MiB", x/math.Pow(2, 20))
	}
	return fmt.Sprintf("%.1f GiB", x/math.Pow(2, 30))
}
