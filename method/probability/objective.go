package probability

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

// tiny clamps probabilities to [tiny, 1-tiny] where they are multiplied, Eq. f_joint, and
// Fmix from below. A value beyond has the derivative of the bound instead of 0, so that a
// function can leave 0 and 1.
const tiny = 1e-4

// chunks is the number of partial sums over the pairs. It is fixed, so that the sums do not
// depend on the number of threads.
const chunks = 16

// objective is the loss of Eq. loss_all as a function of the values f^(m)_i.
type objective struct {
	set      Settings
	threads  int
	views    []*segments
	cross    [][]*crossing // by view and other view; nil where they share no pair
	partners [][]int       // by view, the others with which it shares pairs
	pairs    int

	// Scratch: the joint probability of every pair; the log-odds of every
	// function value; partial sums by chunk, view and segment.
	joint   []float64
	logit   [][]float64
	partial [][][]float64
}

func newObjective(ctx context.Context, similarities [][]float32, set Settings, threads int) (*objective, error) {
	views := len(similarities)
	o := &objective{set: set, threads: threads, pairs: len(similarities[0]), views: make([]*segments, views)}
	err := parallel.Blocks(ctx, threads, views, 1, func(_, m, _ int) { o.views[m] = cut(similarities[m], set.Segments) })
	if err != nil {
		return nil, err
	}
	o.cross, o.partners = make([][]*crossing, views), make([][]int, views)
	for m := range o.cross {
		o.cross[m] = make([]*crossing, views)
	}
	err = parallel.Blocks(ctx, threads, views*views, 1, func(_, at, _ int) {
		if m, b := at/views, at%views; m != b {
			o.cross[m][b] = cross(o.views[m], o.views[b])
		}
	})
	if err != nil {
		return nil, err
	}
	for m := range o.cross {
		for b, c := range o.cross[m] {
			if c != nil {
				o.partners[m] = append(o.partners[m], b)
			}
		}
	}
	o.joint = make([]float64, o.pairs)
	o.logit = o.zeros()
	o.partial = make([][][]float64, chunks)
	for c := range o.partial {
		o.partial[c] = o.zeros()
	}
	return o, nil
}

// zeros returns one zero per view and segment.
func (o *objective) zeros() [][]float64 {
	z := make([][]float64, len(o.views))
	for m, v := range o.views {
		z[m] = make([]float64, len(v.mean))
	}
	return z
}

// start returns the straight lines from 0 to 1.
func (o *objective) start() [][]float64 {
	f := make([][]float64, len(o.views))
	for m, v := range o.views {
		f[m] = slices.Clone(v.start)
	}
	return f
}

// multi returns Fmulti for the function values f, Eqs. f_joint and f_multi: the mean joint
// probability of the pairs of each segment. The joint of a pair is over the views that it
// has; multi leaves it in o.joint.
func (o *objective) multi(ctx context.Context, f [][]float64) ([][]float64, error) {
	for m := range f {
		for i, p := range f[m] {
			p = clamp(p)
			o.logit[m][i] = math.Log(p / (1 - p))
		}
	}
	sums, err := o.sum(ctx, func(t int) float64 {
		s := 0.0
		for m, v := range o.views {
			if i := v.of[t]; i >= 0 {
				s += o.logit[m][i]
			}
		}
		o.joint[t] = 1 / (1 + math.Exp(-s))
		return o.joint[t]
	})
	if err != nil {
		return nil, err
	}
	for m, v := range o.views {
		for i := range sums[m] {
			sums[m][i] /= v.count[i]
		}
	}
	return sums, nil
}

