package posterior

import (
	"math"

	"github.com/mvclust/mvclust/internal/enum"
)

// Fusion is a way to make one probability of several.
type Fusion int

const (
	// Symmetric is the posterior of Eq. p_bayesian_new: views that are
	// independent given the class, and even prior odds.
	Symmetric Fusion = iota
	// Asymmetric is MPC's form, Eq. p_bayesian: the first view that says something
	// of the pair gives the prior, every other one a likelihood ratio.
	Asymmetric
	// Max is the largest of the views' probabilities; it and the ones below are
	// the aggregations of the paper's ablation.
	Max
	// Mean is their arithmetic mean.
	Mean
	// Min is the smallest.
	Min
	// Multiply is their product.
	Multiply
	// Pooled divides the sum of the views' log-odds, which Symmetric takes as it is, by the
	// root of their number, as Stouffer's test does with scores. Under chance alone, a pair
	// is then as far from 1/2 in many independent views as in one. So pairs that one view
	// has can be compared with pairs that several views have.
	Pooled
)

var fusions = enum.Type[Fusion]{Noun: "fusion", Names: []string{"symmetric", "asymmetric", "max", "mean", "min", "multiply", "pooled"}}

// String returns the fusion's name, as UnmarshalText reads it.
func (f Fusion) String() string { return fusions.String(f) }

// MarshalText writes the fusion's name, and fails where it has none.
func (f Fusion) MarshalText() ([]byte, error) { return fusions.Marshal(f) }

// UnmarshalText reads a fusion's name. It leaves *f alone where it fails.
func (f *Fusion) UnmarshalText(text []byte) error { return fusions.Unmarshal(f, text) }

// formulas holds one function for each fusion. p has what the views say, NaN where a view says
// nothing, and at least one number; base has the views' base rates.
var formulas = [...]func(p, base []float64) float64{
	Symmetric:  symmetric,
	Asymmetric: asymmetric,
	Max:        largest,
	Mean:       mean,
	Min:        smallest,
	Multiply:   multiply,
	Pooled:     pooled,
}

// symmetric is Eq. p_bayesian_new: prod p / (prod p + prod (1 - p)).
func symmetric(p, _ []float64) float64 {
	o := odds{1, 1, 0}
	for _, x := range p {
		if x == x {
			o.same *= x
			o.other *= 1 - x
			o.rescale()
		}
	}
	return o.probability()
}

// asymmetric is Eq. p_bayesian: symmetric with the odds of every view but the first divided
// by those of its base rate.
func asymmetric(p, base []float64) float64 {
	o, first := odds{1, 1, 0}, true
	for m, x := range p {
		if x != x {
			continue
		}
		o.same *= x
		o.other *= 1 - x
		if !first {
			o.same *= 1 - base[m]
			o.other *= base[m]
		}
		first = false
		o.rescale()
	}
	return o.probability()
}

func largest(p, _ []float64) float64 {
	high := 0.0
	for _, x := range p {
		if x > high {
			high = x
		}
	}
	return high
}

func smallest(p, _ []float64) float64 {
	low := 1.0
	for _, x := range p {
		if x < low {
			low = x
		}
	}
	return low
}

func mean(p, _ []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range p {
		if x == x {
			sum += x
			n++
		}
	}
	return sum / float64(n)
}

func multiply(p, _ []float64) float64 {
	product := 1.0
	for _, x := range p {
		if x == x {
			product *= x
		}
	}
	return product
}

// pooled has the log-odds sum log(p / (1 - p)) / sqrt(n), over n views.
func pooled(p, _ []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range p {
		if x == x {
			sum += logOdds(x)
			n++
		}
	}
	return 1 / (1 + math.Exp(-sum/math.Sqrt(float64(n))))
}

// odds are the ratio of two products of probabilities, same / other x tiny^scaled.
type odds struct {
	same, other float64
	scaled      int
}

// tiny is below all products of few views, and far above the least number.
const tiny = 1e-200

// rescale keeps the products from vanishing.
func (o *odds) rescale() {
	if o.same < tiny {
		o.same /= tiny
		o.scaled++
	}
	if o.other < tiny {
		o.other /= tiny
		o.scaled--
	}
}

// probability returns same / (same + other).
func (o *odds) probability() float64 {
	for ; o.scaled > 0; o.scaled-- {
		o.same *= tiny
	}
	for ; o.scaled < 0; o.scaled++ {
		o.other *= tiny
	}
	return o.same / (o.same + o.other)
}

func logOdds(p float64) float64 { return math.Log(p / (1 - p)) }
