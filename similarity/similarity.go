// Package similarity measures how alike two samples are in one view (the
// matrix W of the paper, one entry at a time).
package similarity

import (
	"fmt"
	"math"

	"github.com/mvclust/mvclust/view"
)

// Metric is a similarity measure. Its zero value is Cosine.
type Metric int

const (
	// Cosine is the cosine of the angle between two rows, in [-1, 1] up to
	// rounding.
	Cosine Metric = iota
	// L1 is minus the sum of absolute differences.
	L1
	// L2 is minus the Euclidean distance.
	L2
	// L3 is minus the cube root of the sum of cubed absolute differences.
	L3
)

var metricNames = [...]string{"cosine", "l1", "l2", "l3"}

// ParseMetric returns the metric named "cosine", "l1", "l2" or "l3".
func ParseMetric(name string) (Metric, error) {
	for m, s := range metricNames {
		if s == name {
			return Metric(m), nil
		}
	}
	return 0, fmt.Errorf("unknown metric %q; choose cosine, l1, l2 or l3", name)
}

// String returns the metric's name, as ParseMetric reads it.
func (m Metric) String() string {
	if m < 0 || int(m) >= len(metricNames) {
		return fmt.Sprintf("metric(%d)", int(m))
	}
	return metricNames[m]
}

// MarshalText writes the metric's name, and fails where it has none.
func (m Metric) MarshalText() ([]byte, error) {
	if _, err := ParseMetric(m.String()); err != nil {
		return nil, err
	}
	return []byte(m.String()), nil
}

// UnmarshalText reads a metric's name. It leaves m alone where it fails.
func (m *Metric) UnmarshalText(text []byte) error {
	parsed, err := ParseMetric(string(text))
	if err == nil {
		*m = parsed
	}
	return err
}

// Space is one view made ready for comparisons: the rows of the samples that
// have it, packed, and scaled to unit length under Cosine. For every metric a
// higher value means more alike, and Similarity(i, j) equals Similarity(j, i)
// to the last bit.
type Space struct {
	// Name is the view's name.
	Name string
	// Samples is the number of samples, absent ones included.
	Samples int
	// Dims is the length of a row.
	Dims int
	// Zero counts the samples set aside because their row is all zeros, which
	// has no direction and so no cosine; FirstZero is the first of them in the
	// view's own numbering, or -1.
	Zero, FirstZero int

	metric Metric
	rows   []float32 // the present rows, packed
	sample []int32   // packed row -> sample
	slot   []int32   // sample -> packed row, or -1
}

// NewSpace prepares view v, which must be valid and is copied. Sample i of the
// space is sample order[i] of the view, order being a permutation of the samples
// (nil keeps the view's numbering): all later stages break ties by number, so
// the order decides them. Under Cosine an all-zero row counts as missing.
//
// A view in which all rows are equal, or all directions under Cosine, tells
// nothing about which samples belong together and is a *view.InputError, as are
// a view that fewer than two samples have and values so large or so small that
// their differences leave the range of 32-bit numbers when squared or cubed.
func NewSpace(v *view.View, metric Metric, order []int) (*Space, error) {
	if _, err := ParseMetric(metric.String()); err != nil {
		return nil, err
	}
	s := &Space{
		Name: v.Name, Samples: v.Samples, Dims: v.Dims, FirstZero: -1, metric: metric,
		rows: make([]float32, 0, v.Count()*v.Dims),
		slot: make([]int32, v.Samples),
	}
	for i := range v.Samples {
		from := i
		if order != nil {
			from = order[i]
		}
		s.slot[i] = -1
		if !v.Has(from) {
			continue
		}
		row := v.Row(from)
		if metric == Cosine {
			n := norm(row)
			if n == 0 {
				s.Zero++
				if s.FirstZero < 0 || from < s.FirstZero {
					s.FirstZero = from
				}
				continue
			}
			s.appendUnit(row, n)
		} else {
			s.rows = append(s.rows, row...)
		}
		s.slot[i] = int32(len(s.sample))
		s.sample = append(s.sample, int32(i))
	}
	problem, row := s.misfit(), -1
	switch {
	case problem != "":
	case s.Count() < 2 && s.Zero > 0:
		row, problem = s.FirstZero, fmt.Sprintf("is all zeros, which has no cosine, and without such rows (%d in all) only %d of %d samples have this view, where similarity needs two; drop this view", s.Zero, s.Count(), v.Samples)
	case s.Count() < 2:
		problem = fmt.Sprintf("only %d of %d samples have this view, and similarity needs two; drop the view", s.Count(), v.Samples)
	case metric == Cosine && s.constant():
		problem = "the view is constant: every sample's row has the same direction, so it cannot tell samples apart; drop this view, or choose the l1, l2 or l3 metric if the rows differ in length"
	case s.constant():
		problem = "the view is constant: every sample has the same row, so it cannot tell samples apart; drop this view"
	}
	if problem != "" {
		return nil, &view.InputError{View: v.Name, Row: row, Problem: problem}
	}
	return s, nil
}

