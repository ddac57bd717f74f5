package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/predict"
)

func newPredictCommand() *cobra.Command {
	o := newcomerOptions{reads: mvclust.OpenCurrent, held: (*mvclust.ModelInfo).CurrentFootprint, footprint: predict.Footprint}
	cmd := &cobra.Command{
		Use:   "predict [flags] MODEL VIEW [VIEW...]",
		Short: "Assign new samples to the clusters of a model",
		Long: `predict assigns new samples to the clusters of a model, or to none. The new samples
change neither the model nor each other's labels; update adds them to the model.

` + newcomerHelp + `

This file is written to the output folder, whole or not at all:

  predictions.csv  id,label,confidence,next,typicality, one row per sample in the
              order of the input. The label is -1 for a sample that belongs to no
              cluster: it is better off alone, or its typicality is below 0.01.
              The typicality is the share of the model's samples whose links are
              as weak. The confidence is that of labels.csv, or 1 minus the
              typicality where the label is -1. next is the second best cluster,
              or -1. With --format parquet it is predictions.parquet.

A sample of the model, with the same views and values, gets the label that it has.`,
		Example: `  mvclust predict mvclust-out new.npz
  mvclust predict mvclust-out/model.mvclust new.parquet:image new.parquet:text
  mvclust predict mvclust-out text=captions.npy --format parquet -o out`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args, predictFunc)
		},
	}
	o.flags(cmd.Flags(), "predictions")
	return cmd
}

// predictReport is what predict prints.
type predictReport struct {
	Version string         `json:"version"`
	Command string         `json:"command"`
	Model   modelReport    `json:"model"`
	Inputs  newcomerReport `json:"inputs"`
	Seconds float64        `json:"seconds"`
	Stages  []stageReport  `json:"stages"`

	Predictions string   `json:"predictions"` // the file that they are in
	Assigned    int      `json:"assigned"`    // to a cluster
	None        int      `json:"none"`
	Known       int      `json:"known"` // samples of the model
	Sizes       []int    `json:"sizes"` // of the new samples in each cluster
	Confidence  float64  `json:"mean_confidence"`
	Search      []search `json:"search"` // by view of the model
	Notes       []string `json:"notes"`
}

// predictFunc assigns the samples, writes the file, and prints the summary or the report.
func predictFunc(ctx context.Context, out, stderr io.Writer, o newcomerOptions) error {
	j, n, err := o.begin(ctx, out, stderr)
	if err != nil {
		return err
	}
	defer j.close()
	name := "predictions." + string(o.format)
	if err := j.reserve(name); err != nil {
		return err
	}
	var p *predict.Predictor
	err = j.during("preparing the model", "models", func() (err error) {
		p, err = predict.New(ctx, n.model, int(o.threads))
		return err
	})
	if err != nil {
		return ofFile(err, n.path)
	}
	j.lap("prepare")
	result, err := p.Predict(ctx, n.views, n.set.IDs, int(o.threads), func(done int) {
		j.progress.update("finding clusters", "samples", done, n.samples(), 0)
	})
	if err != nil {
		return ofFile(translate(err, o.sources, n.set), n.path)
	}
	j.lap("predict")
	if err := j.stagePredictions(name, o.format, n.set.IDs, result); err != nil {
		return err
	}
	j.lap("write")
	r := newPredictReport(n, p, result)
	r.Predictions, r.Stages, r.Seconds = name, j.stages, j.seconds()
	return j.finish("", r, r.summary(filepath.Clean(o.output)))
}

func (j *job) stagePredictions(name string, format tableFormat, ids []string, r *predict.Result) error {
	if format == "parquet" {
		return j.stage(name, func(w io.Writer) error {
			return dataset.WritePredictions(w, ids, r.Labels, r.Confidence, r.Next, r.Typicality)
		})
	}
	return j.stageCSV(name, []string{"id", "label", "confidence", "next", "typicality"}, len(r.Labels), func(i int) []string {
		return []string{idOf(ids, i), strconv.Itoa(r.Labels[i]), share(r.Confidence[i]), strconv.Itoa(r.Next[i]), share(r.Typicality[i])}
	})
}

func newPredictReport(n *newcomers, p *predict.Predictor, result *predict.Result) *predictReport {
	r := &predictReport{
		Version: mvclust.Version, Command: "predict", Model: n.modelReport(), Inputs: n.report(),
		Sizes: make([]int, n.model.Numbers()), Confidence: mean(result.Confidence), Notes: append([]string{}, n.set.Notes...),
	}
	for _, s := range p.Search() {
		r.Search = append(r.Search, search(s))
	}
	for i, l := range result.Labels {
		if l == predict.None {
			r.None++
		} else {
			r.Assigned++
			r.Sizes[l]++
		}
		if result.SameAs[i] >= 0 {
			r.Known++
		}
	}
	r.Sizes = r.Sizes[:min(mostSizes, len(r.Sizes))]
	return r
}

// summary is what predict prints.
func (r *predictReport) summary(folder string) string {
	var b strings.Builder
	given := 0
	for _, name := range r.Inputs.Views {
		if name != "" {
			given++
		}
	}
	fmt.Fprintf(&b, "%s in %d of the %s of a model of %s and %s\n\n", words.Count(r.Inputs.Samples, "new sample"), given, words.Count(len(r.Model.Views), "view"),
		words.Count(r.Model.Samples, "sample"), words.Count(r.Model.Clusters, "cluster"))
	fmt.Fprintf(&b, "%d belong to a cluster, and %d to none\n", r.Assigned, r.None)
	if r.Known > 0 {
		fmt.Fprintf(&b, "%d are in the model already and keep their labels\n", r.Known)
	}
	fmt.Fprintf(&b, "mean confidence %.2f\n\n", r.Confidence)
	took := 0.0
	for _, s := range r.Stages {
		if s.Stage == "predict" {
			took = s.Seconds
		}
	}
	fmt.Fprintf(&b, "%s is in %s (%.1f s, of which %.1f s for the samples)\n", r.Predictions, words.Printable(folder), r.Seconds, took)
	return b.String()
}
