package graph_test

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/sparse"
)

// The pairs (0, 1), (0, 2) and (1, 3), each with the probability that its
// samples belong together.
func ExampleFromPairs() {
	pairs := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 2, 3, 3, 3}, Values: []int32{1, 2, 3}}}
	g, err := graph.FromPairs(context.Background(), pairs, []float32{0.9, 0.2, 0.7}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Samples(), "samples,", g.Edges(), "edges")
	fmt.Println(g.Of(1))
	fmt.Println(g.Between(2, 0))
	fmt.Println(g.Between(2, 3))
	// Output:
	// 4 samples, 3 edges
	// [0 3] [0.9 0.7]
	// 0.2 true
	// 0 false
}

// Sample 0 becomes 2, sample 1 becomes 0, and sample 2 becomes 1.
func ExampleGraph_Scatter() {
	ctx := context.Background()
	pairs := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 1, 1, 1}, Values: []int32{1}}}
	g, err := graph.FromPairs(ctx, pairs, []float32{0.9}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	moved, err := g.Scatter(ctx, []int{2, 0, 1}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(moved.Between(0, 2))
	// Output:
	// 0.9 true
}

// Sample 0 lists 1 and 2, and 1 lists 0 with another weight, which is the larger.
func ExampleFromRows() {
	index := [][]int32{{1, 2}, {0}, nil}
	weight := [][]float32{{0.2, 0.7}, {0.9}, nil}
	g, err := graph.FromRows(context.Background(), 3, func(i int) ([]int32, []float32) { return index[i], weight[i] }, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Of(0))
	// Output:
	// [1 2] [0.9 0.7]
}
