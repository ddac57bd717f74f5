package probability

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/option"
)

// The rising functions in [0, 1] are the mixtures of the steps 0 ... 0 1 ... 1. So f
// is the one nearest to x if and only if no step s makes an acute angle: with
// (x-f)·(s-f) <= 0 for all of them.
func TestProject(t *testing.T) {
	rnd := random(2)
	draws := []func() float64{
		func() float64 { return rnd.Float64()*3 - 1 },
		rnd.NormFloat64,
		func() float64 { return float64(rnd.IntN(5)-1) / 4 },
		// Means that differ by rounding alone.
		func() float64 { return float64(rnd.IntN(10))/10 + 1e-16*float64(rnd.IntN(5)) },
		func() float64 { return 1e3 * rnd.NormFloat64() },
	}
	for round := range 5000 {
		x := make([]float64, 1+rnd.IntN(20))
		for i := range x {
			x[i] = draws[round%len(draws)]()
		}
		f := slices.Clone(x)
		project(f, nil)
		if !slices.IsSorted(f) || f[0] < 0 || f[len(f)-1] > 1 {
			t.Fatalf("%v projects to %v, which falls or leaves [0, 1]", x, f)
		}
		for first := range len(f) + 1 {
			angle, size := 0.0, 0.0
			for i := range f {
				step := 0.0
				if i >= first {
					step = 1
				}
				angle += (x[i] - f[i]) * (step - f[i])
				size += math.Abs(x[i]) + 1
			}
			if angle > 1e-14*size {
				t.Fatalf("%v projects to %v, but the step at %d is in the direction of something nearer", x, f, first)
			}
		}
		again := slices.Clone(f)
		project(again, nil)
		if !slices.Equal(again, f) {
			t.Fatalf("%v projects to %v", f, again)
		}
	}
}

func TestProjectKnown(t *testing.T) {
	for _, c := range []struct{ x, want []float64 }{
		{nil, nil},
		{[]float64{0.25, 0.5, 1}, []float64{0.25, 0.5, 1}},
		{[]float64{0.75, 0.25}, []float64{0.5, 0.5}},
		{[]float64{-1, 2}, []float64{0, 1}},
		{[]float64{3, 0, 0}, []float64{1, 1, 1}},
		{[]float64{0, 1, 0, 0.5, 2}, []float64{0, 0.5, 0.5, 0.5, 1}},
	} {
		got := slices.Clone(c.x)
		project(got, nil)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v projects to %v, not %v", c.x, got, c.want)
		}
	}
}

// A point of weight n is n equal points.
func TestProjectWeighted(t *testing.T) {
	rnd := random(3)
	for range 2000 {
		x := make([]float64, 1+rnd.IntN(12))
		weight := make([]float64, len(x))
		var each []float64
		for i := range x {
			x[i], weight[i] = 3*rnd.Float64()-1, float64(1+rnd.IntN(9))
			each = append(each, slices.Repeat(x[i:i+1], int(weight[i]))...)
		}
		got := slices.Clone(x)
		project(got, weight)
		project(each, nil)
		for i, at := 0, 0; i < len(got); i++ {
			if !near(got[i], each[at], 1e-14) || i > 0 && got[i] < got[i-1] {
				t.Fatalf("%v with weights %v projects to %v, and to %v as points", x, weight, got, each)
			}
			at += int(weight[i])
		}
	}
}

