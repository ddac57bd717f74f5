package partition

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
)

// components returns the samples as nodes, those that must be together as one.
func components(samples *edges, known *constraint.Resolved) *level {
	s := singletons(samples)
	if known == nil || known.Count().Components == 0 {
		return &level{samples, s.label}
	}
	s.assign(known.Component, 0)
	s.loss = s.objective()
	return s.level(known.Component)
}

// inner returns the sum of the products of the degrees of two samples in one node.
func (e *edges) inner(nodes *level) float64 {
	if e.degree == nil || nodes.nodes == e {
		return 0
	}
	sum := 0.0
	for i, d := range e.degree {
		sum += d * (nodes.nodes.degree[nodes.of[i]] - d)
	}
	return sum / 2
}

// strain merges the clusters of a partition as if nothing kept them apart, and returns how
// wrong the pairs are, by what is known, that it then has together. With j the pairs that are
// together though they cannot be, and e as many as there would be of that number of pairs if it
// did not matter which are known,
//
//	strain = j / (j + e + 1):
//
// near 1/2 where the partition does not tell classes apart, and 0 where it contradicts nothing.
// The pairs that a fine partition leaves apart, nearly all of them, say nothing for it.
func (f *finder) strain(found *level, constraints *constraint.Resolved) (float64, error) {
	if found.nodes.tokens.offsets == nil {
		return 0, nil
	}
	free := *found.nodes
	free.tokens = tokens{}
	merged := singletons(&free)
	if _, err := f.descend(1, merged); err != nil {
		return 0, err
	}
	if _, err := f.climb(merged); err != nil {
		return 0, err
	}
	labels := found.clusters(merged.label)
	joined, known := constraints.Violations(labels)
	size := make([]float64, len(merged.label)+1)
	for _, c := range labels {
		size[c]++
	}
	n, together := float64(len(labels)), 0.0
	for _, s := range size {
		together += s * (s - 1)
	}
	expected := float64(known) * together / (n * (n - 1))
	return float64(joined) / (float64(joined) + expected + 1), nil
}

// freed looks for a better partition than s from another side: nodes move on from s as if
// nothing kept them apart, then those that cannot be together are taken apart, and nodes move
// once more. A cluster that fell in two because of one node that should not be in it is so made
// whole, without that node. It returns s where that is no better.
func (f *finder) freed(s *state) (*state, error) {
	if s.tokens.offsets == nil {
		return s, nil
	}
	sweeps := len(f.sweeps)
	bare := s.edges
	bare.tokens = tokens{}
	free := singletons(&bare)
	free.assign(s.label, s.loss)
	if err := f.rise(free); err != nil {
		return nil, err
	}
	other := singletons(&s.edges)
	other.assign(free.apart(&s.tokens), 0)
	other.loss = other.objective()
	if err := f.rise(other); err != nil {
		return nil, err
	}
	if other.loss < s.loss {
		return other, nil
	}
	f.sweeps = f.sweeps[:sweeps]
	return s, nil
}

// apart returns the clusters of s without the nodes that hold a token which another in the
// cluster holds too. Of two such nodes, the one that costs more leaves, into a cluster of its
// own.
func (s *state) apart(tokens *tokens) []int32 {
	order, cost := make([]int32, len(s.label)), make([]float64, len(s.label))
	for i, c := range s.label {
		s.sum(i)
		order[i], cost[i] = int32(i), s.joining[c]
		if s.degree != nil {
			cost[i] += s.rate * s.degree[i] * (s.mass[c] - s.degree[i])
		}
		s.forget()
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b)) })
	label, empty := slices.Clone(s.label), s.free
	held := newClaims(len(tokens.token))
	for _, i := range order {
		// A cluster whose every node but one has left is not empty, so that there are
		// enough that are.
		if held.bar(tokens.of(int(i)), label[i]) {
			label[i] = empty[len(empty)-1]
			empty = empty[:len(empty)-1]
		}
		held.take(tokens.of(int(i)), label[i])
	}
	return label
}

// tokens are what nodes hold, of which a cluster may have each but once: those of node i
// are token[offsets[i]:offsets[i+1]]. Without any, both are nil.
type tokens struct {
	offsets []int
	token   []int32
}

func tokensOf(known *constraint.Resolved) tokens {
	if known == nil || len(known.Exclusions.Values) == 0 {
		return tokens{}
	}
	return tokens{known.Exclusions.Offsets, known.Exclusions.Values}
}

// of returns the tokens of node i.
func (t *tokens) of(i int) []int32 {
	if t.offsets == nil {
		return nil
	}
	return t.token[t.offsets[i]:t.offsets[i+1]]
}

// add gives tokens to the node that is next.
func (t *tokens) add(more []int32) { t.token = append(t.token, more...) }

// end says that the next node, which is made of nodes with tokens like, has all of its own.
func (t *tokens) end(like tokens) {
	if like.offsets == nil {
		return
	}
	if t.offsets == nil {
		t.offsets = []int{0}
	}
	t.offsets = append(t.offsets, len(t.token))
}

// claims are the tokens that clusters hold: a table of cluster<<32 | token, plus 1, in which a
// place that is taken sends to the next. It is asked for at every move and made anew for
// every partition, which a map takes several times as long for.
type claims struct {
	places []uint64
	shift  int
}

// newClaims has room for so many.
func newClaims(most int) claims {
	width := bits.Len(uint(2 * most)) // never more than half full
	return claims{make([]uint64, 1<<width), 64 - width}
}

// claims returns those of a partition.
func (t *tokens) claims(label []int32) claims {
	if t.offsets == nil {
		return claims{}
	}
	c := newClaims(len(t.token))
	for i, cluster := range label {
		c.take(t.of(i), cluster)
	}
	return c
}

// home is the place where a claim is looked for first.
func (c *claims) home(claim uint64) int { return int(claim * 0x9e3779b97f4a7c15 >> c.shift) }

// next is the place after another.
func (c *claims) next(at int) int { return (at + 1) & (len(c.places) - 1) }

// find returns the place of a claim, or the empty one where it would be.
func (c *claims) find(cluster, token int32) (at int, claim uint64) {
	claim = uint64(cluster)<<32 | uint64(token) + 1
	for at = c.home(claim); c.places[at] != 0 && c.places[at] != claim; at = c.next(at) {
	}
	return at, claim
}

// bar reports whether the cluster holds one of the tokens.
func (c *claims) bar(tokens []int32, cluster int32) bool {
	for _, t := range tokens {
		if at, _ := c.find(cluster, t); c.places[at] != 0 {
			return true
		}
	}
	return false
}

// take gives tokens to a cluster.
func (c *claims) take(tokens []int32, cluster int32) {
	for _, t := range tokens {
		at, claim := c.find(cluster, t)
		c.places[at] = claim
	}
}

// drop takes tokens from a cluster.
func (c *claims) drop(tokens []int32, cluster int32) {
	for _, t := range tokens {
		gap, _ := c.find(cluster, t)
		// What was sent on from here moves up.
		for at := c.next(gap); c.places[at] != 0; at = c.next(at) {
			if home := c.home(c.places[at]); (at-home)&(len(c.places)-1) >= (at-gap)&(len(c.places)-1) {
				c.places[gap], gap = c.places[at], at
			}
		}
		c.places[gap] = 0
	}
}
