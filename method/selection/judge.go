package selection

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/separation"
	"github.com/mvclust/mvclust/method/sparse"
)

// Criterion is a factor of the score of a candidate.
type Criterion struct {
	// Name is its key in the JSON of a Candidate.
	Name string
	// Meaning says in one line what it measures.
	Meaning string
	// Exponents are the powers that it has in the score: where a plateau is clear, where none is, and
	// in that of a level beside the chosen one.
	Exponents [3]float64
	// Factor returns the factor, at least 0, of which the score has the power.
	Factor func(c *Candidate) float64

	// measure returns the value of candidate at, for its field.
	measure func(j *judge, at int) float64
	field   func(c *Candidate) *float64
}

// evenness is the name of the criterion whose weight falls with the number of samples.
const evenness = "evenness"

// The rows of Criterion.Exponents.
const (
	whereClear = iota
	whereUnclear
	asLevel
)

// Criteria lists the factors of the score. The exponents balance them: with less weight on
// stability, partitions are chosen that are too fine to be found again; with more, a few coarse
// ones that always are. docs/auto.md has the figures.
func Criteria() []Criterion {
	return []Criterion{
		{
			Name: "plateau", Meaning: "adjusted Rand index with the partition of a neighbouring resolution",
			Exponents: [3]float64{2.5, 0, 1}, Factor: func(c *Candidate) float64 { return max(0, c.Plateau) },
			measure: (*judge).plateau, field: func(c *Candidate) *float64 { return &c.Plateau },
		},
		{
			Name: "agreement", Meaning: "adjusted Rand index with the most similar partitions of the next numbers of neighbours",
			Exponents: [3]float64{4, 4, 1}, Factor: func(c *Candidate) float64 { return max(0, c.Agreement) },
			measure: (*judge).agreement, field: func(c *Candidate) *float64 { return &c.Agreement },
		},
		{
			Name: "reproducibility", Meaning: "adjusted Rand index between partitions of two orders of moves",
			Exponents: [3]float64{0, 4, 1}, Factor: func(c *Candidate) float64 { return max(0, c.Reproducibility) },
			measure: (*judge).reproducibility, field: func(c *Candidate) *float64 { return &c.Reproducibility },
		},
		{
			Name: evenness, Meaning: "number of clusters of equal size with the entropy of the sizes, as a share of the clusters",
			Exponents: [3]float64{2, 1, 2}, Factor: func(c *Candidate) float64 { return c.Evenness },
			measure: (*judge).evenness, field: func(c *Candidate) *float64 { return &c.Evenness },
		},
		{
			Name: "compression", Meaning: "share by which the clusters shorten the description of a random walk",
			Exponents: [3]float64{1, 1, 0}, Factor: func(c *Candidate) float64 { return max(0, c.Compression) },
			measure: (*judge).compression, field: func(c *Candidate) *float64 { return &c.Compression },
		},
		{
			Name: "separation", Meaning: "share of the samples that are in clusters with a gap to the one beside them, in views of few features",
			Exponents: [3]float64{2, 2, 2}, Factor: (*Candidate).Apart,
			measure: (*judge).separation, field: func(c *Candidate) *float64 { return &c.Separation },
		},
		{
			Name: "modularity", Meaning: "share of the steps of the walk that stay in a cluster, beyond chance",
			Exponents: [3]float64{0, 2, 1}, Factor: func(c *Candidate) float64 { return max(0, c.Modularity) },
			measure: (*judge).modularity, field: func(c *Candidate) *float64 { return &c.Modularity },
		},
		{
			Name: "discriminability", Meaning: "how far the views foretell the clusters of samples, beyond chance (kappa of linear discriminant analysis)",
			Exponents: [3]float64{8, 8, 0}, Factor: (*Candidate).Foretold,
			measure: func(*judge, int) float64 { return 1 }, field: func(c *Candidate) *float64 { return &c.Discriminability },
		},
	}
}

// separate is the separation from which on the score does not depend on it.
const separate = 0.6

