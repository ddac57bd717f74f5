// Package pic is Perturbation-oriented Incomplete multi-view Clustering.
package pic

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
	"github.com/mvclust/mvclust/method/view"
)

// System describes the method.
func System() system.System {
	return system.System{
		Name: "PIC", Source: "Wang, Zong, Liu, Yang and Zhou, Spectral perturbation meets incomplete multi-view data, 2019", Told: true, Seeds: 20,
		Note:    "the weights follow from the leading eigenvectors of every view, where its authors' program takes all of them and divides each row by its sum, which depends on their arbitrary signs; k-means is a single descent, as in their program, so that the figure depends on the seed, and is the mean of 20 on the sets of the paper; the grid takes the best of 20 descents",
		Default: system.Settings{"neighbours": 13, "beta": 0.1, "descents": 1},
		Grid: system.Product(
			[]system.Settings{{"neighbours": 5}, {"neighbours": 9}, {"neighbours": 13}, {"neighbours": 20}, {"neighbours": 30}},
			[]system.Settings{{"beta": 0.1, "descents": 20}, {"beta": 10, "descents": 20}},
		),
		Cluster: Cluster,
	}
}

// OnProbabilities is the method with the probabilities of SLS-MPC in the place of similarities.
func OnProbabilities() system.System {
	s := System()
	s.Name = "PIC with SLS-MPC"
	s.Note = "the one matrix of similarities are the probabilities that SLS-MPC gives pairs, so that there is nothing to weight"
	s.Default, s.Grid, s.Cluster = system.Settings{"descents": 1}, nil, onProbabilities
	return s
}

// Cluster parts the samples into the given number of clusters. In every view, it spreads the weight
// 1 of each sample over its nearest neighbours; a sample that lacks the view has there the mean of
// what it has in the others. Of the normalised matrices L_v it makes one, whose leading eigenvectors,
// rows at unit length, go to k-means. The views' weights minimise
//
//	1/2 sum_m |(sum_v w_v L_v) U_m - U_m D_m|^2 + beta/2 w'Q w
//
// over the simplex, where U_m and D_m are the leading eigenvectors and eigenvalues of L_m: so these
// hardly change, and by how much bounds, after Davis and Kahan, how far the space turns that they
// span. Q is the Laplacian of how near these spaces are, scaled to the size of the rest: views that
// are alike get like weights. It is the method of
//
//	Wang, Zong, Liu, Yang and Zhou, "Spectral perturbation meets incomplete multi-view data", 2019.
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	var spread []*mat.Dense
	for _, v := range in.Views {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		spread = append(spread, neighbours(v, int(in.Settings["neighbours"])))
	}
	fill(spread, in.Views)
	var all []*mat.SymDense
	for _, s := range spread {
		all = append(all, normal(symmetric(s)))
	}
	w, err := weights(ctx, all, in)
	if err != nil {
		return nil, err
	}
	one := mat.NewSymDense(in.Samples(), nil)
	for v, l := range all {
		l.ScaleSym(w[v], l)
		one.AddSym(one, l)
	}
	return cut(ctx, one, in)
}

func onProbabilities(ctx context.Context, in *system.Input) ([]int, error) {
	p, err := in.Probabilities(ctx)
	if err != nil {
		return nil, err
	}
	same := mat.NewSymDense(p.SymmetricDim(), nil)
	same.CopySym(p)
	return cut(ctx, normal(same), in)
}

// cut clusters by the leading eigenvectors of a normalised matrix.
func cut(ctx context.Context, l *mat.SymDense, in *system.Input) ([]int, error) {
	_, places, err := leading(ctx, sparse(l), in)
	if err != nil {
		return nil, err
	}
	system.UnitRows(places)
	return system.Descents(ctx, places, in.Clusters, int(in.Settings["descents"]), in)
}

// sparse returns what is not 0 in a matrix.
func sparse(l *mat.SymDense) *opponent.Sparse {
	n := l.SymmetricDim()
	s := &opponent.Sparse{Index: make([][]int32, n), Value: make([][]float64, n)}
	for i := range n {
		for j := range n {
			if x := l.At(i, j); x != 0 {
				s.Index[i], s.Value[i] = append(s.Index[i], int32(j)), append(s.Value[i], x)
			}
		}
	}
	return s
}

// leading returns the leading eigenvalues and eigenvectors of a normalised matrix, one for each
// cluster.
func leading(ctx context.Context, l *opponent.Sparse, in *system.Input) ([]float64, *mat.Dense, error) {
	return opponent.Leading(ctx, l, min(in.Clusters, in.Samples()), 0, in.Random())
}

// neighbours returns, for every sample that has the view, the weights of its k nearest neighbours:
// as far as each is nearer than the next one after them, in the share that makes the sum 1; all the
// same where none is nearer. Rows are compared after they were given the mean 0 and the deviation 1.
func neighbours(v *view.View, k int) *mat.Dense {
	var in []int
	for i := range v.Samples {
		if v.Has(i) {
			in = append(in, i)
		}
	}
	all := system.Dense(v)
	rows := mat.NewDense(len(in), v.Dims, nil)
	for r, i := range in {
		rows.SetRow(r, all.RawRowView(i))
	}
	system.StandardRows(rows)
	s := mat.NewDense(v.Samples, v.Samples, nil)
	for r, list := range system.Nearest(rows, k+1) {
		var w []float64
		if len(list) > k { // else there is no next one
			w = system.Weights(list)
		}
		if floats.Sum(w) == 0 {
			list = list[:min(k, len(list))]
			w = slices.Repeat([]float64{1 / float64(len(list))}, len(list))
		}
		for at, x := range w {
			s.Set(in[r], in[list[at].Index], x)
		}
	}
	return s
}

