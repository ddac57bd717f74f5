package opponent

import (
	"context"

	"github.com/mvclust/mvclust/method/linkage"
)

// Ward parts the samples into k clusters: it merges, again and again, the two whose union adds
// least to the sum of the squared distances of the samples from the means of their clusters. The
// squared distance of two samples is 2 less twice the mean cosine over the views that both have:
// that of their rows side by side, each of unit length, over the number of views. Two that have no
// view in common are as far apart as all others are on average.
func (a *Alike) Ward(ctx context.Context, k int) ([]int, error) {
	tree, err := linkage.Ward(ctx, len(a.far), a.distances, 0)
	if err != nil {
		return nil, err
	}
	return tree.Cut(k)
}

// Average parts the samples into k clusters: it merges, again and again, the two whose samples
// are nearest to each other on average. The distance of two samples is 1 less the mean cosine
// over the views that both have. Two that have no view in common are as far apart as all others
// are on average.
func (a *Alike) Average(ctx context.Context, k int) ([]int, error) {
	tree, err := linkage.Average(ctx, len(a.far), a.distances, 0)
	if err != nil {
		return nil, err
	}
	return tree.Cut(k)
}

// distances sets dst to how far sample i is from the earlier ones.
func (a *Alike) distances(i int, dst []float32) { copy(dst, a.far[i]) }

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
