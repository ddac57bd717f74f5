package structure

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/view"
)

// pair returns two views of n samples: x and -2x+noise in the first, x+noise in the second, in
// two groups. With missing, every third sample lacks the first, every third the second.
func pair(n int, missing bool) []*view.View {
	random := rand.New(rand.NewPCG(1, 2))
	a := &view.View{Name: "a", Samples: n, Dims: 2, Data: make([]float32, 2*n)}
	b := &view.View{Name: "b", Samples: n, Dims: 1, Data: make([]float32, n)}
	if missing {
		a.Present, b.Present = make([]bool, n), make([]bool, n)
	}
	for i := range n {
		x := 5 + 4*float64(i%2) + 0.1*random.NormFloat64()
		a.Data[2*i], a.Data[2*i+1] = float32(x), float32(-2*x+random.NormFloat64())
		b.Data[i] = float32(x + random.NormFloat64())
		if missing {
			a.Present[i], b.Present[i] = i%3 != 0, i%3 != 1
		}
	}
	return views(a, b)
}

func views(all ...*view.View) []*view.View { return all }

// moments returns the mean of column k of v, and its covariance with column l of w, over the
// samples that have both.
func moments(v, w *view.View, k, l int) (mean, covariance float64) {
	n, second := 0.0, 0.0
	for i := range v.Samples {
		if v.Has(i) && w.Has(i) {
			x, y := float64(v.Row(i)[k]), float64(w.Row(i)[l])
			n, mean, second, covariance = n+1, mean+x, second+y, covariance+x*y
		}
	}
	return mean / n, covariance/n - mean/n*second/n
}

