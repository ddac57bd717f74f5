package posterior_test

import (
	"context"
	"fmt"
	"math"

	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
)

func Example() {
	// What probability.Learn finds; here, that the similarities are probabilities.
	line := probability.Function{X: []float64{0, 1}, P: []float64{0, 1}}
	model := &probability.Functions{ByView: []probability.Function{line, line}}

	missing := float32(math.NaN())
	similarities := [][]float32{
		{0.8, 0.8, 0.8, missing},
		{0.8, 0.2, missing, missing},
	}
	estimator, err := posterior.New(model, posterior.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := estimator.Pairs(context.Background(), similarities, 0, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("views that agree:   %.2f\n", p[0])
	fmt.Printf("views that differ:  %.2f\n", p[1])
	fmt.Printf("one view missing:   %.2f\n", p[2])
	fmt.Printf("both views missing: %.2f\n", p[3])
	// Output:
	// views that agree:   0.94
	// views that differ:  0.50
	// one view missing:   0.80
	// both views missing: 0.00
}
