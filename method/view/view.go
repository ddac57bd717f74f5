// Package view holds the input of the method: the same samples described in
// several ways.
//
// A view is a matrix with one row per sample, stored row after row:
//
//	            dimension
//	            0    1    2         Data = [ 0.1 0.7 0.2   NaN NaN NaN   0.9 0.0 0.3 ]
//	sample 0  [ 0.1  0.7  0.2 ]
//	sample 1  [  missing      ]     Data[i*Dims+k] is dimension k of sample i
//	sample 2  [ 0.9  0.0  0.3 ]     Present[1] is false
//
// Sample i is the same thing in every view. A sample may lack some views, but not all of
// them. Readers mark a missing row by NaN; New turns such marks into Present, and from then
// on only Has says who has the view.
//
// It follows the method and may change in any minor version.
package view

import (
	"fmt"
	"math"
)

// View is one description of the samples.
type View struct {
	// Name is used in messages.
	Name string
	// Samples is the number of rows, those of missing samples included.
	Samples int
	// Dims is the number of values that describe a sample.
	Dims int
	// Data holds the rows one after the other; row i is Data[i*Dims:(i+1)*Dims].
	Data []float32
	// Present says which samples have the view; nil means that all have it.
	// The row of an absent sample is never read.
	Present []bool
	// Links is the number of links that the rows were made of by FromLinks, 0 where they are
	// features.
	Links int
	// Filling says what was filled in where values were missing; nil for nothing.
	Filling *Filling
}

// InputError says what is wrong with a view and how to mend it.
type InputError struct {
	// View is the name of the view, or empty where the problem is not that of one view.
	View string
	// Row is the sample at fault, counted from 0, or -1.
	Row int
	// Problem says what is wrong and what to do about it.
	Problem string
}

// Error returns one sentence that names the view, the row and the remedy.
func (e *InputError) Error() string {
	s := e.Problem
	if e.Row >= 0 {
		s = fmt.Sprintf("row %d (counted from 0) %s", e.Row, s)
	}
	if e.View != "" {
		s = e.View + ": " + s
	}
	return s
}

// New returns a view of samples x dims values. It keeps data and does not copy
// it. A row that is NaN throughout marks a sample that lacks the view; a row
// that is NaN in part, or holds an infinite value, is an *InputError.
func New(name string, samples, dims int, data []float32) (*View, error) {
	v := &View{Name: name, Samples: samples, Dims: dims, Data: data}
	if err := v.checkSides(); err != nil {
		return nil, err
	}
	if err := v.markMissing(true); err != nil {
		return nil, err
	}
	if err := v.Validate(); err != nil {
		return nil, err
	}
	return v, nil
}

// FromRows returns a view whose rows are copied from rows. A nil row marks a
// sample that lacks the view, as does a row that is NaN throughout. Rows of
// unequal length, and what New objects to, are an *InputError.
func FromRows[T float32 | float64](name string, rows [][]T) (*View, error) {
	dims := 0
	for _, r := range rows {
		if r != nil {
			dims = len(r)
			break
		}
	}
	data := make([]float32, 0, len(rows)*dims)
	for i, r := range rows {
		switch {
		case r == nil:
			for range dims {
				data = append(data, float32(math.NaN()))
			}
		case len(r) != dims:
			return nil, &InputError{name, i, fmt.Sprintf("has %d values where the rows before it have %d; give every row the same length, or nil where the sample lacks the view", len(r), dims)}
		default:
			for _, x := range r {
				data = append(data, float32(x))
			}
		}
	}
	return New(name, len(rows), dims, data)
}

// markMissing sets Present from the rows that are NaN throughout. Unless whole is asked for, rows
// may be NaN in part.
func (v *View) markMissing(whole bool) error {
	for i := range v.Samples {
		nan := 0
		for _, x := range v.Row(i) {
			if x != x {
				nan++
			}
		}
		switch {
		case nan == 0, nan < v.Dims && !whole:
		case nan < v.Dims:
			return &InputError{v.Name, i, fmt.Sprintf("has %d NaN among its %d values; fill them in, or make the whole row NaN to say that the sample lacks this view", nan, v.Dims)}
		default:
			if v.Present == nil {
				v.Present = make([]bool, v.Samples)
				for j := range v.Present {
					v.Present[j] = true
				}
			}
			v.Present[i] = false
		}
	}
	return nil
}

// checkSides reports sides that do not fit the data. It divides, since the
// product of two sides can overflow.
func (v *View) checkSides() error {
	if v.Dims < 1 || len(v.Data)%v.Dims != 0 || len(v.Data)/v.Dims != v.Samples {
		return &InputError{v.Name, -1, fmt.Sprintf("%d values do not make %d rows of %d; pass samples x dims values, and at least one dimension", len(v.Data), v.Samples, v.Dims)}
	}
	return nil
}

// Part returns the view of samples lo to hi-1, which shares the memory of v, without Links and Filling. It
// panics if they are out of range.
func (v *View) Part(lo, hi int) *View {
	part := &View{Name: v.Name, Samples: hi - lo, Dims: v.Dims, Data: v.Data[lo*v.Dims : hi*v.Dims]}
	if v.Present != nil {
		part.Present = v.Present[lo:hi]
	}
	return part
}

// Check reports, as an *InputError, why no row of the view can be read: it is nil, or its sides
// do not fit the data. It is the cheap part of Validate, and looks at no value.
func (v *View) Check() error {
	if v == nil {
		return &InputError{Row: -1, Problem: "the view is nil; leave it out"}
	}
	if err := v.checkSides(); err != nil {
		return err
	}
	if v.Present != nil && len(v.Present) != v.Samples {
		return &InputError{v.Name, -1, fmt.Sprintf("%d presence marks for %d samples; give one per sample, or none", len(v.Present), v.Samples)}
	}
	return nil
}

// Samples returns how many samples the views are of, 0 without views. The errors, *InputErrors, are those
// of Check, and one for a view of other samples than the first.
func Samples(views []*View) (int, error) {
	for _, v := range views {
		if err := v.Check(); err != nil {
			return 0, err
		}
		if v.Samples != views[0].Samples {
			return 0, &InputError{v.Name, -1, fmt.Sprintf("has %d samples where the first view has %d; give every view one row per sample", v.Samples, views[0].Samples)}
		}
	}
	if len(views) == 0 {
		return 0, nil
	}
	return views[0].Samples, nil
}

// Validate reports, as an *InputError, the first thing that makes the view
// unusable: sides that do not fit the data, or a value of a present row that is
// not finite.
func (v *View) Validate() error {
	if err := v.Check(); err != nil {
		return err
	}
	for i := range v.Samples {
		if !v.Has(i) {
			continue
		}
		for k, x := range v.Row(i) {
			if x-x != 0 {
				return &InputError{v.Name, i, fmt.Sprintf("holds %v in column %d; replace it by a finite number of at most 3.4e38", x, k)}
			}
		}
	}
	return nil
}

// Row returns the values of sample i, which have no meaning where Has(i) is false. It panics if
// i is out of range.
func (v *View) Row(i int) []float32 { return v.Data[i*v.Dims : (i+1)*v.Dims : (i+1)*v.Dims] }

// Has reports whether sample i has the view. It panics if i is out of range and Present is not
// nil.
func (v *View) Has(i int) bool { return v.Present == nil || v.Present[i] }

// Count returns the number of samples that have the view.
func (v *View) Count() int {
	if v.Present == nil {
		return max(0, v.Samples)
	}
	n := 0
	for _, has := range v.Present {
		if has {
			n++
		}
	}
	return n
}
