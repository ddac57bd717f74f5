package similarity_test

import (
	"context"
	"fmt"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// Compare samples by the angle between their rows. Higher is more alike, and a
// sample that lacks the view has no similarity.
func ExampleNewSpace() {
	words, err := view.FromRows("words", [][]float64{{3, 4}, {30, 40}, {4, 3}, nil})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := similarity.NewSpace(context.Background(), words, similarity.Cosine, nil, false, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for j := range s.Samples {
		fmt.Printf("0 and %d: %.2f\n", j, s.Similarity(0, j))
	}
	// Output:
	// 0 and 0: 1.00
	// 0 and 1: 1.00
	// 0 and 2: 0.96
	// 0 and 3: NaN
}

func ExampleParseMetric() {
	m, err := similarity.ParseMetric("l2")
	fmt.Println(m == similarity.L2, err)
	// Output: true <nil>
}
