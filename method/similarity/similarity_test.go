package similarity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

var metrics = []similarity.Metric{similarity.Cosine, similarity.L1, similarity.L2, similarity.L3}

// powers holds the power of the differences that each distance sums.
var powers = map[similarity.Metric]float64{similarity.L1: 1, similarity.L2: 2, similarity.L3: 3}

// eachMetric runs test once per metric with a random source of its own.
func eachMetric(t *testing.T, test func(t *testing.T, m similarity.Metric, random *rand.Rand)) {
	for _, m := range metrics {
		t.Run(m.String(), func(t *testing.T) { test(t, m, rand.New(rand.NewPCG(1, uint64(m)))) })
	}
}

// randomView returns n normal rows, of which a share is missing and one is equal
// to another.
func randomView(random *rand.Rand, n, dims int, missing float64) *view.View {
	v := &view.View{Name: "v", Samples: n, Dims: dims, Data: make([]float32, n*dims), Present: make([]bool, n)}
	for i := range v.Data {
		v.Data[i] = float32(random.NormFloat64())
	}
	for i := range v.Present {
		v.Present[i] = random.Float64() >= missing
		if !v.Present[i] {
			for k := range dims {
				v.Row(i)[k] = float32(math.NaN())
			}
		}
	}
	for _, i := range []int{0, 1, n - 1} {
		v.Present[i] = true
		for k := range dims {
			v.Row(i)[k] = float32(random.NormFloat64())
		}
	}
	v.Row(0)[0], v.Row(1)[0] = 1, -1 // not constant, whatever the metric
	copy(v.Row(n-1), v.Row(0))
	return v
}

func newSpace(t testing.TB, v *view.View, m similarity.Metric, order []int) *similarity.Space {
	t.Helper()
	s, err := similarity.NewSpace(t.Context(), v, m, order, false, 2)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// brute is the similarity by its definition, in double precision.
func brute(m similarity.Metric, a, b []float32) float64 {
	var dot, aa, bb, l1, l2, l3 float64
	for k := range a {
		x, y := float64(a[k]), float64(b[k])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
		d := math.Abs(x - y)
		l1, l2, l3 = l1+d, l2+d*d, l3+d*d*d
	}
	switch m {
	case similarity.L1:
		return -l1
	case similarity.L2:
		return -math.Sqrt(l2)
	case similarity.L3:
		return -math.Cbrt(l3)
	case similarity.Cosine:
		return dot / math.Sqrt(aa*bb)
	}
	return math.NaN() // which equals nothing
}

// same compares bits, so that NaN equals NaN.
func same(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }

func TestBruteForce(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		for dims := 1; dims <= 67; dims++ {
			v := randomView(random, 12, dims, 0.2)
			s := newSpace(t, v, m, nil)
			for i := range v.Samples {
				for j := range v.Samples {
					got := float64(s.Similarity(i, j))
					if !v.Has(i) || !v.Has(j) {
						if !math.IsNaN(got) {
							t.Fatalf("%d dimensions: samples %d and %d, not both present, have similarity %v", dims, i, j, got)
						}
						continue
					}
					want := brute(m, v.Row(i), v.Row(j))
					if !(math.Abs(got-want) <= 1e-5*max(1, math.Abs(want))) {
						t.Fatalf("%d dimensions: samples %d and %d have similarity %v, want %v", dims, i, j, got, want)
					}
				}
			}
		}
	})
}

// TestScale holds that neither very large nor very small values lose precision.
func TestScale(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		scales := map[similarity.Metric][]float64{
			similarity.Cosine: {1e-37, 1e-20, 1e20, 1e37},
			similarity.L1:     {1e-30, 1e30},
			similarity.L2:     {1e-15, 1e15},
			similarity.L3:     {1e-9, 1e10},
		}[m]
		for _, scale := range scales {
			v := randomView(random, 10, 5, 0)
			for i, x := range v.Data {
				v.Data[i] = float32(float64(x) * scale)
			}
			s := newSpace(t, v, m, nil)
			for i := range v.Samples {
				for j := range v.Samples {
					got, want := float64(s.Similarity(i, j)), brute(m, v.Row(i), v.Row(j))
					tolerance := 1e-5 * math.Abs(want)
					if m == similarity.Cosine {
						tolerance = 1e-5
					}
					if !(math.Abs(got-want) <= tolerance) {
						t.Fatalf("scale %g: samples %d and %d have similarity %v, want %v", scale, i, j, got, want)
					}
				}
			}
		}
	})
}

