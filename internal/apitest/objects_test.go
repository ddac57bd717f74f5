package apitest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/discriminant"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/separation"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/report"
)

// describe writes an argument in a few characters.
func describe(x any) string {
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Invalid:
		return "nil"
	case reflect.Func, reflect.Pointer, reflect.Slice:
		if v.IsNil() {
			return "nil"
		}
		if v.Kind() == reflect.Func {
			return "a function"
		}
	}
	s := strings.ReplaceAll(fmt.Sprintf("%T %+v", x, x), "\n", " ")
	return s[:min(len(s), 200)]
}

// nilOf adds a nil pointer, slice or interface.
func nilOf[T any](p kinds) {
	add(p, "nil", func() (x T) { return x })
}

// cloned returns a copy of v that can be changed.
func cloned(v *view.View) *view.View {
	out := *v
	out.Data, out.Present = slices.Clone(v.Data), slices.Clone(v.Present)
	return &out
}

func (p kinds) views(g *good) {
	change := func(do func(v *view.View)) func() *view.View {
		return func() *view.View {
			v := cloned(g.views[0])
			do(v)
			return v
		}
	}
	all := []func() *view.View{
		change(func(*view.View) {}),
		func() *view.View { return nil },
		func() *view.View { return &view.View{} },
		change(func(v *view.View) { v.Data = nil }),
		change(func(v *view.View) { v.Data = v.Data[1:] }),
		change(func(v *view.View) { v.Present = make([]bool, 1) }),
		change(func(v *view.View) { v.Present = make([]bool, samples) }),
		change(func(v *view.View) { v.Present, v.Data[0] = nil, float32(math.NaN()) }),
		change(func(v *view.View) { v.Samples = math.MaxInt }),
		change(func(v *view.View) { v.Samples = -1 }),
		change(func(v *view.View) { v.Dims = math.MaxInt }),
		change(func(v *view.View) { v.Dims = 0 }),
		change(func(v *view.View) { v.Samples, v.Dims, v.Present = samples*dims, 1, nil }),
		change(func(v *view.View) { v.Samples, v.Data, v.Present = 2, v.Data[:2*dims], nil }),
		change(func(v *view.View) { clear(v.Data) }),
		change(func(v *view.View) { v.Samples, v.Data, v.Present = 0, nil, nil }),
	}
	for i, one := range all {
		name := fmt.Sprint("view ", i)
		add(p, name, one)
	}
	other := func() *view.View { return cloned(g.views[1]) }
	add(p, "both views", func() []*view.View { return []*view.View{all[0](), other()} })
	nilOf[[]*view.View](p)
	add(p, "one view of two", func() []*view.View { return []*view.View{other()} })
	add(p, "views of other samples", func() []*view.View { return []*view.View{all[13](), all[13]()} })
	add(p, "shared views", func() []*view.View { v := other(); return []*view.View{v, v} })
	for i, one := range all[1:] {
		add(p, fmt.Sprint("with view ", i+1), func() []*view.View { return []*view.View{other(), one()} })
	}
	settings(p, view.InputError{})
	features := make([]float64, dims)
	for _, s := range []view.Scaler{
		{Scale: view.MinMax, Low: features, Span: features}, {}, {Scale: view.MinMax}, {Scale: view.Mixed, Low: features, Span: features}, {Scale: 9},
		{Scale: view.MinMax, Low: []float64{math.NaN()}, Span: features}, {Scale: view.Mixed, Low: features, Span: features, Mean: features, Inverse: features},
	} {
		add(p, describe(s), func() *view.Scaler { return &s })
	}
	nilOf[*view.Scaler](p)
}

