package mvclust

import (
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/model"
)

// NewModel returns what Fit found in views as a model, which can be written to a file and
// be asked later. ids holds the samples' own names; nil stands for their numbers. The
// model shares the views and the result.
//
// A model needs the views' rows. Where Options.Consume let go of them, the model can be
// written by a model.Writer that was given them before Fit, and serves nothing else.
func NewModel(views []*View, r *Result, ids []string) *model.Model {
	m := &model.Model{
		IDs: ids,
		// The curve and the settings of learning are of no use later.
		Probability:    &probability.Model{Functions: r.Model.Functions, Cross: r.Model.Cross, BaseRate: r.Model.BaseRate},
		Graph:          r.Graph,
		Neighbourhoods: r.Neighbourhoods,
		Labels:         r.Labels,
		Confidence:     r.Confidence,
		Constraints:    r.Options.Constraints,
		Settings: model.Settings{
			Neighbours: r.Options.Neighbours, Candidates: r.Options.Candidates,
			Posterior: r.Options.Posterior, Refinement: r.Options.Refinement, Partition: r.Options.Partition,
			Seed: r.Options.Seed,
		},
	}
	if tried := r.Trace.Tried; len(tried) > 1 && tried[0].Neighbours != tried[len(tried)-1].Neighbours && tried[0].Resolution != tried[1].Resolution {
		m.Settings.Chosen = len(r.Labels)
	}
	for i, v := range views {
		m.Views = append(m.Views, model.View{
			Rows: v, Metric: r.Options.Metrics[i], Scaler: r.Scalers[i], Roots: r.Roots[i],
			LeftOut: r.Trace.Agreement != nil && r.Trace.Agreement.LeftOut[i],
		})
	}
	return m
}
