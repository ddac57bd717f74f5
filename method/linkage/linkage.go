// Package linkage merges clusters of samples pair by pair, from all pairs of samples: average linkage, in
// which the two clusters whose samples are the least far apart on average become one, again and again
// (UPGMA), and Ward's method. Where one distance tells classes apart, as it does records of one thing, the
// clusters of average linkage are sound whatever their sizes are.
//
// It follows the method and may change in any minor version.
package linkage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Tree holds the merges of some samples, the nearest first.
type Tree struct {
	samples int
	merges  []merge
}

// merge is a union of the clusters of two samples, at a distance.
type merge struct {
	a, b     int
	distance float32
}

// most is the number of samples of the largest trees.
const most = 1 << 16

// Average returns the tree of average linkage of so many samples. distances sets dst[j], for all j below i,
// to how far samples i and j are apart; it is called once for each i, by several goroutines at a time. threads
// of 0 or less stands for all usable processors; the tree is the same for any number.
//
// The errors are fewer than 1 sample or more than 65,536, no distances, a distance that is not a
// number of at least 0, and the context's own.
func Average(ctx context.Context, samples int, distances func(i int, dst []float32), threads int) (*Tree, error) {
	return grown(ctx, samples, distances, average, threads)
}

// Ward is Average for Ward's method: the two clusters become one whose union adds least to the sum of the
// squared distances of the samples from the means of their clusters. The distances are the squared ones.
func Ward(ctx context.Context, samples int, squares func(i int, dst []float32), threads int) (*Tree, error) {
	return grown(ctx, samples, squares, ward, threads)
}

// Footprint returns the most bytes that Average, Ward or Told takes for so many samples, whose distances are measured in so
// many views.
func Footprint(samples, views int) int64 {
	return (4*int64(samples)+160)*int64(samples) + 4*holding(samples, views)
}

// grown returns the tree by a rule.
func grown(ctx context.Context, samples int, distances func(i int, dst []float32), update rule, threads int) (*Tree, error) {
	if samples < 1 || samples > most {
		return nil, fmt.Errorf("there are %d samples; a tree has 1 to %d", samples, most)
	}
	if distances == nil {
		return nil, errors.New("there are no distances; pass those of each sample from the earlier ones")
	}
	d := matrix{samples, make([]float32, samples*samples)}
	var wrong atomic.Int64
	err := parallel.Blocks(ctx, threads, samples, 16, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			row := d.row(i)[:i]
			distances(i, row)
			for _, x := range row {
				if !(x >= 0) || math.IsInf(float64(x), 0) {
					wrong.Store(int64(i))
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if i := wrong.Load(); i > 0 {
		return nil, fmt.Errorf("a distance of sample %d is not a number of at least 0", i)
	}
	d.mirror()
	merges, err := agglomerate(ctx, d, update)
	return &Tree{samples, merges}, err
}

// matrix holds the distances of clusters, each at the place of one of its samples. It has them twice, since
// it is read row by row.
type matrix struct {
	samples int
	values  []float32
}

func (m matrix) row(i int) []float32 { return m.values[i*m.samples:][:m.samples] }

// mirror sets the upper half to the lower one.
func (m matrix) mirror() {
	for i := range m.samples {
		for j, x := range m.row(i)[:i] {
			m.values[j*m.samples+i] = x
		}
	}
}

// rule returns the distance of a cluster of c samples from the union of two, of a and b samples,
// by its distances from them and theirs from each other.
type rule func(toA, toB, between, a, b, c float64) float64

// average is the mean distance of the samples of the one from those of the other.
func average(toA, toB, _, a, b, _ float64) float64 { return (a*toA + b*toB) / (a + b) }

// ward is, for squared distances, twice what a union adds to the sum of squares.
func ward(toA, toB, between, a, b, c float64) float64 {
	return ((a+c)*toA + (b+c)*toB - c*between) / (a + b + c)
}

// agglomerate merges all samples into one cluster and returns the merges by rising distance. It
// uses up the distances. After
//
//	Murtagh, "A survey of recent advances in hierarchical clustering algorithms", 1983,
//
// it follows a chain from each cluster to the nearest, until two are the nearest of each other:
// under a rule by which a union is no nearer to others than the nearer of its parts, these merge
// in any order of the merges.
func agglomerate(ctx context.Context, d matrix, update rule) ([]merge, error) {
	n := d.samples
	size := make([]float64, n) // of a cluster by its last sample; 0 for all others
	alive := make([]int, n)    // ascending
	for i := range alive {
		size[i], alive[i] = 1, i
	}
	var merges []merge
	var chain []int
	for len(alive) > 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(chain) == 0 {
			chain = append(chain, alive[0])
		}
		a := chain[len(chain)-1]
		row := d.row(a)
		b, before := -1, -1
		least := float32(math.Inf(1))
		if len(chain) > 1 { // among equals the one before, or the chain had no end
			before = chain[len(chain)-2]
			b, least = before, row[before]
		}
		for _, j := range alive {
			if x := row[j]; j != a && (x < least || b < 0) {
				b, least = j, x
			}
		}
		if b != before {
			chain = append(chain, b)
			continue
		}
		chain = chain[:len(chain)-2]
		merges = append(merges, merge{a, b, least})
		gone, kept := min(a, b), max(a, b)
		own, other := d.row(kept), d.row(gone)
		for _, c := range alive {
			if c != a && c != b {
				own[c] = float32(update(float64(own[c]), float64(other[c]), float64(least), size[kept], size[gone], size[c]))
				d.values[c*n+kept] = own[c]
			}
		}
		size[kept] += size[gone]
		at, _ := slices.BinarySearch(alive, gone)
		alive = slices.Delete(alive, at, at+1)
	}
	slices.SortStableFunc(merges, func(a, b merge) int { return cmp.Compare(a.distance, b.distance) })
	return merges, nil
}

// Cut returns the cluster of every sample where so many are left, numbered from 0 in the order of their
// first samples. It is an error if there cannot be as many, or if the tree is not one of Average.
func (t *Tree) Cut(clusters int) ([]int, error) {
	if t == nil || t.samples == 0 {
		return nil, errors.New("there is no tree; make it by Average")
	}
	if clusters < 1 || clusters > t.samples {
		return nil, fmt.Errorf("there cannot be %d clusters of %d samples; ask for 1 to %d", clusters, t.samples, t.samples)
	}
	into := newForest(t.samples)
	for _, x := range t.merges[:t.samples-clusters] {
		into[into.root(x.a)] = into.root(x.b)
	}
	labels, number := make([]int, t.samples), map[int]int{}
	for i := range labels {
		r := into.root(i)
		if _, known := number[r]; !known {
			number[r] = len(number)
		}
		labels[i] = number[r]
	}
	return labels, nil
}
