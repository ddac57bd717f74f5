package partition

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// network holds the edges between nodes, which are samples or aggregates of them. Those of node
// i are offsets[i] to offsets[i+1].
type network struct {
	offsets []int
	to      []int32
	cost    []float64 // what the edge adds to the objective within a cluster; nil where it is -weight
	weight  []float32 // of the edges of a graph that is partitioned at a resolution; else nil
	within  float64   // the cost of what is within the nodes

	// Two nodes in a cluster also cost rate x the product of their degrees. degree is nil
	// without a resolution.
	degree []float64
	rate   float64

	apart      sparse.Rows[int32] // by node: the nodes that may not be in its cluster
	exclusions sparse.Rows[int32] // by node: the exclusions of three samples or more
}

// constrained reports whether any two nodes may not be in one cluster.
func (e *network) constrained() bool { return len(e.apart.Values) > 0 || len(e.exclusions.Values) > 0 }

// unconstrained returns e without regard to that.
func (e *network) unconstrained() *network {
	free := *e
	free.apart, free.exclusions = sparse.Rows[int32]{}, sparse.Rows[int32]{}
	return &free
}

// newNetwork returns the edges between the samples of g.
func newNetwork(ctx context.Context, g *graph.Graph, resolution float64, constraints *constraint.Resolved, set Settings) (*network, error) {
	e := &network{offsets: g.Offsets, to: g.Index}
	if len(e.offsets) == 0 {
		e.offsets = []int{0} // of no samples
	}
	if resolution > 0 {
		e.degree, e.weight = make([]float64, g.Samples()), g.Weight
	} else {
		e.cost = make([]float64, len(g.Weight))
	}
	all := 0.0
	for i := range g.Samples() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for at := g.Offsets[i]; at < g.Offsets[i+1]; at++ {
			p := float64(g.Weight[at])
			if e.degree == nil {
				e.cost[at] = cost(p, resolution, set.Clip)
				continue
			}
			e.degree[i] += p
			all += p
		}
	}
	if all > 0 {
		e.rate = resolution / all
	}
	e.apart, e.exclusions = constraints.Apart()
	return e, nil
}

// state is a partition of the nodes of a network while it is searched.
type state struct {
	network
	label     []int32   // node -> cluster
	active    []bool    // node -> whether it may want to move
	loss      float64   // the objective, updated with every move
	size      []int32   // cluster -> nodes
	degreeSum []float64 // cluster -> the degrees of its nodes, where nodes have any
	occupied  occupancy // the exclusions that clusters have a member of
	barred    []int     // scratch, by cluster: the last visit whose node may not be in it
	visits    int
	marked    bool      // whether barred is up to date for the node that is visited
	empty     []int32   // clusters without nodes
	costTo    []float64 // scratch, by cluster: the sum of a node's costs to it
	adjacent  []int32   // scratch: the clusters in costTo
	frozen    int       // nodes from this number on stay where they are
}

// singletons returns the partition in which every node is alone.
func singletons(e *network) *state {
	n := len(e.offsets) - 1
	s := &state{
		network: *e, degreeSum: slices.Clone(e.degree), loss: e.within,
		label: make([]int32, n), active: make([]bool, n), size: make([]int32, n), costTo: make([]float64, n),
		frozen: n,
	}
	for i := range n {
		s.label[i], s.active[i], s.size[i] = int32(i), true, 1
	}
	s.occupied = s.occupancy()
	if len(e.apart.Values) > 0 {
		s.barred = make([]int, n)
	}
	return s
}

// assign makes label the partition, whose objective is loss.
func (s *state) assign(label []int32, loss float64) {
	copy(s.label, label)
	for i := range s.active {
		s.active[i] = true
	}
	clear(s.size)
	clear(s.degreeSum)
	for i, c := range label {
		s.size[c]++
		if s.degree != nil {
			s.degreeSum[c] += s.degree[i]
		}
	}
	s.empty = s.empty[:0]
	for c, size := range s.size {
		if size == 0 {
			s.empty = append(s.empty, int32(c))
		}
	}
	s.occupied = s.occupancy()
	s.loss = loss
}