// graphs returns a good graph, and others that are not.
func graphs(g *good) []func() *graph.Graph {
	change := func(do func(x *graph.Graph)) func() *graph.Graph {
		return func() *graph.Graph {
			x := &graph.Graph{Offsets: slices.Clone(g.result.Graph.Offsets), Index: slices.Clone(g.result.Graph.Index), Weight: slices.Clone(g.result.Graph.Weight)}
			do(x)
			return x
		}
	}
	return []func() *graph.Graph{
		change(func(*graph.Graph) {}),
		func() *graph.Graph { return nil },
		func() *graph.Graph { return &graph.Graph{} },
		func() *graph.Graph { return &graph.Graph{Offsets: []int{0}} },
		func() *graph.Graph { return &graph.Graph{Offsets: make([]int, samples+1)} },
		change(func(x *graph.Graph) { x.Offsets = x.Offsets[:3] }),
		change(func(x *graph.Graph) { x.Offsets[3] = math.MaxInt }),
		change(func(x *graph.Graph) { x.Offsets[3] = -1 }),
		change(func(x *graph.Graph) { x.Index = nil }),
		change(func(x *graph.Graph) { x.Weight = x.Weight[1:] }),
		change(func(x *graph.Graph) { x.Index[0] = -1 }),
		change(func(x *graph.Graph) { x.Index[1] = samples }),
		change(func(x *graph.Graph) { x.Index[2] = math.MaxInt32 }),
		change(func(x *graph.Graph) { // not the same from both ends, loops, out of order
			for e := range x.Index {
				x.Index[e] = int32((e*e + 3) % samples)
			}
		}),
		change(func(x *graph.Graph) { clear(x.Index) }),
		change(func(x *graph.Graph) {
			for e := range x.Weight {
				x.Weight[e] = []float32{float32(math.NaN()), float32(math.Inf(1)), -1, 5, 0}[e%5]
			}
		}),
		func() *graph.Graph {
			return &graph.Graph{Offsets: []int{0, 1, 2}, Index: []int32{1, 0}, Weight: []float32{1, 1}}
		},
	}
}

// contractions adds graphs whose nodes are sets of samples, and lists of neighbours to compare.
func (p kinds) contractions() {
	pair := func() *partition.Contracted {
		return &partition.Contracted{Offsets: []int{0, 1, 2}, Index: []int32{1, 0}, Weight: []float64{0.5, 0.5}, Degree: []float64{1, 2}, All: 5}
	}
	none := &partition.Contracted{Offsets: []int{0}}
	ends, degrees, offsets := pair(), pair(), pair()
	ends.Index[0], degrees.Degree[1], offsets.Offsets[1] = -1, math.NaN(), 7
	these(p, pair(), nil, &partition.Contracted{}, none, ends, degrees, offsets)
	these(p,
		&selection.Contraction{Samples: []int{2, 3}, Neighbours: []int{5}, Refined: []*partition.Contracted{pair()}, Walk: pair()},
		nil, &selection.Contraction{}, &selection.Contraction{Neighbours: []int{5}, Refined: []*partition.Contracted{none}, Walk: none},
		&selection.Contraction{Samples: []int{2, -3}, Neighbours: []int{5}, Refined: []*partition.Contracted{pair()}, Walk: pair()},
		&selection.Contraction{Samples: []int{2, 3}, Neighbours: []int{5}, Refined: []*partition.Contracted{nil}},
	)
	list := refine.List[int]{Sample: 1, Neighbours: []int{2, 3}, Probability: []float32{0.5, 0.2}}
	these(p, list, refine.List[int]{}, refine.List[int]{Neighbours: []int{0, 0}})
	add(p, "a comparison", func() *refine.Pairwise[int] { return refine.NewPairwise(list, []int{1, 2}) })
	nilOf[*refine.Pairwise[int]](p)
}

