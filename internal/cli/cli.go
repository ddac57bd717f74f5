// Package cli is the command line of mvclust: one file per subcommand, with the
// options it takes, the command that parses them, and the function that does the
// work and can be called without a process.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust/internal/kernel"
	"github.com/mvclust/mvclust/internal/words"
)

// The exit statuses.
const (
	statusDone        = 0
	statusFailed      = 2   // the command line, the input or the output cannot be used
	statusInterrupted = 130 // as shells report Ctrl-C
)

// Main runs the command line args, without the program's name, until it ends or
// the process is told to stop, and returns the exit status, with which the caller
// must exit. A failure is one line on stderr.
func Main(args []string, stdout, stderr io.Writer) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	interrupted, err := supervise(signals, patience, func(ctx context.Context) error {
		return run(ctx, args, stdout, stderr)
	})
	switch {
	case err == nil:
		return statusDone
	case interrupted:
		say(stderr, words.Printable(interruption(err))+"\n")
		return statusInterrupted
	default:
		say(stderr, "mvclust: "+words.Printable(err.Error())+"\n")
		return statusFailed
	}
}

// run runs the command line args.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}

// Command returns the command line, from which its manual pages and completions are made.
func Command() *cobra.Command { return newRootCommand() }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "mvclust",
		Short: "Cluster samples that are described in several views",
		Long: `mvclust groups samples that are described in several ways, without being told
how many groups there are and with some descriptions missing. It implements
SLS-MPC, self-learning symmetric multi-view probabilistic clustering.

To see it at work on data of known classes, run "mvclust demo".

The exit status is 0, 2 where the command line, the input or the output folder
cannot be used, and 130 after Ctrl-C.`,
		Version:       currentVersion().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		// All commands check it, as those that compute from a model do not say so themselves.
		PersistentPreRunE: func(*cobra.Command, []string) error { return kernel.Check() },
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetUsageTemplate(usageTemplate())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [command]",
		Short: "Print the help of a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noSuchCommand(root, args)
			}
			// As for --help, these are on the list.
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	})
	root.AddCommand(commands()...)
	return root
}

// usageTemplate is cobra's own, with lines of at most 80 columns.
func usageTemplate() string {
	return strings.ReplaceAll(new(cobra.Command).UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 ")
}

// noSuchCommand is an error where there are arguments left that name no command.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return usagef(cmd, "unknown command %s%s", words.Quote(args[0]), words.DidYouMean(args[0], names))
}

// say writes to standard error, ignoring errors.
func say(stderr io.Writer, s string) { _, _ = io.WriteString(stderr, s) }
