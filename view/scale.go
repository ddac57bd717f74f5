package view

import "fmt"

// Scale is a way to make the features of a view, its columns, alike in size. Its
// zero value is NoScale.
type Scale int

const (
	// NoScale leaves the values as they are.
	NoScale Scale = iota
	// MinMax maps every feature to [0, 1], from its least to its largest value
	// over the samples that have the view. A constant feature becomes 0.
	MinMax
)

var scaleNames = [...]string{"none", "minmax"}

// ParseScale returns the scale named "none" or "minmax".
func ParseScale(name string) (Scale, error) {
	for s, n := range scaleNames {
		if n == name {
			return Scale(s), nil
		}
	}
	return 0, fmt.Errorf("unknown scale %q; choose none or minmax", name)
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

// Scaled returns v, which must be valid, with its features scaled: v itself under
// NoScale, else a copy of the values. The rows of samples that lack the view are 0
// in the copy.
func (v *View) Scaled(s Scale) *View {
	if s != MinMax {
		return v
	}
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
	scaled := *v
	scaled.Data = make([]float32, len(v.Data))
	for i := range v.Samples {
		if !v.Has(i) {
			continue
		}
		to := scaled.Row(i)
		for k, x := range v.Row(i) {
			// In 64 bits, in which no difference of two such values overflows, or
			// vanishes but where they are equal.
			if span := float64(high[k]) - float64(low[k]); span > 0 {
				to[k] = float32((float64(x) - float64(low[k])) / span)
			}
		}
	}
	return &scaled
}
