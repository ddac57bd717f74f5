package predict

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
)

// The streams keep the random numbers of an update apart from those of other stages.
const (
	updateStream = iota + 4
	anchorStream
	movesStream
)

// Update returns a model that has new samples too, after those of m, and what changed in
// the clusters. m stays as it is. views and progress are those of Predictor.Predict. ids
// holds the new samples' ids; where it is nil and m has ids, row numbers stand in. An id
// that m has already is an error, and so is a batch of samples that m has already: those of
// the same values in all views, bit for bit, and of the same ids where ids is given.
//
// The new samples are linked as Fit would have linked them, to each other too, with the
// scales and the probability functions of m. Where one is more probable than the last of a
// sample's K neighbours, it replaces that one.
//
// The partition is then searched on from where it was, by the objective of the fit. The
// search starts with the new samples, with those among whose neighbours they are now, and
// with the clusters of both. Others follow when something they have links to has moved, as partition.Resume has it.
// A new sample with rows equal to those of another goes where that is. Where all samples of m have
// the same rows, one with others is an error.
// With a resolution, clusters without new links stay as they are: the new model's
// resolution is higher by the factor by which the sum of all links has grown, so that the
// weights expected by chance stay the same. Where the samples have grown by a tenth, it is set
// anew, so that clusters as coarse as those of m are found.
//
// Where moves would change many of the old samples, without any new one or with fewer new ones than old, these
// stay, and Changes.Held says so.
//
// The granularity stays that of m. If Fit chose it, and the samples have grown by a tenth since,
// Update tries others, with no more neighbours than m has, and Changes.Better tells of one that
// scores clearly better, which becomes a level. In the other levels of m, a new sample joins the
// cluster that it has the most probability to; new samples of a cluster that has no others are one
// in finer levels, too.
//
// A cluster keeps its number if most of its samples that m has come from the cluster of
// that number, and most of that cluster's samples are in it. Other clusters get numbers
// that were never used. The result depends on neither threads nor time.
func Update(ctx context.Context, m *mvclust.Model, views []*view.View, ids []string, threads int, progress func(done int)) (*mvclust.Model, *Changes, error) {
	if err := m.Usable(); err != nil {
		return nil, nil, err
	}
	for _, v := range m.Views {
		if v.Rows.Check() != nil {
			return nil, nil, fmt.Errorf("the rows of view %s of the model are not in memory; read it by mvclust.ReadModel", words.Name(v.Rows.Name))
		}
	}
	count, err := check(m, views, ids)
	if err != nil {
		return nil, nil, err
	}
	if err := checkAdded(m, views, ids, count); err != nil {
		return nil, nil, err
	}
	whole := m
	m = m.Current()
	next, err := enlarged(m, views, ids, count)
	if err != nil {
		return nil, nil, err
	}
	known, err := next.Constraints.Resolve(next.Views[0].Rows.Samples)
	if err != nil {
		return nil, nil, err
	}
	equal, err := view.Equal(ctx, viewsOf(next), threads)
	if err != nil {
		return nil, nil, err
	}
	if err := placeable(m, equal, views, count); err != nil {
		return nil, nil, err
	}
	known = known.Together(equal, slices.Concat(m.Labels, slices.Repeat([]int{-1}, count)))
	u := &update{ctx: ctx, threads: threads, old: m, near: whole.Neighbourhoods, next: next, count: count, known: known, equal: equal}
	if err := u.link(views, parallel.Counter(progress)); err != nil {
		return nil, nil, err
	}
	if err := u.refine(); err != nil {
		return nil, nil, err
	}
	changes, err := u.partition()
	if err != nil {
		return nil, nil, err
	}
	u.levels(whole, changes.Better)
	return next, changes, next.Validate()
}

// placeable returns an error where the samples of m all have the same rows, and one of the new
// samples, count of them, has others. equal is what view.Equal returns of all samples.
func placeable(m *mvclust.Model, equal []int32, views []*view.View, count int) error {
	if len(equal) == 0 || slices.Max(equal[:m.Samples()]) > 0 {
		return nil
	}
	known := viewsOf(m)
	for i := range count {
		if !agrees(known, views, i) {
			return &view.InputError{Row: i, Problem: "differs from the samples of the model, which all have the same rows and so tell nothing of how near others are; fit all samples together"}
		}
	}
	return nil
}

