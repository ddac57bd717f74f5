package system

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/opponent"
	"github.com/mvclust/mvclust/method/view"
)

// Dense returns the rows of a view, those of samples without it the mean of the others.
func Dense(v *view.View) *mat.Dense {
	x := mat.NewDense(v.Samples, v.Dims, nil)
	mean := make([]float64, v.Dims)
	count := 0.0
	for i := range v.Samples {
		if !v.Has(i) {
			continue
		}
		row := x.RawRowView(i)
		for c, value := range v.Row(i) {
			row[c] = float64(value)
		}
		floats.Add(mean, row)
		count++
	}
	floats.Scale(1/count, mean)
	for i := range v.Samples {
		if !v.Has(i) {
			copy(x.RawRowView(i), mean)
		}
	}
	return x
}

// Fill returns views that every sample has: the mean of the others' rows is in the place of
// missing ones. A view that all have is returned as it is.
func Fill(views []*view.View) []*view.View {
	filled := slices.Clone(views)
	for m, v := range views {
		if v.Count() == v.Samples {
			continue
		}
		w := *v
		w.Present, w.Data = nil, make([]float32, v.Samples*v.Dims)
		for at, x := range Dense(v).RawMatrix().Data {
			w.Data[at] = float32(x)
		}
		filled[m] = &w
	}
	return filled
}

// UnitRows scales every row to unit length; one of nothing but zeros stays as it is.
func UnitRows(x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		if length := floats.Norm(row, 2); length > 0 {
			floats.Scale(1/length, row)
		}
	}
}

// StandardRows gives every row the mean 0 and the standard deviation 1, which is over one less
// than the number of values; a constant row becomes zeros.
func StandardRows(x *mat.Dense) {
	n, d := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		floats.AddConst(-floats.Sum(row)/float64(d), row)
		if deviation := floats.Norm(row, 2) / math.Sqrt(float64(max(1, d-1))); deviation > 1e-12 {
			floats.Scale(1/deviation, row)
		} else {
			clear(row)
		}
	}
}

// SquaredDistances returns those of all pairs of rows, 0 on the diagonal.
func SquaredDistances(x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	var d mat.SymDense
	d.SymOuterK(1, x)
	square := make([]float64, n)
	for i := range square {
		square[i] = d.At(i, i)
	}
	for i := range n {
		for j := i; j < n; j++ {
			d.SetSym(i, j, max(0, square[i]+square[j]-2*d.At(i, j)))
		}
		d.SetSym(i, i, 0)
	}
	return &d
}

// Simplex moves v to the nearest point whose values are at least 0 and have the sum 1.
func Simplex(v []float64) {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	sum, shift := 0.0, 0.0
	for k, x := range slices.Backward(sorted) {
		sum += x
		if s := (sum - 1) / float64(len(sorted)-k); s < x {
			shift = s
		}
	}
	for i, x := range v {
		v[i] = max(0, x-shift)
	}
}

// Inner returns trace(a'b).
func Inner(a, b *mat.Dense) float64 {
	n, _ := a.Dims()
	sum := 0.0
	for i := range n {
		sum += floats.Dot(a.RawRowView(i), b.RawRowView(i))
	}
	return sum
}

// Polar returns the matrix with orthonormal columns (rows, where it is wider than high) that is
// nearest to m: U V' of its singular value decomposition. It is the one by which trace(Q'm) is
// largest.
func Polar(m mat.Matrix) (*mat.Dense, error) {
	u, _, v, err := SVD(m)
	if err != nil {
		return nil, err
	}
	var q mat.Dense
	q.Mul(u, v.T())
	return &q, nil
}

// SVD returns the thin singular value decomposition of m, whose singular values fall.
func SVD(m mat.Matrix) (u *mat.Dense, values []float64, v *mat.Dense, err error) {
	var s mat.SVD
	if !s.Factorize(m, mat.SVDThin) { //nolint:misspell // gonum's name
		return nil, nil, nil, errors.New("the singular values of a matrix cannot be found")
	}
	u, v = new(mat.Dense), new(mat.Dense)
	s.UTo(u)
	s.VTo(v)
	return u, s.Values(nil), v, nil
}

