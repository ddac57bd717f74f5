// Package eeimc is Efficient and Effective Incomplete Multi-view Clustering.
package eeimc

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/latefusion"
	"github.com/mvclust/mvclust/experiments/compare/system"
)

// System describes the method.
func System() system.System {
	return system.System{
		Name: "EEIMC", Told: true,
		Source:  "Liu, Li, Tang, Xia, Xiong, Liu, Kloft and Zhu, Efficient and effective regularized incomplete multi-view clustering, 2020", //nolint:misspell // the title
		Note:    "its authors start from kernels of others' making; here they are cosines, or in the grid Gaussian: width is in mean squared distances, 0 for cosines",
		Default: system.Settings{"lambda": 1, "width": 0},
		Grid:    system.Product([]system.Settings{{"width": 0}, {"width": 0.2}, {"width": 1}}, []system.Settings{{"lambda": 1.0 / 64}, {"lambda": 1}, {"lambda": 8}, {"lambda": 64}}),
		Cluster: Cluster,
	}
}

// OnProbabilities is the method with the probabilities of SLS-MPC in the place of the kernels.
func OnProbabilities() system.System {
	s := System()
	s.Name = "EEIMC with SLS-MPC"
	s.Note = "the one kernel are the probabilities that SLS-MPC gives pairs, so that lambda makes no difference"
	s.Default, s.Grid, s.Cluster = nil, nil, onProbabilities
	return s
}

// Cluster parts the samples into the given number of clusters: it aligns the base partitions H_v of
// the views, which are the leading eigenvectors of their kernels, with one partition H, and fills in
// the rows of samples that lack a view. It maximises
//
//	trace(H' (sum_v b_v H_v W_v + lambda H_0))
//
// over H with orthonormal columns, rotations W_v, orthonormal missing rows of H_v, and weights b_v
// whose squares have the sum 1, where H_0 holds the leading eigenvectors of the sum of the kernels.
// The rows of H, at unit length, go to k-means. It is the method of
//
//	Liu, Li, Tang, Xia, Xiong, Liu, Kloft and Zhu, in IEEE Transactions on Pattern Analysis and
//	Machine Intelligence, 2020.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	return cluster(ctx, in, latefusion.Kernels(in.Views, in.Settings["width"]), in.Settings["lambda"])
}

func onProbabilities(ctx context.Context, in *system.Input) ([]int, error) {
	p, err := in.Probabilities(ctx)
	if err != nil {
		return nil, err
	}
	same := mat.NewSymDense(p.SymmetricDim(), nil) // kernels are centred in place
	same.CopySym(p)
	return cluster(ctx, in, []latefusion.Kernel{latefusion.Whole(same)}, 1)
}

func cluster(ctx context.Context, in *system.Input, kernels []latefusion.Kernel, lambda float64) ([]int, error) {
	s, err := latefusion.Start(ctx, kernels, in.Samples(), in.Clusters)
	if err != nil {
		return nil, err
	}
	h, _, err := fuse(ctx, s, lambda)
	if err != nil {
		return nil, err
	}
	system.UnitRows(h)
	return system.KMeans(ctx, h, in.Clusters, in)
}

// fuse returns H, and the objective after every round.
func fuse(ctx context.Context, s *latefusion.State, lambda float64) (h *mat.Dense, objective []float64, err error) {
	for sum := s.Sum(lambda); ; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if h, err = system.Polar(sum); err != nil {
			return nil, nil, err
		}
		if err := s.Align(h); err != nil {
			return nil, nil, err
		}
		sum = s.Sum(lambda)
		objective = append(objective, system.Inner(h, sum))
		if latefusion.Done(objective) {
			return h, objective, nil
		}
	}
}
