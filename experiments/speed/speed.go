// Package speed measures how fast the method is and how much memory it takes, and, in turn
// with it, how fast others are on the same machine: gonum, OpenBLAS, faiss and scikit-learn,
// the last three by way of a Python that has them.
package speed

import (
	"context"
	"fmt"
	"time"

	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/neighbour"
)

// Experiment is all that is measured.
type Experiment struct {
	// Full goes up to 1,000,000 samples, and Quick measures so little that it takes seconds.
	Full, Quick bool
	// Threads is how many threads everything may use that is not measured on one; 0 is all.
	Threads int
	// Pythons are the interpreters in which the peers are looked for, in order; nil stands for
	// python3 and that of the system, where Linux distributions keep the modules of theirs.
	Pythons []string

	l     *lab.Lab
	w     workload
	peers *peers
	small lab.Setup
	truth *neighbour.Lists // the last exact neighbours
}

// sized is a number of samples, and how often it is measured.
type sized struct{ size, rounds int }

// workload is what is measured.
type workload struct {
	// kernelTime is how long an inner loop is run, kernelRounds how often.
	kernelTime   time.Duration
	kernelRounds int
	// graphs holds the sizes of the neighbour graphs, of which those measured more than once
	// are held against the peers' too. dims and neighbours are those of these graphs.
	graphs           []sized
	dims, neighbours int
	// whole holds the sizes of the whole runs, rising, and reference the one of them that is
	// held against faiss and against exact neighbours.
	whole     []sized
	reference int
	// automatic is the largest of these sizes that is run in the default mode too.
	automatic int
	// small is the number of samples that stand in for Handwritten.
	small, smallRounds int
}

func (e *Experiment) workload() workload {
	if e.Quick {
		return workload{
			kernelTime: 5 * time.Millisecond, kernelRounds: 2,
			graphs: []sized{{500, 1}, {1000, 2}}, dims: 64, neighbours: 20,
			whole: []sized{{500, 1}, {1000, 1}}, reference: 1000, automatic: 1000,
			small: 300, smallRounds: 1,
		}
	}
	w := workload{
		kernelTime: 100 * time.Millisecond, kernelRounds: 7,
		graphs: []sized{{10_000, 1}, {20_000, 5}, {50_000, 1}, {100_000, 3}}, dims: 256, neighbours: 50,
		whole:     []sized{{10_000, 3}, {30_000, 3}, {100_000, 3}, {300_000, 1}},
		reference: 100_000, automatic: 300_000,
		small: 2000, smallRounds: 3,
	}
	if e.Full {
		w.whole = append(w.whole, sized{1_000_000, 1})
		w.automatic = 1_000_000
	}
	return w
}

// The methods. A whole run is mvclust fit as a process of its own, from reading the file to
// writing the results: by the paper's method, whose work depends on the size alone, or in the
// default mode.
const (
	wholePaper   lab.Method = "mvclust fit --preset paper"
	wholeDefault lab.Method = "mvclust fit"
	exact        lab.Method = "exact neighbours"
	approximate  lab.Method = "approximate neighbours"
	faissFlat    lab.Method = "faiss IndexFlatIP"
	sklearnBrute lab.Method = "scikit-learn, brute force"
	sklearnCut   lab.Method = "scikit-learn, of the fused graph"
	gonumSgemm   lab.Method = "gonum Sgemm"
	openBLAS     lab.Method = "OpenBLAS, through numpy"
)

// ours is the method of one of our inner loops.
func ours(k *kernel.Kernel) lab.Method { return lab.Method("mvclust " + k.Name) }

// The data of the whole runs, and exactSetting, which makes fit search exactly.
const (
	wholeViews   = 2
	wholeDims    = 128
	exactSetting = "neighbor-search=exact" //nolint:misspell // spelt as --neighbors is
	// candidates is how many neighbours the paper's method looks for in each of two views.
	candidates = 80
	// bruteLimit is the most rows that scikit-learn searches.
	bruteLimit = 20_000
)

