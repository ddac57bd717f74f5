package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/words"
)

// size is the value of a flag for a number of bytes, such as 8GiB.
type size int64

const sizeType = "size"

// units are the units of sizes in lower case, powers of 1024 and of 1000.
var units = []struct {
	names string
	bytes float64
}{
	{"b", 1},
	{"k ki kib", 1 << 10}, {"m mi mib", 1 << 20}, {"g gi gib", 1 << 30}, {"t ti tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
}

// Set parses a number with a unit, or without one for bytes.
func (s *size) Set(text string) error {
	text = strings.TrimSpace(text)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number, unit := text[:end], strings.ToLower(strings.TrimSpace(text[end:]))
	if strings.Trim(number, "0123456789.") != "" {
		return errors.New("not a number of bytes") // such as Inf, which strconv accepts
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return errors.New("not a number of bytes")
	}
	scale := 0.0
	for _, u := range units {
		for name := range strings.FieldsSeq(u.names) {
			if unit == name || unit == "" && name == "b" {
				scale = u.bytes
			}
		}
	}
	x = math.Floor(x * scale) // 0 if the unit is unknown
	if x < 1 || x >= math.MaxInt64 {
		return errors.New("not a number of bytes that a computer has")
	}
	*s = size(x)
	return nil
}

// String formats the size to two or more digits, rounded up, such that Set can parse it.
func (s *size) String() string {
	if *s == 0 {
		return "" // no default to show
	}
	x, unit := float64(*s), ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if x > 1023 {
			x, unit = x/1024, next
		}
	}
	if x < 100 {
		x = math.Ceil(10*x) / 10
	} else {
		x = math.Ceil(x)
	}
	return strconv.FormatFloat(x, 'f', -1, 64) + unit
}

func (s *size) Type() string { return sizeType }

const (
	// program is the memory of the code and the Go runtime. perSample is what the
	// command holds for each sample in addition to the library: its id and its class.
	program   = 32 << 20
	perSample = 48
	// leastMemory is the least that a run is said to need, which keeps collections rare.
	leastMemory = 64 << 20
	// collectAt is GOGC, the garbage allowed in percent of the memory in use;
	// collectLargeAt is that of runs that need largeMemory or more. Their arrays hold no
	// pointers, so that collection costs almost nothing.
	collectAt      = 50
	collectLargeAt = 10
	largeMemory    = 256 << 20
)

// limitMemory sets the memory limit of the process to the budget, or without a budget to
// what the run needs, until release is called. Reading takes at most scratch bytes besides
// the views. It is an error if the run needs more than the budget.
func limitMemory(budget size, opt mvclust.Options, samples int, dims []int, scratch int64) (release func(), err error) {
	fit, err := opt.Footprint(samples, dims)
	if err != nil {
		return nil, err
	}
	reading := scratch
	for _, d := range dims {
		reading += 4 * int64(samples) * int64(d)
	}
	need := size(max(max(fit, reading)+program+perSample*int64(samples), leastMemory))
	limit := need
	if budget > 0 {
		limit = budget
	}
	if need > limit {
		return nil, fmt.Errorf("--memory: %s is too little for %s in %s, which take %s; give --memory %s, or fewer --neighbors, or less of --param candidates",
			&budget, words.Count(samples, "sample"), words.Count(len(dims), "view"), &need, &need)
	}
	// Go does not count all of the program's memory.
	old := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(old, int64(limit)-program/2))
	collect := collectEarly(int64(need))
	return func() {
		debug.SetMemoryLimit(old)
		collect()
	}, nil
}

// collectEarly sets GOGC for a command that holds need bytes, until release is called.
func collectEarly(need int64) (release func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	at := collectAt
	if need >= largeMemory {
		at = collectLargeAt
	}
	old := debug.SetGCPercent(at)
	return func() { debug.SetGCPercent(old) }
}
