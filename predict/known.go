package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/view"
)

// known finds the samples of a model by their values.
type known struct {
	m       *mvclust.Model
	views   []*view.View
	entries []entry // by sum and then sample
}

// entry is a sample and a sum over its values.
type entry struct {
	sum    uint64
	sample int32
}

func newKnown(m *mvclust.Model) *known {
	k := &known{m: m}
	for _, v := range m.Views {
		k.views = append(k.views, v.Rows)
	}
	for i := range m.Samples() {
		k.entries = append(k.entries, entry{sum(k.views, i), int32(i)})
	}
	slices.SortFunc(k.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.sample, b.sample))
	})
	return k
}

// sum adds up the values of sample i, so that different samples have different sums but
// by chance.
func sum(views []*view.View, i int) uint64 {
	h := uint64(1)
	for m, v := range views {
		if v == nil || !v.Has(i) {
			continue
		}
		h = mix(h ^ uint64(m+1))
		for _, x := range v.Row(i) {
			h = (h ^ uint64(math.Float32bits(x))) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
	}
	return mix(h)
}

func mix(h uint64) uint64 {
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>31
}

// find returns the sample of the model that has the values of sample i of views: of
// several the one of the given id, and else that of the highest confidence; -1 if there is
// none.
func (k *known) find(views []*view.View, i int, id string) int {
	s := sum(views, i)
	at, _ := slices.BinarySearchFunc(k.entries, s, func(e entry, s uint64) int { return cmp.Compare(e.sum, s) })
	best := -1
	for ; at < len(k.entries) && k.entries[at].sum == s; at++ {
		j := int(k.entries[at].sample)
		if !k.equal(views, i, j) {
			continue
		}
		if k.m.IDs != nil && k.m.IDs[j] == id {
			return j
		}
		if best < 0 || k.m.Confidence[j] > k.m.Confidence[best] {
			best = j
		}
	}
	return best
}

// equal reports whether sample i of views has the values of the model's sample j.
func (k *known) equal(views []*view.View, i, j int) bool {
	for m, v := range views {
		has := v != nil && v.Has(i)
		if has != k.views[m].Has(j) {
			return false
		}
		if has && !slices.EqualFunc(v.Row(i), k.views[m].Row(j), func(a, b float32) bool {
			return math.Float32bits(a) == math.Float32bits(b)
		}) {
			return false
		}
	}
	return true
}
