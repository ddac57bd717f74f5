// Package simple has the methods that everyone knows: k-means, spectral clustering and linkage,
// as package opponent has them. They compare samples by the cosine, over the views that two have in
// common; only k-means fills missing rows by the mean.
package simple

import (
	"context"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
)

// Systems lists them.
func Systems() []system.System {
	return []system.System{
		{Name: "k-means", Source: "Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, 2007", Told: true, Samples: opponent.MostSamples, Fills: true, Cluster: means},
		{Name: "spectral", Source: "Ng, Jordan and Weiss, On spectral clustering: analysis and an algorithm, 2001", Told: true, Samples: opponent.MostSamples, Cluster: spectral},
		{Name: "Ward", Source: "Ward, Hierarchical grouping to optimize an objective function, 1963", Told: true, Samples: opponent.MostSamples, Cluster: ward, Steady: true}, //nolint:misspell // the title
		{Name: "average linkage", Source: "Sokal and Michener, A statistical method for evaluating systematic relationships, 1958", Told: true, Samples: opponent.MostSamples, Cluster: average, Steady: true},
	}
}

func means(ctx context.Context, in *system.Input) ([]int, error) {
	return opponent.KMeans(ctx, in.Views, in.Clusters, in.Seed, 0)
}

func spectral(ctx context.Context, in *system.Input) ([]int, error) {
	a, err := opponent.Measure(ctx, in.Views, 0)
	if err != nil {
		return nil, err
	}
	return a.Spectral(ctx, in.Clusters, in.Seed, 0)
}

func ward(ctx context.Context, in *system.Input) ([]int, error) {
	a, err := opponent.Measure(ctx, in.Views, 0)
	if err != nil {
		return nil, err
	}
	return a.Ward(ctx, in.Clusters)
}

func average(ctx context.Context, in *system.Input) ([]int, error) {
	a, err := opponent.Measure(ctx, in.Views, 0)
	if err != nil {
		return nil, err
	}
	return a.Average(ctx, in.Clusters)
}
