package auto

import (
	"fmt"
	"math"
	"slices"
)

// Aim is something that was aimed for, and what was measured of it.
type Aim struct {
	What string `json:"what"`
	// Bound is what Measured has to be at most, or with AtLeast at least, and Goal
	// what is hoped for beyond it, nil where that is the same.
	Bound   float64  `json:"bound"`
	AtLeast bool     `json:"at_least"`
	Goal    *float64 `json:"goal,omitempty"`
	// Measured is nil where not all that it takes was measured.
	Measured *float64 `json:"measured"`
	Reached  bool     `json:"reached"`
	// Where says of which set the figure is, or what else it comes from.
	Where string `json:"where,omitempty"`

	decimals int
}

// ten are the sets that the aims are about.
func ten() []string {
	return []string{
		"Handwritten", "100Leaves", "100Leaves_aligned", "BBCSport_tfidf", "BUAA",
		"MSRC", "ORL", "CUB", "LandUse-21", "WebKB-course",
	}
}

// The bounds of the aims.
const (
	leastTen, goalTen = 68.5, 75
	leastSix, goalSix = 77.7, 81.6
	leastShare        = 0.5
	mostFall          = 3
	leastCounts       = 8
	countFactor       = 2
	mostTime          = 5
)

// Aims holds the results against what was aimed for.
func (r *Results) Aims() []Aim {
	return []Aim{
		r.meanTen(), r.meanSix(), r.share(), r.fall(), r.counts(),
		r.medianTime(), r.mostTime(),
	}
}

// measured fills in what was measured.
func (a Aim) measured(x float64, where string) Aim {
	a.Measured, a.Where = &x, where
	a.Reached = x == a.Bound || (x > a.Bound) == a.AtLeast
	return a
}

// find returns the result of a set in a state, nil where there is none with trials.
func (r *Results) find(set string, views []int, state State) *Result {
	for _, x := range r.List {
		if x.Set == set && x.State == state && len(x.Trials) > 0 && x.Chosen == (views != nil) && (views == nil || slices.Equal(x.Views, views)) {
			return x
		}
	}
	return nil
}

// whole returns the results of the sets with all of their views in a state.
func (r *Results) whole(state State) []*Result {
	var list []*Result
	for _, x := range r.List {
		if x.State == state && !x.Chosen && len(x.Trials) > 0 {
			list = append(list, x)
		}
	}
	return list
}

// meanOf fills in the mean ARI of the results, where all are there.
func (a Aim) meanOf(list []*Result) Aim {
	sum := 0.0
	for _, x := range list {
		if x == nil {
			return a
		}
		mean, _ := x.mean(byDefault, ari)
		sum += mean / float64(len(list))
	}
	return a.measured(sum, "")
}

func (r *Results) meanTen() Aim {
	goal := float64(goalTen)
	var list []*Result
	for _, set := range ten() {
		list = append(list, r.find(set, nil, Complete))
	}
	return Aim{What: "mean ARI of the ten sets, complete", Bound: leastTen, AtLeast: true, Goal: &goal, decimals: 1}.meanOf(list)
}

func (r *Results) meanSix() Aim {
	goal := goalSix
	var list []*Result
	for _, p := range append(pairs(), Subject{File: "Handwritten.npz"}) {
		list = append(list, r.find(p.name(), p.Views, Complete), r.find(p.name(), p.Views, HalfMissing))
	}
	return Aim{What: "mean ARI of the six cells", Bound: leastSix, AtLeast: true, Goal: &goal, decimals: 1}.meanOf(list)
}

// share is about the least share of the best opponent's ARI. An opponent that is no
// better than chance is none.
func (r *Results) share() Aim {
	a := Aim{What: "ARI over that of the best opponent, the least of all sets, complete", Bound: leastShare, AtLeast: true, decimals: 2}
	least, where := math.Inf(1), ""
	for _, x := range r.whole(Complete) {
		if best, there := x.best(); there && best > 0 {
			ours, _ := x.mean(byDefault, ari)
			if ours/best < least {
				least, where = ours/best, x.Set
			}
		}
	}
	if where == "" {
		return a
	}
	return a.measured(least, where)
}

// fall is about what a view of noise costs.
func (r *Results) fall() Aim {
	a := Aim{What: "fall of the ARI by a view of noise, points, the largest of all sets", Bound: mostFall, decimals: 1}
	most, mean, where := r.falls()
	if where == "" {
		return a
	}
	return a.measured(most, fmt.Sprintf("%s; the mean is %s", where, points(mean)))
}

// falls returns the largest fall of the ARI by noise, the set that it is of, and the mean
// fall; no set where there is none.
func (r *Results) falls() (most, mean float64, where string) {
	most = math.Inf(-1)
	var all []float64
	for _, x := range r.whole(NoiseView) {
		fall, there := r.fallOf(x)
		if !there {
			continue
		}
		all = append(all, fall)
		if fall > most {
			most, where = fall, x.Set
		}
	}
	for _, fall := range all {
		mean += fall / float64(len(all))
	}
	return most, mean, where
}

// fallOf returns by how much the noise lowers the ARI.
func (r *Results) fallOf(noisy *Result) (points float64, there bool) {
	quiet := r.find(noisy.Set, nil, Complete)
	if quiet == nil {
		return 0, false
	}
	with, _ := noisy.mean(byDefault, ari)
	without, _ := quiet.mean(byDefault, ari)
	return without - with, true
}

// counts is about the number of clusters.
func (r *Results) counts() Aim {
	a := Aim{
		What:  fmt.Sprintf("sets of the ten, complete, whose number of clusters of at least %d samples is within a factor of %d of that of the classes", large, countFactor),
		Bound: leastCounts, AtLeast: true,
	}
	n := 0
	for _, set := range ten() {
		x := r.find(set, nil, Complete)
		if x == nil {
			return a
		}
		found, _ := x.mean(byDefault, largest)
		if c := float64(x.Classes); found*countFactor >= c && found <= c*countFactor {
			n++
		}
	}
	return a.measured(float64(n), "")
}

// medianTime and mostTime are about the time over that of the paper's method.
func (r *Results) medianTime() Aim {
	a := Aim{What: "time over that of the paper's method, complete, median over the sets", Bound: mostTime, decimals: 2}
	var ratios []float64
	for _, x := range r.whole(Complete) {
		ratios = append(ratios, x.TimeRatio())
	}
	if len(ratios) == 0 {
		return a
	}
	return a.measured(median(ratios), "")
}

func (r *Results) mostTime() Aim {
	a := Aim{What: "time over that of the paper's method, complete, the largest of all sets", Bound: mostTime, decimals: 2}
	most, where := 0.0, ""
	for _, x := range r.whole(Complete) {
		if ratio := x.TimeRatio(); ratio > most {
			most, where = ratio, x.Set
		}
	}
	if where == "" {
		return a
	}
	return a.measured(most, where)
}
