package posterior

import (
	"context"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Evidence returns, by view, the sum of |log(p / (1 - p))| over the pairs that were decided
// as the view would have it. p is the view's probability of the pair, clipped; it lies on
// the same side of 1/2 as fused, the result of Pairs. A pair that lacks the view adds
// nothing, even where completion stands in for it.
//
// similarities are those that Pairs was given. Only the pairs numbered first, first + every
// and so on count. threads of 0 or less stands for all usable processors; the result is the
// same for any number. It is an error if there are not as many views as functions, if a view has
// not one similarity per pair, if fused has not one probability per pair, if first is below 0 or
// every below 1, or if ctx is done.
func (e *Estimator) Evidence(ctx context.Context, similarities [][]float32, fused []float32, first, every, threads int) ([]float64, error) {
	if err := e.check(similarities); err != nil {
		return nil, err
	}
	if len(fused) != len(similarities[0]) || first < 0 || every < 1 {
		return nil, fmt.Errorf("%d fused probabilities of %d pairs, each %d-th from %d on, cannot be; give one probability per pair, and count from 0 in steps of at least 1", len(fused), len(similarities[0]), every, first)
	}
	sums := make([]float64, len(similarities))
	if len(fused) <= first {
		return sums, ctx.Err()
	}
	const block = 4096
	pairs := (len(fused)-first-1)/every + 1
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
				// A function without points says nothing: its log-odds are NaN.
				if x := logOdds(p); x == x && x > 0 == (fused[t] > 0.5) {
					part[m] += math.Abs(x)
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
