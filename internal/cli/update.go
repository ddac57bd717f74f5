package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/predict"
)

func newUpdateCommand() *cobra.Command {
	o := newcomerOptions{reads: mvclust.ReadModel, held: (*mvclust.ModelInfo).Footprint, footprint: predict.UpdateFootprint}
	cmd := &cobra.Command{
		Use:   "update [flags] MODEL VIEW [VIEW...]",
		Short: "Add new samples to a model and its clusters",
		Long: `update adds samples to a model and moves samples between clusters again, near the
new ones. Clusters that persist keep their numbers, new clusters get numbers that
were never used, and all that were created, merged or split are listed.

` + newcomerHelp + `

These files are written to the output folder, each whole or not at all. It may be the
folder of the model, whose files are then replaced.

  labels.csv     id,label,confidence, one row per sample, the model's own first, as fit
                 writes it. With --format parquet it is labels.parquet.
  levels.csv     the clusters of every level, one row per sample, where the model has
                 levels; or levels.parquet.
  model.mvclust  the model with the new samples.
  update.json    what was read, and how the clusters changed.

The samples' ids must differ from those in the model. Where neither has ids, new
samples have the row numbers that follow.`,
		Example: `  mvclust update mvclust-out new.npz
  mvclust update monday monday-news.parquet -o tuesday`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args, updateFunc)
		},
	}
	o.flags(cmd.Flags(), "labels")
	return cmd
}

// updateFile is the report on an update, in a folder of results.
const updateFile = "update.json"

// updateReport is update.json.
type updateReport struct {
	Version string         `json:"version"`
	Command string         `json:"command"`
	Model   modelReport    `json:"model"` // before
	Inputs  newcomerReport `json:"inputs"`
	Started time.Time      `json:"started"`
	Seconds float64        `json:"seconds"`
	Stages  []stageReport  `json:"stages"`

	Labels     string            `json:"labels"`                  // the file that they are in
	Files      map[string]string `json:"files"`                   // the SHA-256 of those written with this one
	Members    string            `json:"model_members,omitempty"` // npy.Members of the model
	Samples    int               `json:"samples"`
	Sizes      map[int]int       `json:"sizes"` // of the clusters, by label
	Confidence float64           `json:"mean_confidence"`
	// Levels holds the granularities that can become the current one, and Level the place of
	// that among them, or -1.
	Levels  []mvclust.Level  `json:"levels,omitempty"`
	Level   int              `json:"level"`
	Changes *predict.Changes `json:"changes"`
	Cut     *cutReport       `json:"cut,omitempty"` // of the result, since
	// Examples are those of the cut, if the model has any, and Names those of the clusters.
	Examples *examplesReport `json:"examples,omitempty"`
	Names    []string        `json:"names,omitempty"`
	Notes    []string        `json:"notes"`
}

// updateFunc adds the samples, writes the files, and prints the summary or the report.
func updateFunc(ctx context.Context, out, stderr io.Writer, o newcomerOptions) error {
	j, n, err := o.begin(ctx, out, stderr)
	if err != nil {
		return err
	}
	defer j.close()
	if err := j.reserve(modelFile, o.format.labelsFile(), updateFile); err != nil {
		return err
	}
	old := []string{o.format.other().labelsFile(), o.format.other().levelsFile(), runFile, pageName}
	if len(n.model.Levels) == 0 {
		old = append(old, o.format.levelsFile())
	}
	j.noteOld(old...)
	next, changes, err := predict.Update(ctx, n.model, n.views, n.set.IDs, int(o.threads), func(done int) {
		j.progress.update("linking samples", "samples", done, n.samples(), 0)
	})
	if err != nil {
		return translate(err, o.sources, n.set)
	}
	j.lap("update")
	if err := j.stageModel(o.format, next); err != nil {
		return err
	}
	j.lap("write")
	r := newUpdateReport(j, n, next, changes)
	r.Labels = o.format.labelsFile()
	r.Files, r.Members = j.dir.digests()
	return j.finish(updateFile, r, r.summary(filepath.Clean(o.output)))
}

func newUpdateReport(j *job, n *newcomers, next *mvclust.Model, changes *predict.Changes) *updateReport {
	r := &updateReport{
		Version: mvclust.Version, Command: "update", Model: n.modelReport(), Inputs: n.report(),
		Started: j.started.UTC().Truncate(time.Millisecond), Seconds: j.seconds(), Stages: j.stages,
		Changes: changes, Notes: append([]string{}, n.set.Notes...),
	}
	r.describe(next)
	return r
}

// describe says what the model has.
func (r *updateReport) describe(m *mvclust.Model) {
	r.Samples, r.Sizes, r.Confidence = m.Samples(), map[int]int{}, mean(m.Confidence)
	for _, l := range m.Labels {
		r.Sizes[l]++
	}
	r.Levels, r.Level, r.Names = m.Levels, m.Level, mvclust.Names(m.Labels, m.Examples)
}

// mostChanges bounds the changes that the summary lists; update.json has all.
const mostChanges = 10

// summary is what update prints.
func (r *updateReport) summary(folder string) string {
	var b strings.Builder
	c := r.Changes
	fmt.Fprintf(&b, "%s added to %s; %d have new neighbours, %d moved to another cluster\n", words.Count(c.Added, "sample"), words.Count(r.Model.Samples, "sample"), c.Relinked, c.Moved)
	fmt.Fprintf(&b, "%s (%d before): %d kept, %d created, %d merged, %d split off\n", words.Count(c.Clusters, "cluster"), r.Model.Clusters, c.Kept, len(c.Created), len(c.Merged), len(c.Split))
	if c.Held {
		b.WriteString("the old samples stay where they are, since moves would change many of them; \"mvclust fit\" on all samples finds clusters anew\n")
	}
	if x := c.Better; x != nil {
		how := "fit all samples anew"
		if x.Level >= 0 {
			how = fmt.Sprintf("\"mvclust cut %s --level %d\"", words.Printable(folder), x.Level)
		}
		fmt.Fprintf(&b, "the granularity is kept; with %s at resolution %.3g, %s, it would score %.1f times as high: %s uses that\n", words.Count(x.Neighbours, "neighbour"), x.Resolution, words.Count(x.Clusters, "cluster"), x.Gain, how)
	}
	var lines []string
	for _, x := range c.Created {
		lines = append(lines, fmt.Sprintf("  created %d: %s, %d of them new", x.Label, words.Count(x.Size, "sample"), x.New))
	}
	for _, x := range c.Merged {
		lines = append(lines, fmt.Sprintf("  merged %d into %d: %s, which makes %d", x.From, x.Into, words.Count(x.Samples, "sample"), x.Size))
	}
	for _, x := range c.Split {
		lines = append(lines, fmt.Sprintf("  split %d off %d: %s of %d", x.Into, x.From, words.Count(x.Samples, "sample"), x.Size))
	}
	if more := len(lines) - mostChanges; more > 0 {
		lines = append(lines[:mostChanges], fmt.Sprintf("  and %d more, in update.json", more))
	}
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	fmt.Fprintf(&b, "mean confidence %.2f\n\n%s, model.mvclust and update.json are in %s (%.1f s)\n", r.Confidence, r.Labels, words.Printable(folder), r.Seconds)
	return b.String()
}
