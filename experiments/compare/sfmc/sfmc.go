// Package sfmc is SFMC, scalable and parameter-free graph fusion.
package sfmc

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
	var grid []system.Settings
	for _, share := range []float64{0.1, 0.2, 0.3, 0.5, 0.7, 1} {
		grid = append(grid, system.Settings{"anchors": share})
	}
	return system.System{
		Name: "SFMC", Source: "Li, Zhang, Wang and Nie, Multiview clustering: a scalable and parameter-free bipartite graph fusion method, 2022",
		Told: true, Fills: true, Cluster: Cluster, Steady: true,
		Default: system.Settings{"anchors": 0.5}, Grid: grid,
		Note: "anchors are a share of the samples; the number of parts of its graph is counted, where its authors count eigenvalues; their program fails where fused graphs have too many parts from the start: here the weights of the views are then no longer changed, or these parts are the result where they are so at first",
	}
}

const (
	neighbours = 10   // anchors of a sample
	fusions    = 10   // rounds of the weights of the views
	same       = 1e-4 // a change of the weights that is none
)

// Cluster learns a graph P between samples and anchors, whose rows are on the simplex, that has as
// many parts as there are clusters, which are the result. It minimises
//
//	|sum_v a_v B_v - P|^2
//
// in turn for P (see parts) and for the weights a of the views, which are on the simplex. B_v has
// the similarities of every sample to the 10 nearest anchors in a view. The anchors are samples.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	graphs := bipartite(in)
	weights := slices.Repeat([]float64{1 / float64(len(graphs))}, len(graphs))
	var labels []int
	for round := 0; ; round++ {
		p := newParts(fuse(graphs, weights), in)
		if _, count := p.components(); count > in.Clusters && round > 0 {
			return labels, nil
		}
		var err error
		if labels, err = p.find(ctx, in.Clusters); err != nil || round == fusions {
			return labels, err
		}
		next := weigh(graphs, p.graph)
		if floats.Distance(next, weights, 2) < same {
			return labels, nil
		}
		weights = next
	}
}

// bipartite returns the graph of each view: a row for each sample, a column for each anchor. A
// sample that is as far from all near anchors in every view, as from many rows that were filled in,
// is as similar to these.
func bipartite(in *system.Input) [][]system.Row {
	n := in.Samples()
	m := max(2, min(n, int(in.Settings["anchors"]*float64(n))))
	var views []*mat.Dense
	for _, v := range in.Views {
		x := system.Dense(v)
		if most := mat.Max(x); most != 0 {
			x.Scale(1/most, x)
		}
		views = append(views, x)
	}
	anchors := anchors(views, m)
	var graphs, lost [][]system.Row // lost are those of equal weights
	for _, x := range views {
		rows, equal := make([]system.Row, n), make([]system.Row, n)
		for i := range rows {
			all := make([]system.Near, m)
			for a, sample := range anchors {
				d := floats.Distance(x.RawRowView(i), x.RawRowView(sample), 2)
				all[a] = system.Near{Index: int32(a), Distance: d * d}
			}
			near := system.First(all, min(neighbours+1, m))
			k := len(near) - 1
			rows[i] = row(near[:k], system.Weights(near))
			equal[i] = row(near[:k], slices.Repeat([]float64{1 / float64(k)}, k))
		}
		graphs, lost = append(graphs, rows), append(lost, equal)
	}
	for i := range n {
		if !slices.ContainsFunc(graphs, func(rows []system.Row) bool { return rows[i].Index != nil }) {
			for v := range graphs {
				graphs[v][i] = lost[v][i]
			}
		}
	}
	return graphs
}

// row makes a row of anchors and their weights, without those of 0.
func row(list []system.Near, weights []float64) system.Row {
	var r system.Row
	for _, at := range order(len(list), func(a, b int) int { return int(list[a].Index - list[b].Index) }) {
		if weights[at] > 0 {
			r.Index, r.Value = append(r.Index, list[at].Index), append(r.Value, weights[at])
		}
	}
	return r
}

func order(n int, compare func(a, b int) int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, compare)
	return list
}

// anchors chooses m samples, in ascending order: first that of the largest sum of features, each
// less its minimum; and again that of the largest score, which becomes s (1 - s) after each choice,
// scaled to at most 1.
func anchors(views []*mat.Dense, m int) []int {
	n, _ := views[0].Dims()
	score := make([]float64, n)
	for _, x := range views {
		_, d := x.Dims()
		low := slices.Clone(x.RawRowView(0))
		for i := range n {
			for c, value := range x.RawRowView(i) {
				low[c] = min(low[c], value)
			}
		}
		for i := range n {
			for c := range d {
				score[i] += x.At(i, c) - low[c]
			}
		}
	}
	chosen := make(map[int]bool)
	for len(chosen) < m {
		if most := slices.Max(score); most > 0 {
			floats.Scale(1/most, score)
		}
		best := -1
		for i, s := range score {
			if !chosen[i] && (best < 0 || s > score[best]) {
				best = i
			}
		}
		chosen[best] = true
		for i, s := range score {
			score[i] = s * (1 - s)
		}
	}
	var list []int
	for i := range n {
		if chosen[i] {
			list = append(list, i)
		}
	}
	return list
}

// fuse returns the sum of the graphs times their weights, without what is 0.
func fuse(graphs [][]system.Row, weights []float64) []system.Row {
	fused := make([]system.Row, len(graphs[0]))
	for i := range fused {
		sum := make(map[int32]float64)
		for v, rows := range graphs {
			for at, j := range rows[i].Index {
				if x := weights[v] * rows[i].Value[at]; x > 0 {
					sum[j] += x
				}
			}
		}
		for _, j := range sortedKeys(sum) {
			fused[i].Index, fused[i].Value = append(fused[i].Index, j), append(fused[i].Value, sum[j])
		}
	}
	return fused
}

func sortedKeys(m map[int32]float64) []int32 {
	list := make([]int32, 0, len(m))
	for j := range m {
		list = append(list, j)
	}
	slices.Sort(list)
	return list
}

// product is the sum of the products of the entries of two graphs.
func product(a, b []system.Row) float64 {
	sum := 0.0
	for i, r := range a {
		at := 0
		for k, j := range b[i].Index {
			for at < len(r.Index) && r.Index[at] < j {
				at++
			}
			if at < len(r.Index) && r.Index[at] == j {
				sum += r.Value[at] * b[i].Value[k]
			}
		}
	}
	return sum
}

// weigh returns the weights on the simplex by which |sum_v a_v B_v - P|^2 is least, by projected
// gradients.
func weigh(graphs [][]system.Row, p []system.Row) []float64 {
	k := len(graphs)
	gram, to := mat.NewSymDense(k, nil), make([]float64, k)
	trace := 0.0
	for v, g := range graphs {
		to[v] = product(g, p)
		for w := v; w < k; w++ {
			gram.SetSym(v, w, product(g, graphs[w]))
		}
		trace += gram.At(v, v)
	}
	weights := slices.Repeat([]float64{1 / float64(k)}, k)
	for range 2000 {
		next := slices.Clone(weights)
		for v := range k {
			gradient := -to[v]
			for w, a := range weights {
				gradient += gram.At(v, w) * a
			}
			next[v] -= gradient / max(trace, math.SmallestNonzeroFloat32)
		}
		system.Simplex(next)
		if floats.Distance(next, weights, math.Inf(1)) < 1e-12 {
			break
		}
		weights = next
	}
	return weights
}
