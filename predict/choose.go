package predict

import (
	"math"
	"slices"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/selection"
)

const (
	// grown is the share of samples that have to come before granularity is chosen anew,
	// of those that there were when it was chosen last.
	grown = 0.1
	// better is how many times the score another granularity must have.
	better = 1.1
)

// choose looks, where the number of neighbours and the resolution were chosen from the data
// and many samples have come since, whether other ones are now clearly better, and has the
// model use them then. It returns the labels, or nil where all stays as it is. There can be
// no more neighbours than the model keeps.
func (u *update) choose() ([]int, error) {
	m, set, n := u.next, &u.next.Settings, u.next.Graph.Samples()
	if set.Chosen == 0 || m.Neighbourhoods == nil || float64(n) < (1+grown)*float64(set.Chosen) {
		return nil, nil
	}
	set.Chosen = n
	plan := selection.Settings{Most: set.Neighbours, Partition: set.Partition, Seed: set.Seed}
	plan.Partition.Resolution, plan.Partition.Known = 0, u.known
	found, err := selection.Search(u.ctx, u.fused(), plan, u.threads, nil)
	if err != nil {
		return nil, err
	}
	best, present := &found.Candidates[found.Best], 0.0
	apart := math.Inf(1)
	for _, c := range found.Candidates {
		if d := math.Abs(math.Log(c.Resolution / set.Partition.Resolution)); c.Neighbours == set.Neighbours && d < apart {
			apart, present = d, c.Score
		}
	}
	if math.IsInf(apart, 1) || best.Score <= better*present {
		return nil, nil
	}
	set.Neighbours, set.Refinement.Neighbours, set.Partition.Resolution = best.Neighbours, best.Neighbours, best.Resolution
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if m.Neighbourhoods, err = m.Neighbourhoods.Renumber(u.ctx, order, best.Neighbours, u.threads); err != nil {
		return nil, err
	}
	m.Graph = found.Graph
	return found.Partition.Labels, nil
}

// fused returns the graph of the pairs on the lists of neighbours.
func (u *update) fused() *graph.Graph {
	n := u.next.Graph.Samples()
	rows := make([][]probable, n)
	for i := range n {
		index, p := u.next.Neighbourhoods.Of(i)
		for e, j := range index {
			rows[i] = append(rows[i], probable{j, p[e]})
			rows[j] = append(rows[j], probable{int32(i), p[e]})
		}
	}
	g := &graph.Graph{Offsets: make([]int, n+1)}
	for i, row := range rows {
		row = strongest(row)
		slices.SortFunc(row, func(a, b probable) int { return int(a.to - b.to) })
		for _, x := range row {
			g.Index, g.Weight = append(g.Index, x.to), append(g.Weight, x.p)
		}
		g.Offsets[i+1] = len(g.Index)
	}
	return g
}