func (p kinds) structures(t *testing.T, g *good) {
	read, err := separation.Read(t.Context(), g.views, 1)
	must(t, err)
	coordinates, err := discriminant.Read(t.Context(), g.spaces, 1)
	must(t, err)
	these(p, coordinates, nil, &discriminant.Coordinates{})
	these(p, read, nil, &separation.Views{})
	these(p, read.Features(nil, nil), nil, &separation.Features{})
	ctx := t.Context()
	words := &view.View{Name: "words", Samples: samples, Dims: 40, Data: make([]float32, samples*40)}
	for i := range samples {
		words.Row(i)[i%40], words.Row(i)[i%7] = 1, 2
	}
	scaler, err := words.Scaler(ctx, view.Mixed, nil)
	must(t, err)
	apart, err := scaler.Sparse(ctx, words, 1)
	must(t, err)
	these(p, apart)
	mostlyZeros, err := similarity.Sparse(ctx, words, scaler, nil, 1)
	must(t, err)
	these(p, mostlyZeros)
	for i, x := range graphs(g) {
		add(p, fmt.Sprint("graph ", i), x)
	}
	lists := []*neighbour.Lists{
		g.lists[0], nil, {}, {Rows: sparse.Rows[int32]{Offsets: []int{0, 5}}}, {Rows: sparse.Rows[int32]{Offsets: []int{0, 1}, Values: []int32{-1}}},
		{Rows: sparse.Rows[int32]{Offsets: []int{0, 1}, Values: []int32{7}}}, {Rows: sparse.Rows[int32]{Values: []int32{7}}}, {Rows: sparse.Rows[int32]{Offsets: make([]int, samples+1)}},
		{Rows: sparse.Rows[int32]{Offsets: g.lists[0].Offsets, Values: slices.Repeat([]int32{math.MaxInt32}, len(g.lists[0].Values))}},
	}
	these(p, lists...)
	p.contractions()
	these(p, g.lists, nil, []*neighbour.Lists{}, g.lists[:1])
	for _, l := range lists[1:] {
		these(p, []*neighbour.Lists{g.lists[0], l}, []*neighbour.Lists{l})
	}
	for _, r := range []sparse.Rows[int32]{{Offsets: []int{0, 1, 2}, Values: []int32{1, 2}}, {}, {Offsets: []int{0, 9}}, {Offsets: []int{5}}, {Values: []int32{1}}, {Offsets: []int{0, 2, 1}, Values: []int32{1}}} {
		add(p, describe(r), func() *sparse.Rows[int32] { x := r; return &x })
	}
	these(p, g.pairs, nil, &pair.Set{}, &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 3}}}, &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 1}, Values: []int32{5}}},
		&pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 1}, Values: []int32{-1}}}, &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, samples+1)}})
	one, err := similarity.Part(ctx, cloned(&view.View{Samples: 1, Dims: 2, Data: []float32{1, 2}}), similarity.L2, 0)
	must(t, err)
	these(p, g.spaces[0], nil, &similarity.Space{}, &similarity.Space{Samples: samples, Dims: dims}, one, g.spaces[1].Emptied())
	these(p, g.spaces, nil, []*similarity.Space{nil, nil}, []*similarity.Space{{}, {}}, []*similarity.Space{one, g.spaces[0]}, g.spaces[:1], []*similarity.Space{one, one})
	queries, err := g.spaces[0].Queries(ctx, cloned(g.views[0]), false, 0)
	must(t, err)
	far, err := one.Queries(ctx, &view.View{Samples: 1, Dims: 2, Data: []float32{1, 2}}, false, 0)
	must(t, err)
	compared, err := similarity.NewLists(samples, make([]int, samples+1), nil, nil)
	must(t, err)
	these(p, compared, nil, &similarity.Lists{})
	these(p, queries, nil, &similarity.Queries{}, &similarity.Queries{Samples: 9}, far)
	index, err := neighbour.NewIndex(ctx, g.spaces[0], 4, 1, neighbour.Settings{}, 0)
	must(t, err)
	these(p, index)
	these(p, &neighbour.Found{Offsets: []int{0, 1}, Index: []int32{0}, Similarity: []float32{1}}, &neighbour.Found{}, &neighbour.Found{Offsets: []int{0, 7}})
	few, err := (&constraint.Set{MustLink: [][2]int{{0, 1}}}).Resolve(2)
	must(t, err)
	these(p, g.resolved, nil, few, &constraint.Resolved{}, &constraint.Resolved{Component: make([]int32, samples)}, &constraint.Resolved{Component: slices.Repeat([]int32{-1}, samples)},
		&constraint.Resolved{Component: make([]int32, samples), Exclusions: sparse.Rows[int32]{Offsets: slices.Concat(make([]int, samples), []int{1}), Values: []int32{99}}})
	these(p, &g.set, nil, &constraint.Set{}, &constraint.Set{MustLink: [][2]int{{-1, 5}}}, &constraint.Set{CannotLink: [][2]int{{math.MaxInt, 5}}}, &constraint.Set{Distinct: []int{1, 2}}, &constraint.Set{Distinct: make([]int, samples)}, &constraint.Set{MustLink: [][2]int{{1, 1}}},
		&constraint.Set{MustLink: [][2]int{{0, 1}, {1, 2}}, CannotLink: [][2]int{{0, 2}}})
	these(p, g.resolved.Pairs(), (*constraint.Resolved)(nil).Pairs())
	these(p, &constraint.Error{}, &constraint.Error{Kind: constraint.Distinct, At: math.MaxInt, Samples: [2]int{-1, 5}, Chain: []int{-1}})
	p.partitions(t, g)
	nan := math.NaN()
	line := probability.Function{X: []float64{0, 1}, P: []float64{0, 1}}
	for _, f := range []probability.Function{line, {}, {X: []float64{1}}, {P: []float64{1}}, {X: []float64{1, 0}, P: []float64{2, -1}}, {X: []float64{nan, nan}, P: []float64{nan, nan}}, {X: []float64{-1e308, 1e308}, P: []float64{0, 1}}, {X: []float64{0, 5e-324}, P: []float64{0, 1}}} {
		add(p, describe(f), func() *probability.Function { return &f })
	}
	these(p, line.Lookup(), (&probability.Function{}).Lookup())
	both := []probability.Function{line, line}
	these(p, &probability.Functions{ByView: both, BaseRate: []float64{0.5, 0.5}, Cross: [][]*probability.Function{{nil, &line}, {&line, nil}}}, nil, &probability.Functions{}, &probability.Functions{ByView: make([]probability.Function, 2)},
		&probability.Functions{ByView: both, BaseRate: []float64{nan}}, &probability.Functions{ByView: both, Cross: [][]*probability.Function{{}}}, &probability.Functions{ByView: both, Cross: [][]*probability.Function{nil, nil}}, &probability.Functions{ByView: []probability.Function{{X: []float64{1}}}})
	for _, set := range []posterior.Settings{{}, {Fusion: posterior.Asymmetric}, {Fusion: posterior.Max}, {Completion: true}, {Fusion: posterior.Pooled}} {
		e, err := posterior.New(&probability.Functions{ByView: both, BaseRate: []float64{0.5, 0.5}, Cross: [][]*probability.Function{{nil, &line}, {&line, nil}}}, set)
		must(t, err)
		these(p, e)
	}
}

