package option_test

import (
	"errors"
	"math"
	"testing"

	"github.com/mvclust/mvclust/internal/option"
)

func TestDefault(t *testing.T) {
	for _, c := range []struct {
		x, want float64
		err     string
	}{
		{0, 0.5, ""},
		{math.Copysign(0, -1), 0.5, ""},
		{0.1, 0.1, ""},
		{1, 1, ""},
		{0.7, 0.7, ""},
		{0.099, 0.099, "rate: 0.099 is not between 0.1 and 1"},
		{1.5, 1.5, "rate: 1.5 is not between 0.1 and 1"},
		{-1, -1, "rate: -1 is not between 0.1 and 1"},
		{math.Inf(1), math.Inf(1), "rate: +Inf is not between 0.1 and 1"},
		{math.NaN(), math.NaN(), "rate: NaN is not between 0.1 and 1"},
	} {
		got := c.x
		err := option.Default("rate", &got, 0.5, 0.1, 1)
		if got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%v became %v, want %v", c.x, got, c.want)
		}
		if c.err == "" {
			if err != nil {
				t.Errorf("%v: %v", c.x, err)
			}
			continue
		}
		o, ok := errors.AsType[*option.Error](err)
		if !ok || o.Option != "rate" || o.Error() != c.err {
			t.Errorf("%v: error %v, want %s", c.x, err, c.err)
		}
	}
}

// TestDefaultInt holds that a default is checked too.
func TestDefaultInt(t *testing.T) {
	x := 0
	if err := option.Default("steps", &x, 3, 1, 9); err != nil || x != 3 {
		t.Errorf("%d, %v", x, err)
	}
	x = 0
	if err := option.Default("steps", &x, 30, 1, 9); err == nil || err.Error() != "steps: 30 is not between 1 and 9" {
		t.Errorf("%d, %v", x, err)
	}
}

func TestErrorf(t *testing.T) {
	err := option.Errorf("seed", "%d is %s", 3, "odd")
	if o, ok := errors.AsType[*option.Error](err); !ok || *o != (option.Error{Option: "seed", Problem: "3 is odd"}) || err.Error() != "seed: 3 is odd" {
		t.Errorf("%#v", err)
	}
}

func TestFirst(t *testing.T) {
	a, b := option.Errorf("a", "bad"), option.Errorf("b", "bad")
	for _, c := range []struct {
		errs []error
		want error
	}{
		{nil, nil},
		{[]error{nil, nil}, nil},
		{[]error{a, b}, a},
		{[]error{nil, b, a}, b},
	} {
		if got := option.First(c.errs...); !errors.Is(got, c.want) {
			t.Errorf("First of %v is %v", c.errs, got)
		}
	}
}
