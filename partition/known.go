package partition

import (
	"cmp"
	"slices"

	"github.com/mvclust/mvclust/constraint"
)

// components returns the samples as nodes, those that must be together as one.
func components(samples *edges, known *constraint.Known) *level {
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

// strain merges the clusters of a partition as if nothing kept them apart, and returns the
// share of the pairs that cannot be together which then are.
func (f *finder) strain(found *level) (float64, error) {
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
	return f.set.Known.Joined(found.clusters(merged.label)), nil
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
	held := make(claims)
	for _, i := range order {
		// A cluster whose every node but one has left is not empty, so that there are
		// enough that are.
		if held.bar(tokens.of(int(i)), label[i]) {
			label[i] = empty[len(empty)-1]
			empty = empty[:len(empty)-1]
		}
		held.pass(tokens.of(int(i)), -1, label[i])
	}
	return label
}

// tokens are what nodes hold, of which a cluster may have each but once: those of node i
// are token[offsets[i]:offsets[i+1]]. Without any, both are nil.
type tokens struct {
	offsets []int
	token   []int32
}

func tokensOf(known *constraint.Known) tokens {
	if known == nil || len(known.Token) == 0 {
		return tokens{}
	}
	return tokens{known.Offsets, known.Token}
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

// claims are the tokens that clusters hold, as cluster<<32 | token.
type claims map[uint64]struct{}

// claims returns those of a partition.
func (t *tokens) claims(label []int32) claims {
	if t.offsets == nil {
		return nil
	}
	c := make(claims, len(t.token))
	for i, cluster := range label {
		c.pass(t.of(i), -1, cluster)
	}
	return c
}

// bar reports whether the cluster holds one of the tokens.
func (c claims) bar(tokens []int32, cluster int32) bool {
	for _, t := range tokens {
		if _, taken := c[uint64(cluster)<<32|uint64(t)]; taken {
			return true
		}
	}
	return false
}

// pass takes tokens from one cluster, or from none, to another.
func (c claims) pass(tokens []int32, from, to int32) {
	for _, t := range tokens {
		if from >= 0 {
			delete(c, uint64(from)<<32|uint64(t))
		}
		c[uint64(to)<<32|uint64(t)] = struct{}{}
	}
}
