package job

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

var nan = float32(math.NaN())

// learned is what every worker knows: what was found on a sample of the rows, and what was added
// on the way.
type learned struct {
	Scalers []*view.Scaler
	LeftOut []bool
	// Widest holds, by view, the largest mean distance to the nearest neighbours; see
	// similarity.LocalScaleAmong.
	Widest []float64
	// Centres holds the centres of the cells, Width numbers each: all views, one after another.
	Centres []float32
	Width   int
	// Groups holds, for each round of contraction, the piece that every cell belongs to.
	Groups [][]int32
	// Functions is there from the step functions on, and Totals from the step totals on: the sums
	// of all weights, by channel.
	Functions *probability.Functions
	Totals    []int64
	// Resolution is that at which nodes are moved before the choice.
	Resolution float64
}

// cells returns the number of cells.
func (l *learned) cells() int { return len(l.Centres) / l.Width }

func (l *learned) encode() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(l)
	return b.Bytes(), err
}

func decodeLearned(b []byte) (*learned, error) {
	l := &learned{}
	return l, gob.NewDecoder(bytes.NewReader(b)).Decode(l)
}

// metric is the only one: rows are scaled for it.
const metric = similarity.Cosine

// row is a sample as it is shipped to cells.
type row struct {
	key    int64
	cells  []int       // those that it is shipped to; the first is its home
	values [][]float32 // by view; nil where it lacks the view
}

