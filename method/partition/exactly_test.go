package partition

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

func count(labels []int) int {
	all := slices.Clone(labels)
	slices.Sort(all)
	return len(slices.Compact(all))
}

// Every number of clusters is met exactly, under constraints, and merging keeps clusters whole
// while splitting keeps them apart.
func TestExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		n := 4 + r.IntN(40)
		g := random(t, r, n, r.Float64(), kinds["distinct"])
		known := drawConstraints(t, r, n)
		found, err := Find(t.Context(), g, 1, known, Settings{Levels: 5}, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		for want := 1; want <= n; want++ {
			got, err := Exactly(t.Context(), g, 1, known, Settings{Levels: 5}, found.Labels, want, r)
			if bad, ok := errors.AsType[*CountError](err); ok {
				if bad.Clusters != want || bad.Most >= want || bad.Fewest != 0 && bad.Fewest <= want {
					t.Fatalf("%d clusters: %+v", want, bad)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if count(got.Labels) != want {
				t.Fatalf("%d clusters, want %d", count(got.Labels), want)
			}
			if pair, broken := known.Violation(got.Labels); broken {
				t.Fatalf("%d clusters: %v breaks a constraint", want, pair)
			}
			finer, coarser := found.Labels, got.Labels
			if want > count(found.Labels) {
				finer, coarser = coarser, finer
			}
			home := map[int]int{}
			for i, l := range finer {
				if before, has := home[l]; has && before != coarser[i] {
					t.Fatalf("%d clusters of %d: cluster %d is in two", want, count(found.Labels), l)
				}
				home[l] = coarser[i]
			}
		}
	}
}

// plainMerges merges the pair that costs the objective least, of all pairs.
func plainMerges(g *graph.Graph, resolution float64, labels []int, want int) []int {
	labels = slices.Clone(labels)
	for count(labels) > want {
		least, a, b := math.Inf(1), -1, -1
		for x := range labels {
			for y := range labels {
				if labels[x] >= labels[y] {
					continue
				}
				merged := slices.Clone(labels)
				for i, l := range merged {
					if l == labels[y] {
						merged[i] = labels[x]
					}
				}
				if q := modularityLoss(g, resolution, merged); q < least-1e-9 {
					least, a, b = q, labels[x], labels[y]
				}
			}
		}
		for i, l := range labels {
			if l == b {
				labels[i] = a
			}
		}
	}
	return labels
}

// modularityLoss is the objective by its definition.
func modularityLoss(g *graph.Graph, resolution float64, labels []int) float64 {
	n := g.Samples()
	d, all := make([]float64, n), 0.0
	for i := range n {
		_, weight := g.Of(i)
		for _, w := range weight {
			d[i] += float64(w)
			all += float64(w)
		}
	}
	sum := 0.0
	for i := range n {
		for j := range i {
			if labels[i] == labels[j] {
				w, _ := g.Between(i, j)
				sum += resolution*d[i]*d[j]/all - float64(w)
			}
		}
	}
	return sum
}

// Merges of linked clusters are those of the least loss.
func TestExactlyLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		n := 8 + r.IntN(6)
		g := random(t, r, n, 1, kinds["distinct"])
		labels := make([]int, n)
		for i := range labels {
			labels[i] = i % 6
		}
		for want := 1; want < 6; want++ {
			got, err := Exactly(t.Context(), g, 1, nil, Settings{}, labels, want, r)
			if err != nil {
				t.Fatal(err)
			}
			if plain := Number(plainMerges(g, 1, labels, want)); !slices.Equal(got.Labels, plain) {
				t.Fatalf("%d clusters: %v, want %v", want, got.Labels, plain)
			}
		}
	}
}

// Clusters of two classes are taken apart along their links, and others are left alone.
func TestSeparate(t *testing.T) {
	// Four cliques of five, in two clusters.
	g := build(t, 20, func(i, j int) float64 {
		if i/5 == j/5 {
			return 0.9
		}
		return 0.05
	})
	labels, class := make([]int, 20), slices.Repeat([]int{-1}, 20)
	for i := range labels {
		labels[i] = i / 10
	}
	class[0], class[1], class[7], class[12] = 3, 3, 8, 8
	got, err := Separate(t.Context(), g, 0.1, nil, Settings{Levels: 5}, labels, class, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	want := []int{0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := Separate(t.Context(), g, 1, nil, Settings{}, labels[1:], class, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("19 labels of 20 samples were taken")
	}
}
