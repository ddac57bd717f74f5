package predict

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/view"
)

// updateStream tells the random numbers of an update from those of other stages.
const updateStream = 4

// Update returns a model with more samples, which follow its own, and what became of the
// clusters. The model itself stays as it is. views and progress are those of
// Predictor.Predict, ids the new samples' ids. A model whose samples have no ids stays so
// where ids is nil too; else numbers stand for ids that are not given. An id that is there
// already is an error.
//
// The new samples are linked as Fit would have linked them, to each other too, with the
// scales and the probability functions of the model. Where one is more probable than the
// last of a sample's K neighbours, it takes that one's place. The partition is then
// searched on from where it was, by the fit's objective, among what the new links touch:
// the new samples, those among whose neighbours they are now, and the clusters of either;
// others follow where they have links to what has moved. With a Resolution, what is expected of
// links is kept as it was, so that clusters far away from all that is new stay what they
// are: the new model's Resolution is higher by as much as the sum of all links is.
//
// Where Fit chose the number of neighbours and the resolution, and a tenth more samples
// have come since, they are chosen once more, of those up to the number of neighbours that
// the model has; the clusters are found anew where others score better by a tenth.
//
// A cluster keeps its number while it is the one that most of its old samples are in, and
// they are the most of its old samples. New clusters get numbers that none had before. The
// result depends on neither threads nor time.
func Update(ctx context.Context, m *mvclust.Model, views []*view.View, ids []string, threads int, progress func(done int)) (*mvclust.Model, *Changes, error) {
	count, err := check(m, views, ids)
	if err != nil {
		return nil, nil, err
	}
	next, err := enlarged(m, views, ids, count)
	if err != nil {
		return nil, nil, err
	}
	known, err := next.Constraints.Resolve(next.Views[0].Rows.Samples)
	if err != nil {
		return nil, nil, err
	}
	u := &update{ctx: ctx, threads: threads, old: m, next: next, count: count, known: known}
	if err := u.link(views, parallel.Counter(progress)); err != nil {
		return nil, nil, err
	}
	if err := u.refine(); err != nil {
		return nil, nil, err
	}
	changes, err := u.partition()
	return next, changes, err
}

// update is one call of Update.
type update struct {
	ctx     context.Context
	threads int
	old     *mvclust.Model
	next    *mvclust.Model
	count   int // of new samples
	known   *constraint.Resolved
	pairs   [][]probable
	touched []bool // by sample: whether it is new, or has a new neighbour
}

// probable is a sample that another is of one class with, as probably as p.
type probable struct {
	to int32
	p  float32
}

// enlarged returns a copy of the model with room for the new samples, whose rows and ids
// are there.
func enlarged(m *mvclust.Model, views []*view.View, ids []string, count int) (*mvclust.Model, error) {
	next := *m
	if m.Constraints.Distinct != nil {
		next.Constraints.Distinct = slices.Concat(m.Constraints.Distinct, slices.Repeat([]int{-1}, count))
	}
	n := m.Samples()
	next.Views = slices.Clone(m.Views)
	for i := range next.Views {
		v := &next.Views[i]
		v.Rows = joined(v.Rows, views[i], count)
		if v.LocalScales != nil {
			v.LocalScales = slices.Concat(v.LocalScales, make([]float32, count))
		}
	}
	if m.IDs == nil && ids == nil {
		return &next, nil
	}
	next.IDs = make([]string, n+count)
	seen := make(map[string]bool, n+count)
	for i := range next.IDs {
		switch {
		case i < n:
			next.IDs[i] = m.ID(i)
		case ids != nil:
			next.IDs[i] = ids[i-n]
		default:
			next.IDs[i] = strconv.Itoa(i)
		}
		if id := next.IDs[i]; seen[id] {
			return nil, fmt.Errorf("the id %q of new sample %d (counted from 0) is taken: every sample needs one of its own; give it another, or leave the sample out", id, i-n)
		}
		seen[next.IDs[i]] = true
	}
	return &next, nil
}

// joined returns the rows of two views, one after the other; the second may be nil.
func joined(a, b *view.View, count int) *view.View {
	out := &view.View{Name: a.Name, Samples: a.Samples + count, Dims: a.Dims, Data: make([]float32, (a.Samples+count)*a.Dims)}
	copy(out.Data, a.Data)
	if b != nil {
		copy(out.Data[len(a.Data):], b.Data)
	}
	if a.Present != nil || b == nil || b.Present != nil {
		out.Present = make([]bool, out.Samples)
		for i := range out.Present {
			if i < a.Samples {
				out.Present[i] = a.Has(i)
			} else {
				out.Present[i] = b != nil && b.Has(i-a.Samples)
			}
		}
	}
	return out
}

