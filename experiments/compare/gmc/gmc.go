// Package gmc is GMC, graph-based multi-view clustering.
package gmc

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
)

// System describes it.
func System() system.System {
	return system.System{
		Name: "GMC", Source: "Wang, Yang and Liu, GMC: graph-based multi-view clustering, 2020",
		Told: true, Fills: true, Cluster: Cluster, Steady: true,
		Default: system.Settings{"neighbours": 15},
		Grid:    []system.Settings{{"neighbours": 5}, {"neighbours": 10}, {"neighbours": 20}, {"neighbours": 30}},
		Note:    "the number of parts of its graph is counted, where its authors count eigenvalues of at most 1e-10",
	}
}

// rounds bounds the rounds.
const rounds = 20

// Cluster learns a graph S_v of each view and a graph U of all, whose rows are on the simplex, such
// that U has as many parts as there are clusters, which are the result. It minimises
//
//	sum_v [ sum_ij |x_i - x_j|^2 S_v,ij + a |S_v|^2 + w_v |U - S_v|^2 ] + 2 l trace(F' L_U F)
//
// in turn, where F has orthonormal columns, L_U is the Laplacian of U, w_v is 1 / (2 |U - S_v|),
// and l is doubled while U has too few parts, and halved while it has too many.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	s := newState(in)
	var err error
	if s.f, err = system.Smoothest(ctx, system.Symmetric(s.unified), in.Clusters, s.random); err != nil {
		return nil, err
	}
	var labels []int
	for range rounds {
		for v := range s.near {
			s.similarities(v)
		}
		s.weigh()
		s.unify()
		both := system.Symmetric(s.unified)
		f, err := system.Smoothest(ctx, both, in.Clusters, s.random)
		if err != nil {
			return nil, err
		}
		var parts int
		if labels, parts = system.Components(len(both), both); parts == in.Clusters {
			break
		}
		if parts < in.Clusters {
			s.lambda *= 2
			s.f = f
		} else {
			s.lambda /= 2 // and F stays as it was
		}
	}
	return labels, nil
}

// state is where the optimisation stands.
type state struct {
	near    [][][]system.Near // by view and sample, those that it may be similar to and one more
	graph   [][]system.Row    // S_v
	unified []system.Row      // U
	weight  []float64
	lambda  float64
	f       *mat.Dense
	random  *rand.Rand
}

func newState(in *system.Input) *state {
	n, views := in.Samples(), len(in.Views)
	k := max(1, min(int(in.Settings["neighbours"]), n-2))
	s := &state{lambda: 1, weight: slices.Repeat([]float64{1 / float64(views)}, views), unified: make([]system.Row, n), random: in.Random()}
	for _, v := range in.Views {
		x := system.Dense(v)
		system.StandardRows(x)
		near := system.Nearest(x, k+1)
		rows := make([]system.Row, n)
		for i := range rows {
			rows[i] = sorted(near[i][:len(near[i])-1], system.Weights(near[i]))
		}
		s.near, s.graph = append(s.near, near), append(s.graph, rows)
	}
	for i := range n {
		total := make(map[int32]float64)
		all := 0.0
		for v := range views {
			for at, j := range s.graph[v][i].Index {
				total[j] += s.graph[v][i].Value[at]
				all += s.graph[v][i].Value[at]
			}
		}
		for _, j := range s.support(i) {
			s.unified[i].Index, s.unified[i].Value = append(s.unified[i].Index, j), append(s.unified[i].Value, total[j]/all)
		}
	}
	return s
}

// sorted makes a row of neighbours and their weights.
func sorted(list []system.Near, weights []float64) system.Row {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(list[a].Index) - int(list[b].Index) })
	var r system.Row
	for _, at := range order {
		r.Index, r.Value = append(r.Index, list[at].Index), append(r.Value, weights[at])
	}
	return r
}

