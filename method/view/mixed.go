package view

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/method/sparse"
)

// Few is the largest number of features of a view whose rows are compared by more than their direction
// under Mixed, see Scaler.Constants.
const Few = 32

// alike is the number of further features, the same in all rows, that Scaler.Constants stand for.
const alike = 10

// width returns the length of a version of a row of so many features under Mixed.
func width(dims int) int {
	if dims <= Few {
		return dims + 1
	}
	return dims
}

// mix finds what Mixed needs beside the ranges.
func (s *Scaler) mix(ctx context.Context, v *View, order sparse.Permutation) error {
	if order == nil {
		order = make(sparse.Permutation, v.Samples)
		for i := range order {
			order[i] = i
		}
	}
	present := make([]int, 0, len(order))
	for _, i := range order {
		if v.Has(i) {
			present = append(present, i)
		}
	}
	s.Weights = [3]float64{1, 1, 1}
	s.moments(v, present)
	return s.weigh(ctx, v, present)
}

// moments finds Mean, Inverse and, of few features, Constants.
func (s *Scaler) moments(v *View, present []int) {
	s.Mean, s.Inverse = make([]float64, v.Dims), make([]float64, v.Dims)
	n := float64(max(1, len(present)))
	for _, i := range present {
		for k, x := range v.Row(i) {
			s.Mean[k] += s.value(x)
		}
	}
	for k := range s.Mean {
		s.Mean[k] /= n
	}
	for _, i := range present {
		for k, x := range v.Row(i) {
			d := s.value(x) - s.Mean[k]
			s.Inverse[k] += d * d
		}
	}
	var squares [3]float64 // of the mean row, by version, and the variances around it
	for k, sum := range s.Inverse {
		variance := sum / n
		s.Inverse[k] = 0
		squares[0] += s.Mean[k]*s.Mean[k] + variance
		if s.Span[k] > 0 && variance > 0 {
			s.Inverse[k] = 1 / math.Sqrt(variance)
			above := s.Mean[k] - s.Low[k]
			squares[1] += (above*above + variance) / (s.Span[k] * s.Span[k])
			squares[2]++
		}
	}
	for part, sum := range squares {
		if s.Constants[part] = 0; v.Dims <= Few {
			s.Constants[part] = math.Sqrt(alike * sum / float64(v.Dims))
		}
	}
}

// drawn is how many products of two values the cosines are formed of that are measured, in every
// version: those of all rows, or of as many random rows as that leaves, but at least fewestDrawn.
const (
	drawn       = 1 << 26
	fewestDrawn = 128
)

// weigh finds Weights. It reorders present.
func (s *Scaler) weigh(ctx context.Context, v *View, present []int) error {
	random := rand.New(rand.NewPCG(uint64(len(present)), 0))
	random.Shuffle(len(present), func(i, j int) { present[i], present[j] = present[j], present[i] })
	some := present[:measured(len(present), v.Dims)]
	variances, err := s.variances(ctx, v, some)
	if err != nil {
		return err
	}
	var weights [3]float64
	for part, variance := range variances {
		if variance > rounding {
			weights[part] = math.Pow(variance, -0.25)
		}
	}
	s.Weights = weights
	if s.Weights == [3]float64{} {
		s.Weights[0] = 1 // a constant view stays what it is
	}
	return nil
}

// variances returns those of the cosines of all pairs of some samples, by version.
func (s *Scaler) variances(ctx context.Context, v *View, some []int) (variances [3]float64, err error) {
	excerpt, err := Excerpt([]*View{v}, some)
	if err != nil {
		return variances, err
	}
	apart, err := s.Sparse(ctx, excerpt[0], 1)
	if err != nil {
		return variances, err
	}
	if apart != nil {
		return apart.variances(ctx)
	}
	w, joined := width(v.Dims), make([]float64, Mixed.Dims(v.Dims))
	rows, earlier, cosines := make([]float32, len(some)*w), make([]int32, len(some)), make([]float32, len(some))
	for i := range earlier {
		earlier[i] = int32(i)
	}
	loops, pairs := kernel.Best(), float64(max(1, len(some)*(len(some)-1)/2))
	for part := range variances {
		for i := range some {
			s.join(joined, v.Row(some[i]))
			for k, x := range joined[part*w:][:w] {
				rows[i*w+k] = float32(x)
			}
		}
		sum, squares := 0.0, 0.0
		for i := range some {
			if ctx.Err() != nil {
				return variances, ctx.Err()
			}
			loops.Against(kernel.Dot, rows[i*w:][:w], rows, earlier[:i], cosines[:i])
			for _, x := range cosines[:i] {
				sum += float64(x)
				squares += float64(x) * float64(x)
			}
		}
		mean := sum / pairs
		variances[part] = squares/pairs - mean*mean
	}
	return variances, nil
}

// rounding is the largest variance of 32-bit cosines that rounding alone brings about.
const rounding = 1e-12

// central is the distance from the mean, in standard deviations, below which a 32-bit
// feature may be the mean but for rounding.
const central = 1e-6

// join sets to to the three versions of row, side by side, each of the length of its
// weight, or all zeros. It returns what they were multiplied by, 0 for one of zeros.
func (s *Scaler) join(to []float64, row []float32) (factors [3]float64) {
	d, w := len(row), width(len(row))
	raw, ranged, standard := to[:w], to[w:2*w], to[2*w:3*w]
	low, span, mean, inverse := s.Low[:d], s.Span[:d], s.Mean[:d], s.Inverse[:d]
	var sums [3]float64 // of the squares, side by side: each addition waits for the one before
	for k, x := range row {
		own, within := s.value(x), 0.0
		apart := (own - mean[k]) * inverse[k]
		if span[k] > 0 {
			within = (own - low[k]) / span[k]
		}
		raw[k], ranged[k], standard[k] = own, within, apart
		sums[0] += own * own
		sums[1] += within * within
		sums[2] += apart * apart
	}
	// A row equal to the mean would have the direction of a rounding error.
	floor := [3]float64{2: central * central * float64(d)}
	for part, values := range [][]float64{raw, ranged, standard} {
		if w > d {
			values[d] = s.Constants[part]
			sums[part] += values[d] * values[d]
		}
		if sums[part] <= floor[part] {
			clear(values)
		} else {
			factors[part] = s.Weights[part] / math.Sqrt(sums[part])
			for k := range values {
				values[k] *= factors[part]
			}
		}
	}
	return factors
}
