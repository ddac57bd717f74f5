package selection

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
)

// divide divides the clusters of candidate best where finer candidates agree on the parts. One
// resolution does not suit all of many samples: where it leaves large clusters whole, it runs small
// ones together, and the criteria, which count pairs of samples, hardly notice.
//
// It goes through the finer candidates of the same number of neighbours, by rising resolution. A
// cluster gives way to its parts in one of them if
//
//   - plateau x agreement of these parts, measured in the cluster alone, is at least 0.9, and
//   - they shorten the description of the random walk.
//
// It returns the labels, numbered from 0, and how many clusters were divided.
func divide(ctx context.Context, over *walk, candidates []Candidate, best, width, threads int) (labels []int32, divided int, err error) {
	d := &divider{walk: over, candidates: candidates, width: width, labels: slices.Clone(candidates[best].labels)}
	d.clusters = candidates[best].Clusters
	workers := make([]divisionScratch, parallel.Threads(threads))
	for at := best + 1; at%width != 0; at++ {
		d.prepare(at)
		whole := make([]bool, d.clusters)
		err := parallel.Blocks(ctx, threads, d.clusters, 64, func(worker, lo, hi int) {
			for c := lo; c < hi; c++ {
				whole[c] = !d.falls(&workers[worker], c, at)
			}
		})
		if err != nil {
			return nil, 0, err
		}
		divided += d.apply(at, whole)
	}
	return d.labels, divided, nil
}

// divider is one call of divide.
type divider struct {
	walk       *walk
	candidates []Candidate
	width      int
	labels     []int32
	clusters   int

	// Of the candidate at hand:
	members   sparse.Rows[int32] // by cluster: its samples
	witnesses [][]int            // candidates that the parts should be found in: one of each list
	exits     float64            // steps from one cluster to another
}

// prepare sets what is about the candidate at.
func (d *divider) prepare(at int) {
	d.members = sparse.Collect(d.clusters, func(add func(cluster int, sample int32)) {
		for i, c := range d.labels {
			add(int(c), int32(i))
		}
	})
	row, column := at/d.width, at%d.width
	d.witnesses = d.witnesses[:0]
	if column+1 < d.width {
		d.witnesses = append(d.witnesses, []int{at + 1})
	}
	for _, to := range []int{row - 1, row + 1} {
		if to < 0 || to >= len(d.candidates)/d.width {
			continue
		}
		var columns []int
		for c := column; c < min(d.width, column+witnessColumns); c++ {
			columns = append(columns, to*d.width+c)
		}
		d.witnesses = append(d.witnesses, columns)
	}
	d.exits = 0
	for i, l := range d.labels {
		index, weight := d.walk.Of(i)
		for e, j := range index {
			if d.labels[j] != l {
				d.exits += float64(weight[e])
			}
		}
	}
}

// witnessColumns is how many resolutions of the next numbers of neighbours the parts are looked for
// in: with other numbers, clusters fall apart at other resolutions.
const witnessColumns = 3

// divisionScratch is the memory of one thread.
type divisionScratch struct {
	keys   []jointKey
	counts map[int32]int
	parts  map[int32]*[2]float64 // by part: the steps from its samples, and those that leave it
}

// jointKey is a cluster of each of two partitions, the first in the high bits, and samples in both.
type jointKey struct {
	key     uint64
	samples int
}

// falls reports whether cluster c gives way to its parts in candidate at.
func (d *divider) falls(v *divisionScratch, c, at int) bool {
	members, finer := d.members.Of(c), d.candidates[at].labels
	if len(members) < 2*small || !slices.ContainsFunc(members, func(i int32) bool { return finer[i] != finer[members[0]] }) {
		return false
	}
	if d.lengthened(v, int32(c), members, finer) {
		return false
	}
	plateau, agreement, rows := 1.0, 0.0, 0
	for _, list := range d.witnesses {
		largest := -1.0
		for _, w := range list {
			largest = max(largest, v.rand(d.walk, members, finer, d.candidates[w].labels))
		}
		if w := list[0]; w/d.width == at/d.width {
			plateau = largest
			continue
		}
		agreement += largest
		rows++
	}
	if rows > 0 {
		plateau *= agreement / float64(rows)
	}
	return plateau >= stable
}

// lengthened reports whether the parts of cluster c do not shorten the description of the walk.
func (d *divider) lengthened(v *divisionScratch, c int32, members, finer []int32) bool {
	if v.parts == nil {
		v.parts = map[int32]*[2]float64{}
	}
	clear(v.parts)
	left := 0.0
	for _, i := range members {
		part := v.parts[finer[i]]
		if part == nil {
			part = new([2]float64)
			v.parts[finer[i]] = part
		}
		part[0] += d.walk.degree[i]
		index, weight := d.walk.Of(int(i))
		for e, j := range index {
			if d.labels[j] != c {
				left += float64(weight[e])
				part[1] += float64(weight[e])
			} else if finer[j] != finer[i] {
				part[1] += float64(weight[e])
			}
		}
	}
	visits, out, change := 0.0, 0.0, 0.0
	length := func(visits, left float64) float64 {
		return plogp((visits+left)/d.walk.all) - 2*plogp(left/d.walk.all)
	}
	names := make([]int32, 0, len(v.parts))
	for p := range v.parts {
		names = append(names, p)
	}
	slices.Sort(names) // the sum must not depend on the order of the map
	for _, p := range names {
		x := v.parts[p]
		visits += x[0]
		out += x[1]
		change += length(x[0], x[1])
	}
	change += plogp((d.exits+out-left)/d.walk.all) - plogp(d.exits/d.walk.all) - length(visits, left)
	return change >= 0
}

// rand returns the adjusted Rand index of two partitions of the samples of some nodes.
func (v *divisionScratch) rand(over *walk, nodes, a, b []int32) float64 {
	if v.counts == nil {
		v.counts = map[int32]int{}
	}
	clear(v.counts)
	v.keys = v.keys[:0]
	samples := 0
	for _, i := range nodes {
		size := over.size(i)
		v.keys = append(v.keys, jointKey{uint64(a[i])<<32 | uint64(b[i]), size})
		v.counts[b[i]] += size
		samples += size
	}
	slices.SortFunc(v.keys, func(a, b jointKey) int { return cmp.Compare(a.key, b.key) })
	pairs := func(n int) float64 { return float64(n) * float64(n-1) / 2 }
	both, first := 0.0, 0.0
	cell, row := 0, 0
	for t, k := range v.keys {
		if t > 0 && k.key != v.keys[t-1].key {
			both += pairs(cell)
			cell = 0
			if k.key>>32 != v.keys[t-1].key>>32 {
				first += pairs(row)
				row = 0
			}
		}
		cell += k.samples
		row += k.samples
	}
	both += pairs(cell)
	first += pairs(row)
	return adjusted(both, first, pairsOf(v.counts), samples)
}

// apply divides the clusters that are not to stay whole, and returns how many these are.
func (d *divider) apply(at int, whole []bool) (divided int) {
	finer := d.candidates[at].labels
	next := int32(0)
	for c := range d.clusters {
		if whole[c] {
			for _, i := range d.members.Of(c) {
				d.labels[i] = next
			}
			next++
			continue
		}
		divided++
		number := map[int32]int32{}
		for _, i := range d.members.Of(c) {
			n, has := number[finer[i]]
			if !has {
				n = next
				number[finer[i]] = n
				next++
			}
			d.labels[i] = n
		}
	}
	d.clusters = int(next)
	return divided
}
