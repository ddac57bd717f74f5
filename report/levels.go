package report

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/method/partition"
)

// Level is a granularity that the page can show.
type Level struct {
	mvclust.Level
	// Profile describes the largest clusters by the links of the result, and Colours holds the
	// numbers of their colours. A cluster has the colour of the one, at the next level towards
	// the result's, that it shares most samples with, where it is the largest part of that.
	Profile []explain.Cluster `json:"profile"`
	Colours []int             `json:"colours"`

	labels     []int
	confidence []float64
	sizes      []int // of all clusters
	counts     [][]int
}

// addLevels adds the levels of a result, with the result itself at its place among them.
func (r *Report) addLevels(ctx context.Context, result *mvclust.Result, opt *Options) error {
	own := Level{Profile: r.Clusters, Colours: r.Map.Colours, labels: r.labels, confidence: r.confidence, sizes: result.Sizes}
	own.Clusters = r.Number
	if r.Truth != nil {
		own.counts = r.Truth.Counts
	}
	for at, l := range result.Levels {
		level := Level{Level: l, labels: l.Labels}
		if at == result.Level {
			own.Level = l
			level = own
		} else if err := r.describeLevel(ctx, result, &level, opt); err != nil {
			return err
		}
		r.Levels = append(r.Levels, level)
	}
	r.Level = result.Level
	if r.Level < 0 || r.Level >= len(result.Levels) { // no level, or changed since
		r.Level = 0
		for r.Level < len(r.Levels) && r.Levels[r.Level].Clusters < own.Clusters {
			r.Level++
		}
		r.Levels = slices.Insert(r.Levels, r.Level, own)
	}
	for at := r.Level + 1; at < len(r.Levels); at++ {
		r.Levels[at].paintAfter(&r.Levels[at-1], r.Map)
	}
	for at := r.Level - 1; at >= 0; at-- {
		r.Levels[at].paintAfter(&r.Levels[at+1], r.Map)
	}
	return nil
}

// describeLevel describes the clusters of a level.
func (r *Report) describeLevel(ctx context.Context, result *mvclust.Result, l *Level, opt *Options) (err error) {
	if l.confidence, err = partition.Confidence(result.Graph, l.labels); err != nil {
		return err
	}
	l.sizes = make([]int, l.Clusters)
	for _, c := range l.labels {
		l.sizes[c]++
	}
	l.Profile, err = explain.Describe(ctx, result.Graph, l.labels, l.confidence, explain.DescribeSettings{
		First: maxClusters, Resolution: l.Resolution, Clip: result.Options.Partition.Clip,
	}, opt.Threads)
	if err == nil && opt.Truth != nil {
		l.counts = countClasses(l.labels, len(l.Profile), opt.Truth, len(opt.Classes))
	}
	return err
}

// paintAfter colours a level after a level whose colours are known.
func (l *Level) paintAfter(known *Level, m *Map) {
	common := map[[2]int]int{}
	for i, c := range l.labels {
		common[[2]int{c, known.labels[i]}]++
	}
	// Of every cluster there, the largest part; of every cluster here, what it is a part of.
	part, whole := map[int][2]int{}, map[int][2]int{}
	for pair, n := range common {
		keep(part, pair[1], pair[0], n)
		keep(whole, pair[0], pair[1], n)
	}
	kept := map[int]int{}
	for c, w := range whole {
		if w[0] < len(known.Colours) && part[w[0]][0] == c {
			kept[c] = known.Colours[w[0]]
		}
	}
	l.Colours = m.paint(l.labels, len(l.Profile), kept)
}

// keep notes what shares most samples with a cluster, and how many; of several the lowest.
func keep(best map[int][2]int, cluster, other, n int) {
	if old, ok := best[cluster]; !ok || n > old[1] || n == old[1] && other < old[0] {
		best[cluster] = [2]int{other, n}
	}
}

// singles returns the number of clusters of a single sample.
func (l *Level) singles() int {
	n := 0
	for _, size := range l.sizes {
		if size == 1 {
			n++
		}
	}
	return n
}

// colour returns the number of a cluster's colour, by the same rule as the script.
func (l *Level) colour(c int) int {
	switch {
	case c >= l.Clusters-l.singles():
		return colours // for clusters of a single sample
	case c < len(l.Colours):
		return l.Colours[c]
	}
	return c % colours
}
