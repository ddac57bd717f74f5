package refine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// Neighbourhoods holds every sample's nearest neighbours in a graph, most probable first,
// so that co-neighbour propagation can be tried with several numbers of them.
//
// The rows have room for the same number, so that threads can fill them in any order. Each
// begins with the sample itself, with weight 1.
type Neighbourhoods struct {
	room   int
	length []int32
	index  []int32
	weight []float32
	sum    []float32 // of a sample's weights
	frame  *frame    // nil until Prepare
}

// newNeighbourhoods has room for k neighbours of every sample of g, or as many as it has.
func newNeighbourhoods(g *graph.Graph, k int) *Neighbourhoods {
	n, degree := g.Samples(), 0
	for i := range n {
		degree = max(degree, g.Offsets[i+1]-g.Offsets[i])
	}
	return withRoom(n, 1+max(0, min(k, degree)))
}

// withRoom has so much room for each of n samples.
func withRoom(n, room int) *Neighbourhoods {
	return &Neighbourhoods{
		room: room, length: make([]int32, n), sum: make([]float32, n),
		index: make([]int32, n*room), weight: make([]float32, n*room),
	}
}

// NewNeighbourhoods returns the neighbourhoods that index and probability hold: k of
// each sample, most probable first, or fewer, and then -1 up to the k-th. It is an error
// if a number is no other sample's, is listed twice, or has no probability above 0 and up
// to 1, or if these rise.
func NewNeighbourhoods(k int, index []int32, probability []float32) (*Neighbourhoods, error) {
	if k < 1 || len(index)%k != 0 || len(index) != len(probability) {
		return nil, fmt.Errorf("%d neighbours and %d probabilities are not %d for every sample", len(index), len(probability), k)
	}
	samples := len(index) / k
	n := withRoom(samples, 1+k)
	const rows = 1024
	failed := make([]error, (samples+rows-1)/rows)
	threads := min(8, parallel.Threads(0)) // each takes memory for all samples
	seen := make([][]int32, threads)       // by sample: whose neighbour it was last, from 1
	err := parallel.Blocks(context.Background(), threads, samples, rows, func(worker, lo, hi int) {
		if seen[worker] == nil {
			seen[worker] = make([]int32, samples)
		}
		for i := lo; i < hi && failed[lo/rows] == nil; i++ {
			failed[lo/rows] = n.take(i, index[i*k:(i+1)*k], probability[i*k:(i+1)*k], seen[worker])
		}
	})
	if err := cmp.Or(append(failed, err)...); err != nil {
		return nil, err
	}
	return n, nil
}

// take makes the neighbours of sample i those that are listed, up to -1.
func (n *Neighbourhoods) take(i int, index []int32, probability []float32, seen []int32) error {
	last := float32(1)
	at := i * n.room
	n.index[at], n.weight[at], n.length[i] = int32(i), 1, 1
	seen[i] = int32(i) + 1
	for t, j := range index {
		if j == -1 {
			break
		}
		p := probability[t]
		if j < 0 || int(j) >= n.Samples() || seen[j] == int32(i)+1 || !(p > 0 && p <= last) {
			return fmt.Errorf("sample %d has neighbour %d with probability %v, which cannot be", i, j, p)
		}
		seen[j], last = int32(i)+1, p
		at++
		n.index[at], n.weight[at] = j, p
		n.length[i]++
	}
	n.addUp(i)
	return nil
}

