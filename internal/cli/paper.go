package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust/internal/paper"
	"github.com/mvclust/mvclust/internal/words"
)

type benchPaperOptions struct {
	data   string
	output string
	quick  bool
	fresh  bool
	json   bool
}

// paperPage is the page of the project, and quickPage that of a quick run, which must not
// replace it unasked.
var (
	paperPage = filepath.Join("docs", "paper.md")
	quickPage = "paper-quick.md"
)

func newBenchPaperCommand() *cobra.Command {
	o := benchPaperOptions{}
	cmd := &cobra.Command{
		Use:   "paper [flags]",
		Short: "Run the paper's experiments",
		Long: `paper runs the experiments of the paper on the data sets that are in a folder, and
writes a page in Markdown that holds the paper's figures against ours. It takes about
half an hour on two processors, and less than two minutes with --quick.

Beside the page FILE.md it writes FILE.json, which has every number and is renewed
after every run of the method, and the figures, in the folder FILE. What FILE.json
has of this version, with the same settings and on the same data, is not run again:
after Ctrl-C, the same command goes on. Use --fresh after a change of the method.
Sets that are not in the folder are left out, and the page says so.`,
		Example: `  mvclust bench paper --data datasets
  mvclust bench paper --quick`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return benchPaperFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.data, "data", filepath.Join("..", "shared", "datasets"), "folder `DIR` of the data sets")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for the page, which ends in .md; its folder is made where it is missing (default "+filepath.ToSlash(paperPage)+", or "+quickPage+" with --quick)")
	f.BoolVar(&o.quick, "quick", false, "run one seed on the sets whose file has at most 1 MiB")
	f.BoolVar(&o.fresh, "fresh", false, "run everything again")
	f.BoolVar(&o.json, "json", false, "print every number as JSON to standard output")
	return cmd
}

// benchPaperFunc runs the experiments, tells on stderr how they go, and writes the
// page.
func benchPaperFunc(ctx context.Context, out, stderr io.Writer, o benchPaperOptions) error {
	if err := o.resolve(); err != nil {
		return err
	}
	known, err := o.known()
	if err != nil {
		return err
	}
	dir, err := openFolder(ctx, filepath.Dir(o.output))
	if err != nil {
		return err
	}
	defer dir.close()
	stem := strings.TrimSuffix(filepath.Base(o.output), ".md")
	for _, name := range []string{stem + ".md", stem + ".json"} {
		if err := dir.spare(name, nil); err != nil {
			return err
		}
	}
	plan := &paper.Plan{
		Folder: o.data, Experiments: paper.Experiments(), Quick: o.quick,
		Save:   func(text []byte) error { return dir.write(ctx, stem+".json", text) },
		Status: func(s paper.Status) { say(stderr, paperStatus(s)) },
	}
	r, err := plan.Run(ctx, known)
	if err != nil {
		if dir.kept {
			return &keptError{dir.path, err}
		}
		return err
	}
	made := paper.Made{
		Command: o.command(), Date: time.Now().UTC().Format(time.DateOnly),
		Version: currentVersion().String(), Processors: runtime.GOMAXPROCS(0), Quick: o.quick,
	}
	if err := writeFigures(ctx, filepath.Join(filepath.Dir(o.output), stem), r.Figures()); err != nil {
		return err
	}
	page, err := r.Page(made, stem)
	if err != nil {
		return err
	}
	numbers, err := r.JSON(made)
	if err != nil {
		return err
	}
	if err := dir.write(ctx, stem+".json", numbers); err != nil {
		return err
	}
	if err := dir.write(ctx, stem+".md", []byte(page)); err != nil {
		return err
	}
	if o.json {
		_, err = out.Write(numbers)
	} else {
		setups, reused, failed := r.Counts()
		_, err = fmt.Fprintf(out, "the page is in %s: %s, %d of them from before, %d that could not be run\n", o.output, words.Count(setups, "setup"), reused, failed)
	}
	return printing(err)
}

// resolve fills in the page's name and checks it.
func (o *benchPaperOptions) resolve() error {
	switch {
	case o.output == "" && o.quick:
		o.output = quickPage
	case o.output == "":
		o.output = paperPage
	case filepath.Ext(o.output) != ".md" || filepath.Base(o.output) == ".md":
		return fmt.Errorf("--output: %s does not end in .md; name the page FILE.md", o.output)
	}
	return nil
}

// known reads the results of earlier calls.
func (o *benchPaperOptions) known() (*paper.Results, error) {
	if o.fresh {
		return paper.NewResults(), nil
	}
	path := strings.TrimSuffix(o.output, ".md") + ".json"
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return paper.NewResults(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	known, err := paper.ParseResults(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not what bench paper wrote: %w; move it away, or replace it with --fresh", path, err)
	}
	return known, nil
}

// command returns the words that the command was given, without what leads to a
// folder on this machine alone.
func (o *benchPaperOptions) command() string {
	words := []string{"bench", "paper", "--data", portable(o.data), "-o", portable(o.output)}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--quick", o.quick}, {"--fresh", o.fresh}, {"--json", o.json}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	return "mvclust " + quoted(words)
}

// paperStatus is what a status has to say: a line, in two parts.
func paperStatus(s paper.Status) string {
	switch {
	case !s.Ended:
		return oneLine(fmt.Sprintf("%d/%d %s: ", s.Number, s.Total, s.Case))
	case s.Reason != "":
		return oneLine("cannot be run: "+s.Reason) + "\n"
	default:
		return fmt.Sprintf("ARI %.1f in %s, %s left\n", s.ARI, short(s.Elapsed), short(s.Left))
	}
}

// writeFigures writes the figures to a folder.
func writeFigures(ctx context.Context, path string, figures []paper.Figure) error {
	if len(figures) == 0 {
		return nil
	}
	dir, err := openFolder(ctx, path)
	if err != nil {
		return err
	}
	defer dir.close()
	for _, f := range figures {
		if err := dir.spare(f.Name, nil); err != nil {
			return err
		}
		if err := dir.stage(ctx, f.Name, f.Write); err != nil {
			return err
		}
	}
	return dir.commit()
}
