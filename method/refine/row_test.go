package refine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRow takes a sample out of a graph and holds what a Row makes of it, beside the graph of
// the others, to what the whole graph gives: paths to the last bit, and co-neighbours but for
// rounding.
func TestRow(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(61, 62))
		edges := 0
		for range 60 {
			n := 4 + r.IntN(40)
			w := random(r, n, 20*r.Float64(), weight)
			g := w.graph(t)
			x := n - 2 // the last that may have edges, so that it loses all ties
			index, p := g.Of(x)
			row := NewRow(n)

			_, want := viaPaths(t, g, 1).Of(x)
			if got := row.Paths(index, p, g.Of); !slices.Equal(got, want) {
				t.Fatalf("%s: the paths give %v, want %v", kind, got, want)
			}

			k := 1 + r.IntN(8)
			whole := viaCoNeighbours(t, g, k, 1)
			all, err := Nearest(t.Context(), g, k, 1)
			if err != nil {
				t.Fatal(err)
			}
			for j := range n {
				w[x][j], w[j][x] = math.NaN(), math.NaN()
			}
			others, err := Nearest(t.Context(), w.graph(t), k, 1)
			if err != nil {
				t.Fatal(err)
			}
			nearest := row.Nearest(nil, index, p, k)
			want32, _ := all.Of(x)
			for e, at := range nearest {
				if len(nearest) != len(want32) || index[at] != want32[e] {
					t.Fatalf("%s: the nearest are %v, want %v", kind, nearest, want32)
				}
			}
			to, got := row.CoNeighbours(index, p, nearest, others, k)
			wantTo, wantP := whole.Of(x)
			if !slices.Equal(to, wantTo) {
				t.Fatalf("%s, k = %d: edges to %v, want %v", kind, k, to, wantTo)
			}
			for e := range to {
				edges++
				if math.Abs(float64(got[e]-wantP[e])) > 1e-6 {
					t.Fatalf("%s, k = %d: %v to %d, want %v", kind, k, got[e], to[e], wantP[e])
				}
			}
		}
		if edges < 100 {
			t.Errorf("%s: %d edges", kind, edges)
		}
	}
}

// TestRowBeyond has a sample that the neighbourhoods do not know.
func TestRowBeyond(t *testing.T) {
	near, err := NewNeighbourhoods(1, []int32{1, 0}, []float32{0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	row := NewRow(3)
	index, p := []int32{0, 2}, []float32{0, 0.25}
	nearest := row.Nearest(nil, index, p, 1)
	to, got := row.CoNeighbours(index, p, nearest, near, 1)
	if !slices.Equal(nearest, []int32{1}) || !slices.Equal(to, []int32{2}) || !slices.Equal(got, []float32{0.25}) {
		t.Errorf("nearest %v, edges to %v with %v", nearest, to, got)
	}
}
