package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mvclust/mvclust/internal/parallel"
)

func TestThreads(t *testing.T) {
	for n, want := range map[int]int{1: 1, 7: 7, 0: runtime.GOMAXPROCS(0), -3: runtime.GOMAXPROCS(0)} {
		if got := parallel.Threads(n); got != want {
			t.Errorf("Threads(%d) is %d, want %d", n, got, want)
		}
	}
}

// TestBlocks holds that every item is done once, in ranges that n and block
// alone fix, and that no worker runs two of them at a time.
func TestBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		n, block, threads := random.IntN(200), 1+random.IntN(50), random.IntN(9)
		if random.IntN(10) == 0 {
			threads = math.MaxInt
		}
		done := make([]atomic.Int32, n)
		busy := make([]atomic.Bool, min(parallel.Threads(threads), n))
		err := parallel.Blocks(t.Context(), threads, n, block, func(worker, lo, hi int) {
			if worker < 0 || worker >= len(busy) {
				t.Errorf("worker %d of %d", worker, len(busy))
				return
			}
			if busy[worker].Swap(true) {
				t.Errorf("worker %d runs twice", worker)
			}
			defer busy[worker].Store(false)
			if lo%block != 0 || hi != min(lo+block, n) {
				t.Errorf("range [%d, %d) of %d in blocks of %d", lo, hi, n, block)
			}
			for i := lo; i < hi; i++ {
				done[i].Add(1)
			}
			runtime.Gosched()
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range done {
			if times := done[i].Load(); times != 1 {
				t.Fatalf("n=%d, block=%d, threads=%d: item %d was done %d times", n, block, threads, i, times)
			}
		}
	}
}

// TestOrder holds that one thread does the ranges in order.
func TestOrder(t *testing.T) {
	var starts []int
	if err := parallel.Blocks(t.Context(), 1, 10, 3, func(_, lo, _ int) { starts = append(starts, lo) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(starts, []int{0, 3, 6, 9}) {
		t.Errorf("ranges start at %v", starts)
	}
}

// TestTogether holds that the threads run at one time: each waits for all.
func TestTogether(t *testing.T) {
	const threads = 4
	var all sync.WaitGroup
	all.Add(threads)
	var workers [threads]atomic.Int32
	err := parallel.Blocks(t.Context(), threads, threads, 1, func(worker, _, _ int) {
		workers[worker].Add(1)
		all.Done()
		all.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
	for w := range workers {
		if times := workers[w].Load(); times != 1 {
			t.Errorf("worker %d ran %d times", w, times)
		}
	}
}

func TestNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, n := range []int{0, -1} {
		if err := parallel.Blocks(ctx, 2, n, 4, func(int, int, int) { t.Error("called") }); err != nil {
			t.Error(err)
		}
	}
	cancel()
	for _, n := range []int{0, 10} {
		if err := parallel.Blocks(ctx, 2, n, 4, func(int, int, int) { t.Error("called") }); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		var calls, running atomic.Int32
		err := parallel.Blocks(ctx, threads, 1000, 1, func(_, lo, _ int) {
			running.Add(1)
			defer running.Add(-1)
			calls.Add(1)
			if lo == 20 {
				cancel()
			}
			if lo >= 20 {
				<-ctx.Done()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads: error %v", threads, err)
		}
		if running.Load() != 0 {
			t.Errorf("%d threads: %d calls were still running", threads, running.Load())
		}
		// Ranges 0 to 20 were begun before the end, and one more by each other thread.
		if got := int(calls.Load()); got < 21 || got > 21+threads-1 {
			t.Errorf("%d threads: %d calls", threads, got)
		}
	}
}

// TestRanges holds that the ranges cover every item once, that there are no more of
// them than threads and processors, and that they are much alike in size.
func TestRanges(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 5, 16, 0, -1, 1000, math.MaxInt} {
		ranges := min(parallel.Threads(threads), runtime.GOMAXPROCS(0))
		for n := range 70 {
			done := make([]atomic.Int32, n)
			var calls atomic.Int64
			err := parallel.Ranges(t.Context(), threads, n, func(lo, hi int) {
				calls.Add(1)
				if most := (n-1)/ranges + 1; lo >= hi || hi-lo > most {
					t.Errorf("n=%d, threads=%d: range [%d, %d)", n, threads, lo, hi)
				}
				for i := lo; i < hi; i++ {
					done[i].Add(1)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if calls.Load() > int64(ranges) {
				t.Errorf("n=%d, threads=%d: %d ranges", n, threads, calls.Load())
			}
			for i := range done {
				if times := done[i].Load(); times != 1 {
					t.Fatalf("n=%d, threads=%d: item %d was done %d times", n, threads, i, times)
				}
			}
		}
	}
	if err := parallel.Ranges(t.Context(), 2, -1, func(int, int) { t.Error("called") }); err != nil {
		t.Error(err)
	}
}

// TestRangesTogether holds that the ranges are done at one time: each waits for all.
func TestRangesTogether(t *testing.T) {
	ranges := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	all.Add(ranges)
	err := parallel.Ranges(t.Context(), ranges, 10*ranges, func(int, int) {
		all.Done()
		all.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRangesCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := parallel.Ranges(ctx, 3, 90, func(int, int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for _, n := range []int{0, 10} {
		if err := parallel.Ranges(ctx, 2, n, func(int, int) { t.Error("called") }); !errors.Is(err, context.Canceled) {
			t.Errorf("%d items: error %v", n, err)
		}
	}
}

func TestCounter(t *testing.T) {
	parallel.Counter(nil)(3) // must do nothing
	var sums []int
	var inside atomic.Int32
	tick := parallel.Counter(func(done int) {
		if inside.Add(1) != 1 {
			t.Error("two calls at one time")
		}
		sums = append(sums, done)
		runtime.Gosched()
		inside.Add(-1)
	})
	var wg sync.WaitGroup
	want := 0
	for n := 1; n <= 50; n++ {
		want += n
		wg.Go(func() { tick(n) })
	}
	wg.Wait()
	if len(sums) != 50 || sums[49] != want || !slices.IsSorted(sums) || len(slices.Compact(slices.Clone(sums))) != 50 {
		t.Errorf("sums %v, want 50 that rise to %d", sums, want)
	}
}

// A panic of any worker reaches the caller, and stops the others.
func TestPanic(t *testing.T) {
	for _, bad := range []int{0, 1, 57, 99} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.HasPrefix(fmt.Sprint(p), "block lost") {
					t.Errorf("block %d: recovered %v", bad, p)
				}
			}()
			_ = parallel.Blocks(t.Context(), 4, 100, 1, func(_, lo, _ int) {
				if lo == bad {
					panic("block lost")
				}
			})
		}()
	}
}

// Scratch space is made for every thread, so that there cannot be any number of them.
func TestThreadsBounded(t *testing.T) {
	if n := parallel.Threads(math.MaxInt); n < runtime.GOMAXPROCS(0) || n > max(1024, runtime.GOMAXPROCS(0)) {
		t.Errorf("%d threads", n)
	}
	if n := parallel.Threads(math.MinInt); n != runtime.GOMAXPROCS(0) {
		t.Errorf("%d threads, want %d", n, runtime.GOMAXPROCS(0))
	}
}

// BenchmarkBlocks measures what handing out a range costs.
func BenchmarkBlocks(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			const ranges = 1000
			b.ReportAllocs()
			for b.Loop() {
				if err := parallel.Blocks(b.Context(), threads, ranges, 1, func(int, int, int) {}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ranges, "ns/range")
		})
	}
}
