package apitest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/linkage"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/structure"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// value makes an argument anew for every call.
type value struct {
	name string
	make func() any
}

// kinds collects the values of each type. The first one of a type is good.
type kinds map[reflect.Type][]value

// add adds values of type T, of which make returns a new one.
func add[T any](p kinds, name string, make func() T) {
	kind := reflect.TypeFor[T]()
	p[kind] = append(p[kind], value{name, func() any { return make() }})
}

// these adds values that no call changes.
func these[T any](p kinds, values ...T) {
	for _, x := range values {
		add(p, describe(x), func() T { return x })
	}
}

// samples is the number of samples of the good arguments, and dims that of their dimensions.
const (
	samples = 40
	dims    = 5
)

// good holds good arguments, all about the same samples.
type good struct {
	views    []*view.View
	result   *mvclust.Result
	spaces   []*similarity.Space
	lists    []*neighbour.Lists
	pairs    *pair.Set
	resolved *constraint.Resolved
	set      constraint.Set
}

func newGood(t *testing.T) *good {
	t.Helper()
	ctx := t.Context()
	data, err := synth.Generate(synth.Config{Samples: samples, Classes: 3, Dims: []int{dims}, Missing: 0.1, Seed: 3})
	must(t, err)
	g := &good{views: data.Views, set: constraint.Set{MustLink: [][2]int{{0, 1}}, CannotLink: [][2]int{{1, 2}}}}
	g.result, err = mvclust.Fit(ctx, g.views, mvclust.Options{})
	must(t, err)
	for _, v := range g.views {
		s, err := similarity.NewSpace(ctx, v, similarity.Cosine, nil, false, 0)
		must(t, err)
		l, err := neighbour.Search(ctx, s, 8, 1, neighbour.Settings{}, 0, nil)
		must(t, err)
		g.spaces, g.lists = append(g.spaces, s), append(g.lists, l)
	}
	g.pairs, err = pair.Union(ctx, g.lists, 0)
	must(t, err)
	g.resolved, err = g.set.Resolve(samples)
	must(t, err)
	return g
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pool returns values of all types that table's functions take.
func pool(t *testing.T) kinds {
	t.Helper()
	p, g := kinds{}, newGood(t)
	p.basics()
	p.functions()
	p.settings()
	p.views(g)
	p.structures(t, g)
	p.models(t, g)
	return p
}

func (p kinds) basics() {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	these(p, context.Background(), cancelled) // a nil context may panic, as everywhere in Go
	these(p, false, true)
	these(p, 1, 0, -1, 2, 7, samples, samples+1, 1<<20, math.MaxInt, math.MinInt)
	these[int64](p, 1, 0, -1, 1<<40, math.MaxInt64, math.MinInt64)
	these[uint64](p, 1, 0, math.MaxUint64)
	nan, inf := math.NaN(), math.Inf(1)
	these(p, 0.5, 0, -1, 1, 1e12, 1e300, nan, inf, -inf)
	these[float32](p, 0.5, 0, -1, float32(nan), float32(inf))
	these(p, "x", "", "cosine", "\x00\xff")
	these(p, []byte("paper"), nil, []byte{0})
	these(p, []string{"a", "b"}, nil, make([]string, samples))
	these(p, rand.New(rand.NewPCG(1, 1)), nil)
	add(p, "a buffer", func() io.Writer { return &bytes.Buffer{} })
	add(p, "a failing writer", func() io.Writer { return failing{} })
	nilOf[io.Writer](p)
	these[io.ReaderAt](p, bytes.NewReader([]byte("PK")), nil, bytes.NewReader(nil), failing{})
	labels := make([]int, samples)
	for i := range labels {
		labels[i] = i % 3
	}
	wrong := slices.Clone(labels)
	wrong[3] = math.MaxInt
	negative := slices.Clone(labels)
	negative[3] = -1
	for _, x := range [][]int{labels, nil, {}, {1, 2}, wrong, negative, slices.Repeat(labels, 2), {math.MaxInt, math.MinInt}} {
		add(p, describe(x), func() []int { return slices.Clone(x) })
	}
	for _, x := range [][]int32{{1, 2, 3}, nil, {}, {-1}, {0, 0, samples}, {math.MaxInt32, math.MinInt32}, make([]int32, samples)} {
		add(p, describe(x), func() []int32 { return slices.Clone(x) })
	}
	for _, x := range [][]float32{{0.5, 0.5, 0.25}, nil, {}, {float32(nan), 1}, {float32(inf), float32(-inf), 0}, make([]float32, samples), make([]float32, samples*dims), make([]float32, 3)} {
		add(p, describe(x), func() []float32 { return slices.Clone(x) })
	}
	for _, x := range [][]float64{{0.5, 0.25}, nil, {}, {nan, 0.5}, {nan, nan}, {0, 1}, {inf, -inf, 2}, make([]float64, samples)} {
		add(p, describe(x), func() []float64 { return slices.Clone(x) })
	}
	these(p, make([]bool, samples), nil, []bool{true}, slices.Repeat([]bool{true}, samples))
	these(p, [][]float64{{1, 2}, {2, 3}, nil}, nil, [][]float64{{}}, [][]float64{nil, {nan, 1}}, [][]float64{{1}, {1, 2}})
	these(p, [][]float32{{0.1, 0.2, 0.5}, {0.5, float32(nan), 0.75}}, nil, [][]float32{{}, {}}, [][]float32{{1}, nil}, [][]float32{{1}}, [][]float32{{float32(inf), 1, 1}, {1, 2, float32(-inf)}})
	identity := make(sparse.Permutation, samples)
	for i := range identity {
		identity[i] = samples - 1 - i
	}
	these(p, identity, nil, sparse.Permutation{}, sparse.Permutation{1, 0}, sparse.Permutation{-1}, make(sparse.Permutation, samples), sparse.Permutation{math.MaxInt, 0})
}

// failing fails to read and to write.
type failing struct{}

func (failing) Write([]byte) (int, error)         { return 0, errors.New("full") }
func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("gone") }

