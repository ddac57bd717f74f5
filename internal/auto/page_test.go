package auto

import (
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/mvclust/mvclust/score"
)

var update = flag.Bool("update", false, "write testdata/page.md anew")

// run is a run with numbers that were made up.
func run(ari float64, large int, seconds ...float64) *Run {
	return &Run{Scores: score.Scores{ARI: ari / 100, BCubedF: (ari + 1) / 100}, Large: large, Seconds: seconds, Peak: 5 << 20}
}

// result is a result with one trial for each ARI, twice the classes in clusters, and twice
// the time of the paper's method. The best opponent is spectral clustering, by 75.
func result(set string, views []int, state State, aris ...float64) *Result {
	r := &Result{Set: set, Views: views, Chosen: views != nil, State: state, Samples: 120, Classes: 6}
	if state == HalfMissing {
		r.Incomplete = 60
	}
	for seed, x := range aris {
		r.Trials = append(r.Trials, Trial{
			Seed: uint64(seed), Default: run(x, 12, 2, 4, 3), Paper: run(50, 40, 1.5),
			KMeans: run(40, 6, 1), Spectral: run(75, 6, 1), Modularity: run(-1, 4, 1),
		})
	}
	return r
}

// all are results of all that the aims are about.
func all() *Results {
	r := &Results{}
	for _, set := range ten() {
		r.List = append(r.List, result(set, nil, Complete, 70), result(set, nil, NoiseView, 69))
	}
	r.List = append(r.List, result("Handwritten", nil, HalfMissing, 76, 80))
	for _, p := range pairs() {
		r.List = append(r.List, result(p.name(), p.Views, Complete, 88), result(p.name(), p.Views, HalfMissing, 71, 73))
	}
	return r
}

func TestAims(t *testing.T) {
	r := all()
	check := func(want []float64, reached string) {
		t.Helper()
		for i, a := range r.Aims() {
			if a.Measured == nil || math.Abs(*a.Measured-want[i]) > 1e-9 || a.Reached != (reached[i] == 'y') {
				t.Errorf("%+v, want %v", a, want[i])
			}
		}
	}
	check([]float64{70, 78, 70. / 75, 1, 10, 2, 2}, "yyyyyyy")

	r.find("MSRC", nil, Complete).Trials[0].Default = run(30, 13, 9)
	r.find("ORL", nil, Complete).Trials[0].Default.Large = 2
	r.find("BUAA", nil, NoiseView).Trials[0].Default = run(60, 12, 1)
	check([]float64{66, 78, 0.4, 10, 8, 2, 6}, "nynnyyn")
	if a := r.Aims(); a[2].Where != "MSRC" || a[3].Where != "BUAA; the mean is -2.1" || a[6].Where != "MSRC" {
		t.Errorf("%+v", a)
	}

	// An opponent that is no better than chance is no measure.
	trial := &r.find("MSRC", nil, Complete).Trials[0]
	trial.KMeans, trial.Spectral = run(0, 6, 1), run(-2, 6, 1)
	if a := r.Aims()[2]; a.Where == "MSRC" || !a.Reached {
		t.Errorf("%+v", a)
	}
}

// What an aim needs and is not there leaves it unmeasured.
func TestAimsUnmeasured(t *testing.T) {
	for _, a := range (&Results{}).Aims() {
		if a.Measured != nil || a.Reached || a.Where != "" {
			t.Errorf("%+v", a)
		}
	}
	r := all()
	r.find("ORL", nil, Complete).Trials = nil
	r.find("Handwritten", nil, HalfMissing).Trials = nil
	for i, a := range r.Aims() {
		if (a.Measured == nil) != (i == 0 || i == 1 || i == 4) {
			t.Errorf("%+v", a)
		}
	}
}

// The page, against a file that was checked by hand.
func TestPage(t *testing.T) {
	r := all()
	r.List = r.List[len(r.List)-7:] // of WebKB-course on
	r.List = append(r.List, result("big_set", nil, Complete, 65),
		&Result{Set: "junk", State: Complete, Skipped: "junk.npz: is <no> file"})
	trial := &r.find("big_set", nil, Complete).Trials[0]
	trial.KMeans, trial.Spectral, trial.Modularity = nil, nil, nil
	page, err := r.Page(Made{Command: "mvclust bench auto", Date: "2000-01-02", Version: "mvclust 9", Processors: 2})
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/page.md"
	if *update {
		if err := os.WriteFile(golden, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if page != string(want) {
		t.Errorf("the page is\n%s\nand not that of %s", page, golden)
	}
}

// A page of next to nothing has no empty tables.
func TestPageBare(t *testing.T) {
	page, err := (&Results{List: []*Result{result("one", nil, Complete, 80)}}).Page(Made{Processors: 1})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(page, "None was run.") != 2 || !strings.Contains(page, "on 1 processor.") || strings.Contains(page, "Skipped") {
		t.Error(page)
	}
	for _, bad := range []string{"\n\n\n", "NaN", "Inf", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q:\n%s", bad, page)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{points(-0.04), "0.0"}, {points(-0.06), "-0.1"}, {points(2.25), "2.3"},
		{seconds(0.123), "0.12"}, {seconds(9.99), "9.99"}, {seconds(12.34), "12.3"}, {seconds(1234), "1234"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
