package mvclust

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/view"
)

// CutOptions say which granularity becomes the current one: that with so many Clusters, or the
// one that the Examples are for, or else Level.
type CutOptions struct {
	// Level is one of Model.Levels, counted from 0, the coarsest.
	Level int
	// Clusters, above 0, is the exact number of clusters.
	Clusters int
	// Examples choose the level, and are constraints, as Options.Examples are. nil stands for
	// those of the model, which are then constraints alone.
	Examples []Example
	// Threads bounds the goroutines that compute at a time; 0 stands for GOMAXPROCS. It does
	// not change the result.
	Threads int
}

// Cut returns a model in which another granularity is the current one: with its labels,
// confidences, graph and settings. It shares the memory of m, which stays as it is. The labels
// are those of a level, unless a number of clusters or examples ask for more. A number of
// clusters starts from the level that selection.Suitability prefers, or from a partition with
// another resolution that is nearer; see partition.Exactly. Of fewer than 30,000 samples, both are tried
// from the two best levels, and the partition of the largest modularity is taken, with little weight
// for the score of its level. An update of the new model does not choose the granularity anew.
//
// The errors are those of Model.Validate, *OptionError for options, *partition.CountError for a number of clusters that cannot be, and
// the context's own.
func (m *Model) Cut(ctx context.Context, opt CutOptions) (*Model, error) {
	if err := m.Usable(); err != nil {
		return nil, err
	}
	if opt.Clusters <= 0 && len(opt.Examples) == 0 && (opt.Level < 0 || opt.Level >= len(m.Levels)) {
		return nil, option.Errorf("Level", "there is no level %d; the model has %s, counted from 0", opt.Level, words.Count(len(m.Levels), "level"))
	}
	alike, err := m.alike(ctx, opt.Threads)
	if err != nil {
		return nil, err
	}
	next, err := m.cut(ctx, opt, alike)
	if err != nil {
		return nil, err
	}
	made := *next // as it is now, it is valid, as m is
	next.read = &made
	return next, ctx.Err()
}

// cut is Cut, with what Model.alike returns.
func (m *Model) cut(ctx context.Context, opt CutOptions, alike []int32) (*Model, error) {
	examples := opt.Examples
	if examples == nil {
		examples = m.Examples
	}
	c, err := newCutter(m.given(), examples, opt.Clusters, m.Samples(), opt.Threads)
	if err != nil {
		return nil, err
	}
	levels := []int{opt.Level}
	if opt.Clusters > 0 || len(opt.Examples) > 0 {
		levels = c.levels(m.Levels, m.Level, len(opt.Examples) > 0)
	}
	if opt.Clusters > 0 && len(opt.Examples) == 0 && len(levels) > 1 && m.Samples() < cutOnce {
		return m.cutBest(ctx, c, levels[:2], examples, alike)
	}
	return m.cutFrom(ctx, *c, levels[0], true, examples, alike)
}

// cutOnce is the number of samples from which on a number of clusters is made from one level alone, to
// save time.
const cutOnce = 30_000

// modest is the power of a level's score beside the modularity of what is made from it.
const modest = 0.1

// cutBest is cutFrom the one of the levels, or the nearer partition, for which
//
//	modularity score^0.1
//
// is the largest, with the modularity of what is made from it on the graph of the 10 most probable
// neighbours, and the score of the level. Partitions into as many clusters can be compared by that. Up to
// 5000 samples of which nothing is known, the clusters of average linkage are tried too, with the score of
// the first level.
func (m *Model) cutBest(ctx context.Context, c *cutter, levels []int, examples []Example, alike []int32) (*Model, error) {
	walk, err := walked(ctx, m.Neighbourhoods, m.Graph, c.threads)
	if err != nil {
		return nil, err
	}
	type try struct {
		level  int
		nearer bool
		made   *Model
		err    error
	}
	var tries []try
	for _, level := range levels {
		tries = append(tries, try{level: level, nearer: true}, try{level: level})
	}
	var together []int
	var failed error
	err = parallel.Blocks(ctx, c.threads, len(tries)+1, 1, func(_, at, _ int) {
		if at < len(tries) {
			t := &tries[at]
			t.made, t.err = m.cutFrom(ctx, *c, t.level, t.nearer, examples, alike)
		} else if m.Samples() <= MostLinked && m.Constraints.Empty() && len(examples) == 0 {
			together, failed = linked(ctx, m.Views, m.Samples(), c.clusters, alike, c.threads)
		}
	})
	if err := cmp.Or(err, failed); err != nil {
		return nil, err
	}
	if first := tries[0].made; first != nil && together != nil {
		next := *first
		next.Labels, next.Level, next.Linked = together, -1, true
		if next.Settings.Resolution, err = holding(ctx, next.Graph, next.Labels, next.Settings.Resolution, c.threads); err != nil {
			return nil, err
		}
		if next.Confidence, err = confidence(next.Graph, next.Labels, alike); err != nil {
			return nil, err
		}
		tries = append(tries, try{level: levels[0], made: &next})
	}
	var best *Model
	most := 0.0
	for _, t := range tries {
		if t.made == nil {
			continue
		}
		worth, err := selection.Modularity(walk, t.made.Labels)
		if err != nil {
			return nil, err
		}
		worth *= math.Pow(max(0, m.Levels[t.level].Score), modest)
		if best == nil || worth > most {
			best, most = t.made, worth
		}
	}
	if best == nil {
		return nil, tries[0].err
	}
	return best, nil
}