func TestSymmetry(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		for _, dims := range []int{1, 2, 3, 7, 16, 33, 64, 67} {
			s := newSpace(t, randomView(random, 30, dims, 0.2), m, nil)
			for i := range s.Samples {
				for j := range i {
					if x, y := s.Similarity(i, j), s.Similarity(j, i); !same(x, y) {
						t.Fatalf("%d dimensions: %v and %v for samples %d and %d", dims, x, y, i, j)
					}
				}
			}
		}
	})
}

// TestSimilarities holds that a similarity does not depend on what is computed
// beside it, and that Similarities writes nothing else.
func TestSimilarities(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		for _, dims := range []int{1, 2, 5, 31, 64} {
			s := newSpace(t, randomView(random, 40, dims, 0.3), m, nil)
			for i := range s.Samples {
				for _, n := range []int{0, 1, random.IntN(40), 255, 256, 257, 600} {
					others := make([]int32, n)
					for c := range others {
						others[c] = random.Int32N(int32(s.Samples))
					}
					dst := slices.Repeat([]float32{77}, n+3)
					s.Similarities(dst, i, others)
					for c, got := range dst[:n] {
						if want := s.Similarity(i, int(others[c])); !same(got, want) {
							t.Fatalf("%d dimensions: sample %d with %d, place %d of %d, gives %v; alone %v", dims, i, others[c], c, n, got, want)
						}
					}
					if !slices.Equal(dst[n:], []float32{77, 77, 77}) {
						t.Fatalf("%d similarities were written beyond their end: %v", n, dst[n:])
					}
				}
			}
		}
	})
}

func TestOrder(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		for range 10 {
			v := randomView(random, 25, 1+random.IntN(9), 0.3)
			order := random.Perm(v.Samples)
			s, p := newSpace(t, v, m, nil), newSpace(t, v, m, order)
			if p.Count() != s.Count() {
				t.Fatalf("%d rows, %d when permuted", s.Count(), p.Count())
			}
			r := 0
			for i := range order {
				if p.Has(i) != s.Has(order[i]) {
					t.Fatalf("Has(%d) is %t", i, p.Has(i))
				}
				if p.Has(i) {
					if p.Sample(r) != i {
						t.Fatalf("packed row %d belongs to sample %d, want %d", r, p.Sample(r), i)
					}
					r++
				}
				for j := range order {
					if got, want := p.Similarity(i, j), s.Similarity(order[i], order[j]); !same(got, want) {
						t.Fatalf("samples %d and %d have similarity %v, want %v", i, j, got, want)
					}
				}
			}
		}
	})
}

// sameMemory reports whether the rows of two spaces are the same ones.
func sameMemory(a, b *similarity.Space) bool {
	x, _ := a.Rows()
	y, _ := b.Rows()
	return &x[0] == &y[0]
}

// overwritten reports whether the rows of a space are those of its view.
func overwritten(s *similarity.Space, v *view.View) bool {
	rows, _ := s.Rows()
	return &rows[0] == &v.Data[0]
}

