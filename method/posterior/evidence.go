package posterior

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Evidence returns, by view, the sum of |log(p / (1 - p))| over the pairs that the view
// helped to decide as they were: p is what the view says of the pair, clipped, and lies on
// the side of 1/2 where fused, what Pairs returned, does. A pair that lacks the view adds
// nothing, also where completion stands in for it. Of the pairs, whose similarities are
// given as for Pairs, only those numbered first, first + every, and so on count. The result
// does not depend on threads; 0 stands for GOMAXPROCS. The only error is the context's own.
func (e *Estimator) Evidence(ctx context.Context, similarities [][]float32, fused []float32, first, every, threads int) ([]float64, error) {
	sums := make([]float64, len(similarities))
	if len(similarities) == 0 || len(similarities[0]) <= first {
		return sums, ctx.Err()
	}
	const block = 4096
	pairs := (len(similarities[0]) - first + every - 1) / every
	parts := make([][]float64, (pairs+block-1)/block)
	err := parallel.Blocks(ctx, threads, pairs, block, func(_, lo, hi int) {
		part := make([]float64, len(similarities))
		for k := lo; k < hi; k++ {
			for m, f := range e.functions {
				t := first + k*every
				w := similarities[m][t]
				if w != w {
					continue
				}
				p := e.clip(f.At(float64(w)))
				// A function without points says nothing: odds are NaN.
				if odds := math.Log(p / (1 - p)); odds == odds && odds > 0 == (fused[t] > 0.5) {
					part[m] += math.Abs(odds)
				}
			}
		}
		parts[lo/block] = part
	})
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		for m, x := range part {
			sums[m] += x
		}
	}
	return sums, nil
}
