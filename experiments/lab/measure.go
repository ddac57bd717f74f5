package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/score"
)

// Clustering makes a method of a function that finds the labels of the samples.
func Clustering(find func(ctx context.Context, t *Task, views []*mvclust.View) ([]int, error)) Func {
	return func(ctx context.Context, t *Task) error {
		views, err := t.Views(ctx)
		if err != nil {
			return err
		}
		peak := watch()
		start, worked := time.Now(), processor()
		labels, err := find(ctx, t, views)
		seconds := time.Since(start).Seconds()
		worked = processor() - worked
		bytes := peak()
		if err != nil {
			return err
		}
		t.Seconds = append(t.Seconds, Round(seconds))
		t.Set(string(Processor), worked)
		if len(t.Seconds) > 1 {
			return nil
		}
		t.Peak = bytes
		return t.Score(labels)
	}
}

// ErrLasts ends a context that Bounded made.
var ErrLasts = errors.New("the run takes too much time of processors")

// Bounded returns a context that ends with the cause ErrLasts once processors have worked for this
// process as long as that.
func Bounded(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithCancelCause(ctx)
	from := processor()
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if processor()-from > most.Seconds() {
					cancel(ErrLasts)
					return
				}
			case <-bounded.Done():
				return
			}
		}
	}()
	return bounded, func() { cancel(nil) }
}

// Views returns the views that the setup asks for, and counts the incomplete samples.
func (t *Task) Views(ctx context.Context) ([]*mvclust.View, error) {
	if t.views != nil {
		return t.views, nil
	}
	err := t.Data.load(ctx)
	if err == nil {
		t.views, err = t.Data.prepare(t.Setup, t.Seed)
	}
	if err != nil {
		return nil, err
	}
	t.Incomplete = incomplete(t.views)
	runtime.GC() // so that the run does not pay for it
	return t.views, nil
}

// Score holds labels against the classes.
func (t *Task) Score(labels []int) error {
	found, err := score.Compare(t.Data.labels, labels)
	if err != nil {
		return err
	}
	t.Scores, t.Large = &found, 0
	size := make(map[int]int)
	for _, l := range labels {
		if size[l]++; size[l] == LargeCluster {
			t.Large++
		}
	}
	return nil
}

// watch looks at the memory until the function that it returns is called, which returns by
// how much the heap grew at the most.
func watch() (end func() int64) {
	before := heap()
	stop, stopped := make(chan struct{}), make(chan int64)
	go func() {
		most := before
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, heap())
			case <-stop:
				stopped <- max(most, heap()) - before
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-stopped
	}
}

// heap returns the bytes of all values on the heap, those that are no longer used and not
// yet freed among them.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// machine is the machine where times are what is measured.
func (l *Lab) machine() string {
	if !l.Timed {
		return ""
	}
	return Machine()
}

// Machine describes the machine that this runs on.
func Machine() string {
	words := []string{runtime.GOOS + "/" + runtime.GOARCH, fmt.Sprintf("%d cores", runtime.NumCPU())}
	// Only Linux has these files; elsewhere there is less to say.
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		words = append([]string{field(string(text), "model name")}, words...)
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		kilobytes, _, _ := strings.Cut(field(string(text), "MemTotal"), " ")
		if n, err := strconv.ParseInt(kilobytes, 10, 64); err == nil {
			words = append(words, Bytes(n<<10)+" of memory")
		}
	}
	return strings.TrimPrefix(strings.Join(append(words, "inner loops "+kernel.Best().Name), ", "), ", ")
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
