package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/param"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/report"
	"github.com/mvclust/mvclust/score"
)

type cutOptions struct {
	outputOptions
	level    int // -1 where it is not given
	clusters positive
	coarser  bool
	finer    bool
	examples string
	threads  positive
}

func newCutCommand() *cobra.Command {
	var o cutOptions
	cmd := &cobra.Command{
		Use:   "cut [flags] OUT",
		Short: "Make another granularity the current one",
		Long: `cut changes how fine the clusters of a result are, without computing it again. OUT
is a folder that "mvclust fit" has written. Say what is wanted in one way:

  --level N      the level N that "mvclust levels" lists
  --coarser      the next level with fewer clusters
  --finer        the next level with more clusters
  --clusters K   exactly K clusters: the clusters of the nearest level are merged,
                 or split
  --examples F   the level that agrees best with a few samples whose classes are
                 known; then these are put together by label, and apart, and name
                 their clusters. With --clusters, both hold.

Labels, report, model and run.json in OUT are replaced, all or none. explain,
suggest, predict and update then speak of the new clusters. Examples stay in
force until others are given. Scores and pictures are made anew where the files of
--truth and --thumbs are still there.`,
		Example: `  mvclust cut mvclust-out --finer
  mvclust cut mvclust-out --clusters 12
  mvclust cut mvclust-out --examples known.csv`,
		Args: oneFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.output = args[0]
			if err := o.check(cmd); err != nil {
				return err
			}
			return cutFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.level, "level", -1, "`N` of the level, counted from 0, the coarsest")
	f.Lookup("level").DefValue = ""
	f.BoolVar(&o.coarser, "coarser", false, "take the next level with fewer clusters")
	f.BoolVar(&o.finer, "finer", false, "take the next level with more clusters")
	f.Var(&o.clusters, "clusters", "`NUMBER` of clusters, which are then exactly so many")
	f.StringVar(&o.examples, "examples", "", examplesUsage)
	o.csvSafeFlag(f)
	threadsFlag(f, &o.threads)
	f.BoolVar(&o.json, "json", false, "print run.json to standard output instead of the summary")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing but errors, and run.json where --json is given")
	return cmd
}

// check reports flags that say nothing, or two things.
func (o *cutOptions) check(cmd *cobra.Command) error {
	ways := 0
	for _, given := range []bool{cmd.Flags().Changed("level"), o.coarser, o.finer, o.clusters > 0 || o.examples != ""} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return usagef(cmd, "say in one way what is wanted: --level, --coarser, --finer, or --clusters and --examples")
	}
	return checkThreads(o.threads)
}

// cutFunc cuts, writes the files, and prints the summary or run.json.
func cutFunc(ctx context.Context, out, stderr io.Writer, o cutOptions) error {
	if info, err := os.Stat(o.output); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder that \"mvclust fit\" has written; name one", words.Printable(o.output))
	}
	j, err := begin(ctx, out, stderr, o.outputOptions)
	if err != nil {
		return err
	}
	defer j.close()
	c, err := o.read(j)
	if err != nil {
		return err
	}
	var next *mvclust.Model
	err = j.during("cutting", "levels", func() (err error) {
		next, err = c.model.Cut(ctx, c.want)
		return err
	})
	if err != nil {
		return translate(err, nil, &dataset.Set{IDs: c.model.IDs})
	}
	j.lap("cut")
	staged := j.beside(func() error { return j.stageModel(c.format, next) })
	if c.updated != nil {
		if err := <-staged; err != nil {
			return err
		}
		r := c.updatedReport(j, next)
		return j.finish(updateFile, r, r.cutSummary(c.model, filepath.Clean(o.output)))
	}
	r, page, err := c.report(j, next)
	if err == nil {
		err = j.stage(pageName, page.WriteHTML)
	}
	if err := cmp.Or(<-staged, err); err != nil {
		return err
	}
	r.Files, r.Members = j.dir.digests()
	r.Cut.Seconds = j.seconds()
	return j.finish(runFile, r, r.cutSummary(c.model, filepath.Clean(o.output)))
}

// cutting is what a cut works on.
type cutting struct {
	model    *mvclust.Model
	run      *runReport    // nil where the model was updated
	updated  *updateReport // nil where it was not
	format   tableFormat
	want     mvclust.CutOptions
	examples *dataset.Examples // nil without --examples
	truth    *dataset.Truth    // nil where there is none
	pictures *dataset.Pictures // nil where there are none
}