// checkModel holds a model to what its documentation promises.
func checkModel(t *testing.T, model *Functions, w [][]float32) {
	t.Helper()
	if err := model.Validate(len(w)); err != nil {
		t.Error(err)
	}
	if len(model.ByView) != len(w) || len(model.Cross) != len(w) || len(model.BaseRate) != len(w) {
		t.Fatalf("%d functions, %d rows of cross functions, %d base rates for %d views", len(model.ByView), len(model.Cross), len(model.BaseRate), len(w))
	}
	points := func(name string, f *Function) {
		if len(f.X) == 0 || len(f.X) != len(f.P) {
			t.Fatalf("%s has %d similarities, %d probabilities", name, len(f.X), len(f.P))
		}
		for i := 1; i < len(f.X); i++ {
			if !(f.X[i-1] < f.X[i]) {
				t.Errorf("%s: similarity %v after %v", name, f.X[i], f.X[i-1])
			}
		}
		if low, high := slices.Min(f.P), slices.Max(f.P); !(low >= 0 && high <= 1) {
			t.Errorf("%s: probabilities from %v to %v", name, low, high)
		}
	}
	for m := range w {
		f := &model.ByView[m]
		if common(w[m], w[m]) == 0 && len(f.X) == 0 {
			continue
		}
		points(fmt.Sprintf("function %d", m), f)
		if !slices.IsSorted(f.P) || slices.Max(f.P) > 1 {
			t.Errorf("function %d falls, or passes 1: %v", m, f.P)
		}
		if base := model.BaseRate[m]; !(base >= slices.Min(f.P)-1e-12 && base <= slices.Max(f.P)+1e-12) {
			t.Errorf("base rate %v of function %d", base, m)
		}
		for b := range w {
			if common(w[m], w[b]) == 0 || m == b {
				if model.Cross[m][b] != nil {
					t.Errorf("views %d and %d have a cross function", m, b)
				}
				continue
			}
			points(fmt.Sprintf("cross function %d-%d", m, b), model.Cross[m][b])
		}
	}
	for _, l := range model.Curve {
		if want := model.Settings.Lambda*(l.Single+l.Cross) + l.Constraint; !near(l.Total, want, 1e-12*want) {
			t.Errorf("losses %+v do not add up", l)
		}
	}
}

// common counts the pairs that have both views.
func common(a, b []float32) int {
	n := 0
	for t := range a {
		if a[t] == a[t] && b[t] == b[t] {
			n++
		}
	}
	return n
}

func TestLearnKeepsFunctionsRising(t *testing.T) {
	settings := map[string]Settings{
		"defaults":       {},
		"direct":         {Loss: Direct},
		"untrained":      {Untrained: true},
		"no constraint":  {WithoutConstraint: true},
		"nothing":        {WithoutConstraint: true, WithoutCross: true, WithoutSingle: true},
		"no single":      {WithoutSingle: true},
		"no cross":       {WithoutCross: true},
		"no ends":        {Low: -1, High: -1},
		"all ends":       {Low: 100_000, High: 100_000, Rate: 0.1},
		"plain descent":  {Momentum: -1, Decay: -1, Rate: 0.1},
		"full momentum":  {Momentum: 1, Rate: 0.1},
		"leaps":          {Rate: 1e3},
		"direct leaps":   {Rate: 1e3, Loss: Direct},
		"heavy decay":    {Decay: 1, Rate: 1},
		"heavy lambda":   {Lambda: 1e9},
		"one segment":    {Segments: 1},
		"two segments":   {Segments: 2, Rate: 0.1},
		"many segments":  {Segments: 100_000, Rate: 0.1},
		"few of the set": {Pairs: 70, Rate: 0.1},
	}
	for views := 1; views <= 4; views++ {
		for _, a := range absences {
			w := gaussian(400, views, 0, 6)
			a.take(w)
			for name, set := range settings {
				t.Run(fmt.Sprintf("%d views/%s/%s", views, a.name, name), func(t *testing.T) {
					set.Epochs = 25
					model := learn(t, w, set)
					checkModel(t, model, Thin(w, model.Settings.Pairs))
				})
			}
		}
	}
}

func TestLearnLowersTheLoss(t *testing.T) {
	for views := 2; views <= 4; views++ {
		for _, missing := range []float64{0, 0.3} {
			for name, set := range map[string]Settings{
				"mixed": {}, "direct": {Loss: Direct},
				"mixed, consistency alone":  {WithoutConstraint: true, Rate: 0.1},
				"direct, consistency alone": {WithoutConstraint: true, Rate: 0.1, Loss: Direct},
			} {
				curve := learn(t, gaussian(3000, views, missing, 12), set).Curve
				first, last := curve[0].Total, curve[len(curve)-1].Total
				if !(last < 0.95*first) {
					t.Errorf("%d views, %v missing, %s: the loss went from %v to %v", views, missing, name, first, last)
				}
			}
		}
	}
}

