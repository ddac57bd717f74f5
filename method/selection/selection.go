// Package selection chooses the number of neighbours and the resolution. It refines (Eq.
// pb_optknn) and partitions the graph with many of both, each in several orders of moves, and
// takes the granularity with the highest score, a product of powers of the Criteria: how well its
// partitions are found again with other numbers, how even their clusters are, and how much they
// shorten the description of a random walk over the samples.
//
// It follows the method and may change in any minor version.
package selection

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/discriminant"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/separation"
)

// Settings steer the search. The zero value tries everything.
type Settings struct {
	// Neighbours is the only number of neighbours to try; 0 stands for all.
	Neighbours int
	// Resolution is the only resolution to try; 0 stands for all.
	Resolution float64
	// Loose holds what is moved together but is no evidence, such as equal samples; nil for
	// nothing. Constraints hold it too.
	Loose *constraint.Resolved
	// Orders is in how many orders of moves every granularity is partitioned; 0 stands for 3,
	// or for fewer from 5000 samples on.
	Orders int
	// MaxNeighbours bounds the numbers of neighbours that are tried. 0 stands for what the function
	// MaxNeighbours returns.
	MaxNeighbours int
	// Doubted is the number of clusters up to which no plateau counts as clear, since clouds without groups have some that
	// are not much worse; 0 for none. structure.Report.Doubted returns it.
	Doubted int
	// Features are what Separation is measured by; nil for nothing.
	Features *separation.Features
	// Discriminant are what Discriminability is measured by, of as many samples as the graph; nil for nothing.
	Discriminant *discriminant.Coordinates
	// Partition steers the search of every partition. Its Levels of 0 stand for Levels.
	Partition partition.Settings
}

// MaxNeighbours returns the largest number of neighbours that is tried on so many samples: 80, or 40
// from 30,000 samples on, where more take most of the time and find nothing that is chosen.
func MaxNeighbours(samples int) int {
	if samples < many {
		return 80
	}
	return 40
}

// many is the number of samples from which on less is tried, and evenness says less.
const many = 30_000

// Levels is how many levels a partition is searched on where the settings do not say.
const Levels = 20

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error {
	if s.Neighbours < 0 {
		return option.Errorf("Neighbours", "%d neighbours are too few; give at least 1", s.Neighbours)
	}
	if s.Orders < 0 {
		return option.Errorf("Orders", "%d orders are too few; give at least 1, or 0 for the default", s.Orders)
	}
	if s.Partition.Levels == 0 {
		s.Partition.Levels = Levels
	}
	err := option.Resolve([]option.Parameter{
		partition.ResolutionParameter(&s.Resolution),
		{Field: "MaxNeighbours", Value: option.WholeOrAuto(&s.MaxNeighbours, 0, 1, math.MaxInt32)},
	})
	if err != nil {
		return err
	}
	return option.Within("Partition", s.Partition.Resolve())
}

// Candidate is a granularity that was tried: the partitions of one refined graph at one
// resolution, each found in another order of moves. Plateau, Agreement, Evenness, Compression,
// Modularity and Separation are means over these partitions.
type Candidate struct {
	// Neighbours is the number of neighbours of the refinement, k.
	Neighbours int `json:"neighbors"`
	// Resolution is that of the partition.
	Resolution float64 `json:"resolution"`
	// Clusters is the number of clusters of the partition that is most similar to those of the
	// other orders, which stands for all.
	Clusters int `json:"clusters"`
	// Reproducibility is the mean adjusted Rand index between partitions of two orders; 1 where
	// there is a single one.
	Reproducibility float64 `json:"reproducibility"`
	// Plateau is the largest adjusted Rand index with a partition, of any order, of the next higher or the
	// next lower resolution: a plateau has ends.
	Plateau float64 `json:"plateau"`
	// Agreement is the mean, over the next larger and the next smaller number of
	// neighbours, of the largest adjusted Rand index with a partition, of any order, found there.
	Agreement float64 `json:"agreement"`
	// Evenness is the number of clusters of equal size that would have the entropy of the
	// clusters' sizes, as a share of the number of clusters: exp(-Σ q log q) / clusters, with q
	// the share of the samples that a cluster has. It is 1 where all are of one size, and small
	// where one has nearly all samples and the others are crumbs.
	Evenness float64 `json:"evenness"`
	// Compression is the share by which the clusters shorten the description of a
	// random walk between nearest neighbours: 1 less the map equation over its value for
	// a single cluster. It is below 0 where the clusters cut more than they join.
	Compression float64 `json:"compression"`
	// Modularity is the share of the steps of that walk that stay in a cluster, less the share
	// that would by chance.
	Modularity float64 `json:"modularity"`
	// Separation is separation.Features.Of the clusters and those that most steps out of them lead to: about 0
	// for pieces of one cloud, and 1 where there are gaps. It is 1 without Settings.Features.
	Separation float64 `json:"separation"`
	// Discriminability is discriminant.Coordinates.Of the clusters that stand for all orders: how far the views foretell in
	// which cluster a sample is. It is measured of the candidates that would be chosen otherwise, and is 1 of all others.
	Discriminability float64 `json:"discriminability"`
	// Score is the product of powers of the Criteria: Plateau^2.5 x Agreement^4 x Evenness^2 x Apart()^2 x
	// Foretold()^8 x Compression where the best plateau by this score is clear, and (Agreement x
	// Reproducibility)^4 x Modularity^2 x Apart()^2 x Foretold()^8 x Evenness x Compression where it is not. Of N samples,
	// 30,000 or more, Evenness is raised to the power of max(30,000/N, 1/4) first. It is 0 for a
	// single cluster, and for more than half as many as samples unless classes are tiny. The best
	// is the candidate of the largest second score: of those about as clear where there is a clear
	// plateau, of all where there is not.
	Score float64 `json:"score"`
	// Divided is how many clusters of the chosen candidate were divided on, where finer candidates
	// agree on the parts. Of fewer than 30,000 samples all are left whole.
	Divided int `json:"divided,omitempty"`
	// Linked says that the clusters are not found by moves, but are those of average linkage that one distance
	// tells, linkage.Cut. Then Plateau is its F1, Agreement its Least, Reproducibility 1, and Resolution the
	// largest at which the clusters hold. Score is that of the best other candidate; where the views do not confirm each other, times
	// the ratio of the compressions, if that is below 1.
	Linked bool `json:"linked,omitempty"`

	labels []int32 // of the partition that stands for all
	orders []order // until the criteria are measured
}

