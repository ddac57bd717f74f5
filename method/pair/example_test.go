package pair_test

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// Two views name different nearest neighbours; the union keeps both, with the
// similarity in either view.
func ExampleUnion() {
	ctx := context.Background()
	var spaces []*similarity.Space
	var lists []*neighbour.Lists
	for m, rows := range [][][]float64{
		{{0}, {1}, {5}, {7}},
		{{0}, {9}, {2}, nil},
	} {
		v, err := view.FromRows(fmt.Sprint("view ", m), rows)
		if err != nil {
			fmt.Println(err)
			return
		}
		s, err := similarity.NewSpace(ctx, v, similarity.L1, nil, false, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		l, err := neighbour.Search(ctx, s, 1, 0, neighbour.Settings{}, 0, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		spaces, lists = append(spaces, s), append(lists, l)
	}
	pairs, err := pair.Union(ctx, lists, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := pairs.Similarities(ctx, spaces, 0, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for p := range pairs.Samples() {
		for t := pairs.Partners.Offsets[p]; t < pairs.Partners.Offsets[p+1]; t++ {
			fmt.Println(p, pairs.Partners.Values[t], w[0][t], w[1][t])
		}
	}
	// Output:
	// 0 1 -1 -9
	// 0 2 -5 -2
	// 1 2 -4 -7
	// 2 3 -2 NaN
}

// The pairs of four samples, of which every other one is kept.
func ExampleSet_Thin() {
	pairs := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 3, 5, 6, 6}, Values: []int32{1, 2, 3, 2, 3, 3}}}
	thin := pairs.Thin(3)
	for p := range thin.Samples() {
		fmt.Println(p, thin.Of(p))
	}
	// Output:
	// 0 [1 3]
	// 1 [3]
	// 2 []
	// 3 []
}

// The pairs of samples 1 and 2 with later ones.
func ExampleSet_Part() {
	pairs := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0, 3, 5, 6, 6}, Values: []int32{1, 2, 3, 2, 3, 3}}}
	part := pairs.Part(1, 3)
	for p := range part.Samples() {
		fmt.Println(p, part.Of(p))
	}
	// Output:
	// 0 []
	// 1 [2 3]
	// 2 [3]
	// 3 []
}
