package graph_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/sparse"
)

// edges holds the weight of every edge from its lower to its higher end.
type edges map[[2]int]float32

func (e edges) between(i, j int) (float32, bool) {
	w, ok := e[[2]int{min(i, j), max(i, j)}]
	return w, ok
}

// manyThreads are numbers of threads, among them more than some graphs have samples.
var manyThreads = []int{1, 2, 5, 16, 0, math.MaxInt}

func fromPairs(t testing.TB, set *pair.Set, weight []float32, threads int) *graph.Graph {
	t.Helper()
	g, err := graph.FromPairs(t.Context(), set, weight, threads)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func scatter(t testing.TB, g *graph.Graph, order []int, threads int) *graph.Graph {
	t.Helper()
	out, err := g.Scatter(t.Context(), order, threads)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// randomPairs makes weighted pairs of n samples, each present with the given
// probability, and holds the same in a map.
func randomPairs(random *rand.Rand, n int, density float64) (*pair.Set, []float32, edges) {
	set, want := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, 1, n+1)}}, edges{}
	var weight []float32
	for p := range n {
		for q := p + 1; q < n; q++ {
			if random.Float64() < density {
				w := random.Float32()
				set.Partners.Values, weight = append(set.Partners.Values, int32(q)), append(weight, w)
				want[[2]int{p, q}] = w
			}
		}
		set.Partners.Offsets = append(set.Partners.Offsets, len(set.Partners.Values))
	}
	return set, weight, want
}

// local makes pairs of n samples, each with a tenth of the next ten times degree.
func local(random *rand.Rand, n, degree int) *pair.Set {
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, 1, n+1)}}
	for p := range n {
		for q := p + 1; q <= min(p+10*degree, n-1); q++ {
			if random.IntN(10) == 0 {
				set.Partners.Values = append(set.Partners.Values, int32(q))
			}
		}
		set.Partners.Offsets = append(set.Partners.Offsets, len(set.Partners.Values))
	}
	return set
}

// check compares g with the map, and looks at all that Graph promises.
func check(t *testing.T, g *graph.Graph, n int, want edges) {
	t.Helper()
	if g.Samples() != n || g.Edges() != len(want) || len(g.Index) != 2*len(want) || len(g.Weight) != len(g.Index) || g.Offsets[0] != 0 || g.Offsets[n] != len(g.Index) {
		t.Fatalf("%d samples, %d edges, %d ends; want %d samples, %d edges", g.Samples(), g.Edges(), len(g.Index), n, len(want))
	}
	for i := range n {
		index, weight := g.Of(i)
		if len(index) != len(weight) || !slices.IsSorted(index) || len(slices.Compact(slices.Clone(index))) != len(index) || slices.Contains(index, int32(i)) {
			t.Fatalf("sample %d has the neighbours %v and the weights %v", i, index, weight)
		}
		for e, j := range index {
			if w, ok := want.between(i, int(j)); !ok || w != weight[e] {
				t.Fatalf("edge %d, %d has weight %v, want %v, %t", i, j, weight[e], w, ok)
			}
		}
		for j := range n {
			got, has := g.Between(i, j)
			if w, ok := want.between(i, j); got != w || has != ok {
				t.Fatalf("between %d and %d: %v, %t; want %v, %t", i, j, got, has, w, ok)
			}
		}
	}
}

func TestFromPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for n := range 40 {
		for _, density := range []float64{0, 0.1, 0.5, 1} {
			set, weight, want := randomPairs(random, n, density)
			pairs, weights := slices.Clone(set.Partners.Values), slices.Clone(weight)
			for _, threads := range manyThreads {
				check(t, fromPairs(t, set, weight, threads), n, want)
			}
			if !slices.Equal(set.Partners.Values, pairs) || !slices.Equal(weight, weights) {
				t.Fatal("the pairs or their weights were changed")
			}
		}
	}
}

