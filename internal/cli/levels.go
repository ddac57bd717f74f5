package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/words"
)

type levelsOptions struct {
	source string
	json   bool
}

func newLevelsCommand() *cobra.Command {
	var o levelsOptions
	cmd := &cobra.Command{
		Use:   "levels [flags] OUT",
		Short: "List the granularities that the data support",
		Long: `levels lists the granularities that a fit has kept, coarse to fine. OUT is a folder
that "mvclust fit" has written, or the model.mvclust in it. It prints for each

  clusters    their number, and how many have fewer than three samples;
  stability   how well they are found again with other neighbours and another
              resolution, from 0 to 1;
  explained   the share by which they shorten the description of a random walk
              over the samples, in percent;
  nested      the share of the samples that are in that cluster of the level
              above which holds most of their cluster, in percent.

With --json, it also tells which clusters join into which. "mvclust cut" makes
another level the current one.`,
		Example: `  mvclust levels mvclust-out
  mvclust levels mvclust-out --json`,
		Args: oneFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.source = args[0]
			return levelsFunc(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print all figures as JSON")
	return cmd
}

// oneFolder takes one argument.
func oneFolder(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef(cmd, "%d folders are given; name exactly one that \"mvclust fit\" has written", len(args))
	}
	return nil
}

// levelsReport is what levels prints as JSON.
type levelsReport struct {
	Samples  int           `json:"samples"`
	Clusters int           `json:"clusters"` // now
	Level    int           `json:"level"`    // the current one, or -1
	Levels   []levelReport `json:"levels"`
	Names    []string      `json:"names,omitempty"` // of the current clusters
}

// levelReport is a level.
type levelReport struct {
	mvclust.Level
	// Small counts the clusters of fewer than three samples.
	Small int `json:"small"`
	// Sizes holds those of the largest clusters.
	Sizes []int `json:"sizes"`
	// Parents holds, by cluster, the one of the level above that most of it is in.
	Parents []int `json:"parents"`
}

// levelsFunc prints the levels.
func levelsFunc(ctx context.Context, out io.Writer, o levelsOptions) error {
	m, file, path, err := openWith(ctx, o.source, mvclust.OpenModel)
	if err != nil {
		return err
	}
	defer file.Close()
	if len(m.Levels) == 0 {
		return fmt.Errorf("%s has no levels: %s", path, withoutLevels)
	}
	r := newLevelsReport(m)
	return show(out, o.json, r, r.text())
}

const withoutLevels = "it was made with --preset paper, or by an older version; run \"mvclust fit\" on all samples"

func newLevelsReport(m *mvclust.Model) *levelsReport {
	r := &levelsReport{Samples: m.Samples(), Clusters: m.Clusters(), Level: m.Level, Names: mvclust.Names(m.Labels, m.Examples)}
	for at := range m.Levels {
		l := levelReport{Level: m.Levels[at]}
		sizes := make([]int, l.Clusters)
		for _, c := range l.Labels {
			sizes[c]++
		}
		for _, size := range sizes {
			if size < 3 {
				l.Small++
			}
		}
		l.Sizes = sizes[:min(mostSizes, len(sizes))]
		if at > 0 {
			l.Parents, _ = l.Within(&m.Levels[at-1])
		}
		r.Levels = append(r.Levels, l)
	}
	return r
}

// text formats the levels.
func (r *levelsReport) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, now in %s\n\n", words.Count(r.Samples, "sample"), words.Count(r.Clusters, "cluster"))
	rows := [][]string{{"level", "clusters", "small", "stability", "explained", "nested"}}
	for at, l := range r.Levels {
		name, nested := fmt.Sprint(at), "-"
		if at == r.Level {
			name += " (now)"
		}
		if at > 0 {
			nested = percent(l.Nested) + "%"
		}
		rows = append(rows, []string{name, fmt.Sprint(l.Clusters), fmt.Sprint(l.Small), fmt.Sprintf("%.2f", l.Stability), percent(l.Compression) + "%", nested})
	}
	b.WriteString(table(rows))
	for at, l := range r.Levels {
		if l.Linked {
			fmt.Fprintf(&b, "level %d is of average linkage: one distance tells its clusters\n", at)
		}
	}
	for at := range r.Levels {
		if at > 0 {
			b.WriteString(r.joins(at))
		}
	}
	for l, name := range r.Names {
		if name != "" {
			fmt.Fprintf(&b, "cluster %d is %s\n", l, words.Printable(name))
		}
	}
	return b.String()
}

// mostJoins bounds the clusters of which the text says what joins into them.
const mostJoins = 6

// joins says which clusters of a level join into which of the one above.
func (r *levelsReport) joins(at int) string {
	into := make([][]string, r.Levels[at-1].Clusters)
	for c, parent := range r.Levels[at].Parents {
		into[parent] = append(into[parent], fmt.Sprint(c))
	}
	var lines []string
	for parent, list := range into {
		if len(list) < 2 {
			continue
		}
		if more := len(list) - 8; more > 0 {
			list = append(list[:8], fmt.Sprintf("%d more", more))
		}
		lines = append(lines, fmt.Sprintf("  %s join into %d", strings.Join(list, ", "), parent))
	}
	if len(lines) == 0 {
		return ""
	}
	if more := len(lines) - mostJoins; more > 0 {
		lines = append(lines[:mostJoins], fmt.Sprintf("  and so on for %d more", more))
	}
	return fmt.Sprintf("\nof level %d, in level %d\n%s\n", at, at-1, strings.Join(lines, "\n"))
}

// levelsLine says in the summary of a fit what other granularities there are.
func levelsLine(levels []mvclust.Level) string {
	if len(levels) < 2 {
		return ""
	}
	var counts []string
	for _, l := range levels {
		counts = append(counts, fmt.Sprint(l.Clusters))
	}
	return fmt.Sprintf("levels of %s clusters are supported; mvclust cut makes another one current\n", words.List(counts))
}
