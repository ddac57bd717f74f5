package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"sort"
	"strconv"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/internal/front"
	"github.com/mvclust/mvclust/method/structure"
)

// WriteHTML writes the page. Ids, names and classes are shown as text, whatever they hold. A
// content security policy forbids every script but the page's own, and every connection. It
// returns the error of w, or one where r was not made by New.
func (r *Report) WriteHTML(w io.Writer) error {
	if r.Map == nil || w == nil {
		return errors.New("there is no page to write, or nothing to write it to; pass a writer to a report that New has made")
	}
	t, err := template.New("report").Parse(front.ReportHTML)
	if err != nil {
		return fmt.Errorf("the page cannot be laid out: %w", err)
	}
	data, entries, err := r.data()
	if err != nil {
		return fmt.Errorf("the map cannot be written: %w", err)
	}
	script := front.ReportScript()
	digest := sha256.Sum256([]byte(script))
	b := bufio.NewWriterSize(w, 1<<16)
	p := &page{
		Report: r, Version: mvclust.Version, entries: entries,
		CSS: template.CSS(front.Style), JS: template.JS(script), Data: template.JS(data), //nolint:gosec // our own, and JSON without < and >
		Digest: "sha256-" + base64.StdEncoding.EncodeToString(digest[:]),
	}
	if err := t.Execute(b, p); err != nil {
		return err
	}
	return b.Flush()
}

// page is the data of the template.
type page struct {
	*Report
	Version string
	CSS     template.CSS
	JS      template.JS
	Data    template.JS
	Digest  string
	entries *entries
}

// Lead returns the sentence beneath the title.
func (p *page) Lead() string {
	s := fmt.Sprintf("%s in %s", count(p.Number, "cluster"), count(p.Samples, "sample"))
	if n := len(p.Views); n > 0 {
		s += ", seen in " + count(n, "view")
	}
	return s + "."
}

// tile is a figure with its name and an explanation.
type tile struct{ Name, Value, Words string }

// Tiles returns the key figures at the top.
func (p *page) Tiles() []tile {
	out := []tile{
		{"Samples", grouped(p.Samples), ""},
		{"Clusters", grouped(p.Number), fmt.Sprintf("the largest has %s", count(p.Sizes[0], "sample"))},
		{"Confidence", percent(p.Mean), "on average"},
	}
	if s := p.Structure; s != nil {
		words := "beyond a featureless cloud"
		if s.Few && s.Verdict != structure.Clear {
			words += ", as far as so few samples of each cluster tell"
		}
		out = append(out, tile{"Structure", s.Verdict.String(), fmt.Sprintf("%s: score %.3f, cloud %.3f", words, s.Score, s.CloudScore)})
	}
	if p.Singles > 0 {
		out = append(out, tile{"Alone", grouped(p.Singles), "clusters of a single sample"})
	}
	if p.Truth != nil {
		s := &p.Truth.Scores
		out = append(out, tile{"ARI", percent(s.ARI), "agreement with the known classes"},
			tile{"NMI", percent(s.NMI), "normalised mutual information"})
	}
	return out
}

// Scores returns all scores.
func (p *page) Scores() []tile {
	s := &p.Truth.Scores
	return []tile{
		{"ARI", percent(s.ARI), "adjusted Rand index"}, {"NMI", percent(s.NMI), "arithmetic mean"},
		{"NMI", percent(s.NMIGeometric), "geometric mean"}, {"ACC", percent(s.ACC), "best assignment"},
		{"BCubed F", percent(s.BCubedF), fmt.Sprintf("precision %s, recall %s", percent(s.BCubedPrecision), percent(s.BCubedRecall))},
		{"Pairwise F", percent(s.PairwiseF), fmt.Sprintf("precision %s, recall %s", percent(s.PairwisePrecision), percent(s.PairwiseRecall))},
	}
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + "%" }

// row is a row of the table of clusters.
type row struct {
	explain.Cluster
	Number     int
	Colour     int
	Bar        float64 // the size over the largest, in percent
	CohesionIs string
	SureIs     string
	Members    []member // the central ones
	Doubtful   []member
	Pulls      []pull
	Class      string // the most frequent
	ClassShare string
	ClassSort  float64
}

type member struct {
	ID    string
	Place int // its entry in the script's data
	Sure  string
}

type pull struct {
	Cluster, Colour int
	Pull            string
}

// levelView is a level on the page.
type levelView struct {
	*Level
	Index   int
	Current bool
	Rows    []row
	Listed  int // clusters in the figure of the sizes
}

// Steps returns the levels with their tables.
func (p *page) Steps() []levelView {
	out := make([]levelView, len(p.Levels))
	for at := range p.Levels {
		l := &p.Levels[at]
		out[at] = levelView{Level: l, Index: at, Current: at == p.Level, Rows: p.rows(l), Listed: min(len(l.sizes), maxClusters)}
	}
	return out
}

// SizesChart is the figure of the sizes.
func (l *levelView) SizesChart() template.HTML { return sizesChart(l.sizes) }

// Rest returns how many clusters are not in the table.
func (l *levelView) Rest() int { return l.Clusters - len(l.Profile) }

