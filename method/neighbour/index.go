package neighbour

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/similarity"
)

// Index finds, for rows that are not in a space, the nearest samples of it. Several
// goroutines may search it at a time.
type Index struct {
	made    finder
	cells   *cells
	centres block // none where there is one cell
	probes  int
	report  Report
}

// Found holds the neighbours of rows, most alike first and, among equals, the lower number
// first. Those of row i are
//
//	Index[Offsets[i]:Offsets[i+1]], with Similarity at the same places.
//
// A row that is absent has none.
type Found struct {
	Offsets    []int
	Index      []int32
	Similarity []float32
	// Order lists the rows that are present, such that rows with common neighbours follow
	// each other. Working through them in this order uses the caches best.
	Order []int32
}

// Of returns the neighbours of row i, most alike first, and their similarities. It panics if i is
// out of range.
func (f *Found) Of(i int) (index []int32, similarity []float32) {
	lo, hi := f.Offsets[i], f.Offsets[i+1]
	return f.Index[lo:hi], f.Similarity[lo:hi]
}

// Candidates holds the samples among which the nearest of rows are, in no particular order. Those of row i
// are
//
//	Samples[Offsets[i]:Offsets[i+1]].
//
// A row that is absent has none.
type Candidates struct {
	Offsets []int
	Samples []int32
	// Order is that of Found.
	Order []int32
}

// minIndexed is the number of rows from which on cells save more time than they take.
const minIndexed = 10_000

// NewIndex prepares the search among the samples of a space for k neighbours, or all others
// where there are fewer. The rows are packed once. 10,000 or more rows are put into cells
// where they form clusters, and a new row is compared with as many cells as Settings.Recall
// takes. Method Exact compares with all rows in any case.
//
// It takes as much memory as the rows again, or less where they are projected. threads of 0
// or less stands for all usable processors; the index is the same for any number. The only
// errors are those of Settings.Resolve and Space.Check, rows that are similarity.Stored, and the context's own.
func NewIndex(ctx context.Context, s *similarity.Space, k int, seed uint64, settings Settings, threads int) (*Index, error) {
	s, err := inMemory(ctx, s, threads)
	if err != nil {
		return nil, err
	}
	if err := settings.Resolve(); err != nil {
		return nil, err
	}
	x := &Index{made: *newFinder(ctx, s, k, seed, settings, threads, nil)}
	f := &x.made
	f.lists = &Lists{}
	if f.divides() {
		err = x.buildCells()
	}
	if err == nil && x.cells == nil {
		x.report = x.exact()
		err = x.undivided()
	}
	f.perThread = nil
	if err != nil {
		return nil, err
	}
	x.trim()
	return x, nil
}

// undivided puts all rows into one cell.
func (x *Index) undivided() (err error) {
	f := &x.made
	f.reduced, f.axes, x.centres = f.rows, nil, block{}
	x.cells, err = f.singleCell()
	x.probes = 1
	return err
}

// Report tells how neighbours are found, and the recall on samples of the space.
func (x *Index) Report() Report { return x.report }

// singleCell returns one cell of all rows.
func (f *finder) singleCell() (*cells, error) {
	n := f.rows.count()
	c := &cells{start: []int{0, n}, rows: f.rows}
	return c, f.pack(c)
}

// indexCells returns the number of cells of an index. Putting all rows into cells takes time in
// proportion to it, so that of many rows there are fewer cells than where each row is searched for.
func indexCells(n int) int { return min(cellCount(n), max(1000, int(math.Sqrt(float64(n))))) }

// buildCells puts the rows into cells and finds the number of probes. It leaves x.cells nil
// where a row would have to probe most of them.
func (x *Index) buildCells() error {
	f := &x.made
	n := f.rows.count()
	random := rand.New(rand.NewPCG(f.seed, searchStream))
	x.report = Report{Method: Approximate, Checked: min(checked, n), Cells: indexCells(n)}
	t, err := f.truth(random, x.report.Checked)
	if err != nil {
		return err
	}
	lost := 0.0
	if f.reduced, lost, err = f.reduce(t, random); err != nil {
		return err
	}
	if x.centres, err = f.centres(x.report.Cells, random); err != nil {
		return err
	}
	if x.probes, err = f.probesForNew(t, x.centres, lost); err != nil {
		return err
	}
	c, err := f.cells(x.centres, 1)
	if err != nil {
		return err
	}
	x.keep(c)
	return x.tuneProbes(t)
}

// keep makes the cells those of the index, without what only a search of all rows needs.
func (x *Index) keep(c *cells) {
	c.probed, c.probers, c.probersStart = nil, nil, nil
	x.cells = c
}

// trim drops the reduced rows, which the panels hold.
func (x *Index) trim() {
	if f := &x.made; f.reduced.dims < f.rows.dims {
		f.reduced.data, x.cells.rows.data = nil, nil
	}
}

