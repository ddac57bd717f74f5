package similarity_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// Rows that are those of the space's samples are as alike to the others as these are, to
// the last bit, and get their scales.
func TestQueriesOfItsOwn(t *testing.T) {
	const n, d = 60, 7
	r := rand.New(rand.NewPCG(5, 5))
	for _, metric := range metrics {
		v := &view.View{Name: "v", Samples: n, Dims: d, Data: make([]float32, n*d), Present: make([]bool, n)}
		for i := range v.Data {
			v.Data[i] = float32(r.NormFloat64())
		}
		for i := range n {
			v.Present[i] = i%5 != 2
		}
		s, err := similarity.NewSpace(t.Context(), v, metric, nil, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		nearest := func(i int) []int32 {
			var list []int32
			for j := range int32(n) {
				if int(j) != i && s.Has(int(j)) && len(list) < similarity.Local {
					list = append(list, j)
				}
			}
			return list
		}
		local, err := s.Localised(t.Context(), nearest, 0)
		if err != nil {
			t.Fatal(err)
		}
		scales := local.LocalScales()
		again := s.WithLocalScales(scales)
		q, err := again.Queries(t.Context(), v, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]int32, n)
		for j := range all {
			all[j] = int32(j)
		}
		got, want := make([]float32, n), make([]float32, n)
		near := make([]float32, similarity.Local)
		for i := range n {
			q.Similarities(got, i, all)
			s.Similarities(want, i, all)
			sameBits(t, got, want)
			if !q.Has(i) {
				continue
			}
			q.Similarities(near, i, nearest(i))
			scale := again.LocalScale(near)
			if scale != scales[i] {
				t.Fatalf("%v: scale %v of row %d, want %v", metric, scale, i, scales[i])
			}
			again.Localise(got, scale, all)
			local.Similarities(want, i, all)
			sameBits(t, got, want)
		}
		if s.LocalScale(near) != 1 {
			t.Errorf("%v: scale %v where nothing is localised", metric, s.LocalScale(near))
		}
	}
}

func sameBits(t *testing.T, got, want []float32) {
	t.Helper()
	for j, x := range got {
		if math.Float32bits(x) != math.Float32bits(want[j]) && (x == x || want[j] == want[j]) {
			t.Fatalf("similarity %v with sample %d, want %v", x, j, want[j])
		}
	}
}

// Among equal rows nothing is near or far, whether the scales were found or are given.
func TestRootAmongEqualRows(t *testing.T) {
	const n = 12
	data := make([]float32, 2*n)
	for i := range n {
		data[2*i+i%2] = 1
	}
	s, err := similarity.NewSpace(t.Context(), &view.View{Name: "v", Samples: n, Dims: 2, Data: data}, similarity.L2, nil, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	nearest := func(i int) []int32 { return []int32{int32((i + 2) % n), int32((i + 4) % n)} }
	local, err := s.Localised(t.Context(), nearest, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, space := range []*similarity.Space{local, s.WithLocalScales(local.LocalScales())} {
		if scale := space.LocalScale([]float32{0, 0}); scale != local.LocalScales()[0] {
			t.Errorf("scale %v of a row like others, want %v", scale, local.LocalScales()[0])
		}
	}
}
