// Command experiments measures mvclust: how good its results are, and how fast it is.
//
//	go -C experiments run . sets|auto|levels|ablation|paper|compare|speed|golden [flags]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mvclust/mvclust/experiments/ablation"
	"github.com/mvclust/mvclust/experiments/auto"
	"github.com/mvclust/mvclust/experiments/compare"
	"github.com/mvclust/mvclust/experiments/golden"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/experiments/levels"
	"github.com/mvclust/mvclust/experiments/paper"
	"github.com/mvclust/mvclust/experiments/sets"
	"github.com/mvclust/mvclust/experiments/speed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command line args and returns the exit status. A failure is one line on stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newCommand(args)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		say(stderr, "interrupted; the records keep what was run, and the same command goes on from there")
		return 130
	case errors.Is(err, golden.ErrDiffers):
		return 1
	default:
		say(stderr, "experiments: "+err.Error())
		return 2
	}
}

// say writes a line to standard error, whose own errors there is nobody to tell.
func say(stderr io.Writer, line string) {
	_, _ = fmt.Fprintln(stderr, strings.Join(strings.Fields(line), " "))
}

// An experiment makes a page of what it runs.
type experiment interface {
	// Cases lists what is to be run on the named sets, or on all.
	Cases(ctx context.Context, l *lab.Lab, names []string) ([]lab.Case, error)
	// Page writes what came of it in Markdown, with figures.
	Page(l *lab.Lab, made lab.Made) (text string, figures []lab.Figure, err error)
}

// options are the flags of an experiment.
type options struct {
	data                          []string
	output                        string
	quick, fresh, pageOnly, quiet bool
	threads                       int
	names                         []string
	// name is that of the experiment, page the page that it writes by default; whole says that
	// the page is not shared. timed says that times are what is measured, processes that
	// mvclust is run as a process of its own, and both that it is about both collections unless
	// told otherwise. command is how the page says that it was made.
	name, page, command           string
	whole, timed, processes, both bool
}

const (
	dataHelp = "folder `DIR` of data sets, once or more, relative to experiments/ under go -C (default "
	oneHelp  = "$MVCLUST_DATA, else ../../shared/datasets)"
	bothHelp = "those of $MVCLUST_DATA and $MVCLUST_DATA2, else ../../shared/datasets and ../../shared/datasets2)"
)

// folders returns the folders that were given, or those that are meant where none was.
func folders(given []string, both bool) []string {
	if len(given) > 0 {
		return given
	}
	list := []string{defaultData("MVCLUST_DATA", "datasets")}
	if second := defaultData("MVCLUST_DATA2", "datasets2"); both && isFolder(second) {
		list = append(list, second)
	}
	return list
}