// cutFrom is Cut from a level, or from the current labels where it is -1; for a number of clusters with
// nearer from a partition of another resolution that has nearly as many. It changes a cutter of its own. alike
// is what alike returns.
func (m *Model) cutFrom(ctx context.Context, c cutter, level int, nearer bool, examples []Example, alike []int32) (*Model, error) {
	var err error
	next := *m
	next.Retired, next.Settings.Chosen, next.Settings.Anchored, next.Level = 0, 0, 0, level
	start := m.Labels // without levels
	if level >= 0 {
		l := &m.Levels[level]
		next.Settings.Neighbours, next.Settings.Resolution, start = l.Neighbours, l.Resolution, l.Labels
		// Of as many neighbours, the graph is that of m, unless something was known of pairs.
		if plain := alike == nil && m.Constraints.Empty(); !plain || l.Neighbours != m.Settings.Neighbours {
			if next.Graph, err = m.refined(ctx, l.Neighbours, c.given, c.threads); err != nil {
				return nil, err
			}
		}
	}
	c.keep(alike, start)
	p := &granular{next.Graph, start, next.Settings.Resolution, next.Settings.Partition, next.Settings.Seed}
	if level >= 0 && c.clusters > 0 && nearer {
		if err := c.approach(ctx, p); err != nil {
			return nil, err
		}
	}
	next.Against = Against(p.labels, examples)
	if err := c.meet(ctx, p); err != nil {
		return nil, err
	}
	if err := c.apply(ctx, p); err != nil {
		return nil, err
	}
	next.Graph, next.Labels, next.Settings.Resolution = p.graph, p.labels, p.resolution
	next.Examples, next.Constraints = examples, c.all
	if level >= 0 && !slices.Equal(next.Labels, m.Levels[level].Labels) {
		next.Level = -1
	}
	next.Linked = next.Level >= 0 && m.Levels[next.Level].Linked
	if next.Confidence, err = confidence(next.Graph, next.Labels, alike); err != nil {
		return nil, err
	}
	return &next, ctx.Err()
}

// alike returns, for every sample, the lowest one with equal rows, as equalRows does.
func (m *Model) alike(ctx context.Context, threads int) ([]int32, error) {
	views, leftOut := make([]*View, len(m.Views)), make([]bool, len(m.Views))
	for v := range m.Views {
		views[v], leftOut[v] = m.Views[v].Rows, m.Views[v].LeftOut
	}
	all, err := view.Equal(ctx, views, threads)
	if err != nil {
		return nil, err
	}
	return equalRows(ctx, views, leftOut, all, threads)
}

// refined makes the graph of the given number of neighbours anew.
func (m *Model) refined(ctx context.Context, neighbours int, known *constraint.Resolved, threads int) (*graph.Graph, error) {
	if m.Neighbourhoods == nil {
		return m.Graph, nil
	}
	refined, err := m.Neighbourhoods.CoNeighbours(ctx, neighbours, threads)
	if err != nil {
		return nil, err
	}
	return known.Propagate(ctx, refined, threads)
}

// given returns the constraints without those that follow from the examples.
func (m *Model) given() constraint.Set {
	set := m.Constraints
	own, err := examplesSet(m.Examples, m.Samples())
	if err != nil {
		return set
	}
	set.MustLink, set.CannotLink = lessPairs(set.MustLink, own.MustLink), lessPairs(set.CannotLink, own.CannotLink)
	return set
}

