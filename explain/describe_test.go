package explain

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/sparse"
)

// link is an edge of a test graph.
type link struct {
	a, b int32
	p    float32
}

// graphOf returns the graph of n samples with the given links, the lower end first.
func graphOf(t testing.TB, n int, links []link) *graph.Graph {
	t.Helper()
	slices.SortFunc(links, func(x, y link) int { return int(x.a-y.a)*n + int(x.b-y.b) })
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, n+1)}}
	var weight []float32
	for _, l := range links {
		set.Partners.Values = append(set.Partners.Values, l.b)
		weight = append(weight, l.p)
		for p := l.a + 1; int(p) <= n; p++ {
			set.Partners.Offsets[p]++
		}
	}
	g, err := graph.FromPairs(context.Background(), set, weight, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Two triangles, linked once, a sample that hangs on the second, and one without links.
func smallGraph(t testing.TB) (*graph.Graph, []int, []float64) {
	g := graphOf(t, 8, []link{
		{0, 1, .8}, {0, 2, .6}, {1, 2, .4},
		{3, 4, .5}, {3, 5, .5}, {4, 5, .5},
		{2, 3, .2}, {5, 6, .1},
	})
	return g, []int{0, 0, 0, 1, 1, 1, 2, 3}, []float64{.9, .8, .1, .2, .7, .6, .5, 0}
}

func describe(t testing.TB, g *graph.Graph, labels []int, confidence []float64, set DescribeSettings, threads int) []Cluster {
	t.Helper()
	out, err := Describe(t.Context(), g, labels, confidence, set, threads)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func close(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestDescribe(t *testing.T) {
	g, labels, confidence := smallGraph(t)
	got := describe(t, g, labels, confidence, DescribeSettings{Members: 2, Resolution: 2}, 1)
	if len(got) != 4 {
		t.Fatalf("%d clusters, want 4", len(got))
	}
	a := got[0]
	if a.Size != 3 || !close(a.Confidence, .6) || !close(a.Cohesion, (1+1+1/1.2)/3) {
		t.Errorf("cluster 0 is %+v", a)
	}
	if want := []int{0, 1}; !slices.Equal(a.Central, want) { // sums of 1.4, 1.2 and 1.0
		t.Errorf("central members %v, want %v", a.Central, want)
	}
	if want := []int{2, 1}; !slices.Equal(a.Uncertain, want) {
		t.Errorf("uncertain members %v, want %v", a.Uncertain, want)
	}
	// W = 0.2; the sums of the degrees are 3.8, 3.3, 0.1 and 0.
	expected := 2 * 3.8 * 3.3 / 7.2
	if len(a.Merges) != 1 || a.Merges[0].Cluster != 1 || !close(a.Merges[0].Pull, .2/(.2+expected)) {
		t.Errorf("merges %v", a.Merges)
	}
	if b := got[1].Merges; len(b) != 2 || b[0].Cluster != 2 || b[1].Cluster != 0 {
		t.Errorf("merges %v, want those with 2 and then 0", b)
	}
	if alone := got[3]; alone.Size != 1 || alone.Cohesion != 0 || alone.Merges == nil || len(alone.Merges) > 0 || !slices.Equal(alone.Central, []int{7}) {
		t.Errorf("a sample without links is %+v", alone)
	}
}

func TestPullWithoutResolution(t *testing.T) {
	g, labels, confidence := smallGraph(t)
	got := describe(t, g, labels, confidence, DescribeSettings{}, 1)
	// One link of 0.2 for three members: two are missing.
	mean := (math.Log(.2/.8) + 2*math.Log(.01/.99)) / 3
	if m := got[0].Merges; len(m) != 1 || !close(m[0].Pull, 1/(1+math.Exp(-mean))) {
		t.Errorf("merges %v", m)
	}
	if m := got[2].Merges; len(m) != 1 || !close(m[0].Pull, .1) { // one link for one member
		t.Errorf("merges %v", m)
	}
}

// random returns a graph, labels and confidences.
func randomGraph(t testing.TB, seed uint64) (*graph.Graph, []int, []float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	n := 2 + r.IntN(60)
	var links []link
	for a := range int32(n) {
		for b := a + 1; b < int32(n); b++ {
			if r.IntN(5) == 0 {
				links = append(links, link{a, b, r.Float32()})
			}
		}
	}
	labels, confidence := make([]int, n), make([]float64, n)
	clusters := 1 + r.IntN(n)
	for i := range labels {
		labels[i], confidence[i] = r.IntN(clusters), r.Float64()
	}
	return graphOf(t, n, links), labels, confidence
}

func TestDescribeProperties(t *testing.T) {
	for seed := range uint64(60) {
		g, labels, confidence := randomGraph(t, seed)
		for _, resolution := range []float64{0, .5, 3} {
			set := DescribeSettings{Members: 1000, Merges: 1000, Resolution: resolution}
			got := describe(t, g, labels, confidence, set, 1)
			if !reflect.DeepEqual(got, describe(t, g, labels, confidence, set, 3)) {
				t.Fatalf("seed %d: the result depends on the threads", seed)
			}
			set.First = 2
			if some := describe(t, g, labels, confidence, set, 2); !reflect.DeepEqual(some, got[:min(2, len(got))]) {
				t.Fatalf("seed %d: the first two clusters are %+v by themselves", seed, some)
			}
			members := 0
			pulls := map[[2]int]float64{}
			for c, x := range got {
				members += x.Size
				if x.Cohesion < 0 || x.Cohesion > 1 || len(x.Central) != x.Size || len(x.Uncertain) != x.Size {
					t.Fatalf("seed %d: cluster %d is %+v", seed, c, x)
				}
				for k, i := range x.Uncertain {
					if labels[i] != c || k > 0 && confidence[i] < confidence[x.Uncertain[k-1]] {
						t.Fatalf("seed %d: cluster %d has the uncertain members %v", seed, c, x.Uncertain)
					}
				}
				for _, m := range x.Merges {
					if !(m.Pull >= 0 && m.Pull <= 1) || m.Cluster == c {
						t.Fatalf("seed %d: cluster %d merges with %v", seed, c, m)
					}
					pulls[[2]int{c, m.Cluster}] = m.Pull
				}
			}
			if members != len(labels) {
				t.Fatalf("seed %d: %d members of %d samples", seed, members, len(labels))
			}
			for k, pull := range pulls {
				if other, ok := pulls[[2]int{k[1], k[0]}]; !ok || math.Abs(other-pull) > 1e-9 {
					t.Fatalf("seed %d: %v pulls by %v, and the other way by %v", seed, k, pull, other)
				}
			}
		}
	}
}

// Above 1/2, merging two clusters raises modularity at the resolution, and below it lowers it.
func TestPullAgreesWithModularity(t *testing.T) {
	for seed := range uint64(30) {
		g, labels, confidence := randomGraph(t, seed)
		const resolution = 1.5
		before := modularity(g, labels, resolution)
		for a, x := range describe(t, g, labels, confidence, DescribeSettings{Merges: 1000, Resolution: resolution}, 1) {
			for _, m := range x.Merges {
				merged := slices.Clone(labels)
				for i := range merged {
					if merged[i] == m.Cluster {
						merged[i] = a
					}
				}
				gain := modularity(g, merged, resolution) - before
				if math.Abs(gain) > 1e-9 && gain > 0 != (m.Pull > .5) {
					t.Errorf("seed %d: a pull of %v, and modularity rises by %v", seed, m.Pull, gain)
				}
			}
		}
	}
}

// modularity is the plain sum over all pairs, times that of all weights.
func modularity(g *graph.Graph, labels []int, resolution float64) float64 {
	n := g.Samples()
	degree, all := make([]float64, n), 0.0
	for i := range n {
		_, weight := g.Of(i)
		for _, p := range weight {
			degree[i] += float64(p)
			all += float64(p)
		}
	}
	sum := 0.0
	for i := range n {
		for j := range i {
			if labels[i] == labels[j] {
				p, _ := g.Between(i, j)
				sum += float64(p) - resolution*degree[i]*degree[j]/all
			}
		}
	}
	return sum
}

func TestDescribeErrors(t *testing.T) {
	g, labels, confidence := smallGraph(t)
	for _, c := range []struct {
		name       string
		labels     []int
		confidence []float64
		set        DescribeSettings
		want       string
	}{
		{"few labels", labels[1:], confidence, DescribeSettings{}, "7 labels"},
		{"few confidences", labels, confidence[1:], DescribeSettings{}, "7 confidences"},
		{"no cluster", []int{0, 0, 0, -1, 0, 0, 0, 0}, confidence, DescribeSettings{}, "sample 3 (counted from 0) has the label -1"},
		{"beyond", []int{0, 0, 0, 8, 0, 0, 0, 0}, confidence, DescribeSettings{}, "the label 8"},
		{"settings", labels, confidence, DescribeSettings{Members: -1}, "Members"},
	} {
		if _, err := Describe(t.Context(), g, c.labels, c.confidence, c.set, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if out, err := Describe(t.Context(), &graph.Graph{}, nil, nil, DescribeSettings{}, 1); err != nil || len(out) != 0 {
		t.Errorf("no samples: %v, %v", out, err)
	}
}

func TestDescribeCancelled(t *testing.T) {
	g, labels, confidence := randomGraph(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Describe(ctx, g, labels, confidence, DescribeSettings{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func BenchmarkDescribe(b *testing.B) {
	const n, k = 100_000, 30
	r := rand.New(rand.NewPCG(1, 2))
	g := &graph.Graph{Offsets: make([]int, n+1)}
	labels, confidence := make([]int, n), make([]float64, n)
	for i := range n {
		labels[i], confidence[i] = i/200, r.Float64()
		for range k {
			g.Index = append(g.Index, int32(min(n-1, max(0, i+r.IntN(400)-200))))
			g.Weight = append(g.Weight, r.Float32())
		}
		g.Offsets[i+1] = len(g.Index)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Describe(b.Context(), g, labels, confidence, DescribeSettings{Resolution: 1}, 0); err != nil {
			b.Fatal(err)
		}
	}
}