// Apart returns the factor that c.Separation is in the score: min(1, c.Separation / 0.6), in [0, 1].
func (c *Candidate) Apart() float64 { return min(1, max(0, c.Separation)/separate) }

// discriminable is the discriminability from which on the score does not depend on it.
const discriminable = 0.7

// Foretold returns the factor that c.Discriminability is in the score: min(1, c.Discriminability / 0.7), in [0, 1].
func (c *Candidate) Foretold() float64 { return min(1, max(0, c.Discriminability)/discriminable) }

// score returns the product of the criteria's powers, that of the evenness times its weight. One
// cluster, or more than most, is no answer.
func (c *Candidate) score(criteria []Criterion, row int, weight float64, most int) float64 {
	if c.Clusters < 2 || c.Clusters > most {
		return 0
	}
	score := 1.0
	for _, x := range criteria {
		exponent := x.Exponents[row]
		if x.Name == evenness {
			exponent *= weight
		}
		score *= math.Pow(x.Factor(c), exponent)
	}
	return score
}

// evennessWeight returns what the exponent of the evenness is multiplied by. Among thousands of
// classes, whose sizes differ, the more even partition is the one that runs small classes together.
func evennessWeight(samples int) float64 {
	return max(leastWeight, min(1, float64(many)/float64(max(1, samples))))
}

// leastWeight keeps some weight, so that one cluster and crumbs are never chosen.
const leastWeight = 0.25

const (
	// stable is the stability from which on a plateau is clear, and the share of that of the best
	// from which on another is about as clear.
	stable = 0.9
	// even is the evenness that its partition must have: one cluster and crumbs are stable
	// anywhere.
	even = 0.5
)

// decide is choose. It measures the discriminability of the candidates that choose takes, until it takes some that
// are measured: that of others can only make their scores lower.
func (s *searcher) decide(ctx context.Context, candidates []Candidate, most, threads int) (choice, error) {
	measured := make([]bool, len(candidates))
	for {
		made := choose(candidates, s.plan.samples, most, s.set.Doubted)
		if s.set.Discriminant == nil || measured[made.first] && measured[made.best] {
			return made, nil
		}
		for _, at := range []int{made.first, made.best} {
			if measured[at] {
				continue
			}
			c := &candidates[at]
			kappa, err := s.set.Discriminant.Of(ctx, c.labels, c.Clusters, threads)
			if err != nil {
				return choice{}, err
			}
			c.Discriminability, measured[at] = kappa, true
		}
	}
}

// choice is what choose returns: the place of the best candidate by the first score and that of the best of all, whether
// the plateau of the first is clear, and whether it would be were it not doubted.
type choice struct {
	first, best    int
	clear, doubted bool
}

// choose sets the scores, and chooses. If the plateau of the best candidate by the first score is not clear, the scores are
// those for this case. If it is, they are those by which it is; but of all that are about as clear, the best is the one that
// the other score prefers, which looks less at the plateau and more at what the clusters say of the walk. Of at most so many
// clusters as are doubted no plateau is clear.
func choose(candidates []Candidate, samples, most, doubted int) (made choice) {
	weight := evennessWeight(samples)
	by := [...][]float64{whereClear: scores(candidates, whereClear, samples, most), whereUnclear: scores(candidates, whereUnclear, samples, most)}
	made.first = top(candidates, by[whereClear])
	first, row := &candidates[made.first], whereUnclear
	if first.clear(stable, weight) {
		made.doubted = first.Clusters <= doubted
		made.clear = !made.doubted
	}
	if made.clear {
		row = whereClear
	}
	for c := range candidates {
		candidates[c].Score = by[row][c]
		if made.clear && !candidates[c].clear(stable*first.Stability(), weight) {
			by[whereUnclear][c] = 0
		}
	}
	made.best = top(candidates, by[whereUnclear])
	if by[whereUnclear][made.best] == 0 {
		made.best = top(candidates, by[row])
	}
	return made
}

