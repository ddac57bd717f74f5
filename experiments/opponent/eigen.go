package opponent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// How leading works: with a tenth more vectors than are wanted, and extra, which speeds
// the wanted ones up, and polynomials of such a degree, until the wanted ones are exact
// enough, at most so often.
const (
	extra     = 10
	degree    = 12
	exact     = 1e-5
	mostTurns = 60
	// lowest bounds how far down the polynomials may end to damp, lest they grow too fast.
	lowest = -0.9
)

// Operator is a symmetric matrix whose eigenvalues lie in [-1, 1].
type Operator interface {
	// Size is the number of its rows.
	Size() int
	// Times sets y to the product of the matrix and x.
	Times(ctx context.Context, y, x *mat.Dense, threads int) error
}

// operator is what is done with one.
type operator struct{ Operator }

// Leading returns the k largest eigenvalues of a, falling, and in the columns of the matrix
// orthonormal eigenvectors of them. It is subspace iteration with the Chebyshev polynomials that
// damp what lies below the wanted eigenvalues, after
//
//	Zhou, Saad, Tiago and Chelikowsky, "Self-consistent-field calculations using
//	Chebyshev-filtered subspace iteration", 2006.
//
// The result is the same for any number of threads; 0 stands for all.
func Leading(ctx context.Context, a Operator, k, threads int, random *rand.Rand) ([]float64, *mat.Dense, error) {
	s := operator{a}
	n := a.Size()
	m := min(n, k+k/10+extra)
	x := mat.NewDense(n, m, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = random.NormFloat64()
	}
	for turn := 0; ; turn++ {
		Orthonormal(x)
		values, miss, err := s.rotate(ctx, x, k, threads)
		if err != nil {
			return nil, nil, err
		}
		if miss < exact || turn == mostTurns {
			return values[:k], mat.DenseCopyOf(x.Slice(0, n, 0, k)), nil
		}
		if x, err = s.filter(ctx, x, max(values[m-1], lowest), threads); err != nil {
			return nil, nil, err
		}
	}
}

// Orthonormal makes the columns of x orthonormal, of which the first ones span what the first ones
// spanned. x is at least as high as wide.
func Orthonormal(x *mat.Dense) {
	a := x.RawMatrix()
	tau := make([]float64, a.Cols)
	query := make([]float64, 1)
	lapack64.Geqrf(a, tau, query, -1)
	lapack64.Geqrf(a, tau, make([]float64, int(query[0])), int(query[0]))
	lapack64.Orgqr(a, tau, query, -1)
	lapack64.Orgqr(a, tau, make([]float64, int(query[0])), int(query[0]))
}

// rotate turns x, whose columns are orthonormal, within what they span into the best
// approximations of eigenvectors, with falling eigenvalues, which it returns. miss is
// the largest residual of the first k.
func (s operator) rotate(ctx context.Context, x *mat.Dense, k, threads int) (values []float64, miss float64, err error) {
	n, m := x.Dims()
	sx := mat.NewDense(n, m, nil)
	if err := s.Times(ctx, sx, x, threads); err != nil {
		return nil, 0, err
	}
	var h mat.Dense
	h.Mul(x.T(), sx)
	symmetric := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			symmetric.SetSym(i, j, (h.At(i, j)+h.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric, true) { //nolint:misspell // gonum's name
		return nil, 0, errors.New("the eigenvalues of the graph cannot be found")
	}
	values = eigen.Values(nil)
	slices.Reverse(values)
	var rising mat.Dense
	eigen.VectorsTo(&rising)
	turn := mat.NewDense(m, m, nil)
	for c := range m {
		turn.SetCol(c, mat.Col(nil, m-1-c, &rising))
	}
	var turned mat.Dense
	turned.Mul(x, turn)
	x.Copy(&turned)
	turned.Mul(sx, turn)
	square := make([]float64, k)
	for i := range n {
		place, image := x.RawRowView(i), turned.RawRowView(i)
		for c := range k {
			d := image[c] - values[c]*place[c]
			square[c] += d * d
		}
	}
	return values, math.Sqrt(slices.Max(square)), nil
}

// filter returns T(s) x, where T is the Chebyshev polynomial that is small over the
// eigenvalues from -1 to low and grows fast above.
func (s operator) filter(ctx context.Context, x *mat.Dense, low float64, threads int) (*mat.Dense, error) {
	n, m := x.Dims()
	half, middle := (low+1)/2, (low-1)/2
	before, now, next := mat.DenseCopyOf(x), mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	step := func(to, of *mat.Dense, factor float64) error {
		err := s.Times(ctx, to, of, threads)
		y, from := to.RawMatrix().Data, of.RawMatrix().Data
		for i := range y {
			y[i] = (y[i] - middle*from[i]) * factor / half
		}
		return err
	}
	if err := step(now, before, 1); err != nil {
		return nil, err
	}
	for range degree - 1 {
		if err := step(next, now, 2); err != nil {
			return nil, err
		}
		next.Sub(next, before)
		before, now, next = now, next, before
	}
	return now, nil
}

// Size is the number of rows.
func (s *Sparse) Size() int { return len(s.Index) }

// Times sets y to s x.
func (s *Sparse) Times(ctx context.Context, y, x *mat.Dense, threads int) error {
	return each(ctx, threads, len(s.Index), func(_, i int) {
		sum := y.RawRowView(i)
		clear(sum)
		for at, j := range s.Index[i] {
			blas64.Axpy(s.Value[i][at], blas64.Vector{N: len(sum), Data: x.RawRowView(int(j)), Inc: 1}, blas64.Vector{N: len(sum), Data: sum, Inc: 1})
		}
	})
}
