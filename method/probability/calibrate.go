package probability

import (
	"context"
	"errors"

	"github.com/mvclust/mvclust/method/sparse"
)

// Calibrate fits the functions to labelled pairs, each view by itself. f^(m) is the share of
// pairs of the same class in each segment, Eq. f_function, followed by isotonic regression
// with the numbers of pairs as weights.
//
// With pseudo labels, such as the clusters of k-means in the view, this is MPC's estimate.
// With the true classes it is an oracle: the monotonic function nearest to the truth, an
// upper bound for learning.
//
// same(view, pair) says whether the pair is of the same class by the view's labels; its
// arguments index similarities. It is called once for each pair that has the view and that
// Settings.Pairs does not leave out. BaseRate is the share of pairs of the same class.
// Cross is that of Learn, and there is no Curve. Only Segments and Pairs of the settings
// matter. The errors are those of Learn.
func Calibrate(ctx context.Context, similarities [][]float32, same func(view, pair int) bool, set Settings) (*Functions, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	if err := check(similarities); err != nil {
		return nil, err
	}
	if same == nil {
		return nil, errors.New("nothing says which pairs are of one class; pass a function")
	}
	taken := Thin(similarities, set.Pairs)
	n, all := len(taken[0]), len(similarities[0])
	if set.Segments == 0 {
		set.Segments = defaultSegments(n)
	}
	o, err := newObjective(ctx, taken, set, 1)
	if err != nil {
		return nil, err
	}
	f := o.zeros()
	for m, v := range o.views {
		for k, i := range v.of {
			if k%4096 == 0 && ctx.Err() != nil {
				break
			}
			if i >= 0 && same(m, sparse.Spaced(k, n, all)) {
				f[m][i]++
			}
		}
		for i := range f[m] {
			f[m][i] /= v.count[i]
		}
		project(f[m], v.count)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return o.functions(f, 0, nil), nil
}
