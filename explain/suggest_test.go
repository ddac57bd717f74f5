package explain

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/pair"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/sparse"
	"github.com/mvclust/mvclust/synth"
)

// fitted clusters made data whose classes overlap.
func fitted(t testing.TB, opt mvclust.Options, noise float64) (*mvclust.Model, []int) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 240, Classes: 6, Views: 2, Noise: []float64{noise}, Missing: 0.2, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := mvclust.Fit(t.Context(), set.Views, opt)
	if err != nil {
		t.Fatal(err)
	}
	return mvclust.NewModel(set.Views, r, nil), set.Labels
}

func suggest(ctx context.Context, m *mvclust.Model, top, threads int) (*Suggestions, error) {
	x, err := New(ctx, m, threads)
	if err != nil {
		return nil, err
	}
	return x.Suggest(ctx, top)
}

func suggested(t testing.TB, m *mvclust.Model, top, threads int) *Suggestions {
	t.Helper()
	s, err := suggest(t.Context(), m, top, threads)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var presets = map[string]mvclust.Options{"auto": {}, "paper": {Preset: mvclust.Paper}}

// What is said of merges, splits and questions is what the graph has.
func TestSuggest(t *testing.T) {
	for name, opt := range presets {
		for _, noise := range []float64{0.6, 1.3} {
			m, _ := fitted(t, opt, noise)
			const many = 100_000
			s := suggested(t, m, many, 1)
			if got := suggested(t, m, many, 3); !reflect.DeepEqual(got, s) {
				t.Fatalf("%s: the suggestions depend on the threads", name)
			}
			members := map[int][]int{}
			for i, l := range m.Labels {
				members[l] = append(members[l], i)
			}
			for k, x := range s.Merges {
				inB := members[x.B.Cluster]
				checkEvidence(t, m, &x.Evidence, x.Pull, members[x.A.Cluster], inB)
				if x.A.Size != len(members[x.A.Cluster]) || x.B.Size != len(inB) || min(x.A.Size, x.B.Size) < smallest || x.A.Central.Cluster != x.A.Cluster {
					t.Fatalf("%s: merge %+v", name, x)
				}
				if k > 0 && x.Pull > s.Merges[k-1].Pull {
					t.Fatalf("%s: merge %d pulls more than the one before", name, k)
				}
			}
			for k, x := range s.Splits {
				all := members[x.Cluster]
				rest := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(x.Members, i) })
				checkEvidence(t, m, &x.Evidence, x.Pull, rest, x.Members)
				if x.Size != len(all) || x.Halves[1].Size != len(x.Members) || x.Halves[0].Size != len(rest) || len(rest)+len(x.Members) != len(all) {
					t.Fatalf("%s: split %+v", name, x)
				}
				if len(x.Members) > len(rest) || len(x.Members) < leastHalf(len(all)) || !slices.IsSorted(x.Members) ||
					!slices.Contains(x.Members, x.Halves[1].Central.Sample) || !slices.Contains(rest, x.Halves[0].Central.Sample) {
					t.Fatalf("%s: split %+v", name, x)
				}
				if k > 0 && x.Pull < s.Splits[k-1].Pull {
					t.Fatalf("%s: split %d is less likely than the one after", name, k)
				}
			}
			asked := map[[2]int]bool{}
			for k, q := range s.Questions {
				pair := [2]int{min(q.A.Sample, q.B.Sample), max(q.A.Sample, q.B.Sample)}
				if asked[pair] {
					t.Fatalf("%s: %v are asked about twice", name, pair)
				}
				asked[pair] = true
				if q.A.Sample == q.B.Sample || q.Samples < 1 || math.Abs(q.Value-float64(q.Samples)*entropy(q.Yes)) > 1e-12 || k > 0 && q.Value > s.Questions[k-1].Value {
					t.Fatalf("%s: question %+v", name, q)
				}
				if (q.A.Cluster != q.B.Cluster) != (q.About == AboutMerge) {
					t.Fatalf("%s: question %+v", name, q)
				}
			}
			if few := suggested(t, m, 2, 1); !reflect.DeepEqual(few.Merges, s.Merges[:min(2, len(s.Merges))]) || !reflect.DeepEqual(few.Questions, s.Questions[:min(2, len(s.Questions))]) {
				t.Fatalf("%s: the first two of all are not those of two", name)
			}
			if len(s.Splits) == 0 || len(s.Questions) == 0 {
				t.Fatalf("%s: nothing is suggested: %+v", name, s)
			}
		}
	}
}

