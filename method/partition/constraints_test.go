package partition

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
)

// drawConstraints returns consistent constraints on samples of random classes, which have
// nothing to do with the graph: the hardest to honour.
func drawConstraints(t *testing.T, r *rand.Rand, n int) *constraint.Resolved {
	t.Helper()
	class := make([]int, n)
	classes := 1 + r.IntN(n)
	for i := range class {
		class[i] = r.IntN(classes)
	}
	var s constraint.Set
	for range r.IntN(3 * n) {
		if a, b := r.IntN(n), r.IntN(n); a != b && class[a] == class[b] && r.IntN(2) == 0 {
			s.MustLink = append(s.MustLink, [2]int{a, b})
		} else if class[a] != class[b] {
			s.CannotLink = append(s.CannotLink, [2]int{a, b})
		}
	}
	if r.IntN(2) == 0 {
		// A group has one sample of a class at most.
		s.Distinct = make([]int, n)
		type place struct{ group, class int }
		taken := map[place]bool{}
		for i := range s.Distinct {
			g := r.IntN(1+n/4) - 1
			if taken[place{g, class[i]}] {
				g = -1
			}
			s.Distinct[i] = g
			taken[place{g, class[i]}] = true
		}
	}
	known, err := s.Resolve(n)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func wide(labels []int32) []int {
	out := make([]int, len(labels))
	for i, l := range labels {
		out[i] = int(l)
	}
	return out
}

// TestConstraintsHonoured looks for a constraint that a partition breaks.
func TestConstraintsHonoured(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 0))
	for turn := range 300 {
		n := 2 + r.IntN(60)
		g := random(t, r, n, r.Float64(), func(r *rand.Rand) float64 { return r.Float64() })
		known, set, resolution := drawConstraints(t, r, n), Settings{Levels: 1 + r.IntN(5)}, []float64{0, 0.01, 0.5, 3}[r.IntN(4)]
		found, err := Find(t.Context(), g, resolution, known, set, rand.New(rand.NewPCG(1, 0)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if pair, broken := known.Violation(found.Labels); broken {
			t.Fatalf("turn %d, %+v at %v: samples %v break a constraint", turn, set, resolution, pair)
		}
		if resolution == 0 {
			continue
		}
		series, err := NewSeries(t.Context(), g, resolution, known, set)
		if err != nil {
			t.Fatal(err)
		}
		source := func(float64) *rand.Rand { return rand.New(rand.NewPCG(2, 0)) }
		_, err = series.Each(t.Context(), []float64{resolution / 10, resolution}, source, func(_ int, labels []int32, _ int) {
			if pair, broken := known.Violation(wide(labels)); broken {
				t.Fatalf("turn %d, %+v at %v: samples %v break a constraint of a series", turn, set, resolution, pair)
			}
			again, err := series.Refine(t.Context(), resolution/10, labels, source(0))
			if err != nil {
				t.Fatal(err)
			}
			if pair, broken := known.Violation(again.Labels); broken {
				t.Fatalf("turn %d, %+v at %v: samples %v break a constraint when refined", turn, set, resolution, pair)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestConstraintsObjective holds the objective that is carried along, over nodes of several
// samples, to one that is summed up over the samples.
func TestConstraintsObjective(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 0))
	for range 100 {
		n := 3 + r.IntN(40)
		g := random(t, r, n, r.Float64(), func(r *rand.Rand) float64 { return r.Float64() })
		known, set, resolution := drawConstraints(t, r, n), Settings{Levels: 3}, 0.1+r.Float64()
		found, err := Find(t.Context(), g, resolution, known, set, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		check := func(found *Result, what string) {
			t.Helper()
			got, want := found.Sweeps[len(found.Sweeps)-1].Objective, modularity(g, found.Labels, resolution)
			if diff := got - want; diff > 1e-6 || diff < -1e-6 {
				t.Fatalf("%s: the objective is %v, want %v", what, got, want)
			}
		}
		check(found, "found")
		series, err := NewSeries(t.Context(), g, 5*resolution, known, set)
		if err != nil {
			t.Fatal(err)
		}
		labels := make([]int32, n)
		for i, l := range found.Labels {
			labels[i] = int32(l)
		}
		again, err := series.Refine(t.Context(), resolution, labels, r)
		if err != nil {
			t.Fatal(err)
		}
		check(again, "refined")
	}
}

// TestConstraintsMany has enough samples that a series makes its partitions of clusters, and
// groups that are large.
func TestConstraintsMany(t *testing.T) {
	const n = 12_000
	g := blocks(n, 60)
	r := rand.New(rand.NewPCG(13, 0))
	s := constraint.Set{Distinct: make([]int, n)}
	for i := range n {
		s.Distinct[i] = i % 60 % 7 // clusters want to be of 60, and may be of 7
	}
	for range 500 {
		i := r.IntN(n - 7)
		s.MustLink = append(s.MustLink, [2]int{i, i + 1})
	}
	known, err := s.Resolve(n)
	if err != nil {
		t.Fatal(err)
	}
	series, err := NewSeries(t.Context(), g, 100, known, Settings{Levels: 20})
	if err != nil {
		t.Fatal(err)
	}
	source := func(x float64) *rand.Rand { return rand.New(rand.NewPCG(3, uint64(x))) }
	seen := 0
	_, err = series.Each(t.Context(), []float64{1, 10, 100}, source, func(_ int, labels []int32, _ int) {
		seen++
		if pair, broken := known.Violation(wide(labels)); broken {
			t.Errorf("samples %v break a constraint", pair)
		}
	})
	if err != nil || seen != 3 {
		t.Fatal(seen, err)
	}
}

// blocks joins the samples i and j of the same size in a row, each to ten of them.
func blocks(n, size int) *graph.Graph {
	g := &graph.Graph{Offsets: []int{0}}
	for i := range n {
		first := i / size * size
		var row []int32
		for d := 1; d <= 5; d++ {
			row = append(row, int32(first+(i-first+d)%size), int32(first+(i-first+size-d)%size))
		}
		slices.Sort(row)
		g.Index = append(g.Index, row...)
		for range row {
			g.Weight = append(g.Weight, 0.8)
		}
		g.Offsets = append(g.Offsets, len(g.Index))
	}
	return g
}

// TestConstraintsNothing is what knows nothing changing nothing.
func TestConstraintsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 0))
	for range 20 {
		n := 2 + r.IntN(50)
		g := random(t, r, n, 0.4, func(r *rand.Rand) float64 { return r.Float64() })
		// A sample alone in its group is no constraint.
		groups := make([]int, n)
		for i := range groups {
			groups[i] = i
		}
		s := constraint.Set{Distinct: groups}
		known, err := s.Resolve(n)
		if err != nil || known == nil {
			t.Fatal(known, err)
		}
		for _, resolution := range []float64{0, 0.8} {
			find := func(known *constraint.Resolved) *Result {
				found, err := Find(context.Background(), g, resolution, known, Settings{Levels: 4}, rand.New(rand.NewPCG(5, 0)), nil)
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			if want, got := find(nil), find(known); !slices.Equal(want.Labels, got.Labels) || !slices.Equal(want.Sweeps, got.Sweeps) {
				t.Error("constraints that say nothing change the partition")
			}
		}
	}
}

// TestOccupancy holds the table to a map.
func TestOccupancy(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 0))
	for range 50 {
		most := 1 + r.IntN(40)
		c := newOccupancy(most)
		type claim struct{ cluster, exclusion int32 }
		want := map[claim]bool{}
		for range 2000 {
			x := claim{int32(r.IntN(8)), int32(r.IntN(12))}
			if got := c.conflicts([]int32{x.exclusion}, x.cluster); got != want[x] {
				t.Fatalf("%v is taken: %t", x, got)
			}
			switch {
			case want[x]:
				c.remove([]int32{x.exclusion}, x.cluster)
				delete(want, x)
			case len(want) < most:
				c.add([]int32{x.exclusion}, x.cluster)
				want[x] = true
			}
		}
	}
}

func BenchmarkConstraints(b *testing.B) {
	const n = 20_000
	g := blocks(n, 40)
	for _, group := range []int{0, 5, 1000} {
		b.Run(fmt.Sprint("groups of ", group), func(b *testing.B) {
			b.ReportAllocs()
			var s constraint.Set
			for i := range n {
				if group > 0 {
					s.Distinct = append(s.Distinct, i%(n/group))
				}
			}
			known, err := s.Resolve(n)
			if err != nil {
				b.Fatal(err)
			}
			source := func(x float64) *rand.Rand { return rand.New(rand.NewPCG(3, uint64(x))) }
			for b.Loop() {
				series, err := NewSeries(b.Context(), g, 500, known, Settings{Levels: 20})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := series.Each(b.Context(), []float64{5, 50, 500}, source, func(int, []int32, int) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestCannotLinksMerged is that any number of cannot-links between two clusters are one between
// their nodes, since the time of a level follows from that number.
func TestCannotLinksMerged(t *testing.T) {
	const n, size = 400, 40
	var s constraint.Set
	for i := range n {
		for j := range i {
			if i/size != j/size {
				s.CannotLink = append(s.CannotLink, [2]int{i, j})
			}
		}
	}
	known, err := s.Resolve(n)
	if err != nil {
		t.Fatal(err)
	}
	e, err := newNetwork(t.Context(), blocks(n, size), 1, known, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	samples, clusters := singletons(e), make([]int32, n)
	for i := range clusters {
		clusters[i] = int32(i / size)
	}
	samples.assign(clusters, 0)
	nodes := samples.aggregate(samples.numberClusters())
	const k = n / size
	if got := len(nodes.apart.Values); got != k*(k-1) || len(nodes.exclusions.Values) != 0 {
		t.Errorf("%d cannot-links between the samples are %d between %d nodes", len(s.CannotLink), got, k)
	}
}

func BenchmarkCannotLinks(b *testing.B) {
	const n, size = 2000, 100
	g, r := blocks(n, size), rand.New(rand.NewPCG(16, 0))
	for _, links := range []int{0, 2000, 200_000} {
		b.Run(fmt.Sprint(links), func(b *testing.B) {
			b.ReportAllocs()
			var s constraint.Set
			for len(s.CannotLink) < links {
				if i, j := r.IntN(n), r.IntN(n); i/size != j/size {
					s.CannotLink = append(s.CannotLink, [2]int{i, j})
				}
			}
			known, err := s.Resolve(n)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				clamped, err := known.Propagate(b.Context(), g, 1)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := Find(b.Context(), clamped, 1, known, Settings{Levels: 20}, rand.New(rand.NewPCG(6, 0)), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
