package refine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/sparse"
)

// matrix is a dense symmetric graph: the weight of every edge, NaN where there
// is none and on the diagonal. Those that are set have 32 bits.
type matrix [][]float64

func newMatrix(n int) matrix {
	w := make(matrix, n)
	for i := range w {
		w[i] = make([]float64, n)
		for j := range w[i] {
			w[i][j] = math.NaN()
		}
	}
	return w
}

func (w matrix) set(i, j int, p float64) {
	w[i][j] = float64(float32(p))
	w[j][i] = w[i][j]
}

func (w matrix) linked(i, j int) bool { return w[i][j] == w[i][j] }

func (w matrix) graph(t testing.TB) *graph.Graph {
	t.Helper()
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0}}}
	var weight []float32
	for i := range w {
		for j := i + 1; j < len(w); j++ {
			if w.linked(i, j) {
				set.Partners.Values = append(set.Partners.Values, int32(j))
				weight = append(weight, float32(w[i][j]))
			}
		}
		set.Partners.Offsets = append(set.Partners.Offsets, len(set.Partners.Values))
	}
	return fromPairs(t, set, weight)
}

func fromPairs(t testing.TB, set *pair.Set, weight []float32) *graph.Graph {
	t.Helper()
	g, err := graph.FromPairs(t.Context(), set, weight, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// clone returns a graph that shares nothing with g.
func clone(g *graph.Graph) *graph.Graph {
	return &graph.Graph{Offsets: slices.Clone(g.Offsets), Index: slices.Clone(g.Index), Weight: slices.Clone(g.Weight)}
}

// kinds are the ways to draw a weight: no two alike; only a few different ones,
// 0 and 1 among them; near 1.
var kinds = map[string]func(r *rand.Rand) float64{
	"distinct": func(r *rand.Rand) float64 { return r.Float64() },
	"tied":     func(r *rand.Rand) float64 { return float64(r.IntN(5)) / 4 },
	"high":     func(r *rand.Rand) float64 { return 1 - 0.01*r.Float64() },
}

// random returns a graph of n samples with the given mean degree, in which the
// first and the last sample have no edge.
func random(r *rand.Rand, n int, degree float64, weight func(r *rand.Rand) float64) matrix {
	w := newMatrix(n)
	for i := 1; i < n-1; i++ {
		for j := i + 1; j < n-1; j++ {
			if r.Float64() < degree/float64(n) {
				w.set(i, j, weight(r))
			}
		}
	}
	return w
}

// paths transcribes Eq. pb_optpath. Products of two weights are exact in 64 bits.
func (w matrix) paths() matrix {
	out := newMatrix(len(w))
	for i := range w {
		for j := range w {
			if !w.linked(i, j) {
				continue
			}
			out[i][j] = w[i][j]
			for h := range w {
				if w.linked(i, h) && w.linked(h, j) {
					out[i][j] = max(out[i][j], w[i][h]*w[h][j])
				}
			}
		}
	}
	return out
}

// coNeighbours transcribes Eq. pb_optknn.
func (w matrix) coNeighbours(k int) matrix {
	n := len(w)
	knn := make([]map[int]float64, n)
	for i := range w {
		var others []int
		for j := range w {
			if w.linked(i, j) && w[i][j] > 0 {
				others = append(others, j)
			}
		}
		slices.SortFunc(others, func(a, b int) int {
			return cmp.Or(cmp.Compare(w[i][b], w[i][a]), a-b)
		})
		knn[i] = map[int]float64{i: 1}
		for _, j := range others[:min(k, len(others))] {
			knn[i][j] = w[i][j]
		}
	}
	out := newMatrix(n)
	for i := range n {
		for j := range n {
			_, forth := knn[i][j]
			_, back := knn[j][i]
			if i == j || !forth && !back {
				continue
			}
			common, all := 0.0, 0.0
			for h, p := range knn[i] {
				all += p
				if q, ok := knn[j][h]; ok {
					common += p + q
				}
			}
			for _, q := range knn[j] {
				all += q
			}
			out[i][j] = common / all
		}
	}
	return out
}

// check compares g with the weights that it should have, rounded to 32 bits.
func check(t *testing.T, g *graph.Graph, want matrix, tolerance float64) {
	t.Helper()
	wellFormed(t, g)
	for i := range want {
		for j := range want {
			p, ok := g.Between(i, j)
			switch {
			case ok != want.linked(i, j):
				t.Fatalf("samples %d and %d: linked %v, want %v", i, j, ok, !ok)
			case ok && !(math.Abs(float64(p)-float64(float32(want[i][j]))) <= tolerance):
				t.Fatalf("samples %d and %d: %.9g, want %.9g", i, j, p, want[i][j])
			}
		}
	}
}

// wellFormed checks what every graph promises: ascending rows without loops, and
// every edge of one and the same weight in [0, 1] from both of its ends.
func wellFormed(t *testing.T, g *graph.Graph) {
	t.Helper()
	for i := range g.Samples() {
		index, weight := g.Of(i)
		for e, j := range index {
			if int(j) == i || e > 0 && index[e-1] >= j {
				t.Fatalf("row %d is %v", i, index)
			}
			if !(weight[e] >= 0 && weight[e] <= 1) {
				t.Fatalf("samples %d and %d: %.9g is outside [0, 1]", i, j, weight[e])
			}
			if back, ok := g.Between(int(j), i); !ok || back != weight[e] {
				t.Fatalf("samples %d and %d: %.9g one way, %.9g (%v) the other", i, j, weight[e], back, ok)
			}
		}
	}
}

func viaPaths(t testing.TB, g *graph.Graph, threads int) *graph.Graph {
	t.Helper()
	out, err := Paths(t.Context(), g, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// coNeighbours applies co-neighbour propagation to g.
func coNeighbours(ctx context.Context, g *graph.Graph, k, threads int) (*graph.Graph, error) {
	near, err := Nearest(ctx, g, k, threads)
	if err != nil {
		return nil, err
	}
	return near.CoNeighbours(ctx, k, threads)
}

func viaCoNeighbours(t testing.TB, g *graph.Graph, k, threads int) *graph.Graph {
	t.Helper()
	out, err := coNeighbours(t.Context(), g, k, threads)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refined applies Graph, and holds that Consume gives the same.
func refined(t testing.TB, g *graph.Graph, k int, set Settings, threads int) *graph.Graph {
	t.Helper()
	out, _, err := Graph(t.Context(), g, k, set, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	consumed, _, err := Consume(t.Context(), clone(g), k, set, threads, nil)
	if err != nil || !reflect.DeepEqual(consumed, out) {
		t.Fatalf("Consume gives another graph than Graph, or %v", err)
	}
	return out
}

// rounding bounds what 32 bits do to a co-neighbour probability: to the halves of
// the common sum, to the sums over whole lists, and to their quotient.
const rounding = 3 * 0x1p-24

func TestByHand(t *testing.T) {
	// 0 --- 1 --- 2 --- 3, and the doubtful links 0-2 and 1-3.
	w := newMatrix(4)
	w.set(0, 1, 0.9)
	w.set(1, 2, 0.8)
	w.set(2, 3, 0.9)
	w.set(0, 2, 0.1)
	w.set(1, 3, 0.1)
	// Both improve by one detour: 0.9 x 0.8. Had 0-2 been improved first, 0.72
	// would have gone on to help others.
	want := newMatrix(4)
	want.set(0, 1, 0.9)
	want.set(1, 2, 0.8)
	want.set(2, 3, 0.9)
	want.set(0, 2, 0.72)
	want.set(1, 3, 0.72)
	check(t, viaPaths(t, w.graph(t), 1), want, rounding)

	// With k = 1 the lists are 0: {0, 1}, 1: {1, 0}, 2: {2, 3}, 3: {3, 2}.
	want = newMatrix(4)
	want.set(0, 1, 1)
	want.set(2, 3, 1)
	check(t, viaCoNeighbours(t, w.graph(t), 1, 1), want, 0)

	// With k = 2 they are 0: {0, 1, 2}, 1: {1, 0, 2}, 2: {2, 3, 1}, 3: {3, 2, 1}.
	want = newMatrix(4)
	want.set(0, 1, 1) // the same three samples
	want.set(2, 3, 1)
	// 0 and 2 share 1 and 2: (0.9 + 0.1) + (0.8 + 1) of 2.0 + 2.7.
	want.set(0, 2, 2.8/4.7)
	// 1 and 2 share them as well: (1 + 0.8) + (0.8 + 1) of 2.7 + 2.7.
	want.set(1, 2, 3.6/5.4)
	// 1 and 3 as well: (1 + 0.8) + (0.1 + 0.9) of 2.7 + 2.0.
	want.set(1, 3, 2.8/4.7)
	check(t, viaCoNeighbours(t, w.graph(t), 2, 1), want, rounding)
}

// TestFormulas compares with the dense transcriptions, on graphs from nearly
// empty to nearly complete.
func TestFormulas(t *testing.T) {
	for kind, weight := range kinds {
		t.Run(kind, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 60 {
				n := 2 + r.IntN(40)
				w := random(r, n, float64(n)*r.Float64(), weight)
				check(t, viaPaths(t, w.graph(t), 2), w.paths(), 0)
				for _, k := range []int{1, 2, 5, n, math.MaxInt} {
					check(t, viaCoNeighbours(t, w.graph(t), k, 2), w.coNeighbours(k), rounding)
				}
			}
		})
	}
}

func TestPathsNeverLower(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	g := random(r, 300, 30, kinds["distinct"]).graph(t)
	after := viaPaths(t, g, 2)
	higher := 0
	for e, p := range after.Weight {
		if p < g.Weight[e] {
			t.Fatalf("edge %d: %v after %v", e, p, g.Weight[e])
		}
		if p > g.Weight[e] {
			higher++
		}
	}
	if higher == 0 {
		t.Error("no edge gained by a detour")
	}
}

// TestGraphsStay holds that Graph, Paths and CoNeighbours leave their graph as it was, even
// where Consume then reorders what they returned.
func TestGraphsStay(t *testing.T) {
	g := random(rand.New(rand.NewPCG(17, 18)), 200, 30, kinds["distinct"]).graph(t)
	before := clone(g)
	for name, out := range map[string]*graph.Graph{"Paths": viaPaths(t, g, 2), "CoNeighbours": viaCoNeighbours(t, g, 7, 2), "Graph": refined(t, g, 7, Settings{}, 2)} {
		if !reflect.DeepEqual(g, before) {
			t.Fatalf("%s changes the graph", name)
		}
		if _, _, err := Consume(t.Context(), out, 7, Settings{}, 2, nil); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(g, before) {
			t.Fatalf("what %s returns is not apart from the graph", name)
		}
	}
}

// TestConsume holds that Consume leaves every sample the edges that it had, in
// whatever order.
func TestConsume(t *testing.T) {
	g := random(rand.New(rand.NewPCG(19, 20)), 200, 30, kinds["tied"]).graph(t)
	before := clone(g)
	if _, _, err := Consume(t.Context(), g, 7, Settings{Rounds: 2}, 2, nil); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(g, before) {
		t.Error("the edges are still in order; the comment of Consume is out of date")
	}
	for i := range g.Samples() {
		index, weight := g.Of(i)
		for e, j := range index {
			if w, ok := before.Between(i, int(j)); !ok || w != weight[e] {
				t.Fatalf("the edge from %d to %d weighs %v, was %v, %t", i, j, weight[e], w, ok)
			}
		}
		slices.Sort(index)
	}
	if !slices.Equal(g.Index, before.Index) || !slices.Equal(g.Offsets, before.Offsets) {
		t.Error("other edges are left")
	}
}

// TestBothEnds looks at graphs large enough for sums whose last bit depends on
// the order of their terms.
func TestBothEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, weight := range kinds {
		for _, degree := range []float64{20, 400} { // 400 is complete
			g := random(r, 200, degree, weight).graph(t)
			wellFormed(t, viaPaths(t, g, 2))
			for _, k := range []int{3, 15, 100, 200} {
				wellFormed(t, viaCoNeighbours(t, g, k, 2))
				wellFormed(t, refined(t, g, k, Settings{Rounds: 3}, 2))
			}
		}
	}
}

// TestSampleOrder renumbers the samples: without ties at the end of a list,
// where the lower number wins, the result is the same to the last bit.
func TestSampleOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	renumber := func(g *graph.Graph, order []int) *graph.Graph {
		out, err := g.Scatter(t.Context(), order, 2)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for range 10 {
		g := random(r, 150, 40, kinds["distinct"]).graph(t)
		order := r.Perm(150)
		const k = 12
		if !reflect.DeepEqual(renumber(refined(t, g, k, Settings{}, 2), order), refined(t, renumber(g, order), k, Settings{}, 2)) {
			t.Fatal("the result depends on the order of the samples")
		}
	}
	// With room for all neighbours, there is no end of a list for ties to be at.
	for range 10 {
		g := random(r, 60, 20, kinds["tied"]).graph(t)
		order := r.Perm(60)
		const k = 60
		if !reflect.DeepEqual(renumber(refined(t, g, k, Settings{Rounds: 2}, 2), order), refined(t, renumber(g, order), k, Settings{Rounds: 2}, 2)) {
			t.Fatal("the result on tied weights depends on the order of the samples")
		}
	}
}

// TestTies has four equally probable neighbours for two places.
func TestTies(t *testing.T) {
	w := newMatrix(5)
	for _, j := range []int{0, 1, 3, 4} {
		w.set(2, j, 0.5)
	}
	near, err := Nearest(t.Context(), w.graph(t), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := near.of(2); !slices.Equal(got, []int32{2, 0, 1}) {
		t.Errorf("the neighbours of 2 are %v", got)
	}
	// A detour makes 4 the equal of 0, and 3 better than both.
	w.set(2, 3, 0.75)
	w.set(2, 4, 0.25)
	w.set(2, 1, 0.25)
	w.set(3, 4, 1)
	w.set(2, 0, 0.75)
	near, err = nearestByPaths(t.Context(), w.graph(t), 2, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, weight := near.of(2); !slices.Equal(got, []int32{2, 0, 3}) || !slices.Equal(weight, []float32{1, 0.75, 0.75}) {
		t.Errorf("the neighbours of 2 are %v with %v", got, weight)
	}
}

// TestNearest holds what both ways to the nearest neighbours promise of every list:
// the sample itself, then the largest weights, falling, and among equals the lower
// numbers first; no weight of 0; and the sum of all.
func TestNearest(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(21, 22))
		for range 20 {
			n := 1 + r.IntN(50)
			w := random(r, n, 20*r.Float64(), weight)
			g := w.graph(t)
			for _, k := range []int{-1, 0, 1, 3, n, math.MaxInt} {
				plain, err := Nearest(t.Context(), g, k, 2)
				if err != nil {
					t.Fatal(err)
				}
				after, err := nearestByPaths(t.Context(), clone(g), k, 2, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range []struct {
					got  *Neighbourhoods
					want matrix
				}{{plain, w}, {after, w.paths()}} {
					for i := range n {
						want := []int32{}
						for j := range n {
							if c.want.linked(i, j) && float32(c.want[i][j]) > 0 {
								want = append(want, int32(j))
							}
						}
						slices.SortStableFunc(want, func(a, b int32) int {
							return cmp.Compare(float32(c.want[i][b]), float32(c.want[i][a]))
						})
						want = want[:max(0, min(k, len(want)))]
						index, weight := c.got.of(i)
						if index[0] != int32(i) || weight[0] != 1 || !slices.Equal(index[1:], want) {
							t.Fatalf("%s, k = %d: the list of %d is %v, want %v", kind, k, i, index, want)
						}
						sum := 1.0
						for e, j := range want {
							if weight[e+1] != float32(c.want[i][j]) {
								t.Fatalf("%s, k = %d: %d has %d with weight %v, want %v", kind, k, i, j, weight[e+1], c.want[i][j])
							}
							sum += float64(weight[e+1])
						}
						if c.got.sum[i] != float32(sum) {
							t.Fatalf("%s, k = %d: the list of %d adds up to %v, want %v", kind, k, i, c.got.sum[i], sum)
						}
					}
				}
			}
		}
	}
}

// TestFloor has weights that are powers of a half, so that detours often come to just
// what the last place on a list is worth: there, too, the lower number wins, though the
// search for detours stops where none can reach a place.
func TestFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	powers := func(r *rand.Rand) float64 { return math.Ldexp(1, -r.IntN(5)) }
	raised := 0 // last places that a detour leads to, where others are worth the same
	for range 60 {
		n := 3 + r.IntN(40)
		w := random(r, n, 25*r.Float64(), powers)
		after := w.paths()
		all := viaPaths(t, w.graph(t), 2)
		for k := 1; k < 12; k++ {
			want, err := Nearest(t.Context(), all, k, 1)
			if err != nil {
				t.Fatal(err)
			}
			got, err := nearestByPaths(t.Context(), w.graph(t), k, 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("k = %d: the lists are not those of all weights", k)
			}
			for i := range n {
				index, weight := got.of(i)
				if len(index) != k+1 {
					continue
				}
				last, floor := int(index[k]), float64(weight[k])
				for j := range n {
					if after.linked(i, j) && after[i][j] == floor && !slices.Contains(index, int32(j)) && w[i][last] < floor {
						raised++
						break
					}
				}
			}
		}
	}
	if raised < 100 {
		t.Errorf("only %d last places are of the kind that is looked for", raised)
	}
}

func TestThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	g := random(r, 700, 40, kinds["tied"]).graph(t)
	set := Settings{Rounds: 2}
	all, path, co := refined(t, g, 10, set, 1), viaPaths(t, g, 1), viaCoNeighbours(t, g, 10, 1)
	for _, threads := range []int{2, 5, 16, 0, math.MaxInt} {
		for name, c := range map[string][2]*graph.Graph{
			"Graph":        {refined(t, g, 10, set, threads), all},
			"Paths":        {viaPaths(t, g, threads), path},
			"CoNeighbours": {viaCoNeighbours(t, g, 10, threads), co},
		} {
			if !reflect.DeepEqual(c[0], c[1]) {
				t.Errorf("%s: %d threads give another result than one", name, threads)
			}
		}
	}
}

func TestWithoutEdges(t *testing.T) {
	zero := newMatrix(3)
	zero.set(0, 1, 0) // an edge of weight 0 makes no neighbours
	for name, c := range map[string]struct {
		g *graph.Graph
		k int
	}{
		"no samples":   {newMatrix(0).graph(t), 5},
		"one sample":   {newMatrix(1).graph(t), 5},
		"no edges":     {newMatrix(4).graph(t), 5},
		"weight zero":  {zero.graph(t), 5},
		"k is zero":    {random(rand.New(rand.NewPCG(1, 1)), 9, 9, kinds["high"]).graph(t), 0},
		"k is below 0": {random(rand.New(rand.NewPCG(1, 1)), 9, 9, kinds["high"]).graph(t), -7},
	} {
		out := viaCoNeighbours(t, c.g, c.k, 2)
		if out.Samples() != c.g.Samples() || out.Edges() != 0 {
			t.Errorf("%s: %d samples, %d edges", name, out.Samples(), out.Edges())
		}
		if out = viaPaths(t, c.g, 2); out.Edges() != c.g.Edges() {
			t.Errorf("%s: %d edges after Paths", name, out.Edges())
		}
		if c.k > 0 {
			if out = refined(t, c.g, c.k, Settings{Rounds: 2}, 2); out.Samples() != c.g.Samples() || out.Edges() != 0 {
				t.Errorf("%s: %d samples, %d edges after Graph", name, out.Samples(), out.Edges())
			}
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		set   Settings
		want  string // the error, or the resolved settings
		steps int
	}{
		{Settings{}, "{false false 1}", 2},
		{Settings{Rounds: 3}, "{false false 3}", 4},
		{Settings{WithoutPaths: true}, "{true false 1}", 1},
		{Settings{WithoutCoNeighbours: true}, "{false true 1}", 1},
		{Settings{WithoutPaths: true, WithoutCoNeighbours: true}, "{true true 1}", 0},
		{Settings{Rounds: -1}, "Rounds: -1 is not between 1 and 100", 2},
		{Settings{Rounds: 101}, "Rounds: 101 is not between 1 and 100", 102},
	} {
		if got := c.set.Steps(); got != c.steps {
			t.Errorf("%+v: %d steps, want %d", c.set, got, c.steps)
		}
		_, _, failed := Graph(t.Context(), newMatrix(3).graph(t), 5, c.set, 1, nil)
		err := c.set.Resolve()
		got := fmt.Sprint(c.set)
		if err != nil {
			got = err.Error()
			var of *option.Error
			if !errors.As(err, &of) || !reflect.DeepEqual(failed, err) {
				t.Errorf("%v, and Graph says %v", err, failed)
			}
		} else if failed != nil {
			t.Error(failed)
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	for _, k := range []int{0, -1} {
		_, _, err := Graph(t.Context(), newMatrix(3).graph(t), k, Settings{}, 1, nil)
		if want := fmt.Sprintf("Neighbours: %d neighbours are too few; give at least 1", k); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if _, _, err := Graph(t.Context(), newMatrix(3).graph(t), k, Settings{WithoutCoNeighbours: true}, 1, nil); err != nil {
			t.Error(err)
		}
	}
}

// TestGraph checks that Graph, which takes paths and the choice of neighbours in one,
// gives to the last bit what the steps that the settings ask for give one by one.
func TestGraph(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(11, 12))
		for run := range 15 {
			n := 1 + r.IntN(80)
			g := random(r, n, 25*r.Float64(), weight).graph(t)
			k := 1 + r.IntN(10)
			if run == 0 {
				k = math.MaxInt
			}
			co := func(g *graph.Graph) *graph.Graph { return viaCoNeighbours(t, g, k, 2) }
			path := viaPaths(t, g, 2)
			for _, c := range []struct {
				set  Settings
				want *graph.Graph
			}{
				{Settings{}, co(path)},
				{Settings{Rounds: 2}, co(co(path))},
				{Settings{Rounds: 4}, co(co(co(co(path))))},
				{Settings{WithoutPaths: true}, co(g)},
				{Settings{WithoutPaths: true, Rounds: 3}, co(co(co(g)))},
				{Settings{WithoutCoNeighbours: true}, path},
				{Settings{WithoutCoNeighbours: true, Rounds: 5}, path},
				{Settings{WithoutPaths: true, WithoutCoNeighbours: true}, g},
			} {
				last := 0
				got, _, err := Graph(t.Context(), clone(g), k, c.set, 2, func(done int) {
					if done <= last {
						t.Errorf("%+v: %d samples are reported after %d", c.set, done, last)
					}
					last = done
				})
				if err != nil {
					t.Fatal(err)
				}
				if want := c.set.Steps() * n; last != want {
					t.Errorf("%+v: the last report is of %d samples, want %d", c.set, last, want)
				}
				wellFormed(t, got)
				if !reflect.DeepEqual(got, c.want) {
					t.Fatalf("%s, %+v: not the result of the steps", kind, c.set)
				}
			}
		}
	}
}

func TestCancel(t *testing.T) {
	g := random(rand.New(rand.NewPCG(13, 14)), 400, 20, kinds["distinct"]).graph(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := Paths(done, g, 2, nil); out != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Paths: %v, %v", out, err)
	}
	if out, err := coNeighbours(done, g, 5, 2); out != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("CoNeighbours: %v, %v", out, err)
	}
	for _, at := range []int{1, 401, 801} { // in each of the three steps
		ctx, cancel := context.WithCancel(t.Context())
		reports := 0 // after the cancellation
		out, _, err := Graph(ctx, clone(g), 5, Settings{Rounds: 2}, 2, func(done int) {
			if ctx.Err() != nil {
				reports++
			}
			if done >= at {
				cancel()
			}
		})
		cancel()
		if out != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", out, err)
		}
		if reports > 1 { // the other thread's block
			t.Errorf("%d blocks were finished after the cancellation", reports)
		}
	}
}

// TestCancelAnywhere cancels at every question to the context in turn: there is
// either the whole result or the error.
func TestCancelAnywhere(t *testing.T) {
	g := random(rand.New(rand.NewPCG(23, 24)), 40, 10, kinds["distinct"]).graph(t)
	for name, f := range map[string]func(ctx context.Context, threads int) (*graph.Graph, error){
		"Paths": func(ctx context.Context, threads int) (*graph.Graph, error) { return Paths(ctx, g, threads, nil) },
		"CoNeighbours": func(ctx context.Context, threads int) (*graph.Graph, error) {
			return coNeighbours(ctx, g, 4, threads)
		},
		"Graph": func(ctx context.Context, threads int) (*graph.Graph, error) {
			out, _, err := Graph(ctx, clone(g), 4, Settings{Rounds: 2}, threads, nil)
			return out, err
		},
	} {
		want, err := f(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 3} {
			for asked := 0; ; asked++ {
				ctx := lapse.After(t.Context(), asked)
				got, err := f(ctx, threads)
				if err == nil {
					if !reflect.DeepEqual(got, want) || asked < 10 {
						t.Errorf("%s: part of a result after %d questions", name, asked)
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

// BenchmarkGraph refines a graph of 20,000 samples, of which each is linked to
// 20 of the 60 before and after it, and so to some 40 in all.
func BenchmarkGraph(b *testing.B) {
	const n, k = 20_000, 20
	r := rand.New(rand.NewPCG(15, 16))
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, 1, n+1)}}
	for i := range n {
		for j := i + 1; j <= min(i+3*k, n-1); j++ {
			if r.IntN(3) == 0 {
				set.Partners.Values = append(set.Partners.Values, int32(j))
			}
		}
		set.Partners.Offsets = append(set.Partners.Offsets, set.Len())
	}
	weight := make([]float32, set.Len())
	for t := range weight {
		weight[t] = r.Float32()
	}
	g := fromPairs(b, set, weight)
	for _, c := range []struct {
		name string
		f    func(g *graph.Graph) (*graph.Graph, error)
	}{
		{"paths", func(g *graph.Graph) (*graph.Graph, error) { return Paths(b.Context(), g, 0, nil) }},
		{"co-neighbours", func(g *graph.Graph) (*graph.Graph, error) { return coNeighbours(b.Context(), g, k, 0) }},
		{"both", func(g *graph.Graph) (*graph.Graph, error) {
			out, _, err := Consume(b.Context(), g, k, Settings{}, 0, nil)
			return out, err
		}},
		{"three rounds", func(g *graph.Graph) (*graph.Graph, error) {
			out, _, err := Consume(b.Context(), g, k, Settings{Rounds: 3}, 0, nil)
			return out, err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				own := clone(g) // Consume would have the edges ranked from the second time on
				b.StartTimer()
				if _, err := c.f(own); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
