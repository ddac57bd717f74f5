package suggestion_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/suggestion"
	"github.com/mvclust/mvclust/synth"
)

// What would a person's answers settle?
func ExampleFind() {
	ctx := context.Background()
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 5, Noise: []float64{1.3}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(ctx, set.Views, mvclust.Options{})
	if err != nil {
		log.Fatal(err)
	}
	found, err := suggestion.Find(ctx, mvclust.NewModel(set.Views, result, nil), suggestion.Settings{Top: 2}, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range found.Merges {
		fmt.Printf("clusters %d and %d may be one: pull %.2f, links of %.1f where chance gives %.1f\n", m.A.Cluster, m.B.Cluster, m.Pull, m.Weight, m.Expected)
	}
	for _, s := range found.Splits {
		fmt.Printf("cluster %d may be two, of %d and %d samples: pull %.2f\n", s.Cluster, s.Halves[0].Size, s.Halves[1].Size, s.Pull)
	}
	for _, q := range found.Questions {
		fmt.Printf("do samples %s and %s belong together? it settles the place of %d\n", q.A.ID, q.B.ID, q.Samples)
	}
	// Output:
	// clusters 1 and 3 may be one: pull 0.46, links of 78.6 where chance gives 90.8
	// clusters 3 and 4 may be one: pull 0.21, links of 25.0 where chance gives 95.6
	// cluster 1 may be two, of 32 and 28 samples: pull 0.78
	// cluster 0 may be two, of 34 and 27 samples: pull 0.80
	// do samples 148 and 101 belong together? it settles the place of 60
	// do samples 101 and 89 belong together? it settles the place of 59
}
