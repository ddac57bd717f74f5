package predict

import (
	"fmt"
	"math"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/view"
)

// checkAdded returns an error if the new samples are in the model already: successive
// samples of it have the same values in every view, bit for bit, and the same ids where the
// new samples have ids.
func checkAdded(m *mvclust.Model, views []*view.View, ids []string, count int) error {
	for from := 0; count > 0 && from+count <= m.Samples(); from++ {
		if !sameBatch(m, views, ids, count, from) {
			continue
		}
		what := fmt.Sprintf("new sample already as its sample %s", m.ID(from))
		if count > 1 {
			what = fmt.Sprintf("%d new samples already as its samples %s to %s", count, m.ID(from), m.ID(from+count-1))
		}
		return fmt.Errorf("nothing was added, since the model has the %s; if others of the same values are meant, give them ids of their own", what)
	}
	return nil
}

// sameBatch reports whether the new samples are those of the model from a place on.
func sameBatch(m *mvclust.Model, views []*view.View, ids []string, count, from int) bool {
	for i := range count {
		if ids != nil && ids[i] != m.ID(from+i) {
			return false
		}
		for k, v := range views {
			if !sameRow(m.Views[k].Rows, from+i, v, i) {
				return false
			}
		}
	}
	return true
}

// sameRow reports whether a row of a equals one of b, which may be nil; missing rows are
// equal.
func sameRow(a *view.View, i int, b *view.View, j int) bool {
	if b == nil || !b.Has(j) || !a.Has(i) {
		return (b == nil || !b.Has(j)) && !a.Has(i)
	}
	x, y := a.Data[i*a.Dims:(i+1)*a.Dims], b.Data[j*b.Dims:(j+1)*b.Dims]
	for d := range x {
		if math.Float32bits(x[d]) != math.Float32bits(y[d]) {
			return false
		}
	}
	return true
}
