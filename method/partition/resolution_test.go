package partition

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

// modularity transcribes the objective under a resolution: over all pairs within clusters,
// the resolution times the weight expected of the pair less the weight that it has.
func modularity[L comparable](g *graph.Graph, labels []L, resolution float64) float64 {
	degree, all := make([]float64, len(labels)), 0.0
	for i := range labels {
		_, weight := g.Of(i)
		for _, w := range weight {
			degree[i] += float64(w)
			all += float64(w)
		}
	}
	sum := 0.0
	for i := range labels {
		for j := i + 1; j < len(labels); j++ {
			if labels[i] != labels[j] {
				continue
			}
			if p, ok := g.Between(i, j); ok {
				sum -= float64(p)
			}
			if all > 0 {
				sum += resolution * degree[i] * degree[j] / all
			}
		}
	}
	return sum
}

// drawResolution is often near 1, where clusters are neither all nor nothing.
func drawResolution(r *rand.Rand) float64 { return math.Exp(2 * r.NormFloat64()) }

// TestResolution follows the search sweep by sweep, with and without levels.
func TestResolution(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(51, 52))
		for seed := range uint64(60) {
			n := 1 + r.IntN(70)
			g := random(t, r, n, r.Float64(), weight)
			for _, set := range []Settings{{}, {Levels: 2}, {Levels: 20}, {Levels: 20, Sweeps: 1}} {
				resolution := drawResolution(r)
				found := findAt(t, g, resolution, set, seed)
				before := 0.0 // of singletons
				for s, sweep := range found.Sweeps {
					if sweep.Objective > before+tolerance {
						t.Fatalf("%s, %+v: the objective rises in sweep %d: %v", kind, set, s, found.Sweeps)
					}
					before = sweep.Objective
				}
				if want := modularity(g, found.Labels, resolution); math.Abs(before-want) > tolerance {
					t.Fatalf("%s, %+v: the objective of the last sweep is %v, that of the labels %v", kind, set, before, want)
				}
				if !slices.Equal(found.Labels, Number(found.Labels)) {
					t.Fatalf("%s, %+v: the labels are %v", kind, set, found.Labels)
				}
				if set.Levels > 1 {
					checkLevels(t, found.Sweeps, set)
				}
				if again := findAt(t, g, resolution, set, seed); !reflect.DeepEqual(again, found) {
					t.Fatalf("%s, %+v: another result", kind, set)
				}
			}
		}
	}
}

// TestResolutionCollapse turns clusters, drawn at random, into nodes, and those once more:
// the objective, and that carried along with the moves, remain those of the samples.
func TestResolutionCollapse(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(53, 54))
		for range 60 {
			n := 1 + r.IntN(40)
			g := random(t, r, n, r.Float64(), weight)
			resolution := drawResolution(r)
			e, err := newNetwork(t.Context(), g, resolution, nil, Settings{Clip: DefaultClip})
			if err != nil {
				t.Fatal(err)
			}
			s := singletons(e)
			of := make([]int32, n) // sample -> node of s
			for i := range of {
				of[i] = int32(i)
			}
			hold := func(when string) {
				t.Helper()
				labels := make([]int32, n)
				for i, node := range of {
					labels[i] = s.label[node]
				}
				want := modularity(g, labels, resolution)
				if got := s.objective(); math.Abs(got-want) > tolerance || math.Abs(s.loss-want) > tolerance {
					t.Fatalf("%s, %s: the objective is %v, carried along %v, want %v", kind, when, got, s.loss, want)
				}
				mass := make([]float64, len(s.degreeSum))
				for node, c := range s.label {
					mass[c] += s.degree[node]
				}
				for c := range mass {
					if math.Abs(mass[c]-s.degreeSum[c]) > tolerance {
						t.Fatalf("%s, %s: cluster %d has mass %v, want %v", kind, when, c, s.degreeSum[c], mass[c])
					}
				}
				checkSizes(t, s)
			}
			for range 3 {
				drawn := make([]int32, len(s.label))
				for i := range drawn {
					drawn[i] = int32(r.IntN(1 + r.IntN(len(drawn))))
				}
				s.assign(drawn, 0)
				s.loss = s.objective()
				hold("assigned")
				number := s.numberClusters()
				for i, node := range of {
					of[i] = number[drawn[node]]
				}
				s = singletons(s.aggregate(number))
				hold("collapsed")
				for range 2 * len(s.label) {
					s.active[r.IntN(len(s.label))] = true
					s.move(r.IntN(len(s.label)))
					hold("moved")
				}
			}
		}
	}
}

// TestResolutionCliques has two cliques with one edge between them: apart where a missing
// edge counts, and together where hardly.
func TestResolutionCliques(t *testing.T) {
	g := build(t, 20, func(i, j int) float64 {
		if i/10 == j/10 || i == 0 && j == 10 {
			return 0.6
		}
		return -1
	})
	apart := make([]int, 20)
	for i := 10; i < 20; i++ {
		apart[i] = 1
	}
	for seed := range uint64(10) {
		for _, levels := range []int{1, 20} {
			for _, resolution := range []float64{0.5, 1, 1.5} {
				if got := findAt(t, g, resolution, Settings{Levels: levels}, seed).Labels; !slices.Equal(got, apart) {
					t.Errorf("resolution %v, %d levels: %v", resolution, levels, got)
				}
			}
			if got := findAt(t, g, 1000, Settings{Levels: levels}, seed).Labels; slices.Max(got) != 19 {
				t.Errorf("at the highest resolution: %v", got)
			}
		}
		if got := findAt(t, g, 1e-3, Settings{Levels: 20}, seed).Labels; slices.Max(got) != 0 {
			t.Errorf("at the lowest resolution: %v", got)
		}
	}
}

// TestResolutionRises holds that the clusters become more with the resolution, on average
// over searches: from one for what is joined to one for every sample.
func TestResolutionRises(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 56))
	resolutions := []float64{1e-6, 0.1, 0.5, 1, 2, 5, 20, 1e6}
	clusters := make([]int, len(resolutions))
	const runs = 20
	for seed := range uint64(runs) {
		g := random(t, r, 60, 0.4, kinds["distinct"])
		for at, resolution := range resolutions {
			clusters[at] += 1 + slices.Max(findAt(t, g, resolution, Settings{Levels: 20}, seed).Labels)
		}
	}
	if !slices.IsSorted(clusters) || clusters[0] != runs || clusters[len(clusters)-1] != 60*runs || clusters[4] <= clusters[2] {
		t.Errorf("the clusters are %v", clusters)
	}
}

// TestResolutionWithout has nothing to go by: graphs without edges, or with edges of no
// weight.
func TestResolutionWithout(t *testing.T) {
	for _, weight := range []float64{-1, 0} {
		for _, n := range []int{0, 1, 9} {
			g := build(t, n, func(_, _ int) float64 { return weight })
			found := findAt(t, g, 1, Settings{Levels: 20}, 1)
			for i, l := range found.Labels {
				if l != i {
					t.Errorf("%d samples of weight %v: %v", n, weight, found.Labels)
				}
			}
		}
	}
}