// In the Gaussian model the truth is known, and learning must come nearer to it
// than the line that it starts from.
func TestLearnApproachesTheTruth(t *testing.T) {
	truth := func(x float64) float64 {
		density := func(centre float64) float64 { return math.Exp(-(x - centre) * (x - centre) / (2 * 0.12 * 0.12)) }
		return 0.3 * density(0.6) / (0.3*density(0.6) + 0.7*density(0.3))
	}
	for views := 2; views <= 4; views++ {
		w := gaussian(2000, views, 0.2, 12)
		distance := func(f *Function) float64 {
			sum := 0.0
			for i, x := range f.X {
				sum += math.Pow(f.P[i]-truth(x), 2)
			}
			return math.Sqrt(sum / float64(len(f.X)))
		}
		before := learn(t, w, Settings{Untrained: true})
		for name, set := range map[string]Settings{
			"mixed":  {Rate: 0.01, Epochs: 300},
			"direct": {Rate: 0.01, Epochs: 300, Loss: Direct},
		} {
			after := learn(t, w, set)
			for m := range w {
				b, a := distance(&before.ByView[m]), distance(&after.ByView[m])
				if a > 0.6*b {
					t.Errorf("%d views, %s: function %d is %.3f from the truth, and was %.3f", views, name, m, a, b)
				}
				if rate := after.BaseRate[m]; math.Abs(rate-0.3) > 0.6*math.Abs(before.BaseRate[m]-0.3) {
					t.Errorf("%d views, %s: base rate %.3f of function %d, not 0.3", views, name, rate, m)
				}
			}
		}
	}
}

// Steps that are too long overshoot: the functions of the least loss are kept.
func TestLearnKeepsTheBest(t *testing.T) {
	w := gaussian(300, 3, 0.2, 13)
	set := resolved(t, Settings{Segments: 10, Low: 2, High: 2, Epochs: 30, Rate: 0.02})
	model := learn(t, w, set)
	last := len(model.Curve) - 1
	if model.Curve[last].Total <= model.Curve[model.Kept].Total {
		t.Fatalf("the loss never rose: %v", model.Curve)
	}
	for i, loss := range model.Curve {
		if loss.Total < model.Curve[model.Kept].Total {
			t.Errorf("epoch %d has a loss of %v, and %v was kept", i, loss.Total, model.Curve[model.Kept].Total)
		}
	}
	var f [][]float64
	for _, function := range model.ByView {
		f = append(f, function.P)
	}
	loss, err := objectiveOf(t, w, set, 1).eval(t.Context(), f, nil)
	if err != nil || loss != model.Curve[model.Kept] {
		t.Errorf("the functions have the loss %v, not %v (%v)", loss, model.Curve[model.Kept], err)
	}
}

// Two steps by hand, as PyTorch's SGD has them.
func TestLearnSteps(t *testing.T) {
	w := gaussian(300, 3, 0.2, 13)
	set := resolved(t, Settings{Segments: 10, Low: 2, High: 2, Epochs: 2, Rate: 0.0005, Momentum: 0.7, Decay: 0.3})
	o := objectiveOf(t, w, set, 1)
	f, before := o.start(), o.start()
	losses, velocity := []Losses{}, o.zeros()
	for range 2 {
		gradient := o.zeros()
		loss, err := o.eval(t.Context(), f, gradient)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss)
		for m := range f {
			for i := range f[m] {
				velocity[m][i] = 0.7*velocity[m][i] + gradient[m][i] + 0.3*f[m][i]
				f[m][i] -= 0.0005 * velocity[m][i]
			}
			project(f[m], nil)
		}
	}
	model := learn(t, w, set)
	for m, got := range model.ByView {
		if reflect.DeepEqual(f[m], before[m]) {
			t.Errorf("view %d did not move", m)
		}
		for i, p := range got.P {
			if !near(p, f[m][i], 1e-13) {
				t.Errorf("view %d, segment %d: %v, not %v", m, i, p, f[m][i])
			}
		}
	}
	if c := model.Curve; len(c) != 3 || !near(c[0].Total, losses[0].Total, 1e-12) || !near(c[1].Total, losses[1].Total, 1e-12) {
		t.Errorf("curve %v, not %v and the last loss", c, losses)
	}
}

