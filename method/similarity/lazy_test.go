package similarity_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// A space that makes its rows when they are compared says what one says that keeps them.
func TestLazy(t *testing.T) {
	set, err := synth.Generate(synth.Config{Samples: 700, Classes: 5, Dims: []int{9}, Noise: []float64{0.6}, Missing: 0.1, Views: 2, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	v := set.Views[0]
	clear(v.Row(5)) // without a direction as it is
	for k := range v.Row(6) {
		v.Row(6)[k] = 1e-30
	}
	for i := range v.Samples {
		v.Row(i)[4] = 3 // a constant feature
		if i == 5 {
			v.Row(i)[4] = 0
		}
	}
	for _, scale := range []view.Scale{view.NoScale, view.MinMax, view.Mixed} {
		scaler, err := v.Scaler(t.Context(), scale, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, weight := range []float64{scaler.Weights[0], 0} {
			scaler.Weights[0] = weight
			scaled, err := scaler.Apply(t.Context(), v, 1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := similarity.NewSpace(t.Context(), scaled, similarity.Cosine, nil, false, 1)
			if err != nil {
				t.Fatal(err)
			}
			lazy, err := similarity.Lazy(t.Context(), v, scaler, nil, 2)
			if err != nil {
				t.Fatal(err)
			}
			if lazy.Count() != want.Count() || lazy.Zero != want.Zero || lazy.FirstZero != want.FirstZero || lazy.Dims != want.Dims {
				t.Fatalf("%v: %d rows, %d zeros from %d; want %d, %d, %d", scale, lazy.Count(), lazy.Zero, lazy.FirstZero, want.Count(), want.Zero, want.FirstZero)
			}
			scales := make([]float32, v.Samples)
			others := make([]int32, v.Samples)
			for i := range scales {
				scales[i], others[i] = float32(1+i%3), int32(i)
			}
			for round := range 2 { // the second with what Fill has found
				a, b := make([]float32, v.Samples), make([]float32, v.Samples)
				for i := 0; i < v.Samples; i += 31 {
					want.WithLocalScales(scales).Similarities(a, i, others)
					lazy.WithLocalScales(scales).Similarities(b, i, others)
					for j := range a {
						if math.Float32bits(a[j]) != math.Float32bits(b[j]) && (a[j] == a[j] || b[j] == b[j]) {
							t.Fatalf("%v, weight %v, round %d: samples %d and %d have the similarity %v, want %v", scale, weight, round, i, j, b[j], a[j])
						}
					}
				}
				row := make([]float32, lazy.Dims)
				for r := range lazy.Count() {
					lazy.Fill(row, r)
					for k, x := range want.Row(r) {
						if row[k] != x || lazy.Row(r)[k] != x {
							t.Fatalf("%v, round %d: row %d has %v in dimension %d, want %v", scale, round, r, row[k], k, x)
						}
					}
				}
			}
		}
	}
	if _, err := similarity.Lazy(t.Context(), v, &view.Scaler{Scale: view.Mixed}, nil, 1); err == nil {
		t.Error("a scaler of other rows makes a space")
	}
	few := &view.View{Name: "few", Samples: 2, Dims: 2, Data: []float32{1, 2, 0, 0}}
	if _, err := similarity.Lazy(t.Context(), few, &view.Scaler{}, nil, 1); err == nil {
		t.Error("one row makes a space")
	}
}

// To make rows again takes longer than to have them.
func BenchmarkLazy(b *testing.B) {
	set, err := synth.Generate(synth.Config{Samples: 60_000, Classes: 5, Dims: []int{128}})
	if err != nil {
		b.Fatal(err)
	}
	scaler, err := set.Views[0].Scaler(b.Context(), view.Mixed, nil)
	if err != nil {
		b.Fatal(err)
	}
	s, err := similarity.Lazy(b.Context(), set.Views[0], scaler, nil, 1)
	if err != nil {
		b.Fatal(err)
	}
	others, to := make([]int32, 100), make([]float32, 100)
	for _, name := range []string{"new", "known"} {
		for _, kept := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/kept=%v", name, kept), func(b *testing.B) {
				b.ReportAllocs()
				for turn := 0; b.Loop(); turn++ {
					for i := range others {
						if others[i] = int32(7 * i); !kept {
							others[i] = int32((turn*100 + i) % s.Samples)
						}
					}
					s.Similarities(to, 3, others)
				}
			})
		}
		row := make([]float32, s.Dims)
		for r := range s.Count() {
			s.Fill(row, r)
		}
	}
}
