package mvclust

import (
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/partition"
)

// Parameters describes the settings of the method, with pointers to their values in o: name,
// default, range, equation and meaning. Fit, the command's --param and help, run.json, the
// report and the docs are fed from it. Each stage describes its own.
func (o *Options) Parameters() []option.Parameter {
	return slices.Concat(
		o.parameters(),
		option.Join("Search", o.Search.Parameters()),
		option.Join("Learning", o.Learning.Parameters()),
		option.Join("Posterior", o.Posterior.Parameters()),
		option.Join("Refinement", o.Refinement.Parameters()),
		option.Join("Partition", o.Partition.Parameters()),
	)
}

// parameters describes the settings that are no stage's own.
func (o *Options) parameters() []option.Parameter {
	return []option.Parameter{
		{
			Field: "Scale", Name: "scale", Value: option.OneOf(&o.Scale),
			Equation: "not in the paper",
			Meaning:  "minmax maps every feature of a view to [0, 1]; mixed joins three versions of a row: as it is, under minmax, and with features of equal variance; the automatic preset takes mixed for none where the metric is cosine",
		},
		{
			Field: "Local", Name: "local", Value: option.On(&o.Local), PaperOnly: true,
			Equation: "not in the paper",
			Meaning:  "scales a similarity by how far both samples are from their neighbours; the automatic preset always does",
		},
		{
			Field: "Candidates", Name: "candidates", Value: option.WholeOrAuto(&o.Candidates, 0, 1, math.MaxInt32),
			Equation: "Eq. f_function",
			Meaning:  "nearest neighbours per view that are looked at, at least K; auto is 960 divided by the number of views, from 20 to 80, or to 40 from 30,000 samples on, under the automatic preset, and 8 K divided by it, from K to 4 K, under paper",
		},
		partition.ResolutionParameter(&o.Resolution),
	}
}