func sameFunction(f, g *Function, tolerance float64) bool {
	if f == nil || g == nil {
		return f == g
	}
	return slices.Equal(f.X, g.X) && slices.EqualFunc(f.P, g.P, func(x, y float64) bool { return near(x, y, tolerance) })
}

// With two views every sum is of the same terms in the same order whichever view
// comes first. With more, the order of views decides the order in which the
// log-odds of a pair, its derivatives by Fmulti, the mean in Fmix and the
// derivatives by Fcross are added up.
func TestLearnPermutedViews(t *testing.T) {
	for _, order := range [][]int{{1, 0}, {2, 0, 1}, {2, 1, 0}, {3, 0, 2, 1}} {
		for _, loss := range []Loss{Mixed, Direct} {
			w := gaussian(3000, len(order), 0.2, 14)
			set := Settings{Loss: loss}
			permuted := make([][]float32, len(w))
			for m, from := range order {
				permuted[m] = w[from]
			}
			tolerance := 1e-12
			if len(order) == 2 {
				tolerance = 0
			}
			a, b := learn(t, w, set), learn(t, permuted, set)
			for m, from := range order {
				if !sameFunction(&a.ByView[from], &b.ByView[m], tolerance) || !near(a.BaseRate[from], b.BaseRate[m], tolerance) {
					t.Errorf("order %v, loss %d: the function of view %d depends on its place", order, loss, from)
				}
				for k, other := range order {
					if !sameFunction(a.Cross[from][other], b.Cross[m][k], tolerance) {
						t.Errorf("order %v, loss %d: the cross function %d-%d depends on their places", order, loss, from, other)
					}
				}
			}
		}
	}
}

func TestLearnPermutedPairs(t *testing.T) {
	w := gaussian(3000, 3, 0.2, 15)
	order := random(1).Perm(3000)
	permuted := make([][]float32, len(w))
	for m := range w {
		for _, from := range order {
			permuted[m] = append(permuted[m], w[m][from])
		}
	}
	a, b := learn(t, w, Settings{}), learn(t, permuted, Settings{})
	for m := range w {
		if !sameFunction(&a.ByView[m], &b.ByView[m], 1e-9) {
			t.Errorf("the function of view %d depends on the order of the pairs", m)
		}
	}
}

func TestLearnThreads(t *testing.T) {
	for _, pairs := range []int{3, 17, 5001} {
		w := gaussian(pairs, 3, 0, 16)
		w[1][0] = nan32
		var first *Functions
		for _, threads := range []int{1, 2, 8, 0} {
			model, err := Learn(t.Context(), w, Settings{}, threads, nil)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = model
			}
			if !reflect.DeepEqual(model, first) {
				t.Errorf("%d pairs: the model depends on the number of threads: %d", pairs, threads)
			}
		}
	}
}

func TestLearnLeavesItsInput(t *testing.T) {
	w, same := gaussian(500, 2, 0.1, 17), gaussian(500, 2, 0.1, 17)
	learn(t, w, Settings{})
	for m := range w {
		for i, x := range w[m] {
			if math.Float32bits(x) != math.Float32bits(same[m][i]) {
				t.Fatalf("similarity %d of view %d was changed", i, m)
			}
		}
	}
}

