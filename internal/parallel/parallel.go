// Package parallel spreads independent pieces of work over goroutines.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// most bounds the threads, since callers make scratch space for each.
const most = 1024

// Threads returns n, or the number of usable processors where n is 0 or less. It is at most
// 1024, or that number where it is larger.
func Threads(n int) int {
	usable := runtime.GOMAXPROCS(0)
	if n > 0 {
		return min(n, max(most, usable))
	}
	return usable
}

// Blocks calls do(worker, lo, hi) for consecutive ranges [lo, hi) of at most
// block items that together cover [0, n). Ranges are fixed by n and block alone
// and are handed out in order, so whatever do computes for a range cannot depend
// on the number of threads. worker is in [0, threads) and is never shared by two
// calls at one time: it may index scratch space. Blocks stops early, and
// returns the context's error, when ctx is done. Where do panics, so does Blocks, in the
// goroutine that called it.
func Blocks(ctx context.Context, threads, n, block int, do func(worker, lo, hi int)) error {
	if n <= 0 {
		return ctx.Err()
	}
	blocks := (n + block - 1) / block
	threads = min(Threads(threads), blocks)
	var next atomic.Int64
	var failed atomic.Pointer[string]
	work := func(worker int) {
		defer func() {
			if p := recover(); p != nil {
				what := fmt.Sprintf("%v\n\n%s", p, debug.Stack())
				failed.CompareAndSwap(nil, &what)
			}
		}()
		for ctx.Err() == nil && failed.Load() == nil {
			b := int(next.Add(1)) - 1
			if b >= blocks {
				return
			}
			do(worker, b*block, min((b+1)*block, n))
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < threads; w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	if what := failed.Load(); what != nil {
		panic(*what)
	}
	return ctx.Err()
}

// Ranges calls do(lo, hi) at once for ranges that together cover [0, n), as many as
// threads, but no more than there are processors: each may go through all the input
// for its own share of the output. Unlike those of Blocks, the ranges depend on
// threads: what do leaves behind must not.
func Ranges(ctx context.Context, threads, n int, do func(lo, hi int)) error {
	threads = min(Threads(threads), runtime.GOMAXPROCS(0), max(1, n))
	return Blocks(ctx, threads, n, max(1, (n+threads-1)/threads), func(_, lo, hi int) { do(lo, hi) })
}

// Counter returns a function that adds up the work done by all threads and
// reports the sum to progress, one call at a time. A nil progress is allowed.
func Counter(progress func(done int)) func(n int) {
	if progress == nil {
		return func(int) {}
	}
	var mu sync.Mutex
	done := 0
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		progress(done)
	}
}
