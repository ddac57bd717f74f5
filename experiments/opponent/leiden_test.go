package opponent

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

// Two cliques with one edge between them, and a sample alone.
func TestLeidenCliques(t *testing.T) {
	lists := [][]int32{{1, 2, 3}, {2, 3}, {3}, {4}, {5, 6, 7}, {6, 7}, {7}, nil, nil}
	for seed := range uint64(5) {
		labels, err := communities(t.Context(), unweighted(lists), stream(seed, leidenStream))
		if err != nil {
			t.Fatal(err)
		}
		s, err := score.Compare([]int{0, 0, 0, 0, 1, 1, 1, 1, 2}, labels)
		if err != nil {
			t.Fatal(err)
		}
		if s.ARI != 1 {
			t.Errorf("the labels are %v", labels)
		}
	}
}

// karate is the network of friends in a club, after W. W. Zachary, "An information flow model for
// conflict and fission in small groups", 1977.
var karate = [][]int32{
	{1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31}, {2, 3, 7, 13, 17, 19, 21, 30}, {3, 7, 8, 9, 13, 27, 28, 32},
	{7, 12, 13}, {6, 10}, {6, 10, 16}, {16}, nil, {30, 32, 33}, {33}, nil, nil, nil, {33}, {32, 33}, {32, 33}, nil, nil,
	{32, 33}, {33}, {32, 33}, nil, {32, 33}, {25, 27, 29, 32, 33}, {25, 27, 31}, {31}, {29, 33}, {33}, {31, 33}, {32, 33},
	{32, 33}, {32, 33}, {33}, nil,
}

// The modularity of the best of some seeds is the highest that there is: 0.4198, of four
// communities.
func TestLeidenKarate(t *testing.T) {
	g := unweighted(karate)
	if g.total != 2*78 {
		t.Fatalf("%v links in place of 78", g.total/2)
	}
	most, count := 0.0, 0
	for seed := range uint64(10) {
		labels, err := communities(t.Context(), g, stream(seed, leidenStream))
		if err != nil {
			t.Fatal(err)
		}
		if q := g.modularity(labels); q > most {
			most, count = q, 1+slices.Max(labels)
		}
	}
	if math.Abs(most-0.41979) > 1e-5 || count != 4 {
		t.Errorf("the modularity of %d communities is %v", count, most)
	}
}

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

// scatteredLinks are those of random places in a plane, to the nearest eight of each.
func scatteredLinks(t *testing.T, seed uint64) *network {
	t.Helper()
	const n = 150
	d := scattered(n, seed)
	lists := make([][]int32, n)
	for i := range lists {
		alike := make([]float32, n)
		for j := range alike {
			if j != i {
				alike[j] = -*d.at(i, j)
			}
		}
		lists[i] = nearest(alike, i, 8)
	}
	return unweighted(lists)
}

// From step to step the modularity does not fall, parts lie within their communities and hang
// together, and a smaller network has the modularity of the one that it is made of.
func TestLeidenSteps(t *testing.T) {
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := scatteredLinks(t, seed)
		labels := make([]int, len(g.degree))
		for v := range labels {
			labels[v] = v
		}
		for level := 0; ; level++ {
			before := g.modularity(labels)
			var count int
			if labels, count = g.move(labels, random); g.modularity(labels) < before-1e-12 {
				t.Fatalf("level %d: the modularity falls from %v to %v", level, before, g.modularity(labels))
			}
			if count == len(labels) {
				if level < 2 {
					t.Errorf("there are %d levels", level)
				}
				break
			}
			parts, number := g.refine(labels, random)
			if number < count || number >= len(labels) {
				t.Fatalf("level %d: %d communities of %d nodes in %d parts", level, count, len(labels), number)
			}
			if _, whole := g.connected(parts); whole != number {
				t.Errorf("level %d: %d parts hang together in %d", level, number, whole)
			}
			h, of := g.aggregate(parts, number, labels)
			for v, p := range parts {
				if of[p] != labels[v] {
					t.Fatalf("level %d: part %d reaches beyond its community", level, p)
				}
			}
			if math.Abs(h.modularity(of)-g.modularity(labels)) > 1e-12 || math.Abs(h.total-g.total) > 1e-9 {
				t.Errorf("level %d: the modularity is %v after %v", level, h.modularity(of), g.modularity(labels))
			}
			g, labels = h, of
		}
	}
}

// What is found hangs together, no community would gain by a merger with another, and no node by
// a move.
func TestLeidenFound(t *testing.T) {
	for seed := range uint64(6) {
		g := scatteredLinks(t, seed)
		labels, err := communities(t.Context(), g, stream(seed, leidenStream))
		if err != nil {
			t.Fatal(err)
		}
		count := 1 + slices.Max(labels)
		if _, parts := g.connected(labels); parts != count || count < 3 || count > 30 {
			t.Errorf("%d communities hang together in %d parts", count, parts)
		}
		most := g.modularity(labels)
		for a := range count {
			for b := range a {
				merged := slices.Clone(labels)
				for v := range merged {
					if merged[v] == a {
						merged[v] = b
					}
				}
				if q := g.modularity(merged); q > most+1e-9 {
					t.Errorf("a merger raises the modularity from %v to %v", most, q)
				}
			}
		}
	}
}

// Draws follow the exponentials of the gains.
func TestDraw(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var count [3]float64
	for range 10000 {
		count[draw([]float64{5, 5 + randomness*math.Log(3), 4}, random)]++
	}
	if math.Abs(count[0]/10000-0.25) > 0.02 || math.Abs(count[1]/10000-0.75) > 0.02 || count[2] > 0 {
		t.Errorf("%v", count)
	}
}

func BenchmarkLeiden(b *testing.B) {
	set, err := synth.Generate(synth.Config{Samples: 1000})
	if err != nil {
		b.Fatal(err)
	}
	a := measured(b, set.Views...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Leiden(b.Context(), 20, 0); err != nil {
			b.Fatal(err)
		}
	}
}