// tuneProbes finds about the least number of probes that reaches the recall wanted, starting
// with the estimate. It sets x.cells to nil where none does.
func (x *Index) tuneProbes(t *truth) error {
	for limit := x.centres.count() / 3; ; x.probes *= 2 {
		if x.probes > limit {
			x.cells = nil
			return nil
		}
		if err := x.measureRecall(t); err != nil {
			return err
		}
		if x.report.Recall >= x.made.target() {
			break
		}
		x.report.Widened++
	}
	for fewer := x.probes * 4 / 5; fewer > 0; fewer = fewer * 4 / 5 {
		enough := x.report
		x.probes = fewer
		if err := x.measureRecall(t); err != nil {
			return err
		}
		if x.report.Recall < x.made.target()+margin {
			x.probes, x.report = enough.Probes, enough
			break
		}
	}
	return nil
}

// probesForNew is probesFor for rows that are in no cell themselves.
func (f *finder) probesForNew(t *truth, centres block, lost float64) (int, error) {
	limit := centres.count() / 3
	others := make([]int32, len(t.neighbours))
	for e, i := range t.neighbours {
		others[e] = int32(sort.Search(f.rows.count(), func(r int) bool { return f.space.Sample(r) >= int(i) }))
	}
	from, err := f.nearest(f.subset(t.rows), centres, limit)
	if err != nil {
		return 0, err
	}
	own, err := f.nearest(f.subset(others), centres, 1)
	if err != nil {
		return 0, err
	}
	found := make([]int, limit)
	for e, cell := range own {
		if at := slices.Index(from[e/f.k*limit:][:limit], cell); at >= 0 {
			found[at]++
		}
	}
	return firstReaching(found, (f.target()+margin+lost)*float64(len(others))), nil
}

// measureRecall measures the recall on the rows of t.
func (x *Index) measureRecall(t *truth) error {
	f := &x.made
	rows := block{data: f.rows.data, dims: f.rows.dims}
	var from []int32
	for _, r := range t.rows {
		rows.index = append(rows.index, f.rows.index[r])
		from = append(from, int32(f.space.Sample(int(r))))
	}
	hits := make([]int, f.threads)
	_, err := x.search(f, rows, t.rows, func(worker int, q int32, candidates []rank.Key) {
		l := f.scratch(worker)
		l.index = l.index[:0]
		for _, c := range candidates {
			l.index = append(l.index, int32(f.space.Sample(int(c.Number()))))
		}
		l.similarities = room(l.similarities, len(l.index))
		f.space.Similarities(l.similarities, int(from[q]), l.index)
		found := 0
		for _, s := range l.similarities {
			if s >= t.thresholds[q] {
				found++
			}
		}
		hits[worker] += min(found, f.k)
	}, func(int) {})
	if err != nil {
		return err
	}
	all := 0
	for _, h := range hits {
		all += h
	}
	x.report.Probes, x.report.Recall = x.probes, float64(all)/float64(len(t.neighbours))
	return nil
}

// Search finds the nearest samples of every row. Where a row is itself a sample of the space,
// self gives that sample, which is not its own neighbour; -1 stands for none, and a nil self
// for none at all. The neighbours of a row depend neither on threads nor on the other rows.
// progress, if not nil, is called with the number of rows done. The errors are those of
// Queries.Check and Queries.Compare, queries of another space, a self that is not one per row, and the
// context's own.
func (x *Index) Search(ctx context.Context, q *similarity.Queries, self []int32, threads int, progress func(done int)) (*Found, error) {
	c, err := x.Candidates(ctx, q, self, threads, progress)
	if err != nil {
		return nil, err
	}
	lists, err := similarity.NewLists(x.made.space.Samples, c.Offsets, c.Samples, c.Order)
	if err != nil {
		return nil, err
	}
	similarities, err := q.Compare(ctx, nil, lists, threads)
	if err != nil {
		return nil, err
	}
	found := &Found{Offsets: make([]int, q.Samples+1), Order: c.Order}
	for i := range q.Samples {
		found.Offsets[i+1] = found.Offsets[i] + min(x.made.k, c.Offsets[i+1]-c.Offsets[i])
	}
	found.Index, found.Similarity = make([]int32, found.Offsets[q.Samples]), make([]float32, found.Offsets[q.Samples])
	scratch := make([][]rank.Key, parallel.Threads(threads))
	err = parallel.Blocks(ctx, threads, q.Samples, 256, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			keys := scratch[worker][:0]
			for e := c.Offsets[i]; e < c.Offsets[i+1]; e++ {
				keys = append(keys, rank.New(similarities[e], c.Samples[e]))
			}
			scratch[worker] = keys
			for t, k := range rank.Best(keys, x.made.k) {
				found.Index[found.Offsets[i]+t], found.Similarity[found.Offsets[i]+t] = k.Number(), k.Score()
			}
		}
	})
	return found, err
}