// scores returns the scores of all candidates with the exponents of a row.
func scores(candidates []Candidate, row, samples, most int) []float64 {
	criteria, weight := Criteria(), evennessWeight(samples)
	of := make([]float64, len(candidates))
	for c := range candidates {
		of[c] = candidates[c].score(criteria, row, weight, most)
	}
	return of
}

// clear reports whether the plateau of c is as stable as that, and c even enough.
func (c *Candidate) clear(stability, weight float64) bool {
	return c.Stability() >= stability && math.Pow(c.Evenness, weight) >= even
}

// Stability returns the product of Plateau and Agreement, at least 0.
func (c *Candidate) Stability() float64 { return max(0, c.Plateau) * max(0, c.Agreement) }

// top returns the place of the best candidate by the scores. Of several numbers of neighbours that
// are best, it is the smallest, and of a run of resolutions that are as good, the middle: samples
// that come later may shift the plateau. Where nothing has a score, it is the one that compresses
// most: a single cluster, if all others only cut.
func top(candidates []Candidate, scores []float64) int {
	best := 0
	for c, score := range scores {
		if score > scores[best] || score == scores[best] && candidates[c].Compression > candidates[best].Compression {
			best = c
		}
	}
	if least := scores[best] * (1 - rounding); least > 0 {
		best = slices.IndexFunc(scores, func(score float64) bool { return score >= least })
	}
	return middle(candidates, scores, best)
}

// rounding is the share of a score by which those of the same partition may differ.
const rounding = 1e-9

// level is the share of a score by which those of a plateau may differ.
const level = 0.02

// middle returns the middle of the run of resolutions around best whose scores are that of best.
func middle(candidates []Candidate, scores []float64, best int) int {
	first, last, least := best, best, scores[best]*(1-level)
	if least <= 0 {
		return best
	}
	same := func(c int) bool {
		return c >= 0 && c < len(scores) && candidates[c].Neighbours == candidates[best].Neighbours && scores[c] >= least
	}
	for same(last + 1) {
		last++
	}
	for same(first - 1) {
		first--
	}
	return (first + last) / 2
}

// judge measures candidates. One goroutine uses it at a time.
type judge struct {
	ctx        context.Context
	candidates []Candidate
	width      int // candidates of each number of neighbours, which are a row
	walk       *walk
	named      float64 // what walk.named returns
	single     float64 // the code length of a single cluster
	features   *separation.Features
	table      tabulation
}

// setCriteria sets the criteria of the candidates, which are in rows of the same number of
// neighbours, and leaves of their partitions the one that stands for all.
func setCriteria(ctx context.Context, over *walk, features *separation.Features, candidates []Candidate, width, threads int) error {
	samples := over.named()
	single := newCrossings(over, make([]int32, len(over.degree)), 1).codeLength(samples)
	criteria := Criteria()
	judges := make([]*judge, parallel.Threads(threads))
	each := func(do func(j *judge, at int)) error {
		return parallel.Blocks(ctx, threads, len(candidates), 1, func(worker, at, _ int) {
			if judges[worker] == nil {
				judges[worker] = &judge{ctx: ctx, candidates: candidates, width: width, walk: over, named: samples, single: single, features: features, table: tabulation{spaced: over.spaced}}
			}
			do(judges[worker], at)
		})
	}
	err := contractWalks(ctx, over, candidates, width, threads)
	if err == nil {
		err = each((*judge).count)
	}
	if err == nil {
		err = each(func(j *judge, at int) {
			for _, x := range criteria {
				*x.field(&candidates[at]) = x.measure(j, at)
			}
		})
	}
	for c := range candidates {
		candidates[c].orders = nil
	}
	return err
}

// contractWalks gives the partitions that are made of nodes the walk among these, which is smaller.
func contractWalks(ctx context.Context, over *walk, candidates []Candidate, width, threads int) error {
	return parallel.Blocks(ctx, threads, len(candidates), width, func(_, from, end int) {
		row := candidates[from:end]
		for o, p := range row[0].orders {
			if p.nodes == nil {
				continue
			}
			contracted := over.contracted(p.nodes)
			for c := range row {
				row[c].orders[o].over = contracted
			}
		}
	})
}

