package posterior

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/probability"
)

var (
	nan   = math.NaN()
	nan32 = float32(math.NaN())
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func estimator(t testing.TB, model *probability.Functions, set Settings) *Estimator {
	t.Helper()
	e, err := New(model, set)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// fuse fuses p by way of views with the given base rates, or even ones.
func fuse(t testing.TB, fusion Fusion, p []float64, base ...float64) float64 {
	t.Helper()
	if base == nil {
		base = slices.Repeat([]float64{0.5}, len(p))
	}
	return estimator(t, &probability.Functions{BaseRate: base}, Settings{Fusion: fusion}).Fuse(p)
}

// line returns the function from p at 0 to q at 1.
func line(p, q float64) *probability.Function {
	return &probability.Function{X: []float64{0, 1}, P: []float64{p, q}}
}

// identity returns a model in which every view's probability is its similarity,
// and no view tells of another.
func identity(views int) *probability.Functions {
	model := &probability.Functions{}
	for range views {
		model.ByView = append(model.ByView, *line(0, 1))
		model.BaseRate = append(model.BaseRate, 0.5)
		model.Cross = append(model.Cross, make([]*probability.Function, views))
	}
	return model
}

// views returns what e says of a pair with similarities w.
func views(e *Estimator, w []float32) []float64 {
	p := make([]float64, len(w))
	e.Views(p, func(m int) float32 { return w[m] })
	return p
}

// draw returns probabilities of several views, at times nearly sure ones.
func draw(rnd *rand.Rand) []float64 {
	p := make([]float64, 1+rnd.IntN(6))
	for m := range p {
		p[m] = 0.02 + 0.96*rnd.Float64()
		if rnd.IntN(3) == 0 {
			p[m] = [...]float64{0.02, 0.5, 0.98}[rnd.IntN(3)]
		}
	}
	return p
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance || a != a && b != b
}

// direct is Eq. p_bayesian_new with its products.
func direct(p []float64) float64 {
	yes, no := 1.0, 1.0
	for _, x := range p {
		yes *= x
		no *= 1 - x
	}
	return yes / (yes + no)
}

func TestSymmetricEquation(t *testing.T) {
	rnd := random(1)
	for range 3000 {
		p := draw(rnd)
		got := fuse(t, Symmetric, p)
		if want := direct(p); !near(got, want, 1e-14) {
			t.Fatalf("%v fuses to %v, not %v", p, got, want)
		}
		complement := make([]float64, len(p))
		for m := range p {
			complement[m] = 1 - p[m]
		}
		if other := fuse(t, Symmetric, complement); !near(got+other, 1, 2e-15) {
			t.Fatalf("%v fuses to %v, its complement to %v", p, got, other)
		}
	}
}

func TestFuseKnown(t *testing.T) {
	for _, c := range []struct {
		fusion Fusion
		p      []float64
		want   float64
	}{
		{Symmetric, []float64{0.8, 0.8}, 16.0 / 17},
		{Symmetric, []float64{0.8, 0.2}, 0.5},
		{Symmetric, []float64{0.8, 0.5}, 0.8},
		{Max, []float64{0.2, 0.8, 0.5}, 0.8},
		{Mean, []float64{0.2, 0.8, 0.5}, 0.5},
		{Min, []float64{0.5, 0.2, 0.8}, 0.2},
		{Multiply, []float64{0.2, 0.8, 0.5}, 0.08},
		{Max, []float64{nan, 0.2, 0.6}, 0.6},
		{Mean, []float64{0.2, nan, 0.6}, 0.4},
		{Min, []float64{0.2, 0.6, nan}, 0.2},
		{Multiply, []float64{nan, 0.2, nan, 0.6}, 0.12},
	} {
		if got := fuse(t, c.fusion, c.p); !near(got, c.want, 1e-15) {
			t.Errorf("%v of %v is %v, not %v", c.fusion, c.p, got, c.want)
		}
	}
}

func everyFusion() (all []Fusion) {
	for f := range fusions.Names {
		all = append(all, Fusion(f))
	}
	return all
}

func TestFuseAnyFusion(t *testing.T) {
	rnd := random(2)
	for _, fusion := range everyFusion() {
		for range 500 {
			p := draw(rnd)
			got := fuse(t, fusion, p)
			if !(got > 0 && got < 1) {
				t.Fatalf("%v of %v is %v", fusion, p, got)
			}
			shuffled := slices.Clone(p)
			rnd.Shuffle(len(p), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if other := fuse(t, fusion, shuffled); !near(got, other, 1e-15) {
				t.Fatalf("%v of %v is %v, of %v it is %v", fusion, p, got, shuffled, other)
			}
			with, base := slices.Clone(p), []float64{}
			for m := range len(p) + 3 {
				if m >= len(p) {
					at := rnd.IntN(len(with) + 1)
					with = slices.Insert(with, at, nan)
				}
				base = append(base, 0.5)
			}
			if other := fuse(t, fusion, with, base...); other != got {
				t.Fatalf("%v of %v is %v, of %v it is %v", fusion, p, got, with, other)
			}
			if one := fuse(t, fusion, p[:1]); !near(one, p[0], 2e-16) {
				t.Fatalf("%v of %v alone is %v", fusion, p[0], one)
			}
		}
		for missing := range 4 {
			if got := fuse(t, fusion, slices.Repeat([]float64{nan}, missing)); got != 0 {
				t.Errorf("%v of %d missing views is %v", fusion, missing, got)
			}
		}
	}
}

// bayes is Eq. p_bayesian, where P(w|e) is P(e|w) P(w) / P(e), Eq. p_ve, and P(w)
// cancels.
func bayes(p, base []float64) float64 {
	yes, no := p[0], 1-p[0]
	for m := 1; m < len(p); m++ {
		yes *= p[m] / base[m]
		no *= (1 - p[m]) / (1 - base[m])
	}
	return yes / (yes + no)
}

func TestAsymmetric(t *testing.T) {
	rnd := random(3)
	differ := 0
	for range 3000 {
		p := draw(rnd)
		base := make([]float64, len(p))
		for m := range base {
			base[m] = 0.1 + 0.8*rnd.Float64()
		}
		got := fuse(t, Asymmetric, p, base...)
		if want := bayes(p, base); !near(got, want, 1e-13) {
			t.Fatalf("%v with base rates %v fuses to %v, not %v", p, base, got, want)
		}
		// The base rate of the first view does not count, and so the order does.
		slices.Reverse(p)
		slices.Reverse(base)
		if other := fuse(t, Asymmetric, p, base...); !near(got, other, 1e-3) {
			differ++
		}
		// Even base rates give the symmetric form, and any common one Eq.
		// p_bayesian_tmp, which is symmetric too.
		if even, want := fuse(t, Asymmetric, p), fuse(t, Symmetric, p); even != want {
			t.Fatalf("%v with even base rates fuses to %v, not %v", p, even, want)
		}
		common := slices.Repeat(base[:1], len(p))
		power := float64(len(p) - 1)
		yes, no := math.Pow(1-base[0], power), math.Pow(base[0], power)
		for _, x := range p {
			yes *= x
			no *= 1 - x
		}
		if got, want := fuse(t, Asymmetric, p, common...), yes/(yes+no); !near(got, want, 1e-13) {
			t.Fatalf("%v with base rate %v fuses to %v, not %v", p, base[0], got, want)
		}
	}
	if differ < 1000 {
		t.Errorf("the order of the views matters in %d of 3000 cases only", differ)
	}
	// The first view that is there gives the prior, and base rates are clipped.
	if got, want := fuse(t, Asymmetric, []float64{nan, 0.7, 0.6}, 0.1, 0.2, 0.3), bayes([]float64{0.7, 0.6}, []float64{0.2, 0.3}); !near(got, want, 1e-15) {
		t.Errorf("without the first view %v, not %v", got, want)
	}
	for base, clipped := range map[float64]float64{0: DefaultClip, 1: 1 - DefaultClip} {
		if got, want := fuse(t, Asymmetric, []float64{0.7, 0.6}, 0.5, base), bayes([]float64{0.7, 0.6}, []float64{0.5, clipped}); !near(got, want, 1e-15) {
			t.Errorf("with base rate %v %v, not %v", base, got, want)
		}
	}
}

// logarithms is the posterior by way of log-odds, which no number of views carries out
// of range. base is nil for the symmetric one.
func logarithms(p, base []float64, clip float64) float64 {
	odds, n := 0.0, 0
	for m, x := range p {
		if x != x {
			continue
		}
		odds += math.Log(x) - math.Log1p(-x)
		if base != nil && n > 0 {
			b := min(max(base[m], clip), 1-clip)
			odds += math.Log1p(-b) - math.Log(b)
		}
		n++
	}
	return 1 / (1 + math.Exp(-odds))
}

// TestManyViews multiplies the probabilities of up to 60 views, most of them as sure as
// the clip lets them be, for the pair, against it, and first one and then the other.
func TestManyViews(t *testing.T) {
	rnd := random(6)
	for _, clip := range []float64{0.02, 0.3, 0.49, 1e-4, 1e-12} {
		bounds := []float64{clip, 1 - clip}
		ways := map[string]func(m, n int) float64{
			"against":      func(_, _ int) float64 { return clip },
			"for":          func(_, _ int) float64 { return 1 - clip },
			"in turns":     func(m, _ int) float64 { return bounds[m%2] },
			"against, for": func(m, n int) float64 { return bounds[2*m/n] },
			"for, against": func(m, n int) float64 { return bounds[1-2*m/n] },
			"either":       func(_, _ int) float64 { return bounds[rnd.IntN(2)] },
			"any":          func(_, _ int) float64 { return clip + (1-2*clip)*rnd.Float64() },
			"missing": func(_, _ int) float64 {
				if rnd.IntN(2) == 0 {
					return nan
				}
				return bounds[rnd.IntN(2)]
			},
		}
		for way, view := range ways {
			for n := 1; n <= 60; n++ {
				p, base := make([]float64, n), make([]float64, n)
				there := 0
				for m := range p {
					p[m] = view(m, n)
					base[m] = []float64{0, 1, 0.1, 0.9, rnd.Float64()}[rnd.IntN(5)]
					if p[m] == p[m] {
						there++
					}
				}
				for _, fusion := range []Fusion{Symmetric, Asymmetric} {
					set := Settings{Fusion: fusion, Clip: clip}
					got := estimator(t, &probability.Functions{BaseRate: base}, set).Fuse(p)
					want := logarithms(p, nil, clip)
					if fusion == Asymmetric {
						want = logarithms(p, base, clip)
					}
					if there == 0 {
						want = 0
					}
					if !(got >= 0 && got <= 1) || !near(got, want, 1e-12) || want > 1e-100 && !near(got/want, 1, 1e-11) {
						t.Fatalf("%v of %d views, %s, clip %v: %v, not %v", fusion, n, way, clip, got, want)
					}
				}
			}
		}
	}
}

func TestViews(t *testing.T) {
	model := identity(3)
	model.ByView[1] = *line(0.5, 0.75)
	for _, c := range []struct {
		clip float64
		w    []float32
		want []float64
	}{
		{0, []float32{0.5, 0.5, 0.25}, []float64{0.5, 0.625, 0.25}},
		{0, []float32{-1, -1, 2}, []float64{0.02, 0.5, 0.98}},
		{0, []float32{nan32, 1, nan32}, []float64{nan, 0.75, nan}},
		{0.3, []float32{0, 1, 1}, []float64{0.3, 0.7, 0.7}},
		{1e-12, []float32{0, 1, 1}, []float64{1e-12, 0.75, 1 - 1e-12}},
	} {
		for _, completion := range []bool{false, true} {
			got := views(estimator(t, model, Settings{Clip: c.clip, Completion: completion}), c.w)
			if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return near(a, b, 0) }) {
				t.Errorf("clip %v: %v of %v, not %v", c.clip, got, c.w, c.want)
			}
		}
	}
}

// A view without training pairs has a function without points and drops out.
func TestViewsWithoutFunction(t *testing.T) {
	model := identity(2)
	model.ByView[1] = probability.Function{}
	for _, fusion := range everyFusion() {
		for _, completion := range []bool{false, true} {
			e := estimator(t, model, Settings{Fusion: fusion, Completion: completion})
			for w, want := range map[[2]float32]float64{{0.75, 0.5}: 0.75, {nan32, 0.5}: 0} {
				if got := e.Fuse(views(e, w[:])); !near(got, want, 1e-15) {
					t.Errorf("%v, completion %t: %v of %v, not %v", fusion, completion, got, w, want)
				}
			}
		}
	}
}

// four returns a model of four views, the cross functions from each to each being
// different lines.
func four() *probability.Functions {
	model := identity(4)
	for m := range 4 {
		for b := range 4 {
			if b != m {
				model.Cross[m][b] = line(0.1+0.01*float64(m), 0.6+0.1*float64(b))
			}
		}
	}
	return model
}

// Eqs. f_joint_com1 to f_joint_com3: samples have views 1 and 2, and one of 3 and
// 4, so that no pair has both 3 and 4 and these tell nothing of each other.
func TestCompletionEquations(t *testing.T) {
	model := four()
	model.Cross[2][3], model.Cross[3][2] = nil, nil
	e := estimator(t, model, Settings{Completion: true})
	w := []float32{0.25, 0.5, 0.75, 0.625}
	f := []float64{0.25, 0.5, 0.75, 0.625} // by identity
	fcross := func(m, b int) float64 { return model.Cross[m][b].At(float64(w[m])) }
	fc3 := math.Sqrt(fcross(0, 2) * fcross(1, 2))
	fc4 := math.Sqrt(fcross(0, 3) * fcross(1, 3))
	for _, c := range []struct {
		name    string
		missing []int
		want    float64
	}{
		{"f_joint_com1", []int{3}, direct([]float64{f[0], f[1], f[2], fc4})},
		{"f_joint_com2", []int{2}, direct([]float64{f[0], f[1], fc3, f[3]})},
		{"f_joint_com3", []int{2, 3}, direct([]float64{f[0], f[1], fc3, fc4})},
		{"f_joint", nil, direct(f)},
	} {
		have := slices.Clone(w)
		for _, m := range c.missing {
			have[m] = nan32
		}
		if got := e.Fuse(views(e, have)); !near(got, c.want, 1e-15) {
			t.Errorf("Eq. %s: %v, not %v", c.name, got, c.want)
		}
	}
}

// With any number of views, f_c is the geometric mean over those that are there.
func TestCompletion(t *testing.T) {
	rnd := random(4)
	completed, left := 0, 0
	for range 3000 {
		n := 2 + rnd.IntN(5)
		model := identity(n)
		for m := range n {
			for b := range n {
				if m != b && rnd.IntN(5) > 0 {
					model.Cross[m][b] = line(rnd.Float64(), rnd.Float64()) // a cross function may fall
				}
			}
		}
		w := make([]float32, n)
		for m := range w {
			w[m] = rnd.Float32()
			if rnd.IntN(2) == 0 {
				w[m] = nan32
			}
		}
		e := estimator(t, model, Settings{Completion: true})
		got, plain := views(e, w), views(estimator(t, model, Settings{}), w)
		for m := range w {
			if w[m] == w[m] {
				if got[m] != plain[m] {
					t.Fatalf("completion changes view %d, which is there", m)
				}
				continue
			}
			product, sources := 1.0, 0
			for b := range w {
				if cross := model.Cross[b][m]; w[b] == w[b] && cross != nil {
					product *= min(max(cross.At(float64(w[b])), DefaultClip), 1-DefaultClip)
					sources++
				}
			}
			want := nan
			if sources >= 2 {
				want = math.Pow(product, 1/float64(sources))
				completed++
			} else {
				left++
			}
			if !near(got[m], want, 1e-14) || plain[m] == plain[m] {
				t.Fatalf("view %d is completed from %d views as %v, not %v; without completion it is %v", m, sources, got[m], want, plain[m])
			}
		}
	}
	if completed < 1000 || left < 1000 {
		t.Errorf("%d completed, %d left missing: too few to tell", completed, left)
	}
}

func TestCompletionLeavesMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(m *probability.Functions)
		w    []float32
		want []bool // missing after completion
	}{
		{"one view there", func(*probability.Functions) {}, []float32{nan32, 0.5, nan32, nan32}, []bool{true, false, true, true}},
		{"no view there", func(*probability.Functions) {}, []float32{nan32, nan32, nan32, nan32}, []bool{true, true, true, true}},
		{"two views there", func(*probability.Functions) {}, []float32{0.5, 0.5, nan32, nan32}, []bool{false, false, false, false}},
		{"one knows", func(m *probability.Functions) { m.Cross[0][3] = nil }, []float32{0.5, 0.5, nan32, nan32}, []bool{false, false, false, true}},
		// View 2, itself completed, is no second witness for view 3.
		{"no chain", func(m *probability.Functions) { m.Cross[1][3] = nil }, []float32{0.5, 0.5, nan32, nan32}, []bool{false, false, false, true}},
	} {
		model := four()
		c.cut(model)
		for m, p := range views(estimator(t, model, Settings{Completion: true}), c.w) {
			if (p != p) != c.want[m] {
				t.Errorf("%s: view %d is %v", c.name, m, p)
			}
		}
	}
}

