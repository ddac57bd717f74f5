package view_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/mvclust/mvclust/method/view"
)

// Three samples were described by an image; the second has none.
func ExampleFromRows() {
	image, err := view.FromRows("image", [][]float64{
		{0.1, 0.7, 0.2},
		nil,
		{0.9, 0.0, 0.3},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(image.Count(), "of", image.Samples, "samples have an image")
	fmt.Println(image.Has(1), image.Row(2))
	// Output:
	// 2 of 3 samples have an image
	// false [0.9 0 0.3]
}

// An InputError names the sample at fault.
func ExampleInputError() {
	_, err := view.New("audio", 2, 2, []float32{1, 2, 3})
	fmt.Println(err)

	_, err = view.FromRows("audio", [][]float64{{1, 2}, {3}})
	if input, ok := errors.AsType[*view.InputError](err); ok {
		fmt.Println("look at sample", input.Row)
	}
	// Output:
	// audio: 3 values do not make 2 rows of 2; pass samples x dims values, and at least one dimension
	// look at sample 1
}

// Articles 0 to 2 cite each other, and so do 3 and 4; nobody cites article 5.
func ExampleFromLinks() {
	cites, err := view.FromLinks(context.Background(), "cites", 6, view.Links{
		Pairs: [][2]int{{0, 1}, {1, 2}, {2, 0}, {3, 4}},
	}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cites.Links, "links,", cites.Count(), "samples; article 5 has the view:", cites.Has(5))
	// Output: 4 links, 5 samples; article 5 has the view: false
}
