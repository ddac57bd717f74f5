// Package opponent has simple methods of clustering to hold results against: k-means, spectral
// clustering, Ward's and average linkage, which are told the number of clusters, and Leiden, which
// is not. None has a setting that depends on the data.
package opponent

import (
	"context"
	"math/rand/v2"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// The streams of random numbers of the methods.
const (
	meansStream = 110 + iota
	spectralStream
	leidenStream
)

// Descents of k-means: on many samples or values one takes long, and differs little from the next.
const (
	descents     = 10
	manySamples  = 5000
	manyValues   = 5_000_000
	fewDescents  = 3
	rowsOfABlock = 32
)

// restarts is the number of descents of k-means on rows.
func restarts(rows [][]float32) int {
	if len(rows) > manySamples || len(rows)*len(rows[0]) > manyValues {
		return fewDescents
	}
	return descents
}

// KMeans parts the samples into k clusters by the rows of all views side by side, each of
// unit length. A sample that lacks a view gets there the mean of the others' rows.
// The result is the same for any number of threads; 0 stands for all.
func KMeans(ctx context.Context, views []*view.View, k int, seed uint64, threads int) ([]int, error) {
	all, err := spaces(ctx, views, threads)
	if err != nil {
		return nil, err
	}
	rows := joined(all)
	found, err := Means(ctx, rows, k, restarts(rows), threads, stream(seed, meansStream))
	if err != nil {
		return nil, err
	}
	return found.Labels, nil
}

func stream(seed, which uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, which)) }

// spaces prepares the views for the cosine.
func spaces(ctx context.Context, views []*view.View, threads int) ([]*similarity.Space, error) {
	var all []*similarity.Space
	for _, v := range views {
		s, err := similarity.NewSpace(ctx, v, similarity.Cosine, nil, false, threads)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// joined returns the rows of all spaces side by side.
func joined(all []*similarity.Space) [][]float32 {
	rows := make([][]float32, all[0].Samples)
	for _, s := range all {
		typical, r := mean(s), 0
		for i := range rows {
			row := typical
			if s.Has(i) {
				row = s.Row(r)
				r++
			}
			rows[i] = append(rows[i], row...)
		}
	}
	return rows
}

// mean returns the mean row of a space.
func mean(s *similarity.Space) []float32 {
	sum := make([]float64, s.Dims)
	for r := range s.Count() {
		for c, x := range s.Row(r) {
			sum[c] += float64(x)
		}
	}
	row := make([]float32, s.Dims)
	for c, x := range sum {
		row[c] = float32(x / float64(s.Count()))
	}
	return row
}

// each calls do for every sample, in parallel; worker tells which scratch space is its.
func each(ctx context.Context, threads, samples int, do func(worker, i int)) error {
	return parallel.Blocks(ctx, threads, samples, rowsOfABlock, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			do(worker, i)
		}
	})
}
