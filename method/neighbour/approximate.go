package neighbour

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
)

const (
	checked   = 256   // random rows whose exact neighbours are found, to estimate the recall
	margin    = 0.003 // by which probes alone should exceed the recall wanted
	shortfall = 0.012 // by which they may miss it where a pass follows
	widenings = 2     // doublings of the probes before an exact search
	passes    = 2     // most passes over neighbours of neighbours before the next doubling
	minRows   = 2000  // fewest rows that are searched approximately
)

// approximates says whether n rows are searched approximately for k neighbours each. Few
// rows make no cells, and long lists need most of the rows in any case.
func (s Settings) approximates(n, k int) bool {
	switch s.Method {
	case Exact:
		return false
	case Approximate:
		return n >= minRows && n/8 >= k
	}
	return n >= autoRows && n/300 >= k
}

// autoRows is the number of rows from which on Auto searches approximately. On classes that
// overlap and differ in size (package synth, imbalance 0.7, noise 0.5), an exact search takes
// this many times as long as an approximate one, on two cores:
//
//	rows       10,000  20,000  30,000  60,000
//	128, 20       1.3     1.4     2.1     3.7
//	128, 80       0.9     1.2     1.2     2.1
//	256, 20       1.0     1.9     2.6     4.9
//	256, 80       0.9     1.4     1.6     3.0
//	dimensions, neighbours
//
// On data without clusters, an approximate search gives up within a tenth of the time of an
// exact one. With fewer rows an exact search takes a second at most.
const autoRows = 30_000

// cellCount returns the number of cells for n rows. With fewer cells more pairs are compared;
// with more it takes longer to find the nearest cells of a row. Between 2 and 5 times the
// root, the time of the search differs by a tenth.
func cellCount(n int) int { return int(3 * math.Sqrt(float64(n))) }

// approximate searches an inverted file. It
//
//   - finds the exact neighbours of some random rows,
//   - projects the rows onto few axes where that keeps these neighbours,
//   - puts the rows into cells by k-means,
//   - compares every row with the rows of the nearest cells, as many as the random rows
//     need, and ranks the best by the space's own similarities.
//
// While the recall on the random rows is too low, it goes on to neighbours of neighbours,
// then doubles the probes, and at last searches exactly.
func (f *finder) approximate() error {
	n := f.rows.count()
	random := rand.New(rand.NewPCG(f.seed, searchStream))
	report := &f.lists.Search
	*report = Report{Method: Approximate, Checked: min(checked, n), Cells: cellCount(n)}
	f.meter.expect(approximateWork(float64(n), float64(f.k), float64(report.Cells), float64(report.Checked), foreseenShare))
	truth, err := f.truth(random, report.Checked)
	if err != nil {
		return err
	}
	lost := 0.0
	if f.reduced, lost, err = f.reduce(truth, random); err != nil {
		return err
	}
	centres, err := f.centres(report.Cells, random)
	if err != nil {
		return err
	}
	probes, pass, err := f.probesFor(truth, centres, lost)
	if err != nil {
		return err
	}
	report.Probes = probes
	f.foreseeProbe(report.Cells, probes, pass)
	for report.Probes > 0 {
		c, err := f.probe(centres, report.Probes)
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		if err := f.improve(truth); err != nil {
			return err
		}
		if report.Recall >= f.target() {
			f.meter.finish()
			return f.keepParts(truth, centres, c, lost)
		}
		if report.Widened++; report.Widened > widenings {
			break
		}
		report.Probes *= 2
	}
	*report = Report{Method: Exact, Recall: 1, Cells: report.Cells, Widened: min(report.Widened, widenings) + 1}
	f.reduced = f.rows // which may free memory
	return f.exact()
}

