package neighbour

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// flatView has rows of a few dimensions, turned into more, with noise in all of them.
func flatView(random *rand.Rand, n, dims, latent int, noise float64) *view.View {
	turn := make([]float64, dims*latent)
	for i := range turn {
		turn[i] = random.NormFloat64()
	}
	v := &view.View{Name: "v", Samples: n, Dims: dims, Data: make([]float32, n*dims)}
	y := make([]float64, latent)
	for i := range n {
		for k := range y {
			y[k] = random.NormFloat64()
		}
		for d := range dims {
			sum := noise * random.NormFloat64()
			for k, x := range y {
				sum += turn[d*latent+k] * x
			}
			v.Row(i)[d] = float32(sum)
		}
	}
	return v
}

// newTestFinder returns a finder at the beginning of an approximate search.
func newTestFinder(t *testing.T, v *view.View, m similarity.Metric, k, threads int) (*finder, *truth, *rand.Rand) {
	t.Helper()
	s, err := similarity.NewSpace(t.Context(), v, m, nil, false, 2)
	if err != nil {
		t.Fatal(err)
	}
	f := newFinder(t.Context(), s, k, 0, Settings{}, threads, nil)
	random := rand.New(rand.NewPCG(1, 2))
	known, err := f.truth(random, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f, known, random
}

// TestReduce holds that rows are projected where few axes hold them and only there, and
// that products and distances along the axes are nearly those of the rows.
func TestReduce(t *testing.T) {
	for _, c := range []struct {
		metric similarity.Metric
		latent int
		noise  float64
		narrow bool
	}{
		{similarity.Cosine, 5, 0, true},
		{similarity.L2, 5, 0, true},
		{similarity.Cosine, 7, 0.01, true},
		{similarity.Cosine, 5, 3, false}, // of which the axes hold too little
		{similarity.L2, 30, 0, false},
		{similarity.L1, 5, 0, false},
		{similarity.L3, 5, 0, false},
	} {
		f, known, random := newTestFinder(t, flatView(rand.New(rand.NewPCG(3, 4)), 2500, 40, c.latent, c.noise), c.metric, 10, 2)
		rows, lost, err := f.reduce(known, random)
		if err != nil {
			t.Fatal(err)
		}
		if !c.narrow {
			if rows.dims != 40 || &rows.data[0] != &f.rows.data[0] || lost != 0 {
				t.Errorf("%+v: rows of %d dimensions, %v lost", c, rows.dims, lost)
			}
			continue
		}
		if rows.dims != c.latent || rows.count() != 2500 || lost > maxLost {
			t.Fatalf("%+v: %d rows of %d dimensions, %v lost", c, rows.count(), rows.dims, lost)
		}
		for range 200 {
			i, j := random.IntN(2500), random.IntN(2500)
			full, few := dot(f.rows.of(i), f.rows.of(j)), dot(rows.of(i), rows.of(j))
			scale := math.Sqrt(dot(f.rows.of(i), f.rows.of(i)) * dot(f.rows.of(j), f.rows.of(j)))
			if math.Abs(full-few) > 2e-3*scale {
				t.Errorf("%+v: a product of %v is %v along the axes", c, full, few)
			}
		}
	}
}

// TestReduceLosesNone has rows in pairs that differ in a direction that is too weak to be
// among the axes: the neighbours that would be lost by it keep the rows as they are.
func TestReduceLosesNone(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	v := &view.View{Name: "v", Samples: 4000, Dims: 32, Data: make([]float32, 4000*32)}
	for i := range v.Samples {
		row := v.Row(i)
		for k := range 4 {
			row[k] = 100 * float32(random.IntN(3))
		}
		for k := 4; k < len(row); k++ {
			row[k] = float32(random.NormFloat64())
		}
	}
	f, known, random := newTestFinder(t, v, similarity.L2, 10, 2)
	axes, err := f.principalAxes(random, kept[0])
	if err != nil || len(axes) == 0 || len(axes)/32 > 5 {
		t.Fatalf("%d axes, %v", len(axes)/32, err)
	}
	if rows, _, err := f.reduce(known, random); err != nil || rows.dims != 32 {
		t.Errorf("rows are projected to %d dimensions, %v", rows.dims, err)
	}
}

// TestAxes holds that axes are orthogonal, and the same for any number of threads.
func TestAxes(t *testing.T) {
	v := flatView(rand.New(rand.NewPCG(7, 8)), 2200, 50, 9, 0.05)
	var first []float32
	for _, threads := range []int{1, 2, 7} {
		f, _, random := newTestFinder(t, v, similarity.Cosine, 5, threads)
		axes, err := f.principalAxes(random, kept[0])
		if err != nil {
			t.Fatal(err)
		}
		for a := 0; a < len(axes); a += 50 {
			for b := 0; b <= a; b += 50 {
				want := 0.0
				if a == b {
					want = 1
				}
				if got := dot(axes[a:][:50], axes[b:][:50]); math.Abs(got-want) > 1e-5 {
					t.Errorf("the product of axes %d and %d is %v", a/50, b/50, got)
				}
			}
		}
		if first == nil {
			first = axes
		}
		if !slices.Equal(axes, first) {
			t.Errorf("%d threads find other axes", threads)
		}
	}
}

// TestStraighten has a last axis that is nothing but the others.
func TestStraighten(t *testing.T) {
	axes := []float32{1, 0, 0, 0, 1, 0, 3, -2, 0}
	orthonormalise(axes, 3)
	if !slices.Equal(axes, []float32{1, 0, 0, 0, 1, 0, 0, 0, 0}) {
		t.Errorf("%v", axes)
	}
	axes[8] = 2
	orthonormalise(axes, 3)
	if axes[8] != 1 {
		t.Errorf("%v", axes)
	}
}

// TestProbes holds that what is estimated of probes is about what they find, and that all
// pairs are listed of which one probes the other's cell.
func TestProbes(t *testing.T) {
	f, known, random := newTestFinder(t, flatView(rand.New(rand.NewPCG(9, 10)), 6000, 24, 6, 0), similarity.Cosine, 10, 2)
	var lost float64
	var err error
	if f.reduced, lost, err = f.reduce(known, random); err != nil || f.reduced.dims != 6 {
		t.Fatalf("%d dimensions, %v", f.reduced.dims, err)
	}
	centres, err := f.centres(cellCount(6000), random)
	if err != nil {
		t.Fatal(err)
	}
	var c *cells
	before := 0
	for _, wanted := range []float64{0.9, 0.95, 0.98} {
		f.settings.Recall = wanted
		probes, _, err := f.probesFor(known, centres, lost)
		if err != nil || probes <= before {
			t.Fatalf("%d probes, %v", probes, err)
		}
		before = probes
		if c, err = f.cells(centres, probes); err != nil {
			t.Fatal(err)
		}
		if whole, err := f.probe(centres, probes); whole == nil || err != nil {
			t.Fatalf("%d probes: %v, %v", probes, whole, err)
		}
		if got := f.recall(known); got < wanted || got > wanted+0.03 {
			t.Errorf("%d probes find %v, wanted were %v", probes, got, wanted)
		}
	}
	probes := func(r, cell int32) bool {
		if c.own[r] == cell {
			return true
		}
		return slices.Contains(c.probedBy(r), cell)
	}
	for e, i := range known.neighbours {
		r := known.rows[e/f.k] // of a space that all samples are in
		listed := slices.Contains(f.lists.Of(int(r)), i)
		if want := probes(r, c.own[i]) || probes(i, c.own[r]); listed != want {
			t.Errorf("row %d has the neighbour %d: %v, want %v", r, i, listed, want)
		}
	}
}

// TestPanels holds that columns packed beforehand give what others do, from any panel on.
func TestPanels(t *testing.T) {
	f, _, random := newTestFinder(t, flatView(rand.New(rand.NewPCG(11, 12)), 2100, 30, 30, 0), similarity.L2, 5, 1)
	c := &cells{start: []int{0, 1, 1, 700, 1900, 2100}, maxRows: 64 * wholePanels}
	members := make([]int32, 2100)
	for at, r := range random.Perm(2100) {
		members[at] = int32(r)
	}
	c.rows = block{data: f.rows.data, dims: 30, index: members, id: members}
	if err := f.pack(c); err != nil {
		t.Fatal(err)
	}
	for cell := range 5 {
		packed := c.columns(cell, part{cell, c.start[cell], c.start[cell+1]})
		if packed.count() != c.start[cell+1]-c.start[cell] {
			t.Fatalf("%d columns of cell %d", packed.count(), cell)
		}
		for _, from := range []int{0, wholePanels, 5 * wholePanels} {
			if from > packed.count() {
				continue
			}
			columns := packed.part(from, packed.count())
			plain := columns
			plain.panels = nil
			a, b := f.newTopK(2100, 0, 8), f.newTopK(2100, 0, 8)
			l := f.scratch(0)
			l.product.multiply(t.Context(), f.sum, a, f.rows, columns, oneWay)
			l.product.multiply(t.Context(), f.sum, b, f.rows, plain, oneWay)
			for r := range int32(2100) {
				x, y := a.best(r), b.best(r)
				slices.Sort(x)
				slices.Sort(y)
				if !slices.Equal(x, y) {
					t.Fatalf("cell %d from %d: row %d has other neighbours", cell, from, r)
				}
			}
		}
	}
}

// TestColumns holds that a part of a cell that is far larger than others meets its own
// rows.
func TestColumns(t *testing.T) {
	c := &cells{start: []int{0, 40, 40 + 3*4096 + 5}, panel: []int{0, 64, 64 + 3*4096 + 32}, maxRows: 4096, panels: make([]float32, 1<<20)}
	c.rows = block{dims: 1, index: numbers(c.start[2]), id: numbers(c.start[2])}
	seen := 0
	for _, p := range c.parts() {
		own := c.columns(p.cell, p)
		if p.cell == 1 && (own.id[0] > int32(p.lo) || own.id[own.count()-1] < int32(min(p.hi, p.lo+1)-1) || own.count() > c.maxRows) {
			t.Errorf("part %+v meets the rows %d to %d", p, own.id[0], own.id[own.count()-1])
		}
		seen += p.hi - p.lo
		if p.hi-p.lo > partRows || c.columns(1-p.cell, p).count() == 0 {
			t.Errorf("part %+v", p)
		}
	}
	if seen != c.start[2] {
		t.Errorf("%d rows in parts of %d", seen, c.start[2])
	}
}
