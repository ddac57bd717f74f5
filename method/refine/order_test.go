package refine

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/sparse"
)

// ring returns neighbourhoods in which every sample has those of the next two numbers.
func ring(t *testing.T, samples int) *Neighbourhoods {
	index, p := make([]int32, 0, 2*samples), slices.Repeat([]float32{0.9, 0.5}, samples)
	for i := range samples {
		index = append(index, int32((i+1)%samples), int32((i+2)%samples))
	}
	n, err := NewNeighbourhoods(2, index, p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOrder holds that many samples are visited in an order of neighbours where their numbers are
// none, and that the graph is the same.
func TestOrder(t *testing.T) {
	near := ring(t, manySamples)
	if got := near.order(); got != nil {
		t.Error("samples in the order of neighbours are sorted")
	}
	if got := ring(t, 100).order(); got != nil {
		t.Error("few samples are sorted")
	}
	want, err := near.CoNeighbours(t.Context(), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := sparse.Permutation(rand.New(rand.NewPCG(47, 0)).Perm(manySamples))
	mixed, err := near.Scatter(t.Context(), p, 1)
	if err != nil {
		t.Fatal(err)
	}
	order := mixed.order()
	if sorted := slices.Sorted(slices.Values(order)); len(sorted) != manySamples || sorted[0] != 0 || len(slices.Compact(sorted)) != manySamples {
		t.Fatalf("the order of %d samples lists %d", manySamples, len(sorted))
	}
	got, err := mixed.CoNeighbours(t.Context(), 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = want.Scatter(t.Context(), p, 1); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("another graph, %v", err)
	}
}
