package explain_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
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
	clusters, err := explain.Describe(ctx, result.Graph, result.Labels, result.Confidence, explain.DescribeSettings{
		Resolution: result.Options.Resolution,
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

// Which clusters may be one or two, and what should a person be asked?
func ExampleExplainer_Suggest() {
	ctx := context.Background()
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 5, Noise: []float64{1.3}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(ctx, set.Views, mvclust.Options{})
	if err != nil {
		log.Fatal(err)
	}
	x, err := explain.New(ctx, mvclust.NewModel(set.Views, result, nil), 0)
	if err != nil {
		log.Fatal(err)
	}
	found, err := x.Suggest(ctx, 2)
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
		fmt.Printf("do samples %s and %s belong together? the answer may move %d\n", q.A.ID, q.B.ID, q.Samples)
	}
	// Output:
	// clusters 1 and 3 may be one: pull 0.46, links of 78.5 where chance gives 90.9
	// clusters 3 and 4 may be one: pull 0.21, links of 25.0 where chance gives 95.7
	// cluster 1 may be two, of 32 and 28 samples: pull 0.78
	// cluster 0 may be two, of 34 and 27 samples: pull 0.80
	// do samples 148 and 101 belong together? the answer may move 60
	// do samples 101 and 89 belong together? the answer may move 59
}

// Somebody answers what the clustering leaves open, and the clusters follow.
func ExampleQuestions() {
	x, err := example()
	if err != nil {
		log.Fatal(err)
	}
	ctx, q := context.Background(), x.Questions()
	for _, verdict := range []explain.Verdict{explain.Different, explain.Different} {
		open, err := q.Next(ctx, 1)
		if err != nil {
			log.Fatal(err)
		}
		ask := open[0]
		fmt.Printf("samples %d and %d, of clusters %d and %d: %s\n", ask.A.Sample, ask.B.Sample, ask.A.Cluster, ask.B.Cluster, verdict)
		if err := q.Answer(ctx, explain.Answer{A: ask.A.Sample, B: ask.B.Sample, About: ask.About, Verdict: verdict}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("clusters:", 1+slices.Max(q.Labels()))
	// Output:
	// samples 152 and 14, of clusters 0 and 3: different
	// samples 14 and 89, of clusters 3 and 4: different
	// clusters: 5
}

// Why do two samples share a cluster?
func ExampleExplainer_Pair() {
	x, err := example()
	if err != nil {
		log.Fatal(err)
	}
	p, err := x.Pair(context.Background(), 0, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range p.Views {
		fmt.Printf("%s: similarity %.2f, probability %.2f, log-odds %+.2f\n", v.Name, *v.Similarity, *v.Probability, *v.LogOdds)
	}
	fmt.Printf("together: probability %.2f, log-odds %+.2f\n", p.Fused, *p.LogOdds)
	fmt.Println("one cluster:", p.Together)
	// Output:
	// view1: similarity -2.18, probability 0.57, log-odds +0.21
	// view2: similarity -1.75, probability 0.75, log-odds +0.79
	// together: probability 0.73, log-odds +1.00
	// one cluster: true
}

// Why is a sample in its cluster?
func ExampleExplainer_Sample() {
	x, err := example()
	if err != nil {
		log.Fatal(err)
	}
	s, err := x.Sample(context.Background(), 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("in cluster %d for the %d links to it; cluster %d is worth %.2f less\n", s.Cluster, len(s.Links), s.Second, s.Margin)
	for _, v := range s.Views {
		fmt.Printf("%s has %.0f%% of the say\n", v.Name, 100*v.Share)
	}
	// Output:
	// in cluster 0 for the 11 links to it; cluster 3 is worth 3.38 less
	// view1 has 51% of the say
	// view2 has 49% of the say
}

// example clusters 300 samples.
func example() (*explain.Explainer, error) {
	ctx := context.Background()
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 5, Noise: []float64{1.2}})
	if err != nil {
		return nil, err
	}
	result, err := mvclust.Fit(ctx, set.Views, mvclust.Options{})
	if err != nil {
		return nil, err
	}
	return explain.New(ctx, mvclust.NewModel(set.Views, result, nil), 0)
}
