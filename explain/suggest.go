package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// DefaultTop is how many merges, splits and questions are suggested where no number is
// asked for.
const DefaultTop = 10

// Suggestions are what may be wrong with a clustering, the likeliest first.
type Suggestions struct {
	// Merges are pairs of clusters that may be one, those of the largest pull first.
	Merges []Merge `json:"merges"`
	// Splits are clusters that may be two, those of the least pull between their halves first.
	Splits []Split `json:"splits"`
	// Questions are pairs of samples whose answer would settle most.
	Questions []Question `json:"questions"`
}

// smallest is how many samples a cluster or a half has at least: of fewer, a pull says
// little.
const smallest = 3

// Merge is a pair of clusters, of at least 3 samples each, that may be one.
type Merge struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// Pull says, in [0, 1], how far the links between A and B speak for merging them:
	// LinkedCluster has the formula. At 1/2 the objective of the partition does not care.
	Pull float64 `json:"pull"`
	Evidence
}

// Split is a cluster that may be two: its halves are where it hangs together least.
type Split struct {
	// Cluster is its number, and Size how many samples it has.
	Cluster int `json:"cluster"`
	Size    int `json:"size"`
	// Halves are the two parts, the larger first: at least 3 samples and a tenth of the
	// cluster. Their Cluster is that of both.
	Halves [2]Side `json:"halves"`
	// Members holds the samples of the smaller half.
	Members []int `json:"members"`
	// Pull is, as in Merge, what the links between the halves say of their being one.
	Pull float64 `json:"pull"`
	Evidence
}

// Side is a cluster, or half of one.
type Side struct {
	Cluster int `json:"cluster"`
	Size    int `json:"size"`
	// Central is the member with the largest sum of link probabilities to the others.
	Central Ref `json:"central"`
}

// Evidence says what there is between two sides.
type Evidence struct {
	// Links counts the links between them, and Weight adds up their probabilities. Expected
	// is the weight that chance would give, times the resolution: what speaks against. It
	// is 0 where the partition has no resolution.
	Links    int     `json:"links"`
	Weight   float64 `json:"weight"`
	Expected float64 `json:"expected"`
	// Strongest holds the strongest links, at most 5.
	Strongest []CrossLink `json:"strongest"`
	// Views holds the part of each view in the links, or in 200 evenly spaced ones of more.
	Views []ViewShare `json:"views"`
}

// CrossLink is a link between two sides.
type CrossLink struct {
	A           Ref     `json:"a"`
	B           Ref     `json:"b"`
	Probability float64 `json:"probability"`
}

// Topic is what a question is about.
type Topic string

const (
	// AboutMerge asks whether two clusters are one. The samples are the central ones of each.
	AboutMerge Topic = "merge"
	// AboutSplit asks whether a cluster is two. The samples are the central ones of its halves.
	AboutSplit Topic = "split"
	// AboutSample asks whether a sample is in the right cluster. The other is the central one
	// there.
	AboutSample Topic = "sample"
)

// Question is a pair of samples to ask somebody about: do they belong together?
type Question struct {
	A     Ref   `json:"a"`
	B     Ref   `json:"b"`
	About Topic `json:"about"`
	// Yes is how far the clustering is for the answer yes, in [0, 1]: the pull of the two
	// clusters or halves, or, for a sample, the share of own in q(own) + q(next), where q
	// is the sum of its link probabilities to its own cluster and to the next best one.
	Yes float64 `json:"yes"`
	// Samples is how many samples would have another place if the answer is not what it
	// is taken for: those of the smaller side.
	Samples int `json:"samples"`
	// Value is Samples times the entropy of Yes in bits. Questions are in its order.
	Value float64 `json:"value"`
}

// Suggest says where the clustering is least sure of itself: at most top merges, splits
// and questions, where 0 stands for DefaultTop. It goes twice over the links for the
// clusters, and up to 200 times over those within clusters for the splits. It is an error
// if top is negative, or if ctx is done.
func (x *Explainer) Suggest(ctx context.Context, top int) (*Suggestions, error) {
	switch {
	case top < 0:
		return nil, fmt.Errorf("top is %d; pass a number above 0, or 0 for %d", top, DefaultTop)
	case top == 0:
		top = DefaultTop
	}
	f, err := newFinder(ctx, x, top)
	if err != nil {
		return nil, err
	}
	out := &Suggestions{Merges: []Merge{}, Splits: []Split{}}
	for _, p := range f.likelyOne() {
		merge, err := f.merge(p)
		if err != nil {
			return nil, err
		}
		out.Merges = append(out.Merges, merge)
	}
	for _, p := range f.likelyTwo() {
		split, err := f.split(p)
		if err != nil {
			return nil, err
		}
		out.Splits = append(out.Splits, split)
	}
	out.Questions = f.questions()
	return out, nil
}

