package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/enum"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/memory"
	"github.com/mvclust/mvclust/internal/param"
	"github.com/mvclust/mvclust/method/similarity"
)

type fitOptions struct {
	sourceOptions
	outputOptions
	format     tableFormat
	truth      string
	preset     string
	neighbours positive
	clusters   positive
	examples   string
	metrics    []string
	seed       uint64
	threads    positive
	memory     size
	params     []string
	known      constraintOptions
	thumbs     string
	thumbsRoot string
}

// fitHelp is the long help, up to the settings.
func fitHelp() string {
	return `fit clusters samples that are described in one or more views.

A VIEW is a file, or FILE:NAME for one array or column of it:
` + dataset.Extensions() + `. A file that holds
several views (view0, view1, ...; X1, X2, ...; a cell array X or data; columns of
lists of numbers; the modalities of single cells) gives them all, in order. Every view has one row per sample; a row
that is null or NaN throughout says that the sample lacks the view. Single values
that are missing are an error, unless --fill says how to fill them in.

--edges FILE is a view of links: pairs of samples, by id or by row, perhaps with a
weight. Without a VIEW, the ids that it lists are the samples. A sample in no pair
lacks the view.

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
  levels.csv  id,level0,level1,...: the labels at the other granularities that the
              data support, coarse to fine; with --format parquet, levels.parquet.
              It is not written with --preset paper.
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
follow from the data; views that agree with no other, or only blur the clusters of
another, are left out, with a note.

The same input, settings and seed give the same labels.csv for any --threads.`
}

