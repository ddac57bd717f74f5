package mvclust

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/sparse"
)

// Level is a granularity that the data support.
type Level struct {
	// Neighbours is K, the number of most probable neighbours that samples are compared by,
	// and Resolution that of the partition.
	Neighbours int     `json:"neighbors"`
	Resolution float64 `json:"resolution"`
	// Clusters is the number of clusters.
	Clusters int `json:"clusters"`
	// Stability says how well the partition is found again with other neighbours and another
	// resolution, from 0 to 1: the plateau times the agreement of selection.Candidate.
	Stability float64 `json:"stability"`
	// Linked says that the clusters are those of average linkage, which one distance tells: no moves found them.
	// Stability is then linkage.Cut's F1 times Least.
	Linked bool `json:"linked,omitempty"`
	// Compression is the share by which the clusters shorten the description of a random walk
	// between nearest neighbours: how much they explain.
	Compression float64 `json:"compression"`
	// Score is that of selection.Level, by which levels are compared, from 0 to 1.
	Score float64 `json:"score"`
	// Nested says how far the clusters lie within those of the next coarser level: the share of
	// the samples that are where most of their cluster is. It is 1 for the coarsest level.
	Nested float64 `json:"nested"`
	// Labels holds the cluster of every sample, numbered from 0 by falling size.
	Labels []int `json:"-"`
}

// newLevels numbers the levels as the views do.
func newLevels(found []selection.Level, order sparse.Permutation) []Level {
	var levels []Level
	for _, l := range found {
		levels = append(levels, Level{
			Neighbours: l.Neighbours, Resolution: l.Resolution, Clusters: l.Clusters, Stability: l.Stability,
			Compression: l.Compression, Score: l.Score, Linked: l.Linked, Labels: partition.Number(sparse.Scatter(order, l.Labels)),
		})
	}
	setNested(levels)
	return levels
}

// mostNeighbours returns the number of neighbours that the partition or a level needs.
func (c *clustering) mostNeighbours() int {
	most := c.granularity.Neighbours
	for _, l := range c.levels {
		most = max(most, l.Neighbours)
	}
	return most
}

// setNested sets how far the levels are nested.
func setNested(levels []Level) {
	for at := range levels {
		levels[at].Nested = 1
		if at > 0 {
			_, levels[at].Nested = levels[at].Within(&levels[at-1])
		}
	}
}

// Within returns, for every cluster, the one of a coarser level that most of its samples are in,
// of several the lowest, and the share of all samples that are in those. It returns nothing
// where the levels are not of the same samples.
func (l *Level) Within(coarser *Level) (parents []int, share float64) {
	if l == nil || coarser == nil || len(l.Labels) != len(coarser.Labels) || len(l.Labels) == 0 {
		return nil, 0
	}
	common := map[[2]int]int{}
	clusters := 0
	for i, c := range l.Labels {
		if c < 0 || c >= len(l.Labels) {
			return nil, 0
		}
		common[[2]int{c, coarser.Labels[i]}]++
		clusters = max(clusters, c+1)
	}
	parents = make([]int, clusters)
	most := make([]int, clusters)
	for pair, n := range common {
		if c, parent := pair[0], pair[1]; n > most[c] || n == most[c] && parent < parents[c] {
			most[c], parents[c] = n, parent
		}
	}
	within := 0
	for _, n := range most {
		within += n
	}
	return parents, float64(within) / float64(len(l.Labels))
}

// Beside returns the levels next to the clusters, or -1 where there is none: of those with fewer
// clusters the one with the most, and of those with more the one with the fewest.
func (m *Model) Beside() (coarser, finer int) {
	n := len(m.Levels)
	if m.Level >= 0 && m.Level < n {
		coarser, finer = m.Level-1, m.Level+1
	} else { // between two levels, or beyond all
		now := m.Clusters()
		for finer < n && m.Levels[finer].Clusters <= now {
			finer++
		}
		coarser = finer - 1
		for coarser >= 0 && m.Levels[coarser].Clusters >= now {
			coarser--
		}
	}
	if finer >= n {
		finer = -1
	}
	return coarser, finer
}

// validateLevels checks Levels and Level.
func (m *Model) validateLevels() error {
	if len(m.Levels) > selection.MostLevels {
		return fmt.Errorf("there are %d levels, and at most %d are kept", len(m.Levels), selection.MostLevels)
	}
	if m.Level < -1 || m.Level >= max(1, len(m.Levels)) {
		return fmt.Errorf("there is no level %d", m.Level)
	}
	for at := range m.Levels {
		if err := m.Levels[at].validate(m.Samples()); err != nil {
			return fmt.Errorf("level %d: %w", at, err)
		}
	}
	return nil
}

// validate reports the first thing that makes the level unusable.
func (l *Level) validate(samples int) error {
	switch {
	case len(l.Labels) != samples:
		return fmt.Errorf("there are %d labels of %d samples", len(l.Labels), samples)
	case l.Neighbours < 1 || l.Neighbours >= samples:
		return fmt.Errorf("there are %d neighbours of each of %d samples", l.Neighbours, samples)
	case !(l.Resolution > 0 && l.Resolution <= 1e12):
		return fmt.Errorf("the resolution is %v", l.Resolution)
	case !(l.Stability >= 0 && l.Stability <= 1), !(l.Score >= 0 && l.Score <= 1), !(l.Nested >= 0 && l.Nested <= 1):
		return errors.New("a figure is not between 0 and 1")
	case !(math.Abs(l.Compression) <= math.MaxFloat64):
		return fmt.Errorf("the compression is %v", l.Compression)
	}
	seen, clusters := make([]bool, samples), 0
	for i, c := range l.Labels {
		if c < 0 || c >= samples {
			return fmt.Errorf("sample %d has label %d", i, c)
		}
		if !seen[c] {
			seen[c] = true
			clusters++
		}
	}
	if clusters != l.Clusters || slices.Contains(seen[:clusters], false) {
		return fmt.Errorf("it has labels of %d clusters, not %d numbered from 0", clusters, l.Clusters)
	}
	return nil
}

// Current returns a model of the current granularity alone: without the levels, and with the
// neighbours that its graph was made of. It shares the memory of m but for the neighbours, of
// which it holds a copy where m has more.
func (m *Model) Current() *Model {
	now := *m
	now.Levels, now.Level, now.read = nil, -1, nil
	if m.Neighbourhoods != nil {
		now.Neighbourhoods = m.Neighbourhoods.First(m.Settings.Neighbours)
	}
	return &now
}
