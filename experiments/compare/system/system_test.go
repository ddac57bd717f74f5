package system_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/mvclust/mvclust/experiments/compare/system"
	"github.com/mvclust/mvclust/experiments/compare/system/systemtest"
	"github.com/mvclust/mvclust/method/view"
)

func random(rows, columns int) *mat.Dense {
	r := rand.New(rand.NewPCG(1, 1))
	m := mat.NewDense(rows, columns, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = r.NormFloat64()
	}
	return m
}

func TestFill(t *testing.T) {
	nan := float32(math.NaN())
	v, err := view.New("a", 3, 2, []float32{1, 2, nan, nan, 3, 6})
	if err != nil {
		t.Fatal(err)
	}
	if got := system.Fill([]*view.View{v})[0]; !slices.Equal(got.Data, []float32{1, 2, 2, 4, 3, 6}) || got.Count() != 3 {
		t.Errorf("filled %v", got.Data)
	}
	if v.Count() != 2 {
		t.Error("the view was changed")
	}
}

// The projection is on the simplex, and no point of the simplex is nearer.
func TestSimplex(t *testing.T) {
	for _, c := range []struct{ in, want []float64 }{
		{[]float64{5}, []float64{1}},
		{[]float64{0.2, 0.8}, []float64{0.2, 0.8}},
		{[]float64{3, 1, 2.5}, []float64{0.75, 0, 0.25}},
		{[]float64{-1, -1}, []float64{0.5, 0.5}},
	} {
		got := slices.Clone(c.in)
		system.Simplex(got)
		if !floats.EqualApprox(got, c.want, 1e-12) {
			t.Errorf("%v becomes %v, want %v", c.in, got, c.want)
		}
	}
	v := slices.Clone(random(1, 50).RawRowView(0))
	p := slices.Clone(v)
	system.Simplex(p)
	systemtest.OnSimplex(t, p)
	for corner := range v {
		// (v - p)'(x - p) <= 0 for every corner x, and so for every point.
		angle := 0.0
		for i := range v {
			x := 0.0
			if i == corner {
				x = 1
			}
			angle += (v[i] - p[i]) * (x - p[i])
		}
		if angle > 1e-9 {
			t.Errorf("corner %d is nearer", corner)
		}
	}
}

func TestPolar(t *testing.T) {
	for _, sides := range [][2]int{{9, 4}, {4, 9}, {5, 5}} {
		m := random(sides[0], sides[1])
		q, err := system.Polar(m)
		if err != nil {
			t.Fatal(err)
		}
		if sides[0] >= sides[1] {
			systemtest.Orthonormal(t, q)
		} else {
			systemtest.Orthonormal(t, q.T())
		}
		var p mat.Dense
		p.Mul(q.T(), m)
		_, values, _, err := system.SVD(m)
		if err != nil || math.Abs(mat.Trace(&p)-floats.Sum(values)) > 1e-9 {
			t.Errorf("the trace is %v, the singular values are %v, error %v", mat.Trace(&p), values, err)
		}
	}
}

func TestEigenvectors(t *testing.T) {
	for _, n := range []int{40, 240} {
		testEigenvectors(t, n, 6)
	}
}

func testEigenvectors(t *testing.T, n, k int) {
	t.Helper()
	var s mat.SymDense
	s.SymOuterK(1, random(n, n))
	low, below, err := system.Lowest(t.Context(), &s, k)
	if err != nil {
		t.Fatal(err)
	}
	high, above, err := system.Highest(t.Context(), &s, k)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values  []float64
		vectors *mat.Dense
	}{{low, below}, {high, above}} {
		systemtest.Orthonormal(t, c.vectors)
		var image mat.Dense
		image.Mul(&s, c.vectors)
		for i := range n {
			for j := range k {
				if d := image.At(i, j) - c.values[j]*c.vectors.At(i, j); math.Abs(d) > 5e-5*high[0] {
					t.Fatalf("vector %d misses by %v", j, d)
				}
			}
		}
	}
	if !slices.IsSorted(low) || high[0] < high[k-1] || high[k-1] < low[k-1] {
		t.Errorf("the eigenvalues are %v and %v", low, high)
	}
}

func TestDistances(t *testing.T) {
	x := random(7, 3)
	d := system.SquaredDistances(x)
	for i := range 7 {
		for j := range 7 {
			want := floats.Distance(x.RawRowView(i), x.RawRowView(j), 2)
			if math.Abs(d.At(i, j)-want*want) > 1e-9 {
				t.Errorf("rows %d and %d: %v, want %v", i, j, d.At(i, j), want*want)
			}
		}
	}
	system.StandardRows(x)
	if row := x.RawRowView(0); math.Abs(floats.Sum(row)) > 1e-9 || math.Abs(floats.Dot(row, row)-2) > 1e-9 {
		t.Errorf("a standard row is %v", row)
	}
	system.UnitRows(x)
	if row := x.RawRowView(0); math.Abs(floats.Norm(row, 2)-1) > 1e-9 {
		t.Errorf("a unit row is %v", row)
	}
}

func TestSettings(t *testing.T) {
	grid := system.Product(system.Powers("lambda", 2, -1, 1), []system.Settings{{"q": 2}, {"q": 4}})
	if len(grid) != 6 || !slices.Equal(grid[1].Words(), []string{"lambda=0.5", "q=4"}) {
		t.Errorf("the grid is %v", grid)
	}
	back, err := system.Parse(grid[1].Words())
	if err != nil || back["lambda"] != 0.5 || back["q"] != 4 {
		t.Errorf("read %v, error %v", back, err)
	}
	for _, word := range []string{"lambda", "lambda=x"} {
		if _, err := system.Parse([]string{word}); err == nil {
			t.Errorf("%q is read", word)
		}
	}
}
