// Package posterior fuses what the views say about a pair of samples into one
// probability that both belong to the same class (Eq. p_bayesian_new).
package posterior

import (
	"context"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/probability"
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
	// Pooled adds up the views' log-odds as Symmetric does and divides the sum by the
	// root of their number, as Stouffer's test adds up scores: where chance alone speaks,
	// a pair is then as far from 1/2 in many independent views as in one, so that pairs
	// seen in one view and pairs seen in several can be compared.
	Pooled
)

var fusions = enum.Type[Fusion]{Noun: "fusion", Names: []string{"symmetric", "asymmetric", "max", "mean", "min", "multiply", "pooled"}}

// ParseFusion returns the fusion of the given name.
func ParseFusion(name string) (Fusion, error) { return fusions.Parse(name) }

// String returns the fusion's name, as ParseFusion reads it.
func (f Fusion) String() string { return fusions.String(f) }

// MarshalText writes the fusion's name, and fails where it has none.
func (f Fusion) MarshalText() ([]byte, error) { return fusions.Marshal(f) }

// UnmarshalText reads a fusion's name. It leaves *f alone where it fails.
func (f *Fusion) UnmarshalText(text []byte) error { return fusions.Unmarshal(f, text) }

// Settings steer the fusion. The zero value fuses as the paper does.
type Settings struct {
	// Fusion is the way to make one probability of several.
	Fusion Fusion `json:"fusion"`
	// Completion stands in for a view that one of the samples lacks, where the
	// other views know how it goes with them: Eqs. f_joint_com1 to f_joint_com3.
	Completion bool `json:"completion"`
	// Clip keeps a view's probability within [Clip, 1-Clip], so that no view
	// decides alone. 0 stands for DefaultClip.
	Clip float64 `json:"clip"`
}

// DefaultClip is the zero value's Clip: the evidence of one view is worth at most
// log-odds of 3.9. docs/method.md has the figures behind it.
const DefaultClip = 0.02

// Parameters describes the settings.
func (s *Settings) Parameters() []option.Parameter {
	return []option.Parameter{
		{
			Field: "Fusion", Name: "fusion", Value: option.OneOf(&s.Fusion),
			Equation: "Eq. p_bayesian_new",
			Meaning:  "how a pair's views become one probability; asymmetric is Eq. p_bayesian; the automatic preset takes pooled for symmetric",
		},
		{
			Field: "Completion", Name: "completion", Value: option.On(&s.Completion), PaperOnly: true,
			Equation: "Eqs. f_joint_com1-3",
			Meaning:  "estimates a view that a sample lacks from two or more others",
		},
		{
			Field: "Clip", Name: "function-clip", Value: option.Number(&s.Clip, DefaultClip, 1e-12, 0.49),
			Equation: "Eq. p_bayesian_new",
			Meaning:  "keeps a view's probability within [c, 1-c]",
		},
	}
}

// Resolve fills in the defaults and checks the ranges.
func (s *Settings) Resolve() error { return option.Resolve(s.Parameters()) }

// Estimator turns the similarities of a pair into a probability.
type Estimator struct {
	model     *probability.Functions
	functions []*probability.Lookup
	set       Settings
}

// New returns an estimator that uses what was learned.
func New(model *probability.Functions, set Settings) (*Estimator, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	e := &Estimator{model: model, set: set}
	for m := range model.ByView {
		e.functions = append(e.functions, model.ByView[m].Lookup())
	}
	return e, nil
}

// Views writes to p, which has one entry per view, what each view says of a pair
// with the given similarities; NaN where a similarity is NaN and nothing completes
// it.
func (e *Estimator) Views(p []float64, similarity func(m int) float32) {
	for m, f := range e.functions {
		p[m] = math.NaN()
		if w := similarity(m); w == w {
			p[m] = e.clip(f.At(float64(w)))
		}
	}
	if e.set.Completion {
		e.complete(p, similarity)
	}
}

