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
	"github.com/mvclust/mvclust/predict"
)

func newUpdateCommand() *cobra.Command {
	var o newcomerOptions
	cmd := &cobra.Command{
		Use:   "update [flags] MODEL VIEW [VIEW...]",
		Short: "Add new samples to a model and its clusters",
		Long: `update adds samples to a model and searches the clusters on where the new samples
touch them. Clusters that persist keep their numbers, new ones get numbers that none
had before, and what was created, merged or split is listed.

` + newcomerHelp + `

These files are written to the output folder, each whole or not at all. It may be the
folder of the model, whose files are then replaced.

  labels.csv     id,label,confidence, one row per sample, the model's own first, as fit
                 writes it. With --format parquet it is labels.parquet.
  model.mvclust  the model with the new samples.
  update.json    what was read, and what became of the clusters.

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

// updateReport is update.json.
type updateReport struct {
	Version string        `json:"version"`
	Command string        `json:"command"`
	Model   modelReport   `json:"model"` // before
	Inputs  newcomerFiles `json:"inputs"`
	Started time.Time     `json:"started"`
	Seconds float64       `json:"seconds"`
	Stages  []stageReport `json:"stages"`

	Labels     string           `json:"labels"` // the file that they are in
	Samples    int              `json:"samples"`
	Sizes      map[int]int      `json:"sizes"` // of the clusters, by label
	Confidence float64          `json:"mean_confidence"`
	Changes    *predict.Changes `json:"changes"`
	Notes      []string         `json:"notes"`
}

// updateFunc adds the samples, writes the files, and prints the summary or the report to
// out.
func updateFunc(ctx context.Context, out io.Writer, p *progress, o newcomerOptions) error {
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
	labels, other := labelsFiles(o.format)
	inputs := inputsOf(n, path)
	for _, name := range []string{labels, "update.json", modelFile} {
		if name == modelFile {
			inputs = inputs[1:] // the model may be replaced
		}
		if err := dir.spare(name, inputs); err != nil {
			return err
		}
	}
	noteOld(p, dir, inputs, other, "run.json", pageName)
	next, changes, err := predict.Update(ctx, m, n.views, n.set.IDs, int(o.threads), func(done int) {
		p.update("linking samples", "samples", done, n.samples(), 0)
	})
	if err != nil {
		return explain(err, o.sources, n.set)
	}
	c.lap("update")
	err = stageLabels(ctx, dir, o.format, next.IDs, next.Labels, next.Confidence)
	if err == nil {
		err = dir.stage(ctx, modelFile, next.Write)
	}
	if err != nil {
		return err
	}
	c.lap("write")
	r := newUpdateReport(m, next, path, n, changes)
	r.Labels, r.Stages, r.Started = labels, c.stages, started.UTC().Truncate(time.Millisecond)
	r.Seconds = time.Since(started).Seconds()
	text, err := encode(r)
	if err != nil {
		return err
	}
	// It commits the others, too.
	if err := dir.write(ctx, "update.json", text); err != nil {
		return err
	}
	p.close()
	switch {
	case o.json:
		_, err = out.Write(text)
	case !o.quiet:
		err = r.summarise(out, filepath.Clean(o.output))
	}
	return printing(err)
}

func newUpdateReport(m, next *mvclust.Model, path string, n *newcomers, changes *predict.Changes) *updateReport {
	r := &updateReport{
		Version: mvclust.Version, Command: "update", Model: newModelReport(m, path), Inputs: newNewcomerFiles(n),
		Samples: next.Samples(), Sizes: map[int]int{}, Changes: changes, Notes: append([]string{}, n.set.Notes...),
	}
	for i, l := range next.Labels {
		r.Sizes[l]++
		r.Confidence += next.Confidence[i] / float64(next.Samples())
	}
	return r
}

// mostChanges bounds the changes that the summary lists; update.json has all.
const mostChanges = 10

// summarise writes what matters most for people.
func (r *updateReport) summarise(w io.Writer, folder string) error {
	var b strings.Builder
	c := r.Changes
	fmt.Fprintf(&b, "%s added to %s; %d have new neighbours, %d moved to another cluster\n", count(c.Added, "sample"), count(r.Model.Samples, "sample"), c.Touched, c.Moved)
	fmt.Fprintf(&b, "%s where there were %d: %d kept, %d created, %d merged, %d split off\n", count(c.Clusters, "cluster"), r.Model.Clusters, c.Kept, len(c.Created), len(c.Merged), len(c.Split))
	if c.Chosen {
		b.WriteString("how fine the clusters are was chosen anew, for many samples have come\n")
	}
	var lines []string
	for _, x := range c.Created {
		lines = append(lines, fmt.Sprintf("  created %d: %s, %d of them new", x.Label, count(x.Size, "sample"), x.New))
	}
	for _, x := range c.Merged {
		lines = append(lines, fmt.Sprintf("  merged %d into %d: %s, which makes %d", x.From, x.Into, count(x.Samples, "sample"), x.Size))
	}
	for _, x := range c.Split {
		lines = append(lines, fmt.Sprintf("  split %d off %d: %s of %d", x.Into, x.From, count(x.Samples, "sample"), x.Size))
	}
	if more := len(lines) - mostChanges; more > 0 {
		lines = append(lines[:mostChanges], fmt.Sprintf("  and %d more, in update.json", more))
	}
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	fmt.Fprintf(&b, "mean confidence %.2f\n\n%s, model.mvclust and update.json are in %s (%.1f s)\n", r.Confidence, r.Labels, folder, r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}
