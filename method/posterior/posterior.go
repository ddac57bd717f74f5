// Package posterior fuses what the views say of a pair of samples into the probability
// that both belong to the same class,
//
//	P = prod f(w) / (prod f(w) + prod (1 - f(w)))    Eq. p_bayesian_new
//
// over the views that both samples have; w is the pair's similarity in the view and f the
// view's probability function. A view that a sample lacks has the similarity NaN and the
// probability NaN, and no part in P.
//
// It follows the method and may change in any minor version.
package posterior

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/probability"
)

// Estimator turns the similarities of a pair into a probability.
type Estimator struct {
	set       Settings
	functions []*probability.Lookup     // by view
	cross     [][]*probability.Function // by view and other view
	base      []float64                 // base rate of each view, clipped
	fuse      func(p, base []float64) float64
}

// New returns an estimator that goes by these functions. Beside the errors of
// Settings.Resolve and Functions.Validate, it is one where Asymmetric lacks base rates or completion lacks cross
// functions.
func New(functions *probability.Functions, set Settings) (*Estimator, error) {
	if err := set.Resolve(); err != nil {
		return nil, err
	}
	if functions == nil {
		return nil, errors.New("there are no probability functions; pass those that were learned")
	}
	views := len(functions.ByView)
	used := probability.Functions{ByView: functions.ByView}
	if set.Completion {
		used.Cross = functions.Cross
	}
	if err := used.Validate(views); err != nil {
		return nil, err
	}
	switch {
	case set.Fusion == Asymmetric && len(functions.BaseRate) < views:
		return nil, errors.New("the asymmetric fusion needs the base rate of every view; give them, or choose another fusion")
	case set.Completion && len(functions.Cross) < views:
		return nil, errors.New("completion needs the cross functions of every view; give them, or do without completion")
	}
	e := &Estimator{set: set, cross: functions.Cross, fuse: formulas[set.Fusion]}
	for m := range functions.ByView {
		e.functions = append(e.functions, functions.ByView[m].Lookup())
	}
	for _, base := range functions.BaseRate {
		e.base = append(e.base, e.clip(base))
	}
	return e, nil
}

// Views writes to p, which has one entry per view, what each view says of a pair with the
// given similarities: f(w), clipped. It is NaN where the similarity is NaN and nothing
// completes it. It panics if p is shorter, or if similarity is nil.
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

// complete gives every missing view m the geometric mean of Fcross^(b)-(m) over the views b
// that are present: the completion view f_c of Eqs. f_joint_com1 to 3, which the paper
// writes for two such b. There must be two, since a single b would be counted twice.
func (e *Estimator) complete(p []float64, similarity func(m int) float32) {
	for m := range p {
		if p[m] == p[m] {
			continue
		}
		sum, n := 0.0, 0
		for b := range p {
			w, cross := similarity(b), e.cross[b][m]
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

// Fuse makes one probability of what the views say, by view, each in (0, 1). A NaN stands
// for a view that says nothing. Fuse returns 0 where all are NaN. It panics under Asymmetric if
// p has more than one entry per view.
func (e *Estimator) Fuse(p []float64) float64 {
	if !slices.ContainsFunc(p, func(x float64) bool { return x == x }) {
		return 0
	}
	return e.fuse(p, e.base)
}

func (e *Estimator) clip(p float64) float64 { return min(max(p, e.set.Clip), 1-e.set.Clip) }

// Pairs returns the probability of every pair, given the similarities by view and pair
// number, NaN where the pair lacks the view. threads of 0 or less stands for all usable
// processors; the result is the same for any number. progress, if not nil, is called with
// the number of pairs done. It is an error if there are not as many views as functions, if
// a view has not one similarity per pair, or if ctx is done.
func (e *Estimator) Pairs(ctx context.Context, similarities [][]float32, threads int, progress func(done int)) ([]float32, error) {
	if err := e.check(similarities); err != nil {
		return nil, err
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

// check reports similarities that are not one per function and pair.
func (e *Estimator) check(similarities [][]float32) error {
	if len(similarities) == 0 || len(similarities) != len(e.functions) {
		return fmt.Errorf("similarities of %d views where %d were learned; pass those of the same views", len(similarities), len(e.functions))
	}
	for m, w := range similarities {
		if len(w) != len(similarities[0]) {
			return fmt.Errorf("view %d has %d similarities where view 0 has %d; pass one per pair, NaN where the pair lacks the view", m, len(w), len(similarities[0]))
		}
	}
	return nil
}
