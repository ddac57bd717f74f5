package speed

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust/internal/kernel"
)

// Machine is what the figures were measured on.
type Machine struct {
	Processor string `json:"processor"` // as its maker calls it, empty where unknown
	Cores     int    `json:"cores"`
	Memory    int64  `json:"memory_bytes"` // 0 where unknown
	System    string `json:"system"`       // such as linux/amd64
	Go        string `json:"go"`
	Kernel    string `json:"kernel"` // of the inner loops
}

// thisMachine describes the machine that this runs on.
func thisMachine() Machine {
	m := Machine{
		Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Go: runtime.Version(), Kernel: kernel.Best().Name,
	}
	// Only Linux has these files; elsewhere the page says less.
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.Processor = field(string(text), "model name")
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		kilobytes, _, _ := strings.Cut(field(string(text), "MemTotal"), " ")
		if n, err := strconv.ParseInt(kilobytes, 10, 64); err == nil {
			m.Memory = n << 10
		}
	}
	return m
}

// field returns the value of the first line "name: value" of a file of /proc.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
