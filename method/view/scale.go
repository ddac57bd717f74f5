package view

import (
	"context"
	"errors"
	"fmt"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
)

// Scale is a way to make the features of a view, its columns, alike in size. Its
// zero value is NoScale.
type Scale int

const (
	// NoScale leaves the values as they are.
	NoScale Scale = iota
	// MinMax maps every feature to [0, 1], from its least to its largest value
	// over the samples that have the view. A constant feature becomes 0.
	MinMax
	// Mixed joins three versions of every row: the row as it is, under MinMax, and with
	// every feature brought to mean 0 and variance 1. Each is scaled to a length that is
	// its weight. The cosine of two joined rows is, up to a constant factor, the sum of
	// the three cosines, each divided by its standard deviation over random pairs. Counts, View.Counts, are
	// read as their logarithms first.
	Mixed
)

var scales = enum.Type[Scale]{Noun: "scale", Names: []string{"none", "minmax", "mixed"}}

// String returns the scale's name, as UnmarshalText reads it.
func (s Scale) String() string { return scales.String(s) }

// MarshalText writes the scale's name, and fails where it has none.
func (s Scale) MarshalText() ([]byte, error) { return scales.Marshal(s) }

// UnmarshalText reads a scale's name. It leaves *s alone where it fails.
func (s *Scale) UnmarshalText(text []byte) error { return scales.Unmarshal(s, text) }

// Dims returns the length of a scaled row, given that of a row of the view.
func (s Scale) Dims(dims int) int {
	if s == Mixed {
		return 3 * width(dims)
	}
	return dims
}

// Scaler is a scale with the statistics of one view, by feature, so that other rows can be
// scaled as those of the view were.
type Scaler struct {
	// Scale is the scale; NoScale needs no statistics.
	Scale Scale `json:"scale"`
	// Log says that every value x is read as log(1 + x), with the sign of x: the view holds counts. All below
	// is of these logarithms. It is for Mixed alone.
	Log bool `json:"log,omitempty"`
	// Low holds the least value, Span the largest less the least.
	Low  []float64 `json:"low,omitempty"`
	Span []float64 `json:"span,omitempty"`
	// Mean holds the mean, and Inverse 1 over the standard deviation, or 0 where the
	// feature is constant. Mean, Inverse and Weights are for Mixed alone.
	Mean    []float64 `json:"mean,omitempty"`
	Inverse []float64 `json:"inverse,omitempty"`
	// Weights are the lengths of the three versions of a row: 1 over the root of the
	// standard deviation of the cosines of that version.
	Weights [3]float64 `json:"weights"`
	// Constants are the values, by version, of one more feature that all rows have, for views of at most Few
	// features: its square is that of 10 features of the mean square. With it the cosine tells rows of
	// the same direction and another length apart, as a distance does. It is for Mixed alone.
	Constants [3]float64 `json:"constants,omitzero"`
}

// Scaler returns s with the statistics of v, which must be valid. Sums over the samples run
// in the given order; nil stands for that in which they are stored. The errors are those of
// View.Check and Permutation.Check, an unknown scale, and the context's own.
func (v *View) Scaler(ctx context.Context, s Scale, order sparse.Permutation) (*Scaler, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	if _, err := s.MarshalText(); err != nil {
		return nil, err
	}
	if order != nil {
		if err := order.Check(v.Samples); err != nil {
			return nil, err
		}
	}
	scaler := &Scaler{Scale: s}
	if s == NoScale {
		return scaler, nil
	}
	scaler.Log = s == Mixed && v.Counts()
	scaler.Low, scaler.Span = scaler.ranges(v)
	if s == Mixed {
		return scaler, scaler.mix(ctx, v, order)
	}
	return scaler, nil
}

