package neighbour

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/similarity"
)

const (
	axesSample = 2048  // rows at least that the axes are found from
	axesRound  = 4     // of power iteration
	maxAxes    = 256   // that rows are projected onto
	maxLost    = 0.003 // of the neighbours of the rows whose neighbours are known
)

// kept lists the shares of the rows' squares that the axes have to hold, one after the other until
// the neighbours are kept: some that are hardly nearer than other samples take more axes to tell
// apart.
var kept = [...]float64{0.995, 0.9995, 0.99995}

// reduce returns the rows projected onto the fewest axes that keep the neighbours in t. Products
// and distances are then nearly the same, and cost less. lost is the share of these neighbours
// that the projection loses.
//
// It returns f.rows itself where half of the dimensions do not suffice, where the metric is
// L1 or L3, or where too many neighbours are lost.
func (f *finder) reduce(t *truth, random *rand.Rand) (rows block, lost float64, err error) {
	for _, share := range kept {
		if rows, lost, err = f.reduceTo(t, random, share); err != nil || f.axes != nil {
			break
		}
	}
	return rows, lost, err
}

// reduceTo is reduce onto the axes that hold one share of the squares.
func (f *finder) reduceTo(t *truth, random *rand.Rand, kept float64) (rows block, lost float64, err error) {
	if m := f.space.Metric(); m != similarity.Cosine && m != similarity.L2 {
		return f.rows, 0, nil
	}
	axes, err := f.principalAxes(random, kept)
	if err != nil || len(axes) == 0 {
		return f.rows, 0, err
	}
	if rows, err = f.project(f.rows, axes); err != nil {
		return f.rows, 0, err
	}
	rows.index, rows.id, rows.row = f.rows.id, f.rows.id, f.rows.id
	found := make([]int, len(t.rows))
	err = f.exactFor(rows, t.rows, func(q int, best []rank.Key) {
		for _, k := range best {
			if k.Score() >= t.thresholds[q] {
				found[q]++
			}
		}
	})
	for _, n := range found {
		lost += float64(n)
	}
	if lost = 1 - lost/float64(len(t.neighbours)); err != nil || lost > maxLost {
		return f.rows, 0, err
	}
	f.axes = axes
	return rows, lost, nil
}

// project returns the coordinates of rows along axes.
func (f *finder) project(rows block, axes []float32) (block, error) {
	n, count := rows.count(), len(axes)/f.space.Dims
	out := block{data: make([]float32, n*count), dims: count, index: numbers(n)}
	all := numbers(count)
	if rows.data == nil { // of a space that makes them
		err := f.space.Scan(f.ctx, f.threads, func(r int, row []float32) {
			f.kernel.Against(kernel.Dot, row, axes, all, out.of(r))
		})
		return out, err
	}
	err := parallel.Blocks(f.ctx, f.threads, n, 1024, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			f.kernel.Against(kernel.Dot, rows.of(r), axes, all, out.of(r))
		}
	})
	return out, err
}

// principalAxes returns orthonormal directions, one after the other, the strongest first, that
// hold the share kept of the squares of some rows. It returns none where that takes too many
// axes. The method is power iteration.
func (f *finder) principalAxes(random *rand.Rand, kept float64) ([]float32, error) {
	d := f.space.Dims
	limit := min(d/2, maxAxes)
	moments, err := f.moments(random)
	if err != nil || limit == 0 {
		return nil, err
	}
	all, trace := numbers(d), 0.0
	for i := range d {
		trace += float64(moments[i*d+i])
	}
	axes, next := make([]float32, limit*d), make([]float32, limit*d)
	for i := range axes {
		axes[i] = float32(random.NormFloat64())
	}
	for round := range axesRound {
		err := parallel.Blocks(f.ctx, f.threads, limit, 4, func(_, lo, hi int) {
			for a := lo; a < hi; a++ {
				f.kernel.Against(kernel.Dot, axes[a*d:][:d], moments, all, next[a*d:][:d])
			}
		})
		if err != nil {
			return nil, err
		}
		if round > 0 {
			held := 0.0
			for a := range limit {
				if held += dot(axes[a*d:][:d], next[a*d:][:d]); round == axesRound-1 && held >= kept*trace {
					return axes[:(a+1)*d], nil
				}
			}
			if !(held >= kept*trace/2) { // far from it, or not a number
				return nil, nil
			}
		}
		axes, next = next, axes
		for a := range limit {
			orthonormalise(axes[:(a+1)*d], d)
		}
	}
	return nil, nil
}

// orthonormalise makes the last of axes orthogonal to the others and of length 1, or zeros
// where it depends on the others (Gram-Schmidt).
func orthonormalise(axes []float32, d int) {
	last := len(axes) - d
	axis := axes[last:]
	before := math.Sqrt(dot(axis, axis))
	for range 2 { // once is not enough for one that nearly lies among the others
		for at := 0; at < last; at += d {
			other := axes[at:][:d]
			share := float32(dot(axis, other))
			for i, x := range other {
				axis[i] -= float32(share * x)
			}
		}
	}
	length := math.Sqrt(dot(axis, axis))
	if !(length > 1e-5*before) {
		clear(axis)
		return
	}
	for i, x := range axis {
		axis[i] = float32(float64(x) / length)
	}
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(float64(x) * float64(b[i]))
	}
	return sum
}

// moments returns the mean products of every two dimensions, dims x dims, over some rows.
func (f *finder) moments(random *rand.Rand) ([]float32, error) {
	n, d := f.rows.count(), f.space.Dims
	some := random.Perm(n)[:min(n, max(axesSample, 2*d))]
	slices.Sort(some)
	turned, scale := make([]float32, d*len(some)), 1/math.Sqrt(float64(len(some)))
	for t, r := range some {
		for i, x := range f.rows.of(r) {
			turned[i*len(some)+t] = float32(float64(x) * scale)
		}
	}
	moments, all := make([]float32, d*d), numbers(d)
	err := parallel.Blocks(f.ctx, f.threads, d, 4, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			f.kernel.Against(kernel.Dot, turned[i*len(some):][:len(some)], turned, all, moments[i*d:][:d])
		}
	})
	return moments, err
}