// count sets what the comparisons need of the partitions of candidate at.
func (j *judge) count(at int) {
	for o := range j.candidates[at].orders {
		p := &j.candidates[at].orders[o]
		j.table.group(p)
		p.together = j.table.within
	}
}

// reproducibility returns the mean adjusted Rand index between two orders, or 1 where there is a
// single one. It takes, for Clusters and labels, the partition of the largest mean with the
// others; of equals the first.
func (j *judge) reproducibility(at int) float64 {
	c := &j.candidates[at]
	n := len(c.orders)
	sums, all := make([]float64, n), 0.0
	for a := range n {
		j.table.group(&c.orders[a])
		for b := 0; b < a && j.ctx.Err() == nil; b++ {
			r := j.table.rand(&c.orders[b])
			sums[a] += r
			sums[b] += r
			all += 2 * r
		}
	}
	best := 0
	for o, sum := range sums {
		if sum > sums[best] {
			best = o
		}
	}
	c.labels, c.Clusters = c.orders[best].labels, c.orders[best].clusters
	if n == 1 {
		return 1
	}
	return all / float64(n*(n-1))
}

// mean returns the mean of a measure over the orders of candidate at.
func (j *judge) mean(at int, measure func(o int) float64) float64 {
	sum, n := 0.0, len(j.candidates[at].orders)
	for o := range n {
		if j.ctx.Err() == nil {
			sum += measure(o)
		}
	}
	return sum / float64(n)
}

// plateau returns the larger adjusted Rand index with the candidates of the next resolutions,
// or 1 where there are none.
func (j *judge) plateau(at int) float64 {
	if j.width == 1 {
		return 1
	}
	column := at % j.width
	return j.mean(at, func(o int) float64 {
		j.table.group(&j.candidates[at].orders[o])
		return j.alike(at-min(column, 1), at+1+min(j.width-1-column, 1), at)
	})
}

// agreement returns the mean, over the next numbers of neighbours, of the largest adjusted
// Rand index with a candidate there, or 1 where there are no others.
func (j *judge) agreement(at int) float64 {
	row, rows := at/j.width, len(j.candidates)/j.width
	if rows == 1 {
		return 1
	}
	return j.mean(at, func(o int) float64 {
		j.table.group(&j.candidates[at].orders[o])
		sum, sides := 0.0, 0
		for _, to := range []int{row - 1, row + 1} {
			if to >= 0 && to < rows {
				sum += j.alike(to*j.width, (to+1)*j.width, -1)
				sides++
			}
		}
		return sum / float64(sides)
	})
}

// alike returns the largest adjusted Rand index of the grouped partition with those of the candidates
// from first to before end, but for one, in any order of moves: one that ended in a poor partition hides no other.
func (j *judge) alike(first, end, but int) float64 {
	largest, likeliest := -1.0, -1.0
	var start *order // what can be most alike, so that few others have to be compared
	each := func(do func(b *order, most float64)) {
		for c := first; c < end && j.ctx.Err() == nil; c++ {
			for o := range j.candidates[c].orders {
				if b := &j.candidates[c].orders[o]; c != but {
					do(b, j.table.atMost(b))
				}
			}
		}
	}
	each(func(b *order, most float64) {
		if most > likeliest {
			start, likeliest = b, most
		}
	})
	if start != nil {
		largest = j.table.rand(start)
	}
	each(func(b *order, most float64) {
		if b != start && most > largest {
			largest = max(largest, j.table.rand(b))
		}
	})
	return largest
}

// evenness returns exp(H) / clusters, with H the entropy of the sizes.
func (j *judge) evenness(at int) float64 {
	return j.mean(at, func(o int) float64 {
		p := &j.candidates[at].orders[o]
		sizes := make([]int, p.clusters)
		for i, l := range p.labels {
			sizes[l] += j.walk.size(int32(i))
		}
		return Evenness(sizes)
	})
}