// move puts node i where the objective is lowest and reports whether that is elsewhere. A node
// that has been visited is not active until one that it has an edge to moves; of many nodes, to another
// cluster than its own.
func (s *state) move(i int) bool {
	if !s.active[i] || i >= s.frozen {
		return false
	}
	s.active[i], s.marked = false, false
	s.addCosts(i)
	to, change := s.best(i)
	s.clearCosts()
	if to == s.label[i] {
		return false
	}
	if to == alone {
		to = s.empty[len(s.empty)-1]
		s.empty = s.empty[:len(s.empty)-1]
	}
	s.loss += change
	s.relabel(i, to)
	return true
}

// many reports whether there are so many nodes that fewer are looked at again.
func (s *state) many() bool { return s.degree != nil && len(s.label) >= manyNodes }

// activateMerged makes only those nodes active that are in a cluster merged of several, and what has edges to them.
// before holds the clusters before. It returns which clusters are merged.
func (s *state) activateMerged(before []int32) (merged []bool) {
	clear(s.active)
	first := slices.Repeat([]int32{-1}, len(s.size))
	merged = make([]bool, len(s.size))
	for i, c := range s.label {
		switch {
		case first[c] < 0:
			first[c] = before[i]
		case first[c] != before[i]:
			merged[c] = true
		}
	}
	for i, c := range s.label {
		if !merged[c] {
			continue
		}
		s.active[i] = true
		for _, j := range s.to[s.offsets[i]:s.offsets[i+1]] {
			s.active[j] = true
		}
	}
	return merged
}

// alone stands for a cluster without nodes.
const alone = -1

// best returns the cluster in which node i, whose costs are added up, costs least, or alone, and
// by how much that changes the objective. Staying wins ties, then the lower cluster number.
func (s *state) best(i int) (cluster int32, change float64) {
	own := s.label[i]
	best, least := own, s.costTo[own]
	degree := 0.0
	if s.degree != nil {
		degree = s.degree[i] * s.rate
		least += degree * (s.degreeSum[own] - s.degree[i])
	}
	stay := least
	costTo, degreeSum := s.costTo, s.degreeSum
	for _, c := range s.adjacent {
		x := costTo[c]
		if degree > 0 {
			x += degree * degreeSum[c]
		}
		if x > least || c == own || x == least && (best == own || c > best) {
			continue
		}
		if s.conflicts(i, c) {
			s.active[i] = true // the member in conflict may leave
			continue
		}
		best, least = c, x
	}
	if least > 0 && s.size[own] > 1 {
		return alone, -stay
	}
	return best, least - stay
}

// relabel moves node i to a cluster, in all but the objective, and makes its neighbours active.
func (s *state) relabel(i int, to int32) {
	own := s.label[i]
	s.label[i] = to
	exclusions := rowOf(&s.exclusions, i)
	s.occupied.remove(exclusions, own)
	s.occupied.add(exclusions, to)
	many := s.many()
	for e := s.offsets[i]; e < s.offsets[i+1]; e++ {
		if j := s.to[e]; !many || s.label[j] != to {
			s.active[j] = true
		}
	}
	if s.degree != nil {
		s.degreeSum[own] -= s.degree[i]
		s.degreeSum[to] += s.degree[i]
	}
	s.size[to]++
	if s.size[own]--; s.size[own] == 0 {
		if s.degree != nil {
			s.degreeSum[own] = 0 // without what rounding leaves
		}
		s.empty = append(s.empty, own)
	}
}

// addCosts adds up in costTo what node i's edges cost, by the cluster that they lead to.
func (s *state) addCosts(i int) {
	from, end := s.offsets[i], s.offsets[i+1]
	if s.cost == nil {
		addUp(s, s.to[from:end], s.weight[from:end], -1)
	} else {
		addUp(s, s.to[from:end], s.cost[from:end], 1)
	}
}

