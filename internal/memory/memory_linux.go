package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limits returns all limits that Linux tells.
func limits() []Limit {
	list := []Limit{groupLimit(os.DirFS("/"))}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err == nil {
		total := uint64(info.Totalram) //nolint:unconvert // 32 bits on some processors
		list = append(list, rest(total*uint64(info.Unit), 0, "all of this machine's memory"))
	}
	// The Go runtime has reserved addresses already, which count against ulimit -v.
	addresses, data := used()
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err == nil {
		list = append(list, rest(r.Cur, addresses, "what ulimit -v leaves"))
	}
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &r); err == nil {
		list = append(list, rest(r.Cur, data, "what ulimit -d leaves"))
	}
	return list
}

// used returns the addresses that this process has, and those of its data; 0 where the
// system does not tell.
func used() (addresses, data int64) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "VmSize":
			addresses = kilobytes << 10
		case "VmData":
			data = kilobytes << 10
		}
	}
	return addresses, data
}
