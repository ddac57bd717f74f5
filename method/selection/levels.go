package selection

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
)

// Level is a granularity that the data support.
type Level struct {
	// Neighbours is the number of neighbours of the refinement, and Resolution that of the
	// partition.
	Neighbours int
	Resolution float64
	// Labels holds the cluster of every sample, as partition.Result has it.
	Labels []int
	// Clusters is the number of clusters.
	Clusters int
	// Stability is the product of the candidate's Plateau and Agreement.
	Stability float64
	// Compression and Score are the candidate's.
	Compression float64
	Score       float64
}

const (
	// MostLevels bounds the levels.
	MostLevels = 7
	// Apart is the least ratio between the numbers of clusters of at least 3 samples of two
	// levels.
	Apart = 1.7
	// supported is the least score of a level, as a share of the best.
	supported = 0.02
	// small is the number of samples from which on a cluster counts towards the distance
	// between levels.
	small = 3
)

// ladder returns the places of the candidates that become levels, the best one first. Of the
// others by falling score, it takes those whose number of clusters of at least 3 samples is
// well apart from those taken.
func ladder(candidates []Candidate, best int) []int {
	order := make([]int, len(candidates))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(candidates[b].Score, candidates[a].Score), a-b)
	})
	taken, heights := []int{best}, []float64{height(candidates[best].labels)}
	for _, c := range order {
		if score := candidates[c].Score; len(taken) == MostLevels || score <= 0 || score < supported*candidates[best].Score {
			break
		}
		own := height(candidates[c].labels)
		if own == 0 || slices.ContainsFunc(heights, func(h float64) bool { return max(h, own) < Apart*min(h, own) }) {
			continue
		}
		taken, heights = append(taken, c), append(heights, own)
	}
	return taken
}

// height returns the number of clusters of at least 3 samples. Smaller ones come and go without
// making the others any finer.
func height[L int | int32](labels []L) float64 {
	var sizes []int
	count := 0.0
	for _, l := range labels {
		for int(l) >= len(sizes) {
			sizes = append(sizes, 0)
		}
		if sizes[l]++; sizes[l] == small {
			count++
		}
	}
	return count
}

// levels returns the levels, coarse to fine, but for the first of the ladder, whose partition
// the caller finds.
func (s *searcher) levels(ctx context.Context, near *refine.Neighbourhoods, candidates []Candidate, ladder []int, threads int) ([]Level, error) {
	levels, failed := make([]Level, len(ladder)), make([]error, len(ladder))
	threads = min(parallel.Threads(threads), len(s.plan.neighbours)) // as many graphs at a time as before
	err := parallel.Blocks(ctx, threads, len(ladder)-1, 1, func(_, at, _ int) {
		c := &candidates[ladder[at+1]]
		_, found, err := s.refine(ctx, near, candidates, c, 1)
		if failed[at] = err; err == nil {
			levels[at+1] = newLevel(c, found)
		}
	})
	return levels, cmp.Or(append(failed, err)...)
}

// refine finds the partition of a candidate, with samples moved once more, so that it meets the
// constraints, and the graph that it is of, to which they are propagated.
func (s *searcher) refine(ctx context.Context, near *refine.Neighbourhoods, candidates []Candidate, c *Candidate, threads int) (*graph.Graph, *partition.Result, error) {
	refined, err := near.CoNeighbours(ctx, c.Neighbours, threads)
	if err != nil {
		return nil, nil, err
	}
	if refined, err = s.constraints.Propagate(ctx, refined, threads); err != nil {
		return nil, nil, err
	}
	labels := c.labels
	if s.constraints != nil {
		given := c.opened(candidates, s.constraints)
		mended, err := partition.Mend(ctx, refined, c.Resolution, s.constraints, s.set.Partition, given, s.random(c.Neighbours, -c.Resolution, 1))
		if err != nil {
			return nil, nil, err
		}
		labels = make([]int32, len(given))
		for i, l := range mended.Labels {
			labels[i] = int32(l)
		}
	}
	series, err := partition.NewSeries(ctx, refined, s.plan.finest, cmp.Or(s.constraints, s.set.Loose), s.set.Partition)
	if err != nil {
		return nil, nil, err
	}
	found, err := series.Refine(ctx, c.Resolution, labels, s.random(c.Neighbours, -c.Resolution, 0))
	return refined, found, err
}

