//go:build unix

package cli

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the most memory that a process held, in bytes.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) //nolint:unconvert // 32 bits on some systems
	}
	return int64(usage.Maxrss) << 10 //nolint:unconvert // as above
}
