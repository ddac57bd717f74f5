package option_test

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/option"
)

func TestError(t *testing.T) {
	err := option.Errorf("Seed", "%d is %s", 3, "odd")
	if o, ok := errors.AsType[*option.Error](err); !ok || *o != (option.Error{Field: "Seed", Problem: "3 is odd"}) || err.Error() != "Seed: 3 is odd" {
		t.Errorf("%#v", err)
	}
	within := option.Within("Search", err)
	if o, ok := errors.AsType[*option.Error](within); !ok || o.Field != "Search.Seed" || within.Error() != "Search.Seed: 3 is odd" || err.Error() != "Seed: 3 is odd" {
		t.Errorf("%v, of %v", within, err)
	}
	if option.Within("Search", nil) != nil || !errors.Is(option.Within("Search", io.EOF), io.EOF) {
		t.Error("an error of another type is changed")
	}
}

// resolved returns the error for the setting x, or nothing.
func resolved(v option.Value) string {
	if err := option.Resolve([]option.Parameter{{Field: "X", Value: v}}); err != nil {
		return err.Error()
	}
	return ""
}

func TestResolveNumber(t *testing.T) {
	for _, c := range []struct {
		x, want float64
		err     string
	}{
		{0, 0.5, ""},
		{math.Copysign(0, -1), 0.5, ""},
		{0.1, 0.1, ""},
		{1, 1, ""},
		{0.7, 0.7, ""},
		{0.099, 0.099, "X: 0.099 is not between 0.1 and 1"},
		{1.5, 1.5, "X: 1.5 is not between 0.1 and 1"},
		{-1, -1, "X: -1 is not between 0.1 and 1"},
		{math.Inf(1), math.Inf(1), "X: +Inf is not between 0.1 and 1"},
		{math.NaN(), math.NaN(), "X: NaN is not between 0.1 and 1"},
	} {
		got := c.x
		err := resolved(option.Number(&got, 0.5, 0.1, 1))
		if got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%v became %v, want %v", c.x, got, c.want)
		}
		if err != c.err {
			t.Errorf("%v: %s, want %s", c.x, err, c.err)
		}
	}
}

// TestResolve holds what each kind of value makes of a field.
func TestResolve(t *testing.T) {
	whole := func(low, high int) func(x *int) option.Value {
		return func(x *int) option.Value { return option.Whole(x, 3, low, high) }
	}
	auto := func(standard int) func(x *int) option.Value {
		return func(x *int) option.Value { return option.WholeOrAuto(x, standard, 1, 9) }
	}
	for _, c := range []struct {
		value   func(x *int) option.Value
		x, want int
		err     string
	}{
		{whole(1, 9), 0, 3, ""},
		{whole(1, 9), 9, 9, ""},
		{whole(1, 9), 10, 10, "X: 10 is not between 1 and 9"},
		{whole(1, 2), 0, 3, "X: 3 is not between 1 and 2"}, // a default is checked too
		{whole(0, 9), 0, 3, ""},
		{whole(0, 9), -1, -1, ""},
		{whole(0, 9), -2, -2, "X: -2 is not between -1 and 9"},
		{auto(0), 0, 0, ""},
		{auto(0), -1, -1, "X: -1 is not between 1 and 9"},
		{auto(2), 0, 2, ""},
	} {
		x := c.x
		if err := resolved(c.value(&x)); x != c.want || err != c.err {
			t.Errorf("%d became %d, %q, want %d, %q", c.x, x, err, c.want, c.err)
		}
	}
	x, p := -0.5, 0.0
	if err := resolved(option.Number(&x, 0.3, option.Above, 1)); err != "X: -0.5 is not above 0 and at most 1" {
		t.Error(err)
	}
	if err := resolved(option.NumberOrAuto(&p, 0, option.Above, 1)); err != "" || p != 0 {
		t.Errorf("%v, %s", p, err)
	}
	s := state(2)
	if err := resolved(option.OneOf(&s)); err != "X: unknown state 2; choose hot or cold" {
		t.Error(err)
	}
	first, second := 100, 100
	if err := option.Resolve([]option.Parameter{{Field: "A", Value: option.Whole(&first, 1, 1, 9)}, {Field: "B", Value: option.Whole(&second, 1, 1, 9)}}); err == nil || err.Error() != "A: 100 is not between 1 and 9" {
		t.Error(err)
	}
}

type state int

func (s state) MarshalText() ([]byte, error) {
	return enum.Type[state]{Noun: "state", Names: []string{"hot", "cold"}}.Marshal(s)
}

// TestValues holds, for each kind of value, what it reads and how it describes itself.
func TestValues(t *testing.T) {
	var n int
	var x float64
	var b bool
	var s state
	for _, c := range []struct {
		value             option.Value
		field             any
		standard, allowed string
		good              map[string]any // text -> what comes out
		bad               []string
	}{
		{option.Whole(&n, 5, 0, 20), &n, "5", "a whole number from 0 to 20", map[string]any{"0": 0, "20": 20, "7": 7}, []string{"-1", "21", "1.5", "", "auto"}},
		{option.WholeOrAuto(&n, 5, 1, 20), &n, "auto", "a whole number from 1 to 20, or auto", map[string]any{"auto": 0, "20": 20}, []string{"-1", "0", "Auto"}},
		{option.Number(&x, 5e-5, 1e-12, 0.5), &x, "5e-5", "a number from 1e-12 to 0.5", map[string]any{"0.5": 0.5, "1e-12": 1e-12}, []string{"0", "nan", "inf", "5%"}},
		{option.NumberOrAuto(&x, 0, option.Above, 1e9), &x, "auto", "a number above 0 and up to 1e9, or auto", map[string]any{"auto": 0.0, "1e-300": 1e-300}, []string{"0", "-1", "x"}},
		{option.On(&b), &b, "off", "on or off", map[string]any{"on": "on", "off": "off"}, []string{"true", "ON", ""}},
		{option.Off(&b), &b, "on", "on or off", map[string]any{"on": "on", "off": "off"}, []string{"true"}},
		{option.OneOf(&s), &s, "hot", "hot or cold", map[string]any{"cold": "cold", "hot": "hot"}, []string{"Hot", "", "warm"}},
	} {
		if c.value.Pointer() != c.field || c.value.Default() != c.standard || c.value.Allowed() != c.allowed {
			t.Errorf("%s, %s, want %s, %s", c.value.Default(), c.value.Allowed(), c.standard, c.allowed)
		}
		for text, want := range c.good {
			if !c.value.Set(text) || c.value.Get() != want {
				t.Errorf("%s became %v, want %v", text, c.value.Get(), want)
			}
		}
		for _, text := range c.bad {
			if before := c.value.Get(); c.value.Set(text) || c.value.Get() != before {
				t.Errorf("%q became %v", text, c.value.Get())
			}
		}
	}
	if option.Off(&b).Set("on"); b {
		t.Error("on sets the field")
	}
}

func TestJoin(t *testing.T) {
	var n int
	own := []option.Parameter{{Field: "N", Name: "n", Value: option.Whole(&n, 1, 1, 2)}}
	joined := option.Join("Part", own)
	if len(joined) != 1 || joined[0].Field != "Part.N" || joined[0].Name != "n" || joined[0].Value != own[0].Value || own[0].Field != "N" {
		t.Errorf("%v, of %v", joined, own)
	}
}
