package explain

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
)

// halve cuts every cluster in two along its weakest links, and returns the half of every
// sample: the halves of cluster c are 2c and 2c+1. The second is the smaller one. It is
// empty if the cluster is too small to be cut. number holds the number of every cluster.
// Cuts that are in known, by number, are taken from it, and the others put there.
func halve(ctx context.Context, g *graph.Graph, members [][]int32, number []int, degree []float64, known map[int][]int32, seed uint64, threads int) ([]int, error) {
	labels := make([]int, g.Samples())
	rooms := make([]cutter, parallel.Threads(threads))
	found := make([][]int32, len(members))
	err := parallel.Blocks(ctx, threads, len(members), 1, func(worker, c, _ int) {
		r := &rooms[worker]
		if r.place == nil {
			r.ctx, r.g, r.degree, r.place = ctx, g, degree, make([]int32, g.Samples())
		}
		half, cut := known[number[c]]
		if !cut {
			half = r.halfOf(members[c], seed, number[c])
		}
		for _, i := range members[c] {
			labels[i] = 2 * c
		}
		for _, i := range half {
			labels[i] = 2*c + 1
		}
		found[c] = half
	})
	if err == nil && known != nil {
		for c, half := range found {
			known[number[c]] = half
		}
	}
	return labels, err
}

// halfOf returns the smaller half of a cluster, none where it is too small to be cut.
func (r *cutter) halfOf(members []int32, seed uint64, number int) []int32 {
	least := leastHalf(len(members))
	if 2*least > len(members) {
		return nil
	}
	return r.cut(members, least, rand.New(rand.NewPCG(seed, uint64(number))))
}

// leastHalf is the least size of a half of n members. A few loosely linked samples are not
// a cluster.
func leastHalf(n int) int { return max(smallest, (n+9)/10) }

// cutter cuts one cluster after another.
type cutter struct {
	ctx    context.Context
	g      *graph.Graph
	degree []float64
	place  []int32 // sample -> place among the members, counted from 1; left at 0

	offsets []int
	to      []int32
	weight  []float64
	inner   []float64 // by place: the sum of the weights
	x, next []float64
}

// cut returns the members of the smaller half. It approximates the normalised cut, the
// halves A and B with the least
//
//	W / (D(A) D(B)),
//
// W being the weight of the links between them and D the sum of the degrees of their
// members. The members are sorted by the second eigenvector of a random walk within the
// cluster, and the best of all cuts of that order is taken.
func (r *cutter) cut(members []int32, least int, random *rand.Rand) []int32 {
	r.load(members)
	r.walk(random)
	order := make([]int32, len(members))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(r.x[a], r.x[b]), int(a-b)) })
	at := r.sweep(members, order, least)
	smaller := order[at:]
	if 2*at < len(order) || 2*at == len(order) && slices.Contains(smaller, 0) {
		smaller = order[:at]
	}
	half := make([]int32, len(smaller))
	for t, k := range smaller {
		half[t] = members[k]
	}
	slices.Sort(half)
	return half
}

// load copies the links within the cluster.
func (r *cutter) load(members []int32) {
	for k, i := range members {
		r.place[i] = int32(k) + 1
	}
	r.offsets, r.to, r.weight, r.inner = append(r.offsets[:0], 0), r.to[:0], r.weight[:0], r.inner[:0]
	for _, i := range members {
		index, weight := r.g.Of(int(i))
		sum := 0.0
		for e, j := range index {
			if k := r.place[j]; k > 0 {
				r.to = append(r.to, k-1)
				r.weight = append(r.weight, float64(weight[e]))
				sum += float64(weight[e])
			}
		}
		r.offsets = append(r.offsets, len(r.to))
		r.inner = append(r.inner, sum)
	}
	for _, i := range members {
		r.place[i] = 0
	}
}

// steps bounds the iterations for the eigenvector. By then, the others hardly change the
// order.
const steps = 200

// walk sets x to the second eigenvector, by power iteration.
func (r *cutter) walk(random *rand.Rand) {
	n := len(r.inner)
	r.x, r.next = slices.Grow(r.x[:0], n)[:n], slices.Grow(r.next[:0], n)[:n]
	for k := range r.x {
		r.x[k] = random.Float64() - 0.5
	}
	for step := range steps {
		if step%16 == 0 && r.ctx.Err() != nil {
			return
		}
		// The walk rests every other step, so that no eigenvalue is negative.
		mean, all := 0.0, 0.0
		for k := range r.x {
			sum := 0.0
			for e := r.offsets[k]; e < r.offsets[k+1]; e++ {
				sum += r.weight[e] * r.x[r.to[e]]
			}
			if r.inner[k] > 0 {
				sum /= r.inner[k]
			}
			r.next[k] = (r.x[k] + sum) / 2
			mean += r.inner[k] * r.next[k]
			all += r.inner[k]
		}
		if all > 0 {
			mean /= all
		}
		size := 0.0
		for k := range r.next {
			r.next[k] -= mean // the first eigenvector, which is constant
			size = max(size, math.Abs(r.next[k]))
		}
		if size == 0 {
			return
		}
		change := 0.0
		for k := range r.next {
			r.next[k] /= size
			change = max(change, math.Abs(r.next[k]-r.x[k]))
		}
		r.x, r.next = r.next, r.x
		if change < 1e-6 {
			return
		}
	}
}

// sweep returns the size of the first half of the best cut of order.
func (r *cutter) sweep(members, order []int32, least int) int {
	in := make([]bool, len(order))
	left, right, between := 0.0, 0.0, 0.0
	for _, i := range members {
		right += r.degree[i]
	}
	best, lowest := least, math.Inf(1)
	for t, k := range order[:len(order)-least] {
		between += r.inner[k]
		for e := r.offsets[k]; e < r.offsets[k+1]; e++ {
			if in[r.to[e]] {
				between -= 2 * r.weight[e]
			}
		}
		in[k] = true
		d := r.degree[members[k]]
		left += d
		right -= d
		if t+1 < least {
			continue
		}
		if x := max(0, between) / (left * right); x < lowest {
			best, lowest = t+1, x
		}
	}
	return best
}