// read reads the folder and the examples, and says what is wanted of the library.
func (o *cutOptions) read(j *job) (*cutting, error) {
	c := &cutting{}
	err := j.during("reading the model", "files", func() (err error) {
		c.model, j.model, err = openModel(j.ctx, o.output)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := c.readRun(j); err != nil && !c.readUpdate(j) {
		return nil, err
	}
	c.want = mvclust.CutOptions{Clusters: int(o.clusters), Threads: int(o.threads)}
	if o.examples != "" {
		if c.examples, c.want.Examples, err = readExamples(j, o.examples, c.model.IDs, c.model.Samples()); err != nil {
			return nil, err
		}
	} else if o.clusters == 0 {
		if c.want.Level, err = o.wanted(c.model, j.model); err != nil {
			return nil, err
		}
	}
	j.lap("read")
	return c, nil
}

// readRun reads run.json, and checks that it is of the model and that its files can be replaced.
func (c *cutting) readRun(j *job) (err error) {
	if c.run, err = readRun[runReport](j.path(runFile)); err != nil {
		return err
	}
	if c.run.Inputs.Samples != c.model.Samples() || len(c.run.Functions) != len(c.model.Views) || len(c.run.Inputs.Views) != len(c.model.Views) {
		return fmt.Errorf("%s is not of the model beside it, which was updated since; run \"mvclust fit\" on all samples", j.path(runFile))
	}
	c.format = tableFormat(strings.TrimPrefix(c.run.Labels, "labels."))
	if err := c.format.check(); err != nil {
		return fmt.Errorf("%s names the labels %s, which \"mvclust fit\" does not write; run it again", j.path(runFile), words.Quote(c.run.Labels))
	}
	return j.reserve(c.format.labelsFile(), c.format.levelsFile(), modelFile, runFile, pageName)
}

// readUpdate reads update.json, if the model was updated, and reports whether it is of the model and
// its files can be replaced.
func (c *cutting) readUpdate(j *job) bool {
	r, err := readRun[updateReport](j.path(updateFile))
	if err != nil || r.Samples != c.model.Samples() {
		return false
	}
	c.run, c.updated, c.format = nil, r, tableFormat(strings.TrimPrefix(r.Labels, "labels."))
	return c.format.check() == nil && j.reserve(c.format.labelsFile(), c.format.levelsFile(), modelFile, updateFile) == nil
}

// wanted returns the level that --level, --coarser or --finer names.
func (o *cutOptions) wanted(m *mvclust.Model, path string) (int, error) {
	if len(m.Levels) == 0 {
		return 0, fmt.Errorf("%s has no levels: %s, or give --clusters", path, withoutLevels)
	}
	last := len(m.Levels) - 1
	if !o.coarser && !o.finer {
		if o.level < 0 || o.level > last {
			return 0, fmt.Errorf("--level: there is no level %d, only 0 to %d; \"mvclust levels\" lists them", o.level, last)
		}
		return o.level, nil
	}
	coarser, finer := m.Beside()
	switch {
	case o.coarser && coarser < 0:
		return 0, fmt.Errorf("--coarser: no level has fewer clusters than the %d that there are; give --clusters", m.Clusters())
	case o.coarser:
		return coarser, nil
	case finer < 0:
		return 0, fmt.Errorf("--finer: no level has more clusters than the %d that there are; give --clusters", m.Clusters())
	}
	return finer, nil
}

// readRun reads run.json.
func readRun[T runReport | updateReport](path string) (*T, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostReport {
		return nil, fmt.Errorf("%s is missing or no file; name a folder as \"mvclust fit\" has written it", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	r := new(T)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // settings are written back as they were
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; run \"mvclust fit\" again", path, err)
	}
	return r, nil
}

// cutReport says in run.json what the result was cut to.
type cutReport struct {
	Started  time.Time     `json:"started"`
	Seconds  float64       `json:"seconds"`
	Stages   []stageReport `json:"stages"`
	Clusters int           `json:"clusters"` // before
}

// report makes run.json and the page of the new model.
func (c *cutting) report(j *job, next *mvclust.Model) (*runReport, *report.Report, error) {
	r := c.run
	result, err := c.result(next)
	if err != nil {
		return nil, nil, err
	}
	r.Cut = &cutReport{Started: j.started.UTC().Truncate(time.Millisecond), Clusters: c.model.Clusters()}
	r.Settings["neighbors"], r.Settings["resolution"] = next.Settings.Neighbours, next.Settings.Resolution
	if len(next.Levels) > 0 {
		r.Levels, r.Level = next.Levels, &next.Level
	}
	r.Edges, r.Clusters, r.Singletons = next.Graph.Edges(), len(result.Sizes), 0
	for _, size := range result.Sizes {
		if size == 1 {
			r.Singletons++
		}
	}
	r.Sizes, r.Confidence = result.Sizes[:min(mostSizes, len(result.Sizes))], mean(next.Confidence)
	if err := c.keep(j, next); err != nil {
		return nil, nil, err
	}
	r.Examples, r.Names = newExamplesReport(c.source(r.Examples), next.Examples, next.Against, next.IDs), mvclust.Names(next.Labels, next.Examples)
	set := &dataset.Set{IDs: next.IDs, Files: r.Inputs.Files}
	for _, v := range next.Views {
		set.Views = append(set.Views, v.Rows)
	}
	stages := r.Stages
	r.Notes = slices.DeleteFunc(r.Notes, func(s string) bool { return s == linkedNote || strings.Contains(s, " pictures cannot be shown, ") }) // said anew
	if next.Linked && next.Level < 0 {
		r.Notes = append(r.Notes, linkedNote)
		j.progress.note(linkedNote)
	}
	page, err := newPage(j, r, &fitInput{set: set, truth: c.truth, pictures: c.pictures}, result)
	r.Cut.Stages, r.Stages = j.stages, stages
	return r, page, err
}

// source returns the examples that were given, or else says which file those of before are of; nil
// where neither is there.
func (c *cutting) source(before *examplesReport) *dataset.Examples {
	if c.examples == nil && before != nil && before.File != nil {
		return &dataset.Examples{File: *before.File}
	}
	return c.examples
}

// keep scores the new labels by the classes of the fit, and finds its pictures again. What is gone
// or has changed since is left out, with a note.
func (c *cutting) keep(j *job, next *mvclust.Model) error {
	r := c.run
	dropped := func(what string, err error) error {
		if j.ctx.Err() != nil {
			return j.ctx.Err()
		}
		note := fmt.Sprintf("%s of the fit were dropped: %v", what, err)
		r.Notes = append(r.Notes, note)
		j.progress.note(note)
		return nil
	}
	if from := r.Inputs.Pictures; from != nil && c.pictures == nil {
		pictures, err := dataset.OpenPictures(j.ctx, from.Source, from.Root, next.IDs, next.Samples())
		if err != nil {
			r.Inputs.Pictures = nil
			if err := dropped("the pictures", err); err != nil {
				return err
			}
		} else {
			j.atEnd(pictures.Close)
			c.pictures = pictures
		}
	}
	if r.Scores == nil || r.Inputs.Truth == nil {
		return nil
	}
	from := *r.Inputs.Truth
	r.Scores, r.Inputs.Truth = nil, nil
	truth, err := readTruth(j.ctx, from.Source, next.IDs, next.Samples())
	if err == nil && truth.File.SHA256 != from.SHA256 {
		err = fmt.Errorf("%s has changed since; \"mvclust eval\" scores labels", words.Printable(from.Path))
	}
	if err != nil {
		return dropped("the scores", err)
	}
	s, err := score.Compare(truth.Labels, next.Labels)
	if err != nil {
		return err
	}
	j.opened(truth.File.Path)
	c.truth, r.Scores, r.Inputs.Truth = truth, &s, &from
	return nil
}

// result puts together what the page shows.
func (c *cutting) result(next *mvclust.Model) (*mvclust.Result, error) {
	r, m := c.run, next
	opt := mvclust.Options{Seed: r.Seed, Threads: r.Threads, Examples: m.Examples, Constraints: m.Constraints}
	var err error
	if opt.Preset, err = mvclust.ParsePreset(r.Preset); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; run \"mvclust fit\" again", runFile, err)
	}
	for _, p := range opt.Parameters() {
		if given, ok := r.Settings[p.Name]; ok {
			_ = param.Apply(&opt, fmt.Sprintf("%s=%v", p.Name, given)) // what the preset decides stays
		}
	}
	opt.Neighbours, opt.Resolution = m.Settings.Neighbours, m.Settings.Resolution
	result := &mvclust.Result{
		Labels: m.Labels, Confidence: m.Confidence, Graph: m.Graph, Neighbourhoods: m.Neighbourhoods,
		Levels: m.Levels, Level: m.Level, Against: m.Against,
		Granularity: mvclust.Granularity{Neighbours: opt.Neighbours, Resolution: opt.Resolution},
		Functions:   &probability.Functions{ByView: m.Functions.ByView, Cross: m.Functions.Cross, BaseRate: m.Functions.BaseRate, Curve: r.Learning.Curve, Kept: r.Learning.Kept},
		Sizes:       make([]int, m.Clusters()),
	}
	for _, l := range m.Labels {
		result.Sizes[l]++
	}
	trace := &result.Trace
	trace.Pairs, trace.Edges, trace.Sweeps = r.Pairs, m.Graph.Edges(), r.Partition.Sweeps
	trace.Alone = r.Alone
	if r.Agreement != nil {
		trace.Agreement = &agreement.Report{Agreement: r.Agreement, LeftOut: make([]bool, len(m.Views))}
	}
	for k, v := range m.Views {
		opt.Metrics = append(opt.Metrics, v.Metric)
		trace.Shares = append(trace.Shares, r.Inputs.Views[k].Share)
		trace.Similarities = append(trace.Similarities, r.Functions[k].Similarities)
		if trace.Agreement != nil {
			trace.Agreement.LeftOut[k] = v.LeftOut
		}
	}
	if r.Choice != nil {
		trace.Tried = r.Choice.Tried
		for at, t := range trace.Tried {
			if t.Neighbours == m.Settings.Neighbours && (t.Resolution == m.Settings.Resolution || t.Resolution == r.Choice.Chosen.Resolution && trace.Chosen == 0) {
				trace.Chosen = at
			}
		}
	}
	result.Options = opt
	return result, nil
}