func wholeSet(samples int, m lab.Method) lab.Setup {
	return lab.Setup{Synth: &lab.Synth{Samples: samples, Views: wholeViews, Dims: wholeDims}, Method: m}
}

func (e *Experiment) graphSet(rows int, m lab.Method) lab.Setup {
	return lab.Setup{Synth: &lab.Synth{Samples: rows, Views: 1, Dims: e.w.dims}, Method: m}.With(fmt.Sprint("neighbors=", e.w.neighbours))
}

// kernels lists the methods of the inner loops.
func kernels() []lab.Method {
	var list []lab.Method
	for _, k := range kernel.Available() {
		list = append(list, ours(k))
	}
	return append(list, gonumSgemm, openBLAS)
}

// kernelSet is the setup of an inner loop, which needs no data.
func kernelSet(m lab.Method) lab.Setup { return lab.Setup{Method: m} }

// Cases lists what is measured. Whole runs go first, while this process is small: a process is
// charged with the memory of the one that starts it, up to the moment when it begins.
func (e *Experiment) Cases(ctx context.Context, l *lab.Lab, _ []string) ([]lab.Case, error) {
	e.l, e.w = l, e.workload()
	e.Threads = parallel.Threads(e.Threads)
	l.Threads = e.Threads
	if e.Pythons == nil {
		e.Pythons = []string{"python3", "/usr/bin/python3"}
	}
	var err error
	if e.peers, err = findPeers(ctx, e.Pythons); err != nil {
		return nil, err
	}
	l.Methods = map[lab.Method]lab.Func{
		wholePaper: e.fit, wholeDefault: e.fit, exact: e.search, approximate: e.search,
		faissFlat: e.flat, sklearnBrute: e.brute, sklearnCut: e.cut, gonumSgemm: e.kernel, openBLAS: e.product,
	}
	for _, k := range kernel.Available() {
		l.Methods[ours(k)] = e.kernel
	}
	var cases []lab.Case
	for _, s := range e.w.whole {
		c := lab.Case{Label: lab.Whole(s.size) + " samples", Setups: []lab.Setup{wholeSet(s.size, wholePaper)}, Rounds: s.rounds}
		if s.size == e.w.reference {
			c.Setups = append(c.Setups, wholeSet(s.size, faissFlat))
			c.Beside = append(c.Beside, wholeSet(s.size, wholePaper).With(exactSetting))
		}
		if s.size <= e.w.automatic {
			c.Beside = append(c.Beside, wholeSet(s.size, wholeDefault))
		}
		cases = append(cases, c)
	}
	e.small = lab.Setup{Synth: &lab.Synth{Samples: e.w.small, Views: 4, Dims: wholeDims}}
	if l.Collection(handwritten) >= 0 && !e.Quick || l.PageOnly {
		e.small = lab.Setup{File: handwritten}
	}
	cases = append(cases, lab.Case{Label: "a small set", Setups: []lab.Setup{e.small.By(wholeDefault), e.small.By(sklearnCut)}, Rounds: e.w.smallRounds})
	inner := lab.Case{Label: "inner loops", Rounds: e.w.kernelRounds}
	for _, m := range kernels() {
		inner.Setups = append(inner.Setups, kernelSet(m))
	}
	cases = append(cases, inner)
	for _, s := range e.w.graphs {
		c := lab.Case{Label: "neighbours of " + lab.Whole(s.size) + " rows", Setups: []lab.Setup{e.graphSet(s.size, exact)}, Rounds: s.rounds}
		if s.rounds > 1 {
			c.Setups = append(c.Setups, e.graphSet(s.size, faissFlat))
			if s.size <= bruteLimit {
				c.Setups = append(c.Setups, e.graphSet(s.size, sklearnBrute))
			}
		}
		c.Beside = []lab.Setup{e.graphSet(s.size, approximate)}
		cases = append(cases, c)
	}
	return cases, nil
}

const handwritten = "Handwritten.npz"
