//go:build darwin || freebsd

package memory

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// limits returns all limits that the system tells.
func limits() []Limit {
	name := "hw.memsize"
	if runtime.GOOS == "freebsd" {
		name = "hw.physmem"
	}
	var list []Limit
	if total, err := unix.SysctlUint64(name); err == nil {
		list = append(list, rest(total, 0, "all of this machine's memory"))
	}
	for resource, by := range map[int]string{unix.RLIMIT_AS: "the limit of ulimit -v", unix.RLIMIT_DATA: "the limit of ulimit -d"} {
		var r unix.Rlimit
		if err := unix.Getrlimit(resource, &r); err == nil && r.Cur > 0 {
			list = append(list, rest(uint64(r.Cur), 0, by))
		}
	}
	return list
}
