package view

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
)

// Sparse holds the rows of a view scaled by Mixed, most of whose values are 0, without making them. The product of
// two scaled rows of length 1 is, but for rounding,
//
//	x . y = sum over r of w_r(x) w_r(y) (sum over k of g_rk^2 x_k y_k - s_r(x) - s_r(y) + c_r),
//
// where r runs over the three versions of a row and k over the features that are 0 in neither. A version is g_r x - a_r: its
// slopes g_r and a_r are the same for all rows, c_r is the square of a_r and s_r(x) the product of g_r x and a_r.
type Sparse struct {
	// Rows holds the values of each sample of the view, by feature, ascending.
	Rows sparse.Rows[Term]
	// Columns holds the same by feature: the values of its samples, ascending.
	Columns sparse.Rows[Term]

	slopes        [][3]float64 // g^2, by feature
	weights, sums [][3]float64 // w and s, by sample; w is 0 for a version without direction
	squares       [][3]float64 // of the versions, by sample
	constants     [3]float64   // c
}

// Term is a value that is not 0, as the scaler reads it.
type Term struct {
	// At is its feature, or in Columns its sample.
	At    int32
	Value float32
}

const (
	// mostFilled is the largest share of values other than 0 for which products by these alone are faster.
	mostFilled = 0.1
	// farthest is the largest a, the distance of 0 from a feature's values in their ranges or standard deviations, with which the
	// sums keep their digits: hardly any value of a feature beyond it is 0.
	farthest = 100
)

// Sparse returns the rows of v taken apart. It returns nil where more than a tenth of the values are not 0 or a feature is far
// from 0, and under another scale than Mixed. The errors are those of View.Check and Scaler.Validate, and the context's own.
func (s *Scaler) Sparse(ctx context.Context, v *View, threads int) (*Sparse, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	if err := s.Validate(v.Dims); err != nil {
		return nil, err
	}
	if s.Scale != Mixed {
		return nil, nil
	}
	offsets, all := make([]int, v.Samples+1), 0
	for i := range v.Samples {
		if v.Has(i) {
			for _, x := range v.Row(i) {
				if x != 0 {
					offsets[i+1]++
				}
			}
			all += v.Dims
		}
	}
	starts := sparse.Cumulate(offsets)
	terms := offsets[v.Samples]
	if float64(terms) > mostFilled*float64(all) {
		return nil, nil
	}
	slopes, at := s.affine(v.Dims)
	out := &Sparse{
		Rows:    sparse.Rows[Term]{Offsets: offsets, Values: make([]Term, terms)},
		weights: make([][3]float64, v.Samples), sums: make([][3]float64, v.Samples), squares: make([][3]float64, v.Samples),
		slopes: make([][3]float64, v.Dims),
	}
	for r := range out.constants {
		out.constants[r] = s.Constants[r] * s.Constants[r]
		for k := range v.Dims {
			if math.Abs(at[k][r]) > farthest {
				return nil, nil
			}
			out.constants[r] += at[k][r] * at[k][r]
			out.slopes[k][r] = slopes[k][r] * slopes[k][r]
		}
	}
	err := parallel.Blocks(ctx, threads, v.Samples, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			if !v.Has(i) {
				continue
			}
			next := starts[i]
			for k, x := range v.Row(i) {
				if x == 0 {
					continue
				}
				x = float32(s.value(x))
				for r, g := range slopes[k] {
					u := float64(x) * g
					out.sums[i][r] += u * at[k][r]
					out.squares[i][r] += u * u
				}
				out.Rows.Values[next] = Term{int32(k), x}
				next++
			}
			out.weigh(i, s.Weights, v.Dims)
		}
	})
	if err != nil {
		return nil, err
	}
	out.Columns = sparse.Collect(v.Dims, func(add func(k int, t Term)) {
		for i := range v.Samples {
			for _, t := range out.Rows.Of(i) {
				add(int(t.At), Term{int32(i), t.Value})
			}
		}
	})
	return out, nil
}

// affine returns slopes and at such that version r of feature k is slopes[k][r] times the value, less at[k][r].
func (s *Scaler) affine(dims int) (slopes, at [][3]float64) {
	slopes, at = make([][3]float64, dims), make([][3]float64, dims)
	for k := range dims {
		slopes[k] = [3]float64{1, 0, s.Inverse[k]}
		if s.Span[k] > 0 {
			slopes[k][1] = 1 / s.Span[k]
		}
		at[k] = [3]float64{0, s.Low[k] * slopes[k][1], s.Mean[k] * slopes[k][2]}
	}
	return slopes, at
}

