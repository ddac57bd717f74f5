package speed

import (
	"fmt"
	"strconv"
)

// Aim is something that was aimed for, and what was measured of it.
type Aim struct {
	What string `json:"what"`
	// Bound is what Measured should be at most, or with AtLeast at least.
	Bound   float64 `json:"bound"`
	AtLeast bool    `json:"at_least"`
	// Measured is nil where it was not measured.
	Measured *float64 `json:"measured"`

	write func(x float64) string
}

// Reached reports whether the aim was reached.
func (a *Aim) Reached() bool {
	return a.Measured != nil && (*a.Measured == a.Bound || (*a.Measured > a.Bound) == a.AtLeast)
}

// The sizes that the aims are about, and what is aimed for there.
const (
	aimRows    = 20_000
	aimSamples = 1_000_000
	aimSeconds = 600
	aimBytes   = 10 << 30
)

// Aims lists what was aimed for.
func (r *Results) Aims() []Aim {
	var list []Aim
	// A measured value of 0 is one that is not there: all of these are above 0.
	most := func(what string, bound, measured float64, write func(x float64) string) {
		a := Aim{What: what, Bound: bound, write: write}
		if measured != 0 {
			a.Measured = &measured
		}
		list = append(list, a)
	}
	var graph, input, after, loss, grown, seconds, memory, promise, small float64
	for _, g := range r.Graphs {
		if g.Rows == aimRows && g.Agreement > 0 {
			graph = g.Peers[0].Ratio
		}
	}
	reference := "the middle number of"
	var lost *float64
	if f := r.Reference; f != nil {
		reference = whole(f.Samples)
		input, after = f.Ratio, f.After
		if f.Exact != nil {
			loss = round(100 * (f.Exact.Scores.ARI - r.of(f.Samples).Scores.ARI))
			lost = &loss
		}
	}
	grown, to := r.span()
	span := ""
	if to > 0 {
		span = " to " + whole(to)
	}
	if run := r.of(aimSamples); run != nil {
		seconds, memory = run.Seconds.Median(), float64(run.Peak)
	}
	var recall *float64
	for i := range r.Runs {
		run := &r.Runs[i]
		// The runtime's own memory, which is no matter, would decide at small sizes.
		if r.Reference != nil && run.Samples >= r.Reference.Samples {
			promise = max(promise, ratio(float64(run.Peak), float64(run.Promise)))
		}
		if len(run.Neighbours) > 0 {
			least := run.recall()
			if recall != nil {
				least = min(least, *recall)
			}
			recall = &least
		}
	}
	if r.Small != nil {
		small = r.Small.Ratio
	}
	most(fmt.Sprintf("exact neighbours of %s rows, time over that of faiss's flat index", whole(aimRows)), 0.40, graph, decimals)
	most(fmt.Sprintf("whole run of %s samples, time over that of faiss's flat index for the exact neighbours alone", reference), 1, input, decimals)
	most(fmt.Sprintf("learning, refinement and partition of %s samples, time over that of the exact neighbours", reference), 1, after, decimals)
	most(fmt.Sprintf("whole run of %s samples, time", whole(aimSamples)), aimSeconds, seconds, func(x float64) string { return digits(x) + " s" })
	most(fmt.Sprintf("whole run of %s samples, memory", whole(aimSamples)), aimBytes, memory, func(x float64) string { return size(int64(x)) })
	list = append(list, Aim{What: fmt.Sprintf("ARI of %s samples, points below the run with exact neighbours", reference), Bound: 2, Measured: lost, write: func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }})
	most(fmt.Sprintf("growth exponent of the time from %s%s", reference, span), 1.2, grown, decimals)
	most(fmt.Sprintf("memory over the promise, at the most, from %s samples on", reference), 1, promise, decimals)
	list = append(list, Aim{What: "recall of the neighbours in a whole run, at the least", Bound: 0.97, AtLeast: true, Measured: recall, write: func(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }})
	most("whole run of some thousand samples in four views, time over that of spectral clustering", 2, small, decimals)
	return list
}
