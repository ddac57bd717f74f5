package job

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// sampleRows passes on the rows that the cells are learned from: those of the lowest keys, which
// are random numbers.
func sampleRows(_ context.Context, t *task, s *samples, _ int) error {
	below := int64(math.MaxInt64)
	if t.conf.Sample < t.conf.Samples {
		below = int64(float64(math.MaxInt64) * (float64(t.conf.Sample) / float64(t.conf.Samples)))
	}
	for i, key := range s.keys {
		if key <= below {
			t.out[0].to(0, (&row{key: key, values: s.values(i)}).encode())
		}
	}
	return nil
}

// values returns the rows of sample i by view.
func (s *samples) values(i int) [][]float32 {
	out := make([][]float32, len(s.views))
	for m, v := range s.views {
		if v.Has(i) {
			out[m] = v.Row(i)
		}
	}
	return out
}

// rowsAtOnce bounds the rows that are scaled at a time.
const rowsAtOnce = 4096

// assign ships every row to its nearest cells, and its place in the input to the piece of its home.
func assign(ctx context.Context, t *task, s *samples, shard int) error {
	c, l := t.conf, t.learned
	for lo := 0; lo < len(s.keys); lo += rowsAtOnce {
		hi := min(lo+rowsAtOnce, len(s.keys))
		part := make([]*view.View, len(s.views))
		for m, v := range s.views {
			part[m] = &view.View{Name: v.Name, Samples: hi - lo, Dims: v.Dims, Data: v.Data[lo*v.Dims : hi*v.Dims]}
			if v.Present != nil {
				part[m].Present = v.Present[lo:hi]
			}
		}
		all, err := l.joint(ctx, part)
		if err != nil {
			return err
		}
		cells, err := nearest(ctx, l.Centres, l.Width, all, c.Nearest, c.Seed)
		if err != nil {
			return err
		}
		for i := lo; i < hi; i++ {
			r := row{key: s.keys[i], values: s.values(i)}
			for _, cell := range cells[(i-lo)*c.Nearest:][:c.Nearest] {
				if !slices.Contains(r.cells, int(cell)) {
					r.cells = append(r.cells, int(cell))
				}
			}
			record := r.encode()
			for _, cell := range r.cells {
				t.out[0].to(int64(cell), record)
			}
			place := appendKey([]byte{'l'}, r.key)
			place = appendInt(appendInt(appendInt(place, r.cells[0]), shard), i)
			t.out[1].to(int64(l.Groups[0][r.cells[0]]), place)
		}
	}
	return nil
}

// cell is a cell with its members, in the order of their keys, and the spaces of its views. A view
// that is left out is nobody's.
type cell struct {
	rows   []*row
	plain  []*similarity.Space
	spaces []*similarity.Space // on the local scale where scales are known
}

// openCell makes a cell of rows. scales holds the local scales by key, or is nil.
func openCell(ctx context.Context, c *Config, l *learned, rows []*row, scales map[int64][]float32) (*cell, error) {
	if err := sortRows(rows); err != nil {
		return nil, err
	}
	out := &cell{rows: rows}
	for m, v := range viewsOf(c, rows) {
		scaled, err := l.Scalers[m].Apply(ctx, v, 0)
		if err != nil {
			return nil, err
		}
		space, err := similarity.Part(ctx, scaled, metric, 0)
		if err != nil {
			return nil, err
		}
		if l.LeftOut[m] {
			space = space.Emptied()
		}
		out.plain = append(out.plain, space)
		if scales != nil {
			local := make([]float32, len(rows))
			for i, r := range rows {
				if s := scales[r.key]; s != nil {
					local[i] = s[m]
				}
			}
			space = space.WithLocalScales(local)
		}
		out.spaces = append(out.spaces, space)
	}
	return out, nil
}

// search returns the nearest neighbours within the cell by view.
func (c *cell) search(ctx context.Context, k int, seed uint64) ([]*neighbour.Lists, error) {
	var lists []*neighbour.Lists
	for _, s := range c.plain {
		found, err := neighbour.Search(ctx, s, max(1, min(k, len(c.rows)-1)), seed, neighbour.Settings{}, 0, nil)
		if err != nil {
			return nil, err
		}
		lists = append(lists, found)
	}
	return lists, nil
}

