package partition

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/sparse"
)

// components returns the samples as nodes, those that are moved together as one.
func components(samples *network, constraints *constraint.Resolved) *aggregation {
	s := singletons(samples)
	nodes, any := constraints.Nodes()
	if !any {
		return &aggregation{samples, s.label}
	}
	s.assign(nodes, 0)
	s.loss = s.objective()
	return s.aggregation(nodes)
}

// inner returns the sum of the products of the degrees of any two samples in one node.
func (e *network) inner(nodes *aggregation) float64 {
	if e.degree == nil || nodes.nodes == e {
		return 0
	}
	sum := 0.0
	for i, d := range e.degree {
		sum += d * (nodes.nodes.degree[nodes.of[i]] - d)
	}
	return sum / 2
}

// relax looks for a better partition than s: it drops the cannot-links and moves nodes on from
// s, takes apart what violates them, and moves nodes once more. So a cluster that was split
// because of one node that should not be in it becomes whole, without that node. It returns s
// where that is no better.
func (f *search) relax(s *state) (*state, error) {
	if !s.constrained() {
		return s, nil
	}
	sweeps := len(f.sweeps)
	relaxed := singletons(s.unconstrained())
	relaxed.assign(s.label, s.loss)
	if err := f.optimise(relaxed); err != nil {
		return nil, err
	}
	other := singletons(&s.network)
	other.assign(relaxed.repair(&s.network), 0)
	other.loss = other.objective()
	if err := f.optimise(other); err != nil {
		return nil, err
	}
	if other.loss < s.loss {
		return other, nil
	}
	f.sweeps = f.sweeps[:sweeps]
	return s, nil
}

// repair returns the clusters of s without violations of the exclusions of the network: of two
// members of one in a cluster, the one that costs more leaves, into a cluster of its own.
func (s *state) repair(constrained *network) []int32 {
	order, cost := make([]int32, len(s.label)), make([]float64, len(s.label))
	for i, c := range s.label {
		s.addCosts(i)
		order[i], cost[i] = int32(i), s.costTo[c]
		if s.degree != nil {
			cost[i] += s.rate * s.degree[i] * (s.degreeSum[c] - s.degree[i])
		}
		s.clearCosts()
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b)) })
	label, empty := slices.Clone(s.label), s.empty
	occupied, done := newOccupancy(len(constrained.exclusions.Values)), make([]bool, len(order))
	for _, i := range order {
		exclusions := rowOf(&constrained.exclusions, int(i))
		barred := slices.ContainsFunc(rowOf(&constrained.apart, int(i)), func(j int32) bool { return done[j] && label[j] == label[i] })
		done[i] = true
		// The first of a cluster stays, so that there are enough empty ones.
		if barred || occupied.conflicts(exclusions, label[i]) {
			label[i] = empty[len(empty)-1]
			empty = empty[:len(empty)-1]
		}
		occupied.add(exclusions, label[i])
	}
	return label
}

// rowOf returns row i, or an empty one where there are no rows.
func rowOf(rows *sparse.Rows[int32], i int) []int32 {
	if rows.Len() == 0 {
		return nil
	}
	return rows.Of(i)
}

// conflicts reports whether node i, which is visited, may not be in a cluster.
func (s *state) conflicts(i int, cluster int32) bool {
	if len(s.apart.Values) > 0 {
		if !s.marked {
			s.marked = true
			s.visits++
			for _, j := range s.apart.Of(i) {
				s.barred[s.label[j]] = s.visits
			}
		}
		if s.barred[cluster] == s.visits {
			return true
		}
	}
	return s.occupied.conflicts(rowOf(&s.exclusions, i), cluster)
}

// occupancy is the set of the pairs (cluster, exclusion) of which the cluster has a member: a
// hash table with linear probing. It is asked at every move and made anew for every partition,
// for which a map takes several times as long.
type occupancy struct {
	places []uint64 // cluster<<32 | exclusion, plus 1; 0 for none
	shift  int
}

// newOccupancy has room for the given number of pairs.
func newOccupancy(pairs int) occupancy {
	width := bits.Len(uint(2 * pairs)) // never more than half full
	return occupancy{make([]uint64, 1<<width), 64 - width}
}

// occupancy returns that of the partition.
func (s *state) occupancy() occupancy {
	if len(s.exclusions.Values) == 0 {
		return occupancy{}
	}
	o := newOccupancy(len(s.exclusions.Values))
	for i, cluster := range s.label {
		o.add(s.exclusions.Of(i), cluster)
	}
	return o
}

// hash returns the place where a pair is looked for first.
func (o *occupancy) hash(pair uint64) int { return int(pair * 0x9e3779b97f4a7c15 >> o.shift) }

// next returns the place after another.
func (o *occupancy) next(at int) int { return (at + 1) & (len(o.places) - 1) }

// find returns the place of a pair, or the empty one where it would be.
func (o *occupancy) find(cluster, exclusion int32) (at int, pair uint64) {
	pair = uint64(cluster)<<32 | uint64(exclusion) + 1
	for at = o.hash(pair); o.places[at] != 0 && o.places[at] != pair; at = o.next(at) {
	}
	return at, pair
}

// conflicts reports whether the cluster has a member of one of the exclusions.
func (o *occupancy) conflicts(exclusions []int32, cluster int32) bool {
	for _, x := range exclusions {
		if at, _ := o.find(cluster, x); o.places[at] != 0 {
			return true
		}
	}
	return false
}

// add notes that the cluster has a member of each of the exclusions.
func (o *occupancy) add(exclusions []int32, cluster int32) {
	for _, x := range exclusions {
		at, pair := o.find(cluster, x)
		o.places[at] = pair
	}
}

// remove undoes add.
func (o *occupancy) remove(exclusions []int32, cluster int32) {
	for _, x := range exclusions {
		gap, _ := o.find(cluster, x)
		// Pairs that were displaced past the gap move into it.
		for at := o.next(gap); o.places[at] != 0; at = o.next(at) {
			if first := o.hash(o.places[at]); (at-first)&(len(o.places)-1) >= (at-gap)&(len(o.places)-1) {
				o.places[gap], gap = o.places[at], at
			}
		}
		o.places[gap] = 0
	}
}
