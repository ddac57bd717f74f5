package cli

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/internal/words"
)

type suggestOptions struct {
	outputOptions
	source string
	top    positive
}

// questionsFile is the name of the questions in a folder.
const questionsFile = "questions.csv"

func newSuggestCommand() *cobra.Command {
	var o suggestOptions
	cmd := &cobra.Command{
		Use:   "suggest [flags] OUT",
		Short: "Suggest clusters to merge or split, and pairs of samples to ask about",
		Long: `suggest lists where a clustering is least certain. OUT is a folder that "mvclust fit"
has written, or the model.mvclust in it. It lists

  - the pairs of clusters most likely to be one, and the clusters most likely to be
    two, with their links, the weight expected by chance, and the evidence of the
    views;
  - the pairs of samples to ask a person about: do they belong together? The most
    valuable questions come first: those that may move many samples and whose answer
    is least certain.

With --output, the pairs are also written to questions.csv, two ids a line. Move the
lines answered with yes to one file and those answered with no to another, and give
the files to the next fit as --must-link and --cannot-link. Pairs that constraints
decide are left out.`,
		Example: `  mvclust suggest mvclust-out
  mvclust suggest mvclust-out --top 20 -o answers
  mvclust suggest mvclust-out --json`,
		Args: oneFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.source = args[0]
			return suggestFunc(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.folderFlag(f, "", "questions.csv")
	f.Var(&o.top, "top", fmt.Sprintf("`NUMBER` of suggestions of each kind (default %d)", explain.DefaultTop))
	o.csvSafeFlag(f)
	f.BoolVar(&o.json, "json", false, "print all figures as JSON")
	return cmd
}

// suggestFunc prints the suggestions and writes the questions.
func suggestFunc(ctx context.Context, out, stderr io.Writer, o suggestOptions) error {
	j, err := begin(ctx, out, stderr, o.outputOptions)
	if err != nil {
		return err
	}
	defer j.close()
	m, path, err := openModel(ctx, o.source)
	if err != nil {
		return err
	}
	j.model = path
	x, err := explain.New(ctx, m, 0)
	if err != nil {
		return err
	}
	s, err := x.Suggest(ctx, int(min(o.top, math.MaxInt32)))
	if err != nil {
		return err
	}
	text := suggestionText(m, s)
	if j.dir != nil {
		if err := j.reserve(questionsFile); err != nil {
			return err
		}
		// Without a header, as files of constraints are.
		err := j.stageCSV(questionsFile, nil, len(s.Questions), func(i int) []string {
			return []string{s.Questions[i].A.ID, s.Questions[i].B.ID}
		})
		if err != nil {
			return err
		}
		text += fmt.Sprintf("\nthe pairs are in %s\n", j.path(questionsFile))
	}
	return j.finish("", s, text)
}

// suggestionText formats the suggestions.
func suggestionText(m *mvclust.Model, s *explain.Suggestions) string {
	var t page
	t.line("%s in %s", words.Count(m.Samples(), "sample"), words.Count(m.Clusters(), "cluster"))
	head := []string{"pull", "links", "weight", "expected", "strongest link", "strongest view"}
	rows := [][]string{append([]string{"may be one", "sizes"}, head...)}
	for _, x := range s.Merges {
		rows = append(rows, append([]string{
			fmt.Sprintf("clusters %d, %d", x.A.Cluster, x.B.Cluster), fmt.Sprintf("%d + %d", x.A.Size, x.B.Size),
		}, between(m, x.Pull, &x.Evidence)...))
	}
	suggested(&t, rows, "no two clusters are linked")
	rows = [][]string{append([]string{"may be two", "sizes"}, head...)}
	for _, x := range s.Splits {
		rows = append(rows, append([]string{
			fmt.Sprintf("cluster %d", x.Cluster), fmt.Sprintf("%d + %d", x.Halves[0].Size, x.Halves[1].Size),
		}, between(m, x.Pull, &x.Evidence)...))
	}
	suggested(&t, rows, "no cluster is large enough to be two")
	rows = [][]string{{"to ask", "do they belong together?", "yes", "samples", "value"}}
	for _, q := range s.Questions {
		about := map[explain.Topic]string{
			explain.AboutMerge:  fmt.Sprintf("clusters %d, %d", q.A.Cluster, q.B.Cluster),
			explain.AboutSplit:  fmt.Sprintf("halves of cluster %d", q.A.Cluster),
			explain.AboutSample: fmt.Sprintf("%s in cluster %d", q.A.ID, q.A.Cluster),
		}[q.About]
		rows = append(rows, []string{about, q.A.ID + " - " + q.B.ID, fmt.Sprintf("%.2f", q.Yes), fmt.Sprint(q.Samples), fmt.Sprintf("%.1f", q.Value)})
	}
	suggested(&t, rows, "there is nothing to ask")
	t.WriteString("\n")
	t.line("pull, yes: the share of the evidence that is for one cluster; undecided at 0.5")
	return t.String()
}

// suggested writes a table, or a line if it has no rows.
func suggested(t *page, rows [][]string, none string) {
	if len(rows) == 1 {
		t.WriteString("\n" + none + "\n")
		return
	}
	t.rows(rows)
}

// between returns the cells for a pull and its evidence.
func between(m *mvclust.Model, pull float64, e *explain.Evidence) []string {
	chance, link, by := "-", "-", "-"
	if m.Settings.Resolution > 0 {
		chance = fmt.Sprintf("%.1f", e.Expected)
	}
	if len(e.Strongest) > 0 {
		l := e.Strongest[0]
		link = fmt.Sprintf("%s - %s %.2f", l.A.ID, l.B.ID, l.Probability)
	}
	var most *explain.ViewShare
	for k := range e.Views {
		if v := &e.Views[k]; v.LogOdds != nil && (most == nil || *v.LogOdds > *most.LogOdds) {
			most = v
		}
	}
	if most != nil {
		by = fmt.Sprintf("%s %+.2f", most.Name, *most.LogOdds)
	}
	return []string{fmt.Sprintf("%.2f", pull), fmt.Sprint(e.Links), fmt.Sprintf("%.1f", e.Weight), chance, link, by}
}
