package mvclust_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/score"
)

// records makes views of things of which there are few or many records, each around a random centre.
func records(random *rand.Rand, views int, noise float64) ([]*mvclust.View, []int) {
	const things, dims = 60, 24
	var classes []int
	for thing := range things {
		classes = append(classes, slices.Repeat([]int{thing}, 2+int(60/(1+float64(thing))))...)
	}
	var out []*mvclust.View
	for range views {
		centres := make([]float64, things*dims)
		for k := range centres {
			centres[k] = random.NormFloat64()
		}
		data := make([]float32, 0, len(classes)*dims)
		for _, c := range classes {
			for k := range dims {
				data = append(data, float32(centres[c*dims+k]+noise*random.NormFloat64()))
			}
		}
		out = append(out, &mvclust.View{Name: "v", Samples: len(classes), Dims: dims, Data: data})
	}
	return out, classes
}

func alike(t *testing.T, a, b []int) float64 {
	t.Helper()
	s, err := score.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return s.ARI
}

// Records are found by one distance where two views confirm each other, in any order and on any number of
// threads, and where pairs are known, these hold. Where rows are consumed, or there is one view, others are current.
func TestTold(t *testing.T) {
	views, classes := records(rand.New(rand.NewPCG(4, 0)), 2, 0.3)
	result, err := mvclust.Fit(t.Context(), views, mvclust.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a := alike(t, classes, result.Labels); a < 0.99 || !result.Trace.Linked || !result.Levels[result.Level].Linked {
		t.Fatalf("the ARI is %v, of average linkage %v", a, result.Trace.Linked)
	}
	chosen, level := result.Trace.Tried[result.Trace.Chosen], result.Levels[result.Level]
	if !chosen.Linked || chosen.Clusters != len(result.Sizes) || chosen.Resolution != level.Resolution || chosen.Plateau < 0.92 || chosen.Agreement < 0.85 {
		t.Errorf("chosen is %+v", chosen)
	}
	m := mvclust.NewModel(views, result, nil)
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}

	order := rand.New(rand.NewPCG(5, 0)).Perm(len(classes))
	moved := make([]*mvclust.View, len(views))
	for v := range views {
		w := *views[v]
		w.Data = nil
		for _, i := range order {
			w.Data = append(w.Data, views[v].Row(i)...)
		}
		moved[v] = &w
	}
	again, err := mvclust.Fit(t.Context(), moved, mvclust.Options{Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	for at, i := range order {
		if again.Labels[at] != result.Labels[i] && result.Sizes[again.Labels[at]] != result.Sizes[result.Labels[i]] {
			t.Fatalf("sample %d is in a cluster of another size where the rows are in another order", i)
		}
	}

	known := mvclust.Constraints{CannotLink: [][2]int{{0, 1}}, MustLink: [][2]int{{0, 70}}}
	met, err := mvclust.Fit(t.Context(), views, mvclust.Options{Constraints: known})
	if err != nil {
		t.Fatal(err)
	}
	if l := met.Labels; l[0] == l[1] || l[0] != l[70] || alike(t, classes, l) < 0.9 {
		t.Errorf("with what is known of pairs, the ARI is %v, and samples are in %v", alike(t, classes, l), []int{l[0], l[1], l[70]})
	}

	var examples []mvclust.Example
	for i := 0; i < len(classes); i += 9 {
		examples = append(examples, mvclust.Example{Sample: i, Label: string(rune('A' + classes[i]))})
	}
	taught, err := mvclust.Fit(t.Context(), views, mvclust.Options{Examples: examples})
	if err != nil || alike(t, classes, taught.Labels) < 0.99 {
		t.Errorf("with examples, the ARI is %v, %v", alike(t, classes, taught.Labels), err)
	}
	for draw := range uint64(8) {
		some := rand.New(rand.NewPCG(draw, 1)).Perm(len(classes))[:15]
		examples = examples[:0]
		for _, i := range some {
			examples = append(examples, mvclust.Example{Sample: i, Label: string(rune('A' + classes[i]))})
		}
		taught, err := mvclust.Fit(t.Context(), views, mvclust.Options{Examples: examples})
		if err != nil || alike(t, classes, taught.Labels) < 0.99 {
			t.Errorf("with 15 examples of draw %d, the ARI is %v, %v", draw, alike(t, classes, taught.Labels), err)
		}
	}

	one, err := mvclust.Fit(t.Context(), views[:1], mvclust.Options{})
	if err != nil || one.Trace.Linked || !slices.ContainsFunc(one.Levels, func(l mvclust.Level) bool { return l.Linked }) {
		t.Errorf("with one view, average linkage is current %v, levels %v, %v", one.Trace.Linked, len(one.Levels), err)
	}
	for v := range moved {
		moved[v].Data = slices.Clone(moved[v].Data)
	}
	spent, err := mvclust.Fit(t.Context(), moved, mvclust.Options{Consume: true})
	if err != nil || spent.Trace.Linked {
		t.Errorf("of consumed rows, %v", err)
	}
}

// A cut from clusters that one distance tells leads to others and back, and an update keeps them.
func TestToldLater(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	views, classes := records(random, 2, 0.3)
	whole := len(classes)
	var held, rest []*mvclust.View
	var kept []int
	for _, v := range views {
		a, b := *v, *v
		a.Data, b.Data, kept = nil, nil, kept[:0]
		for i := range whole {
			if i%5 == 2 {
				b.Data = append(b.Data, v.Row(i)...)
			} else {
				a.Data, kept = append(a.Data, v.Row(i)...), append(kept, classes[i])
			}
		}
		a.Samples, b.Samples = len(kept), whole-len(kept)
		held, rest = append(held, &a), append(rest, &b)
	}
	result, err := mvclust.Fit(t.Context(), held, mvclust.Options{})
	if err != nil || !result.Trace.Linked {
		t.Fatal(result.Trace.Linked, err)
	}
	m := mvclust.NewModel(held, result, nil)
	other := cut(t, m, mvclust.CutOptions{Level: 0})
	back := cut(t, other, mvclust.CutOptions{Level: m.Level})
	if other.Linked || !back.Linked || !slices.Equal(back.Labels, m.Labels) || back.Settings.Resolution != m.Settings.Resolution {
		t.Errorf("linked at level 0: %v, and back again: %v", other.Linked, back.Linked)
	}
	for _, m := range []*mvclust.Model{m, back} {
		updated, _, err := predict.Update(t.Context(), m, rest, nil, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := alike(t, m.Labels, updated.Labels[:len(kept)]); a < 0.99 || updated.Level != m.Level || !updated.Levels[m.Level].Linked {
			t.Errorf("an update leaves an ARI of %v, at level %d of %d", a, updated.Level, m.Level)
		}
	}
}
