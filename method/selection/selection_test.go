package selection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/internal/option"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/method/discriminant"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
)

func search(t testing.TB, g *graph.Graph, set Settings, seed uint64, threads int) *Result {
	t.Helper()
	r, err := Search(t.Context(), g, nil, set, seed, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// drawLabels puts n samples into clusters, some of which may stay empty.
func drawLabels(r *rand.Rand, n, clusters int) ([]int, *order) {
	labels, c := make([]int, n), &order{clusters: clusters, labels: make([]int32, n)}
	for i := range labels {
		labels[i] = r.IntN(1 + r.IntN(clusters))
		c.labels[i] = int32(labels[i])
	}
	return labels, c
}

// TestRand compares with package score, one tabulation after the other in the same place.
func TestRand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	var table tabulation
	for range 500 {
		n := 2 + r.IntN(200)
		x, a := drawLabels(r, n, 1+r.IntN(n))
		y, b := drawLabels(r, n, 1+r.IntN(n))
		if r.IntN(5) == 0 {
			y, b = x, a
		}
		want, err := score.Compare(x, y)
		if err != nil {
			t.Fatal(err)
		}
		if got := adjustedRand(&table, a, b); math.Abs(got-want.ARI) > 1e-12 {
			t.Fatalf("%v and %v: %v, want %v", x, y, got, want.ARI)
		}
		if forth, back := adjustedRand(&table, a, b), adjustedRand(&table, b, a); math.Abs(forth-back) > 1e-12 {
			t.Fatalf("%v and %v: %v, turned %v", x, y, forth, back)
		} else if most := table.atMost(a); back > most || table.atMost(b) != 1 {
			t.Fatalf("%v and %v: %v, above %v, or less than 1 with itself", x, y, back, most)
		}
	}
	for _, n := range []int{1, 2, 5} {
		one, each := &order{clusters: 1, labels: make([]int32, n)}, &order{clusters: n, labels: make([]int32, n)}
		for i := range each.labels {
			each.labels[i] = int32(i)
		}
		for _, c := range []*order{one, each} {
			if got := adjustedRand(&table, c, c); got != 1 {
				t.Errorf("%d samples in %d clusters agree by %v with themselves", n, c.clusters, got)
			}
		}
		if got := adjustedRand(&table, one, each); n > 1 && got != 0 {
			t.Errorf("%d samples in one cluster and alone agree by %v", n, got)
		}
	}
}

// adjustedRand compares two partitions in a table that others were compared in.
func adjustedRand(t *tabulation, a, b *order) float64 {
	t.group(b)
	b.together = t.within
	t.group(a)
	return t.rand(b)
}

// TestRandMany has more samples than are compared.
func TestRandMany(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	const n = 3*compared + 7
	x, a := drawLabels(r, n, 10)
	y := slices.Clone(x)
	b := &order{clusters: 11, labels: slices.Clone(a.labels)}
	for i := range y {
		if r.IntN(3) == 0 {
			y[i] = 10
			b.labels[i] = 10
		}
	}
	want, err := score.Compare(x, y)
	if err != nil {
		t.Fatal(err)
	}
	var table tabulation
	if got := adjustedRand(&table, a, b); math.Abs(got-want.ARI) > 0.02 {
		t.Errorf("%v, of all samples %v", got, want.ARI)
	}
	if got := adjustedRand(&table, a, a); got != 1 {
		t.Errorf("%v with itself", got)
	}
}

// plainCode is the map equation by its definition: how often the walk changes cluster,
// times the entropy of the cluster that it enters; and for every cluster how often it is
// in or leaves it, times the entropy of what it then tells.
func plainCode(walk *graph.Graph, labels []int32, clusters int) float64 {
	n := walk.Samples()
	visit, all := make([]float64, n), 0.0
	for i := range n {
		index, _ := walk.Of(i)
		visit[i] = float64(len(index))
		all += visit[i]
	}
	exit := make([]float64, clusters)
	for i := range n {
		visit[i] /= all
		index, _ := walk.Of(i)
		for _, j := range index {
			if labels[i] != labels[j] {
				exit[labels[i]] += visit[i] / float64(len(index))
			}
		}
	}
	entropy := func(p []float64) (all, bits float64) {
		for _, x := range p {
			all += x
		}
		for _, x := range p {
			if x > 0 {
				bits -= x / all * math.Log2(x/all)
			}
		}
		return all, bits
	}
	changes, bits := entropy(exit)
	length := changes * bits
	for c := range clusters {
		told := []float64{exit[c]}
		for i := range n {
			if labels[i] == int32(c) {
				told = append(told, visit[i])
			}
		}
		share, bits := entropy(told)
		length += share * bits
	}
	return length
}

func TestCodeLength(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for range 100 {
		n := 4 + r.IntN(60)
		g := rings(n, 1+r.IntN(n), 1+r.IntN(6), r.Uint64())
		if g.Edges() == 0 {
			continue
		}
		for e := range g.Weight {
			g.Weight[e] = 1
		}
		over := walkOver(g)
		_, c := drawLabels(r, n, 1+r.IntN(n))
		got, want := newCrossings(over, c.labels, c.clusters).codeLength(over.named()), plainCode(g, c.labels, c.clusters)
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("%d samples in %d clusters: %v bits, want %v", n, c.clusters, got, want)
		}
	}
	empty := &graph.Graph{Offsets: make([]int, 6)}
	over := walkOver(empty)
	if got := newCrossings(over, make([]int32, 5), 1).codeLength(over.named()); got != 0 {
		t.Errorf("a walk without edges takes %v bits", got)
	}
}