func TestZeroWeight(t *testing.T) {
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 1, 1, 1}, Values: []int32{2}}}
	for _, weight := range [][]float32{{0}, nil} {
		g := fromPairs(t, set, weight, 2)
		if w, ok := g.Between(2, 0); w != 0 || !ok {
			t.Errorf("an edge of weight 0 is %v, %t", w, ok)
		}
		if w, ok := g.Between(0, 1); w != 0 || ok {
			t.Errorf("no edge is %v, %t", w, ok)
		}
	}
}

// TestWithoutWeights holds that no weights are as good as zeros.
func TestWithoutWeights(t *testing.T) {
	set, weight, _ := randomPairs(rand.New(rand.NewPCG(3, 3)), 50, 0.3)
	clear(weight)
	for _, threads := range manyThreads {
		if !reflect.DeepEqual(fromPairs(t, set, nil, threads), fromPairs(t, set, weight, 1)) {
			t.Errorf("%d threads: the graphs differ", threads)
		}
	}
}

func TestEmpty(t *testing.T) {
	zero := &graph.Graph{}
	if zero.Samples() != 0 || zero.Edges() != 0 || scatter(t, zero, nil, 2).Samples() != 0 {
		t.Errorf("the zero value has %d samples", zero.Samples())
	}
	for _, offsets := range [][]int{nil, {0}, {0, 0, 0, 0}} {
		set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: offsets}}
		for _, threads := range manyThreads {
			g := fromPairs(t, set, nil, threads)
			check(t, g, set.Samples(), nil)
			check(t, scatter(t, g, rand.New(rand.NewPCG(1, 1)).Perm(set.Samples()), threads), set.Samples(), nil)
		}
	}
}

// TestScatter holds that edges keep their weights between renumbered ends, and
// that the inverse order brings the graph back.
func TestScatter(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for n := range 40 {
		set, weight, want := randomPairs(random, n, random.Float64())
		g := fromPairs(t, set, weight, 1)
		before := slices.Clone(g.Index)
		order, inverse := random.Perm(n), make([]int, n)
		renumbered := edges{}
		for e, w := range want {
			i, j := order[e[0]], order[e[1]]
			renumbered[[2]int{min(i, j), max(i, j)}] = w
		}
		for i, to := range order {
			inverse[to] = i
		}
		for _, threads := range manyThreads {
			h := scatter(t, g, order, threads)
			check(t, h, n, renumbered)
			check(t, scatter(t, h, inverse, threads), n, want)
		}
		if !slices.Equal(g.Index, before) {
			t.Fatal("the graph was changed")
		}
	}
}

// TestFromRows lists edges from one end or both, several times and in any order.
func TestFromRows(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for n := range 40 {
		want, index, weight := edges{}, make([][]int32, n), make([][]float32, n)
		for range random.IntN(1 + n*n) {
			i, j, w := random.IntN(n), random.IntN(n), random.Float32()
			if i == j {
				continue
			}
			index[i], weight[i] = append(index[i], int32(j)), append(weight[i], w)
			old, _ := want.between(i, j)
			want[[2]int{min(i, j), max(i, j)}] = max(old, w)
		}
		for _, threads := range manyThreads {
			g, err := graph.FromRows(t.Context(), n, func(i int) ([]int32, []float32) { return index[i], weight[i] }, threads)
			if err != nil {
				t.Fatal(err)
			}
			check(t, g, n, want)
			g, err = graph.FromRows(t.Context(), n, func(i int) ([]int32, []float32) { return index[i], nil }, threads)
			if err != nil || len(g.Index) != 2*len(want) || slices.ContainsFunc(g.Weight, func(w float32) bool { return w != 0 }) {
				t.Fatalf("without weights: %+v, %v", g, err)
			}
		}
	}
}

// TestJoin holds that a graph has the edges of both, and that neither is changed.
func TestJoin(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for n := range 40 {
		setA, weightA, a := randomPairs(random, n, random.Float64())
		setB, weightB, b := randomPairs(random, n, random.Float64())
		want := edges{}
		for _, some := range []edges{a, b} {
			for e, w := range some {
				want[e] = max(want[e], w)
			}
		}
		one, other := fromPairs(t, setA, weightA, 1), fromPairs(t, setB, weightB, 1)
		for _, threads := range manyThreads {
			g, err := one.Join(t.Context(), other, threads)
			if err != nil {
				t.Fatal(err)
			}
			check(t, g, n, want)
		}
		check(t, one, n, a)
		check(t, other, n, b)
	}
}