// checkEvidence adds up what is between two sides once more.
func checkEvidence(t *testing.T, m *mvclust.Model, e *Evidence, pull float64, a, b []int) {
	t.Helper()
	links, weight, all := 0, 0.0, 0.0
	mass := [2]float64{}
	for i := range m.Samples() {
		index, w := m.Graph.Of(i)
		for k, j := range index {
			all += float64(w[k])
			for side, list := range [][]int{a, b} {
				if slices.Contains(list, i) {
					mass[side] += float64(w[k])
				}
			}
			if slices.Contains(a, i) && slices.Contains(b, int(j)) {
				links++
				weight += float64(w[k])
			}
		}
	}
	if e.Links != links || math.Abs(e.Weight-weight) > 1e-9 || len(e.Strongest) != min(listed, links) {
		t.Fatalf("%+v, and there are %d links of %v", e, links, weight)
	}
	for k, l := range e.Strongest {
		if p, ok := m.Graph.Between(l.A.Sample, l.B.Sample); !ok || float64(p) != l.Probability || k > 0 && l.Probability > e.Strongest[k-1].Probability {
			t.Fatalf("the links are %+v", e.Strongest)
		}
	}
	if r := m.Settings.Resolution; r > 0 {
		expected := r * mass[0] * mass[1] / all
		if math.Abs(e.Expected-expected) > 1e-9 || math.Abs(pull-weight/(weight+expected)) > 1e-9 {
			t.Fatalf("%v expected and a pull of %v, and not %v", e.Expected, pull, expected)
		}
	} else if e.Expected != 0 {
		t.Fatalf("%v are expected without a resolution", e.Expected)
	}
	for _, v := range e.Views {
		if v.Links > asked || v.Links > links || !(v.Share >= 0 && v.Share <= 1) {
			t.Fatalf("the views are %+v", e.Views)
		}
	}
}

// TestPullIsThatOfDescribe holds that suggestions have the pulls that Describe has.
func TestPullIsThatOfDescribe(t *testing.T) {
	for name, opt := range presets {
		m, _ := fitted(t, opt, 1.3)
		clusters, err := Describe(t.Context(), m.Graph, m.Labels, m.Confidence, DescribeSettings{
			Merges: 1000, Resolution: m.Settings.Resolution, Clip: m.Settings.Partition.Clip,
		}, 1)
		if err != nil {
			t.Fatal(err)
		}
		s := suggested(t, m, 1000, 1)
		for _, x := range s.Merges {
			if !slices.Contains(clusters[x.A.Cluster].Merges, LinkedCluster{Cluster: x.B.Cluster, Pull: x.Pull}) {
				t.Errorf("%s: %d and %d pull by %v, and by Describe %v", name, x.A.Cluster, x.B.Cluster, x.Pull, clusters[x.A.Cluster].Merges)
			}
		}
	}
}

// A class that was torn is to be mended first, and two that were joined to be parted.
func TestSuggestPlanted(t *testing.T) {
	for name, opt := range presets {
		opt.Neighbours = 30
		m, classes := fitted(t, opt, 0.4)
		random := rand.New(rand.NewPCG(3, 4))
		torn := slices.Clone(classes)
		for i, c := range torn {
			if c == 4 && random.IntN(2) == 0 {
				torn[i] = 6
			}
			if c == 5 {
				torn[i] = 0
			}
		}
		m.Labels = partition.Number(torn)
		s := suggested(t, m, 3, 0)
		of := func(cluster int) int { return classes[slices.Index(m.Labels, cluster)] }
		if x := s.Merges[0]; of(x.A.Cluster) != 4 || of(x.B.Cluster) != 4 || x.Pull < 0.5 {
			t.Errorf("%s: the first merge is of classes %d and %d, by %v", name, of(x.A.Cluster), of(x.B.Cluster), x.Pull)
		}
		x := s.Splits[0]
		if c := m.Labels[slices.Index(classes, 5)]; x.Cluster != c || x.Pull > 0.5 {
			t.Fatalf("%s: the first split is of cluster %d, by %v, and not of %d", name, x.Cluster, x.Pull, c)
		}
		for _, i := range x.Members {
			if classes[i] != classes[x.Members[0]] {
				t.Errorf("%s: the halves are not the classes", name)
				break
			}
		}
		if q := s.Questions[0]; q.Samples < 10 || q.About == AboutSample {
			t.Errorf("%s: the first question is %+v", name, q)
		}
	}
}

// linked returns the graph of n samples whose pairs have the weights given.
func linked(t testing.TB, n int, weight func(i, j int) float32) *graph.Graph {
	t.Helper()
	set := &pair.Set{Partners: sparse.Rows[int32]{Offsets: []int{0}}}
	var w []float32
	for i := range n {
		for j := i + 1; j < n; j++ {
			if p := weight(i, j); p > 0 {
				set.Partners.Values = append(set.Partners.Values, int32(j))
				w = append(w, p)
			}
		}
		set.Partners.Offsets = append(set.Partners.Offsets, len(set.Partners.Values))
	}
	g, err := graph.FromPairs(t.Context(), set, w, 1)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A cluster is cut where it hangs together least, whatever the numbers of its samples.
func TestHalve(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 1))
	for run := range 40 {
		small, n := 7+random.IntN(8), 30+random.IntN(30)
		side := make([]bool, n)
		for _, i := range random.Perm(n)[:small] {
			side[i] = true
		}
		bridge := float32(run%4) * 0.02 // none in every fourth
		g := linked(t, n, func(i, j int) float32 {
			if side[i] == side[j] {
				return 0.3 + 0.6*random.Float32()
			}
			return bridge * random.Float32()
		})
		var members []int32
		degree := make([]float64, n)
		for i := range n {
			members = append(members, int32(i))
			_, weight := g.Of(i)
			for _, w := range weight {
				degree[i] += float64(w)
			}
		}
		half, err := halve(t.Context(), g, [][]int32{members}, []int{0}, degree, nil, uint64(run), 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range half {
			if (h == 1) != side[i] {
				t.Fatalf("run %d: the halves are %v, and not %v", run, half, side)
			}
		}
	}
}

