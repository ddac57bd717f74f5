package probability_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/mvclust/mvclust/method/probability"
)

// Pairs of one class, three in ten, have similarities around 0.6, the others
// around 0.3, in both views. No pair says which it is.
func ExampleLearn() {
	rnd := rand.New(rand.NewPCG(1, 1))
	similarities := make([][]float32, 2)
	for range 10_000 {
		centre := 0.3
		if rnd.Float64() < 0.3 {
			centre = 0.6
		}
		for m := range similarities {
			similarities[m] = append(similarities[m], float32(centre+0.1*rnd.NormFloat64()))
		}
	}
	model, err := probability.Learn(context.Background(), similarities, probability.Settings{Rate: 0.01, Epochs: 300}, 0, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for m, f := range model.ByView {
		fmt.Printf("view %d: %.1f at 0.3, %.1f at 0.6; base rate %.1f\n", m, f.At(0.3), f.At(0.6), model.BaseRate[m])
	}
	first, last := model.Curve[0].Total, model.Curve[len(model.Curve)-1].Total
	fmt.Println("the loss fell:", last < first)
	// Output:
	// view 0: 0.0 at 0.3, 1.0 at 0.6; base rate 0.3
	// view 1: 0.0 at 0.3, 1.0 at 0.6; base rate 0.3
	// the loss fell: true
}

func ExampleFunction_At() {
	f := probability.Function{
		X: []float64{0.2, 0.6, 0.8},
		P: []float64{0, 0.5, 1},
	}
	for _, x := range []float64{-1, 0.2, 0.4, 0.7, 0.9} {
		fmt.Printf("%.2f ", f.At(x))
	}
	// Output:
	// 0.00 0.00 0.25 0.75 1.00
}

// An oracle: the best function that the similarities of a view allow, from the true
// classes. Where it has 0.5, they do not tell.
func ExampleCalibrate() {
	class := []string{"a", "a", "a", "b", "b", "b"}
	position := []float64{0, 1, 3, 4, 8, 9}
	var pairs [][2]int
	var similarities []float32
	for i := range position {
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
			similarities = append(similarities, float32(position[j]-position[i]))
		}
	}
	same := func(_, pair int) bool { return class[pairs[pair][0]] == class[pairs[pair][1]] }
	model, err := probability.Calibrate(context.Background(), [][]float32{similarities}, same, probability.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, distance := range []float64{1, 3, 5, 9} {
		fmt.Printf("%v apart: %.2f\n", distance, model.ByView[0].At(-distance))
	}
	// Output:
	// 1 apart: 0.75
	// 3 apart: 0.50
	// 5 apart: 0.50
	// 9 apart: 0.00
}
