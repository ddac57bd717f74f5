package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

//go:embed page/page.js
var pageJS string

// WriteHTML writes the page. Nothing that it shows, whatever ids, names and classes hold,
// can act in it as markup or as a script: the page's own script is the only one that it
// allows, and it allows no connection. The error is that of w.
func (r *Report) WriteHTML(w io.Writer) error {
	t, err := template.New("report").Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("the page cannot be laid out: %w", err)
	}
	data, places, err := r.data()
	if err != nil {
		return fmt.Errorf("the map cannot be written: %w", err)
	}
	digest := sha256.Sum256([]byte(pageJS))
	b := bufio.NewWriterSize(w, 1<<16)
	p := &page{
		Report: r, Version: mvclust.Version, places: places,
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Data: template.JS(data), //nolint:gosec // our own, and JSON without < and >
		Digest: "sha256-" + base64.StdEncoding.EncodeToString(digest[:]),
	}
	if err := t.Execute(b, p); err != nil {
		return err
	}
	return b.Flush()
}

// page is what the template sees.
type page struct {
	*Report
	Version string
	CSS     template.CSS
	JS      template.JS
	Data    template.JS
	Digest  string
	places  map[int]int // sample -> its place among those that the script knows
}

// pageData is what the script sees. Lists of numbers are little-endian, in base64.
type pageData struct {
	Drawn   int               `json:"drawn"`
	Height  float64           `json:"height"`
	Places  []byte            `json:"places"`  // uint16 x, y of every point
	Labels  []byte            `json:"labels"`  // uint32 of every sample below
	Sure    []byte            `json:"sure"`    // uint8, confidence x 255, of every point
	Near    []byte            `json:"near"`    // uint32 x 5, places among the samples below
	Odds    []byte            `json:"odds"`    // uint8 x 5, probabilities x 255; 0 for none
	Present []byte            `json:"present"` // a bit of every view, eight views' bytes of all points after another; empty where all have all
	IDs     []string          `json:"ids"`     // of the points, and then of other samples
	Rows    []byte            `json:"rows"`    // uint32, in place of ids
	Views   []string          `json:"views"`
	Colours []int             `json:"colours"` // of the first clusters
	Sizes   []int             `json:"sizes"`
	Singles int               `json:"singles"` // the first cluster of a single sample
	Thumbs  map[string]string `json:"thumbs"`  // by place
}

// data returns the JSON for the script, and where it has which sample.
func (r *Report) data() ([]byte, map[int]int, error) {
	m := r.Map
	d := pageData{Drawn: len(m.Samples), Height: m.Height, Colours: m.Colours, Sizes: r.Sizes, Singles: r.Number - r.Singles}
	samples := slices.Clone(m.Samples)
	place := make(map[int]int, len(samples))
	for k, i := range samples {
		place[i] = k
	}
	placeOf := func(i int) int {
		k, ok := place[i]
		if !ok {
			k = len(samples)
			place[i] = k
			samples = append(samples, i)
		}
		return k
	}
	le := binary.LittleEndian
	scale := 65535 / max(1, m.Height)
	for k, i := range m.Samples {
		d.Places = le.AppendUint16(le.AppendUint16(d.Places, uint16(float64(m.X[k])*scale)), uint16(float64(m.Y[k])*scale))
		d.Sure = append(d.Sure, share(r.confidence[i]))
		for e := range shownNeighbours {
			to, p := 0, uint8(0)
			if e < len(m.Near[k]) {
				to, p = placeOf(m.Near[k][e].Sample), max(1, share(float64(m.Near[k][e].Probability)))
			}
			d.Near, d.Odds = le.AppendUint32(d.Near, uint32(to)), append(d.Odds, p)
		}
	}
	// Members that the tables name can be looked for as well.
	for _, c := range r.Clusters {
		for _, i := range slices.Concat(c.Central, c.Uncertain) {
			placeOf(i)
		}
	}
	for _, i := range samples {
		d.Labels = le.AppendUint32(d.Labels, uint32(r.labels[i]))
		if r.ids == nil {
			d.Rows = le.AppendUint32(d.Rows, uint32(i))
		} else {
			d.IDs = append(d.IDs, r.ids[i])
		}
	}
	if slices.ContainsFunc(m.present, func(p []bool) bool { return p != nil }) {
		n := len(m.Samples)
		d.Present = make([]byte, n*((len(m.present)+7)/8))
		for v, present := range m.present {
			for k, i := range m.Samples {
				if present == nil || present[i] {
					d.Present[v/8*n+k] |= 1 << (v % 8)
				}
			}
		}
	}
	for _, v := range r.Views {
		d.Views = append(d.Views, v.Name)
	}
	if len(r.thumbs) > 0 {
		d.Thumbs = make(map[string]string, len(r.thumbs))
		for i, uri := range r.thumbs {
			d.Thumbs[strconv.Itoa(placeOf(i))] = uri
		}
	}
	text, err := json.Marshal(d)
	return text, place, err
}

// share writes a number from 0 to 1 in a byte.
func share(x float64) uint8 { return uint8(math.Round(255 * min(1, max(0, x)))) }

