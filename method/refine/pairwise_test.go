package refine

import (
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

// TestPairwise holds the comparison of single pairs to that of the whole graph.
func TestPairwise(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	const n = 60
	index, weight := make([][]int32, n), make([][]float32, n)
	for i := range n {
		for j := range i {
			if random.IntN(3) == 0 {
				index[i] = append(index[i], int32(j))
				weight[i] = append(weight[i], random.Float32())
			}
		}
	}
	g, err := graph.FromRows(t.Context(), n, func(i int) ([]int32, []float32) { return index[i], weight[i] }, 1)
	if err != nil {
		t.Fatal(err)
	}
	near, err := Nearest(t.Context(), g, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	list := func(i int) List[int32] {
		index, p := near.Of(i)
		return List[int32]{int32(i), index, p}
	}
	ks := []int{1, 3, 5, 9, 20}
	got := make([][][]float32, n)
	for i := range n {
		p := NewPairwise(list(i), ks)
		for j := range n {
			got[i] = append(got[i], p.CoNeighbours(nil, list(j)))
		}
	}
	for c, k := range ks {
		want, err := near.CoNeighbours(t.Context(), k, 1)
		if err != nil {
			t.Fatal(err)
		}
		edges := 0
		for i := range n {
			for j := range n {
				w, _ := want.Between(i, j)
				if i != j && got[i][j][c] != w {
					t.Fatalf("k = %d: %d and %d have %v, want %v", k, i, j, got[i][j][c], w)
				}
				if i != j && w > 0 {
					edges++
				}
			}
		}
		if edges != 2*want.Edges() {
			t.Errorf("k = %d: %d ends of edges, want %d", k, edges, 2*want.Edges())
		}
	}
}
