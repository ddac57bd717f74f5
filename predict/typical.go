package predict

import (
	"math"
	"slices"

	"github.com/mvclust/mvclust"
)

// typical tells how many of a model's samples are no better at home than a new one is.
type typical struct {
	m       *mvclust.Model
	support []float64 // of the model's samples, ascending
	near    []float64 // the same; nil where distances are not measured against the surroundings
	worse   []float64 // the same: the lower of both ranks
}

func newTypical(m *mvclust.Model) *typical {
	t := &typical{m: m}
	local := m.Neighbourhoods != nil && slices.ContainsFunc(m.Views, func(v mvclust.ModelView) bool { return v.LocalScales != nil && !v.LeftOut })
	n := m.Samples()
	support, near := make([]float64, n), make([]float64, n)
	for i := range n {
		support[i] = t.supportOf(i)
		if local {
			near[i] = t.nearOf(i)
		}
	}
	t.support = slices.Sorted(slices.Values(support))
	if local {
		t.near = slices.Sorted(slices.Values(near))
	}
	for i := range n {
		t.worse = append(t.worse, t.rank(support[i], near[i]))
	}
	slices.Sort(t.worse)
	return t
}

// share returns the typicality of a sample.
func (t *typical) share(support, near float64) float64 { return upTo(t.worse, t.rank(support, near)) }

// rank returns the share of the model's samples that have less support, or are less near,
// whichever is the less.
func (t *typical) rank(support, near float64) float64 {
	rank := upTo(t.support, support)
	if t.near != nil {
		rank = min(rank, upTo(t.near, near))
	}
	return rank
}

// upTo returns the share of sorted values that are not above x.
func upTo(sorted []float64, x float64) float64 {
	count, _ := slices.BinarySearchFunc(sorted, x, func(y, x float64) int {
		if y <= x {
			return -1
		}
		return 1
	})
	return float64(count) / float64(len(sorted))
}

// byLinks reports whether clusters are told by the links into them, rather than by the
// probabilities of single pairs.
func byLinks(m *mvclust.Model) bool { return m.Settings.Resolution > 0 }

// supportOf returns the support of a sample of the model.
func (t *typical) supportOf(i int) float64 {
	sum := 0.0
	if !byLinks(t.m) && t.m.Neighbourhoods != nil {
		_, probability := t.m.Neighbourhoods.Of(i)
		for _, x := range probability {
			sum += float64(x)
		}
		return sum
	}
	index, weight := t.m.Graph.Of(i)
	for e, j := range index {
		if !byLinks(t.m) || t.m.Labels[j] == t.m.Labels[i] {
			sum += float64(weight[e])
		}
	}
	return sum
}

// nearOf returns how near a sample of the model is to its neighbours.
func (t *typical) nearOf(i int) float64 {
	index, _ := t.m.Neighbourhoods.Of(i)
	return t.nearness(index, func(m int) float64 { return float64(t.m.Views[m].LocalScales[i]) })
}

// surrounding is how many of the most probable neighbours tell what is near.
const surrounding = 10

// nearness returns how near a sample is to its neighbours, most probable first, as these
// are to theirs: the logarithm of the ratio of their distances to its own, averaged over
// the neighbours, and over the views as Stouffer's test adds up scores. root tells what the
// sample's distances are multiplied by in a view, which is NaN where it lacks the view.
func (t *typical) nearness(neighbours []int32, root func(m int) float64) float64 {
	neighbours = neighbours[:min(len(neighbours), surrounding)]
	sum, views := 0.0, 0.0
	for m, v := range t.m.Views {
		if v.LocalScales == nil || v.LeftOut {
			continue
		}
		own := root(m)
		ratio, count := 0.0, 0.0
		for _, j := range neighbours {
			if theirs := float64(v.LocalScales[j]); own > 0 && theirs > 0 {
				ratio += 2 * math.Log(own/theirs)
				count++
			}
		}
		if count > 0 {
			sum += ratio / count
			views++
		}
	}
	return sum / math.Sqrt(max(1, views))
}