func newFitCommand() *cobra.Command {
	var o fitOptions
	cmd := &cobra.Command{
		Use:   "fit [flags] VIEW [VIEW...]",
		Short: "Cluster samples",
		Long:  fitHelp(),
		Example: `  mvclust fit view1.npy view2.npy
  mvclust fit data.mat:X --truth data.mat:gt
  mvclust fit images.csv text.csv --id name --metric l2,cosine -o out
  mvclust fit text.npz --edges cites.csv
  mvclust fit data.parquet:image data.parquet:text --format parquet
  mvclust fit data.npz --views 0,2 --preset paper --neighbors 50 --param epochs=500`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(o.edges) == 0 {
				return usagef(cmd, "no VIEW is given; name at least one file, or --edges")
			}
			o.sources = args
			return fitFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	o.flags(cmd.Flags())
	cmd.SetUsageTemplate(usageTemplate() + `
Settings of the method, for --param, with their defaults, ranges, and equations in
the paper:
` + param.Help())
	return cmd
}

func (o *fitOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	o.folderFlag(f, "mvclust-out", "the results")
	o.format.flag(f, "labels")
	o.csvSafeFlag(f)
	o.sourceFlags(f)
	f.StringArrayVar(&o.edges, "edges", nil, "`FILE` or FILE:FROM,TO,WEIGHT of links between samples, such as citations: two columns of ids and perhaps one of weights; one more view, alone or beside others; may be repeated")
	f.StringArrayVar(&o.fill, "fill", nil, "`HOW`, mean, median or zero, single missing values are filled in, by the column; or VIEW=HOW for one view; may be repeated (default they are an error)")
	f.StringVar(&o.truth, "truth", "", "`FILE[:NAME]` of the known classes, used for the scores alone")
	o.known.flags(f)
	f.StringVar(&o.preset, "preset", "auto", "`NAME` of the settings to start from: auto, which adapts to the data, or paper, the published method")
	f.Var(&o.neighbours, "neighbors", fmt.Sprintf("`K`, the number of most probable neighbours by which samples are compared; best near the size of the classes (default chosen from the data, or %d with --preset paper)", mvclust.DefaultNeighbours))
	f.Var(&o.clusters, "clusters", "`NUMBER` of clusters, which are then exactly so many (default chosen from the data)")
	f.StringVar(&o.examples, "examples", "", examplesUsage)
	f.StringSliceVar(&o.metrics, "metric", []string{similarity.Cosine.String()}, "`LIST` of similarity measures, "+enum.Choices[similarity.Metric]()+": one for all views, or one per view, separated by commas")
	f.Lookup("metric").DefValue = similarity.Cosine.String()
	f.Uint64Var(&o.seed, "seed", 0, "`NUMBER` that seeds all random choices (default 0)")
	threadsFlag(f, &o.threads)
	f.Var(&o.memory, "memory", "`SIZE`, such as 8GiB, 8GB or 512MiB, of the memory that the run may use; a run that needs more is refused before it starts (default all that the machine has, or that it may use there)")
	f.StringArrayVar(&o.params, "param", nil, "`NAME=VALUE` of one of the settings below; may be repeated")
	f.StringVar(&o.thumbs, "thumbs", "", "`PICTURES` to show in report.html in place of ids: a folder of files called ID.jpg, .png, .webp or .gif, or FILE:COLUMN of a table with the pictures or their paths")
	f.StringVar(&o.thumbsRoot, "thumbs-root", "", "`DIR` that holds the pictures whose paths a table of --thumbs gives; none outside it is read (default the folder of the table)")
	f.BoolVar(&o.json, "json", false, "print run.json to standard output instead of the summary")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing but errors, and run.json where --json is given")
	o.progressFlag(f)
}

// library returns the options of mvclust.Fit.
func (o *fitOptions) library() (mvclust.Options, error) {
	opt := mvclust.Options{Neighbours: int(o.neighbours), Clusters: int(o.clusters), Seed: o.seed, Threads: int(o.threads), Consume: true}
	preset, err := mvclust.ParsePreset(o.preset)
	if err != nil {
		return opt, fmt.Errorf("--preset: %w", err)
	}
	opt.Preset = preset
	if err := checkThreads(o.threads); err != nil {
		return opt, err
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

// fitFunc clusters, writes the files, and prints the summary or run.json.
func fitFunc(ctx context.Context, out, stderr io.Writer, o fitOptions) error {
	opt, err := o.library()
	if err != nil {
		return err
	}
	if err := o.format.check(); err != nil {
		return err
	}
	j, err := begin(ctx, out, stderr, o.outputOptions)
	if err != nil {
		return err
	}
	defer j.close()
	in, err := o.read(j, &opt)
	if err != nil {
		return err
	}
	j.lap("read")
	if err := j.reserve(o.format.labelsFile(), o.format.levelsFile(), modelFile, runFile, pageName); err != nil {
		return err
	}
	j.noteOld(o.format.other().labelsFile(), o.format.other().levelsFile(), updateFile)

	result, err := j.fit(in.set, opt)
	if err != nil {
		return translate(in.known.explain(err, in.set.IDs), o.named(), in.set)
	}
	r, err := newRunReport(j, &o, in, result)
	if err != nil {
		return err
	}
	page, err := newPage(j, r, in, result)
	if err != nil {
		return err
	}
	if err := j.stageLabels(o.format, in.set.IDs, result.Labels, result.Confidence, r.Names); err != nil {
		return err
	}
	if len(result.Levels) == 0 {
		j.noteOld(o.format.levelsFile())
	} else if err := j.stageLevels(o.format, in.set.IDs, result.Levels); err != nil {
		return err
	}
	if err := j.stage(pageName, page.WriteHTML); err != nil {
		return err
	}
	r.Files, r.Members = j.dir.digests()
	r.Seconds = j.seconds()
	return j.finish(runFile, r, r.summary(filepath.Clean(o.output)))
}

// fitInput is what a fit reads.
type fitInput struct {
	set      *dataset.Set
	truth    *dataset.Truth // nil without --truth
	known    *known
	examples *dataset.Examples // nil without --examples
	pictures *dataset.Pictures // nil without --thumbs
	// pictureMemory is what a picture may take.
	pictureMemory int64
	// truthSource and pictureSource say where the classes and the pictures are.
	truthSource   string
	pictureSource pictureReport
}

// read reads all files, with the memory limited as soon as the sizes are known, and adds
// the constraints to opt.
func (o *fitOptions) read(j *job, opt *mvclust.Options) (*fitInput, error) {
	in := &fitInput{truthSource: o.truth, pictureSource: pictureReport{o.thumbs, o.thumbsRoot}}
	set, err := o.load(j, func(samples int, dims []int, scratch int64) error {
		room, release, err := limitMemory(o.memory, memory.AtHand(), opt, &demand{o.named(), samples, dims, scratch, o.thumbs != ""})
		if err != nil {
			return translate(err, o.named(), &dataset.Set{})
		}
		in.pictureMemory = room
		j.atEnd(release)
		return nil
	})
	if err != nil {
		return nil, fillable(err)
	}
	in.set = set
	samples := set.Views[0].Samples
	if o.truth != "" {
		if in.truth, err = readTruth(j.ctx, o.truth, set.IDs, samples); err != nil {
			return nil, err
		}
		j.opened(in.truth.File.Path)
	}
	if in.known, err = o.known.read(j.ctx, set.IDs, samples); err != nil {
		return nil, err
	}
	j.opened(in.known.paths()...)
	opt.Constraints = in.known.set
	if o.examples != "" {
		if in.examples, opt.Examples, err = readExamples(j, o.examples, set.IDs, samples); err != nil {
			return nil, err
		}
	}
	if o.thumbs == "" && o.thumbsRoot != "" {
		return nil, errors.New("--thumbs-root: there is no --thumbs; give it too, or leave both out")
	}
	if o.thumbs != "" {
		if in.pictures, err = dataset.OpenPictures(j.ctx, o.thumbs, o.thumbsRoot, set.IDs, samples); err != nil {
			return nil, fmt.Errorf("--thumbs %w", err)
		}
		j.atEnd(func() { in.pictures.Close() })
		in.pictureMemory = in.pictures.Share(in.pictureMemory)
		if table := in.pictures.Table(); table != "" {
			j.opened(table)
		}
	}
	return in, nil
}

// fillable names the flag in an error about single missing values.
func fillable(err error) error {
	bad, ok := errors.AsType[*mvclust.InputError](err)
	if !ok {
		return err
	}
	told := *bad
	told.Problem = strings.Replace(bad.Problem, "; fill them in, or", "; fill them in (--fill mean, median or zero), or", 1)
	return &told
}

// stageWords says what a stage does, and what it counts.
func stageWords(s mvclust.Stage) (doing, unit string) {
	switch s {
	case mvclust.StageStructure:
		return "looking for structure", "comparisons"
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
		return "trying granularities", "steps"
	case mvclust.StageAlone:
		return "comparing with single views", "views"
	case mvclust.StagePartition:
		return "moving samples", "sweeps"
	default:
		return string(s), "steps"
	}
}