// complete gives every missing view m the geometric mean of Fcross^(b)-(m) over
// the views b that are there: the completion view f_c of Eqs. f_joint_com1 to 3,
// which the paper writes for two such b. A single b would only be counted twice.
func (e *Estimator) complete(p []float64, similarity func(m int) float32) {
	for m := range p {
		if p[m] == p[m] {
			continue
		}
		sum, n := 0.0, 0
		for b := range p {
			w, cross := similarity(b), e.model.Cross[b][m]
			if w == w && cross != nil {
				sum += math.Log(e.clip(cross.At(float64(w))))
				n++
			}
		}
		if n > 1 {
			p[m] = math.Exp(sum / float64(n))
		}
	}
}

// Fuse makes one probability of what the views say, by view, each in (0, 1); NaN
// entries drop out. It returns 0 where all are NaN: nothing speaks for the pair.
func (e *Estimator) Fuse(p []float64) float64 {
	if e.set.Fusion == Pooled {
		return pool(p)
	}
	same, other, sum, low, high, n := 1.0, 1.0, 0.0, 1.0, 0.0, 0
	scaled := 0 // how often same, or if negative other, was divided by tiny
	for m, x := range p {
		if x != x {
			continue
		}
		same *= x
		other *= 1 - x
		if e.set.Fusion == Asymmetric && n > 0 {
			base := e.clip(e.model.BaseRate[m])
			same *= 1 - base
			other *= base
		}
		if same < tiny && e.set.Fusion != Multiply {
			same /= tiny
			scaled++
		}
		if other < tiny {
			other /= tiny
			scaled--
		}
		sum += x
		low, high = min(low, x), max(high, x)
		n++
	}
	if n == 0 {
		return 0
	}
	switch e.set.Fusion {
	case Max:
		return high
	case Mean:
		return sum / float64(n)
	case Min:
		return low
	case Multiply:
		return same
	default:
		for ; scaled > 0; scaled-- {
			same *= tiny
		}
		for ; scaled < 0; scaled++ {
			other *= tiny
		}
		return same / (same + other)
	}
}

// pool is Fuse under Pooled.
func pool(p []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range p {
		if x == x {
			sum += math.Log(x / (1 - x))
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return 1 / (1 + math.Exp(-sum/math.Sqrt(float64(n))))
}

// tiny is below all products of few views, and far above the least number.
const tiny = 1e-200

func (e *Estimator) clip(p float64) float64 { return min(max(p, e.set.Clip), 1-e.set.Clip) }

// Pairs returns the probability of every pair, given the similarities by view
// and pair number, NaN where the pair lacks the view. The result does not depend
// on threads; 0 stands for GOMAXPROCS. progress, if not nil, is called with the
// number of pairs done. It is an error if the views are not as many as the model's,
// if one has not one similarity per pair, or if ctx is done.
func (e *Estimator) Pairs(ctx context.Context, similarities [][]float32, threads int, progress func(done int)) ([]float32, error) {
	if len(similarities) == 0 || len(similarities) != len(e.model.ByView) {
		return nil, fmt.Errorf("similarities of %d views where %d were learned; pass those of the same views", len(similarities), len(e.model.ByView))
	}
	for m, w := range similarities {
		if len(w) != len(similarities[0]) {
			return nil, fmt.Errorf("view %d has %d similarities where view 0 has %d; pass one per pair, NaN where the pair lacks the view", m, len(w), len(similarities[0]))
		}
	}
	out := make([]float32, len(similarities[0]))
	tick := parallel.Counter(progress)
	err := parallel.Blocks(ctx, threads, len(out), 4096, func(_, lo, hi int) {
		p := make([]float64, len(similarities))
		for t := lo; t < hi; t++ {
			e.Views(p, func(m int) float32 { return similarities[m][t] })
			out[t] = float32(e.Fuse(p))
		}
		tick(hi - lo)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