// The walk among nodes tells of clusters of nodes what the walk among their samples does, to the last bit.
func TestWalkContracted(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for range 100 {
		n := 4 + r.IntN(200)
		g := rings(n, 1+r.IntN(n), 1+r.IntN(6), r.Uint64())
		for e := range g.Weight {
			g.Weight[e] = 1
		}
		nodes, clusters := 1+r.IntN(n), 1+r.IntN(10)
		of, ofNode, labels := make([]int32, n), make([]int32, nodes), make([]int32, n)
		for c := range ofNode {
			ofNode[c] = int32(r.IntN(clusters))
		}
		for i := range of {
			of[i] = int32(r.IntN(nodes))
			if i < nodes { // none is empty
				of[i] = int32(i)
			}
			labels[i] = ofNode[of[i]]
		}
		over := walkOver(g)
		got, want := newCrossings(over.contracted(of), ofNode, clusters), newCrossings(over, labels, clusters)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%d samples in %d nodes and %d clusters: %+v, want %+v", n, nodes, clusters, got, want)
		}
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		set         Settings
		samples     int
		neighbours  []int
		resolutions int
		finest      float64
	}{
		{Settings{}, 1, []int{1}, 7, 1},
		{Settings{}, 3, []int{1}, 7, 1},
		{Settings{}, 6, []int{1}, 7, 1},
		{Settings{}, 10, []int{3}, 7, 1},
		{Settings{}, 16, []int{5}, 7, 1},
		{Settings{}, 40, []int{5, 7, 10}, 8, 1.6},
		{Settings{}, 2000, []int{5, 7, 10, 14, 20, 28, 40, 57, 80}, 16, 80},
		{Settings{}, 29_900, []int{5, 7, 10, 14, 20, 28, 40, 57, 80}, 22, 29_900. / 25},
		{Settings{}, 30_000, []int{5, 7, 10, 14, 20, 28, 40}, 19, 300},
		{Settings{MaxNeighbours: 80, Resolution: 2000}, 30_000, []int{5, 7, 10, 14, 20, 28, 40, 57, 80}, 1, 2000},
		{Settings{}, 1_000_000, []int{5, 7, 10, 14, 20, 28, 40}, 27, 10_000},
		{Settings{MaxNeighbours: 30}, 2000, []int{5, 7, 10, 14, 20, 28}, 16, 80},
		{Settings{MaxNeighbours: 2}, 2000, []int{2}, 16, 80},
		{Settings{Neighbours: 33}, 2000, []int{33}, 16, 80},
		{Settings{Neighbours: 2}, 3, []int{2}, 7, 1},
		{Settings{Resolution: 3}, 40, []int{5, 7, 10}, 1, 3},
		{Settings{Neighbours: 90, Resolution: 0.01}, 40, []int{90}, 1, 0.01},
	} {
		if err := c.set.Resolve(); err != nil {
			t.Fatal(err)
		}
		p := c.set.plan(c.samples)
		if !slices.Equal(p.neighbours, c.neighbours) {
			t.Errorf("%+v, %d samples: the neighbours are %v, want %v", c.set, c.samples, p.neighbours, c.neighbours)
		}
		last := p.resolutions[len(p.resolutions)-1]
		if len(p.resolutions) != c.resolutions || !slices.IsSorted(p.resolutions) || last > c.finest || last*math.Pow(10, 0.2) < c.finest {
			t.Errorf("%+v, %d samples: the %d resolutions are %v", c.set, c.samples, len(p.resolutions), p.resolutions)
		}
		if got, tried := c.set.Steps(c.samples), len(p.neighbours)*len(p.resolutions)*p.orders; got != tried+tried/8+tried*3/8 {
			t.Errorf("%+v, %d samples: %d steps", c.set, c.samples, got)
		}
		if c.set.Footprint(c.samples, 1e9, 2) <= 0 || c.set.Cost(c.samples) <= 0 || c.set.Footprint(c.samples+40, 1e9, 2) <= c.set.Footprint(c.samples, 1e9, 2) {
			t.Errorf("%+v, %d samples: %d bytes, cost %v", c.set, c.samples, c.set.Footprint(c.samples, 1e9, 2), c.set.Cost(c.samples))
		}
	}
}

