package selection

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
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
	// apart is the least ratio between the numbers of clusters of two levels.
	apart = 1.7
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
		if own == 0 || slices.ContainsFunc(heights, func(h float64) bool { return max(h, own) < apart*min(h, own) }) {
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
	err := parallel.Blocks(ctx, threads, len(ladder)-1, 1, func(_, at, _ int) {
		c := &candidates[ladder[at+1]]
		found, err := s.refine(ctx, near, c)
		if failed[at] = err; err == nil {
			levels[at+1] = newLevel(c, found)
		}
	})
	return levels, cmp.Or(append(failed, err)...)
}

// refine finds the partition of a candidate, with samples moved once more.
func (s *searcher) refine(ctx context.Context, near *refine.Neighbourhoods, c *Candidate) (*partition.Result, error) {
	refined, err := s.refined(ctx, near, c.Neighbours, 1)
	if err != nil {
		return nil, err
	}
	series, err := s.series(ctx, refined)
	if err != nil {
		return nil, err
	}
	return series.Refine(ctx, c.Resolution, c.labels, s.random(c.Neighbours, -c.Resolution))
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
