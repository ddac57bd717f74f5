//go:build unix

package lab

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peak returns the most memory that a process that ended had, in bytes.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	most := int64(usage.Maxrss) //nolint:unconvert // it has 32 bits on some systems
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return most
	}
	return most << 10 // the others count kilobytes
}

// processor returns the seconds that processors have worked for this process.
func processor() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