// TestGather holds that a renumbered space is the one that the view gives in that
// order, over the same rows in memory, and that the first one stays as it is.
func TestGather(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		for range 10 {
			v := randomView(random, 25, 1+random.IntN(9), 0.3)
			clear(v.Row(2)) // has no cosine
			v.Present[2] = true
			first, then := random.Perm(v.Samples), random.Perm(v.Samples)
			both := make([]int, len(then))
			for i, from := range then {
				both[i] = first[from]
			}
			s, unchanged, want := newSpace(t, v, m, first), newSpace(t, v, m, first), newSpace(t, v, m, both)
			got := s.Gather(then)
			if !sameMemory(got, s) {
				t.Fatal("the rows were copied")
			}
			for _, c := range []struct{ got, want *similarity.Space }{{got, want}, {s, unchanged}} {
				if c.got.Count() != c.want.Count() || c.got.Name != c.want.Name || c.got.Dims != c.want.Dims || c.got.Samples != c.want.Samples ||
					c.got.Metric() != m || c.got.Zero != c.want.Zero || c.got.FirstZero != c.want.FirstZero {
					t.Fatalf("%d rows, %d of zeros from %d; want %d, %d from %d", c.got.Count(), c.got.Zero, c.got.FirstZero, c.want.Count(), c.want.Zero, c.want.FirstZero)
				}
				for r := range c.want.Count() {
					if c.got.Sample(r) != c.want.Sample(r) || !slices.Equal(c.got.Row(r), c.want.Row(r)) {
						t.Fatalf("row %d belongs to sample %d, want %d", r, c.got.Sample(r), c.want.Sample(r))
					}
				}
				for i := range v.Samples {
					if c.got.Has(i) != c.want.Has(i) {
						t.Fatalf("sample %d has the view: %t, want %t", i, c.got.Has(i), c.want.Has(i))
					}
					for j := range v.Samples {
						if x, y := c.got.Similarity(i, j), c.want.Similarity(i, j); !same(x, y) {
							t.Fatalf("samples %d and %d have similarity %v, want %v", i, j, x, y)
						}
					}
				}
			}
		}
	})
}

// TestSpace holds that the present samples ascend, each with its row, and that the
// rows are the view's own, or under cosine a copy that leaves the view alone.
func TestSpace(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		v := randomView(random, 30, 4, 0.4)
		before := slices.Clone(v.Data)
		s := newSpace(t, v, m, nil)
		if !slices.EqualFunc(v.Data, before, same) {
			t.Error("the view was changed")
		}
		if s.Name != "v" || s.Samples != 30 || s.Dims != 4 || s.Count() != v.Count() || s.Zero != 0 || s.FirstZero != -1 || s.Metric() != m {
			t.Errorf("%+v", s)
		}
		rows, index := s.Rows()
		if len(index) != s.Count() {
			t.Fatalf("%d rows, want %d", len(index), s.Count())
		}
		r := 0
		for i := range v.Samples {
			if s.Has(i) != v.Has(i) {
				t.Fatalf("Has(%d) is %t", i, s.Has(i))
			}
			if !v.Has(i) {
				continue
			}
			if s.Sample(r) != i || len(s.Row(r)) != 4 || &s.Row(r)[0] != &rows[4*index[r]] {
				t.Fatalf("row %d, of length %d, belongs to sample %d; want %d", r, len(s.Row(r)), s.Sample(r), i)
			}
			if (m == similarity.Cosine) == (&s.Row(r)[0] == &v.Row(i)[0]) {
				t.Fatalf("the row of sample %d lies in the wrong place", i)
			}
			r++
		}
		if m == similarity.Cosine && len(rows) != 4*v.Count() {
			t.Errorf("%d values for %d rows", len(rows), v.Count())
		}
	})
}

// TestOverwrite holds that scaling the rows in place changes no similarity, and
// nothing but the rows of samples that have the view.
func TestOverwrite(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		v := randomView(random, 300, 7, 0.4)
		clear(v.Row(1))
		before := slices.Clone(v.Data)
		order := random.Perm(300)
		copied := newSpace(t, v, m, order)
		s, err := similarity.NewSpace(t.Context(), v, m, order, true, 3)
		if err != nil {
			t.Fatal(err)
		}
		if s.Zero != copied.Zero || s.Count() != copied.Count() || !overwritten(s, v) {
			t.Fatalf("%d rows, %d of zeros; copied %d and %d", s.Count(), s.Zero, copied.Count(), copied.Zero)
		}
		for i := range s.Samples {
			for j := range i {
				if !same(s.Similarity(i, j), copied.Similarity(i, j)) {
					t.Fatalf("samples %d and %d have similarity %v, not %v", i, j, s.Similarity(i, j), copied.Similarity(i, j))
				}
			}
		}
		for i := range v.Samples {
			if keeps := m != similarity.Cosine || !v.Has(i) || i == 1; keeps && !slices.EqualFunc(v.Row(i), before[7*i:7*i+7], same) {
				t.Errorf("row %d was changed", i)
			}
		}
	})
}

