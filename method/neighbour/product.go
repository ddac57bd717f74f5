package neighbour

import (
	"context"
	"math"
	"math/bits"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/rank"
)

// block is a list of rows.
type block struct {
	data   []float32 // rows of dims values
	dims   int
	index  []int32   // the rows of data that the block has
	id     []int32   // by row: its number as a candidate
	row    []int32   // by row: its place in a topK
	panels []float32 // the rows packed as columns, or nil
}

func (b block) count() int { return len(b.index) }

// of returns the t-th row.
func (b block) of(t int) []float32 { return b.data[int(b.index[t])*b.dims:][:b.dims] }

// part returns a range of the rows. Where they are packed, it begins with a whole panel.
func (b block) part(lo, hi int) block {
	b.index, b.id = b.index[lo:hi], b.id[lo:hi]
	if b.row != nil {
		b.row = b.row[lo:hi]
	}
	if b.panels != nil {
		b.panels = b.panels[lo*b.dims:]
	}
	return b
}

// product compares blocks of rows, tile by tile, and hands candidates that reach a threshold
// to a topK. It is one thread's memory.
type product struct {
	kernel *kernel.Kernel
	dims   int // of the rows at hand

	a, b, c                         []float32 // panels of rows and of columns, tiles
	rowThresholds, columnThresholds []float32
	byRow, byColumn                 []uint32
	forward, backward               []hit
	skip                            func(place, id int32) bool // if not nil, whether a column is known to a row
}

// hit is a candidate for a row of a topK.
type hit struct {
	row int32
	key rank.Key
}

func newProduct(k *kernel.Kernel) *product {
	return &product{
		kernel:           k,
		columnThresholds: make([]float32, k.Columns),
		byRow:            make([]uint32, k.Rows), byColumn: make([]uint32, k.Rows),
	}
}

// Sizes that fit the caches of common processors: a panel of columns and
// partDims dimensions of it in the first level, partValues values of panels of
// rows in the second, stripValues of panels of columns in the third.
const (
	partDims    = 512
	partValues  = 96 << 10
	stripValues = 1 << 20
	maxPartRows = 1 << 10
	minStrip    = 256
	maxStrip    = 2048
	wholePanels = 32 // columns, of any kernel
)

// strip returns the number of columns packed at a time, in whole panels.
func strip(dims int) int {
	return max(minStrip, min(maxStrip, stripValues/dims)) &^ (wholePanels - 1)
}

// part returns the number of rows packed at a time, a multiple of a tile's.
func (p *product) part() int {
	rows := min(maxPartRows, partValues/min(p.dims, partDims))
	return max(1, rows/p.kernel.Rows) * p.kernel.Rows
}

// direction says which of rows and columns get the others as candidates.
type direction int

const (
	oneWay   direction = iota // rows get columns, but none gets itself
	bothWays                  // each gets the other, where the column has the higher number; numbers ascend in both
)

// multiply compares all rows with all columns and offers them to the topK. It stops early
// where ctx is done.
func (p *product) multiply(ctx context.Context, sum kernel.Sum, to *topK, rows, columns block, way direction) {
	p.dims = rows.dims
	width, high := strip(p.dims), p.part()
	for j := 0; j < len(columns.index); j += width {
		right := columns.part(j, min(j+width, len(columns.index)))
		panels := right.panels
		if panels == nil {
			p.b = p.pack(p.b, right, p.kernel.Columns)
			panels = p.b
		}
		for i := 0; i < len(rows.index); i += high {
			left := rows.part(i, min(i+high, len(rows.index)))
			if way == bothWays && left.id[0] >= right.id[len(right.id)-1] {
				continue
			}
			p.a = p.pack(p.a, left, p.kernel.Rows)
			p.compare(ctx, sum, to, left, right, panels, way)
			if ctx.Err() != nil {
				return
			}
		}
	}
}

