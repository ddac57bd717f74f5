package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/sparse"
)

// Contraction is what is left of the refined graphs of many samples when sets of these, the same in
// all graphs, are contracted to nodes.
type Contraction struct {
	// Samples holds the number of samples of every node.
	Samples []int
	// Neighbours holds the numbers of neighbours of the refinements, rising, and Refined the
	// graph of each.
	Neighbours []int
	Refined    []*partition.Contracted
	// Walk is the graph of each sample's most probable neighbours before refinement, 10 of them,
	// all edges of weight 1.
	Walk *partition.Contracted
	// Finest, above 0, is the highest resolution to try: nodes must be much smaller than the
	// clusters that are made of them.
	Finest float64
}

// Check reports what no search can start from: graphs of other nodes, or none.
func (c *Contraction) Check() error {
	if c == nil || len(c.Refined) == 0 || len(c.Refined) != len(c.Neighbours) {
		return errors.New("a contraction has no graphs, or not one for each number of neighbours; pass both")
	}
	if len(c.Samples) == 0 {
		return errors.New("a contraction has no nodes; pass at least one")
	}
	for i, samples := range c.Samples {
		if samples < 1 || samples > math.MaxInt32 {
			return fmt.Errorf("node %d of a contraction has %d samples; every node has at least 1", i, samples)
		}
	}
	for _, g := range append([]*partition.Contracted{c.Walk}, c.Refined...) {
		if err := g.Check(); err != nil {
			return err
		}
		if g.Nodes() != len(c.Samples) {
			return fmt.Errorf("a graph of a contraction has %d nodes, and %d have samples", g.Nodes(), len(c.Samples))
		}
	}
	return nil
}

// walk returns the random walk over the samples.
func (c *Contraction) walk() *walk {
	g := &graph.Graph{Offsets: c.Walk.Offsets, Index: c.Walk.Index, Weight: make([]float32, len(c.Walk.Weight))}
	for e, w := range c.Walk.Weight {
		g.Weight[e] = float32(w)
	}
	w := &walk{Graph: g, degree: c.Walk.Degree, samples: c.Samples}
	for _, d := range c.Walk.Degree {
		w.all += d
	}
	all := 0
	for _, samples := range c.Samples {
		all += samples
	}
	m, next, before := min(all, compared), 0, 0
	for i, samples := range c.Samples {
		for before += samples; next < m && sparse.Spaced(next, m, all) < before; next++ {
			w.spaced = append(w.spaced, int32(i))
		}
	}
	return w
}

// SearchContracted chooses the granularity on a contraction as Search does on samples, with the
// same candidates but for those that Contraction leaves out, and the same scores: every criterion
// is that of the partition of the samples. It does not look for tiny classes. Candidates hold what
// was tried, and Partition is of the nodes; the other fields of the result are left empty. Only
// Orders, Resolution and Partition of the settings matter. The errors are those of
// Settings.Resolve, Contraction.Check and the context's own.
func SearchContracted(ctx context.Context, c *Contraction, set Settings, seed uint64, threads int) (*Result, error) {
	if err := cmp.Or(set.Resolve(), c.Check()); err != nil {
		return nil, err
	}
	all := 0
	for _, samples := range c.Samples {
		all += samples
	}
	s := searcher{set: set, seed: seed, plan: set.plan(all)}
	s.plan.neighbours = c.Neighbours
	s.plan.cap(c.Finest)
	series := func(at int) (*partition.Series, error) {
		return partition.NewContractedSeries(c.Refined[at], s.plan.finest, set.Partition)
	}
	r := &Result{}
	var err error
	if r.Candidates, err = s.try(ctx, series, threads, parallel.Counter(nil)); err != nil {
		return nil, err
	}
	walk := c.walk()
	if err := setCriteria(ctx, walk, nil, r.Candidates, len(s.plan.resolutions), threads); err != nil {
		return nil, err
	}
	r.take(choose(r.Candidates, all, all/2, set.Doubted))
	if err := s.divide(ctx, walk, r, threads); err != nil {
		return nil, err
	}
	best := &r.Candidates[r.Best]
	at := r.Best / len(s.plan.resolutions)
	found, err := series(at)
	if err != nil {
		return nil, err
	}
	r.Partition, err = found.Refine(ctx, best.Resolution, best.labels, s.random(best.Neighbours, -best.Resolution, 0))
	return r, err
}

// cap leaves out resolutions above the finest, but for the first.
func (p *plan) cap(finest float64) {
	if finest <= 0 {
		return
	}
	for len(p.resolutions) > 1 && p.resolutions[len(p.resolutions)-1] > finest {
		p.resolutions = p.resolutions[:len(p.resolutions)-1]
	}
	p.finest = p.resolutions[len(p.resolutions)-1]
}

// NeighboursTried returns the numbers of neighbours that Search tries on so many samples, rising.
func (s Settings) NeighboursTried(samples int) []int {
	if s.Resolve() != nil {
		return nil
	}
	return s.plan(samples).neighbours
}