// Lowest returns the k lowest eigenvalues of s, rising, and orthonormal eigenvectors of them in
// the columns. Where these are few of many, they are found by iteration, with residuals of at most
// 1e-5 of the largest sum of the absolute values of a row.
func Lowest(ctx context.Context, s *mat.SymDense, k int) ([]float64, *mat.Dense, error) {
	return extreme(ctx, s, k, -1)
}

// Highest returns the k highest eigenvalues of s, falling, and orthonormal eigenvectors of them
// in the columns, as exactly as Lowest does.
func Highest(ctx context.Context, s *mat.SymDense, k int) ([]float64, *mat.Dense, error) {
	return extreme(ctx, s, k, 1)
}

// fewest is the number of rows up to which all eigenvalues are found at once.
const fewest = 200

// extreme returns the k eigenvalues of s that are the highest when multiplied by sign.
func extreme(ctx context.Context, s *mat.SymDense, k int, sign float64) ([]float64, *mat.Dense, error) {
	n := s.SymmetricDim()
	if n > fewest && k < n/4 {
		d := &signed{mat.DenseCopyOf(s), sign / norm(s)}
		values, vectors, err := opponent.Leading(ctx, d, k, 0, rand.New(rand.NewPCG(0, uint64(n))))
		for i := range values {
			values[i] /= d.factor
		}
		return values, vectors, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) { //nolint:misspell // gonum's name
		return nil, nil, errors.New("the eigenvalues of a matrix cannot be found")
	}
	var rising mat.Dense
	e.VectorsTo(&rising)
	values := e.Values(nil)
	if sign < 0 {
		return values[:k], mat.DenseCopyOf(rising.Slice(0, n, 0, k)), ctx.Err()
	}
	slices.Reverse(values)
	falling := mat.NewDense(n, k, nil)
	for c := range k {
		falling.SetCol(c, mat.Col(nil, n-1-c, &rising))
	}
	return values[:k], falling, ctx.Err()
}

// signed is a symmetric matrix times a factor. All of it is stored: products are faster then.
type signed struct {
	s      *mat.Dense
	factor float64
}

// Size is the number of rows.
func (d *signed) Size() int {
	n, _ := d.s.Dims()
	return n
}

// Times sets y to the product of the matrix and x.
func (d *signed) Times(ctx context.Context, y, x *mat.Dense, _ int) error {
	y.Mul(d.s, x)
	y.Scale(d.factor, y)
	return ctx.Err()
}

// norm bounds the absolute values of the eigenvalues: by the largest sum of those of a row.
func norm(s *mat.SymDense) float64 {
	n, most := s.SymmetricDim(), 0.0
	for i := range n {
		sum := 0.0
		for j := range n {
			sum += math.Abs(s.At(i, j))
		}
		most = max(most, sum)
	}
	return max(most, math.SmallestNonzeroFloat32)
}

// restarts is the number of descents of k-means on an embedding.
const restarts = 20

// KMeans clusters the rows of x by k-means, the best of 20 descents.
func KMeans(ctx context.Context, x mat.Matrix, k int, in *Input) ([]int, error) {
	return Descents(ctx, x, k, restarts, in)
}

// Descents clusters the rows of x by k-means, the best of some descents.
func Descents(ctx context.Context, x mat.Matrix, k, count int, in *Input) ([]int, error) {
	n, d := x.Dims()
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, d)
		for c := range d {
			rows[i][c] = float32(x.At(i, c))
		}
	}
	found, err := opponent.Means(ctx, rows, min(k, n), count, 0, in.Random())
	if err != nil {
		return nil, err
	}
	return found.Labels, nil
}