// fill gives a sample, in the views that it lacks, the mean of its rows in the others.
func fill(spread []*mat.Dense, views []*view.View) {
	for i := range views[0].Samples {
		for m, v := range views {
			if v.Has(i) {
				continue
			}
			row := spread[m].RawRowView(i)
			for o, other := range views {
				if other.Has(i) {
					floats.Add(row, spread[o].RawRowView(i))
				}
			}
			if sum := floats.Sum(row); sum > 0 {
				floats.Scale(1/sum, row)
			}
		}
	}
}

// symmetric returns the mean of s and its transpose.
func symmetric(s *mat.Dense) *mat.SymDense {
	n, _ := s.Dims()
	m := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			m.SetSym(i, j, (s.At(i, j)+s.At(j, i))/2)
		}
	}
	return m
}

// normal divides s by the roots of the sums of its rows, from both sides, and returns it.
func normal(s *mat.SymDense) *mat.SymDense {
	n := s.SymmetricDim()
	scale := make([]float64, n)
	for i := range n {
		for j := range n {
			scale[i] += s.At(i, j)
		}
		if scale[i] > 0 {
			scale[i] = 1 / math.Sqrt(scale[i])
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, s.At(i, j)*scale[i]*scale[j])
		}
	}
	return s
}

// weights returns those of the views.
func weights(ctx context.Context, all []*mat.SymDense, in *system.Input) ([]float64, error) {
	h, f, err := programme(ctx, all, in)
	if err != nil {
		return nil, err
	}
	w, _ := minimise(h, f)
	return w, nil
}

// programme returns the matrix and the vector of the weights' objective w'H w / 2 - f'w.
func programme(ctx context.Context, all []*mat.SymDense, in *system.Input) (*mat.SymDense, []float64, error) {
	count := len(all)
	h, f := mat.NewSymDense(count, nil), make([]float64, count)
	var operators []*opponent.Sparse
	for _, l := range all {
		operators = append(operators, sparse(l))
	}
	var spaces []*mat.Dense
	for _, l := range operators {
		values, vectors, err := leading(ctx, l, in)
		if err != nil {
			return nil, nil, err
		}
		spaces = append(spaces, vectors)
		var images []*mat.Dense
		for _, other := range operators {
			image := mat.NewDense(in.Samples(), len(values), nil)
			if err := other.Times(ctx, image, vectors, 0); err != nil {
				return nil, nil, err
			}
			images = append(images, image)
		}
		scaled := mat.DenseCopyOf(vectors)
		scaled.Mul(vectors, mat.NewDiagDense(len(values), values))
		for i := range count {
			f[i] += system.Inner(images[i], scaled)
			for j := i; j < count; j++ {
				h.SetSym(i, j, h.At(i, j)+system.Inner(images[i], images[j]))
			}
		}
	}
	q, err := nearness(spaces)
	if err != nil {
		return nil, nil, err
	}
	if size := mat.Norm(q, 2); size > 0 {
		q.ScaleSym(in.Settings["beta"]*mat.Norm(h, 2)/size, q)
		h.AddSym(h, q)
	}
	return h, f, nil
}

// nearness returns the Laplacian of the angles that the most turned directions of two spaces lack
// to a half turn.
func nearness(spaces []*mat.Dense) (*mat.SymDense, error) {
	q := mat.NewSymDense(len(spaces), nil)
	for i := range spaces {
		for j := range i {
			var product mat.Dense
			product.Mul(spaces[i].T(), spaces[j])
			_, cosines, _, err := system.SVD(&product)
			if err != nil {
				return nil, err
			}
			near := math.Pi - math.Acos(max(0, min(1, cosines[len(cosines)-1])))
			q.SetSym(i, j, -near)
			q.SetSym(i, i, q.At(i, i)+near)
			q.SetSym(j, j, q.At(j, j)+near)
		}
	}
	return q, nil
}

// steps bounds the descent of the weights, which ends far sooner.
const steps = 10_000

// minimise returns the point w of the simplex where w'H w / 2 - f'w is least, for an H that is
// positive semidefinite, by projected gradients, and the objective after every step.
func minimise(h *mat.SymDense, f []float64) (w, objective []float64) {
	count := len(f)
	w = slices.Repeat([]float64{1 / float64(count)}, count)
	size := mat.Norm(h, 2)
	for range steps {
		image := make([]float64, count)
		for i := range image {
			for j := range w {
				image[i] += h.At(i, j) * w[j]
			}
		}
		objective = append(objective, floats.Dot(w, image)/2-floats.Dot(w, f))
		next := slices.Clone(w)
		if size > 0 {
			floats.AddScaled(next, -1/size, image)
			floats.AddScaled(next, 1/size, f)
			system.Simplex(next)
		}
		if floats.Distance(next, w, 2) < 1e-12 {
			break
		}
		w = next
	}
	return w, objective
}
