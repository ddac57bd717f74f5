package system

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/opponent"
)

// Row is a row of a sparse matrix: the columns that are not 0, ascending, and their values.
type Row struct {
	Index []int32
	Value []float64
}

// Near is a sample and its squared distance.
type Near struct {
	Index    int32
	Distance float64
}

// Nearest returns, for every row of x, the k other rows that are nearest, the nearest first and
// the lower number first among equals; fewer where there are fewer.
func Nearest(x *mat.Dense, k int) [][]Near {
	n, _ := x.Dims()
	d := SquaredDistances(x)
	lists := make([][]Near, n)
	for i := range lists {
		all := make([]Near, 0, n-1)
		for j := range n {
			if j != i {
				all = append(all, Near{int32(j), d.At(i, j)})
			}
		}
		lists[i] = slices.Clone(First(all, k))
	}
	return lists
}

// First returns the k nearest of a list, in order, and reorders the list.
func First(all []Near, k int) []Near {
	k = min(k, len(all))
	if k == 0 {
		return nil
	}
	less := func(a, b Near) bool {
		return a.Distance < b.Distance || a.Distance == b.Distance && a.Index < b.Index
	}
	compare := func(a, b Near) int {
		if less(a, b) {
			return -1
		}
		return 1
	}
	top := all[:k]
	slices.SortFunc(top, compare)
	for _, x := range all[k:] {
		if less(x, top[k-1]) {
			at, _ := slices.BinarySearchFunc(top, x, compare)
			copy(top[at+1:], top[at:k-1])
			top[at] = x
		}
	}
	return top
}

// Same is the largest difference of distances that is none.
const Same = 1e-9

// Weights returns the similarities of a sample to its k nearest, of which the list has one more:
// those on the simplex by which sum_j d_j s_j + a |s|^2 is least, with a such that k are not 0.
//
//	s_j = (d_{k+1} - d_j) / (k d_{k+1} - sum_{l<=k} d_l)
//
// They are all 0 where all are as far, as they are from a missing row that was filled in: this says
// nothing.
func Weights(list []Near) []float64 {
	k := len(list) - 1
	far := list[k].Distance
	sum := 0.0
	for _, x := range list[:k] {
		sum += far - x.Distance
	}
	s := make([]float64, k)
	for j := range s {
		if sum > Same {
			s[j] = (far - list[j].Distance) / sum
		}
	}
	return s
}

// Components returns the connected component of each of n nodes, numbered from 0 by their first
// nodes, and their number. Row i links node i and its columns where the value is above 0.
func Components(n int, rows []Row) ([]int, int) {
	parent := make([]int, n)
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i, r := range rows {
		for at, j := range r.Index {
			if r.Value[at] > 0 {
				a, b := find(i), find(int(j))
				parent[max(a, b)] = min(a, b)
			}
		}
	}
	labels := make([]int, n)
	count := 0
	for i := range labels {
		if root := find(i); root == i {
			labels[i] = count
			count++
		} else {
			labels[i] = labels[root] // a root is the first node of its component
		}
	}
	return labels, count
}

// Symmetric returns (m + m') / 2 of a square matrix.
func Symmetric(m []Row) []Row {
	both := make([]Row, len(m))
	add := func(i int, j int32, x float64) {
		both[i].Index, both[i].Value = append(both[i].Index, j), append(both[i].Value, x)
	}
	for i, r := range m {
		for at, j := range r.Index {
			add(i, j, r.Value[at]/2)
			add(int(j), int32(i), r.Value[at]/2)
		}
	}
	for i := range both {
		both[i] = merged(both[i])
	}
	return both
}

// merged sorts a row and adds up what is in the same column.
func merged(r Row) Row {
	order := make([]int, len(r.Index))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(r.Index[a]) - int(r.Index[b]) })
	var out Row
	for _, at := range order {
		if last := len(out.Index) - 1; last >= 0 && out.Index[last] == r.Index[at] {
			out.Value[last] += r.Value[at]
		} else {
			out.Index, out.Value = append(out.Index, r.Index[at]), append(out.Value, r.Value[at])
		}
	}
	return out
}

// Smoothest returns the k lowest eigenvectors of the Laplacian D - s of a symmetric graph, in
// columns.
func Smoothest(ctx context.Context, s []Row, k int, random *rand.Rand) (*mat.Dense, error) {
	degree := make([]float64, len(s))
	for i, r := range s {
		for _, x := range r.Value {
			degree[i] += x
		}
	}
	// No eigenvalue is above twice the largest degree: the identity less the Laplacian over that
	// has them in [-1, 1].
	scale := 1 / max(slices.Max(degree), math.SmallestNonzeroFloat32)
	m := &opponent.Sparse{Index: make([][]int32, len(s)), Value: make([][]float64, len(s))}
	for i, r := range s {
		row := Row{append(slices.Clone(r.Index), int32(i)), append(slices.Clone(r.Value), 1/scale-degree[i])}
		row = merged(row)
		for at := range row.Value {
			row.Value[at] *= scale
		}
		m.Index[i], m.Value[i] = row.Index, row.Value
	}
	_, vectors, err := opponent.Leading(ctx, m, min(k, len(s)), 0, random)
	return vectors, err
}
