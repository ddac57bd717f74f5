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
