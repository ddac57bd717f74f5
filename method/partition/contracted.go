package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Contracted is a graph whose nodes stand for sets of samples: what is left of a graph when sets
// are contracted, or a part of such a graph. Modularity of a partition of its nodes is that of the
// partition of the samples.
type Contracted struct {
	// Offsets, Index and Weight hold the edges between nodes as graph.Graph does: the weight is the
	// sum over the edges between samples of the two. There are no loops.
	Offsets []int
	Index   []int32
	Weight  []float64
	// Degree holds, by node, the sum of the degrees of its samples, edges within the node included.
	Degree []float64
	// All is the sum of the degrees of all samples, those of nodes that are left out included.
	All float64
}

// Nodes returns the number of nodes.
func (c *Contracted) Nodes() int { return len(c.Degree) }

// Check reports why nothing can be moved in c: lengths that do not fit, ends out of range, or
// weights and degrees that are not finite numbers from 0 on.
func (c *Contracted) Check() error {
	if c == nil {
		return errors.New("there is no contracted graph; pass one")
	}
	n := len(c.Degree)
	if len(c.Offsets) != n+1 || c.Offsets[0] != 0 || c.Offsets[n] != len(c.Index) || len(c.Index) != len(c.Weight) {
		return fmt.Errorf("a contracted graph of %d nodes has %d offsets, %d ends and %d weights, which do not fit", n, len(c.Offsets), len(c.Index), len(c.Weight))
	}
	good := func(x float64) bool { return x >= 0 && x <= math.MaxFloat64 }
	for i, d := range c.Degree {
		if c.Offsets[i+1] < c.Offsets[i] || !good(d) {
			return fmt.Errorf("node %d of a contracted graph has the degree %v and edges from %d to %d, which cannot be", i, d, c.Offsets[i], c.Offsets[i+1])
		}
	}
	for e, j := range c.Index {
		if j < 0 || int(j) >= n || !good(c.Weight[e]) {
			return fmt.Errorf("edge %d of a contracted graph leads to node %d of %d with the weight %v, which cannot be", e, j, n, c.Weight[e])
		}
	}
	if !good(c.All) {
		return fmt.Errorf("the degrees of a contracted graph add up to %v, which cannot be", c.All)
	}
	return nil
}

// network returns the edges at a resolution.
func (c *Contracted) network(resolution float64) *network {
	e := &network{offsets: c.Offsets, to: c.Index, cost: make([]float64, len(c.Weight)), degree: c.Degree}
	for t, w := range c.Weight {
		e.cost[t] = -w
	}
	if c.All > 0 {
		e.rate = resolution / c.All
	}
	return e
}

// NewContractedSeries is NewSeries for a contracted graph without constraints: the nodes take the
// place of the samples. The errors are those of Contracted.Check and Settings.Resolve, and a
// resolution that is out of range.
func NewContractedSeries(c *Contracted, finest float64, set Settings) (*Series, error) {
	if err := resolve(&set, finest); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &Series{set: set, samples: components(c.network(finest), nil), all: c.All}, nil
}

// MoveInside moves the first nodes of a piece of a larger graph, of which the others are frozen:
// each is alone in a cluster that a node may want to join, and stays there. It returns the cluster
// of every inner node, numbered from 0 in the order of their first nodes. A node that would rather
// be with a frozen one than with any other waits: it is alone in the result, so that another
// piece, which holds both, may join them. Nodes move as the samples of Find do at a resolution
// above 0. The errors are those of Contracted.Check and Settings.Resolve, a resolution that is out
// of range or 0, a number of inner nodes that is, no source of random numbers, and the context's
// own.
func MoveInside(ctx context.Context, c *Contracted, inner int, resolution float64, set Settings, random *rand.Rand) ([]int32, error) {
	if err := resolve(&set, resolution); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	switch {
	case resolution == 0:
		return nil, errors.New("a piece has no resolution; give one above 0")
	case inner < 0 || inner > c.Nodes():
		return nil, fmt.Errorf("%d inner nodes are not between 0 and %d, the number of nodes", inner, c.Nodes())
	case random == nil:
		return nil, errNoRandom
	}
	s := singletons(c.network(resolution))
	s.frozen = inner
	f := &search{ctx: ctx, set: set, random: random}
	if _, err := f.moveNodes(0, s); err != nil {
		return nil, err
	}
	waits := make([]bool, c.Nodes()) // by cluster: whether it has a frozen node
	for _, l := range s.label[inner:] {
		waits[l] = true
	}
	number, next := make([]int32, c.Nodes()), int32(0) // 1 + the new number of a cluster
	labels := make([]int32, inner)
	for i, l := range s.label[:inner] {
		if waits[l] || number[l] == 0 {
			next++
			number[l] = next
		}
		labels[i] = number[l] - 1
	}
	return labels, nil
}
