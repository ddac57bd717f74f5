package similarity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Local is the number of neighbours that a local scale rests on.
const Local = 10

// Localised returns the space in which distances are measured in units of the distances to
// the nearest neighbours:
//
//	Similarity(i, j) = -d(i, j) / sqrt(r(i) r(j))
//
// d is 1 minus the cosine, or the distance of the metric. r(i) is the mean of d over the
// first Local samples of nearest(i), which lists neighbours, most alike first, but at least half
// the median of these means where a tenth of them or more are below that. Such samples have near
// copies, whose distance is no measure of how far apart groups are. The local scale of i is
// 1 / sqrt(r(i)). Localised distances are comparable between dense and sparse regions, and
// between views.
//
// The space shares its rows with s. The errors are those of Space.Check, a nearest that is nil
// or lists a sample that is not there, and the context's own.
func (s *Space) Localised(ctx context.Context, nearest func(i int) []int32, threads int) (*Space, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if nearest == nil {
		return nil, errors.New("there are no neighbours to take distances to; pass those of every sample")
	}
	var wrong atomic.Bool
	mean := make([]float64, s.places())
	err := parallel.Blocks(ctx, threads, s.Count(), 64, func(_, lo, hi int) {
		var near [Local]float32
		for r := lo; r < hi; r++ {
			i := s.Sample(r)
			list := nearest(i)
			list = list[:min(len(list), Local)]
			if slices.ContainsFunc(list, func(j int32) bool { return uint(j) >= uint(s.Samples) }) {
				wrong.Store(true)
				continue
			}
			s.Similarities(near[:], i, list)
			sum := 0.0
			for _, x := range near[:len(list)] {
				sum += float64(s.Distance(x))
			}
			mean[s.slot[i]] = sum / float64(max(1, len(list)))
		}
	})
	if wrong.Load() {
		err = fmt.Errorf("a sample has a neighbour that is none of the %d samples", s.Samples)
	}
	if err != nil {
		return nil, err
	}
	known := make([]float64, s.Count())
	for r := range known {
		known[r] = mean[s.slot[s.Sample(r)]]
	}
	out := *s
	out.scale, out.floor = make([]float32, len(mean)), leastDistance(known)
	for at, x := range mean {
		out.scale[at] = out.scaleOf(x)
	}
	return &out, nil
}

// flat is the least mean distance r, in units of the largest.
const flat = 1e-6

// denseShare is the share of the samples that must be more than twice as dense as the median one for the
// least r to be half the median.
const denseShare = 0.1

// leastDistance returns the least r of samples of the given mean distances, which it sorts.
func leastDistance(mean []float64) float64 {
	slices.Sort(mean)
	if len(mean) == 0 || mean[len(mean)-1] == 0 {
		return 1 // all neighbours are equal rows: every scale is 1
	}
	half := mean[len(mean)/2] / 2
	if dense, _ := slices.BinarySearch(mean, half); float64(dense) >= denseShare*float64(len(mean)) && half > 0 {
		return half
	}
	// r is 0 among equal rows: this keeps the quotient finite.
	return flat * mean[len(mean)-1]
}

// scaleOf returns the local scale 1 / sqrt(r).
func (s *Space) scaleOf(r float64) float32 { return float32(1 / math.Sqrt(max(r, s.floor))) }

// LocalScaleAmong returns the local scale of a row, as Localised finds it, given its similarities
// with its nearest samples, most alike first, and the largest mean distance r of all samples. It is
// for samples that are not in one place. MeanDistance returns r.
func LocalScaleAmong(m Metric, nearest []float32, largest float64) float32 {
	s := &Space{metric: m, floor: flat * largest}
	if largest == 0 {
		s.floor = 1 // all neighbours are equal rows
	}
	return s.scaleOf(MeanDistance(m, nearest))
}

// MeanDistance returns the mean distance r of a row that Localised finds, given its similarities
// with its nearest samples, most alike first.
func MeanDistance(m Metric, nearest []float32) float64 {
	s, sum := &Space{metric: m}, 0.0
	nearest = nearest[:min(len(nearest), Local)]
	for _, x := range nearest {
		sum += float64(s.Distance(x))
	}
	return sum / float64(max(1, len(nearest)))
}

// Plain returns the space whose similarities are not localised, s itself where they are not.
func (s *Space) Plain() *Space {
	if s == nil || s.scale == nil {
		return s
	}
	out := *s
	out.scale = nil
	return &out
}

// LocalScales returns the local scales 1 / sqrt(r(i)) by sample, 0 where a sample lacks the
// view. It returns nil where the space is not localised.
func (s *Space) LocalScales() []float32 {
	if s.scale == nil {
		return nil
	}
	out := make([]float32, s.Samples)
	for i, slot := range s.slot {
		if slot >= 0 {
			out[i] = s.scale[slot]
		}
	}
	return out
}

// WithLocalScales returns the space that Localised would return had it found these scales,
// by sample. Those of samples that lack the view are ignored. A scale of 0 stands for one
// that is not known yet. It panics if there are fewer scales than samples.
func (s *Space) WithLocalScales(scales []float32) *Space {
	out := *s
	out.scale = make([]float32, s.places())
	least, largest, known, dense := float32(math.Inf(1)), float32(0), 0, 0
	for i, slot := range s.slot {
		if slot < 0 {
			continue
		}
		if out.scale[slot] = scales[i]; scales[i] > 0 {
			known++
			switch least = min(least, scales[i]); {
			case scales[i] > largest:
				largest, dense = scales[i], 1
			case scales[i] == largest:
				dense++
			}
		}
	}
	out.floor = flat / (float64(least) * float64(least))
	if float64(dense) >= denseShare*float64(known) { // these have the least r
		out.floor = 1 / (float64(largest) * float64(largest))
	}
	return &out
}

// Distance returns how far two samples of the given plain similarity are apart: 1 minus the cosine, at least 0,
// or the distance of the metric.
func (s *Space) Distance(similarity float32) float32 {
	if s.metric == Cosine {
		return max(0, 1-similarity)
	}
	return -similarity
}

// localise turns similarities with the rows in slots into localised ones.
func (s *Space) localise(dst []float32, scale float32, slots []int32) {
	for t, x := range dst {
		dst[t] = -s.Distance(x) * (scale * s.scale[slots[t]])
	}
}