// TestNewSpaceThreads holds that the number of threads decides nothing.
func TestNewSpaceThreads(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		v := randomView(random, 500, 1000, 0.3) // several blocks of work
		clear(v.Row(7))
		v.Present[7] = true
		want := newSpace(t, v, m, nil)
		for _, threads := range []int{0, 1, 5} {
			s, err := similarity.NewSpace(t.Context(), v, m, nil, false, threads)
			if err != nil {
				t.Fatal(err)
			}
			if s.Count() != want.Count() || s.Zero != want.Zero || s.FirstZero != want.FirstZero {
				t.Fatalf("%d threads: %d rows, %d of zeros", threads, s.Count(), s.Zero)
			}
			for r := range s.Count() {
				if !slices.Equal(s.Row(r), want.Row(r)) {
					t.Fatalf("%d threads: row %d differs", threads, r)
				}
			}
		}
	})
}

func TestNewSpaceCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		s, err := similarity.NewSpace(ctx, randomView(random, 10, 2, 0), m, nil, false, 2)
		if s != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("space %v, error %v", s, err)
		}
	})
}

// TestAlike moves a row away from another step by step, along a line on which
// both the angle and all distances grow.
func TestAlike(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, _ *rand.Rand) {
		v, err := view.FromRows("v", [][]float32{{1, 0}, {1, 0.5}, {1, 1}, {1, 2}, {1, 4}, {1, 8}})
		if err != nil {
			t.Fatal(err)
		}
		s := newSpace(t, v, m, nil)
		for j := 1; j < s.Samples; j++ {
			if nearer, farther := s.Similarity(0, j-1), s.Similarity(0, j); !(nearer > farther) {
				t.Errorf("similarity %v at step %d, %v at step %d", nearer, j-1, farther, j)
			}
		}
	})
}

// TestIdentical holds that nothing is more alike than equal rows: exactly for
// the distances, up to rounding for the cosine.
func TestIdentical(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		for dims := 1; dims <= 67; dims += 6 {
			s := newSpace(t, randomView(random, 20, dims, 0), m, nil)
			limit, slack := float32(0), float32(0)
			if m == similarity.Cosine {
				limit, slack = 1, 1e-6
			}
			for i := range s.Samples {
				for j := range s.Samples {
					x := s.Similarity(i, j)
					equal := i == j || i+j == s.Samples-1 && i*j == 0 // the last row repeats the first
					if equal && !(x >= limit-slack) || !(x <= limit+slack) {
						t.Errorf("%d dimensions: samples %d and %d have similarity %v; the most is %v", dims, i, j, x, limit)
					}
				}
			}
		}
	})
}

func TestZeroRows(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	rows := [][]float32{{1, 2}, {0, 0}, {3, 1}, nil, {negative, 0}, {-1, 1}}
	v, err := view.FromRows("v", rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]int{nil, {5, 4, 3, 2, 1, 0}, {1, 2, 0, 3, 5, 4}, {3, 5, 2, 4, 0, 1}} {
		s := newSpace(t, v, similarity.Cosine, order)
		if s.Zero != 2 || s.FirstZero != 1 || s.Count() != 3 {
			t.Errorf("order %v: %d zero rows, the first is %d, and %d others", order, s.Zero, s.FirstZero, s.Count())
		}
		for i := range s.Samples {
			from := i
			if order != nil {
				from = order[i]
			}
			if want := from == 0 || from == 2 || from == 5; s.Has(i) != want {
				t.Errorf("order %v: Has(%d) is %t", order, i, !want)
			}
			if x := s.Similarity(i, i); s.Has(i) == math.IsNaN(float64(x)) {
				t.Errorf("order %v: sample %d has similarity %v with itself", order, i, x)
			}
		}
	}
	for _, m := range metrics[1:] {
		s := newSpace(t, v, m, nil)
		if s.Zero != 0 || s.FirstZero != -1 || s.Count() != 5 || s.Similarity(1, 4) != 0 {
			t.Errorf("%v: %d zero rows, the first is %d, and %d others", m, s.Zero, s.FirstZero, s.Count())
		}
	}
}