// update is one call of Update.
type update struct {
	ctx      context.Context
	threads  int
	old      *mvclust.Model         // of the current granularity alone
	near     *refine.Neighbourhoods // of the old model, for all of its levels; nil if there are none
	next     *mvclust.Model
	count    int // of new samples
	known    *constraint.Resolved
	equal    []int32      // by sample: the lowest one with equal rows; nil where no two are equal
	pairs    [][]probable // by sample: with new samples, or, of a new sample, with all
	relinked []bool       // by sample: whether it is new or has a new neighbour
}

// probable is a sample and the probability that another is of one class with it.
type probable struct {
	to int32
	p  float32
}

// viewsOf returns the views of a model, with all rows.
func viewsOf(m *mvclust.Model) []*view.View {
	rows := make([]*view.View, len(m.Views))
	for v := range rows {
		rows[v] = m.Views[v].Rows
	}
	return rows
}

// enlarged returns a copy of the model with the rows and ids of the new samples.
func enlarged(m *mvclust.Model, views []*view.View, ids []string, count int) (*mvclust.Model, error) {
	next := *m
	if m.Constraints.Distinct != nil {
		next.Constraints.Distinct = slices.Concat(m.Constraints.Distinct, slices.Repeat([]int{-1}, count))
	}
	next.Views = slices.Clone(m.Views)
	for i := range next.Views {
		v := &next.Views[i]
		v.Rows, v.Index = joined(v.Rows, views[i], count), nil
		if v.LocalScales != nil {
			v.LocalScales = slices.Concat(v.LocalScales, make([]float32, count))
		}
	}
	var err error
	next.IDs, err = joinedIDs(m, ids, count)
	return &next, err
}

// joinedIDs returns the ids of all samples; nil where none has one.
func joinedIDs(m *mvclust.Model, ids []string, count int) ([]string, error) {
	if m.IDs == nil && ids == nil {
		return nil, nil
	}
	n := m.Samples()
	all := make([]string, n+count)
	seen := make(map[string]bool, n+count)
	for i := range all {
		switch {
		case i < n:
			all[i] = m.ID(i)
		case ids != nil:
			all[i] = ids[i-n]
		default:
			all[i] = strconv.Itoa(i)
		}
		if seen[all[i]] {
			return nil, fmt.Errorf("the id %s of new sample %d (counted from 0) is taken: every sample needs one of its own; give it another, or leave the sample out", words.Quote(all[i]), i-n)
		}
		seen[all[i]] = true
	}
	return all, nil
}

// joined returns the rows of two views, one after the other; the second may be nil.
func joined(a, b *view.View, count int) *view.View {
	out := &view.View{Name: a.Name, Samples: a.Samples + count, Dims: a.Dims, Links: a.Links, Filling: a.Filling, Data: make([]float32, (a.Samples+count)*a.Dims)}
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
	l, err := newLinker(u.ctx, u.old, spaces, make([]*neighbour.Parts, len(spaces)), u.threads)
	if err != nil {
		return err
	}
	n := u.old.Samples()
	self := make([]int32, u.count)
	for i := range self {
		self[i] = int32(n + i)
	}
	b, err := l.search(u.ctx, views, u.count, self, u.threads)
	if err != nil {
		return err
	}
	u.localise(l, b)
	if err := u.pair(l, b, tick); err != nil {
		return err
	}
	for i := range u.count {
		for _, x := range u.pairs[n+i] {
			// Of two new samples, perhaps only one has the other among its candidates.
			u.pairs[x.to] = append(u.pairs[x.to], probable{int32(n + i), x.p})
		}
	}
	for i := range u.pairs {
		u.pairs[i] = strongest(u.pairs[i])
	}
	return nil
}

// localise gives the new model and its spaces the local scales of the new samples.
func (u *update) localise(l *linker, b *batch) {
	n := u.old.Samples()
	for m := range u.next.Views {
		scales := u.next.Views[m].LocalScales
		if scales == nil || b.scales[m] == nil {
			continue
		}
		for i := range u.count {
			if b.queries[m].Has(i) {
				scales[n+i] = b.scales[m][i]
			}
		}
		l.spaces[m] = l.spaces[m].WithLocalScales(scales)
	}
}