// compression returns 1 - L / L(1), with L the code length, and L(1) that of one cluster.
func (j *judge) compression(at int) float64 {
	if j.single <= 0 {
		return 0
	}
	return j.mean(at, func(o int) float64 { return 1 - j.crossed(at, o).codeLength(j.named)/j.single })
}

// modularity returns the share of the steps of the walk that stay in a cluster, less that by
// chance.
func (j *judge) modularity(at int) float64 {
	return j.mean(at, func(o int) float64 { return j.crossed(at, o).modularity() })
}

// separation returns how far clusters lie from those that most steps out of them lead to, or 1 where that is not
// measured.
func (j *judge) separation(at int) float64 {
	if j.features == nil {
		return 1
	}
	return j.mean(at, func(o int) float64 {
		p := &j.candidates[at].orders[o]
		return j.features.Of(p.labels, j.beside(p))
	})
}

// beside returns, by cluster, the one that most steps out of it lead to, the lowest of equals; -1 where none does.
func (j *judge) beside(p *order) []int32 {
	j.table.group(p)
	beside, steps, touched := make([]int32, p.clusters), make([]float64, p.clusters), []int32(nil)
	from := int32(0)
	for c, end := range j.table.end {
		touched = touched[:0]
		for _, i := range j.table.member[from:end] {
			index, weight := j.walk.Of(int(i))
			for e, h := range index {
				if l := p.labels[h]; int(l) != c {
					if steps[l] == 0 {
						touched = append(touched, l)
					}
					steps[l] += float64(weight[e])
				}
			}
		}
		beside[c] = -1
		for _, l := range touched {
			if b := beside[c]; b < 0 || steps[l] > steps[b] || steps[l] == steps[b] && l < b {
				beside[c] = l
			}
		}
		for _, l := range touched {
			steps[l] = 0
		}
		from = end
	}
	return beside
}

// crossed returns what the walk does in a partition. It goes over the walk once for all criteria.
func (j *judge) crossed(at, o int) *crossings {
	p := &j.candidates[at].orders[o]
	if p.walked == nil {
		over, labels := j.walk, p.labels
		if p.over != nil {
			over, labels = p.over, make([]int32, len(p.over.degree))
			for i, node := range p.nodes {
				labels[node] = p.labels[i]
			}
		}
		p.walked = newCrossings(over, labels, p.clusters)
	}
	return p.walked
}

// crossings counts the steps of a random walk by cluster.
type crossings struct {
	visits, leaving []float64 // by cluster: steps from its samples, and those of them that leave it
	all             float64   // steps
}

func newCrossings(over *walk, labels []int32, clusters int) *crossings {
	x := &crossings{visits: make([]float64, clusters), leaving: make([]float64, clusters), all: over.all}
	for i, l := range labels {
		x.visits[l] += over.degree[i]
		index, weight := over.Of(i)
		for e, j := range index {
			if labels[j] != l {
				x.leaving[l] += float64(weight[e])
			}
		}
	}
	return x
}

// modularity returns the share of the steps that stay in a cluster, less that by chance.
func (x *crossings) modularity() float64 {
	if x.all == 0 {
		return 0
	}
	out, chance := 0.0, 0.0
	for l, v := range x.visits {
		out += x.leaving[l]
		chance += v / x.all * v / x.all
	}
	return (x.all-out)/x.all - chance
}

// codeLength is the map equation: the bits that a step of a random walk over the graph
// takes to tell, when every cluster has names for its samples of its own. samples is what walk.named
// returns.
func (x *crossings) codeLength(samples float64) float64 {
	if x.all == 0 {
		return 0
	}
	exits, each, inside := 0.0, 0.0, 0.0
	for l := range x.leaving {
		out := x.leaving[l] / x.all
		exits += out
		each += plogp(out)
		inside += plogp(out + x.visits[l]/x.all)
	}
	return plogp(exits) - 2*each - samples + inside
}

func plogp(p float64) float64 {
	if p <= 0 {
		return 0
	}
	return p * math.Log2(p)
}

// compared bounds the samples that the agreement of two partitions is measured on.
const compared = 20_000