// rows returns the rows of the table of clusters.
func (p *page) rows(l *Level) []row {
	members := func(list []int) []member {
		out := make([]member, len(list))
		for k, i := range list {
			out[k] = member{p.id(i), p.entries.of[i], percent(l.confidence[i])}
		}
		return out
	}
	out := make([]row, len(l.Profile))
	for c, x := range l.Profile {
		out[c] = row{
			Cluster: x, Number: c, Colour: l.colour(c), Bar: 100 * float64(x.Size) / float64(l.sizes[0]),
			CohesionIs: percent(x.Cohesion), SureIs: percent(x.Confidence),
			Members: members(x.Central), Doubtful: members(x.Uncertain),
		}
		for _, m := range x.Merges {
			out[c].Pulls = append(out[c].Pulls, pull{m.Cluster, l.colour(m.Cluster), fmt.Sprintf("%.2f", m.Pull)})
		}
		if p.Truth != nil {
			best := 0
			for k, n := range l.counts[c] {
				if n > l.counts[c][best] {
					best = k
				}
			}
			out[c].ClassSort = float64(l.counts[c][best]) / float64(x.Size)
			out[c].Class, out[c].ClassShare = p.Truth.Classes[best], percent(out[c].ClassSort)
		}
	}
	return out
}

// IsLearned reports whether the functions were learned in epochs.
func (p *page) IsLearned() bool { return len(p.Learning.Curve) > 1 }

// IsChosen reports whether the granularity was chosen among several.
func (p *page) IsChosen() bool { return p.Choice != nil && len(p.Choice.Tried) > 1 }

// The figures.

func (p *page) CurveChart() template.HTML  { return p.curveChart() }
func (p *page) ChoiceChart() template.HTML { return p.choiceChart() }

// panel shows a view and its probability function.
type panel struct {
	View
	Chart   template.HTML
	Steps   []step
	ShareIs string
	Percent float64
	Missing string
	Cut     string
}

// Panels returns a panel for each view.
func (p *page) Panels() []panel {
	out := make([]panel, len(p.Views))
	for m := range p.Views {
		v := &p.Views[m]
		out[m] = panel{View: *v, Chart: p.functionChart(v), Steps: v.steps(), ShareIs: percent(v.Share), Percent: 100 * v.Share}
		if missing := p.Samples - v.Present; v.Present >= 0 {
			out[m].Missing = fmt.Sprintf("%s (%s)", grouped(missing), percent(float64(missing)/float64(p.Samples)))
		}
		if s := v.shown(); s.left > 0 {
			out[m].Cut = count(s.left, "pair")
		}
	}
	return out
}

// losses is a row of the table beneath the learning curve.
type losses struct {
	Epoch                           int
	Total, Single, Cross, Constrain string
}

// Losses returns about 20 evenly spaced epochs and the last one.
func (p *page) Losses() []losses {
	curve := p.Learning.Curve
	var out []losses
	step := max(1, (len(curve)+19)/20)
	for i := 0; i < len(curve); i += step {
		if i+step >= len(curve) {
			i = len(curve) - 1
		}
		l := curve[i]
		f := func(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
		out = append(out, losses{i, f(l.Total), f(l.Single), f(l.Cross), f(l.Constraint)})
	}
	return out
}

// confusion is the table of clusters by class.
type confusion struct {
	Classes []string
	Rows    []confusionRow
	Words   string
}

type confusionRow struct {
	Number int
	Size   int
	Cells  []cell
	Others int
}

type cell struct {
	Count int
	Heat  int // from 0 to 50, half the percentage of the cluster
}

// mostRows bounds the rows of the confusion table.
const mostRows = 100

// Confusion returns the table of clusters by class. The classes are ordered by the cluster
// that has the most of their samples.
func (p *page) Confusion() confusion {
	t := p.Truth
	rows := min(len(t.Counts), mostRows)
	n := min(len(t.Classes), mostClasses)
	order, largest := make([]int, n), make([]int, n)
	for k := range order {
		order[k] = k
		for c := range rows {
			if t.Counts[c][k] > t.Counts[largest[k]][k] {
				largest[k] = c
			}
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return largest[order[a]] < largest[order[b]] })
	var out confusion
	for _, k := range order {
		out.Classes = append(out.Classes, t.Classes[k])
	}
	for c := range rows {
		row := confusionRow{Number: c, Size: p.Clusters[c].Size, Others: p.Clusters[c].Size}
		for _, k := range order {
			x := t.Counts[c][k]
			row.Others -= x
			row.Cells = append(row.Cells, cell{x, int(math.Round(50 * float64(x) / float64(p.Clusters[c].Size)))})
		}
		out.Rows = append(out.Rows, row)
	}
	out.Words = fmt.Sprintf("%s by %s", count(rows, "cluster"), count(n, "class"))
	if rows < p.Number {
		out.Words += fmt.Sprintf("; the largest of %s clusters", grouped(p.Number))
	}
	if n < len(t.Classes) {
		out.Words += fmt.Sprintf("; the first of %s classes, the others in the last column", grouped(len(t.Classes)))
	}
	return out
}

// TooManyClasses reports whether the table has a column for all further classes.
func (p *page) TooManyClasses() bool { return len(p.Truth.Classes) > mostClasses }

// MapWords returns the sentences above the map.
func (p *page) MapWords() string {
	s := fmt.Sprintf("Map of %s, coloured by cluster: linked samples lie close together, and clusters far apart have few links.", count(len(p.Map.Samples), "sample"))
	if len(p.Map.Samples) < p.Samples {
		s += fmt.Sprintf(" It shows %s of %s samples, drawn from the clusters in proportion to their sizes.", grouped(len(p.Map.Samples)), grouped(p.Samples))
	}
	return s
}
