package predict

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// duplicates finds the samples of a model that have given values.
type duplicates struct {
	m       *mvclust.Model
	rows    []similarity.Source
	entries []entry      // by hash, then falling confidence, then sample
	same    bool         // whether all samples of the model have the same values
	first   []*view.View // of the first sample, where all have the same
}

// entry is a sample and the hash of its values.
type entry struct {
	hash   uint64
	sample int32
}

func newDuplicates(ctx context.Context, m *mvclust.Model, threads int) (*duplicates, error) {
	d := &duplicates{m: m, entries: make([]entry, m.Samples())}
	for i := range d.entries {
		d.entries[i] = entry{1, int32(i)}
	}
	for k := range m.Views {
		source := m.Views[k].Source()
		d.rows = append(d.rows, source)
		err := source.Each(ctx, threads, func(first int, rows *view.View) {
			for r := range rows.Samples {
				if rows.Has(r) {
					d.entries[first+r].hash = hashed(d.entries[first+r].hash, k, rows.Row(r))
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(d.entries, func(a, b entry) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return cmp.Or(cmp.Compare(m.Confidence[b.sample], m.Confidence[a.sample]), int(a.sample)-int(b.sample))
	})
	if d.entries[0].hash == d.entries[len(d.entries)-1].hash {
		return d, d.alike(ctx, threads)
	}
	return d, nil
}

// alike sets same and first where all samples have the values of the first.
func (d *duplicates) alike(ctx context.Context, threads int) error {
	for k := range d.rows {
		rows, err := d.block(k, 0)
		if err != nil {
			return err
		}
		d.first = append(d.first, rows.Part(0, 1))
	}
	var differs atomic.Bool
	for k, source := range d.rows {
		err := source.Each(ctx, threads, func(_ int, rows *view.View) {
			for r := range rows.Samples {
				if !sameRow(rows, r, d.first[k], 0) {
					differs.Store(true)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	d.same = !differs.Load()
	return nil
}

// agrees reports whether sample i of views has a view that the samples of a model have, too, which are
// all the same, and their values in every such view. first holds the views of the first of them.
func agrees(first, views []*view.View, i int) bool {
	some := false
	for k, v := range views {
		if v == nil || !v.Has(i) || !first[k].Has(0) {
			continue
		}
		if !slices.Equal(v.Row(i), first[k].Row(0)) {
			return false
		}
		some = true
	}
	return some
}

// hashed returns a hash of a row of view k and of those before it, which have the hash h.
func hashed(h uint64, k int, row []float32) uint64 { return view.Hash(h^uint64(k+1), row) }

// find returns, by new sample, the sample of the model with the same values, or -1. Of several it is the
// one with the same id, where ids are not nil, or else the one with the highest confidence.
func (d *duplicates) find(ctx context.Context, views []*view.View, count int, ids []string, threads int) ([]int32, error) {
	found, failed := make([]int32, count), make([]error, count)
	err := parallel.Blocks(ctx, threads, count, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			id := ""
			if ids != nil {
				id = ids[i]
			}
			found[i], failed[i] = d.of(views, i, id)
		}
	})
	return found, cmp.Or(append(failed, err)...)
}

// of is find for one sample.
func (d *duplicates) of(views []*view.View, i int, id string) (int32, error) {
	h := uint64(1)
	for k, v := range views {
		if v != nil && v.Has(i) {
			h = hashed(h, k, v.Row(i))
		}
	}
	at, _ := slices.BinarySearchFunc(d.entries, h, func(e entry, h uint64) int { return cmp.Compare(e.hash, h) })
	end := at
	for end < len(d.entries) && d.entries[end].hash == h {
		end++
	}
	same := d.entries[at:end]
	if ids := d.m.IDs; ids != nil {
		for _, e := range same {
			if ids[e.sample] != id {
				continue
			}
			if equal, err := d.equal(views, i, int(e.sample)); equal || err != nil {
				return e.sample, err
			}
		}
	}
	for _, e := range same {
		if equal, err := d.equal(views, i, int(e.sample)); equal || err != nil {
			return e.sample, err
		}
	}
	return -1, nil
}

// equal reports whether sample i of views has the values of the model's sample j.
func (d *duplicates) equal(views []*view.View, i, j int) (bool, error) {
	for k, v := range views {
		size := d.rows[k].Block
		rows, err := d.block(k, j/size)
		if err != nil {
			return false, err
		}
		r, has := j%size, v != nil && v.Has(i)
		if has != rows.Has(r) || has && !slices.Equal(v.Row(i), rows.Row(r)) {
			return false, nil
		}
	}
	return true, nil
}

// block returns a block of the rows of view k.
func (d *duplicates) block(k, at int) (*view.View, error) {
	values, err := d.rows[k].Read(at, nil)
	if err != nil {
		return nil, err
	}
	return d.rows[k].Check(at, values)
}
