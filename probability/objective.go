package probability

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
)

// tiny keeps logarithms and roots away from 0: probabilities are taken to lie in
// [tiny, 1-tiny] where the product of Eq. f_joint is formed.
const tiny = 1e-4

// chunks is the number of parts in which the pairs are summed up. It is fixed, so
// that the sums do not depend on the number of threads.
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

func newObjective(similarities [][]float32, set Settings, threads int) *objective {
	o := &objective{set: set, threads: threads, pairs: len(similarities[0])}
	for _, w := range similarities {
		o.views = append(o.views, cut(w, set.Segments))
	}
	o.cross = make([][]*crossing, len(o.views))
	o.partners = make([][]int, len(o.views))
	for m := range o.views {
		o.cross[m] = make([]*crossing, len(o.views))
		for b := range o.views {
			if b == m {
				continue
			}
			if c := cross(o.views[m], o.views[b]); c != nil {
				o.cross[m][b] = c
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
	return o
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
		f[m] = append([]float64(nil), v.start...)
	}
	return f
}

// multi returns Fmulti for the function values f, Eqs. f_joint and f_multi: the
// mean joint probability of the pairs of each segment, where the joint of a pair
// is taken over the views that it has. It leaves the joint of every pair behind.
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
	block := (o.pairs + chunks - 1) / chunks
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
	byMulti := make([][]float64, len(f))
	for m := range gradient {
		clear(gradient[m])
	}
	for m := range f {
		value := o.estimates(m, f, multi[m])
		by := value.zeros()
		o.consistency(value, by, &loss)
		if !o.set.WithoutConstraint {
			for e := range value {
				loss.Constraint += o.constraint(value[e], by[e])
			}
		}
		byMulti[m] = by[1]
		if gradient == nil {
			continue
		}
		for i, g := range by[0] {
			gradient[m][i] += g
		}
		for k, b := range o.partners[m] {
			o.cross[m][b].back(gradient[b], by[2+k])
		}
	}
	loss.Total = o.set.Lambda*(loss.Single+loss.Cross) + loss.Constraint
	if gradient == nil {
		return loss, nil
	}
	return loss, o.backMulti(ctx, f, byMulti, gradient)
}

// estimates are what is known of the segments of one view: Fsingle, Fmulti, and
// then Fcross with every other view that shares pairs with it. An entry of Fcross
// is NaN where no pair of the segment has the other view.
type estimates [][]float64

func (o *objective) estimates(m int, f [][]float64, multi []float64) estimates {
	e := estimates{f[m], multi}
	for _, b := range o.partners[m] {
		e = append(e, o.cross[m][b].mean(f[b]))
	}
	return e
}

func (e estimates) zeros() estimates {
	z := make(estimates, len(e))
	for k := range e {
		z[k] = make([]float64, len(e[k]))
	}
	return z
}

// consistency adds one view's part of the consistency loss to loss, and its
// derivatives, times lambda, to by.
func (o *objective) consistency(value, by estimates, loss *Losses) {
	single, multi, cross := value[0], value[1], value[2:]
	views := float64(len(o.views))
	weight := 1 / (views * float64(len(single)))
	if o.set.Loss == Mixed {
		weight /= views
	}
	scale := 2 * o.set.Lambda * weight
	for i, s := range single {
		// Distances are taken to Fmix in Eq. loss_1. In Eq. loss_fz, Fsingle is
		// compared with Fmulti and with every Fcross.
		if o.set.Loss == Direct {
			if !o.set.WithoutSingle {
				d := s - multi[i]
				loss.Single += weight * d * d
				by[0][i] += scale * d
				by[1][i] -= scale * d
			}
			for b := range cross {
				if d := s - cross[b][i]; d == d && !o.set.WithoutCross {
					loss.Cross += weight * d * d
					by[0][i] += scale * d
					by[2+b][i] -= scale * d
				}
			}
			continue
		}
		sum, n := s, 1.0
		for b := range cross {
			if x := cross[b][i]; x == x {
				sum += x
				n++
			}
		}
		mean := sum / n
		mix := math.Sqrt(max(multi[i]*mean, tiny*tiny)) // Eq. f_mix
		pull := 0.0                                     // minus the derivative by mix
		if !o.set.WithoutSingle {
			d := s - mix
			loss.Single += weight * d * d
			by[0][i] += scale * d
			pull += scale * d
		}
		for b := range cross {
			if d := cross[b][i] - mix; d == d && !o.set.WithoutCross {
				loss.Cross += weight * d * d
				by[2+b][i] += scale * d
				pull += scale * d
			}
		}
		by[1][i] -= pull * mean / (2 * mix)
		share := pull * multi[i] / (2 * mix * n)
		by[0][i] -= share
		for b := range cross {
			if x := cross[b][i]; x == x {
				by[2+b][i] -= share
			}
		}
	}
}

// constraint returns the part of Eq. loss_2 of one estimate, and adds its
// derivative to by: the lowest segments belong at 0, the highest at 1.
func (o *objective) constraint(value, by []float64) float64 {
	loss := 0.0
	draw := func(i int, to float64) {
		if d := value[i] - to; d == d {
			loss += d * d
			by[i] += 2 * d
		}
	}
	for i := range min(o.set.Low, len(value)) {
		draw(i, 0)
	}
	for i := max(0, len(value)-o.set.High); i < len(value); i++ {
		draw(i, 1)
	}
	return loss
}

// backMulti adds to gradient what the derivatives by Fmulti mean for f. It uses
// the joint probabilities of the last call of multi.
func (o *objective) backMulti(ctx context.Context, f, byMulti, gradient [][]float64) error {
	for m, v := range o.views {
		for i := range byMulti[m] {
			byMulti[m][i] /= v.count[i]
		}
	}
	// A joint probability J is logistic in the sum of the log-odds of f, so its
	// derivative by each of them is J(1-J).
	byLogit, err := o.sum(ctx, func(t int) float64 {
		g := 0.0
		for m, v := range o.views {
			if i := v.of[t]; i >= 0 {
				g += byMulti[m][i]
			}
		}
		return g * o.joint[t] * (1 - o.joint[t])
	})
	if err != nil {
		return err
	}
	for m := range gradient {
		for i := range gradient[m] {
			p := clamp(f[m][i])
			gradient[m][i] += byLogit[m][i] / (p * (1 - p))
		}
	}
	return nil
}

// clamp keeps p away from 0 and 1.
func clamp(p float64) float64 { return min(max(p, tiny), 1-tiny) }

// crossing says, for every segment of one view, how its pairs spread over the
// segments of another: row i holds the segments Column and the shares Share of
// the pairs of segment i that have the other view.
type crossing struct {
	offsets []int
	column  []int32
	share   []float64
}

// cross counts the pairs that segments of a and b have in common. It returns nil
// where no pair has both views.
func cross(a, b *segments) *crossing {
	c := &crossing{offsets: make([]int, len(a.mean)+1)}
	// Bucket the pairs by segment of a, then count the segments of b in each.
	start := make([]int, len(a.mean)+1)
	for t, i := range a.of {
		if i >= 0 && b.of[t] >= 0 {
			start[i+1]++
		}
	}
	for i := range a.mean {
		start[i+1] += start[i]
	}
	total := start[len(a.mean)]
	if total == 0 {
		return nil
	}
	bucket, fill := make([]int32, total), slices.Clone(start)
	for t, i := range a.of {
		if j := b.of[t]; i >= 0 && j >= 0 {
			bucket[fill[i]] = j
			fill[i]++
		}
	}
	count := make([]int, len(b.mean))
	for i := range a.mean {
		row := bucket[start[i]:start[i+1]]
		for _, j := range row {
			count[j]++
		}
		slices.Sort(row)
		for _, j := range slices.Compact(row) {
			c.column = append(c.column, j)
			c.share = append(c.share, float64(count[j])/float64(start[i+1]-start[i]))
			count[j] = 0
		}
		c.offsets[i+1] = len(c.column)
	}
	return c
}

// mean returns Fcross, Eq. f_cross: the mean of the other view's f over the
// pairs of every segment, or NaN where there are none.
func (c *crossing) mean(f []float64) []float64 {
	out := make([]float64, len(c.offsets)-1)
	for i := range out {
		if c.offsets[i] == c.offsets[i+1] {
			out[i] = math.NaN()
		}
		for e := c.offsets[i]; e < c.offsets[i+1]; e++ {
			out[i] += c.share[e] * f[c.column[e]]
		}
	}
	return out
}

// back adds to gradient, by segment of the other view, what the derivatives by
// Fcross mean for f.
func (c *crossing) back(gradient, by []float64) {
	for i, g := range by {
		for e := c.offsets[i]; e < c.offsets[i+1]; e++ {
			gradient[c.column[e]] += g * c.share[e]
		}
	}
}

// model makes the result out of the learned values.
func (o *objective) model(f [][]float64, curve []Losses) *Model {
	model := &Model{Settings: o.set, Curve: curve, Cross: make([][]*Function, len(f))}
	for m, v := range o.views {
		model.Functions = append(model.Functions, Function{X: v.mean, P: f[m]})
		base, pairs := 0.0, 0.0
		for i, n := range v.count {
			base += n * f[m][i]
			pairs += n
		}
		model.BaseRate = append(model.BaseRate, base/pairs)
		model.Cross[m] = make([]*Function, len(f))
		for _, b := range o.partners[m] {
			model.Cross[m][b] = filled(v.mean, o.cross[m][b].mean(f[b]))
		}
	}
	return model
}

// filled returns the function through the points whose p is known.
func filled(x, p []float64) *Function {
	f := &Function{}
	for i := range p {
		if p[i] == p[i] {
			f.X, f.P = append(f.X, x[i]), append(f.P, p[i])
		}
	}
	return f
}