func TestErrors(t *testing.T) {
	const drop = "so it cannot tell samples apart; drop this view"
	const offset = "; if its values differ by less than float32 can hold, about 7 digits, subtract an offset from them first"
	for _, c := range []struct {
		name   string
		metric similarity.Metric
		rows   [][]float32
		row    int
		want   string
	}{
		{"constant", similarity.L2, [][]float32{{1, 2}, nil, {1, 2}}, -1, "v: the view is constant: every sample has the same row, " + drop + offset},
		{"all zeros", similarity.L1, [][]float32{{0}, {0}}, -1, "v: the view is constant: every sample has the same row, " + drop + offset},
		{"one direction", similarity.Cosine, [][]float32{{1, 3}, {2, 6}, {4, 12}}, -1, "v: the view is constant: every sample's row has the same direction, " + drop + ", or choose the l1, l2 or l3 metric if the rows differ in length" + offset},
		{"no sample", similarity.L3, [][]float32{{float32(math.NaN())}}, -1, "v: only 0 of 1 samples have this view, and similarity needs two; drop the view"},
		{"one sample", similarity.Cosine, [][]float32{{1}}, -1, "v: only 1 of 1 samples have this view, and similarity needs two; drop the view"},
		{"one present", similarity.L1, [][]float32{nil, {1}, nil}, -1, "v: only 1 of 3 samples have this view, and similarity needs two; drop the view"},
		{"only zero rows", similarity.Cosine, [][]float32{nil, {0, 0}, {0, 0}}, 1, "v: row 1 (counted from 0) is all zeros, which has no cosine, and without such rows (2 in all) only 0 of 3 samples have this view, where similarity needs two; drop this view"},
		{"one beside zero rows", similarity.Cosine, [][]float32{{1, 0}, {0, 0}, {0, 0}}, 1, "v: row 1 (counted from 0) is all zeros, which has no cosine, and without such rows (2 in all) only 1 of 3 samples have this view, where similarity needs two; drop this view"},
		{"too large for l1", similarity.L1, [][]float32{{3e38}, {-3e38}}, -1, "v: values up to 3e+38 are too large for the l1 metric in 32-bit arithmetic; scale the view down, or use cosine"},
		{"too large for l2", similarity.L2, [][]float32{{1e19}, {-1e19}}, -1, "v: values up to 1e+19 are too large for the l2 metric in 32-bit arithmetic; scale the view down, or use cosine"},
		{"too large for l3", similarity.L3, [][]float32{{4e12}, {-4e12}}, -1, "v: values up to 4e+12 are too large for the l3 metric in 32-bit arithmetic; scale the view down, or use cosine"},
		{"too small for l1", similarity.L1, [][]float32{{1e-36}, {-1e-36}}, -1, "v: values up to 1e-36 are too small for the l1 metric in 32-bit arithmetic; scale the view up, or use cosine"},
		{"too small for l2", similarity.L2, [][]float32{{1e-20}, {-1e-20}}, -1, "v: values up to 1e-20 are too small for the l2 metric in 32-bit arithmetic; scale the view up, or use cosine"},
		{"too small for l3", similarity.L3, [][]float32{{0}, {-1e-12}}, -1, "v: values up to 1e-12 are too small for the l3 metric in 32-bit arithmetic; scale the view up, or use cosine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := view.FromRows("v", c.rows)
			if err != nil {
				t.Fatal(err)
			}
			s, err := similarity.NewSpace(t.Context(), v, c.metric, nil, false, 0)
			if err == nil {
				s, err = nil, s.Varied()
			}
			input, ok := errors.AsType[*view.InputError](err)
			if !ok {
				t.Fatalf("error %v (%T), want an *InputError", err, err)
			}
			if s != nil || input.Error() != c.want || input.Row != c.row || input.View != "v" {
				t.Errorf("space %v, row %d, error\n\t%s, want row %d,\n\t%s", s, input.Row, input, c.row, c.want)
			}
		})
	}
}

// TestOverflow takes values just within the bound of every metric: no
// similarity may be infinite, though the rows lie as far apart as can be.
func TestOverflow(t *testing.T) {
	for _, m := range metrics[1:] {
		for _, dims := range []int{1, 67} {
			limit := math.Pow(math.MaxFloat32/float64(dims), 1/powers[m]) / 2
			for _, factor := range []float64{0.999, 1.001} {
				x := float32(limit * factor)
				v := &view.View{Name: "v", Samples: 2, Dims: dims, Data: slices.Concat(slices.Repeat([]float32{x}, dims), slices.Repeat([]float32{-x}, dims))}
				s, err := similarity.NewSpace(t.Context(), v, m, nil, false, 0)
				if (err == nil) != (factor < 1) {
					t.Errorf("%v, %d dimensions, %g of the limit: %v", m, dims, factor, err)
				}
				if err == nil && math.IsInf(float64(s.Similarity(0, 1)), 0) {
					t.Errorf("%v, %d dimensions: values of %g are infinitely far apart", m, dims, x)
				}
			}
		}
	}
}

