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
)

func calibrate(t testing.TB, w [][]float32, same func(view, pair int) bool, set Settings) *Functions {
	t.Helper()
	model, err := Calibrate(t.Context(), w, same, set)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// labelled draws pairs whose probability of being of one class is truth of their
// similarity, which is uniform in [0, 1] and its own in every view, as is the label.
func labelled(pairs, views int, truth func(x float64) float64, seed uint64) (w [][]float32, same func(view, pair int) bool) {
	rnd := random(seed)
	label := make([][]bool, views)
	for m := range views {
		w = append(w, make([]float32, pairs))
		label[m] = make([]bool, pairs)
		for t := range pairs {
			w[m][t] = rnd.Float32()
			label[m][t] = rnd.Float64() < truth(float64(w[m][t]))
		}
	}
	return w, func(view, pair int) bool { return label[view][pair] }
}

// With many pairs the function comes near to the one that the labels were drawn by,
// also where pairs lack views.
func TestCalibrateFindsTheTruth(t *testing.T) {
	for name, truth := range map[string]func(x float64) float64{
		"logistic": func(x float64) float64 { return 1 / (1 + math.Exp(10*(0.6-x))) },
		"line":     func(x float64) float64 { return x },
		"step":     func(x float64) float64 { return math.Round(x) },
		"constant": func(float64) float64 { return 0.3 },
		"one":      func(float64) float64 { return 1 },
	} {
		for _, a := range absences {
			w, same := labelled(60_000, 3, truth, 1)
			a.take(w)
			model := calibrate(t, w, same, Settings{Segments: 200})
			checkModel(t, model, w)
			for m, f := range model.ByView {
				distance := 0.0
				for i, x := range f.X {
					distance += math.Abs(f.P[i]-truth(x)) / float64(len(f.X))
				}
				if distance > 0.02 {
					t.Errorf("%s, %s: function %d is %.4f away on average", name, a.name, m, distance)
				}
			}
		}
	}
}

// The sums of squares have their least at the weighted means over intervals:
// f_i = max over a <= i of min over b >= i of the share of [a, b].
func TestCalibrateEquation(t *testing.T) {
	rnd := random(2)
	for round := range 60 {
		w := gaussian(300, 3, 0, uint64(round))
		absences[round%len(absences)].take(w)
		if round%2 == 0 { // ties, for segments of unequal size
			for m := range w {
				for k, x := range w[m] {
					w[m][k] = float32(math.Round(float64(x)*20)) / 20
				}
			}
		}
		label := make([][]bool, len(w))
		for m := range w {
			for range w[m] {
				label[m] = append(label[m], rnd.IntN(3) == 0)
			}
		}
		model := calibrate(t, w, func(m, k int) bool { return label[m][k] }, Settings{Segments: 15})
		checkModel(t, model, w)
		if model.Settings.Segments != 15 || model.Curve != nil || model.Kept != 0 {
			t.Fatalf("%+v, %d losses", model.Settings, len(model.Curve))
		}
		for m := range w {
			s := cut(w[m], 15)
			yes := make([]float64, len(s.mean))
			for k, i := range s.of {
				if i >= 0 && label[m][k] {
					yes[i]++
				}
			}
			share := func(a, b int) float64 {
				sum, n := 0.0, 0.0
				for i := a; i <= b; i++ {
					sum, n = sum+yes[i], n+s.count[i]
				}
				return sum / n
			}
			f := model.ByView[m]
			if !slices.Equal(f.X, s.mean) {
				t.Fatalf("function %d is at %v, not %v", m, f.X, s.mean)
			}
			for i := range f.P {
				want := 0.0
				for a := range i + 1 {
					least := 1.0
					for b := i; b < len(f.P); b++ {
						least = min(least, share(a, b))
					}
					want = max(want, least)
				}
				if !near(f.P[i], want, 1e-14) {
					t.Errorf("function %d is %v in segment %d, not %v", m, f.P[i], i, want)
				}
			}
			if rate := share(0, len(yes)-1); !near(model.BaseRate[m], rate, 1e-13) {
				t.Errorf("base rate %v of view %d, not %v", model.BaseRate[m], m, rate)
			}
			for b, cross := range model.Cross[m] {
				if cross == nil {
					continue
				}
				other := cut(w[b], 15)
				for e, x := range cross.X {
					i, sum, n := slices.Index(s.mean, x), 0.0, 0.0
					for k := range s.of {
						if int(s.of[k]) == i && other.of[k] >= 0 {
							sum += model.ByView[b].P[other.of[k]]
							n++
						}
					}
					if !near(cross.P[e], sum/n, 1e-13) {
						t.Errorf("cross function %d-%d is %v in segment %d, not %v", m, b, cross.P[e], i, sum/n)
					}
				}
			}
		}
	}
}

// Where pairs are left out, same is asked about those that remain, by their own
// numbers and once.
func TestCalibrateAsksForPairs(t *testing.T) {
	for _, limit := range []int{0, 1, 7, 100, 999, 1000, 5000} {
		w := gaussian(1000, 2, 0.3, 3)
		for m := range w {
			for k, x := range w[m] {
				w[m][k] = x - x + float32(k) // the number of the pair, or NaN
			}
		}
		taken, asked := Thin(w, max(1, limit)), make([][]float32, 2)
		if limit == 0 {
			taken = w
		}
		calibrate(t, w, func(m, k int) bool {
			asked[m] = append(asked[m], float32(k))
			return false
		}, Settings{Pairs: limit})
		for m := range w {
			want := slices.DeleteFunc(slices.Clone(taken[m]), func(x float32) bool { return x != x })
			if !slices.Equal(asked[m], want) {
				t.Errorf("%d pairs: asked for %v in view %d, not %v", limit, asked[m], m, want)
			}
		}
	}
}

// Labels that follow from the similarities give functions of 0 and 1.
func TestCalibrateSeparable(t *testing.T) {
	w := gaussian(20_000, 2, 0.2, 4)
	model := calibrate(t, w, func(m, k int) bool { return w[m][k] > 0.5 }, Settings{Pairs: 5000})
	if model.Settings.Segments != 100 {
		t.Errorf("%d segments for 5000 pairs", model.Settings.Segments)
	}
	for m, f := range model.ByView {
		between := 0
		for i, x := range f.X {
			switch want := float64(b2i(x > 0.5)); {
			case f.P[i] == want:
			case f.P[i] > 0 && f.P[i] < 1:
				between++
			default:
				t.Errorf("function %d is %v at %v", m, f.P[i], x)
			}
		}
		if between > 1 {
			t.Errorf("%d segments of view %d have pairs of both kinds", between, m)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestCalibrateLeavesItsInput(t *testing.T) {
	w, same := labelled(500, 2, func(x float64) float64 { return x }, 5)
	before := [][]float32{slices.Clone(w[0]), slices.Clone(w[1])}
	first := calibrate(t, w, same, Settings{})
	if !reflect.DeepEqual(w, before) {
		t.Error("the similarities have changed")
	}
	// The settings of the descent do not matter.
	other := calibrate(t, w, same, Settings{Lambda: 3, Epochs: 7, Low: -1, Loss: Direct, WithoutCross: true})
	other.Settings = first.Settings
	if !reflect.DeepEqual(first, other) {
		t.Error("settings of the descent matter")
	}
}

func TestCalibrateWithoutPairs(t *testing.T) {
	w := [][]float32{{nan32, nan32}, {0.1, 0.2}}
	model := calibrate(t, w, func(_, k int) bool { return k == 1 }, Settings{})
	want := Function{X: []float64{float64(float32(0.1)), float64(float32(0.2))}, P: []float64{0, 1}}
	if f := model.ByView; len(f[0].X) != 0 || !reflect.DeepEqual(f[1], want) || !slices.Equal(model.BaseRate, []float64{0.5, 0.5}) {
		t.Errorf("%+v, base rates %v", f, model.BaseRate)
	}
	if err := model.Validate(2); err != nil {
		t.Error(err)
	}
}

func TestCalibrateErrors(t *testing.T) {
	for _, c := range []struct {
		w    [][]float32
		set  Settings
		want string
	}{
		{nil, Settings{}, "at least one view"},
		{[][]float32{{1, 2}, {1}}, Settings{}, "view 1 has 1 similarities where view 0 has 2"},
		{[][]float32{{1}}, Settings{Pairs: -1}, "Pairs"},
	} {
		if model, err := Calibrate(t.Context(), c.w, func(int, int) bool { return false }, c.set); err == nil || !strings.Contains(err.Error(), c.want) || model != nil {
			t.Errorf("%v, %+v: %v, %v", c.w, c.set, model, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	model, err := Calibrate(ctx, gaussian(50_000, 2, 0, 1), func(_, k int) bool {
		if calls++; k == 5000 {
			cancel()
		}
		return true
	}, Settings{})
	if model != nil || !errors.Is(err, context.Canceled) || calls > 10_000 {
		t.Errorf("%v, %v after %d calls", model, err, calls)
	}
}

func BenchmarkCalibrate(b *testing.B) {
	for _, pairs := range []int{10_000, 250_000} {
		b.Run(fmt.Sprint(pairs), func(b *testing.B) {
			w, same := labelled(pairs, 2, func(x float64) float64 { return x }, 1)
			b.ReportAllocs()
			for b.Loop() {
				calibrate(b, w, same, Settings{})
			}
		})
	}
}
