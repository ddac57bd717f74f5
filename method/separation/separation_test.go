package separation

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/method/view"
)

// clouds returns a view of two normal clouds of n/2 samples whose means lie so far apart, in units of
// their deviation, and which of the two every sample is of.
func clouds(n, dims int, apart float64) (v *view.View, labels []int32) {
	random := rand.New(rand.NewPCG(3, uint64(dims)))
	v = &view.View{Name: "x", Samples: n, Dims: dims, Data: make([]float32, n*dims)}
	labels = make([]int32, n)
	for i := range n {
		row := v.Row(i)
		for k := range row {
			row[k] = float32(random.NormFloat64())
		}
		labels[i] = int32(i % 2)
		row[0] += float32(apart) * float32(labels[i])
	}
	return v, labels
}

func identity(n int) sparse.Permutation {
	p := make(sparse.Permutation, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func features(t *testing.T, order sparse.Permutation, leftOut []bool, views ...*view.View) *Features {
	t.Helper()
	read, err := Read(t.Context(), views, 2)
	if err != nil {
		t.Fatal(err)
	}
	return read.Features(order, leftOut)
}

var other = []int32{1, 0}

// TestOf holds that clusters with a gap between them lie apart, that two halves of one cloud do not,
// and that the separation rises with the gap.
func TestOf(t *testing.T) {
	const n = 2000
	for _, dims := range []int{1, 2, 10, MaxFeatures} {
		last := -1.0
		for _, test := range []struct{ apart, least, most float64 }{{3, 0.1, 0.7}, {5, 0.7, 1}, {20, 0.99, 1}} {
			v, labels := clouds(n, dims, test.apart)
			got := features(t, identity(n), nil, v).Of(labels, other)
			if got < test.least || got > test.most || got < last {
				t.Errorf("%d features, %v deviations apart: %.3f after %.3f, want %v to %v and no less than before", dims, test.apart, got, last, test.least, test.most)
			}
			last = got
		}
		v, labels := clouds(n, dims, 0)
		for i := range labels {
			labels[i] = 0
			if v.Row(i)[0] > 0 {
				labels[i] = 1
			}
		}
		if got := features(t, identity(n), nil, v).Of(labels, other); got > 0.05 {
			t.Errorf("%d features, halves of a cloud: %.3f, want about 0", dims, got)
		}
		for i := range labels {
			labels[i] = int32(i % 2)
		}
		if got := features(t, identity(n), nil, v).Of(labels, other); got > 0.25 { // by few samples about the medians
			t.Errorf("%d features, a cloud divided by chance: %.3f, want at most 0.25", dims, got)
		}
	}
}

// TestOfUnits holds that the unit and the origin of a feature do not matter, nor the numbers of the
// samples and of the clusters.
func TestOfUnits(t *testing.T) {
	const n = 600
	v, labels := clouds(n, 3, 3.5)
	want := features(t, identity(n), nil, v).Of(labels, other)
	scaled := *v
	scaled.Data = append([]float32(nil), v.Data...)
	for i := range n {
		scaled.Row(i)[0] = 1000*scaled.Row(i)[0] + 5
		scaled.Row(i)[2] *= 0.001
	}
	if got := features(t, identity(n), nil, &scaled).Of(labels, other); math.Abs(got-want) > 0.02 {
		t.Errorf("in other units %.4f, want %.4f", got, want)
	}
	if got := features(t, nil, nil, v).Of(labels, other); got != want {
		t.Errorf("without an order %v, want %v", got, want)
	}
	order := sparse.Permutation(rand.New(rand.NewPCG(1, 1)).Perm(n)) // number -> sample
	renumbered, swapped := make([]int32, n), make([]int32, n)
	for number, i := range order {
		renumbered[number], swapped[i] = labels[i], 1-labels[i]
	}
	if got := features(t, order, nil, v).Of(renumbered, other); got != want {
		t.Errorf("with other numbers of the samples %v, want %v", got, want)
	}
	if got := features(t, identity(n), nil, v).Of(swapped, other); got != want {
		t.Errorf("with other numbers of the clusters %v, want %v", got, want)
	}
}

// TestOfSmall holds that clusters that cannot be looked at do not count.
func TestOfSmall(t *testing.T) {
	const n = 400
	v, labels := clouds(n, 2, 0)
	f := features(t, identity(n), nil, v)
	for i := range labels {
		labels[i] = 0
	}
	for _, test := range []struct {
		name   string
		crumbs int
		beside []int32
	}{{"one cluster", 0, []int32{-1}}, {"beside it a pair", 2, other}, {"no cluster", n, nil}} {
		own := append([]int32(nil), labels...)
		for i := range test.crumbs {
			own[i] = 1
		}
		beside := test.beside
		if beside == nil { // all by themselves
			for i := range own {
				own[i] = int32(i)
				beside = append(beside, -1)
			}
		}
		if got := f.Of(own, beside); got != 1 {
			t.Errorf("%s: %v, want 1", test.name, got)
		}
	}
	if got := f.Of(make([]int32, n), []int32{0}); got != 0 {
		t.Errorf("a cluster beside itself: %v, want 0", got)
	}
}

// TestCautious holds that doubt makes a separation smaller, much so for few samples, and that few samples of one
// cloud are not taken to lie apart.
func TestCautious(t *testing.T) {
	last := 0.0
	for _, n := range []int{10, 40, 400, 10_000} {
		v, labels := clouds(n, 3, 6)
		f := features(t, identity(n), nil, v)
		got, plain := f.Cautious().Of(labels, other), f.Of(labels, other)
		if got > plain || got < last {
			t.Errorf("%d samples: %.3f after %.3f, and %.3f without doubt", n, got, last, plain)
		}
		last = got
		if none := f.Cautious().Of(labels, []int32{-1, -1}); n/2 < shown && none != 0 || n/2 >= shown && none != 1 {
			t.Errorf("%d samples, nothing beside: %v", n, none)
		}
	}
	if last < 0.9 {
		t.Errorf("many samples: %.3f, want 0.9", last)
	}
	if (*Features)(nil).Cautious() != nil {
		t.Error("nothing is in doubt")
	}
}

// TestFeatures says of which views separations are measured.
func TestFeatures(t *testing.T) {
	const n = 100
	make := func(dims int, missing float64) *view.View {
		v, _ := clouds(n, dims, 3)
		if missing > 0 {
			v.Present = make([]bool, n)
			for i := range v.Present {
				v.Present[i] = float64(i) >= missing*n
			}
		}
		return v
	}
	for _, test := range []struct {
		name       string
		views      []*view.View
		leftOut    []bool
		rows, dims int // 0 rows for nil
	}{
		{"one view", []*view.View{make(5, 0)}, nil, n, 5},
		{"as many as can be", []*view.View{make(MaxFeatures, 0)}, nil, n, MaxFeatures},
		{"one more", []*view.View{make(MaxFeatures+1, 0)}, nil, 0, 0},
		{"two views", []*view.View{make(32, 0), make(32, 0)}, []bool{false, false}, n, 64},
		{"two of too many together", []*view.View{make(33, 0), make(32, 0)}, nil, 0, 0},
		{"one of them left out", []*view.View{make(33, 0), make(32, 0)}, []bool{true, false}, n, 32},
		{"a large one left out", []*view.View{make(5, 0), make(500, 0)}, []bool{false, true}, n, 5},
		{"all left out", []*view.View{make(5, 0)}, []bool{true}, 0, 0},
		{"some missing", []*view.View{make(5, 0.2), make(4, 0)}, nil, 80, 9},
		{"most missing", []*view.View{make(5, 0.6), make(4, 0)}, nil, 0, 0},
	} {
		got := features(t, identity(n), test.leftOut, test.views...)
		switch {
		case test.rows == 0:
			if got != nil {
				t.Errorf("%s: %d rows of %d features, want none", test.name, len(got.node), got.dims)
			}
		case got == nil || len(got.node) != test.rows || got.dims != test.dims || len(got.data) != test.rows*test.dims:
			t.Errorf("%s: not %d rows of %d features: %v", test.name, test.rows, test.dims, got)
		}
	}
	if (*Views)(nil).Features(nil, nil) != nil {
		t.Error("no views have features")
	}
}

// TestRead holds that Read does not depend on the threads, changes nothing, and stops.
func TestRead(t *testing.T) {
	v, _ := clouds(most+500, 2, 3)
	before := append([]float32(nil), v.Data...)
	one, err := Read(t.Context(), []*view.View{v, v}, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Read(t.Context(), []*view.View{v, v}, 2)
	if err != nil || !reflect.DeepEqual(one, two) {
		t.Errorf("two threads read something else, %v", err)
	}
	if len(one.samples) != most || !reflect.DeepEqual(before, v.Data) {
		t.Errorf("%d samples are read, want %d, and the view stays", len(one.samples), most)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, []*view.View{v}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled Read returns %v", err)
	}
}

func BenchmarkOf(b *testing.B) {
	v, labels := clouds(most, 20, 3)
	read, err := Read(b.Context(), []*view.View{v}, 1)
	if err != nil {
		b.Fatal(err)
	}
	f := read.Features(identity(most), nil)
	b.ReportAllocs()
	for b.Loop() {
		f.Of(labels, other)
	}
}
