// Package param lists the settings of the method that "mvclust fit --param" gives. The
// parser, the help, run.json, the report and the table in docs/method.md come from it.
package param

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/suggest"
)

// List returns the settings by stage, with their values in o. Each stage describes its own.
func List(o *mvclust.Options) []option.Parameter {
	return slices.Concat(
		whole(o),
		option.Join("Search", o.Search.Parameters()),
		option.Join("Learning", o.Learning.Parameters()),
		option.Join("Posterior", o.Posterior.Parameters()),
		option.Join("Refinement", o.Refinement.Parameters()),
		option.Join("Partition", o.Partition.Parameters()),
	)
}

// whole describes the settings that are no stage's own.
func whole(o *mvclust.Options) []option.Parameter {
	return []option.Parameter{
		{
			Field: "Scale", Name: "scale", Value: option.OneOf(&o.Scale),
			Equation: "not in the paper",
			Meaning:  "minmax maps every feature of a view to [0, 1]; mixed joins three readings of a row: as it is, under minmax, and with features of equal variance; the automatic preset takes mixed for none where the metric is cosine",
		},
		{
			Field: "Local", Name: "local", Value: option.On(&o.Local), PaperOnly: true,
			Equation: "not in the paper",
			Meaning:  "scales a similarity by how far both samples are from their neighbours; the automatic preset always does",
		},
		{
			Field: "Candidates", Name: "candidates", Value: option.WholeOrAuto(&o.Candidates, 0, 1, math.MaxInt32),
			Equation: "Eq. f_function",
			Meaning:  "nearest neighbours per view that are looked at, at least K; auto is 960 divided by the number of views, from 20 to 80, under the automatic preset, and 8 K divided by it, from K to 4 K, under paper",
		},
	}
}

// Apply sets what an assignment "NAME=VALUE" says. The error names the assignment
// as one of --param.
func Apply(o *mvclust.Options, assignment string) error {
	name, given, ok := strings.Cut(assignment, "=")
	if !ok {
		return fmt.Errorf("--param %s: the value is missing; write NAME=VALUE, such as epochs=500", assignment)
	}
	var names []string
	for _, p := range List(o) {
		if p.Name != name {
			names = append(names, p.Name)
			continue
		}
		if !p.Value.Set(given) {
			return fmt.Errorf("--param %s: %q cannot be used; give %s", name, given, p.Value.Allowed())
		}
		if p.PaperOnly && o.Preset != mvclust.Paper {
			return fmt.Errorf("--param %s: the automatic preset decides this by itself; leave it out, or add --preset paper", name)
		}
		return nil
	}
	return fmt.Errorf("--param %s: there is no such setting%s; see mvclust fit --help", name, suggest.Among(name, names))
}

// Help describes every setting, two lines for each.
func Help() string {
	var b strings.Builder
	for _, p := range List(new(mvclust.Options)) {
		fmt.Fprintf(&b, "  %-33s %s; %s\n      %s\n", p.Name+"="+p.Value.Default(), p.Value.Allowed(), p.Equation, p.Meaning)
	}
	return b.String()
}
