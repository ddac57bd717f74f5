package neighbour

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

const (
	checked   = 256   // rows whose exact neighbours are found to estimate the recall
	margin    = 0.007 // by which the cells alone should exceed the recall wanted
	shortfall = 0.012 // by which they may miss it where a pass makes up for it
	widenings = 2     // before the search is exact
	passes    = 2     // over the neighbours of neighbours at most, before widening
	leastRows = 2000  // that are worth the bother
)

// approximates says whether to search n rows approximately. Few rows make no cells, and
// long lists take most of the rows in any case.
func (s Settings) approximates(n int) bool {
	switch s.Method {
	case Exact:
		return false
	case Approximate:
		return n >= leastRows && n/8 >= s.Neighbours
	}
	return n >= autoRows && n/300 >= s.Neighbours
}

// autoRows is how many rows Auto searches approximately. On samples of classes that
// overlap and differ in size (package synth, imbalance 0.7, noise 0.5), the exact search
// took so many times as long, on two cores:
//
//	rows       10,000  20,000  30,000  60,000
//	128, 20       1.3     1.4     2.1     3.7
//	128, 80       0.9     1.2     1.2     2.1
//	256, 20       1.0     1.9     2.6     4.9
//	256, 80       0.9     1.4     1.6     3.0
//	dimensions, neighbours
//
// Where the data has no parts, an approximate search is given up after a tenth of the
// time of an exact one or less, and below so many rows that one takes a second at most.
const autoRows = 30_000

// cellCount is how many cells suit n rows: with fewer, more pairs are compared, with
// more, it takes longer to find the cells of a row. Between 2 and 5 times the root, the
// time of the whole differs by a tenth.
func cellCount(n int) int { return int(3 * math.Sqrt(float64(n))) }

// approximate puts the rows into cells by k-means and compares every row with those
// of the cells that it is nearest to (an inverted file): of as many cells as hold the
// neighbours of some random rows, whose exact neighbours are known. Where the recall
// is still low, it goes on to the neighbours of the neighbours, then to more cells,
// and where all that would take as long, to an exact search.
func (f *finder) approximate() error {
	n := f.rows.count()
	random := rand.New(rand.NewPCG(f.settings.Seed, searchStream))
	report := &f.lists.Search
	*report = Report{Method: Approximate, Checked: min(checked, n), Cells: cellCount(n)}
	f.meter.expect(approximateWork(float64(n), float64(f.k), float64(report.Cells), float64(report.Checked)))
	truth, err := f.truth(random, report.Checked)
	if err != nil {
		return err
	}
	centres, err := f.centres(report.Cells, random)
	if err != nil {
		return err
	}
	probes, pass, err := f.probesFor(truth, centres)
	if err != nil {
		return err
	}
	report.Probes = probes
	f.foreseeProbe(report.Cells, probes, pass)
	for report.Probes > 0 {
		whole, err := f.probe(centres, report.Probes)
		if err != nil {
			return err
		}
		if !whole {
			break
		}
		if err := f.improve(truth); err != nil {
			return err
		}
		if report.Recall >= f.target() {
			f.meter.finish()
			return nil
		}
		if report.Widened++; report.Widened > widenings {
			break
		}
		report.Probes *= 2
	}
	*report = Report{Method: Exact, Recall: 1, Cells: report.Cells, Widened: min(report.Widened, widenings) + 1}
	return f.exact()
}

// improve makes passes over the neighbours of neighbours while the recall is low and
// each pass brings at least what is then left to gain.
func (f *finder) improve(t *truth) error {
	report := &f.lists.Search
	report.Recall, report.Passes = f.recall(t), 0
	for gain := 1.0; report.Recall < f.target() && report.Passes < passes && gain >= f.target()-report.Recall; {
		if err := f.descend(); err != nil {
			return err
		}
		recall := f.recall(t)
		gain, report.Recall = recall-report.Recall, recall
		report.Passes++
	}
	return nil
}

// searchStream tells the random numbers of a search from those of other stages.
const searchStream = 3

func (f *finder) target() float64 {
	if f.settings.Recall == 0 {
		return DefaultRecall
	}
	return f.settings.Recall
}

// truth holds the exact neighbours of some random rows: k samples each, and the
// similarity of the last one.
type truth struct {
	rows       []int32
	neighbours []int32
	bars       []float32
}

