package neighbour

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/rank"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// What the first rows of cells say about the others changes nothing: an index finds the most alike of all
// rows of the cells that are probed, also where the first rows are much nearer than all others.
func TestSketch(t *testing.T) {
	const cells, each, dims, probes, k = 20, 300, 8, 6, 12
	random := rand.New(rand.NewPCG(1, 2))
	values := func(n int, near []float32, noise float64) (to []float32) {
		for range n {
			for d := range dims {
				to = append(to, near[d]+float32(noise*random.NormFloat64()))
			}
		}
		return to
	}
	var centres, rows, asking []float32
	var cell []int32
	for c := range cells {
		centre := values(1, make([]float32, dims), 1)
		centres = append(centres, centre...)
		first := 0
		if c%2 == 0 { // rows around one point, before the others
			first = k + c
			rows = append(rows, values(first, centre, 0.01)...)
		}
		rows = append(rows, values(each-first, centre, 0.7)...)
		asking = append(asking, values(30, centre, 0.3)...)
		cell = append(cell, slices.Repeat([]int32{int32(c)}, each)...)
	}
	s, err := similarity.NewSpace(t.Context(), &view.View{Name: "v", Samples: len(cell), Dims: dims, Data: rows}, similarity.L2, nil, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Queries(t.Context(), &view.View{Name: "v", Samples: len(asking) / dims, Dims: dims, Data: asking}, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	parts := &Parts{Centres: centres, Cells: cell, Report: Report{Method: Approximate, Probes: probes, Cells: cells}}
	x, err := Restore(t.Context(), s, k, 1, parts, 2)
	if err != nil {
		t.Fatal(err)
	}
	if bar := x.sketch(k); bar < 2 || bar > k {
		t.Fatalf("%d of %d candidates in the first panels are a bar", bar, k)
	}
	want := make([][]int32, q.Samples)
	all, similarities := numbers(s.Samples), make([]float32, s.Samples)
	for i := range want {
		var near []rank.Key
		for c := range cells {
			sum := float32(0)
			for d := range dims {
				apart := asking[i*dims+d] - centres[c*dims+d]
				sum -= apart * apart
			}
			near = append(near, rank.New(sum, int32(c)))
		}
		near = rank.Best(near, probes)
		q.Similarities(similarities, i, all)
		var keys []rank.Key
		for j, y := range similarities {
			if slices.ContainsFunc(near, func(c rank.Key) bool { return c.Number() == cell[j] }) {
				keys = append(keys, rank.New(y, int32(j)))
			}
		}
		for _, key := range rank.Best(keys, k) {
			want[i] = append(want[i], key.Number())
		}
	}
	for _, threads := range []int{1, 3} {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			found, err := x.Search(t.Context(), q, nil, threads, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if got, _ := found.Of(i); !slices.Equal(got, want[i]) {
					t.Fatalf("row %d has the neighbours %v, want %v", i, got, want[i])
				}
			}
		})
	}
	v := indexScratch{again: []int32{1, 4}, start: []int32{0, 3, 3, 5, 0}, places: []int32{0, 1, 4, 2, 4}}
	v.only(3)
	if !slices.Equal(v.start[:4], []int32{0, 2, 2, 3}) || !slices.Equal(v.places[:3], []int32{1, 4, 4}) {
		t.Errorf("the rows that come again are %v from %v", v.places[:3], v.start)
	}
	few := &Index{made: finder{rows: x.made.rows.part(0, 3*wholePanels*cells-1)}, cells: x.cells}
	if bar := few.sketch(k); bar != 0 {
		t.Errorf("cells of few rows have a bar of %d", bar)
	}
}

// A bar from some of the centres changes nothing, also where these are much nearer than all others.
func TestNearSketched(t *testing.T) {
	const count, dims, keep, rows = 600, 6, 10, 200
	random := rand.New(rand.NewPCG(3, 4))
	data := make([]float32, (rows+count)*dims)
	for at := range data {
		data[at] = float32(random.NormFloat64())
	}
	for c := range 2 * keep { // the first centres lie where half of the rows do
		for d := range dims {
			data[(rows+c)*dims+d] *= 0.001
		}
	}
	for i := range rows / 2 {
		for d := range dims {
			data[i*dims+d] *= 0.001
		}
	}
	s, err := similarity.NewSpace(t.Context(), &view.View{Name: "v", Samples: rows + count, Dims: dims, Data: data}, similarity.L2, nil, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := newFinder(t.Context(), s, 1, 1, Settings{}, 2, nil)
	f.meter.expect(1)
	some, centres := f.rows.part(0, rows), block{data: data[rows*dims:], dims: dims, index: numbers(count), id: numbers(count)}
	if sketchOf(keep, 0.15) >= keep {
		t.Fatal("some of the centres are no bar")
	}
	got, err := f.near(some, centres, keep, func([]rank.Key) {})
	if err != nil {
		t.Fatal(err)
	}
	all, similarities := numbers(rows + count)[rows:], make([]float32, count)
	for i := range rows {
		s.Similarities(similarities, i, all)
		var keys []rank.Key
		for c, x := range similarities {
			keys = append(keys, rank.New(x, int32(c)))
		}
		want := map[int32]bool{}
		for _, k := range rank.Best(keys, keep) {
			want[k.Number()] = true
		}
		for _, c := range got[i*keep:][:keep] {
			if !want[c] {
				t.Fatalf("row %d has centre %d, want %v", i, c, want)
			}
		}
	}
}
