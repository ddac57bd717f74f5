// Package sparse holds the two structures that all stages share: rows of different
// lengths (Rows) and permutations of the samples (Permutation).
//
// It follows the method and may change in any minor version.
package sparse

import "fmt"

// Rows holds rows of different lengths one after another. Row i is
//
//	Values[Offsets[i]:Offsets[i+1]].
//
// Offsets starts with 0, never falls, and has one entry more than there are rows. The zero
// value has no rows.
type Rows[T any] struct {
	Offsets []int
	Values  []T
}

// Len returns the number of rows.
func (r *Rows[T]) Len() int { return max(0, len(r.Offsets)-1) }

// Of returns row i, which shares its memory with r and has no room to grow. It
// panics if i is out of range.
func (r *Rows[T]) Of(i int) []T {
	lo, hi := r.Offsets[i], r.Offsets[i+1]
	return r.Values[lo:hi:hi]
}

// Append adds one row after the last.
func (r *Rows[T]) Append(row ...T) {
	if len(r.Offsets) == 0 {
		r.Offsets = []int{0}
	}
	r.Values = append(r.Values, row...)
	r.Offsets = append(r.Offsets, len(r.Values))
}

// Validate reports the first thing in which r is not as Rows says.
func (r *Rows[T]) Validate() error {
	if len(r.Offsets) == 0 {
		if len(r.Values) > 0 {
			return fmt.Errorf("%d values belong to no row", len(r.Values))
		}
		return nil
	}
	if r.Offsets[0] != 0 || r.Offsets[r.Len()] != len(r.Values) {
		return fmt.Errorf("the rows reach from %d to %d of %d values", r.Offsets[0], r.Offsets[r.Len()], len(r.Values))
	}
	for i := range r.Len() {
		if r.Offsets[i] > r.Offsets[i+1] {
			return fmt.Errorf("row %d reaches from %d to %d", i, r.Offsets[i], r.Offsets[i+1])
		}
	}
	return nil
}

// Collect returns n rows of the values that each passes to add. Within a row they keep the
// order in which they were added. Collect calls each twice, once to count and once to fill,
// so each must add the same values both times. It panics if each does not, or adds to a row
// that is out of range, or if n is below 0.
func Collect[T any](n int, each func(add func(row int, value T))) Rows[T] {
	offsets := make([]int, n+1)
	each(func(row int, _ T) { offsets[row+1]++ })
	next := Cumulate(offsets)
	values := make([]T, offsets[n])
	each(func(row int, value T) {
		values[next[row]] = value
		next[row]++
	})
	return Rows[T]{offsets, values}
}

// Cumulate turns counts into offsets, in place: counts[i+1] holds the length of row i before
// and its end afterwards. It returns a copy of the rows' starts, to fill the rows from.
func Cumulate(counts []int) (next []int) {
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	return append([]int(nil), counts[:max(0, len(counts)-1)]...)
}

// Spaced returns the number of the k-th of n items that are evenly spaced among all. It panics
// if n is 0.
func Spaced(k, n, all int) int {
	return int(int64(k) * int64(all) / int64(n)) // the product may leave a 32-bit int
}

// Permutation holds every number from 0 to its length minus 1 once. Samples are renumbered
// with it in one of two directions:
//
//	gather:  sample i of the result is sample p[i] of the input
//	scatter: sample p[i] of the result is sample i of the input
//
// Each undoes the other.
type Permutation []int

// Validate reports the first entry of p that is out of range or listed twice.
func (p Permutation) Validate() error {
	seen := make([]bool, len(p))
	for _, i := range p {
		if i < 0 || i >= len(p) || seen[i] {
			return fmt.Errorf("%d is out of range or listed twice; list every number from 0 to %d once", i, len(p)-1)
		}
		seen[i] = true
	}
	return nil
}

// Check reports why p does not number so many samples: Validate, and its length.
func (p Permutation) Check(samples int) error {
	if len(p) != samples {
		return fmt.Errorf("there are %d numbers for %d samples; list every number from 0 to %d once", len(p), samples, samples-1)
	}
	return p.Validate()
}

// Inverse returns q with q[p[i]] = i. It panics if p is not valid.
func (p Permutation) Inverse() Permutation {
	q := make(Permutation, len(p))
	for i, j := range p {
		q[j] = i
	}
	return q
}

// Gather returns the values with values[p[i]] in place i. It panics if p leads beyond values.
func Gather[T any](p Permutation, values []T) []T {
	out := make([]T, len(p))
	for i, j := range p {
		out[i] = values[j]
	}
	return out
}

// Scatter returns the values with values[i] in place p[i]. It panics if p is not valid, or if
// there are fewer values.
func Scatter[T any](p Permutation, values []T) []T {
	out := make([]T, len(p))
	for i, j := range p {
		out[j] = values[i]
	}
	return out
}
