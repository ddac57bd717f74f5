// Package smsc is SMVSC, scalable multi-view subspace clustering with unified anchors, which the
// paper calls SMSC.
package smsc

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
)

// System describes it.
func System() system.System {
	return system.System{
		Name: "SMSC", Source: "Sun et al., Scalable multi-view subspace clustering with unified anchors, 2021",
		Told: true, Fills: true, Cluster: Cluster, Samples: 20_000,
		Default: system.Settings{"anchors": 1, "lambda": 1},
		Grid: system.Product(
			[]system.Settings{{"anchors": 1}, {"anchors": 2}, {"anchors": 3}},
			[]system.Settings{{"lambda": 0.01}, {"lambda": 1}, {"lambda": 100}}),
		Note: "anchors are counted in classes; as in the program of its authors, and other than in their paper, the step for Z does not weigh the views, without which its figures do not come out",
	}
}

// How long the rounds go on: at least so many, and until the objective falls by less than this
// share, at most so many.
const (
	fewest = 10
	most   = 50
	gain   = 1e-3
)

// Cluster writes the samples of all views, of which every feature has the mean 0 and the standard
// deviation 1, by common anchors A in as many dimensions as there are clusters. It minimises
//
//	sum_v a_v^2 |X_v - W_v A Z|^2 + l |Z|^2
//
// in turn, but for Z (see represent), where W_v has orthonormal columns, A orthonormal rows, and the columns of Z and a are on
// the simplex; k-means on the left singular vectors of Z' gives the clusters.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	s := newState(in)
	last := math.Inf(1)
	for round := 1; round <= most; round++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.project(); err != nil {
			return nil, err
		}
		if err := s.anchor(); err != nil {
			return nil, err
		}
		s.represent()
		s.weigh()
		now := s.objective()
		if round >= fewest && (math.Abs(last-now) < gain*last || now < 1e-10) {
			break
		}
		last = now
	}
	places, _, _, err := system.SVD(s.z.T())
	if err != nil {
		return nil, err
	}
	system.UnitRows(places)
	return system.KMeans(ctx, places, in.Clusters, in)
}

// state is where the optimisation stands.
type state struct {
	x      []*mat.Dense // by view, a row for each feature
	w      []*mat.Dense
	a, z   *mat.Dense
	weight []float64
	lambda float64
}

func newState(in *system.Input) *state {
	n, k := in.Samples(), in.Clusters
	m := min(n, k*max(1, int(in.Settings["anchors"])))
	s := &state{a: mat.NewDense(k, m, nil), z: mat.NewDense(m, n, nil), lambda: in.Settings["lambda"]}
	s.weight = slices.Repeat([]float64{1 / float64(len(in.Views))}, len(in.Views))
	for i := range m {
		s.z.Set(i, i, 1)
	}
	for _, v := range in.Views {
		x := mat.DenseCopyOf(system.Dense(v).T())
		system.StandardRows(x)
		s.x = append(s.x, x)
	}
	return s
}

// project sets W_v to U V' of the singular value decomposition of X_v (A Z)'. At first, where A is
// 0, it is the identity.
func (s *state) project() error {
	var az mat.Dense
	az.Mul(s.a, s.z)
	first := s.w == nil
	s.w = nil
	for _, x := range s.x {
		d, _ := x.Dims()
		k, _ := s.a.Dims()
		if first {
			w := mat.NewDense(d, k, nil)
			for i := range min(d, k) {
				w.Set(i, i, 1)
			}
			s.w = append(s.w, w)
			continue
		}
		var c mat.Dense
		c.Mul(x, az.T())
		w, err := system.Polar(&c)
		if err != nil {
			return err
		}
		s.w = append(s.w, w)
	}
	return nil
}

// anchor sets A to U V' of the singular value decomposition of sum_v a_v^2 W_v' X_v Z'.
func (s *state) anchor() error {
	k, m := s.a.Dims()
	sum := mat.NewDense(k, m, nil)
	for v, x := range s.x {
		var xz, part mat.Dense
		xz.Mul(x, s.z.T())
		part.Mul(s.w[v].T(), &xz)
		part.Scale(s.weight[v]*s.weight[v], &part)
		sum.Add(sum, &part)
	}
	a, err := system.Polar(sum)
	if err == nil {
		s.a = a
	}
	return err
}

// represent sets the columns of Z to the points of the simplex nearest to those of
//
//	sum_v (W_v A)' X_v / (sum_v a_v^2 + l)
//
// as the authors' program does. What minimises the objective weighs the views in the upper sum by
// a_v^2, too.
func (s *state) represent() {
	s.z.Zero()
	total := s.lambda
	for v, x := range s.x {
		total += s.weight[v] * s.weight[v]
		var wa, part mat.Dense
		wa.Mul(s.w[v], s.a)
		part.Mul(wa.T(), x)
		s.z.Add(s.z, &part)
	}
	m, n := s.z.Dims()
	column := make([]float64, m)
	for i := range n {
		mat.Col(column, i, s.z)
		floats.Scale(1/total, column)
		system.Simplex(column)
		s.z.SetCol(i, column)
	}
}

// weigh gives every view a weight in proportion to 1 / |X_v - W_v A Z|^2.
func (s *state) weigh() {
	for v := range s.x {
		s.weight[v] = 1 / max(s.miss(v), 1e-12)
	}
	floats.Scale(1/floats.Sum(s.weight), s.weight)
}

// miss is |X_v - W_v A Z|^2.
func (s *state) miss(v int) float64 {
	var az, d mat.Dense
	az.Mul(s.a, s.z)
	d.Mul(s.w[v], &az)
	d.Sub(s.x[v], &d)
	norm := mat.Norm(&d, 2)
	return norm * norm
}

func (s *state) objective() float64 {
	norm := mat.Norm(s.z, 2)
	sum := s.lambda * norm * norm
	for v := range s.x {
		sum += s.weight[v] * s.weight[v] * s.miss(v)
	}
	return sum
}
