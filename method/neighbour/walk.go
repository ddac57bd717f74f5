package neighbour

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
)

const (
	branching = 5   // neighbours per view that the search follows
	batch     = 256 // samples that one breadth-first search lists
)

// Walk returns the samples in an order in which neighbours are close to each other, so that
// later stages find most of what they read in the caches. A breadth-first search lists up
// to 256 samples: one, its first neighbours in every view, theirs, and so on. The next
// search begins with a sample that the last one reached and did not list.
//
// The order of the lists does not matter. threads of 0 or less stands for all usable
// processors; the result is the same for any number. The errors are those of Check and the
// context's own.
func Walk(ctx context.Context, lists []*Lists, threads int) (sparse.Permutation, error) {
	n, err := Check(lists)
	if err != nil {
		return nil, err
	}
	width := branching * len(lists)
	next, err := successors(ctx, lists, threads)
	if err != nil {
		return nil, err
	}
	order, listed := make(sparse.Permutation, 0, n), make([]bool, n)
	var stack, queue []int32
	for start := range n {
		stack = append(stack, int32(start))
		for len(stack) > 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			queue = append(queue[:0], stack[len(stack)-1])
			stack = stack[:len(stack)-1]
			end := len(order) + batch
			for len(queue) > 0 && len(order) < end {
				i := queue[0]
				queue = queue[1:]
				if listed[i] {
					continue
				}
				listed[i] = true
				order = append(order, int(i))
				for _, j := range next[int(i)*width:][:width] {
					if j >= 0 && !listed[j] {
						queue = append(queue, j)
					}
				}
			}
			stack = append(stack, queue...)
		}
	}
	return order, nil
}

// successors returns, side by side, the samples that the search goes on to from each sample,
// -1 where there are fewer.
func successors(ctx context.Context, lists []*Lists, threads int) ([]int32, error) {
	n, width := lists[0].Len(), branching*len(lists)
	next := make([]int32, n*width)
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for place := range branching {
				step := next[i*width+place*len(lists):][:len(lists)]
				for m, l := range lists {
					step[m] = -1
					if near := l.Of(i); place < len(near) {
						step[m] = near[place]
					}
				}
				slices.Sort(step) // so that the order of the views does not matter
			}
		}
	})
	return next, err
}

// Gather returns the lists in which sample i is sample p[i] of l. Equally similar
// neighbours keep the order that they have in l. The errors are those of the function Check and
// of Permutation.Check, and the context's own.
func (l *Lists) Gather(ctx context.Context, p sparse.Permutation, threads int) (*Lists, error) {
	n, err := Check([]*Lists{l})
	if err != nil {
		return nil, err
	}
	if err := p.Check(n); err != nil {
		return nil, err
	}
	number := make([]int32, n)
	for i, from := range p {
		number[from] = int32(i)
	}
	out := &Lists{sparse.Rows[int32]{Offsets: make([]int, n+1), Values: make([]int32, len(l.Values))}, l.Search}
	for i, from := range p {
		out.Offsets[i+1] = out.Offsets[i] + l.Offsets[from+1] - l.Offsets[from]
	}
	err = parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			to, from := out.Offsets[i], l.Offsets[p[i]]
			for t := range out.Offsets[i+1] - to {
				out.Values[to+t] = number[l.Values[from+t]]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
