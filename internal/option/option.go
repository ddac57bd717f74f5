// Package option checks settings and fills in their defaults.
package option

import "fmt"

// Error says which option cannot be used and why.
type Error struct {
	// Option is the name of the option, as the command line spells it.
	Option string
	// Problem says what is wrong and what to do about it.
	Problem string
}

// Error returns one sentence.
func (e *Error) Error() string { return e.Option + ": " + e.Problem }

// Errorf returns an *Error about the option of the given name.
func Errorf(name, format string, args ...any) error {
	return &Error{name, fmt.Sprintf(format, args...)}
}

// Default sets *x to value where it is zero and reports an *Error where it then
// lies outside [low, high].
func Default[T int | float64](name string, x *T, value, low, high T) error {
	if *x == 0 {
		*x = value
	}
	if !(*x >= low && *x <= high) {
		return Errorf(name, "%v is not between %v and %v", *x, low, high)
	}
	return nil
}

// First returns the first error that is not nil.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
