package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust/internal/bench"
	"github.com/mvclust/mvclust/internal/markdown"
	"github.com/mvclust/mvclust/internal/words"
)

func newBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the method",
		Long:  "bench measures how good the results are, and how fast. Its commands say how.",
		Args:  noSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchSetsCommand(), newBenchAutoCommand(), newBenchPaperCommand(), newBenchSpeedCommand())
	return cmd
}

type benchSetsOptions struct {
	data   string
	output string
	quick  bool
	json   bool
	names  []string
}

// benchReport is what bench sets measured, and where.
type benchReport struct {
	Command    string          `json:"command"`
	Date       string          `json:"date"`
	Version    version         `json:"version"`
	Processors int             `json:"processors"`
	Cases      []*bench.Result `json:"cases"`
}

func newBenchSetsCommand() *cobra.Command {
	o := benchSetsOptions{}
	cmd := &cobra.Command{
		Use:   "sets [flags] [NAME...]",
		Short: "Score the method on a folder of data sets",
		Long: `sets clusters data sets whose classes are known, with the paper's method, and
writes a table of the scores in Markdown: first the cases of the paper, then every
other .npz file of the folder, and .mat file of its folder mat, with all its views.
A NAME is that of a file without the extension, such as BUAA or mat/MSRC; without
one, all sets are run. What is not there is skipped, and the table says so.

The known classes serve for the scores, and for K, the number of neighbours: this
method needs it near the size of the classes and cannot find it out. The sets of
the paper have a K that was set by hand; the others take the mean size of their
classes.`,
		Example: `  mvclust bench sets --data datasets -o results.md
  mvclust bench sets --quick
  mvclust bench sets Handwritten 100Leaves --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return benchSetsFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.data, "data", filepath.Join("..", "shared", "datasets"), "folder `DIR` of the data sets")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for the table, a section of a page of which all else stays as it is; its folder is made where it is missing (default standard output)")
	f.BoolVar(&o.quick, "quick", false, "run one case of every file of at most 1 MiB")
	f.BoolVar(&o.json, "json", false, "print what was measured as JSON to standard output")
	return cmd
}

// benchSetsFunc runs the cases, tells on stderr how they go, and writes the table.
func benchSetsFunc(ctx context.Context, out, stderr io.Writer, o benchSetsOptions) error {
	cases, err := o.cases()
	if err != nil {
		return err
	}
	var page *sectionPage
	if o.output != "" {
		var inputs []string
		for _, c := range cases {
			inputs = append(inputs, filepath.Join(o.data, c.File))
		}
		if page, err = openSection(ctx, o.output, "mvclust bench sets", inputs); err != nil {
			return err
		}
		defer page.dir.close()
	}
	r := &benchReport{
		Command: o.command(), Date: time.Now().UTC().Format(time.DateOnly),
		Version: currentVersion(), Processors: runtime.GOMAXPROCS(0),
	}
	if r.Cases, err = runCases(ctx, stderr, o.data, cases); err != nil {
		return err
	}
	markdown := r.markdown()
	if page != nil {
		if err := page.write(ctx, markdown); err != nil {
			return err
		}
	}
	switch {
	case o.json:
		return show(out, true, r, "")
	case page == nil:
		_, err = io.WriteString(out, markdown)
	default:
		_, err = fmt.Fprintf(out, "the table is in %s\n", o.output)
	}
	return printing(err)
}

// cases returns the cases that were asked for.
func (o *benchSetsOptions) cases() ([]bench.Case, error) {
	all, err := bench.Cases(o.data)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	chosen, err := chosenSets(all, bench.Case.Name, o.names)
	if err != nil || !o.quick {
		return chosen, err
	}
	if chosen = bench.Quick(o.data, chosen); len(chosen) == 0 {
		return nil, errors.New("--quick: no file of these sets has at most 1 MiB; leave it out")
	}
	return chosen, nil
}

// chosenSets returns those of all whose name is among the wanted, or all where none is.
func chosenSets[T any](all []T, name func(T) string, wanted []string) ([]T, error) {
	var names []string
	for _, x := range all {
		names = append(names, name(x))
	}
	for _, w := range wanted {
		if !slices.Contains(names, w) {
			return nil, unknownSet(w, names)
		}
	}
	return slices.DeleteFunc(all, func(x T) bool {
		return len(wanted) > 0 && !slices.Contains(wanted, name(x))
	}), nil
}

// unknownSet is the error about a name that is none of the sets'.
func unknownSet(name string, names []string) error {
	return fmt.Errorf("there is no set %q%s; choose among %s", name, words.DidYouMean(name, names), strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", "))
}

// command returns the words that the command was given, without a default and
// without what leads to a folder on this machine alone.
func (o *benchSetsOptions) command() string {
	words := []string{"bench", "sets", "--data", portable(o.data)}
	if o.output != "" {
		words = append(words, "-o", portable(o.output))
	}
	if o.quick {
		words = append(words, "--quick")
	}
	if o.json {
		words = append(words, "--json")
	}
	return "mvclust " + quoted(append(words, o.names...))
}

// portable returns the last element of an absolute path, and else the path with
// slashes.
func portable(path string) string {
	if filepath.IsAbs(path) {
		path = filepath.Base(path)
	}
	return filepath.ToSlash(path)
}

// runCases runs the cases one after the other, with a line on stderr for each.
func runCases(ctx context.Context, stderr io.Writer, folder string, cases []bench.Case) ([]*bench.Result, error) {
	var results []*bench.Result
	done := 0
	for i, c := range cases {
		say(stderr, oneLine(fmt.Sprintf("%d/%d %s%s: ", i+1, len(cases), c.Name(), choices(c.Views, c.Missing, c.Completion))))
		start := time.Now()
		r, err := bench.Run(ctx, folder, c)
		if err != nil {
			say(stderr, "\n")
			return nil, err
		}
		results = append(results, r)
		if r.Skipped != "" {
			say(stderr, oneLine("skipped: "+r.Skipped)+"\n")
			continue
		}
		done++
		ari, _ := r.Mean(func(t *bench.Trial) float64 { return t.Scores.ARI })
		say(stderr, fmt.Sprintf("ARI %s in %s\n", percent(ari), short(time.Since(start))))
	}
	if done == 0 {
		return nil, errors.New("no case could be run; mend what the lines above say, or choose other sets")
	}
	return results, nil
}

// choices says in words which views a case takes, and how.
func choices(views []int, missing []float64, completion bool) string {
	var s string
	if views != nil {
		s = ", views " + numbers(views)
	}
	if missing != nil {
		s += ", " + lacking(views, missing)
	}
	if completion {
		s += ", completion"
	}
	return s
}

func numbers(views []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(views), "[]"), " ", ", ")
}

// lacking says which shares of the samples lack which views.
func lacking(views []int, missing []float64) string {
	var parts []string
	for m, share := range missing {
		if share == 0 {
			continue
		}
		v := m
		if views != nil {
			v = views[m]
		}
		parts = append(parts, fmt.Sprintf("%g%% lack %d", 100*share, v))
	}
	return strings.Join(parts, ", ")
}

// markdown returns the table with what is needed to read it, and to make it again.
func (r *benchReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Results on real data\n\n"+
		"Made on %s by\n\n    %s\n\nwith %s on %s.\n\n",
		r.Date, oneLine(r.Command), r.Version, words.Count(r.Processors, "processor"))
	b.WriteString(`This is the method of the paper with its defaults. It is told neither the classes
nor their number, but it is told K, the number of neighbours that a sample is
compared by, and **that K comes from what is known of the classes**: with a star,
it is the mean size of the set's classes, at most a quarter of the samples;
without, it was set by hand for the set. Without such knowledge the results would
be worse.

Scores are in percent, 100 is best; F is the harmonic mean of precision and
recall, NMI the one with the arithmetic mean of the entropies. Views are counted
from 0. "Incomplete" is the share of the samples that lack a view, be it that the
file says so or that the view was taken from samples drawn at random. Where a mean
± standard deviation is given, it is of several seeds, 0 and up, which decide that
draw and all others; else the seed is 0. Seconds are those of the clustering, without reading the files.

`)
	rows := [][]string{{"set", "views", "incomplete", "N", "classes", "K", "clusters", "ARI", "BCubed F", "pairwise F", "NMI", "seconds"}}
	var skipped []string
	for _, c := range r.Cases {
		if c.Skipped != "" {
			skipped = append(skipped, fmt.Sprintf("- %s%s: %s\n", markdown.Text(c.Set), choices(c.Views, c.Missing, c.Completion), markdown.Text(c.Skipped)))
			continue
		}
		rows = append(rows, benchRow(c))
	}
	b.WriteString(markdown.Table(rows, 2))
	if len(skipped) > 0 {
		b.WriteString("\nSkipped:\n\n" + strings.Join(skipped, ""))
	}
	return b.String()
}

// benchRow is the row of a case that was run.
func benchRow(c *bench.Result) []string {
	views := numbers(c.Views)
	if c.Missing != nil {
		views += "; " + lacking(c.Views, c.Missing)
	}
	if c.Completion {
		views += "; completion"
	}
	k := strconv.Itoa(c.K)
	if c.FromClasses {
		k += "*"
	}
	row := []string{
		markdown.Text(c.Set), views, percent(float64(c.Incomplete)/float64(c.Samples)) + "%",
		strconv.Itoa(c.Samples), strconv.Itoa(c.Classes), k,
	}
	for _, column := range []struct {
		scale float64
		of    func(*bench.Trial) float64
	}{
		{1, func(t *bench.Trial) float64 { return float64(t.Scores.Clusters) }},
		{100, func(t *bench.Trial) float64 { return t.Scores.ARI }},
		{100, func(t *bench.Trial) float64 { return t.Scores.BCubedF }},
		{100, func(t *bench.Trial) float64 { return t.Scores.PairwiseF }},
		{100, func(t *bench.Trial) float64 { return t.Scores.NMI }},
		{1, func(t *bench.Trial) float64 { return t.Seconds }},
	} {
		mean, deviation := c.Mean(column.of)
		s := fmt.Sprintf("%.1f", column.scale*mean)
		if len(c.Trials) > 1 {
			s += fmt.Sprintf(" ± %.1f", column.scale*deviation)
		}
		row = append(row, s)
	}
	if len(c.Trials) == 1 {
		row[6] = strconv.Itoa(c.Trials[0].Scores.Clusters)
	}
	return row
}
