package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

type demoOptions struct{ output string }

func newDemoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo [flags]",
		Short: "Make data, cluster it and score the result",
		Long: `demo runs synth, fit and eval, prints each command, and leaves the data and the
results in one folder. It takes a few seconds.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demoFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "mvclust-demo", "`DIR` for the files; made where it is missing")
	return cmd
}

// step is one command of the demonstration.
type step struct {
	why  string
	args []string
}

func (o *demoOptions) steps() []step {
	data := filepath.Join(o.output, "synth.npz")
	return []step{
		{`Make 1500 samples of 20 classes, the largest of them many times the smallest, in
three views. A fifth of the samples lacks a view, and 2% belong to no class.`,
			[]string{"synth", "--output", o.output, "--samples", "1500", "--classes", "20", "--views", "3",
				"--imbalance", "0.5", "--noise", "0.6", "--missing", "0.2", "--outliers", "0.02"}},
		{`Cluster them. fit is not told how many classes there are, nor how large; the known
classes are used for the scores alone.`,
			[]string{"fit", data, "--truth", data + ":labels", "--output", o.output}},
		{`Score the labels again. eval takes the labels of any method.`,
			[]string{"eval", "--truth", data + ":labels", filepath.Join(o.output, "labels.csv")}},
	}
}

// demoFunc runs the steps and prints what each is for.
func demoFunc(ctx context.Context, out, stderr io.Writer, o demoOptions) error {
	for i, s := range o.steps() {
		if _, err := fmt.Fprintf(out, "%d. %s\n\n$ mvclust %s\n", i+1, s.why, quoted(s.args)); err != nil {
			return printing(err)
		}
		if err := run(ctx, s.args, out, stderr); err != nil {
			if i > 0 {
				return &keptError{o.output, err}
			}
			return err
		}
		if i == 0 {
			defer onAbandon(ctx, func() error { return &keptError{o.output, context.Canceled} })()
		}
		if _, err := fmt.Fprintln(out); err != nil {
			return printing(err)
		}
	}
	_, err := fmt.Fprintf(out, "Next: look into %s, or run \"mvclust fit --help\" for data of your own.\n", filepath.Join(o.output, "labels.csv"))
	return printing(err)
}

// quoted quotes words for a shell.
func quoted(words []string) string {
	out := slices.Clone(words)
	for i, w := range out {
		if strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
