package structure

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/view"
)

// fewest is how many samples a covariance between views has to rest on.
const fewest = 20

// Cloud draws as many samples as views have, from a normal distribution of their joint
// covariance. Sample j lacks the views that sample j of views lacks. In its others it is
//
//	x*_j = mu + (1 / sqrt(b)) sum over i of g_ji (x_i - mu)
//
// over the b samples i that have all views that j has, with mu their mean. The g_ji are standard
// normal and the same in all views, so that the views of the cloud depend on each other as the
// views do. Where b is below 20, the sum in every view is over all samples that have that view.
// seed decides the numbers. It takes time in proportion to the square of the samples. The errors are those of
// view.Samples, and the context's own.
func Cloud(ctx context.Context, views []*view.View, seed uint64, threads int) ([]*view.View, error) {
	n, err := view.Samples(views)
	if err != nil || n == 0 {
		return nil, err
	}
	weights, random := make([]float32, n*n), rand.New(rand.NewPCG(seed, 0))
	for at := range weights {
		weights[at] = float32(random.NormFloat64())
	}
	cloud := make([]*view.View, len(views))
	for m, v := range views {
		cloud[m] = &view.View{Name: v.Name, Samples: n, Dims: v.Dims, Data: make([]float32, n*v.Dims), Present: v.Present}
	}
	for _, like := range alike(views) {
		donors := make([][]int, len(views))
		for m := range views {
			donors[m] = like.donors
			if len(like.donors) < fewest {
				donors[m] = owners(views[m:m+1], nil)
			}
			if like.has[m] {
				if err := mix(ctx, cloud[m], views[m], like.samples, donors[m], weights, threads); err != nil {
					return nil, err
				}
			}
		}
	}
	return cloud, nil
}

// pattern is a set of views that some samples have and no others.
type pattern struct {
	has     []bool // by view
	samples []int  // that have just these
	donors  []int  // that have these, and may be others
}

// alike groups the samples by the views that they have, in the order of the samples.
func alike(views []*view.View) []*pattern {
	var patterns []*pattern
	place := map[string]*pattern{}
	for i := range views[0].Samples {
		has, key := make([]bool, len(views)), make([]byte, len(views))
		for m, v := range views {
			if has[m] = v.Has(i); has[m] {
				key[m] = 1
			}
		}
		p := place[string(key)]
		if p == nil {
			p = &pattern{has: has, donors: owners(views, has)}
			place[string(key)] = p
			patterns = append(patterns, p)
		}
		p.samples = append(p.samples, i)
	}
	return patterns
}

// owners returns the samples that have all views for which needed says so; nil stands for all.
func owners(views []*view.View, needed []bool) []int {
	var all []int
	for i := range views[0].Samples {
		has := true
		for m, v := range views {
			has = has && (v.Has(i) || needed != nil && !needed[m])
		}
		if has {
			all = append(all, i)
		}
	}
	return all
}

// mix sets rows of the cloud c to sums over the donors' rows of v. Sample j has the weights
// from j*n on, n being the number of samples.
func mix(ctx context.Context, c, v *view.View, samples, donors []int, weights []float32, threads int) error {
	mean, columns := centred(v, donors)
	all := make([]int32, v.Dims)
	for k := range all {
		all[k] = int32(k)
	}
	loops := kernel.Best()
	return parallel.Blocks(ctx, threads, len(samples), 8, func(_, lo, hi int) {
		g := make([]float32, len(donors))
		for _, j := range samples[lo:hi] {
			for at, i := range donors {
				g[at] = weights[j*v.Samples+i]
			}
			row := c.Row(j)
			loops.Against(kernel.Dot, g, columns, all, row)
			for k := range row {
				row[k] += mean[k]
			}
		}
	})
}

// centred returns the mean of every dimension over the donors, and their deviations from it,
// column after column, over the root of their number.
func centred(v *view.View, donors []int) (mean, columns []float32) {
	b, sums := float64(len(donors)), make([]float64, v.Dims)
	for _, i := range donors {
		for k, x := range v.Row(i) {
			sums[k] += float64(x)
		}
	}
	mean, columns = make([]float32, v.Dims), make([]float32, v.Dims*len(donors))
	for k := range mean {
		sums[k] /= b
		mean[k] = float32(sums[k])
	}
	root := math.Sqrt(b)
	for at, i := range donors {
		for k, x := range v.Row(i) {
			columns[k*len(donors)+at] = float32((float64(x) - sums[k]) / root)
		}
	}
	return mean, columns
}
