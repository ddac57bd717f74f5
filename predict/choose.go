package predict

import (
	"math"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/selection"
)

const (
	// grown is by what share the samples must have grown since the last choice of
	// granularity for another choice.
	grown = 0.1
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
	fused, err := graph.FromRows(u.ctx, n, m.Neighbourhoods.Of, u.threads)
	if err != nil {
		return nil, err
	}
	plan := selection.Settings{MaxNeighbours: set.Neighbours, Partition: set.Partition}
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
	return &Granularity{best.Neighbours, best.Resolution, best.Clusters, best.Score / present}, nil
}
