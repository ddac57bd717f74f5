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

// size is the value of a flag that takes a number of bytes, such as 8GiB.
type size int64

const sizeType = "size"

// units are those of sizes, in lower case: of powers of 1024, and of 1000.
var units = []struct {
	names string
	bytes float64
}{
	{"b", 1},
	{"k ki kib", 1 << 10}, {"m mi mib", 1 << 20}, {"g gi gib", 1 << 30}, {"t ti tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
}

// Set reads a number with a unit or, as bytes, without.
func (s *size) Set(text string) error {
	text = strings.TrimSpace(text)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number, unit := text[:end], strings.ToLower(strings.TrimSpace(text[end:]))
	if strings.Trim(number, "0123456789.") != "" {
		return errors.New("not a number of bytes") // though strconv may know it
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
	x = math.Floor(x * scale) // 0 without a unit that is known
	if x < 1 || x >= math.MaxInt64 {
		return errors.New("not a number of bytes that a computer has")
	}
	*s = size(x)
	return nil
}

// String writes the size in two or more digits, rounded up, as Set reads it.
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
	// program is what a run takes whatever its size: the code, and what the Go
	// runtime keeps for itself. perSample is what the command holds of each sample
	// beside the library: its id and its class.
	program   = 32 << 20
	perSample = 48
	// leastMemory is where the collector may begin to hurry at the earliest.
	leastMemory = 64 << 20
	// collectAt is how many percent of what is in use may be garbage; collectLargeAt is
	// that of runs that need largeMemory or more. Their arrays hold no pointers, so that
	// looking for garbage costs next to nothing.
	collectAt      = 50
	collectLargeAt = 10
	largeMemory    = 256 << 20
)

// limitMemory holds the process to the budget, or to what the run needs where there
// is no budget, until release is called. Reading takes scratch bytes at most beside
// the views. A run that needs more than the budget is an error.
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
	// Part of the program is not what Go counts.
	old := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(old, int64(limit)-program/2))
	collect := collectEarly(int64(need))
	return func() {
		debug.SetMemoryLimit(old)
		collect()
	}, nil
}

// collectEarly has garbage collected early, for a command that holds so many bytes, until
// release is called.
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
