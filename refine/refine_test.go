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

	"github.com/mvclust/mvclust/graph"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/pair"
)

// matrix is a dense symmetric graph: the weight of every edge, NaN where there
// is none and on the diagonal.
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

func (w matrix) set(i, j int, p float64) { w[i][j], w[j][i] = p, p }

func (w matrix) linked(i, j int) bool { return w[i][j] == w[i][j] }

func (w matrix) graph() *graph.Graph {
	set := &pair.Set{Offsets: []int{0}}
	var weight []float64
	for i := range w {
		for j := i + 1; j < len(w); j++ {
			if w.linked(i, j) {
				set.Second = append(set.Second, int32(j))
				weight = append(weight, w[i][j])
			}
		}
		set.Offsets = append(set.Offsets, len(set.Second))
	}
	return graph.FromPairs(set, weight)
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

// paths transcribes Eq. pb_optpath.
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

// check compares g with the weights that it should have.
func check(t *testing.T, g *graph.Graph, want matrix, tolerance float64) {
	t.Helper()
	wellFormed(t, g)
	for i := range want {
		for j := range want {
			p, ok := g.Between(i, j)
			switch {
			case ok != want.linked(i, j):
				t.Fatalf("samples %d and %d: linked %v, want %v", i, j, ok, !ok)
			case ok && !(math.Abs(p-want[i][j]) <= tolerance):
				t.Fatalf("samples %d and %d: %.17g, want %.17g", i, j, p, want[i][j])
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
				t.Fatalf("samples %d and %d: %.17g is outside [0, 1]", i, j, weight[e])
			}
			if back, ok := g.Between(int(j), i); !ok || back != weight[e] {
				t.Fatalf("samples %d and %d: %.17g one way, %.17g (%v) the other", i, j, weight[e], back, ok)
			}
		}
	}
}

func paths(t *testing.T, g *graph.Graph, threads int) *graph.Graph {
	t.Helper()
	out, err := Paths(t.Context(), g, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func coNeighbours(t *testing.T, g *graph.Graph, k, threads int) *graph.Graph {
	t.Helper()
	out, err := CoNeighbours(t.Context(), g, k, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

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
	check(t, paths(t, w.graph(), 1), want, 1e-15)

	// With k = 1 the lists are 0: {0, 1}, 1: {1, 0}, 2: {2, 3}, 3: {3, 2}.
	want = newMatrix(4)
	want.set(0, 1, 1)
	want.set(2, 3, 1)
	check(t, coNeighbours(t, w.graph(), 1, 1), want, 0)

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
	check(t, coNeighbours(t, w.graph(), 2, 1), want, 1e-15)
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
				check(t, paths(t, w.graph(), 2), w.paths(), 0)
				for _, k := range []int{1, 2, 5, n, math.MaxInt} {
					check(t, coNeighbours(t, w.graph(), k, 2), w.coNeighbours(k), 1e-14)
				}
			}
		})
	}
}

func TestPathsNeverLower(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	g := random(r, 300, 30, kinds["distinct"]).graph()
	before := slices.Clone(g.Weight)
	refined := paths(t, g, 2)
	higher := 0
	for e, p := range refined.Weight {
		if p < before[e] {
			t.Fatalf("edge %d: %v after %v", e, p, before[e])
		}
		if p > before[e] {
			higher++
		}
	}
	if higher == 0 {
		t.Error("no edge gained by a detour")
	}
	if !slices.Equal(g.Weight, before) {
		t.Error("the graph that was given has changed")
	}
}

// TestBothEnds looks at graphs large enough for sums whose last bit depends on
// the order of their terms.
func TestBothEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, weight := range kinds {
		for _, degree := range []float64{20, 400} { // 400 is complete
			g := random(r, 200, degree, weight).graph()
			wellFormed(t, paths(t, g, 2))
			for _, k := range []int{3, 15, 100, 200} {
				wellFormed(t, coNeighbours(t, g, k, 2))
			}
		}
	}
}

// TestSampleOrder renumbers the samples: without ties at the end of a list,
// where the lower number wins, the result is the same to the last bit.
func TestSampleOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 10 {
		g := random(r, 150, 40, kinds["distinct"]).graph()
		order := r.Perm(150)
		set := Settings{Neighbours: 12}
		a, err := Graph(t.Context(), g, set, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Graph(t.Context(), g.Renumber(order), set, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a.Renumber(order), b) {
			t.Fatal("the result depends on the order of the samples")
		}
	}
}

