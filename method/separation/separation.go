// Package separation tells how far the clusters of a partition lie apart in the features themselves.
// In a space of few dimensions any cloud falls into even pieces, which are found again with other
// numbers of neighbours and shorten the description of a walk; but between two pieces of one cloud
// there are as many samples as within them.
//
// It follows the method and may change in any minor version.
package separation

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

const (
	// MaxFeatures is the largest number of features, of all views together, of which separations are
	// measured. In more dimensions samples lie apart whether there are clusters or not.
	MaxFeatures = 64
	// most bounds the samples that are looked at, and ofCluster those of a cluster.
	most, ofCluster = 20_000, 1000
	// fewest is the number of samples that a cluster must have to be looked at, and shown that to be shown apart.
	fewest, shown = 3, 10
	// near is the distance, as a share of that from the middle of two clusters to their medians, within
	// which samples are counted.
	near = 0.35
)

// Views holds the features of some samples, by view, each of mean 0 and variance 1.
type Views struct {
	all     int
	samples []int32
	rows    []*view.View // nil for a view of too many features
}

// Read returns the features of evenly spaced samples, of those views that have at most MaxFeatures.
// The values of the views must be finite, and may change afterwards. The errors are those of view.Samples,
// and the context's own.
func Read(ctx context.Context, views []*view.View, threads int) (*Views, error) {
	all, err := view.Samples(views)
	if err != nil {
		return nil, err
	}
	v := &Views{all: all, rows: make([]*view.View, len(views))}
	count := min(most, v.all)
	for k := range count {
		v.samples = append(v.samples, int32(sparse.Spaced(k, count, v.all)))
	}
	err = parallel.Blocks(ctx, threads, len(views), 1, func(_, m, _ int) {
		if views[m].Dims <= MaxFeatures {
			v.rows[m] = standardised(views[m], v.samples)
		}
	})
	return v, err
}

// standardised returns the rows of some samples with every feature brought to mean 0 and variance 1.
func standardised(from *view.View, samples []int32) *view.View {
	to := &view.View{Name: from.Name, Samples: len(samples), Dims: from.Dims, Data: make([]float32, len(samples)*from.Dims), Present: make([]bool, len(samples))}
	count, mean, square := 0.0, make([]float64, from.Dims), make([]float64, from.Dims)
	for _, i := range samples {
		if from.Has(int(i)) {
			count++
			for k, x := range from.Row(int(i)) {
				apart := float64(x) - mean[k]
				mean[k] += apart / count
				square[k] += apart * (float64(x) - mean[k])
			}
		}
	}
	for r, i := range samples {
		if to.Present[r] = from.Has(int(i)); !to.Present[r] {
			continue
		}
		row := to.Row(r)
		for k, x := range from.Row(int(i)) {
			if deviation := math.Sqrt(square[k] / count); deviation > 0 {
				row[k] = float32((float64(x) - mean[k]) / deviation)
			}
		}
	}
	return to
}

// Features holds the features of some samples, all views side by side.
type Features struct {
	dims     int
	data     []float32
	node     []int32 // by row: the number of its sample
	cautious bool
}

// Features returns the features of the samples that have all views, each view divided by the root of its
// number of features. order holds the sample of every new number, nil for the samples' own; views that are
// leftOut, which may be nil, do not count. It is nil where the views have more than MaxFeatures together,
// where fewer than half of the samples have all of them, and for a nil v. It panics if order is of as many
// samples, but not valid.
func (v *Views) Features(order sparse.Permutation, leftOut []bool) *Features {
	if v == nil {
		return nil
	}
	f := &Features{}
	var used []*view.View
	for m, rows := range v.rows {
		switch {
		case m < len(leftOut) && leftOut[m]:
			continue
		case rows == nil:
			return nil
		}
		used = append(used, rows)
		f.dims += rows.Dims
	}
	if len(used) == 0 || f.dims > MaxFeatures || order != nil && len(order) != v.all {
		return nil
	}
	number := order.Inverse()
	for r, i := range v.samples {
		if slices.ContainsFunc(used, func(x *view.View) bool { return !x.Has(r) }) {
			continue
		}
		for _, x := range used {
			weight := float32(1 / math.Sqrt(float64(x.Dims)))
			for _, value := range x.Row(r) {
				f.data = append(f.data, weight*value)
			}
		}
		if order != nil {
			i = int32(number[i])
		}
		f.node = append(f.node, i)
	}
	if 2*len(f.node) < len(v.samples) {
		return nil
	}
	return f
}

// Cautious returns features by which clusters lie apart only as far as their numbers of samples show it. f may
// be nil.
func (f *Features) Cautious() *Features {
	if f == nil {
		return nil
	}
	doubting := *f
	doubting.cautious = true
	return &doubting
}