// updatedReport makes update.json of the new model.
func (c *cutting) updatedReport(j *job, next *mvclust.Model) *updateReport {
	r := c.updated
	r.Cut = &cutReport{Started: j.started.UTC().Truncate(time.Millisecond), Clusters: c.model.Clusters(), Stages: j.stages}
	r.describe(next)
	r.Examples = newExamplesReport(c.source(r.Examples), next.Examples, next.Against, next.IDs)
	r.Files, r.Members = j.dir.digests()
	r.Cut.Seconds = j.seconds()
	return r
}

// cutSummary is what cut prints of a model that was updated.
func (r *updateReport) cutSummary(before *mvclust.Model, folder string) string {
	return fmt.Sprintf("%s\n%smean confidence %.2f\n\n%s, model.mvclust and update.json are in %s (%.1f s)\n",
		cutLine(before, len(r.Sizes), &r.Level, r.Levels), r.Examples.summary(), r.Confidence, r.Labels, words.Printable(folder), r.Cut.Seconds)
}

// cutLine says how many clusters there are now, and at what level, if at one.
func cutLine(before *mvclust.Model, clusters int, level *int, levels []mvclust.Level) string {
	line := fmt.Sprintf("%s in %s, %d before", words.Count(before.Samples(), "sample"), words.Count(clusters, "cluster"), before.Clusters())
	if level != nil && *level >= 0 {
		line += fmt.Sprintf("; level %d of 0 to %d", *level, len(levels)-1)
	}
	return line
}

// cutSummary is what cut prints.
func (r *runReport) cutSummary(before *mvclust.Model, folder string) string {
	var b strings.Builder
	b.WriteString(cutLine(before, r.Clusters, r.Level, r.Levels))
	largest := strings.Trim(fmt.Sprint(r.Sizes[:min(10, len(r.Sizes))]), "[]")
	fmt.Fprintf(&b, "\n%d of a single sample; the largest: %s\n", r.Singletons, largest)
	b.WriteString(r.Examples.summary())
	fmt.Fprintf(&b, "mean confidence %.2f\n\n%s, model.mvclust, run.json and report.html are in %s (%.1f s)\n", r.Confidence, r.Labels, words.Printable(folder), r.Cut.Seconds)
	return b.String()
}