// weigh turns the squares of the slopes times row i into those of its versions, and finds its weights.
func (a *Sparse) weigh(i int, weights [3]float64, dims int) {
	// A row equal to the mean would have the direction of a rounding error.
	floor, total := [3]float64{2: central * central * float64(dims)}, 0.0
	for r := range weights {
		square := a.squares[i][r] - 2*a.sums[i][r] + a.constants[r]
		a.squares[i][r] = square
		if square > floor[r] {
			a.weights[i][r] = weights[r] / math.Sqrt(square)
			total += weights[r] * weights[r]
		}
	}
	if total > 0 {
		for r := range weights {
			a.weights[i][r] /= math.Sqrt(total)
		}
	}
}

// Zero reports whether the scaled row of sample i has no length, or is absent. It panics if i is out of range.
func (a *Sparse) Zero(i int) bool { return a.weights[i] == [3]float64{} }

// Spread is a row of a Sparse with its zeros.
type Spread struct {
	of     *Sparse
	sample int
	values []float32
}

// Spread makes x the row of sample i, in the memory that x has. It panics if i is out of range.
func (a *Sparse) Spread(x *Spread, i int) {
	switch {
	case x.of == a && x.sample == i:
		return
	case len(x.values) != a.Columns.Len():
		x.values = make([]float32, a.Columns.Len())
	case x.of != nil:
		for _, t := range x.of.Rows.Of(x.sample) {
			x.values[t.At] = 0
		}
	}
	x.of, x.sample = a, i
	for _, t := range a.Rows.Of(i) {
		x.values[t.At] = t.Value
	}
}

// Product returns the product of the scaled rows of length 1 of x and of sample j. It panics if j is out of range, or if x was not made by
// Sparse.Spread.
func (x *Spread) Product(j int) float64 { return x.of.product(x.sample, j, x.common(j)) }

// common returns the sums of the products of what two rows have in common.
func (x *Spread) common(j int) (sums [3]float64) {
	for _, t := range x.of.Rows.Of(j) {
		if own := x.values[t.At]; own != 0 {
			product, g := float64(own)*float64(t.Value), &x.of.slopes[t.At]
			sums[0] += float64(product * g[0])
			sums[1] += float64(product * g[1])
			sums[2] += float64(product * g[2])
		}
	}
	return sums
}

// product returns the product of the rows of samples i and j, given the sums of what they have in common.
func (a *Sparse) product(i, j int, common [3]float64) float64 {
	w, v, s, t := &a.weights[i], &a.weights[j], &a.sums[i], &a.sums[j]
	sum := 0.0
	for r, c := range a.constants {
		sum += float64(w[r] * v[r] * (common[r] - (s[r] + t[r]) + c))
	}
	return sum
}

// cosines returns those of the three versions of x and of sample j, 0 where one has no direction.
func (x *Spread) cosines(j int) (cosines [3]float64) {
	a, common := x.of, x.common(j)
	s, t := &a.sums[x.sample], &a.sums[j]
	for r, c := range a.constants {
		if a.weights[x.sample][r] > 0 && a.weights[j][r] > 0 {
			cosines[r] = (common[r] - (s[r] + t[r]) + c) / math.Sqrt(a.squares[x.sample][r]*a.squares[j][r])
		}
	}
	return cosines
}

// variances returns those of the cosines of all pairs of samples, by version.
func (a *Sparse) variances(ctx context.Context) (variances [3]float64, err error) {
	pairs := float64(len(a.weights)*(len(a.weights)-1)) / 2
	var x Spread
	var sums, squares [3]float64
	for i := range a.weights {
		if ctx.Err() != nil {
			return variances, ctx.Err()
		}
		a.Spread(&x, i)
		for j := range i {
			for r, cosine := range x.cosines(j) {
				sums[r] += cosine / pairs
				squares[r] += cosine * cosine / pairs
			}
		}
	}
	for r, sum := range sums {
		variances[r] = squares[r] - sum*sum
	}
	return variances, nil
}

// Products sets to[j] to the product of the scaled rows of length 1 of samples i and j, for every sample j, as Product has it to
// the last bit. common is room for as many values. It takes as long as the columns that i has are filled. It panics if i is out of range,
// or if to or common is too short.
func (a *Sparse) Products(to []float32, common [][3]float64, i int) {
	common = common[:len(a.weights)]
	clear(common)
	for _, t := range a.Rows.Of(i) {
		own, g := float64(t.Value), a.slopes[t.At]
		for _, other := range a.Columns.Of(int(t.At)) {
			product, sums := own*float64(other.Value), &common[other.At]
			sums[0] += float64(product * g[0])
			sums[1] += float64(product * g[1])
			sums[2] += float64(product * g[2])
		}
	}
	for j := range common {
		to[j] = float32(a.product(i, j, common[j]))
	}
}
