package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust/graph"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/pair"
)

// build returns the graph of n samples whose edge i-j, i < j, has the weight
// that weight returns; there is none where it is negative.
func build(n int, weight func(i, j int) float64) *graph.Graph {
	set := &pair.Set{Offsets: []int{0}}
	var w []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			if p := weight(i, j); p >= 0 {
				set.Second = append(set.Second, int32(j))
				w = append(w, p)
			}
		}
		set.Offsets = append(set.Offsets, set.Len())
	}
	return graph.FromPairs(set, w)
}

// kinds are ways to draw a weight: no two alike; a few that often balance each
// other, 0, 0.5 and 1 among them.
var kinds = map[string]func(r *rand.Rand) float64{
	"distinct": func(r *rand.Rand) float64 { return r.Float64() },
	"tied":     func(r *rand.Rand) float64 { return float64(r.IntN(5)) / 4 },
}

// random returns a graph in which each pair is linked with the given chance.
func random(r *rand.Rand, n int, chance float64, weight func(r *rand.Rand) float64) *graph.Graph {
	return build(n, func(_, _ int) float64 {
		if r.Float64() < chance {
			return weight(r)
		}
		return -1
	})
}

func find(t *testing.T, g *graph.Graph, set Settings, seed uint64) *Result {
	t.Helper()
	r, err := Find(t.Context(), g, set, rand.New(rand.NewPCG(seed, 0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// loss transcribes Eq. pi_loss without its constant: the sum, over the linked
// pairs within clusters, of log P(e=0) - log P(e=1).
func loss[L comparable](g *graph.Graph, labels []L, clip float64) float64 {
	sum := 0.0
	for i := range labels {
		for j := i + 1; j < len(labels); j++ {
			if p, ok := g.Between(i, j); ok && labels[i] == labels[j] {
				p = max(clip, min(p, 1-clip))
				sum += math.Log(1-p) - math.Log(p)
			}
		}
	}
	return sum
}

// tolerance is what rounding may do to a sum of some thousand logarithms.
const tolerance = 1e-9

// TestObjective follows the search sweep by sweep.
func TestObjective(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(1, 2))
		for run := range 20 {
			n := 1 + r.IntN(50)
			g := random(r, n, r.Float64(), weight)
			all := find(t, g, Settings{}, uint64(run))
			before := 0.0 // of singletons
			for s, sweep := range all.Sweeps {
				// The same seed goes the same way, so that fewer sweeps show
				// where the search was after them.
				part := find(t, g, Settings{Sweeps: s + 1}, uint64(run))
				if !slices.Equal(part.Sweeps, all.Sweeps[:s+1]) {
					t.Fatalf("%s: the sweeps are %v, and with fewer %v", kind, all.Sweeps, part.Sweeps)
				}
				if want := loss(g, part.Labels, DefaultClip); math.Abs(sweep.Objective-want) > tolerance {
					t.Fatalf("%s: sweep %d: objective %v, want %v", kind, s, sweep.Objective, want)
				}
				if sweep.Objective > before+tolerance {
					t.Fatalf("%s: sweep %d: the objective rises from %v to %v", kind, s, before, sweep.Objective)
				}
				if last := s == len(all.Sweeps)-1; last != (sweep.Moves == 0) && s+1 < DefaultSweeps {
					t.Fatalf("%s: sweep %d of %d makes %d moves", kind, s, len(all.Sweeps), sweep.Moves)
				}
				before = sweep.Objective
			}
		}
	}
}

// TestMoves checks every single move: it lowers the objective, and there is no
// better one to a neighbour's cluster or out of all.
func TestMoves(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(3, 4))
		moves := 0
		for range 20 {
			n := 2 + r.IntN(25)
			g := random(r, n, 0.2+0.8*r.Float64(), weight)
			s := singletons(g, DefaultClip)
			for range 6 * n {
				i := r.IntN(n)
				before := loss(g, s.label, DefaultClip)
				_, least := bestMove(g, s.label, i)
				own := s.label[i]
				moved := s.move(i)
				after := loss(g, s.label, DefaultClip)
				switch {
				case moved != (s.label[i] != own):
					t.Fatalf("%s: moved %v from cluster %d to %d", kind, moved, own, s.label[i])
				case moved && !(after < before) && (kind == "distinct" || after > before+tolerance):
					// Among tied weights, rounding may tell equal sums apart.
					t.Fatalf("%s: a move takes the objective from %v to %v", kind, before, after)
				case math.Abs(after-least) > tolerance:
					t.Fatalf("%s: the objective is %v after the move, could be %v", kind, after, least)
				}
				if moved {
					moves++
				}
				checkSizes(t, s)
			}
		}
		if moves < 100 {
			t.Errorf("%s: only %d moves", kind, moves)
		}
	}
}