// norm returns the Euclidean length of row.
func norm(row []float32) float64 {
	sum := 0.0
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

func (s *Space) appendUnit(row []float32, norm float64) {
	for _, x := range row {
		s.rows = append(s.rows, float32(float64(x)/norm))
	}
}

// largest returns the largest absolute value of the packed rows.
func (s *Space) largest() float64 {
	var most float32
	for _, x := range s.rows {
		most = max(most, x, -x)
	}
	return float64(most)
}

// misfit says why sums over the dimensions leave float32's range, or nothing:
// upwards where two rows can be infinitely far apart, downwards where two that
// differ by a thousandth of the largest value may count as equal.
func (s *Space) misfit() string {
	power := map[Metric]float64{L1: 1, L2: 2, L3: 3}[s.metric]
	switch most := s.largest(); {
	case s.metric == Cosine:
		return ""
	case math.Pow(2*most, power)*float64(s.Dims) > math.MaxFloat32:
		return fmt.Sprintf("values up to %.3g are too large for the %v metric in 32-bit arithmetic; scale the view down, or use cosine", most, s.metric)
	case most > 0 && math.Pow(most/1000, power) < smallestNormal:
		return fmt.Sprintf("values up to %.3g are too small for the %v metric in 32-bit arithmetic; scale the view up, or use cosine", most, s.metric)
	}
	return ""
}

// smallestNormal is the least positive float32 that has all its digits.
const smallestNormal = 0x1p-126

// constant reports whether all packed rows are equal.
func (s *Space) constant() bool {
	first := s.Row(0)
	for r := 1; r < s.Count(); r++ {
		for k, x := range s.Row(r) {
			if x != first[k] {
				return false
			}
		}
	}
	return true
}

// Count returns the number of samples that have the view.
func (s *Space) Count() int { return len(s.sample) }

// Has reports whether sample i has the view.
func (s *Space) Has(i int) bool { return s.slot[i] >= 0 }

// Sample returns the sample whose row is the r-th packed one; r is in [0, Count).
func (s *Space) Sample(r int) int { return int(s.sample[r]) }

// Row returns the r-th packed row.
func (s *Space) Row(r int) []float32 { return s.rows[r*s.Dims : (r+1)*s.Dims] }

// Similarity returns how alike samples i and j are, or NaN where one of them
// lacks the view.
func (s *Space) Similarity(i, j int) float32 {
	a, b := s.slot[i], s.slot[j]
	if a < 0 || b < 0 {
		return float32(math.NaN())
	}
	var out [1]float32
	s.Block(out[:], int(a), int(b), 1)
	return out[0]
}

// Block sets dst[c] to the similarity of packed row r with packed row lo+c, for
// c in [0, n).
func (s *Space) Block(dst []float32, r, lo, n int) {
	query, d := s.Row(r), s.Dims
	sum := sums[s.metric]
	c := 0
	for ; c+4 <= n; c += 4 {
		at := (lo + c) * d
		dst[c], dst[c+1], dst[c+2], dst[c+3] = sum.four(query,
			s.rows[at:at+d], s.rows[at+d:at+2*d], s.rows[at+2*d:at+3*d], s.rows[at+3*d:at+4*d])
	}
	for ; c < n; c++ {
		row := s.Row(lo + c)
		dst[c], _, _, _ = sum.four(query, row, row, row, row)
	}
	s.finish(dst[:n])
}

// finish turns sums into similarities.
func (s *Space) finish(dst []float32) {
	switch s.metric {
	case L1:
		for c, x := range dst {
			dst[c] = -x
		}
	case L2:
		for c, x := range dst {
			dst[c] = -float32(math.Sqrt(float64(x)))
		}
	case L3:
		for c, x := range dst {
			dst[c] = -float32(math.Cbrt(float64(x)))
		}
	}
}