// sample returns a model and pairs for it.
func sample(t testing.TB, pairs, views int) (*probability.Functions, [][]float32) {
	t.Helper()
	rnd := random(5)
	w := make([][]float32, views)
	for range pairs {
		same := rnd.Float64() < 0.3
		for m := range w {
			x := 0.3 + 0.12*rnd.NormFloat64()
			if same {
				x += 0.3
			}
			if rnd.IntN(5) == 0 {
				x = nan
			}
			w[m] = append(w[m], float32(x))
		}
	}
	model, err := probability.Learn(t.Context(), w, probability.Settings{Rate: 0.05}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return model, w
}

func TestPairs(t *testing.T) {
	model, w := sample(t, 10_000, 4)
	for _, fusion := range everyFusion() {
		for _, completion := range []bool{false, true} {
			e := estimator(t, model, Settings{Fusion: fusion, Completion: completion})
			var first []float32
			for _, threads := range []int{1, 2, 8, 0} {
				done := []int{0}
				got, err := e.Pairs(t.Context(), w, threads, func(n int) { done = append(done, n) })
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = got
				}
				if !slices.Equal(got, first) {
					t.Errorf("%v: %d threads give something else", fusion, threads)
				}
				if !slices.IsSorted(done) || done[len(done)-1] != 10_000 || len(done) < 3 {
					t.Errorf("progress %v", done)
				}
			}
			for i, got := range first {
				want := float32(e.Fuse(views(e, []float32{w[0][i], w[1][i], w[2][i], w[3][i]})))
				if got != want || !(got >= 0 && got <= 1) {
					t.Fatalf("%v: pair %d has %v, by itself %v", fusion, i, got, want)
				}
			}
		}
	}
}