// pair finds the pairs of each new sample.
func (u *update) pair(l *linker, b *batch, tick func(int)) error {
	n := u.old.Samples()
	u.pairs = make([][]probable, n+u.count)
	scratch := l.perThread(u.threads, nil)
	return parallel.Blocks(u.ctx, u.threads, u.count, 64, func(worker, lo, hi int) {
		w := scratch(worker)
		for i := lo; i < hi; i++ {
			w.fuse(b, i)
			w.propagate()
			for t, j := range w.candidates {
				if w.p[t] > 0 {
					u.pairs[n+i] = append(u.pairs[n+i], probable{j, w.p[t]})
				}
			}
		}
		tick(hi - lo)
	})
}

// strongest sorts pairs by falling probability and, among equals, by number, and drops
// repetitions.
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
	u.relinked = make([]bool, n+u.count)
	for i := range u.count {
		u.relinked[n+i] = true
	}
	var err error
	if u.near == nil {
		for i, pairs := range u.pairs {
			u.relinked[i] = u.relinked[i] || len(pairs) > 0
		}
		u.next.Graph, err = u.joinGraph()
		return err
	}
	most, room := max(k, u.near.K()), 1 // of the longest row, which may have fewer than most
	for i, pairs := range u.pairs {
		had := 0
		if i < n {
			near, _ := u.near.Of(i)
			had = len(near)
		}
		room = max(room, min(most, had+len(pairs)))
	}
	index, probability := slices.Repeat([]int32{-1}, (n+u.count)*room), make([]float32, (n+u.count)*room)
	err = parallel.Blocks(u.ctx, u.threads, n+u.count, 256, func(_, lo, hi int) {
		var row []probable
		for i := lo; i < hi; i++ {
			row = row[:0]
			if i < n {
				near, p := u.near.Of(i)
				for e, j := range near {
					row = append(row, probable{j, p[e]})
				}
			}
			if len(row) == 0 {
				row = append(row, u.pairs[i]...)
			} else if len(u.pairs[i]) > 0 {
				row = joinedRow(row, u.pairs[i], k)
			}
			for e, x := range row[:min(room, len(row))] {
				index[i*room+e], probability[i*room+e] = x.to, x.p
				if e < k && int(x.to) >= n {
					u.relinked[i] = true
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if u.next.Neighbourhoods, err = refine.NewNeighbourhoods(room, index, probability); err != nil {
		return err
	}
	refined, err := u.next.Neighbourhoods.CoNeighbours(u.ctx, k, u.threads)
	if err != nil {
		return err
	}
	u.next.Graph, err = u.known.Propagate(u.ctx, refined, u.threads)
	return err
}

// joinedRow adds pairs to a row. Of equally probable samples, the first k of the row are chosen
// before those that follow, so that the current granularity has the neighbours it would have
// alone.
func joinedRow(row, pairs []probable, k int) []probable {
	first := min(k, len(row))
	rest := slices.Clone(row[first:])
	row = strongest(append(row[:first:first], pairs...))
	chosen := min(k, len(row))
	rest = append(slices.Clone(row[chosen:]), rest...)
	slices.SortStableFunc(rest, func(a, b probable) int { return cmp.Compare(b.p, a.p) })
	return append(row[:chosen], rest...)
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

// sumOf returns the sum of all weights.
func sumOf(g *graph.Graph) float64 {
	sum := 0.0
	for _, w := range g.Weight {
		sum += float64(w)
	}
	return sum
}

// settled is the least share of the old clusters that moves must leave, and the least adjusted Rand index.
const settled = 0.95

// steady is the least adjusted Rand index that moves with fewer new samples than old ones must leave.
const steady = 0.9

// moves returns the settings of the partition, without moves of clusters as wholes where these would
// join old clusters without any new sample: where the fit divided clusters further, or was asked for a
// number of them. hold is true where even moves of samples would change them, as they do clusters of average
// linkage: the old samples then stay where they are.
func (u *update) moves() (set partition.Settings, hold bool, err error) {
	m := u.old
	set = m.Settings.Partition
	if u.count == 0 || m.Settings.Resolution <= 0 {
		return set, false, nil
	}
	known, err := m.Constraints.Resolve(m.Samples())
	if err != nil {
		return set, false, err
	}
	for _, set.Levels = range []int{set.Levels, 1} {
		random := rand.New(rand.NewPCG(m.Settings.Seed, movesStream))
		found, err := partition.Resume(u.ctx, m.Graph, m.Settings.Resolution, known, set, m.Labels, slices.Repeat([]bool{true}, m.Samples()), random, nil)
		if err != nil {
			return set, false, err
		}
		same, err := score.Compare(m.Labels, found.Labels)
		if err != nil {
			return set, false, err
		}
		if same.ARI >= settled && float64(1+slices.Max(found.Labels)) >= settled*float64(m.Clusters()) {
			return set, false, nil
		}
	}
	return set, true, nil
}

// join returns the labels where the old samples stay. Of the new ones, those in clusters of found without any
// old sample are clusters; each of the others is in the one that it has the strongest links to, or alone.
func (u *update) join(found []int) []int {
	n, g, set := u.old.Samples(), u.next.Graph, u.old.Settings
	labels := slices.Concat(u.old.Labels, slices.Repeat([]int{None}, u.count))
	free, made := u.old.Numbers(), map[int]int{} // made is the label by the cluster of found; None where old samples are in it
	for _, l := range found[:n] {
		made[l] = None
	}
	for i := n; i < n+u.count; i++ {
		if _, known := made[found[i]]; !known {
			made[found[i]], free = free, free+1
		}
		labels[i] = made[found[i]]
	}
	sums := partition.NewLinks(free+u.count, set.Resolution, set.Partition.Clip)
	for i := n; i < n+u.count; i++ {
		if len(u.equal) > 0 && int(u.equal[i]) < i {
			labels[i] = labels[u.equal[i]]
		}
		if labels[i] != None {
			continue
		}
		sums.Clear()
		index, weight := g.Of(i)
		for e, j := range index {
			if labels[j] != None {
				sums.Add(labels[j], float64(weight[e]))
			}
		}
		if labels[i], _ = sums.Next(None); labels[i] == None {
			labels[i], free = free, free+1
		}
	}
	return labels
}

// partition searches the partition on, and says what has changed.
func (u *update) partition() (*Changes, error) {
	n, m := u.old.Samples(), u.next
	if before := sumOf(u.old.Graph); before > 0 && u.count > 0 {
		m.Settings.Resolution *= sumOf(m.Graph) / before
	}
	if err := u.anchor(); err != nil {
		return nil, err
	}
	set, hold, err := u.moves()
	if err != nil {
		return nil, err
	}
	start := slices.Concat(u.old.Labels, slices.Repeat([]int{-1}, u.count))
	random := rand.New(rand.NewPCG(m.Settings.Seed^bits.Reverse64(uint64(n+u.count)), updateStream))
	found, err := partition.Resume(u.ctx, m.Graph, m.Settings.Resolution, u.known, set, start, u.relinked, random, nil)
	if err != nil {
		return nil, err
	}
	labels := found.Labels
	if left, err := score.Compare(u.old.Labels, labels[:n]); err != nil {
		return nil, err
	} else if hold = hold || left.ARI < steady && u.count <= n; hold {
		labels = u.join(labels)
	}
	changes := &Changes{Added: u.count, Held: hold}
	if changes.Better, err = u.look(); err != nil {
		return nil, err
	}
	m.Labels = changes.name(u.old.Labels, labels, u.old.Numbers())
	m.Retired = 0
	if numbers := max(u.old.Numbers(), m.Numbers()); numbers > m.Clusters() {
		m.Retired = numbers
	}
	for _, t := range u.relinked[:n] {
		if t {
			changes.Relinked++
		}
	}
	if m.Confidence, err = partition.Confidence(m.Graph, m.Labels); err != nil {
		return nil, err
	}
	changes.Clusters = m.Clusters()
	return changes, nil
}
