package neighbour

import (
	"cmp"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
)

// cells are rows put into cells.
type cells struct {
	home   []int32   // by row
	rows   block     // by cell, and in each by number
	start  []int     // of the rows of each cell
	panels []float32 // the rows, packed as columns
	panel  []int     // where those of each cell begin, in rows
	most   int       // rows of a cell that a row is compared with

	others int     // how many cells a row asks beside its own
	asks   []int32 // which these are, by row
	first  []int   // of the askers of each cell
	askers []int32 // by cell: the rows that ask it, by their own cells
}

func (c *cells) count() int { return len(c.start) - 1 }

// asked returns the cells that a row asks beside its own.
func (c *cells) asked(r int32) []int32 { return c.asks[int(r)*c.others:][:c.others] }

// cells puts the rows into the cells that they are nearest to, and has each ask the next
// ones, probes cells in all.
func (f *finder) cells(centres block, probes int) (*cells, error) {
	n, count := f.rows.count(), centres.count()
	near, err := f.nearest(f.coarse, centres, probes)
	if err != nil {
		return nil, err
	}
	c := &cells{most: max(4096, 16*n/count&^(partRows-1)), others: probes - 1}
	c.home, c.asks = split(near, probes)
	if c.start, c.rows.id, err = f.group(c.home, count, f.rows.id, 1); err != nil {
		return nil, err
	}
	if err = f.arrange(c.rows.id); err != nil {
		return nil, err
	}
	c.rows.data, c.rows.dims, c.rows.index = f.coarse.data, f.coarse.dims, make([]int32, n)
	if c.first, c.askers, err = f.group(c.asks, count, c.rows.id, c.others); err != nil {
		return nil, err
	}
	for at, r := range c.rows.id {
		c.rows.index[at] = f.coarse.index[r]
	}
	for i := range f.lanes {
		f.lanes[i].visit = visit{} // whose size depends on the cells
	}
	return c, f.pack(c)
}

// arrange puts the coarse rows into this order in memory, where they are not the rows
// themselves: what lies together is met together.
func (f *finder) arrange(order []int32) error {
	d := f.coarse.dims
	if d == f.rows.dims {
		return nil
	}
	data, index := make([]float32, len(order)*d), make([]int32, len(order))
	err := parallel.Blocks(f.ctx, f.threads, len(order), 1024, func(_, lo, hi int) {
		for at := lo; at < hi; at++ {
			copy(data[at*d:][:d], f.coarse.of(int(order[at])))
			index[order[at]] = int32(at)
		}
	})
	f.coarse.data, f.coarse.index = data, index
	return err
}

