// Package graph holds the pair probabilities, P(i,j) of Eqs. p_bayesian_new, pb_optpath
// and pb_optknn, as a sparse symmetric graph.
//
// It follows the method and may change in any minor version.
package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/sparse"
)

// Graph is an undirected weighted graph over the samples: the weight of an edge
// is the probability that its two ends belong to the same class. The neighbours
// of sample i are
//
//	Index[Offsets[i]:Offsets[i+1]], ascending, with Weight at the same places;
//
// every edge is stored from both of its ends, and there are no loops. Weights have
// 32 bits: of all that a run holds, the edges take the most memory.
type Graph struct {
	Offsets []int
	Index   []int32
	Weight  []float32
}

// Samples returns the number of nodes.
func (g *Graph) Samples() int { return max(0, len(g.Offsets)-1) }

// Edges returns the number of undirected edges.
func (g *Graph) Edges() int { return len(g.Index) / 2 }

// Of returns the neighbours of sample i and the weights of the edges to them. It panics if i
// is out of range.
func (g *Graph) Of(i int) (index []int32, weight []float32) {
	lo, hi := g.Offsets[i], g.Offsets[i+1]
	return g.Index[lo:hi], g.Weight[lo:hi]
}

// Between returns the weight of the edge between samples i and j, and whether
// there is one. It panics if i is out of range.
func (g *Graph) Between(i, j int) (float32, bool) {
	index, weight := g.Of(i)
	at, ok := slices.BinarySearch(index, int32(j))
	if !ok {
		return 0, false
	}
	return weight[at], true
}