// Lead is the sentence beneath the title.
func (p *page) Lead() string {
	s := fmt.Sprintf("%s in %s", count(p.Number, "cluster"), count(p.Samples, "sample"))
	if n := len(p.Views); n > 0 {
		s += ", seen in " + count(n, "view")
	}
	return s + "."
}

// Tile is a number that matters.
type tile struct{ Name, Value, Words string }

// Tiles are the numbers at the top.
func (p *page) Tiles() []tile {
	out := []tile{
		{"Samples", grouped(p.Samples), ""},
		{"Clusters", grouped(p.Number), fmt.Sprintf("the largest has %s", count(p.Sizes[0], "sample"))},
		{"Confidence", percent(p.Mean), "on the mean"},
	}
	if p.Singles > 0 {
		out = append(out, tile{"Alone", grouped(p.Singles), "samples that are clusters by themselves"})
	}
	if p.Truth != nil {
		s := &p.Truth.Scores
		out = append(out, tile{"ARI", percent(s.ARI), "agreement with the known classes"},
			tile{"NMI", percent(s.NMI), "information shared with them"})
	}
	return out
}

// Scores are all scores.
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

// row is a cluster in the table.
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
	Place int // among the samples that the script knows
	Sure  string
}

type pull struct {
	Cluster, Colour int
	Pull            string
}

// Rows are the clusters in the table.
func (p *page) Rows() []row {
	members := func(list []int) []member {
		out := make([]member, len(list))
		for k, i := range list {
			out[k] = member{p.id(i), p.places[i], percent(p.confidence[i])}
		}
		return out
	}
	out := make([]row, len(p.Clusters))
	for c, x := range p.Clusters {
		out[c] = row{
			Cluster: x, Number: c, Colour: p.colour(c), Bar: 100 * float64(x.Size) / float64(p.Sizes[0]),
			CohesionIs: percent(x.Cohesion), SureIs: percent(x.Confidence),
			Members: members(x.Central), Doubtful: members(x.Uncertain),
		}
		for _, m := range x.Merges {
			out[c].Pulls = append(out[c].Pulls, pull{m.Cluster, p.colour(m.Cluster), fmt.Sprintf("%.2f", m.Pull)})
		}
		if p.Truth != nil {
			best := 0
			for k, n := range p.Truth.Counts[c] {
				if n > p.Truth.Counts[c][best] {
					best = k
				}
			}
			out[c].ClassSort = float64(p.Truth.Counts[c][best]) / float64(x.Size)
			out[c].Class, out[c].ClassShare = p.Truth.Classes[best], percent(out[c].ClassSort)
		}
	}
	return out
}

// colour returns the number of a cluster's colour, which for one of the small ones is as
// the script has it.
func (r *Report) colour(c int) int {
	switch {
	case c >= r.Number-r.Singles:
		return colours // that of what is alone
	case c < len(r.Map.Colours):
		return r.Map.Colours[c]
	}
	return c % colours
}

// Rest is how many clusters are not in the table.
func (p *page) Rest() int { return p.Number - len(p.Clusters) }

// IsLearned reports whether functions were learned step by step.
func (p *page) IsLearned() bool { return len(p.Learning.Curve) > 1 }

// IsPosed reports whether the granularity was a choice among several.
func (p *page) IsPosed() bool { return p.Choice != nil && len(p.Choice.Tried) > 1 }

// The figures.
func (p *page) SizesChart() template.HTML  { return p.sizesChart() }
func (p *page) CurveChart() template.HTML  { return p.curveChart() }
func (p *page) ChoiceChart() template.HTML { return p.choiceChart() }

// panel is a view with its figure.
type panel struct {
	View
	Chart   template.HTML
	Steps   []step
	ShareIs string
	Percent float64
	Missing string
	Cut     string
}

// Panels are the views with their figures.
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

// losses are a row of the table beneath the learning curve.
type losses struct {
	Epoch                           int
	Total, Single, Cross, Constrain string
}

// Losses lists some epochs, evenly spaced, and the last.
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

// confusion is the table of clusters and classes.
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
	Heat  int // from 0 to 50, by the share of the cluster
}

// mostRows bounds the rows of the confusion table.
const mostRows = 100

// Confusion is the table of clusters and classes, with the classes in the order of the
// clusters that have most of them.
func (p *page) Confusion() confusion {
	t := p.Truth
	rows := min(len(t.Counts), mostRows)
	n := min(len(t.Classes), mostClasses)
	order, home := make([]int, n), make([]int, n)
	for k := range order {
		order[k] = k
		for c := range rows {
			if t.Counts[c][k] > t.Counts[home[k]][k] {
				home[k] = c
			}
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return home[order[a]] < home[order[b]] })
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

// TooManyClasses reports whether the table has a column for those beyond.
func (p *page) TooManyClasses() bool { return len(p.Truth.Classes) > mostClasses }

// MapWords says in words what the map shows.
func (p *page) MapWords() string {
	s := fmt.Sprintf("Map of %s, coloured by cluster: samples that are linked lie together, and clusters that are far apart have hardly anything in common.", count(len(p.Map.Samples), "sample"))
	if len(p.Map.Samples) < p.Samples {
		s += fmt.Sprintf(" It shows %s of %s samples, drawn from every cluster in proportion.", grouped(len(p.Map.Samples)), grouped(p.Samples))
	}
	return s
}
