package array

import (
	"fmt"
	"math"
	"strconv"
)

// Number is a type of numbers as files and machines store them.
type Number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// ValueError says what is wrong with one value.
type ValueError struct {
	At      int // its place among the values
	Problem string
}

func (e *ValueError) Error() string { return e.Problem }

// Convert converts src into dst, which must be as long, by the rules of File for the
// type of dst. Its error is a *ValueError.
func Convert[U float32 | int32 | int64 | string, T Number](dst []U, src []T) error {
	switch out := any(dst).(type) {
	case []float32:
		if same, ok := any(src).([]float32); ok {
			copy(out, same)
			return nil
		}
		for i, v := range src {
			x := float32(v)
			// The difference of an infinite value to itself is not 0.
			if x-x != 0 && v-v == 0 {
				return &ValueError{i, fmt.Sprintf("is %v, which is beyond the largest float32; divide the array by a constant", v)}
			}
			out[i] = x
		}
	case []int32:
		for i, v := range src {
			x, ok := whole(v)
			if !ok || int64(int32(x)) != x {
				return &ValueError{i, fmt.Sprintf("is %v, not a whole number of at most 31 bits", v)}
			}
			out[i] = int32(x)
		}
	case []int64:
		for i, v := range src {
			x, ok := whole(v)
			if !ok {
				return &ValueError{i, fmt.Sprintf("is %v, not a whole number of at most 63 bits; round it or choose another array", v)}
			}
			out[i] = x
		}
	case []string:
		for i, v := range src {
			out[i] = format(v)
		}
	}
	return nil
}

// whole returns v as an int64, and whether that is its value.
func whole[T Number](v T) (int64, bool) {
	x := int64(v)
	// A value that an int64 cannot hold becomes one of its ends, or changes its sign.
	// A floating-point number, which has halves, never equals the upper end.
	if T(1)/2 != 0 && x == math.MaxInt64 {
		return 0, false
	}
	return x, T(x) == v && (x < 0) == (v < 0)
}

// format returns v in decimal notation if it is whole, else in the shortest
// form that gives v again.
func format[T Number](v T) string {
	if x, ok := whole(v); ok {
		return strconv.FormatInt(x, 10)
	}
	switch v := any(v).(type) {
	case uint64:
		return strconv.FormatUint(v, 10)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	default:
		return strconv.FormatFloat(v.(float64), 'g', -1, 64)
	}
}

// Half returns the value of an IEEE 754 binary16 number: a sign, 5 bits of
// exponent, 10 bits of fraction.
func Half(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0: // no leading one: frac x 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 31: // infinite, or not a number
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}
