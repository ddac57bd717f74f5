package auto

import (
	"fmt"
	"math"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// alike returns the mean ARI between the runs of two seeds, leastAlike the least.
func (e *Experiment) alike(x *subject) float64 {
	mean, _ := e.own(x).Alike()
	return mean
}

func (e *Experiment) leastAlike(x *subject) float64 {
	_, least := e.own(x).Alike()
	return least
}

// leastKept returns the least ARI of the old samples' labels before and after an update.
func (e *Experiment) leastKept(x *subject) float64 {
	least := math.NaN()
	for _, r := range e.own(x) {
		if k := r.Value(kept); !(least <= k) {
			least = k
		}
	}
	return least
}

// classes returns the number of classes of a set.
func (e *Experiment) classes(x *subject) float64 { return float64(e.own(x)[0].Scores.Classes) }

// over Leiden from which the default mode is held against it, and the share that it is to have.
const (
	leidenFrom  = 20
	leidenShare = 2. / 3
)

// aims holds what was measured against what was aimed for.
func (e *Experiment) aims() []lab.Aim {
	second := fmt.Sprintf("collection two (%d sets)", len(e.whole(complete, 1)))
	ari := func(x *subject) float64 { return e.mean(x, lab.ARI) }
	var first, six []float64
	for _, set := range lab.Ten() {
		first = append(first, ari(e.find(set, complete, false)))
	}
	for _, s := range []state{complete, halfMissing} {
		for _, x := range []*subject{e.find("Handwritten", s, true), e.find("100Leaves", s, true), e.find("Handwritten", s, false)} {
			six = append(six, ari(x))
		}
	}
	alike, noisy, kept := e.whole(complete, -1), e.whole(noiseView, -1), e.whole(updated, -1)
	one, zero, two := lab.Decimals(1), lab.Decimals(0), lab.Decimals(2)
	mean := func(what string, bound, goal float64, list []*subject, of func(*subject) float64) lab.Aim {
		return lab.Aim{What: what, Bound: bound, Goal: goal, AtLeast: true, Measured: over(list, of), Write: one}
	}
	tens := lab.Aim{What: "mean ARI of the ten sets", Bound: 75, AtLeast: true, Measured: average(first), Write: one}
	cells := lab.Aim{What: "mean ARI of the six cells", Bound: 85, AtLeast: true, Measured: average(six), Write: one}
	apart, where := e.count(alike, func(x *subject) bool { return e.leastAlike(x) < 90 })
	lost, lostOf := least(kept, e.leastKept)
	behind, behindOf := e.count(e.whole(complete, 1), func(x *subject) bool {
		l := e.rival(x, lab.Leiden20)
		return l >= leidenFrom && ari(x) < leidenShare*l
	})
	above, _ := e.count(e.whole(complete, 1), func(x *subject) bool { return ari(x) >= e.best(x, told) })
	near, _ := e.count(e.whole(complete, 1), func(x *subject) bool {
		found, classes := e.mean(x, lab.Large), e.classes(x)
		return found*3 >= classes && found <= classes*3
	})
	fell, fellOf := least(noisy, func(x *subject) float64 { return -e.fall(x) })
	var ratios []float64
	for _, x := range alike {
		ratios = append(ratios, e.timeRatio(x))
	}
	longest, longestOf := least(alike, func(x *subject) float64 { return -e.timeRatio(x) })
	return []lab.Aim{
		mean("mean ARI of "+second, 56, 60, e.whole(complete, 1), ari), tens, cells,
		mean("mean ARI between two seeds", 97, 0, alike, e.alike),
		{What: "sets of both collections with two seeds below 90 of each other", Bound: 3, Measured: apart, Where: where, Write: zero},
		mean("mean ARI of old labels before and after an update", 95, 0, kept, func(x *subject) float64 { return e.value(x, "kept") }),
		{What: "the least of these, of all sets and seeds", Bound: 80, AtLeast: true, Measured: lost, Where: lostOf, Write: one},
		{What: fmt.Sprintf("sets of collection two where Leiden 20 has %d or more, and the default mode less than two thirds of that", leidenFrom), Measured: behind, Where: behindOf, Write: zero},
		{What: "sets of collection two at or above the best opponent told the number of classes", Bound: 24, AtLeast: true, Measured: above, Write: zero},
		{What: fmt.Sprintf("sets of collection two with a number of clusters of at least %d samples within a factor of 3 of that of the classes", lab.LargeCluster), Bound: 32, AtLeast: true, Measured: near, Write: zero},
		{What: "mean fall of the ARI by a view of noise, points", Bound: 1, Measured: over(noisy, e.fall), Write: one},
		{What: "the largest of all sets", Bound: 5, Measured: -fell, Where: fellOf, Write: one},
		{What: "time over that of the paper's method, median over the sets", Bound: 4.65, Measured: median(ratios), Write: two},
		{What: "the largest of all sets", Bound: 11, Measured: -longest, Where: longestOf, Write: two},
	}
}

// count counts the sets of which something is true, and names them; NaN where there are no sets.
func (e *Experiment) count(list []*subject, is func(x *subject) bool) (number float64, where string) {
	if len(list) == 0 {
		return math.NaN(), ""
	}
	var names []string
	for _, x := range list {
		if is(x) {
			names = append(names, x.setup.Name())
		}
	}
	return float64(len(names)), strings.Join(names, ", ")
}

// least returns the least figure of the sets that have one, and of which it is; NaN where there is
// none.
func least(list []*subject, of func(*subject) float64) (found float64, where string) {
	found = math.NaN()
	for _, x := range list {
		if f := of(x); f == f && !(found <= f) {
			found, where = f, x.setup.Name()
		}
	}
	return found, where
}
