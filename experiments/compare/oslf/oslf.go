// Package oslf is One-Stage incomplete multi-view clustering via Late Fusion.
package oslf

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/latefusion"
	"github.com/mvclust/mvclust/experiments/compare/system"
)

// System describes the method.
func System() system.System {
	return system.System{
		Name: "OSLF", Source: "Zhang, Liu, Wang, Liu, Dai and Zhu, One-stage incomplete multi-view clustering via late fusion, 2021", Told: true,
		Note:    "its authors start from kernels of others' making; here they are cosines, or in the grid Gaussian: width is in mean squared distances, 0 for cosines; the first C is the orthonormal matrix nearest to the centres that k-means finds, where they take any basis of what these span",
		Default: system.Settings{"lambda": 1, "width": 0},
		Grid:    system.Product([]system.Settings{{"width": 0}, {"width": 0.2}, {"width": 1}}, []system.Settings{{"lambda": 1.0 / 64}, {"lambda": 1}, {"lambda": 8}, {"lambda": 64}}),
		Cluster: Cluster,
	}
}

// Cluster parts the samples into the given number of clusters: as EEIMC, but H is Y C, where the
// rows of Y say of which cluster a sample is. It maximises
//
//	trace((Y C)' (sum_v b_v H_v W_v + lambda H_0))
//
// over Y with a single 1 in each row, rotations C and W_v, orthonormal missing rows of the base
// partitions H_v, and weights b_v whose squares have the sum 1, after
//
//	Zhang, Liu, Wang, Liu, Dai and Zhu, "One-stage incomplete multi-view clustering via late
//	fusion", 2021.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	s, err := latefusion.Start(ctx, latefusion.Kernels(in.Views, in.Settings["width"]), in.Samples(), in.Clusters)
	if err != nil {
		return nil, err
	}
	turn, err := centres(ctx, s, in)
	if err != nil {
		return nil, err
	}
	labels, _, err := fuse(ctx, s, turn, in.Settings["lambda"])
	return labels, err
}

// centres returns the first C, from the clusters of the rows of H_0.
func centres(ctx context.Context, s *latefusion.State, in *system.Input) (*mat.Dense, error) {
	rows := mat.DenseCopyOf(s.Common)
	system.UnitRows(rows)
	labels, err := system.KMeans(ctx, rows, in.Clusters, in)
	if err != nil {
		return nil, err
	}
	sum := mat.NewDense(in.Clusters, in.Clusters, nil)
	for i, l := range labels {
		floats.Add(sum.RawRowView(l), rows.RawRowView(i))
	}
	system.UnitRows(sum)
	return system.Polar(sum)
}

// fuse returns the clusters, and the objective after every round.
func fuse(ctx context.Context, s *latefusion.State, turn *mat.Dense, lambda float64) (labels []int, objective []float64, err error) {
	n, k := s.Common.Dims()
	labels = make([]int, n)
	h := mat.NewDense(n, k, nil)
	for sum := s.Sum(lambda); ; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		var fit mat.Dense
		fit.Mul(sum, turn.T())
		total := mat.NewDense(k, k, nil) // Y' times the sum
		for i := range labels {
			labels[i] = floats.MaxIdx(fit.RawRowView(i))
			floats.Add(total.RawRowView(labels[i]), sum.RawRowView(i))
		}
		if turn, err = system.Polar(total); err != nil {
			return nil, nil, err
		}
		for i, l := range labels {
			h.SetRow(i, turn.RawRowView(l))
		}
		if err := s.Align(h); err != nil {
			return nil, nil, err
		}
		sum = s.Sum(lambda)
		objective = append(objective, system.Inner(h, sum))
		if latefusion.Done(objective) {
			return labels, objective, nil
		}
	}
}
