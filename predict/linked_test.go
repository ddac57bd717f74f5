package predict_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/score"
)

// A model whose clusters are those of average linkage has them at a resolution that suits them: new samples
// of large and small ones find their place, and an update keeps them.
func TestLinked(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	const things, dims = 60, 24
	var classes []int
	for thing := range things {
		classes = append(classes, slices.Repeat([]int{thing}, 2+int(60/(1+float64(thing))))...)
	}
	centres := make([]float64, 2*things*dims)
	for k := range centres {
		centres[k] = random.NormFloat64()
	}
	made := func(classes []int) []*view.View {
		var views []*view.View
		for m := range 2 {
			data := make([]float32, 0, len(classes)*dims)
			for _, c := range classes {
				for k := range dims {
					data = append(data, float32(centres[(m*things+c)*dims+k]+0.3*random.NormFloat64()))
				}
			}
			views = append(views, &view.View{Name: "v", Samples: len(classes), Dims: dims, Data: data})
		}
		return views
	}
	views := made(classes)
	result, err := mvclust.Fit(t.Context(), views, mvclust.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := mvclust.NewModel(views, result, nil).Cut(t.Context(), mvclust.CutOptions{Clusters: things})
	if err != nil || !m.Linked {
		t.Fatalf("linked is %v, %v", m.Linked, err)
	}
	fresh := classes[:0:0]
	for i := 0; i < len(classes); i += 5 {
		fresh = append(fresh, classes[i])
	}
	p, err := predict.New(t.Context(), m, 0)
	if err != nil {
		t.Fatal(err)
	}
	added := made(fresh)
	placed, err := p.Predict(t.Context(), added, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, l := range placed.Labels {
		if l >= 0 && l == m.Labels[slices.Index(classes, fresh[i])] {
			right++
		}
	}
	if right < len(fresh)*3/4 {
		t.Errorf("%d of %d new samples are placed well", right, len(fresh))
	}
	after, _, err := predict.Update(t.Context(), m, added, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := score.Compare(m.Labels, after.Labels[:len(classes)]); err != nil || s.ARI < 0.99 {
		t.Errorf("of the old labels an ARI of %v is left, %v", s.ARI, err)
	}
}

// Where moves would change many of the old samples, as in a cloud without groups, these stay. New samples join
// them, but for those of a group of their own. Where more are new than old, all are moved.
func TestUpdateHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(12, 0))
	cloud := func(n, group int) []*view.View {
		v := &view.View{Name: "v", Samples: n + group, Dims: 6}
		for i := range n + group {
			for range v.Dims {
				x := random.NormFloat64()
				if i >= n {
					x = 9 + 0.1*x
				}
				v.Data = append(v.Data, float32(x))
			}
		}
		return []*view.View{v}
	}
	m := fitted(t, cloud(400, 0), mvclust.Options{Metrics: []similarity.Metric{similarity.L2}})
	for _, x := range []struct {
		count, group int
		held         bool
	}{{100, 20, true}, {800, 20, false}} {
		next, changes := updated(t, m, cloud(x.count, x.group), 0)
		s, err := score.Compare(m.Labels, next.Labels[:m.Samples()])
		if err != nil {
			t.Fatal(err)
		}
		if changes.Held != x.held || x.held != (s.ARI == 1) {
			t.Errorf("with %d new samples the old ones are held %v, and an ARI of %v is left", x.count, changes.Held, s.ARI)
		}
		group := next.Labels[m.Samples()+x.count:]
		if slices.Min(group) != slices.Max(group) || slices.Contains(next.Labels[:m.Samples()+x.count], group[0]) {
			t.Errorf("with %d new samples, those far from all others are in %v", x.count, group)
		}
		if next.Validate() != nil || x.held && len(changes.Created) == 0 {
			t.Errorf("%v, created %v", next.Validate(), changes.Created)
		}
	}
}
