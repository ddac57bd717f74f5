package kernel_test

import (
	"testing"
	"unsafe"
)

// A guard hands out memory that ends where readable memory ends, on systems where
// that can be arranged, and that begins after a pattern. A kernel that reads or
// writes beyond the end of a slice kills the test; one that writes before its
// beginning fails it.
type guard struct {
	t       *testing.T
	regions [][]byte // Of each region the part before the slice.
	free    []func()
}

const pattern = 0xa5

func (g *guard) bytes(n int) unsafe.Pointer {
	region, free := region(n + 64)
	g.free = append(g.free, free)
	before := region[:len(region)-n]
	for i := range before {
		before[i] = pattern
	}
	g.regions = append(g.regions, before)
	return unsafe.Pointer(unsafe.SliceData(region[len(before):]))
}

func (g *guard) floats(n int) []float32 { return unsafe.Slice((*float32)(g.bytes(4*n)), n) }

func (g *guard) masks(n int) []uint32 { return unsafe.Slice((*uint32)(g.bytes(4*n)), n) }

func (g *guard) index(v []int32) []int32 {
	to := unsafe.Slice((*int32)(g.bytes(4*len(v))), len(v))
	copy(to, v)
	return to
}

func (g *guard) copy(v []float32) []float32 {
	to := g.floats(len(v))
	copy(to, v)
	return to
}

// check ends the use of everything that the guard has handed out.
func (g *guard) check() {
	g.t.Helper()
	for i, before := range g.regions {
		for at, v := range before {
			if v != pattern {
				g.t.Errorf("a kernel wrote %d bytes before a slice", len(before)-at)
				break
			}
		}
		g.free[i]()
	}
}
