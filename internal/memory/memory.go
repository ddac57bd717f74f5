// Package memory tells how much memory a process may use.
package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// Limit is an amount of memory and what sets it.
type Limit struct {
	Bytes int64
	// By says in words what the bytes are, such as "all of this machine's memory".
	By string
}

// unlimited is more than any machine has.
const unlimited = math.MaxInt64

// AtHand returns the memory that this process may use at most: the least of what the machine
// has, what its control group may use, and what the limits of the process (ulimit -v and -d)
// leave to it. It is math.MaxInt64 where the system does not tell.
//
// It is the memory that there is, not what is free at the moment. So the same run is
// refused or accepted on the same machine whatever else is running; the system can drop its
// caches, and move what sleeps to the disk. Swap space does not count: a run that computes
// in it does not end.
func AtHand() Limit {
	least := Limit{Bytes: unlimited}
	for _, l := range limits() {
		if l.Bytes >= 0 && l.Bytes < least.Bytes {
			least = l
		}
	}
	return least
}

// groupLimit returns the limit of the control group of this process, in version 1 or 2, from
// the files of the system: the least of the group's and its parents'.
func groupLimit(root fs.FS) Limit {
	least := Limit{unlimited, "the limit of the control group"}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for lines := bufio.NewScanner(bytes.NewReader(groups)); lines.Scan(); {
		// "0::/path" in version 2, "5:memory,cpu:/path" in version 1.
		part := strings.SplitN(lines.Text(), ":", 3)
		if len(part) < 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max"
		if part[1] != "" {
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			if !strings.Contains(","+part[1]+",", ",memory,") {
				continue
			}
		}
		// In a container, the path may be that outside it: then only the root is there.
		for at := path.Clean("/" + part[2]); ; at = path.Dir(at) {
			text, err := fs.ReadFile(root, path.Join(folder, at, file))
			if bytes, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && bytes >= 0 {
				least.Bytes = min(least.Bytes, bytes) // not where it says "max"
			}
			if at == "/" {
				break
			}
		}
	}
	return least
}

// rest returns what a limit of the process leaves when used bytes of it are taken.
func rest(limit uint64, used int64, by string) Limit {
	if limit >= unlimited {
		return Limit{unlimited, by}
	}
	return Limit{max(0, int64(limit)-used), by}
}
