package probability

import "math"

// estimates holds the three estimates of the share of pairs of the same class in each
// segment of one view, or the derivatives of the loss by them.
type estimates struct {
	single []float64   // Fsingle
	multi  []float64   // Fmulti
	cross  [][]float64 // Fcross by partner; NaN where no pair of the segment has it
}

// zeros returns zeros in the shape of e.
func (e estimates) zeros() estimates {
	z := estimates{make([]float64, len(e.single)), make([]float64, len(e.multi)), make([][]float64, len(e.cross))}
	for k := range e.cross {
		z.cross[k] = make([]float64, len(e.cross[k]))
	}
	return z
}

// mean returns the mean of Fsingle and Fcross at segment i, and their number: M, or
// fewer where no pair of the segment has some view.
func (e estimates) mean(i int) (mean, n float64) {
	sum, n := e.single[i], 1.0
	for _, c := range e.cross {
		if x := c[i]; x == x {
			sum += x
			n++
		}
	}
	return sum / n, n
}

// mix returns Fmix, Eq. f_mix, of Fmulti and of the mean of the others.
func mix(multi, mean float64) float64 { return math.Sqrt(max(multi*mean, tiny*tiny)) }

// consistency adds one view's part of the consistency loss to loss, and its
// derivatives, times lambda, to by.
func (o *objective) consistency(e, by estimates, loss *Losses) {
	weight := 1 / float64(len(o.views)*len(e.single))
	if o.set.Loss == Direct {
		o.direct(e, by, weight, loss)
	} else {
		o.mixed(e, by, weight/float64(len(o.views)), loss)
	}
}

// direct is Eq. loss_fz: Fsingle is held to Fmulti, and to every Fcross.
func (o *objective) direct(e, by estimates, weight float64, loss *Losses) {
	scale := 2 * o.set.Lambda * weight
	hold := func(to, byTo []float64, loss *float64) {
		for i, single := range e.single {
			if d := single - to[i]; d == d {
				*loss += weight * d * d
				by.single[i] += scale * d
				byTo[i] -= scale * d
			}
		}
	}
	if !o.set.WithoutSingle {
		hold(e.multi, by.multi, &loss.Single)
	}
	if !o.set.WithoutCross {
		for k, cross := range e.cross {
			hold(cross, by.cross[k], &loss.Cross)
		}
	}
}

// mixed is Eq. loss_1: Fsingle and every Fcross are held to Fmix, which itself depends on
// them.
func (o *objective) mixed(e, by estimates, weight float64, loss *Losses) {
	scale := 2 * o.set.Lambda * weight
	for i, multi := range e.multi {
		mean, n := e.mean(i)
		mix, byMix := mix(multi, mean), 0.0
		hold := func(x float64, byX, loss *float64) {
			if d := x - mix; d == d {
				*loss += weight * d * d
				*byX += scale * d
				byMix -= scale * d
			}
		}
		if !o.set.WithoutSingle {
			hold(e.single[i], &by.single[i], &loss.Single)
		}
		if !o.set.WithoutCross {
			for k, cross := range e.cross {
				hold(cross[i], &by.cross[k][i], &loss.Cross)
			}
		}
		by.multi[i] += byMix * mean / (2 * mix)
		byEach := byMix * multi / (2 * mix * n)
		by.single[i] += byEach
		for k := range e.cross {
			by.cross[k][i] += byEach // of no effect where Fcross is NaN
		}
	}
}

// constraint adds one view's part of Eq. loss_2 to loss, and its derivatives to by: the
// lowest segments are drawn to 0, the highest to 1.
func (o *objective) constraint(e, by estimates, loss *Losses) {
	draw := func(x, byX []float64) {
		one := func(i int, to float64) {
			if d := x[i] - to; d == d {
				loss.Constraint += d * d
				byX[i] += 2 * d
			}
		}
		low, high := o.set.ends(len(x))
		for i := range low {
			one(i, 0)
		}
		for i := len(x) - high; i < len(x); i++ {
			one(i, 1)
		}
	}
	draw(e.multi, by.multi)
	draw(e.single, by.single)
	for k := range e.cross {
		draw(e.cross[k], by.cross[k])
	}
}
