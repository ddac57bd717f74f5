package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/param"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/score"
)

type fitOptions struct {
	sources    []string
	output     string
	format     string
	views      []string
	id         string
	index      string
	truth      string
	preset     string
	neighbours positive
	metrics    []string
	seed       uint64
	threads    positive
	memory     size
	params     []string
	known      constraintOptions
	thumbs     string
	json       bool
	quiet      bool
}

func newFitCommand() *cobra.Command {
	var o fitOptions
	cmd := &cobra.Command{
		Use:   "fit [flags] VIEW [VIEW...]",
		Short: "Cluster samples",
		Long: `fit clusters samples that are described in one or more views.

A VIEW is a file, or FILE:NAME for one array or column of it: .npy, .npz, .mat
(version 5 to 7.3), .parquet, .arrow, .feather, .csv or .tsv. A file that holds
several views (view0, view1, ...; X1, X2, ...; a cell array X or data; columns of
lists of numbers) gives them all, in order. Every view has one row per sample; a row
that is null or NaN throughout says that the sample lacks the view.

These files are written to the output folder, each whole or not at all:

  labels.csv  id,label,confidence, one row per sample in the order of the input.
              The id is the row, counted from 0, or the sample's own id; labels
              are numbered from 0 by falling size of the cluster. The confidence,
              from 0 to 1, is the probability that at least one link into the
              cluster is right, times the lead over the runner-up:
                (1 - product of (1 - P) over the links into the cluster)
                x max(0, (own - next) / (own + next)),
              with own and next the sums of the sample's link probabilities P to
              its cluster and to the next best one. It is 0 for a sample that is
              alone. With --format parquet it is labels.parquet, with the same
              columns.
  run.json    what was read, the settings, the probability functions, what every
              stage did and every choice that was made, with the scores where
              --truth is given.
  model.mvclust
              the clustering with the views, which the commands explain, predict,
              update and suggest read.
  report.html the result for people, in one file that opens offline: a map of
              the samples, what each cluster is like, what each view says, the
              settings, and the scores where --truth is given.

Nothing needs to be set. The number of neighbours and how fine the clusters are
follow from the data; views that agree with no other are left out, with a note.

The same input, settings and seed give the same labels.csv for any --threads.`,
		Example: `  mvclust fit view1.npy view2.npy
  mvclust fit data.mat:X --truth data.mat:gt
  mvclust fit images.csv text.csv --id name --metric l2,cosine -o out
  mvclust fit data.parquet:image data.parquet:text --format parquet
  mvclust fit data.npz --views 0,2 --preset paper --neighbors 50 --param epochs=500`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(cmd, "no VIEW is given; name at least one file")
			}
			o.sources = args
			var p *progress
			if !o.quiet {
				p = newProgress(cmd.ErrOrStderr())
				defer p.close()
				defer onAbandon(cmd.Context(), func() error { p.close(); return nil })()
			}
			return fitFunc(cmd.Context(), cmd.OutOrStdout(), p, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.output, "output", "o", "mvclust-out", "folder `DIR` for the results, made where it is missing")
	f.StringVar(&o.format, "format", "csv", "`NAME` of the format of the labels, csv or parquet: labels.csv or labels.parquet")
	f.StringSliceVar(&o.views, "views", nil, "`LIST` of the views to use, by number from 0 or by name, with commas between (default all)")
	f.StringVar(&o.id, "id", "", "`COLUMN` of tables that holds the samples' ids, or FILE[:NAME] of an array of ids (default a column named id, or one that has the names of rows)")
	f.StringVar(&o.index, "index", "", "`FILE:NAME` of a cell array that lists, for each view, the samples that have it, counted from 1, or of a matrix of 0 and 1 with a column per view")
	f.StringVar(&o.truth, "truth", "", "`FILE[:NAME]` of the known classes; they serve for the scores alone, the method never sees them")
	o.known.flags(f)
	f.StringVar(&o.preset, "preset", "auto", "`NAME` of the settings to start from, auto, which decides by itself what data need, or paper, the published method")
	f.Var(&o.neighbours, "neighbors", fmt.Sprintf("`K`, how many most probable neighbours a sample is compared by; best near the size of the classes (default chosen from the data, or %d with --preset paper)", mvclust.DefaultNeighbours))
	f.StringSliceVar(&o.metrics, "metric", []string{similarity.Cosine.String()}, "`LIST` of similarity measures, "+enum.Choices[similarity.Metric]()+": one for all views, or one per view with commas between")
	f.Lookup("metric").DefValue = similarity.Cosine.String()
	f.Uint64Var(&o.seed, "seed", 0, "`NUMBER` that decides all that is drawn at random (default 0)")
	f.Var(&o.threads, "threads", "`NUMBER` of processors to use; does not change the result (default all)")
	f.Var(&o.memory, "memory", "`SIZE`, such as 8GiB, 8GB or 512MiB, of the memory that the run may take; one that needs more is refused before it starts (default as much as it needs)")
	f.StringArrayVar(&o.params, "param", nil, "`NAME=VALUE` of one of the settings below; may be repeated")
	f.StringVar(&o.thumbs, "thumbs", "", thumbsHelp)
	f.BoolVar(&o.json, "json", false, "print run.json to standard output instead of the summary")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing but errors, and run.json where --json is given")
	cmd.SetUsageTemplate(usageTemplate() + `
Settings of the method, for --param, with their defaults, what they may be, and
their equations in the paper:
` + param.Help())
	return cmd
}