func newCommand(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "experiments",
		Short: "Measure mvclust",
		Long: `experiments measures how good the results of mvclust are, and how fast it is. Run it
by "go -C experiments run .", which makes experiments/ the working folder: relative
paths are relative to it.

Each experiment keeps its runs in records/NAME.json and repeats none, so it can be
stopped and called again. It cannot know that the method has changed: after such a
change give it --fresh. With --quick, or on NAMEs, it writes to the folder part/
unless told otherwise, and leaves docs/ alone.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	fast, told, beside := &speed.Experiment{}, &levels.Experiment{}, &compare.Experiment{}
	for _, x := range experiments(fast, told, beside) {
		o := x.options
		cmd := &cobra.Command{
			Use: o.name + " [flags] [NAME...]", Short: x.short, Long: x.long,
			RunE: func(cmd *cobra.Command, names []string) error {
				if told.Seeds < 1 && o.name == "levels" {
					return fmt.Errorf("--seeds: there cannot be %d seeds; give at least 1", told.Seeds)
				}
				if o.quick && fast.Full {
					return errors.New("--full and --quick exclude each other; give one of them")
				}
				o.names = names
				if o.name == "compare" {
					if err := o.own(beside); err != nil {
						return err
					}
				}
				o.command = commandLine(args)
				fast.Quick, fast.Threads = o.quick, o.threads
				return o.run(cmd.Context(), x.experiment, cmd.OutOrStdout(), cmd.ErrOrStderr())
			},
		}
		f := cmd.Flags()
		o.addFlags(f)
		if o.name == "speed" {
			f.BoolVar(&fast.Full, "full", false, "go up to 1,000,000 samples")
		}
		if o.name == "levels" {
			f.IntVar(&told.Seeds, "seeds", levels.DefaultSeeds, "`NUMBER` of seeds")
		}
		if o.name == "compare" {
			f.StringVar(&beside.Truth, "truth", "", "`FILE[:NAME]` of the known classes of the files of views that are given in place of NAMEs")
			cmd.Use = "compare [flags] [NAME... | VIEWS... --truth T]"
		}
		if o.name == "speed" || o.name == "paper" {
			cmd.Use, cmd.Args = o.name+" [flags]", cobra.NoArgs
		}
		root.AddCommand(cmd)
	}
	root.AddCommand(newGoldenCommand())
	return root
}

// own gives the comparison the files of one's own, where there are such.
func (o *options) own(x *compare.Experiment) error {
	if x.Truth != "" {
		if len(o.names) == 0 || o.data != nil {
			return errors.New("--truth: name the files of the views beside it, and no folder by --data")
		}
		x.Views, o.data = o.names, []string{"."}
		return nil
	}
	for _, name := range o.names {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file; name that of its known classes by --truth", name)
		}
	}
	return nil
}

// addFlags adds the flags that all experiments have.
func (o *options) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringArrayVar(&o.data, "data", nil, o.dataHelp())
	f.StringVarP(&o.output, "output", "o", "", "`FILE` for the page, relative to experiments/; of a shared page all other sections stay as they are (default ../docs/"+o.page+")")
	f.BoolVar(&o.quick, "quick", false, "run a small part once, to see that all works")
	f.BoolVar(&o.fresh, "fresh", false, "run everything again")
	f.BoolVar(&o.pageOnly, "page-only", false, "run nothing: write the page anew from the records")
	f.BoolVar(&o.quiet, "quiet", false, "tell nothing of how it goes")
	f.IntVar(&o.threads, "threads", 0, "`NUMBER` of processors for what runs as a process of its own (default all)")
}

// entry is an experiment and its help.
type entry struct {
	options
	short, long string
	experiment  experiment
}

// experiments lists them.
func experiments(fast *speed.Experiment, told *levels.Experiment, beside *compare.Experiment) []entry {
	return []entry{
		{options{name: "sets", page: "results.md"}, "Score the paper's method on a folder of data sets",
			`sets clusters data sets whose classes are known, with the paper's method: the cases
of the paper, then every other .npz file of the folder, and .mat file of its folder
mat. It takes some minutes. A NAME is that of a file without the extension, such as
BUAA or mat/MSRC.`, &sets.Experiment{}},
		{options{name: "auto", page: "results.md", timed: true, both: true}, "Measure the default mode, beside simple methods",
			`auto clusters the .npz files of two folders by the default mode with five seeds:
complete, with half of the samples lacking one view, and with one more view of noise;
and it fits four fifths of every set and updates the model with the rest. Beside it are
the paper's method, k-means, spectral clustering, Ward's and average linkage, which are
told the true number of clusters, and Leiden. It takes an hour or two.`, &auto.Experiment{}},
		{options{name: "levels", page: "results.md", both: true}, "Measure levels, examples, numbers of clusters and answers",
			`levels clusters the .npz files of two folders by the default mode, and tells it a
little of the classes: their number, a few examples, or answers to the questions that
"mvclust review" asks. It takes an hour or two; with --seeds 1, a fifth.`, told},
		{options{name: "ablation", page: "auto.md"}, "Take single decisions of the default mode back",
			`ablation clusters the small .npz files of a folder by the default mode with one
decision at a time taken back, complete and with half of the samples lacking one view.
It takes a quarter of an hour.`, &ablation.Experiment{}},
		{options{name: "paper", page: "paper.md", whole: true}, "Run the paper's experiments",
			`paper runs the experiments of the paper, and writes a page that holds the paper's
figures against ours. It takes about half an hour on two processors.`, &paper.Experiment{}},
		{options{name: "compare", page: "compare.md", whole: true, timed: true, both: true}, "Hold mvclust beside the methods of the paper",
			`compare runs every method that the paper compares with, and mvclust, on the .npz files
of two folders, complete and with half of the samples lacking one view, or, with
--truth, on files of one's own: VIEWS are what "mvclust fit" reads, and T is the file of
the known classes. It writes a page, and a JSON file with the same figures in the
folder compare beside it. Sets that the paper does not have are run up to 2,500 samples,
or by NAME. Whole collections take hours; a NAME, such as BUAA, a part of one.`, beside},
		{options{name: "speed", page: "results.md", timed: true, processes: true}, "Measure time and memory, beside those of others",
			`speed measures the inner loops, the neighbour graphs, and whole runs on synthetic
data of 10,000 to 300,000 samples, or 1,000,000 with --full. It takes a quarter of an
hour on two processors, and half an hour with --full, in which it needs 2 GiB of disk
space for passing files. Where a python3 has faiss, scikit-learn or numpy, they are
measured in the same run. Let it run alone on the machine.`, fast},
	}
}

// newGoldenCommand is the command that compares results with those of before.
func newGoldenCommand() *cobra.Command {
	var data []string
	var write bool
	cmd := &cobra.Command{
		Use:   "golden [flags]",
		Short: "Compare results byte for byte with those of before",
		Long: `golden fits every set of the folders by both presets, as "mvclust fit FILE" does, and
compares the SHA-256 of each labels.csv with testdata/golden.json. The exit status is 1
where one differs. Results may differ between processors with and without AVX2.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, done, err := newLab(cmd.Context(), true)
			if err != nil {
				return err
			}
			defer done()
			return golden.Compare(cmd.Context(), l, folders(data, true), filepath.Join("testdata", "golden.json"), write, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringArrayVar(&data, "data", nil, dataHelp+bothHelp)
	cmd.Flags().BoolVar(&write, "write", false, "renew the digests")
	return cmd
}

// dataHelp is the help of --data.
func (o *options) dataHelp() string {
	if o.both {
		return dataHelp + bothHelp
	}
	return dataHelp + oneHelp
}

// paths returns the page and the records: of a part of an experiment, in a folder of their own.
func (o *options) paths() (page, records string, err error) {
	page, records = o.output, filepath.Join("records", o.name+".json")
	part := o.quick || len(o.names) > 0
	if part {
		records = filepath.Join("part", o.name+".json")
	}
	switch {
	case page == "" && part:
		page = filepath.Join("part", o.page)
	case page == "":
		page = filepath.Join("..", "docs", o.page)
	case filepath.Ext(page) != ".md":
		err = fmt.Errorf("--output: %s does not end in .md; name the page FILE.md", page)
	}
	return page, records, err
}

// run runs an experiment and writes its page and its figures.
func (o *options) run(ctx context.Context, e experiment, out, stderr io.Writer) error {
	page, records, err := o.paths()
	if err != nil {
		return err
	}
	if !o.whole {
		if err := lab.WriteSection(page, o.name, "", true); err != nil {
			return err
		}
	}
	l, done, err := newLab(ctx, o.processes && !o.pageOnly)
	if err != nil {
		return err
	}
	defer done()
	l.Folders, l.Quick, l.Timed, l.PageOnly = folders(o.data, o.both), o.quick, o.timed, o.pageOnly
	l.Threads = o.threads
	if !o.quiet {
		l.Say = func(line string) { say(stderr, line) }
	}
	if l.Store, err = lab.OpenStore(records, o.fresh); err != nil {
		return err
	}
	cases, err := e.Cases(ctx, l, o.names)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return errors.New("--quick: no file of these sets has at most 1 MiB; leave it out")
	}
	if err := l.Run(ctx, cases); err != nil {
		return err
	}
	text, figures, err := e.Page(l, l.Made(o.command))
	if err != nil {
		return err
	}
	err = o.write(page, text, figures, e)
	if err == nil && !o.quiet {
		_, err = fmt.Fprintf(out, "the page is %s, the records are %s\n", page, records)
	}
	return err
}

