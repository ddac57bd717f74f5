package synth

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/method/view"
)

func generate(t testing.TB, cfg Config) *Set {
	t.Helper()
	s, err := Generate(cfg)
	if err != nil {
		t.Fatalf("%+v: %v", cfg, err)
	}
	return s
}

// sameRow compares bit by bit, so that NaN equals NaN.
func sameRow(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func sameSet(a, b *Set) bool {
	return slices.Equal(a.Labels, b.Labels) && slices.Equal(a.Outlier, b.Outlier) &&
		slices.EqualFunc(a.Views, b.Views, func(v, w *view.View) bool {
			return v.Name == w.Name && v.Dims == w.Dims && slices.Equal(v.Present, w.Present) && sameRow(v.Data, w.Data)
		})
}

// sizes returns how many samples have each label.
func sizes(labels []int) []int {
	n := make([]int, slices.Max(labels)+1)
	for _, c := range labels {
		n[c]++
	}
	return n
}

func TestZero(t *testing.T) {
	s := generate(t, Config{})
	if len(s.Views) != 2 || len(s.Labels) != 2000 || len(s.Outlier) != 2000 || slices.Contains(s.Outlier, true) {
		t.Fatalf("%d views, %d labels, %d outlier marks", len(s.Views), len(s.Labels), len(s.Outlier))
	}
	for i, v := range s.Views {
		if v.Name != fmt.Sprintf("view%d", i+1) || v.Samples != 2000 || v.Dims != 64 || v.Present != nil || v.Validate() != nil {
			t.Errorf("view %d is %s, %d x %d, %v", i, v.Name, v.Samples, v.Dims, v.Validate())
		}
	}
	if got := sizes(s.Labels); !slices.Equal(got, slices.Repeat([]int{100}, 20)) {
		t.Errorf("class sizes %v", got)
	}
	if slices.IsSorted(s.Labels) {
		t.Error("labels are in order")
	}
}

func TestDeterminism(t *testing.T) {
	cfg := Config{Samples: 300, Classes: 7, Views: 3, Dims: []int{5, 20, 9}, Imbalance: 1, Dependence: 0.3, Outliers: 0.1, Missing: 0.4, Seed: 5}
	want := generate(t, cfg)
	if !sameSet(generate(t, cfg), want) {
		t.Error("the same Config made another Set")
	}
	cfg.Seed++
	other := generate(t, cfg)
	if slices.Equal(other.Labels, want.Labels) || sameRow(other.Views[0].Data, want.Views[0].Data) {
		t.Error("another seed made the same")
	}
}

// TestStable holds what a seed makes fixed from one release to the next.
func TestStable(t *testing.T) {
	s := generate(t, Config{Samples: 8, Classes: 3, Dims: []int{2, 1}, Outliers: 0.25, Missing: 0.5, Seed: 9})
	if want := []int{1, 1, 2, 3, 0, 0, 2, 4}; !slices.Equal(s.Labels, want) {
		t.Errorf("labels %v, want %v", s.Labels, want)
	}
	nan := math.NaN()
	for v, want := range [][]float64{
		{
			0.91216445, -0.03279916, 1.2759603, -0.7061747, nan, nan, -1.416834, 0.5908013,
			-0.9538991, 0.25875184, -1.1953837, -0.02371223, -0.8894246, -0.63551, 1.5480126, 2.9413104,
		},
		{-2.053331, nan, -0.50315976, nan, -0.38233316, -2.0161374, nan, -2.2076924},
	} {
		for i, x := range s.Views[v].Data {
			if got := float64(x); !(math.Abs(got-want[i]) <= 1e-6 || got != got && want[i] != want[i]) {
				t.Errorf("view %d: value %d is %v, want %v", v, i, got, want[i])
			}
		}
	}
}

func TestClassSizes(t *testing.T) {
	for _, c := range []struct {
		samples, classes int
		imbalance        float64
		outliers         float64
		want             []int
	}{
		{10, 3, 0, 0, []int{4, 3, 3}},
		{10, 10, 2, 0, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{1, 1, 0, 0, []int{1}},
		{14, 3, 1, 0, []int{7, 4, 3}}, // 1 + 11/(1+1/2+1/3) x (1, 1/2, 1/3)
		{20, 4, 1000, 0, []int{17, 1, 1, 1}},
		{20, 3, 0, 0.4, []int{4, 4, 4, 1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		s := generate(t, Config{Samples: c.samples, Classes: c.classes, Imbalance: c.imbalance, Outliers: c.outliers, Dims: []int{3}})
		if got := sizes(s.Labels); !slices.Equal(got, c.want) {
			t.Errorf("%d samples, %d classes, imbalance %v, outliers %v: sizes %v, want %v", c.samples, c.classes, c.imbalance, c.outliers, got, c.want)
		}
	}
	for _, imbalance := range []float64{0, 0.5, 1, 1.7} {
		const n, classes = 20000, 50
		got := sizes(generate(t, Config{Samples: n, Classes: classes, Imbalance: imbalance, Dims: []int{1}}).Labels)
		sum := 0.0
		for c := range classes {
			sum += math.Pow(float64(c+1), -imbalance)
		}
		total := 0
		for c, size := range got {
			total += size
			if want := 1 + (n-classes)*math.Pow(float64(c+1), -imbalance)/sum; math.Abs(float64(size)-want) > 1 {
				t.Errorf("imbalance %v: class %d has %d samples, want %.1f", imbalance, c, size, want)
			}
			if c > 0 && size > got[c-1] {
				t.Errorf("imbalance %v: class %d is larger than the one before it", imbalance, c)
			}
		}
		if total != n || len(got) != classes {
			t.Errorf("imbalance %v: %d samples in %d classes", imbalance, total, len(got))
		}
	}
}

func TestOutliers(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  int
	}{{0, 0}, {0.1, 50}, {0.0009, 0}, {0.0011, 1}, {0.99, 495}} {
		s := generate(t, Config{Samples: 500, Classes: 5, Outliers: c.share, Dims: []int{2}})
		next := 5
		for i, label := range s.Labels {
			if s.Outlier[i] != (label >= 5) {
				t.Fatalf("share %v: sample %d of class %d has outlier mark %v", c.share, i, label, s.Outlier[i])
			}
			if s.Outlier[i] {
				if label != next {
					t.Fatalf("share %v: outlier in row %d has class %d, want %d", c.share, i, label, next)
				}
				next++
			}
		}
		if next-5 != c.want {
			t.Errorf("share %v: %d outliers, want %d", c.share, next-5, c.want)
		}
	}
}

// TestMissing counts the missing rows, and looks that no others have changed.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		views int
		share float64
		want  int
	}{{2, 0.5, 500}, {3, 0.3, 300}, {2, 0.0004, 0}, {5, 0.9999, 1000}, {2, 0.1234, 123}} {
		cfg := Config{Samples: 1000, Views: c.views, Dims: []int{4}, Outliers: 0.1}
		whole := generate(t, cfg)
		cfg.Missing = c.share
		s := generate(t, cfg)
		if !slices.Equal(s.Labels, whole.Labels) {
			t.Errorf("%+v: labels differ from those of the whole data", c)
		}
		lacking := 0
		for i := range s.Labels {
			absent := 0
			for k, v := range s.Views {
				if v.Has(i) {
					if !sameRow(v.Row(i), whole.Views[k].Row(i)) {
						t.Fatalf("%+v: row %d of view %d differs from that of the whole data", c, i, k)
					}
					continue
				}
				absent++
				for _, x := range v.Row(i) {
					if x == x {
						t.Fatalf("%+v: missing row %d of view %d holds %v", c, i, k, x)
					}
				}
			}
			if absent > 1 {
				t.Fatalf("%+v: sample %d lacks %d views", c, i, absent)
			}
			lacking += absent
		}
		if lacking != c.want {
			t.Errorf("%+v: %d samples lack a view", c, lacking)
		}
		for k, v := range s.Views {
			// Binomial with p = 1/views: within five standard deviations.
			mean := float64(c.want) / float64(c.views)
			if got := float64(v.Samples - v.Count()); math.Abs(got-mean) > 5*math.Sqrt(mean) {
				t.Errorf("%+v: view %d lacks %v samples, want about %v", c, k, got, mean)
			}
			if again, err := view.New(v.Name, v.Samples, v.Dims, v.Data); err != nil || !slices.Equal(again.Present, v.Present) {
				t.Errorf("%+v: view %d read back lacks other samples: %v", c, k, err)
			}
		}
	}
}

// TestFurtherViews: the views there are do not depend on those that follow.
func TestFurtherViews(t *testing.T) {
	cfg := Config{Samples: 100, Classes: 4, Views: 2, Dims: []int{3, 8}, Noise: []float64{1, 2}, Dependence: 0.5, Outliers: 0.1}
	two := generate(t, cfg)
	cfg.Views, cfg.Dims, cfg.Noise = 3, []int{3, 8, 5}, []float64{1, 2, 0.5}
	three := generate(t, cfg)
	for v := range two.Views {
		if !reflect.DeepEqual(two.Views[v], three.Views[v]) {
			t.Errorf("view %d has changed", v)
		}
	}
}

// deviations returns the rows of v less the mean of their class, and the mean
// squares of these and of the class means less their own mean.
func deviations(v *view.View, labels []int) (dev [][]float64, within, between float64) {
	n := sizes(labels)
	means := make([][]float64, len(n))
	for c := range means {
		means[c] = make([]float64, v.Dims)
	}
	for i, c := range labels {
		for d, x := range v.Row(i) {
			means[c][d] += float64(x) / float64(n[c])
		}
	}
	for i, c := range labels {
		row := make([]float64, v.Dims)
		for d, x := range v.Row(i) {
			row[d] = float64(x) - means[c][d]
			within += row[d] * row[d]
		}
		dev = append(dev, row)
	}
	for d := range v.Dims {
		var sum, squares float64
		for _, m := range means {
			sum += m[d]
			squares += m[d] * m[d]
		}
		between += squares - sum*sum/float64(len(means))
	}
	return dev, within / float64(len(labels)-len(n)), between / float64(len(n)-1)
}

// TestNoise measures the ratio that Noise promises, of each view.
func TestNoise(t *testing.T) {
	noise := []float64{0.2, 0.7, 1.2, 3}
	s := generate(t, Config{Samples: 40000, Classes: 400, Views: 4, Dims: []int{30}, Noise: noise, Dependence: 0.3})
	for i, v := range s.Views {
		_, within, between := deviations(v, s.Labels)
		between -= within / 100 // the part of it that the means of 100 samples err by
		if got := math.Sqrt(within / between); math.Abs(got/noise[i]-1) > 0.05 {
			t.Errorf("noise %v: measured %.3f", noise[i], got)
		}
		if math.Abs(between/30-1) > 0.4 {
			t.Errorf("noise %v: variance between centres %.3f per column, want about 1", noise[i], between/30)
		}
	}
	quiet := generate(t, Config{Samples: 40, Classes: 4, Noise: []float64{0}})
	if _, within, _ := deviations(quiet.Views[0], quiet.Labels); within > 1e-10 {
		t.Errorf("noise 0: variance %v within the classes", within)
	}
}

// TestDependence measures the covariance of two views' deviations. All of its
// entries are proportional to Dependence, so that relative to those of views
// that depend entirely their inner product is Dependence itself.
func TestDependence(t *testing.T) {
	covariance := func(dependence float64) []float64 {
		s := generate(t, Config{Samples: 20000, Classes: 4, Dims: []int{12, 9}, Dependence: dependence})
		a, _, _ := deviations(s.Views[0], s.Labels)
		b, _, _ := deviations(s.Views[1], s.Labels)
		c := make([]float64, 12*9)
		for i := range a {
			for k, x := range a[i] {
				for l, y := range b[i] {
					c[k*9+l] += x * y
				}
			}
		}
		return c
	}
	full := covariance(1)
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	for _, dependence := range []float64{0, 0.1, 0.3, 0.5, 0.8, 1} {
		if got := dot(covariance(dependence), full) / dot(full, full); math.Abs(got-dependence) > 0.03 {
			t.Errorf("dependence %v: measured %.3f", dependence, got)
		}
	}
}

// TestFlat looks that classes are no balls, and differ in shape: the deviations
// of a class spread most along axes of its own.
func TestFlat(t *testing.T) {
	s := generate(t, Config{Samples: 20000, Classes: 2, Views: 1, Dims: []int{20}})
	dev, _, _ := deviations(s.Views[0], s.Labels)
	var cov [2][400]float64
	for i, row := range dev {
		for k, x := range row {
			for l, y := range row {
				cov[s.Labels[i]][k*20+l] += x * y / 10000
			}
		}
	}
	var ab, aa, bb float64
	for k := range cov[0] {
		ab += cov[0][k] * cov[1][k]
		aa += cov[0][k] * cov[0][k]
		bb += cov[1][k] * cov[1][k]
	}
	if cosine := ab / math.Sqrt(aa*bb); cosine > 0.9 {
		t.Errorf("the covariances of two classes have cosine %.3f: no shape of their own", cosine)
	}
}

// neighbours returns the share of samples whose nearest neighbour, by the sum
// of the cosines in the views, is of their class.
func neighbours(s *Set, views ...*view.View) float64 {
	units := make([][]float32, len(s.Labels))
	for i := range units {
		for _, v := range views {
			var square float64
			for _, x := range v.Row(i) {
				square += float64(x) * float64(x)
			}
			for _, x := range v.Row(i) {
				units[i] = append(units[i], x/float32(math.Sqrt(square)))
			}
		}
	}
	best, nearest := make([]float32, len(units)), make([]int, len(units))
	for i := range units {
		best[i] = float32(math.Inf(-1))
		for j := range i {
			var dot float32
			for k, x := range units[i] {
				dot += x * units[j][k]
			}
			if dot > best[i] {
				best[i], nearest[i] = dot, j
			}
			if dot > best[j] {
				best[j], nearest[j] = dot, i
			}
		}
	}
	right := 0
	for i, j := range nearest {
		if s.Labels[i] == s.Labels[j] {
			right++
		}
	}
	return float64(right) / float64(len(nearest))
}

// TestDifficulty holds the zero Config to what the comment on Noise says, and
// looks that noise and dependence make it harder.
func TestDifficulty(t *testing.T) {
	s := generate(t, Config{})
	one, two, both := neighbours(s, s.Views[0]), neighbours(s, s.Views[1]), neighbours(s, s.Views...)
	if one < 0.78 || one > 0.9 || two < 0.78 || two > 0.9 || both < max(one, two)+0.05 {
		t.Errorf("nearest neighbours right: %.3f and %.3f, both views %.3f", one, two, both)
	}
	last := 1.1
	for _, noise := range []float64{0.6, 0.9, 1.2, 1.8} {
		s := generate(t, Config{Samples: 1000, Noise: []float64{noise}})
		if got := neighbours(s, s.Views...); got >= last {
			t.Errorf("noise %v: %.3f right, and %.3f with less", noise, got, last)
		} else {
			last = got
		}
	}
	s = generate(t, Config{Dependence: 1})
	if got := neighbours(s, s.Views...); got > both-0.05 {
		t.Errorf("dependent views: %.3f right, independent ones %.3f", got, both)
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Samples: -1}, "Samples is -1"},
		{Config{Samples: 10, Classes: 11}, "Classes is 11 for 10 samples"},
		{Config{Samples: 10, Classes: 6, Outliers: 0.5}, "Classes is 6 for 5 samples"},
		{Config{Samples: 10}, "Classes is 20 for 10 samples"},
		{Config{Classes: -2}, "Classes is -2"},
		{Config{Classes: math.MaxInt}, "Classes is"},
		{Config{Views: -1}, "Views is -1"},
		{Config{Views: 1001}, "Views is 1001"},
		{Config{Views: math.MaxInt}, "Views is"},
		{Config{Dims: []int{1, 2, 3}}, "Dims has 3 values for 2 views"},
		{Config{Dims: []int{3, 0}}, "Dims[1] is 0"},
		{Config{Dims: []int{-5}}, "Dims[0] is -5"},
		{Config{Dims: []int{math.MaxInt}}, "Dims[0] is"},
		{Config{Samples: math.MaxInt}, "Dims[0] is 64, which brings"},
		{Config{Views: 3, Dims: []int{1, 1, maxValues / 2000}}, "Dims[2] is"},
		{Config{Imbalance: -0.1}, "Imbalance is -0.1"},
		{Config{Imbalance: nan}, "Imbalance is NaN"},
		{Config{Imbalance: inf}, "Imbalance is +Inf"},
		{Config{Noise: []float64{1, 1, 1}}, "Noise has 3 values for 2 views"},
		{Config{Noise: []float64{1, -1}}, "Noise[1] is -1"},
		{Config{Noise: []float64{nan}}, "Noise[0] is NaN"},
		{Config{Noise: []float64{1001}}, "Noise[0] is 1001"},
		{Config{Dependence: -0.5}, "Dependence is -0.5"},
		{Config{Dependence: 1.5}, "Dependence is 1.5"},
		{Config{Dependence: nan}, "Dependence is NaN"},
		{Config{Outliers: -0.5}, "Outliers is -0.5"},
		{Config{Outliers: 1}, "Outliers is 1"},
		{Config{Outliers: nan}, "Outliers is NaN"},
		{Config{Missing: -0.5}, "Missing is -0.5"},
		{Config{Missing: 1}, "Missing is 1"},
		{Config{Missing: nan}, "Missing is NaN"},
		{Config{Views: 1, Missing: 0.5}, "Missing is 0.5 with a single view"},
	} {
		s, err := Generate(c.cfg)
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want an error with %q", c.cfg, err, c.want)
		}
	}
}

func ExampleGenerate() {
	s, err := Generate(Config{
		Samples: 1000, Classes: 5, Views: 3, Dims: []int{10, 20, 30},
		Outliers: 0.01, Missing: 0.2, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	absent := 0
	for _, v := range s.Views {
		fmt.Println(v.Name, v.Samples, "x", v.Dims)
		absent += v.Samples - v.Count()
	}
	outliers := 0
	for _, o := range s.Outlier {
		if o {
			outliers++
		}
	}
	fmt.Println(absent, "missing rows,", outliers, "outliers")
	// Output:
	// view1 1000 x 10
	// view2 1000 x 20
	// view3 1000 x 30
	// 200 missing rows, 10 outliers
}

func BenchmarkGenerate(b *testing.B) {
	cfg := Config{Samples: 10000, Classes: 100, Dims: []int{128}}
	b.ReportAllocs()
	b.SetBytes(int64(cfg.Samples) * 2 * 128 * 4)
	for b.Loop() {
		if _, err := Generate(cfg); err != nil {
			b.Fatal(err)
		}
	}
}
