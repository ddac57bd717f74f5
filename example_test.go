package mvclust_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

// Sixty articles of three topics are described by their words and by their
// pictures; some have no picture.
func ExampleFit() {
	r := rand.New(rand.NewPCG(1, 2))
	words, pictures := make([][]float64, 60), make([][]float64, 60)
	for i := range 60 {
		topic := i / 20
		words[i] = []float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
		words[i][topic] += 2
		if i%5 == 0 {
			continue // a nil row: no picture
		}
		pictures[i] = []float64{r.Float64(), r.Float64(), r.Float64()}
		pictures[i][topic] += 2
	}

	a, err := mvclust.ViewFromRows("words", words)
	if err != nil {
		log.Fatal(err)
	}
	b, err := mvclust.ViewFromRows("pictures", pictures)
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(context.Background(), []*mvclust.View{a, b}, mvclust.Options{Preset: mvclust.Paper, Neighbours: 15})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sizes:", result.Sizes)
	for _, i := range []int{0, 1, 59} {
		fmt.Printf("article %d: cluster %d, confidence above 0.9: %v\n", i, result.Labels[i], result.Confidence[i] > 0.9)
	}
	// Output:
	// sizes: [20 20 20]
	// article 0: cluster 0, confidence above 0.9: true
	// article 1: cluster 0, confidence above 0.9: true
	// article 59: cluster 2, confidence above 0.9: true
}

// A run says how far it is, and ends soon after its context is done.
func ExampleFit_progress() {
	set, err := synth.Generate(synth.Config{Samples: 200, Classes: 5})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err = mvclust.Fit(ctx, set.Views, mvclust.Options{
		Preset: mvclust.Paper,
		Progress: func(p mvclust.Progress) {
			if p.Done == 0 {
				fmt.Println(p.Stage)
			}
			if p.Stage == mvclust.StageLearn {
				cancel() // as a stop button would
			}
		},
	})
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// prepare
	// neighbours
	// pairs
	// learn
	// true
}

// The learned functions say what a similarity is worth in each view.
func Example_functions() {
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 6, Noise: []float64{0.5}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(context.Background(), set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: 50})
	if err != nil {
		log.Fatal(err)
	}
	for m, f := range result.Functions.ByView {
		fmt.Printf("%s: P(same class) is %.1f at cosine -0.5 and %.1f at cosine 1\n", set.Views[m].Name, f.At(-0.5), f.At(1))
	}
	// Output:
	// view1: P(same class) is 0.0 at cosine -0.5 and 1.0 at cosine 1
	// view2: P(same class) is 0.0 at cosine -0.5 and 1.0 at cosine 1
}

// A researcher tries another way to find the probability functions, and leaves the
// other stages as they are. This one takes the share of the pairs that are less
// similar for the probability.
func ExampleLearner() {
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 6, Noise: []float64{0.5}})
	if err != nil {
		log.Fatal(err)
	}
	ranks := func(_ context.Context, pairs [][2]int32, similarities [][]float32) (*probability.Functions, error) {
		model := &probability.Functions{}
		for _, w := range similarities {
			known := slices.DeleteFunc(slices.Clone(w), func(x float32) bool { return x != x })
			slices.Sort(known)
			var f probability.Function
			for percent := range 101 {
				x := float64(known[percent*(len(known)-1)/100])
				if n := len(f.X); n == 0 || x > f.X[n-1] { // equal similarities make one point
					f.X, f.P = append(f.X, x), append(f.P, float64(percent)/100)
				}
			}
			model.ByView = append(model.ByView, f)
		}
		return model, nil
	}
	result, err := mvclust.Fit(context.Background(), set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: 50, Learner: ranks})
	if err != nil {
		log.Fatal(err)
	}
	s, err := score.Compare(set.Labels, result.Labels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d clusters, ARI above 0.9: %v\n", len(result.Sizes), s.ARI > 0.9)
	// Output:
	// 6 clusters, ARI above 0.9: true
}

