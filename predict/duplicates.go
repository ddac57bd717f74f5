package predict

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/view"
)

// duplicates finds the samples of a model that have given values.
type duplicates struct {
	m       *mvclust.Model
	views   []*view.View
	entries []entry // by hash and then sample
	same    bool    // whether all samples of the model have the same values
}

// entry is a sample and the hash of its values.
type entry struct {
	hash   uint64
	sample int32
}

func newDuplicates(ctx context.Context, m *mvclust.Model, threads int) (*duplicates, error) {
	d := &duplicates{m: m, entries: make([]entry, m.Samples())}
	for _, v := range m.Views {
		d.views = append(d.views, v.Rows)
	}
	err := parallel.Blocks(ctx, threads, m.Samples(), 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			d.entries[i] = entry{hash(d.views, i), int32(i)}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(d.entries, func(a, b entry) int {
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		}
		return int(a.sample) - int(b.sample)
	})
	d.same = d.entries[0].hash == d.entries[len(d.entries)-1].hash
	for i := 1; d.same && i < m.Samples(); i++ {
		d.same = d.equal(d.views, i, 0)
	}
	return d, nil
}

// agrees reports whether sample i of views has a view that the samples of m, which are all the
// same, have too, and their values in every such view.
func agrees(m *mvclust.Model, views []*view.View, i int) bool {
	some := false
	for k, v := range views {
		known := m.Views[k].Rows
		if v == nil || !v.Has(i) || !known.Has(0) {
			continue
		}
		if !slices.Equal(v.Row(i), known.Row(0)) {
			return false
		}
		some = true
	}
	return some
}

// hash returns a hash of the values of sample i.
func hash(views []*view.View, i int) uint64 {
	h := uint64(1)
	for m, v := range views {
		if v == nil || !v.Has(i) {
			continue
		}
		h = view.Hash(h^uint64(m+1), v.Row(i))
	}
	return h
}

// find returns the sample of the model with the values of sample i of views, or -1. Of
// several it is the one with the given id, or else the one with the highest confidence.
func (d *duplicates) find(views []*view.View, i int, id string) int {
	h := hash(views, i)
	at, _ := slices.BinarySearchFunc(d.entries, h, func(e entry, h uint64) int { return cmp.Compare(e.hash, h) })
	best := -1
	for ; at < len(d.entries) && d.entries[at].hash == h; at++ {
		j := int(d.entries[at].sample)
		if !d.equal(views, i, j) {
			continue
		}
		if d.m.IDs != nil && d.m.IDs[j] == id {
			return j
		}
		if best < 0 || d.m.Confidence[j] > d.m.Confidence[best] {
			best = j
		}
	}
	return best
}

// equal reports whether sample i of views has the values of the model's sample j.
func (d *duplicates) equal(views []*view.View, i, j int) bool {
	for m, v := range views {
		has := v != nil && v.Has(i)
		if has != d.views[m].Has(j) {
			return false
		}
		if has && !slices.Equal(v.Row(i), d.views[m].Row(j)) {
			return false
		}
	}
	return true
}
