package predict

import (
	"context"
	"math"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/sparse"
)

// judged is the most samples of the model that others are compared with. Shares are then right to 0.001
// near 0.01, where they decide.
const judged = 100_000

// typicality has what Result.Typicality compares a sample with: of evenly spaced samples of the
// model, by rising value, the supports, the densities (nil where similarities are not localised)
// and the ranks r.
type typicality struct {
	m       *mvclust.Model
	support []float64
	density []float64
	ranks   []float64
}

func newTypicality(ctx context.Context, m *mvclust.Model, threads int) (*typicality, error) {
	t := &typicality{m: m}
	local := m.Neighbourhoods != nil && slices.ContainsFunc(m.Views, func(v mvclust.ModelView) bool { return v.LocalScales != nil && !v.LeftOut })
	all := m.Samples()
	n := min(all, judged)
	support, density := make([]float64, n), make([]float64, n)
	err := parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			sample := sparse.Spaced(i, n, all)
			support[i] = t.supportOf(sample)
			if local {
				density[i] = t.densityOf(sample)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	t.support, t.ranks = slices.Clone(support), make([]float64, n)
	if local {
		t.density = slices.Clone(density)
	}
	sorted := [][]float64{t.support, t.density}
	err = parallel.Blocks(ctx, threads, len(sorted), 1, func(_, at, _ int) { slices.Sort(sorted[at]) })
	if err != nil {
		return nil, err
	}
	err = parallel.Blocks(ctx, threads, n, 1024, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			t.ranks[i] = t.rank(support[i], density[i])
		}
	})
	slices.Sort(t.ranks)
	return t, err
}

// of returns the typicality of a sample.
func (t *typicality) of(support, density float64) float64 {
	return upTo(t.ranks, t.rank(support, density))
}

// rank returns r = min(F(support), G(density)).
func (t *typicality) rank(support, density float64) float64 {
	rank := upTo(t.support, support)
	if t.density != nil {
		rank = min(rank, upTo(t.density, density))
	}
	return rank
}

// upTo returns the share of sorted values that are at most x.
func upTo(sorted []float64, x float64) float64 {
	count, _ := slices.BinarySearchFunc(sorted, x, func(y, x float64) int {
		if y <= x {
			return -1
		}
		return 1
	})
	return float64(count) / float64(len(sorted))
}

// byLinks reports whether the partition has a resolution, and so goes by sums of link
// probabilities rather than by the log-odds of single pairs.
func byLinks(m *mvclust.Model) bool { return m.Settings.Resolution > 0 }

// supportOf returns the support of a sample of the model.
func (t *typicality) supportOf(i int) float64 {
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

// densityOf returns the density of a sample of the model.
func (t *typicality) densityOf(i int) float64 {
	index, _ := t.m.Neighbourhoods.Of(i)
	return t.densityAmong(index, func(m int) float64 { return float64(t.m.Views[m].LocalScales[i]) })
}

// surrounding is the number of most probable neighbours that a density goes by.
const surrounding = 10

// densityAmong returns the density of a sample among its neighbours, of which the most
// probable come first. scale returns the sample's local scale 1 / sqrt(r) in a view, or
// NaN where it lacks the view.
func (t *typicality) densityAmong(neighbours []int32, scale func(m int) float64) float64 {
	neighbours = neighbours[:min(len(neighbours), surrounding)]
	sum, views := 0.0, 0.0
	for m, v := range t.m.Views {
		if v.LocalScales == nil || v.LeftOut {
			continue
		}
		own := scale(m)
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