// finder has what all suggestions are made from.
type finder struct {
	*Explainer
	ctx      context.Context
	top      int
	labels   []int     // sample -> place of its cluster among those there are
	number   []int     // place -> cluster
	clusters []Cluster // of the clustering
	halves   []Cluster // of the clustering into halves
	half     []int     // sample -> half
	members  [][]int32 // cluster -> samples
	degree   []float64 // sample -> sum of its link probabilities
	all      float64   // the sum of these
	merges   []two
	splits   []two
}

// two are clusters, or halves of one, and their pull.
type two struct {
	a, b int
	pull float64
}

func newFinder(ctx context.Context, x *Explainer, top int) (*finder, error) {
	m := x.m
	f := &finder{Explainer: x, ctx: ctx, top: top}
	f.labels, f.number = packed(m.Labels)
	f.members = make([][]int32, len(f.number))
	for i, l := range f.labels {
		f.members[l] = append(f.members[l], int32(i))
	}
	var err error
	if f.half, err = halve(ctx, m.Graph, f.members, x.worth.Degrees.Sample, m.Settings.Seed, x.threads); err != nil {
		return nil, err
	}
	describe := func(labels []int) ([]Cluster, error) {
		return Describe(ctx, m.Graph, labels, m.Confidence, DescribeSettings{
			Members: 1, Merges: math.MaxInt32,
			Resolution: m.Settings.Resolution, Clip: m.Settings.Partition.Clip,
		}, x.threads)
	}
	if f.clusters, err = describe(f.labels); err != nil {
		return nil, err
	}
	if f.halves, err = f.describeHalves(describe); err != nil {
		return nil, err
	}
	for a, x := range f.clusters {
		for _, other := range x.Merges {
			if other.Cluster > a && !f.barred(a, other.Cluster) {
				f.merges = append(f.merges, two{a, other.Cluster, other.Pull})
			}
		}
	}
	for c := range f.clusters {
		if x := f.halves[2*c]; f.halves[2*c+1].Size > 0 {
			at := slices.IndexFunc(x.Merges, func(m LinkedCluster) bool { return m.Cluster == 2*c+1 })
			pull := 0.0 // no link at all
			if at >= 0 {
				pull = x.Merges[at].Pull
			}
			if !f.bound(c) {
				f.splits = append(f.splits, two{2 * c, 2*c + 1, pull})
			}
		}
	}
	return f, nil
}

// barred reports whether constraints keep two clusters apart.
func (f *finder) barred(a, b int) bool {
	if f.resolved == nil {
		return false
	}
	held := map[int32]bool{}
	for _, i := range f.members[a] {
		for _, t := range f.resolved.Exclusions.Of(int(i)) {
			held[t] = true
		}
	}
	return slices.ContainsFunc(f.members[b], func(i int32) bool {
		return slices.ContainsFunc(f.resolved.Exclusions.Of(int(i)), func(t int32) bool { return held[t] })
	})
}

// bound reports whether constraints hold the halves of a cluster together.
func (f *finder) bound(c int) bool {
	return f.resolved != nil && slices.ContainsFunc(f.members[c], func(i int32) bool {
		return f.half[i] != f.half[f.resolved.Component[i]]
	})
}

// packed numbers clusters by their place among those that have a sample, as profile wants
// them, and returns which number every place stands for.
func packed(labels []int) (places, number []int) {
	number = slices.Clone(labels)
	slices.Sort(number)
	number = slices.Compact(number)
	places = make([]int, len(labels))
	place := map[int]int{}
	for at, l := range number {
		place[l] = at
	}
	for i, l := range labels {
		places[i] = place[l]
	}
	return places, number
}

// describeHalves describes the halves, by number.
func (f *finder) describeHalves(describe func(labels []int) ([]Cluster, error)) ([]Cluster, error) {
	labels, number := packed(f.half)
	found, err := describe(labels)
	if err != nil {
		return nil, err
	}
	out := make([]Cluster, 2*len(f.members))
	for k, x := range found {
		for t := range x.Merges {
			x.Merges[t].Cluster = number[x.Merges[t].Cluster]
		}
		out[number[k]] = x
	}
	return out, nil
}

// likelyOne returns the pairs of clusters of the largest pull.
func (f *finder) likelyOne() []two {
	list := slices.DeleteFunc(slices.Clone(f.merges), func(p two) bool {
		return min(f.clusters[p.a].Size, f.clusters[p.b].Size) < smallest
	})
	slices.SortFunc(list, func(p, q two) int { return cmp.Or(cmp.Compare(q.pull, p.pull), p.a-q.a, p.b-q.b) })
	return list[:min(f.top, len(list))]
}

// likelyTwo returns the halves of the least pull.
func (f *finder) likelyTwo() []two {
	list := slices.Clone(f.splits)
	slices.SortFunc(list, func(p, q two) int { return cmp.Or(cmp.Compare(p.pull, q.pull), p.a-q.a) })
	return list[:min(f.top, len(list))]
}

