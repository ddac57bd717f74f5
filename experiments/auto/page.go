package auto

import (
	_ "embed" // for the page's text
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// ten are the sets that the aims are about.
var ten = []string{
	"Handwritten", "100Leaves", "100Leaves_aligned", "BBCSport_tfidf", "BUAA",
	"MSRC", "ORL", "CUB", "LandUse-21", "WebKB-course",
}

// Aims holds what was measured against what was aimed for.
func (e *Experiment) aims() []lab.Aim {
	one, two := lab.Decimals(1), lab.Decimals(2)
	var whole, six []float64
	counted := 0.0
	for _, set := range ten {
		x := e.find(set, complete, false)
		whole = append(whole, e.mean(x, lab.Default, lab.ARI))
		switch found := e.mean(x, lab.Default, lab.Large); {
		case x == nil:
			counted = math.NaN()
		case found*2 >= e.classes(x) && found <= e.classes(x)*2:
			counted++
		}
	}
	for _, s := range []state{complete, halfMissing} {
		for _, x := range []*subject{e.find("Handwritten", s, true), e.find("100Leaves", s, true), e.find("Handwritten", s, false)} {
			six = append(six, e.mean(x, lab.Default, lab.ARI))
		}
	}
	share, shareOf := e.extreme(complete, -1, func(x *subject) float64 {
		if best := e.best(x); best > 0 { // an opponent that is no better than chance is none
			return e.mean(x, lab.Default, lab.ARI) / best
		}
		return math.NaN()
	})
	fall, fallOf := e.extreme(noiseView, 1, e.fall)
	var falls, ratios []float64
	for _, x := range e.whole(noiseView) {
		if f := e.fall(x); f == f {
			falls = append(falls, f)
		}
	}
	if falls != nil {
		fallOf += "; the mean is " + points(average(falls))
	}
	for _, x := range e.whole(complete) {
		ratios = append(ratios, e.timeRatio(x))
	}
	longest, longestOf := e.extreme(complete, 1, e.timeRatio)
	return []lab.Aim{
		{What: "mean ARI of the ten sets, complete", Bound: 68.5, Goal: 75, AtLeast: true, Measured: average(whole), Write: one},
		{What: "mean ARI of the six cells", Bound: 77.7, Goal: 81.6, AtLeast: true, Measured: average(six), Write: one},
		{What: "ARI over that of the best opponent, the least of all sets, complete", Bound: 0.5, AtLeast: true, Measured: share, Where: shareOf, Write: two},
		{What: "fall of the ARI by a view of noise, points, the largest of all sets", Bound: 3, Measured: fall, Where: fallOf, Write: one},
		{What: fmt.Sprintf("sets of the ten, complete, whose number of clusters of at least %d samples is within a factor of 2 of that of the classes", lab.LargeCluster),
			Bound: 8, AtLeast: true, Measured: counted, Write: lab.Decimals(0)},
		{What: "time over that of the paper's method, complete, median over the sets", Bound: 5, Measured: median(ratios), Write: two},
		{What: "time over that of the paper's method, complete, the largest of all sets", Bound: 5, Measured: longest, Where: longestOf, Write: two},
	}
}

// classes returns the number of classes of a set.
func (e *Experiment) classes(x *subject) float64 {
	return float64(e.of(x, lab.Default)[0].Scores.Classes)
}

// best returns the mean ARI of the opponent that has the highest, NaN where there is none.
func (e *Experiment) best(x *subject) float64 {
	best := math.NaN()
	for _, m := range opponents {
		if a := e.mean(x, m, lab.ARI); !(a <= best) && a == a {
			best = a
		}
	}
	return best
}

// extreme returns the largest figure of the sets with all views in a state, or with sign -1
// the least, and of which set it is; NaN where there is none.
func (e *Experiment) extreme(s state, sign float64, of func(*subject) float64) (found float64, where string) {
	found = math.NaN()
	for _, x := range e.whole(s) {
		if f := of(x); f == f && !(sign*f <= sign*found) {
			found, where = f, x.setup.Name()
		}
	}
	return found, where
}

//go:embed page.md.tmpl
var text string

// page is what the template can use.
type page struct {
	lab.Made
	e *Experiment
}

// Page writes the section.
func (e *Experiment) Page(_ *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	s, err := lab.Render(text, &page{made, e})
	return s, nil, err
}

// Ten lists the sets that the aims are about.
func (p *page) Ten() string { return lab.Text(strings.Join(ten, ", ")) }

// MostSamples is the number of samples up to which there are opponents.
func (p *page) MostSamples() int { return lab.MostSamples }

// NoiseDims is the number of dimensions of the noise.
func (p *page) NoiseDims() int { return noiseDims }

// AimTable is the table of what was aimed for.
func (p *page) AimTable() string { return lab.AimTable(p.e.aims()) }

// Table is the table of a state, or says that there is none. Its last row has the means.
func (p *page) Table(in string) string {
	s := state(in)
	head := []string{"set", "N", "classes", "clusters", "ARI", "BCubed F", "s", "MiB", "time over the paper's"}
	switch s {
	case halfMissing:
		head = append(head, "incomplete")
	case noiseView:
		head = append(head, "fall")
	}
	rows := [][]string{append(head, "paper's: ARI / F", "k-means, k given: ARI / F", "spectral, k given: ARI / F", "modularity: ARI / F")}
	for _, x := range p.e.done(s) {
		rows = append(rows, p.row(x))
	}
	if len(rows) == 1 {
		return "None was run.\n"
	}
	if all := p.e.whole(s); len(all) > 0 {
		rows = append(rows, p.means(s, all))
	}
	return lab.Table(rows, 1)
}

// row is the row of a subject.
func (p *page) row(x *subject) []string {
	list := p.e.of(x, lab.Default)
	scores := list[0].Scores
	row := []string{
		lab.Text(x.title()), strconv.Itoa(scores.Samples), strconv.Itoa(scores.Classes),
		list.Of(lab.Large).Write(0), list.Of(lab.ARI).Write(1), list.Of(lab.BCubedF).Write(1),
		lab.Digits(p.e.seconds(x, lab.Default)), fmt.Sprintf("%.0f", list.Of(lab.Peak).Mean/(1<<20)),
		fmt.Sprintf("%.2f", p.e.timeRatio(x)),
	}
	switch x.state {
	case halfMissing:
		row = append(row, fmt.Sprintf("%.0f%%", 100*float64(list[0].Incomplete)/float64(scores.Samples)))
	case noiseView:
		row = append(row, points(p.e.fall(x)))
	}
	return append(row, p.rivals([]*subject{x})...)
}

// means is the last row of a table.
func (p *page) means(s state, list []*subject) []string {
	row := []string{fmt.Sprintf("mean of sets with all views (%d)", len(list)), "", "", "",
		points(p.over(list, lab.Default, lab.ARI)), points(p.over(list, lab.Default, lab.BCubedF)), "", "", ""}
	switch s {
	case halfMissing:
		row = append(row, "")
	case noiseView:
		var falls []float64
		for _, x := range list {
			falls = append(falls, p.e.fall(x))
		}
		row = append(row, points(average(falls)))
	}
	return append(row, p.rivals(list)...)
}

// rivals writes the mean scores of the other methods, where they were run on all of the sets.
func (p *page) rivals(list []*subject) []string {
	var cells []string
	for _, m := range append([]lab.Method{lab.Paper}, opponents...) {
		cell := "–"
		if a := p.over(list, m, lab.ARI); a == a {
			cell = fmt.Sprintf("%.1f / %.1f", a, p.over(list, m, lab.BCubedF))
		}
		cells = append(cells, cell)
	}
	return cells
}

// over returns the mean over the sets of the means over their seeds.
func (p *page) over(list []*subject, m lab.Method, of lab.Metric) float64 {
	var all []float64
	for _, x := range list {
		all = append(all, p.e.mean(x, m, of))
	}
	return average(all)
}

// points writes a difference of scores.
func points(x float64) string {
	if x != x {
		return "–"
	}
	return fmt.Sprintf("%.1f", math.Round(10*x)/10+0) // no -0.0
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
