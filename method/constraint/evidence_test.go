package constraint

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/graph"
)

// matrix is a graph as a plain table of weights; below 0 there is no edge.
type matrix [][]float64

func drawGraph(r *rand.Rand, n int) (*graph.Graph, matrix) {
	m := make(matrix, n)
	for i := range m {
		m[i] = slices.Repeat([]float64{-1}, n)
	}
	for i := range n {
		for j := range i {
			if r.IntN(3) > 0 {
				w := float64(float32(r.IntN(20)) / 20) // many tie
				m[i][j], m[j][i] = w, w
			}
		}
	}
	g := &graph.Graph{Offsets: []int{0}}
	for i := range n {
		for j, w := range m[i] {
			if w >= 0 {
				g.Index, g.Weight = append(g.Index, int32(j)), append(g.Weight, float32(w))
			}
		}
		g.Offsets = append(g.Offsets, len(g.Index))
	}
	return g, m
}

func same(g *graph.Graph, m matrix) bool {
	edges := 0
	for i := range m {
		for j, w := range m[i] {
			if w < 0 {
				continue
			}
			edges++
			if got, ok := g.Between(i, j); !ok || math.Abs(float64(got)-w) > 1e-5 {
				return false
			}
		}
	}
	return edges == len(g.Index)
}

// consistent draws constraints that do not contradict each other.
func consistent(t *testing.T, r *rand.Rand, n int) (Set, *Resolved) {
	t.Helper()
	for {
		s := draw(r, n)
		known, err := s.Resolve(n)
		if err == nil && known != nil {
			return s, known
		}
	}
}

func TestClamp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for range 300 {
		n := 2 + r.IntN(9)
		g, m := drawGraph(r, n)
		s, known := consistent(t, r, n)
		must, cannot, _ := relation(&s, n)
		for _, p := range s.MustLink {
			m[p[0]][p[1]], m[p[1]][p[0]] = 1, 1
		}
		for i := range n {
			for j := range n {
				switch {
				case m[i][j] < 0:
				case must[i][j]:
					m[i][j] = 1
				case cannot[i][j]:
					m[i][j] = 0
				}
			}
		}
		got, err := known.Clamp(t.Context(), g, 2)
		if err != nil || !same(got, m) {
			t.Fatalf("%+v: %+v, want %v; %v", s, got, m, err)
		}
	}
}

// spread transcribes the formula.
func (m matrix) spread(s *Set) matrix {
	n := len(m)
	known := components(n, s.MustLink)
	near := make([][]int, n)
	for i := range n {
		for j, w := range m[i] {
			if w > 0 {
				near[i] = append(near[i], j)
			}
		}
		slices.SortFunc(near[i], func(a, b int) int { return cmp.Or(cmp.Compare(m[i][b], m[i][a]), a-b) })
		near[i] = append(near[i][:min(reach, len(near[i]))], i)
	}
	weight := func(i, a int) float64 {
		if i == a {
			return 1
		}
		return m[i][a]
	}
	out := make(matrix, n)
	for i := range m {
		out[i] = slices.Clone(m[i])
	}
	for _, p := range s.MustLink {
		for _, i := range near[p[0]] {
			for _, j := range near[p[1]] {
				if w := weight(i, p[0]) * weight(j, p[1]); i != j {
					out[i][j] = max(out[i][j], w)
					out[j][i] = out[i][j]
				}
			}
		}
	}
	var groups [][]int
	for _, p := range s.CannotLink {
		groups = append(groups, p[:])
	}
	byGroup := map[int][]int{}
	for i, g := range s.Distinct {
		if g >= 0 {
			byGroup[g] = append(byGroup[g], i)
		}
	}
	for _, g := range byGroup {
		groups = append(groups, g)
	}
	for i := range n {
		for j := range n {
			for _, g := range groups {
				// Whoever must be with a member of the group counts as one.
				holder := func(a int) bool {
					return slices.ContainsFunc(g, func(b int) bool { return known[a] == known[b] })
				}
				most := 0.0
				for _, a := range near[i] {
					for _, b := range near[j] {
						if known[a] != known[b] && holder(a) && holder(b) {
							most = max(most, weight(i, a)*weight(j, b))
						}
					}
				}
				if out[i][j] >= 0 {
					out[i][j] *= 1 - most
				}
			}
		}
	}
	return out
}

func TestPropagate(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for range 300 {
		n := 2 + r.IntN(12)
		g, m := drawGraph(r, n)
		s, known := consistent(t, r, n)
		got, err := known.Propagate(t.Context(), g, 2)
		if want := m.spread(&s); err != nil || !same(got, want) {
			t.Fatalf("%+v on %v: %+v, want %v; %v", s, m, got, want, err)
		}
		for e, w := range got.Weight {
			if !(w >= 0 && w <= 1) {
				t.Fatalf("edge %d has the weight %v", e, w)
			}
		}
	}
}

// TestEvidence is what holds for both: any number of threads, the end of a context, and
// nothing to say.
func TestEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	g, _ := drawGraph(r, 400)
	s := Set{Distinct: make([]int, 400)}
	for i := range 400 {
		s.Distinct[i] = i / 5
		s.MustLink = append(s.MustLink, [2]int{i, (i + 200) % 400})
	}
	s.CannotLink = [][2]int{{0, 399}, {3, 17}}
	known, err := s.Resolve(400)
	if err != nil {
		t.Fatal(err)
	}
	type stage func(ctx context.Context, g *graph.Graph, threads int) (*graph.Graph, error)
	for name, do := range map[string]func(k *Resolved) stage{
		"clamp":     func(k *Resolved) stage { return k.Clamp },
		"propagate": func(k *Resolved) stage { return k.Propagate },
	} {
		do := func(k *Resolved, ctx context.Context, threads int) (*graph.Graph, error) {
			before, weight := slices.Clone(g.Index), slices.Clone(g.Weight)
			out, err := do(k)(ctx, g, threads)
			if !slices.Equal(g.Index, before) || !slices.Equal(g.Weight, weight) {
				t.Errorf("%s changes the graph", name)
			}
			return out, err
		}
		want, err := do(known, t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{0, 2, 7} {
			if got, err := do(known, t.Context(), threads); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d threads give another graph, %v", name, threads, err)
			}
		}
		if got, err := do(nil, t.Context(), 1); got != g || err != nil {
			t.Errorf("%s: nothing is known, and the graph is another, %v", name, err)
		}
		ended := 0
		for asked := range 40 {
			got, err := do(known, lapse.After(t.Context(), asked), 1)
			if errors.Is(err, context.Canceled) && got == nil {
				ended++
			} else if err != nil || got == nil {
				t.Errorf("%s, after %d questions: %v, %v", name, asked, got, err)
			}
		}
		if ended < 3 {
			t.Errorf("%s: it ends early %d times", name, ended)
		}
	}
}
