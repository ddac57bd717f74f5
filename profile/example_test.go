package profile_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/profile"
	"github.com/mvclust/mvclust/synth"
)

// Which clusters hold together, and which would be merged next?
func ExampleDescribe() {
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 3, Noise: []float64{1.5}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	result, err := mvclust.Fit(ctx, set.Views, mvclust.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	clusters, err := profile.Describe(ctx, result.Graph, result.Labels, result.Confidence, profile.Settings{
		Resolution: result.Options.Partition.Resolution,
		Clip:       result.Options.Partition.Clip,
	}, 0)
	if err != nil {
		log.Fatal(err)
	}
	for c, x := range clusters {
		fmt.Printf("cluster %d: %d samples, %.0f%% of their links stay inside\n", c, x.Size, 100*x.Cohesion)
		fmt.Printf("  nearest to cluster %d, with a pull of %.2f\n", x.Merges[0].Cluster, x.Merges[0].Pull)
	}
	// Output:
	// cluster 0: 104 samples, 84% of their links stay inside
	//   nearest to cluster 2, with a pull of 0.38
	// cluster 1: 101 samples, 96% of their links stay inside
	//   nearest to cluster 0, with a pull of 0.15
	// cluster 2: 95 samples, 87% of their links stay inside
	//   nearest to cluster 0, with a pull of 0.38
}
