package neighbour

import (
	"cmp"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
)

// cells are the rows divided into cells: an inverted file.
type cells struct {
	own     []int32   // by row: its cell
	rows    block     // sorted by cell, then by number
	start   []int     // by cell: its first row in rows
	panels  []float32 // the rows, packed as columns
	panel   []int     // by cell: where its panels begin, in rows
	maxRows int       // rows of a cell that a row is compared with

	others       int     // number of cells that a row probes beside its own
	probed       []int32 // by row: these cells
	probers      []int32 // sorted by cell: the rows that probe it, in the order of rows
	probersStart []int   // by cell: its first prober
}

func (c *cells) count() int { return len(c.start) - 1 }

// probedBy returns the cells that a row probes beside its own.
func (c *cells) probedBy(r int32) []int32 { return c.probed[int(r)*c.others:][:c.others] }

// cells puts every row into the cell of the nearest centre. A row probes that cell and the
// next nearest ones, probes in all.
func (f *finder) cells(centres block, probes int) (*cells, error) {
	near, err := f.near(f.reduced, centres, probes, bestFirst)
	if err != nil {
		return nil, err
	}
	own, probed := split(near, probes)
	return f.divided(own, probed, centres.count())
}

// divided is cells where the own cell of every row is known, and the others that it probes, as many
// for each.
func (f *finder) divided(own, probed []int32, count int) (c *cells, err error) {
	n := f.rows.count()
	c = &cells{own: own, probed: probed, maxRows: max(4096, 16*n/count&^(partRows-1)), others: len(probed) / n}
	if c.start, c.rows.id, err = f.groupByCell(c.own, count, f.rows.id, 1); err != nil {
		return nil, err
	}
	if err = f.arrange(c.rows.id); err != nil {
		return nil, err
	}
	c.rows.data, c.rows.dims, c.rows.index = f.reduced.data, f.reduced.dims, make([]int32, n)
	if c.probersStart, c.probers, err = f.groupByCell(c.probed, count, c.rows.id, c.others); err != nil {
		return nil, err
	}
	for at, r := range c.rows.id {
		c.rows.index[at] = f.reduced.index[r]
	}
	for i := range f.perThread {
		f.perThread[i].part = partScratch{} // its size depends on the cells
	}
	return c, f.pack(c)
}

// arrange puts the reduced rows into the given order in memory, so that rows of one cell lie
// together. Rows that are not reduced stay where they are, and those without an index are in that order.
func (f *finder) arrange(order []int32) error {
	d := f.reduced.dims
	if d == f.rows.dims {
		return nil
	}
	if f.reduced.index == nil {
		f.reduced.index = make([]int32, len(order))
		for at, r := range order {
			f.reduced.index[r] = int32(at)
		}
		return f.ctx.Err()
	}
	data, index := make([]float32, len(order)*d), make([]int32, len(order))
	err := parallel.Blocks(f.ctx, f.threads, len(order), 1024, func(_, lo, hi int) {
		for at := lo; at < hi; at++ {
			copy(data[at*d:][:d], f.reduced.of(int(order[at])))
			index[order[at]] = int32(at)
		}
	})
	f.reduced.data, f.reduced.index = data, index
	return err
}

// split separates the nearest cell of every row from its other ones, per in all. It reuses
// the memory of near.
func split(near []int32, per int) (own, others []int32) {
	own = make([]int32, len(near)/per)
	for r := range own {
		own[r] = near[r*per]
		copy(near[r*(per-1):], near[r*per+1:(r+1)*per])
	}
	return own, near[:len(own)*(per-1)]
}

// pack packs the rows of every cell, which are compared with those of many others.
func (f *finder) pack(c *cells) error {
	count, width := c.count(), f.kernel.Columns
	c.panel = make([]int, count+1)
	for cell := range count {
		c.panel[cell+1] = c.panel[cell] + kernel.Panels(c.start[cell+1]-c.start[cell], width)*width
	}
	c.panels = make([]float32, c.panel[count]*c.rows.dims)
	return parallel.Blocks(f.ctx, f.threads, count, 16, func(_, lo, hi int) {
		for cell := lo; cell < hi; cell++ {
			rows := c.rows.part(c.start[cell], c.start[cell+1])
			f.kernel.Pack(c.panels[c.panel[cell]*rows.dims:], rows.data, rows.dims, rows.index, width)
		}
	})
}

// part is a range of rows of one cell that are searched together.
type part struct{ cell, lo, hi int }

// partRows bounds the rows of a part, so that their candidates stay in the caches.
const partRows = 512

// parts cuts the cells into parts.
func (c *cells) parts() (parts []part) {
	for cell := range c.count() {
		for lo := c.start[cell]; lo < c.start[cell+1]; lo += partRows {
			parts = append(parts, part{cell, lo, min(lo+partRows, c.start[cell+1])})
		}
	}
	return parts
}

// chunk returns the number of chunks of at most maxRows rows in a cell, and the chunk that
// the rows of a part are compared with. A cell far larger than the others holds rows that
// are all alike, of which any chunk will do. In its own cell, a part takes its own chunk.
func (c *cells) chunk(cell int, of part) (chunk, chunks int) {
	chunks = max(1, (c.start[cell+1]-c.start[cell]+c.maxRows-1)/c.maxRows)
	if cell == of.cell {
		return (of.lo - c.start[cell]) / c.maxRows, chunks
	}
	return of.cell % chunks, chunks
}