// improve makes passes over the neighbours of neighbours, until the recall suffices or a pass
// gained less than is still missing.
func (f *finder) improve(t *truth) error {
	report := &f.lists.Search
	report.Recall, report.Passes = f.recall(t), 0
	for gain := 1.0; report.Recall < f.target() && report.Passes < passes && gain >= f.target()-report.Recall; {
		if err := f.descentPass(); err != nil {
			return err
		}
		recall := f.recall(t)
		gain, report.Recall = recall-report.Recall, recall
		report.Passes++
	}
	return nil
}

// searchStream separates the random numbers of a search from those of other stages.
const searchStream = 3

func (f *finder) target() float64 {
	if f.settings.Recall == 0 {
		return DefaultRecall
	}
	return f.settings.Recall
}

// truth holds the exact neighbours of some random rows: k samples each, and the similarity of
// the k-th one.
type truth struct {
	rows       []int32
	neighbours []int32
	thresholds []float32
}

func (f *finder) truth(random *rand.Rand, count int) (*truth, error) {
	t := &truth{neighbours: make([]int32, count*f.k), thresholds: make([]float32, count)}
	for _, r := range random.Perm(f.rows.count())[:count] {
		t.rows = append(t.rows, int32(r))
	}
	slices.Sort(t.rows)
	err := f.exactFor(f.rows, t.rows, func(q int, best []rank.Key) {
		for e, k := range best {
			t.neighbours[q*f.k+e] = k.Number()
		}
		t.thresholds[q] = best[f.k-1].Score()
	})
	return t, err
}

// probesFor returns how many of its nearest cells a row has to probe to reach the recall
// wanted, estimated on the rows of t. Where a pass over the neighbours of neighbours costs
// less than the last of these probes, it returns fewer, and pass is true. It returns 0 probes
// where an exact search takes no longer. lost is the share of neighbours that the projection
// loses.
func (f *finder) probesFor(t *truth, centres block, lost float64) (probes int, pass bool, err error) {
	limit := centres.count() / 8
	others := make([]int32, len(t.neighbours))
	for e, i := range t.neighbours {
		others[e] = int32(sort.Search(f.rows.count(), func(r int) bool { return f.space.Sample(r) >= int(i) }))
	}
	from, err := f.nearest(f.subset(t.rows), centres, limit)
	if err != nil {
		return 0, false, err
	}
	to, err := f.nearest(f.subset(others), centres, limit)
	if err != nil {
		return 0, false, err
	}
	found := make([]int, limit) // by probes less one: pairs that are then first compared
	for e := range others {
		near, back := from[e/f.k*limit:][:limit], to[e*limit:][:limit]
		forward, backward := slices.Index(near, back[0]), slices.Index(back, near[0])
		if forward < 0 || backward >= 0 && backward < forward {
			forward = backward
		}
		if forward >= 0 {
			found[forward]++
		}
	}
	total := float64(len(others))
	enough, nearly := firstReaching(found, (f.target()+margin+lost)*total), firstReaching(found, (f.target()-shortfall+lost)*total)
	rest := float64(enough-nearly) * float64(f.rows.count()/centres.count()) * visiting * f.costShare()
	if rest > f.passPairs()*linking {
		enough, pass = nearly, true
	}
	if enough > limit {
		return 0, false, nil
	}
	return enough, pass, nil
}

// subset returns the given ones of the reduced rows.
func (f *finder) subset(rows []int32) block {
	some := block{data: f.reduced.data, dims: f.reduced.dims, id: rows}
	for _, r := range rows {
		some.index = append(some.index, f.reduced.index[r])
	}
	return some
}

// firstReaching returns the number of leading counts whose sum reaches wanted, or
// len(counts)+1 where all together do not.
func firstReaching(counts []int, wanted float64) int {
	sum := 0.0
	for n, c := range counts {
		if sum += float64(c); sum >= wanted {
			return n + 1
		}
	}
	return len(counts) + 1
}

// costShare estimates the time to compare two reduced rows, as a share of that for two rows.
func (f *finder) costShare() float64 {
	const fixed = 80 // dimensions that take as long as the fixed work per pair
	return float64(f.reduced.dims+fixed) / float64(f.rows.dims+fixed)
}

