package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"
)

// patience is how long an interrupted command has to end by itself.
const patience = 300 * time.Millisecond

// supervise runs work until it returns or a signal arrives, which cancels its context. If
// work does not return within patience, or at a second signal, supervise removes the
// files that work would leave behind and returns without waiting; the process must then
// exit. interrupted reports whether a signal stopped work.
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

// traces lists what to remove if the process exits before the command returns.
type traces struct {
	mu      sync.Mutex
	removed bool
	undo    []*func() error
}

type tracesKey struct{}

// onAbandon registers undo, which is called if the process is about to exit while the
// command of ctx still runs, or at once if it is exiting already. undo runs concurrently
// with the command, and returns a *keptError if it leaves files. release takes it off the
// list.
func onAbandon(ctx context.Context, undo func() error) (release func()) {
	t, ok := ctx.Value(tracesKey{}).(*traces)
	if !ok {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.removed {
		_ = undo() // too late to report its error
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

// remove calls all undo functions, the latest first, and joins their errors.
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
