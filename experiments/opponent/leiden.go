package opponent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Leiden parts the samples such that the modularity of a graph is high, at resolution 1: that of
// the given number of nearest neighbours, at most 20, by the mean cosine over the views that both samples
// have, an edge where either is one of the other's. It finds the number of clusters by itself, by
// the method of
//
//	Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected
//	communities", 2019,
//
// which is repeated until it no longer improves the modularity.
func (a *Alike) Leiden(ctx context.Context, neighbours int, seed uint64) ([]int, error) {
	return communities(ctx, unweighted(a.nearest(neighbours)), stream(seed, leidenStream))
}

// communities returns the community of every node.
func communities(ctx context.Context, g *network, random *rand.Rand) ([]int, error) {
	labels := make([]int, len(g.degree))
	for v := range labels {
		labels[v] = v
	}
	const least = 1e-9 // gain of a round that is none
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := g.improve(labels, random)
		if g.modularity(next) <= g.modularity(labels)+least {
			return next, nil
		}
		labels = next
	}
}

// network is an undirected graph of nodes, each a set of samples.
type network struct {
	index  [][]int32   // by node, the others that it has links to
	weight [][]float64 // of these links
	inside []float64   // by node, twice the weight of the links between its own samples
	degree []float64   // by node, the weight of all of its links, with inside
	total  float64     // of the degrees
}

// unweighted is the network of samples that are linked where either lists the other.
func unweighted(lists [][]int32) *network {
	n := len(lists)
	g := &network{index: mutual(lists), weight: make([][]float64, n), inside: make([]float64, n)}
	for v, list := range g.index {
		g.weight[v] = slices.Repeat([]float64{1}, len(list))
	}
	g.sum()
	return g
}

// sum fills in the degrees.
func (g *network) sum() {
	g.degree = slices.Clone(g.inside)
	for v, weights := range g.weight {
		for _, w := range weights {
			g.degree[v] += w
		}
		g.total += g.degree[v]
	}
}

// modularity returns the share of the weight that lies within communities, less that expected of
// links at random between nodes of these degrees.
func (g *network) modularity(labels []int) float64 {
	if g.total == 0 {
		return 0
	}
	degree := make([]float64, len(labels))
	q := 0.0
	for v, l := range labels {
		degree[l] += g.degree[v]
		q += g.inside[v] / g.total
		for at, u := range g.index[v] {
			if labels[u] == l {
				q += g.weight[v][at] / g.total
			}
		}
	}
	for _, d := range degree {
		q -= d / g.total * d / g.total
	}
	return q
}

// improve runs the method once, from the communities in labels: nodes move, communities are
// refined, what is left of them becomes the nodes of a smaller network, and so on until every
// community is a single node.
func (g *network) improve(labels []int, random *rand.Rand) []int {
	node := make([]int, len(labels)) // of a sample in the present network
	for i := range node {
		node[i] = i
	}
	for {
		var count int
		if labels, count = g.move(labels, random); count == len(labels) {
			break
		}
		parts, number := g.refine(labels, random)
		if number == len(labels) { // nothing was merged; what hangs together is
			parts, number = g.connected(labels)
		}
		g, labels = g.aggregate(parts, number, labels)
		for i, v := range node {
			node[i] = parts[v]
		}
	}
	for i, v := range node {
		node[i] = labels[v]
	}
	return node
}

// links sums the weights of the links of a node by the group of the other ends.
type links struct {
	weight []float64
	groups []int // that have links, in the order of their first
	linked []bool
}

func newLinks(n int) *links { return &links{weight: make([]float64, n), linked: make([]bool, n)} }

// of sums up the links of node v to those for which among is true.
func (s *links) of(g *network, v int, group []int, among func(u int32) bool) {
	for _, c := range s.groups {
		s.weight[c], s.linked[c] = 0, false
	}
	s.groups = s.groups[:0]
	for at, u := range g.index[v] {
		if among(u) {
			c := group[u]
			if !s.linked[c] {
				s.linked[c] = true
				s.groups = append(s.groups, c)
			}
			s.weight[c] += g.weight[v][at]
		}
	}
}

// move gives every node the community, or one of its own, by which the modularity is highest, and
// again those whose neighbours have moved, until none moves. It returns the communities, numbered
// from 0, and their number.
func (g *network) move(labels []int, random *rand.Rand) ([]int, int) {
	n := len(labels)
	labels = slices.Clone(labels)
	degree, size := make([]float64, n), make([]int, n)
	for v, l := range labels {
		degree[l] += g.degree[v]
		size[l]++
	}
	var empty []int
	for c := range n {
		if size[c] == 0 {
			empty = append(empty, c)
		}
	}
	queue := random.Perm(n)
	waits := slices.Repeat([]bool{true}, n)
	sums := newLinks(n)
	for len(queue) > 0 {
		v := queue[0]
		queue, waits[v] = queue[1:], false
		from := labels[v]
		degree[from] -= g.degree[v]
		size[from]--
		sums.of(g, v, labels, func(int32) bool { return true })
		gain := func(c int) float64 { return sums.weight[c] - g.degree[v]*degree[c]/g.total }
		best, most := from, gain(from)
		for _, c := range sums.groups {
			if x := gain(c); x > most {
				best, most = c, x
			}
		}
		if most < 0 && size[from] > 0 {
			best = empty[len(empty)-1]
			empty = empty[:len(empty)-1]
		}
		degree[best] += g.degree[v]
		size[best]++
		if best == from {
			continue
		}
		if size[from] == 0 {
			empty = append(empty, from)
		}
		labels[v] = best
		for _, u := range g.index[v] {
			if labels[u] != best && !waits[u] {
				queue, waits[u] = append(queue, int(u)), true
			}
		}
	}
	return numbered(labels)
}

