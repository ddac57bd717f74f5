package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust/internal/auto"
)

type benchAutoOptions struct {
	data   string
	output string
	json   bool
	quiet  bool
	names  []string
}

// autoReport is what bench auto measured, and where.
type autoReport struct {
	auto.Made
	Aims    []auto.Aim     `json:"aims"`
	Results []*auto.Result `json:"results"`
}

func newBenchAutoCommand() *cobra.Command {
	o := benchAutoOptions{}
	cmd := &cobra.Command{
		Use:   "auto [flags] [NAME...]",
		Short: "Measure the default mode, beside simple methods",
		Long: `auto clusters the .npz files of a folder, whose classes are known, by the default
mode, with no setting that depends on the set: complete, with half of the samples
lacking one view, and with one more view of noise. Beside it, in the same run, are
the paper's method, k-means and spectral clustering, which are told the true number
of clusters, and modularity; and what was aimed for.

It writes tables in Markdown: scores, clusters of at least three samples, time and
memory. A NAME is that of a file without the extension; without one, all sets are
run. That takes some minutes. What cannot be used is skipped, and the page says so.`,
		Example: `  mvclust bench auto --data datasets -o results.md
  mvclust bench auto MSRC ORL --quiet --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return benchAutoFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.data, "data", filepath.Join("..", "shared", "datasets"), "folder `DIR` of the data sets")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for the tables, a section of a page of which all else stays as it is; its folder is made where it is missing (default standard output)")
	f.BoolVar(&o.json, "json", false, "print every number as JSON to standard output")
	f.BoolVar(&o.quiet, "quiet", false, "tell nothing of how it goes on")
	return cmd
}

// benchAutoFunc measures, tells on stderr how it goes, and writes the tables.
func benchAutoFunc(ctx context.Context, out, stderr io.Writer, o benchAutoOptions) error {
	subjects, err := o.subjects()
	if err != nil {
		return err
	}
	var page *sectionPage
	if o.output != "" {
		var inputs []string
		for _, s := range subjects {
			inputs = append(inputs, filepath.Join(o.data, s.File))
		}
		if page, err = openSection(ctx, o.output, "mvclust bench auto", inputs); err != nil {
			return err
		}
		defer page.dir.close()
	}
	r := &autoReport{Made: auto.Made{
		Command: o.command(), Date: time.Now().UTC().Format(time.DateOnly),
		Version: currentVersion().String(), Processors: runtime.GOMAXPROCS(0),
	}}
	if o.quiet {
		stderr = io.Discard
	}
	if r.Results, err = runSubjects(ctx, stderr, o.data, subjects); err != nil {
		return err
	}
	results := &auto.Results{List: r.Results}
	r.Aims = results.Aims()
	section, err := results.Page(r.Made)
	if err != nil {
		return err
	}
	if page != nil {
		if err := page.write(ctx, section); err != nil {
			return err
		}
	}
	switch {
	case o.json:
		return show(out, true, r, "")
	case page == nil:
		_, err = io.WriteString(out, section)
	case !o.quiet:
		_, err = fmt.Fprintf(out, "the section is in %s\n", o.output)
	}
	return printing(err)
}

// runSubjects measures one subject after the other, with a line on stderr for each state.
func runSubjects(ctx context.Context, stderr io.Writer, folder string, subjects []auto.Subject) ([]*auto.Result, error) {
	var results []*auto.Result
	for i, s := range subjects {
		start := time.Now()
		list, err := s.Run(ctx, folder, func(r *auto.Result) {
			say(stderr, oneLine(fmt.Sprintf("%d/%d %s: %s; %s", i+1, len(subjects), r.Name(), r.Summary(), short(time.Since(start))))+"\n")
			start = time.Now()
		})
		if err != nil {
			return nil, err
		}
		results = append(results, list...)
	}
	if !slices.ContainsFunc(results, func(r *auto.Result) bool { return r.Skipped == "" }) {
		return nil, fmt.Errorf("no set could be run: %s; mend that, or choose other sets", results[0].Skipped)
	}
	return results, nil
}

// subjects returns the sets that were asked for.
func (o *benchAutoOptions) subjects() ([]auto.Subject, error) {
	all, err := auto.Subjects(o.data)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	return chosenSets(all, func(s auto.Subject) string { return auto.Name(s.File) }, o.names)
}

// command returns the words that the command was given, without what leads to a folder
// on this machine alone.
func (o *benchAutoOptions) command() string {
	words := []string{"bench", "auto", "--data", portable(o.data)}
	if o.output != "" {
		words = append(words, "-o", portable(o.output))
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--json", o.json}, {"--quiet", o.quiet}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	return "mvclust " + quoted(append(words, o.names...))
}
