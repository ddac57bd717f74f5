package probability

import (
	"context"

	"github.com/mvclust/mvclust/method/sparse"
)

// Calibrate fits the functions to labelled pairs, every view on its own: f^(m) is the
// share of pairs of one class in each segment, Eq. f_function, made rising by isotonic
// regression in which a segment weighs as much as it has pairs. With pseudo labels,
// such as the clusters that k-means finds in the view, it is the estimate of MPC, the
// method that SLS-MPC improves on. With the true classes it is an oracle: the rising
// function nearest to the truth, which learning can at best come near to.
//
// same says whether a pair is of one class, by the labels of the view; its arguments
// are the indices of similarities. It is called once for each pair that has the view,
// but for those that Settings.Pairs leaves out. BaseRate is the share of pairs of one
// class, Cross follows from the functions as in Learn, and there is no Curve. Of the
// settings, Segments and Pairs matter. The errors are those of Learn.
func Calibrate(ctx context.Context, similarities [][]float32, same func(view, pair int) bool, set Settings) (*Functions, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	if err := check(similarities); err != nil {
		return nil, err
	}
	taken := every(similarities, set.Pairs)
	n, all := len(taken[0]), len(similarities[0])
	if set.Segments == 0 {
		set.Segments = defaultSegments(n)
	}
	o := newObjective(taken, set, 1)
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