// write writes a page, and in the folder of the experiment's name beside it the figures and, where
// the experiment has such, the same results in JSON.
func (o *options) write(page, text string, figures []lab.Figure, e experiment) error {
	folder := filepath.Join(filepath.Dir(page), o.name)
	for _, f := range figures {
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		if err := lab.WriteFile(filepath.Join(folder, f.Name+".svg"), svg); err != nil {
			return err
		}
	}
	if j, ok := e.(interface{ JSON() ([]byte, error) }); ok {
		record, err := j.JSON()
		if err != nil {
			return err
		}
		if err := lab.WriteFile(filepath.Join(folder, o.name+".json"), append(record, '\n')); err != nil {
			return err
		}
	}
	if o.whole {
		return lab.WriteFile(page, []byte(text))
	}
	return lab.WriteSection(page, o.name, text, false)
}

// newLab returns a lab with a folder for passing files, which done removes, and in it, if it is
// to be built, the command mvclust from the sources beside this module.
func newLab(ctx context.Context, build bool) (l *lab.Lab, done func(), err error) {
	scratch, err := os.MkdirTemp("", "mvclust-experiments-")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = os.RemoveAll(scratch) }
	l = &lab.Lab{Scratch: scratch, Program: filepath.Join(scratch, "mvclust")}
	if build {
		if err := l.Build(ctx, ".."); err != nil {
			done()
			return nil, nil, fmt.Errorf("%w; run this by go -C experiments run", err)
		}
	}
	return l, done, nil
}

// defaultData returns the folder of data sets that a variable names, or the one beside the
// checkout.
func defaultData(variable, name string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", name)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// commandLine returns the words that the command was given, without what leads to a folder on
// this machine alone, and flags that change nothing on the page.
func commandLine(args []string) string {
	words := []string{"go -C experiments run ."}
	for _, word := range args {
		if word == "--page-only" || word == "--quiet" {
			continue
		}
		if filepath.IsAbs(word) {
			word = filepath.Base(word)
		}
		if strings.ContainsAny(word, " \t\n'\"\\$`*?&|;<>()") {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words = append(words, strings.Join(strings.Fields(word), " "))
	}
	return strings.Join(words, " ")
}