// Candidates finds a few more samples than Search for every row, among which the nearest are: it knows
// how alike they are along the axes alone, where the index has some. The arguments and the errors are
// those of Search.
func (x *Index) Candidates(ctx context.Context, q *similarity.Queries, self []int32, threads int, progress func(done int)) (*Candidates, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if self != nil && len(self) != q.Samples {
		return nil, fmt.Errorf("there are %d own samples for %d rows; give one for each, or none", len(self), q.Samples)
	}
	f := x.made
	if !q.Of(f.space) {
		return nil, errors.New("the rows were made for another space than the index; make them by the Queries of its space")
	}
	c := &Candidates{Offsets: make([]int, q.Samples+1)}
	if f.k == 0 {
		return c, ctx.Err()
	}
	f.ctx, f.threads, f.meter = ctx, parallel.Threads(threads), newMeter(0, nil)
	f.perThread = make([]scratch, f.threads)
	data, index := q.Rows()
	rows := block{data: data, dims: f.space.Dims, index: index}
	var from, ids []int32
	for i := range q.Samples {
		if !q.Has(i) {
			continue
		}
		id := int32(-1)
		if self != nil && self[i] >= 0 {
			if r, ok := slices.BinarySearchFunc(f.rows.row, self[i], func(r, sample int32) int {
				return cmp.Compare(f.space.Sample(int(r)), int(sample))
			}); ok {
				id = int32(r)
			}
		}
		from, ids = append(from, int32(i)), append(ids, id)
	}
	most := f.k + f.extra()
	found, count := make([]int32, len(from)*most), make([]int, q.Samples)
	var err error
	c.Order, err = x.search(&f, rows, ids, func(_ int, r int32, candidates []rank.Key) {
		to := found[int(r)*most:]
		for t, k := range candidates {
			to[t] = int32(f.space.Sample(int(k.Number())))
		}
		count[from[r]] = len(candidates)
	}, parallel.Counter(progress))
	if err != nil {
		return nil, err
	}
	for i, n := range count {
		c.Offsets[i+1] = c.Offsets[i] + n
	}
	c.Samples = make([]int32, c.Offsets[q.Samples])
	for r, i := range from {
		copy(c.Samples[c.Offsets[i]:c.Offsets[i+1]], found[r*most:])
	}
	for t, r := range c.Order {
		c.Order[t] = from[r]
	}
	return c, nil
}

// rowsAtATime is the largest number of rows that are compared with cells together.
const rowsAtATime = 2048

// search calls take, from several goroutines, with each of some rows and its candidates: a few more than
// the k nearest along the axes, or all where there are fewer. The rows are all present. ids holds the
// numbers of those among the index's own rows, and -1 for others. It returns the rows in the order of
// Found.
func (x *Index) search(f *finder, rows block, ids []int32, take func(worker int, r int32, candidates []rank.Key), tick func(int)) (order []int32, err error) {
	n := rows.count()
	if n == 0 {
		return nil, f.ctx.Err()
	}
	if f.axes != nil {
		if rows, err = f.project(rows, f.axes); err != nil {
			return nil, err
		}
	}
	near := make([]int32, n*x.probes) // zeros, where there is one cell
	if x.probes > 1 {
		if near, err = f.near(rows, x.centres, x.probes, bestFirst); err != nil {
			return nil, err
		}
	}
	// Rows of one cell probe the same cells, and have neighbours in common.
	order = numbers(n)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(near[int(a)*x.probes], near[int(b)*x.probes]), cmp.Compare(a, b))
	})
	visitors := make([]indexScratch, f.threads)
	per := max(1, min(rowsAtATime, (n+f.threads-1)/f.threads, max(rowsAtATime/4, n/(4*f.threads))))
	return order, parallel.Blocks(f.ctx, f.threads, n, per, func(worker, lo, hi int) {
		v, l := &visitors[worker], f.scratch(worker)
		if v.best == nil {
			more := f.extra()
			v.best = newTopK(per, min(f.k+more, f.rows.count()), f.k+more+max(f.k/2, 16), f.rows.count())
		}
		some := order[lo:hi]
		x.probe(f, l, v, rows, near, ids, some)
		short := v.short[:0]
		for t, r := range some {
			if best := v.best.best(int32(t)); len(best) < f.k {
				short = append(short, r)
			} else {
				take(worker, r, best)
			}
		}
		for _, r := range short { // in cells of hardly any rows
			x.probeAll(f, l, v, rows, ids, r)
			take(worker, r, v.best.best(0))
		}
		v.short = short
		tick(hi - lo)
	})
}

