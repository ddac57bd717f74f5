package linkage

import (
	"context"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
)

// Distances says how far samples are apart: on average over the views that both have, each in units of its
// mean distance,
//
//	d(i,j) = (1 / n) Σ_m d_m(i,j) / mean(d_m)
//
// over those n views, and 1, the mean, where there is none.
type Distances struct {
	spaces  []*similarity.Space
	means   []float64
	samples []int32       // that are compared
	held    [][][]float32 // by view, sample and earlier sample: d_m / mean(d_m), NaN where one lacks the view; nil where not held
}

// NewDistances returns the distances of samples in spaces of as many samples, whose similarities are not on a
// local scale. A space in which no two samples differ is left out. It is an error if a space is unusable, or of
// another number of samples.
func NewDistances(spaces ...*similarity.Space) (*Distances, error) {
	d := &Distances{}
	for at, s := range spaces {
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("space %d: %w", at, err)
		}
		if s.Samples != spaces[0].Samples {
			return nil, fmt.Errorf("space %d is of %d samples, and the first of %d; give spaces of the same samples", at, s.Samples, spaces[0].Samples)
		}
		if s.Varied() != nil {
			continue
		}
		if mean := meanDistance(s); mean > 0 {
			d.spaces, d.means = append(d.spaces, s), append(d.means, mean)
		}
	}
	if len(d.spaces) > 0 {
		d.samples = make([]int32, d.spaces[0].Samples)
		for i := range d.samples {
			d.samples[i] = int32(i)
		}
	}
	return d, nil
}

// measured is how many samples a mean distance rests on.
const measured = 300

// meanDistance returns that of some of the samples which have the view, evenly spaced.
func meanDistance(s *similarity.Space) float64 {
	count := min(measured, s.Count())
	some, values := make([]int32, count), make([]float32, count)
	for t := range some {
		some[t] = int32(s.Sample(sparse.Spaced(t, count, s.Count())))
	}
	sum := 0.0
	for t, i := range some {
		s.Similarities(values, int(i), some[:t])
		for _, x := range values[:t] {
			sum += float64(s.Distance(x))
		}
	}
	return 2 * sum / float64(max(1, count*(count-1)))
}

// Views returns the number of views that are compared. Without one, there are no distances.
func (d *Distances) Views() int {
	if d == nil {
		return 0
	}
	return len(d.spaces)
}

// without returns the distances without view v of those that are compared.
func (d *Distances) without(v int) *Distances {
	out := &Distances{slices.Delete(slices.Clone(d.spaces), v, v+1), slices.Delete(slices.Clone(d.means), v, v+1), d.samples, nil}
	if d.held != nil {
		out.held = slices.Delete(slices.Clone(d.held), v, v+1)
	}
	return out
}

// some returns the distances of at most so many samples, evenly spaced.
func (d *Distances) some(count int) *Distances {
	count = min(count, len(d.samples))
	out := &Distances{d.spaces, d.means, make([]int32, count), nil}
	for t := range out.samples {
		out.samples[t] = d.samples[sparse.Spaced(t, count, len(d.samples))]
	}
	return out
}

const (
	// mostHeld bounds the distances that are held, and cached the bytes of the rows that several others are compared
	// with one after the other.
	mostHeld = 1 << 25
	cached   = 1 << 19
)

// holding returns how many distances are held of so many samples in so many views.
func holding(samples, views int) int64 {
	if all := int64(views) * int64(samples) * int64(samples-1) / 2; all <= mostHeld {
		return all
	}
	return 0
}

// hold returns d with the distances of all pairs, unless these are too many, so that they are measured once. The
// error is the context's own.
func (d *Distances) hold(ctx context.Context, threads int) (*Distances, error) {
	n := len(d.samples)
	if holding(n, len(d.spaces)) == 0 {
		return d, ctx.Err()
	}
	out := *d
	out.held = make([][][]float32, len(d.spaces))
	for v, s := range d.spaces {
		rows, chunk := make([][]float32, n), max(16, cached/(4*s.Dims))
		err := parallel.Blocks(ctx, threads, n, 16, func(_, lo, hi int) {
			for from := 0; from < hi; from += chunk {
				for i := lo; i < hi; i++ {
					if from == 0 {
						rows[i] = make([]float32, i)
					}
					if to := min(i, from+chunk); from < to {
						d.measure(v, i, from, rows[i][from:to])
					}
				}
			}
		})
		if err != nil {
			return nil, err
		}
		out.held[v] = rows
	}
	return &out, nil
}

// measure sets dst to how far sample i and those from a place on are apart in view v, in units of the mean, and to NaN
// where one lacks the view.
func (d *Distances) measure(v, i, from int, dst []float32) {
	s := d.spaces[v]
	s.Similarities(dst, int(d.samples[i]), d.samples[from:from+len(dst)])
	for t, x := range dst {
		if x == x {
			dst[t] = float32(float64(s.Distance(x)) / d.means[v])
		}
	}
}

// Of sets dst[j], for all j below i, to how far samples i and j are apart, as Average asks for. It panics if there
// is no sample i, or if dst is shorter.
func (d *Distances) Of(i int, dst []float32) {
	dst = dst[:i]
	count := make([]float32, i)
	var alone []float32
	if d.held == nil {
		alone = make([]float32, i)
	}
	clear(dst)
	for v := range d.spaces {
		if d.held != nil {
			alone = d.held[v][i]
		} else {
			d.measure(v, i, 0, alone)
		}
		for t, x := range alone {
			if x == x { // both have the view
				dst[t] += x
				count[t]++
			}
		}
	}
	for t, c := range count {
		if dst[t] /= max(1, c); c == 0 {
			dst[t] = 1
		}
	}
}
