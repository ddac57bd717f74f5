package opponent

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Ward parts the samples into k clusters: it merges, again and again, the two whose union adds
// least to the sum of the squared distances of the samples from the means of their clusters. The
// squared distance of two samples is 2 less twice the mean cosine over the views that both have:
// that of their rows side by side, each of unit length, over the number of views. Two that have no
// view in common are as far apart as all others are on average.
func (a *Alike) Ward(ctx context.Context, k int) ([]int, error) {
	return a.linked(ctx, k, ward)
}

// Average parts the samples into k clusters: it merges, again and again, the two whose samples
// are nearest to each other on average. The distance of two samples is 1 less the mean cosine
// over the views that both have. Two that have no view in common are as far apart as all others
// are on average.
func (a *Alike) Average(ctx context.Context, k int) ([]int, error) {
	return a.linked(ctx, k, average)
}

func (a *Alike) linked(ctx context.Context, k int, update rule) ([]int, error) {
	d := make(triangle, len(a.far)) // which is used up
	for i, row := range a.far {
		d[i] = slices.Clone(row)
	}
	merges, err := agglomerate(ctx, d, update)
	if err != nil {
		return nil, err
	}
	return cut(merges, len(d), k), nil
}

// triangle holds a number for every pair of different samples: that of i and j, where j < i, is
// the number j of row i.
type triangle [][]float32

func (d triangle) at(i, j int) *float32 { return &d[max(i, j)][min(i, j)] }

// fill puts the mean of all in the place of what is not known.
func (d triangle) fill() {
	sum, count := 0.0, 0
	for _, row := range d {
		for _, x := range row {
			if x == x {
				sum, count = sum+float64(x), count+1
			}
		}
	}
	typical := float32(sum / float64(count)) // a view has two samples at least
	for _, row := range d {
		for j, x := range row {
			if x != x {
				row[j] = typical
			}
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

// merge is a union of the clusters of two samples, at a distance.
type merge struct {
	a, b   int
	height float64
}

// agglomerate merges all samples into one cluster and returns the merges by rising height. It
// uses up the distances. After
//
//	Murtagh, "A survey of recent advances in hierarchical clustering algorithms", 1983,
//
// it follows a chain from each cluster to the nearest, until two are the nearest of each other:
// under a rule by which a union is no nearer to others than the nearer of its parts, these merge
// in any order of the merges.
func agglomerate(ctx context.Context, d triangle, update rule) ([]merge, error) {
	n := len(d)
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
		b, before := -1, -1
		least := float32(math.Inf(1))
		if len(chain) > 1 { // among equals the one before, or the chain had no end
			before = chain[len(chain)-2]
			b, least = before, *d.at(a, before)
		}
		for _, j := range alive {
			if j != a {
				if x := *d.at(a, j); x < least || b < 0 {
					b, least = j, x
				}
			}
		}
		if b != before {
			chain = append(chain, b)
			continue
		}
		chain = chain[:len(chain)-2]
		merges = append(merges, merge{a, b, float64(least)})
		gone, kept := min(a, b), max(a, b)
		for _, c := range alive {
			if c != a && c != b {
				to := d.at(kept, c)
				*to = float32(update(float64(*to), float64(*d.at(gone, c)), float64(least), size[kept], size[gone], size[c]))
			}
		}
		size[kept] += size[gone]
		at, _ := slices.BinarySearch(alive, gone)
		alive = slices.Delete(alive, at, at+1)
	}
	slices.SortStableFunc(merges, func(a, b merge) int { return cmp.Compare(a.height, b.height) })
	return merges, nil
}

// cut returns the clusters of n samples after all merges but the last k - 1.
func cut(merges []merge, n, k int) []int {
	parent := make([]int, n)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, m := range merges[:max(0, n-k)] {
		parent[root(m.a)] = root(m.b)
	}
	labels, number := make([]int, n), make(map[int]int)
	for i := range labels {
		r := root(i)
		if _, there := number[r]; !there {
			number[r] = len(number)
		}
		labels[i] = number[r]
	}
	return labels
}