// Scaled returns v scaled with its own statistics: Scaler, then Apply.
func (v *View) Scaled(ctx context.Context, s Scale, order sparse.Permutation, threads int) (*View, error) {
	scaler, err := v.Scaler(ctx, s, order)
	if err != nil {
		return nil, err
	}
	return scaler.Apply(ctx, v, threads)
}

// Validate reports why s cannot scale views of the given dimensions.
func (s *Scaler) Validate(dims int) error {
	if s == nil {
		return errors.New("there is no scale; pass one")
	}
	if _, err := s.Scale.MarshalText(); err != nil {
		return err
	}
	if s.Scale == NoScale {
		return nil
	}
	statistics := [][]float64{s.Low, s.Span}
	if s.Scale == Mixed {
		statistics = append(statistics, s.Mean, s.Inverse)
	}
	for _, f := range statistics {
		if len(f) != dims {
			return fmt.Errorf("the scale has statistics of %d features where the view has %d", len(f), dims)
		}
	}
	for _, f := range [][]float64{s.Span, s.Inverse, s.Weights[:], s.Constants[:]} {
		for _, x := range f {
			if !(x >= 0) || x-x != 0 {
				return fmt.Errorf("the scale has a span, an inverse, a weight or a constant of %v", x)
			}
		}
	}
	return nil
}

// Apply returns v with its features scaled: v itself under NoScale, else a copy, in which
// the rows of samples that lack the view are 0. The result does not depend on threads. The
// errors are those of View.Check and Scaler.Validate, and the context's own.
func (s *Scaler) Apply(ctx context.Context, v *View, threads int) (*View, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	if err := s.Validate(v.Dims); err != nil {
		return nil, err
	}
	switch s.Scale {
	case MinMax:
		return v.mapped(ctx, v.Dims, threads, s.range01)
	case Mixed:
		return v.mapped(ctx, Mixed.Dims(v.Dims), threads, func(to []float64, row []float32) { s.join(to, row) })
	default:
		return v, nil
	}
}

// valuesAtATime is about how many values a thread scales before it takes further rows.
const valuesAtATime = 1 << 15

// mapped returns a view of dims dimensions; do computes its rows from those of v.
func (v *View) mapped(ctx context.Context, dims, threads int, do func(to []float64, row []float32)) (*View, error) {
	out := *v
	out.Dims, out.Data = dims, make([]float32, v.Samples*dims)
	scratch := make([][]float64, parallel.Threads(threads))
	err := parallel.Blocks(ctx, threads, v.Samples, 1+valuesAtATime/dims, func(worker, lo, hi int) {
		if scratch[worker] == nil {
			scratch[worker] = make([]float64, dims)
		}
		for i := lo; i < hi; i++ {
			if !v.Has(i) {
				continue
			}
			do(scratch[worker], v.Row(i))
			to := out.Row(i)
			for k, x := range scratch[worker] {
				to[k] = float32(x)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// ranges returns the least value of every feature, and the largest less the least.
func (s *Scaler) ranges(v *View) (least, span []float64) {
	low, high := make([]float32, v.Dims), make([]float32, v.Dims)
	first := true
	for i := range v.Samples {
		if !v.Has(i) {
			continue
		}
		row := v.Row(i)
		if first {
			copy(low, row)
			copy(high, row)
			first = false
		}
		for k, x := range row {
			low[k], high[k] = min(low[k], x), max(high[k], x)
		}
	}
	least, span = make([]float64, v.Dims), make([]float64, v.Dims)
	for k := range low {
		// In 64 bits the difference of two 32-bit values cannot overflow, and is 0 only
		// where they are equal.
		least[k] = s.value(low[k])
		span[k] = s.value(high[k]) - least[k]
	}
	return least, span
}

// range01 sets to to row with the view's range of every feature mapped to [0, 1].
func (s *Scaler) range01(to []float64, row []float32) {
	for k, x := range row {
		to[k] = 0
		if s.Span[k] > 0 {
			to[k] = (float64(x) - s.Low[k]) / s.Span[k]
		}
	}
}
