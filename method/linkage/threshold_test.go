package linkage

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// plainF1 is the definition: the largest F1 of a threshold on all distances for the pairs within clusters, against that
// of all pairs.
func plainF1(d [][]float32, labels []int) float64 {
	best := 0.0
	for i := range d {
		for j := range i {
			both, within, near := 0.0, 0.0, 0.0
			for a := range d {
				for b := range a {
					if labels[a] == labels[b] {
						within++
					}
					if d[a][b] <= d[i][j] {
						near++
						if labels[a] == labels[b] {
							both++
						}
					}
				}
			}
			if all := float64(len(d)*(len(d)-1)) / 2; within > 0 && within < all {
				best = max(best, (2*both/(within+near)-2*within/(within+all))/(1-2*within/(within+all)))
			}
		}
	}
	return best
}

// Of a partition, every distance within clusters is tried, and no other one can be better. Of the cuts of a tree
// only the distances of merges are, so that less may be found.
func TestF1(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	for range 40 {
		n := 2 + r.IntN(14)
		d := points(r, n)
		labels := make([]int, n)
		for i := range labels {
			labels[i] = r.IntN(3)
		}
		got, err := adjustedF1(t.Context(), labels, earlier(d), 2)
		if err != nil || math.Abs(got-plainF1(d, labels)) > 1e-12 {
			t.Fatalf("F1 is %v, %v, want %v", got, err, plainF1(d, labels))
		}
		tree, err := Average(t.Context(), n, earlier(d), 2)
		if err != nil {
			t.Fatal(err)
		}
		curve, err := tree.adjustedF1(t.Context(), earlier(d), 2)
		if err != nil || len(curve) != n || curve[0] != 0 || curve[n-1] != 0 {
			t.Fatalf("the curve is %v, %v", curve, err)
		}
		for k := 2; k < n; k++ {
			cut, err := tree.Cut(k)
			if err != nil {
				t.Fatal(err)
			}
			if most := plainF1(d, cut); curve[k-1] > most+1e-12 {
				t.Fatalf("F1 of %d clusters is %v, and at most %v", k, curve[k-1], most)
			}
		}
	}
}