// exactFor compares the given rows of from with all of from. It calls take with the neighbours
// of rows[t], best first, as samples.
func (f *finder) exactFor(from block, rows []int32, take func(t int, best []rank.Key)) error {
	n := f.rows.count()
	const limit = 2048
	done := f.meter.stage(float64(len(rows))*float64(n), 1)
	for len(rows) > 0 {
		some := rows[:min(limit, len(rows))]
		index := make([]int32, len(some))
		for t, r := range some {
			index[t] = from.index[r]
		}
		queries := block{data: from.data, dims: from.dims, index: index, id: some, row: numbers(len(some))}
		best := f.newTopK(len(some), f.extra(), f.k/8+12).locked()
		err := parallel.Blocks(f.ctx, f.threads, n, f.blockRows(n), func(worker, lo, hi int) {
			f.scratch(worker).product.multiply(f.ctx, f.sum, best, queries, from.part(lo, hi), oneWay)
			done(float64(len(some)) * float64(hi-lo))
		})
		if err != nil {
			return err
		}
		err = parallel.Blocks(f.ctx, f.threads, len(some), 16, func(worker, lo, hi int) {
			for t := lo; t < hi; t++ {
				take(t, f.rerank(f.scratch(worker), int(some[t]), best.best(int32(t))))
			}
		})
		if err != nil {
			return err
		}
		rows = rows[len(some):]
	}
	return f.ctx.Err()
}

// recall returns the share of the true neighbours that the lists hold. A sample at least as
// alike as the k-th true neighbour counts as true.
func (f *finder) recall(t *truth) float64 {
	found := 0
	similarities := make([]float32, f.k)
	for q, r := range t.rows {
		i := f.space.Sample(int(r))
		f.space.Similarities(similarities, i, f.lists.Of(i))
		for _, x := range similarities {
			if x >= t.thresholds[q] {
				found++
			}
		}
	}
	return float64(found) / float64(len(t.neighbours))
}

// probe fills the lists with the best neighbours of every row among the rows of the cells
// that it probes, and the rows that probe its own cell. It returns the cells, and gives up, and returns
// nil, where comparing all pairs is no more expensive.
func (f *finder) probe(centres block, probes int) (*cells, error) {
	n := f.rows.count()
	if 4*probes > centres.count() {
		return nil, nil
	}
	c, err := f.cells(centres, probes)
	if err != nil {
		return nil, err
	}
	parts, pairs := c.parts(), 0.0
	for _, p := range parts {
		pairs += c.cost(p)
	}
	if pairs > float64(n)*float64(n)/4 {
		return nil, nil
	}
	lacking := make([][]int32, len(parts))
	done := f.meter.stage(pairs, visiting*f.costShare()+ranking*float64(n*f.k)/pairs)
	err = parallel.Blocks(f.ctx, f.threads, len(parts), 1, func(worker, t, _ int) {
		lacking[t] = f.searchPart(f.scratch(worker), c, parts[t])
		done(c.cost(parts[t]))
	})
	if err != nil {
		return nil, err
	}
	short := slices.Concat(lacking...)
	if len(short) > n/8 {
		return nil, nil
	}
	slices.Sort(short)
	return c, f.exactFor(f.rows, short, func(t int, best []rank.Key) { f.setList(int(short[t]), best) })
}

// foreseeProbe tells the meter the work ahead once the cells are known: one round of probes,
// and perhaps a pass after it.
func (f *finder) foreseeProbe(cells, probes int, pass bool) {
	n := float64(f.rows.count())
	work := probeWork(n, float64(f.k), float64(cells), float64(probes), f.costShare())
	if pass {
		work += linking * n * f.passPairs()
	}
	f.meter.expect(work)
}

// passPairs bounds the pairs per row that a pass compares.
func (f *finder) passPairs() float64 {
	s := float64(min(followed, f.k))
	return 2 * s * (2*s + 1)
}
