package neighbour

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// A key is a candidate neighbour as one number: the bits of its similarity,
// turned so that they rise with it, above the bits of its number, turned so that
// they fall. A higher key is a better neighbour under the total order: similarity
// first, then the lower number.
type key uint64

func newKey(similarity float32, id int32) key {
	x := math.Float32bits(similarity + 0) // which makes -0 a 0
	if x>>31 != 0 {
		x = ^x
	} else {
		x |= 1 << 31
	}
	return key(x)<<32 | key(^uint32(id))
}

func (k key) id() int32 { return int32(^uint32(k)) }

func (k key) similarity() float32 {
	x := uint32(k >> 32)
	if x>>31 != 0 {
		x &^= 1 << 31
	} else {
		x = ^x
	}
	return math.Float32frombits(x)
}

// lowest is below the key of any similarity that is a number.
var lowest = newKey(float32(math.Inf(-1)), math.MaxInt32)

// bank keeps the best candidates of every one of a number of rows. What it keeps
// depends on the set of the candidates alone, not on the order in which they come.
// Rows of a shared bank that differ may be used by different goroutines under lock.
type bank struct {
	keep, room int   // of the candidates per row: how many are wanted, how many fit
	keys       []key // room per row
	fill       []int32
	bar        []key        // per row: no key below it can be among the best
	locks      []sync.Mutex // none in a bank of one goroutine
}

// newBank makes room for rows that keep the best keep of at most candidates
// candidates, in buffers of room keys, or fewer where there are fewer candidates: 8
// bytes per key, and 12 bytes, per row.
func newBank(rows, keep, room, candidates int) *bank {
	room = min(max(room, keep+1), candidates)
	b := &bank{
		keep: keep, room: room,
		keys: make([]key, rows*room),
		fill: make([]int32, rows),
		bar:  make([]key, rows),
	}
	b.reset(rows)
	return b
}

// share lets several goroutines use the bank.
func (b *bank) share() *bank {
	b.locks = make([]sync.Mutex, locks)
	return b
}

// reset empties the first rows.
func (b *bank) reset(rows int) {
	clear(b.fill[:rows])
	for i := range rows {
		b.bar[i] = lowest
	}
}

// Rows that lie together share a lock, so that one locking serves many.
const (
	locks     = 1 << 10
	lockShift = 8
)

// push adds a candidate that was not pushed before, and reports whether that has
// raised the row's bar.
func (b *bank) push(row int32, k key) bool {
	if k <= b.bar[row] {
		return false
	}
	at := int(row) * b.room
	b.keys[at+int(b.fill[row])] = k
	if b.fill[row]++; int(b.fill[row]) < b.room || b.room <= b.keep {
		return false
	}
	b.cut(row)
	return true
}

// cut reduces a row to its best.
func (b *bank) cut(row int32) {
	keys := b.of(row)
	if len(keys) <= b.keep {
		return
	}
	choose(keys, b.keep-1)
	b.fill[row], b.bar[row] = int32(b.keep), keys[b.keep-1]
}

// best returns the best keys of a row, in no order.
func (b *bank) best(row int32) []key {
	b.cut(row)
	return b.of(row)
}

func (b *bank) of(row int32) []key {
	at := int(row) * b.room
	return b.keys[at : at+int(b.fill[row])]
}

// choose puts the key of the given rank in its place, higher ones before it and
// lower ones behind. The keys are distinct.
func choose(keys []key, rank int) {
	for len(keys) > 12 {
		last := len(keys) - 1
		pivot := middle(keys[0], keys[last/2], keys[last])
		// No branch may depend on the keys, since none can be foreseen: every key is
		// swapped to the border, which moves on unless the key is below the pivot.
		border := 0
		for i, k := range keys {
			keys[i] = keys[border]
			keys[border] = k
			_, below := bits.Sub64(uint64(k), uint64(pivot), 0)
			border += 1 - int(below)
		}
		if rank < border {
			keys = keys[:border]
			if rank == border-1 || border == last+1 {
				lowestLast(keys)
				if rank == border-1 {
					return
				}
				keys = keys[:border-1]
			}
		} else {
			keys, rank = keys[border:], rank-border
		}
	}
	sortFalling(keys)
}

// middle returns the middle one of three keys.
func middle(a, b, c key) key { return max(min(a, b), min(max(a, b), c)) }

// lowestLast swaps the lowest key to the end.
func lowestLast(keys []key) {
	least := 0
	for i, k := range keys {
		if k < keys[least] {
			least = i
		}
	}
	last := len(keys) - 1
	keys[least], keys[last] = keys[last], keys[least]
}

// sortFalling sorts the best key to the front.
func sortFalling(keys []key) {
	slices.Sort(keys)
	slices.Reverse(keys)
}

// pushAll adds hits under the locks of their rows, and reports whether that has raised
// a bar.
func (b *bank) pushAll(hits []hit) (raised bool) {
	var held *sync.Mutex
	for _, h := range hits {
		held = b.hold(h.row, held)
		if b.push(h.row, h.key) {
			raised = true
		}
	}
	release(held)
	return raised
}

// bars sets dst to the least similarities that the rows still take.
func (b *bank) bars(dst []float32, rows []int32) {
	var held *sync.Mutex
	for i, row := range rows {
		held = b.hold(row, held)
		dst[i] = b.bar[row].similarity()
	}
	release(held)
}

// hold returns the locked lock of row, having released another that was held.
func (b *bank) hold(row int32, held *sync.Mutex) *sync.Mutex {
	if b.locks == nil {
		return nil
	}
	lock := &b.locks[int(row)>>lockShift&(len(b.locks)-1)]
	if lock != held {
		release(held)
		lock.Lock()
	}
	return lock
}

func release(held *sync.Mutex) {
	if held != nil {
		held.Unlock()
	}
}