// FromPairs returns the graph whose edges are the pairs of set, weighted by
// weight[t] for pair number t, or by 0 where weight is nil. The result does not depend
// on threads; 0 stands for GOMAXPROCS. The errors are those of Set.Check, weights that are not
// as many as the pairs, and the context's own.
func FromPairs(ctx context.Context, set *pair.Set, weight []float32, threads int) (*Graph, error) {
	if err := set.Check(); err != nil {
		return nil, err
	}
	if weight != nil && len(weight) != set.Len() {
		return nil, fmt.Errorf("there are %d weights for %d pairs; give one for each, or none", len(weight), set.Len())
	}
	n := set.Samples()
	g := &Graph{Offsets: make([]int, n+1)}
	// Every thread goes through all pairs, for rows of its own.
	err := parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		for p := 0; p < hi && (p%1024 != 0 || ctx.Err() == nil); p++ {
			row := set.Of(p)
			if p >= lo {
				g.Offsets[p+1] += len(row)
			}
			for _, q := range row {
				if int(q) >= lo && int(q) < hi {
					g.Offsets[q+1]++
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	fill := sparse.Cumulate(g.Offsets)
	g.Index, g.Weight = make([]int32, g.Offsets[n]), make([]float32, g.Offsets[n])
	// Going through p in order, row q receives its lower neighbours p in order, and all of them before
	// row q itself adds its higher ones.
	err = parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		for p := 0; p < hi && (p%1024 != 0 || ctx.Err() == nil); p++ {
			row, from := set.Of(p), set.Partners.Offsets[p]
			if p >= lo {
				at := fill[p]
				copy(g.Index[at:], row)
				if weight != nil {
					copy(g.Weight[at:], weight[from:from+len(row)])
				}
			}
			for t, q := range row {
				if int(q) < lo || int(q) >= hi {
					continue
				}
				at := fill[q]
				fill[q]++
				g.Index[at] = int32(p)
				if weight != nil {
					g.Weight[at] = weight[from+t]
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// FromRows returns the graph over n samples in which every sample i is joined to those that
// row(i) lists, with the weights at the same places, or 0 where row gives no weights. One of
// the two ends may list the edge, or both; an edge that is listed more than once gets the
// largest of its weights. A row need not be in any order, and must not list i itself.
//
// Each row is asked for several times, by several goroutines at once, and is not changed.
// The result does not depend on threads; 0 stands for GOMAXPROCS. It is an error if n is below
// 0 or above the largest int32, if row is nil or lists i, a sample out of range or another
// number of weights, or if ctx is done.
func FromRows(ctx context.Context, n int, row func(i int) (index []int32, weight []float32), threads int) (*Graph, error) {
	if n < 0 || n > math.MaxInt32 || row == nil {
		return nil, fmt.Errorf("there is no row for each of %d samples; give a number from 0 to %d, and the rows", n, math.MaxInt32)
	}
	if err := checkRows(ctx, n, row, threads); err != nil {
		return nil, err
	}
	// A key holds the higher end and, in reverse, the weight, so that sorted keys have the
	// largest weight of an edge first. Every thread goes through all rows, for lower ends of
	// its own.
	each := func(lo, hi int, do func(p int, q int32, w float32)) {
		for i := 0; i < n && (i%1024 != 0 || ctx.Err() == nil); i++ {
			index, weight := row(i)
			for e, j := range index {
				p, q := min(i, int(j)), max(int32(i), j)
				if p < lo || p >= hi {
					continue
				}
				w := float32(0)
				if weight != nil {
					w = weight[e]
				}
				do(p, q, w)
			}
		}
	}
	offsets, kept := make([]int, n+1), make([]int, n)
	err := parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		each(lo, hi, func(p int, _ int32, _ float32) { offsets[p+1]++ })
	})
	if err != nil {
		return nil, err
	}
	next := sparse.Cumulate(offsets)
	keys := make([]uint64, offsets[n])
	err = parallel.Ranges(ctx, threads, n, func(lo, hi int) {
		each(lo, hi, func(p int, q int32, w float32) {
			keys[next[p]] = uint64(q)<<32 | uint64(^math.Float32bits(w))
			next[p]++
		})
		for p := lo; p < hi && (p%1024 != 0 || ctx.Err() == nil); p++ {
			row := keys[offsets[p]:offsets[p+1]]
			slices.Sort(row)
			kept[p] = len(slices.CompactFunc(row, func(a, b uint64) bool { return a>>32 == b>>32 }))
		}
	})
	if err != nil {
		return nil, err
	}
	upper := sparse.Rows[int32]{Offsets: make([]int, n+1)}
	for p, count := range kept {
		upper.Offsets[p+1] = upper.Offsets[p] + count
	}
	upper.Values = make([]int32, 0, upper.Offsets[n])
	weight := make([]float32, 0, upper.Offsets[n])
	for p, count := range kept {
		for _, key := range keys[offsets[p]:][:count] {
			upper.Values = append(upper.Values, int32(key>>32))
			weight = append(weight, math.Float32frombits(^uint32(key)))
		}
	}
	return FromPairs(ctx, &pair.Set{Partners: upper}, weight, threads)
}

// checkRows reports a row that FromRows cannot take.
func checkRows(ctx context.Context, n int, row func(i int) (index []int32, weight []float32), threads int) error {
	var wrong atomic.Pointer[error]
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := row(i)
			if weight != nil && len(weight) != len(index) {
				problem := fmt.Errorf("row %d has %d samples and %d weights; give as many, or no weights", i, len(index), len(weight))
				wrong.CompareAndSwap(nil, &problem)
				return
			}
			for _, j := range index {
				if uint(j) >= uint(n) || int(j) == i {
					problem := fmt.Errorf("row %d lists sample %d; list other samples, from 0 to %d", i, j, n-1)
					wrong.CompareAndSwap(nil, &problem)
					return
				}
			}
		}
	})
	if problem := wrong.Load(); problem != nil {
		return *problem
	}
	return err
}

// Join returns the graph with the edges of g and of other, which is over the same samples;
// an edge of both gets the larger of its weights. The errors are those of Check, another
// number of samples, and the context's own.
func (g *Graph) Join(ctx context.Context, other *Graph, threads int) (*Graph, error) {
	if err := cmp.Or(g.Check(), other.Check()); err != nil {
		return nil, err
	}
	n := g.Samples()
	if other.Samples() != n {
		return nil, fmt.Errorf("a graph of %d samples cannot be joined with one of %d; both must be over the same samples", n, other.Samples())
	}
	out := &Graph{Offsets: make([]int, n+1)}
	// both calls do with the edges of sample i of either graph, by the number of the other end.
	both := func(i int, do func(j int32, w float32)) {
		a, x := g.Of(i)
		b, y := other.Of(i)
		for len(a) > 0 || len(b) > 0 {
			switch {
			case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
				do(a[0], x[0])
				a, x = a[1:], x[1:]
			case len(a) == 0 || b[0] < a[0]:
				do(b[0], y[0])
				b, y = b[1:], y[1:]
			default:
				do(a[0], max(x[0], y[0]))
				a, x, b, y = a[1:], x[1:], b[1:], y[1:]
			}
		}
	}
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			both(i, func(int32, float32) { out.Offsets[i+1]++ })
		}
	})
	if err != nil {
		return nil, err
	}
	next := sparse.Cumulate(out.Offsets)
	out.Index, out.Weight = make([]int32, out.Offsets[n]), make([]float32, out.Offsets[n])
	err = parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			both(i, func(j int32, w float32) {
				out.Index[next[i]], out.Weight[next[i]] = j, w
				next[i]++
			})
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Scatter returns the graph in which sample p[i] stands for sample i of g. The errors are
// those of Check and Permutation.Validate, another number of samples, and the context's own.
func (g *Graph) Scatter(ctx context.Context, p sparse.Permutation, threads int) (*Graph, error) {
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := p.Check(g.Samples()); err != nil {
		return nil, err
	}
	n, from := g.Samples(), p.Inverse()
	out := &Graph{
		Offsets: make([]int, n+1),
		Index:   make([]int32, len(g.Index)),
		Weight:  make([]float32, len(g.Weight)),
	}
	for to := range n {
		out.Offsets[to+1] = out.Offsets[to] + g.Offsets[from[to]+1] - g.Offsets[from[to]]
	}
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		var keys []uint64 // the number of the end, and the bits of the weight
		for to := lo; to < hi; to++ {
			keys = keys[:0]
			index, weight := g.Of(from[to])
			for e, j := range index {
				keys = append(keys, uint64(p[j])<<32|uint64(math.Float32bits(weight[e])))
			}
			slices.Sort(keys)
			index, weight = out.Of(to)
			for e, key := range keys {
				index[e], weight[e] = int32(key>>32), math.Float32frombits(uint32(key))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Check reports the first thing that makes g impossible to walk along: lengths that do not
// fit, and ends out of range. It is the cheap part of Validate, which the functions that take
// a graph begin with.
func (g *Graph) Check() error {
	if g == nil {
		return errors.New("there is no graph; pass one, if need be without edges")
	}
	n, starts, ends := g.Samples(), 0, 0
	if len(g.Offsets) > 0 {
		starts, ends = g.Offsets[0], g.Offsets[n]
	}
	if starts != 0 || ends != len(g.Index) || len(g.Weight) != len(g.Index) {
		return fmt.Errorf("a graph of %d offsets, %d ends and %d weights cannot be", len(g.Offsets), len(g.Index), len(g.Weight))
	}
	for i := range n {
		if lo, hi := g.Offsets[i], g.Offsets[i+1]; lo > hi || hi > len(g.Index) {
			return fmt.Errorf("the edges of sample %d are %d to %d of %d", i, lo, hi, len(g.Index))
		}
	}
	for e, j := range g.Index {
		if uint(j) >= uint(n) {
			return fmt.Errorf("edge end %d leads to sample %d, which is out of range: there are %d", e, j, n)
		}
	}
	return nil
}

// Validate reports the first thing in which g is not as Graph says.
func (g *Graph) Validate() error {
	if err := g.Check(); err != nil {
		return err
	}
	if len(g.Offsets) == 0 {
		return errors.New("a graph without offsets cannot be; give one more than there are samples")
	}
	n := g.Samples()
	if err := g.validateRows(); err != nil {
		return err
	}
	back := slices.Clone(g.Offsets)
	var mu sync.Mutex
	wrong := [2]int{n, n}
	// Every thread goes through all rows, for ends of its own.
	err := parallel.Ranges(context.Background(), 0, n, func(lo, hi int) {
		if i, j := g.oneSided(back, lo, hi); j >= 0 {
			mu.Lock()
			defer mu.Unlock()
			if slices.Compare([]int{i, j}, wrong[:]) < 0 {
				wrong = [2]int{i, j}
			}
		}
	})
	if wrong[0] < n {
		err = fmt.Errorf("the edge between %d and %d is not the same from both ends", wrong[0], wrong[1])
	}
	return err
}

// oneSided returns the first edge that is not the same from both ends, of those with the higher end
// from lo to hi-1; j is -1 where there is none. back holds, by sample, where its row begins.
func (g *Graph) oneSided(back []int, lo, hi int) (i, j int) {
	for i := range hi {
		index, weight := g.Of(i)
		for e, j := range index {
			higher := max(i, int(j))
			if higher < lo || higher >= hi {
				continue
			}
			if int(j) < i {
				if e >= back[i]-g.Offsets[i] {
					return i, int(j)
				}
				continue
			}
			// Going through i in order, row j meets its lower neighbours i in order.
			if r := back[j]; r == g.Offsets[j+1] || g.Index[r] != int32(i) || g.Weight[r] != weight[e] {
				return i, int(j)
			}
			back[j]++
		}
	}
	return 0, -1
}

// validateRows reports the first edge that cannot be, whatever its other end says of it.
func (g *Graph) validateRows() error {
	n := g.Samples()
	const rows = 1024
	failed := make([]error, (n+rows-1)/rows)
	err := parallel.Blocks(context.Background(), 0, n, rows, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, weight := g.Of(i)
			last := int32(-1)
			for e, j := range index {
				if j <= last || int(j) >= n || int(j) == i {
					failed[lo/rows] = fmt.Errorf("the edges of sample %d lead to %d, which is out of range or out of order", i, j)
					return
				}
				if last = j; !(weight[e] >= 0 && weight[e] <= 1) {
					failed[lo/rows] = fmt.Errorf("the edge from %d to %d has weight %v", i, j, weight[e])
					return
				}
			}
		}
	})
	return cmp.Or(append(failed, err)...)
}