// TestTies has four equally probable neighbours for two places.
func TestTies(t *testing.T) {
	w := newMatrix(5)
	for _, j := range []int{0, 1, 3, 4} {
		w.set(2, j, 0.5)
	}
	near, err := nearest(t.Context(), w.graph(), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := near.Of(2); !slices.Equal(got, []int32{2, 0, 1}) {
		t.Errorf("the neighbours of 2 are %v", got)
	}
}

func TestThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	g := random(r, 500, 40, kinds["tied"]).graph()
	one, err := Graph(t.Context(), g, Settings{Neighbours: 10}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 8, 0} {
		got, err := Graph(t.Context(), g, Settings{Neighbours: 10}, threads, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, one) {
			t.Errorf("%d threads give another result than one", threads)
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
		"no samples":   {newMatrix(0).graph(), 5},
		"one sample":   {newMatrix(1).graph(), 5},
		"no edges":     {newMatrix(4).graph(), 5},
		"weight zero":  {zero.graph(), 5},
		"k is zero":    {random(rand.New(rand.NewPCG(1, 1)), 9, 9, kinds["high"]).graph(), 0},
		"k is below 0": {random(rand.New(rand.NewPCG(1, 1)), 9, 9, kinds["high"]).graph(), -7},
	} {
		out := coNeighbours(t, c.g, c.k, 2)
		if out.Samples() != c.g.Samples() || out.Edges() != 0 {
			t.Errorf("%s: %d samples, %d edges", name, out.Samples(), out.Edges())
		}
		if out = paths(t, c.g, 2); out.Edges() != c.g.Edges() {
			t.Errorf("%s: %d edges after Paths", name, out.Edges())
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		set   Settings
		want  string // the error, or the resolved settings
		steps int
	}{
		{Settings{Neighbours: 5}, "{false 5 false 1}", 2},
		{Settings{Neighbours: 5, Rounds: 3}, "{false 5 false 3}", 4},
		{Settings{Neighbours: 5, WithoutPaths: true}, "{true 5 false 1}", 1},
		{Settings{WithoutCoNeighbours: true}, "{false 0 true 1}", 1},
		{Settings{WithoutPaths: true, WithoutCoNeighbours: true}, "{true 0 true 1}", 0},
		{Settings{}, "co-neighbors: 0 neighbours are too few; give at least 1", 2},
		{Settings{Neighbours: -1}, "co-neighbors: -1 neighbours are too few; give at least 1", 2},
		{Settings{Neighbours: 5, Rounds: -1}, "rounds: -1 is not between 1 and 100", 2},
		{Settings{Neighbours: 5, Rounds: 101}, "rounds: 101 is not between 1 and 100", 102},
	} {
		if got := c.set.Steps(); got != c.steps {
			t.Errorf("%+v: %d steps, want %d", c.set, got, c.steps)
		}
		_, failed := Graph(t.Context(), newMatrix(3).graph(), c.set, 1, nil)
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
}

// TestGraph checks that Graph applies the steps that the settings ask for.
func TestGraph(t *testing.T) {
	g := random(rand.New(rand.NewPCG(11, 12)), 100, 20, kinds["distinct"]).graph()
	co := func(g *graph.Graph) *graph.Graph { return coNeighbours(t, g, 6, 2) }
	for _, c := range []struct {
		set  Settings
		want *graph.Graph
	}{
		{Settings{Neighbours: 6}, co(paths(t, g, 2))},
		{Settings{Neighbours: 6, Rounds: 3}, co(co(co(paths(t, g, 2))))},
		{Settings{Neighbours: 6, WithoutPaths: true}, co(g)},
		{Settings{WithoutCoNeighbours: true}, paths(t, g, 2)},
		{Settings{WithoutPaths: true, WithoutCoNeighbours: true}, g},
	} {
		last := 0
		got, err := Graph(t.Context(), g, c.set, 2, func(done int) {
			if done <= last {
				t.Errorf("%+v: %d samples are reported after %d", c.set, done, last)
			}
			last = done
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := c.set.Steps() * 100; last != want {
			t.Errorf("%+v: the last report is of %d samples, want %d", c.set, last, want)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: not the result of the steps", c.set)
		}
	}
}

func TestCancel(t *testing.T) {
	g := random(rand.New(rand.NewPCG(13, 14)), 400, 20, kinds["distinct"]).graph()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := Paths(done, g, 2, nil); out != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Paths: %v, %v", out, err)
	}
	if out, err := CoNeighbours(done, g, 5, 2, nil); out != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("CoNeighbours: %v, %v", out, err)
	}
	for _, at := range []int{1, 401, 801} { // in each of the three steps
		ctx, cancel := context.WithCancel(t.Context())
		reports := 0 // after the cancellation
		out, err := Graph(ctx, g, Settings{Neighbours: 5, Rounds: 2}, 2, func(done int) {
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

// BenchmarkGraph refines a graph of 20,000 samples, of which each is linked to
// 20 of the 60 before and after it, and so to some 40 in all.
func BenchmarkGraph(b *testing.B) {
	const n, k = 20_000, 20
	r := rand.New(rand.NewPCG(15, 16))
	set := &pair.Set{Offsets: make([]int, 1, n+1)}
	for i := range n {
		for j := i + 1; j <= min(i+3*k, n-1); j++ {
			if r.IntN(3) == 0 {
				set.Second = append(set.Second, int32(j))
			}
		}
		set.Offsets = append(set.Offsets, set.Len())
	}
	weight := make([]float64, set.Len())
	for t := range weight {
		weight[t] = r.Float64()
	}
	g := graph.FromPairs(set, weight)
	for name, f := range map[string]func() (*graph.Graph, error){
		"paths":         func() (*graph.Graph, error) { return Paths(b.Context(), g, 0, nil) },
		"co-neighbours": func() (*graph.Graph, error) { return CoNeighbours(b.Context(), g, k, 0, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
