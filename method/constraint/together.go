package constraint

import (
	"slices"

	"github.com/mvclust/mvclust/method/sparse"
)

// Together returns constraints by which samples of one group are moved together, too, as far as
// the exclusions allow: a sample that must not be with one of its group, or with what is moved
// together with that, stays out of it. Unlike a must-link, a group is no evidence: it changes
// neither probabilities nor Component. groups holds, by sample, the lowest sample of its group; nil
// stands for none, and r, which may be nil, is then the result. labels, if not nil, holds the
// cluster that every sample is in already, below 0 for none: samples in different ones are not
// joined. It panics if groups does not hold one such number for every sample of r, or labels fewer
// than groups.
func (r *Resolved) Together(groups []int32, labels []int) *Resolved {
	if groups == nil {
		return r
	}
	n := len(groups)
	out := &Resolved{apart: &apart{}, Component: make([]int32, n), Exclusions: sparse.Rows[int32]{Offsets: make([]int, n+1)}}
	if r != nil {
		*out = *r
	} else {
		for i := range out.Component {
			out.Component[i] = int32(i)
		}
	}
	type part struct {
		group int32
		label int
	}
	first := map[part]int32{} // of the samples that are in a cluster other than the group's lowest
	j := newJoiner(out)
	for i, g := range groups {
		if labels != nil && labels[i] >= 0 && labels[i] != labels[g] {
			at, seen := first[part{g, labels[i]}]
			if !seen {
				at = int32(i)
				first[part{g, labels[i]}] = at
			}
			g = at
		}
		j.join(g, int32(i))
	}
	out.nodes = make([]int32, n)
	for i := range out.nodes {
		out.nodes[i] = j.root(int32(i))
	}
	return out
}

// Nodes returns, by sample, the lowest of those that are moved together with it, and whether there
// are any such samples. It is nil where r is.
func (r *Resolved) Nodes() (nodes []int32, any bool) {
	switch {
	case r == nil:
		return nil, false
	case r.nodes != nil:
		return r.nodes, true
	}
	return r.Component, r.count.Components > 0
}

// joiner joins samples that are moved together.
type joiner struct {
	parent     []int32
	exclusions map[int32]map[int32]bool // by root: those that it has members of; nil for none
}

func newJoiner(r *Resolved) *joiner {
	nodes, _ := r.Nodes()
	j := &joiner{slices.Clone(nodes), map[int32]map[int32]bool{}}
	for i, c := range nodes {
		for _, x := range r.Exclusions.Of(i) {
			if j.exclusions[c] == nil {
				j.exclusions[c] = map[int32]bool{}
			}
			j.exclusions[c][x] = true
		}
	}
	return j
}

func (j *joiner) root(i int32) int32 {
	for j.parent[i] != i {
		j.parent[i] = j.parent[j.parent[i]]
		i = j.parent[i]
	}
	return i
}

// join joins two samples, unless an exclusion has members on both sides.
func (j *joiner) join(a, b int32) {
	a, b = j.root(a), j.root(b)
	if a == b {
		return
	}
	few, many := j.exclusions[a], j.exclusions[b]
	if len(few) > len(many) {
		few, many = many, few
	}
	for x := range few {
		if many[x] {
			return
		}
	}
	for x := range few {
		many[x] = true
	}
	a, b = min(a, b), max(a, b)
	j.parent[b] = a
	delete(j.exclusions, b)
	if len(many) > 0 {
		j.exclusions[a] = many
	}
}
