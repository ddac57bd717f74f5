package refine

import (
	"slices"

	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/graph"
)

// Row refines the pair probabilities of one sample, as Graph does for all: it is the memory
// of one goroutine. Paths, Nearest and CoNeighbours refine those of a sample that is not in a
// graph with samples that are.
type Row struct {
	samples int
	place   []int32    // by sample: its place in the row, counted from 1; 0 between calls
	best    []float32  // by place: the probability of the best path
	floor   float32    // below which no probability matters
	reach   []int32    // places whose best is at least floor
	top     []float32  // their best
	keys    []rank.Key // scratch
	marks   []uint64   // a bit by sample, for the same in CoNeighbours: unlike own, they fit into a cache
	own     []float32  // by sample: the probabilities of these
	met     []int32    // scratch: those of these that another sample has
	given   []given    // by sample: what weigh's sample gives it; 0 between calls
	to      []int32    // the edges that are returned
	weight  []float32  // their probabilities
}

// given is what a sample gives a neighbour of its own.
type given struct {
	member float32 // 1, or 0 for a sample that is no neighbour
	weight float32
}

// NewRow returns the memory for graphs of the given number of samples.
func NewRow(samples int) *Row { return &Row{samples: samples} }

// Paths returns the probabilities after path propagation, Eq. pb_optpath, of a sample that
// has the probabilities p with the samples of index. neighbours returns the neighbours of
// these, in any order. The result is valid until the next call. It panics if a sample is out of
// range, or if there are fewer probabilities than samples.
func (r *Row) Paths(index []int32, p []float32, neighbours func(h int) (index []int32, weight []float32)) []float32 {
	r.begin(index, p, 0)
	for e, h := range index {
		to, weight := neighbours(int(h))
		r.extend(p[e], to, weight)
	}
	r.end(index)
	return r.best
}

// largest sets best to the weights that paths give to those edges of sample i of g whose
// weights are then among its k largest. The edges of g are sorted by weight. Other edges get
// any weight below these, and the largest are at least floor.
func (r *Row) largest(g *graph.Graph, i, k int) {
	index, weight := g.Of(i)
	floor := float32(0)
	if k = min(max(1, k), len(index)); k > 0 {
		floor = weight[k-1]
	}
	r.begin(index, weight, floor)
	enough := 2 * k
	// No step raises the probability of a path, so that few first steps come into question,
	// and few second ones after each.
	for e, h := range index {
		if weight[e] < r.floor {
			break
		}
		to, step := g.Of(int(h))
		r.extend(weight[e], to, step)
		if len(r.reach) >= enough {
			r.raise(k)
			enough = 2 * max(k, len(r.reach)) // of which many may tie
		}
	}
	r.end(index)
}

// begin makes the edges to index the row.
func (r *Row) begin(index []int32, weight []float32, floor float32) {
	if r.place == nil {
		r.place = make([]int32, r.samples)
	}
	r.best, r.reach, r.floor = append(r.best[:0], weight...), r.reach[:0], floor
	for e, j := range index {
		r.place[j] = int32(e) + 1
		if weight[e] >= floor {
			r.reach = append(r.reach, int32(e))
		}
	}
}

// end makes place zeros again.
func (r *Row) end(index []int32) {
	for _, j := range index {
		r.place[j] = 0
	}
}

// extend raises best to the paths over one neighbour, first being the weight of the edge to
// it, and second those of its own edges. It stops at the first path below floor.
func (r *Row) extend(first float32, to []int32, second []float32) {
	for e, j := range to {
		p := first * second[e]
		if p < r.floor {
			break
		}
		at := r.place[j] - 1
		if at < 0 || p <= r.best[at] {
			continue
		}
		if r.best[at] < r.floor {
			r.reach = append(r.reach, at)
		}
		r.best[at] = p
	}
}

// raise sets floor to the k-th largest weight so far.
func (r *Row) raise(k int) {
	r.top = r.top[:0]
	for _, at := range r.reach {
		r.top = append(r.top, r.best[at])
	}
	slices.Sort(r.top)
	r.floor = r.top[len(r.top)-k]
	r.reach = slices.DeleteFunc(r.reach, func(at int32) bool { return r.best[at] < r.floor })
}

