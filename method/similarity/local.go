package similarity

import (
	"context"
	"math"

	"github.com/mvclust/mvclust/internal/parallel"
)

// Local is how many of a sample's neighbours tell how far apart samples are around it.
const Local = 10

// Localised returns the space, which shares its rows with s, in which the distance of two
// samples is measured against how far either is from its neighbours: Similarity is
//
//	-d(i,j) / sqrt(r(i) r(j)),
//
// d being 1 minus the cosine, or the distance of the metric, and r(i) the mean of d over
// the first Local samples of nearest(i), which lists neighbours, most alike first. It makes
// dense and sparse regions alike, and views too: how alike two samples are says more once
// it is known how alike others are there. The only error is the context's own.
func (s *Space) Localised(ctx context.Context, nearest func(i int) []int32, threads int) (*Space, error) {
	radius := make([]float64, len(s.data)/s.Dims)
	err := parallel.Blocks(ctx, threads, s.Count(), 64, func(_, lo, hi int) {
		var near [Local]float32
		for r := lo; r < hi; r++ {
			i := s.Sample(r)
			list := nearest(i)
			list = list[:min(len(list), Local)]
			s.Similarities(near[:], i, list)
			sum := 0.0
			for _, x := range near[:len(list)] {
				sum += float64(s.distance(x))
			}
			radius[s.slot[i]] = sum / float64(max(1, len(list)))
		}
	})
	if err != nil {
		return nil, err
	}
	widest := 0.0
	for _, x := range radius {
		widest = max(widest, x)
	}
	if widest == 0 {
		widest = 1e6 // all neighbours are equal rows, and all distances stay as they are
	}
	out := *s
	// Among equal rows nothing is near or far: the floor keeps the ratio finite.
	out.scale, out.floor = make([]float32, len(radius)), flat*widest
	for r, x := range radius {
		out.scale[r] = out.scaleOf(x)
	}
	return &out, nil
}

// flat is the least radius, in units of the widest.
const flat = 1e-6

func (s *Space) scaleOf(radius float64) float32 { return float32(1 / math.Sqrt(max(radius, s.floor))) }

// LocalScales returns what Localised multiplies distances by, 1/sqrt(r(i)) by sample, as it
// found them; 0 where a sample lacks the view, and nil where s is not localised.
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

// WithLocalScales returns the space that Localised would, had it found these scales, by sample.
// Those of samples that lack the view are not looked at.
func (s *Space) WithLocalScales(scales []float32) *Space {
	out := *s
	out.scale = make([]float32, len(s.data)/s.Dims)
	least, most := math.Inf(1), 0.0
	for i, slot := range s.slot {
		if slot < 0 {
			continue
		}
		if out.scale[slot] = scales[i]; scales[i] > 0 { // and no newcomer, whose scale is not known yet
			least, most = min(least, float64(scales[i])), max(most, float64(scales[i]))
		}
	}
	if out.floor = flat / (least * least); least == 1 && most == 1 {
		out.floor = 1 // all neighbours are equal rows
	}
	return &out
}

// distance is how far apart two samples of the given similarity are.
func (s *Space) distance(similarity float32) float32 {
	if s.metric == Cosine {
		return max(0, 1-similarity)
	}
	return -similarity
}

// localise turns similarities to the rows in slots into local ones.
func (s *Space) localise(dst []float32, scale float32, slots []int32) {
	for t, x := range dst {
		dst[t] = -s.distance(x) * (scale * s.scale[slots[t]])
	}
}
