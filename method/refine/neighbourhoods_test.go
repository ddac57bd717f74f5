package refine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
)

// TestNeighbourhoods holds that what is looked at once, for the largest number of
// neighbours, gives for every number what looking anew does, to the last bit.
func TestNeighbourhoods(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(41, 42))
		for range 15 {
			n := 1 + r.IntN(60)
			w := random(r, n, float64(r.IntN(20)), weight)
			g := w.graph(t)
			before := clone(g)
			most := r.IntN(25)
			near, err := Nearest(t.Context(), g, most, 1+r.IntN(3))
			if err != nil {
				t.Fatal(err)
			}
			for k := 0; k <= most; k++ {
				got, err := near.CoNeighbours(t.Context(), k, 1+r.IntN(3))
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, viaCoNeighbours(t, g, k, 1)) {
					t.Fatalf("%s: %d of %d neighbours give another graph", kind, k, most)
				}
				check(t, got, w.coNeighbours(k), 1e-6)

				joined, err := near.Graph(t.Context(), k, 1+r.IntN(3))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(joined.Offsets, got.Offsets) || !slices.Equal(joined.Index, got.Index) {
					t.Fatalf("%s: %d neighbours are joined otherwise", kind, k)
				}
				for _, x := range joined.Weight {
					if x != 1 {
						t.Fatalf("%s: %d neighbours are joined with a weight of %v", kind, k, x)
					}
				}
			}
			if !reflect.DeepEqual(g, before) {
				t.Fatalf("%s: the graph has changed", kind)
			}
		}
	}
}

// TestNeighbourhoodsBounds asks for more neighbours than there are, and for none.
func TestNeighbourhoodsBounds(t *testing.T) {
	w := random(rand.New(rand.NewPCG(43, 0)), 30, 8, kinds["distinct"])
	g := w.graph(t)
	all, err := Nearest(t.Context(), g, math.MaxInt, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{-1, 0, 30, math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt} {
		got, err := all.CoNeighbours(t.Context(), k, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, viaCoNeighbours(t, g, k, 1)) {
			t.Errorf("%d neighbours give another graph", k)
		}
	}
}

func TestNeighbourhoodsCancelled(t *testing.T) {
	g := random(rand.New(rand.NewPCG(44, 0)), 300, 8, kinds["distinct"]).graph(t)
	if got, err := Nearest(lapse.After(t.Context(), 0), g, 5, 1); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	near, err := Nearest(t.Context(), g, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for questions := range 4 {
		if got, err := near.CoNeighbours(lapse.After(t.Context(), questions), 5, 1); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", questions, err)
		}
		if got, err := near.Graph(lapse.After(t.Context(), min(1, questions)), 5, 1); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", questions, err)
		}
	}
}
