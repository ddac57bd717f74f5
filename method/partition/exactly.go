package partition

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// CountError says that no partition has the number of clusters asked for.
type CountError struct {
	// Clusters is that number, and Most or Fewest the next that there is; the other is 0.
	Clusters, Most, Fewest int
}

// Error returns one sentence.
func (e *CountError) Error() string {
	if e.Most > 0 {
		return fmt.Sprintf("there cannot be %d clusters, only %d: samples that must be together, or are equal, are one; ask for at most %d", e.Clusters, e.Most, e.Most)
	}
	return fmt.Sprintf("%d clusters are too few: the pairs that must not be together need %d as the others are merged; ask for at least %d, or remove some of them", e.Clusters, e.Fewest, e.Fewest)
}

// Exactly returns a partition of g into exactly so many clusters, found from labels on, which hold
// the cluster of every sample, at least 0, and must meet the constraints. Where they are more
// clusters, those are merged, one pair after another: the pair by which the objective of Find
// rises least. Where they are fewer, they are split: each is partitioned by itself at rising
// resolutions until there are enough, and what was one cluster is merged again as far as there
// are too many. A resolution of 0 stands for 1. The labels of the result are numbered as those
// of Find; it has no sweeps. The errors are those of Find, labels that are not one per sample,
// and a *CountError.
func Exactly(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, labels []int, clusters int, random *rand.Rand) (*Result, error) {
	if err := check(g, resolution, constraints, &set); err != nil {
		return nil, err
	}
	if random == nil {
		return nil, errNoRandom
	}
	if err := checkLabels(labels, g.Samples()); err != nil {
		return nil, err
	}
	if clusters < 1 {
		return nil, errors.New("there is at least 1 cluster; ask for more")
	}
	if resolution == 0 {
		resolution = 1
	}
	parts, count := ranked(labels)
	parents := parts
	if count < clusters {
		var err error
		if parts, count, err = split(ctx, g, resolution, constraints, set, parts, clusters, random); err != nil {
			return nil, err
		}
	} else {
		parents = make([]int32, len(parts))
	}
	m := newMerger(g, resolution, constraints, parts, count, parents)
	if left := m.run(clusters); left > clusters {
		return nil, &CountError{Clusters: clusters, Fewest: left}
	}
	return &Result{Labels: Number(m.labels(parts))}, ctx.Err()
}

// ranked numbers labels from 0, in their order, and counts them.
func ranked(labels []int) ([]int32, int) {
	out, most := compacted(labels), int32(-1)
	for _, l := range out {
		most = max(most, l)
	}
	return out, int(most) + 1
}

// finer is the factor between the resolutions at which clusters are split, and mostFiner bounds
// how many are tried: at the last, no two samples are worth being together.
const (
	finer     = 1.6
	mostFiner = 60
	largest   = 1e12 // resolution that there is
)

// split returns a partition within the given one of at least so many clusters.
func split(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings, parts []int32, clusters int, random *rand.Rand) ([]int32, int, error) {
	inner, err := graph.FromRows(ctx, g.Samples(), func(i int) ([]int32, []float32) {
		index, weight := g.Of(i)
		var to []int32
		var w []float32
		for e, j := range index {
			if parts[j] == parts[i] {
				to, w = append(to, j), append(w, weight[e])
			}
		}
		return to, w
	}, 0)
	if err != nil {
		return nil, 0, err
	}
	most := 0
	for range mostFiner {
		found, err := Find(ctx, inner, resolution, constraints, set, random, nil)
		if err != nil {
			return nil, 0, err
		}
		within, count := ranked(found.Labels)
		if count >= clusters {
			return within, count, nil
		}
		most = max(most, count)
		resolution = min(largest, resolution*finer)
	}
	return nil, 0, &CountError{Clusters: clusters, Most: most}
}

// merger merges clusters. Those of one parent alone are merged.
type merger struct {
	parent []int32             // cluster -> what it is a part of
	into   []int32             // cluster -> what it was merged into, or itself
	degree []float64           // cluster -> sum of its samples' degrees
	rate   float64             // what a product of degrees costs
	links  []map[int32]float64 // cluster -> other cluster of its parent -> sum of the weights between
	apart  []map[int32]bool    // cluster -> the exclusions that it has a member of; nil for none
	change []int               // cluster -> how often it was merged
	queue  pulls               // of linked clusters
	least  pulls               // clusters by rising degree: a is the cluster
}

// pull is how much of the objective two clusters gain by being one. It holds as long as neither
// has changed.
type pull struct {
	strength float64
	a, b     int32
	changes  int
}

type pulls []pull

func (p pulls) Len() int      { return len(p) }
func (p pulls) Swap(a, b int) { p[a], p[b] = p[b], p[a] }
func (p pulls) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(p[b].strength, p[a].strength), cmp.Compare(p[a].a, p[b].a), cmp.Compare(p[a].b, p[b].b)) < 0
}
func (p *pulls) Push(x any) { *p = append(*p, x.(pull)) }
func (p *pulls) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}