// Small clusters are left whole, and samples without links do no harm.
func TestHalveSmall(t *testing.T) {
	g := linked(t, 12, func(_, _ int) float32 { return 0 })
	members := [][]int32{{0, 1, 2, 3, 4}, {5}, {6, 7, 8, 9, 10, 11}}
	half, err := halve(t.Context(), g, members, []int{0, 1, 2, 3}, make([]float64, 12), nil, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	second := 0
	for i, h := range half {
		if i < 6 && h%2 == 1 {
			t.Errorf("sample %d of a small cluster is in the half %d", i, h)
		}
		if h == 5 {
			second++
		}
	}
	if second != smallest {
		t.Errorf("the smaller half has %d samples", second)
	}
}

// One cluster and none but single samples are no trouble.
func TestSuggestExtremes(t *testing.T) {
	for name, opt := range presets {
		m, _ := fitted(t, opt, 0.6)
		for i := range m.Labels {
			m.Labels[i] = 0
		}
		if s := suggested(t, m, 0, 1); len(s.Merges) > 0 || len(s.Splits) != 1 || len(s.Questions) > 1 {
			t.Errorf("%s: of one cluster, %+v", name, s)
		}
		for i := range m.Labels {
			m.Labels[i] = i
		}
		s := suggested(t, m, 0, 1)
		if len(s.Merges) > 0 || len(s.Splits) > 0 || len(s.Questions) != DefaultTop {
			t.Errorf("%s: of single samples, %+v", name, s)
		}
		for _, q := range s.Questions {
			if q.About != AboutMerge || q.Samples != 1 {
				t.Errorf("%s: of single samples, %+v", name, q)
			}
		}
	}
}

// Clusters whose numbers have gaps, as updates leave them, are the same clusters.
func TestSuggestGaps(t *testing.T) {
	for name, opt := range presets {
		m, _ := fitted(t, opt, 1.3)
		s := suggested(t, m, 0, 1)
		number := func(c int) int { return 3*c + 1000 }
		for i := range m.Labels {
			m.Labels[i] = number(m.Labels[i])
		}
		m.Retired = m.Numbers()
		got := suggested(t, m, 0, 1)
		for k, x := range got.Merges {
			if want := s.Merges[k]; x.A.Cluster != number(want.A.Cluster) || x.B.Cluster != number(want.B.Cluster) || x.Pull != want.Pull || x.Links != want.Links {
				t.Fatalf("%s: merge %+v, not %+v", name, x, want)
			}
		}
		for k, x := range got.Splits {
			if want := s.Splits[k]; x.Cluster != number(want.Cluster) || !slices.Equal(x.Members, want.Members) || x.Halves[0].Cluster != x.Cluster {
				t.Fatalf("%s: split %+v, not %+v", name, x, want)
			}
		}
		for k, q := range got.Questions {
			if want := s.Questions[k]; q.A.ID != want.A.ID || q.B.ID != want.B.ID || q.Value != want.Value || q.A.Cluster != number(want.A.Cluster) {
				t.Fatalf("%s: question %+v, not %+v", name, q, want)
			}
		}
	}
}

func TestSuggestErrors(t *testing.T) {
	m, _ := fitted(t, mvclust.Options{}, 0.6)
	if _, err := suggest(t.Context(), m, -1, 1); err == nil || !strings.Contains(err.Error(), "top") {
		t.Errorf("the error is %v", err)
	}
	for questions := range 12 {
		ctx := lapse.After(t.Context(), questions)
		if _, err := suggest(ctx, m, 0, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d questions the error is %v", questions, err)
		}
	}
	m.Views[0].Rows.Data = nil
	if _, err := suggest(t.Context(), m, 0, 1); err == nil || !strings.Contains(err.Error(), "has no rows any more") {
		t.Errorf("the error is %v", err)
	}
}

func BenchmarkSuggest(b *testing.B) {
	set, err := synth.Generate(synth.Config{Samples: 5000, Classes: 50, Views: 2, Dims: []int{32}, Noise: []float64{1}})
	if err != nil {
		b.Fatal(err)
	}
	r, err := mvclust.Fit(b.Context(), set.Views, mvclust.Options{})
	if err != nil {
		b.Fatal(err)
	}
	m := mvclust.NewModel(set.Views, r, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := suggest(b.Context(), m, 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}