// bestMove returns the cluster where sample i would have the objective lowest,
// of its own, those of its neighbours, and a new one; and that objective.
func bestMove(g *graph.Graph, labels []int32, i int) (cluster int32, objective float64) {
	labels = slices.Clone(labels)
	cluster, objective = labels[i], loss(g, labels, DefaultClip)
	choices := []int32{-1}
	index, _ := g.Of(i)
	for _, j := range index {
		choices = append(choices, labels[j])
	}
	for _, c := range choices {
		labels[i] = c
		if x := loss(g, labels, DefaultClip); x < objective {
			cluster, objective = c, x
		}
	}
	return cluster, objective
}

// checkSizes compares the sizes and the list of empty clusters with the labels.
func checkSizes(t *testing.T, s *state) {
	t.Helper()
	size := make([]int32, len(s.label))
	for _, c := range s.label {
		size[c]++
	}
	empty := slices.Clone(s.free)
	slices.Sort(empty)
	var want []int32
	for c, n := range size {
		if n == 0 {
			want = append(want, int32(c))
		}
	}
	if !slices.Equal(size, s.size) || !slices.Equal(empty, want) {
		t.Fatalf("sizes %v with %v empty, want %v with %v", s.size, empty, size, want)
	}
}

// TestLocalOptimum checks that a search that has converged cannot be bettered by
// any single move.
func TestLocalOptimum(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(5, 6))
		for range 15 {
			n := 2 + r.IntN(30)
			g := random(r, n, r.Float64(), weight)
			found := find(t, g, Settings{Sweeps: 1000}, r.Uint64())
			if last := found.Sweeps[len(found.Sweeps)-1]; last.Moves != 0 {
				t.Fatalf("%s: not converged: %v", kind, found.Sweeps)
			}
			labels := make([]int32, n)
			for i, l := range found.Labels {
				labels[i] = int32(l)
			}
			now := loss(g, labels, DefaultClip)
			for i := range n {
				if c, better := bestMove(g, labels, i); better < now-tolerance {
					t.Fatalf("%s: moving sample %d from %d to %d takes the objective from %v to %v", kind, i, labels[i], c, now, better)
				}
			}
		}
	}
}

// TestLeaving has a sample that one of its two companions repels more than the
// other draws it: it does best alone.
func TestLeaving(t *testing.T) {
	g := build(3, func(i, j int) float64 {
		return [][]float64{1: {2: 0.9}, 0: {1: 0.6, 2: 0.39}}[i][j]
	})
	s := singletons(g, DefaultClip)
	s.label, s.size, s.free = []int32{0, 0, 0}, []int32{3, 0, 0}, []int32{1, 2}
	if !s.move(0) || s.label[0] == 0 {
		t.Errorf("sample 0 stays in %v", s.label)
	}
	checkSizes(t, s)
	if s.move(0) {
		t.Errorf("sample 0, alone, moves on: %v", s.label)
	}
}

func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	truth := make([]int, 90)
	for i := range truth {
		truth[i] = []int{0, 0, 0, 1, 1, 2}[r.IntN(6)]
	}
	g := build(len(truth), func(i, j int) float64 {
		if truth[i] == truth[j] {
			return 0.7 + 0.3*r.Float64()
		}
		return 0.3 * r.Float64()
	})
	for seed := range uint64(10) {
		if got := find(t, g, Settings{}, seed).Labels; !slices.Equal(got, Number(truth)) {
			t.Fatalf("seed %d: found %v, want %v", seed, got, Number(truth))
		}
	}
}

