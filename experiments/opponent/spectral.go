package opponent

import (
	"context"
	"math"
	"slices"
)

// spectralNeighbours is the number of neighbours of the graph that Spectral cuts.
const spectralNeighbours = 15

// Spectral parts the samples into k clusters by the normalised Laplacian of a graph: that
// of the 15 nearest neighbours by the mean cosine over the views that both samples have,
// an edge weighing 1 where each is one of the other's and a half where one is. The k
// leading eigenvectors place every sample; its place, scaled to unit length, goes to
// k-means, after
//
//	Ng, Jordan and Weiss, "On spectral clustering: analysis and an algorithm", 2001.
//
// The result is the same for any number of threads; 0 stands for all.
func (a *Alike) Spectral(ctx context.Context, k int, seed uint64, threads int) ([]int, error) {
	lists := a.nearest(spectralNeighbours)
	random := stream(seed, spectralStream)
	_, places, err := Leading(ctx, laplacian(lists), k, threads, random)
	if err != nil {
		return nil, err
	}
	rows := make([][]float32, len(lists))
	for i := range rows {
		rows[i] = unit(places.RawRowView(i))
	}
	found, err := Means(ctx, rows, k, restarts(rows), threads, random)
	if err != nil {
		return nil, err
	}
	return found.Labels, nil
}

// unit returns a row at unit length; one of nothing but zeros stays as it is.
func unit(row []float64) []float32 {
	sum := 0.0
	for _, x := range row {
		sum += x * x
	}
	scale := 0.0
	if sum > 0 {
		scale = 1 / math.Sqrt(sum)
	}
	short := make([]float32, len(row))
	for c, x := range row {
		short[c] = float32(x * scale)
	}
	return short
}

// Sparse is a symmetric matrix by its rows: the columns that are not 0, and their values.
type Sparse struct {
	Index [][]int32
	Value [][]float64
}

// laplacian returns D^-1/2 W D^-1/2, the identity less the normalised Laplacian, of the
// graph of the lists, which ascend. Its eigenvalues lie in [-1, 1].
func laplacian(lists [][]int32) *Sparse {
	s := &Sparse{Index: mutual(lists), Value: make([][]float64, len(lists))}
	root := make([]float64, len(lists)) // of a sample's weight
	for i, list := range s.Index {
		s.Value[i] = make([]float64, len(list))
		for at, j := range list {
			s.Value[i][at] = (holds(lists[i], j) + holds(lists[j], int32(i))) / 2
			root[i] += s.Value[i][at]
		}
		root[i] = math.Sqrt(root[i])
	}
	for i, list := range s.Index {
		for at, j := range list {
			s.Value[i][at] /= root[i] * root[j]
		}
	}
	return s
}

// holds returns 1 where an ascending list holds j, and else 0.
func holds(list []int32, j int32) float64 {
	if _, found := slices.BinarySearch(list, j); found {
		return 1
	}
	return 0
}
