package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A command that ends by itself is not interrupted, unless by an error after a signal.
func TestSupervise(t *testing.T) {
	wrong := errors.New("wrong")
	for _, c := range []struct {
		signal      bool
		err         error
		interrupted bool
	}{{false, nil, false}, {false, wrong, false}, {true, nil, false}, {true, wrong, true}} {
		signals := make(chan os.Signal, 2)
		if c.signal {
			signals <- os.Interrupt
		}
		interrupted, err := supervise(signals, time.Hour, func(ctx context.Context) error {
			if c.signal {
				<-ctx.Done()
			}
			return c.err
		})
		if interrupted != c.interrupted || !errors.Is(err, c.err) {
			t.Errorf("%+v: %v, %v", c, interrupted, err)
		}
	}
}

// A command that does not check its context is given up, after a while or at the next
// signal, and what it would leave is removed while it is still at it.
func TestSuperviseStubborn(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals int
		wait    time.Duration
	}{{"patience ends", 1, time.Millisecond}, {"second signal", 2, time.Hour}} {
		for _, committed := range []bool{false, true} {
			root := t.TempDir()
			signals := make(chan os.Signal, 2)
			leave, late := make(chan struct{}), make(chan []error, 1)
			interrupted, err := supervise(signals, c.wait, func(ctx context.Context) error {
				own := context.WithoutCancel(ctx)
				f, err := openFolder(own, filepath.Join(root, "made", "out"))
				if err != nil {
					return err
				}
				defer f.close()
				if committed {
					if err := errors.Join(f.stage(own, "first", text1("")), f.commit()); err != nil {
						return err
					}
				}
				var errs []error
				errs = append(errs, f.stage(own, "second", func(w io.Writer) error {
					for range c.signals {
						signals <- os.Interrupt
					}
					<-leave
					_, err := io.WriteString(w, "more")
					return err
				}))
				_, err = openFolder(own, filepath.Join(root, "later"))
				late <- append(errs, f.stage(own, "third", text1("")), f.commit(), err)
				return nil
			})
			if !interrupted || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v, %v", c.name, interrupted, err)
			}
			check := func() {
				t.Helper()
				if !committed {
					wantNames(t, root)
					return
				}
				wantNames(t, root, "made")
				wantNames(t, filepath.Join(root, "made", "out"), "first")
			}
			check()
			if said, want := interruption(err), "interrupted; nothing was written"; committed == (said == want) {
				t.Errorf("%s: it says %q", c.name, said)
			}
			close(leave)
			if errs := <-late; errs[0] != nil || errs[1] == nil || errs[2] == nil || errs[3] == nil {
				t.Errorf("%s: the errors of what came after are %v", c.name, errs)
			}
			check()
		}
	}
}

// What is released is not undone, and the rest in turn from the last.
func TestOnAbandon(t *testing.T) {
	var undone []string
	undo := func(name string) func() error {
		return func() error {
			undone = append(undone, name)
			return nil
		}
	}
	onAbandon(t.Context(), undo("no command"))()
	signals := make(chan os.Signal, 1)
	interrupted, err := supervise(signals, 10*time.Millisecond, func(ctx context.Context) error {
		onAbandon(ctx, undo("first"))
		release := onAbandon(ctx, undo("released"))
		onAbandon(ctx, undo("last"))
		release()
		signals <- os.Interrupt
		select {}
	})
	if got := strings.Join(undone, " "); !interrupted || err == nil || got != "last first" {
		t.Errorf("undone: %q; %v, %v", got, interrupted, err)
	}
}