func TestMetricText(t *testing.T) {
	if names := enum.Names[similarity.Metric](); len(names) != len(metrics) {
		t.Errorf("the metrics are %s; list all at the top of this file", names)
	}
	for m, name := range map[similarity.Metric]string{similarity.Cosine: "cosine", similarity.L1: "l1", similarity.L2: "l2", similarity.L3: "l3"} {
		parsed, err := similarity.ParseMetric(name)
		if err != nil || parsed != m || m.String() != name {
			t.Errorf("%s parses as %v, %v", name, parsed, err)
		}
		text, err := json.Marshal(m)
		if err != nil || string(text) != `"`+name+`"` {
			t.Errorf("%s is written as %s, %v", name, text, err)
		}
		var back similarity.Metric
		if err := json.Unmarshal(text, &back); err != nil || back != m {
			t.Errorf("%s is read back as %v, %v", name, back, err)
		}
	}
}

func TestMetricErrors(t *testing.T) {
	for _, name := range []string{"", "Cosine", "l4", "l1 ", "metric(1)"} {
		want := fmt.Sprintf("unknown metric %q; choose %s", name, enum.Choices[similarity.Metric]())
		if _, err := similarity.ParseMetric(name); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		m := similarity.L3
		if err := m.UnmarshalText([]byte(name)); err == nil || err.Error() != want || m != similarity.L3 {
			t.Errorf("error %v and metric %v, want %s", err, m, want)
		}
	}
	v := &view.View{Samples: 2, Dims: 1, Data: []float32{1, 2}}
	for _, m := range []similarity.Metric{-1, 99} {
		want := fmt.Sprintf("unknown metric %d; choose %s", int(m), enum.Choices[similarity.Metric]())
		if _, err := similarity.NewSpace(t.Context(), v, m, nil, false, 0); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if text, err := m.MarshalText(); err == nil || err.Error() != want {
			t.Errorf("written as %s, %v", text, err)
		}
	}
}

func BenchmarkSimilarities(b *testing.B) {
	for _, m := range metrics {
		for _, dims := range []int{16, 128, 1024} {
			b.Run(fmt.Sprintf("%v/dims=%d", m, dims), func(b *testing.B) {
				const n = 128
				s := newSpace(b, randomView(rand.New(rand.NewPCG(1, 1)), n, dims, 0), m, nil)
				dst, others := make([]float32, n), make([]int32, n)
				for t := range others {
					others[t] = int32(t)
				}
				b.ReportAllocs()
				b.SetBytes(int64(4 * n * dims))
				for b.Loop() {
					s.Similarities(dst, 0, others)
				}
			})
		}
	}
}

func BenchmarkSimilarity(b *testing.B) {
	s := newSpace(b, randomView(rand.New(rand.NewPCG(1, 1)), 128, 128, 0), similarity.Cosine, nil)
	b.ReportAllocs()
	for b.Loop() {
		s.Similarity(3, 5)
	}
}

func BenchmarkNewSpace(b *testing.B) {
	for _, m := range metrics[:2] {
		b.Run(m.String(), func(b *testing.B) {
			v := randomView(rand.New(rand.NewPCG(1, 1)), 10000, 64, 0.1)
			order := rand.New(rand.NewPCG(1, 2)).Perm(v.Samples)
			b.ReportAllocs()
			b.SetBytes(int64(4 * len(v.Data)))
			for b.Loop() {
				newSpace(b, v, m, order)
			}
		})
	}
}

// A kernel that does not exist is an error, not another kernel.
func TestUnknownKernel(t *testing.T) {
	t.Setenv("MVCLUST_KERNEL", "unheard-of")
	v, err := view.FromRows("v", [][]float32{{1, 2}, {2, 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := similarity.NewSpace(t.Context(), v, similarity.L2, nil, false, 1); err == nil || !strings.Contains(err.Error(), "MVCLUST_KERNEL") {
		t.Errorf("the error is %v", err)
	}
}