// order is a partition that was found in one order of moves.
type order struct {
	labels   []int32
	clusters int
	nodes    []int32    // by sample: the node of which clusters are made, the same at all resolutions; nil where it is the sample
	together int64      // pairs of the samples that partitions are compared on in one cluster
	over     *walk      // the walk among these nodes, until the criteria are measured; nil where nodes is
	walked   *crossings // until the criteria are measured
}

// Result is what the search found.
type Result struct {
	// Candidates holds all partitions that were tried, by rising number of neighbours
	// and then resolution.
	Candidates []Candidate
	// Best is the place of the chosen one among them, and Clear says that its plateau is clear:
	// Plateau x Agreement is at least 0.9, and Evenness, as in Score, at least 0.5. Doubted says that one is, but of at
	// most Settings.Doubted clusters, and so does not count.
	Best           int
	Clear, Doubted bool
	// Graph holds the refined probabilities that it was found on.
	Graph *graph.Graph
	// Neighbourhoods holds the most probable neighbours in g, those that Graph was made of
	// first.
	Neighbourhoods *refine.Neighbourhoods
	// Partition is the chosen partition.
	Partition *partition.Result
	// Levels holds the granularities that the data support, coarse to fine, at most
	// MostLevels. They differ by a factor of at least Apart in the number of clusters of at least
	// 3 samples, and one from the chosen one by Beside.
	Levels []Level
	// Level is the place of the chosen one among them.
	Level int
}

// Search refines the fused graph g, which is not changed, with every number of
// neighbours, finds a partition for every resolution, and chooses, all without regard to the
// constraints, which may be nil: they would drive the choice to ever finer clusters. The
// partitions that are chosen then meet the constraints, as do their graphs. seed decides the order
// of the moves. progress, if not nil, is called with the number of steps done, of Steps.
// The result does not depend on threads; 0 stands for GOMAXPROCS. The errors are those of Settings.Resolve and the
// context's own, and those of Graph.Check and Resolved.Check.
func Search(ctx context.Context, g *graph.Graph, constraints *constraint.Resolved, set Settings, seed uint64, threads int, progress func(done int)) (*Result, error) {
	tick := parallel.Counter(progress)
	s, err := newSearcher(ctx, g, constraints, set, seed, threads)
	if err != nil {
		return nil, err
	}
	if constraints == nil {
		g = nil // which may be freed: the neighbours say all that is needed
	}
	r := &Result{Neighbourhoods: s.near}
	walk, most, err := s.judge(ctx, r, threads, tick)
	if err != nil {
		return nil, err
	}
	if err := s.divide(ctx, walk, r, threads); err != nil {
		return nil, err
	}
	both := neighbourhoods{s.near, s.near}
	if constraints != nil {
		if g, err = constraints.Clamp(ctx, g, threads); err != nil {
			return nil, err
		}
		if both.known, err = refine.Nearest(ctx, g, max(slices.Max(s.plan.neighbours), walked), threads); err != nil {
			return nil, err
		}
		r.Neighbourhoods = both.known
	}
	levelled := scores(r.Candidates, asLevel, s.plan.samples, most)
	levels, best, err := s.settle(ctx, both, r.Candidates, levelled, ladder(r.Candidates, levelled, r.Best), threads, tick)
	if err != nil {
		return nil, err
	}
	r.Graph, r.Partition = best.graph, best.partition
	r.setLevels(levels)
	return r, nil
}