// tabulation compares one partition with others. Its zero value is ready. It is asked for
// thousands of times, so it keeps one table and leaves out score.Compare's other measures.
type tabulation struct {
	member []int32 // the nodes of the samples that are compared, sorted by cluster
	end    []int32 // cluster -> where its members end
	within int64   // pairs of them in one cluster

	common, touched []int32 // scratch, by cluster of the other partition
	spaced          []int32 // the nodes of these samples; nil where nodes are samples
}

// group makes a the partition that others are compared with, on evenly spaced samples where there
// are many.
func (t *tabulation) group(a *order) {
	n := len(a.labels)
	m := min(n, compared)
	node := func(s int) int32 { return int32(sparse.Spaced(s, m, n)) }
	if t.spaced != nil {
		m, node = len(t.spaced), func(s int) int32 { return t.spaced[s] }
	}
	t.member, t.end = resized(t.member, m), resized(t.end, a.clusters+1)
	for s := range m {
		t.end[a.labels[node(s)]+1]++
	}
	t.within = 0
	for c := range a.clusters {
		t.within += pairs(t.end[c+1])
		t.end[c+1] += t.end[c]
	}
	for s := range m {
		i := node(s)
		c := a.labels[i]
		t.member[t.end[c]] = i
		t.end[c]++
	}
	t.end = t.end[:a.clusters]
}

// atMost returns what rand(b) can be at most: that of partitions of which one divides the other.
func (t *tabulation) atMost(b *order) float64 {
	return adjusted(float64(min(t.within, b.together)), float64(t.within), float64(b.together), len(t.member))
}

// rand returns the adjusted Rand index of the grouped partition and b, whose pairs are counted; 1 where both are
// trivial in the same way.
func (t *tabulation) rand(b *order) float64 {
	t.common = resized(t.common, b.clusters)
	labels, common, touched := b.labels, t.common, t.touched
	both, from := int64(0), int32(0)
	for _, end := range t.end {
		touched = touched[:0]
		for _, i := range t.member[from:end] {
			l := labels[i]
			n := common[l]
			if n == 0 {
				touched = append(touched, l)
			}
			common[l] = n + 1
		}
		for _, l := range touched {
			both += pairs(common[l])
			common[l] = 0
		}
		from = end
	}
	t.touched = touched
	return adjusted(float64(both), float64(t.within), float64(b.together), len(t.member))
}

// adjusted returns the adjusted Rand index of two partitions of so many samples: both is the number of
// pairs that are together in both, first and second are those of each. It is 1 where both are trivial
// in the same way.
func adjusted(both, first, second float64, samples int) float64 {
	n := float64(samples)
	expected := first * second / max(1, n*(n-1)/2) // of one sample there are no pairs
	most := (first + second) / 2
	if most == expected {
		return 1
	}
	return (both - expected) / (most - expected)
}

// pairs returns how many pairs n samples make.
func pairs(n int32) int64 { return int64(n) * int64(n-1) / 2 }

// resized returns n zeros, in s where they fit.
func resized(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

const (
	// clearer is how many times as stable the choice in one view is as that in several, where the others only
	// blur it.
	clearer = 1.2
	// telling is the least share of the compression that it has: two halves of anything are stable, and say little.
	telling = 0.8
	// alike is the least adjusted Rand index of the two: what is blurred can still be seen.
	alike = 0.25
)

// Unclear reports whether another choice could be Clearer.
func (c *Candidate) Unclear() bool {
	return !c.Linked && c.Stability() > 0 && clearer*c.Stability() <= 1
}

// Clearer reports whether c, the choice in a single view, is so much clearer than that in all views that the others
// only blur it: it is even enough for a clear plateau, Plateau x Agreement is 1.2 times as large or more, Compression, each
// of the walk in its own graph, at least 0.8 times, and the adjusted Rand index of the two, rand, at least 0.25.
func (c *Candidate) Clearer(all Candidate, rand float64) bool {
	return all.Unclear() && !c.Linked && c.Evenness >= even && c.Stability() >= clearer*all.Stability() && c.Compression >= telling*all.Compression && rand >= alike
}