// TestCloud holds that a cloud has the mean and the joint covariance of the views, with missing
// views too, and is normal: the groups of pair have a kurtosis near 1.
func TestCloud(t *testing.T) {
	const n = 1200
	for _, missing := range []bool{false, true} {
		vs := pair(n, missing)
		cloud, err := Cloud(t.Context(), vs, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		columns := []struct{ view, column int }{{0, 0}, {0, 1}, {1, 0}}
		for _, x := range columns {
			for _, y := range columns {
				mean, covariance := moments(vs[x.view], vs[y.view], x.column, y.column)
				m, c := moments(cloud[x.view], cloud[y.view], x.column, y.column)
				if math.Abs(m-mean) > 0.5 || math.Abs(c-covariance) > 0.15*math.Abs(covariance) {
					t.Errorf("missing %v: columns %v and %v have mean %.2f and covariance %.2f, want %.2f and %.2f", missing, x, y, m, c, mean, covariance)
				}
			}
		}
		mean, variance := moments(cloud[0], cloud[0], 0, 0)
		fourth, count := 0.0, 0.0
		for i := range n {
			if cloud[0].Has(i) != vs[0].Has(i) || cloud[1].Has(i) != vs[1].Has(i) {
				t.Fatalf("sample %d has other views", i)
			}
			if cloud[0].Has(i) {
				fourth, count = fourth+math.Pow(float64(cloud[0].Row(i)[0])-mean, 4), count+1
			}
		}
		if kurtosis := fourth / count / variance / variance; kurtosis < 2.4 || kurtosis > 3.6 {
			t.Errorf("missing %v: the kurtosis is %.2f, want 3", missing, kurtosis)
		}
		again, err := Cloud(t.Context(), vs, 3, 1)
		if err != nil || !reflect.DeepEqual(again, cloud) {
			t.Errorf("missing %v: one thread makes another cloud, %v", missing, err)
		}
	}
}

// TestCloudFew holds that samples whose views no others share still have finite values.
func TestCloudFew(t *testing.T) {
	vs := pair(9, true)
	cloud, err := Cloud(t.Context(), vs, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range cloud {
		if err := v.Validate(); err != nil {
			t.Error(err)
		}
	}
	one, err := Cloud(t.Context(), pair(1, false), 1, 0)
	if err != nil || one[1].Data[0] != pair(1, false)[1].Data[0] {
		t.Errorf("the cloud of one sample is %v, %v", one, err)
	}
}

func TestCloudErrors(t *testing.T) {
	for name, bad := range map[string][]*view.View{
		"nil":           views(nil),
		"sides":         views(&view.View{Samples: 3, Dims: 2, Data: make([]float32, 5)}),
		"other samples": views(pair(4, false)[0], pair(5, false)[1]),
	} {
		var of *view.InputError
		if _, err := Cloud(t.Context(), bad, 1, 0); !errors.As(err, &of) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Cloud(lapse.After(t.Context(), 0), pair(50, false), 1, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	if cloud, err := Cloud(t.Context(), nil, 1, 0); len(cloud) != 0 || err != nil {
		t.Errorf("of no views: %v, %v", cloud, err)
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		score    float64
		clouds   []float64
		measured bool
		want     Verdict
	}{
		{0, nil, false, None}, {0.01, []float64{0, 0}, false, None}, {0.1, []float64{0.02, 0.01}, false, Clear}, {0.1, []float64{0.01, 0.04}, false, Weak},
		{0.1, []float64{0.1, 0.09}, false, None}, {0.1, []float64{0.061}, false, None}, {0.9, []float64{0.2}, false, Clear}, {0.1, []float64{0.2}, false, None},
		{0.1, []float64{0, 0}, true, None}, {0.2, []float64{0, 0.05}, true, Weak}, {0.7, []float64{0.2}, true, Clear},
	} {
		r := Judge(c.score, c.clouds, 50, c.measured)
		if r.Verdict != c.want || r.Score != c.score || r.Samples != 50 || r.Clouds != len(c.clouds) {
			t.Errorf("%v against %v: %+v, want %v", c.score, c.clouds, r, c.want)
		}
		if said := strings.Contains(r.String(), "may mean nothing"); !strings.HasPrefix(r.String(), c.want.String()+" beyond") || said != (c.want == None) {
			t.Errorf("%v against %v: %v", c.score, c.clouds, r)
		}
	}
}

// A part of all samples that holds hardly any of each cluster does not make the clusters mean nothing.
func TestFew(t *testing.T) {
	for _, c := range []struct {
		samples, clusters int
		want              bool
	}{{1_000_000, 400, true}, {1_000_000, 300, false}, {1000, 400, false}} {
		r := Judge(0.01, []float64{0.02}, 1000, false)
		if r.Hold(c.samples, c.clusters); r.Few != c.want || strings.Contains(r.String(), "may mean nothing") == c.want {
			t.Errorf("1000 of %d samples in %d clusters: %v", c.samples, c.clusters, r)
		}
	}
}

// Plateaus of few clusters are doubted where the score is not well above that of the clouds, and of many clusters where all
// samples were compared.
func TestDoubted(t *testing.T) {
	for _, c := range []struct {
		score, cloud  float64
		samples, want int
	}{{0.5, 0.2, 900, 100}, {0.5, 0.2, 300, 300}, {0.5, 0.1, 900, 0}, {0.5, 0, 300, 0}, {0, 0, 900, 100}} {
		if got := Judge(c.score, []float64{0, c.cloud}, 300, false).Doubted(c.samples); got != c.want {
			t.Errorf("%v against %v, 300 of %d samples: up to %d clusters are doubted, want %d", c.score, c.cloud, c.samples, got, c.want)
		}
	}
	if got := (*Report)(nil).Doubted(300); got != 0 {
		t.Errorf("up to %d clusters are doubted without a comparison", got)
	}
}

// TestScore holds that the largest product counts, of candidates that may be chosen.
func TestScore(t *testing.T) {
	candidates := []selection.Candidate{
		{Clusters: 10, Evenness: 1, Plateau: 0.9, Agreement: 0.5, Compression: 0.2, Separation: 1, Score: 0.1},
		{Clusters: 100, Evenness: 0.1, Plateau: 0.5, Agreement: 0.5, Compression: 0.4, Separation: 1, Score: 0.05},
		{Clusters: 10, Evenness: 1, Plateau: 1, Agreement: 1, Compression: 0.4, Separation: 0.06, Score: 0.1}, // pieces of one cloud
		{Clusters: 10, Evenness: 1, Plateau: 1, Agreement: 1, Compression: 0.9, Separation: 1},                // such as a single cluster
		{Clusters: 10, Evenness: 1, Plateau: 0.9, Agreement: -0.5, Compression: 0.9, Separation: 1, Score: 0},
	}
	if got, want := Score(candidates, 1000), 0.45*0.2*3; math.Abs(got-want) > 1e-12 {
		t.Errorf("the score is %v, want %v", got, want)
	}
	if got, want := Score(candidates[1:], 1000), 0.25; math.Abs(got-want) > 1e-12 { // no more than all is explained
		t.Errorf("the score is %v, want %v", got, want)
	}
	if got := Score(nil, 1000); got != 0 {
		t.Errorf("the score of nothing is %v", got)
	}
}

func TestVerdicts(t *testing.T) {
	for _, v := range []Verdict{None, Weak, Clear} {
		got, err := ParseVerdict(v.String())
		if err != nil || got != v {
			t.Errorf("%v is read as %v, %v", v, got, err)
		}
	}
	if _, err := ParseVerdict("strong"); err == nil {
		t.Error("an unknown name is no error")
	}
}

func TestCompared(t *testing.T) {
	for samples, want := range map[int]int{0: 0, 3: 3, 99: 99, 200: 100, 900: 300, 3000: 1000, 1 << 40: 1000} {
		if got := Compared(samples); got != want {
			t.Errorf("%d of %d samples, want %d", got, samples, want)
		}
	}
}