func (r *row) encode() []byte {
	b := appendKey([]byte{'r'}, r.key)
	b = appendInt(b, len(r.cells))
	for _, c := range r.cells {
		b = appendInt(b, c)
	}
	for _, values := range r.values {
		if values == nil {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		for _, x := range values {
			b = appendFloat(b, x)
		}
	}
	return b
}

func readRow(r *reader, dims []int) *row {
	out := &row{key: r.key()}
	for range r.count() {
		out.cells = append(out.cells, r.int())
	}
	for _, d := range dims {
		var values []float32
		if r.tag() == 1 {
			values = r.floats(d)
		}
		out.values = append(out.values, values)
	}
	return out
}

// sortRows puts rows in the order of their keys, which must differ.
func sortRows(rows []*row) error {
	slices.SortFunc(rows, func(a, b *row) int { return cmp.Compare(a.key, b.key) })
	for i := 1; i < len(rows); i++ {
		if rows[i].key == rows[i-1].key {
			return errTwice
		}
	}
	return nil
}

var errTwice = &InputError{Problem: "two rows of different shards have the same id; give every sample an id of its own (should all differ, two have the same hash, and another -seed helps)"}

// viewsOf returns the rows as views, without copies to spare.
func viewsOf(c *Config, rows []*row) []*view.View {
	views := make([]*view.View, len(c.Dims))
	for m, d := range c.Dims {
		v := &view.View{Name: c.Views[m], Samples: len(rows), Dims: d, Data: make([]float32, len(rows)*d), Present: make([]bool, len(rows))}
		for i, r := range rows {
			if r.values[m] != nil {
				copy(v.Row(i), r.values[m])
				v.Present[i] = true
			}
		}
		views[m] = v
	}
	return views
}

// joint returns the views scaled and joined to one row per sample: each view has length 1, and is
// zeros where it is missing or left out.
func (l *learned) joint(ctx context.Context, views []*view.View) (*view.View, error) {
	out := &view.View{Name: "all views", Samples: views[0].Samples, Dims: l.Width, Data: make([]float32, views[0].Samples*l.Width)}
	at := 0
	for m, v := range views {
		dims := view.Mixed.Dims(v.Dims)
		if !l.LeftOut[m] {
			scaled, err := l.Scalers[m].Apply(ctx, v, 1)
			if err != nil {
				return nil, err
			}
			space, err := similarity.Part(ctx, scaled, metric, 1)
			if err != nil {
				return nil, err
			}
			for r := range space.Count() {
				copy(out.Row(space.Sample(r))[at:], space.Row(r))
			}
		}
		at += dims
	}
	return out, nil
}

// scalersOf finds how features are scaled, and which version of the rows is compared.
func scalersOf(ctx context.Context, views []*view.View) ([]*view.Scaler, error) {
	scalers, metrics := make([]*view.Scaler, len(views)), make([]similarity.Metric, len(views))
	for m, v := range views {
		var err error
		if scalers[m], err = v.Scaler(ctx, view.Mixed, nil); err != nil {
			return nil, err
		}
		metrics[m] = metric
	}
	if len(views) < 2 {
		return scalers, nil
	}
	found, err := agreement.Read(ctx, views, scalers, metrics, nil, 0)
	if err != nil {
		return nil, err
	}
	return found.Apply(scalers)
}

// learn finds on a sample of the rows how features are scaled, which views are left out, and the
// cells.
func learn(ctx context.Context, t *task) error {
	rows, _, err := t.rows()
	if err != nil {
		return err
	}
	if err := sortRows(rows); err != nil {
		return err
	}
	c, l := t.conf, &learned{}
	views := viewsOf(c, rows)
	var spaces []*similarity.Space
	var lists []*neighbour.Lists
	scalers, err := scalersOf(ctx, views)
	if err != nil {
		return inputError(err)
	}
	for m, v := range views {
		scaler := scalers[m]
		scaled, err := scaler.Apply(ctx, v, 0)
		if err != nil {
			return inputError(err)
		}
		space, err := similarity.NewSpace(ctx, scaled, metric, nil, true, 0)
		if err == nil {
			err = space.Varied()
		}
		if err != nil {
			return inputError(err)
		}
		near, err := neighbour.Search(ctx, space, min(c.Candidates, len(rows)-1), c.Seed, neighbour.Settings{}, 0, nil)
		if err != nil {
			return err
		}
		l.Scalers, l.Widest = append(l.Scalers, scaler), append(l.Widest, widest(space, near))
		spaces, lists = append(spaces, space), append(lists, near)
		l.Width += space.Dims
	}
	l.LeftOut = make([]bool, len(views))
	if len(views) > 1 {
		found, err := agreement.Measure(ctx, spaces, lists, c.Seed, 0)
		if err != nil {
			return err
		}
		l.LeftOut = found.LeftOut
	}
	if err := l.divide(ctx, c, views); err != nil {
		return err
	}
	b, err := l.encode()
	t.value = b
	return err
}

// inputError marks errors about views.
func inputError(err error) error {
	return &InputError{Problem: fmt.Sprintf("among the rows of all shards, %v", err)}
}

// widest returns the largest mean distance to the nearest neighbours.
func widest(space *similarity.Space, near *neighbour.Lists) float64 {
	largest := 0.0
	for i := range space.Samples {
		list := near.Of(i)
		list = list[:min(len(list), similarity.Local)]
		w := make([]float32, len(list))
		space.Similarities(w, i, list)
		largest = max(largest, similarity.MeanDistance(metric, w))
	}
	return largest
}

// divide finds the centres of the cells, and for each round the pieces that cells belong to. The
// boundaries between pieces differ from round to round, so that what one round could not join
// because a boundary lay between, the next one can.
func (l *learned) divide(ctx context.Context, c *Config, views []*view.View) error {
	all, err := l.joint(ctx, views)
	if err != nil {
		return err
	}
	space, err := similarity.NewSpace(ctx, all, metric, nil, true, 0)
	if err != nil {
		return inputError(err)
	}
	if l.Centres, err = neighbour.Centres(ctx, space, c.Cells, c.Seed, 0); err != nil {
		return err
	}
	for r, pieces := range c.Pieces {
		groups := make([]int32, l.cells())
		if pieces > 1 && l.cells() > 1 {
			cells := &view.View{Name: "centres", Samples: l.cells(), Dims: l.Width, Data: slices.Clone(l.Centres)}
			space, err := similarity.NewSpace(ctx, cells, metric, nil, true, 0)
			if err != nil {
				return err
			}
			centres, err := neighbour.Centres(ctx, space, pieces, c.Seed+uint64(r)+1, 0)
			if err != nil {
				return err
			}
			if groups, err = nearest(ctx, centres, l.Width, cells, 1, c.Seed); err != nil {
				return err
			}
		}
		l.Groups = append(l.Groups, groups)
	}
	return nil
}

// nearest returns, for every row, its keep nearest centres, best first; 0s for a row of zeros.
func nearest(ctx context.Context, centres []float32, width int, rows *view.View, keep int, seed uint64) ([]int32, error) {
	count := len(centres) / width
	out := make([]int32, rows.Samples*keep)
	if count < 2 {
		return out, nil
	}
	at := &view.View{Name: "centres", Samples: count, Dims: width, Data: slices.Clone(centres)}
	space, err := similarity.NewSpace(ctx, at, metric, nil, true, 1)
	if err != nil {
		return nil, err
	}
	index, err := neighbour.NewIndex(ctx, space, keep, seed, neighbour.Settings{}, 1)
	if err != nil {
		return nil, err
	}
	queries, err := space.Queries(ctx, rows, true, 1)
	if err != nil {
		return nil, err
	}
	found, err := index.Search(ctx, queries, nil, 1, nil)
	if err != nil {
		return nil, err
	}
	for i := range rows.Samples {
		near, _ := found.Of(i)
		for t := range min(keep, len(near)) {
			out[i*keep+t] = near[t]
		}
		for t := len(near); t < keep && t > 0; t++ {
			out[i*keep+t] = out[i*keep+t-1] // fewer cells
		}
	}
	return out, nil
}
