package neighbour

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
)

const (
	paces = 5   // neighbours per view that a walk goes on to
	clump = 256 // samples around one that are listed together
)

// Walk returns the samples in an order in which neighbours are close to each other: it
// goes from a sample to its first neighbours in any of lists, and to theirs, until it
// has a clump, and begins the next one beside the last. In the order of a walk, the
// later stages find most of what they read in the caches. There must be at least one
// list, and all over the same samples; in which order they come is of no matter. threads
// of 0 or less stands for all usable processors; the result is the same for any number.
// The only error is the context's own.
func Walk(ctx context.Context, lists []*Lists, threads int) (sparse.Permutation, error) {
	n, wide := lists[0].Len(), paces*len(lists)
	next, err := steps(ctx, lists, threads)
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
			end := len(order) + clump
			for len(queue) > 0 && len(order) < end {
				i := queue[0]
				queue = queue[1:]
				if listed[i] {
					continue
				}
				listed[i] = true
				order = append(order, int(i))
				for _, j := range next[int(i)*wide:][:wide] {
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

// steps returns, side by side, the samples that a walk may go on to from each one, -1
// where there are fewer.
func steps(ctx context.Context, lists []*Lists, threads int) ([]int32, error) {
	n, wide := lists[0].Len(), paces*len(lists)
	next := make([]int32, n*wide)
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for pace := range paces {
				step := next[i*wide+pace*len(lists):][:len(lists)]
				for m, l := range lists {
					step[m] = -1
					if near := l.Of(i); pace < len(near) {
						step[m] = near[pace]
					}
				}
				slices.Sort(step) // the order of the views is of no matter
			}
		}
	})
	return next, err
}

// Gather returns the lists in which sample i is sample p[i] of l. Equally similar
// neighbours keep the order that they have in l. The only error is the context's own.
func (l *Lists) Gather(ctx context.Context, p sparse.Permutation, threads int) (*Lists, error) {
	n := len(p)
	number := make([]int32, n)
	for i, from := range p {
		number[from] = int32(i)
	}
	out := &Lists{sparse.Rows[int32]{Offsets: make([]int, n+1), Values: make([]int32, len(l.Values))}, l.Search}
	for i, from := range p {
		out.Offsets[i+1] = out.Offsets[i] + l.Offsets[from+1] - l.Offsets[from]
	}
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
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