func (p kinds) partitions(t *testing.T, g *good) {
	ctx, x, labels := t.Context(), g.result.Graph, g.result.Labels
	for _, resolution := range []float64{1, 0} {
		w, err := partition.NewWorth(ctx, x, labels, resolution, partition.Settings{}, 0)
		must(t, err)
		these(p, w)
		add(p, "links of the worth", w.Links)
	}
	add(p, "few links", func() *partition.Links { return partition.NewLinks(1, math.NaN(), math.NaN()) })
	add(p, "no links", func() *partition.Links { return partition.NewLinks(0, 1, 1) })
	d, err := partition.NewDegrees(ctx, x, labels, 0)
	must(t, err)
	these(p, d, &partition.Degrees{})
	for _, known := range []*constraint.Resolved{nil, g.resolved} {
		s, err := partition.NewSeries(ctx, x, 5, known, partition.Settings{Levels: 3})
		must(t, err)
		these(p, s)
	}
	near, err := refine.Nearest(ctx, x, 5, 0)
	must(t, err)
	none, err := refine.NewNeighbourhoods(1, nil, nil)
	must(t, err)
	these(p, near, none, near.First(1))
	add(p, "a row", func() *refine.Row { return refine.NewRow(samples) })
	add(p, "a row of no samples", func() *refine.Row { return refine.NewRow(0) })
	field := 1.0
	these(p, &field, nil)
}