// The stages can be used on their own. This takes its pair probabilities from
// elsewhere, and refines and partitions them as Fit does.
func Example_stages() {
	set, err := synth.Generate(synth.Config{Samples: 300, Classes: 6, Views: 1, Noise: []float64{0.5}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	space, err := similarity.NewSpace(ctx, set.Views[0], similarity.Cosine, nil, false, 0)
	if err != nil {
		log.Fatal(err)
	}
	lists, err := neighbour.Search(ctx, space, 100, 0, neighbour.Settings{}, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	pairs, err := pair.Union(ctx, []*neighbour.Lists{lists}, 0)
	if err != nil {
		log.Fatal(err)
	}
	similarities, err := pairs.Similarities(ctx, []*similarity.Space{space}, 0, nil)
	if err != nil {
		log.Fatal(err)
	}

	// A model of one's own in place of packages probability and posterior.
	p := make([]float32, pairs.Len())
	for t, w := range similarities[0] {
		p[t] = float32(1 / (1 + math.Exp(10*(0.6-float64(w)))))
	}

	fused, err := graph.FromPairs(ctx, pairs, p, 0)
	if err != nil {
		log.Fatal(err)
	}
	refined, _, err := refine.Graph(ctx, fused, 50, refine.Settings{}, 0, nil)
	if err != nil {
		log.Fatal(err)
	}
	found, err := partition.Find(ctx, refined, 0, nil, partition.Settings{}, rand.New(rand.NewPCG(1, 0)), nil)
	if err != nil {
		log.Fatal(err)
	}
	confidence, err := partition.Confidence(refined, found.Labels)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("clusters:", slices.Max(found.Labels)+1)
	fmt.Println("moves in the last sweep:", found.Sweeps[len(found.Sweeps)-1].Moves)
	fmt.Println("least confidence above 0.5:", slices.Min(confidence) > 0.5)
	// Output:
	// clusters: 6
	// moves in the last sweep: 0
	// least confidence above 0.5: true
}

// A model keeps a clustering for packages predict and explain.
func ExampleModel() {
	set, err := synth.Generate(synth.Config{Samples: 120, Classes: 4, Dims: []int{10}, Seed: 6})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(context.Background(), set.Views, mvclust.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := mvclust.NewModel(set.Views, result, nil).Write(&file); err != nil {
		log.Fatal(err)
	}
	m, err := mvclust.ReadModel(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d samples in %d clusters, sample %s in cluster %d\n", m.Samples(), m.Clusters(), m.ID(5), m.Labels[5])
	// Output:
	// 120 samples in 4 clusters, sample 5 in cluster 3
}

// A level has fewer or more clusters; a number of clusters is met exactly.
func ExampleModel_Cut() {
	data, err := synth.Generate(synth.Config{Samples: 240, Classes: 12, Seed: 5})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	result, err := mvclust.Fit(ctx, data.Views, mvclust.Options{})
	if err != nil {
		log.Fatal(err)
	}
	model := mvclust.NewModel(data.Views, result, nil)
	coarsest, err := model.Cut(ctx, mvclust.CutOptions{Level: 0})
	if err != nil {
		log.Fatal(err)
	}
	five, err := model.Cut(ctx, mvclust.CutOptions{Clusters: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(coarsest.Clusters() == model.Levels[0].Clusters, five.Clusters())
	// Output: true 5
}

// Six records and the probabilities that two of them are of one person. The pair of 2 and 3 is a
// false one, which no other pair confirms.
func ExampleViewFromLinks() {
	pairs, err := mvclust.ViewFromLinks(context.Background(), "pairs", 6, mvclust.Links{
		Pairs:       [][2]int{{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {2, 3}},
		Weights:     []float64{0.9, 0.8, 0.9, 0.9, 0.8, 0.9, 0.3},
		Probability: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	result, err := mvclust.Fit(context.Background(), []*mvclust.View{pairs}, mvclust.Options{Clusters: 2})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Labels)
	// Output: [0 0 0 1 1 1]
}
