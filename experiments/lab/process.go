package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Process is a program that ran as a process of its own.
type Process struct {
	Out     []byte  // what it printed
	Seconds float64 // from its start to its end
	Peak    int64   // the most memory it had, in bytes; 0 where the system does not tell
}

// Build builds the command mvclust from the sources in root, as it is shipped.
func (l *Lab) Build(ctx context.Context, root string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", l.Program, "./cmd/mvclust")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if _, err := RunProcess(ctx, cmd); err != nil {
		return fmt.Errorf("the command mvclust cannot be built: %w", err)
	}
	return nil
}

// Mvclust runs the command mvclust.
func (l *Lab) Mvclust(ctx context.Context, args ...string) (*Process, error) {
	p, err := RunProcess(ctx, exec.CommandContext(ctx, l.Program, args...))
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", args[0], err)
	}
	return p, err
}

// RunProcess runs a command. The error has the last line that it wrote to standard error.
func RunProcess(ctx context.Context, cmd *exec.Cmd) (*Process, error) {
	cmd.WaitDelay = time.Second // for a child that keeps the pipes open
	start := time.Now()
	out, err := cmd.Output()
	seconds := Round(time.Since(start).Seconds())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		lines := strings.Split(strings.TrimSpace(string(failed.Stderr)), "\n")
		if last := lines[len(lines)-1]; last != "" {
			err = errors.New(last)
		}
	}
	if err != nil {
		return nil, err
	}
	return &Process{out, seconds, peak(cmd.ProcessState)}, nil
}
