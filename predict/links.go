package predict

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
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

// batch is a number of new samples with their nearest samples of the model.
type batch struct {
	count   int
	queries []*similarity.Queries // by view; nil where none has it
	found   []*neighbour.Found
	scales  [][]float32 // by view and new sample: the local scales
}

// search finds the nearest samples of new samples in every view, and their local scales.
// views holds their rows, by view of the model, nil where none has it. self is that of
// neighbour.Index.Search.
func (l *linker) search(ctx context.Context, views []*view.View, count int, self []int32, threads int) (*batch, error) {
	b := &batch{
		count: count, queries: make([]*similarity.Queries, len(views)),
		found: make([]*neighbour.Found, len(views)), scales: make([][]float32, len(views)),
	}
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
		if b.found[m], err = l.indexes[m].Search(ctx, b.queries[m], self, threads, nil); err != nil {
			return nil, err
		}
		b.scales[m] = make([]float32, count)
		for i := range count {
			_, similarities := b.found[m].Of(i)
			b.scales[m][i] = l.spaces[m].LocalScale(similarities)
		}
	}
	return b, nil
}

// order lists the new samples in the order of a walk from neighbour to neighbour in the
// first view, so that what one needs is still in the cache for the next.
func (b *batch) order() []int32 {
	order := make([]int32, 0, b.count)
	seen := make([]bool, b.count)
	for _, f := range b.found {
		if f == nil {
			continue
		}
		for _, i := range f.Order {
			if !seen[i] {
				seen[i], order = true, append(order, i)
			}
		}
	}
	for i, there := range seen {
		if !there {
			order = append(order, int32(i))
		}
	}
	return order
}

// newSample is one thread's memory for one new sample at a time, and finds its links.
type newSample struct {
	*linker
	place  []int32 // by sample: its place among the candidates, counted from 1; 0 if it is none
	others []int32
	some   []int32
	values []float32
	alike  [][]float32 // by view and candidate
	views  []float64
	row    *refine.Row

	// What is found.
	candidates []int32   // samples among which the neighbours are
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
	w.place, w.row = make([]int32, l.spaces[0].Samples), refine.NewRow(l.spaces[0].Samples)
	return w
}

// fuse finds the candidates of sample i of the batch, and their fused probabilities.
func (w *newSample) fuse(b *batch, i int) {
	w.candidates = w.candidates[:0]
	for _, f := range b.found {
		if f == nil {
			continue
		}
		index, _ := f.Of(i)
		for _, j := range index {
			if w.place[j] == 0 {
				w.candidates = append(w.candidates, j)
				w.place[j] = int32(len(w.candidates))
			}
		}
	}
	for m := range w.alike {
		w.compare(b, i, m)
	}
	w.p = w.p[:0]
	for t := range w.candidates {
		w.estimator.Views(w.views, func(m int) float32 { return w.alike[m][t] })
		w.p = append(w.p, float32(w.estimator.Fuse(w.views)))
	}
}

// reset forgets the candidates.
func (w *newSample) reset() {
	for _, j := range w.candidates {
		w.place[j] = 0
	}
}

// compare finds the similarities of sample i of the batch and its candidates in view m.
func (w *newSample) compare(b *batch, i, m int) {
	alike := slices.Grow(w.alike[m][:0], len(w.candidates))[:len(w.candidates)]
	w.alike[m] = alike
	for t := range alike {
		alike[t] = float32(math.NaN())
	}
	if b.queries[m] == nil || !b.queries[m].Has(i) {
		return
	}
	index, known := b.found[m].Of(i)
	for e, j := range index {
		alike[w.place[j]-1] = known[e]
	}
	w.others, w.some = w.others[:0], w.some[:0]
	for t, x := range alike {
		if x != x {
			w.others, w.some = append(w.others, w.candidates[t]), append(w.some, int32(t))
		}
	}
	w.values = slices.Grow(w.values[:0], len(w.others))[:len(w.others)]
	b.queries[m].Similarities(w.values, i, w.others)
	for e, t := range w.some {
		alike[t] = w.values[e]
	}
	w.spaces[m].Localise(alike, b.scales[m][i], w.candidates)
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
		w.p[w.place[x.to]-1] = x.weight
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