// lessPairs returns pairs without some of them, each of which is taken away once, where it is last.
func lessPairs(pairs, away [][2]int) [][2]int {
	sorted := func(p [2]int) [2]int { return [2]int{min(p[0], p[1]), max(p[0], p[1])} }
	left := map[[2]int]int{}
	for _, p := range away {
		left[sorted(p)]++
	}
	var out [][2]int
	for _, p := range slices.Backward(pairs) {
		if left[sorted(p)] == 0 {
			out = append(out, p)
		} else {
			left[sorted(p)]--
		}
	}
	slices.Reverse(out)
	return out
}

// granular is a partition of a graph that is being cut.
type granular struct {
	graph      *graph.Graph
	labels     []int
	resolution float64
	set        partition.Settings
	seed       uint64
}

// cutter changes partitions so that they are what was asked for.
type cutter struct {
	examples []selection.Example
	clusters int
	threads  int
	base     constraint.Set // as given
	all      constraint.Set // with what follows from the examples
	given    *constraint.Resolved
	known    *constraint.Resolved
	taught   *constraint.Resolved // what follows from the examples alone
	equal    []int32              // by sample: the lowest one with equal rows; nil where no two are equal
	alike    *constraint.Resolved // that they stay together, but for those of two classes
}

func newCutter(base constraint.Set, examples []Example, clusters, samples, threads int) (*cutter, error) {
	if err := checkClusters(clusters, samples); err != nil {
		return nil, err
	}
	own, err := examplesSet(examples, samples)
	if err != nil {
		return nil, err
	}
	c := &cutter{examples: numbered(examples), clusters: clusters, threads: threads, base: base, all: base}
	c.all.MustLink = slices.Concat(base.MustLink, own.MustLink)
	c.all.CannotLink = slices.Concat(base.CannotLink, own.CannotLink)
	if c.given, err = base.Resolve(samples); err != nil {
		return nil, err
	}
	if c.taught, err = own.Resolve(samples); err != nil {
		return nil, err
	}
	if c.known, err = c.all.Resolve(samples); err != nil {
		return nil, option.Errorf("Examples", "they and the constraints contradict each other (samples are counted from 0, and the links of the examples after those of the constraints): %v", err)
	}
	return c, nil
}

// keep keeps equal rows together that are in one cluster: alike holds the lowest of them by sample,
// or is nil. labels holds the clusters, or is nil where there are none yet.
func (c *cutter) keep(alike []int32, labels []int) {
	if alike == nil {
		return
	}
	c.equal, c.given, c.known = alike, c.given.Together(alike, labels), c.known.Together(alike, labels)
	classes := slices.Repeat([]int{-1}, len(alike)) // by the lowest of equal rows: the class of examples
	mixed := make([]bool, len(alike))
	for _, x := range c.examples {
		first := alike[x.Sample]
		mixed[first] = mixed[first] || classes[first] >= 0 && classes[first] != x.Class
		classes[first] = x.Class
	}
	pure := slices.Clone(alike)
	for i, first := range alike {
		if mixed[first] {
			pure[i] = int32(i)
		}
	}
	c.alike = (*constraint.Resolved)(nil).Together(pure, labels)
}

// checkClusters reports a number of clusters that so many samples cannot have.
func checkClusters(clusters, samples int) error {
	if clusters < 0 || clusters > samples {
		return option.Errorf("Clusters", "there cannot be %d clusters of %s; ask for 1 to %d, or for 0 to have the number chosen", clusters, words.Count(samples, "sample"), samples)
	}
	return nil
}

// levels returns the places of the levels, those that are best for what is asked for first and, of equals, the current one;
// -1 alone if there are none.
func (c *cutter) levels(levels []Level, current int, byExamples bool) []int {
	if len(levels) == 0 {
		return []int{-1}
	}
	var examples []selection.Example
	if byExamples {
		examples = c.examples
	}
	var order []int
	suits := make([]float64, len(levels))
	for at := range levels {
		order, suits[at] = append(order, at), selection.Suitability(levels[at].Labels, levels[at].Score, c.clusters, examples)
	}
	if current >= 0 {
		order = slices.Insert(slices.Delete(order, current, current+1), 0, current)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(suits[b], suits[a]) })
	return order
}

// cutStream keeps the random numbers of a cut apart from those of other stages.
const cutStream = 5

// random returns the source for a search at a resolution.
func (p *granular) random(resolution float64) *rand.Rand {
	return rand.New(rand.NewPCG(p.seed^math.Float64bits(resolution), cutStream))
}