// near finds, within a cell, each member's nearest neighbours by view, and tells its home how alike
// they are.
func near(ctx context.Context, t *task) error {
	rows, _, err := t.rows()
	if err != nil {
		return err
	}
	c, err := openCell(ctx, t.conf, t.learned, rows, nil)
	if err != nil {
		return err
	}
	lists, err := c.search(ctx, similarity.Local, t.conf.Seed)
	if err != nil {
		return err
	}
	for i, r := range c.rows {
		b := appendInt(appendKey(nil, r.key), len(r.cells))
		for _, other := range r.cells {
			b = appendInt(b, other)
		}
		for m, s := range c.spaces {
			list := lists[m].Of(i)
			w := make([]float32, len(list))
			s.Similarities(w, i, list)
			b = appendInt(b, len(list))
			for e, j := range list {
				b = appendFloat(appendKey(b, c.rows[j].key), w[e])
			}
		}
		t.out[0].to(int64(r.cells[0]), b)
	}
	return nil
}

// neighbourOf is an entry of a list: a sample and its similarity or probability.
type neighbourOf struct {
	key   int64
	home  int
	value float32
}

// best returns the k largest of the entries, each sample once, the largest first and, among equals,
// the lower key.
func best(entries []neighbourOf, k int) []neighbourOf {
	slices.SortFunc(entries, func(a, b neighbourOf) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.key, b.key))
	})
	entries = slices.CompactFunc(entries, func(a, b neighbourOf) bool { return a.key == b.key })
	return entries[:min(k, len(entries))]
}

