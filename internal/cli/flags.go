package cli

import (
	"errors"
	"strconv"
)

// positive is the value of a flag that takes a whole number of at least 1.
type positive int

const positiveType = "number"

func (p *positive) String() string {
	if *p == 0 {
		return "" // no default to show
	}
	return strconv.Itoa(int(*p))
}

func (p *positive) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errors.New("not a whole number of at least 1")
	}
	*p = positive(n)
	return nil
}

func (p *positive) Type() string { return positiveType }