func (p *product) pack(panels []float32, b block, width int) []float32 {
	need := kernel.Panels(len(b.index), width) * width * p.dims
	panels = room(panels, need)
	p.kernel.Pack(panels, b.data, p.dims, b.index, width)
	return panels
}

// room returns a slice of n values, of any content, in the memory of s where that suffices.
func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// compare multiplies packed rows with packed columns. Long rows are taken partDims dimensions
// at a time; the tiles of the whole strip then hold the partial sums.
func (p *product) compare(ctx context.Context, sum kernel.Sum, to *topK, left, right block, panels []float32, way direction) {
	k := p.kernel
	high, width := kernel.Panels(len(left.index), k.Rows), kernel.Panels(len(right.index), k.Columns)
	size, tiles := k.Rows*k.Columns, 1
	if p.dims > partDims {
		tiles = high * width
	}
	p.c = room(p.c, tiles*size)
	p.rowThresholds = room(p.rowThresholds, high*k.Rows)
	p.readThresholds(to, p.rowThresholds, left.row)
	p.noThresholds(p.columnThresholds)
	for from := 0; from < p.dims; from += partDims {
		dims := min(partDims, p.dims-from)
		last := from+dims == p.dims
		for j := range width {
			if ctx.Err() != nil {
				return
			}
			b := panels[(j*p.dims+from)*k.Columns:]
			ends := min((j+1)*k.Columns, len(right.id))
			if last && way == bothWays {
				p.readThresholds(to, p.columnThresholds, right.row[j*k.Columns:ends])
			}
			for i := range high {
				if way == bothWays && left.id[i*k.Rows] >= right.id[ends-1] {
					break
				}
				c := p.c[(i*width+j)%tiles*size:][:size]
				k.Tile(sum, dims, p.a[(i*p.dims+from)*k.Rows:], b, c, from > 0)
				if last && k.Above(c, p.rowThresholds[i*k.Rows:], p.columnThresholds, p.byRow, p.byColumn) {
					p.collect(c, left.part(i*k.Rows, min((i+1)*k.Rows, len(left.id))), right.part(j*k.Columns, ends), way)
				}
			}
			if last {
				p.deliver(to, left)
			}
		}
	}
}

// collect notes the entries of a tile that reach a threshold.
func (p *product) collect(c []float32, left, right block, way direction) {
	columns := uint32(1)<<len(right.id) - 1 // 1<<32 is 0, and all bits set is right
	for i, id := range left.id {
		row := c[i*p.kernel.Columns:][:p.kernel.Columns]
		for m := p.byRow[i] & columns; m != 0; m &= m - 1 {
			j := bits.TrailingZeros32(m)
			other := right.id[j]
			if other == id || other < id && way == bothWays || p.skip != nil && p.skip(left.row[i], other) {
				continue
			}
			p.forward = append(p.forward, hit{left.row[i], rank.New(row[j], other)})
		}
		for m := p.byColumn[i] & columns; m != 0; m &= m - 1 {
			if j := bits.TrailingZeros32(m); right.id[j] > id {
				p.backward = append(p.backward, hit{right.row[j], rank.New(row[j], id)})
			}
		}
	}
}

// deliver pushes the noted candidates and reads the rows' new thresholds.
func (p *product) deliver(to *topK, left block) {
	if to.pushAll(p.forward) {
		p.readThresholds(to, p.rowThresholds, left.row)
	}
	to.pushAll(p.backward)
	p.forward, p.backward = p.forward[:0], p.backward[:0]
}

// readThresholds sets thresholds to those of rows, and to +Inf beyond them.
func (p *product) readThresholds(from *topK, thresholds []float32, rows []int32) {
	from.thresholds(thresholds, rows)
	p.noThresholds(thresholds[len(rows):])
}

func (p *product) noThresholds(thresholds []float32) {
	for i := range thresholds {
		thresholds[i] = float32(math.Inf(1))
	}
}