// link finds the pairs of the new samples, each at both of its ends.
func (u *update) link(views []*view.View, tick func(int)) error {
	spaces, err := u.next.Spaces(u.ctx, u.threads)
	if err != nil {
		return err
	}
	l, err := newLinker(u.ctx, u.old, spaces, u.threads)
	if err != nil {
		return err
	}
	n := u.old.Samples()
	u.pairs = make([][]probable, n+u.count)
	self := make([]int32, u.count)
	for i := range self {
		self[i] = int32(n + i)
	}
	c, err := l.approach(u.ctx, views, u.count, self, u.threads)
	if err != nil {
		return err
	}
	for m := range u.next.Views {
		scales := u.next.Views[m].LocalScales
		if scales == nil || c.scales[m] == nil {
			continue
		}
		for i := range u.count {
			if c.queries[m].Has(i) {
				scales[n+i] = c.scales[m][i]
			}
		}
		l.spaces[m] = spaces[m].WithLocalScales(scales)
	}
	walkers := l.walkers(u.threads, nil)
	err = parallel.Blocks(u.ctx, u.threads, u.count, 64, func(worker, lo, hi int) {
		w := walkers(worker)
		for i := lo; i < hi; i++ {
			w.fuse(c, i)
			w.settle()
			for t, j := range w.candidates {
				if w.p[t] > 0 {
					u.pairs[n+i] = append(u.pairs[n+i], probable{j, w.p[t]})
				}
			}
			w.leave()
		}
		tick(hi - lo)
	})
	if err != nil {
		return err
	}
	for i := range u.count {
		for _, x := range u.pairs[n+i] {
			// Of two new samples, either may have the other among its candidates alone.
			u.pairs[x.to] = append(u.pairs[x.to], probable{int32(n + i), x.p})
		}
	}
	for i := range u.pairs {
		u.pairs[i] = strongest(u.pairs[i])
	}
	return nil
}

// strongest sorts pairs, the most probable first and, among equals, the lower number, and
// keeps each once.
func strongest(pairs []probable) []probable {
	slices.SortFunc(pairs, func(a, b probable) int {
		switch {
		case a.p != b.p && a.p > b.p:
			return -1
		case a.p != b.p:
			return 1
		}
		return int(a.to - b.to)
	})
	seen := make(map[int32]bool, len(pairs))
	return slices.DeleteFunc(pairs, func(x probable) bool {
		again := seen[x.to]
		seen[x.to] = true
		return again
	})
}

// refine makes the new graph.
func (u *update) refine() error {
	n, k := u.old.Samples(), u.old.Settings.Neighbours
	u.touched = make([]bool, n+u.count)
	for i := range u.count {
		u.touched[n+i] = true
	}
	var err error
	if u.old.Neighbourhoods == nil {
		for i, pairs := range u.pairs {
			u.touched[i] = u.touched[i] || len(pairs) > 0
		}
		u.next.Graph, err = u.joinGraph()
		return err
	}
	index, probability := slices.Repeat([]int32{-1}, (n+u.count)*k), make([]float32, (n+u.count)*k)
	err = parallel.Blocks(u.ctx, u.threads, n+u.count, 256, func(_, lo, hi int) {
		var row []probable
		for i := lo; i < hi; i++ {
			row = row[:0]
			if i < n {
				near, p := u.old.Neighbourhoods.Of(i)
				for e, j := range near {
					row = append(row, probable{j, p[e]})
				}
			}
			had := len(row)
			row = append(row, u.pairs[i]...)
			if had > 0 && len(row) > had {
				row = strongest(row)
			}
			for e, x := range row[:min(k, len(row))] {
				index[i*k+e], probability[i*k+e] = x.to, x.p
				if int(x.to) >= n {
					u.touched[i] = true
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if u.next.Neighbourhoods, err = refine.NewNeighbourhoods(k, index, probability); err != nil {
		return err
	}
	refined, err := u.next.Neighbourhoods.CoNeighbours(u.ctx, k, u.threads)
	if err != nil {
		return err
	}
	u.next.Graph, err = u.known.Propagate(u.ctx, refined, u.threads)
	return err
}

// joinGraph returns the graph with the pairs of the new samples for edges.
func (u *update) joinGraph() (*graph.Graph, error) {
	n := u.old.Samples()
	return graph.FromRows(u.ctx, n+u.count, func(i int) (index []int32, weight []float32) {
		if i < n {
			return u.old.Graph.Of(i)
		}
		for _, x := range u.pairs[i] {
			index, weight = append(index, x.to), append(weight, x.p)
		}
		return index, weight
	}, u.threads)
}

// sumOf returns what all links add up to.
func sumOf(g *graph.Graph) float64 {
	sum := 0.0
	for _, w := range g.Weight {
		sum += float64(w)
	}
	return sum
}

// partition searches the clusters on.
func (u *update) partition() (*Changes, error) {
	n, m := u.old.Samples(), u.next
	if before := sumOf(u.old.Graph); before > 0 && u.count > 0 {
		m.Settings.Resolution *= sumOf(m.Graph) / before
	}
	labels, err := u.choose()
	if err != nil {
		return nil, err
	}
	chosen := labels != nil
	if !chosen {
		start := slices.Concat(u.old.Labels, slices.Repeat([]int{-1}, u.count))
		random := rand.New(rand.NewPCG(m.Settings.Seed^bits.Reverse64(uint64(n+u.count)), updateStream))
		found, err := partition.Resume(u.ctx, m.Graph, m.Settings.Resolution, u.known, m.Settings.Partition, start, u.touched, random, nil)
		if err != nil {
			return nil, err
		}
		labels = found.Labels
	}
	changes := &Changes{Added: u.count, Chosen: chosen}
	m.Labels = changes.name(u.old.Labels, labels, u.old.Numbers())
	m.Retired = 0
	if numbers := max(u.old.Numbers(), m.Numbers()); numbers > m.Clusters() {
		m.Retired = numbers
	}
	for _, t := range u.touched[:n] {
		if t {
			changes.Touched++
		}
	}
	m.Confidence = partition.Confidence(m.Graph, m.Labels)
	changes.Clusters = m.Clusters()
	return changes, m.Validate()
}