func (f *finder) truth(random *rand.Rand, count int) (*truth, error) {
	t := &truth{neighbours: make([]int32, count*f.k), bars: make([]float32, count)}
	for _, r := range random.Perm(f.rows.count())[:count] {
		t.rows = append(t.rows, int32(r))
	}
	slices.Sort(t.rows)
	err := f.all(t.rows, func(q int, best []key) {
		for e, k := range best {
			t.neighbours[q*f.k+e] = k.id()
		}
		t.bars[q] = best[f.k-1].similarity()
	})
	return t, err
}

// probesFor returns how many of their nearest cells rows have to ask for so that the
// share of their neighbours is found that is wanted, or nearly so where a pass over the
// neighbours of neighbours costs less than the rest. It goes by rows whose neighbours
// are known, and returns 0 probes where the cells are so many that an exact search takes
// no longer.
func (f *finder) probesFor(t *truth, centres block) (probes int, pass bool, err error) {
	most := centres.count() / 8
	rows, others := make([]int32, len(t.rows)), make([]int32, len(t.neighbours))
	for q, r := range t.rows {
		rows[q] = f.rows.index[r]
	}
	for e, i := range t.neighbours {
		others[e] = f.space.Slot(int(i))
	}
	from, err := f.nearest(rows, centres, most, placing)
	if err != nil {
		return 0, false, err
	}
	to, err := f.nearest(others, centres, most, placing)
	if err != nil {
		return 0, false, err
	}
	total := float64(len(others))
	found := make([]int, most) // pairs that meet when so many cells, less one, are asked
	for e := range others {
		near, back := from[e/f.k*most:][:most], to[e*most:][:most]
		forth, home := slices.Index(near, back[0]), slices.Index(back, near[0])
		if forth < 0 || home >= 0 && home < forth {
			forth = home
		}
		if forth >= 0 {
			found[forth]++
		}
	}
	enough, nearly := rank(found, (f.target()+margin)*total), rank(found, (f.target()-shortfall)*total)
	// The last cells cost half of what the first ones do: most members are turned away.
	rest := float64(enough-nearly) * float64(f.rows.count()/centres.count()) * visiting / 2
	if rest > f.passPairs()*linking {
		enough, pass = nearly, true
	}
	if enough > most {
		return 0, false, nil
	}
	return enough, pass, nil
}

// rank returns how many of the first counts have at least the sum wanted, or more than
// there are.
func rank(counts []int, wanted float64) int {
	sum := 0.0
	for n, c := range counts {
		if sum += float64(c); sum >= wanted {
			return n + 1
		}
	}
	return len(counts) + 1
}

// all finds the exact neighbours of some rows and hands those of rows[t], best first
// and numbered as samples, to take.
func (f *finder) all(rows []int32, take func(t int, best []key)) error {
	n := f.rows.count()
	const most = 2048
	done := f.meter.stage(float64(len(rows))*float64(n), 1)
	for len(rows) > 0 {
		some := rows[:min(most, len(rows))]
		index := make([]int32, len(some))
		for t, r := range some {
			index[t] = f.rows.index[r]
		}
		queries := block{f.rows.data, index, some, numbers(len(some))}
		best := f.newBank(len(some), f.spare())
		err := parallel.Blocks(f.ctx, f.threads, n, f.side(n), func(worker, lo, hi int) {
			f.lane(worker).product.multiply(f.ctx, f.sum, best, queries, f.rows.part(lo, hi), forth)
			done(float64(len(some)) * float64(hi-lo))
		})
		if err != nil {
			return err
		}
		err = parallel.Blocks(f.ctx, f.threads, len(some), 16, func(worker, lo, hi int) {
			for t := lo; t < hi; t++ {
				take(t, f.rank(f.lane(worker), int(some[t]), best.best(int32(t))))
			}
		})
		if err != nil {
			return err
		}
		rows = rows[len(some):]
	}
	return f.ctx.Err()
}

// recall returns the share of the true neighbours that the lists hold. What
// is at least as alike as the last true neighbour is one.
func (f *finder) recall(t *truth) float64 {
	found := 0
	similarities := make([]float32, f.k)
	for q, r := range t.rows {
		i := f.space.Sample(int(r))
		f.space.Similarities(similarities, i, f.lists.Of(i))
		for _, x := range similarities {
			if x >= t.bars[q] {
				found++
			}
		}
	}
	return float64(found) / float64(len(t.neighbours))
}

