package paper

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/synth"
)

// write makes folder/file, a set of 120 samples of 6 classes in the given number of
// views; the more noise, the harder it is.
func write(t *testing.T, folder, file string, views int, noise float64, seed uint64) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 120, Classes: 6, Views: views, Dims: []int{8}, Noise: []float64{noise}, Seed: seed})
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

// easy is a setup of the set that tests make.
func easy(settings ...string) Setup {
	return Setup{File: "easy.npz"}.With("neighbors=20", "epochs=10").With(settings...)
}

// sample are three experiments that share setups, one of them with a figure.
func sample() []Experiment {
	line := easy("training=off")
	half := easy().Lacking(0.25, 0.25)
	return []Experiment{
		{
			ID: "main", Title: "Main results", Source: "table 1", Text: "What to see.",
			Columns: []Metric{BCubedF, ARI, Clusters},
			Cells: []Cell{
				{Group: "easy", Label: "complete", Setup: easy(), Seeds: 2, Paper: Figures{BCubedF: 90, ARI: 85.5}},
				{Group: "easy", Label: "incomplete", Setup: half, Seeds: 2, Paper: Figures{BCubedF: 110}},
				{Group: "gone", Label: "complete", Setup: Setup{File: "gone.npz"}, Paper: Figures{ARI: 50}},
				{Group: "secret", Label: "complete", Reason: "nobody has *it*", Paper: Figures{ARI: 60}},
			},
		},
		{
			ID: "rates", Title: "Missing rates", Columns: []Metric{ARI}, Plot: ScorePlot, XLabel: "rate",
			Cells: []Cell{
				{Group: "easy", Label: "0", Setup: easy(), Seeds: 2},
				{Group: "easy", Label: "0.5", Setup: half, Seeds: 2, X: 0.5},
			},
		},
		{
			ID: "learning", Title: "Learning", Columns: []Metric{ARI}, Reading: "line / learned", Tolerance: 0.5,
			Cells: []Cell{{Group: "easy", Label: "complete", Setup: easy(), Seeds: 2, Against: &line}},
		},
	}
}
