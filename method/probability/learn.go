// Package probability learns, for every view, the function that turns a
// similarity into the probability that two samples belong to the same class
// (the self-learning probability function, Eqs. f_function to loss_2).
//
// There are no labels to learn from. What is known is that all views look at the
// same pairs. Take the pairs of one segment of one view, that is, pairs about
// equally similar there. A fixed share of them is of the same class, whichever
// view is asked, so three estimates of that share should agree:
//
//	Fsingle  what the view itself says: f at the segment        Eq. f_single
//	Fcross   what another view says of these pairs, on average  Eq. f_cross
//	Fmulti   what all views together say of them, on average    Eq. f_multi
//
// Learning moves the functions until they do, while the constraint loss keeps
// the least similar pairs near 0 and the most similar ones near 1, and every
// function rising.
package probability

import (
	"context"
	"errors"
	"fmt"

	"github.com/mvclust/mvclust/method/sparse"
)

// Losses are the parts of the loss at one epoch.
type Losses struct {
	// Total is lambda x (Single + Cross) + Constraint, Eq. loss_all.
	Total float64 `json:"total"`
	// Single and Cross are the terms of the consistency loss, with the factors
	// of Eq. loss_1 or Eq. loss_fz.
	Single float64 `json:"single"`
	Cross  float64 `json:"cross"`
	// Constraint is Eq. loss_2.
	Constraint float64 `json:"constraint"`
}

// Learn learns the functions from the similarities of the training pairs, by
// view and pair number: finite, or NaN where the pair lacks the view. The result
// does not depend on threads; 0 stands for GOMAXPROCS. progress, if not nil, is
// called after every epoch. It is an error if there is no view, if a view has not
// one similarity per pair, if a setting is out of range, or if ctx is done.
func Learn(ctx context.Context, similarities [][]float32, set Settings, threads int, progress func(epoch int)) (*Functions, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	if err := check(similarities); err != nil {
		return nil, err
	}
	similarities = every(similarities, set.Pairs)
	if set.Segments == 0 {
		set.Segments = defaultSegments(len(similarities[0]))
	}
	o := newObjective(similarities, set, threads)
	best, kept, curve, err := o.descend(ctx, progress)
	if err != nil {
		return nil, err
	}
	return o.functions(best, kept, curve), nil
}

// descend lowers the loss from the straight lines on, by gradient descent with
// momentum, and returns the functions of the least loss on the way, their place in
// the curve of losses, and the curve. On sparse text, where most pairs share one similarity, the loss
// is steep enough for a step to overshoot; the last functions are then not the
// best.
func (o *objective) descend(ctx context.Context, progress func(epoch int)) (best [][]float64, kept int, curve []Losses, err error) {
	x, best := o.start(), o.zeros()
	gradient, velocity := o.zeros(), o.zeros()
	epochs := o.set.Epochs
	if o.set.Untrained {
		epochs = 0
	}
	for epoch := 0; ; epoch++ {
		if epoch == epochs {
			gradient = nil // no step follows
		}
		loss, err := o.eval(ctx, x, gradient)
		if err != nil {
			return nil, 0, nil, err
		}
		curve = append(curve, loss)
		if epoch == 0 || loss.Total < curve[kept].Total {
			kept = epoch
			for m := range x {
				copy(best[m], x[m])
			}
		}
		if epoch == epochs {
			return best, kept, curve, nil
		}
		for m := range x {
			for i := range x[m] {
				g := gradient[m][i] + max(0, o.set.Decay)*x[m][i]
				velocity[m][i] = max(0, o.set.Momentum)*velocity[m][i] + g
				x[m][i] -= o.set.Rate * velocity[m][i]
			}
			project(x[m], nil)
		}
		if progress != nil {
			progress(epoch + 1)
		}
	}
}

// check reports similarities that are not one per view and pair.
func check(similarities [][]float32) error {
	if len(similarities) == 0 {
		return errors.New("no similarities to learn from; pass those of at least one view")
	}
	pairs := len(similarities[0])
	for m, w := range similarities {
		if len(w) != pairs {
			return fmt.Errorf("view %d has %d similarities where view 0 has %d; pass one per pair, NaN where the pair lacks the view", m, len(w), pairs)
		}
	}
	return nil
}

// project replaces f by the nearest function, in the sense of least squares with the
// given weights, all 1 where nil, that never falls and stays in [0, 1]: the mandatory
// monotonic constraint of Eq. f_function, by pooling adjacent violators.
func project(f, weight []float64) {
	type block struct {
		points            int
		sum, weight, mean float64
	}
	blocks := make([]block, 0, len(f))
	for i, x := range f {
		b := block{1, x, 1, x}
		if weight != nil {
			b.sum, b.weight = x*weight[i], weight[i]
		}
		// The means are compared as they will be written: rounding cannot make the
		// result fall.
		for n := len(blocks) - 1; n >= 0 && blocks[n].mean > b.mean; n-- {
			b.points += blocks[n].points
			b.sum += blocks[n].sum
			b.weight += blocks[n].weight
			b.mean = b.sum / b.weight
			blocks = blocks[:n]
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for range b.points {
			f[i] = min(1, max(0, b.mean))
			i++
		}
	}
}

// every returns the pairs, or most of them, evenly spaced, where there are more.
func every(similarities [][]float32, most int) [][]float32 {
	pairs := len(similarities[0])
	if pairs <= most {
		return similarities
	}
	taken := make([][]float32, len(similarities))
	for m, w := range similarities {
		taken[m] = make([]float32, most)
		for k := range taken[m] {
			taken[m][k] = w[sparse.Spaced(k, most, pairs)]
		}
	}
	return taken
}
