package auto

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/bench"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/synth"
)

// write makes folder/file of 120 samples of 6 classes, easy to tell apart.
func write(t *testing.T, folder, file string, views int) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 120, Classes: 6, Views: views, Dims: []int{8}, Noise: []float64{0.2}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dataset.Write(f, set.Views, set.Labels), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestSubjects(t *testing.T) {
	folder := t.TempDir()
	for _, file := range []string{"b.npz", "Handwritten.npz", "a.npz", "notes.txt", "c.mat"} {
		if err := os.WriteFile(filepath.Join(folder, file), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "folder.npz"), 0o777); err != nil {
		t.Fatal(err)
	}
	list, err := Subjects(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []Subject{{"Handwritten.npz", nil}, {"Handwritten.npz", []int{0, 1}}, {"a.npz", nil}, {"b.npz", nil}}
	if !slices.EqualFunc(list, want, func(a, b Subject) bool { return a.File == b.File && slices.Equal(a.Views, b.Views) }) {
		t.Errorf("%v, want %v", list, want)
	}
	for path, want := range map[string]string{
		filepath.Join(folder, "none"):       "cannot be read: ",
		filepath.Join(folder, "folder.npz"): "holds no .npz files",
	} {
		if _, err := Subjects(path); err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
}

// The masks of the page's prose: how many samples lack which views, of which none lacks two.
func TestMissing(t *testing.T) {
	for _, test := range []struct {
		subject Subject
		views   int
		want    []int // of 240 samples, by view
	}{
		{Subject{File: "any.npz"}, 2, []int{60, 60}},
		{Subject{File: "any.npz"}, 3, []int{40, 40, 40}},
		{Subject{File: "any.npz"}, 4, []int{30, 30, 30, 30}},
		{Subject{File: "Handwritten.npz"}, 4, []int{0, 0, 120, 120}},
		{Subject{File: "Handwritten.npz", Views: []int{0, 1}}, 2, []int{60, 60}},
	} {
		var views []*mvclust.View
		for range test.views {
			views = append(views, noise(t, 240, 0))
		}
		masks := make(map[string]bool)
		for seed := range HalfMissing.seeds() {
			masked, err := HalfMissing.apply(views, test.subject.missing(test.views), seed)
			if err != nil {
				t.Fatal(err)
			}
			total, mask := 0, ""
			for m, v := range masked {
				if lost := 240 - v.Count(); lost != test.want[m] {
					t.Errorf("%v: %d lack view %d, want %d", test.subject, lost, m, test.want[m])
				}
				total += 240 - v.Count()
				for i := range 240 {
					if !v.Has(i) {
						mask += string(rune(i))
					}
				}
			}
			if got := bench.Incomplete(masked); got != total {
				t.Errorf("%v: %d samples lack %d views", test.subject, got, total)
			}
			masks[mask] = true
		}
		if len(masks) != 5 {
			t.Errorf("%v: %d masks of five seeds", test.subject, len(masks))
		}
		for _, v := range views {
			if v.Count() != 240 {
				t.Error("a view was changed")
			}
		}
	}
}

// A sample whose other view is nothing but zeros keeps the one that it has; another loses it.
func TestMissingZeros(t *testing.T) {
	full, part := noise(t, 40, 0), noise(t, 40, 1)
	clear(part.Data[:20*part.Dims])
	views := []*mvclust.View{full, part}
	masked, err := HalfMissing.apply(views, []float64{0.5, 0.5}, 3)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := bench.Mask(views, []float64{0.5, 0.5}, 3)
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

func noise(t *testing.T, samples int, seed uint64) *mvclust.View {
	t.Helper()
	v, err := noiseView(samples, seed)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The noise is a further view of standard normal values, which the seed decides.
func TestNoise(t *testing.T) {
	views := make([]*mvclust.View, 1, 4)
	views[0] = noise(t, 300, 5)
	with, err := NoiseView.apply(views, nil, 0)
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

func TestRun(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "one.npz", 1)
	write(t, folder, "two.npz", 2)
	write(t, folder, "Handwritten.npz", 4)
	for _, test := range []struct {
		subject Subject
		states  []State
		missing int // incomplete samples
	}{
		{Subject{File: "one.npz"}, []State{Complete}, 0},
		{Subject{File: "two.npz"}, []State{Complete, HalfMissing, NoiseView}, 60},
		{Subject{File: "two.npz", Views: []int{1, 0}}, []State{Complete, HalfMissing}, 60},
		{Subject{File: "Handwritten.npz"}, []State{Complete, HalfMissing, NoiseView}, 120},
	} {
		told := 0
		list, err := test.subject.Run(t.Context(), folder, func(*Result) { told++ })
		if err != nil {
			t.Fatal(err)
		}
		var states []State
		for _, r := range list {
			states = append(states, r.State)
			checkResult(t, r, test.missing)
			if (test.subject.Views != nil) != r.Chosen || r.Chosen && !slices.Equal(r.Views, test.subject.Views) {
				t.Errorf("%v: the views are %v", test.subject, r.Views)
			}
		}
		if !slices.Equal(states, test.states) || told != len(list) {
			t.Errorf("%v is run in the states %q, and %d are told", test.subject, states, told)
		}
	}
}

func checkResult(t *testing.T, r *Result, missing int) {
	t.Helper()
	seeds := 1
	if r.State != HalfMissing {
		missing = 0
	} else {
		seeds = 5
	}
	if r.Skipped != "" || r.Samples != 120 || r.Classes != 6 || r.Incomplete != missing || len(r.Trials) != seeds {
		t.Fatalf("%s: %+v", r.Name(), r)
	}
	for i, trial := range r.Trials {
		if trial.Seed != uint64(i) {
			t.Errorf("%s: trial %d has the seed %d", r.Name(), i, trial.Seed)
		}
		for m, run := range append(trial.rivals(), trial.Default, trial.Paper) {
			if run.Scores.Samples != 120 || run.Large < 2 || len(run.Seconds) == 0 || run.Seconds[0] <= 0 || run.Peak <= 0 {
				t.Errorf("%s: run %d is %+v", r.Name(), m, run)
			}
			// Complete, the classes are plain to every method.
			if r.State == Complete && run.Scores.ARI < 0.7 {
				t.Errorf("%s: run %d has an ARI of %v", r.Name(), m, run.Scores.ARI)
			}
		}
	}
}

// What cannot be used becomes a reason, which tells nothing of the folder.
func TestRunSkips(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "two.npz", 2)
	if err := os.WriteFile(filepath.Join(folder, "junk.npz"), []byte("junk"), 0o666); err != nil {
		t.Fatal(err)
	}
	for subject, want := range map[*Subject]string{
		{File: "junk.npz"}:                     "junk.npz: ",
		{File: "two.npz", Views: []int{0, 10}}: `there is no view "10"`,
	} {
		list, err := subject.Run(t.Context(), folder, func(*Result) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 || !strings.Contains(list[0].Skipped, want) || strings.Contains(list[0].Skipped, folder) || !strings.HasPrefix(list[0].Summary(), "skipped: ") {
			t.Errorf("%v: %+v, want %q", *subject, list, want)
		}
	}
}

func TestRunCancelled(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "two.npz", 2)
	ctx, cancel := context.WithCancel(t.Context())
	list, err := Subject{File: "two.npz"}.Run(ctx, folder, func(*Result) { cancel() })
	if !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("%v, error %v", list, err)
	}
}

// A run is repeated for its time alone; what it fails with is what do says.
func TestMeasure(t *testing.T) {
	r := &Run{}
	held := make([][]byte, 1)
	for _, found := range [][]int{{0, 0, 0, 1, 1, 1, 2, 2}, {5, 5, 5, 5, 5, 5, 5, 5}} {
		err := r.measure([]int{0, 0, 0, 1, 1, 1, 2, 2}, func() ([]int, error) {
			held[0] = make([]byte, 8<<20)
			return found, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if r.Scores.ARI != 1 || r.Large != 2 || len(r.Seconds) != 2 || r.Peak < 8<<20 {
		t.Errorf("%+v", r)
	}
	failure := errors.New("no luck")
	if err := r.measure(nil, func() ([]int, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{9, 1, 2}); got != 2 {
		t.Errorf("%v, want 2", got)
	}
	if got := median([]float64{9, 1, 2, 4}); got != 3 {
		t.Errorf("%v, want 3", got)
	}
}
