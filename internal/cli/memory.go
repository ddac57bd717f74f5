package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/memory"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/report"
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
	program   = 48 << 20
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

// demand is what a run has to hold.
type demand struct {
	sources []string // the files, as they were named
	samples int
	dims    []int // of each view
	// scratch is what reading takes at most besides the values.
	scratch int64
	// pictures says that the page shows pictures.
	pictures bool
}

// bytes returns the memory that the run takes, without pictures.
func (d *demand) bytes(opt mvclust.Options) (size, error) {
	fit, err := opt.Footprint(d.samples, d.dims)
	if err != nil {
		return 0, err
	}
	return size(max(fit, d.scratch+d.values()) + program + perSample*int64(d.samples)), nil
}

// values returns the memory of the values of all views.
func (d *demand) values() int64 {
	all := int64(0)
	for _, n := range d.dims {
		all += 4 * int64(d.samples) * int64(n)
	}
	return all
}

// String returns words for the samples and views.
func (d *demand) String() string {
	return words.Count(d.samples, "sample") + " in " + words.Count(len(d.dims), "view")
}

// limitMemory sets the memory limit of the process to the budget, or without a budget to
// what the run needs, until release is called. It returns what a picture may take. It is an
// error if the run needs more than the budget or, without a budget, than there is at hand. It
// sets opt.Lean where the run needs too much without it, and less with it, and takes opt.Consume back
// where there is room for it and average linkage can be tried.
func limitMemory(budget size, hand memory.Limit, opt *mvclust.Options, d *demand) (pictures int64, release func(), err error) {
	run, err := d.bytes(*opt)
	if err != nil {
		return 0, nil, err
	}
	beside, beyond := size(0), size(0)
	if d.pictures {
		beside, beyond = report.LeastPictureMemory, report.MostPictureMemory
	}
	room := cmp.Or(budget, size(hand.Bytes))
	if d.samples <= mvclust.MostLinked {
		kept := *opt
		kept.Consume = false
		if more, err := d.bytes(kept); err == nil && more+beside <= room {
			run, opt.Consume = more, false
		}
	}
	if run+beside > room {
		lean := *opt
		lean.Lean = true
		if less, err := d.bytes(lean); err == nil && less < run {
			run, opt.Lean = less, true
		}
	}
	need, most := run+beside, run+beyond
	if budget == 0 && int64(need) > hand.Bytes {
		return 0, nil, tooLarge(strings.Join(baseNames(d.sources), ", ")+": "+d.String(), need, hand, "give fewer samples or features, fewer --neighbors or less of --param candidates, or give --memory "+need.String()+" to try it in spite of that")
	}
	limit := max(min(most, size(hand.Bytes)), leastMemory)
	if need = max(need, leastMemory); budget > 0 {
		limit = budget
	}
	if need > limit {
		return 0, nil, fmt.Errorf("--memory: %s is too little for %s, which take %s; give --memory %s, or fewer --neighbors, or less of --param candidates",
			&budget, d, &need, &need)
	}
	return min(int64(limit-run), report.MostPictureMemory), hold(limit, need), nil
}

// hold keeps the process to a limit, with need bytes in use, until release is called.
func hold(limit, need size) (release func()) {
	// Go does not count all of the program's memory.
	old := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(old, int64(limit)-program/2))
	collect := collectEarly(int64(need))
	return func() {
		debug.SetMemoryLimit(old)
		collect()
	}
}

// memoryFlag defines --memory for a command that reads a model.
func memoryFlag(f *pflag.FlagSet, budget *size) {
	f.Var(budget, "memory", "`SIZE`, such as 8GiB, 8GB or 512MiB, of the memory that may be used; what may need more is refused before the model is read (default all that the machine has, or that may be used there)")
}

// limitModel is limitMemory for a command that takes run bytes, by what its model holds and by new
// samples, in words; remedy says what takes less.
func limitModel(budget size, hand memory.Limit, run int64, what, remedy string) (release func(), err error) {
	need := size(run + program)
	switch {
	case budget > 0 && need > budget:
		return nil, fmt.Errorf("--memory: %s is too little for %s, which take %s; give --memory %s%s", &budget, what, &need, &need, remedy)
	case budget > 0:
		return hold(budget, need), nil
	case int64(need) > hand.Bytes:
		return nil, tooLarge(what, need, hand, "give --memory "+need.String()+" to try it in spite of that"+remedy)
	}
	return hold(max(size(hand.Bytes), leastMemory), need), nil
}

// tooLarge is the error for what takes more memory than there is.
func tooLarge(what string, need size, hand memory.Limit, remedy string) error {
	has := size(hand.Bytes)
	return fmt.Errorf("%s take %s of memory where there are %s, %s; %s", what, &need, &has, hand.By, remedy)
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