// sum adds value(t) of every pair t to each of the segments that the pair is in.
func (o *objective) sum(ctx context.Context, value func(t int) float64) ([][]float64, error) {
	block := max(1, (o.pairs+chunks-1)/chunks)
	err := parallel.Blocks(ctx, o.threads, o.pairs, block, func(_, lo, hi int) {
		part := o.partial[lo/block]
		for m := range part {
			clear(part[m])
		}
		for t := lo; t < hi; t++ {
			x := value(t)
			for m, v := range o.views {
				if i := v.of[t]; i >= 0 {
					part[m][i] += x
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	total := o.zeros()
	for c := range (o.pairs + block - 1) / block {
		for m := range total {
			for i, x := range o.partial[c][m] {
				total[m][i] += x
			}
		}
	}
	return total, nil
}

// eval returns the loss at f and, where gradient is not nil, sets it to the
// derivative of the loss by every value of f.
func (o *objective) eval(ctx context.Context, f, gradient [][]float64) (Losses, error) {
	multi, err := o.multi(ctx, f)
	if err != nil {
		return Losses{}, err
	}
	var loss Losses
	by := make([]estimates, len(f))
	for m := range f {
		e := o.estimates(m, f, multi[m])
		by[m] = e.zeros()
		o.consistency(e, by[m], &loss)
		if !o.set.WithoutConstraint {
			o.constraint(e, by[m], &loss)
		}
	}
	loss.Total = o.set.Lambda*(loss.Single+loss.Cross) + loss.Constraint
	if gradient == nil {
		return loss, nil
	}
	return loss, o.back(ctx, f, by, gradient)
}

// estimates returns the estimates for view m.
func (o *objective) estimates(m int, f [][]float64, multi []float64) estimates {
	e := estimates{single: f[m], multi: multi}
	for _, b := range o.partners[m] {
		e.cross = append(e.cross, o.cross[m][b].mean(f[b]))
	}
	return e
}

// back sets gradient to the derivative of the loss by f, given its derivatives by
// the estimates. It uses the joint probabilities of the last call of multi.
func (o *objective) back(ctx context.Context, f [][]float64, by []estimates, gradient [][]float64) error {
	// A joint probability J is logistic in the sum of the log-odds of f, so its
	// derivative by each of them is J(1-J).
	for m, v := range o.views {
		for i := range by[m].multi {
			by[m].multi[i] /= v.count[i]
		}
	}
	byLogit, err := o.sum(ctx, func(t int) float64 {
		g := 0.0
		for m, v := range o.views {
			if i := v.of[t]; i >= 0 {
				g += by[m].multi[i]
			}
		}
		return g * o.joint[t] * (1 - o.joint[t])
	})
	if err != nil {
		return err
	}
	for m := range gradient {
		copy(gradient[m], by[m].single)
		for i, g := range byLogit[m] {
			p := clamp(f[m][i])
			gradient[m][i] += g / (p * (1 - p))
		}
	}
	for m, partners := range o.partners {
		for k, b := range partners {
			o.cross[m][b].back(gradient[b], by[m].cross[k])
		}
	}
	return nil
}

// clamp keeps p away from 0 and 1.
func clamp(p float64) float64 { return min(max(p, tiny), 1-tiny) }

// functions makes the result out of the learned values.
func (o *objective) functions(f [][]float64, kept int, curve []Losses) *Functions {
	model := &Functions{Settings: o.set, Curve: curve, Kept: kept, Cross: make([][]*Function, len(f))}
	for m, v := range o.views {
		model.ByView = append(model.ByView, Function{X: v.mean, P: f[m]})
		model.BaseRate = append(model.BaseRate, v.average(f[m]))
		model.Cross[m] = make([]*Function, len(f))
		for _, b := range o.partners[m] {
			model.Cross[m][b] = filled(v.mean, o.cross[m][b].mean(f[b]))
		}
	}
	return model
}

// filled returns the function through the points whose p is known. The shares that p
// was summed up with add up to 1 but for rounding.
func filled(x, p []float64) *Function {
	f := &Function{}
	for i := range p {
		if p[i] == p[i] {
			f.X, f.P = append(f.X, x[i]), append(f.P, min(1, p[i]))
		}
	}
	return f
}