// TestPairsOfParts holds that the probability of a pair does not depend on the others:
// what is fused in parts is what is fused at once.
func TestPairsOfParts(t *testing.T) {
	model, w := sample(t, 10_000, 3)
	for _, fusion := range everyFusion() {
		e := estimator(t, model, Settings{Fusion: fusion, Completion: true})
		whole, err := e.Pairs(t.Context(), w, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1000, 4096, 7000, 10_000} {
			var parts []float32
			for lo := 0; lo < len(whole); lo += size {
				hi := min(lo+size, len(whole))
				part, err := e.Pairs(t.Context(), [][]float32{w[0][lo:hi], w[1][lo:hi], w[2][lo:hi]}, 2, nil)
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, part...)
			}
			if !slices.Equal(parts, whole) {
				t.Errorf("%v: parts of %d pairs have other probabilities than all at once", fusion, size)
			}
		}
	}
}

// The posterior of dependent views tells pairs apart better than any one view.
func TestPairsFuseTheViews(t *testing.T) {
	model, w := sample(t, 10_000, 4)
	sure := func(e *Estimator) (n int) {
		p, err := e.Pairs(t.Context(), w, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range p {
			if x < 0.01 || x > 0.99 {
				n++
			}
		}
		return n
	}
	plain, completed := sure(estimator(t, model, Settings{})), sure(estimator(t, model, Settings{Completion: true}))
	if plain < 5_000 || completed <= plain {
		t.Errorf("%d of 10000 pairs are sure, %d with completion", plain, completed)
	}
}

func TestPairsCancelled(t *testing.T) {
	e := estimator(t, identity(2), Settings{})
	w := [][]float32{make([]float32, 50_000), make([]float32, 50_000)}
	ctx, cancel := context.WithCancel(t.Context())
	last := 0
	p, err := e.Pairs(ctx, w, 2, func(done int) {
		last = done
		cancel()
	})
	if !errors.Is(err, context.Canceled) || p != nil || last >= 50_000 {
		t.Errorf("%d pairs, %v of a run cancelled after its first part; it did %d", len(p), err, last)
	}
	if _, err := e.Pairs(ctx, [][]float32{{}, {}}, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v of a cancelled run on nothing", err)
	}
}

func TestPairsErrors(t *testing.T) {
	e := estimator(t, identity(2), Settings{})
	for _, c := range []struct {
		w    [][]float32
		want string
	}{
		{nil, "similarities of 0 views where 2 were learned"},
		{[][]float32{{1}}, "similarities of 1 views where 2 were learned"},
		{[][]float32{{1}, {1}, {1}}, "similarities of 3 views where 2 were learned"},
		{[][]float32{{1}, {1, 2}}, "view 1 has 2 similarities where view 0 has 1"},
	} {
		if p, err := e.Pairs(t.Context(), c.w, 1, nil); err == nil || !strings.Contains(err.Error(), c.want) || p != nil {
			t.Errorf("%v: %v, %v", c.w, p, err)
		}
	}
	if p, err := e.Pairs(t.Context(), [][]float32{{}, {}}, 1, nil); err != nil || len(p) != 0 {
		t.Errorf("%v, %v of no pairs", p, err)
	}
}

func TestFusionNames(t *testing.T) {
	want := []string{"symmetric", "asymmetric", "max", "mean", "min", "multiply", "pooled"}
	for i, f := range []Fusion{Symmetric, Asymmetric, Max, Mean, Min, Multiply} {
		if f.String() != want[i] {
			t.Errorf("%d is named %v, not %s", i, f, want[i])
		}
		text, err := json.Marshal(map[string]Fusion{"fusion": f})
		if err != nil || string(text) != fmt.Sprintf(`{"fusion":%q}`, want[i]) {
			t.Errorf("%v is written as %s, %v", f, text, err)
		}
		var back map[string]Fusion
		if err := json.Unmarshal(text, &back); err != nil || back["fusion"] != f {
			t.Errorf("%s reads as %v, %v", text, back, err)
		}
	}
	for _, name := range []string{"", "Symmetric", "median", "fusion(8)"} {
		var f Fusion
		err := f.UnmarshalText([]byte(name))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%q: %v", name, err)
		}
		for _, known := range want {
			if err != nil && !strings.Contains(err.Error(), known) {
				t.Errorf("%v does not offer %s", err, known)
			}
		}
	}
	for f, want := range map[Fusion]string{-1: "fusion(-1)", 7: "fusion(7)"} {
		if f.String() != want {
			t.Errorf("%q, not %q", f.String(), want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		set   Settings
		clip  float64
		field string // empty where the settings are fine
	}{
		{Settings{}, DefaultClip, ""},
		{Settings{Fusion: Multiply, Completion: true, Clip: 0.49}, 0.49, ""},
		{Settings{Clip: 1e-12}, 1e-12, ""},
		{Settings{Clip: 0.5}, 0, "Clip"},
		{Settings{Clip: -0.1}, 0, "Clip"},
		{Settings{Clip: 1e-13}, 0, "Clip"},
		{Settings{Clip: nan}, 0, "Clip"},
		{Settings{Fusion: -1}, 0, "Fusion"},
		{Settings{Fusion: 7}, 0, "Fusion"},
	} {
		set, bad := c.set, (*option.Error)(nil)
		err := set.Resolve()
		want := c.set
		want.Clip = c.clip
		if c.field == "" && (err != nil || set != want) {
			t.Errorf("%+v became %+v, %v", c.set, set, err)
		}
		if c.field != "" && (!errors.As(err, &bad) || bad.Field != c.field) {
			t.Errorf("%+v: %v, not an error about %s", c.set, err, c.field)
		}
		if e, newErr := New(identity(1), c.set); (newErr == nil) != (err == nil) || (e == nil) != (err != nil) {
			t.Errorf("New with %+v: %v", c.set, newErr)
		}
	}
}

// TestNewRefuses holds that functions that lack what the settings need are an error.
func TestNewRefuses(t *testing.T) {
	f := []probability.Function{{X: []float64{0, 1}, P: []float64{0, 1}}}
	for want, set := range map[string]Settings{
		"the asymmetric fusion needs the base rate of every view; give them, or choose another fusion": {Fusion: Asymmetric},
		"completion needs the cross functions of every view; give them, or do without completion":      {Completion: true},
	} {
		if e, err := New(&probability.Functions{ByView: f}, set); e != nil || err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", set, err, want)
		}
	}
}
