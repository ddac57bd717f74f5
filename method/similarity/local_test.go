package similarity_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// nearest lists the k nearest neighbours of every sample, most alike first.
func nearest(s *similarity.Space, k int) [][]int32 {
	lists := make([][]int32, s.Samples)
	for i := range lists {
		for j := range s.Samples {
			if j != i && s.Has(i) && s.Has(j) {
				lists[i] = append(lists[i], int32(j))
			}
		}
		alike := make([]float32, s.Samples)
		for _, j := range lists[i] {
			alike[j] = s.Similarity(i, int(j))
		}
		slices.SortStableFunc(lists[i], func(a, b int32) int { return cmp.Compare(alike[b], alike[a]) })
		lists[i] = lists[i][:min(k, len(lists[i]))]
	}
	return lists
}

func localised(t testing.TB, s *similarity.Space, lists [][]int32, threads int) *similarity.Space {
	t.Helper()
	local, err := s.Localised(t.Context(), func(i int) []int32 { return lists[i] }, threads)
	if err != nil {
		t.Fatal(err)
	}
	return local
}

// plainLocal transcribes Localised on the similarities of s.
func plainLocal(s *similarity.Space, lists [][]int32) [][]float64 {
	similarities := make([][]float32, s.Samples)
	for i := range similarities {
		similarities[i] = make([]float32, s.Samples)
	}
	for i := range similarities {
		for j := range i + 1 {
			x := s.Similarity(i, j)
			similarities[i][j], similarities[j][i] = x, x
		}
	}
	d := func(i, j int) float64 {
		x := float64(similarities[i][j])
		if s.Metric() == similarity.Cosine {
			return max(0, 1-x)
		}
		return -x
	}
	r, widest := make([]float64, s.Samples), 0.0
	for i, list := range lists {
		for t, j := range list {
			if t < 10 {
				r[i] += d(i, int(j)) / float64(min(10, len(list)))
			}
		}
		widest = max(widest, r[i])
	}
	least := 1e-6 * widest
	if widest == 0 {
		least = 1
	}
	var known []float64
	for i, x := range r {
		if s.Has(i) {
			known = append(known, x)
		}
	}
	slices.Sort(known)
	if n := len(known); n > 0 && known[n/2] > 0 && known[int(math.Ceil(float64(n)/10))-1] < known[n/2]/2 {
		least = known[n/2] / 2
	}
	out := make([][]float64, s.Samples)
	for i := range out {
		out[i] = make([]float64, s.Samples)
		for j := range out[i] {
			out[i][j] = math.NaN()
			if s.Has(i) && s.Has(j) {
				out[i][j] = -d(i, j) / math.Sqrt(max(r[i], least)*max(r[j], least))
			}
		}
	}
	return out
}

// TestLocalised compares with the transcription, for lists that are shorter and longer
// than what tells of the surroundings, and none.
func TestLocalised(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		for _, k := range []int{0, 1, 3, 10, 25} {
			for _, n := range []int{4, 30, 300} {
				s := newSpace(t, randomView(random, n, 1+random.IntN(20), 0.2), m, random.Perm(n))
				lists := nearest(s, k)
				local, want := localised(t, s, lists, 2), plainLocal(s, lists)
				others := make([]int32, n)
				for j := range others {
					others[j] = int32(j)
				}
				got := make([]float32, n)
				for i := range n {
					local.Similarities(got, i, others)
					for j, x := range got {
						if (i+j)%7 == 0 && (!same(x, local.Similarity(i, j)) || !same(x, local.Similarity(j, i))) {
							t.Fatalf("samples %d and %d: %v, alone %v, turned %v", i, j, x, local.Similarity(i, j), local.Similarity(j, i))
						}
						if math.IsNaN(want[i][j]) != (x != x) || !math.IsNaN(want[i][j]) && !(math.Abs(float64(x)-want[i][j]) <= 1e-4*max(1, math.Abs(want[i][j]))) {
							t.Fatalf("%d neighbours: samples %d and %d have %v, want %v", k, i, j, x, want[i][j])
						}
						if x > 0 {
							t.Fatalf("samples %d and %d have %v", i, j, x)
						}
					}
				}
				if local.Metric() != m || local.Count() != s.Count() || local.Samples != n || local.Dims != s.Dims {
					t.Fatalf("%+v of %+v", local, s)
				}
			}
		}
	})
}