// things makes views of things of the given numbers of samples, each around a random centre, and the spaces.
func things(t *testing.T, seed uint64, noise []float64, sizes ...int) (spaces []*similarity.Space, classes []int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	for c, n := range sizes {
		classes = append(classes, slices.Repeat([]int{c}, n)...)
	}
	const dims = 24
	for _, noise := range noise {
		centres := make([]float64, len(sizes)*dims)
		for k := range centres {
			centres[k] = r.NormFloat64()
		}
		v := &view.View{Samples: len(classes), Dims: dims, Data: make([]float32, len(classes)*dims)}
		for i, c := range classes {
			for k := range dims {
				v.Data[i*dims+k] = float32(centres[c*dims+k] + noise*r.NormFloat64())
			}
		}
		s, err := similarity.NewSpace(t.Context(), v, similarity.Cosine, nil, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		spaces = append(spaces, s)
	}
	return spaces, classes
}

func between(t *testing.T, spaces ...*similarity.Space) *Distances {
	t.Helper()
	d, err := NewDistances(spaces...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Told finds things of very different sizes, whose number it is not told; a view in which samples do not
// differ changes nothing, and one of noise is seen in Least.
func TestTold(t *testing.T) {
	sizes := []int{1, 1, 2, 2, 2, 3, 3, 5, 8, 8, 12, 20, 40, 90}
	spaces, classes := things(t, 8, []float64{0.3, 0.3}, sizes...)
	flat := &view.View{Samples: len(classes), Dims: 2, Data: slices.Repeat([]float32{1, 2}, len(classes))}
	constant, err := similarity.NewSpace(t.Context(), flat, similarity.Cosine, nil, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := between(t, append(spaces, constant)...)
	if d.Views() != 2 || len(d.samples) != len(classes) {
		t.Fatalf("%d views of %d samples are compared", d.Views(), len(d.samples))
	}
	cuts, err := Told(t.Context(), d, 2)
	if err != nil || len(cuts) != 1 || !same(cuts[0].Labels, classes) || cuts[0].Clusters != len(sizes) {
		t.Fatalf("told are %v, %v", cuts, err)
	}
	if c := cuts[0]; c.F1 < 0.95 || c.Least < 0.85 || c.Least > c.F1 {
		t.Errorf("F1 is %v, and %v without a view", c.F1, c.Least)
	}
	alone, _ := things(t, 8, []float64{0.1, 6}, sizes...)
	cuts, err = Told(t.Context(), between(t, alone...), 2)
	if err != nil || len(cuts) > 0 && cuts[0].Least > 0.5 {
		t.Errorf("with a view of noise, told are %v, %v", cuts, err)
	}
	noise, _ := things(t, 9, []float64{1, 1}, 300)
	if cuts, err := Told(t.Context(), between(t, noise...), 2); err != nil || len(cuts) > 0 {
		t.Errorf("in a cloud, told are %v, %v", cuts, err)
	}
	if cuts, err := Told(t.Context(), between(t), 2); err != nil || len(cuts) > 0 {
		t.Errorf("without views, told are %v, %v", cuts, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Told(ctx, d, 2); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Of more than 1000 samples, some tell whether the others are worth looking at.
func TestToldOfMany(t *testing.T) {
	var sizes []int
	for c := range 150 {
		sizes = append(sizes, 1+300/(1+c))
	}
	spaces, classes := things(t, 10, []float64{0.3, 0.3}, sizes...)
	cuts, err := Told(t.Context(), between(t, spaces...), 2)
	if err != nil || len(cuts) != 1 || !same(cuts[0].Labels, classes) {
		t.Fatalf("%d cuts of %d samples are told, %v", len(cuts), len(classes), err)
	}
}

// A distance is the mean over the views that both samples have, in units of their means; 1 where there is
// none.
func TestDistances(t *testing.T) {
	rows := func(present []bool, x ...float32) *similarity.Space {
		s, err := similarity.NewSpace(t.Context(), &view.View{Samples: len(present), Dims: 1, Data: x, Present: present}, similarity.L1, nil, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := []bool{true, true, true, false}, []bool{false, true, true, true}
	d := between(t, rows(a, 0, 1, 5, 0), rows(b, 0, 2, 4, 8))
	meanA, meanB := (1.0+5+4)/3, (2.0+6+4)/3
	for i, want := range [][]float64{{}, {1 / meanA}, {5 / meanA, (4/meanA + 2/meanB) / 2}, {1, 6 / meanB, 4 / meanB}} {
		got := make([]float32, i)
		d.Of(i, got)
		for j, x := range got {
			if math.Abs(float64(x)-want[j]) > 1e-6 {
				t.Errorf("samples %d and %d are %v apart, want %v", i, j, x, want[j])
			}
		}
	}
	some := d.some(3)
	for i, s := range some.samples {
		got, want := make([]float32, i), make([]float32, s)
		some.Of(i, got)
		d.Of(int(s), want)
		for j, x := range got {
			if x != want[some.samples[j]] {
				t.Errorf("among some, samples %d and %d are %v apart", s, some.samples[j], x)
			}
		}
	}
	if len(some.samples) != 3 || len(d.some(9).samples) != 4 {
		t.Error("some are too many or too few")
	}
	short, _ := things(t, 11, []float64{1}, 2, 3)
	if _, err := NewDistances(short[0], rows(a, 0, 1, 5, 0)); err == nil {
		t.Error("spaces of 5 and 4 samples are taken")
	}
	if _, err := NewDistances(nil); err == nil {
		t.Error("no space is taken")
	}
	if w := d.without(0); w.Views() != 1 || d.Views() != 2 {
		t.Error("without changes what it is called on, or leaves nothing out")
	}
}