// columns returns the rows of a cell that the rows of a part are compared with.
func (c *cells) columns(cell int, of part) block {
	lo, hi := c.start[cell], c.start[cell+1]
	chunk, _ := c.chunk(cell, of)
	rows := c.rows.part(lo, hi)
	rows.panels = c.panels[c.panel[cell]*rows.dims:]
	return rows.part(chunk*c.maxRows, min((chunk+1)*c.maxRows, hi-lo))
}

// cost estimates the number of pairs that a part compares. It takes a part to probe as many
// rows as probe its cell.
func (c *cells) cost(p part) float64 {
	columns := min(c.maxRows, c.start[p.cell+1]-c.start[p.cell]) + 2*(c.probersStart[p.cell+1]-c.probersStart[p.cell])
	return float64(p.hi-p.lo) * float64(columns)
}

// partScratch is one thread's memory for a part.
type partScratch struct {
	best     *topK
	place    []int32
	some     block    // the rows that probe a cell
	cells    []int32  // the cells that rows of the part probe
	order    []int32  // sorted by cell: the rows, by place in the part, that probe it
	start    []int    // by cell: its first entry in order
	rank     []int32  // by cell: its place in cells, counted from 1; 0 where not probed
	compared []uint64 // by row of the part: one bit for each of cells, set where it probes it
	words    int      // of compared, per row
}

// searchPart fills the lists of the rows of a part, and returns the rows that have fewer
// than k neighbours. It begins with the part's own cell and the cells that most of its rows
// probe. These are the nearest, so the thresholds rise early and most later candidates are
// rejected.
func (f *finder) searchPart(l *scratch, c *cells, p part) (short []int32) {
	v := &l.part
	if v.best == nil {
		more := 0
		if f.reduced.dims < f.rows.dims {
			more = f.extra()
		}
		v.best, v.place = f.newTopK(partRows, more, (f.k+more)/2), numbers(partRows)
		v.start, v.rank = make([]int, c.count()+2), make([]int32, c.count())
	}
	rows := c.rows.part(p.lo, p.hi)
	rows.row = v.place[:rows.count()]
	v.best.reset(rows.count())
	l.product.multiply(f.ctx, f.sum, v.best, rows, c.columns(p.cell, p), oneWay)
	v.sort(c, rows.id)
	for _, cell := range v.cells {
		order := v.order[v.start[cell]:v.start[cell+1]]
		v.some.selectFrom(rows, order)
		v.some.row = order
		l.product.multiply(f.ctx, f.sum, v.best, v.some, c.columns(int(cell), p), oneWay)
	}
	f.compareProbers(l, c, p, rows)
	for t, r := range rows.id {
		best := f.rerank(l, int(r), v.best.best(int32(t)))
		f.setList(int(r), best)
		if len(best) < f.k {
			short = append(short, r)
		}
	}
	return short
}

// sort sorts the rows by the cells that they probe, the cells of most rows first.
func (v *partScratch) sort(c *cells, rows []int32) {
	// While the rows are filled in, start[cell+1] is where the next row of the cell goes.
	clear(v.start)
	clear(v.rank)
	v.cells = v.cells[:0]
	for _, r := range rows {
		for _, cell := range c.probedBy(r) {
			if v.start[cell+2] == 0 {
				v.cells = append(v.cells, cell)
			}
			v.start[cell+2]++
		}
	}
	slices.SortFunc(v.cells, func(a, b int32) int {
		return cmp.Or(cmp.Compare(v.start[b+2], v.start[a+2]), cmp.Compare(a, b))
	})
	for cell := range c.count() {
		v.start[cell+2] += v.start[cell+1]
	}
	for at, cell := range v.cells {
		v.rank[cell] = int32(at + 1)
	}
	v.words = (len(v.cells) + 63) / 64
	v.order, v.compared = room(v.order, len(rows)*c.others), room(v.compared, len(rows)*v.words)
	clear(v.compared)
	for t, r := range rows {
		for _, cell := range c.probedBy(r) {
			v.order[v.start[cell+1]] = int32(t)
			v.start[cell+1]++
			at := v.rank[cell] - 1
			v.compared[t*v.words+int(at>>6)] |= 1 << (at & 63)
		}
	}
}

// compareProbers compares the rows of a part with the rows that probe their cell. It skips
// pairs that have been compared because the part's row probed the other's cell.
func (f *finder) compareProbers(l *scratch, c *cells, p part, rows block) {
	v := &l.part
	l.product.skip = func(place, id int32) bool {
		at := v.rank[c.own[id]] - 1
		return at >= 0 && v.compared[int(place)*v.words+int(at>>6)]>>(at&63)&1 != 0
	}
	chunk, chunks := c.chunk(p.cell, p)
	at := 0
	for probers := range slices.Chunk(c.probers[c.probersStart[p.cell]:c.probersStart[p.cell+1]], c.maxRows) {
		if at%chunks == chunk {
			v.some.selectFrom(f.reduced, probers)
			l.product.multiply(f.ctx, f.sum, v.best, rows, v.some, oneWay)
		}
		at++
	}
	l.product.skip = nil
}

// selectFrom makes b the rows at the given places.
func (b *block) selectFrom(rows block, places []int32) {
	b.data, b.dims, b.row = rows.data, rows.dims, nil
	b.index, b.id = b.index[:0], b.id[:0]
	for _, t := range places {
		b.index = append(b.index, rows.index[t])
		b.id = append(b.id, rows.id[t])
	}
}
