package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// labels returns the labels of ticks, without the minor ones.
func labels(t []tick) string {
	var list []string
	for _, k := range t {
		if k.label != "" {
			list = append(list, k.label)
		}
	}
	return strings.Join(list, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		most   int
		want   string
		power  int
	}{
		{0, 1, false, 5, "0.0 0.2 0.4 0.6 0.8 1.0", 0},
		{0, 1, false, 4, "0.0 0.5 1.0", 0},
		{0, 0.7, false, 7, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7", 0},
		{0.3, 0.62, false, 4, "0.3 0.4 0.5 0.6", 0},
		{1, 200, false, 5, "50 100 150 200", 0},
		{-0.3, 0.3, false, 3, "−0.2 0.0 0.2", 0},
		{-10, -5, false, 5, "−10 −9 −8 −7 −6 −5", 0},
		{0, 99999, false, 5, "0 20000 40000 60000 80000", 0},
		{0, 1e5, false, 5, "0 20 40 60 80 100", 3},
		{0, 2.5e6, false, 5, "0.0 0.5 1.0 1.5 2.0 2.5", 6},
		{0, 0.0005, false, 5, "0 100 200 300 400 500", -6},
		{1e6, 1e6 + 1, false, 2, "1.0000000 1.0000005 1.0000010", 6},
		{-1e300, 1e300, false, 2, "−1 0 1", 300},

		{1, 1000, true, 3, "1 10 100 1000", 0},
		{0.001, 1e5, true, 8, "0.001 0.01 0.1 1 10 100 1000 10000 100000", 0},
		{1e-4, 1e4, true, 8, "10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰ 10¹ 10² 10³ 10⁴", 0},
		{1e-4, 1e4, true, 4, "10⁻⁴ 10⁻² 10⁰ 10² 10⁴", 0},
		{1e-300, 1e300, true, 6, "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 10⁰ 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰", 0},
		{1, 100, true, 2, "1 10 100", 0},
		{1, 90, true, 8, "1 2 5 10 20 50", 0},
		{1, 100, true, 10, "1 10 100", 0},
		{500, 20000, true, 8, "500 1000 2000 5000 10000 20000", 0},
		{500, 100000, true, 13, "1000 10000 100000", 0},
		{2e-9, 3e-8, true, 4, "2×10⁻⁹ 5×10⁻⁹ 10⁻⁸ 2×10⁻⁸", 0},
		{3, 4, true, 5, "3.0 3.2 3.4 3.6 3.8 4.0", 0},
	} {
		got, power := ticks(c.lo, c.hi, c.log, c.most)
		if labels(got) != c.want || power != c.power {
			t.Errorf("ticks(%v, %v, log %v, %d) = %s, 10^%d; want %s, 10^%d", c.lo, c.hi, c.log, c.most, labels(got), power, c.want, c.power)
		}
	}
}

func TestMinorTicks(t *testing.T) {
	var got []float64
	list, _ := ticks(8, 30, true, 4)
	for _, k := range list {
		got = append(got, k.value)
	}
	if want := []float64{8, 9, 10, 20, 30}; !slices.Equal(got, want) {
		t.Errorf("ticks from 8 to 30 are at %v, want %v", got, want)
	}
}

func TestSnap(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		most   int
		a, b   float64
	}{
		{0.13, 0.97, false, 5, 0, 1},
		{0.13, 0.97, false, 10, 0.1, 1},
		{0, 1 + 1e-12, false, 5, 0, 1},
		{-7, 12, false, 4, -10, 15},
		{0.3, 0.6, false, 3, 0.3, 0.6},
		{0.003, 700, true, 5, 0.002, 1000},
		{0.02, 50, true, 5, 0.02, 50},
		{1e-5, 2e4, true, 5, 1e-5, 2e4},
		{1, 1.1, true, 5, 1, 2},
	} {
		if a, b := snap(c.lo, c.hi, c.log, c.most); a != c.a || b != c.b {
			t.Errorf("snap(%v, %v, log %v, %d) = %v, %v; want %v, %v", c.lo, c.hi, c.log, c.most, a, b, c.a, c.b)
		}
	}
}

