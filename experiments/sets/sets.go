// Package sets scores the paper's method on a folder of sets whose classes are known.
package sets

import (
	"context"
	_ "embed" // for the page's text
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/experiments/lab"
)

// Experiment is the paper's method on every set.
type Experiment struct{ list []entry }

// entry is a row of the table.
type entry struct {
	setup lab.Setup
	seeds int
	// k is the number of neighbours; of is where it comes from: "*" marks the mean size of
	// the classes.
	k  int
	of string
}

// neighbours holds one K per set, by the base name of its file. It is set per set because the
// paper's method needs it: the result is best where K is near the size of the classes, which
// the method has no way to find out. Sets that are not listed are run with the mean size of
// their classes.
var neighbours = map[string]int{
	"Handwritten":    133,
	"100Leaves":      14,
	"BUAA":           7,
	"BBCSport":       150,
	"BBCSport_tfidf": 150,
}

// indices holds the arrays that list the samples of every view, by file.
var indices = map[string]string{"mat/BBCSport_incomplete.mat": "index"}

// published lists the cases of the paper.
func published() []entry {
	quarters, halves := []float64{0.25, 0.25}, []float64{0, 0, 0.5, 0.5}
	two := lab.Setup{File: "Handwritten.npz", Views: []int{0, 1}}
	four := lab.Setup{File: "Handwritten.npz"}
	// Margin and texture: only these give the figures that the paper has for other methods.
	leaves := lab.Setup{File: "100Leaves.npz", Views: []int{2, 1}}
	return []entry{
		{setup: two}, {setup: four}, {setup: leaves}, {setup: lab.Setup{File: "BUAA.npz"}}, {setup: lab.Setup{File: "BBCSport_tfidf.npz"}},
		{setup: two.Lacking(quarters...), seeds: 5}, {setup: leaves.Lacking(quarters...), seeds: 5},
		{setup: four.Lacking(halves...)}, {setup: four.Lacking(halves...).With("completion=on")},
	}
}

// Cases lists the cases of the paper, whether their files are there or not, and then every
// .npz file of the folder and .mat file of its folder mat, with all of its views, that is not
// among them yet; of these the ones that are named, or all.
func (e *Experiment) Cases(ctx context.Context, l *lab.Lab, names []string) ([]lab.Case, error) {
	npz, mat, err := l.Files()
	if err != nil {
		return nil, err
	}
	all := published()
	for _, file := range append(npz, mat...) {
		listed := slices.ContainsFunc(all, func(x entry) bool {
			return x.setup.File == file && x.setup.Views == nil && x.setup.Missing == nil
		})
		if !listed {
			all = append(all, entry{setup: lab.Setup{File: file, Index: indices[file]}})
		}
	}
	if all, err = lab.Named(all, func(x entry) string { return x.setup.Name() }, names); err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	var cases []lab.Case
	for _, x := range all {
		if l.Quick && (seen[x.setup.File] || !l.Small(x.setup.File)) {
			continue
		}
		seen[x.setup.File] = true
		if x.k = neighbours[path.Base(x.setup.Name())]; x.k == 0 {
			_, labels, classes, err := l.Load(ctx, x.setup)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err == nil { // else running it says why not
				size := int(math.Round(float64(len(labels)) / float64(classes)))
				x.k, x.of = max(1, min(size, len(labels)/4)), "*"
			}
		}
		x.setup = x.setup.With(fmt.Sprint("neighbors=", max(1, x.k)))
		e.list = append(e.list, x)
		cases = append(cases, lab.Case{Label: x.name(), Setups: []lab.Setup{x.setup}, Seeds: x.seeds})
	}
	return cases, nil
}

// choice says in words which views an entry takes, and how.
func (x *entry) choice() string {
	s := ""
	if lacks := x.setup.Lacks(); lacks != "" {
		s += "; " + lacks
	}
	if slices.Contains(x.setup.Settings, "completion=on") {
		s += "; completion"
	}
	return s
}

func (x *entry) name() string {
	s := x.setup.Name()
	if x.setup.Views != nil {
		s += ", views " + lab.Numbers(x.setup.Views)
	}
	return s + strings.ReplaceAll(x.choice(), ";", ",")
}

//go:embed page.md.tmpl
var text string

// Page writes the section.
func (e *Experiment) Page(l *lab.Lab, made lab.Made) (string, []lab.Figure, error) {
	rows := [][]string{{"set", "views", "incomplete", "N", "classes", "K", "clusters", "ARI", "BCubed F", "pairwise F", "NMI", "seconds"}}
	var skipped lab.Reasons
	for i := range e.list {
		x := &e.list[i]
		records, reason := l.Of(x.setup, x.seeds)
		if records == nil {
			skipped.Add(reason, x.name())
			continue
		}
		views := "all"
		if x.setup.Views != nil {
			views = lab.Numbers(x.setup.Views)
		}
		s := records[0].Scores
		row := []string{
			lab.Text(x.setup.Name()), views + x.choice(), fmt.Sprintf("%.1f%%", 100*float64(records[0].Incomplete)/float64(s.Samples)),
			strconv.Itoa(s.Samples), strconv.Itoa(s.Classes), strconv.Itoa(x.k) + x.of,
		}
		for _, m := range []lab.Metric{lab.Clusters, lab.ARI, lab.BCubedF, lab.PairwiseF, lab.NMI, lab.Seconds} {
			decimals := 1
			if m == lab.Clusters && len(records) == 1 {
				decimals = 0
			}
			row = append(row, records.Of(m).Write(decimals))
		}
		rows = append(rows, row)
	}
	page, err := lab.Render(text, map[string]any{"Made": made, "Table": lab.Table(rows, 2), "Skipped": skipped.List("Skipped:", false)})
	return page, nil, err
}