func newLevel(c *Candidate, found *partition.Result) Level {
	clusters := 0
	for _, l := range found.Labels {
		clusters = max(clusters, l+1)
	}
	return Level{
		Neighbours: c.Neighbours, Resolution: c.Resolution, Labels: found.Labels, Clusters: clusters,
		Stability: max(0, c.Plateau) * max(0, c.Agreement), Compression: c.Compression, Score: c.Score,
	}
}

// setLevels completes the levels by the chosen one, the first, and sorts them.
func (r *Result) setLevels(levels []Level) {
	levels[0] = newLevel(&r.Candidates[r.Best], r.Partition)
	order := make([]int, len(levels))
	for at := range order {
		order[at] = at
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(height(levels[a].Labels), height(levels[b].Labels)) })
	for _, at := range order {
		r.Levels = append(r.Levels, levels[at])
	}
	r.Level = slices.Index(order, 0)
}

// Example is a sample whose class is known. Classes are numbered from 0.
type Example struct{ Sample, Class int }

// wanted returns the place of the candidate that is nearest to what is asked for: to a number of
// clusters, or to examples. best is the place of that of the largest score.
func (s *searcher) wanted(candidates []Candidate, best int) int {
	if s.set.Clusters == 0 && len(s.set.Examples) == 0 {
		return best
	}
	most := math.Inf(-1)
	for at := range candidates {
		c := &candidates[at]
		if w := Suitability(c.labels, c.Score, s.set.Clusters, s.set.Examples); w > most {
			best, most = at, w
		}
	}
	return best
}

const (
	// breadth is the standard deviation of the logarithm of the number of clusters around one
	// that is asked for.
	breadth = 0.35
	// concentration is that of the classes in a cluster: the smaller, the purer clusters are
	// expected to be.
	concentration = 2
	// negligible is a score where there is none.
	negligible = 1e-9
)

// Suitability says how well a partition of the given score is what is asked for: the larger, the
// better. It is the logarithm of
//
//	score · exp(-(log(h / clusters) / 0.35)^2 / 2) · P(classes of the examples | their clusters)
//
// with h the number of clusters of at least 3 samples, and the second factor only where clusters is
// above 0. The classes of the examples in a cluster are taken for draws from a Dirichlet-multinomial
// distribution, whose parameters are 2/K for each of the classes that have an example, of which
// there are K-1, and for any other. So examples of one class speak for a cluster that holds them
// all, and those of several against it. It is the infinity below 0 where labels are below 0 or
// examples out of range.
func Suitability[L int | int32](labels []L, score float64, clusters int, examples []Example) float64 {
	for _, l := range labels {
		if l < 0 || int(l) > len(labels) {
			return math.Inf(-1)
		}
	}
	w := math.Log(max(negligible, score)) + evidence(labels, examples)
	if clusters > 0 {
		off := math.Log(max(0.5, height(labels))/float64(clusters)) / breadth
		w -= off * off / 2
	}
	return w
}

// evidence returns log P of Suitability.
func evidence[L int | int32](labels []L, examples []Example) float64 {
	type cell struct {
		cluster L
		class   int
	}
	cells, clusters, classes := map[cell]int{}, map[L]int{}, map[int]bool{}
	for _, x := range examples {
		if x.Sample < 0 || x.Sample >= len(labels) {
			return math.Inf(-1)
		}
		classes[x.Class] = true
	}
	each, sum := concentration/float64(len(classes)+1), 0.0
	for _, x := range examples { // one after the other, each given those before
		l := labels[x.Sample]
		at := cell{l, x.Class}
		sum += math.Log((each + float64(cells[at])) / (concentration + float64(clusters[l])))
		cells[at]++
		clusters[l]++
	}
	return sum
}