// Nearest finds every sample's k nearest neighbours in g, among equally probable ones
// those of the lowest number. Edges of weight 0 lead to no neighbours. g is not changed. The
// errors are those of Graph.Check and the context's own.
func Nearest(ctx context.Context, g *graph.Graph, k, threads int) (*Neighbourhoods, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	n := newNeighbourhoods(g, k)
	err := parallel.Blocks(ctx, threads, g.Samples(), 256, func(_, lo, hi int) {
		var r Row
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			n.fill(i, index, weight, &r)
		}
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// fill gives sample i its nearest neighbours among its edges.
func (n *Neighbourhoods) fill(i int, index []int32, weight []float32, r *Row) {
	at := i * n.room
	n.index[at], n.weight[at] = int32(i), 1
	n.length[i] = 1
	for _, key := range r.ranked(index, weight, n.room-1) {
		w := key.Score()
		if w == 0 {
			break
		}
		at++
		n.index[at], n.weight[at] = key.Number(), w
		n.length[i]++
	}
	n.addUp(i)
}

// addUp sets the sum of sample i.
func (n *Neighbourhoods) addUp(i int) {
	_, weight := n.of(i)
	sum := 0.0
	for _, w := range weight {
		sum += float64(w)
	}
	n.sum[i] = float32(sum)
}

// of returns sample i and its neighbours.
func (n *Neighbourhoods) of(i int) (index []int32, weight []float32) {
	lo, hi := i*n.room, i*n.room+int(n.length[i])
	return n.index[lo:hi], n.weight[lo:hi]
}

// Samples returns the number of samples.
func (n *Neighbourhoods) Samples() int { return len(n.length) }

// Of returns the neighbours of sample i, most probable first, and the probabilities.
// Neither may be changed. It panics if i is out of range.
func (n *Neighbourhoods) Of(i int) (index []int32, probability []float32) {
	index, probability = n.of(i)
	return index[1:], probability[1:]
}

// K returns the largest number of neighbours that a sample may have.
func (n *Neighbourhoods) K() int { return n.room - 1 }

// First returns the k nearest of the neighbours: a copy, unless there are no more of any
// sample.
func (n *Neighbourhoods) First(k int) *Neighbourhoods {
	if n.K() <= k {
		return n
	}
	from, out := n.first(k), withRoom(n.Samples(), 1+max(0, k))
	out.length, out.sum = from.length, from.sum
	_ = parallel.Blocks(context.Background(), 0, n.Samples(), 1024, func(_, lo, hi int) { // which does not fail
		for i := lo; i < hi; i++ {
			index, weight := from.of(i)
			copy(out.index[i*out.room:], index)
			copy(out.weight[i*out.room:], weight)
		}
	})
	return out
}

// first is First without the copy: the result shares the neighbours with n.
func (n *Neighbourhoods) first(k int) *Neighbourhoods {
	if n.K() <= k {
		return n
	}
	out := &Neighbourhoods{
		room: n.room, length: make([]int32, n.Samples()), sum: make([]float32, n.Samples()),
		index: n.index, weight: n.weight,
	}
	_ = parallel.Blocks(context.Background(), 0, n.Samples(), 1024, func(_, lo, hi int) { // which does not fail
		for i := lo; i < hi; i++ {
			out.length[i] = min(n.length[i], 1+int32(max(0, k)))
			out.addUp(i)
		}
	})
	return out
}

// Scatter returns the neighbourhoods in which sample p[i] stands for sample i of n. The errors
// are those of Permutation.Check and the context's own.
func (n *Neighbourhoods) Scatter(ctx context.Context, p sparse.Permutation, threads int) (*Neighbourhoods, error) {
	if err := p.Check(n.Samples()); err != nil {
		return nil, err
	}
	out := withRoom(len(p), n.room)
	out.length, out.sum = sparse.Scatter(p, n.length), sparse.Scatter(p, n.sum)
	err := parallel.Blocks(ctx, threads, len(p), 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := n.of(i)
			at := p[i] * n.room
			copy(out.weight[at:], weight)
			for t, j := range index {
				out.index[at+t] = int32(p[j])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Graph joins every sample to the k nearest of its neighbours; all weights are 1. The only
// error is the context's own.
func (n *Neighbourhoods) Graph(ctx context.Context, k, threads int) (*graph.Graph, error) {
	g, err := n.first(k).edges(ctx, threads)
	if err != nil {
		return nil, err
	}
	for e := range g.Weight {
		g.Weight[e] = 1
	}
	return g, nil
}

// CoNeighbours returns the graph of co-neighbour probabilities, Eq. pb_optknn: of all the
// probability that i and j give to their k nearest neighbours, the share that goes to
// neighbours that they have in common,
//
//	P(i,j) = sum over common h of (P(i,h) + P(j,h)) /
//	         (sum over h of P(i,h) + sum over h of P(j,h)).
//
// A sample counts among its own neighbours, with P(i,i) = 1, and beside its k others. The
// result has an edge wherever one sample is among the other's k nearest. The only error is
// the context's own.
func (n *Neighbourhoods) CoNeighbours(ctx context.Context, k, threads int) (*graph.Graph, error) {
	if n.frame == nil || k < 1 {
		return n.first(k).coNeighbours(ctx, threads, nil)
	}
	out, err := n.frame.edges(ctx, k, threads)
	if err != nil {
		return nil, err
	}
	return n.first(k).weigh(ctx, out, threads, nil)
}

// coNeighbours is CoNeighbours with all of these neighbours.
func (n *Neighbourhoods) coNeighbours(ctx context.Context, threads int, progress func(done int)) (*graph.Graph, error) {
	out, err := n.edges(ctx, threads)
	if err != nil {
		return nil, err
	}
	return n.weigh(ctx, out, threads, progress)
}

// weigh gives the edges of out, which join every sample to its neighbours, their probabilities. Of a common
// neighbour, both ends add what they give it. These sums have 53 bits, of weights with 24, so that they are exact
// where none is below 2^-20: they do not depend on which end comes first.
func (n *Neighbourhoods) weigh(ctx context.Context, out *graph.Graph, threads int, progress func(done int)) (*graph.Graph, error) {
	order := n.order()
	err := each(ctx, n.Samples(), threads, progress, func(r *Row, i int) {
		if order != nil {
			i = int(order[i])
		}
		if r.given == nil {
			r.given = make([]given, n.Samples())
		}
		own, weight := n.of(i)
		for t, h := range own {
			r.given[h] = given{1, weight[t]}
		}
		index, p := out.Of(i)
		above, _ := slices.BinarySearch(index, int32(i))
		for e := above; e < len(index); e++ {
			if e+ahead < len(index) {
				n.fetch(int(index[e+ahead]))
			}
			j := int(index[e])
			of, weight := n.of(j)
			mine, theirs := r.shared(of, weight)
			p[e] = float32(min(1, (float64(mine)+float64(theirs))/(float64(n.sum[i])+float64(n.sum[j]))))
		}
		for _, h := range own {
			r.given[h] = given{}
		}
	})
	if err != nil {
		return nil, err
	}
	mirror(out)
	return out, nil
}

// ahead is how many edges before they are needed the neighbours of a sample are fetched into the cache.
const ahead = 3

// fetch brings the neighbours of a sample into the cache.
func (n *Neighbourhoods) fetch(i int) {
	index, weight := n.of(i)
	kernel.Ahead(index)
	kernel.Ahead(weight)
}

// manySamples is the number of samples whose neighbours no cache holds.
const manySamples = 30_000

// order returns an order in which samples with common neighbours follow each other, so that what
// these have stays in the caches; nil where their numbers are such an order, or need not be.
func (n *Neighbourhoods) order() []int32 {
	samples := n.Samples()
	if samples < manySamples {
		return nil
	}
	keys, far := make([]uint64, samples), 0
	for i := range samples {
		index, _ := n.of(i)
		least := slices.Min(index) // the same for many that have the same neighbours
		if i-int(least) > samples/16 {
			far++
		}
		keys[i] = uint64(least)<<32 | uint64(i)
	}
	if far < samples/8 {
		return nil
	}
	slices.Sort(keys)
	order := make([]int32, samples)
	for at, k := range keys {
		order[at] = int32(uint32(k))
	}
	return order
}

// edges returns the graph, still without weights, that joins every sample to its neighbours.
func (n *Neighbourhoods) edges(ctx context.Context, threads int) (*graph.Graph, error) {
	return graph.FromRows(ctx, n.Samples(), func(i int) ([]int32, []float32) {
		index, _ := n.Of(i)
		return index, nil
	}, threads)
}

// mirror gives every edge of g the weight that it has at its lower end.
func mirror(g *graph.Graph) {
	// Going through i in order, row j meets its lower neighbours i in order.
	back := slices.Clone(g.Offsets)
	for i := range g.Samples() {
		index, weight := g.Of(i)
		above, _ := slices.BinarySearch(index, int32(i))
		for e := above; e < len(index); e++ {
			j := index[e]
			g.Weight[back[j]] = weight[e]
			back[j]++
		}
	}
}
