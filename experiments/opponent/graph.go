package opponent

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// Alike says how alike samples are: by the mean cosine over the views that two have in common.
type Alike struct {
	lists [][]int32 // by sample, the others that are most alike, these first
	far   triangle
}

const (
	// MostSamples is the number of samples up to which there is an Alike: it holds the distance
	// of every pair, in 4 bytes, which are 800 MB then.
	MostSamples = 20_000
	// mostNearest is the number of neighbours that it knows.
	mostNearest = 20
)

// Measure compares all samples. The result is the same for any number of threads; 0 stands for
// all. It is an error if there are more than MostSamples.
func Measure(ctx context.Context, views []*view.View, threads int) (*Alike, error) {
	if views[0].Samples > MostSamples {
		return nil, fmt.Errorf("more than %d samples", MostSamples)
	}
	all, err := spaces(ctx, views, threads)
	if err != nil {
		return nil, err
	}
	n := all[0].Samples
	everyone := make([]int32, n)
	a := &Alike{make([][]int32, n), make(triangle, n)}
	for i := range everyone {
		everyone[i] = int32(i)
		a.far[i] = make([]float32, i)
	}
	err = parallel.Blocks(ctx, threads, n, rowsOfABlock, func(_, lo, hi int) {
		m := means(all, lo, hi, everyone)
		for i := lo; i < hi; i++ {
			a.lists[i] = nearest(m[i-lo], i, mostNearest)
			for j := range a.far[i] {
				a.far[i][j] = max(0, 1-m[i-lo][j])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	a.far.fill()
	return a, nil
}

// Distance returns 1 less the mean cosine of two samples over the views that both have, at least 0;
// the mean of all others where they have no view in common.
func (a *Alike) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return float64(*a.far.at(i, j))
}

// nearest returns, for every sample, the k others that are most alike, of at most 20, the lower
// number first among equals; fewer where it has fewer in common with. A list ascends by number.
func (a *Alike) nearest(k int) [][]int32 {
	lists := make([][]int32, len(a.lists))
	for i, list := range a.lists {
		lists[i] = slices.Sorted(slices.Values(list[:min(k, len(list))]))
	}
	return lists
}

// chunk is how many samples a block is compared with before the next ones: their rows
// stay in the cache.
const chunk = 256

// means returns the mean cosines of the samples from lo to hi with everyone; NaN where
// two have no view in common.
func means(all []*similarity.Space, lo, hi int, everyone []int32) [][]float32 {
	m := make([][]float32, hi-lo)
	for i := range m {
		m[i] = make([]float32, len(everyone))
	}
	var sum, common [rowsOfABlock][chunk]float32
	var of [chunk]float32
	for from := range slices.Chunk(everyone, chunk) {
		clear(sum[:])
		clear(common[:])
		for _, s := range all {
			for i := lo; i < hi; i++ {
				s.Similarities(of[:], i, from)
				for j, x := range of[:len(from)] {
					if x == x { // NaN where one of the two lacks the view
						sum[i-lo][j] += x
						common[i-lo][j]++
					}
				}
			}
		}
		for i := range m {
			for j, to := range from {
				m[i][to] = sum[i][j] / common[i][j]
			}
		}
	}
	return m
}

// nearest returns the k samples of the highest means, falling, without i itself.
func nearest(mean []float32, i, k int) []int32 {
	var others []int32
	for j, x := range mean {
		if x == x && j != i {
			others = append(others, int32(j))
		}
	}
	return slices.Clone(best(others, k, func(a, b int32) int {
		return cmp.Or(cmp.Compare(mean[b], mean[a]), cmp.Compare(a, b))
	}))
}

// best returns the first k of list in the order of compare, and reorders list.
func best(list []int32, k int, compare func(a, b int32) int) []int32 {
	k = min(k, len(list))
	if k == 0 {
		return nil
	}
	top := list[:k]
	slices.SortFunc(top, compare)
	for at, x := range list[k:] {
		if compare(x, top[k-1]) < 0 {
			to, _ := slices.BinarySearchFunc(top, x, compare)
			last := top[k-1]
			copy(top[to+1:], top[to:k-1])
			top[to], list[k+at] = x, last
		}
	}
	return top
}

// mutual returns, for every sample, those that it lists or that list it, ascending.
func mutual(lists [][]int32) [][]int32 {
	both := make([][]int32, len(lists))
	for i, list := range lists {
		for _, j := range list {
			both[i] = append(both[i], j)
			both[j] = append(both[j], int32(i))
		}
	}
	for i := range both {
		slices.Sort(both[i])
		both[i] = slices.Compact(both[i])
	}
	return both
}