// split takes apart the nearest cell of every row and its other ones, per in all, in
// the memory of near.
func split(near []int32, per int) (home, others []int32) {
	home = make([]int32, len(near)/per)
	for r := range home {
		home[r] = near[r*per]
		copy(near[r*(per-1):], near[r*per+1:(r+1)*per])
	}
	return home, near[:len(home)*(per-1)]
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

// piece returns how many pieces a cell is taken in, and the one that the rows of a part
// meet: cells that are far larger than the others are those of rows that are all alike,
// of which any will do. At home, a part has its own rows among them.
func (c *cells) piece(cell int, of part) (piece, pieces int) {
	pieces = max(1, (c.start[cell+1]-c.start[cell]+c.most-1)/c.most)
	if cell == of.cell {
		return (of.lo - c.start[cell]) / c.most, pieces
	}
	return of.cell % pieces, pieces
}

// columns returns the rows of a cell that those of a part are compared with.
func (c *cells) columns(cell int, of part) block {
	lo, hi := c.start[cell], c.start[cell+1]
	piece, _ := c.piece(cell, of)
	rows := c.rows.part(lo, hi)
	rows.panels = c.panels[c.panel[cell]*rows.dims:]
	return rows.part(piece*c.most, min((piece+1)*c.most, hi-lo))
}

// cost is about how many pairs a part compares, if it asks the cells that ask its own.
func (c *cells) cost(p part) float64 {
	columns := min(c.most, c.start[p.cell+1]-c.start[p.cell]) + 2*(c.first[p.cell+1]-c.first[p.cell])
	return float64(p.hi-p.lo) * float64(columns)
}

// visit is one thread's memory for a part.
type visit struct {
	best  *bank
	place []int32
	some  block    // rows that ask a cell
	start []int    // by cell: where in order the part's rows are that ask it
	order []int32  // places in the part
	cells []int32  // that are asked
	turn  []int32  // by cell: its turn among these, counted from 1
	met   []uint64 // by row and turn: a bit for the cells that the row asks
	words int      // of a row
}

// visit fills the lists of the rows of a part, and returns those that have found fewer
// than k others. The cells that most of the rows ask come first, for these are the nearest:
// so the bars soon are where they turn most of the others away.
func (f *finder) visit(l *lane, c *cells, p part) (short []int32) {
	v := &l.visit
	if v.best == nil {
		more := 0
		if f.coarse.dims < f.rows.dims {
			more = f.spare()
		}
		v.best, v.place = f.newBank(partRows, more, (f.k+more)/2), numbers(partRows)
		v.start, v.turn = make([]int, c.count()+2), make([]int32, c.count())
	}
	rows := c.rows.part(p.lo, p.hi)
	rows.row = v.place[:rows.count()]
	v.best.reset(rows.count())
	l.product.multiply(f.ctx, f.sum, v.best, rows, c.columns(p.cell, p), forth)
	v.sort(c, rows.id)
	for _, cell := range v.cells {
		order := v.order[v.start[cell]:v.start[cell+1]]
		v.some.choose(rows, order)
		v.some.row = order
		l.product.multiply(f.ctx, f.sum, v.best, v.some, c.columns(int(cell), p), forth)
	}
	f.meet(l, c, p, rows)
	for t, r := range rows.id {
		best := f.rank(l, int(r), v.best.best(int32(t)))
		f.write(int(r), best)
		if len(best) < f.k {
			short = append(short, r)
		}
	}
	return short
}

// sort lists rows by the cells that they ask, and notes which these are.
func (v *visit) sort(c *cells, rows []int32) {
	// The list of a cell begins at start[cell+1] until it is filled, and ends there then.
	clear(v.start)
	clear(v.turn)
	v.cells = v.cells[:0]
	for _, r := range rows {
		for _, cell := range c.asked(r) {
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
		v.turn[cell] = int32(at + 1)
	}
	v.words = (len(v.cells) + 63) / 64
	v.order, v.met = room(v.order, len(rows)*c.others), room(v.met, len(rows)*v.words)
	clear(v.met)
	for t, r := range rows {
		for _, cell := range c.asked(r) {
			v.order[v.start[cell+1]] = int32(t)
			v.start[cell+1]++
			at := v.turn[cell] - 1
			v.met[t*v.words+int(at>>6)] |= 1 << (at & 63)
		}
	}
}

// meet compares the rows of a part with those that ask their cell, but for those that
// they have met in the cells that they ask themselves.
func (f *finder) meet(l *lane, c *cells, p part, rows block) {
	v := &l.visit
	l.product.known = func(place, id int32) bool {
		at := v.turn[c.home[id]] - 1
		return at >= 0 && v.met[int(place)*v.words+int(at>>6)]>>(at&63)&1 != 0
	}
	piece, pieces := c.piece(p.cell, p)
	turn := 0
	for askers := range slices.Chunk(c.askers[c.first[p.cell]:c.first[p.cell+1]], c.most) {
		if turn%pieces == piece {
			v.some.choose(f.coarse, askers)
			l.product.multiply(f.ctx, f.sum, v.best, rows, v.some, forth)
		}
		turn++
	}
	l.product.known = nil
}

// choose makes b those of rows at some places.
func (b *block) choose(rows block, places []int32) {
	b.data, b.dims, b.row = rows.data, rows.dims, nil
	b.index, b.id = b.index[:0], b.id[:0]
	for _, t := range places {
		b.index = append(b.index, rows.index[t])
		b.id = append(b.id, rows.id[t])
	}
}
