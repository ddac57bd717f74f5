package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/synth"
)

type synthOptions struct {
	outputOptions
	format  string
	samples positive
	classes positive
	views   positive
	config  synth.Config // all else
}

// synthReport says what synth wrote.
type synthReport struct {
	File     string      `json:"file"`
	Samples  int         `json:"samples"`
	Classes  int         `json:"classes"`
	Outliers int         `json:"outliers"`
	Largest  int         `json:"largest_class"`
	Smallest int         `json:"smallest_class"`
	Seed     uint64      `json:"seed"`
	Views    []synthView `json:"views"`
	truth    string      // the name of the labels
}

type synthView struct {
	Name    string `json:"name"`
	Dims    int    `json:"dims"`
	Present int    `json:"present"`
}

func newSynthCommand() *cobra.Command {
	o := synthOptions{samples: 2000, classes: 20, views: 2}
	cmd := &cobra.Command{
		Use:   "synth [flags]",
		Short: "Write a synthetic data set whose classes are known",
		Long: `synth writes synth.npz, which fit reads as it stands: the arrays view0, view1, ...
with one row per sample, NaN throughout where the sample lacks the view, and
labels, the class of each sample. Each outlier is a class of its own. With --format
parquet it is synth.parquet, with the columns id, the row counted from 0; view0,
view1, ..., lists of numbers, null where the sample lacks the view; and label.

A class has a centre m in a space of 16 dimensions that all views look at, each
through a matrix W of its own. Sample i appears in view v as

  x_iv = W_v (m + noise_v d_iv)
  d_iv = sqrt(dependence) s_i + sqrt(1-dependence) e_iv

where the views of a sample share its deviation s_i, and e_iv is drawn anew for
each. Half of the variance of either lies in 4 directions that belong to the
class. All of it is Gaussian. The same flags make the same file.`,
		Example: `  mvclust synth -o data --samples 5000 --classes 100 --imbalance 1 --missing 0.3
  mvclust synth -o data --views 3 --dims 64,32,16 --noise 1,1,2 --dependence 0.5
  mvclust fit data/synth.npz --truth data/synth.npz:labels
  mvclust synth -o data --format parquet`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return synthFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.folderFlag(f, "mvclust-synth", "the file")
	f.StringVar(&o.format, "format", "npz", "`NAME` of the format, npz or parquet: synth.npz or synth.parquet")
	f.Var(&o.samples, "samples", "`NUMBER` of samples, outliers included")
	f.Var(&o.classes, "classes", "`NUMBER` of classes, outliers not counted")
	f.Var(&o.views, "views", "`NUMBER` of views")
	f.IntSliceVar(&o.config.Dims, "dims", []int{64}, "`LIST` of the views' dimensions: one for all, or one per view, separated by commas")
	f.Lookup("dims").DefValue = "64"
	f.Float64Var(&o.config.Imbalance, "imbalance", 0, "exponent `A` of the sizes of the classes: class c gets a share of (c+1)^-A; 0 makes them equal, 1 follows Zipf's law (default 0)")
	f.Float64SliceVar(&o.config.Noise, "noise", []float64{1.2}, "`LIST` of the spread within a class over that between the centres, from 0 to 1000: one for all, or one per view, separated by commas")
	f.Lookup("noise").DefValue = "1.2"
	f.Float64Var(&o.config.Dependence, "dependence", 0, "correlation `R`, from 0 to 1, of a sample's deviations from its class in any two views (default 0)")
	f.Float64Var(&o.config.Outliers, "outliers", 0, "`SHARE` of samples, from 0 to below 1, that belong to no class (default 0)")
	f.Float64Var(&o.config.Missing, "missing", 0, "`SHARE` of samples, from 0 to below 1, that lack one view, drawn for each (default 0)")
	f.Uint64Var(&o.config.Seed, "seed", 0, "`NUMBER` that seeds all random choices (default 0)")
	f.BoolVar(&o.json, "json", false, "print what was written as JSON")
	return cmd
}

// synthFunc writes the data and prints what is in them.
func synthFunc(ctx context.Context, out, stderr io.Writer, o synthOptions) error {
	write, truth := dataset.Write, "labels"
	switch o.format {
	case "npz":
	case "parquet":
		write, truth = dataset.WriteParquet, "label"
	default:
		return fmt.Errorf("--format: there is no format %q of data; choose npz or parquet", o.format)
	}
	j, err := begin(ctx, out, stderr, o.outputOptions)
	if err != nil {
		return err
	}
	defer j.close()
	name := "synth." + o.format
	if err := j.reserve(name); err != nil {
		return err
	}
	cfg := o.config
	cfg.Samples, cfg.Classes, cfg.Views = int(o.samples), int(o.classes), int(o.views)
	set, err := generate(ctx, cfg)
	if err != nil {
		return err
	}
	if err := j.stage(name, func(w io.Writer) error { return write(w, set.Views, set.Labels) }); err != nil {
		return err
	}
	r := newSynthReport(cfg, set)
	r.File, r.truth = j.path(name), truth
	return j.finish("", r, r.summary())
}

// generate generates the data, or returns early if ctx is done.
func generate(ctx context.Context, cfg synth.Config) (*synth.Set, error) {
	type made struct {
		set *synth.Set
		err error
	}
	done := make(chan made, 1)
	go func() {
		set, err := synth.Generate(cfg)
		done <- made{set, err}
	}()
	select {
	case m := <-done:
		if m.err != nil {
			return nil, fieldsToFlags(m.err)
		}
		return m.set, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fieldsToFlags replaces the fields of synth.Config in an error by flags.
func fieldsToFlags(err error) error {
	var words []string
	for _, field := range []string{"Samples", "Classes", "Views", "Dims", "Imbalance", "Noise", "Dependence", "Outliers", "Missing"} {
		words = append(words, field, "--"+strings.ToLower(field))
	}
	return fmt.Errorf("%s", strings.NewReplacer(words...).Replace(err.Error()))
}

func newSynthReport(cfg synth.Config, set *synth.Set) *synthReport {
	r := &synthReport{Samples: len(set.Labels), Classes: cfg.Classes, Seed: cfg.Seed}
	sizes := make([]int, cfg.Classes)
	for i, l := range set.Labels {
		if set.Outlier[i] {
			r.Outliers++
		} else {
			sizes[l]++
		}
	}
	r.Largest, r.Smallest = sizes[0], sizes[len(sizes)-1]
	for i, v := range set.Views {
		r.Views = append(r.Views, synthView{fmt.Sprint("view", i), v.Dims, v.Count()})
	}
	return r
}

func (r *synthReport) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, %d to %d each, and %s\n", words.Count(r.Samples, "sample"), words.Count(r.Classes, "class"), r.Smallest, r.Largest, words.Count(r.Outliers, "outlier"))
	for _, v := range r.Views {
		fmt.Fprintf(&b, "  %s: %s, %s%% of the samples lack it\n", v.Name, words.Count(v.Dims, "dimension"), percent(1-float64(v.Present)/float64(r.Samples)))
	}
	fmt.Fprintf(&b, "\nview0 to view%d and %s are in %s\n", len(r.Views)-1, r.truth, words.Printable(r.File))
	return b.String()
}
