package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust/internal/paper"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/speed"
)

type benchSpeedOptions struct {
	data    string
	output  string
	full    bool
	quick   bool
	threads positive
	json    bool
	quiet   bool
}

// resultsPage is the page of the project, and quickSpeedPage that of a quick run, which
// must not replace a part of it unasked.
var (
	resultsPage    = filepath.Join("docs", "results.md")
	quickSpeedPage = filepath.Join("speed-quick", "results.md")
)

// speedReport is speed.json.
type speedReport struct {
	Made speed.Made  `json:"made"`
	Aims []speed.Aim `json:"aims"`
	*speed.Results
}

func newBenchSpeedCommand() *cobra.Command {
	o := benchSpeedOptions{}
	cmd := &cobra.Command{
		Use:   "speed [flags]",
		Short: "Measure time and memory, beside those of others",
		Long: `speed measures the inner loops, the neighbour graphs, and whole runs on synthetic
data of 10,000 to 300,000 samples, or 1,000,000 with --full, with the memory that
they take. It takes about a quarter of an hour on two processors, and half an hour
with --full, in which it needs 2 GiB of disk space for passing files.

Where a python3 has faiss, scikit-learn or numpy, they are measured in the same run,
since figures from different machines, or hours, cannot be compared.

It writes its section of the page FILE, of which it leaves all else as it is, and
beside the page speed.json, which has every number, and the folder speed with the
figures. On a page that is not there yet, the section is all there is.`,
		Example: `  mvclust bench speed --full
  mvclust bench speed --quick --quiet --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			plan, err := o.plan()
			if err != nil {
				return err
			}
			return benchSpeedFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), plan, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.full, "full", false, "go up to 1,000,000 samples")
	f.BoolVar(&o.quick, "quick", false, "measure so little that it takes seconds, to see that all works")
	f.StringVar(&o.data, "data", filepath.Join("..", "shared", "datasets"), "folder `DIR` with Handwritten.npz; synthetic data stands in for it")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for the page, which ends in .md; its folder is made where it is missing (default "+filepath.ToSlash(resultsPage)+", or "+filepath.ToSlash(quickSpeedPage)+" with --quick)")
	f.Var(&o.threads, "threads", "`NUMBER` of processors that everything may use but the inner loops, which get one (default all)")
	f.BoolVar(&o.json, "json", false, "print every number as JSON to standard output")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing but errors, and the numbers where --json is given")
	return cmd
}

// plan checks the flags, fills in the page's name, and returns what is to be measured.
func (o *benchSpeedOptions) plan() (*speed.Plan, error) {
	switch {
	case o.full && o.quick:
		return nil, errors.New("--full and --quick exclude each other; give one of them")
	case int(o.threads) > maxThreads:
		return nil, fmt.Errorf("--threads: %d is more than %d; leave it out to use all processors", o.threads, maxThreads)
	case o.output == "" && o.quick:
		o.output = quickSpeedPage
	case o.output == "":
		o.output = resultsPage
	case filepath.Ext(o.output) != ".md" || filepath.Base(o.output) == ".md":
		return nil, fmt.Errorf("--output: %s does not end in .md; name the page FILE.md", o.output)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("mvclust cannot find itself, whose runs it is to measure: %w", err)
	}
	p := &speed.Plan{
		Workload: speed.Full(o.full), Program: program, Data: o.data, Threads: parallel.Threads(int(o.threads)),
		// The second is where Linux distributions keep the modules of theirs.
		Pythons: []string{"python3", "/usr/bin/python3"},
	}
	if o.quick {
		p.Workload = speed.Quick()
	}
	return p, nil
}

// benchSpeedFunc measures, tells on stderr what, and writes the section, the numbers
// and the figures.
func benchSpeedFunc(ctx context.Context, out, stderr io.Writer, plan *speed.Plan, o benchSpeedOptions) error {
	dir, err := openFolder(ctx, filepath.Dir(o.output))
	if err != nil {
		return err
	}
	defer dir.close()
	const numbers, speedSection = "speed.json", "mvclust bench speed"
	for _, name := range []string{filepath.Base(o.output), numbers} {
		if err := dir.spare(name, nil); err != nil {
			return err
		}
	}
	// A page that cannot be used is found before the work.
	if _, err := withSection(o.output, speedSection, ""); err != nil {
		return err
	}
	r := &speedReport{Made: speed.Made{
		Command: o.command(), Date: time.Now().UTC().Format(time.DateOnly), Version: currentVersion().String(), Quick: o.quick,
	}}
	if !o.quiet {
		plan.Say = func(line string) { say(stderr, oneLine(line)+"\n") }
	}
	passing, err := os.MkdirTemp("", "mvclust-speed-")
	if err != nil {
		return fmt.Errorf("there is no folder for passing files: %w; name one that can be written in the environment variable TMPDIR", cause(err))
	}
	defer func() { _ = os.RemoveAll(passing) }()
	defer onAbandon(ctx, func() error { return os.RemoveAll(passing) })()
	plan.Folder = passing
	if r.Results, err = plan.Run(ctx); err != nil {
		return err
	}
	r.Aims = r.Results.Aims()
	text, err := encode(r)
	if err != nil {
		return err
	}
	section, err := r.Page(r.Made, "speed")
	if err != nil {
		return err
	}
	page, err := withSection(o.output, speedSection, section)
	if err != nil {
		return err
	}
	var figures []paper.Figure
	for _, f := range r.Figures() {
		figures = append(figures, paper.Figure(f))
	}
	if err := writeFigures(ctx, filepath.Join(filepath.Dir(o.output), "speed"), figures); err != nil {
		return err
	}
	if err := dir.write(ctx, numbers, text); err != nil {
		return err
	}
	if err := dir.write(ctx, filepath.Base(o.output), page); err != nil {
		return err
	}
	switch {
	case o.json:
		_, err = out.Write(text)
	case !o.quiet:
		_, err = fmt.Fprintf(out, "the section is in %s\n", o.output)
	}
	return printing(err)
}

// command returns the words that the command was given, without what leads to a
// folder on this machine alone.
func (o *benchSpeedOptions) command() string {
	words := []string{"bench", "speed"}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--full", o.full}, {"--quick", o.quick}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	words = append(words, "--data", portable(o.data), "-o", portable(o.output))
	if o.threads > 0 {
		words = append(words, "--threads", o.threads.String())
	}
	return "mvclust " + quoted(words)
}