// TestSingletons has nothing that speaks for a pair.
func TestSingletons(t *testing.T) {
	for name, weight := range map[string]float64{"no edge": -1, "unlikely": 0.2, "even": 0.5, "impossible": 0} {
		for _, n := range []int{0, 1, 2, 7} {
			got := find(t, build(n, func(_, _ int) float64 { return weight }), Settings{}, 1)
			want := make([]int, n)
			for i := range want {
				want[i] = i
			}
			if !slices.Equal(got.Labels, want) || len(got.Sweeps) != 1 || got.Sweeps[0] != (Sweep{}) {
				t.Errorf("%s, %d samples: %+v", name, n, got)
			}
		}
	}
}

// TestClip has one impossible link against several likely ones.
func TestClip(t *testing.T) {
	g := build(5, func(i, j int) float64 {
		if i == 0 && j == 1 {
			return 0
		}
		return 0.9
	})
	// The links of sample 0 to the rest weigh 3 log 9 = 6.6, the other way the
	// impossible one weighs log((1-Clip)/Clip): 2.9 or 9.2.
	for clip, want := range map[float64]int{0.05: 1, 1e-4: 2} {
		got := find(t, g, Settings{Clip: clip}, 1)
		if clusters := slices.Max(got.Labels) + 1; clusters != want {
			t.Errorf("clip %v: %d clusters, want %d", clip, clusters, want)
		}
		if x := loss(g, got.Labels, clip); math.Abs(x-got.Sweeps[len(got.Sweeps)-1].Objective) > tolerance {
			t.Errorf("clip %v: the objective is %v, want %v", clip, got.Sweeps, x)
		}
	}
}

func TestSeed(t *testing.T) {
	g := random(rand.New(rand.NewPCG(9, 10)), 120, 0.2, kinds["distinct"])
	first := find(t, g, Settings{}, 0)
	if !reflect.DeepEqual(find(t, g, Settings{}, 0), first) {
		t.Error("the same seed gives another result")
	}
	different := false
	for seed := range uint64(20) {
		different = different || !slices.Equal(find(t, g, Settings{}, seed).Labels, first.Labels)
	}
	if !different {
		t.Error("the seed makes no difference to a graph without structure")
	}
}

