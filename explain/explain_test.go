package explain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// data has samples that overlap, of which some lack a view.
func data(t testing.TB) *synth.Set {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 160, Classes: 5, Views: 3, Dims: []int{5, 7, 6}, Noise: []float64{1.2}, Missing: 0.4, Outliers: 0.02, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var cases = map[string]mvclust.Options{
	"auto":       {},
	"paper":      {Preset: mvclust.Paper},
	"asymmetric": {Preset: mvclust.Paper, Posterior: posterior.Settings{Fusion: posterior.Asymmetric}},
	"completion": {Preset: mvclust.Paper, Posterior: posterior.Settings{Completion: true}},
	"pooled":     {Preset: mvclust.Paper, Posterior: posterior.Settings{Fusion: posterior.Pooled, Completion: true}},
	"max":        {Preset: mvclust.Paper, Posterior: posterior.Settings{Fusion: posterior.Max}},
	"mean":       {Preset: mvclust.Paper, Posterior: posterior.Settings{Fusion: posterior.Mean}},
	"min":        {Preset: mvclust.Paper, Posterior: posterior.Settings{Fusion: posterior.Min}},
	"multiply":   {Preset: mvclust.Paper, Posterior: posterior.Settings{Fusion: posterior.Multiply}},
	"rounds":     {Preset: mvclust.Paper, Refinement: refine.Settings{Rounds: 2}},
	"paths":      {Preset: mvclust.Paper, Refinement: refine.Settings{WithoutCoNeighbours: true}},
	"no paths":   {Preset: mvclust.Paper, Refinement: refine.Settings{WithoutPaths: true}},
	"as it is":   {Preset: mvclust.Paper, Refinement: refine.Settings{WithoutPaths: true, WithoutCoNeighbours: true}},
	"local l2":   {Preset: mvclust.Paper, Scale: view.MinMax, Local: true, Metrics: []similarity.Metric{similarity.L2, similarity.Cosine, similarity.L1}},
}

// each calls do with a clustering by every one of cases.
func each(t *testing.T, do func(t *testing.T, opt mvclust.Options, m *mvclust.Model, x *explain.Explainer)) {
	t.Helper()
	for name, opt := range cases {
		t.Run(name, func(t *testing.T) {
			set := data(t)
			if opt.Preset == mvclust.Paper {
				opt.Neighbours = 12
			}
			m := fit(t, set.Views, opt)
			x, err := explain.New(t.Context(), m, 1)
			if err != nil {
				t.Fatal(err)
			}
			do(t, opt, m, x)
		})
	}
}

func fit(t testing.TB, views []*mvclust.View, opt mvclust.Options) *mvclust.Model {
	t.Helper()
	r, err := mvclust.Fit(t.Context(), views, opt)
	if err != nil {
		t.Fatal(err)
	}
	return mvclust.NewModel(views, r, nil)
}

// some returns random pairs of samples, half of them linked.
func some(m *mvclust.Model, n int) [][2]int {
	r := rand.New(rand.NewPCG(3, 9))
	var pairs [][2]int
	for len(pairs) < n {
		a, b := r.IntN(m.Samples()), r.IntN(m.Samples())
		if index, _ := m.Graph.Of(a); r.IntN(2) == 0 && len(index) > 0 {
			b = int(index[r.IntN(len(index))])
		}
		if a != b {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	return pairs
}

func pair(t testing.TB, x *explain.Explainer, a, b int) *explain.Pair {
	t.Helper()
	p, err := x.Pair(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The views' log-odds add up to the fused probability, and that is the one of the fit.
func TestLogOddsAddUp(t *testing.T) {
	each(t, func(t *testing.T, _ mvclust.Options, m *mvclust.Model, x *explain.Explainer) {
		spaces, err := m.Spaces(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		estimator, err := posterior.New(m.Functions, m.Settings.Posterior)
		if err != nil {
			t.Fatal(err)
		}
		incomplete, completed := 0, 0
		for _, ab := range some(m, 400) {
			p := pair(t, x, ab[0], ab[1])
			w := make([][]float32, len(spaces))
			for v, s := range spaces {
				w[v] = []float32{s.Similarity(ab[0], ab[1])}
			}
			want, err := estimator.Pairs(t.Context(), w, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if float32(p.Fused) != want[0] {
				t.Fatalf("samples %v: the fused probability is %v, and that of the fit %v", ab, p.Fused, want[0])
			}
			sum, spoken := 0.0, 0
			for v, said := range p.Views {
				has := m.Views[v].Rows.Has(ab[0]) && m.Views[v].Rows.Has(ab[1])
				switch {
				case has != (said.State == explain.Compared), has != (said.Similarity != nil), has != (len(said.Lacking) == 0):
					t.Fatalf("samples %v: view %d is %+v", ab, v, said)
				case has && float32(*said.Similarity) != w[v][0]:
					t.Fatalf("samples %v: view %d has similarity %v, and that of the fit is %v", ab, v, *said.Similarity, w[v][0])
				}
				if said.State == explain.Completed {
					completed++
				}
				if said.Probability != nil {
					spoken++
				}
				if said.LogOdds != nil {
					sum += *said.LogOdds
				}
			}
			if spoken < len(p.Views) {
				incomplete++
			}
			if !p.Fusion.Additive() {
				if p.LogOdds != nil || spoken > 0 && p.Deciding == "" {
					t.Fatalf("samples %v by %v: log-odds %v, decided by %q", ab, p.Fusion, p.LogOdds, p.Deciding)
				}
				continue
			}
			if spoken == 0 {
				if p.LogOdds != nil || p.Fused != 0 {
					t.Fatalf("samples %v: no view speaks, and yet %+v", ab, p)
				}
				continue
			}
			if *p.LogOdds != sum || math.Abs(1/(1+math.Exp(-sum))-p.Fused) > 1e-9 {
				t.Fatalf("samples %v: log-odds add up to %v, and the probability is %v", ab, sum, p.Fused)
			}
			if logit := math.Log(p.Fused / (1 - p.Fused)); math.Abs(sum) < 14 && math.Abs(sum-logit) > 1e-9 {
				t.Fatalf("samples %v: log-odds add up to %v, not %v", ab, sum, logit)
			}
		}
		if incomplete < 20 || incomplete > 380 {
			t.Errorf("%d of 400 pairs are incomplete", incomplete)
		}
		if (completed > 0) != m.Settings.Posterior.Completion {
			t.Errorf("%d views are completed", completed)
		}
	})
}

// What path and co-neighbour propagation made of a pair is what the fit has.
func TestRefinement(t *testing.T) {
	each(t, func(t *testing.T, opt mvclust.Options, m *mvclust.Model, x *explain.Explainer) {
		raised := 0
		for _, ab := range some(m, 300) {
			p := pair(t, x, ab[0], ab[1])
			weight, linked := m.Graph.Between(ab[0], ab[1])
			if linked != (p.Link != nil) || linked && float32(*p.Link) != weight {
				t.Fatalf("samples %v: the link is %v, and in the graph %v", ab, p.Link, weight)
			}
			if (p.Path == nil) != m.Settings.Refinement.WithoutPaths || (p.CoNeighbours == nil) != opt.Refinement.WithoutCoNeighbours {
				t.Fatalf("samples %v: %+v", ab, p)
			}
			if c := p.CoNeighbours; c != nil {
				if linked != (max(c.Ranks[0], c.Ranks[1]) > 0) {
					t.Fatalf("samples %v are linked: %v, and the ranks are %v", ab, linked, c.Ranks)
				}
				if linked && math.Abs(c.Probability-*p.Link) > 1e-6 {
					t.Fatalf("samples %v: the shares add up to %v, and the link is %v", ab, c.Probability, *p.Link)
				}
				if c.Ranks[0] > 0 && m.Settings.Refinement.WithoutPaths {
					if _, probability := m.Neighbourhoods.Of(ab[0]); probability[c.Ranks[0]-1] != float32(p.Fused) {
						t.Fatalf("samples %v: the neighbourhood has %v, and fused is %v", ab, probability[c.Ranks[0]-1], p.Fused)
					}
				}
			} else if p.Path == nil && linked && float32(p.Fused) != weight {
				t.Fatalf("samples %v: nothing is refined, and %v became %v", ab, p.Fused, weight)
			}
			if p.Path == nil {
				continue
			}
			way := p.Path
			switch {
			case way.Raised && (way.Via == nil || way.Product != way.Probability):
				t.Fatalf("samples %v: %+v is not the way round", ab, way)
			case !way.Raised && way.Probability != float64(float32(p.Fused)):
				t.Fatalf("samples %v: the way %+v lowers %v", ab, way, p.Fused)
			case way.Kept && p.CoNeighbours == nil && way.Probability != *p.Link:
				t.Fatalf("samples %v: %v became %v", ab, way.Probability, *p.Link)
			case way.Kept != (linked && opt.Refinement.Rounds < 2):
				t.Fatalf("samples %v are linked: %v, and the path is kept: %v", ab, linked, way.Kept)
			}
			if way.Via != nil {
				for s, step := range [][2]int{{ab[0], way.Via.Sample}, {way.Via.Sample, ab[1]}} {
					if q := pair(t, x, step[0], step[1]); float32(q.Fused) != float32(way.Steps[s]) {
						t.Fatalf("samples %v: the step %v has %v, not %v", ab, step, way.Steps[s], q.Fused)
					}
				}
			}
			if way.Kept && way.Raised {
				raised++
			}
		}
		if !m.Settings.Refinement.WithoutPaths && opt.Refinement.Rounds < 2 && raised == 0 {
			t.Error("no path raised any probability")
		}
	})
}

// The two samples of a pair may be named in either order.
func TestPairMirrored(t *testing.T) {
	each(t, func(t *testing.T, _ mvclust.Options, m *mvclust.Model, x *explain.Explainer) {
		for _, ab := range some(m, 60) {
			p, q := pair(t, x, ab[0], ab[1]), pair(t, x, ab[1], ab[0])
			q.A, q.B = q.B, q.A
			for v := range q.Views {
				slices.Reverse(q.Views[v].Lacking)
			}
			if q.Path != nil {
				slices.Reverse(q.Path.Steps[:])
			}
			if c := q.CoNeighbours; c != nil {
				slices.Reverse(c.Ranks[:])
				slices.Reverse(c.Lists[:])
				for k := range c.Common {
					slices.Reverse(c.Common[k].Probabilities[:])
				}
				// Sums of the same numbers in another order.
				c.Probability = p.CoNeighbours.Probability
				for k := range c.Common {
					if math.Abs(c.Common[k].Share-p.CoNeighbours.Common[k].Share) < 1e-12 {
						c.Common[k].Share = p.CoNeighbours.Common[k].Share
					}
				}
			}
			if q.Chain != nil {
				slices.Reverse(q.Chain.Samples)
				slices.Reverse(q.Chain.Links)
			}
			if !reflect.DeepEqual(p, q) {
				t.Fatalf("samples %v:\n%s\n%s", ab, asJSON(t, p), asJSON(t, q))
			}
		}
	})
}

func asJSON(t testing.TB, x any) []byte {
	t.Helper()
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A chain is the one whose weakest link is the strongest, and the shortest such.
func TestChain(t *testing.T) {
	each(t, func(t *testing.T, _ mvclust.Options, m *mvclust.Model, x *explain.Explainer) {
		n := m.Samples()
		for _, within := range []bool{true, false} {
			open := func(a, i int) bool { return !within || m.Labels[i] == m.Labels[a] }
			for _, ab := range some(m, 60) {
				a, b := ab[0], ab[1]
				if (m.Labels[a] == m.Labels[b]) != within {
					continue
				}
				// As wide as possible: no better way by any sample, over and over.
				wide := make([]float32, n)
				wide[a] = 2
				for changed := true; changed; {
					changed = false
					for i := range n {
						index, weight := m.Graph.Of(i)
						for e, j := range index {
							if w := min(wide[i], weight[e]); open(a, int(j)) && w > wide[j] {
								wide[j], changed = w, true
							}
						}
					}
				}
				far := map[int]int{a: 0}
				for layer := []int{a}; len(layer) > 0; {
					var next []int
					for _, i := range layer {
						index, weight := m.Graph.Of(i)
						for e, j := range index {
							if _, seen := far[int(j)]; !seen && weight[e] >= wide[b] && open(a, int(j)) {
								far[int(j)] = far[i] + 1
								next = append(next, int(j))
							}
						}
					}
					layer = next
				}
				c := pair(t, x, a, b).Chain
				if wide[b] == 0 {
					if c != nil {
						t.Fatalf("samples %v: there is a chain %+v", ab, c)
					}
					continue
				}
				if c == nil || c.Within != within || float32(c.Weakest) != wide[b] || len(c.Links) != far[b] {
					t.Fatalf("samples %v: the chain is %+v; the weakest link can be %v, over %d links", ab, c, wide[b], far[b])
				}
				if c.Samples[0].Sample != a || c.Samples[len(c.Links)].Sample != b || slices.Min(c.Links) != c.Weakest {
					t.Fatalf("samples %v: the chain is %+v", ab, c)
				}
				for k, p := range c.Links {
					w, ok := m.Graph.Between(c.Samples[k].Sample, c.Samples[k+1].Sample)
					if !ok || float64(w) != p || !open(a, c.Samples[k].Sample) {
						t.Fatalf("samples %v: the chain %+v has a link of %v", ab, c, w)
					}
				}
			}
		}
	})
}

// objective is what the partition lowers, summed over all pairs.
func objective(m *mvclust.Model, labels []int) float64 {
	set := m.Settings.Partition
	degree, all := make([]float64, len(labels)), 0.0
	for i := range labels {
		_, weight := m.Graph.Of(i)
		for _, w := range weight {
			degree[i] += float64(w)
			all += float64(w)
		}
	}
	sum := 0.0
	for i := range labels {
		for j := range i {
			if labels[i] != labels[j] {
				continue
			}
			p, linked := m.Graph.Between(i, j)
			if m.Settings.Resolution > 0 {
				sum += m.Settings.Resolution*degree[i]*degree[j]/all - float64(p)
			} else if linked {
				q := min(max(float64(p), set.Clip), 1-set.Clip)
				sum += math.Log((1 - q) / q)
			}
		}
	}
	return sum
}

// What is said of a sample adds up: gains, confidence, links and shares.
func TestSample(t *testing.T) {
	each(t, func(t *testing.T, _ mvclust.Options, m *mvclust.Model, x *explain.Explainer) {
		before := objective(m, m.Labels)
		seconds := 0
		for i := range m.Samples() {
			s, err := x.Sample(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			own := s.Places[0]
			if s.Sample != i || own.Cluster != m.Labels[i] || len(s.Links) != own.Links {
				t.Fatalf("sample %d is %+v", i, s)
			}
			if i%8 == 0 {
				for _, p := range s.Places[1:] {
					labels := slices.Clone(m.Labels)
					labels[i] = p.Cluster
					if got, want := objective(m, labels)-before, own.Gain-p.Gain; math.Abs(got-want) > 1e-9*max(1, math.Abs(before)) {
						t.Fatalf("moving sample %d to cluster %d costs %v, not %v", i, p.Cluster, got, want)
					}
				}
			}
			if s.Second >= 0 {
				seconds++
				if s.Margin != own.Gain-s.Places[1].Gain || s.Second != s.Places[1].Cluster {
					t.Fatalf("sample %d: second is %d by %v of %+v", i, s.Second, s.Margin, s.Places)
				}
			}
			c := s.Confidence
			if math.Abs(c.Linked*c.Lead-c.Value) > 1e-6 || c.Value != m.Confidence[i] {
				t.Fatalf("sample %d: the confidence is %+v", i, c)
			}
			sum := 0.0
			for k, l := range s.Links {
				p := pair(t, x, i, l.Sample)
				if *p.Link != l.Probability || p.Fused != l.Fused || !p.Together || k > 0 && l.Probability > s.Links[k-1].Probability {
					t.Fatalf("sample %d has the link %+v", i, l)
				}
				sum += l.Probability
				if i%40 > 0 && k == 3 {
					sum = own.Weight
					break
				}
			}
			if math.Abs(sum-own.Weight) > 1e-9 {
				t.Fatalf("sample %d: links add up to %v, not %v", i, sum, own.Weight)
			}
			shares := 0.0
			for v, p := range s.Views {
				shares += p.Share
				if (p.State == explain.Compared) != m.Views[v].Rows.Has(i) || p.State == explain.Missing && p.Links > 0 && !m.Settings.Posterior.Completion {
					t.Fatalf("sample %d, view %d: %+v", i, v, p)
				}
			}
			if len(s.Links) > 0 && math.Abs(shares-1) > 1e-9 {
				t.Fatalf("sample %d: the shares add up to %v", i, shares)
			}
		}
		if seconds == 0 {
			t.Error("no sample has a second cluster")
		}
	})
}

// Samples that are stored in another order, with Options.Order mapped along, are
// explained alike.
func TestPermuted(t *testing.T) {
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		set := data(t)
		n := set.Views[0].Samples
		r := rand.New(rand.NewPCG(7, 7))
		to, order := r.Perm(n), r.Perm(n)
		var views []*mvclust.View
		for _, v := range set.Views {
			w := &mvclust.View{Name: v.Name, Samples: n, Dims: v.Dims, Data: make([]float32, len(v.Data)), Present: make([]bool, n)}
			for i := range n {
				copy(w.Row(to[i]), v.Row(i))
				w.Present[to[i]] = v.Has(i)
			}
			views = append(views, w)
		}
		moved := make([]int, n)
		for i, o := range order {
			moved[i] = to[o]
		}
		m, mm := fit(t, set.Views, mvclust.Options{Preset: preset, Order: order}), fit(t, views, mvclust.Options{Preset: preset, Order: moved})
		x, err := explain.New(t.Context(), m, 1)
		if err != nil {
			t.Fatal(err)
		}
		xx, err := explain.New(t.Context(), mm, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, ab := range some(m, 80) {
			p, q := pair(t, x, ab[0], ab[1]), pair(t, xx, to[ab[0]], to[ab[1]])
			if p.Fused != q.Fused || !reflect.DeepEqual(p.Link, q.Link) || p.Together != q.Together {
				t.Fatalf("%v: samples %v:\n%s\n%s", preset, ab, asJSON(t, p), asJSON(t, q))
			}
			if (p.Chain == nil) != (q.Chain == nil) || p.Chain != nil && (p.Chain.Weakest != q.Chain.Weakest || len(p.Chain.Links) != len(q.Chain.Links)) {
				t.Fatalf("%v: samples %v: chains\n%s\n%s", preset, ab, asJSON(t, p.Chain), asJSON(t, q.Chain))
			}
			if math.Abs(p.CoNeighbours.Probability-q.CoNeighbours.Probability) > 1e-12 || p.CoNeighbours.Ranks != q.CoNeighbours.Ranks {
				t.Fatalf("%v: samples %v: co-neighbours\n%s\n%s", preset, ab, asJSON(t, p.CoNeighbours), asJSON(t, q.CoNeighbours))
			}
			s, err := x.Sample(t.Context(), ab[0])
			if err != nil {
				t.Fatal(err)
			}
			u, err := xx.Sample(t.Context(), to[ab[0]])
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(s.Margin-u.Margin) > 1e-9 || s.Size != u.Size || len(s.Links) != len(u.Links) || math.Abs(s.Confidence.Value-u.Confidence.Value) > 1e-9 {
				t.Fatalf("%v: sample %d:\n%s\n%s", preset, ab[0], asJSON(t, s), asJSON(t, u))
			}
		}
	}
}

// A model says the same once it is read from its file, but for the digits that the file
// has of a confidence.
func TestFromFile(t *testing.T) {
	m := fit(t, data(t).Views, mvclust.Options{})
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := mvclust.ReadModel(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	x, err := explain.New(t.Context(), m, 1)
	if err != nil {
		t.Fatal(err)
	}
	y, err := explain.New(t.Context(), again, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, ab := range some(m, 50) {
		if p, q := asJSON(t, pair(t, x, ab[0], ab[1])), asJSON(t, pair(t, y, ab[0], ab[1])); !bytes.Equal(p, q) {
			t.Fatalf("%s\n%s", p, q)
		}
	}
}

// The numbers of clusters may have gaps, as updates leave them.
func TestGaps(t *testing.T) {
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		m := fit(t, data(t).Views, mvclust.Options{Preset: preset})
		explained := func() *explain.Sample {
			x, err := explain.New(t.Context(), m, 1)
			if err != nil {
				t.Fatal(err)
			}
			s, err := x.Sample(t.Context(), 3)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		want := explained()
		for i := range m.Labels {
			m.Labels[i] = 7*m.Labels[i] + 500
		}
		m.Retired = m.Numbers()
		got := explained()
		if got.Cluster != 7*want.Cluster+500 || got.Size != want.Size || got.Margin != want.Margin || len(got.Places) != len(want.Places) || got.Confidence.Lead != want.Confidence.Lead {
			t.Errorf("%v: %s\n%s", preset, asJSON(t, got), asJSON(t, want))
		}
	}
}

// A view that the fit left out has another state than one that is missing.
func TestLeftOut(t *testing.T) {
	m := fit(t, data(t).Views, mvclust.Options{})
	m.Views[1].LeftOut = true
	x, err := explain.New(t.Context(), m, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if v := pair(t, x, i, i+1).Views[1]; v.State != explain.LeftOut || v.Similarity != nil || v.Probability != nil {
			t.Fatalf("the view is %+v", v)
		}
		s, err := x.Sample(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if v := s.Views[1]; v.State != explain.LeftOut || v.Links > 0 || v.Share > 0 {
			t.Fatalf("the view is %+v", v)
		}
	}
}

func TestErrors(t *testing.T) {
	set := data(t)
	m := fit(t, set.Views, mvclust.Options{})
	x, err := explain.New(t.Context(), m, 1)
	if err != nil {
		t.Fatal(err)
	}
	for want, ab := range map[string][2]int{"no sample -1": {-1, 3}, "no sample 160": {3, 160}, "with itself": {4, 4}} {
		if _, err := x.Pair(t.Context(), ab[0], ab[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", ab, err)
		}
	}
	if _, err := x.Sample(t.Context(), 160); err == nil {
		t.Error("sample 160 of 160 is explained")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Pair(ctx, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := x.Sample(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	set.Views[0].Data = nil
	if _, err := explain.New(t.Context(), m, 1); err == nil || !strings.Contains(err.Error(), "has no rows any more") {
		t.Errorf("a model without rows: %v", err)
	}
}

func BenchmarkPair(b *testing.B) {
	x, m := bench(b)
	b.ReportAllocs()
	for k := 0; b.Loop(); k++ {
		if _, err := x.Pair(b.Context(), k%m.Samples(), (k*7+1)%m.Samples()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	x, m := bench(b)
	b.ReportAllocs()
	for k := 0; b.Loop(); k++ {
		if _, err := x.Sample(b.Context(), k%m.Samples()); err != nil {
			b.Fatal(err)
		}
	}
}

func bench(b *testing.B) (*explain.Explainer, *mvclust.Model) {
	set, err := synth.Generate(synth.Config{Samples: 3000, Classes: 30, Views: 2, Dims: []int{32}, Noise: []float64{1}})
	if err != nil {
		b.Fatal(err)
	}
	m := fit(b, set.Views, mvclust.Options{})
	x, err := explain.New(b.Context(), m, 0)
	if err != nil {
		b.Fatal(err)
	}
	return x, m
}