// addUp adds up in costTo the values of edges, times sign. It writes down every cluster and keeps those that are new: whether
// one is cannot be foretold, and so a branch on it would take as long as the sum.
func addUp[V float32 | float64](s *state, to []int32, value []V, sign float64) {
	n := len(s.adjacent)
	s.adjacent = slices.Grow(s.adjacent, len(to))
	label, costTo, adjacent := s.label, s.costTo, s.adjacent[:n+len(to)]
	value = value[:len(to)]
	for e, j := range to {
		c := label[j]
		sum, fresh := costTo[c], 0
		if math.Float64bits(sum) == 0 {
			fresh = 1
		}
		adjacent[n] = c
		n += fresh
		costTo[c] = sum + sign*float64(value[e])
	}
	s.adjacent = adjacent[:n]
}

// costOf returns the cost of an edge.
func (e *network) costOf(edge int) float64 {
	if e.cost == nil {
		return -float64(e.weight[edge])
	}
	return e.cost[edge]
}

// clearCosts makes costTo zeros again.
func (s *state) clearCosts() {
	for _, c := range s.adjacent {
		s.costTo[c] = 0
	}
	s.adjacent = s.adjacent[:0]
}

// objective returns the objective, without its constant, summed up anew.
func (s *state) objective() float64 {
	sum := 0.0
	for i, c := range s.label {
		for e := s.offsets[i]; e < s.offsets[i+1]; e++ {
			if s.label[s.to[e]] == c {
				sum += s.costOf(e)
			}
		}
	}
	for i, d := range s.degree {
		sum += s.rate * d * (s.degreeSum[s.label[i]] - d)
	}
	return s.within + sum/2
}

// numberClusters numbers the clusters that are not empty from 0 and returns the numbers.
func (s *state) numberClusters() []int32 {
	number, next := make([]int32, len(s.size)), int32(0)
	for c, size := range s.size {
		if size > 0 {
			number[c] = next
			next++
		}
	}
	return number
}

// aggregate returns the network of the clusters, which become nodes of the given numbers. An
// edge costs the sum of those between members of the two.
func (s *state) aggregate(number []int32) *network {
	members := sparse.Collect(len(s.size), func(add func(cluster int, node int32)) {
		for i, c := range s.label {
			add(int(c), int32(i))
		}
	})
	out := &network{offsets: []int{0}, within: s.loss, rate: s.rate}
	var to []int32
	var costs []float64
	var apart, exclusions []int32
	listed := make([]int, len(s.size)) // by cluster: the last one, from 1, that may not be with it
	for c := range s.size {
		if s.size[c] == 0 {
			continue
		}
		if s.degree != nil {
			out.degree = append(out.degree, s.degreeSum[c])
		}
		apart, exclusions = apart[:0], exclusions[:0]
		for t, i := range members.Of(c) {
			s.fetch(members.Values, members.Offsets[c]+t, true)
			s.addCosts(int(i))
			exclusions = append(exclusions, rowOf(&s.exclusions, int(i))...)
			for _, j := range rowOf(&s.apart, int(i)) {
				if d := s.label[j]; listed[d] != c+1 {
					listed[d] = c + 1
					apart = append(apart, number[d])
				}
			}
		}
		if s.constrained() {
			out.apart.Append(apart...)
			out.exclusions.Append(exclusions...)
		}
		for _, d := range s.adjacent {
			// A sum that passed through 0 is listed again.
			if cost := s.costTo[d]; int(d) != c && cost != 0 {
				to, costs = append(to, number[d]), append(costs, cost)
				s.costTo[d] = 0
			}
		}
		s.clearCosts()
		out.offsets = append(out.offsets, len(to))
	}
	out.to, out.cost = to, costs
	return out
}
