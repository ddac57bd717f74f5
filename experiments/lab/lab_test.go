package lab

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/score"
)

func TestSetup(t *testing.T) {
	base := Setup{File: "a.npz", Views: []int{2, 0}, Settings: []string{"neighbors=7", "lambda=20"}}
	s := base.With("metric=l1", "lambda=5")
	if want := []string{"neighbors=7", "lambda=5", "metric=l1"}; !slices.Equal(s.Settings, want) {
		t.Errorf("%q, want %q", s.Settings, want)
	}
	if want := []string{"neighbors=7", "lambda=20"}; !slices.Equal(base.Settings, want) {
		t.Errorf("With changed the setup to %q", base.Settings)
	}
	if got, want := strings.Join(s.Arguments(), " "), "--views 2,0 --preset paper --neighbors 7 --param lambda=5 --metric l1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (Setup{File: "a.npz", Method: Default}).Arguments(); len(got) > 0 {
		t.Errorf("the default mode has the arguments %q", got)
	}
	if got, want := s.Lacking(0.25, 0.5).Lacks(), "25% lack view 2, 50% lack view 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := (Setup{Missing: []float64{0, 0.5}}).Lacks(), "50% lack view 1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	other := Setup{File: "a.npz", Views: []int{2, 0}, Settings: []string{"lambda=5", "metric=l1", "neighbors=7"}}
	if s.Key() != other.Key() {
		t.Error("the order of settings matters")
	}
	spare, noisy, made, indexed := s.Lacking(0.5, 0), s, Setup{Synth: &Synth{9, 1, 1}}, s
	spare.Spare, noisy.Noise, indexed.Index = true, 1, "i"
	keys := map[string]bool{s.Key(): true}
	for _, different := range []Setup{
		base, s.By(Oracle), s.Lacking(0.5, 0), s.Lacking(0, 0.5), {File: "a.npz", Settings: s.Settings},
		{File: "a.npz", Views: []int{0, 2}, Settings: s.Settings}, {File: "b.npz", Views: s.Views, Settings: s.Settings}, spare, noisy, made, indexed,
	} {
		if keys[different.Key()] {
			t.Errorf("%+v has the key of another", different)
		}
		keys[different.Key()] = true
	}
}

func TestOptions(t *testing.T) {
	opt, err := Setup{Settings: []string{"neighbors=7", "metric=l2", "lambda=5"}}.Options(3)
	if err != nil || opt.Preset != mvclust.Paper || opt.Neighbours != 7 || fmt.Sprint(opt.Metrics) != "[l2]" || opt.Learning.Lambda != 5 || opt.Seed != 3 {
		t.Errorf("%+v, %v", opt, err)
	}
	if opt, err := (Setup{Method: Default}).Options(1); err != nil || opt.Preset != mvclust.Auto || opt.Seed != 1 {
		t.Errorf("%+v, %v", opt, err)
	}
	for _, word := range []string{"neighbors=x", "neighbors", "metric=l9", "lambda=x", "lamda=1", ""} {
		if _, err := (Setup{Settings: []string{word}}).Options(0); err == nil {
			t.Errorf("%q is accepted", word)
		}
	}
}

// record is a sound one.
func record() *Record {
	return &Record{
		Setup: Setup{File: "a.npz", Views: []int{1}, Settings: []string{"lambda=1"}}, Seed: 1, Version: "1", Seconds: []float64{2, 1, 3},
		Scores: &score.Scores{Samples: 3, Clusters: 1, NMI: 0.25, ARI: 0.5}, Values: map[string][]float64{"n": {5, 6, 7}},
		Detail: &Detail{Epochs: []float64{1}, Losses: []float64{2}},
	}
}

