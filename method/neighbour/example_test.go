package neighbour_test

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// Find the two nearest neighbours of every sample on a line. Sample 1 ties with
// sample 3 as seen from 0, and the lower number goes first.
func ExampleSearch() {
	place, err := view.FromRows("place", [][]float64{{0}, {1}, nil, {-1}, {5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := similarity.NewSpace(context.Background(), place, similarity.L2, nil, false, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	lists, err := neighbour.Search(context.Background(), s, 2, 0, neighbour.Settings{}, 0, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range s.Samples {
		fmt.Println(i, lists.Of(i))
	}
	// Output:
	// 0 [1 3]
	// 1 [0 3]
	// 2 []
	// 3 [0 1]
	// 4 [1 0]
}
