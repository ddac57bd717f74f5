package neighbour

import (
	"math"
	"sync"

	"github.com/mvclust/mvclust/internal/rank"
)

// lowest is below the key of any similarity that is a number.
var lowest = rank.New(float32(math.Inf(-1)), math.MaxInt32)

// topK keeps the best candidates of each of a number of rows. They depend on the set of
// candidates alone, not on the order in which these come. A row collects candidates in a
// buffer; once this is full, it is cut to the best keep, and the last of these becomes the
// row's threshold.
type topK struct {
	keep, room int          // candidates per row: wanted, and room for
	full       int          // at so many, a row is cut
	keys       []rank.Key   // room per row
	fill       []int32      // by row: number of its candidates
	threshold  []rank.Key   // by row: only keys above it can be among the best
	locks      []sync.Mutex // none where one goroutine uses it
}

// newTopK makes room for rows that keep the best keep of at most candidates candidates. The
// buffers hold room keys, or fewer where there are fewer candidates. It takes 8 bytes per
// key and 12 per row.
func newTopK(rows, keep, room, candidates int) *topK {
	room = min(max(room, keep+1), candidates)
	b := &topK{
		keep: keep, room: room, full: room,
		keys:      make([]rank.Key, rows*room),
		fill:      make([]int32, rows),
		threshold: make([]rank.Key, rows),
	}
	b.reset(rows)
	return b
}

// locked lets several goroutines use b at a time.
func (b *topK) locked() *topK {
	b.locks = make([]sync.Mutex, locks)
	return b
}

// reset empties the first rows.
func (b *topK) reset(rows int) {
	clear(b.fill[:rows])
	for i := range rows {
		b.threshold[i] = lowest
	}
}

// 256 neighbouring rows share a lock, so that one locking serves many.
const (
	locks     = 1 << 10
	lockShift = 8
)

// sketchOf returns how many candidates a share of the rows must have, so that there are nearly always keep among all
// rows that are no worse than the last of them: as many as are expected, and three standard deviations. It returns 0
// where the share is so large that the others hardly cost more.
func sketchOf(keep int, share float64) int {
	if share > 1.0/3 {
		return 0
	}
	expected := float64(keep) * share
	return int(math.Ceil(expected+3*math.Sqrt(expected))) + 1
}

// sketched has first and then rest offer candidates to the given number of rows, which have none: the best of first, as many as sketch says,
// are a bar for rest. It returns, in the memory of short, the rows that have too few candidates in the end, and empties them: all
// candidates are to be offered to these once more.
func (b *topK) sketched(rows, sketch int, short []int32, first, rest func()) []int32 {
	keep := b.keep
	b.sketch(sketch)
	first()
	for row := range int32(rows) {
		b.cut(row)
	}
	b.resume(keep)
	rest()
	short = short[:0]
	for row := range int32(rows) {
		if int(b.fill[row]) < keep {
			b.empty(row)
			short = append(short, row)
		}
	}
	return short
}

// sketch makes all rows keep fewer candidates until resume, which leaves those that there are then.
func (b *topK) sketch(keep int) { b.keep, b.full = keep, min(b.room, 2*keep+8) }

// resume ends sketch.
func (b *topK) resume(keep int) { b.keep, b.full = keep, b.room }

// empty empties a row.
func (b *topK) empty(row int32) { b.fill[row], b.threshold[row] = 0, lowest }

// push adds a candidate, which must be new, and reports whether the row's threshold rose.
func (b *topK) push(row int32, k rank.Key) bool {
	if k <= b.threshold[row] {
		return false
	}
	at := int(row) * b.room
	b.keys[at+int(b.fill[row])] = k
	if b.fill[row]++; int(b.fill[row]) < b.full || b.full <= b.keep {
		return false
	}
	b.cut(row)
	return true
}

// cut reduces a row to its best keep candidates.
func (b *topK) cut(row int32) {
	keys := b.of(row)
	if len(keys) <= b.keep {
		return
	}
	rank.Select(keys, b.keep-1)
	b.fill[row], b.threshold[row] = int32(b.keep), keys[b.keep-1]
}

// best returns the best keys of a row, unsorted.
func (b *topK) best(row int32) []rank.Key {
	b.cut(row)
	return b.of(row)
}

func (b *topK) of(row int32) []rank.Key {
	at := int(row) * b.room
	return b.keys[at : at+int(b.fill[row])]
}

// pushAll adds hits under the locks of their rows, and reports whether a threshold rose.
func (b *topK) pushAll(hits []hit) (raised bool) {
	if b.locks == nil {
		for _, h := range hits {
			if b.push(h.row, h.key) {
				raised = true
			}
		}
		return raised
	}
	var held *sync.Mutex
	for _, h := range hits {
		held = b.lockRow(h.row, held)
		if b.push(h.row, h.key) {
			raised = true
		}
	}
	unlock(held)
	return raised
}

// thresholds sets dst to the least similarities that the rows still accept.
func (b *topK) thresholds(dst []float32, rows []int32) {
	var held *sync.Mutex
	for i, row := range rows {
		held = b.lockRow(row, held)
		dst[i] = b.threshold[row].Score()
	}
	unlock(held)
}

// lockRow locks the lock of row, unlocks held if it is another one, and returns the first.
func (b *topK) lockRow(row int32, held *sync.Mutex) *sync.Mutex {
	if b.locks == nil {
		return nil
	}
	lock := &b.locks[int(row)>>lockShift&(len(b.locks)-1)]
	if lock != held {
		unlock(held)
		lock.Lock()
	}
	return lock
}

func unlock(held *sync.Mutex) {
	if held != nil {
		held.Unlock()
	}
}
