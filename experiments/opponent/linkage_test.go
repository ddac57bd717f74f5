package opponent

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

// scattered makes distances of random places in a plane, no two of which are equal.
func scattered(n int, seed uint64) triangle {
	random := rand.New(rand.NewPCG(seed, 0))
	x, y := make([]float64, n), make([]float64, n)
	d := make(triangle, n)
	for i := range n {
		x[i], y[i] = random.Float64(), random.Float64()
		for j := range i {
			d[i] = append(d[i], float32((x[i]-x[j])*(x[i]-x[j])+(y[i]-y[j])*(y[i]-y[j])))
		}
	}
	return d
}

// plainly merges the two nearest clusters until k are left, by the definitions: the mean distance
// between them, or what their union adds to the sum of all squared distances within a cluster,
// over the number of its samples, which is that from the mean.
func plainly(d triangle, k int, squares bool) (labels []int, heights []float64) {
	var clusters [][]int
	for i := range d {
		clusters = append(clusters, []int{i})
	}
	between := func(a, b []int) float64 {
		sum := 0.0
		for _, i := range a {
			for _, j := range b {
				if i != j {
					sum += float64(*d.at(i, j))
				}
			}
		}
		return sum
	}
	within := func(a []int) float64 { return between(a, a) / 2 / float64(len(a)) }
	distance := func(a, b []int) float64 {
		if squares {
			return 2 * (within(slices.Concat(a, b)) - within(a) - within(b))
		}
		return between(a, b) / float64(len(a)*len(b))
	}
	for len(clusters) > k {
		bestA, bestB, least := 0, 0, math.Inf(1)
		for b := range clusters {
			for a := range b {
				if x := distance(clusters[a], clusters[b]); x < least {
					bestA, bestB, least = a, b, x
				}
			}
		}
		heights = append(heights, least)
		clusters[bestA] = append(clusters[bestA], clusters[bestB]...)
		clusters = slices.Delete(clusters, bestB, bestB+1)
	}
	labels = make([]int, len(d))
	for c, members := range clusters {
		for _, i := range members {
			labels[i] = c
		}
	}
	return labels, heights
}

// The chain finds what merging the nearest finds, at rising heights, and every cut has as many
// clusters as it should.
func TestAgglomerate(t *testing.T) {
	for name, c := range map[string]struct {
		rule    rule
		squares bool
	}{"Ward": {ward, true}, "average": {average, false}} {
		for seed := range uint64(8) {
			const n = 25
			merges, err := agglomerate(t.Context(), scattered(n, seed), c.rule)
			if err != nil || len(merges) != n-1 {
				t.Fatalf("%s: %d merges, error %v", name, len(merges), err)
			}
			for k := 1; k <= n; k++ {
				want, heights := plainly(scattered(n, seed), k, c.squares)
				s, err := score.Compare(want, cut(merges, n, k))
				if err != nil || s.ARI != 1 || s.Clusters != k {
					t.Errorf("%s, %d clusters: %+v, error %v", name, k, s, err)
				}
				for i, h := range heights {
					if math.Abs(merges[i].height-h) > 1e-5 || i > 0 && merges[i].height < merges[i-1].height {
						t.Errorf("%s: merge %d is at %v, want %v", name, i, merges[i].height, h)
					}
				}
			}
		}
	}
}

// Equal distances end, too: all samples but one are as far from each other.
func TestAgglomerateTies(t *testing.T) {
	d := make(triangle, 9)
	for i := range d {
		d[i] = slices.Repeat([]float32{0.5}, i)
	}
	for j := range d[8] {
		d[8][j] = 2
	}
	merges, err := agglomerate(t.Context(), d, average)
	if err != nil {
		t.Fatal(err)
	}
	if got := cut(merges, 9, 2); !slices.Equal(got, []int{0, 0, 0, 0, 0, 0, 0, 0, 1}) {
		t.Errorf("the labels are %v", got)
	}
}

// Distances are 1 less the mean cosine, and that of two without a common view is the mean of all.
func TestDistances(t *testing.T) {
	a, err := view.FromRows("a", [][]float64{{3, 4}, {0, 2}, {5, 0}, nil})
	if err != nil {
		t.Fatal(err)
	}
	b, err := view.FromRows("b", [][]float64{{0, 5}, {1, 0}, nil, {-1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	d := measured(t, a, b).far
	want := triangle{nil, {0.6}, {0.4, 1}, {1, 2, 1}}
	for i := range want {
		for j, x := range want[i] {
			if math.Abs(float64(d[i][j]-x)) > 1e-6 {
				t.Errorf("%d and %d are %v apart, want %v", i, j, d[i][j], x)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	v := &view.View{Samples: MostSamples + 1}
	if _, err := Measure(t.Context(), []*view.View{v}, 1); err == nil {
		t.Error("there is no bound")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := agglomerate(ctx, scattered(9, 1), ward); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func BenchmarkWard(b *testing.B) {
	set, err := synth.Generate(synth.Config{Samples: 1000})
	if err != nil {
		b.Fatal(err)
	}
	a := measured(b, set.Views...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Ward(b.Context(), 20); err != nil {
			b.Fatal(err)
		}
	}
}
