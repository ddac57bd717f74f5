package layout

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/sparse"
)

// link is one end of a link.
type link struct {
	to     int32
	weight float32
}

// links holds the links of each node, ascending by the node at the other end, which has the
// link too.
type links = sparse.Rows[link]

// maxLinks bounds the links of a node that are used: more of them change little and take time.
const maxLinks = 15

// coarsen returns the graph of the chosen samples, each of them a node. The links of every
// other sample are added to those of the node that it is most strongly linked to, directly or
// through other samples; a node of its own cluster comes first.
func coarsen(ctx context.Context, g *graph.Graph, labels, chosen []int, threads int) (*links, error) {
	node, err := represent(ctx, g, labels, chosen, threads)
	if err != nil {
		return nil, err
	}
	merged := make([][]int32, len(chosen)) // node -> its samples
	for i, k := range node {
		if k >= 0 {
			merged[k] = append(merged[k], int32(i))
		}
	}
	rows := make([][]link, len(chosen))
	rooms := make([][]float32, parallel.Threads(threads))
	err = parallel.Blocks(ctx, threads, len(chosen), 64, func(worker, lo, hi int) {
		if rooms[worker] == nil {
			rooms[worker] = make([]float32, len(chosen))
		}
		for k := lo; k < hi; k++ {
			rows[k] = strongestLinks(mergeLinks(g, node, merged[k], int32(k), rooms[worker]))
		}
	})
	if err != nil {
		return nil, err
	}
	return symmetric(rows), nil
}

// represent returns, by sample, the node that it is merged into, or -1.
func represent(ctx context.Context, g *graph.Graph, labels, chosen []int, threads int) ([]int32, error) {
	node := make([]int32, len(labels))
	for i := range node {
		node[i] = -1
	}
	for k, i := range chosen {
		node[i] = int32(k)
	}
	if len(chosen) == len(labels) {
		return node, nil
	}
	const overlapRounds = 4
	for range overlapRounds {
		next := slices.Clone(node)
		err := parallel.Blocks(ctx, threads, len(labels), 1024, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				if node[i] < 0 {
					next[i] = representative(g, labels, node, i)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		node = next
	}
	return node, nil
}

// representative returns the node of the neighbour that sample i is most strongly linked to,
// among the neighbours that have a node.
func representative(g *graph.Graph, labels []int, node []int32, i int) int32 {
	best, most := int32(-1), float32(0)
	index, weight := g.Of(i)
	for e, j := range index {
		w := weight[e]
		if labels[j] == labels[i] {
			w++ // above every link that leaves the cluster
		}
		if node[j] >= 0 && w > most {
			best, most = node[j], w
		}
	}
	return best
}

// mergeLinks adds up the links of the samples of node k, by node. room is zeros before and
// after.
func mergeLinks(g *graph.Graph, node, samples []int32, k int32, room []float32) []link {
	var out []link
	for _, i := range samples {
		index, weight := g.Of(int(i))
		for e, j := range index {
			to := node[j]
			if to < 0 || to == k || weight[e] <= 0 {
				continue
			}
			if room[to] == 0 {
				out = append(out, link{to: to})
			}
			room[to] += weight[e]
		}
	}
	for e := range out {
		out[e].weight = room[out[e].to]
		room[out[e].to] = 0
	}
	return out
}

// strongestLinks returns the strongest links of a node, ascending by node and scaled such that
// the largest weight is 1.
func strongestLinks(row []link) []link {
	slices.SortFunc(row, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.to, b.to))
	})
	row = slices.Clip(row[:min(len(row), maxLinks)])
	for e := len(row) - 1; e >= 0; e-- {
		row[e].weight /= row[0].weight
	}
	slices.SortFunc(row, func(a, b link) int { return cmp.Compare(a.to, b.to) })
	return row
}

// symmetric returns the graph in which both ends have each link, with the mean of its two
// weights.
func symmetric(rows [][]link) *links {
	both := make([][]link, len(rows))
	for i, row := range rows {
		for _, e := range row {
			both[i] = append(both[i], link{e.to, e.weight / 2})
			both[e.to] = append(both[e.to], link{int32(i), e.weight / 2})
		}
	}
	l := new(links)
	for _, row := range both {
		slices.SortStableFunc(row, func(a, b link) int { return cmp.Compare(a.to, b.to) })
		merged := row[:0]
		for _, x := range row {
			if last := len(merged) - 1; last >= 0 && merged[last].to == x.to {
				merged[last].weight += x.weight
				continue
			}
			merged = append(merged, x)
		}
		l.Append(merged...)
	}
	return l
}
