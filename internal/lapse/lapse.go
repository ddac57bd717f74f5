// Package lapse makes contexts that end by themselves, for tests that cancel at every
// place that checks a context.
package lapse

import (
	"context"
	"sync/atomic"
)

// After returns a context whose Err is nil for as many questions as said, and
// context.Canceled from then on. Done is the parent's, and tells nothing of that.
func After(parent context.Context, questions int) context.Context {
	c := &lapsing{Context: parent}
	c.left.Store(int64(questions))
	return c
}

type lapsing struct {
	context.Context
	left atomic.Int64
}

func (c *lapsing) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}
