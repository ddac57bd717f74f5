// Package option describes settings: their names, defaults and ranges, and what they
// mean. It checks them and fills in what is left at zero.
package option

import (
	"errors"
	"fmt"
)

// Error says which option cannot be used and why.
type Error struct {
	// Field is the path of the Go field, such as "Neighbours" or "Partition.Clip".
	Field string
	// Problem says what is wrong and what to do about it.
	Problem string
}

// Error returns one sentence.
func (e *Error) Error() string { return e.Field + ": " + e.Problem }

// Errorf returns an *Error about the given field.
func Errorf(field, format string, args ...any) error {
	return &Error{field, fmt.Sprintf(format, args...)}
}

// Within returns err with the path of its field begun by parent, the field that holds it.
// An error that is not an *Error stays as it is.
func Within(parent string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{parent + "." + e.Field, e.Problem}
	}
	return err
}