// approach looks for a resolution at which there are nearly as many clusters as asked for, if
// the level is not near: the number rises about as the resolution does.
func (c *cutter) approach(ctx context.Context, p *granular) error {
	const near = 1.15
	have, want := float64(1+slices.Max(p.labels)), float64(c.clusters)
	if max(have, want) < near*min(have, want) || p.resolution <= 0 {
		return nil
	}
	var resolutions []float64
	for _, power := range []float64{0.5, 0.75, 1, 1.25, 1.5, 2} {
		resolutions = append(resolutions, min(1e12, p.resolution*math.Pow(want/have, power)))
	}
	slices.Sort(resolutions)
	resolutions = slices.Compact(resolutions)
	series, err := partition.NewSeries(ctx, p.graph, resolutions[len(resolutions)-1], c.given, p.set)
	if err != nil {
		return err
	}
	off, labels, resolution := math.Abs(math.Log(have/want)), []int32(nil), 0.0
	_, err = series.Each(ctx, resolutions, p.random, func(at int, found []int32, clusters int) {
		if d := math.Abs(math.Log(float64(clusters) / want)); d < off {
			off, labels, resolution = d, found, resolutions[at]
		}
	})
	if err != nil || labels == nil {
		return err
	}
	found, err := series.Refine(ctx, resolution, labels, p.random(-resolution))
	if err != nil {
		return err
	}
	p.labels, p.resolution = found.Labels, resolution
	return nil
}

// meet makes the partition meet the constraints that were given since the level was found.
func (c *cutter) meet(ctx context.Context, p *granular) error {
	if _, broken := c.given.Violation(p.labels); !broken {
		return nil
	}
	found, err := partition.Mend(ctx, p.graph, p.resolution, c.given, p.set, p.labels, p.random(p.resolution))
	if err != nil {
		return err
	}
	p.labels = found.Labels
	return nil
}

// apply makes the partition meet the examples and the number of clusters.
func (c *cutter) apply(ctx context.Context, p *granular) error {
	if len(c.examples) > 0 {
		if err := c.teach(ctx, p); err != nil {
			return err
		}
	}
	if c.clusters == 0 || 1+slices.Max(p.labels) == c.clusters {
		return nil
	}
	found, err := partition.Exactly(ctx, p.graph, p.resolution, c.known, p.set, p.labels, c.clusters, p.random(p.resolution))
	if err != nil {
		return err
	}
	p.labels = found.Labels
	return nil
}

// teach makes the partition meet the examples: clusters with examples of a class that rules no
// cluster are taken apart, those that one class rules become one, examples that are still
// elsewhere join them, and samples near those that moved move on.
func (c *cutter) teach(ctx context.Context, p *granular) error {
	var err error
	if p.graph, err = c.taught.Propagate(ctx, p.graph, c.threads); err != nil {
		return err
	}
	parts, err := partition.Separate(ctx, p.graph, p.resolution, c.alike, p.set, p.labels, separable(p.labels, c.examples), p.random(p.resolution))
	if err != nil {
		return err
	}
	labels, moved := taught(p.graph, parts, c.examples)
	moved = c.follow(labels, moved)
	if _, broken := c.known.Violation(labels); broken {
		// Constraints on other samples are in the way: the clusters are found anew.
		found, err := partition.Find(ctx, p.graph, p.resolution, c.known, p.set, p.random(p.resolution), nil)
		if err != nil {
			return err
		}
		p.labels = found.Labels
		return nil
	}
	touched := make([]bool, len(labels))
	for _, i := range moved {
		touched[i] = true
		index, _ := p.graph.Of(i)
		for _, j := range index {
			touched[j] = true
		}
	}
	found, err := partition.Resume(ctx, p.graph, p.resolution, c.known, p.set, labels, touched, p.random(p.resolution), nil)
	if err != nil {
		return err
	}
	if p.labels = found.Labels; float64(1+slices.Max(p.labels)) < left*float64(1+slices.Max(partition.Number(labels))) {
		p.labels = partition.Number(labels)
	}
	return nil
}

// left is the least share of the clusters that meet the examples which moves may leave: fewer are another
// granularity, as where clusters of average linkage become one.
const left = 0.5

