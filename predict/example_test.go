package predict_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/synth"
)

// Predict the clusters of new samples by those of 900 others, also without a view.
func ExamplePredictor() {
	ctx := context.Background()
	old, err := synth.Generate(synth.Config{Samples: 900, Classes: 9, Noise: []float64{0.9}, Missing: 0.2})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(ctx, old.Views, mvclust.Options{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := predict.New(ctx, mvclust.NewModel(old.Views, result, nil), 0)
	if err != nil {
		log.Fatal(err)
	}

	// Samples of the same nine classes, and of a tenth.
	fresh, err := synth.Generate(synth.Config{Samples: 300, Classes: 10, Noise: []float64{0.9}})
	if err != nil {
		log.Fatal(err)
	}
	for _, views := range [][]*mvclust.View{fresh.Views, {fresh.Views[0], nil}} {
		r, err := p.Predict(ctx, views, nil, 0, nil)
		if err != nil {
			log.Fatal(err)
		}
		none, unseen := 0, 0
		for i, label := range r.Labels {
			if label == predict.None {
				none++
				if fresh.Labels[i] == 9 {
					unseen++
				}
			}
		}
		fmt.Printf("some %.0f%% belong to no cluster, most of them of the new class: %v\n", 100*float64(none)/float64(len(r.Labels)), 2*unseen > none)
	}
	// Output:
	// some 10% belong to no cluster, most of them of the new class: true
	// some 12% belong to no cluster, most of them of the new class: true
}

// The samples of a new class make a cluster of their own, and the other clusters keep their
// numbers.
func ExampleUpdate() {
	ctx := context.Background()
	old, err := synth.Generate(synth.Config{Samples: 900, Classes: 9, Noise: []float64{0.9}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(ctx, old.Views, mvclust.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m := mvclust.NewModel(old.Views, result, nil)

	fresh, err := synth.Generate(synth.Config{Samples: 300, Classes: 10, Noise: []float64{0.9}})
	if err != nil {
		log.Fatal(err)
	}
	next, changes, err := predict.Update(ctx, m, fresh.Views, nil, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d samples in %d clusters, %d of them kept\n", next.Samples(), changes.Clusters, changes.Kept)
	for _, c := range changes.Created {
		fmt.Printf("cluster %d is new, and so are %d of its samples\n", c.Label, c.New)
	}
	// Output:
	// 1200 samples in 10 clusters, 9 of them kept
	// cluster 9 is new, and so are 30 of its samples
}
