package speed

import (
	"io"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/chart"
	"github.com/mvclust/mvclust/method/neighbour"
)

// Figure is a figure of the page.
type Figure struct {
	// Name is the name of its file.
	Name string
	// Write writes it as SVG.
	Write func(w io.Writer) error
}

// Figures returns the figures of what was measured.
func (r *Results) Figures() []Figure {
	var list []Figure
	if len(r.Runs) > 0 {
		list = append(list, Figure{stagesFigure, r.stagesChart().WriteSVG})
	}
	if len(r.Crossing) > 0 {
		list = append(list, Figure{searchFigure, func(w io.Writer) error {
			return chart.Grid(w, 2, "Exact and approximate search", r.searchCharts())
		}})
	}
	return list
}

// The names of the figures' files.
const (
	stagesFigure = "stages.svg"
	searchFigure = "neighbours.svg"
)

// stagesChart draws the time of every stage against the number of samples.
func (r *Results) stagesChart() chart.Line {
	l := chart.Line{
		Title: "Time of a whole run and of its stages",
		X:     chart.Axis{Label: "samples", Log: true}, Y: chart.Axis{Label: "seconds", Log: true},
	}
	series := func(name string, seconds func(*Run) float64) {
		s := chart.Series{Name: name}
		for i := range r.Runs {
			run := &r.Runs[i]
			y := seconds(run)
			if y <= 0 {
				y = math.NaN() // has no place on a logarithmic axis
			}
			s.X, s.Y = append(s.X, float64(run.Samples)), append(s.Y, y)
		}
		l.Series = append(l.Series, s)
	}
	series("whole run", func(run *Run) float64 { return run.Seconds.Median() })
	for _, name := range r.stages() {
		if r.counts(name) {
			series(name, func(run *Run) float64 { return run.stage(name) })
		}
	}
	return l
}

// stages lists the stages of the runs, in order.
func (r *Results) stages() []string {
	var names []string
	for _, run := range r.Runs {
		for _, s := range run.Stages {
			if !slices.Contains(names, s.Stage) {
				names = append(names, s.Stage)
			}
		}
	}
	return names
}

// counts reports whether a stage takes a twentieth of some run, or more.
func (r *Results) counts(stage string) bool {
	return slices.ContainsFunc(r.Runs, func(run Run) bool {
		return run.stage(stage) > 0 && 20*run.stage(stage) >= run.Seconds.Median()
	})
}

// searchCharts draws the time of exact and approximate search, and the recall.
func (r *Results) searchCharts() []chart.Line {
	found := chart.Series{Name: neighbour.Approximate.String()}
	truth := chart.Series{Name: neighbour.Exact.String()}
	recall := chart.Series{Name: neighbour.Approximate.String()}
	for _, c := range r.Crossing {
		x := float64(c.Rows)
		found.X, found.Y = append(found.X, x), append(found.Y, c.Approximate)
		truth.X, truth.Y = append(truth.X, x), append(truth.Y, c.Exact)
		recall.X, recall.Y = append(recall.X, x), append(recall.Y, c.Recall)
	}
	rows := chart.Axis{Label: "rows", Log: true}
	return []chart.Line{
		{Title: "Time of the neighbour graph", X: rows, Y: chart.Axis{Label: "seconds", Log: true}, Series: []chart.Series{truth, found}},
		{Title: "Recall", X: rows, Y: chart.Axis{Label: "recall"}, Series: []chart.Series{recall}},
	}
}
