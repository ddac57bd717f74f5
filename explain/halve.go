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

// halve cuts every cluster in two where it hangs together least, and returns the
// partition of all halves: those of cluster c have the numbers 2c and 2c+1, of which the
// second is the smaller half, or has no member where the cluster is too small to be cut.
func halve(ctx context.Context, g *graph.Graph, members [][]int32, degree []float64, seed uint64, threads int) ([]int, error) {
	labels := make([]int, g.Samples())
	rooms := make([]cutter, parallel.Threads(threads))
	err := parallel.Blocks(ctx, threads, len(members), 1, func(worker, c, _ int) {
		r := &rooms[worker]
		if r.place == nil {
			r.ctx, r.g, r.degree, r.place = ctx, g, degree, make([]int32, g.Samples())
		}
		for _, i := range members[c] {
			labels[i] = 2 * c
		}
		if least := leastHalf(len(members[c])); 2*least <= len(members[c]) {
			for _, i := range r.cut(members[c], least, rand.New(rand.NewPCG(seed, uint64(c)))) {
				labels[i] = 2*c + 1
			}
		}
	})
	return labels, err
}

// leastHalf is how many members of n the smaller half has at least: single samples and
// fringes that hang on a cluster loosely are no cluster.
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

// cut returns the members of the smaller half.
//
// What is sought is the least W / (D(A) D(B)), with W the weight of the links between the
// halves A and B, and D the sums of the degrees of their members: the cut that modularity
// regrets least, known as the normalised one. Members are put in the order of the slowest
// mode of a random walk within the cluster, the second eigenvector of its steps, which
// tells best where it gets caught, and all cuts of that order are tried.
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

// load takes the links within the cluster.
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

// steps bounds those of the walk: by then, what is left of faster modes hardly moves any
// member past another.
const steps = 200

// walk sets x to the slowest mode.
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
		// A walk that rests every other step has no mode that swings.
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
			r.next[k] -= mean // the mode that lasts for ever, in which all are alike
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

// sweep returns how many of order the first half of the best cut has.
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
