package neighbour

import (
	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
)

// cells are rows put into cells.
type cells struct {
	home    []int32   // by row
	centres block     // the means of the rows, nearly
	rows    block     // by cell, and in each by number
	start   []int     // of the rows of each cell
	panels  []float32 // the rows, packed as columns
	panel   []int     // where those of each cell begin, in rows
	most    int       // rows of a cell that a row is compared with
	probes  int       // how many cells a row asks
	about   int       // among how many
	near    []int32   // by cell: the cells about it, nearest first and itself among them
}

func (c *cells) count() int { return len(c.start) - 1 }

// cells puts the rows into the cells of the nearest centres, and moves these to where the
// rows then are.
func (f *finder) cells(centres block) (*cells, error) {
	n, count := f.rows.count(), centres.count()
	c := &cells{centres: centres, most: max(4096, 16*n/count&^(partRows-1))}
	var err error
	if c.home, err = f.nearest(f.coarse, centres, 1); err != nil {
		return nil, err
	}
	c.rows = block{data: f.coarse.data, dims: f.coarse.dims, index: make([]int32, n)}
	c.start, c.rows.id = group(c.home, count, f.rows.id, 1)
	for at, r := range c.rows.id {
		c.rows.index[at] = f.coarse.index[r]
	}
	return c, f.pack(c)
}

// around finds the cells about each cell, among which its rows find those that they ask.
func (f *finder) around(c *cells, probes int) (err error) {
	for i := range f.lanes {
		f.lanes[i].visit = visit{} // whose size depends on the probes
	}
	c.probes, c.about = probes, min(c.count(), aroundProbes*probes)
	c.near, err = f.nearest(c.centres, c.centres, c.about)
	return err
}

// pack packs the rows of every cell, which are compared with those of many others, and
// sets its centre to their mean.
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
			if rows.count() > 0 {
				f.mean(c.centres.of(cell), rows, f.rows.id[:rows.count()], 0)
			}
		}
	})
}

// aroundProbes times as many cells as a row asks are those about its own among which it
// finds them: nearly all that are nearest to it are there.
const aroundProbes = 8

// part is some rows of one cell, which are searched together.
type part struct{ cell, lo, hi int }

// partRows is how many rows a part has at most, so that their candidates are in the
// caches.
const partRows = 512

// parts cuts the cells.
func (c *cells) parts() (parts []part) {
	for cell := range c.count() {
		for lo := c.start[cell]; lo < c.start[cell+1]; lo += partRows {
			parts = append(parts, part{cell, lo, min(lo+partRows, c.start[cell+1])})
		}
	}
	return parts
}

// columns returns the rows of a cell that those of a part are compared with. Cells that
// are far larger than the others are those of rows that are all alike, of which any will
// do; a part has its own rows among them at home.
func (c *cells) columns(cell int, of part) block {
	lo, hi := c.start[cell], c.start[cell+1]
	pieces := max(1, (hi-lo+c.most-1)/c.most)
	piece := of.cell % pieces
	if cell == of.cell {
		piece = (of.lo - lo) / c.most
	}
	rows := c.rows.part(lo, hi)
	rows.panels = c.panels[c.panel[cell]*rows.dims:]
	return rows.part(piece*c.most, min((piece+1)*c.most, hi-lo))
}

// pairs is about how many pairs are compared in all, and cost in a part.
func (c *cells) pairs() float64 {
	sum := 0.0
	for cell := range c.count() {
		sum += c.cost(part{cell, c.start[cell], c.start[cell+1]})
	}
	return sum
}

func (c *cells) cost(p part) float64 {
	columns := 0
	for _, cell := range c.near[p.cell*c.about:][:c.probes] {
		columns += min(c.most, c.start[cell+1]-c.start[cell])
	}
	return float64(p.hi-p.lo) * float64(columns)
}

// visit is one thread's memory for a part.
type visit struct {
	asked, best   *bank
	place, nobody []int32
	some          block   // rows that ask one cell
	start         []int   // by cell: where in order the rows are that ask it
	order         []int32 // places in the part
}

// visit fills the lists of the rows of a part, and returns those that have found fewer
// than k others.
func (f *finder) visit(l *lane, c *cells, p part) (short []int32) {
	v := &l.visit
	if v.best == nil {
		v.place, v.nobody = numbers(max(partRows, c.about)), make([]int32, partRows)
		for t := range v.nobody {
			v.nobody[t] = -1 // a row is not a centre, and so is not left out
		}
		v.asked = newBank(partRows, c.probes, 2*c.probes+8, c.about)
		more := 0
		if f.coarse.dims < f.rows.dims {
			more = f.spare()
		}
		v.best = f.newBank(partRows, more, (f.k+more)/2)
	}
	rows := c.rows.part(p.lo, p.hi)
	near := c.near[p.cell*c.about:][:c.about]
	f.ask(l, c, rows, near)
	v.best.reset(rows.count())
	for at, cell := range near {
		v.some.data, v.some.dims = rows.data, rows.dims
		v.some.index, v.some.id, v.some.row = v.some.index[:0], v.some.id[:0], v.order[v.start[at]:v.start[at+1]]
		for _, t := range v.some.row {
			v.some.index = append(v.some.index, rows.index[t])
			v.some.id = append(v.some.id, rows.id[t])
		}
		l.product.multiply(f.ctx, f.sum, v.best, v.some, c.columns(int(cell), p), forth)
	}
	for t, r := range rows.id {
		best := f.rank(l, int(r), v.best.best(int32(t)))
		f.write(int(r), best)
		if len(best) < f.k {
			short = append(short, r)
		}
	}
	return short
}

// ask finds which of the cells near theirs the rows ask.
func (f *finder) ask(l *lane, c *cells, rows block, near []int32) {
	v, n := &l.visit, rows.count()
	v.asked.reset(n)
	rows.id, rows.row = v.nobody[:n], v.place[:n]
	about := block{data: c.centres.data, dims: c.centres.dims, index: near, id: v.place}
	l.product.multiply(f.ctx, f.geometry(), v.asked, rows, about, forth)
	// Cell number at begins at start[at+1] until it is filled, and ends there then.
	v.start = append(v.start[:0], make([]int, len(near)+2)...)
	for t := range int32(n) {
		for _, k := range v.asked.best(t) {
			v.start[k.id()+2]++
		}
	}
	for at := range near {
		v.start[at+2] += v.start[at+1]
	}
	v.order = room(v.order, n*c.probes)
	for t := range int32(n) {
		for _, k := range v.asked.best(t) {
			v.order[v.start[k.id()+1]] = t
			v.start[k.id()+1]++
		}
	}
}
