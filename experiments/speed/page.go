package speed

import (
	_ "embed" // for the page's text
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// run returns the record of a whole run, nil where there is none.
func (e *Experiment) run(samples int, m lab.Method) *lab.Record { return e.l.One(wholeSet(samples, m)) }

// runs returns those of all sizes.
func (e *Experiment) runs(m lab.Method) []*lab.Record {
	var list []*lab.Record
	for _, s := range e.w.whole {
		if r := e.run(s.size, m); r != nil {
			list = append(list, r)
		}
	}
	return list
}

// growth returns the exponent x with which time grows as samples^x from one run to another: 1
// is linear. It is NaN where there is none of the two.
func growth(from, to *lab.Record) float64 {
	if from == nil || to == nil || from.Scores.Samples == to.Scores.Samples {
		return math.NaN()
	}
	return math.Log(to.Median()/from.Median()) / math.Log(float64(to.Scores.Samples)/float64(from.Scores.Samples))
}

// ratio returns the median time of a over that of b, NaN where there is none of the two.
func ratio(a, b *lab.Record) float64 {
	if a == nil || b == nil {
		return math.NaN()
	}
	return a.Median() / b.Median()
}

// stage returns the seconds of some stages together.
func stage(r *lab.Record, names ...string) float64 {
	total := 0.0
	for _, name := range names {
		total += r.Value("stage " + name)
	}
	return total
}

// after returns the time of learning, refinement and partition of the reference over that of
// the exact neighbours.
func (e *Experiment) after() float64 {
	r, x := e.run(e.w.reference, wholePaper), e.exactRun()
	if r == nil || x == nil {
		return math.NaN()
	}
	return stage(r, "learn", "refine", "partition") / stage(x, "neighbours")
}

// exactRun is the run of the reference with exact neighbours.
func (e *Experiment) exactRun() *lab.Record {
	return e.l.One(wholeSet(e.w.reference, wholePaper).With(exactSetting))
}

// aims holds what was measured against what was aimed for.
func (e *Experiment) aims() []lab.Aim {
	const rows, most = 20_000, 1_000_000
	two := lab.Decimals(2)
	size := lab.Whole(e.w.reference)
	run, largest := e.run(e.w.reference, wholePaper), e.run(most, wholePaper)
	runs := e.runs(wholePaper)
	seconds, memory, lost, promise, recall := math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if largest != nil {
		seconds, memory = largest.Median(), float64(largest.Peak)
	}
	if x := e.exactRun(); x != nil && run != nil {
		lost = 100 * (x.Scores.ARI - run.Scores.ARI)
	}
	var last *lab.Record
	for _, r := range runs {
		last = r
		// The runtime's own memory, which is no matter, would decide at small sizes.
		if p := float64(r.Peak) / r.Value("promise"); r.Scores.Samples >= e.w.reference && !(p <= promise) {
			promise = p
		}
		if least := r.Value("recall"); !(least >= recall) {
			recall = least
		}
	}
	grown := "growth exponent of the time from " + size
	if last != nil && last != run {
		grown += " to " + lab.Whole(last.Scores.Samples)
	}
	aims := []lab.Aim{
		{What: "exact neighbours of " + lab.Whole(rows) + " rows, time over that of faiss's flat index", Bound: 0.4,
			Measured: ratio(e.l.One(e.graphSet(rows, exact)), e.l.One(e.graphSet(rows, faissFlat))), Write: two},
		{What: "whole run of " + size + " samples, time over that of faiss's flat index for the exact neighbours alone", Bound: 1,
			Measured: ratio(run, e.run(e.w.reference, faissFlat)), Write: two},
		{What: "learning, refinement and partition of " + size + " samples, time over that of the exact neighbours", Bound: 1, Measured: e.after(), Write: two},
		{What: "whole run of " + lab.Whole(most) + " samples, time", Bound: 600, Measured: seconds, Write: func(x float64) string { return lab.Digits(x) + " s" }},
		{What: "whole run of " + lab.Whole(most) + " samples, memory", Bound: 10 << 30, Measured: memory, Write: func(x float64) string { return lab.Bytes(int64(x)) }},
		{What: "ARI of " + size + " samples, points below the run with exact neighbours", Bound: 2, Measured: lost, Write: lab.Decimals(1)},
		{What: grown, Bound: 1.2, Measured: growth(run, last), Write: two},
		{What: "memory over the promise, at the most, from " + size + " samples on", Bound: 1, Measured: promise, Write: two},
		{What: "recall of the neighbours in a whole run, at the least", Bound: 0.97, AtLeast: true, Measured: recall, Write: lab.Decimals(3)},
		{What: "whole run of some thousand samples in four views, time over that of spectral clustering", Bound: 2,
			Measured: ratio(e.l.One(e.small.By(wholeDefault)), e.l.One(e.small.By(sklearnCut))), Write: two},
	}
	return append(aims, e.automaticAims(most)...)
}

// automaticAims holds those of the default mode, up to the given number of samples.
func (e *Experiment) automaticAims(most int) []lab.Aim {
	size := lab.Whole(e.w.reference)
	run, largest := e.run(e.w.reference, wholeDefault), e.run(most, wholeDefault)
	seconds, memory, quality := math.NaN(), math.NaN(), math.NaN()
	if largest != nil {
		seconds, memory, quality = largest.Median(), float64(largest.Peak), 100*largest.Scores.BCubedF
	}
	return append([]lab.Aim{
		{What: "default mode on " + size + " samples, time over that of faiss's flat index for the exact neighbours alone", Bound: 0.35,
			Measured: ratio(run, e.run(e.w.reference, faissFlat)), Write: lab.Decimals(2)},
		{What: "default mode on " + lab.Whole(most) + " samples, time", Bound: 240, Measured: seconds, Write: func(x float64) string { return lab.Digits(x) + " s" }},
		{What: "default mode on " + lab.Whole(most) + " samples, memory", Bound: 6 << 30, Measured: memory, Write: func(x float64) string { return lab.Bytes(int64(x)) }},
		{What: "default mode on " + lab.Whole(most) + " samples, BCubed F", Bound: 90, AtLeast: true, Measured: quality, Write: lab.Decimals(1)},
		{What: "default mode, growth exponent of the time from " + size + " to " + lab.Whole(most), Bound: 1.15, Measured: growth(run, largest), Write: lab.Decimals(2)},
	}, afterAims(largest)...)
}

//go:embed page.md.tmpl
var text string

// page is what the template can use.
type page struct {
	lab.Made
	*Experiment
	Quick   bool
	figures []lab.Figure
}

// Page writes the section.
func (e *Experiment) Page(_ *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	p := &page{made, e, e.Quick, e.drawn()}
	s, err := lab.Render(text, p)
	return s, p.figures, err
}

// Figure links a figure, where there is one.
func (p *page) Figure(name string) string {
	for _, f := range p.figures {
		if f.Name == name {
			return f.Link("speed")
		}
	}
	return ""
}

// peerSetups are those that a Python runs.
func (e *Experiment) peerSetups() []lab.Setup {
	list := []lab.Setup{kernelSet(openBLAS), wholeSet(e.w.reference, faissFlat), e.small.By(sklearnCut)}
	for _, s := range e.w.graphs {
		if s.rounds > 1 {
			list = append(list, e.graphSet(s.size, faissFlat))
		}
	}
	return list
}

// Peers lists what was found in Python, with versions.
func (p *page) Peers() string {
	var list []string
	for _, s := range p.peerSetups() {
		if r := p.l.One(s); r != nil && !slices.Contains(list, r.Words["by"]) {
			list = append(list, r.Words["by"])
		}
	}
	return strings.Join(list, ", ")
}

// Missing says what could not be measured, and why.
func (p *page) Missing() string {
	var missing lab.Reasons
	for _, s := range p.peerSetups() {
		if _, reason := p.l.Of(s, 1); reason != "" {
			missing.Add(reason, string(s.Method))
		}
	}
	return missing.List("Not everything could be measured:", false)
}

// AimTable is the table of what was aimed for.
func (p *page) AimTable() string { return lab.AimTable(p.aims()) }

// Recipe is how the synthetic data is made.
func (p *page) Recipe() string {
	return fmt.Sprintf("--classes N/%d --views %d --dims %d --imbalance %g --noise %g", lab.PerClass, wholeViews, wholeDims, lab.Imbalance, lab.Noise)
}

// KernelTable is the table of the inner loops: the best of several measurements.
func (p *page) KernelTable() string {
	head := []string{"inner loop, one core"}
	for _, d := range kernelDims {
		head = append(head, fmt.Sprintf("GFLOP/s at %d", d))
	}
	rows := [][]string{head}
	for _, m := range kernels() {
		if r := p.l.One(kernelSet(m)); r != nil {
			row := []string{string(m)}
			for _, d := range kernelDims {
				row = append(row, lab.Digits(slices.Max(r.Values[strconv.Itoa(d)])))
			}
			rows = append(rows, row)
		}
	}
	return lab.Table(rows, 1)
}

// Neighbours is the number of neighbours of the graphs, and Dims that of their dimensions.
func (p *page) Neighbours() int { return p.w.neighbours }
func (p *page) Dims() int       { return p.w.dims }

// GraphTable is the table of the exact neighbour graphs.
func (p *page) GraphTable() string {
	rows := [][]string{{"rows", "by", "best, s", "median, s", "times", "ours to this", "agreement"}}
	for _, s := range p.w.graphs {
		own := p.l.One(p.graphSet(s.size, exact))
		if own == nil || s.rounds == 1 {
			continue
		}
		rows = append(rows, append([]string{lab.Whole(s.size), "mvclust"}, append(times(own), "", "")...))
		for _, m := range []lab.Method{faissFlat, sklearnBrute} {
			if r := p.l.One(p.graphSet(s.size, m)); r != nil {
				agreed := ""
				if a := r.Value("agreement"); a > 0 {
					agreed = fmt.Sprintf("%.4f", a)
				}
				rows = append(rows, append([]string{"", string(m)}, append(times(r), write(ratio(own, r)), agreed)...))
			}
		}
	}
	return lab.Table(rows, 2)
}

// times writes the best time, the median and their number.
func times(r *lab.Record) []string {
	return []string{lab.Digits(r.Best()), lab.Digits(r.Median()), strconv.Itoa(len(r.Seconds))}
}

// write writes a ratio, nothing where there is none.
func write(x float64) string {
	if x != x {
		return ""
	}
	return fmt.Sprintf("%.2f", x)
}

// searches returns the exact and the approximate search of every size that has both.
func (e *Experiment) searches() [][2]*lab.Record {
	var list [][2]*lab.Record
	for _, s := range e.w.graphs {
		x, a := e.l.One(e.graphSet(s.size, exact)), e.l.One(e.graphSet(s.size, approximate))
		if x != nil && a != nil {
			list = append(list, [2]*lab.Record{x, a})
		}
	}
	return list
}

// SearchTable is the table of exact against approximate search, nothing where there is none.
func (p *page) SearchTable() string {
	rows := [][]string{{"rows", "exact, s", "approximate, s", "ratio", "recall"}}
	for _, both := range p.searches() {
		rows = append(rows, []string{
			lab.Whole(both[0].Setup.Synth.Samples), lab.Digits(both[0].Median()), lab.Digits(both[1].Median()),
			write(ratio(both[1], both[0])), fmt.Sprintf("%.4f", both[1].Value("recall")),
		})
	}
	if len(rows) == 1 {
		return ""
	}
	return lab.Table(rows, 0)
}

// Crossing says from where on the approximate search is faster.
func (p *page) Crossing() string {
	list := p.searches()
	at := crossing(list)
	switch {
	case at == 0:
		return "At these sizes the approximate search is not faster."
	case at == float64(list[0][0].Setup.Synth.Samples):
		return "The approximate search is faster at all of these sizes."
	default:
		return fmt.Sprintf("The approximate search is faster from about %s rows on.", lab.Whole(int(at)))
	}
}

func rows(both [2]*lab.Record) float64 { return float64(both[0].Setup.Synth.Samples) }

// crossing returns the number of rows from which on approximate search is faster, between the
// sizes measured on a logarithmic scale; 0 where it is not at the largest.
func crossing(list [][2]*lab.Record) float64 {
	at := 0.0
	for i, both := range slices.Backward(list) {
		r := ratio(both[1], both[0])
		if r >= 1 {
			break
		}
		at = rows(both)
		if i > 0 {
			if b := ratio(list[i-1][1], list[i-1][0]); b >= 1 {
				before := rows(list[i-1])
				at = before * math.Pow(at/before, math.Log(b)/(math.Log(b)-math.Log(r)))
			}
		}
	}
	return at
}

// RunTable is the table of the whole runs.
func (p *page) RunTable() string {
	rows := [][]string{{"samples", "s", "growth", "peak", "of the promise", "neighbours", "recall", "ARI", "BCubed F", "clusters", "classes"}}
	add := func(name string, r, before *lab.Record) {
		peak, of := "–", "–"
		if r.Peak > 0 {
			peak, of = lab.Bytes(r.Peak), fmt.Sprintf("%.1f%%", 100*float64(r.Peak)/r.Value("promise"))
		}
		rows = append(rows, append([]string{name, lab.Digits(r.Median()), write(growth(before, r)), peak, of,
			r.Words["neighbours"], fmt.Sprintf("%.4f", r.Value("recall"))}, scored(r)...))
	}
	var before *lab.Record
	for _, r := range p.runs(wholePaper) {
		add(lab.Whole(r.Scores.Samples), r, before)
		before = r
	}
	if x := p.exactRun(); x != nil {
		add(lab.Whole(x.Scores.Samples)+", exact neighbours", x, nil)
	}
	return lab.Table(rows, 1)
}

// scored writes the scores of a run, with the number of clusters and of classes.
func scored(r *lab.Record) []string {
	s := r.Scores
	return []string{fmt.Sprintf("%.1f", 100*s.ARI), fmt.Sprintf("%.1f", 100*s.BCubedF), lab.Whole(s.Clusters), lab.Whole(s.Classes)}
}

// AutomaticTable is the table of the runs in the default mode, beside those of the paper's
// method; empty where there are none.
func (p *page) AutomaticTable() string {
	rows := [][]string{{"samples", "s", "growth", "to the published method", "peak", "ARI", "BCubed F", "clusters", "classes"}}
	var before *lab.Record
	for _, r := range p.runs(wholeDefault) {
		n := r.Scores.Samples
		rows = append(rows, append([]string{lab.Whole(n), lab.Digits(r.Median()), write(growth(before, r)),
			write(ratio(r, p.run(n, wholePaper))), lab.Bytes(r.Peak)}, scored(r)...))
		before = r
	}
	if len(rows) == 1 {
		return ""
	}
	return lab.Table(rows, 0)
}

// StageTable is the table of the stages' times.
func (p *page) StageTable() string {
	names := p.stages()
	rows := [][]string{append(append([]string{"samples"}, names...), "rest", "whole")}
	for _, r := range p.runs(wholePaper) {
		row := []string{lab.Whole(r.Scores.Samples)}
		for _, name := range names {
			row = append(row, lab.Digits(stage(r, name)))
		}
		all := r.Median()
		rows = append(rows, append(row, lab.Digits(max(0, all-stage(r, names...))), lab.Digits(all)))
	}
	return lab.Table(rows, 0)
}

// stages lists the stages of the runs, in order.
func (e *Experiment) stages() []string {
	var names []string
	for _, r := range e.runs(wholePaper) {
		for s := range strings.FieldsSeq(r.Words["stages"]) {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
	}
	return names
}

// Reference says what the run of that size is held against.
func (p *page) Reference() string {
	s := ""
	n := p.w.reference
	if f := p.run(n, faissFlat); f != nil {
		s = fmt.Sprintf("For the exact neighbours of the same %s samples in both views, %d of each, faiss's flat\nindex takes %s s (best %s s): the whole run takes %s of that.",
			lab.Whole(n), candidates, lab.Digits(f.Median()), lab.Digits(f.Best()), write(ratio(p.run(n, wholePaper), f)))
	}
	if a := p.after(); a == a {
		s += fmt.Sprintf(" Learning, refinement and partition together take\n%s of the time of our own exact neighbours.", write(a))
	}
	return strings.TrimSpace(s)
}

// Small describes the small set and how the run on it compares; empty where it was not run.
func (p *page) Small() string {
	own, cut := p.l.One(p.small.By(wholeDefault)), p.l.One(p.small.By(sklearnCut))
	if own == nil {
		return ""
	}
	name, views := p.small.Name(), 4
	if name == "" {
		name = "A synthetic set, as Handwritten is not there"
	}
	s := fmt.Sprintf("%s: %s samples in %d views, %d classes. A run of mvclust in its default mode, as a\nprocess of its own, against a process of scikit-learn's SpectralClustering, which reads the graph\nof the fused views and is told the number of classes.",
		name, lab.Whole(own.Scores.Samples), views, own.Scores.Classes)
	rows := [][]string{{"by", "best, s", "median, s", "times", "ARI", "told the number of classes"},
		append(append([]string{"mvclust, all of it"}, times(own)...), fmt.Sprintf("%.1f", 100*own.Scores.ARI), "no")}
	if cut != nil {
		s += fmt.Sprintf(" The one takes %s of the time of the\nother.", write(ratio(own, cut)))
		rows = append(rows, append(append([]string{string(sklearnCut)}, times(cut)...), fmt.Sprintf("%.1f", 100*cut.Scores.ARI), "yes"))
	}
	return s + "\n\n" + lab.Table(rows, 1)
}

// drawn are the figures.
func (e *Experiment) drawn() []lab.Figure {
	var list []lab.Figure
	if runs := e.runs(wholePaper); len(runs) > 0 {
		p := lab.Panel{X: "samples", Y: "seconds", LogX: true, LogY: true}
		line := func(name string, of func(*lab.Record) float64) {
			s := lab.Series{Name: name}
			for _, r := range runs {
				s.X, s.Y = append(s.X, float64(r.Scores.Samples)), append(s.Y, of(r))
			}
			p.Series = append(p.Series, s)
		}
		line("whole run", (*lab.Record).Median)
		for _, name := range e.stages() {
			// Those that take a twentieth of some run, or more.
			if slices.ContainsFunc(runs, func(r *lab.Record) bool { return 20*stage(r, name) >= r.Median() }) {
				line(name, func(r *lab.Record) float64 { return stage(r, name) })
			}
		}
		list = append(list, lab.Figure{Name: "stages", Title: "Time of a whole run and of its stages", Panels: []lab.Panel{p}})
	}
	if both := e.searches(); len(both) > 0 {
		x, a, recall := lab.Series{Name: "exact"}, lab.Series{Name: "approximate"}, lab.Series{Name: "approximate"}
		for _, b := range both {
			rows := float64(b[0].Setup.Synth.Samples)
			x.X, x.Y = append(x.X, rows), append(x.Y, b[0].Median())
			a.X, a.Y = append(a.X, rows), append(a.Y, b[1].Median())
			recall.X, recall.Y = append(recall.X, rows), append(recall.Y, b[1].Value("recall"))
		}
		list = append(list, lab.Figure{Name: "neighbours", Title: "Exact and approximate search", Panels: []lab.Panel{
			{Title: "Time of the neighbour graph", X: "rows", Y: "seconds", LogX: true, LogY: true, Series: []lab.Series{x, a}},
			{Title: "Recall", X: "rows", Y: "recall", LogX: true, Series: []lab.Series{recall}},
		}})
	}
	return list
}
