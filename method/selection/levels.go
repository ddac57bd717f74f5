package selection

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
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
	// Linked says that the clusters are those of average linkage.
	Linked bool
	// Compression is the candidate's.
	Compression float64
	// Score is what levels are compared by, the product of the candidate's Plateau, Agreement, Reproducibility and
	// Modularity and the squares of Evenness, of which the exponent falls as in Candidate.Score, and Apart().
	Score float64
}

const (
	// MostLevels bounds the levels.
	MostLevels = 7
	// Apart is the least ratio between the numbers of clusters of at least 3 samples of two
	// levels.
	Apart = 2.0
	// Beside is that of one level near the chosen one from all others.
	Beside = 1.2
	// supported is the least score of a level, as a share of the chosen one's.
	supported = 0.25
	// small is the number of samples from which on a cluster counts towards the distance
	// between levels.
	small = 3
)

// ladder returns the places of the candidates that become levels, the best one first. Of the
// others by falling score, it takes those whose number of clusters of at least 3 samples is
// well apart from those taken, and the first near the best that is apart from all by less: with it, what
// has nearly the right number of clusters is a step away.
func ladder(candidates []Candidate, scores []float64, best int) []int {
	order := make([]int, len(candidates))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b)
	})
	taken, heights, beside := []int{best}, []float64{height(candidates[best].labels)}, false
	for _, c := range order {
		if len(taken) == MostLevels || scores[c] <= 0 || scores[c] < supported*scores[best] {
			break
		}
		own, apart := height(candidates[c].labels), Apart
		within := func(h, ratio float64) bool { return max(h, own) < ratio*min(h, own) }
		if !beside && within(heights[0], Apart) {
			apart = Beside
		}
		if own == 0 || slices.ContainsFunc(heights, func(h float64) bool { return within(h, apart) }) {
			continue
		}
		beside = beside || apart == Beside
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

// Place says where another level belongs among those of the given labels, coarse to fine: at is its place, once
// the level at gone is taken out. That is the one of the nearest number of clusters, but not the level at keep, and
// only where there are as many levels as can be or the numbers differ by less than Apart; else gone is -1. kept is
// the place that the level at keep has then, -1 where keep is that of no level.
func Place(levels [][]int, keep int, own []int) (gone, at, kept int) {
	clusters := func(labels []int) float64 { return 1 + float64(slices.Max(append([]int{0}, labels...))) }
	gone = -1
	nearest := math.Inf(1)
	for l, labels := range levels {
		apart := clusters(labels) / clusters(own)
		if apart = max(apart, 1/apart); l != keep && apart < nearest {
			gone, nearest = l, apart
		}
	}
	if len(levels) < MostLevels && nearest >= Apart {
		gone = -1
	}
	for l, labels := range levels {
		if l != gone && clusters(labels) < clusters(own) {
			at++
		}
	}
	if kept = keep; gone >= 0 && kept > gone {
		kept--
	}
	if kept >= at {
		kept++
	}
	return gone, at, kept
}

// settled is a candidate whose partition was found.
type settled struct {
	graph     *graph.Graph
	partition *partition.Result
}

// settle finds the partitions of the candidates of a ladder, which have these scores, and the graph of the first.
func (s *searcher) settle(ctx context.Context, near neighbourhoods, candidates []Candidate, scores []float64, ladder []int, threads int, tick func(int)) (levels []Level, best settled, err error) {
	levels, failed := make([]Level, len(ladder)), make([]error, len(ladder))
	turns, graphs := make([]int, len(ladder)), map[int]*graphPair{}
	for at, c := range ladder {
		turns[at] = at
		k := candidates[c].Neighbours
		if graphs[k] == nil {
			graphs[k] = &graphPair{}
		}
		graphs[k].users.Add(1)
	}
	// Those of one graph follow each other, so that few graphs are held.
	slices.SortStableFunc(turns, func(a, b int) int {
		return cmp.Compare(candidates[ladder[b]].Neighbours, candidates[ladder[a]].Neighbours)
	})
	atOnce := min(parallel.Threads(threads), len(s.plan.neighbours)) // as many graphs as before
	err = parallel.Blocks(ctx, atOnce, len(turns), 1, func(_, turn, _ int) {
		at := turns[turn]
		c := &candidates[ladder[at]]
		g := graphs[c.Neighbours]
		if failed[at] = g.make(ctx, s, near, c.Neighbours, threads); failed[at] != nil {
			return
		}
		var found settled
		if found, failed[at] = s.refine(ctx, g, candidates, c); failed[at] == nil {
			levels[at] = newLevel(c, scores[ladder[at]], found.partition)
		}
		if at == 0 {
			best = found
		}
		if g.users.Add(-1) == 0 {
			g.free, g.known = nil, nil
		}
		tick(s.plan.settled()*(turn+1)/len(turns) - s.plan.settled()*turn/len(turns))
	})
	return levels, best, cmp.Or(append(failed, err)...)
}

// graphPair holds the refined graphs of a number of neighbours: without the constraints, and with
// them, where there are any.
type graphPair struct {
	once        sync.Once
	err         error
	users       atomic.Int32 // that have yet to use them
	free, known *graph.Graph
}

// make makes the graphs when it is first called.
func (g *graphPair) make(ctx context.Context, s *searcher, near neighbourhoods, k, threads int) error {
	g.once.Do(func() {
		if g.free, g.err = near.free.CoNeighbours(ctx, k, threads); g.err != nil || s.constraints == nil {
			return
		}
		if g.known, g.err = near.known.CoNeighbours(ctx, k, threads); g.err == nil {
			g.known, g.err = s.constraints.Propagate(ctx, g.known, threads)
		}
	})
	return g.err
}

// refine finds the partition of a candidate, with samples moved once more, and the graph that it is
// of. Constraints then change that partition where they touch it, and what follows from there, so
// that what is known costs nothing elsewhere: clusters that several doubt are taken apart, and
// samples moved on the graph to which the constraints are propagated.
func (s *searcher) refine(ctx context.Context, graphs *graphPair, candidates []Candidate, c *Candidate) (settled, error) {
	set := s.set.Partition
	if c.Divided > 0 {
		set.Levels = 1 // clusters as wholes would join again
	}
	refined := graphs.free
	series, err := partition.NewSeries(ctx, refined, s.plan.finest, s.set.Loose, set)
	if err != nil {
		return settled{}, err
	}
	found, err := series.Refine(ctx, c.Resolution, c.labels, s.random(c.Neighbours, -c.Resolution, 0))
	if err != nil || s.constraints == nil {
		return settled{refined, found}, err
	}
	refined = graphs.known
	given := opened(found.Labels, c, candidates, s.constraints)
	isOpen := !slices.Equal(given, found.Labels)
	found, err = partition.Mend(ctx, refined, c.Resolution, s.constraints, s.set.Partition, given, s.random(c.Neighbours, -c.Resolution, 1))
	if err != nil || !isOpen {
		return settled{refined, found}, err
	}
	// Parts that belong together after all must be able to join again.
	if series, err = partition.NewSeries(ctx, refined, s.plan.finest, s.constraints, set); err != nil {
		return settled{}, err
	}
	labels := make([]int32, len(found.Labels))
	for i, l := range found.Labels {
		labels[i] = int32(l)
	}
	found, err = series.Refine(ctx, c.Resolution, labels, s.random(c.Neighbours, -c.Resolution, 0))
	return settled{refined, found}, err
}

func newLevel(c *Candidate, score float64, found *partition.Result) Level {
	clusters := 0
	for _, l := range found.Labels {
		clusters = max(clusters, l+1)
	}
	return Level{
		Neighbours: c.Neighbours, Resolution: c.Resolution, Labels: found.Labels, Clusters: clusters,
		Stability: c.Stability(), Compression: c.Compression, Score: score,
	}
}

// setLevels sorts the levels, of which the chosen one comes first.
func (r *Result) setLevels(levels []Level) {
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

const (
	// breadth is the standard deviation of the logarithm of the number of clusters around one
	// that is asked for.
	breadth = 0.35
	// trust is the power of the score beside the examples: few of them agree with many
	// partitions.
	trust = 0.2
	// negligible is a score where there is none.
	negligible = 1e-9
)

// Suitability says how well a partition of the given score is what is asked for. With a number of
// clusters K above 0, it is the score times
//
//	exp(-(log(clusters of at least 3 samples / K) / 0.35)^2 / 2).
//
// With examples, it is
//
//	score^0.2 sqrt((p A + 8 · 0.3) / (p + 8) · (r + 8 · 0.3) / (m + 8)),
//
// with A the adjusted Rand index on the m examples, at least 0, and p their pairs of one class; r counts those whose
// cluster holds more other examples of their class than of any other one, or no other where they are the only
// one of their class. The eights keep few examples of many classes from choosing by chance. It is 0 where labels are below 0 or
// examples out of range.
func Suitability[L int | int32](labels []L, score float64, clusters int, examples []Example) float64 {
	for _, l := range labels {
		if l < 0 || int(l) > len(labels) {
			return 0
		}
	}
	w := max(negligible, score)
	if len(examples) > 0 {
		w = math.Pow(w, trust) * agreement(labels, examples)
	}
	if clusters > 0 {
		off := math.Log(max(0.5, height(labels))/float64(clusters)) / breadth
		w *= math.Exp(-off * off / 2)
	}
	return w
}

// agreement returns the root in Suitability.
func agreement[L int | int32](labels []L, examples []Example) float64 {
	type cell struct {
		cluster L
		class   int
	}
	cells, clusters, classes := map[cell]int{}, map[L]int{}, map[int]int{}
	most, next := map[L]int{}, map[L]int{} // by cluster: of the class with the most examples, and the next
	for _, x := range examples {
		if x.Sample < 0 || x.Sample >= len(labels) {
			return 0
		}
		l := labels[x.Sample]
		cells[cell{l, x.Class}]++
		clusters[l]++
		classes[x.Class]++
	}
	together := pairsOf(cells)
	for at, n := range cells {
		if n > most[at.cluster] {
			most[at.cluster], next[at.cluster] = n, most[at.cluster]
		} else {
			next[at.cluster] = max(next[at.cluster], n)
		}
	}
	right := 0.0
	for at, n := range cells {
		other := most[at.cluster]
		if n == other {
			other = next[at.cluster]
		}
		switch {
		case n-1 > other:
			right += float64(n)
		case n > 1 && n-1 == other:
			right += float64(n) / 2
		case other == 0 && classes[at.class] == 1:
			right++
		}
	}
	pairs := pairsOf(classes) // of one class
	rand := max(0, adjusted(together, pairsOf(clusters), pairs, len(examples)))
	return math.Sqrt((pairs*rand + prior*usual) / (pairs + prior) * (right + prior*usual) / (float64(len(examples)) + prior))
}

// Few examples of many classes hardly tell which partition they suit: agreement counts as if there were
// that many more pairs and examples, prior in number, of which the usual share agrees.
const (
	prior = 8
	usual = 0.3
)

// pairsOf counts the pairs within groups of the given sizes.
func pairsOf[K comparable](sizes map[K]int) float64 {
	pairs := 0.0
	for _, n := range sizes {
		pairs += float64(n) * float64(n-1) / 2
	}
	return pairs
}
