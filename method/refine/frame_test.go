package refine

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
)

// TestPrepare holds that prepared neighbourhoods give the same graphs.
func TestPrepare(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 0))
	for kind, weights := range kinds {
		for range 5 {
			n := 2 + r.IntN(60)
			g := random(r, n, float64(1+r.IntN(12)), weights).graph(t)
			most := 1 + r.IntN(14)
			plain, err := Nearest(t.Context(), g, most, 1)
			if err != nil {
				t.Fatal(err)
			}
			prepared, err := Nearest(t.Context(), g, most, 1)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time for nothing
				if err := prepared.Prepare(t.Context(), 1+r.IntN(3)); err != nil {
					t.Fatal(err)
				}
			}
			for k := -1; k <= most+2; k++ {
				want, err := plain.CoNeighbours(t.Context(), k, 1)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := prepared.CoNeighbours(t.Context(), k, 1+r.IntN(3)); err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("%s: %d of %d neighbours give %v, want %v, %v", kind, k, most, got, want, err)
				}
			}
		}
	}
}

func TestPrepareCancelled(t *testing.T) {
	g := random(rand.New(rand.NewPCG(46, 0)), 300, 8, kinds["distinct"]).graph(t)
	near, err := Nearest(t.Context(), g, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := near.Prepare(lapse.After(t.Context(), 1), 1); !errors.Is(err, context.Canceled) || near.frame != nil {
		t.Errorf("%v", err)
	}
	if err := near.Prepare(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for questions := range 3 {
		if got, err := near.CoNeighbours(lapse.After(t.Context(), questions), 4, 1); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", questions, err)
		}
	}
}
