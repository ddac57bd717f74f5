package predict

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// linker finds the links of new samples to those of a model, as the fit would have found
// them.
type linker struct {
	m         *mvclust.Model
	spaces    []*similarity.Space
	indexes   []*neighbour.Index
	estimator *posterior.Estimator
}

// newLinker prepares to compare new samples with those of the spaces: the samples of m,
// and any that follow them. parts holds, by view, how these are searched, where that is known.
func newLinker(ctx context.Context, m *mvclust.Model, spaces []*similarity.Space, parts []*neighbour.Parts, threads int) (*linker, error) {
	l := &linker{m: m, spaces: spaces}
	var err error
	if l.estimator, err = posterior.New(m.Functions, m.Settings.Posterior); err != nil {
		return nil, err
	}
	for i, s := range spaces {
		x, err := neighbour.Restore(ctx, s, m.Settings.Candidates, m.Settings.Seed, parts[i], threads)
		if err != nil {
			return nil, err
		}
		l.indexes = append(l.indexes, x)
	}
	return l, nil
}

// batch is a number of new samples with samples of the model that are near them: of new sample i those
// from place offsets[i] to ends[i].
type batch struct {
	count   int
	queries []*similarity.Queries // by view; nil where none has it
	offsets []int
	ends    []int
	samples []int32
	alike   [][]float32 // by view: how alike they are, not localised; nil where no new sample has the view
	scales  [][]float32 // by view and new sample: the local scales
	order   []int32     // of the new samples, those with common neighbours after each other
}

// search finds the nearest samples of new samples in every view, how alike they are in all views, and
// the local scales of the new samples. views holds their rows, by view of the model, nil where none has
// it. self is that of neighbour.Index.Search.
func (l *linker) search(ctx context.Context, views []*view.View, count int, self []int32, threads int) (*batch, error) {
	b := &batch{count: count, queries: make([]*similarity.Queries, len(views)), alike: make([][]float32, len(views)), scales: make([][]float32, len(views))}
	near := make([]*neighbour.Candidates, len(views))
	for m, v := range views {
		if v == nil || l.m.Views[m].LeftOut {
			continue
		}
		scaled, err := l.m.Views[m].Scaler.Apply(ctx, v, threads)
		if err != nil {
			return nil, err
		}
		if b.queries[m], err = l.spaces[m].Queries(ctx, scaled, scaled != v, threads); err != nil {
			return nil, err
		}
		if near[m], err = l.indexes[m].Candidates(ctx, b.queries[m], self, threads, nil); err != nil {
			return nil, err
		}
	}
	if err := b.unite(ctx, near, threads); err != nil {
		return nil, err
	}
	lists, err := similarity.NewLists(l.spaces[0].Samples, b.offsets, b.samples, b.order)
	if err != nil {
		return nil, err
	}
	for m, q := range b.queries {
		if q == nil {
			continue
		}
		if b.alike[m], err = q.Compare(ctx, views[m], lists, threads); err != nil {
			return nil, err
		}
		b.scales[m] = make([]float32, count)
	}
	return b, l.nearest(ctx, b, threads)
}

// unite lists for every new sample what near lists in any view, ascending.
func (b *batch) unite(ctx context.Context, near []*neighbour.Candidates, threads int) error {
	room := make([]int, b.count+1)
	for i := range b.count {
		room[i+1] = room[i]
		for _, c := range near {
			if c != nil {
				room[i+1] += c.Offsets[i+1] - c.Offsets[i]
			}
		}
	}
	all := make([]int32, room[b.count])
	b.offsets, b.ends = make([]int, b.count+1), make([]int, b.count)
	err := parallel.Blocks(ctx, threads, b.count, 256, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			some := all[room[i]:room[i]:room[i+1]]
			for _, c := range near {
				if c != nil {
					some = append(some, c.Samples[c.Offsets[i]:c.Offsets[i+1]]...)
				}
			}
			slices.Sort(some)
			b.ends[i] = len(slices.Compact(some)) // for the moment their number
		}
	})
	for i, n := range b.ends {
		b.offsets[i+1] = b.offsets[i] + copy(all[b.offsets[i]:], all[room[i]:room[i]+n])
		b.ends[i] = b.offsets[i+1]
	}
	b.samples = all[:b.offsets[b.count]]
	b.walk(near)
	return err
}

// walk finds the order of the batch.
func (b *batch) walk(near []*neighbour.Candidates) {
	b.order = make([]int32, 0, b.count)
	seen := make([]bool, b.count)
	for _, c := range near {
		if c == nil {
			continue
		}
		for _, i := range c.Order {
			if !seen[i] {
				seen[i], b.order = true, append(b.order, i)
			}
		}
	}
	for i, there := range seen {
		if !there {
			b.order = append(b.order, int32(i))
		}
	}
}

