package selection

import (
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

// rings returns a graph of samples in classes of the given size, which are
// joined to random members of their class and now and then to others.
func rings(samples, size, degree int, seed uint64) *graph.Graph {
	random := rand.New(rand.NewPCG(seed, 0))
	weight := make([]map[int32]float32, samples)
	for i := range weight {
		weight[i] = map[int32]float32{}
	}
	for i := range samples {
		for range degree {
			j := i - i%size + random.IntN(size)
			p := 0.5 + 0.5*random.Float32()
			if random.IntN(5) == 0 {
				j, p = random.IntN(samples), 0.5*random.Float32()
			}
			if j != i && j < samples {
				weight[i][int32(j)], weight[j][int32(i)] = p, p
			}
		}
	}
	g := &graph.Graph{Offsets: make([]int, samples+1)}
	for i := range samples {
		for j := range int32(samples) {
			if p, ok := weight[i][j]; ok {
				g.Index, g.Weight = append(g.Index, j), append(g.Weight, p)
			}
		}
		g.Offsets[i+1] = len(g.Index)
	}
	return g
}

func BenchmarkSearch(b *testing.B) {
	g := rings(2000, 100, 60, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Search(b.Context(), g, nil, Settings{}, 0, 0, nil); err != nil {
			b.Fatal(err)
		}
	}
}
