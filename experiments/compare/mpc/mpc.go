// Package mpc is Multi-view Probabilistic Clustering, the predecessor of SLS-MPC.
package mpc

import (
	"context"
	"math"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/method/posterior"
)

// System describes the method.
func System() system.System {
	return system.System{
		Name: "MPC", Source: "Liu et al., MPC: multi-view probabilistic clustering, 2022", Told: true, Samples: math.MaxInt,
		Note: "its authors have published no program: this is what the paper says of it, with the search for neighbours and the refinement of SLS-MPC; " +
			"the number of neighbours is the given share of the mean size of the classes",
		Default: system.Settings{"share": 1},
		Grid:    []system.Settings{{"share": 0.5}, {"share": 0.7}, {"share": 0.85}, {"share": 1.5}},
		Cluster: Cluster,
	}
}

// Cluster parts the samples into clusters whose number it finds itself; the true one only makes
// the pseudo labels. In every view, k-means clusters the samples, and isotonic regression turns the
// share of pairs within a cluster, by similarity, into a function f_v from similarity to probability.
// The probability of a pair is
//
//	f_1 prod_v f_v / b_v / (f_1 prod_v f_v / b_v + (1 - f_1) prod_v (1 - f_v) / (1 - b_v))
//
// over the views v that both samples have, without the first of these, where b_v is the share of pairs
// within a cluster. Samples then move, on the refined graph of these probabilities, to the cluster where
// the sum of log(p / (1 - p)) over its pairs is highest, until none gains. It is the method of
//
//	Liu et al., "MPC: multi-view probabilistic clustering", 2022.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	opt, err := options(ctx, in)
	if err != nil {
		return nil, err
	}
	result, err := mvclust.Fit(ctx, in.Views, opt)
	if err != nil {
		return nil, err
	}
	return result.Labels, nil
}

func options(ctx context.Context, in *system.Input) (mvclust.Options, error) {
	n := in.Samples()
	size := math.Round(in.Settings["share"] * float64(n) / float64(in.Clusters))
	opt := mvclust.Options{
		Preset: mvclust.Paper, Seed: in.Seed,
		Neighbours: max(1, min(int(size), n/4)),
		Posterior:  posterior.Settings{Fusion: posterior.Asymmetric},
	}
	var err error
	opt.Learner, err = lab.PseudoLearner(ctx, in.Views, in.Clusters, opt)
	return opt, err
}