// indexScratch is one thread's memory for rows that probe cells.
type indexScratch struct {
	best   *topK
	start  []int32 // by cell, see probe
	places []int32 // of the rows that probe the first cell, and so on
	cells  []int32 // that are probed
	some   block
	short  []int32 // rows with fewer than k candidates
	again  []int32 // places of rows whose sketch was too good
}

// sketch is sketchOf the first panels of the cells.
func (x *Index) sketch(keep int) int {
	return sketchOf(keep, float64(wholePanels*x.cells.count())/float64(x.made.rows.count()))
}

// probe compares some rows with the cells that they probe, the cells of most rows first. The first panels of
// all cells come before the others: the candidates among them say from what similarity on others count, so
// that few are noted and dropped again. For a row that has too few others then, all come once more.
func (x *Index) probe(f *finder, l *scratch, v *indexScratch, rows block, near, ids, some []int32) {
	v.best.reset(len(some))
	v.sort(x, near, some)
	all := math.MaxInt
	sketch := x.sketch(v.best.keep)
	if sketch == 0 {
		x.compare(f, l, v, rows, ids, some, 0, all)
		return
	}
	v.again = v.best.sketched(len(some), sketch, v.again,
		func() { x.compare(f, l, v, rows, ids, some, 0, wholePanels) },
		func() { x.compare(f, l, v, rows, ids, some, wholePanels, all) })
	if len(v.again) > 0 {
		v.only(x.cells.count())
		x.compare(f, l, v, rows, ids, some, 0, all)
	}
}

// sort puts the places of some rows in the order of the cells that these probe: those of cell c are
// places[start[c]:start[c+1]]. cells are those that are probed, those of most rows first.
func (v *indexScratch) sort(x *Index, near, some []int32) {
	count := x.cells.count()
	v.start, v.places = room(v.start, count+2), room(v.places, len(some)*x.probes)
	clear(v.start)
	for _, r := range some {
		for _, cell := range near[int(r)*x.probes:][:x.probes] {
			v.start[cell+2]++
		}
	}
	v.cells = v.cells[:0]
	for c := range count {
		if v.start[c+2] > 0 {
			v.cells = append(v.cells, int32(c))
		}
	}
	slices.SortFunc(v.cells, func(a, b int32) int {
		return cmp.Or(cmp.Compare(v.start[b+2], v.start[a+2]), cmp.Compare(a, b))
	})
	for c := range count {
		v.start[c+2] += v.start[c+1]
	}
	for t, r := range some {
		for _, cell := range near[int(r)*x.probes:][:x.probes] {
			v.places[v.start[cell+1]] = int32(t)
			v.start[cell+1]++
		}
	}
}

// only leaves the places of again, which ascend as those of each cell do.
func (v *indexScratch) only(cells int) {
	to := int32(0)
	for c := range cells {
		lo, hi, again := v.start[c], v.start[c+1], v.again
		v.start[c] = to
		for _, t := range v.places[lo:hi] {
			for len(again) > 0 && again[0] < t {
				again = again[1:]
			}
			if len(again) > 0 && again[0] == t {
				v.places[to] = t
				to++
			}
		}
	}
	v.start[cells] = to
}

// compare compares some rows with a range of the rows of each cell that they probe.
func (x *Index) compare(f *finder, l *scratch, v *indexScratch, rows block, ids, some []int32, from, to int) {
	v.some.data, v.some.dims = rows.data, rows.dims
	for _, cell := range v.cells {
		columns := x.columns(int(cell))
		if columns.count() <= from {
			continue
		}
		v.some.index, v.some.id, v.some.row = v.some.index[:0], v.some.id[:0], v.places[v.start[cell]:v.start[cell+1]]
		for _, t := range v.some.row {
			v.some.index, v.some.id = append(v.some.index, rows.index[some[t]]), append(v.some.id, ids[some[t]])
		}
		l.product.multiply(f.ctx, f.sum, v.best, v.some, columns.part(from, min(to, columns.count())), oneWay)
	}
}

// probeAll compares one row with all cells.
func (x *Index) probeAll(f *finder, l *scratch, v *indexScratch, rows block, ids []int32, r int32) {
	v.best.reset(1)
	one := block{data: rows.data, dims: rows.dims, index: rows.index[r : r+1], id: ids[r : r+1], row: numbers(1)}
	for cell := range x.cells.count() {
		l.product.multiply(f.ctx, f.sum, v.best, one, x.columns(cell), oneWay)
	}
}

// columns returns the rows of a cell, packed.
func (x *Index) columns(cell int) block {
	c := x.cells
	rows := c.rows.part(c.start[cell], c.start[cell+1])
	rows.panels = c.panels[c.panel[cell]*c.rows.dims:]
	return rows
}