// Of returns how far the clusters lie apart: the mean over their samples of 1 - ρ, in [0, 1]. For a
// cluster a and the one b beside it, samples of both are projected onto the line through their
// centroids. ρ compares the middle of the two medians with the medians themselves:
//
//	ρ = min(1, density(middle) / the smaller of the densities at the medians)
//	density = (n_a + 1/2) / |a| + (n_b + 1/2) / |b|
//
// where n_a of the |a| samples lie within 0.35 of half the distance of the medians; the halves keep clusters of
// few samples from lying apart by chance. So ρ is about 1 for two pieces of one cloud, and 0 where there is a
// gap. labels holds the cluster of every sample, and beside, by cluster, the one beside it, or -1 where
// there is none: such a cluster lies apart. Clusters of fewer than 3 samples do not count, and what is
// beside one lies apart.
//
// A cautious f has the density of the middle a standard error higher, and those of the medians one lower,
//
//	± sqrt((n_a + 1/4) / |a|² + (n_b + 1/4) / |b|²)
//
// as of Poisson numbers; and a cluster of fewer than 10 samples does not lie apart, nor what is beside it.
// Of panics if a label or a cluster is out of range.
func (f *Features) Of(labels, beside []int32) float64 {
	members, small := f.members(labels, len(beside)), fewest
	if f.cautious {
		small = shown
	}
	centroids := make([][]float64, len(beside))
	for c, rows := range members {
		centroids[c] = f.centroid(rows)
	}
	var both [2][]float64
	axis := make([]float64, f.dims)
	sum, all := 0.0, 0.0
	for c, b := range beside {
		own := members[c]
		if len(own) < small && !f.cautious {
			continue
		}
		all += float64(len(own))
		switch {
		case len(own) < small: // too few to be shown apart
		case b >= 0 && len(members[b]) >= small:
			for k := range axis {
				axis[k] = centroids[c][k] - centroids[b][k]
			}
			both[0], both[1] = f.project(both[0][:0], own, axis), f.project(both[1][:0], members[b], axis)
			sum += float64(len(own)) * (1 - f.filled(both[0], both[1]))
		case b < 0 || !f.cautious:
			sum += float64(len(own))
		}
	}
	if all == 0 {
		return 1
	}
	return sum / all
}

// members lists the rows of every cluster.
func (f *Features) members(labels []int32, clusters int) [][]int32 {
	members := make([][]int32, clusters)
	for r, i := range f.node {
		members[labels[i]] = append(members[labels[i]], int32(r))
	}
	return members
}

func (f *Features) row(r int32) []float32 { return f.data[int(r)*f.dims:][:f.dims] }

func (f *Features) centroid(rows []int32) []float64 {
	mean := make([]float64, f.dims)
	for _, r := range rows {
		for k, x := range f.row(r) {
			mean[k] += float64(x) / float64(len(rows))
		}
	}
	return mean
}

// project appends the places of evenly spaced rows along an axis, in rising order.
func (f *Features) project(to []float64, rows []int32, axis []float64) []float64 {
	count := min(ofCluster, len(rows))
	for at := range count {
		place := 0.0
		for k, x := range f.row(rows[sparse.Spaced(at, count, len(rows))]) {
			place += axis[k] * float64(x)
		}
		to = append(to, place)
	}
	slices.Sort(to)
	return to
}

// filled returns ρ, given the places of two clusters in rising order, of which the first should lie higher.
func (f *Features) filled(a, b []float64) float64 {
	high, low := a[len(a)/2], b[len(b)/2]
	if high <= low {
		return 1
	}
	middle, half := (high+low)/2, (high-low)/2
	n, m := float64(len(a)), float64(len(b))
	density := func(at, side float64) float64 {
		x, y := count(a, at, near*half), count(b, at, near*half)
		d := (x+0.5)/n + (y+0.5)/m
		if f.cautious {
			d += side * math.Sqrt((x+0.25)/(n*n)+(y+0.25)/(m*m))
		}
		return d
	}
	return min(1, density(middle, 1)/min(density(high, -1), density(low, -1))) // densities are above 0
}

// count returns the number of places within some distance of one.
func count(places []float64, at, within float64) float64 {
	from, _ := slices.BinarySearch(places, at-within)
	to, _ := slices.BinarySearch(places, math.Nextafter(at+within, math.Inf(1)))
	return float64(to - from)
}

// Footprint returns how many bytes Views and Features hold at most.
func Footprint(samples int, dims []int) int64 {
	sum := int64(0)
	for _, d := range dims {
		if d <= MaxFeatures {
			sum += int64(d)
		}
	}
	return 8 * min(most, int64(samples)) * (sum + MaxFeatures)
}