func (p kinds) functions() {
	these(p, func(int) {}, nil)
	these(p, func(int) ([]int32, []float32) { return nil, nil }, nil,
		func(i int) ([]int32, []float32) { return []int32{int32(i)}, nil },
		func(int) ([]int32, []float32) { return []int32{-1, math.MaxInt32}, []float32{1, 1} },
		func(int) ([]int32, []float32) { return []int32{1, 2}, []float32{1} })
	these(p, func(int) []int32 { return []int32{1, 2} }, nil, func(int) []int32 { return nil },
		func(int) []int32 { return []int32{-1} }, func(int) []int32 { return []int32{math.MaxInt32} })
	these(p, func(_ int, dst []float32) { clear(dst) }, nil, func(_ int, dst []float32) {
		for t := range dst {
			dst[t] = float32(math.NaN())
		}
	})
	add(p, "tree", func() *linkage.Tree {
		tree, err := linkage.Average(context.Background(), samples, func(_ int, dst []float32) { clear(dst) }, 1)
		if err != nil {
			panic(err)
		}
		return tree
	})
	these(p, nil, &linkage.Distances{})
	these(p, nil, [][]int{{}, {-1}, {0, 1, 2}})
	these(p, nil, &linkage.Tree{})
	these(p, func(int) float32 { return 0.5 }, nil, func(int) float32 { return float32(math.NaN()) })
	these(p, func(int) string { return "" }, nil)
	these(p, func(constraint.Kind, []int) string { return "" }, nil)
	these(p, func(float64) *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }, nil, func(float64) *rand.Rand { return nil })
	these(p, func(func(int, int32)) {}, nil, func(add func(int, int32)) { add(-1, 1) })
	these(p, func(int, []int32, int) {}, nil)
	these(p, func(int, int) bool { return true }, nil)
	these(p, func(int, int) int { return 1 }, nil)
	these(p, []uint64{1, 2, 1}, nil)
}