func TestLearnCancelled(t *testing.T) {
	w := gaussian(500, 2, 0, 18)
	for _, set := range []Settings{{}, {Untrained: true}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if model, err := Learn(ctx, w, set, 2, nil); !errors.Is(err, context.Canceled) || model != nil {
			t.Errorf("%v, %v of a cancelled run", model, err)
		}
	}
	for _, stop := range []int{1, 3, 7} {
		ctx, cancel := context.WithCancel(t.Context())
		last := 0
		model, err := Learn(ctx, w, Settings{Epochs: 7}, 2, func(epoch int) {
			if last = epoch; epoch == stop {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || model != nil || last != stop {
			t.Errorf("%v, %v of a run cancelled at epoch %d; it reached %d", model, err, stop, last)
		}
		cancel()
	}
}

func TestLearnProgress(t *testing.T) {
	for _, c := range []struct {
		set    Settings
		epochs int
	}{{Settings{}, DefaultEpochs}, {Settings{Epochs: 3}, 3}, {Settings{Untrained: true}, 0}} {
		var epochs []int
		model, err := Learn(t.Context(), gaussian(200, 2, 0, 19), c.set, 1, func(epoch int) { epochs = append(epochs, epoch) })
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		for e := range c.epochs {
			want = append(want, e+1)
		}
		if !slices.Equal(epochs, want) || len(model.Curve) != c.epochs+1 {
			t.Errorf("%+v: progress %v, %d losses", c.set, epochs, len(model.Curve))
		}
	}
}

func TestUntrained(t *testing.T) {
	w := gaussian(1000, 2, 0, 20)
	model := learn(t, w, Settings{Untrained: true, Segments: 10})
	for m, f := range model.ByView {
		for i, p := range f.P {
			if !near(p, float64(i)/9, 1e-15) {
				t.Errorf("view %d: %v at segment %d of the line", m, p, i)
			}
		}
		if !near(model.BaseRate[m], 0.5, 1e-15) {
			t.Errorf("base rate %v of the line", model.BaseRate[m])
		}
	}
}

// The settings of a model are those that were used.
func TestLearnSettings(t *testing.T) {
	model := learn(t, gaussian(1000, 2, 0, 21), Settings{Rate: 0.5})
	want := resolved(t, Settings{Rate: 0.5})
	want.Segments = 100
	if model.Settings != want {
		t.Errorf("%+v, not %+v", model.Settings, want)
	}
}

func TestEvery(t *testing.T) {
	for pairs := range 60 {
		for limit := 1; limit < 70; limit++ {
			w := [][]float32{make([]float32, pairs), make([]float32, pairs)}
			for i := range pairs {
				w[0][i], w[1][i] = float32(i), float32(-i)
			}
			got := Thin(w, limit)
			n := len(got[0])
			if n != min(pairs, limit) || len(got) != 2 || len(got[1]) != n {
				t.Fatalf("%d of %d pairs, %d asked for", n, pairs, limit)
			}
			for k := range n {
				// The k-th of n lies where k equal steps of pairs/n lead, rounded down.
				if at := got[0][k]; got[1][k] != -at || int(at) != k*pairs/n {
					t.Fatalf("%d of %d pairs are not evenly spaced: %v", n, pairs, got[0])
				}
			}
		}
	}
}

// A view may have no pair among those that are trained on, or there may be none.
func TestLearnWithoutPairs(t *testing.T) {
	for name, c := range map[string]struct {
		w     [][]float32
		limit int
		empty []bool
	}{
		"none at all":     {[][]float32{{}, {}}, 0, []bool{true, true}},
		"a view without":  {[][]float32{{nan32, nan32, nan32}, {0.1, 0.2, 0.3}}, 0, []bool{true, false}},
		"only NaN":        {[][]float32{{nan32}}, 0, []bool{true}},
		"lost by the cut": {[][]float32{{0.1, 0.2, 0.3, 0.4}, {nan32, 0.5, nan32, 0.5}}, 2, []bool{false, true}},
	} {
		model := learn(t, c.w, Settings{Pairs: c.limit})
		for m, f := range model.ByView {
			if got := len(f.X) == 0 && len(f.P) == 0; got != c.empty[m] {
				t.Errorf("%s: function %d is %v", name, m, f)
			}
			if p := f.At(0.2); c.empty[m] != (p != p) {
				t.Errorf("%s: function %d is %v at 0.2", name, m, p)
			}
			if c.empty[m] && model.BaseRate[m] != 0.5 {
				t.Errorf("%s: base rate %v", name, model.BaseRate[m])
			}
			for b, f := range model.Cross[m] {
				if f != nil {
					t.Errorf("%s: cross function %d-%d is %v", name, m, b, f)
				}
			}
		}
		for _, l := range model.Curve {
			if l.Total != l.Total {
				t.Errorf("%s: loss %+v", name, l)
			}
		}
	}
}

func TestLearnErrors(t *testing.T) {
	for _, c := range []struct {
		w    [][]float32
		set  Settings
		want string
	}{
		{nil, Settings{}, "at least one view"},
		{[][]float32{{1, 2}, {1}}, Settings{}, "view 1 has 1 similarities where view 0 has 2"},
		{[][]float32{{1}, {}}, Settings{}, "view 1 has 0 similarities where view 0 has 1"},
		{[][]float32{{1}}, Settings{Rate: -1}, "Rate"},
	} {
		if model, err := Learn(t.Context(), c.w, c.set, 1, nil); err == nil || !strings.Contains(err.Error(), c.want) || model != nil {
			t.Errorf("%v, %+v: %v, %v", c.w, c.set, model, err)
		}
	}
}

func TestResolve(t *testing.T) {
	var set Settings
	if err := set.Resolve(); err != nil || set != (Settings{
		Pairs: 250_000, Lambda: 20, Low: 10, High: 4, Epochs: 50, Rate: 0.001, Momentum: 0.9, Decay: 0.00005,
	}) {
		t.Errorf("%+v, %v of the zero value", set, err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		set   Settings
		field string // empty where the settings are fine
	}{
		{Settings{Segments: 100_000, Pairs: math.MaxInt32, Lambda: 1e9, Low: 100_000, High: 100_000, Epochs: 10_000_000, Rate: 1e3, Momentum: 1, Decay: 1, Loss: Direct}, ""},
		{Settings{Segments: 1, Pairs: 1, Lambda: 1e-300, Low: -1, High: -1, Epochs: 1, Rate: 1e-300, Momentum: -1, Decay: -1}, ""},
		{Settings{Segments: -1}, "Segments"},
		{Settings{Segments: 100_001}, "Segments"},
		{Settings{Pairs: -1}, "Pairs"},
		{Settings{Lambda: -1}, "Lambda"},
		{Settings{Lambda: nan}, "Lambda"},
		{Settings{Lambda: 2e9}, "Lambda"},
		{Settings{Low: -2}, "Low"},
		{Settings{Low: 100_001}, "Low"},
		{Settings{High: -2}, "High"},
		{Settings{High: 100_001}, "High"},
		{Settings{Epochs: -1}, "Epochs"},
		{Settings{Epochs: 10_000_001}, "Epochs"},
		{Settings{Rate: -0.1}, "Rate"},
		{Settings{Rate: inf}, "Rate"},
		{Settings{Rate: nan}, "Rate"},
		{Settings{Momentum: 1.1}, "Momentum"},
		{Settings{Momentum: -1.1}, "Momentum"},
		{Settings{Decay: nan}, "Decay"},
		{Settings{Decay: 2}, "Decay"},
		{Settings{Loss: 2}, "Loss"},
		{Settings{Loss: -1}, "Loss"},
	} {
		set, err := c.set, (*option.Error)(nil)
		switch got := set.Resolve(); {
		case c.field == "" && (got != nil || set != c.set):
			t.Errorf("%+v became %+v, %v", c.set, set, got)
		case c.field != "" && (!errors.As(got, &err) || err.Field != c.field):
			t.Errorf("%+v: %v, not an error about %s", c.set, got, c.field)
		}
		if again := set; c.field == "" && (again.Resolve() != nil || again != set) {
			t.Errorf("%+v resolves to %+v", set, again)
		}
	}
}

func TestLossNames(t *testing.T) {
	for loss, name := range map[Loss]string{Mixed: "mixed", Direct: "direct"} {
		var back Loss
		text, err := loss.MarshalText()
		if loss.String() != name || err != nil || string(text) != name || back.UnmarshalText(text) != nil || back != loss {
			t.Errorf("%s is %v, written as %s, %v, and read as %v", name, loss, text, err, back)
		}
	}
	var loss Loss
	if err := loss.UnmarshalText([]byte("Mixed")); err == nil || err.Error() != `unknown loss "Mixed"; choose mixed or direct` {
		t.Error(err)
	}
}
