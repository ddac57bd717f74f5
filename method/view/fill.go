package view

import (
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/enum"
)

// Fill is a way to fill in single values that are missing, which are NaN. A row that is NaN
// throughout stays that of a sample that lacks the view. Its zero value is NoFill.
type Fill int

const (
	// NoFill fills in nothing: a row that is NaN in part is an error.
	NoFill Fill = iota
	// Mean takes the mean of the values that the feature has.
	Mean
	// Median takes their median, the mean of the middle two where their number is even.
	Median
	// Zero takes 0.
	Zero
)

var fills = enum.Type[Fill]{Noun: "fill", Names: []string{"none", "mean", "median", "zero"}}

// ParseFill returns the fill named "none", "mean", "median" or "zero".
func ParseFill(name string) (Fill, error) { return fills.Parse(name) }

// String returns the fill's name, as ParseFill reads it.
func (f Fill) String() string { return fills.String(f) }

// MarshalText writes the fill's name, and fails where it has none.
func (f Fill) MarshalText() ([]byte, error) { return fills.Marshal(f) }

// UnmarshalText reads a fill's name. It leaves *f alone where it fails.
func (f *Fill) UnmarshalText(text []byte) error { return fills.Unmarshal(f, text) }

// Filling is what stands in the place of missing values.
type Filling struct {
	// How says what Values are.
	How Fill `json:"how"`
	// Values holds the value of every feature that is filled in where it is missing.
	Values []float32 `json:"values"`
	// Cells is the number of values of the view that were filled in.
	Cells int `json:"cells"`
}

// Validate reports why f cannot fill views of the given dimensions.
func (f *Filling) Validate(dims int) error {
	switch {
	case f == nil:
		return fmt.Errorf("there is nothing to fill in; pass what a filled view has")
	case f.How <= NoFill || f.How > Zero:
		return fmt.Errorf("the fill is %d, which is none; choose mean, median or zero", f.How)
	case len(f.Values) != dims:
		return fmt.Errorf("there are %d values to fill in where the view has %d dimensions", len(f.Values), dims)
	case f.Cells < 0:
		return fmt.Errorf("%d values were filled in", f.Cells)
	}
	for k, x := range f.Values {
		if x-x != 0 {
			return fmt.Errorf("the value to fill in is %v in column %d", x, k)
		}
	}
	return nil
}

// NewFilled is New, but values that are NaN in a row of others are filled in, in data itself, and
// Filling says by what. Under Mean and Median, a feature that no sample has is an *InputError.
// An unknown fill is an error; NoFill is that of New.
func NewFilled(name string, samples, dims int, data []float32, how Fill) (*View, error) {
	if _, err := how.MarshalText(); err != nil {
		return nil, err
	}
	if how == NoFill {
		return New(name, samples, dims, data)
	}
	v, err := WithGaps(name, samples, dims, data)
	if err != nil {
		return nil, err
	}
	f := &Filling{How: how, Values: make([]float32, dims)}
	if how != Zero {
		if err := f.learn(v); err != nil {
			return nil, err
		}
	}
	return v, f.Apply(v)
}

// WithGaps is New, but rows that are NaN in part stay as they are, until Filling.Apply fills them
// in. Check finds nothing wrong with them, and Validate does.
func WithGaps(name string, samples, dims int, data []float32) (*View, error) {
	v := &View{Name: name, Samples: samples, Dims: dims, Data: data}
	if err := v.checkSides(); err != nil {
		return nil, err
	}
	return v, v.markMissing(false)
}

// learn finds the values of the features.
func (f *Filling) learn(v *View) error {
	var column []float64
	for k := range v.Dims {
		column = column[:0]
		for i := range v.Samples {
			if x := v.Data[i*v.Dims+k]; x == x && v.Has(i) {
				column = append(column, float64(x))
			}
		}
		if len(column) == 0 {
			return &InputError{v.Name, -1, fmt.Sprintf("column %d has no value in any row, and so no %v; leave the column out, or fill in zero", k, f.How)}
		}
		f.Values[k] = float32(f.middle(column))
	}
	return nil
}

// middle returns the mean or the median, and changes the order of the values.
func (f *Filling) middle(values []float64) float64 {
	if f.How == Median {
		slices.Sort(values)
		n := len(values)
		return (values[(n-1)/2] + values[n/2]) / 2
	}
	sum := 0.0
	for _, x := range values {
		sum += x / float64(len(values))
	}
	return sum
}

// Apply fills in the values that are missing from rows of others, in v.Data itself, and has v say
// so. The errors are those of View.Check, Filling.Validate and View.Validate.
func (f *Filling) Apply(v *View) error {
	if err := v.Check(); err != nil {
		return err
	}
	if err := f.Validate(v.Dims); err != nil {
		return err
	}
	own := &Filling{f.How, f.Values, 0}
	for i := range v.Samples {
		if !v.Has(i) {
			continue
		}
		for k, x := range v.Row(i) {
			if math.IsNaN(float64(x)) {
				v.Data[i*v.Dims+k] = f.Values[k]
				own.Cells++
			}
		}
	}
	v.Filling = own
	return v.Validate()
}

// CheckGaps reports, as an *InputError, the first row that is NaN in part, as New does.
func (v *View) CheckGaps() error {
	if err := v.Check(); err != nil {
		return err
	}
	return (&View{Name: v.Name, Samples: v.Samples, Dims: v.Dims, Data: v.Data}).markMissing(true)
}