// support are the samples that sample i is similar to in any view.
func (s *state) support(i int) []int32 {
	var all []int32
	for _, rows := range s.graph {
		for at, j := range rows[i].Index {
			if rows[i].Value[at] > 0 {
				all = append(all, j)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// similarities learns the graph of a view from its distances and U: for each sample
//
//	s_j = max(0, (d_{k+1} - d_j + 2 w (u_j - u_{k+1})) / sum_{l<=k} (d_{k+1} - d_l + 2 w (u_l - u_{k+1})))
//
// or all 0 where the sum is.
func (s *state) similarities(v int) {
	u := make([]float64, len(s.unified))
	for i, near := range s.near[v] {
		row := s.unified[i]
		for at, j := range row.Index {
			u[j] = row.Value[at]
		}
		last := near[len(near)-1]
		gain := make([]float64, len(near)-1)
		for l := range gain {
			gain[l] = last.Distance - near[l].Distance + 2*s.weight[v]*(u[near[l].Index]-u[last.Index])
		}
		sum := floats.Sum(gain)
		for l := range gain {
			if gain[l] = max(0, gain[l]/sum); math.Abs(sum) <= system.Same {
				gain[l] = 0
			}
		}
		s.graph[v][i] = sorted(near[:len(gain)], gain)
		for _, j := range row.Index {
			u[j] = 0
		}
	}
}

// weigh gives every view the weight 1 / (2 |U - S_v|).
func (s *state) weigh() {
	for v := range s.graph {
		s.weight[v] = 0.5 / math.Sqrt(max(s.distance(v), 1e-16))
	}
}

// distance is |U - S_v|^2.
func (s *state) distance(v int) float64 {
	sum := 0.0
	u := make([]float64, len(s.unified))
	for i, row := range s.unified {
		for at, j := range row.Index {
			u[j] = row.Value[at]
		}
		own := s.graph[v][i]
		for at, j := range own.Index {
			sum += (u[j] - own.Value[at]) * (u[j] - own.Value[at])
			u[j] = 0
		}
		for _, j := range row.Index {
			sum += u[j] * u[j]
			u[j] = 0
		}
	}
	return sum
}

// pull is what the distance of two places in F weighs, against |U - S_v|^2.
func (s *state) pull() float64 {
	sum := 0.0
	for _, w := range s.weight {
		sum += 1 / w
	}
	views := float64(len(s.weight))
	return s.lambda * sum / (views * views)
}

// unify learns U: row i is the point of the simplex nearest to the mean over the views of
// S_v,i - l / (2 V w_v) |f_i - f_j|^2, over those that i is similar to in a view.
func (s *state) unify() {
	pull := s.pull()
	scratch := make([]float64, len(s.unified))
	for i := range s.unified {
		support := s.support(i)
		for _, rows := range s.graph {
			for at, j := range rows[i].Index {
				scratch[j] += rows[i].Value[at] / float64(len(s.graph))
			}
		}
		row := make([]float64, len(support))
		for at, j := range support {
			d := floats.Distance(s.f.RawRowView(i), s.f.RawRowView(int(j)), 2)
			row[at] = scratch[j] - pull/2*d*d
		}
		system.Simplex(row)
		for _, rows := range s.graph {
			for _, j := range rows[i].Index {
				scratch[j] = 0
			}
		}
		s.unified[i] = system.Row{Index: support, Value: row}
	}
}

// objective is what unify and the eigenvectors minimise in turn while the graphs, the weights and
// l stay: the mean of |U - S_v|^2, and the pull times sum_ij U_ij |f_i - f_j|^2.
func (s *state) objective() float64 {
	sum := 0.0
	for v := range s.graph {
		sum += s.distance(v) / float64(len(s.graph))
	}
	for i, row := range s.unified {
		for at, j := range row.Index {
			d := floats.Distance(s.f.RawRowView(i), s.f.RawRowView(int(j)), 2)
			sum += s.pull() * row.Value[at] * d * d
		}
	}
	return sum
}
