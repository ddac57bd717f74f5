package mvclust_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust"
)

// A sample is found by what it is called, exactly.
func TestModelIndex(t *testing.T) {
	for _, ids := range []bool{true, false} {
		_, _, m := modelOf(t, mvclust.Options{}, ids)
		for i := range m.Samples() {
			if got, ok := m.Index(m.ID(i)); got != i || !ok {
				t.Fatalf("%s is sample %d: %v, and not %d", m.ID(i), got, ok, i)
			}
		}
		for _, id := range []string{"", "-1", "150", "007", "+7", " 7", "7 "} {
			if i, ok := m.Index(id); ok {
				t.Errorf("%q is sample %d", id, i)
			}
		}
	}
}

// Some of the samples compare as they do among all.
func TestModelPart(t *testing.T) {
	for name, opt := range modelCases {
		t.Run(name, func(t *testing.T) {
			_, _, m := modelOf(t, opt, false)
			m.Views[1].LeftOut = name == "paper"
			all, err := m.Spaces(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(4, 5))
			for range 40 {
				samples := random.Perm(m.Samples())[:random.IntN(4)]
				if len(samples) == 3 {
					samples[2] = samples[0] // a view in which all rows are alike is no error here
				}
				part, err := m.SpacesOf(t.Context(), samples, 2)
				if err != nil {
					t.Fatal(err)
				}
				for v := range part {
					for a, i := range samples {
						if part[v].Has(a) != all[v].Has(i) {
							t.Fatalf("view %d, sample %d: there is a row: %v", v, i, part[v].Has(a))
						}
						for b, j := range samples {
							got, want := part[v].Similarity(a, b), all[v].Similarity(i, j)
							if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
								t.Fatalf("view %d, samples %d and %d: %v, not %v", v, i, j, got, want)
							}
						}
					}
				}
			}
		})
	}
}
