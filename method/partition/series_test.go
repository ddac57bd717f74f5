package partition

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// In larger graphs, partitions are made of nodes; in smaller ones, of samples.
func TestSeriesNodes(t *testing.T) {
	const size = 6
	for cliques, many := range map[int]bool{200: false, 1000: true} {
		s, err := NewSeries(t.Context(), ringsOf(t, cliques, size), 1e3, nil, Settings{Levels: 20})
		if err != nil {
			t.Fatal(err)
		}
		var found [][]int32
		random := func(float64) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
		nodes, err := s.Each(t.Context(), []float64{0.06, 10, 1e3}, random, func(_ int, labels []int32, clusters int) {
			if most := int(slices.Max(labels)) + 1; clusters != most {
				t.Errorf("%d clusters are said to be %d", most, clusters)
			}
			found = append(found, labels)
		})
		if err != nil || len(found) != 3 || (nodes != nil) != many {
			t.Fatalf("%d cliques: %d partitions, of nodes %v, %v", cliques, len(found), nodes != nil, err)
		}
		first := map[int32]int{} // by node: its first sample
		for i, node := range nodes {
			if _, known := first[node]; !known {
				first[node] = i
			}
			for r, labels := range found {
				if labels[i] != labels[first[node]] {
					t.Fatalf("partition %d divides node %d", r, node)
				}
			}
		}
		if many && len(first) != cliques {
			t.Errorf("%d cliques are %d nodes", cliques, len(first))
		}
	}
}

// An edge is left out where its ends in one cluster, and nothing else, raise the objective.
func TestAttracting(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	kept, left := 0, 0
	for range 50 {
		g := random(t, r, 3+r.IntN(30), r.Float64(), kinds["distinct"])
		of := make([]int, g.Samples())
		for i := range of {
			of[i] = i / 2
		}
		all := contracted(g, of).network(0.2 + 3*r.Float64())
		some := all.attracting()
		if !slices.Equal(all.degree, some.degree) || all.rate != some.rate {
			t.Fatal("degrees differ")
		}
		for i := range all.degree {
			to, cost := some.to[some.offsets[i]:some.offsets[i+1]], some.cost[some.offsets[i]:some.offsets[i+1]]
			for at := all.offsets[i]; at < all.offsets[i+1]; at++ {
				pair := singletons(all)
				together := slices.Clone(pair.label)
				together[all.to[at]] = int32(i)
				before := pair.objective()
				pair.assign(together, 0)
				if change := pair.objective() - before; change > 1e-9 {
					left++
					continue
				} else if change > -1e-9 {
					t.Skip("an edge is worth nothing, which rounding decides")
				}
				if kept++; len(to) == 0 || to[0] != all.to[at] || cost[0] != all.cost[at] {
					t.Fatalf("the edge from %d to %d is not there", i, all.to[at])
				}
				to, cost = to[1:], cost[1:]
			}
			if len(to) > 0 {
				t.Fatalf("edges of %d that draw nothing are there: %v", i, to)
			}
		}
	}
	if kept < 100 || left < 100 {
		t.Errorf("%d edges kept, %d left out", kept, left)
	}
}

// Of many samples, fewer edges and nodes are looked at: cliques are found all the same, and are whole in coarser
// partitions.
func TestSeriesMany(t *testing.T) {
	const cliques, size = 6000, 6
	s, err := NewSeries(t.Context(), ringsOf(t, cliques, size), 1e4, nil, Settings{Levels: 20})
	if err != nil {
		t.Fatal(err)
	}
	resolutions := []float64{0.6, 1, 6, 10, 60, 100, 600, 1e3, 3e3}
	random := func(float64) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	before := 0
	_, err = s.Each(t.Context(), resolutions, random, func(r int, labels []int32, clusters int) {
		// Two cliques are worth more together where 0.1 is above resolution x 0.0046.
		if whole := resolutions[r] > 22; whole && clusters != cliques || !whole && (clusters >= before || clusters < 2) {
			t.Errorf("resolution %v: %d clusters, %d at the finer one", resolutions[r], clusters, before)
		}
		before = clusters
		for i, l := range labels {
			if l != labels[i/size*size] {
				t.Fatalf("resolution %v: a clique is divided", resolutions[r])
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// After clusters have merged, the nodes that look for a better one are those that merged, and what has edges to them.
func TestActivateMerged(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	for range 100 {
		n := 2 + r.IntN(40)
		s := start(t, random(t, r, n, 0.2*r.Float64(), kinds["distinct"]))
		before, after := make([]int32, n), make([]int32, n)
		for i := range before {
			before[i] = int32(r.IntN(n))
			after[i] = before[i] / 2 * 2 % int32(n)
		}
		s.assign(after, 0)
		merged := s.activateMerged(before)
		of := make([]map[int32]bool, n)
		for i, c := range after {
			if of[c] == nil {
				of[c] = map[int32]bool{}
			}
			of[c][before[i]] = true
		}
		for i, c := range after {
			want := len(of[c]) > 1
			if merged[c] != want {
				t.Fatalf("cluster %d is of %d, merged: %v", c, len(of[c]), merged[c])
			}
			for _, j := range s.to[s.offsets[i]:s.offsets[i+1]] {
				want = want || len(of[after[j]]) > 1
			}
			if s.active[i] != want {
				t.Fatalf("node %d is active: %v", i, s.active[i])
			}
		}
	}
}
