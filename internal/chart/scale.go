package chart

import (
	"math"
	"strconv"
	"strings"
)

// scale maps the values of an axis to the drawing.
type scale struct {
	lo, hi   float64 // ends in the unit of the axis, lo < hi
	log      bool
	from, to float64 // where lo and hi lie in the drawing
}

// part returns where v lies between the ends, as 0 at lo and 1 at hi. Values far
// outside are at a bounded distance, so that every coordinate stays short.
func (s scale) part(v float64) float64 {
	t := (v - s.lo) / (s.hi - s.lo)
	if s.log {
		t = (math.Log(v) - math.Log(s.lo)) / (math.Log(s.hi) - math.Log(s.lo))
	}
	const far = 1e4
	return max(-far, min(far, t))
}

// at returns the place of v in the drawing.
func (s scale) at(v float64) float64 { return s.from + (s.to-s.from)*s.part(v) }

// has reports whether v lies on the axis, but for rounding.
func (s scale) has(v float64) bool {
	t := s.part(v)
	return -1e-6 <= t && t <= 1+1e-6
}

// narrow reports ends too close to each other to be told apart by their labels.
func narrow(lo, hi float64) bool {
	return hi-lo < max(1e-9*max(math.Abs(lo), math.Abs(hi)), 1/limit)
}

// widen returns ends that make an axis also where all values are (nearly) one.
func widen(lo, hi float64, log bool) (float64, float64) {
	switch {
	case !narrow(lo, hi):
		return lo, hi
	case log:
		return lo / 2, hi * 2
	case math.Abs(lo) < 1e-100: // 0, or nothing that halves and doubles
		return lo - 1, hi + 1
	default:
		return lo - math.Abs(lo)/2, hi + math.Abs(hi)/2
	}
}

// snap moves the ends outwards to round values: to steps of the ticks, or on a
// logarithmic axis to the next 1, 2 or 5 of a decade.
func snap(lo, hi float64, log bool, most int) (float64, float64) {
	if log {
		m, e := step(hi, 1)
		return decadeFloor(lo), times(1, m, e)
	}
	m, e := step(hi-lo, most)
	first, last := multiples(lo, hi, m, e, math.Floor, math.Ceil)
	return times(first, m, e), times(last, m, e)
}

// decadeFloor returns the largest 1, 2 or 5 of a decade that is at most v.
func decadeFloor(v float64) float64 {
	e := int(math.Floor(math.Log10(v) + slack))
	for _, m := range []int{5, 2} {
		if f := times(1, m, e); f <= v*(1+slack) {
			return f
		}
	}
	return times(1, 1, e)
}

// slack is the relative error that is forgiven where a value should be a whole
// multiple of a step.
const slack = 1e-9

// step returns the smallest m x 10^e with m of 1, 2 or 5 that goes into span no
// more than most times.
func step(span float64, most int) (m, e int) {
	least := span / float64(most) * (1 - slack)
	e = int(math.Floor(math.Log10(least)))
	for _, m := range []int{1, 2, 5} {
		if times(1, m, e) >= least {
			return m, e
		}
	}
	return 1, e + 1
}

// times returns n x m x 10^e, rounded once: 3 tenths are 0.3 and not 3*0.1.
func times(n float64, m, e int) float64 {
	if e < 0 {
		return n * float64(m) / math.Pow10(-e)
	}
	return n * float64(m) * math.Pow10(e)
}

// multiples returns lo and hi in steps of m x 10^e, rounded by down and up
// unless they are whole numbers but for rounding.
func multiples(lo, hi float64, m, e int, down, up func(float64) float64) (first, last float64) {
	whole := func(v float64, round func(float64) float64) float64 {
		v /= times(1, m, e)
		if r := math.Round(v); math.Abs(v-r) < 1e-6 {
			return r
		}
		return round(v)
	}
	return whole(lo, down), whole(hi, up)
}

// tick is a mark on an axis. A tick without a label is a minor one.
type tick struct {
	value float64
	label string
}

// ticks returns ticks for an axis from lo to hi, at most most+1 of them with a
// label. The labels are in units of 10^power.
func ticks(lo, hi float64, log bool, most int) (t []tick, power int) {
	if log {
		if t = decades(lo, hi, most); t != nil {
			return t, 0
		}
	}
	m, e := step(hi-lo, most)
	if a := max(math.Abs(lo), math.Abs(hi)); a >= 1e5 || a < 1e-3 {
		power = int(math.Floor(math.Log10(a)/3+slack)) * 3
	}
	first, last := multiples(lo, hi, m, e, math.Ceil, math.Floor)
	for n := first; n <= last; n++ {
		label := strconv.FormatFloat(times(n, m, e-power), 'f', max(0, power-e), 64)
		t = append(t, tick{times(n, m, e), strings.Replace(label, "-", "−", 1)})
	}
	return t, power
}

// decades returns the ticks of a logarithmic axis: at powers of ten,
// every so many of them where they are many; at 1, 2 and 5 of each decade where
// they are at most two and there is room. It returns nil for an axis so short
// that linear ticks suit it better.
func decades(lo, hi float64, most int) []tick {
	first, last := int(math.Ceil(math.Log10(lo)-slack)), int(math.Floor(math.Log10(hi)+slack))
	stride := max(1, (last-first+most-1)/most) // decades per label
	fine := last-first <= 1 && 3*(last-first+1)+2 <= most+1
	plain := first >= -3 && last <= 5 // decimals are short
	var t []tick
	labels := 0
	for e := first - 1; e <= last; e++ {
		for m := 1; m <= 9; m++ {
			v := times(1, m, e)
			if v < lo*(1-slack) || v > hi*(1+slack) {
				continue
			}
			k := tick{value: v}
			switch {
			case m == 1 && e%stride == 0, fine && (m == 2 || m == 5):
				labels++
				switch {
				case plain:
					k.label = strconv.FormatFloat(v, 'f', -1, 64)
				case m == 1:
					k.label = powerOf10(e)
				default:
					k.label = strconv.Itoa(m) + "×" + powerOf10(e)
				}
			case m > 1 && stride > 1:
				continue
			}
			t = append(t, k)
		}
	}
	if labels < 2 {
		return nil
	}
	return t
}

// powerOf10 returns "10" with a raised exponent.
func powerOf10(e int) string {
	raise := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	return "10" + raise.Replace(strconv.Itoa(e))
}