// TestLocalisedEqualRows has samples of which most, or all neighbours, are equal: nothing
// leaves the range of numbers, and equal samples are the most alike.
// Plain takes localised similarities back.
func TestPlain(t *testing.T) {
	v := &view.View{Name: "v", Samples: 3, Dims: 2, Data: []float32{1, 0, 1, 1, 0, 1}}
	s, err := similarity.NewSpace(t.Context(), v, similarity.Cosine, nil, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	local := s.WithLocalScales([]float32{1, 2, 3})
	if local.Similarity(0, 1) == s.Similarity(0, 1) || local.Plain().Similarity(0, 1) != s.Similarity(0, 1) || s.Plain() != s {
		t.Error("the plain space has other similarities")
	}
}

func TestLocalisedEqualRows(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		const n = 60
		for different := 1; different <= n; different *= 3 {
			v := &view.View{Name: "v", Samples: n, Dims: 3, Data: make([]float32, 3*n)}
			for i := range n {
				copy(v.Row(i), []float32{1, 2, 3})
				if i < different {
					for k := range v.Row(i) {
						v.Row(i)[k] = float32(random.NormFloat64())
					}
				}
			}
			s := newSpace(t, v, m, nil)
			local := localised(t, s, nearest(s, 20), 1)
			for i := range n {
				for j := range n {
					x := local.Similarity(i, j)
					if !(x <= 0 && x > -math.MaxFloat32) {
						t.Fatalf("%d different rows: samples %d and %d have %v", different, i, j, x)
					}
					if i >= different && j >= different && x < local.Similarity(i, 0) {
						t.Fatalf("%d different rows: equal samples %d and %d have %v, unequal ones %v", different, i, j, x, local.Similarity(i, 0))
					}
				}
			}
		}
		// Two points, whose samples have no neighbours elsewhere: as without surroundings.
		v := &view.View{Name: "v", Samples: n, Dims: 2, Data: make([]float32, 2*n)}
		for i := range n {
			v.Row(i)[i%2] = 1
		}
		s := newSpace(t, v, m, nil)
		local, plain := localised(t, s, nearest(s, 20), 1), s.Similarity(0, 1)
		if m == similarity.Cosine {
			plain--
		}
		if got := local.Similarity(0, 1); got != plain || local.Similarity(0, 2) != 0 {
			t.Errorf("%v between the points and %v within one; by themselves %v", got, local.Similarity(0, 2), plain)
		}
	})
}

// TestLocalisedNumbering holds that it does not matter whether samples are numbered anew
// before or after, nor how many threads there are, and that s stays.
func TestLocalisedNumbering(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		const n = 200
		s := newSpace(t, randomView(random, n, 7, 0.3), m, nil)
		lists := nearest(s, 15)
		plain := s.Similarity(0, 1)
		local := localised(t, s, lists, 1)
		if !same(s.Similarity(0, 1), plain) {
			t.Error("the space itself has changed")
		}
		order := random.Perm(n)
		number := make([]int32, n)
		for i, from := range order {
			number[from] = int32(i)
		}
		moved := make([][]int32, n)
		for i, from := range order {
			for _, j := range lists[from] {
				moved[i] = append(moved[i], number[j])
			}
		}
		after := local.Gather(order)
		for _, threads := range []int{1, 2, 8} {
			before := localised(t, s.Gather(order), moved, threads)
			for i := range n {
				for j := range n {
					if x, y, z := before.Similarity(i, j), after.Similarity(i, j), local.Similarity(order[i], order[j]); !same(x, y) || !same(x, z) {
						t.Fatalf("samples %d and %d: %v, %v and %v", i, j, x, y, z)
					}
				}
			}
		}
	})
}

