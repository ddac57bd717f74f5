package table

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// class is what a cell looks like.
type class int

const (
	missing class = iota
	whole
	decimal
	infinite
	text
	classes // the number of classes
)

// classify returns the class of a cell. It is stricter than strconv, which
// knows numbers in base 16 too.
func classify(cell string) class {
	s := strings.TrimSpace(cell)
	if s == "" {
		return missing
	}
	rest := s
	if s[0] == '+' || s[0] == '-' {
		rest = s[1:]
	}
	rest, digits := skipDigits(rest)
	c := whole
	if rest != "" && rest[0] == '.' {
		var more int
		rest, more = skipDigits(rest[1:])
		digits += more
		c = decimal
	}
	if digits > 0 && rest != "" && rest[0]|0x20 == 'e' {
		rest = rest[1:]
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		rest, digits = skipDigits(rest)
		c = decimal
	}
	if digits > 0 && rest == "" {
		return c
	}
	if len(s) > len("-infinity") {
		return text
	}
	switch strings.ToLower(s) {
	case "nan", "na", "null":
		return missing
	case "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity":
		return infinite
	}
	return text
}

// skipDigits returns s without the digits at its start, and their number.
func skipDigits(s string) (string, int) {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return s[n:], n
}

// parseFloat returns the number that cell holds, NaN if it is missing.
func parseFloat(cell string) (float32, error) {
	switch classify(cell) {
	case missing:
		return float32(math.NaN()), nil
	case text:
		return 0, errors.New("is not a number; correct it, or write NaN where a value is missing")
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(cell), 32)
	if err != nil {
		return 0, errors.New("is beyond the largest float32; divide the column by a constant")
	}
	return float32(v), nil
}

// parseInt returns the whole number that cell holds. One with a point or an
// exponent must be of at most 53 bits.
func parseInt(cell string) (int64, error) {
	s := strings.TrimSpace(cell)
	switch classify(s) {
	case whole:
		if v, err := strconv.ParseInt(s, 10, 64); err == nil {
			return v, nil
		}
	case decimal:
		if v, err := strconv.ParseFloat(s, 64); err == nil && v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return int64(v), nil
		}
	}
	return 0, errors.New("is not a whole number of at most 63 bits; correct it or choose another column")
}
