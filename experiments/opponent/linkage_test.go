package opponent

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// Distances are 1 less the mean cosine, and that of two without a common view is the mean of all.
func TestDistances(t *testing.T) {
	a, err := view.FromRows("a", [][]float64{{3, 4}, {0, 2}, {5, 0}, nil})
	if err != nil {
		t.Fatal(err)
	}
	b, err := view.FromRows("b", [][]float64{{0, 5}, {1, 0}, nil, {-1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	d := measured(t, a, b).far
	want := triangle{nil, {0.6}, {0.4, 1}, {1, 2, 1}}
	for i := range want {
		for j, x := range want[i] {
			if math.Abs(float64(d[i][j]-x)) > 1e-6 {
				t.Errorf("%d and %d are %v apart, want %v", i, j, d[i][j], x)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	v := &view.View{Samples: MostSamples + 1}
	if _, err := Measure(t.Context(), []*view.View{v}, 1); err == nil {
		t.Error("there is no bound")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &Alike{far: triangle{nil, {1}, {1, 1}}}
	if _, err := a.Ward(ctx, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func BenchmarkWard(b *testing.B) {
	set, err := synth.Generate(synth.Config{Samples: 1000})
	if err != nil {
		b.Fatal(err)
	}
	a := measured(b, set.Views...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Ward(b.Context(), 20); err != nil {
			b.Fatal(err)
		}
	}
}
