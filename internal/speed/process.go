package speed

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// process is a run of mvclust as a process of its own.
type process struct {
	out     []byte  // what it printed
	seconds float64 // from its start to its end
	peak    int64   // the most memory it had, in bytes; 0 where the system does not tell
}

// mvclust runs a command of the program.
func (b *bench) mvclust(args ...string) (*process, error) {
	return runProcess(b.ctx, b.Program, args...)
}

func runProcess(ctx context.Context, program string, args ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	start := time.Now()
	out, err := output(cmd)
	seconds := since(start)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return &process{out, seconds, peak(cmd.ProcessState)}, nil
}
