// Package discriminant tells how far the views foretell the clusters of a partition: by linear discriminant
// analysis (Fisher 1936), every sample left out of the mean of its own cluster. Clusters that are found in a graph of
// neighbours may be crumbs of sparse data: found again with other numbers of neighbours, but no place in the
// features is theirs. Those of a real structure are foretold, however fine.
//
// It follows the method and may change in any minor version.
package discriminant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

const (
	// MaxSamples is the largest number of samples that Read takes: it keeps 128 values of each in every view.
	MaxSamples = 30_000
	// mostLandmarks bounds the samples that all others are compared with, and each is one of so many samples at most.
	mostLandmarks, everyLandmark = 128, 4
	// foretold bounds the samples whose clusters are foretold.
	foretold = 1000
	// shrinkage is the share of the covariance that is the same in all directions.
	shrinkage = 0.1
)

// Coordinates holds the coordinates of all samples, by view: their similarities with up to 128 landmarks, samples that are evenly
// spaced, less the mean.
type Coordinates struct {
	samples int
	views   []*coordinates
}

// coordinates are those in one view.
type coordinates struct {
	dims    int
	data    []float32 // by sample: dims values; zeros where it lacks the view
	has     []bool
	count   int       // samples that have the view
	scatter []float64 // dims x dims: the sums of products over the samples, the lower triangle
}

// Read returns the coordinates of the samples of the spaces, one for each view, by their similarities that are not
// localised. A view that fewer than two samples have is left out. It is nil for more than MaxSamples samples. It takes 512 bytes for each sample and view. The errors are those of Space.Check,
// spaces of different samples, and the context's own.
func Read(ctx context.Context, spaces []*similarity.Space, threads int) (*Coordinates, error) {
	c := &Coordinates{}
	for m, s := range spaces {
		if err := s.Check(); err != nil {
			return nil, err
		}
		if m > 0 && s.Samples != c.samples {
			return nil, errors.New("the spaces have different numbers of samples; pass those of one set of views")
		}
		c.samples = s.Samples
	}
	if c.samples > MaxSamples {
		return nil, nil
	}
	for _, s := range spaces {
		if s.Count() < 2 {
			continue
		}
		v, err := read(ctx, s.Plain(), threads)
		if err != nil {
			return nil, err
		}
		c.views = append(c.views, v)
	}
	return c, nil
}

// read returns the coordinates in one view.
func read(ctx context.Context, s *similarity.Space, threads int) (*coordinates, error) {
	n := s.Count()
	d := landmarksOf(n)
	landmarks := make([]int32, d)
	for k := range landmarks {
		landmarks[k] = int32(s.Sample(sparse.Spaced(k, d, n)))
	}
	v := &coordinates{dims: d, data: make([]float32, s.Samples*d), has: make([]bool, s.Samples), count: n}
	err := parallel.Blocks(ctx, threads, n, 32, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			i := s.Sample(r)
			v.has[i] = true
			s.Similarities(v.of(i), i, landmarks)
		}
	})
	if err != nil {
		return nil, err
	}
	mean := make([]float64, d)
	for i, has := range v.has {
		if has {
			for k, x := range v.of(i) {
				mean[k] += float64(x) / float64(n)
			}
		}
	}
	for i, has := range v.has {
		if has {
			for k, x := range v.of(i) {
				v.of(i)[k] = float32(float64(x) - mean[k])
			}
		}
	}
	v.scatter = make([]float64, d*d)
	err = parallel.Blocks(ctx, threads, d, 4, func(_, lo, hi int) {
		for i := range s.Samples {
			if !v.has[i] {
				continue
			}
			row := v.of(i)
			for a := lo; a < hi; a++ {
				addTo(v.scatter[a*d:][:a+1], row, float64(row[a]))
			}
		}
	})
	return v, err
}

// landmarksOf returns how many of n samples all are compared with.
func landmarksOf(n int) int { return min(mostLandmarks, max(2, n/everyLandmark)) }

// of returns the coordinates of sample i.
func (v *coordinates) of(i int) []float32 { return v.data[i*v.dims:][:v.dims] }