func TestWiden(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		a, b   float64
	}{
		{0, 1, false, 0, 1},
		{0, 0, false, -1, 1},
		{5e-324, 5e-324, false, -1, 1},
		{4, 4, false, 2, 6},
		{-4, -4, false, -6, -2},
		{4, 4, true, 2, 8},
	} {
		if a, b := widen(c.lo, c.hi, c.log); a != c.a || b != c.b {
			t.Errorf("widen(%v, %v, log %v) = %v, %v; want %v, %v", c.lo, c.hi, c.log, a, b, c.a, c.b)
		}
	}
}

func TestScale(t *testing.T) {
	linear := scale{lo: -1, hi: 3, from: 100, to: 20}
	log := scale{lo: 0.01, hi: 100, log: true, from: 0, to: 40}
	for _, c := range []struct {
		s       scale
		v, want float64
		has     bool
	}{
		{linear, -1, 100, true},
		{linear, 1, 60, true},
		{linear, 3, 20, true},
		{linear, 3 + 1e-12, 20, true},
		{linear, 4, 0, false},
		{linear, 1e300, 100 - 80e4, false},
		{log, 0.01, 0, true},
		{log, 1, 20, true},
		{log, 1000, 50, false},
		{log, 0.001, -10, false},
	} {
		if got := c.s.at(c.v); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v: %v is at %v, want %v", c.s, c.v, got, c.want)
		}
		if got := c.s.has(c.v); got != c.has {
			t.Errorf("%+v: has %v: %v, want %v", c.s, c.v, got, c.has)
		}
	}
}

// checkTicks reports ticks that are off the axis, out of order, too many, or not
// told apart by their labels.
func checkTicks(t *testing.T, lo, hi float64, log bool, most int) {
	t.Helper()
	list, _ := ticks(lo, hi, log, most)
	seen := make(map[string]bool)
	for i, k := range list {
		if !(lo-1e-5*(hi-lo) <= k.value && k.value <= hi+1e-5*(hi-lo)) {
			t.Errorf("ticks(%v, %v, %v, %d): %v is off the axis", lo, hi, log, most, k.value)
		}
		if i > 0 && !(k.value > list[i-1].value) {
			t.Errorf("ticks(%v, %v, %v, %d): %v after %v", lo, hi, log, most, k.value, list[i-1].value)
		}
		if k.label != "" {
			if seen[k.label] {
				t.Errorf("ticks(%v, %v, %v, %d): label %q twice", lo, hi, log, most, k.label)
			}
			seen[k.label] = true
		}
	}
	if len(seen) > most+1 {
		t.Errorf("ticks(%v, %v, %v, %d): %d labels", lo, hi, log, most, len(seen))
	}
	if most >= 5 && len(seen) < 2 {
		t.Errorf("ticks(%v, %v, %v, %d): %d labels", lo, hi, log, most, len(seen))
	}
}

func TestTicksOfRandomAxes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		lo := math.Pow(10, 40*r.Float64()-20)
		hi := lo * (1 + math.Pow(10, 12*r.Float64()-8))
		checkTicks(t, lo, hi, true, 1+r.IntN(14))
		checkTicks(t, lo, hi, false, 1+r.IntN(14))
		checkTicks(t, -hi, lo, false, 1+r.IntN(14))
	}
}

func FuzzTicks(f *testing.F) {
	f.Add(0.0, 1.0, false, 5)
	f.Add(1e-300, 1e300, true, 7)
	f.Add(-1e300, 1e300, false, 1)
	f.Add(9.99, 101.0, true, 3)
	f.Fuzz(func(t *testing.T, lo, hi float64, log bool, most int) {
		if (Axis{Min: lo, Max: hi, Log: log}).check() != nil || lo == 0 && hi == 0 || most < 1 || most > 100 {
			t.Skip()
		}
		checkTicks(t, lo, hi, log, most)
	})
}