// TestThreads has enough samples for several blocks of them.
func TestThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	const n = 5000
	set := local(random, n, 5)
	weight := make([]float32, set.Len())
	for t := range weight {
		weight[t] = random.Float32()
	}
	order := random.Perm(n)
	one := fromPairs(t, set, weight, 1)
	moved := scatter(t, one, order, 1)
	for p := range n {
		for k, q := range set.Of(p) {
			for _, at := range []struct {
				g    *graph.Graph
				i, j int
			}{{one, p, int(q)}, {one, int(q), p}, {moved, order[p], order[q]}, {moved, order[q], order[p]}} {
				if w, ok := at.g.Between(at.i, at.j); !ok || w != weight[set.Partners.Offsets[p]+k] {
					t.Fatalf("between %d and %d: %v, %t; want %v", at.i, at.j, w, ok, weight[set.Partners.Offsets[p]+k])
				}
			}
		}
	}
	for _, threads := range []int{2, 5, 16} {
		if got := fromPairs(t, set, weight, threads); !reflect.DeepEqual(got, one) {
			t.Errorf("%d threads make another graph than one", threads)
		}
		if got := scatter(t, one, order, threads); !reflect.DeepEqual(got, moved) {
			t.Errorf("%d threads renumber otherwise than one", threads)
		}
	}
}

// TestCancel cancels at every question to the context in turn: there is either the
// whole graph or the error.
func TestCancel(t *testing.T) {
	set := local(rand.New(rand.NewPCG(5, 5)), 5000, 2)
	g := fromPairs(t, set, nil, 1)
	order := rand.New(rand.NewPCG(6, 6)).Perm(5000)
	for name, f := range map[string]func(ctx context.Context, threads int) (*graph.Graph, error){
		"FromPairs": func(ctx context.Context, threads int) (*graph.Graph, error) {
			return graph.FromPairs(ctx, set, nil, threads)
		},
		"FromRows": func(ctx context.Context, threads int) (*graph.Graph, error) {
			return graph.FromRows(ctx, g.Samples(), g.Of, threads)
		},
		"Join":    func(ctx context.Context, threads int) (*graph.Graph, error) { return g.Join(ctx, g, threads) },
		"Scatter": func(ctx context.Context, threads int) (*graph.Graph, error) { return g.Scatter(ctx, order, threads) },
	} {
		want, err := f(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 2, 5} {
			for asked := 0; ; asked++ {
				ctx := lapse.After(t.Context(), asked)
				got, err := f(ctx, threads)
				if err == nil {
					if !reflect.DeepEqual(got, want) || asked < 5 {
						t.Errorf("%s: part of a graph after %d questions", name, asked)
					}
					break
				}
				if got != nil || !errors.Is(err, context.Canceled) {
					t.Fatalf("%s: %v, %v after %d questions", name, got != nil, err, asked)
				}
			}
		}
	}
}

// BenchmarkFromPairs has some 20 pairs of every sample.
func BenchmarkFromPairs(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		set := local(rand.New(rand.NewPCG(1, 1)), n, 10)
		weight := make([]float32, set.Len())
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d,threads=%d", n, threads), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					fromPairs(b, set, weight, threads)
				}
			})
		}
	}
}

func BenchmarkScatter(b *testing.B) {
	const n = 100_000
	random := rand.New(rand.NewPCG(1, 1))
	g := fromPairs(b, local(random, n, 10), nil, 0)
	order := random.Perm(n)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("n=%d,threads=%d", n, threads), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				scatter(b, g, order, threads)
			}
		})
	}
}

func BenchmarkBetween(b *testing.B) {
	set, weight, _ := randomPairs(rand.New(rand.NewPCG(1, 1)), 1000, 0.1)
	g := fromPairs(b, set, weight, 0)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		g.Between(i%1000, i*7%1000)
		i++
	}
}