func newMerger(g *graph.Graph, resolution float64, constraints *constraint.Resolved, parts []int32, count int, parents []int32) *merger {
	m := &merger{
		parent: make([]int32, count), into: make([]int32, count), degree: make([]float64, count),
		links: make([]map[int32]float64, count), apart: make([]map[int32]bool, count), change: make([]int, count),
	}
	for c := range m.into {
		m.into[c], m.links[c] = int32(c), map[int32]float64{}
	}
	var exclusions sparse.Rows[int32]
	if constraints != nil {
		exclusions = constraints.Exclusions
	}
	all := 0.0
	for i, c := range parts {
		m.parent[c] = parents[i]
		if exclusions.Len() > 0 {
			for _, x := range exclusions.Of(i) {
				if m.apart[c] == nil {
					m.apart[c] = map[int32]bool{}
				}
				m.apart[c][x] = true
			}
		}
		index, weight := g.Of(i)
		for e, j := range index {
			m.degree[c] += float64(weight[e])
			all += float64(weight[e])
			if d := parts[j]; d != c && parents[j] == parents[i] {
				m.links[c][d] += float64(weight[e])
			}
		}
	}
	if all > 0 {
		m.rate = resolution / all
	}
	for c := range m.links {
		m.least = append(m.least, m.size(int32(c)))
		for d := range m.links[c] {
			if int32(c) < d {
				m.queue = append(m.queue, m.pull(int32(c), d))
			}
		}
	}
	heap.Init(&m.queue)
	heap.Init(&m.least)
	return m
}

// pull returns that of two clusters.
func (m *merger) pull(a, b int32) pull {
	a, b = min(a, b), max(a, b)
	return pull{m.links[a][b] - m.rate*m.degree[a]*m.degree[b], a, b, m.change[a] + m.change[b]}
}

// size returns the entry of a cluster among the least.
func (m *merger) size(c int32) pull { return pull{-m.degree[c], c, c, 2 * m.change[c]} }

// holds reports whether neither cluster of a pull has changed.
func (m *merger) holds(p pull) bool {
	return m.into[p.a] == p.a && m.into[p.b] == p.b && p.changes == m.change[p.a]+m.change[p.b]
}

// run merges until so many clusters are left, or no two can be merged, and returns how many are.
func (m *merger) run(clusters int) int {
	left := len(m.into)
	for ; left > clusters && m.queue.Len() > 0; left-- {
		p, small := m.queue[0], m.smallest()
		switch {
		case !m.holds(p) || !m.may(p.a, p.b):
			heap.Pop(&m.queue)
			left++
		case small.strength > p.strength:
			m.merge(small.a, small.b)
		default:
			m.merge(p.a, p.b)
		}
	}
	return m.rest(left, clusters)
}

// smallest returns the pull of the two clusters of the least degrees, which need not be linked:
// it costs hardly anything to merge them. Its strength is -Inf where they must not be merged.
func (m *merger) smallest() pull {
	var two []pull
	for len(two) < 2 && m.least.Len() > 0 {
		if p := heap.Pop(&m.least).(pull); m.holds(p) {
			two = append(two, p)
		}
	}
	for _, p := range two {
		heap.Push(&m.least, p)
	}
	if len(two) < 2 || m.parent[two[0].a] != m.parent[two[1].a] || !m.may(two[0].a, two[1].a) {
		return pull{strength: math.Inf(-1)}
	}
	return m.pull(two[0].a, two[1].a)
}

// rest merges clusters without links between them, those of the least degrees first.
func (m *merger) rest(left, clusters int) int {
	var order []int32
	for c, d := range m.into {
		if left > clusters && int32(c) == d {
			order = append(order, d)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(m.degree[a], m.degree[b]) })
	for at, a := range order {
		for _, b := range order[at+1:] {
			if left > clusters && m.parent[a] == m.parent[b] && m.may(a, b) {
				m.merge(b, a)
				left--
				break
			}
		}
	}
	return left
}

// may reports whether no exclusion keeps two clusters apart.
func (m *merger) may(a, b int32) bool {
	few, many := m.apart[a], m.apart[b]
	if len(few) > len(many) {
		few, many = many, few
	}
	for x := range few {
		if many[x] {
			return false
		}
	}
	return true
}

// merge makes cluster b part of a.
func (m *merger) merge(a, b int32) {
	m.into[b] = a
	m.degree[a] += m.degree[b]
	m.change[a]++
	for x := range m.apart[b] {
		if m.apart[a] == nil {
			m.apart[a] = map[int32]bool{}
		}
		m.apart[a][x] = true
	}
	for c, w := range m.links[b] {
		delete(m.links[c], b)
		if c != a {
			m.links[a][c] += w
			m.links[c][a] += w
		}
	}
	m.links[b], m.apart[b] = nil, nil
	heap.Push(&m.least, m.size(a))
	for c := range m.links[a] {
		heap.Push(&m.queue, m.pull(a, c))
	}
}

// labels returns the cluster of every sample.
func (m *merger) labels(parts []int32) []int32 {
	out := make([]int32, len(parts))
	for i, c := range parts {
		for m.into[c] != c {
			m.into[c] = m.into[m.into[c]]
			c = m.into[c]
		}
		out[i] = c
	}
	return out
}