// addTo adds times the values of row to sum, which may be shorter.
func addTo(sum []float64, row []float32, times float64) {
	row = row[:len(sum)]
	for k, x := range row {
		sum[k] += float64(times * float64(x))
	}
}

// Of returns Cohen's kappa of the clusters of up to 1000 evenly spaced samples and those that are foretold for them: the
// share that agrees beyond chance, 1 where all do and about 0 where as many do as by chance. Foretold for sample i is
// the cluster c of the largest
//
//	log n_c + sum over the views m that i has of (x_im - mu_cm / 2) . W_m^-1 mu_cm
//
// with x_im its coordinates, mu_cm the mean of the cluster and W_m the pooled covariance within the clusters, a tenth of
// it evened out. Sample i counts in neither n_c nor mu_cm of its own cluster, so that the cluster of a single sample is never foretold.
// labels holds the cluster of every sample, from 0 to clusters - 1. It is 0 for fewer than two clusters. The errors are coordinates that Read has
// not made, labels of other samples or out of range, and the context's own.
func (c *Coordinates) Of(ctx context.Context, labels []int32, clusters, threads int) (float64, error) {
	if c == nil || len(labels) != c.samples {
		return 0, errors.New("the coordinates are of other samples than the labels; read them of the same")
	}
	for i, l := range labels {
		if l < 0 || int(l) >= clusters {
			return 0, fmt.Errorf("sample %d has label %d of %d clusters; number the clusters from 0", i, l, clusters)
		}
	}
	if clusters < 2 || len(labels) == 0 {
		return 0, nil
	}
	sizes, prior := make([]float64, clusters), make([]float64, clusters)
	for _, l := range labels {
		sizes[l]++
	}
	for l, size := range sizes {
		prior[l] = math.Log(size)
	}
	tested := make([]int32, min(foretold, len(labels)))
	for t := range tested {
		tested[t] = int32(sparse.Spaced(t, len(tested), len(labels)))
	}
	views := make([]*scores, len(c.views))
	err := parallel.Blocks(ctx, threads, len(c.views), 1, func(_, m, _ int) {
		views[m] = c.views[m].scores(labels, clusters, tested)
	})
	if err != nil {
		return 0, err
	}
	found := make([]int32, len(tested))
	err = parallel.Blocks(ctx, threads, len(tested), 16, func(_, lo, hi int) {
		sum, part := make([]float64, clusters), make([]float32, clusters)
		for t := lo; t < hi; t++ {
			own := labels[tested[t]]
			copy(sum, prior)
			sum[own] = math.Log(sizes[own] - 1)
			for m, s := range views {
				if c.views[m].has[tested[t]] {
					s.add(sum, part, t, own)
				}
			}
			for l, x := range sum {
				if x > sum[found[t]] {
					found[t] = int32(l)
				}
			}
		}
	})
	return kappa(labels, tested, found, clusters), err
}

// kappa returns Cohen's kappa of the labels of the tested samples and those that are found.
func kappa(labels, tested, found []int32, clusters int) float64 {
	given, told := make([]float64, clusters), make([]float64, clusters)
	n, same, chance := float64(len(tested)), 0.0, 0.0
	for t, i := range tested {
		given[labels[i]]++
		told[found[t]]++
		if labels[i] == found[t] {
			same++
		}
	}
	for l, x := range given {
		chance += x * told[l] / (n * n)
	}
	if chance >= 1 {
		return 0
	}
	return (same/n - chance) / (1 - chance)
}

// scores tells what the tested samples score in one view.
type scores struct {
	kernel *kernel.Kernel
	dims   int
	tested []float32 // by tested sample: L^-1 x, with W = L L'
	means  []float32 // by cluster: L^-1 mu
	half   []float64 // by cluster: mu . W^-1 mu / 2
	counts []float64 // by cluster: its samples that have the view
	all    []int32   // the clusters
}