// What was saved is read; what was not is refused.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "records.json")
	s, err := OpenStore(path, false)
	if err != nil {
		t.Fatal(err)
	}
	s.Add(record())
	other := &Record{Setup: Setup{Synth: &Synth{9, 2, 3}}, Reason: "no luck"}
	s.Add(other)
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	read, err := OpenStore(path, false)
	if err != nil || len(read.records) != 2 || fmt.Sprint(read.records[record().key()].Values) != "map[n:[5 6 7]]" || read.records[other.key()].Reason != "no luck" {
		t.Fatalf("%+v, %v", read, err)
	}
	if fresh, err := OpenStore(path, true); err != nil || len(fresh.records) > 0 {
		t.Errorf("%+v, %v", fresh, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	if lines := strings.Count(good, "\n"); lines != 4 {
		t.Errorf("%d lines:\n%s", lines, good)
	}
	for name, bad := range map[string]string{
		"cut":             good[:len(good)/2],
		"trailing":        good + "x",
		"another format":  strings.Replace(good, format, "other 1", 1),
		"foreign":         `{"name": "package"}`,
		"null":            `{"format": "` + format + `", "records": [null]}`,
		"no time":         strings.ReplaceAll(good, `"seconds":[2,1,3],`, ""),
		"a negative time": strings.ReplaceAll(good, `"seconds":[2`, `"seconds":[-2`),
		"two sets":        strings.ReplaceAll(good, `"setup":{"synth"`, `"setup":{"file":"b","synth"`),
		"too good":        strings.ReplaceAll(good, `"nmi":`, `"nmi":7`),
		"other type":      strings.ReplaceAll(good, `"seed":1`, `"seed":"1"`),
		"unequal losses":  strings.ReplaceAll(good, `"losses":[2]`, `"losses":[]`),
		"no functions":    strings.ReplaceAll(good, `"losses":[2]`, `"losses":[2],"functions":[{"similarity":[1]}]`),
	} {
		if bad == good {
			t.Fatalf("%s changes nothing", name)
		}
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if s, err := OpenStore(path, false); err == nil || !strings.Contains(err.Error(), "--fresh") {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// Whatever is in the file, there is an error or records that can be written and read.
func FuzzStore(f *testing.F) {
	f.Add([]byte(`{"format": "` + format + `", "records": []}`))
	f.Add([]byte(`{"format": "` + format + `", "records": [{"setup": {"file": "a.npz", "views": [1]}, "seed": 1, "seconds": [2],
		"scores": {"samples": 3, "clusters": 1, "ari": 0.5}, "detail": {"epochs": [1], "losses": [2], "functions": [{"similarity": [1], "probability": [2]}]}}]}`))
	path := filepath.Join(f.TempDir(), "records.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(path, false)
		if err != nil {
			return
		}
		for _, r := range s.records {
			_ = Records{r}.Of(ARI)
			_, _ = r.Median(), r.Value("n")
		}
		if err := s.save(); err != nil {
			t.Fatal(err)
		}
		again, err := OpenStore(path, false)
		if err != nil || len(again.records) != len(s.records) {
			t.Fatalf("%s\n%v", text, err)
		}
	})
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		times        []float64
		best, median float64
	}{{nil, 0, 0}, {[]float64{2}, 2, 2}, {[]float64{3, 1}, 1, 1}, {[]float64{5, 1, 3}, 1, 3}, {[]float64{4, 1, 3, 2}, 1, 2}} {
		r := &Record{Seconds: slices.Clone(c.times)}
		if r.Best() != c.best || r.Median() != c.median || !slices.Equal(r.Seconds, c.times) {
			t.Errorf("%v: best %v and median %v, want %v and %v", c.times, r.Best(), r.Median(), c.best, c.median)
		}
	}
	if r := record(); r.Value("n") != 5 || r.Value("m") != 0 || (*Record)(nil).Median() != 0 {
		t.Error("a value is not that of the run in the middle")
	}
}

func TestNumber(t *testing.T) {
	var list Records
	for _, x := range []float64{1, 2, 6} {
		list = append(list, &Record{Seconds: []float64{x}})
	}
	n := list.Of(Seconds)
	if math.Abs(n.Mean-3) > 1e-12 || math.Abs(n.Deviation-math.Sqrt(7)) > 1e-12 || n.Write(1) != "3.0 ± 2.6" {
		t.Errorf("%+v, want 3 ± the root of 7", n)
	}
	if n := list[2:].Of(Seconds); n != (Number{6, 0, 1}) || n.Write(0) != "6" {
		t.Errorf("%+v, want 6", n)
	}
	s := score.Scores{PairwisePrecision: 0.01, PairwiseRecall: 0.02, PairwiseF: 0.03, BCubedPrecision: 0.04, BCubedRecall: 0.05, BCubedF: 0.06, NMI: 0.07, ARI: 0.08, Clusters: 9}
	for i, m := range []Metric{PairwisePrecision, PairwiseRecall, PairwiseF, BCubedPrecision, BCubedRecall, BCubedF, NMI, ARI, Clusters} {
		if got := m.Of(&Record{Scores: &s}); math.Abs(got-float64(i+1)) > 1e-9 || m.IsScore() != (m != Clusters) || m.Of(&Record{}) != 0 {
			t.Errorf("%s: %v", m, got)
		}
	}
}

func noise(t *testing.T, samples int, seed uint64) *mvclust.View {
	t.Helper()
	v, err := noiseView(samples, 100, seed)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The shares are exact, no sample loses two views, the seed decides which do, and the views
// themselves stay whole.
func TestMask(t *testing.T) {
	views := []*mvclust.View{noise(t, 101, 0), noise(t, 101, 1), noise(t, 101, 2)}
	lost := func(seed uint64, missing ...float64) (of []int, count [3]int) {
		masked, err := mask(views, missing, seed)
		if err != nil {
			t.Fatal(err)
		}
		of = make([]int, 101)
		for i := range of {
			of[i] = -1
			for m, v := range masked {
				if !v.Has(i) {
					if of[i] >= 0 {
						t.Errorf("sample %d lacks the views %d and %d", i, of[i], m)
					}
					of[i] = m
					count[m]++
				}
			}
		}
		if got := incomplete(masked); got != count[0]+count[1]+count[2] {
			t.Errorf("%d are incomplete", got)
		}
		return of, count
	}
	first, count := lost(0, 0.25, 0, 0.25)
	if count != [3]int{25, 0, 26} {
		t.Errorf("the views lose %v", count)
	}
	if _, count := lost(0, 0, 0.5, 0.5); count != [3]int{0, 51, 50} {
		t.Errorf("the views lose %v", count)
	}
	again, _ := lost(0, 0.25, 0, 0.25)
	other, _ := lost(1, 0.25, 0, 0.25)
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Error("the seed does not decide the draw")
	}
	for _, v := range views {
		if v.Count() != 101 {
			t.Error("a view was changed")
		}
	}
}

// A sample whose other view is nothing but zeros keeps the one that it has; another loses it.
func TestSpare(t *testing.T) {
	full, part := noise(t, 40, 0), noise(t, 40, 1)
	clear(part.Data[:20*part.Dims])
	d := &Data{views: []*mvclust.View{full, part}}
	s := Setup{Missing: []float64{0.5, 0.5}}
	plain, err := d.prepare(s, 3)
	if err != nil {
		t.Fatal(err)
	}
	s.Spare = true
	masked, err := d.prepare(s, 3)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i := range 40 {
		if i < 20 && !plain[0].Has(i) {
			kept++
			if !masked[0].Has(i) {
				t.Errorf("sample %d is left with nothing but zeros", i)
			}
		} else if masked[0].Has(i) != plain[0].Has(i) || masked[1].Has(i) != plain[1].Has(i) {
			t.Errorf("sample %d has other views than it should", i)
		}
	}
	if kept == 0 {
		t.Error("no sample is such that it matters")
	}
}

// The noise is a further view of standard normal values, which the seed decides.
func TestNoise(t *testing.T) {
	views := make([]*mvclust.View, 1, 4)
	views[0] = noise(t, 300, 5)
	with, err := (&Data{views: views}).prepare(Setup{Noise: 100}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(with) != 2 || with[0] != views[0] || views[:2][1] != nil {
		t.Fatal("the noise is not added to the views, or to those of the caller")
	}
	v := with[1]
	sum, square := 0.0, 0.0
	for _, x := range v.Data {
		sum, square = sum+float64(x), square+float64(x)*float64(x)
	}
	n := float64(len(v.Data))
	if v.Samples != 300 || v.Dims != 100 || math.Abs(sum/n) > 0.03 || math.Abs(square/n-1) > 0.04 {
		t.Errorf("%d x %d values of mean %v and mean square %v", v.Samples, v.Dims, sum/n, square/n)
	}
	if !slices.Equal(v.Data, noise(t, 300, 0).Data) || slices.Equal(v.Data, noise(t, 300, 1).Data) {
		t.Error("the seed does not decide the noise")
	}
}

// A context ends when processors have worked for long enough, or when its parent does.
func TestBounded(t *testing.T) {
	ctx, cancel := Bounded(t.Context(), time.Millisecond)
	defer cancel()
	for ctx.Err() == nil { // work
	}
	if err := context.Cause(ctx); !errors.Is(err, ErrLasts) {
		t.Errorf("the cause is %v", err)
	}
	parent, stop := context.WithCancel(t.Context())
	ctx, cancel = Bounded(parent, time.Hour)
	defer cancel()
	stop()
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is %v", err)
	}
}

// A run is repeated for its time alone; what it fails with is what the method says.
func TestClustering(t *testing.T) {
	v := noise(t, 8, 0)
	task := &Task{Record: &Record{}, Data: &Data{views: []*mvclust.View{v}, labels: []int{0, 0, 0, 1, 1, 1, 2, 2}}}
	held := make([][]byte, 1)
	found := []int{0, 0, 0, 1, 1, 1, 2, 2}
	run := Clustering(func(context.Context, *Task, []*mvclust.View) ([]int, error) {
		held[0] = make([]byte, 8<<20)
		return found, nil
	})
	for range 2 {
		if err := run(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		found = make([]int, 8)
	}
	if task.Scores.ARI != 1 || task.Large != 2 || len(task.Seconds) != 2 || task.Peak < 8<<20 || len(task.Values["processor"]) != 2 {
		t.Errorf("%+v", task.Record)
	}
	failure := errors.New("no luck")
	run = Clustering(func(context.Context, *Task, []*mvclust.View) ([]int, error) { return nil, failure })
	if err := run(t.Context(), task); !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
}

func TestProcess(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	p, err := RunProcess(t.Context(), exec.Command("sh", "-c", "echo out"))
	if err != nil || string(p.Out) != "out\n" || p.Seconds <= 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := RunProcess(t.Context(), exec.Command("sh", "-c", "echo first >&2; echo last >&2; exit 3")); err == nil || err.Error() != "last" {
		t.Errorf("the error is %v", err)
	}
	l := &Lab{Program: filepath.Join(t.TempDir(), "none")}
	if _, err := l.Mvclust(t.Context(), "fit"); err == nil || !strings.HasPrefix(err.Error(), "fit: ") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Mvclust(ctx, "fit"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestField(t *testing.T) {
	const text = "processor\t: 0\nmodel name\t: A: fast one\nmodel name\t: other\nempty :\n"
	for name, want := range map[string]string{"model name": "A: fast one", "processor": "0", "empty": "", "none": ""} {
		if got := field(text, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSpaced(t *testing.T) {
	if got := spaced(3); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("%v", got)
	}
	got := spaced(1001)
	if len(got) != points || got[0] != 0 || got[points-1] != 1000 || !slices.IsSorted(got) {
		t.Errorf("%v", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Digits(0), "0.00"}, {Digits(9.994), "9.99"}, {Digits(9.996), "10.0"}, {Digits(99.94), "99.9"}, {Digits(99.96), "100"}, {Digits(1234.5), "1234"},
		{Whole(0), "0"}, {Whole(999), "999"}, {Whole(1000), "1,000"}, {Whole(1234567), "1,234,567"},
		{Bytes(5 << 20), "5 MiB"}, {Bytes(3 << 29), "1.5 GiB"}, {Count(1, "seed"), "1 seed"}, {Count(2, "seed"), "2 seeds"},
		{Signed(0), "0.0"}, {Signed(0.04), "0.0"}, {Signed(-0.04), "0.0"}, {Signed(0.06), "+0.1"}, {Signed(-1.25), "−1.3"}, {Signed(12), "+12.0"},
		{Numbers([]int{2, 0}), "2, 0"}, {fmt.Sprint(Round(1.234567)), "1.2346"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	got := Table([][]string{{"a", "b", "c"}, {Text("x|<y>\n_z_"), "2", "3"}}, 1)
	if want := "| a | b | c |\n|---|---:|---:|\n| x\\|\\<y> \\_z\\_ | 2 | 3 |\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var r Reasons
	if got := r.List("None:", false); got != "" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"a", "b", "a"} {
		r.Add("why", name)
	}
	r.Add("other", "c")
	if got, want := r.List("Not:", false), "Not:\n\n- a; b: why\n- c: other\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := r.List("Not:", true), "Not:\n\n- 2 cells: why\n- 1 cell: other\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAims(t *testing.T) {
	for _, c := range []struct {
		aim  Aim
		want string
	}{
		{Aim{Bound: 0.97, AtLeast: true, Measured: 0.97}, "yes"}, {Aim{Bound: 0.97, AtLeast: true, Measured: 0.96}, "no"},
		{Aim{Bound: 2, Measured: 2}, "yes"}, {Aim{Bound: 2, Measured: 2.1}, "no"}, {Aim{Bound: 2, Measured: math.NaN()}, "not measured"},
	} {
		if got := c.aim.Reached(); got != c.want {
			t.Errorf("%+v: %s", c.aim, got)
		}
	}
	write := Decimals(1)
	got := AimTable([]Aim{{What: "x", Bound: 1, Goal: 2, AtLeast: true, Measured: 3, Where: "s", Write: write}, {What: "y", Bound: 1, Measured: math.NaN(), Write: write}})
	want := "| figure | of | bound | hoped for | measured | reached |\n|---|---|---:|---:|---:|---:|\n| x | s | ≥ 1.0 | 2.0 | 3.0 | yes |\n| y |  | ≤ 1.0 |  | – | not measured |\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	got = AimTable([]Aim{{What: "y", Bound: 1, Measured: 0, Write: write}})
	if want := "| figure | bound | measured | reached |\n|---|---:|---:|---:|\n| y | ≤ 1.0 | 0.0 | yes |\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A section takes the place of the one before, and leaves the others alone.
func TestWriteSection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "page.md")
	write := func(name, text, want string) {
		t.Helper()
		if err := WriteSection(path, name, text, false); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	}
	const a, b = "<!-- experiments a: begin -->\n%s\n<!-- experiments a: end -->\n", "<!-- experiments b: begin -->\n%s\n<!-- experiments b: end -->\n"
	write("a", "\none\n\n", fmt.Sprintf(a, "one"))
	write("b", "two", fmt.Sprintf(a, "one")+"\n"+fmt.Sprintf(b, "two"))
	write("a", "three\n", fmt.Sprintf(a, "three")+"\n"+fmt.Sprintf(b, "two"))
	before := "# By hand\n\n\n"
	if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteSection(path, "a", "x", true); err != nil {
		t.Error(err)
	}
	write("a", "x", "# By hand\n\n"+fmt.Sprintf(a, "x"))
	if err := os.WriteFile(path, []byte("<!-- experiments a: begin -->\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteSection(path, "a", "x", true); err == nil || !strings.Contains(err.Error(), "mend it") {
		t.Errorf("the error is %v", err)
	}
	if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	if err := WriteFile(filepath.Join(path, "x"), nil); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// Figures are XML whose colours follow the reader's scheme, with gaps where there is no value.
func TestSVG(t *testing.T) {
	f := Figure{Name: "f", Title: "A & B", Panels: []Panel{
		{Title: "one <1>", X: "x", Y: "y", Series: []Series{{Name: "a", X: []float64{0, 1, 2}, Y: []float64{1, math.NaN(), 3}, Error: []float64{0, 0, 1}}, {Name: "b", X: []float64{0}, Y: []float64{2}}}},
		{Title: "two", LogX: true, LogY: true, Series: []Series{{Name: "b", X: []float64{10, 1000}, Y: []float64{0, 5}}}},
		{Title: "a point", LogX: true, Series: []Series{{Name: "a", Names: []string{"one"}, X: []float64{0.5}, Y: []float64{2}}}},
		{Title: "three", Top: 1, Series: []Series{{Name: "c", X: []float64{1, 2}, Y: []float64{0.1, 0.2}}}},
	}}
	for _, panels := range [][]Panel{f.Panels, f.Panels[:1]} {
		f.Panels = panels
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(string(svg)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		_, drawing, _ := strings.Cut(string(svg), "</style>")
		if strings.Contains(drawing, "#") || !strings.Contains(drawing, "var(--c1)") || strings.Contains(drawing, "NaN") {
			t.Errorf("colours or points are not as they should be:\n%s", svg)
		}
		again, err := f.SVG()
		if err != nil || string(again) != string(svg) {
			t.Error("the same figure is drawn in two ways")
		}
	}
	if got := f.Link("dir"); got != "![A & B](dir/f.svg)\n" {
		t.Errorf("%q", got)
	}
}