func (p kinds) models(t *testing.T, g *good) {
	ctx := t.Context()
	result := func(do func(r *mvclust.Result)) func() *mvclust.Result {
		return func() *mvclust.Result {
			r := *g.result
			do(&r)
			return &r
		}
	}
	results := []func() *mvclust.Result{
		result(func(*mvclust.Result) {}),
		func() *mvclust.Result { return nil },
		func() *mvclust.Result { return &mvclust.Result{} },
		result(func(r *mvclust.Result) { r.Labels = r.Labels[1:] }),
		result(func(r *mvclust.Result) { r.Labels = slices.Repeat([]int{-1}, samples) }),
		result(func(r *mvclust.Result) { r.Labels = slices.Repeat([]int{math.MaxInt}, samples) }),
		result(func(r *mvclust.Result) { r.Sizes = nil }),
		result(func(r *mvclust.Result) { r.Sizes = []int{math.MaxInt} }),
		result(func(r *mvclust.Result) { r.Confidence = nil }),
		result(func(r *mvclust.Result) { r.Confidence = slices.Repeat([]float64{math.NaN()}, samples) }),
		result(func(r *mvclust.Result) { r.Functions = nil }),
		result(func(r *mvclust.Result) { r.Functions = &probability.Functions{} }),
		result(func(r *mvclust.Result) {
			r.Functions = &probability.Functions{ByView: []probability.Function{{X: []float64{1, 2}}, {P: []float64{math.NaN()}}}}
		}),
		result(func(r *mvclust.Result) { r.Neighbourhoods = nil }),
		result(func(r *mvclust.Result) { r.Scalers = nil }),
		result(func(r *mvclust.Result) { r.LocalScales = [][]float32{{1}} }),
		result(func(r *mvclust.Result) { r.Options = mvclust.Options{} }),
		result(func(r *mvclust.Result) { r.Trace = mvclust.Trace{} }),
		result(func(r *mvclust.Result) { r.Trace.Agreement = &agreement.Report{} }),
		result(func(r *mvclust.Result) { r.Trace.Chosen = math.MaxInt }),
		result(func(r *mvclust.Result) { r.Trace.Tried = make([]selection.Candidate, 3); r.Trace.Chosen = -1 }),
		result(func(r *mvclust.Result) { r.Trace.Similarities = make([]probability.Histogram, 2) }),
		result(func(r *mvclust.Result) {
			f := *r.Functions
			f.Curve, f.Kept = make([]probability.Losses, 2), 99
			r.Functions = &f
		}),
		result(func(r *mvclust.Result) { r.Granularity.Chosen, r.Granularity.Neighbours = true, math.MaxInt }),
	}
	for i, x := range graphs(g)[1:] {
		results = append(results, result(func(r *mvclust.Result) { r.Graph = x() }))
		_ = i
	}
	for i, r := range results {
		add(p, fmt.Sprint("result ", i), r)
		add(p, fmt.Sprint("model of result ", i), func() *mvclust.Model { return mvclust.NewModel(g.views, r(), nil) })
	}
	model := func(do func(m *mvclust.Model)) {
		add(p, fmt.Sprint("model ", len(p[reflect.TypeFor[*mvclust.Model]()])), func() *mvclust.Model {
			m := mvclust.NewModel(g.views, g.result, nil)
			do(m)
			return m
		})
	}
	nilOf[*mvclust.Model](p)
	add(p, "a level", func() *mvclust.Level { return &g.result.Levels[0] })
	add(p, "a level of other samples", func() *mvclust.Level { return &mvclust.Level{Labels: []int{0, 5, math.MaxInt}} })
	add(p, "a level of labels below 0", func() *mvclust.Level { return &mvclust.Level{Labels: slices.Repeat([]int{-1}, samples)} })
	nilOf[*mvclust.Level](p)
	these(p, &mvclust.FileError{Problem: errors.New("it is gone")}, &mvclust.FileError{}, nil)
	info := mvclust.ViewInfo{Dims: 3, Scale: view.Mixed}
	these(p, info, mvclust.ViewInfo{Dims: -1, Metric: 99, Scale: 99}, mvclust.ViewInfo{Dims: math.MaxInt})
	these(p, &mvclust.ModelInfo{Samples: 10, Views: []mvclust.ViewInfo{info}}, &mvclust.ModelInfo{Samples: math.MaxInt, Edges: -1, Chosen: math.MaxInt}, nil)
	these(p, &mvclust.Trace{Agreement: &agreement.Report{LeftOut: []bool{true, false}}, Alone: &mvclust.Alone{View: 1}}, &mvclust.Trace{}, nil)
	source := (&mvclust.ModelView{Rows: g.views[0]}).Source()
	these(p, &source, &similarity.Source{}, &similarity.Source{Samples: math.MaxInt, Dims: math.MaxInt, Block: math.MaxInt, Read: source.Read, Check: source.Check}, nil)
	add(p, "a linear form", func() *view.Linear { return (&view.Scaler{}).Linear(g.views[0].Dims) })
	these(p, func(int, *view.View) {}, nil)
	these(p, func(int, []float32) {}, nil)
	these(p, &view.Linear{}, nil)
	these(p, &view.Sparse{}, nil)
	these(p, &view.Spread{}, nil)
	these(p, make([][3]float64, samples), nil)
	these(p, &view.LinearRow{}, nil)
	these(p, view.Lengths{}, view.Lengths{Norm: 1}, view.Lengths{Norm: math.NaN()})
	these(p, &neighbour.Parts{}, &neighbour.Parts{Axes: []float32{1}, Centres: []float32{1}, Cells: []int32{7}}, nil)
	these(p, &mvclust.ModelView{Rows: g.views[0]}, &mvclust.ModelView{}, nil)
	these(p, &partition.CountError{Clusters: 1, Fewest: 2}, &partition.CountError{}, nil)
	these(p, mvclust.CutOptions{}, mvclust.CutOptions{Level: -1}, mvclust.CutOptions{Level: math.MaxInt}, mvclust.CutOptions{Clusters: 2}, mvclust.CutOptions{Clusters: math.MinInt},
		mvclust.CutOptions{Clusters: samples}, mvclust.CutOptions{Examples: []mvclust.Example{{Sample: 0, Label: "x"}, {Sample: 5, Label: "y"}}, Threads: math.MaxInt})
	these(p, []mvclust.Example{{Sample: 0, Label: "x"}, {Sample: 1, Label: "y"}}, nil, []mvclust.Example{{}}, []mvclust.Example{{Sample: -1, Label: "x"}, {Sample: math.MaxInt, Label: "y"}, {Sample: 0, Label: "x"}, {Sample: 0, Label: "y"}})
	these(p, []selection.Example{{Sample: 0}, {Sample: 1, Class: 1}}, nil, []selection.Example{{Sample: -1}}, []selection.Example{{Sample: math.MaxInt, Class: math.MinInt}})
	model(func(m *mvclust.Model) { m.Examples = []mvclust.Example{{Sample: -1}} })
	model(func(m *mvclust.Model) { m.Level = math.MaxInt })
	model(func(m *mvclust.Model) { m.Levels = make([]mvclust.Level, 3) })
	model(func(m *mvclust.Model) { *m = mvclust.Model{} })
	model(func(m *mvclust.Model) { m.Views = nil })
	model(func(m *mvclust.Model) { m.Views = make([]mvclust.ModelView, 2) })
	model(func(m *mvclust.Model) { m.Views = m.Views[:1] })
	model(func(m *mvclust.Model) { m.Views[1].Scaler = &view.Scaler{Scale: view.Mixed} })
	model(func(m *mvclust.Model) { m.Views[1].Metric = 99 })
	model(func(m *mvclust.Model) { m.Views[0].LocalScales = nil })
	model(func(m *mvclust.Model) { m.Views[0].LeftOut = true; m.Views[1].LeftOut = true })
	for _, v := range p[reflect.TypeFor[*view.View]()][1:] {
		model(func(m *mvclust.Model) { m.Views[1].Rows, _ = v.make().(*view.View) })
	}
	model(func(m *mvclust.Model) { m.IDs = []string{"a"} })
	model(func(m *mvclust.Model) { m.Retired = math.MaxInt })
	model(func(m *mvclust.Model) { m.Retired = -1 })
	model(func(m *mvclust.Model) { m.Retired = samples })
	model(func(m *mvclust.Model) { m.Constraints = constraint.Set{MustLink: [][2]int{{0, samples}}} })
	model(func(m *mvclust.Model) { m.Settings = mvclust.ModelSettings{} })
	model(func(m *mvclust.Model) { m.Settings.Neighbours = 1 << 20 })
	model(func(m *mvclust.Model) { m.Settings.Candidates = math.MaxInt })
	model(func(m *mvclust.Model) { m.Settings.Candidates = 1 })
	model(func(m *mvclust.Model) { m.Settings.Resolution = math.NaN() })
	model(func(m *mvclust.Model) { m.Settings.Resolution = 0 })
	model(func(m *mvclust.Model) { m.Settings.Chosen = math.MinInt })
	model(func(m *mvclust.Model) { m.Settings.Chosen = 1 })
	model(func(m *mvclust.Model) { m.Settings.Posterior.Fusion = 99 })
	model(func(m *mvclust.Model) { m.Settings.Posterior.Fusion = posterior.Asymmetric; m.Functions.BaseRate = nil })
	model(func(m *mvclust.Model) { m.Settings.Refinement.WithoutCoNeighbours = true })
	model(func(m *mvclust.Model) { m.Settings.Refinement.Rounds = 3; m.Settings.Refinement.WithoutPaths = false })
	model(func(m *mvclust.Model) { m.Neighbourhoods = m.Neighbourhoods.First(1) })
	good := mvclust.NewModel(g.views, g.result, nil)
	predictor, err := predict.New(ctx, good, 0)
	must(t, err)
	these(p, predictor)
	explainer, err := explain.New(ctx, good, 0)
	must(t, err)
	these(p, explainer)
	add(p, "questions", func() *explain.Questions { return explainer.Questions() })
	page, err := report.New(ctx, g.result, report.Options{Views: g.views})
	must(t, err)
	add(p, "a report", func() *report.Report { return page })
	add(p, "no report", func() *report.Report { return &report.Report{} })
	add(p, "a file", func() *mvclust.ModelWriter {
		w := mvclust.NewModelWriter(failing{})
		return w
	})
	nothing := func(context.Context, []int, func(int, []byte, error)) error { return nil }
	these(p, report.Options{}, report.Options{Views: []*view.View{nil, nil}}, report.Options{Views: []*view.View{{}}}, report.Options{Views: g.views, Threads: math.MaxInt}, report.Options{IDs: []string{"x"}}, report.Options{Truth: []int{1}},
		report.Options{Truth: make([]int, samples)}, report.Options{Truth: make([]int, samples), Classes: []string{"a", "b"}}, report.Options{Truth: slices.Repeat([]int{-1}, samples)}, report.Options{Threads: -1}, report.Options{Pictures: nothing},
		report.Options{Pictures: func(_ context.Context, s []int, take func(int, []byte, error)) error {
			take(-1, nil, nil)
			take(math.MaxInt, []byte{1}, nil)
			for _, i := range s {
				take(i, []byte("GIF89a"), nil)
				take(i, nil, nil)
			}
			return nil
		}})
}