// library returns the options of mvclust.Fit.
func (o *fitOptions) library() (mvclust.Options, error) {
	opt := mvclust.Options{Neighbours: int(o.neighbours), Seed: o.seed, Threads: int(o.threads), Consume: true}
	preset, err := mvclust.ParsePreset(o.preset)
	if err != nil {
		return opt, fmt.Errorf("--preset: %w", err)
	}
	opt.Preset = preset
	if opt.Threads > maxThreads {
		return opt, fmt.Errorf("--threads: %d is more than %d; leave it out to use all processors", opt.Threads, maxThreads)
	}
	for _, name := range o.metrics {
		m, err := similarity.ParseMetric(name)
		if err != nil {
			return opt, fmt.Errorf("--metric: %w", err)
		}
		opt.Metrics = append(opt.Metrics, m)
	}
	for _, assignment := range o.params {
		if err := param.Apply(&opt, assignment); err != nil {
			return opt, err
		}
	}
	return opt, nil
}

// maxThreads is far beyond the processors of any machine that this meets.
const maxThreads = 1024

// fitFunc clusters, writes the files, and prints the summary or run.json to out.
func fitFunc(ctx context.Context, out io.Writer, p *progress, o fitOptions) error {
	started := time.Now()
	opt, err := o.library()
	if err != nil {
		return err
	}
	if err := checkFormat(o.format); err != nil {
		return err
	}
	labels, other := labelsFiles(o.format)
	dir, err := openFolder(ctx, o.output)
	if err != nil {
		return err
	}
	defer dir.close()

	given, err := o.read(ctx, &opt, p)
	defer given.close()
	if err != nil {
		return err
	}
	set, readingTook := given.set, time.Since(started)
	for _, note := range set.Notes {
		p.note(note)
	}
	inputs := given.paths()
	for _, name := range []string{labels, modelFile, "run.json", pageName} {
		if err := dir.spare(name, inputs); err != nil {
			return err
		}
	}
	noteOld(p, dir, inputs, other)

	opt.Progress = func(s mvclust.Progress) {
		doing, unit := stageWords(s.Stage)
		p.update(doing, unit, s.Done, s.Total, s.Share)
	}
	saved, err := beginModel(ctx, dir, set.Views)
	if err != nil {
		return err
	}
	defer saved.abandon()
	result, err := mvclust.Fit(ctx, set.Views, opt)
	if err != nil {
		return explain(err, o.sources, set)
	}
	if err := saved.finish(mvclust.NewModel(set.Views, result, set.IDs)); err != nil {
		return err
	}
	r := newRunReport(&o, set, readingTook, result)
	if r.Constraints, err = given.known.report(result.Labels); err != nil {
		return err
	}
	r.Labels = labels
	r.Started = started.UTC().Truncate(time.Millisecond)
	for _, note := range r.Notes[len(set.Notes):] {
		p.note(note)
	}
	if truth := given.truth; truth != nil {
		s, err := score.Compare(truth.Labels, result.Labels)
		if err != nil {
			return err
		}
		r.Inputs.Truth, r.Scores = &truth.File, &s
	}
	page, err := newPage(ctx, p, r, set, given.truth, given.pictures, result)
	if err != nil {
		return err
	}
	err = stageLabels(ctx, dir, o.format, set.IDs, result.Labels, result.Confidence)
	if err == nil {
		err = dir.stage(ctx, pageName, page.WriteHTML)
	}
	if err != nil {
		return err
	}
	r.Seconds = time.Since(started).Seconds()
	text, err := encode(r)
	if err != nil {
		return err
	}
	if err := dir.write(ctx, "run.json", text); err != nil { // and all the others with it
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

// given is what a fit reads.
type given struct {
	set      *dataset.Set
	truth    *dataset.Truth // nil where it is not given
	known    *known
	pictures *dataset.Pictures // the same
	release  func()            // of the limit of memory
}

// read reads all files, with the memory limited as soon as the sizes are known, and adds
// the constraints to opt. What it returns is to be closed, also after an error.
func (o *fitOptions) read(ctx context.Context, opt *mvclust.Options, p *progress) (*given, error) {
	const reading = "reading files"
	p.update(reading, "bytes", 0, 1, 0)
	g := &given{release: func() {}}
	var err error
	g.set, err = dataset.Load(ctx, o.sources, dataset.Options{
		Views: o.views, ID: o.id, Index: o.index,
		Sides: func(samples int, dims []int, scratch int64) error {
			release, err := limitMemory(o.memory, *opt, samples, dims, scratch)
			if err != nil {
				return explain(err, o.sources, &dataset.Set{})
			}
			g.release = release
			return nil
		},
		Progress: func(done, total int64) { p.update(reading, "bytes", int(min(done, total-1)), int(total), 0) },
	})
	if err != nil {
		return g, err
	}
	samples := g.set.Views[0].Samples
	if o.truth != "" {
		if g.truth, err = readTruth(ctx, o.truth, g.set.IDs, samples); err != nil {
			return g, err
		}
	}
	if g.known, err = o.known.read(ctx, g.set.IDs, samples); err != nil {
		return g, err
	}
	opt.Constraints = g.known.set
	if g.pictures, err = openThumbs(ctx, o.thumbs, g.set); err != nil {
		return g, err
	}
	p.update(reading, "bytes", 1, 1, 0)
	return g, nil
}

// paths returns the files that were read, which no result may replace.
func (g *given) paths() []string {
	var paths []string
	for _, f := range g.set.Files {
		paths = append(paths, f.Path)
	}
	if g.truth != nil {
		paths = append(paths, g.truth.File.Path)
	}
	return append(paths, g.known.files()...)
}

func (g *given) close() {
	g.release()
	if g.pictures != nil {
		g.pictures.Close()
	}
}

// printing wraps an error of standard output.
func printing(err error) error {
	if err != nil {
		return fmt.Errorf("the output cannot be printed: %w", cause(err))
	}
	return nil
}

// stageWords says what a stage does, and what it counts.
func stageWords(s mvclust.Stage) (doing, unit string) {
	switch s {
	case mvclust.StagePrepare:
		return "preparing views", "views"
	case mvclust.StageNeighbours:
		return "finding neighbours", "rows"
	case mvclust.StagePairs:
		return "comparing pairs", "pairs"
	case mvclust.StageLearn:
		return "learning functions", "epochs"
	case mvclust.StageFuse:
		return "fusing views", "pairs"
	case mvclust.StageRefine:
		return "refining the graph", "samples"
	case mvclust.StageChoose:
		return "trying granularities", "partitions"
	case mvclust.StagePartition:
		return "moving samples", "sweeps"
	default:
		return string(s), "steps"
	}
}
