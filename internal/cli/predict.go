package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/predict"
)

func newPredictCommand() *cobra.Command {
	var o newcomerOptions
	cmd := &cobra.Command{
		Use:   "predict [flags] MODEL VIEW [VIEW...]",
		Short: "Assign new samples to the clusters of a model",
		Long: `predict finds the clusters of new samples among those that fit has found, or says
that they belong to none. The new samples do not change the model, nor each other's
labels; update takes them in.

` + newcomerHelp + `

This file is written to the output folder, whole or not at all:

  predictions.csv  id,label,confidence,next,typicality, one row per sample in the
              order of the input. The label is -1 for a sample that belongs to no
              cluster: it is better off alone, or its links are as weak as those of
              fewer than 1% of the model's samples, of which the typicality tells
              the share. The confidence is that of labels.csv, and 1 less the
              typicality where the label is -1. next is the cluster that comes next,
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

// run parses the arguments that predict and update share.
func (o *newcomerOptions) run(cmd *cobra.Command, args []string, do func(ctx context.Context, out io.Writer, p *progress, o newcomerOptions) error) error {
	switch len(args) {
	case 0:
		return usagef(cmd, "no MODEL is given; name a folder that \"mvclust fit\" has written, and the files of the new samples")
	case 1:
		return usagef(cmd, "no VIEW is given; name at least one file of new samples after the model %s", args[0])
	}
	o.model, o.sources = args[0], args[1:]
	var p *progress
	if !o.quiet {
		p = newProgress(cmd.ErrOrStderr())
		defer p.close()
		defer onAbandon(cmd.Context(), func() error { p.close(); return nil })()
	}
	return do(cmd.Context(), cmd.OutOrStdout(), p, *o)
}

// predictReport is what predict prints.
type predictReport struct {
	Version string        `json:"version"`
	Command string        `json:"command"`
	Model   modelReport   `json:"model"`
	Inputs  newcomerFiles `json:"inputs"`
	Seconds float64       `json:"seconds"`
	Stages  []stageReport `json:"stages"`

	Predictions string   `json:"predictions"` // the file that they are in
	Assigned    int      `json:"assigned"`    // to a cluster
	None        int      `json:"none"`
	Known       int      `json:"known"` // samples of the model
	Sizes       []int    `json:"sizes"` // of the new samples in each cluster
	Confidence  float64  `json:"mean_confidence"`
	Search      []search `json:"search"` // by view of the model
	Notes       []string `json:"notes"`
}

// modelReport says which model was asked.
type modelReport struct {
	Path     string   `json:"path"`
	Samples  int      `json:"samples"`
	Clusters int      `json:"clusters"`
	Views    []string `json:"views"`
}

func newModelReport(m *mvclust.Model, path string) modelReport {
	r := modelReport{Path: path, Samples: m.Samples(), Clusters: m.Clusters()}
	for _, v := range m.Views {
		r.Views = append(r.Views, v.Rows.Name)
	}
	return r
}

// newcomerFiles says which new samples there were.
type newcomerFiles struct {
	Files   []dataset.File `json:"files"`
	Samples int            `json:"samples"`
	IDs     bool           `json:"ids"`   // whether the samples have ids of their own
	Views   []string       `json:"views"` // by view of the model, empty where it is not given
}

func newNewcomerFiles(n *newcomers) newcomerFiles {
	r := newcomerFiles{Files: n.set.Files, Samples: n.samples(), IDs: n.set.IDs != nil}
	for _, v := range n.views {
		name := ""
		if v != nil {
			name = v.Name
		}
		r.Views = append(r.Views, name)
	}
	return r
}

// stopwatch notes how long stages take.
type stopwatch struct {
	begun  time.Time
	stages []stageReport
}

func (c *stopwatch) lap(stage string) {
	now := time.Now()
	c.stages = append(c.stages, stageReport{stage, now.Sub(c.begun).Seconds()})
	c.begun = now
}

// predictFunc assigns the samples, writes the file, and prints the summary or the report
// to out.
func predictFunc(ctx context.Context, out io.Writer, p *progress, o newcomerOptions) error {
	started := time.Now()
	c := stopwatch{begun: started}
	if err := o.check(); err != nil {
		return err
	}
	dir, err := openFolder(ctx, o.output)
	if err != nil {
		return err
	}
	defer dir.close()
	m, path, err := o.openModel(p)
	if err != nil {
		return err
	}
	defer collectEarly(sizeOf(path))()
	c.lap("model")
	n, err := o.load(ctx, m, path, p)
	if err != nil {
		return err
	}
	c.lap("read")
	name := "predictions." + o.format
	if err := dir.spare(name, inputsOf(n, path)); err != nil {
		return err
	}
	p.update("preparing the model", "models", 0, 1, 0)
	predictor, err := predict.New(ctx, m, int(o.threads))
	if err != nil {
		return err
	}
	p.update("preparing the model", "models", 1, 1, 0)
	c.lap("prepare")
	result, err := predictor.Predict(ctx, n.views, n.set.IDs, int(o.threads), func(done int) {
		p.update("finding clusters", "samples", done, n.samples(), 0)
	})
	if err != nil {
		return explain(err, o.sources, n.set)
	}
	c.lap("predict")
	err = dir.stage(ctx, name, func(w io.Writer) error {
		if o.format == "parquet" {
			return dataset.WritePredictions(w, n.set.IDs, result.Labels, result.Confidence, result.Next, result.Typicality)
		}
		return writePredictions(w, n.set.IDs, result)
	})
	if err == nil {
		err = dir.commit()
	}
	if err != nil {
		return err
	}
	c.lap("write")
	p.close()
	r := newPredictReport(m, path, n, predictor, result)
	r.Predictions, r.Stages, r.Seconds = name, c.stages, time.Since(started).Seconds()
	switch {
	case o.json:
		text, err := encode(r)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return printing(err)
	case !o.quiet:
		return printing(r.summarise(out, filepath.Clean(o.output)))
	}
	return nil
}

// inputsOf lists the files that were read.
func inputsOf(n *newcomers, model string) []string {
	paths := []string{model}
	for _, f := range n.set.Files {
		paths = append(paths, f.Path)
	}
	return paths
}

func newPredictReport(m *mvclust.Model, path string, n *newcomers, p *predict.Predictor, result *predict.Result) *predictReport {
	r := &predictReport{
		Version: mvclust.Version, Command: "predict", Model: newModelReport(m, path), Inputs: newNewcomerFiles(n),
		Sizes: make([]int, m.Numbers()), Notes: append([]string{}, n.set.Notes...),
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
		if result.Known[i] >= 0 {
			r.Known++
		}
		r.Confidence += result.Confidence[i] / float64(len(result.Labels))
	}
	r.Sizes = r.Sizes[:min(mostSizes, len(r.Sizes))]
	return r
}

// summarise writes what matters most for people.
func (r *predictReport) summarise(w io.Writer, folder string) error {
	var b strings.Builder
	given := 0
	for _, name := range r.Inputs.Views {
		if name != "" {
			given++
		}
	}
	fmt.Fprintf(&b, "%s in %d of the %s of a model of %s and %s\n\n", count(r.Inputs.Samples, "new sample"), given, count(len(r.Model.Views), "view"),
		count(r.Model.Samples, "sample"), count(r.Model.Clusters, "cluster"))
	fmt.Fprintf(&b, "%d belong to a cluster, and %d to none\n", r.Assigned, r.None)
	if r.Known > 0 {
		fmt.Fprintf(&b, "%d are in the model already, and have the labels that they have there\n", r.Known)
	}
	fmt.Fprintf(&b, "mean confidence %.2f\n\n", r.Confidence)
	took := 0.0
	for _, s := range r.Stages {
		if s.Stage == "predict" {
			took = s.Seconds
		}
	}
	fmt.Fprintf(&b, "%s is in %s (%.1f s, of which %.1f s for the samples)\n", r.Predictions, folder, r.Seconds, took)
	_, err := io.WriteString(w, b.String())
	return err
}

// writePredictions writes predictions.csv.
func writePredictions(w io.Writer, ids []string, r *predict.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"id", "label", "confidence", "next", "typicality"}); err != nil {
		return err
	}
	for i, label := range r.Labels {
		id := strconv.Itoa(i)
		if ids != nil {
			id = ids[i]
		}
		share := func(x float64) string { return strconv.FormatFloat(x, 'f', 6, 64) }
		if err := c.Write([]string{id, strconv.Itoa(label), share(r.Confidence[i]), strconv.Itoa(r.Next[i]), share(r.Typicality[i])}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