func (f *finder) merge(p two) (Merge, error) {
	out := Merge{A: f.side(f.clusters, p.a), B: f.side(f.clusters, p.b), Pull: p.pull}
	var err error
	out.Evidence, err = f.between(f.members[p.a], f.members[p.b], func(i int32) bool { return f.labels[i] == p.b })
	return out, err
}

func (f *finder) split(p two) (Split, error) {
	c := p.a / 2
	out := Split{Cluster: f.number[c], Size: f.clusters[c].Size, Pull: p.pull}
	out.Halves = [2]Side{f.side(f.halves, p.a), f.side(f.halves, p.b)}
	var parts [2][]int32
	for _, i := range f.members[c] {
		parts[f.half[i]-p.a] = append(parts[f.half[i]-p.a], i)
	}
	for _, i := range parts[1] {
		out.Members = append(out.Members, int(i))
	}
	var err error
	out.Evidence, err = f.between(parts[0], parts[1], func(i int32) bool { return f.half[i] == p.b })
	return out, err
}

func (f *finder) side(of []Cluster, c int) Side {
	central := f.ref(of[c].Central[0])
	return Side{central.Cluster, of[c].Size, central}
}

// asked bounds the links whose views are asked, and listed the links that are named.
const (
	asked  = 200
	listed = 5
)

// between gathers what there is between the samples a and b, of which inB knows the
// latter.
func (f *finder) between(a, b []int32, inB func(i int32) bool) (Evidence, error) {
	type link struct {
		a, b   int32
		weight float32
	}
	var links []link
	out := Evidence{Strongest: []CrossLink{}}
	for _, i := range a {
		index, weight := f.m.Graph.Of(int(i))
		for e, j := range index {
			if inB(j) {
				links = append(links, link{i, j, weight[e]})
				out.Weight += float64(weight[e])
			}
		}
	}
	out.Expected = f.worth.Degrees.Expected(f.m.Settings.Resolution, f.mass(a), f.mass(b))
	out.Links = len(links)
	slices.SortFunc(links, func(s, t link) int {
		return cmp.Or(cmp.Compare(t.weight, s.weight), cmp.Compare(s.a, t.a), cmp.Compare(s.b, t.b))
	})
	for _, l := range links[:min(listed, len(links))] {
		out.Strongest = append(out.Strongest, CrossLink{f.ref(int(l.a)), f.ref(int(l.b)), float64(l.weight)})
	}
	var pairs [][2]int
	for t := range min(asked, len(links)) {
		l := links[t*len(links)/min(asked, len(links))]
		pairs = append(pairs, [2]int{int(l.a), int(l.b)})
	}
	var err error
	out.Views, err = f.shares(f.ctx, pairs)
	return out, err
}

// mass returns the sum of the degrees of samples.
func (f *finder) mass(samples []int32) float64 {
	sum := 0.0
	for _, i := range samples {
		sum += f.worth.Degrees.Sample[i]
	}
	return sum
}

// open is a question before its samples are named.
type open struct {
	about   Topic
	a, b    int
	yes     float64
	samples int
	value   float64
}

// questions returns those of the largest value.
func (f *finder) questions() []Question {
	var all []open
	add := func(about Topic, a, b int, yes float64, samples int) {
		if value := float64(samples) * entropy(yes); value > 0 {
			all = append(all, open{about, a, b, yes, samples, value})
		}
	}
	for _, p := range f.merges {
		a, b := &f.clusters[p.a], &f.clusters[p.b]
		add(AboutMerge, a.Central[0], b.Central[0], p.pull, min(a.Size, b.Size))
	}
	for _, p := range f.splits {
		a, b := &f.halves[p.a], &f.halves[p.b]
		add(AboutSplit, a.Central[0], b.Central[0], p.pull, min(a.Size, b.Size))
	}
	links := f.worth.Links()
	for i, l := range f.labels {
		central := f.clusters[l].Central[0]
		f.worth.LinksOf(links, i)
		s := links.Standing(f.m.Labels[i])
		// Where a whole cluster belongs is what merges ask.
		if central != i && s.Next > 0 {
			add(AboutSample, i, central, s.Own/(s.Own+s.Next), 1)
		}
	}
	slices.SortFunc(all, func(p, q open) int {
		return cmp.Or(cmp.Compare(q.value, p.value), p.a-q.a, p.b-q.b)
	})
	out := []Question{}
	seen := map[[2]int]bool{} // a pair may stand for two questions
	for _, q := range all {
		pair := [2]int{min(q.a, q.b), max(q.a, q.b)}
		if len(out) == f.top {
			break
		}
		if !seen[pair] && f.given.Of(q.a, q.b) == "" {
			seen[pair] = true
			out = append(out, Question{f.ref(q.a), f.ref(q.b), q.about, q.yes, q.samples, q.value})
		}
	}
	return out
}

// entropy returns that of a yes of probability p, in bits.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}