func (p kinds) settings() {
	nan, large := math.NaN(), math.MaxInt
	enumerations(p, mvclust.Auto, similarity.Cosine, view.NoScale, neighbour.Auto, posterior.Symmetric, probability.Mixed)
	settings(p, neighbour.Settings{}, neighbour.Settings{Method: 99}, neighbour.Settings{Method: neighbour.Approximate, Recall: nan}, neighbour.Settings{Method: neighbour.Approximate}, neighbour.Settings{Recall: -1})
	settings(p, partition.Settings{}, partition.Settings{Sweeps: large, Levels: large, Clip: nan}, partition.Settings{Sweeps: -1}, partition.Settings{Clip: math.Inf(1)}, partition.Settings{Levels: -1}, partition.Settings{Levels: 5})
	settings(p, posterior.Settings{}, posterior.Settings{Fusion: -1}, posterior.Settings{Fusion: posterior.Asymmetric}, posterior.Settings{Completion: true}, posterior.Settings{Clip: nan})
	settings(p, probability.Settings{Epochs: 2}, probability.Settings{Epochs: -1}, probability.Settings{Segments: large}, probability.Settings{Segments: 100_000, Epochs: 1}, probability.Settings{Pairs: -1}, probability.Settings{Rate: nan}, probability.Settings{Loss: 9}, probability.Settings{Low: large}, probability.Settings{Untrained: true, Pairs: 1})
	settings(p, refine.Settings{}, refine.Settings{Rounds: large}, refine.Settings{Rounds: -1}, refine.Settings{WithoutPaths: true}, refine.Settings{WithoutCoNeighbours: true}, refine.Settings{WithoutPaths: true, WithoutCoNeighbours: true})
	settings(p, selection.Settings{}, selection.Settings{Neighbours: -1}, selection.Settings{Neighbours: large}, selection.Settings{Resolution: nan}, selection.Settings{Resolution: 1e12}, selection.Settings{MaxNeighbours: large}, selection.Settings{MaxNeighbours: -1}, selection.Settings{MaxNeighbours: math.MaxInt32})
	constants(p, structure.None)
	constants(p, view.Joined)
	settings(p, agreement.Readings{Taken: []view.Version{view.Joined, view.Joined}}, agreement.Readings{}, agreement.Readings{Taken: []view.Version{99, -1}})
	these(p, []*view.Scaler{{}, {}}, nil, []*view.Scaler{nil, nil}, []*view.Scaler{{Scale: view.Mixed}, {Scale: -1}})
	these(p, make([]similarity.Metric, 2), nil, []similarity.Metric{-1, 99})
	settings(p, structure.Report{}, structure.Report{Verdict: 99, Score: nan, Samples: -1})
	settings(p, selection.Candidate{Separation: 0.5}, selection.Candidate{Separation: nan})
	these(p, nil, []selection.Candidate{{Plateau: nan, Score: 1}}, make([]selection.Candidate, 3))
	these(p, explain.DescribeSettings{}, explain.DescribeSettings{Members: -1}, explain.DescribeSettings{Members: math.MaxInt32, Merges: math.MaxInt32}, explain.DescribeSettings{Resolution: nan}, explain.DescribeSettings{Clip: nan}, explain.DescribeSettings{First: large}, explain.DescribeSettings{Resolution: 1})
	these(p, explain.Answer{}, explain.Answer{A: 0, B: 1, About: explain.AboutMerge, Verdict: explain.Same}, explain.Answer{A: 0, B: 1, About: explain.AboutClusters, Verdict: explain.Different}, explain.Answer{A: -1, B: large, About: explain.AboutSplit, Verdict: explain.Skip})
	these(p, partition.Standing{}, partition.Standing{Own: nan, Next: nan})
	settings(p, view.Links{Pairs: [][2]int{{0, 1}, {1, 2}}}, view.Links{}, view.Links{Pairs: [][2]int{{0, large}}}, view.Links{Pairs: [][2]int{{0, -1}}}, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{nan}}, view.Links{Pairs: [][2]int{{0, 0}, {1, 1}}, Weights: []float64{0, 1e300}},
		view.Links{Pairs: [][2]int{{0, 1}, {1, 0}}, Weights: []float64{math.SmallestNonzeroFloat64, math.MaxFloat32}}, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{2}, Probability: true}, view.Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{}, Probability: true})
	constants(p, view.Mean)
	these(p, &view.Filling{How: view.Mean, Values: []float32{1, 2}}, nil, &view.Filling{How: 99}, &view.Filling{How: view.Zero, Values: []float32{float32(nan)}, Cells: -1})
	small := synth.Config{Samples: 10, Classes: 2}
	these(p, small, synth.Config{Samples: -1}, synth.Config{Samples: large}, synth.Config{Samples: large, Classes: large}, synth.Config{Classes: large}, synth.Config{Views: large},
		synth.Config{Samples: large, Outliers: 0.9999999999}, synth.Config{Dims: []int{large}}, synth.Config{Dims: []int{large, large}}, synth.Config{Dims: []int{0}}, synth.Config{Dims: []int{1, 2, 3}},
		synth.Config{Imbalance: nan}, synth.Config{Samples: 10, Classes: 2, Imbalance: math.MaxFloat64}, synth.Config{Noise: []float64{nan}}, synth.Config{Noise: []float64{math.Inf(1)}}, synth.Config{Dependence: -1},
		synth.Config{Outliers: 1}, synth.Config{Samples: 10, Classes: 1, Outliers: 0.99}, synth.Config{Missing: nan}, synth.Config{Samples: 1, Classes: 1, Missing: 0.9999}, synth.Config{Samples: 3, Classes: 3, Views: 1000, Dims: []int{1}})
	known := constraint.Set{MustLink: [][2]int{{0, 1}}, CannotLink: [][2]int{{0, 1}}}
	these(p, mvclust.Options{}, mvclust.Options{Preset: 7}, mvclust.Options{Preset: mvclust.Paper}, mvclust.Options{Threads: large}, mvclust.Options{Threads: -1},
		mvclust.Options{Neighbours: -1}, mvclust.Options{Neighbours: large}, mvclust.Options{Candidates: large}, mvclust.Options{Candidates: -1}, mvclust.Options{Resolution: nan}, mvclust.Options{Resolution: -1},
		mvclust.Options{Scale: 99}, mvclust.Options{Scale: -1, Preset: mvclust.Paper}, mvclust.Options{Metrics: make([]similarity.Metric, 7)}, mvclust.Options{Metrics: []similarity.Metric{-1}}, mvclust.Options{Search: neighbour.Settings{Recall: nan}},
		mvclust.Options{Preset: mvclust.Paper, Learning: probability.Settings{Rate: nan}}, mvclust.Options{Posterior: posterior.Settings{Fusion: 77}}, mvclust.Options{Refinement: refine.Settings{Rounds: -4}}, mvclust.Options{Partition: partition.Settings{Clip: nan}},
		mvclust.Options{Order: []int{}}, mvclust.Options{Order: []int{1}}, mvclust.Options{Order: make([]int, samples)}, mvclust.Options{Order: slices.Repeat([]int{large}, samples)},
		mvclust.Options{Constraints: known}, mvclust.Options{Constraints: constraint.Set{MustLink: [][2]int{{-1, large}}}}, mvclust.Options{Constraints: constraint.Set{Distinct: []int{1}}},
		mvclust.Options{Learner: learner(nil)}, mvclust.Options{Learner: learner(&probability.Functions{})}, mvclust.Options{Learner: learner(&probability.Functions{ByView: make([]probability.Function, 2)})},
		mvclust.Options{Learner: learner(&probability.Functions{ByView: []probability.Function{{X: []float64{1}}, {P: []float64{1}}}})},
		mvclust.Options{Consume: true}, mvclust.Options{Preset: mvclust.Paper, Posterior: posterior.Settings{Completion: true}, Learner: learner(&probability.Functions{ByView: make([]probability.Function, 2)})})
	options := p[reflect.TypeFor[mvclust.Options]()]
	for _, o := range options {
		add(p, o.name, func() *mvclust.Options { x := o.make().(mvclust.Options); return &x }) //nolint:forcetypeassert // by the line above
	}
}

// learner returns a Learner that learns f.
func learner(f *probability.Functions) mvclust.Learner {
	return func(context.Context, [][2]int32, [][]float32) (*probability.Functions, error) { return f, nil }
}

// settings adds settings, and pointers to them.
func settings[T any](p kinds, values ...T) {
	these(p, values...)
	for _, x := range values {
		add(p, describe(x), func() *T { y := x; return &y })
	}
	add(p, "nil", func() *T { return nil })
}

// enumerations adds the constants of enumerations, and numbers that are none.
func enumerations(p kinds, first mvclust.Preset, metric similarity.Metric, scale view.Scale, method neighbour.Method, fusion posterior.Fusion, loss probability.Loss) {
	constants(p, first)
	constants(p, metric)
	constants(p, scale)
	constants(p, method)
	constants(p, fusion)
	constants(p, loss)
}

func constants[T ~int](p kinds, first T) {
	settings(p, first, first+1, first+2, -1, 99, math.MaxInt, math.MinInt)
}
