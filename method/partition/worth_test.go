package partition

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Moving a sample changes the objective by the difference of the gains.
func TestWorth(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(8, 2))
		for run := range 60 {
			n := 2 + r.IntN(30)
			g := random(t, r, n, r.Float64(), weight)
			labels := make([]int, n)
			for i := range labels {
				labels[i] = r.IntN(1 + n/3)
			}
			labels = Number(labels)
			set, resolution := Settings{Clip: 0.05}, 0.0
			if run%2 == 0 {
				resolution = drawResolution(r)
			}
			objective := func(labels []int) float64 {
				if resolution > 0 {
					return modularity(g, labels, resolution)
				}
				return loss(g, labels, set.Clip)
			}
			worth, err := NewWorth(t.Context(), g, labels, resolution, set, 1)
			if err != nil {
				t.Fatal(err)
			}
			before, l := objective(labels), worth.Links()
			alone := slices.Max(labels) + 1
			for i := range n {
				worth.LinksOf(l, i)
				list := worth.Places(i, l)
				index, _ := g.Of(i)
				links := 0
				for k, x := range append(list, Place{Cluster: alone}) {
					links += x.Links
					if math.Abs(x.For-x.Against-x.Gain) > tolerance || x.For < 0 || x.Against < 0 {
						t.Fatalf("%s, run %d: the place %+v does not add up", kind, run, x)
					}
					if k == 0 && x.Cluster != labels[i] || k > 1 && k < len(list) && x.Gain > list[k-1].Gain {
						t.Fatalf("%s, run %d: the places of sample %d are %+v", kind, run, i, list)
					}
					moved := slices.Clone(labels)
					moved[i] = x.Cluster
					if got := objective(moved) - before; math.Abs(got-(list[0].Gain-x.Gain)) > tolerance {
						t.Fatalf("%s, run %d: moving sample %d to %d changes the objective by %v, not %v", kind, run, i, x.Cluster, got, list[0].Gain-x.Gain)
					}
				}
				if links != len(index) {
					t.Fatalf("%s, run %d: sample %d has %d links, not %d", kind, run, i, links, len(index))
				}
			}
		}
	}
}

func TestWorthErrors(t *testing.T) {
	g := random(t, rand.New(rand.NewPCG(1, 1)), 4, 1, kinds["distinct"])
	for want, labels := range map[string][]int{"3 labels": {0, 0, 0}, "label -1": {0, -1, 0, 0}} {
		if _, err := NewWorth(t.Context(), g, labels, 0, Settings{}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := NewWorth(t.Context(), g, make([]int, 4), 0, Settings{Clip: 7}, 1); err == nil {
		t.Error("a clip of 7 is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewWorth(ctx, g, make([]int, 4), 1, Settings{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