// Choose is Search without constraints, up to the choice: the result has Candidates, Best and Clear alone, and the
// labels of the best as they were tried.
func Choose(ctx context.Context, g *graph.Graph, set Settings, seed uint64, threads int, progress func(done int)) (*Result, error) {
	s, err := newSearcher(ctx, g, nil, set, seed, threads)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if _, _, err := s.judge(ctx, r, threads, parallel.Counter(progress)); err != nil {
		return nil, err
	}
	labels := r.Candidates[r.Best].labels
	r.Partition = &partition.Result{Labels: make([]int, len(labels))}
	for i, l := range labels {
		r.Partition.Labels[i] = int(l)
	}
	return r, nil
}

// newSearcher checks the arguments of Search, and plans it.
func newSearcher(ctx context.Context, g *graph.Graph, constraints *constraint.Resolved, set Settings, seed uint64, threads int) (*searcher, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := constraints.Check(g.Samples()); err != nil {
		return nil, err
	}
	s := &searcher{set: set, constraints: constraints, seed: seed, plan: set.plan(g.Samples())}
	var err error
	if s.near, err = refine.Nearest(ctx, g, max(slices.Max(s.plan.neighbours), walked), threads); err != nil {
		return nil, err
	}
	if err := s.near.Prepare(ctx, threads); err != nil {
		return nil, err
	}
	s.mates = classmates(s.near)
	s.plan.narrow(set, s.mates)
	return s, nil
}

// judge finds the candidates of r and chooses among them. It returns the walk that they are compared on, and the
// most clusters that are an answer.
func (s *searcher) judge(ctx context.Context, r *Result, threads int, tick func(int)) (over *walk, most int, err error) {
	if r.Candidates, err = s.try(ctx, s.refined(ctx, s.near), threads, tick); err != nil {
		return nil, 0, err
	}
	nearest, err := s.near.Graph(ctx, max(2, s.mates), threads)
	if err != nil {
		return nil, 0, err
	}
	over, most = walkOver(nearest), s.plan.samples/2
	if s.mates <= tiny {
		most = s.plan.samples - 1
	}
	if err := setCriteria(ctx, over, s.set.Features, r.Candidates, len(s.plan.resolutions), threads); err != nil {
		return nil, 0, err
	}
	tick(s.plan.judging())
	made, err := s.decide(ctx, r.Candidates, most, threads)
	r.take(made)
	return over, most, err
}

// take notes what was chosen.
func (r *Result) take(made choice) { r.Best, r.Clear, r.Doubted = made.best, made.clear, made.doubted }

// divide divides the chosen clusters where there are many samples.
func (s *searcher) divide(ctx context.Context, over *walk, r *Result, threads int) (err error) {
	best := &r.Candidates[r.Best]
	if s.plan.samples >= many && best.Score > 0 {
		best.labels, best.Divided, err = divide(ctx, over, r.Candidates, r.Best, len(s.plan.resolutions), threads)
	}
	return err
}

// neighbourhoods are those without the constraints, and with them.
type neighbourhoods struct{ free, known *refine.Neighbourhoods }

// searcher is one call of Search.
type searcher struct {
	set         Settings
	constraints *constraint.Resolved
	seed        uint64
	plan        plan
	near        *refine.Neighbourhoods // without the constraints
	mates       int                    // what classmates returns for them
}

// refined returns the function for try where the neighbours of all samples are known.
func (s *searcher) refined(ctx context.Context, near *refine.Neighbourhoods) func(at int) (*partition.Series, error) {
	return func(at int) (*partition.Series, error) {
		refined, err := near.CoNeighbours(ctx, s.plan.neighbours[at], 1)
		if err != nil {
			return nil, err
		}
		return partition.NewSeries(ctx, refined, s.plan.finest, s.set.Loose, s.set.Partition)
	}
}

