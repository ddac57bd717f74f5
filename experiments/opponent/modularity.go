package opponent

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/mvclust/mvclust/method/view"
)

// modularityNeighbours is the number of neighbours of the graph that Modularity parts.
const modularityNeighbours = 10

// Modularity parts the samples such that the modularity of a graph is high: that of the
// 10 nearest neighbours by the mean cosine over the views that both samples have, an edge
// where either is one of the other's. It is gonum's Louvain method, at resolution 1,
// which finds the number of clusters by itself.
func Modularity(ctx context.Context, views []*view.View, seed uint64, threads int) ([]int, error) {
	lists, err := fused(ctx, views, modularityNeighbours, threads)
	if err != nil {
		return nil, err
	}
	// gonum knows no context: where ctx ends, it goes on for nobody.
	labels := make(chan []int, 1)
	go func() { labels <- louvain(lists, seed) }()
	select {
	case l := <-labels:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// louvain parts the graph of the lists.
func louvain(lists [][]int32, seed uint64) []int {
	g := simple.NewUndirectedGraph()
	for i := range lists {
		g.AddNode(simple.Node(i))
	}
	for i, list := range mutual(lists) {
		for _, j := range list {
			if int(j) > i {
				g.SetEdge(simple.Edge{F: simple.Node(i), T: simple.Node(j)})
			}
		}
	}
	labels := make([]int, len(lists))
	for c, members := range community.Modularize(g, 1, rand.NewPCG(seed, modularityStream)).Communities() {
		for _, node := range members {
			labels[node.ID()] = c
		}
	}
	return labels
}
