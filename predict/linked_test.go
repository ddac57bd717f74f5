package predict

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/view"
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
	p, err := New(t.Context(), m, 0)
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
	updated, _, err := Update(t.Context(), m, added, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := score.Compare(m.Labels, updated.Labels[:len(classes)]); err != nil || s.ARI < 0.99 {
		t.Errorf("of the old labels an ARI of %v is left, %v", s.ARI, err)
	}
}