// ranked returns the k edges of the largest weights that are not below floor, the largest
// first and, among equals, those to the lowest number.
func (r *Row) ranked(index []int32, weight []float32, k int) []rank.Key {
	r.keys = r.keys[:0]
	if k < 1 {
		return nil
	}
	for e, j := range index {
		if w := weight[e]; w >= r.floor {
			r.keys = append(r.keys, rank.New(w, j))
		}
	}
	return rank.Best(r.keys, k)
}

// Nearest appends to places the places in index, which ascends, of the k samples with the largest
// probabilities p above 0, the largest first and, among equals, the lowest number. It panics if
// there are fewer probabilities than samples.
func (r *Row) Nearest(places, index []int32, p []float32, k int) []int32 {
	r.keys = r.keys[:0]
	for e, w := range p[:len(index)] {
		if w > 0 {
			r.keys = append(r.keys, rank.New(w, int32(e)))
		}
	}
	for _, key := range rank.Best(r.keys, max(0, k)) {
		places = append(places, key.Number())
	}
	return places
}

// CoNeighbours returns the edges of a sample that has the probabilities p with the samples of
// index, and the co-neighbour probabilities of these, Eq. pb_optknn. nearest are the places of
// its neighbours in index, and near has those of the other samples, k of each: the new sample
// takes the place of the last of them where it is more probable. There is an edge wherever one
// sample is a neighbour of the other. A sample beyond those of near keeps its probability. The
// result is valid until the next call. It panics if a sample or a place is out of range, or if
// there are fewer probabilities than samples.
func (r *Row) CoNeighbours(index []int32, p []float32, nearest []int32, near *Neighbourhoods, k int) (to []int32, weight []float32) {
	if r.own == nil {
		r.own, r.marks = make([]float32, r.samples), make([]uint64, (r.samples+63)/64)
	}
	sum := 1.0
	for _, t := range nearest {
		j := index[t]
		r.own[j] = p[t]
		r.marks[j>>6] |= 1 << (j & 63)
		sum += float64(p[t])
	}
	r.to, r.weight = r.to[:0], r.weight[:0]
	for t, j := range index {
		if int(j) >= near.Samples() {
			r.to, r.weight = append(r.to, j), append(r.weight, p[t])
		} else if w, ok := r.coNeighbour(j, p[t], float32(sum), near, k); ok {
			r.to, r.weight = append(r.to, j), append(r.weight, w)
		}
	}
	for _, t := range nearest {
		r.marks[index[t]>>6] = 0
	}
	return r.to, r.weight
}

// coNeighbour returns the co-neighbour probability of the row's sample, whose weights add up
// to sum, and sample j, which it has the probability p with; false if neither is a neighbour
// of the other.
func (r *Row) coNeighbour(j int32, p, sum float32, near *Neighbourhoods, k int) (float32, bool) {
	index, weight := near.of(int(j))
	last := float32(0) // the k-th neighbour, which a more probable one displaces
	if len(index) > k {
		last = weight[k]
	}
	joins := p > last
	if !joins && !r.marked(j) {
		return 0, false
	}
	all := float64(sum) + float64(near.sum[j])
	both := 0.0
	if joins {
		if len(index) > k {
			index, weight = index[:k], weight[:k]
			all -= float64(last)
		}
		all += float64(p)
		both = 1 + float64(p)
	}
	shared := 0.0
	r.met = r.met[:0]
	for t, h := range index {
		if r.marked(h) {
			shared += float64(weight[t])
			r.met = append(r.met, h)
		}
	}
	both += shared
	for _, h := range r.met {
		both += float64(r.own[h])
	}
	return float32(min(1, both/all)), true
}

// marked reports whether a sample is a neighbour of the row's.
func (r *Row) marked(j int32) bool { return r.marks[j>>6]>>(j&63)&1 != 0 }

// shared adds up, over the samples of index that are given something, what they are given, and weight.
func (r *Row) shared(index []int32, weight []float32) (own, other float32) {
	weight = weight[:len(index)]
	all, mine, theirs := r.given, 0.0, 0.0
	for t, h := range index {
		g := &all[h]
		mine += float64(g.weight)
		theirs += float64(g.member * weight[t])
	}
	return float32(mine), float32(theirs)
}
