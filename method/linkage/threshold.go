package linkage

import (
	"context"
	"slices"
	"sync"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Cut is a partition that one distance tells: nearly all pairs within its clusters are nearer than that, and
// hardly any other pair is.
type Cut struct {
	// Labels holds the cluster of every sample, numbered from 0 in the order of their first samples.
	Labels   []int
	Clusters int
	// F1 says how well the best threshold tells the pairs within clusters, as adjustedF1 returns it, and
	// Least how well without any one of the views: the least of all. With one view that is F1.
	F1, Least float64
}

const (
	// told is the least F1 of a cut that one distance tells. Records of one thing have 0.95 and more at the true
	// number, other multi-view data at most 0.89.
	told = 0.92
	// promising is that of some of the samples, some in number, below which no others are looked at.
	promising, some = 0.87, 1000
	// apart is the ratio of two numbers of clusters of which the one with the larger F1 alone is a peak.
	apart = 1.3
)

// Told returns the cuts of the tree of average linkage that one distance tells: those of 2 clusters and more, up to
// half as many as samples, with an F1 of at least 0.92, larger than with up to 1.3 times as many clusters or as few. There are
// none in most data. threads is as for Average. The errors are those of Average.
func Told(ctx context.Context, d *Distances, threads int) ([]Cut, error) {
	if d.Views() == 0 || len(d.samples) < 4 {
		return nil, ctx.Err()
	}
	if len(d.samples) > some {
		few, err := d.some(some).hold(ctx, threads)
		if err != nil {
			return nil, err
		}
		_, f1, err := curve(ctx, few, threads)
		if err != nil || len(peaks(f1, promising)) == 0 {
			return nil, err
		}
	}
	d, err := d.hold(ctx, threads)
	if err != nil {
		return nil, err
	}
	tree, f1, err := curve(ctx, d, threads)
	if err != nil {
		return nil, err
	}
	var cuts []Cut
	for _, k := range peaks(f1, told) {
		labels, err := tree.Cut(k)
		if err != nil {
			return nil, err
		}
		c := Cut{labels, k, f1[k-1], f1[k-1]}
		for v := range d.spaces {
			if d.Views() < 2 {
				break
			}
			without, err := adjustedF1(ctx, labels, d.without(v).Of, threads)
			if err != nil {
				return nil, err
			}
			c.Least = min(c.Least, without)
		}
		cuts = append(cuts, c)
	}
	return cuts, nil
}

// curve returns the tree of average linkage and adjustedF1 of its cuts.
func curve(ctx context.Context, d *Distances, threads int) (*Tree, []float64, error) {
	tree, err := Average(ctx, len(d.samples), d.Of, threads)
	if err != nil {
		return nil, nil, err
	}
	f1, err := tree.adjustedF1(ctx, d.Of, threads)
	return tree, f1, err
}

// peaks returns the numbers of clusters, 2 to half of all, whose F1 is at least so much and larger than those
// of 1/1.3 to 1.3 times as many, from 2 on; of equals the smallest.
func peaks(f1 []float64, least float64) []int {
	var found []int
	for k := 2; k <= len(f1)/2; k++ {
		low, high := max(2, int(float64(k)/apart)), min(len(f1), int(float64(k)*apart)+1)
		x := f1[k-1]
		if x >= least && x > slices.Max(append([]float64{0}, f1[low-1:k-1]...)) && x >= slices.Max(f1[k-1:high]) {
			found = append(found, k)
		}
	}
	return found
}

// adjustedF1 returns, for the cuts into 1, 2, ... clusters, how well one distance tells the pairs within
// clusters from all others: the largest
//
//	(F1 - F0) / (1 - F0),   F1 = 2 b / (w + t),   F0 = 2 w / (w + n)
//
// over thresholds, where w of n pairs are within clusters, t are no farther apart than the threshold, and b are both; F0
// is what all pairs together have. It is in [0, 1]: 1 where any two of a cluster are nearer than any two of
// different ones, and 0 for 1 cluster, and where all are alone. The thresholds are at most 1024: distances at which
// clusters merge, and as many evenly spaced up to the last of these. distances and threads are as for Average. The error
// is the context's own.
func (t *Tree) adjustedF1(ctx context.Context, distances func(i int, dst []float32), threads int) ([]float64, error) {
	// Merges of two clusters are at a mean distance, above which some pairs of one cluster are.
	var tried []float32
	for at := range min(thresholds/2, len(t.merges)) {
		height := t.merges[at*len(t.merges)/min(thresholds/2, len(t.merges))].distance
		tried = append(tried, height, t.merges[len(t.merges)-1].distance*float32(at+1)/float32(thresholds/2))
	}
	slices.Sort(tried)
	g, err := grade(ctx, t.samples, tried, distances, threads)
	if err != nil {
		return nil, err
	}
	into, members := newForest(t.samples), make([][]int32, t.samples)
	for i := range members {
		members[i] = []int32{int32(i)}
	}
	f1, within := make([]float64, t.samples), make([]int64, len(g.pairs))
	for at, x := range t.merges {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, b := into.root(x.a), into.root(x.b)
		if len(members[a]) > len(members[b]) {
			a, b = b, a
		}
		for _, i := range members[a] {
			for _, j := range members[b] {
				within[g.of(i, j)]++
			}
		}
		members[b], members[a] = append(members[b], members[a]...), nil
		into[a] = b
		f1[t.samples-2-at] = g.f1(within)
	}
	return f1, nil
}

// adjustedF1 returns, for the clusters of labels, what Tree.adjustedF1 returns for those of a cut. The thresholds are at most
// 1024 of the distances within clusters, evenly spaced in their order. The error is the context's own.
func adjustedF1(ctx context.Context, labels []int, distances func(i int, dst []float32), threads int) (float64, error) {
	members := map[int][]int{}
	for i, l := range labels {
		members[l] = append(members[l], i)
	}
	var near []float32
	row := make([]float32, len(labels))
	for i, l := range labels {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if members[l][0] == i {
			continue // with no earlier one
		}
		distances(i, row[:i])
		for _, j := range members[l] {
			if j >= i {
				break
			}
			near = append(near, row[j])
		}
	}
	slices.Sort(near)
	g, err := grade(ctx, len(labels), near, distances, threads)
	if err != nil {
		return 0, err
	}
	within := make([]int64, len(g.pairs))
	for _, list := range members {
		for at, i := range list {
			for _, j := range list[:at] {
				within[g.of(int32(i), int32(j))]++
			}
		}
	}
	return g.f1(within), nil
}

// grades hold, for each pair of samples, the first of some thresholds that it is not above; the number of
// thresholds where it is above all.
type grades struct {
	grade [][]uint16 // by the later sample and the earlier one
	pairs []int64    // by grade
}

// thresholds is how many distances are tried, at most.
const thresholds = 1024

// grade grades all pairs by at most so many of the given distances, which do not fall.
func grade(ctx context.Context, samples int, by []float32, distances func(i int, dst []float32), threads int) (*grades, error) {
	tried := by
	if len(by) > thresholds {
		tried = make([]float32, thresholds)
		for at := range tried {
			tried[at] = by[at*(len(by)-1)/(thresholds-1)]
		}
	}
	tried = slices.Compact(slices.Clone(tried))
	g := &grades{make([][]uint16, samples), make([]int64, len(tried)+1)}
	var sum sync.Mutex
	err := parallel.Blocks(ctx, threads, samples, 16, func(_, lo, hi int) {
		count, row := make([]int64, len(g.pairs)), make([]float32, hi)
		for i := lo; i < hi; i++ {
			distances(i, row[:i])
			g.grade[i] = make([]uint16, i)
			for j, x := range row[:i] {
				at, _ := slices.BinarySearch(tried, x)
				g.grade[i][j] = uint16(at)
				count[at]++
			}
		}
		sum.Lock()
		defer sum.Unlock()
		for at, c := range count {
			g.pairs[at] += c
		}
	})
	return g, err
}

func (g *grades) of(i, j int32) uint16 { return g.grade[max(i, j)][min(i, j)] }

// f1 returns the largest adjusted F1 over the thresholds, for so many pairs within clusters by grade.
func (g *grades) f1(within []int64) float64 {
	pairs, all := int64(0), int64(0)
	for at, w := range within {
		pairs, all = pairs+w, all+g.pairs[at]
	}
	if pairs == 0 || pairs == all {
		return 0
	}
	both, near, best := int64(0), int64(0), 0.0
	for at := range len(g.pairs) - 1 {
		both, near = both+within[at], near+g.pairs[at]
		best = max(best, 2*float64(both)/float64(pairs+near))
	}
	chance := 2 * float64(pairs) / float64(pairs+all)
	return max(0, (best-chance)/(1-chance))
}

// forest holds what each sample is merged into.
type forest []int

func newForest(samples int) forest {
	f := make(forest, samples)
	for i := range f {
		f[i] = i
	}
	return f
}

// root returns the sample that stands for the cluster of sample i.
func (f forest) root(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}
