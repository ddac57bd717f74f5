package paper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mvclust/mvclust/internal/bench"
)

// Plan says what is to be run, and how.
type Plan struct {
	// Folder holds the sets of data.
	Folder      string
	Experiments []Experiment
	// Quick leaves out the sets whose file has more than 1 MiB, and all seeds but
	// the first.
	Quick bool
	// Save, if not nil, keeps the results, as JSON, after every run.
	Save func(text []byte) error
	// Status, if not nil, is told when a setup begins and when it has ended; not of
	// setups that were run before.
	Status func(Status)
}

// Status says how far a plan is.
type Status struct {
	// Case is what is being run, number Number of Total, counted from 1.
	Case          string
	Number, Total int
	// Ended says that the rest is known: ARI, the mean in percent, and the time that
	// the setup took; or why it could not be run; and how long the rest will take.
	Ended   bool
	ARI     float64
	Elapsed time.Duration
	Reason  string
	Left    time.Duration
}

// small is the size of the largest file of a quick plan.
const small = 1 << 20

// job is a setup that cells ask for, and what became of it.
type job struct {
	label    string
	setup    Setup
	seeds    int
	detailed bool

	runs   []*Run
	reason string // why there are no runs
	reused bool   // all of them were done before
}

// Run runs what is not among the known results, to which it adds. Where a set cannot
// be used, the report says why; the error is that of ctx or of Save, or that no set
// is there at all.
func (p *Plan) Run(ctx context.Context, known *Results) (*Report, error) {
	r := &Report{experiments: p.Experiments, quick: p.Quick, jobs: p.jobs(), results: known}
	w := &worker{Plan: p, known: known, list: r.jobs.list, sets: make(map[string]*data)}
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	for i, j := range w.list {
		if j.reason != "" || j.reused {
			continue
		}
		status := Status{Case: j.label, Number: i + 1, Total: len(w.list)}
		w.tell(status)
		start := time.Now()
		if err := w.work(ctx, j); err != nil {
			return nil, err
		}
		status.Ended, status.Elapsed, status.Reason, status.Left = true, time.Since(start), j.reason, w.left()
		if j.reason == "" {
			status.ARI, _ = mean(j.runs, ARI)
		}
		w.tell(status)
	}
	if !p.Quick {
		asked := make(map[*Run]bool)
		for _, j := range w.list {
			for _, run := range j.runs {
				asked[run] = true
			}
		}
		known.prune(func(file string) bool { return w.sets[file] != nil }, asked)
	}
	return r, nil
}

// jobs are the setups of a plan by key, and in order of first use.
type jobs struct {
	list []*job
	of   map[string]*job
}

// jobs returns every setup that a cell is about or held against, once.
func (p *Plan) jobs() jobs {
	all := jobs{of: make(map[string]*job)}
	add := func(label string, s Setup, seeds int, detailed bool) {
		j := all.of[s.key()]
		if j == nil {
			j = &job{label: label, setup: s}
			all.of[s.key()] = j
			all.list = append(all.list, j)
		}
		if j.seeds = max(j.seeds, seeds); p.Quick {
			j.seeds = 1
		}
		j.detailed = j.detailed || detailed
	}
	for i := range p.Experiments {
		e := &p.Experiments[i]
		for k := range e.Cells {
			c := &e.Cells[k]
			if c.Reason != "" {
				continue
			}
			add(e.Title+", "+c.name(), c.Setup, c.seeds(), e.detailed())
			if c.Against != nil {
				add(e.Title+", "+c.name()+", reference", *c.Against, c.seeds(), false)
			}
		}
	}
	return all
}

// name names the cell within its experiment.
func (c *Cell) name() string { return c.Group + ", " + c.Label }

// worker is a plan that is being run.
type worker struct {
	*Plan
	known *Results
	list  []*job
	sets  map[string]*data // by file; nil where it cannot be used
}

// open reads the sets and finds out what there is to do.
func (w *worker) open(ctx context.Context) error {
	if info, err := os.Stat(w.Folder); err != nil || !info.IsDir() {
		return fmt.Errorf("the folder %s is not there; name that of the data sets by --data", w.Folder)
	}
	reasons := make(map[string]string)
	usable := false
	for _, j := range w.list {
		file := j.setup.File
		set, seen := w.sets[file]
		if !seen {
			var err error
			set, err = w.read(ctx, file)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				reasons[file] = err.Error()
			}
			w.sets[file] = set
		}
		if set == nil {
			j.reason = reasons[file]
			continue
		}
		usable = true
		w.reuse(j)
	}
	if !usable {
		return fmt.Errorf("the folder %s has no set of the experiments that can be used; name another by --data, or leave out --quick", w.Folder)
	}
	return nil
}

// reuse fills in a job of which all runs are known.
func (w *worker) reuse(j *job) {
	var runs []*Run
	for seed := range j.seeds {
		run := w.find(j, seed)
		if run == nil {
			return
		}
		runs = append(runs, run)
	}
	j.runs, j.reused = runs, true
}

// find returns the run of a job with a seed if it is known. Figures are drawn of the
// first.
func (w *worker) find(j *job, seed int) *Run {
	return w.known.find(j.setup, uint64(seed), w.sets[j.setup.File].sha256, j.detailed && seed == 0)
}

// read reads a set, unless it is too large for a quick plan.
func (w *worker) read(ctx context.Context, file string) (*data, error) {
	if w.Quick {
		if info, err := os.Stat(filepath.Join(w.Folder, filepath.FromSlash(file))); err == nil && info.Size() > small {
			return nil, errors.New("left out by --quick")
		}
	}
	return load(ctx, w.Folder, file)
}

// work runs a job with every seed that is not done yet.
func (w *worker) work(ctx context.Context, j *job) error {
	for seed := range j.seeds {
		run := w.find(j, seed)
		if run == nil {
			var err error
			run, err = w.sets[j.setup.File].run(ctx, j.setup, uint64(seed), j.detailed && seed == 0)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				j.runs, j.reason = nil, err.Error()
				return nil
			}
			w.known.add(run)
			if err := w.save(); err != nil {
				return err
			}
		}
		j.runs = append(j.runs, run)
	}
	return nil
}

func (w *worker) save() error {
	if w.Save == nil {
		return nil
	}
	text, err := w.known.json(nil, nil)
	if err != nil {
		return err
	}
	return w.Save(text)
}

func (w *worker) tell(s Status) {
	if w.Status != nil {
		w.Status(s)
	}
}

// left guesses the time that the runs to be done will take: as much as those of the
// same set took, or of any set where there are none yet.
func (w *worker) left() time.Duration {
	type sum struct{ seconds, runs float64 }
	var all sum
	of := make(map[string]sum)
	for _, run := range w.known.runs {
		s := of[run.Setup.File]
		of[run.Setup.File] = sum{s.seconds + run.Seconds, s.runs + 1}
		all = sum{all.seconds + run.Seconds, all.runs + 1}
	}
	seconds := 0.0
	for _, j := range w.list {
		if j.reason != "" {
			continue
		}
		s := of[j.setup.File]
		if s.runs == 0 {
			s = all
		}
		if s.runs > 0 {
			seconds += float64(j.seeds-len(j.runs)) * s.seconds / s.runs
		}
	}
	return time.Duration(seconds * float64(time.Second))
}

// mean returns the mean and the standard deviation of a metric over runs, at least
// one.
func mean(runs []*Run, m Metric) (mean, deviation float64) {
	trials := make([]bench.Trial, len(runs))
	for i, run := range runs {
		trials[i] = run.Trial
	}
	return bench.Mean(trials, m.of)
}
