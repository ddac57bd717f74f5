package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/opponent"
)

// Lab is where runs are done.
type Lab struct {
	// Folders hold the sets of data, no two a file of one name.
	Folders []string
	// Scratch is for passing files.
	Scratch string
	// Program is the command mvclust, for runs as processes of their own.
	Program string
	// Threads is how many threads a process or a peer may use.
	Threads int
	Store   *Store
	// Methods are those that experiments add to the common ones.
	Methods map[Method]Func
	// Quick leaves out files of more than 1 MiB, and all seeds but the first.
	Quick bool
	// Timed says that times are what is measured: records of other machines do not count.
	Timed bool
	// PageOnly takes what the store has, of whatever version and data, and runs nothing.
	PageOnly bool
	// Say, if not nil, is told how it goes, a line at a time; not always by the goroutine that runs.
	Say func(line string)

	sets    map[string]*Data
	reasons map[string]string // by key of the setup, why it could not be run
	used    map[*Record]bool
	cost    map[string][2]float64 // by set, the seconds and the number of its runs
	minutes int                   // that it was last told will take
	alike   struct {              // the last comparison for opponents, and of which run
		key string
		of  *opponent.Alike
	}
}

func (l *Lab) say(format string, args ...any) {
	if l.Say != nil {
		l.Say(fmt.Sprintf(format, args...))
	}
}

// Method names what is run.
type Method string

// Func runs a task once: it adds to Seconds, and fills in the rest the first time.
type Func func(ctx context.Context, t *Task) error

// Task is a record that is being made.
type Task struct {
	*Record
	Lab  *Lab
	Data *Data
	// Detailed asks for Record.Detail.
	Detailed bool
	setup    Setup
	views    []*mvclust.View
}

// Case is what is run in turn.
type Case struct {
	Label string
	// Setups are run in turn, Rounds times (0 stands for once), or fewer once they took
	// Enough seconds together, where that is not 0. Beside is run once, after them, with the
	// first BesideSeeds of the seeds; 0 stands for all.
	Setups, Beside []Setup
	Rounds         int
	Enough         float64
	// Seeds is how often that is done, with the seeds 0, 1 and so on; 0 stands for once. From
	// is the first seed: what is before it is another case's. Those after one whose run took
	// more than Long seconds of processors are left out, where that is not 0.
	Seeds, BesideSeeds, From int
	Long                     float64
	// Detailed asks for Record.Detail of the first seed.
	Detailed bool
}

// long reports whether a run before that of a seed says that there need be no more.
func (l *Lab) long(c *Case, seed int) bool {
	if c.Long == 0 || seed == 0 {
		return false
	}
	r := l.Store.records[recordKey(c.Setups[0], 0)]
	return r != nil && (r.Reason != "" || Processor.Of(r) > c.Long)
}

func (l *Lab) seeds(c *Case) int {
	if l.Quick {
		return 1
	}
	return max(1, c.Seeds)
}

// Run runs what the store does not have of the cases. What cannot be run has a reason; the
// error is that of ctx or of the store, or that nothing at all can be run.
func (l *Lab) Run(ctx context.Context, cases []Case) error {
	l.reasons, l.used, l.cost = make(map[string]string), make(map[*Record]bool), make(map[string][2]float64)
	if l.PageOnly {
		return nil
	}
	detailed := make(map[string]bool)
	for i := range cases {
		for _, s := range cases[i].Setups {
			detailed[s.Key()] = detailed[s.Key()] || cases[i].Detailed
		}
	}
	for _, r := range l.Store.records {
		l.spent(r)
	}
	if n := len(l.Store.records); n > 0 {
		l.say("what is among %s is not run again", Count(n, "record"))
	}
	for i := range cases {
		c := &cases[i]
		for seed := c.From; seed < l.seeds(c) && !l.long(c, seed); seed++ {
			if err := l.runCase(ctx, c, uint64(seed), detailed, fmt.Sprintf("%d/%d %s", i+1, len(cases), c.Label)); err != nil {
				return err
			}
		}
		if last := i+1 == len(cases); last || cases[i+1].Setups[0].data() != c.Setups[0].data() {
			l.drop(c.Setups[0])
		}
		l.left(cases[i+1:])
	}
	good := func(r *Record) bool { return r.Reason == "" }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(l.used)), good) {
		for r := range l.used {
			l.reasons[r.Setup.Key()] = r.Reason
		}
		for _, reason := range l.reasons {
			return fmt.Errorf("nothing could be run: %s; name a folder of data sets by --data, or choose other sets", reason)
		}
	}
	if l.Quick {
		return nil
	}
	for key, r := range l.Store.records {
		if l.sets[r.Setup.data()] != nil && !l.used[r] {
			delete(l.Store.records, key) // nobody asks for it any more
		}
	}
	return l.Store.save()
}

// spent remembers the time that a run took.
func (l *Lab) spent(r *Record) {
	of := l.cost[r.Setup.data()]
	l.cost[r.Setup.data()] = [2]float64{of[0] + r.Median(), of[1] + 1}
}

// left tells about how long the cases will take: as long as runs of the same set took.
func (l *Lab) left(cases []Case) {
	seconds := 0.0
	for i := range cases {
		for _, s := range cases[i].Setups {
			if of := l.cost[s.data()]; of[1] > 0 && l.reasons[s.Key()] == "" && l.Store.records[recordKey(s, uint64(cases[i].From))] == nil && !l.long(&cases[i], cases[i].From) {
				seconds += of[0] / of[1] * float64((l.seeds(&cases[i])-cases[i].From)*max(1, cases[i].Rounds))
			}
		}
	}
	if minutes := int(seconds / 60); minutes != l.minutes && minutes > 0 {
		l.minutes = minutes
		l.say("about %s left", Count(minutes, "minute"))
	}
}

