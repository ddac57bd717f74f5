// Package probability learns for every view the function f(x) = P(same class | similarity x),
// the paper's self-learning probability function (Eqs. f_function to loss_2).
//
// There are no labels to learn from, but all views describe the same pairs. Take the pairs
// of one segment of one view, which are about equally similar there. A fixed share of them
// is of the same class, so three estimates of that share should agree:
//
//	Fsingle  the view's own: f at the segment            Eq. f_single
//	Fcross   another view's mean over these pairs        Eq. f_cross
//	Fmulti   the mean over them of all views' posterior  Eq. f_multi
//
// Gradient descent makes them agree (consistency loss, Eq. loss_1), and draws the least
// similar pairs to 0 and the most similar to 1 (constraint loss, Eq. loss_2). No function
// may fall.
//
// It follows the method and may change in any minor version.
package probability

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// Learn learns the functions from the similarities of the training pairs, by view and pair
// number, NaN where the pair lacks the view. threads of 0 or less stands for all usable
// processors; the result is the same for any number. progress, if not nil, is called after
// every epoch. It is an error if there is no view, if a view has not one similarity per
// pair, if a setting is out of range, or if ctx is done.
func Learn(ctx context.Context, similarities [][]float32, set Settings, threads int, progress func(epoch int)) (*Functions, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	if err := check(similarities); err != nil {
		return nil, err
	}
	similarities = Thin(similarities, set.Pairs)
	if set.Segments == 0 {
		set.Segments = defaultSegments(len(similarities[0]))
	}
	o, err := newObjective(ctx, similarities, set, threads)
	if err != nil {
		return nil, err
	}
	best, kept, curve, err := o.descend(ctx, progress)
	if err != nil {
		return nil, err
	}
	return o.functions(best, kept, curve), nil
}

// descend lowers the loss by gradient descent with momentum, from straight lines on. It
// returns the functions of the least loss, their place in the curve of losses, and the
// curve. They need not be the last: a step can overshoot, as on sparse text, where most
// pairs have one similarity and the loss is steep.
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

// project replaces f by the nearest function in [0, 1] that never falls: the monotonic
// constraint of Eq. f_function. It is a least squares fit by pooling adjacent violators; nil
// weights are all 1.
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
		// Means are compared as they will be written, so that rounding cannot make the
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

// Thin returns the similarities of n of the pairs, by view and pair number: evenly spaced, or all where there are
// no more, in the memory of the given ones.
func Thin(similarities [][]float32, n int) [][]float32 {
	taken := slices.Clone(similarities)
	for m, w := range similarities {
		if len(w) <= n {
			continue
		}
		taken[m] = make([]float32, max(0, n))
		for k := range taken[m] {
			taken[m][k] = w[sparse.Spaced(k, n, len(w))]
		}
	}
	return taken
}
