package refine

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// frame holds the edges between all neighbours, of which those between the first few are part.
type frame struct {
	all  *graph.Graph // without weights
	rank []uint8      // by edge end: the place of one end among the neighbours of the other, the lower of both
}

// Prepare makes CoNeighbours faster from now on, for about 5 bytes per neighbour: worth it where it
// is asked for several numbers of neighbours. It must not be called while n is in use. The only
// error is the context's own.
func (n *Neighbourhoods) Prepare(ctx context.Context, threads int) error {
	if n.frame != nil || n.K() < 1 || n.K() > math.MaxUint8 {
		return ctx.Err()
	}
	nearness := make([]float32, n.K()) // by place: the higher, the nearer
	for t := range nearness {
		nearness[t] = float32(len(nearness) - t)
	}
	all, err := graph.FromRows(ctx, n.Samples(), func(i int) ([]int32, []float32) {
		index, _ := n.Of(i)
		return index, nearness[:len(index)]
	}, threads)
	if err != nil {
		return err
	}
	f := &frame{all: all, rank: make([]uint8, len(all.Weight))}
	for e, w := range all.Weight {
		f.rank[e] = uint8(len(nearness) + 1 - int(w))
	}
	all.Weight, n.frame = nil, f
	return nil
}

// edges returns the edges between every sample and its k nearest, without weights.
func (f *frame) edges(ctx context.Context, k, threads int) (*graph.Graph, error) {
	samples := f.all.Samples()
	g := &graph.Graph{Offsets: make([]int, samples+1)}
	of := func(i int) ([]int32, []uint8) {
		lo, hi := f.all.Offsets[i], f.all.Offsets[i+1]
		return f.all.Index[lo:hi], f.rank[lo:hi]
	}
	err := parallel.Blocks(ctx, threads, samples, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			_, rank := of(i)
			for _, r := range rank {
				if int(r) <= k {
					g.Offsets[i+1]++
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	next := sparse.Cumulate(g.Offsets)
	g.Index, g.Weight = make([]int32, g.Offsets[samples]), make([]float32, g.Offsets[samples])
	err = parallel.Blocks(ctx, threads, samples, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			index, rank := of(i)
			at := next[i]
			for e, r := range rank {
				if int(r) <= k {
					g.Index[at] = index[e]
					at++
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}
