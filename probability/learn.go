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
)

// Model is what was learned.
type Model struct {
	// Settings are the settings that were used, with all defaults filled in.
	Settings Settings
	// Functions holds f^(m), by view.
	Functions []Function
	// Cross holds, at [m][b], what similarity in view m tells of the probability
	// in view b: Fcross^(m)-(b). It is nil on the diagonal and where no training
	// pair has both views.
	Cross [][]*Function
	// BaseRate is the mean of f^(m) over the training pairs, by view: the
	// function's own estimate of P(e=1) among them.
	BaseRate []float64
	// Curve is the loss before every epoch, and after the last.
	Curve []Losses
}

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
// view and pair number; NaN marks a pair that lacks the view. Every view must
// have a pair. progress, if not nil, is called after every epoch.
func Learn(ctx context.Context, similarities [][]float32, set Settings, threads int, progress func(epoch int)) (*Model, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	similarities = every(similarities, set.Pairs)
	if set.Segments == 0 {
		set.Segments = defaultSegments(len(similarities[0]))
	}
	o := newObjective(similarities, set, threads)
	x := o.start()
	var curve []Losses
	if !set.Untrained {
		gradient := o.zeros()
		velocity := o.zeros()
		for epoch := range set.Epochs {
			loss, err := o.eval(ctx, x, gradient)
			if err != nil {
				return nil, err
			}
			curve = append(curve, loss)
			for m := range x {
				for i := range x[m] {
					g := gradient[m][i] + max(0, set.Decay)*x[m][i]
					velocity[m][i] = max(0, set.Momentum)*velocity[m][i] + g
					x[m][i] -= set.Rate * velocity[m][i]
				}
				project(x[m])
			}
			if progress != nil {
				progress(epoch + 1)
			}
		}
	}
	loss, err := o.eval(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	return o.model(x, append(curve, loss)), nil
}

// project replaces f by the nearest function, in the least squares sense, that
// never falls and stays in [0, 1]: the mandatory monotonic constraint of Eq.
// f_function, by pooling adjacent violators.
func project(f []float64) {
	type block struct {
		sum   float64
		count int
	}
	blocks := make([]block, 0, len(f))
	for _, x := range f {
		b := block{x, 1}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.sum*float64(b.count) <= b.sum*float64(last.count) {
				break
			}
			b = block{b.sum + last.sum, b.count + last.count}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		mean := min(1, max(0, b.sum/float64(b.count)))
		for range b.count {
			f[i] = mean
			i++
		}
	}
}

// every returns at most most of the pairs, evenly spaced.
func every(similarities [][]float32, most int) [][]float32 {
	pairs := len(similarities[0])
	step := (pairs + most - 1) / most
	if step <= 1 {
		return similarities
	}
	taken := make([][]float32, len(similarities))
	for m, w := range similarities {
		for t := 0; t < pairs; t += step {
			taken[m] = append(taken[m], w[t])
		}
	}
	return taken
}
