// Package speed measures how fast the method is and how much memory it takes, and, in
// the same run, how fast others are on the same machine: gonum, OpenBLAS, faiss and
// scikit-learn, the last three by way of a Python that has them.
package speed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// Plan says what to measure, and with what.
type Plan struct {
	// Workload is what is measured.
	Workload Workload
	// Program is the path of the mvclust whose whole runs are measured.
	Program string
	// Pythons are the interpreters in which the peers are looked for, in order.
	Pythons []string
	// Folder is for passing files, some of which Run leaves there: 2 GiB at most.
	Folder string
	// Data is a folder of data sets, in which Handwritten.npz is looked for.
	Data string
	// Threads is how many threads everything may use that is not measured on one.
	Threads int
	// Say, if not nil, is told what is being measured and what came of it, a line
	// at a time.
	Say func(line string)
}

// Sized is a number of rows or samples, and how often it is measured.
type Sized struct {
	Size, Rounds int
}

// Workload is what a Plan measures.
type Workload struct {
	// KernelTime is how long an inner loop is run, KernelRounds how often.
	KernelTime   time.Duration
	KernelRounds int
	// Exact holds the sizes of the exact neighbour graphs that are measured beside
	// the peers', and Crossing those at which exact and approximate search are
	// compared.
	Exact    []Sized
	Crossing []int
	// Dims and Neighbours are those of these graphs.
	Dims, Neighbours int
	// Whole holds the sizes of the whole runs, rising, and Reference the one of
	// them that is held against faiss and against exact neighbours.
	Whole     []Sized
	Reference int
	// Automatic is the largest of these sizes that is run in the default mode too.
	Automatic int
	// Small is the number of samples that stand in for Handwritten where the folder
	// of data sets does not have it, and SmallRounds how often it is run.
	Small, SmallRounds int
	// Real says that Handwritten itself is used where it is there.
	Real bool
}

// Full is the workload of the project's page; with million it goes up to 1,000,000
// samples.
func Full(million bool) Workload {
	w := Workload{
		KernelTime: 100 * time.Millisecond, KernelRounds: 7,
		Exact:    []Sized{{20_000, 5}, {100_000, 3}},
		Crossing: []int{10_000, 20_000, 50_000, 100_000},
		Dims:     256, Neighbours: 50,
		Whole:     []Sized{{10_000, 3}, {30_000, 3}, {100_000, 3}, {300_000, 1}},
		Reference: 100_000, Automatic: 300_000,
		Small: 2000, SmallRounds: 3, Real: true,
	}
	if million {
		w.Whole = append(w.Whole, Sized{1_000_000, 1})
	}
	return w
}

// Quick is a workload that takes seconds and whose figures mean little.
func Quick() Workload {
	return Workload{
		KernelTime: 5 * time.Millisecond, KernelRounds: 2,
		Exact:    []Sized{{1000, 2}},
		Crossing: []int{500, 1000},
		Dims:     64, Neighbours: 20,
		Whole:     []Sized{{500, 1}, {1000, 1}},
		Reference: 1000, Automatic: 1000,
		Small: 300, SmallRounds: 1,
	}
}

// Results is all that was measured.
type Results struct {
	Machine Machine `json:"machine"`
	// Peers holds the versions of what was found in Python, by name.
	Peers    map[string]string `json:"peers"`
	Threads  int               `json:"threads"`
	Data     Data              `json:"data"`
	Kernels  []Kernel          `json:"kernels"`
	Graphs   []Graph           `json:"graphs"`
	Crossing []Crossing        `json:"crossing"`
	Runs     []Run             `json:"runs"`
	// Automatic holds a run in the default mode at each of their sizes up to some.
	Automatic []Run `json:"automatic"`
	// Reference is about the run of that size, nil where there is none.
	Reference *Reference `json:"reference,omitempty"`
	Small     *Small     `json:"small,omitempty"`
	// Notes says what could not be measured, and why.
	Notes []string `json:"notes"`
}

// bench is one execution of a Plan.
type bench struct {
	Plan
	ctx   context.Context
	peers *peers
	r     *Results
}

// Run measures. What a peer would be needed for is left out where there is none, and a
// note says so.
func (p *Plan) Run(ctx context.Context) (*Results, error) {
	b := &bench{Plan: *p, ctx: ctx, r: &Results{
		Machine: thisMachine(), Threads: p.Threads, Data: recipe, Notes: []string{},
	}}
	var err error
	if b.peers, err = findPeers(ctx, p.Pythons); err != nil {
		return nil, err
	}
	b.r.Peers = b.peers.versions
	if missing := b.peers.missing(); missing != "" {
		b.note("%s", missing)
	}
	// Whole runs go first, while this process is small: a process is charged with
	// the memory of the one that starts it, up to the moment when it begins.
	for _, measure := range []func() error{b.whole, b.small, b.kernels, b.graphs, b.crossing} {
		if err := measure(); err != nil {
			return nil, cmp.Or(ctx.Err(), err) // what was interrupted fails in other words
		}
	}
	return b.r, nil
}

// say tells what is going on.
func (b *bench) say(format string, args ...any) {
	if b.Say != nil {
		b.Say(fmt.Sprintf(format, args...))
	}
}

// note keeps for the page what could not be measured.
func (b *bench) note(format string, args ...any) {
	sentence := fmt.Sprintf(format, args...)
	if !slices.Contains(b.r.Notes, sentence) {
		b.r.Notes = append(b.r.Notes, sentence)
		b.say("%s", sentence)
	}
}

// optional makes a note of an error of something that can be left out; only the
// context's own error remains one.
func (b *bench) optional(what string, err error) error {
	switch {
	case b.ctx.Err() != nil:
		return b.ctx.Err()
	case err != nil && !errors.Is(err, errAbsent): // which is told once for all
		b.note("%s: not measured, %v", what, err)
	}
	return nil
}

// Times are the seconds that something took each time.
type Times []float64

// Best returns the least of the times, 0 where there is none.
func (t Times) Best() float64 {
	if len(t) == 0 {
		return 0
	}
	return slices.Min(t)
}

// Median returns the time in the middle, the lower of the two of an even number; 0
// where there is none.
func (t Times) Median() float64 {
	if len(t) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(t))[(len(t)-1)/2]
}

// ratio returns a/b, and 0 where there is no b.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return round(a / b)
}

// round keeps five digits, more than any clock here is good for.
func round(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return rounded
}

// since returns the seconds since start.
func since(start time.Time) float64 { return round(time.Since(start).Seconds()) }

// settle gives back what earlier measurements left, so that the next ones do not pay
// for it.
func settle() { runtime.GC() }
