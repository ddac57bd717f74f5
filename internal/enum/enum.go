// Package enum gives the constants of a type their names. A type has one list of them,
//
//	var metrics = enum.Type[Metric]{Noun: "metric", Names: []string{"cosine", "l1", "l2", "l3"}}
//
// and one-line methods String, MarshalText and UnmarshalText, and a function that parses.
package enum

import (
	"encoding"
	"fmt"
	"slices"
	"strings"
)

// Type lists the names of the constants of T, which count from 0.
type Type[T ~int] struct {
	// Noun says what a constant is, such as "metric".
	Noun string
	// Names holds the name of every constant.
	Names []string
}

// Parse returns the constant of the given name.
func (t Type[T]) Parse(name string) (T, error) {
	if i := slices.Index(t.Names, name); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("unknown %s %q; choose %s", t.Noun, name, either(t.Names))
}

// Check returns an error where x is none of the constants.
func (t Type[T]) Check(x T) error {
	if x < 0 || int(x) >= len(t.Names) {
		return fmt.Errorf("unknown %s %d; choose %s", t.Noun, int(x), either(t.Names))
	}
	return nil
}

// String returns the name of x, or such as "metric(7)" where it has none.
func (t Type[T]) String(x T) string {
	if t.Check(x) != nil {
		return fmt.Sprintf("%s(%d)", t.Noun, int(x))
	}
	return t.Names[x]
}

// Marshal returns the name of x. It fails where x has none.
func (t Type[T]) Marshal(x T) ([]byte, error) {
	if err := t.Check(x); err != nil {
		return nil, err
	}
	return []byte(t.Names[x]), nil
}

// Unmarshal sets *x to the constant of the given name. It leaves *x alone where it fails.
func (t Type[T]) Unmarshal(x *T, name []byte) error {
	parsed, err := t.Parse(string(name))
	if err == nil {
		*x = parsed
	}
	return err
}

// Constant is a type whose constants have names, as Type gives them.
type Constant interface {
	~int
	encoding.TextMarshaler
}

// Names returns the names of the constants of T, in order.
func Names[T Constant]() []string {
	var names []string
	for x := T(0); ; x++ {
		name, err := x.MarshalText()
		if err != nil {
			return names
		}
		names = append(names, string(name))
	}
}

// Choices returns the names of the constants of T in words: "a, b or c".
func Choices[T Constant]() string { return either(Names[T]()) }

// either joins names to "a, b or c".
func either(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