// nearest leaves in the batch those samples that are among the nearest of the new sample in a view, and
// finds the local scales.
func (l *linker) nearest(ctx context.Context, b *batch, threads int) error {
	type scratch struct {
		keys         []rank.Key
		similarities []float32
		chosen       []bool
	}
	all := make([]scratch, parallel.Threads(threads))
	return parallel.Blocks(ctx, threads, b.count, 64, func(worker, lo, hi int) {
		w := &all[worker]
		for i := lo; i < hi; i++ {
			from, to := b.offsets[i], b.offsets[i+1]
			w.chosen = slices.Grow(w.chosen[:0], to-from)[:to-from]
			clear(w.chosen)
			for m, alike := range b.alike {
				if alike == nil {
					continue
				}
				w.keys, w.similarities = w.keys[:0], w.similarities[:0]
				for t, x := range alike[from:to] {
					if x == x {
						w.keys = append(w.keys, rank.New(x, int32(t))) // samples ascend
					}
				}
				for _, k := range rank.Best(w.keys, min(l.m.Settings.Candidates, l.spaces[m].Count()-1)) {
					w.chosen[k.Number()] = true
					w.similarities = append(w.similarities, k.Score())
				}
				b.scales[m][i] = l.spaces[m].LocalScale(w.similarities)
			}
			end := from
			for t, is := range w.chosen {
				if !is {
					continue
				}
				b.samples[end] = b.samples[from+t]
				for _, alike := range b.alike {
					if alike != nil {
						alike[end] = alike[from+t]
					}
				}
				end++
			}
			b.ends[i] = end
		}
	})
}

// newSample is one thread's memory for one new sample at a time, and finds its links.
type newSample struct {
	*linker
	alike [][]float32 // by view and candidate
	views []float64
	row   *refine.Row
	some  []int32

	// What is found.
	candidates []int32   // samples among which the neighbours are, ascending
	p          []float32 // by candidate: that it is of one class with the new sample
	list       []int32   // the K most probable candidates, by their index, most probable first
	links      []link

	sums *partition.Links // of links, by cluster
}

// link is an edge that a new sample would have.
type link struct {
	to     int32
	weight float32
}

func (l *linker) newSample() *newSample {
	w := &newSample{linker: l, alike: make([][]float32, len(l.spaces)), views: make([]float64, len(l.spaces))}
	w.row = refine.NewRow(l.spaces[0].Samples)
	return w
}

// fuse finds the candidates of sample i of the batch, and their fused probabilities.
func (w *newSample) fuse(b *batch, i int) {
	from, to := b.offsets[i], b.ends[i]
	w.candidates = b.samples[from:to:to]
	for m, alike := range b.alike {
		w.alike[m] = slices.Grow(w.alike[m][:0], to-from)[:to-from]
		if alike == nil {
			for t := range w.alike[m] {
				w.alike[m][t] = float32(math.NaN())
			}
			continue
		}
		copy(w.alike[m], alike[from:to])
		w.spaces[m].Localise(w.alike[m], b.scales[m][i], w.candidates)
	}
	w.p = w.p[:0]
	for t := range w.candidates {
		w.estimator.Views(w.views, func(m int) float32 { return w.alike[m][t] })
		w.p = append(w.p, float32(w.estimator.Fuse(w.views)))
	}
}

// link makes links of the probabilities, by path and co-neighbour propagation where the
// model's settings have them. Paths lead over the neighbours that the model has.
func (w *newSample) link() {
	w.propagate()
	w.links = w.links[:0]
	if w.m.Settings.Refinement.WithoutCoNeighbours {
		for t, j := range w.candidates {
			if w.p[t] > 0 {
				w.links = append(w.links, link{j, w.p[t]})
			}
		}
	} else {
		w.coNeighbours()
	}
	w.sums.Clear()
	for _, x := range w.links {
		w.sums.Add(w.m.Labels[x.to], float64(x.weight))
	}
}

// propagate makes the probabilities those that the neighbours are chosen by: after path
// propagation and all rounds of co-neighbour propagation but the last.
func (w *newSample) propagate() {
	set := w.m.Settings.Refinement
	if !set.WithoutPaths {
		w.p = append(w.p[:0], w.row.Paths(w.candidates, w.p, w.neighbours)...)
	}
	if set.WithoutCoNeighbours {
		return
	}
	for range max(1, set.Rounds) - 1 {
		w.coNeighbours()
		w.again()
	}
}

// again puts the links in the place of the probabilities, for another round.
func (w *newSample) again() {
	for t := range w.p {
		w.p[t] = 0
	}
	for _, x := range w.links {
		t, _ := slices.BinarySearch(w.candidates, x.to)
		w.p[t] = x.weight
	}
}

// neighbours returns the neighbours of a sample of the model, and none of a new sample.
func (w *newSample) neighbours(j int) ([]int32, []float32) {
	switch {
	case j >= w.m.Samples():
		return nil, nil
	case w.m.Neighbourhoods != nil:
		return w.m.Neighbourhoods.Of(j)
	}
	return w.m.Graph.Of(j)
}

// coNeighbours makes links of the probabilities, by those of the K most probable candidates.
func (w *newSample) coNeighbours() {
	near, k := w.m.Neighbourhoods, w.m.Settings.Neighbours
	w.list = w.row.Nearest(w.list[:0], w.candidates, w.p, k)
	to, weight := w.row.CoNeighbours(w.candidates, w.p, w.list, near, k)
	w.links = w.links[:0]
	for e, j := range to {
		w.links = append(w.links, link{j, weight[e]})
	}
}

// perThread returns a newSample for each thread that asks.
func (l *linker) perThread(threads int, worth *partition.Worth) func(worker int) *newSample {
	all := make([]*newSample, parallel.Threads(threads))
	return func(worker int) *newSample {
		if all[worker] == nil {
			all[worker] = l.newSample()
			if worth != nil {
				all[worker].sums = worth.Links()
			}
		}
		return all[worker]
	}
}
