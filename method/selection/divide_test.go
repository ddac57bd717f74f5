package selection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/graph"
)

// cliques returns the graph of groups of the given size, all joined within, and each by one edge
// to the next.
func cliques(t testing.TB, groups, size int) *graph.Graph {
	g, err := graph.FromRows(t.Context(), groups*size, func(i int) ([]int32, []float32) {
		var to []int32
		for j := i / size * size; j < (i/size+1)*size; j++ {
			if j != i {
				to = append(to, int32(j))
			}
		}
		if next := i + 1; next%size == 0 && next < groups*size {
			to = append(to, int32(next))
		}
		return to, slices.Repeat([]float32{1}, len(to))
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestDivide holds that clusters fall apart where finer candidates agree on parts that the walk
// stays in, and nowhere else.
func TestDivide(t *testing.T) {
	const groups, size, width, rows = 6, 12, 3, 3
	n := groups * size
	label := func(of func(i int) int) *[]int32 {
		l := make([]int32, n)
		for i := range l {
			l[i] = int32(of(i))
		}
		return &l
	}
	pairs := label(func(i int) int { return i / size / 2 })
	single := label(func(i int) int { return i / size })
	halves := label(func(i int) int { return 2*(i/size) + i%2 })
	random := rand.New(rand.NewPCG(1, 1))
	chance := func() *[]int32 { return label(func(i int) int { return 2*(i/size/2) + random.IntN(2) }) }
	first := label(func(i int) int { return max(0, i/size-1) }) // of the pairs, the first stays whole
	for name, test := range map[string]struct {
		finer   func() *[]int32 // the candidates beside the coarsest
		parts   *[]int32        // wanted
		divided int
	}{
		"no finer one":   {func() *[]int32 { return pairs }, pairs, 0},
		"all agree":      {func() *[]int32 { return single }, single, groups / 2},
		"no agreement":   {chance, pairs, 0},
		"no shorter":     {func() *[]int32 { return label(func(i int) int { return i/size/2*2 + i%2 }) }, pairs, 0},
		"not the finest": {func() *[]int32 { return halves }, pairs, 0},
		"not the first":  {func() *[]int32 { return first }, first, groups/2 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			candidates := make([]Candidate, rows*width)
			for c := range candidates {
				if candidates[c].labels = *test.finer(); c%width == 0 {
					candidates[c].labels = *pairs
				}
				candidates[c].Clusters = 1 + int(slices.Max(candidates[c].labels))
			}
			walk := walkOver(cliques(t, groups, size))
			labels, divided, err := divide(t.Context(), walk, candidates, width, width, 1)
			if err != nil || divided != test.divided {
				t.Fatalf("%d clusters were divided, want %d; %v", divided, test.divided, err)
			}
			if !slices.Equal(labels, *test.parts) {
				t.Errorf("the labels are %v, want %v", labels, *test.parts)
			}
			if again, _, err := divide(t.Context(), walk, candidates, width, width, 3); err != nil || !slices.Equal(labels, again) {
				t.Errorf("with 3 threads the labels are %v, with one %v, %v", again, labels, err)
			}
			if !slices.Equal(candidates[width].labels, *pairs) {
				t.Error("the candidate was changed")
			}
		})
	}
}

func BenchmarkDivide(b *testing.B) {
	const groups, size, width = 200, 20, 4
	walk := walkOver(cliques(b, groups, size))
	candidates := make([]Candidate, 3*width)
	for c := range candidates {
		per := int32(2)
		if c%width > 0 {
			per = 1
		}
		for i := range int32(groups * size) {
			candidates[c].labels = append(candidates[c].labels, i/size/per)
		}
		candidates[c].Clusters = groups / int(per)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := divide(b.Context(), walk, candidates, width, width, 0); err != nil {
			b.Fatal(err)
		}
	}
}