// separable returns the class of the examples in clusters of which a class is to get a part, since
// it rules no cluster, and -1 for all other samples. Elsewhere a few examples in the wrong cluster
// are no reason to take it apart.
func separable(labels []int, examples []selection.Example) []int {
	rules, _ := rulers(labels, examples)
	home, open := map[int]bool{}, map[int]bool{}
	for _, class := range rules {
		home[class] = true
	}
	for _, x := range examples {
		if !home[x.Class] {
			open[labels[x.Sample]] = true
		}
	}
	class := slices.Repeat([]int{-1}, len(labels))
	for _, x := range examples {
		if open[labels[x.Sample]] {
			class[x.Sample] = x.Class
		}
	}
	return class
}

// follow puts samples with rows equal to an example's into its cluster, unless constraints keep
// them apart, and adds them to those that have moved.
func (c *cutter) follow(labels, moved []int) []int {
	if c.equal == nil {
		return moved
	}
	nodes, _ := c.known.Nodes()
	type place struct{ equal, node int32 }
	to := map[place]int{}
	for _, x := range c.examples {
		to[place{c.equal[x.Sample], nodes[x.Sample]}] = labels[x.Sample]
	}
	for i, l := range labels {
		if want, follows := to[place{c.equal[i], nodes[i]}]; follows && l != want {
			labels[i] = want
			moved = append(moved, i)
		}
	}
	return moved
}

// taught returns the labels that meet the examples, and the examples that have moved. A class gets the clusters that it
// rules, of which that with most of its examples is its home; a class that rules none gets one of its own. A cluster that a single
// example rules goes there only if its links say so, too: few classes fill a cluster, and one example may be
// of another than the rest of it.
func taught(g *graph.Graph, labels []int, examples []selection.Example) (out, moved []int) {
	rules, clusters := rulers(labels, examples)
	counts := map[int]int{} // by cluster: the examples of the class that rules it
	for _, x := range examples {
		if l := labels[x.Sample]; rules[l] == x.Class {
			counts[l]++
		}
	}
	home := map[int]int{} // class -> its cluster
	for l := range clusters {
		if class, ruled := rules[l]; ruled {
			if at, has := home[class]; !has || counts[l] > counts[at] {
				home[class] = l
			}
		}
	}
	to := map[int]int{} // cluster with one example -> the home of its class
	for l, class := range rules {
		if counts[l] == 1 && home[class] != l {
			to[l] = home[class]
		}
	}
	for _, l := range strangers(g, labels, to) {
		delete(rules, l)
	}
	out = slices.Clone(labels)
	for i, l := range labels {
		if class, ruled := rules[l]; ruled {
			out[i] = home[class]
		}
	}
	for _, x := range examples {
		to, has := home[x.Class]
		if !has {
			to = clusters
			home[x.Class] = to
			clusters++
		}
		if out[x.Sample] != to {
			out[x.Sample] = to
			moved = append(moved, x.Sample)
		}
	}
	return out, moved
}

// related is how many clusters a cluster has the strongest links to.
const related = 3

// strangers returns the clusters l for which to[l] is not among the 3 that l has the strongest links to, by the sum of the weights
// over the samples of the other cluster.
func strangers(g *graph.Graph, labels []int, to map[int]int) []int {
	if len(to) == 0 {
		return nil
	}
	links, size := map[int]map[int]float64{}, map[int]float64{}
	for i, l := range labels {
		size[l]++
		if _, asked := to[l]; !asked {
			continue
		}
		if links[l] == nil {
			links[l] = map[int]float64{}
		}
		index, weight := g.Of(i)
		for e, j := range index {
			if other := labels[j]; other != l {
				links[l][other] += float64(weight[e])
			}
		}
	}
	var out []int
	for l, wanted := range to {
		own := links[l][wanted] / size[wanted]
		stronger := 0
		for other, w := range links[l] {
			if w/size[other] > own {
				stronger++
			}
		}
		if own == 0 || stronger >= related {
			out = append(out, l)
		}
	}
	return out
}

// rulers returns, by cluster with examples, the class of most of them, of several the lowest, and
// the number of clusters.
func rulers(labels []int, examples []selection.Example) (rules map[int]int, clusters int) {
	counts := map[[2]int]int{}
	rules = map[int]int{}
	for _, x := range examples {
		counts[[2]int{labels[x.Sample], x.Class}]++
	}
	for at, n := range counts {
		l, class := at[0], at[1]
		now, ruled := rules[l]
		if most := counts[[2]int{l, now}]; !ruled || n > most || n == most && class < now {
			rules[l] = class
		}
	}
	for _, l := range labels {
		clusters = max(clusters, l+1)
	}
	return rules, clusters
}
