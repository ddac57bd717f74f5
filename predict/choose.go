package predict

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/discriminant"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/separation"
	"github.com/mvclust/mvclust/score"
)

const (
	// grown is by what share the samples must have grown since the last choice of
	// granularity for another choice, and since the resolution was set for another one.
	grown = 0.1
	// finer is the ratio of two resolutions that are tried one after the other.
	finer = 1.2
	// better is the least ratio of the best score to the present one that is no noise.
	better = 1.5
)

// Granularity is one that an update did not take, but found better.
type Granularity struct {
	Neighbours int     `json:"neighbors"`
	Resolution float64 `json:"resolution"`
	// Clusters is the number of clusters, and Gain the ratio of its score to that of the
	// present granularity.
	Clusters int     `json:"clusters"`
	Gain     float64 `json:"gain"`
	// Level is its place among the levels of the new model, -1 where that has none.
	Level int `json:"level"`

	level selection.Level
}

// anchorOrders is in how many orders of moves anchor partitions: one that ends in a poor partition hides nothing.
const anchorOrders = 3

// anchor sets the resolution, where the samples have grown since it was last set, to that of those
// tried whose clusters are the most like those of the old model, by the largest adjusted Rand index on
// its samples in a few orders of moves; of equals to the highest. The resolution rises with the samples,
// so that clusters without new links stay as they are, and would in the end divide every cluster.
func (u *update) anchor() error {
	set, old, n := &u.next.Settings, u.old.Samples(), u.next.Graph.Samples()
	since := set.Anchored
	if since == 0 {
		since = old
	}
	set.Anchored = since
	growth := float64(n) / float64(since)
	if set.Resolution <= 0 || growth < 1+grown {
		return nil
	}
	set.Anchored = n
	resolutions := []float64{set.Resolution}
	for r := set.Resolution; r > set.Resolution/(finer*growth*growth); {
		r /= finer
		resolutions = append(resolutions, r)
	}
	slices.Reverse(resolutions)
	series, err := partition.NewSeries(u.ctx, u.next.Graph, set.Resolution, u.known, set.Partition)
	if err != nil {
		return err
	}
	like, found := make([]float64, len(resolutions)), make([]int, old)
	for o := range uint64(anchorOrders) {
		random := func(resolution float64) *rand.Rand {
			return rand.New(rand.NewPCG(set.Seed^math.Float64bits(resolution)^o<<48, anchorStream))
		}
		_, err = series.Each(u.ctx, resolutions, random, func(r int, labels []int32, _ int) {
			for i := range found {
				found[i] = int(labels[i])
			}
			if same, err := score.Compare(u.old.Labels, found); err == nil {
				like[r] = max(like[r], same.ARI)
			}
		})
		if err != nil {
			return err
		}
	}
	best := len(resolutions) - 1
	for r := best; r >= 0; r-- {
		if like[r] > like[best] {
			best = r
		}
	}
	set.Resolution = resolutions[best]
	return nil
}

// look returns a better number of neighbours and resolution, where Fit chose them, there are
// many new samples and the best of those tried is clearly better; else nil. There can be no more
// neighbours than the model has.
func (u *update) look() (*Granularity, error) {
	m, set, n := u.next, &u.next.Settings, u.next.Graph.Samples()
	if set.Chosen == 0 || m.Neighbourhoods == nil || float64(n) < (1+grown)*float64(set.Chosen) {
		return nil, nil
	}
	set.Chosen = n
	fused, err := graph.FromRows(u.ctx, n, m.Neighbourhoods.First(set.Neighbours).Of, u.threads)
	if err != nil {
		return nil, err
	}
	plan := selection.Settings{MaxNeighbours: set.Neighbours, Partition: set.Partition}
	features, err := separation.Read(u.ctx, viewsOf(m), u.threads)
	if err != nil {
		return nil, err
	}
	leftOut := make([]bool, len(m.Views))
	for v := range leftOut {
		leftOut[v] = m.Views[v].LeftOut
	}
	plan.Features = features.Features(nil, leftOut)
	if n <= discriminant.MaxSamples {
		spaces, err := m.Spaces(u.ctx, u.threads)
		if err != nil {
			return nil, err
		}
		if plan.Discriminant, err = discriminant.Read(u.ctx, spaces, u.threads); err != nil {
			return nil, err
		}
	}
	found, err := selection.Search(u.ctx, fused, u.known, plan, set.Seed, u.threads, nil)
	if err != nil {
		return nil, err
	}
	best, present := &found.Candidates[found.Best], 0.0
	apart := math.Inf(1)
	for _, c := range found.Candidates {
		if d := math.Abs(math.Log(c.Resolution / set.Resolution)); c.Neighbours == set.Neighbours && d < apart {
			apart, present = d, c.Score
		}
	}
	if math.IsInf(apart, 1) || present <= 0 || best.Score <= better*present {
		return nil, nil
	}
	return &Granularity{best.Neighbours, best.Resolution, best.Clusters, best.Score / present, -1, found.Levels[found.Level]}, nil
}
