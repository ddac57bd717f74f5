// Package affinity is affinity propagation.
package affinity

import (
	"context"
	"slices"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/opponent"
)

// System describes it.
func System() system.System {
	return system.System{
		Name: "affinity propagation", Source: "Frey and Dueck, Clustering by passing messages between data points, 2007",
		Cluster: Cluster, Steady: true, Samples: system.DenseSamples,
		Default: system.Settings{"preference": 0.5, "damping": 0.5},
		Grid: system.Product(
			[]system.Settings{{"damping": 0.9}},
			[]system.Settings{{"preference": -30}, {"preference": -10}, {"preference": -3}, {"preference": -1}, {"preference": 0}, {"preference": 0.5}}),
		Note: "samples are as similar as their mean cosine over the views that both have; the preference is a quantile of the similarities, 0.5 the median that its authors take, or below 0 how many times their range it lies below all",
	}
}

// The rounds: at most so many, and until the exemplars stay for so many.
const (
	rounds = 400
	steady = 25
)

// Cluster chooses exemplars among the samples, and gives every sample the most similar one. It
// maximises
//
//	sum_i s(i, exemplar of i)
//
// where s(i, i) is the preference of a sample for being one, by passing messages: how well k would
// serve i as an exemplar, and how available k is, each damped:
//
//	r(i, k) = s(i, k) - max_{l != k} (a(i, l) + s(i, l))
//	a(i, k) = min(0, r(k, k) + sum_{j != i, k} max(0, r(j, k)))
//	a(k, k) = sum_{j != k} max(0, r(j, k))
func Cluster(ctx context.Context, in *system.Input) ([]int, error) {
	alike, err := opponent.Measure(ctx, in.Views, 0)
	if err != nil {
		return nil, err
	}
	m := newMessages(alike, in)
	same := 0
	var exemplars []int
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.responsibilities()
		m.availabilities()
		if now := m.exemplars(); slices.Equal(now, exemplars) && len(now) > 0 {
			same++
		} else {
			same, exemplars = 0, now
		}
		if same == steady {
			break
		}
	}
	return m.assign(exemplars), nil
}

// messages are between all pairs of samples.
type messages struct {
	s, r, a [][]float64
	damping float64
}

func newMessages(alike *opponent.Alike, in *system.Input) *messages {
	n := in.Samples()
	m := &messages{s: square(n), r: square(n), a: square(n), damping: in.Settings["damping"]}
	all := make([]float64, 0, n*(n-1)/2)
	random := in.Random()
	for i := range n {
		for j := range n {
			if j < i {
				all = append(all, -alike.Distance(i, j))
			}
			// A little noise tells apart what is equally good.
			m.s[i][j] = -alike.Distance(i, j) + 1e-12*random.Float64()
		}
	}
	slices.Sort(all)
	preference, wanted := -1.0, in.Settings["preference"]
	switch last := len(all) - 1; {
	case last < 0:
	case wanted < 0:
		preference = all[0] + wanted*(all[last]-all[0])
	default:
		preference = all[min(last, int(wanted*float64(len(all))))]
	}
	for i := range n {
		m.s[i][i] = preference + 1e-12*random.Float64()
	}
	return m
}

func square(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

func (m *messages) responsibilities() {
	for i, s := range m.s {
		a, r := m.a[i], m.r[i]
		first, at, second := least, -1, least
		for k, x := range s {
			switch x += a[k]; {
			case x > first:
				first, at, second = x, k, first
			case x > second:
				second = x
			}
		}
		for k, x := range s {
			best := first
			if k == at {
				best = second
			}
			r[k] = m.damping*r[k] + (1-m.damping)*(x-best)
		}
	}
}

// least is below every similarity and availability.
const least = -1e300

func (m *messages) availabilities() {
	n := len(m.s)
	sum := make([]float64, n) // over all j of max(0, r(j, k)), but r(k, k) as it is
	for j, r := range m.r {
		for k, x := range r {
			if j == k {
				sum[k] += x
			} else {
				sum[k] += max(0, x)
			}
		}
	}
	for i := range n {
		a, r := m.a[i], m.r[i]
		for k := range a {
			x := sum[k] - r[k]
			if i != k {
				x = min(0, sum[k]-max(0, r[k]))
			}
			a[k] = m.damping*a[k] + (1-m.damping)*x
		}
	}
}

// exemplars are the samples that speak for themselves.
func (m *messages) exemplars() []int {
	var list []int
	for k := range m.s {
		if m.r[k][k]+m.a[k][k] > 0 {
			list = append(list, k)
		}
	}
	return list
}

// assign gives every sample the most similar exemplar; all are one cluster where there is none.
func (m *messages) assign(exemplars []int) []int {
	labels := make([]int, len(m.s))
	for i := range labels {
		best := 0
		for at, k := range exemplars {
			if k == i {
				best = at
				break
			}
			if m.s[i][k] > m.s[i][exemplars[best]] {
				best = at
			}
		}
		labels[i] = best
	}
	return labels
}

// net is the sum of the similarities of the samples to their exemplars.
func (m *messages) net(labels, exemplars []int) float64 {
	sum := 0.0
	for i, l := range labels {
		sum += m.s[i][exemplars[l]]
	}
	return sum
}
