package view

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// cosine returns that of two rows.
func cosine(a, b []float32) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for k := range a {
		ab += float64(a[k]) * float64(b[k])
		aa += float64(a[k]) * float64(a[k])
		bb += float64(b[k]) * float64(b[k])
	}
	return ab / math.Sqrt(aa*bb)
}

func fromLinks(t *testing.T, samples int, links Links, threads int) *View {
	t.Helper()
	v, err := FromLinks(t.Context(), "cites", samples, links, threads)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestFromLinks(t *testing.T) {
	// Two triangles that one link joins, a sample linked to itself alone, and one in no pair.
	pairs := [][2]int{{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {2, 3}, {6, 6}}
	v := fromLinks(t, 8, Links{Pairs: pairs}, 1)
	if v.Links != 7 || v.Count() != 7 || v.Has(7) || v.Dims != LinkDims {
		t.Errorf("%d links of %d samples, %d dimensions", v.Links, v.Count(), v.Dims)
	}
	within, across, far := cosine(v.Row(0), v.Row(1)), cosine(v.Row(0), v.Row(4)), cosine(v.Row(0), v.Row(6))
	if !(within > across+0.05 && across > far && math.Abs(far) < 0.25) {
		t.Errorf("within %.2f, across %.2f, to a sample that no link leads to %.2f", within, across, far)
	}

	// Neither threads nor the direction and order of links matter.
	turned := [][2]int{{6, 6}, {3, 2}, {2, 3}, {5, 3}, {5, 4}, {4, 3}, {2, 0}, {2, 1}, {1, 0}}
	if again := fromLinks(t, 8, Links{Pairs: turned}, 3); !slices.Equal(v.Data[:7*LinkDims], again.Data[:7*LinkDims]) || again.Links != 7 {
		t.Error("the links in another order make other rows")
	}
	if again := fromLinks(t, 8, Links{Pairs: pairs, Weights: slices.Repeat([]float64{3}, len(pairs))}, 0); !slices.Equal(v.Data[:7*LinkDims], again.Data[:7*LinkDims]) {
		t.Error("equal weights make other rows")
	}
}

func TestFromLinksProbability(t *testing.T) {
	pairs := [][2]int{{0, 1}, {1, 2}, {3, 4}}
	alike := func(p float64, probability bool) float64 {
		v := fromLinks(t, 5, Links{Pairs: pairs, Weights: []float64{0.9, p, 0.9}, Probability: probability}, 1)
		return cosine(v.Row(1), v.Row(2))
	}
	// As weights, the only link of sample 2 takes every step from it, however light it is.
	if low, high := alike(0.01, true), alike(0.9, true); !(low < 0.4 && high > 0.8) {
		t.Errorf("a cosine of %.2f by a link of 0.01 and %.2f by one of 0.9", low, high)
	}
	if low := alike(0.01, false); low < 0.8 {
		t.Errorf("a cosine of %.2f by the only link", low)
	}
	zero := fromLinks(t, 5, Links{Pairs: pairs, Weights: []float64{1, 0, 0}}, 1)
	if zero.Links != 1 || zero.Count() != 5 {
		t.Errorf("%d links of %d samples", zero.Links, zero.Count())
	}
}

func TestFromLinksRefused(t *testing.T) {
	for _, c := range []struct {
		samples int
		links   Links
		want    string
	}{
		{0, Links{Pairs: [][2]int{{0, 0}}}, "there are 0 samples"},
		{3, Links{}, "there is no link"},
		{3, Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{1, 2}}, "2 weights for 1 links"},
		{3, Links{Pairs: [][2]int{{0, 1}, {1, 3}}}, "link 1 (counted from 0) joins 1 and 3"},
		{3, Links{Pairs: [][2]int{{-1, 1}}}, "joins -1 and 1"},
		{3, Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{-1}}, "the weight -1"},
		{3, Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{math.NaN()}}, "the weight NaN"},
		{3, Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{math.Inf(1)}}, "the weight +Inf"},
		{3, Links{Pairs: [][2]int{{0, 1}}, Weights: []float64{1.5}, Probability: true}, "the probability 1.5"},
	} {
		if v, err := FromLinks(t.Context(), "cites", c.samples, c.links, 1); v != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "cites: ") {
			t.Errorf("%+v: %v", c.links, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FromLinks(ctx, "cites", 3, Links{Pairs: [][2]int{{0, 1}}}, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkFromLinks(b *testing.B) {
	links := Links{}
	for i := range 5000 {
		links.Pairs = append(links.Pairs, [2]int{i % 1000, (i * i) % 1000})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FromLinks(b.Context(), "links", 1000, links, 1); err != nil {
			b.Fatal(err)
		}
	}
}
