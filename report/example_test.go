package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/report"
	"github.com/mvclust/mvclust/synth"
)

// A page of HTML shows what came of the clustering, and its numbers can be had as well.
func ExampleNew() {
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 6, Noise: []float64{0.5}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	result, err := mvclust.Fit(ctx, set.Views, mvclust.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	r, err := report.New(ctx, result, report.Options{Title: "Synthetic things", Views: set.Views})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range r.Views {
		fmt.Printf("%s: %.0f%% of the decisions\n", v.Name, 100*v.Share)
	}
	fmt.Println("cohesion of cluster 0 above 0.9:", r.Clusters[0].Cohesion > 0.9)

	var page bytes.Buffer // or a file
	if err := r.WriteHTML(&page); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!DOCTYPE html>"))
	// Output:
	// view1: 50% of the decisions
	// view2: 50% of the decisions
	// cohesion of cluster 0 above 0.9: true
	// true
}
