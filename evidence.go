package mvclust

import (
	"context"

	"github.com/mvclust/mvclust/method/posterior"
)

// evidencePairs is about how many pairs the views' shares rest on: more would change no
// digit that anybody reads.
const evidencePairs = 1 << 20

// evidence sums up what the views say of evenly spaced pairs.
type evidence struct {
	sums  []float64
	every int
}

func newEvidence(views, pairs int) *evidence {
	return &evidence{make([]float64, views), max(1, (pairs+evidencePairs-1)/evidencePairs)}
}

// add adds pairs, before which there were so many.
func (e *evidence) add(ctx context.Context, estimator *posterior.Estimator, similarities [][]float32, fused []float32, before, threads int) error {
	first := (e.every - before%e.every) % e.every
	sums, err := estimator.Evidence(ctx, similarities, fused, first, e.every, threads)
	for m, x := range sums {
		e.sums[m] += x
	}
	return err
}

func (e *evidence) shares() []float64 {
	all := 0.0
	for _, x := range e.sums {
		all += x
	}
	if all > 0 {
		for m := range e.sums {
			e.sums[m] /= all
		}
	}
	return e.sums
}