func TestSettings(t *testing.T) {
	for want, set := range map[string]Settings{
		"Neighbours":       {Neighbours: -1},
		"MaxNeighbours":    {MaxNeighbours: -1},
		"Orders":           {Orders: -1},
		"Resolution":       {Resolution: -1},
		"Partition.Levels": {Partition: partition.Settings{Levels: -1}},
	} {
		_, err := Search(t.Context(), rings(10, 5, 3, 1), nil, set, 0, 1, nil)
		of, ok := errors.AsType[*option.Error](err)
		if !ok || of.Field != want || set.Steps(10) != 0 || set.Footprint(10, 100, 1) != 0 || set.Cost(10) != 0 {
			t.Errorf("%+v: %v", set, err)
		}
	}
}

// TestSearch holds the candidates to what they say, and the choice to their scores.
func TestSearch(t *testing.T) {
	g := rings(300, 30, 10, 1)
	before := *g
	before.Index, before.Weight = slices.Clone(g.Index), slices.Clone(g.Weight)
	var set Settings
	const seed = 5
	var reports, running, last atomic.Int32
	got, err := Search(t.Context(), g, nil, set, seed, 4, func(done int) {
		if running.Add(1) > 1 || int(reports.Add(1)) > set.Steps(300) || done > set.Steps(300) {
			t.Errorf("report %d says %d", reports.Load(), done)
		}
		last.Store(int32(done))
		running.Add(-1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*g, before) {
		t.Error("the graph has changed")
	}
	if len(got.Candidates)*mostOrders >= set.Steps(300) || int(last.Load()) != set.Steps(300) {
		t.Errorf("%d candidates of %d steps, %d reports", len(got.Candidates), set.Steps(300), reports.Load())
	}
	if err := set.Resolve(); err != nil {
		t.Fatal(err)
	}
	p := set.plan(300)
	tried := orders(t, g, set, seed)
	mean := func(of func(o int) float64) (sum float64) {
		for o := range p.orders {
			sum += of(o) / float64(p.orders)
		}
		return sum
	}
	var table tabulation
	best := &got.Candidates[got.Best]
	for at := range got.Candidates {
		c := &got.Candidates[at]
		row, column := at/len(p.resolutions), at%len(p.resolutions)
		if c.Neighbours != p.neighbours[row] || c.Resolution != p.resolutions[column] {
			t.Fatalf("candidate %d is %+v", at, c)
		}
		one := set
		one.Neighbours, one.Resolution = c.Neighbours, c.Resolution
		if row%3 == 0 && column%4 == 0 { // the others would take long
			alone := search(t, g, one, seed, 1)
			if !slices.Equal(alone.Candidates[0].labels, c.labels) {
				t.Errorf("alone, %+v gives other clusters", c)
			}
		}
		rand := func(a, b, o int) (largest float64) {
			largest = -1
			for other := range tried[b].orders {
				largest = max(largest, adjustedRand(&table, &tried[a].orders[o], &tried[b].orders[other]))
			}
			return largest
		}
		plateau := mean(func(o int) float64 {
			largest := -1.0
			for _, to := range []int{column - 1, column + 1} {
				if to >= 0 && to < len(p.resolutions) {
					largest = max(largest, rand(at, row*len(p.resolutions)+to, o))
				}
			}
			return largest
		})
		agreement := mean(func(o int) float64 {
			sum, sides := 0.0, 0.0
			for _, to := range []int{row - 1, row + 1} {
				if to >= 0 && to < len(p.neighbours) {
					most := -1.0
					for other := range p.resolutions {
						most = max(most, rand(at, to*len(p.resolutions)+other, o))
					}
					sum += most
					sides++
				}
			}
			return sum / sides
		})
		if math.Abs(c.Plateau-plateau) > 1e-12 || math.Abs(c.Agreement-agreement) > 1e-12 {
			t.Errorf("%+v: plateau %v, agreement %v", c, plateau, agreement)
		}
		if same := func(o order) bool { return slices.Equal(o.labels, c.labels) }; !slices.ContainsFunc(tried[at].orders, same) {
			t.Errorf("%+v stands for none of its orders", c)
		}
		want := math.Pow(max(0, c.Plateau), 2.5) * math.Pow(max(0, c.Agreement), 4) * c.Evenness * c.Evenness * max(0, c.Compression)
		if !got.Clear {
			want = math.Pow(max(0, c.Agreement)*max(0, c.Reproducibility), 4) * math.Pow(max(0, c.Modularity), 2) * c.Evenness * max(0, c.Compression)
		}
		if c.Clusters == 1 || c.Clusters > 150 {
			want = 0
		}
		if math.Abs(c.Score-want) > 1e-12 || c.Score > best.Score {
			t.Errorf("%+v has not score %v, or is better than %+v", c, want, best)
		}
	}
	refined, _, err := refine.Graph(t.Context(), g, best.Neighbours, refine.Settings{WithoutPaths: true}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The classes are plain: moving samples once more changes nothing.
	if !slices.Equal(got.Partition.Labels, partition.Number(best.labels)) || !reflect.DeepEqual(got.Graph, refined) {
		t.Error("the result is not the best candidate's")
	}
}

// orders returns the candidates with their partitions in all orders.
func orders(t *testing.T, g *graph.Graph, set Settings, seed uint64) []Candidate {
	t.Helper()
	s := searcher{set: set, seed: seed, plan: set.plan(g.Samples())}
	near, err := refine.Nearest(t.Context(), g, MaxNeighbours(g.Samples()), 0)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.try(t.Context(), s.refined(t.Context(), near), 1, parallel.Counter(nil))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSearchFindsClasses plants classes of several sizes.
func TestSearchFindsClasses(t *testing.T) {
	for _, c := range []struct{ samples, size, degree int }{{600, 10, 8}, {600, 30, 10}, {600, 100, 20}, {600, 300, 30}} {
		g := rings(c.samples, c.size, c.degree, 2)
		truth := make([]int, c.samples)
		for i := range truth {
			truth[i] = i / c.size
		}
		got := search(t, g, Settings{}, 0, 0)
		s, err := score.Compare(truth, got.Partition.Labels)
		if err != nil {
			t.Fatal(err)
		}
		if !(s.ARI > 0.9) {
			t.Errorf("classes of %d: ARI %.3f with %+v", c.size, s.ARI, got.Candidates[got.Best])
		}
	}
}

func TestSearchThreads(t *testing.T) {
	g := rings(200, 20, 6, 3)
	want := search(t, g, Settings{}, 1, 1)
	for _, threads := range []int{0, 2, 8, 100} {
		if got := search(t, g, Settings{}, 1, threads); !reflect.DeepEqual(got, want) {
			t.Errorf("%d threads give another result", threads)
		}
	}
}

// TestSearchFew has hardly any samples, or edges.
func TestSearchFew(t *testing.T) {
	for n := range 12 {
		for _, g := range []*graph.Graph{{Offsets: make([]int, n+1)}, rings(n, max(1, n/2), 2, 4), rings(n, max(1, n), 3, 5)} {
			t.Run(fmt.Sprint(n, " ", g.Edges()), func(t *testing.T) {
				got := search(t, g, Settings{}, 0, 2)
				if len(got.Partition.Labels) != n || got.Graph.Samples() != n || len(got.Candidates)*mostOrders > (Settings{}).Steps(n) {
					t.Fatalf("%+v", got)
				}
				if !slices.Equal(got.Partition.Labels, partition.Number(got.Partition.Labels)) {
					t.Errorf("the labels are %v", got.Partition.Labels)
				}
				for _, c := range got.Candidates {
					for _, x := range []float64{c.Plateau, c.Agreement, c.Reproducibility, c.Evenness, c.Compression, c.Modularity, c.Score} {
						if math.IsNaN(x) || math.IsInf(x, 0) {
							t.Errorf("%+v", c)
						}
					}
				}
			})
		}
	}
}

// TestSearchCancelled ends the search at many questions whether it is to end.
func TestSearchCancelled(t *testing.T) {
	g := rings(60, 10, 4, 6)
	asked := 0
	for ended := false; !ended; asked += 1 + asked/10 {
		got, err := Search(lapse.After(t.Context(), asked), g, nil, Settings{}, 0, 1, nil)
		if ended = err == nil; !ended && (got != nil || !errors.Is(err, context.Canceled)) {
			t.Fatalf("after %d questions: %v", asked, err)
		}
	}
	if asked < 50 {
		t.Errorf("it asks %d times", asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	got, err := Search(ctx, g, nil, Settings{}, 0, 4, func(int) { cancel() })
	if got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled at the first report: %v", err)
	}
}

// TestCriteria holds the names of the criteria to the keys of a candidate, and that each
// raises or lowers the scores that it has a part in alone.
func TestCriteria(t *testing.T) {
	for _, x := range Criteria() {
		c := Candidate{Clusters: 2}
		for _, other := range Criteria() {
			*other.field(&c) = 0.5
		}
		before, factor := [3]float64{c.score(Criteria(), 0, 1, 2), c.score(Criteria(), 1, 1, 2), c.score(Criteria(), 2, 1, 2)}, x.Factor(&c)
		*x.field(&c) = 0.25
		encoded, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]float64
		if err := json.Unmarshal(encoded, &keys); err != nil || keys[x.Name] != 0.25 || x.Meaning == "" {
			t.Errorf("%s is no key of %s, or %v", x.Name, encoded, err)
		}
		for row, exponent := range x.Exponents {
			want := before[row] * math.Pow(x.Factor(&c)/factor, exponent)
			if got := c.score(Criteria(), row, 1, 2); (got == before[row]) != (exponent == 0) || math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: score %d is %v, was %v, want %v", x.Name, row, got, before[row], want)
			}
		}
		for _, clusters := range []int{1, 3} {
			if c.Clusters = clusters; c.score(Criteria(), 0, 1, 2) != 0 {
				t.Errorf("%d clusters have a score", clusters)
			}
		}
	}
}

// TestChoose goes by the second score, among plateaus that are about as clear, and even, where the
// best by the first is clear.
func TestChoose(t *testing.T) {
	plateau := Candidate{Clusters: 4, Reproducibility: 1, Plateau: 0.99, Agreement: 0.99, Evenness: 0.9, Compression: 0.02, Modularity: 0.2, Separation: 1, Discriminability: 1}
	broad := Candidate{Clusters: 9, Reproducibility: 0.95, Plateau: 0.6, Agreement: 0.8, Evenness: 0.9, Compression: 0.06, Modularity: 0.5, Separation: 1, Discriminability: 1}
	crumbs, finer, looser, chance := plateau, plateau, plateau, plateau
	crumbs.Evenness = 0.3
	finer.Plateau, finer.Agreement, finer.Modularity = 0.95, 0.93, 0.5
	looser.Plateau, looser.Agreement, looser.Modularity = 0.93, 0.92, 0.5
	chance.Modularity = -0.1
	pieces := finer // of one cloud
	pieces.Separation = 0.1
	for _, test := range []struct {
		name    string
		tried   []Candidate
		doubted int
		want    choice
	}{
		{"a clear plateau", []Candidate{plateau, broad}, 0, choice{0, 0, true, false}},
		{"one cluster and crumbs", []Candidate{crumbs, broad}, 4, choice{1, 1, false, false}},
		{"two clear plateaus", []Candidate{plateau, finer, broad}, 3, choice{0, 1, true, false}},
		{"two clear plateaus, one of pieces of a cloud", []Candidate{plateau, pieces, broad}, 0, choice{0, 0, true, false}},
		{"a clear plateau and a less clear one", []Candidate{plateau, looser, broad}, 0, choice{0, 0, true, false}},
		{"a clear plateau without a second score", []Candidate{broad, chance}, 0, choice{1, 1, true, false}},
		{"a plateau that clouds have, too", []Candidate{plateau, broad}, 4, choice{0, 1, false, true}},
	} {
		if made := choose(test.tried, 100, 50, test.doubted); made != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, made, test.want)
		}
	}
}

// TestDecide passes over clusters that the views do not foretell, whatever their score, and measures no more than it takes.
func TestDecide(t *testing.T) {
	const samples, classes = 200, 4
	r := rand.New(rand.NewPCG(4, 4))
	v := &view.View{Name: "clouds", Samples: samples, Dims: 6, Data: make([]float32, samples*6)}
	true4, crumbs := make([]int32, samples), make([]int32, samples)
	for i := range samples {
		true4[i], crumbs[i] = int32(i%classes), int32(r.IntN(40))
		for k := range v.Row(i) {
			v.Row(i)[k] = float32(0.3 * r.NormFloat64())
		}
		v.Row(i)[i%classes] += 2
	}
	space, err := similarity.NewSpace(t.Context(), v, similarity.Cosine, nil, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	coordinates, err := discriminant.Read(t.Context(), []*similarity.Space{space}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, clear := range []bool{false, true} {
		broad := Candidate{Clusters: classes, Reproducibility: 0.9, Plateau: 0.7, Agreement: 0.7, Evenness: 0.9, Compression: 0.05, Modularity: 0.4, Separation: 1, Discriminability: 1, labels: true4}
		fine, worse := broad, broad
		fine.Clusters, fine.labels, fine.Compression = 40, crumbs, 0.2
		worse.Compression = 0.01
		if clear {
			fine.Plateau, fine.Agreement = 0.99, 0.99
			broad.Plateau, broad.Agreement = 0.96, 0.96
		}
		for _, with := range []bool{false, true} {
			tried := []Candidate{fine, worse, broad}
			s := &searcher{plan: plan{samples: samples}}
			if with {
				s.set.Discriminant = coordinates
			}
			made, err := s.decide(t.Context(), tried, samples/2, 2)
			want := 0
			if with {
				want = 2
			}
			if err != nil || made.best != want || made.clear != clear {
				t.Errorf("with %t: chosen %d, clear %t, %v; want %d, %t", with, made.best, made.clear, err, want, clear)
			}
			if with && (tried[0].Discriminability > 0.3 || tried[2].Discriminability < 0.9 || tried[1].Discriminability != 1) {
				t.Errorf("discriminabilities are %v, %v and %v", tried[0].Discriminability, tried[1].Discriminability, tried[2].Discriminability)
			}
		}
	}
	s := &searcher{plan: plan{samples: samples}, set: Settings{Discriminant: coordinates}}
	if _, err := s.decide(t.Context(), []Candidate{{Clusters: 2, labels: true4[1:]}, {Clusters: 2, labels: true4[1:]}}, samples/2, 1); err == nil {
		t.Error("labels of other samples are taken")
	}
}

// TestClassmates plants classes of one size: reciprocity peaks at the number of classmates.
func TestClassmates(t *testing.T) {
	for _, c := range []struct{ size, want int }{{2, 1}, {3, 2}, {4, 3}, {5, 4}, {8, 7}, {40, walked}} {
		g := scattered(c.size*120/max(1, c.size/2), c.size, 3)
		near, err := refine.Nearest(t.Context(), g, 20, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := classmates(near); got != c.want {
			t.Errorf("classes of %d: %d classmates, reciprocity %.2f", c.size, got, reciprocity(near, walked+2))
		}
	}
}

// scattered links the samples of every class strongly, and every sample with some others weakly.
func scattered(samples, size int, seed uint64) *graph.Graph {
	r := rand.New(rand.NewPCG(seed, 9))
	weights := make(map[[2]int32]float32)
	for i := range samples {
		for j := i - i%size; j < i; j++ {
			weights[[2]int32{int32(j), int32(i)}] = 0.9 + 0.1*r.Float32()
		}
		for range 12 {
			if j := r.IntN(samples); j/size != i/size {
				weights[[2]int32{int32(min(i, j)), int32(max(i, j))}] = 0.1 + 0.6*r.Float32()
			}
		}
	}
	rows := make([][]int32, samples)
	for pair := range weights {
		rows[pair[0]] = append(rows[pair[0]], pair[1])
		rows[pair[1]] = append(rows[pair[1]], pair[0])
	}
	g := &graph.Graph{Offsets: make([]int, samples+1)}
	for i, row := range rows {
		slices.Sort(row)
		for _, j := range row {
			g.Index = append(g.Index, j)
			g.Weight = append(g.Weight, weights[[2]int32{int32(min(i, int(j))), int32(max(i, int(j)))}])
		}
		g.Offsets[i+1] = len(g.Index)
	}
	return g
}

// TestSearchFindsPairs plants classes of two and three, for which no setting is needed.
func TestSearchFindsPairs(t *testing.T) {
	for _, size := range []int{2, 3} {
		g := scattered(360, size, 1)
		truth := make([]int, 360)
		for i := range truth {
			truth[i] = i / size
		}
		got := search(t, g, Settings{}, 0, 0)
		s, err := score.Compare(truth, got.Partition.Labels)
		if err != nil {
			t.Fatal(err)
		}
		if !(s.ARI > 0.85) {
			t.Errorf("classes of %d: ARI %v, %d clusters", size, s.ARI, s.Clusters)
		}
	}
}

// TestModularity has it of two triangles with an edge between them, which is known, and refuses labels that
// do not fit.
func TestModularity(t *testing.T) {
	pairs := [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}, {2, 3}}
	g, err := graph.FromRows(t.Context(), 6, func(i int) (to []int32, w []float32) {
		for j := range 6 {
			if slices.Contains(pairs, [2]int{min(i, j), max(i, j)}) {
				to, w = append(to, int32(j)), append(w, 0.5)
			}
		}
		return to, w
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		labels []int
		want   float64
	}{
		"triangles":       {[]int{0, 0, 0, 7, 7, 7}, 6./7 - 1./2},
		"one cluster":     {[]int{1, 1, 1, 1, 1, 1}, 0},
		"samples by self": {[]int{5, 4, 3, 2, 1, 0}, -(4*4. + 2*9) / (14 * 14)},
	} {
		if got, err := Modularity(g, c.labels); err != nil || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	if got, err := Modularity(&graph.Graph{Offsets: []int{0, 0, 0}}, []int{0, 1}); got != 0 || err != nil {
		t.Errorf("without edges: %v, %v", got, err)
	}
	for _, labels := range [][]int{nil, {0, 1}, {0, 0, 0, 0, 0, -1}} {
		if _, err := Modularity(g, labels); err == nil {
			t.Errorf("%v is taken", labels)
		}
	}
}

// TestChooseAlone holds that Choose finds the candidates of Search and chooses the same, and reports what it does of its steps.
func TestChooseAlone(t *testing.T) {
	for _, n := range []int{0, 1, 7, 300} {
		g := rings(n, max(1, n/10), min(n, 10), 1)
		want := search(t, g, Settings{}, 5, 2)
		var last atomic.Int32
		got, err := Choose(t.Context(), g, Settings{}, 5, 1, func(done int) { last.Store(int32(done)) })
		if err != nil {
			t.Fatal(err)
		}
		if got.Best != want.Best || got.Clear != want.Clear || len(got.Candidates) != len(want.Candidates) || len(got.Partition.Labels) != n {
			t.Fatalf("%d samples: candidate %d of %d, clear %v; want %d of %d, %v", n, got.Best, len(got.Candidates), got.Clear, want.Best, len(want.Candidates), want.Clear)
		}
		for at := range got.Candidates {
			a, b := got.Candidates[at], want.Candidates[at]
			a.labels, b.labels, a.orders, b.orders = nil, nil, nil, nil
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%d samples: candidate %d is %+v, want %+v", n, at, a, b)
			}
		}
		if int(last.Load()) > (Settings{}).Steps(n) || last.Load() == 0 {
			t.Errorf("%d samples: %d steps of %d", n, last.Load(), (Settings{}).Steps(n))
		}
	}
	if _, err := Choose(t.Context(), nil, Settings{}, 0, 1, nil); err == nil {
		t.Error("there is a choice without a graph")
	}
}

// TestClearer takes each condition away from a view that is clearer.
func TestClearer(t *testing.T) {
	all := Candidate{Plateau: 0.8, Agreement: 0.9, Compression: 0.2, Evenness: 0.9}
	own := Candidate{Plateau: 0.95, Agreement: 0.95, Compression: 0.17, Evenness: 0.6}
	if !own.Clearer(all, 0.3) || !all.Unclear() {
		t.Fatal("a clearer view is not clearer")
	}
	for name, c := range map[string]func(own, all *Candidate, rand *float64){
		"about as stable":        func(own, _ *Candidate, _ *float64) { own.Plateau = 0.9 },
		"of little compression":  func(own, _ *Candidate, _ *float64) { own.Compression = 0.15 },
		"one cluster and crumbs": func(own, _ *Candidate, _ *float64) { own.Evenness = 0.4 },
		"of other clusters":      func(_, _ *Candidate, rand *float64) { *rand = 0.2 },
		"of one distance":        func(own, _ *Candidate, _ *float64) { own.Linked = true },
		"beside a clear choice":  func(own, all *Candidate, _ *float64) { all.Plateau, own.Plateau, own.Agreement = 0.95, 1.1, 1.1 },
		"beside one distance":    func(_, all *Candidate, _ *float64) { all.Linked = true },
		"beside nothing":         func(_, all *Candidate, _ *float64) { all.Plateau = 0 },
	} {
		own, all, rand := own, all, 0.3
		if c(&own, &all, &rand); own.Clearer(all, rand) {
			t.Errorf("a view %s is clearer", name)
		}
	}
}
