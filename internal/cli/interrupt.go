package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"
)

// patience is how long an interrupted command may take to end by itself.
const patience = 300 * time.Millisecond

// supervise runs a command until it ends, or until a signal comes, which is the end
// of the context that work gets. If work has not returned a while later, or at the
// next signal, what it would leave behind is removed, and supervise returns without
// waiting: then the process must exit. interrupted says that a signal stopped work.
func supervise(signals <-chan os.Signal, patience time.Duration, work func(context.Context) error) (interrupted bool, err error) {
	t := new(traces)
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), tracesKey{}, t))
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	select {
	case err = <-done:
		return false, err
	case <-signals:
	}
	cancel()
	select {
	case err = <-done:
		return err != nil, err
	case <-signals:
	case <-time.After(patience):
	}
	return true, t.remove()
}

// traces are what a command leaves if the process exits before it returns.
type traces struct {
	mu      sync.Mutex
	removed bool
	undo    []*func() error
}

type tracesKey struct{}

// onAbandon has undo called if the process is about to exit in the middle of the
// command that ctx belongs to, at once if it is already. undo runs beside the
// command, and returns a *keptError if it leaves something. The returned function
// says that undo is not needed any more.
func onAbandon(ctx context.Context, undo func() error) (release func()) {
	t, ok := ctx.Value(tracesKey{}).(*traces)
	if !ok {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.removed {
		_ = undo() // too late to tell
		return func() {}
	}
	entry := &undo
	t.undo = append(t.undo, entry)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.undo = slices.DeleteFunc(t.undo, func(e *func() error) bool { return e == entry })
	}
}

// remove undoes everything, the latest first, and returns what tells of the rest.
func (t *traces) remove() error {
	t.mu.Lock()
	undo := t.undo
	t.removed, t.undo = true, nil
	t.mu.Unlock()
	kept := []error{context.Canceled}
	for _, f := range slices.Backward(undo) {
		kept = append(kept, (*f)())
	}
	return errors.Join(kept...)
}
