package layout

import (
	"cmp"
	"context"
	"slices"

	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/graph"
)

// links is a symmetric graph of what is drawn: those of node i are offsets[i] to
// offsets[i+1], ascending.
type links struct {
	offsets []int
	to      []int32
	weight  []float32
}

func (l *links) nodes() int { return len(l.offsets) - 1 }

func (l *links) of(i int) ([]int32, []float32) {
	lo, hi := l.offsets[i], l.offsets[i+1]
	return l.to[lo:hi], l.weight[lo:hi]
}

// link is one end of a link.
type link struct {
	to     int32
	weight float32
}

// strongest is how many links of a node draw it: those beyond change little and take time.
const strongest = 15

// contract returns the graph of the chosen samples. Every other sample stands in for the
// one that it is most strongly linked to, in its own cluster if there is one, if need be
// through others that do.
func contract(ctx context.Context, g *graph.Graph, labels, chosen []int, threads int) (*links, error) {
	node, err := represent(ctx, g, labels, chosen, threads)
	if err != nil {
		return nil, err
	}
	behind := make([][]int32, len(chosen)) // node -> samples that it stands for
	for i, k := range node {
		if k >= 0 {
			behind[k] = append(behind[k], int32(i))
		}
	}
	rows := make([][]link, len(chosen))
	rooms := make([][]float32, parallel.Threads(threads))
	err = parallel.Blocks(ctx, threads, len(chosen), 64, func(worker, lo, hi int) {
		if rooms[worker] == nil {
			rooms[worker] = make([]float32, len(chosen))
		}
		for k := lo; k < hi; k++ {
			rows[k] = strong(gather(g, node, behind[k], int32(k), rooms[worker]))
		}
	})
	if err != nil {
		return nil, err
	}
	return symmetric(rows), nil
}

// represent returns, by sample, the node that it is part of, or -1.
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
	const rounds = 4
	for range rounds {
		next := slices.Clone(node)
		err := parallel.Blocks(ctx, threads, len(labels), 1024, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				if node[i] < 0 {
					next[i] = nearest(g, labels, node, i)
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

// nearest returns the node of the neighbour that sample i is most strongly linked to
// among those that have one.
func nearest(g *graph.Graph, labels []int, node []int32, i int) int32 {
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

// gather adds up the links of the samples that node k stands for, by node. room is zeros
// before and after.
func gather(g *graph.Graph, node, samples []int32, k int32, room []float32) []link {
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

// strong returns the strongest links, by number, and the strongest of all as 1.
func strong(row []link) []link {
	slices.SortFunc(row, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.to, b.to))
	})
	row = slices.Clip(row[:min(len(row), strongest)])
	for e := len(row) - 1; e >= 0; e-- {
		row[e].weight /= row[0].weight
	}
	slices.SortFunc(row, func(a, b link) int { return cmp.Compare(a.to, b.to) })
	return row
}

// symmetric returns the graph in which a link is there from both ends, with the mean of
// the weights that either gives it.
func symmetric(rows [][]link) *links {
	both := make([][]link, len(rows))
	for i, row := range rows {
		for _, e := range row {
			both[i] = append(both[i], link{e.to, e.weight / 2})
			both[e.to] = append(both[e.to], link{int32(i), e.weight / 2})
		}
	}
	l := &links{offsets: make([]int, 1, len(rows)+1)}
	for _, row := range both {
		slices.SortStableFunc(row, func(a, b link) int { return cmp.Compare(a.to, b.to) })
		for e, x := range row {
			if last := len(l.to) - 1; e > 0 && l.to[last] == x.to {
				l.weight[last] += x.weight
				continue
			}
			l.to, l.weight = append(l.to, x.to), append(l.weight, x.weight)
		}
		l.offsets = append(l.offsets, len(l.to))
	}
	return l
}