// probe fills the lists with the best neighbours of every row in the cells that it is
// nearest to, and among the rows that are near its own cell. It gives up, and reports
// false, where that is no cheaper than to compare all pairs.
//
// Beside the lists it takes 10 bytes times k, 8 times the probes, and 170 per row.
func (f *finder) probe(centres block, probes int) (bool, error) {
	n, count := f.rows.count(), centres.count()
	if 4*probes > count {
		return false, nil
	}
	near, err := f.nearest(f.rows.index, centres, probes, placing)
	if err != nil {
		return false, err
	}
	home, others := split(near, probes)
	begin, members := group(home, count, f.rows.id, 1)
	start, askers := group(others, count, members, probes-1)
	visits, pairs := visits(begin, start, members, askers, max(4096, 16*n/count))
	if pairs > float64(n)*float64(n)/8 {
		return false, nil
	}
	place := make([]int32, n)
	for at, r := range members {
		place[r] = int32(at)
	}
	// A member of a cell learns of a row that asks for the cell, unless it asks for the
	// row's own cell and so finds it there.
	asks := func(row, member int32) bool {
		return slices.Contains(others[int(member)*(probes-1):][:probes-1], home[row])
	}
	best := f.newBank(n, 0)
	done := f.meter.stage(pairs, visiting)
	err = parallel.Blocks(f.ctx, f.threads, len(visits), 1, func(worker, t, _ int) {
		l, v := f.lane(worker), visits[t]
		rows, columns := f.gather(&l.rows, v.rows, place), f.gather(&l.columns, v.columns, place)
		l.product.known = asks
		l.product.multiply(f.ctx, f.sum, best, rows, columns, v.way)
		done(v.pairs())
	})
	if err != nil {
		return false, err
	}
	short, err := f.take(best, place)
	if err != nil || len(short) > n/8 {
		return false, err
	}
	return true, f.all(short, func(t int, best []key) { f.write(int(short[t]), best) })
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

// visit is a part of the work of a probe: rows meet columns.
type visit struct {
	rows, columns []int32
	way           direction
}

func (v visit) pairs() float64 { return float64(len(v.rows)) * float64(len(v.columns)) }

// visits lists the visits that compare the members of every cell with each other, and
// then with those who ask for it, and returns how many pairs that makes. The visits at
// home go first: they raise the bars at which others are turned away. Cells are taken
// in parts of most members at most, which know nothing of each other: far larger than
// the others are only those of rows that are all alike, of which any will do.
func visits(begin, start []int, members, askers []int32, most int) (visits []visit, pairs float64) {
	add := func(v visit) {
		visits = append(visits, v)
		pairs += v.pairs()
	}
	for c := range len(begin) - 1 {
		for own := range slices.Chunk(members[begin[c]:begin[c+1]], most) {
			add(visit{own, own, triangle})
		}
	}
	for c := range len(begin) - 1 {
		own := slices.Collect(slices.Chunk(members[begin[c]:begin[c+1]], most))
		turn := 0
		for rows := range slices.Chunk(askers[start[c]:start[c+1]], most) {
			if len(own) > 0 {
				add(visit{rows, own[turn%len(own)], mutual})
			}
			turn++
		}
	}
	return visits, pairs
}

// gathered is the memory of a block.
type gathered struct{ index, place []int32 }

// gather makes a block of rows, which lie in the bank where place says.
func (f *finder) gather(g *gathered, rows, place []int32) block {
	g.index, g.place = g.index[:0], g.place[:0]
	for _, r := range rows {
		g.index = append(g.index, f.rows.index[r])
		g.place = append(g.place, place[r])
	}
	return block{f.rows.data, g.index, rows, g.place}
}

// foreseeProbe tells the meter what is ahead when the cells are known, if one round of
// probes does, and a pass after it.
func (f *finder) foreseeProbe(cells, probes int, pass bool) {
	n := float64(f.rows.count())
	work := probeWork(n, float64(f.k), float64(cells), float64(probes))
	if pass {
		work += linking * n * f.passPairs()
	}
	f.meter.expect(work)
}

// passPairs is how many pairs a pass compares per row at most.
func (f *finder) passPairs() float64 {
	s := float64(min(heads, f.k))
	return 2 * s * (2*s + 1)
}
