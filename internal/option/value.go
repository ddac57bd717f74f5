package option

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/enum"
)

// Value reads and writes the field of a setting.
type Value interface {
	// Default returns what the field's zero value stands for, as Set reads it.
	Default() string
	// Allowed says in words what Set reads.
	Allowed() string
	// Set sets the field to what text says, and reports whether it is allowed. If it is
	// not, the field stays as it is.
	Set(text string) bool
	// Get returns the value of a resolved field: an int, a float64 or a string.
	Get() any
	// Pointer returns the address of the field.
	Pointer() any

	// resolve fills in the default and checks the range.
	resolve() error
}

// Above as the lower end of a range leaves out 0.
const Above = math.SmallestNonzeroFloat64

// Whole is a whole number from low to high. 0 in the field stands for standard; where low
// is 0, -1 stands for 0.
func Whole(field *int, standard, low, high int) Value {
	return &number[int]{field, standard, low, high, false}
}

// WholeOrAuto is as Whole, but the default is called auto: it depends on other things. A
// standard of 0 leaves a field of 0 as it is.
func WholeOrAuto(field *int, standard, low, high int) Value {
	return &number[int]{field, standard, low, high, true}
}

// Number is as Whole for any number.
func Number(field *float64, standard, low, high float64) Value {
	return &number[float64]{field, standard, low, high, false}
}

// NumberOrAuto is as WholeOrAuto for any number.
func NumberOrAuto(field *float64, standard, low, high float64) Value {
	return &number[float64]{field, standard, low, high, true}
}

type number[T int | float64] struct {
	field               *T
	standard, low, high T
	auto                bool
}

func (n *number[T]) Default() string {
	if n.auto {
		return "auto"
	}
	return brief(n.standard)
}

func (n *number[T]) Allowed() string {
	kind, from := "a number", "from "+brief(n.low)
	if whole[T]() {
		kind = "a whole number"
	}
	if n.open() {
		from = "above 0 and up"
	}
	auto := ""
	if n.auto {
		auto = ", or auto"
	}
	return fmt.Sprintf("%s %s to %s%s", kind, from, brief(n.high), auto)
}

func (n *number[T]) Set(text string) bool {
	if n.auto && text == "auto" {
		*n.field = 0
		return true
	}
	x, err := n.parse(text)
	if err != nil || !(x >= n.low && x <= n.high) {
		return false
	}
	if x == 0 {
		x = -1
	}
	*n.field = x
	return true
}

func (n *number[T]) parse(text string) (T, error) {
	if whole[T]() {
		x, err := strconv.Atoi(text)
		return T(x), err
	}
	x, err := strconv.ParseFloat(text, 64)
	return T(x), err
}

func (n *number[T]) Get() any     { return max(0, *n.field) }
func (n *number[T]) Pointer() any { return n.field }

func (n *number[T]) resolve() error {
	if *n.field == 0 {
		*n.field = n.standard
		if n.standard == 0 {
			return nil
		}
	}
	x, low := *n.field, n.low
	if low == 0 {
		low = -1
	}
	if x >= low && x <= n.high {
		return nil
	}
	if n.open() {
		return fmt.Errorf("%v is not above 0 and at most %v", x, n.high)
	}
	return fmt.Errorf("%v is not between %v and %v", x, low, n.high)
}

// open reports whether the range begins above 0.
func (n *number[T]) open() bool { return float64(n.low) == Above }

// whole reports whether numbers of type T are whole.
func whole[T int | float64]() bool {
	var x T
	_, ok := any(x).(int)
	return ok
}

// brief writes a number in as few characters as there can be.
func brief[T int | float64](x T) string {
	if whole[T]() {
		return fmt.Sprint(x)
	}
	return strings.NewReplacer("e+0", "e", "e-0", "e-").Replace(strconv.FormatFloat(float64(x), 'g', -1, 64))
}

// On is a switch that sets the field. It is off by default.
func On(field *bool) Value { return &toggle{field, true} }

// Off is a switch that clears the field. It is on by default.
func Off(field *bool) Value { return &toggle{field, false} }

type toggle struct {
	field *bool
	on    bool // the field where the switch is on
}

func (t *toggle) name(field bool) string {
	if field == t.on {
		return "on"
	}
	return "off"
}

func (t *toggle) Default() string { return t.name(false) }
func (t *toggle) Allowed() string { return "on or off" }

func (t *toggle) Set(text string) bool {
	if text != "on" && text != "off" {
		return false
	}
	*t.field = (text == "on") == t.on
	return true
}

func (t *toggle) Get() any       { return t.name(*t.field) }
func (t *toggle) Pointer() any   { return t.field }
func (t *toggle) resolve() error { return nil }

// OneOf is one of the constants of a type. The first is the default.
func OneOf[T enum.Constant](field *T) Value { return choice[T]{field} }

type choice[T enum.Constant] struct{ field *T }

func (c choice[T]) Default() string { return enum.Names[T]()[0] }
func (c choice[T]) Allowed() string { return enum.Choices[T]() }

func (c choice[T]) Set(text string) bool {
	i := slices.Index(enum.Names[T](), text)
	if i >= 0 {
		*c.field = T(i)
	}
	return i >= 0
}

func (c choice[T]) Get() any {
	name, _ := (*c.field).MarshalText() // a resolved field has one
	return string(name)
}

func (c choice[T]) Pointer() any { return c.field }

func (c choice[T]) resolve() error {
	_, err := (*c.field).MarshalText()
	return err
}
