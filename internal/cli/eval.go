package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/score"
)

type evalOptions struct {
	labels string
	truth  string
	json   bool
}

func newEvalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval --truth T LABELS",
		Short: "Score a clustering against the known classes",
		Long: `eval compares a clustering, such as labels.csv or labels.parquet from "mvclust
fit", with the known classes. Both are FILE or FILE:NAME, of any format that fit
reads. Samples are matched by their ids where both files have ids, otherwise by
their order.

The scores are precision, recall and F, over pairs of samples and by BCubed; ARI;
NMI with the arithmetic and with the geometric mean; and ACC, by the best
assignment of clusters to classes. 100% is best.`,
		Example: `  mvclust eval --truth classes.csv mvclust-out/labels.csv
  mvclust eval --truth data.mat:gt mvclust-out/labels.csv --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "%d files of labels are given; name exactly one", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.truth == "" {
				return usagef(cmd, "the known classes are missing; name their file with --truth")
			}
			o.labels = args[0]
			return evalFunc(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.truth, "truth", "", "`FILE[:NAME]` of the known classes")
	f.BoolVar(&o.json, "json", false, "print the scores as JSON, from 0 to 1")
	return cmd
}

// evalFunc scores the labels and prints the scores to out.
func evalFunc(ctx context.Context, out io.Writer, o evalOptions) error {
	for _, source := range []string{o.labels, o.truth} { // a folder's own labels, perhaps
		if err := recoverToRead(ctx, filepath.Dir(source)); err != nil {
			return err
		}
	}
	labels, err := dataset.Labels(ctx, o.labels, nil, 0)
	if err != nil {
		return err
	}
	ids := labels.IDs
	if order, ok := rowNumbers(ids); ok && slices.IsSorted(order) {
		ids = nil // as fit numbers samples without ids
	}
	truth, err := readTruth(ctx, o.truth, ids, len(labels.Labels))
	if err != nil {
		return err
	}
	s, err := score.Compare(truth.Labels, labels.Labels)
	if err != nil {
		return err
	}
	return show(out, o.json, s, fmt.Sprintf("%s, %s\n\n%s", words.Count(s.Samples, "sample"), words.Count(s.Clusters, "cluster"), scoreTable(&s)))
}

// readTruth reads the class of every sample. Samples without ids, for which ids is
// nil, have their row numbers for ids where those of the file are row numbers.
func readTruth(ctx context.Context, source string, ids []string, samples int) (*dataset.Truth, error) {
	truth, err := dataset.Labels(ctx, source, ids, samples)
	if err != nil || ids != nil {
		return truth, err
	}
	if order, ok := rowNumbers(truth.IDs); ok {
		labels := make([]int, len(order))
		for i, row := range order {
			labels[row] = truth.Labels[i]
		}
		truth.Labels = labels
	}
	return truth, nil
}

// rowNumbers returns the numbers that ids stand for, and whether these are the
// numbers from 0 to len(ids)-1 in any order.
func rowNumbers(ids []string) ([]int, bool) {
	rows := make([]int, len(ids))
	seen := make([]bool, len(ids))
	for i, id := range ids {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 || n >= len(ids) || seen[n] {
			return nil, false
		}
		rows[i], seen[n] = n, true
	}
	return rows, len(ids) > 0
}
