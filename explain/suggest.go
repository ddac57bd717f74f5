package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// DefaultTop is the number of suggestions of each kind by default.
const DefaultTop = 10

// Suggestions lists where a clustering is least certain.
type Suggestions struct {
	// Merges are pairs of clusters that may be one, by falling pull.
	Merges []Merge `json:"merges"`
	// Splits are clusters that may be two, by rising pull between their halves.
	Splits []Split `json:"splits"`
	// Questions are pairs of samples to ask a person about, by falling value.
	Questions []Question `json:"questions"`
}

// smallest is the least number of samples of a cluster or a half: with fewer, a pull says
// little.
const smallest = 3

// Merge is a pair of clusters, of at least 3 samples each, that may be one.
type Merge struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// Pull is LinkedCluster.Pull of A and B.
	Pull float64 `json:"pull"`
	Evidence
}

// Split is a cluster that may be two. The links between its halves are weak.
type Split struct {
	// Cluster is its number, and Size the number of its samples.
	Cluster int `json:"cluster"`
	Size    int `json:"size"`
	// Halves are the two parts, the larger first. Each has at least 3 samples and a tenth
	// of the cluster's.
	Halves [2]Side `json:"halves"`
	// Members holds the samples of the smaller half.
	Members []int `json:"members"`
	// Pull is LinkedCluster.Pull of the halves.
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

// Evidence describes the links between two sides.
type Evidence struct {
	// Links is their number, and Weight the sum of their probabilities. Expected is the
	// weight expected by chance, times the resolution; 0 if the partition has none.
	Links    int     `json:"links"`
	Weight   float64 `json:"weight"`
	Expected float64 `json:"expected"`
	// Strongest holds the strongest links, at most 5.
	Strongest []CrossLink `json:"strongest"`
	// Views holds what each view contributes to the links, or to 200 of them, evenly spaced.
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
	// AboutClusters is of no question. It marks an Answer that somebody gives about whole
	// clusters, by two of their samples.
	AboutClusters Topic = "clusters"
)

// Question is a pair of samples to ask somebody about: do they belong together?
type Question struct {
	A     Ref   `json:"a"`
	B     Ref   `json:"b"`
	About Topic `json:"about"`
	// Yes is how strongly the clustering supports the answer yes, in [0, 1]: the pull of
	// the two clusters or halves; or, for a sample, q(own) / (q(own) + q(next)), with q as
	// in partition.Confidence.
	Yes float64 `json:"yes"`
	// Samples is the number of samples that another answer would move: those of the smaller
	// side.
	Samples int `json:"samples"`
	// Value is Samples times the entropy of Yes in bits, or 1 bit where Second is set.
	Value float64 `json:"value"`
	// Second says that another pair of the two clusters is the same already; see Questions.
	Second bool `json:"second,omitempty"`
}

// Suggest lists where the clustering is least certain: at most top merges, splits and
// questions each. 0 stands for DefaultTop. It goes through the links twice for the clusters,
// and through those within clusters up to 200 times for the splits. It is an error if top
// is negative, or if ctx is done.
func (x *Explainer) Suggest(ctx context.Context, top int) (*Suggestions, error) {
	switch {
	case top < 0:
		return nil, fmt.Errorf("top is %d; pass a number above 0, or 0 for %d", top, DefaultTop)
	case top == 0:
		top = DefaultTop
	}
	f, err := newFinder(ctx, x, top, nil)
	if err != nil {
		return nil, err
	}
	out := &Suggestions{Merges: []Merge{}, Splits: []Split{}}
	for _, p := range f.topMerges() {
		merge, err := f.merge(p)
		if err != nil {
			return nil, err
		}
		out.Merges = append(out.Merges, merge)
	}
	for _, p := range f.topSplits() {
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
	merges   []couple
	splits   []couple
	once     map[[2]int]bool // Questions.once; nil of a model without answers
}

// couple is two clusters, or the halves of one, and their pull.
type couple struct {
	a, b int
	pull float64
}

// newFinder describes clusters and halves; known, if not nil, keeps the cuts of halve.
func newFinder(ctx context.Context, x *Explainer, top int, known map[int][]int32) (*finder, error) {
	m := x.m
	f := &finder{Explainer: x, ctx: ctx, top: top}
	f.labels, f.number = packed(m.Labels)
	f.members = make([][]int32, len(f.number))
	for i, l := range f.labels {
		f.members[l] = append(f.members[l], int32(i))
	}
	var err error
	if f.half, err = halve(ctx, m.Graph, f.members, f.number, x.worth.Degrees.Sample, known, m.Settings.Seed, x.threads); err != nil {
		return nil, err
	}
	describe := func(labels []int) ([]Cluster, error) {
		return Describe(ctx, m.Graph, labels, m.Confidence, DescribeSettings{
			Members: 2, Merges: math.MaxInt32,
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
			if other.Cluster > a && !f.keptApart(a, other.Cluster) {
				f.merges = append(f.merges, couple{a, other.Cluster, other.Pull})
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
			if !f.keptTogether(c) {
				f.splits = append(f.splits, couple{2 * c, 2*c + 1, pull})
			}
		}
	}
	return f, nil
}

// keptApart reports whether constraints keep two clusters apart.
func (f *finder) keptApart(a, b int) bool {
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

// keptTogether reports whether constraints keep the halves of a cluster together.
func (f *finder) keptTogether(c int) bool {
	return f.resolved != nil && slices.ContainsFunc(f.members[c], func(i int32) bool {
		return f.half[i] != f.half[f.resolved.Component[i]]
	})
}

// packed numbers the clusters that have samples from 0, in their order, as Describe needs
// them, and returns the old number of each.
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

// topMerges returns the pairs of clusters with the largest pull.
func (f *finder) topMerges() []couple {
	list := slices.DeleteFunc(slices.Clone(f.merges), func(p couple) bool {
		return min(f.clusters[p.a].Size, f.clusters[p.b].Size) < smallest
	})
	slices.SortFunc(list, func(p, q couple) int { return cmp.Or(cmp.Compare(q.pull, p.pull), p.a-q.a, p.b-q.b) })
	return list[:min(f.top, len(list))]
}

// topSplits returns the halves with the least pull.
func (f *finder) topSplits() []couple {
	list := slices.Clone(f.splits)
	slices.SortFunc(list, func(p, q couple) int { return cmp.Or(cmp.Compare(p.pull, q.pull), p.a-q.a) })
	return list[:min(f.top, len(list))]
}

func (f *finder) merge(p couple) (Merge, error) {
	out := Merge{A: f.side(f.clusters, p.a), B: f.side(f.clusters, p.b), Pull: p.pull}
	var err error
	out.Evidence, err = f.between(f.members[p.a], f.members[p.b], func(i int32) bool { return f.labels[i] == p.b })
	return out, err
}

func (f *finder) split(p couple) (Split, error) {
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

// asked bounds the links that views are compared for, and listed those that are listed.
const (
	asked  = 200
	listed = 5
)

// between describes the links between samples a and b; inB reports whether a sample is in b.
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

// openQuestion is a question whose samples have only numbers.
type openQuestion struct {
	about   Topic
	a, b    int
	yes     float64
	samples int
	value   float64
	second  bool
}

// questions returns those of the largest value.
func (f *finder) questions() []Question {
	out := []Question{}
	for _, q := range f.open() {
		if len(out) == f.top {
			break
		}
		out = append(out, Question{f.ref(q.a), f.ref(q.b), q.about, q.yes, q.samples, q.value, q.second})
	}
	return out
}

// open returns all questions by falling value.
func (f *finder) open() []openQuestion {
	var all []openQuestion
	add := func(about Topic, a, b int, yes float64, samples int) {
		if value := float64(samples) * entropy(yes); value > 0 {
			all = append(all, openQuestion{about, a, b, yes, samples, value, false})
		}
	}
	for _, p := range f.merges {
		a, b := &f.clusters[p.a], &f.clusters[p.b]
		if size := min(a.Size, b.Size); f.once[sorted(f.number[p.a], f.number[p.b])] {
			// Other samples than before, where there are others.
			all = append(all, openQuestion{AboutMerge, a.Central[len(a.Central)-1], b.Central[len(b.Central)-1], p.pull, size, float64(size), true})
		} else {
			add(AboutMerge, a.Central[0], b.Central[0], p.pull, size)
		}
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
		// A central sample stands for its cluster, which merges ask about.
		if central != i && s.Next > 0 {
			add(AboutSample, i, central, s.Own/(s.Own+s.Next), 1)
		}
	}
	slices.SortFunc(all, func(p, q openQuestion) int {
		if p.second != q.second {
			return map[bool]int{true: -1, false: 1}[p.second]
		}
		return cmp.Or(cmp.Compare(q.value, p.value), p.a-q.a, p.b-q.b)
	})
	seen := map[[2]int]bool{} // a pair may stand for two questions
	return slices.DeleteFunc(all, func(q openQuestion) bool {
		pair := sorted(q.a, q.b)
		twice := seen[pair]
		seen[pair] = true
		return twice || f.constraints.Of(q.a, q.b) != ""
	})
}

// entropy returns the entropy of an answer that is yes with probability p, in bits.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}