// task returns a task with the record that the store has, if any; nil where the set cannot be
// used, for which there is a reason then.
func (l *Lab) task(ctx context.Context, s Setup, seed uint64, detailed bool) (*Task, error) {
	if l.reasons[s.Key()] != "" {
		return nil, nil
	}
	data, err := l.open(s)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if l.Quick && s.File != "" && !l.Small(s.File) {
		err = errors.New("left out by --quick")
	}
	if err != nil {
		l.reasons[s.Key()] = l.portable(err).Error()
		return nil, nil
	}
	t := &Task{Lab: l, Data: data, setup: s, Detailed: detailed && seed == 0}
	t.Record = l.Store.find(s, seed, data.SHA256, l.machine(), t.Detailed, false)
	return t, nil
}

// Lasting is an error that another run would end with, too: the run is not tried again.
type Lasting struct{ Reason string }

// Error returns the reason.
func (e *Lasting) Error() string { return e.Reason }

// known reports whether there are records of all tasks. What failed wholly is tried again, unless
// it would fail again.
func known(all []*Task) bool {
	good := len(all) == 0
	for _, t := range all {
		if t.Record == nil {
			return false
		}
		good = good || t.Reason == "" || t.Lasting
	}
	return good
}

// runCase runs a case with a seed, unless all is known.
func (l *Lab) runCase(ctx context.Context, c *Case, seed uint64, detailed map[string]bool, label string) error {
	var all []*Task
	turns := 0
	setups := slices.Clone(c.Setups)
	if c.BesideSeeds == 0 || seed < uint64(c.BesideSeeds) {
		setups = append(setups, c.Beside...)
	}
	for i, s := range setups {
		t, err := l.task(ctx, s, seed, detailed[s.Key()])
		if err != nil {
			return err
		}
		if t != nil {
			all = append(all, t)
		}
		if i < len(c.Setups) {
			turns = len(all)
		}
	}
	if known(all) {
		for _, t := range all {
			l.used[t.Record] = true
		}
		return nil
	}
	// Times may be compared within a case, so all of it is run anew, or nothing.
	for _, t := range all {
		t.begin(seed)
	}
	began := time.Now()
	waiting := time.AfterFunc(20*time.Second, func() { l.say("%s, seed %d: running", label, seed) })
	defer waiting.Stop()
	total := 0.0
	for round := 0; round == 0 || round < c.Rounds && (c.Enough == 0 || total < c.Enough); round++ {
		for _, t := range all[:turns] {
			if err := l.once(ctx, t); err != nil {
				return err
			}
			if n := len(t.Seconds); n > 0 {
				total += t.Seconds[n-1]
			}
		}
	}
	for _, t := range all[turns:] {
		if err := l.once(ctx, t); err != nil {
			return err
		}
	}
	var words []string
	for _, t := range all {
		l.Store.Add(t.Record)
		l.used[t.Record] = true
		l.spent(t.Record)
		words = append(words, t.summary())
	}
	l.say("%s, seed %d: %s; %v", label, seed, strings.Join(words, ", "), time.Since(began).Round(10*time.Millisecond))
	return l.Store.save()
}

// begin begins a new record of a task.
func (t *Task) begin(seed uint64) {
	t.Record = &Record{
		Setup: t.setup, Seed: seed, Version: mvclust.Version, SHA256: t.Data.SHA256,
		Machine: t.Lab.machine(), Date: time.Now().UTC().Format(time.DateOnly),
	}
}

// once runs a task once. Only the context's own error is returned: another is the reason
// why there is no record.
func (l *Lab) once(ctx context.Context, t *Task) error {
	if t.Reason != "" {
		return nil
	}
	run := l.Methods[t.Setup.Method]
	if run == nil {
		run = common(t.Setup.Method)
	}
	err := l.make(ctx, t.Data)
	switch {
	case err != nil:
	case run == nil:
		err = fmt.Errorf("there is no method %q", t.Setup.Method)
	default:
		runtime.GC() // so that it does not pay for what was before
		err = run(ctx, t)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		_, t.Lasting = errors.AsType[*Lasting](err)
		t.Reason, t.Seconds = l.portable(err).Error(), nil
	}
	return nil
}

// summary says in a few words what came of a record.
func (r *Record) summary() string {
	s := fmt.Sprintf("%.3gs", r.Median())
	switch {
	case r.Reason != "":
		s = "cannot be run: " + r.Reason
	case r.Scores != nil:
		s = fmt.Sprintf("ARI %.1f in %s", 100*r.Scores.ARI, s)
	}
	return strings.TrimSpace(string(r.Setup.Method) + " " + s)
}

// Of returns the records of a setup with its first seeds, or why there are none.
func (l *Lab) Of(s Setup, seeds int) (Records, string) {
	if reason := l.reasons[s.Key()]; reason != "" {
		return nil, reason
	}
	var list Records
	for seed := range max(1, seeds) {
		sha := ""
		if d := l.sets[s.data()]; d != nil {
			sha = d.SHA256
		}
		r := l.Store.find(s, uint64(seed), sha, l.machine(), false, l.PageOnly || s.Synth != nil)
		if r == nil {
			break
		}
		if r.Reason != "" {
			return nil, r.Reason
		}
		list = append(list, r)
	}
	if list == nil {
		return nil, "not run"
	}
	return list, ""
}

// One returns the first record of a setup, nil where there is none.
func (l *Lab) One(s Setup) *Record {
	if list, _ := l.Of(s, 1); list != nil {
		return list[0]
	}
	return nil
}
