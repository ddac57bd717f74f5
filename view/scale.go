package view

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/internal/parallel"
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
	// Mixed joins three readings of every row, each of unit length: the row as it is,
	// under MinMax, and with every feature brought to mean 0 and variance 1. The cosine
	// of two such rows is the sum of the three cosines, each in units of its spread over
	// random pairs, up to a constant factor: no reading is taken on trust.
	Mixed
)

var scaleNames = [...]string{"none", "minmax", "mixed"}

// ParseScale returns the scale named "none", "minmax" or "mixed".
func ParseScale(name string) (Scale, error) {
	for s, n := range scaleNames {
		if n == name {
			return Scale(s), nil
		}
	}
	return 0, fmt.Errorf("unknown scale %q; choose none, minmax or mixed", name)
}

// String returns the scale's name, as ParseScale reads it.
func (s Scale) String() string {
	if s < 0 || int(s) >= len(scaleNames) {
		return fmt.Sprintf("scale(%d)", int(s))
	}
	return scaleNames[s]
}

// MarshalText writes the scale's name, and fails where it has none.
func (s Scale) MarshalText() ([]byte, error) {
	if _, err := ParseScale(s.String()); err != nil {
		return nil, err
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads a scale's name. It leaves s alone where it fails.
func (s *Scale) UnmarshalText(text []byte) error {
	parsed, err := ParseScale(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// Dims returns how many values a row of so many dimensions has once it is scaled.
func (s Scale) Dims(dims int) int {
	if s == Mixed {
		return 3 * dims
	}
	return dims
}

// Scaled returns v, which must be valid, with its features scaled: v itself under
// NoScale, else a copy of the values. The rows of samples that lack the view are 0
// in the copy. Sums over the samples run in the order given, a permutation of them, or
// as they are stored where it is nil; the result does not depend on threads. The only
// error is the context's own.
func (v *View) Scaled(ctx context.Context, s Scale, order []int, threads int) (*View, error) {
	switch s {
	case MinMax:
		ranges := v.ranges()
		return v.mapped(ctx, v.Dims, threads, func(to []float64, row []float32) { ranges.apply(to, row) })
	case Mixed:
		return v.mixed(ctx, order, threads)
	default:
		return v, nil
	}
}

// mapped returns a view of dims dimensions whose rows are what do makes of those of v.
func (v *View) mapped(ctx context.Context, dims, threads int, do func(to []float64, row []float32)) (*View, error) {
	out := *v
	out.Dims, out.Data = dims, make([]float32, v.Samples*dims)
	scratch := make([][]float64, parallel.Threads(threads))
	err := parallel.Blocks(ctx, threads, v.Samples, 256, func(worker, lo, hi int) {
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

// ranges holds the least value of every feature, and how far the largest is from it.
type ranges struct{ low, span []float64 }

func (v *View) ranges() ranges {
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
	r := ranges{make([]float64, v.Dims), make([]float64, v.Dims)}
	for k := range low {
		// In 64 bits, in which no difference of two such values overflows, or vanishes
		// but where they are equal.
		r.low[k], r.span[k] = float64(low[k]), float64(high[k])-float64(low[k])
	}
	return r
}

func (r ranges) apply(to []float64, row []float32) {
	for k, x := range row {
		to[k] = 0
		if r.span[k] > 0 {
			to[k] = (float64(x) - r.low[k]) / r.span[k]
		}
	}
}
