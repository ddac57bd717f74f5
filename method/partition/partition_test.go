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

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/sparse"
)

// build returns the graph of n samples whose edge i-j, i < j, has the weight
// that weight returns; there is none where it is negative.
func build(t testing.TB, n int, weight func(i, j int) float64) *graph.Graph {
	t.Helper()
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0}}}
	var w []float32
	for i := range n {
		for j := i + 1; j < n; j++ {
			if p := weight(i, j); p >= 0 {
				set.Partners.Values = append(set.Partners.Values, int32(j))
				w = append(w, float32(p))
			}
		}
		set.Partners.Offsets = append(set.Partners.Offsets, set.Len())
	}
	return fromPairs(t, set, w)
}

func fromPairs(t testing.TB, set *pair.Set, weight []float32) *graph.Graph {
	t.Helper()
	g, err := graph.FromPairs(t.Context(), set, weight, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// kinds are ways to draw a weight: no two alike; a few that often balance each
// other, 0, 0.5 and 1 among them.
var kinds = map[string]func(r *rand.Rand) float64{
	"distinct": func(r *rand.Rand) float64 { return r.Float64() },
	"tied":     func(r *rand.Rand) float64 { return float64(r.IntN(5)) / 4 },
}

// random returns a graph in which each pair is linked with the given chance.
func random(t testing.TB, r *rand.Rand, n int, chance float64, weight func(r *rand.Rand) float64) *graph.Graph {
	t.Helper()
	return build(t, n, func(_, _ int) float64 {
		if r.Float64() < chance {
			return weight(r)
		}
		return -1
	})
}

func find(t *testing.T, g *graph.Graph, set Settings, seed uint64) *Result {
	t.Helper()
	return findAt(t, g, 0, set, seed)
}

func findAt(t *testing.T, g *graph.Graph, resolution float64, set Settings, seed uint64) *Result {
	t.Helper()
	r, err := Find(t.Context(), g, resolution, nil, set, rand.New(rand.NewPCG(seed, 0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// start returns the partition of g in which every sample is alone.
func start(t testing.TB, g *graph.Graph) *state {
	t.Helper()
	e, err := newNetwork(t.Context(), g, 0, nil, Settings{Clip: DefaultClip})
	if err != nil {
		t.Fatal(err)
	}
	return singletons(e)
}

// loss transcribes Eq. pi_loss without its constant: the sum, over the linked
// pairs within clusters, of log P(e=0) - log P(e=1).
func loss[L comparable](g *graph.Graph, labels []L, clip float64) float64 {
	sum := 0.0
	for i := range labels {
		for j := i + 1; j < len(labels); j++ {
			if p, ok := g.Between(i, j); ok && labels[i] == labels[j] {
				q := max(clip, min(float64(p), 1-clip))
				sum += math.Log(1-q) - math.Log(q)
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
			g := random(t, r, n, r.Float64(), weight)
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

// algorithm1 transcribes Algorithm 1 as it is without levels: it returns the clusters
// and the number of moves in every sweep.
func algorithm1(g *graph.Graph, random *rand.Rand) (labels, moves []int) {
	n := g.Samples()
	order := make([]int, n)
	for i := range order {
		order[i] = i
		labels = append(labels, i)
	}
	var free []int // the last one out is the first one in
	for range DefaultSweeps {
		random.Shuffle(n, func(a, b int) { order[a], order[b] = order[b], order[a] })
		moved := 0
		for _, i := range order {
			cost := map[int]float64{}
			index, weight := g.Of(i)
			for e, j := range index {
				p := max(DefaultClip, min(float64(weight[e]), 1-DefaultClip))
				cost[labels[j]] += math.Log((1 - p) / p)
			}
			own := labels[i]
			best := own
			for c, x := range cost {
				if x < cost[best] || x == cost[best] && best != own && c < best {
					best = c
				}
			}
			if cost[best] > 0 {
				best, free = free[len(free)-1], free[:len(free)-1]
			}
			if best == own {
				continue
			}
			labels[i] = best
			moved++
			if !slices.Contains(labels, own) {
				free = append(free, own)
			}
		}
		if moves = append(moves, moved); moved == 0 {
			break
		}
	}
	return Number(labels), moves
}

// TestOneLevel holds that a single level, which is the default, is Algorithm 1, and
// that more of them begin with the same sweeps.
func TestOneLevel(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(17, 18))
		for seed := range uint64(40) {
			g := random(t, r, r.IntN(60), r.Float64(), weight)
			labels, moves := algorithm1(g, rand.New(rand.NewPCG(seed, 0)))
			one := find(t, g, Settings{Levels: 1}, seed)
			if !slices.Equal(one.Labels, labels) || !slices.EqualFunc(one.Sweeps, moves, func(s Sweep, moves int) bool {
				return s.Level == 0 && s.Moves == moves
			}) {
				t.Fatalf("%s: found %v by %v, want %v by the moves %v", kind, one.Labels, one.Sweeps, labels, moves)
			}
			if !reflect.DeepEqual(find(t, g, Settings{}, seed), one) {
				t.Fatalf("%s: one level is not the default", kind)
			}
			more := find(t, g, Settings{Levels: 3}, seed)
			if !slices.Equal(more.Sweeps[:len(one.Sweeps)], one.Sweeps) {
				t.Fatalf("%s: the sweeps are %v, with more levels %v", kind, one.Sweeps, more.Sweeps)
			}
		}
	}
}

// TestLevels follows the objective through all levels, and holds the levels to
// their order.
func TestLevels(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(19, 20))
		better := 0
		for seed := range uint64(60) {
			n := 1 + r.IntN(120)
			g := random(t, r, n, 0.3*r.Float64(), weight)
			one := find(t, g, Settings{}, seed)
			for _, set := range []Settings{{Levels: 2}, {Levels: 5}, {Levels: 5, Sweeps: 1}, {Levels: 100, Sweeps: 2}} {
				found := find(t, g, set, seed)
				before := 0.0 // of singletons
				for s, sweep := range found.Sweeps {
					if sweep.Objective > before+tolerance {
						t.Fatalf("%s, %+v: the objective rises in sweep %d: %v", kind, set, s, found.Sweeps)
					}
					before = sweep.Objective
				}
				if want := loss(g, found.Labels, DefaultClip); math.Abs(before-want) > tolerance {
					t.Fatalf("%s, %+v: the objective of the last sweep is %v, that of the labels %v", kind, set, before, want)
				}
				if !slices.Equal(found.Labels, Number(found.Labels)) {
					t.Fatalf("%s, %+v: the labels are %v", kind, set, found.Labels)
				}
				checkLevels(t, found.Sweeps, set)
				if set.Sweeps == 0 && before < one.Sweeps[len(one.Sweeps)-1].Objective-tolerance {
					better++
				}
			}
		}
		if better < 10 {
			t.Errorf("%s: more levels are of use in %d searches only", kind, better)
		}
	}
}

// checkLevels holds that every level has its sweeps until nothing moves, that the
// next one follows while something did, and that the samples come last if clusters
// have moved.
func checkLevels(t *testing.T, sweeps []Sweep, set Settings) {
	t.Helper()
	if err := set.Resolve(); err != nil {
		t.Fatal(err)
	}
	type level struct{ level, sweeps, moves int }
	var levels []level
	for s, sweep := range sweeps {
		if s == 0 || sweep.Level != sweeps[s-1].Level {
			levels = append(levels, level{level: sweep.Level})
		} else if sweeps[s-1].Moves == 0 {
			t.Fatalf("a sweep after one without moves: %v", sweeps)
		}
		l := &levels[len(levels)-1]
		l.sweeps++
		l.moves += sweep.Moves
		if end := s+1 == len(sweeps) || sweeps[s+1].Level != sweep.Level; end && sweep.Moves > 0 && l.sweeps < set.Sweeps {
			t.Fatalf("level %d ends early: %v", sweep.Level, sweeps)
		}
		if l.sweeps > set.Sweeps {
			t.Fatalf("more than %d sweeps of level %d: %v", set.Sweeps, sweep.Level, sweeps)
		}
	}
	// After samples have moved, level 1 is looked at, each further one only if something
	// moved before, and samples again where clusters have; three times at most.
	want := []int{0}
	for range maxCycles {
		first := len(want)
		want = append(want, 1)
		for l := first; l < len(levels) && levels[l].moves > 0 && l-first+2 < set.Levels; l++ {
			want = append(want, l-first+2)
		}
		if first >= len(levels) || levels[first].moves == 0 {
			break
		}
		want = append(want, 0)
		if last := len(want) - 1; last >= len(levels) || levels[last].moves == 0 {
			break
		}
	}
	var got []int
	for _, l := range levels {
		got = append(got, l.level)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the levels are %v, want %v", levels, want)
	}
}

// TestCollapse turns clusters, drawn at random, into nodes, and those once more:
// neither doing so nor a move changes how the objective relates to the samples.
func TestCollapse(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(21, 22))
		for range 60 {
			n := 1 + r.IntN(40)
			g := random(t, r, n, r.Float64(), weight)
			s := start(t, g)
			of := make([]int32, n) // sample -> node of s
			for i := range of {
				of[i] = int32(i)
			}
			labels := func() []int32 {
				labels := make([]int32, n)
				for i, node := range of {
					labels[i] = s.label[node]
				}
				return labels
			}
			for range 3 {
				clusters := 1 + r.IntN(len(s.label))
				drawn := make([]int32, len(s.label))
				for i := range drawn {
					drawn[i] = int32(r.IntN(clusters))
				}
				s.assign(drawn, 0)
				s.loss = s.objective()
				checkSizes(t, s)
				before := labels()
				if got, want := s.objective(), loss(g, before, DefaultClip); math.Abs(got-want) > tolerance {
					t.Fatalf("%s: the objective is %v, want %v", kind, got, want)
				}

				number := s.numberClusters()
				s = singletons(s.aggregate(number))
				checkSizes(t, s)
				for i := range of {
					of[i] = number[before[i]]
				}
				if !slices.Equal(Number(labels()), Number(before)) {
					t.Fatalf("%s: %v become %v", kind, before, labels())
				}
				checkCosts(t, g, s, of)
				for range 2 * len(s.label) {
					s.move(r.IntN(len(s.label)))
					checkSizes(t, s)
					if got, want := s.objective(), loss(g, labels(), DefaultClip); math.Abs(got-want) > tolerance || math.Abs(s.loss-want) > tolerance {
						t.Fatalf("%s: the objective is %v, carried along %v, want %v", kind, got, s.loss, want)
					}
				}
			}
		}
	}
}

// checkCosts holds that the edge between two nodes costs what those between their
// samples add up to. Where that is nothing, there need be none.
func checkCosts(t *testing.T, g *graph.Graph, s *state, of []int32) {
	t.Helper()
	nodes := len(s.label)
	want := make([][]float64, nodes)
	for i := range want {
		want[i] = make([]float64, nodes)
	}
	for i, a := range of {
		index, weight := g.Of(i)
		for e, j := range index {
			p := max(DefaultClip, min(float64(weight[e]), 1-DefaultClip))
			want[a][of[j]] += math.Log(1-p) - math.Log(p)
		}
	}
	for a := range want {
		for e := s.offsets[a]; e < s.offsets[a+1]; e++ {
			b := s.to[e]
			if int(b) == a || math.Abs(s.costOf(e)-want[a][b]) > tolerance || want[a][b] == math.Inf(1) {
				t.Fatalf("the edge from %d to %d costs %v, want %v", a, b, s.costOf(e), want[a][b])
			}
			want[a][b] = math.Inf(1) // so that no edge is listed twice
		}
		for b, cost := range want[a] {
			if a != b && math.Abs(cost) > tolerance && !math.IsInf(cost, 1) {
				t.Fatalf("the edge from %d to %d, which should cost %v, is missing", a, b, cost)
			}
		}
	}
}

// TestMerges has four groups of four that belong together in twos, and a little also
// all four. No sample gains by leaving its group, so that samples alone never find
// out; and no group gains by leaving its two.
func TestMerges(t *testing.T) {
	g := build(t, 16, func(i, j int) float64 {
		switch {
		case i/4 == j/4:
			return 0.99
		case i/8 == j/8:
			return 0.7
		}
		return 0.55
	})
	for levels, clusters := range map[int]int{1: 4, 2: 2, 3: 1, 4: 1} {
		for seed := range uint64(20) {
			found := find(t, g, Settings{Levels: levels}, seed)
			want := make([]int, 16)
			for i := range want {
				want[i] = i * clusters / 16
			}
			if !slices.Equal(found.Labels, want) {
				t.Fatalf("%d levels, seed %d: found %v, want %v", levels, seed, found.Labels, want)
			}
			checkObjective(t, g, found)
		}
	}
}

// checkObjective compares the objective of the last sweep with the labels.
func checkObjective(t *testing.T, g *graph.Graph, found *Result) {
	t.Helper()
	got, want := found.Sweeps[len(found.Sweeps)-1].Objective, loss(g, found.Labels, DefaultClip)
	if math.Abs(got-want) > tolerance {
		t.Fatalf("the objective of the last sweep is %v, that of the labels %v", got, want)
	}
}

// TestSamplesLast has a sample that is drawn most to one group, but more to two
// others together, which merge as wholes only.
func TestSamplesLast(t *testing.T) {
	g := build(t, 10, func(i, j int) float64 {
		switch a, b := i/3, j/3; {
		case b == 3 && i == 0: // sample 9
			return 0.75
		case b == 3 && i%3 == 0:
			return 0.7
		case b == 3:
			return -1
		case a == b:
			return 0.99
		case a == 0:
			return 0.3
		}
		return 0.6
	})
	for seed := range uint64(20) {
		one, two := find(t, g, Settings{}, seed), find(t, g, Settings{Levels: 2}, seed)
		if want := []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 0}; !slices.Equal(one.Labels, want) {
			t.Fatalf("one level finds %v, want %v", one.Labels, want)
		}
		if want := []int{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}; !slices.Equal(two.Labels, want) {
			t.Fatalf("two levels find %v, want %v", two.Labels, want)
		}
		checkObjective(t, g, two)
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
			g := random(t, r, n, 0.2+0.8*r.Float64(), weight)
			s := start(t, g)
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
	empty := slices.Clone(s.empty)
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
			g := random(t, r, n, r.Float64(), weight)
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

// TestStale moves samples, and clusters of them, in two searches side by side, of which
// one looks at every node every time: the marks of those that may want to move save
// looking, and nothing else.
func TestStale(t *testing.T) {
	for kind, weight := range kinds {
		r := rand.New(rand.NewPCG(25, 26))
		skipped, moves := 0, 0
		for range 60 {
			n := 2 + r.IntN(80)
			g := random(t, r, n, 0.4*r.Float64(), weight)
			marked, every := start(t, g), start(t, g)
			for level := range 4 {
				for range 6 * len(marked.label) {
					i := r.IntN(len(marked.label))
					if !marked.active[i] {
						skipped++
					}
					every.active[i] = true
					moved := marked.move(i)
					if moved != every.move(i) || !slices.Equal(marked.label, every.label) || !slices.Equal(marked.empty, every.empty) {
						t.Fatalf("%s, level %d: node %d is put into cluster %d, and into %d where every node is looked at", kind, level, i, marked.label[i], every.label[i])
					}
					if moved {
						moves++
					}
				}
				if level == 2 { // any partition may be the next beginning
					drawn := make([]int32, len(marked.label))
					for i := range drawn {
						drawn[i] = int32(r.IntN(len(drawn)))
					}
					marked.assign(drawn, 0)
					marked.loss = marked.objective()
					every.assign(drawn, 0)
					every.loss = every.objective()
					continue
				}
				number := marked.numberClusters()
				marked, every = singletons(marked.aggregate(number)), singletons(every.aggregate(number))
			}
		}
		if skipped < 1000 || moves < 1000 {
			t.Errorf("%s: only %d nodes were not looked at, only %d moved", kind, skipped, moves)
		}
	}
}

// TestLeaving has a sample that one of its two companions repels more than the
// other draws it: it does best alone.
func TestLeaving(t *testing.T) {
	g := build(t, 3, func(i, j int) float64 {
		return [][]float64{1: {2: 0.9}, 0: {1: 0.6, 2: 0.39}}[i][j]
	})
	s := start(t, g)
	s.label, s.size, s.empty = []int32{0, 0, 0}, []int32{3, 0, 0}, []int32{1, 2}
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
	g := build(t, len(truth), func(i, j int) float64 {
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
			got := find(t, build(t, n, func(_, _ int) float64 { return weight }), Settings{}, 1)
			want := make([]int, n)
			for i := range want {
				want[i] = i
			}
			if !slices.Equal(got.Labels, want) || len(got.Sweeps) != 1 || got.Sweeps[0] != (Sweep{}) {
				t.Errorf("%s, %d samples: %+v", name, n, got)
			}
			more := find(t, build(t, n, func(_, _ int) float64 { return weight }), Settings{Levels: 5}, 1)
			if !slices.Equal(more.Labels, want) || !slices.Equal(more.Sweeps, []Sweep{{}, {Level: 1}}) {
				t.Errorf("%s, %d samples, with levels: %+v", name, n, more)
			}
		}
	}
}

// TestClip has one impossible link against several likely ones.
func TestClip(t *testing.T) {
	g := build(t, 5, func(i, j int) float64 {
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
	g := random(t, rand.New(rand.NewPCG(9, 10)), 120, 0.2, kinds["distinct"])
	for _, levels := range []int{1, 3} {
		set := Settings{Levels: levels}
		first := find(t, g, set, 0)
		if !reflect.DeepEqual(find(t, g, set, 0), first) {
			t.Errorf("%d levels: the same seed gives another result", levels)
		}
		different := false
		for seed := range uint64(20) {
			different = different || !slices.Equal(find(t, g, set, seed).Labels, first.Labels)
		}
		if !different {
			t.Errorf("%d levels: the seed makes no difference to a graph without structure", levels)
		}
	}
}

func TestProgressAndCancel(t *testing.T) {
	g := random(t, rand.New(rand.NewPCG(11, 12)), 2000, 0.01, kinds["distinct"])
	seeded := func() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }
	for _, levels := range []int{1, 4} {
		set := Settings{Levels: levels}
		var reports []int
		found, err := Find(t.Context(), g, 0, nil, set, seeded(), func(sweep int) { reports = append(reports, sweep) })
		if err != nil {
			t.Fatal(err)
		}
		if highest := slices.MaxFunc(found.Sweeps, func(a, b Sweep) int { return a.Level - b.Level }).Level; highest < min(levels-1, 2) {
			t.Fatalf("%d levels allowed, %d reached", levels, highest+1)
		}
		if len(reports) != len(found.Sweeps) || len(reports) < 3 {
			t.Fatalf("reports %v of %d sweeps", reports, len(found.Sweeps))
		}
		for s, sweep := range reports {
			if sweep != s+1 {
				t.Fatalf("the reports are %v", reports)
			}
		}
		for stop := range found.Sweeps { // before the search, and in every sweep but the last
			ctx, cancel := context.WithCancel(t.Context())
			if stop == 0 {
				cancel()
			}
			last := 0
			found, err := Find(ctx, g, 0, nil, set, seeded(), func(sweep int) {
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
}

// TestCancelAnywhere cancels at every question to the context in turn: there is
// either the whole result or the error.
func TestCancelAnywhere(t *testing.T) {
	g := random(t, rand.New(rand.NewPCG(23, 24)), 1500, 0.01, kinds["distinct"])
	want := find(t, g, Settings{Levels: 3}, 1)
	for asked := 0; ; asked++ {
		got, err := Find(lapse.After(t.Context(), asked), g, 0, nil, Settings{Levels: 3}, rand.New(rand.NewPCG(1, 0)), nil)
		if err == nil {
			if !reflect.DeepEqual(got, want) || asked < len(want.Sweeps) {
				t.Errorf("part of a result after %d questions", asked)
			}
			break
		}
		if got != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, %v after %d questions", got != nil, err, asked)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		set  Settings
		want string // the error, or the resolved settings
	}{
		{Settings{}, "{20 1 0.01}"},
		{Settings{Sweeps: 3, Levels: 4, Clip: 0.02}, "{3 4 0.02}"},
		{Settings{Sweeps: -1}, "Sweeps: -1 is not between 1 and 1000000"},
		{Settings{Sweeps: 1_000_001}, "Sweeps: 1000001 is not between 1 and 1000000"},
		{Settings{Levels: -1}, "Levels: -1 is not between 1 and 100"},
		{Settings{Levels: 101}, "Levels: 101 is not between 1 and 100"},
		{Settings{Clip: 0.5}, "Clip: 0.5 is not between 1e-12 and 0.49"},
		{Settings{Clip: -0.1}, "Clip: -0.1 is not between 1e-12 and 0.49"},
		{Settings{Clip: math.NaN()}, "Clip: NaN is not between 1e-12 and 0.49"},
	} {
		_, failed := Find(t.Context(), build(t, 3, func(_, _ int) float64 { return 0.9 }), 0, nil, c.set, rand.New(rand.NewPCG(1, 1)), nil)
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
	g := build(t, 3, func(_, _ int) float64 { return 0.9 })
	for resolution, want := range map[float64]string{
		-1:         "Resolution: -1 is not above 0 and at most 1e+12",
		2e12:       "Resolution: 2e+12 is not above 0 and at most 1e+12",
		math.NaN(): "Resolution: NaN is not above 0 and at most 1e+12",
	} {
		r := rand.New(rand.NewPCG(1, 1))
		_, found := Find(t.Context(), g, resolution, nil, Settings{}, r, nil)
		_, resumed := Resume(t.Context(), g, resolution, nil, Settings{}, []int{0, 0, 0}, make([]bool, 3), r, nil)
		_, series := NewSeries(t.Context(), g, resolution, nil, Settings{})
		for _, err := range []error{found, resumed, series} {
			if err == nil || err.Error() != want {
				t.Errorf("resolution %v: %v, want %s", resolution, err, want)
			}
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
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: make([]int, 1, n+1)}}
	var weight []float32
	for i := range n {
		for j := i + 1; j < min((i/class+3)*class, n); j++ {
			same := i/class == j/class
			switch {
			case same:
				weight = append(weight, 0.3+0.7*r.Float32())
			case r.IntN(8) == 0:
				weight = append(weight, 0.7*r.Float32())
			default:
				continue
			}
			set.Partners.Values = append(set.Partners.Values, int32(j))
		}
		set.Partners.Offsets = append(set.Partners.Offsets, set.Len())
	}
	g := fromPairs(b, set, weight)
	for _, levels := range []int{1, 5} {
		b.Run(fmt.Sprintf("levels=%d", levels), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Find(b.Context(), g, 0, nil, Settings{Levels: levels}, rand.New(rand.NewPCG(1, 1)), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
