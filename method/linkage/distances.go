package linkage

import (
	"fmt"
	"slices"

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
	samples []int32 // that are compared
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
		s.Similarities(values, int(i), some)
		for u, x := range values {
			if u != t {
				sum += float64(s.Distance(x))
			}
		}
	}
	return sum / float64(max(1, count*(count-1)))
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
	return &Distances{slices.Delete(slices.Clone(d.spaces), v, v+1), slices.Delete(slices.Clone(d.means), v, v+1), d.samples}
}

// some returns the distances of at most so many samples, evenly spaced.
func (d *Distances) some(count int) *Distances {
	count = min(count, len(d.samples))
	out := &Distances{d.spaces, d.means, make([]int32, count)}
	for t := range out.samples {
		out.samples[t] = d.samples[sparse.Spaced(t, count, len(d.samples))]
	}
	return out
}

// Of sets dst[j], for all j below i, to how far samples i and j are apart, as Average asks for. It panics if there
// is no sample i, or if dst is shorter.
func (d *Distances) Of(i int, dst []float32) {
	dst = dst[:i]
	alone, count := make([]float32, i), make([]float32, i)
	clear(dst)
	for v, s := range d.spaces {
		s.Similarities(alone, int(d.samples[i]), d.samples[:i])
		for t, x := range alone {
			if x == x { // both have the view
				dst[t] += float32(float64(s.Distance(x)) / d.means[v])
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
