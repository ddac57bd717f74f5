package auto

import (
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/mvclust/mvclust/score"
)

// The modes are run at most so often, and no more once they took so many seconds.
const (
	mostRounds = 3
	longEnough = 2
)

// watching is how often the memory is looked at.
const watching = time.Millisecond

// measure runs do, whose labels must be the same each time, and keeps the first time's
// scores and memory.
func (r *Run) measure(labels []int, do func() ([]int, error)) error {
	runtime.GC() // so that it does not pay for what was before
	peak := watch()
	start := time.Now()
	found, err := do()
	seconds := time.Since(start).Seconds()
	bytes := peak()
	if err != nil {
		return err
	}
	r.Seconds = append(r.Seconds, round(seconds))
	if len(r.Seconds) > 1 {
		return nil
	}
	r.Peak, r.Large = bytes, clusters(found)
	r.Scores, err = score.Compare(labels, found)
	return err
}

// spent returns the seconds that all of the times took.
func (r *Run) spent() float64 {
	sum := 0.0
	for _, x := range r.Seconds {
		sum += x
	}
	return sum
}

// clusters counts the clusters that are large enough to be counted.
func clusters(labels []int) int {
	size := make(map[int]int)
	for _, l := range labels {
		size[l]++
	}
	n := 0
	for _, s := range size {
		if s >= large {
			n++
		}
	}
	return n
}

// watch looks at the memory until the function that it returns is called, which returns
// by how much it grew at the most.
func watch() (end func() int64) {
	before := heap()
	stop, stopped := make(chan struct{}), make(chan int64)
	go func() {
		most := before
		t := time.NewTicker(watching)
		defer t.Stop()
		for {
			select {
			case <-t.C:
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

// heap returns the bytes of all values on the heap, those that are no longer used and
// not yet freed among them.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// round keeps five digits, more than any clock here is good for.
func round(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	return rounded
}