func TestProgressAndCancel(t *testing.T) {
	g := random(rand.New(rand.NewPCG(11, 12)), 2000, 0.01, kinds["distinct"])
	seeded := func() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }
	var reports []int
	found, err := Find(t.Context(), g, Settings{}, seeded(), func(sweep int) { reports = append(reports, sweep) })
	if err != nil {
		t.Fatal(err)
	}
	if len(reports) != len(found.Sweeps) || len(reports) < 3 {
		t.Fatalf("reports %v of %d sweeps", reports, len(found.Sweeps))
	}
	for s, sweep := range reports {
		if sweep != s+1 {
			t.Fatalf("the reports are %v", reports)
		}
	}
	for stop := range 3 { // before the search, and in its first two sweeps
		ctx, cancel := context.WithCancel(t.Context())
		if stop == 0 {
			cancel()
		}
		last := 0
		found, err := Find(ctx, g, Settings{}, seeded(), func(sweep int) {
			if last = sweep; sweep == stop {
				cancel()
			}
		})
		cancel()
		if found != nil || !errors.Is(err, context.Canceled) || last != stop {
			t.Errorf("cancelled in sweep %d: %v, %v after sweep %d", stop, found, err, last)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		set  Settings
		want string // the error, or the resolved settings
	}{
		{Settings{}, "{20 0.01}"},
		{Settings{Sweeps: 3, Clip: 0.02}, "{3 0.02}"},
		{Settings{Sweeps: -1}, "sweeps: -1 is not between 1 and 1000000"},
		{Settings{Sweeps: 1_000_001}, "sweeps: 1000001 is not between 1 and 1000000"},
		{Settings{Clip: 0.5}, "edge-clip: 0.5 is not between 1e-12 and 0.49"},
		{Settings{Clip: -0.1}, "edge-clip: -0.1 is not between 1e-12 and 0.49"},
		{Settings{Clip: math.NaN()}, "edge-clip: NaN is not between 1e-12 and 0.49"},
	} {
		_, failed := Find(t.Context(), build(3, func(_, _ int) float64 { return 0.9 }), c.set, rand.New(rand.NewPCG(1, 1)), nil)
		err := c.set.Resolve()
		got := fmt.Sprint(c.set)
		if err != nil {
			got = err.Error()
			var of *option.Error
			if !errors.As(err, &of) || !reflect.DeepEqual(failed, err) {
				t.Errorf("%v, and Find says %v", err, failed)
			}
		} else if failed != nil {
			t.Error(failed)
		}
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct{ labels, want []int }{
		{nil, []int{}},
		{[]int{7}, []int{0}},
		{[]int{3, 1, 1, 2, 3}, []int{0, 1, 1, 2, 0}},
		{[]int{5, 9, 9, 9, 5}, []int{1, 0, 0, 0, 1}},
		{[]int{-1, 0, 1}, []int{0, 1, 2}},
		{[]int{4, 2, 2, 3, 3, 0}, []int{2, 0, 0, 1, 1, 3}},
	} {
		if got := Number(c.labels); !slices.Equal(got, c.want) {
			t.Errorf("Number(%v) = %v, want %v", c.labels, got, c.want)
		}
	}
	words := Number([]string{"rose", "ash", "ash", "oak"})
	if want := []int{1, 0, 0, 2}; !slices.Equal(words, want) {
		t.Errorf("words: %v, want %v", words, want)
	}
}

// TestNumberIsCanonical renames random labels: the numbers are the same, larger
// clusters come first, and of equally large ones that of the earlier sample.
func TestNumberIsCanonical(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 100 {
		labels := make([]int, 1+r.IntN(40))
		names := r.Perm(10)
		renamed := make([]int, len(labels))
		for i := range labels {
			labels[i] = r.IntN(10)
			renamed[i] = names[labels[i]]
		}
		got := Number(labels)
		if !slices.Equal(got, Number(renamed)) || !slices.Equal(got, Number(got)) {
			t.Fatalf("the numbers depend on the names of the labels: %v", labels)
		}
		size, first := map[int]int{}, map[int]int{}
		for i, l := range got {
			if _, ok := first[l]; !ok {
				first[l] = i
			}
			size[l]++
			if (labels[i] == labels[0]) != (l == got[0]) {
				t.Fatalf("%v numbered as %v", labels, got)
			}
		}
		for l := 1; l < len(size); l++ {
			if size[l] > size[l-1] || size[l] == size[l-1] && first[l] < first[l-1] || size[l] == 0 {
				t.Fatalf("%v numbered as %v", labels, got)
			}
		}
	}
}

// BenchmarkFind partitions 20,000 samples of 1,000 classes, of which each has
// some 29 links, 19 of them within its class.
func BenchmarkFind(b *testing.B) {
	const n, class = 20_000, 20
	r := rand.New(rand.NewPCG(15, 16))
	set := &pair.Set{Offsets: make([]int, 1, n+1)}
	var weight []float64
	for i := range n {
		for j := i + 1; j < min((i/class+3)*class, n); j++ {
			same := i/class == j/class
			switch {
			case same:
				weight = append(weight, 0.3+0.7*r.Float64())
			case r.IntN(8) == 0:
				weight = append(weight, 0.7*r.Float64())
			default:
				continue
			}
			set.Second = append(set.Second, int32(j))
		}
		set.Offsets = append(set.Offsets, set.Len())
	}
	g := graph.FromPairs(set, weight)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Find(b.Context(), g, Settings{}, rand.New(rand.NewPCG(1, 1)), nil); err != nil {
			b.Fatal(err)
		}
	}
}
