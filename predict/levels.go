package predict

import (
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/selection"
)

// levels sets the levels of the new model: those of the old one, in which every new sample joins
// the cluster that it has the most probability to, the current one as it is now, and better, if
// it is not nil, as one more.
func (u *update) levels(old *mvclust.Model, better *Granularity) {
	m := u.next
	m.Levels, m.Level = nil, -1
	for at := range old.Levels {
		l := old.Levels[at]
		if at == old.Level {
			m.Level = at
			l.Resolution, l.Labels = m.Settings.Resolution, partition.Number(m.Labels)
		} else {
			l.Labels = u.placed(&l)
		}
		m.Levels = append(m.Levels, l)
	}
	if better != nil && len(m.Levels) > 0 {
		u.offer(better)
	}
	for at := range m.Levels {
		l := &m.Levels[at]
		l.Clusters, l.Nested = 1+slices.Max(l.Labels), 1
		if at > 0 {
			_, l.Nested = l.Within(&m.Levels[at-1])
		}
	}
}

// placed returns the labels of a level with the new samples. Those of a cluster that the update
// has found, and that are new alone, are one in a finer level, too.
func (u *update) placed(l *mvclust.Level) []int {
	n, all := u.old.Samples(), u.next.Labels
	labels := slices.Concat(l.Labels, slices.Repeat([]int{-1}, u.count))
	fresh := slices.Repeat([]bool{true}, 1+slices.Max(all))
	for _, c := range all[:n] {
		fresh[c] = false
	}
	next := l.Clusters
	made := map[int]int{} // the cluster for the samples of one that is new
	alone := func(i int) {
		c, ok := made[all[i]]
		if !ok {
			c, made[all[i]] = next, next
			next++
		}
		labels[i] = c
	}
	var open []int
	for i := n; i < len(labels); i++ {
		if fresh[all[i]] && l.Clusters >= u.old.Clusters() {
			alone(i)
		} else {
			open = append(open, i)
		}
	}
	for found := true; found; {
		joins := map[int]int{}
		open = slices.DeleteFunc(open, func(i int) bool {
			c := u.nearest(i, l.Neighbours, labels)
			if c >= 0 {
				joins[i] = c
			}
			return c >= 0
		})
		for i, c := range joins {
			labels[i] = c
		}
		found = len(joins) > 0
	}
	for _, i := range open {
		alone(i)
	}
	return partition.Number(labels)
}

// nearest returns the cluster that sample i has the most probability to, over its k neighbours, of
// equals the lowest; -1 if none of them is in a cluster.
func (u *update) nearest(i, k int, labels []int) int {
	near, p := u.next.Neighbourhoods.Of(i)
	sums := map[int]float64{}
	for at, j := range near[:min(k, len(near))] {
		if c := labels[j]; c >= 0 {
			sums[c] += float64(p[at])
		}
	}
	best := -1
	for c, sum := range sums {
		if best < 0 || sum > sums[best] || sum == sums[best] && c < best {
			best = c
		}
	}
	return best
}

// offer makes a better granularity a level. It takes the place of the nearest one that is not
// current where there are as many levels as can be, or where their numbers of clusters are close.
func (u *update) offer(better *Granularity) {
	m := u.next
	level := mvclust.Level{
		Neighbours: better.Neighbours, Resolution: better.Resolution, Score: better.level.Score,
		Stability: better.level.Stability, Compression: better.level.Compression, Labels: partition.Number(better.level.Labels),
	}
	labels := make([][]int, len(m.Levels))
	for at := range m.Levels {
		labels[at] = m.Levels[at].Labels
	}
	gone, at, now := selection.Place(labels, m.Level, level.Labels)
	if gone >= 0 {
		m.Levels = slices.Delete(m.Levels, gone, gone+1)
	}
	m.Levels, m.Level = slices.Insert(m.Levels, at, level), now
	better.Level = at
}
