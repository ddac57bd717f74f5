package sfmc

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
	"github.com/mvclust/mvclust/method/view"
)

func TestCluster(t *testing.T) {
	in, truth := systemtest.Input(t, System(), 160, 4, 2, 0.3, 0)
	systemtest.Finds(t, System(), in, truth, 0.95)
}

// The weights are those on the simplex by which the fused graph is nearest to another.
func TestWeigh(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 80, 4, 3, 0.8, 0)
	graphs := bipartite(in)
	for _, rows := range graphs {
		for _, r := range rows {
			systemtest.OnSimplex(t, r.Value)
		}
	}
	to := fuse(graphs, []float64{0.7, 0.3, 0})
	got := weigh(graphs, to)
	systemtest.OnSimplex(t, got)
	for v, want := range []float64{0.7, 0.3, 0} {
		if math.Abs(got[v]-want) > 1e-4 {
			t.Errorf("the weights are %v", got)
		}
	}
	// No neighbour on the simplex is nearer to what is no fusion.
	to = fuse(graphs, []float64{2, 0, 1})
	got = weigh(graphs, to)
	miss := func(w []float64) float64 {
		f := fuse(graphs, w)
		return product(f, f) - 2*product(f, to) + product(to, to)
	}
	for v := range got {
		for w := range got {
			if got[v] < 1e-3 || v == w {
				continue
			}
			next := slices.Clone(got)
			next[v], next[w] = next[v]-1e-3, next[w]+1e-3
			if miss(next) < miss(got)-1e-9 {
				t.Errorf("%v is nearer than %v", next, got)
			}
		}
	}
}

// Every sample is similar to an anchor, also where all that are near are equal rows.
func TestEqualAnchors(t *testing.T) {
	v, err := view.New("a", 30, 1, append(slices.Repeat([]float32{1}, 28), 1.1, 5))
	if err != nil {
		t.Fatal(err)
	}
	in := &system.Input{Views: []*view.View{v, v}, Clusters: 2, Settings: system.Settings{"anchors": 1}}
	for _, rows := range bipartite(in) {
		for i, r := range rows {
			systemtest.OnSimplex(t, r.Value)
			if i < 28 && len(r.Value) != neighbours {
				t.Errorf("row %d has %d anchors, want %d", i, len(r.Value), neighbours)
			}
		}
	}
}

// Places are orthonormal over samples and anchors together, and S and T are on the simplex.
func TestParts(t *testing.T) {
	in, _ := systemtest.Input(t, System(), 100, 4, 2, 0.8, 0)
	p := newParts(fuse(bipartite(in), []float64{0.5, 0.5}), in)
	for range 4 {
		rows, columns, err := p.embed(t.Context(), 4)
		if err != nil {
			t.Fatal(err)
		}
		var f mat.Dense
		f.Stack(p.u, p.v)
		systemtest.Orthonormal(t, &f)
		p.learn(rows, columns)
		total := 0.0
		for _, r := range p.graph {
			for _, x := range r.Value {
				total += x
			}
		}
		if want := float64(len(p.graph)+p.anchors) / 2; math.Abs(total-want) > 1e-6 {
			t.Errorf("the graph has the sum %v, want %v", total, want)
		}
		for _, r := range project(p.like, func(i, j int) float64 { return float64(i+j) / 100 }) {
			systemtest.OnSimplex(t, r.Value)
		}
		p.lambda *= 2
	}
}

func TestAnchors(t *testing.T) {
	// The sums are 0, 1, 2 and 4: the last comes first; then the scores 0, 3/16, 1/4 and 0.
	x := mat.NewDense(4, 1, []float64{1, 2, 3, 5})
	if got := anchors([]*mat.Dense{x}, 2); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("the anchors are %v", got)
	}
	if got := anchors([]*mat.Dense{x}, 4); len(got) != 4 {
		t.Errorf("the anchors are %v", got)
	}
	a := []system.Row{{Index: []int32{1}, Value: []float64{2}}, {Index: []int32{0, 1}, Value: []float64{3, 4}}}
	if got := transposed(a, 2)[1]; !slices.Equal(got.Index, []int32{0, 1}) || !slices.Equal(got.Value, []float64{2, 4}) {
		t.Errorf("column 1 is %v", got)
	}
}
