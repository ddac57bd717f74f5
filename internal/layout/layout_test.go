package layout

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/sparse"
)

// build returns the graph of n samples with the links that has gives a weight.
func build(t testing.TB, n int, has func(i, j int) float32) *graph.Graph {
	t.Helper()
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, n+1)}}
	var weight []float32
	for i := range n {
		for j := i + 1; j < n; j++ {
			if w := has(i, j); w > 0 {
				set.Partners.Values = append(set.Partners.Values, int32(j))
				weight = append(weight, w)
			}
		}
		set.Partners.Offsets[i+1] = len(set.Partners.Values)
	}
	g, err := graph.FromPairs(context.Background(), set, weight, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// blobs is a graph of clusters of the given sizes, dense within and sparse between.
func blobs(t testing.TB, seed uint64, sizes ...int) (*graph.Graph, []int) {
	var labels []int
	for c, size := range sizes {
		for range size {
			labels = append(labels, c)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	return build(t, len(labels), func(i, j int) float32 {
		switch {
		case labels[i] == labels[j] && r.IntN(3) == 0:
			return 0.3 + 0.5*r.Float32()
		case labels[i] != labels[j] && r.IntN(200) == 0:
			return 0.1 * r.Float32()
		}
		return 0
	}), labels
}

func drawn(t testing.TB, g *graph.Graph, labels []int, set Settings, threads int) *Map {
	t.Helper()
	m, err := Draw(t.Context(), g, labels, set, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.X) != len(m.Samples) || len(m.Y) != len(m.Samples) || !slices.IsSorted(m.Samples) {
		t.Fatalf("%d samples with %d and %d places", len(m.Samples), len(m.X), len(m.Y))
	}
	for k := range m.X {
		if x, y := float64(m.X[k]), float64(m.Y[k]); !(x >= 0 && x <= 1 && y >= 0 && y <= m.Height+1e-6) {
			t.Fatalf("sample %d lies at %v, %v, outside a map of height %v", m.Samples[k], x, y, m.Height)
		}
	}
	return m
}

// What is of one cluster lies together: of most samples, so is the representative on the map.
func TestClustersLieTogether(t *testing.T) {
	g, labels := blobs(t, 1, 90, 70, 50, 50, 40)
	m := drawn(t, g, labels, Settings{Seed: 3}, 2)
	same := 0
	for a := range m.X {
		representative, least := -1, math.Inf(1)
		for b := range m.X {
			if d := math.Hypot(float64(m.X[a]-m.X[b]), float64(m.Y[a]-m.Y[b])); a != b && d < least {
				representative, least = b, d
			}
		}
		if labels[a] == labels[representative] {
			same++
		}
	}
	if same < len(m.X)*95/100 {
		t.Errorf("of %d samples, only %d lie next to one of their cluster", len(m.X), same)
	}
}

func TestThreadsAndSeeds(t *testing.T) {
	g, labels := blobs(t, 2, 60, 40, 30, 1, 1)
	for _, most := range []int{0, 50} {
		set := Settings{MaxSamples: most, Seed: 5}
		one := drawn(t, g, labels, set, 1)
		if many := drawn(t, g, labels, set, 5); !reflect.DeepEqual(one, many) {
			t.Errorf("with at most %d samples, the map depends on the threads", most)
		}
		set.Seed = 6
		if other := drawn(t, g, labels, set, 1); reflect.DeepEqual(one.X, other.X) {
			t.Errorf("with at most %d samples, the map does not depend on the seed", most)
		}
	}
}

// Groups that nothing joins have rooms of their own, and so have single samples; a cluster
// in two parts has one.
func TestGroupsLieSideBySide(t *testing.T) {
	labels := make([]int, 40)
	for i := range labels {
		labels[i] = i / 10
	}
	labels[38], labels[39] = 4, 5
	g := build(t, 40, func(i, j int) float32 {
		if i < 38 && j < 38 && i/10 == j/10 && (i/10 != 2 || i/5 == j/5) {
			return 0.5
		}
		return 0
	})
	m := drawn(t, g, labels, Settings{}, 1)
	type span struct{ l, r, t, b float32 }
	rooms := map[int]span{}
	for k, i := range m.Samples {
		s, ok := rooms[labels[i]]
		if !ok {
			s = span{m.X[k], m.X[k], m.Y[k], m.Y[k]}
		}
		rooms[labels[i]] = span{min(s.l, m.X[k]), max(s.r, m.X[k]), min(s.t, m.Y[k]), max(s.b, m.Y[k])}
	}
	if len(rooms) != 6 {
		t.Fatalf("%d rooms", len(rooms))
	}
	for a, x := range rooms {
		for b, y := range rooms {
			if a < b && x.l <= y.r && y.l <= x.r && x.t <= y.b && y.t <= x.b {
				t.Errorf("clusters %d and %d overlap: %v, %v", a, b, x, y)
			}
		}
	}
}

// No two samples lie in one place, however alike they are.
func TestNoneIsHidden(t *testing.T) {
	for _, n := range []int{1, 2, 5, 120} {
		g := build(t, n, func(_, _ int) float32 { return 1 })
		m := drawn(t, g, make([]int, n), Settings{}, 2)
		seen := map[[2]float32]bool{}
		for k := range m.X {
			seen[[2]float32{m.X[k], m.Y[k]}] = true
		}
		if len(seen) != n {
			t.Errorf("%d samples lie in %d places", n, len(seen))
		}
	}
}

func TestQuotas(t *testing.T) {
	for _, c := range []struct {
		name  string
		sizes []int
		most  int
		want  []int
	}{
		{"all", []int{3, 2}, 9, []int{3, 2}},
		{"in proportion", []int{61, 31, 11}, 13, []int{7, 4, 2}},
		{"one of each", []int{100, 1, 1, 1}, 5, []int{2, 1, 1, 1}},
		{"the largest alone", []int{1, 5, 1, 4}, 2, []int{0, 1, 0, 1}},
		{"no more than there are", []int{2, 2, 2}, 5, []int{2, 2, 1}},
		{"a number that is not used", []int{4, 0, 4}, 4, []int{2, 0, 2}},
	} {
		var labels []int
		for l, size := range c.sizes {
			for range size {
				labels = append(labels, l)
			}
		}
		chosen := sample(labels, c.most, 1)
		got := make([]int, len(c.sizes))
		for _, i := range chosen {
			got[labels[i]]++
		}
		if !slices.Equal(got, c.want) || !slices.IsSorted(chosen) || len(slices.Compact(slices.Clone(chosen))) != len(chosen) {
			t.Errorf("%s: %v of each, want %v; %v", c.name, got, c.want, chosen)
		}
	}
}

// Of many samples, those that are drawn keep the links that lead through others.
func TestOthersLendTheirLinks(t *testing.T) {
	const n = 200 // a ring
	g := build(t, n, func(i, j int) float32 {
		if j == i+1 || i == 0 && j == n-1 {
			return 0.5
		}
		return 0
	})
	labels := make([]int, n)
	l, err := coarsen(t.Context(), g, labels, sample(labels, 60, 1), 2)
	if err != nil {
		t.Fatal(err)
	}
	if components := component(l, make([]int32, l.Len())); components.nodes.Len() != 1 {
		t.Errorf("%d components", components.nodes.Len())
	}
	linked := 0
	for k := range l.Len() {
		if len(l.Of(k)) > 0 {
			linked++
		}
	}
	if linked < 55 {
		t.Errorf("only %d of 60 are linked", linked)
	}
}

func TestErrors(t *testing.T) {
	g, labels := blobs(t, 1, 5, 5)
	for _, c := range []struct {
		name   string
		labels []int
		set    Settings
		want   string
	}{
		{"few labels", labels[1:], Settings{}, "9 labels"},
		{"no label", []int{0, 0, 0, 0, 0, 1, 1, 1, 1, -1}, Settings{}, "sample 9"},
		{"beyond", []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 10}, Settings{}, "the label 10"},
		{"less than none", labels, Settings{MaxSamples: -1}, "-1 samples"},
	} {
		if _, err := Draw(t.Context(), g, c.labels, c.set, 1, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if m, err := Draw(t.Context(), &graph.Graph{}, nil, Settings{}, 1, nil); err != nil || len(m.Samples) != 0 {
		t.Errorf("no samples: %v, %v", m, err)
	}
}

// Whenever the context ends, so does the drawing.
func TestCancel(t *testing.T) {
	g, labels := blobs(t, 1, 30, 30)
	for questions := 0; questions < 400; questions += 37 {
		ctx := lapse.After(t.Context(), questions)
		if _, err := Draw(ctx, g, labels, Settings{MaxSamples: 40}, 2, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", questions, err)
		}
	}
}

func TestProgress(t *testing.T) {
	g, labels := blobs(t, 1, 30, 30)
	last := 0
	_, err := Draw(t.Context(), g, labels, Settings{}, 2, func(done int) {
		if done != last+1 {
			t.Fatalf("%d steps follow %d", done, last)
		}
		last = done
	})
	if err != nil || last != Steps {
		t.Errorf("%d of %d steps, %v", last, Steps, err)
	}
}

func BenchmarkDraw(b *testing.B) {
	const n, k = 20_000, 20
	r := rand.New(rand.NewPCG(1, 2))
	labels := make([]int, n)
	near := make([]map[int]float32, n)
	for i := range n {
		labels[i], near[i] = i/200, map[int]float32{}
		for range k {
			near[i][min(n-1, i+1+r.IntN(200))] = r.Float32()
		}
	}
	g := &graph.Graph{Offsets: make([]int, n+1)}
	back := make([]map[int]float32, n)
	for i := range n {
		back[i] = map[int]float32{}
	}
	for i, row := range near {
		for j, w := range row {
			if i != j {
				back[i][j], back[j][i] = w, w
			}
		}
	}
	for i, row := range back {
		for _, j := range slices.Sorted(maps.Keys(row)) {
			g.Index, g.Weight = append(g.Index, int32(j)), append(g.Weight, row[j])
		}
		g.Offsets[i+1] = len(g.Index)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Draw(b.Context(), g, labels, Settings{}, 0, nil); err != nil {
			b.Fatal(err)
		}
	}
}