// scores returns those of the tested samples for the clusters.
func (v *coordinates) scores(labels []int32, clusters int, tested []int32) *scores {
	d := v.dims
	s := &scores{
		kernel: kernel.Best(), dims: d, tested: make([]float32, len(tested)*d), means: make([]float32, clusters*d),
		half: make([]float64, clusters), counts: make([]float64, clusters), all: make([]int32, clusters),
	}
	sums := make([]float64, clusters*d)
	for i, l := range labels {
		if v.has[i] {
			s.counts[l]++
			addTo(sums[int(l)*d:][:d], v.of(i), 1)
		}
	}
	within := append([]float64(nil), v.scatter...)
	held := 0
	for l, n := range s.counts {
		s.all[l] = int32(l)
		if n == 0 {
			continue
		}
		held++
		sum := sums[l*d:][:d]
		for a, x := range sum {
			row, mean := within[a*d:][:a+1], x/n
			for b, y := range sum[:a+1] {
				row[b] -= float64(mean * y)
			}
		}
		for k := range sum {
			sum[k] /= n
		}
	}
	rows := inverseRoot(within, d, float64(max(1, v.count-held)))
	columns := make([]int32, d)
	for k := range columns {
		columns[k] = int32(k)
	}
	mean := make([]float32, d)
	for l := range clusters {
		for k, x := range sums[l*d:][:d] {
			mean[k] = float32(x)
		}
		to := s.means[l*d:][:d]
		s.kernel.Against(kernel.Dot, mean, rows, columns, to)
		for _, x := range to {
			s.half[l] += float64(x) * float64(x) / 2
		}
	}
	for t, i := range tested {
		s.kernel.Against(kernel.Dot, v.of(int(i)), rows, columns, s.tested[t*d:][:d])
	}
	return s
}

// add adds to sum what tested sample t, which is of cluster own, scores for every cluster. part is room for as many values.
func (s *scores) add(sum []float64, part []float32, t int, own int32) {
	x := s.tested[t*s.dims:][:s.dims]
	s.kernel.Against(kernel.Dot, x, s.means, s.all, part)
	for l, y := range part {
		if int32(l) != own {
			sum[l] += float64(y) - s.half[l]
		}
	}
	n := s.counts[own]
	if n < 2 {
		return
	}
	score := 0.0
	for k, y := range s.means[int(own)*s.dims:][:s.dims] {
		without := (n*float64(y) - float64(x[k])) / (n - 1)
		score += (float64(x[k]) - without/2) * without
	}
	sum[own] += score
}

// inverseRoot returns L^-1, row by row, of the covariance L L' = within / n, a tenth of it evened out. Of within it uses
// the lower triangle, and takes it.
func inverseRoot(within []float64, d int, n float64) []float32 {
	trace := 0.0
	for k := range d {
		trace += within[k*d+k]
	}
	even := shrinkage * trace / n / float64(d)
	if !(even > 0) {
		even = 1 // all within clusters is alike
	}
	for a := range d { // Cholesky
		row := within[a*d:][:a+1]
		for b := range row {
			other := within[b*d:][:b+1]
			x := (1 - shrinkage) / n * row[b]
			for k, y := range other[:b] {
				x -= float64(row[k] * y)
			}
			if a == b {
				row[b] = math.Sqrt(max(x+even, rounding*even))
			} else {
				row[b] = x / other[b]
			}
		}
	}
	out, column := make([]float32, d*d), make([]float64, d)
	for k := range d {
		clear(column)
		for a := k; a < d; a++ { // L column = the k-th unit vector
			row := within[a*d:][:a+1]
			x := 0.0
			if a == k {
				x = 1
			}
			for b := k; b < a; b++ {
				x -= float64(row[b] * column[b])
			}
			column[a] = x / row[a]
			out[a*d+k] = float32(column[a])
		}
	}
	return out
}

// rounding is the least square of what is evened out that is not lost among the digits of others.
const rounding = 1e-9

// Footprint returns how many bytes Coordinates of so many samples in so many views hold at most, with what Of takes for half as many
// clusters.
func Footprint(samples, views int) int64 {
	if samples > MaxSamples {
		return 0
	}
	n, d := int64(samples), int64(landmarksOf(samples))
	return int64(views) * (n*(4*d+1) + 16*d*d + n/2*(12*d+20) + 4*d*min(n, foretold))
}
