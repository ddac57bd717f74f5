//go:build !race

// Under the race detector these would take ten minutes, and they run no code
// that the other tests do not.

package mvclust_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
)

// realData reads the views of a set that is kept beside the repository, and its
// classes. views are numbers from 0; nil stands for all.
func realData(t *testing.T, name string, views []string) ([]*mvclust.View, []int) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long")
	}
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "shared", "datasets")
	}
	path := filepath.Join(dir, name+".npz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no real data: %v; set MVCLUST_DATA to the folder that holds them", err)
	}
	set, err := dataset.Load(t.Context(), []string{path}, dataset.Options{Views: views})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := dataset.Labels(t.Context(), path, nil, set.Views[0].Samples)
	if err != nil {
		t.Fatal(err)
	}
	return set.Views, truth.Labels
}

func ari(s score.Scores) float64 { return 100 * s.ARI }

func bcubed(s score.Scores) float64 { return 100 * s.BCubedF }

// TestRealData holds the method to floors on complete data, in per cent.
func TestRealData(t *testing.T) {
	for _, c := range []struct {
		name  string
		views []string
		k     int
		what  string
		of    func(s score.Scores) float64
		floor float64
	}{
		{"Handwritten", []string{"0", "1"}, 133, "ARI", ari, 84},
		{"Handwritten", nil, 133, "ARI", ari, 84},
		{"100Leaves", []string{"2", "1"}, 14, "ARI", ari, 74},
		{"BUAA", nil, 7, "BCubed F", bcubed, 47},
		{"BBCSport_tfidf", nil, 150, "BCubed F", bcubed, 90},
	} {
		t.Run(fmt.Sprint(c.name, c.views), func(t *testing.T) {
			views, truth := realData(t, c.name, c.views)
			s := compare(t, truth, fit(t, views, mvclust.Options{Preset: mvclust.Paper, Neighbours: c.k}).Labels)
			t.Logf("%s %.2f, %d clusters of %d classes", c.what, c.of(s), s.Clusters, s.Classes)
			if !(c.of(s) >= c.floor) {
				t.Errorf("%s %.2f, want at least %v", c.what, c.of(s), c.floor)
			}
		})
	}
}

// TestRealDataMissing takes the first view from a quarter of the samples and the
// second from another quarter, in five ways.
func TestRealDataMissing(t *testing.T) {
	for _, c := range []struct {
		name  string
		views []string
		k     int
		floor float64
	}{
		{"Handwritten", []string{"0", "1"}, 133, 70},
		{"100Leaves", []string{"2", "1"}, 14, 45},
	} {
		t.Run(c.name, func(t *testing.T) {
			views, truth := realData(t, c.name, c.views)
			const draws = 5
			mean := 0.0
			for seed := range uint64(draws) {
				left := withoutQuarters(views, seed)
				s := compare(t, truth, fit(t, left, mvclust.Options{Preset: mvclust.Paper, Neighbours: c.k, Seed: seed}).Labels)
				t.Logf("ARI %.2f, %d clusters of %d classes", ari(s), s.Clusters, s.Classes)
				mean += ari(s) / draws
			}
			t.Logf("mean ARI %.2f", mean)
			if !(mean >= c.floor) {
				t.Errorf("mean ARI %.2f, want at least %v", mean, c.floor)
			}
		})
	}
}

// withoutQuarters returns two views of which half of the samples have both and a
// quarter only the one or the other.
func withoutQuarters(views []*mvclust.View, seed uint64) []*mvclust.View {
	n := views[0].Samples
	shuffled := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	out := make([]*mvclust.View, len(views))
	for m, v := range views {
		out[m] = &view.View{Name: v.Name, Samples: n, Dims: v.Dims, Data: v.Data, Present: make([]bool, n)}
		for at, i := range shuffled {
			out[m].Present[i] = at < m*n/4 || at >= (m+1)*n/4
		}
	}
	return out
}

// TestRealDataConstraints gives 200 random pairs of which it is known whether they are of one
// class. They raise the mean over the seeds, by at least floor points.
func TestRealDataConstraints(t *testing.T) {
	for _, c := range []struct {
		name  string
		opt   mvclust.Options
		floor float64
	}{
		{"MSRC", mvclust.Options{}, 5},
		{"MSRC", mvclust.Options{Preset: mvclust.Paper, Neighbours: 30}, 5},
		{"ORL", mvclust.Options{}, 0.2},
		{"ORL", mvclust.Options{Preset: mvclust.Paper, Neighbours: 10}, 0.2},
	} {
		t.Run(fmt.Sprint(c.name, " ", c.opt.Preset), func(t *testing.T) {
			views, truth := realData(t, c.name, nil)
			const draws = 10
			mean := 0.0
			for seed := range uint64(draws) {
				opt := c.opt
				opt.Seed = seed
				before := compare(t, truth, fit(t, views, opt).Labels)
				opt.Constraints = drawConstraints(truth, 200, seed)
				got := fit(t, views, opt)
				wantHonoured(t, opt.Constraints, got.Labels)
				after := compare(t, truth, got.Labels)
				t.Logf("ARI %.2f -> %.2f, %d must-links, %d cannot-links", ari(before), ari(after), len(opt.Constraints.MustLink), len(opt.Constraints.CannotLink))
				mean += (ari(after) - ari(before)) / draws
			}
			t.Logf("mean rise of the ARI %.2f", mean)
			if !(mean >= c.floor) {
				t.Errorf("the ARI rises by %.2f on the mean, want at least %v", mean, c.floor)
			}
		})
	}
}