// try finds all partitions. series prepares the refined graph of the number of neighbours at a place.
func (s *searcher) try(ctx context.Context, series func(at int) (*partition.Series, error), threads int, tick func(int)) ([]Candidate, error) {
	width := len(s.plan.resolutions)
	candidates := make([]Candidate, len(s.plan.neighbours)*width)
	failed := make([]error, len(s.plan.neighbours))
	err := parallel.Blocks(ctx, threads, len(s.plan.neighbours), 1, func(_, turn, _ int) {
		at := len(s.plan.neighbours) - 1 - turn // what takes longest comes first
		found, err := series(at)
		if err == nil {
			err = s.row(ctx, found, s.plan.neighbours[at], candidates[at*width:][:width], tick)
		}
		failed[at] = err
	})
	return candidates, cmp.Or(append(failed, err)...)
}

// row finds the partitions with one number of neighbours.
func (s *searcher) row(ctx context.Context, series *partition.Series, k int, row []Candidate, tick func(int)) error {
	for c := range row {
		row[c] = Candidate{Neighbours: k, Resolution: s.plan.resolutions[c]}
	}
	for o := range s.plan.orders {
		random := func(resolution float64) *rand.Rand { return s.random(k, resolution, uint64(o)) }
		nodes, err := series.Each(ctx, s.plan.resolutions, random, func(c int, labels []int32, clusters int) {
			row[c].orders = append(row[c].orders, order{labels: labels, clusters: clusters})
			tick(1)
		})
		if err != nil {
			return err
		}
		for c := range row {
			row[c].orders[o].nodes = nodes
		}
	}
	return nil
}

// random returns the source for one partition. It depends on nothing else, so that a partition
// can be found again without the others.
func (s *searcher) random(k int, resolution float64, order uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed^uint64(k)<<32^order<<48, math.Float64bits(resolution)))
}

// plan is what is tried.
type plan struct {
	samples     int
	neighbours  []int
	resolutions []float64
	finest      float64 // resolution of the clusters that all partitions are made of
	orders      int     // partitions of every number of neighbours and resolution
}

// plan returns numbers of neighbours from 5 to a third of the samples, each the last times the
// square root of 2, and resolutions, each the last times the fifth root of 10, from one that
// leaves nearly one cluster to one whose clusters have about 25 samples.
func (s Settings) plan(samples int) plan {
	p := plan{samples: samples}
	most := s.MaxNeighbours
	if most == 0 {
		most = MaxNeighbours(samples)
	}
	largest := max(1, min(most, (samples-1)/3))
	switch {
	case s.Neighbours > 0:
		p.neighbours = []int{s.Neighbours}
	case largest < fewest:
		p.neighbours = []int{largest}
	default:
		for k := float64(fewest); math.Round(k) <= float64(largest); k *= math.Sqrt2 {
			p.neighbours = append(p.neighbours, int(math.Round(k)))
		}
	}
	p.resolve(s.Resolution, samples < many)
	if p.orders = s.Orders; p.orders == 0 {
		p.orders = max(1, min(mostOrders, manySamples/max(1, samples)))
	}
	return p
}

// resolve plans the resolutions: the given one, or where it is 0 all. These end at clusters of about
// 25 samples or, unless they are to be fine, of about 100 by the same measure: the finest of many
// samples take longest.
func (p *plan) resolve(given float64, fine bool) {
	least := 25.0
	if !fine {
		least = 100
	}
	p.resolutions = nil
	for step := 0.0; step == 0 || p.finest*math.Pow(10, 0.2) <= max(1, float64(p.samples)/least); step++ {
		p.finest = coarsest * math.Pow(10, step/5)
		p.resolutions = append(p.resolutions, p.finest)
	}
	if given > 0 {
		p.resolutions, p.finest = []float64{given}, max(given, p.finest)
	}
}

// narrow leaves, where classes are tiny, the number of classmates alone: with more neighbours
// than these, classes run together.
func (p *plan) narrow(set Settings, mates int) {
	if mates > tiny {
		return
	}
	if set.Neighbours == 0 {
		p.neighbours = []int{mates}
	}
	p.resolve(set.Resolution, true)
}

const (
	// mostOrders is in how many orders of moves every granularity is partitioned. Of two that
	// nearly tie, one order would choose by luck.
	mostOrders = 3
	// manySamples bounds the samples times the orders: with many samples, a single order says
	// nearly as much.
	manySamples = 15_000
)

const (
	fewest   = 5
	coarsest = 0.06
)

// Steps returns how many steps Search takes with the given number of samples: one for every partition that
// it tries, and half as many to judge them and to find the levels.
func (s Settings) Steps(samples int) int {
	if s.Resolve() != nil {
		return 0
	}
	p := s.plan(samples)
	return p.tried() + p.judging() + p.settled()
}

// tried returns the number of partitions that are tried.
func (p *plan) tried() int { return len(p.neighbours) * len(p.resolutions) * p.orders }

// judging returns the number of steps for judging them, and settled that for the levels.
func (p *plan) judging() int { return p.tried() / 8 }
func (p *plan) settled() int { return p.tried() * 3 / 8 }