func TestLocalisedCancelled(t *testing.T) {
	s := newSpace(t, randomView(rand.New(rand.NewPCG(1, 1)), 300, 3, 0), similarity.L2, nil)
	for questions := range 3 {
		got, err := s.Localised(lapse.After(t.Context(), questions), func(int) []int32 { return nil }, 1)
		if got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions: %v", questions, err)
		}
	}
}

// TestEmptied holds that no sample has the view, and that the space itself stays.
func TestEmptied(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		const n = 20
		s := newSpace(t, randomView(random, n, 4, 0.2), m, nil)
		count := s.Count()
		for _, e := range []*similarity.Space{s.Emptied(), s.Emptied().Gather(random.Perm(n)), localised(t, s.Emptied(), make([][]int32, n), 2)} {
			if e.Count() != 0 || e.Samples != n || e.Name != s.Name || e.Metric() != m {
				t.Errorf("%+v", e)
			}
			for i := range n {
				if x := e.Similarity(i, (i+1)%n); e.Has(i) || x == x {
					t.Errorf("sample %d has %v", i, x)
				}
			}
		}
		if s.Count() != count || s.Similarity(0, 1) != s.Similarity(0, 1) {
			t.Error("the space itself has changed")
		}
	})
}

// TestOnly holds that the samples listed keep their similarities, and that no other has the view.
func TestOnly(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		const n = 30
		s := newSpace(t, randomView(random, n, 4, 0.2), m, random.Perm(n))
		var some []int32
		for r := 0; r < s.Count(); r += 2 {
			some = append(some, int32(s.Sample(r)))
		}
		only := s.Only(some)
		if only.Count() != len(some) || only.Samples != n || s.Count() < len(some)*2-1 {
			t.Fatalf("%d of %d samples have the view", only.Count(), s.Count())
		}
		for i := range n {
			if only.Has(i) != slices.Contains(some, int32(i)) {
				t.Errorf("sample %d: %v", i, only.Has(i))
			}
			if only.Has(i) && only.Similarity(i, int(some[0])) != s.Similarity(i, int(some[0])) {
				t.Errorf("sample %d has another similarity", i)
			}
		}
	})
}

// TestLocalisedCopies has groups whose samples are near copies of each other among sparse ones. Their
// scale is that of half the median distance, as long as they are a tenth of the samples, and so in a
// space that is told the scales.
func TestLocalisedCopies(t *testing.T) {
	eachMetric(t, func(t *testing.T, m similarity.Metric, random *rand.Rand) {
		const n = 200
		for _, copies := range []int{0, 15, 24, 60} { // by 12 or more, so that each has 11 others
			v := randomView(random, n, 6, 0)
			for i := range copies {
				for k := range v.Row(i) {
					v.Row(i)[k] = v.Row(i % max(1, copies/12))[k] + float32(random.NormFloat64())*1e-2
				}
			}
			s := newSpace(t, v, m, nil)
			lists := nearest(s, similarity.Local)
			local := localised(t, s, lists, 2)
			scales := local.LocalScales()
			largest, equal := slices.Max(scales), 0
			for _, x := range scales {
				if x == largest {
					equal++
				}
			}
			if many := copies >= n/10; many != (equal >= n/10) {
				t.Errorf("%d near copies: %d samples have the largest scale", copies, equal)
			}
			told := s.WithLocalScales(scales)
			near := make([]float32, len(lists[0]))
			for i := range n {
				s.Similarities(near, i, lists[i])
				if a, b := local.LocalScale(near), told.LocalScale(near); a != b || a != scales[i] {
					t.Fatalf("%d near copies: sample %d has the scale %v, told %v, by its neighbours %v", copies, i, scales[i], b, a)
				}
			}
		}
	})
}