// scale finds the local scales of the samples of a home, and sends them to all their cells.
func scale(_ context.Context, t *task) error {
	type sample struct {
		cells []int
		near  [][]neighbourOf // by view
	}
	found := map[int64]*sample{}
	err := t.each(func(r *reader) error {
		key := r.key()
		s := &sample{near: make([][]neighbourOf, len(t.conf.Dims))}
		for range r.count() {
			s.cells = append(s.cells, r.int())
		}
		if before := found[key]; before != nil {
			s = before
		}
		found[key] = s
		for m := range s.near {
			for range r.count() {
				s.near[m] = append(s.near[m], neighbourOf{key: r.key(), value: r.float()})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range sortedKeys(found) {
		s, b := found[key], appendKey([]byte{'s'}, key)
		for m, entries := range s.near {
			var w []float32
			for _, e := range best(entries, similarity.Local) {
				w = append(w, e.value)
			}
			b = appendFloat(b, similarity.LocalScaleAmong(metric, w, t.learned.Widest[m]))
		}
		for _, cell := range s.cells {
			t.out[0].to(int64(cell), b)
		}
	}
	return nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// candidates returns the cell, the pairs of its members of which one is among the nearest of the
// other in some view, and how alike they are in all views, on the local scale.
func candidates(ctx context.Context, t *task) (*cell, *pair.Set, error) {
	rows, scales, err := t.rows()
	if err != nil {
		return nil, nil, err
	}
	c, err := openCell(ctx, t.conf, t.learned, rows, scales)
	if err != nil {
		return nil, nil, err
	}
	lists, err := c.search(ctx, t.conf.Candidates, t.conf.Seed)
	if err != nil {
		return nil, nil, err
	}
	pairs, err := pair.Union(ctx, lists, 0)
	return c, pairs, err
}

const (
	// trainingPairs is how many pairs the functions are learned from, of at most trainingCells.
	trainingPairs = probability.DefaultPairs
	trainingCells = 64
)

// training passes on the similarities of some pairs of some cells.
func training(ctx context.Context, t *task) error {
	chosen := min(t.learned.cells(), trainingCells)
	if keyOf(t.conf.Seed, "cell"+string(appendInt(nil, int(t.key))))%int64(t.learned.cells()) >= int64(chosen) {
		return nil
	}
	c, pairs, err := candidates(ctx, t)
	if err != nil {
		return err
	}
	perCell := float64(t.conf.Samples*t.conf.Nearest) / float64(t.learned.cells())
	all := perCell * float64(t.conf.Candidates*len(t.conf.Dims)) / 2 * float64(chosen)
	pairs = pairs.Thin(int(math.Ceil(float64(pairs.Len()) * min(1, trainingPairs/all))))
	w, err := pairs.Similarities(ctx, c.spaces, 0, nil)
	if err != nil {
		return err
	}
	b := appendInt(appendInt(nil, int(t.key)), pairs.Len())
	for _, of := range w {
		for _, x := range of {
			b = appendFloat(b, x)
		}
	}
	t.out[0].to(0, b)
	return nil
}

// functions learns the views' probability functions.
func functions(ctx context.Context, t *task) error {
	type part struct {
		cell         int
		similarities [][]float32
	}
	var parts []part
	err := t.each(func(r *reader) error {
		p, n := part{cell: r.int()}, r.int()
		for range t.conf.Dims {
			p.similarities = append(p.similarities, r.floats(n))
		}
		parts = append(parts, p)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(parts, func(a, b part) int { return a.cell - b.cell })
	all := make([][]float32, len(t.conf.Dims))
	for _, p := range parts {
		for m, w := range p.similarities {
			all[m] = append(all[m], w...)
		}
	}
	set := probability.Settings{Untrained: true}
	if err := set.Resolve(); err != nil {
		return err
	}
	l := *t.learned
	if l.Functions, err = probability.Learn(ctx, all, set, 0, nil); err != nil {
		return err
	}
	l.Functions.Cross = nil // for completion, which there is none of
	t.value, err = l.encode()
	return err
}

// scores fuses the probabilities of the pairs of a cell, and tells each member's home the most
// probable ones.
func scores(ctx context.Context, t *task) error {
	c, pairs, err := candidates(ctx, t)
	if err != nil {
		return err
	}
	w, err := pairs.Similarities(ctx, c.spaces, 0, nil)
	if err != nil {
		return err
	}
	estimator, err := posterior.New(t.learned.Functions, posterior.Settings{Fusion: posterior.Pooled})
	if err != nil {
		return err
	}
	fused, err := estimator.Pairs(ctx, w, 0, nil)
	if err != nil {
		return err
	}
	g, err := graph.FromPairs(ctx, pairs, fused, 0)
	if err != nil {
		return err
	}
	nearest, err := refine.Nearest(ctx, g, t.conf.most(), 0)
	if err != nil {
		return err
	}
	for i, r := range c.rows {
		index, p := nearest.Of(i)
		l := list{key: r.key, home: r.cells[0]}
		for e, j := range index {
			l.near = append(l.near, neighbourOf{c.rows[j].key, c.rows[j].cells[0], p[e]})
		}
		t.out[0].to(int64(l.home), l.encode())
	}
	return nil
}

// list is a sample with its most probable neighbours.
type list struct {
	key  int64
	home int
	near []neighbourOf
}

func (l *list) encode() []byte {
	b := appendInt(appendInt(appendKey([]byte{'L'}, l.key), l.home), len(l.near))
	for _, n := range l.near {
		b = appendFloat(appendInt(appendKey(b, n.key), n.home), n.value)
	}
	return b
}

func readList(r *reader) *list {
	l := &list{key: r.key(), home: r.int()}
	for range r.count() {
		l.near = append(l.near, neighbourOf{r.key(), r.int(), r.float()})
	}
	return l
}

// merge makes one list of those that a sample got in its cells, and sends it to every piece that
// the sample or one of its neighbours is at home in.
func merge(_ context.Context, t *task) error {
	found := map[int64]*list{}
	err := t.each(func(r *reader) error {
		r.tag()
		l := readList(r)
		if before := found[l.key]; before != nil {
			before.near = append(before.near, l.near...)
		} else {
			found[l.key] = l
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range sortedKeys(found) {
		l := found[key]
		l.near = best(l.near, t.conf.most())
		b := l.encode()
		for _, piece := range t.learned.pieces(0, l) {
			t.out[0].to(int64(piece), b)
		}
	}
	return nil
}

// pieces returns the pieces in a round that a sample and its neighbours are at home in, each once.
func (l *learned) pieces(round int, of *list) []int32 {
	out := []int32{l.Groups[round][of.home]}
	for _, n := range of.near {
		out = append(out, l.Groups[round][n.home])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
