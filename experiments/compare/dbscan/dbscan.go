// Package dbscan is DBSCAN.
package dbscan

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
)

// System describes it.
func System() system.System {
	var shares []system.Settings
	for _, x := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
		shares = append(shares, system.Settings{"share": x})
	}
	return system.System{
		Name: "DBSCAN", Source: "Ester, Kriegel, Sander and Xu, A density-based algorithm for discovering clusters, 1996",
		Cluster: Cluster, Steady: true, Samples: opponent.MostSamples,
		Default: system.Settings{"points": 4, "share": 0},
		Grid:    system.Product([]system.Settings{{"points": 4}, {"points": 10}}, shares),
		Note:    "the distance is 1 less the mean cosine over the views that both samples have; the radius is the given share's quantile of the distances to the last of so many points, or with share 0 the knee of their curve; noise is a cluster for each sample",
	}
}

// Cluster parts the samples where they lie close. A sample with at least so many samples within a
// radius, itself among them, is a core; cores within the radius of each other are of one cluster,
// and so is what is within the radius of a core.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	alike, err := opponent.Measure(ctx, in.Views, 0)
	if err != nil {
		return nil, err
	}
	n, points := in.Samples(), int(in.Settings["points"])
	reach := make([]float64, n) // the distance to the last of so many points
	row := make([]float64, n)
	for i := range reach {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for j := range row {
			row[j] = alike.Distance(i, j)
		}
		slices.Sort(row)
		reach[i] = row[min(n, points)-1]
	}
	radius := radius(reach, in.Settings["share"])
	return grow(n, func(i int) bool { return reach[i] <= radius }, func(i, j int) bool { return alike.Distance(i, j) <= radius }), nil
}

// radius returns the quantile of the distances, or at share 0 their knee: the point of the rising
// curve that lies farthest below the line between its ends.
func radius(reach []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(reach))
	n := len(sorted)
	if share > 0 {
		return sorted[min(n-1, int(share*float64(n)))]
	}
	best, at := 0.0, n-1
	for i, x := range sorted {
		line := sorted[0] + (sorted[n-1]-sorted[0])*float64(i)/float64(max(1, n-1))
		if line-x > best {
			best, at = line-x, i
		}
	}
	return sorted[at]
}

// grow returns the clusters of n samples by what is a core, and what is near.
func grow(n int, core func(i int) bool, near func(i, j int) bool) []int {
	labels := slices.Repeat([]int{-1}, n)
	next := 0
	for start := range n {
		if labels[start] >= 0 || !core(start) {
			continue
		}
		labels[start] = next
		for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
			for j := range n {
				if labels[j] < 0 && near(queue[0], j) {
					labels[j] = next
					if core(j) {
						queue = append(queue, j)
					}
				}
			}
		}
		next++
	}
	for i, l := range labels {
		if l < 0 {
			labels[i] = next
			next++
		}
	}
	return labels
}