// numbered numbers groups from 0 by their first members, and counts them.
func numbered(labels []int) ([]int, int) {
	number := make(map[int]int)
	out := make([]int, len(labels))
	for v, l := range labels {
		if _, there := number[l]; !there {
			number[l] = len(number)
		}
		out[v] = number[l]
	}
	return out, len(number)
}

// randomness is the gain, in weight of links, that makes a merger e times as probable.
const randomness = 0.01

// refine parts every community anew: each node that is still alone, and well connected with the
// rest of its community, merges with a part of it that is well connected too, drawn with a
// probability in proportion to the exponential of its gain, of those that are no loss; to stay
// alone is none. It returns the parts, numbered from 0, and their number.
func (g *network) refine(labels []int, random *rand.Rand) ([]int, int) {
	n := len(labels)
	whole := make([]float64, n) // degree of a community
	for v, l := range labels {
		whole[l] += g.degree[v]
	}
	part, size := make([]int, n), slices.Repeat([]int{1}, n)
	degree, outward := slices.Clone(g.degree), make([]float64, n) // of a part, to the rest of its community
	for v := range part {
		part[v] = v
		for at, u := range g.index[v] {
			if labels[u] == labels[v] {
				outward[v] += g.weight[v][at]
			}
		}
	}
	// Links that are expected at random of a part with the rest are at most those it has.
	connected := func(c int, l int) bool { return outward[c] >= degree[c]*(whole[l]-degree[c])/g.total }
	sums := newLinks(n)
	for _, v := range random.Perm(n) {
		l := labels[v]
		if size[part[v]] > 1 || !connected(part[v], l) {
			continue
		}
		sums.of(g, v, part, func(u int32) bool { return labels[u] == l })
		groups, gains := []int{part[v]}, []float64{0}
		for _, c := range sums.groups {
			if x := sums.weight[c] - degree[v]*degree[c]/g.total; x >= 0 && connected(c, l) {
				groups, gains = append(groups, c), append(gains, x)
			}
		}
		if c := groups[draw(gains, random)]; c != v {
			degree[c] += degree[v]
			outward[c] += outward[v] - 2*sums.weight[c]
			size[c]++
			size[v], part[v] = 0, c
		}
	}
	return numbered(part)
}

// draw returns a place in gains with a probability in proportion to the exponential of what is
// there.
func draw(gains []float64, random *rand.Rand) int {
	most, sum := slices.Max(gains), 0.0
	chance := make([]float64, len(gains))
	for at, x := range gains {
		chance[at] = math.Exp((x - most) / randomness)
		sum += chance[at]
	}
	left := random.Float64() * sum
	for at, p := range chance {
		if left -= p; left < 0 {
			return at
		}
	}
	return slices.Index(gains, most)
}

// connected parts every community into what hangs together.
func (g *network) connected(labels []int) ([]int, int) {
	part := slices.Repeat([]int{-1}, len(labels))
	count := 0
	for v := range labels {
		if part[v] >= 0 {
			continue
		}
		part[v] = count
		for stack := []int{v}; len(stack) > 0; {
			x := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, u := range g.index[x] {
				if labels[u] == labels[x] && part[u] < 0 {
					part[u] = count
					stack = append(stack, int(u))
				}
			}
		}
		count++
	}
	return part, count
}

// aggregate returns the network whose nodes are the parts of communities, and the community of
// each.
func (g *network) aggregate(parts []int, number int, labels []int) (*network, []int) {
	h := &network{index: make([][]int32, number), weight: make([][]float64, number), inside: make([]float64, number)}
	of := make([]int, number)
	members := make([][]int, number)
	for v, p := range parts {
		of[p] = labels[v]
		h.inside[p] += g.inside[v]
		members[p] = append(members[p], v)
	}
	sum := make([]float64, number)
	for p := range number {
		for _, v := range members[p] {
			for at, u := range g.index[v] {
				to, w := parts[u], g.weight[v][at]
				switch {
				case to == p:
					h.inside[p] += w
				case sum[to] == 0:
					h.index[p] = append(h.index[p], int32(to))
					fallthrough
				default:
					sum[to] += w
				}
			}
		}
		for _, to := range h.index[p] {
			h.weight[p] = append(h.weight[p], sum[to])
			sum[to] = 0
		}
	}
	h.sum()
	return h, of
}
