package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/internal/memory"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/posterior"
)

type explainOptions struct {
	source string
	ids    []string
	json   bool
	memory size
}

func newExplainCommand() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [flags] OUT ID [ID]",
		Short: "Say why samples are in their clusters",
		Long: `explain shows why one sample is in its cluster, or how two samples are related. OUT is
a folder that "mvclust fit" has written, or the model.mvclust in it. An ID is the id of
a sample, or its row, counted from 0, where samples have no ids. An ID that begins
with a dash must come after --.

For one sample: the gain of its own cluster and of the others, the second best, the
factors of its confidence, its strongest links, and each view's share in them.

For two samples: their similarity and probability in each view, the fused
probability, the refined probability and where it comes from, whether they share a
cluster, and the strongest chain of links between them.`,
		Example: `  mvclust explain mvclust-out 17
  mvclust explain mvclust-out 17 204
  mvclust explain mvclust-out img_017 img_204 --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef(cmd, "the folder OUT of a fit and the ID of a sample are missing")
			case len(args) == 1:
				return usagef(cmd, "there is no ID; name one sample, or two")
			case len(args) > 3:
				return usagef(cmd, "there are %d IDs; name one sample, or two", len(args)-1)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.source, o.ids = args[0], args[1:]
			return explainFunc(cmd.Context(), cmd.OutOrStdout(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	memoryFlag(f, &o.memory)
	f.BoolVar(&o.json, "json", false, "print all figures as JSON")
	return cmd
}

// open reads the model and keeps the process to the memory, until the model is closed.
func (o *explainOptions) open(ctx context.Context) (m *mvclust.Model, path string, closed func(), err error) {
	release := func() {}
	m, file, path, err := openWith(ctx, o.source, checked(mvclust.OpenModel, func(i *mvclust.ModelInfo) error {
		release() // of an earlier try
		free, err := limitModel(o.memory, memory.AtHand(), explain.Footprint(i, len(o.ids) == 2), "explanations from a model of "+words.Count(i.Samples, "sample"), "")
		if release = free; err != nil {
			release = func() {}
		}
		return err
	}))
	if err != nil {
		release()
		return nil, path, nil, err
	}
	return m, path, func() { _ = file.Close(); release() }, nil
}

// explainFunc prints the explanation of one sample or of two.
func explainFunc(ctx context.Context, out io.Writer, o explainOptions) error {
	m, path, closed, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer closed()
	var samples []int
	for _, id := range o.ids {
		i, err := sampleOf(m, path, id)
		if err != nil {
			return err
		}
		samples = append(samples, i)
	}
	x, err := explain.New(ctx, m, 0)
	if err != nil {
		return err
	}
	var said any
	var text string
	if len(samples) == 1 {
		s, err := x.Sample(ctx, samples[0])
		if err != nil {
			return ofFile(err, path)
		}
		said, text = s, sampleText(m, s)
	} else {
		p, err := x.Pair(ctx, samples[0], samples[1])
		if err != nil {
			return ofFile(err, path)
		}
		said, text = p, pairText(p)
	}
	return show(out, o.json, said, text)
}

// ofFile adds the path of a model to an error that is of its file.
func ofFile(err error, path string) error {
	if _, is := errors.AsType[*mvclust.FileError](err); is {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// sampleOf returns the number of the sample that is called id in the model at path.
func sampleOf(m *mvclust.Model, path, id string) (int, error) {
	if i, ok := m.Index(id); ok {
		return i, nil
	}
	if m.IDs == nil {
		return 0, fmt.Errorf("%s: there is no sample %s; its samples have no ids, so name a row from 0 to %d", path, words.Quote(id), m.Samples()-1)
	}
	return 0, fmt.Errorf("%s: there is no sample %s%s; labels.csv lists the ids", path, words.Quote(id), words.DidYouMean(id, m.IDs))
}

// page is a text of aligned lines. Control characters in names are escaped.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	p.WriteString(words.Printable(fmt.Sprintf(format, args...)) + "\n")
}

// item writes a line with a name.
func (p *page) item(name, format string, args ...any) {
	p.line("%-14s%s", name, fmt.Sprintf(format, args...))
}

// rows writes an empty line and a table.
func (p *page) rows(rows [][]string) {
	for _, row := range rows {
		for c := range row {
			row[c] = words.Name(row[c])
		}
	}
	p.WriteString("\n" + table(rows))
}

// notes writes an empty line and the notes, if any.
func (p *page) notes(notes []string) {
	if len(notes) > 0 {
		p.WriteString("\n")
	}
	for _, n := range notes {
		p.line("%s", n)
	}
}

// pairText formats the explanation of a pair.
func pairText(p *explain.Pair) string {
	var t page
	a, b := words.Name(p.A.ID), words.Name(p.B.ID)
	if p.Together {
		t.line("samples %s and %s share cluster %d", a, b, p.A.Cluster)
	} else {
		t.line("sample %s is in cluster %d, sample %s in cluster %d", a, p.A.Cluster, b, p.B.Cluster)
	}
	switch p.Constraint {
	case constraint.MustLink:
		t.line("a constraint: they must be together, whatever the views say")
	case constraint.CannotLink:
		t.line("a constraint: they cannot be together, whatever the views say")
	}
	views(&t, p)
	if p.Path != nil {
		t.item("paths", "%s", pathText(p))
	}
	if p.CoNeighbours != nil {
		coNeighbours(&t, p)
	}
	switch {
	case p.Link != nil:
		t.item("link", "%.3f", *p.Link)
	case p.CoNeighbours != nil:
		t.item("link", "none: neither is among the other's most probable neighbours")
	default:
		t.item("link", "none: no view has one among the nearest neighbours of the other")
	}
	t.item("chain", "%s", chainText(p))
	return t.String()
}

// views writes the table of the views.
func views(t *page, p *explain.Pair) {
	rows := [][]string{{"view", "similarity", "probability", "log-odds"}}
	spoken := 0
	for _, v := range p.Views {
		rows = append(rows, []string{v.Name, figure("%.4f", v.Similarity), figure("%.3f", v.Probability), figure("%+.2f", v.LogOdds)})
		if v.Probability != nil {
			spoken++
		}
	}
	rows = append(rows, []string{"together", "", fmt.Sprintf("%.3f", p.Fused), figure("%+.2f", p.LogOdds)})
	t.rows(rows)
	var notes []string
	for _, v := range p.Views {
		switch v.State {
		case explain.LeftOut:
			notes = append(notes, leftOut(words.Name(v.Name)))
		case explain.Missing:
			notes = append(notes, lack(v))
		case explain.Completed:
			notes = append(notes, lack(v)+"; its similarity is filled in from the other views")
		}
	}
	switch {
	case spoken == 0:
		notes = append(notes, "the two samples have no view in common, so no view compares them")
	case p.Deciding != "":
		notes = append(notes, fmt.Sprintf("%s decides (fusion %v)", p.Deciding, p.Fusion))
	case p.Fusion == posterior.Pooled && spoken > 1:
		notes = append(notes, fmt.Sprintf("the log-odds of each view are divided by sqrt(%d), since %d views compare the samples", spoken, spoken))
	case p.Fusion == posterior.Asymmetric && spoken > 1:
		notes = append(notes, "from the log-odds of every view but the first, those of its base rate are subtracted")
	}
	t.notes(notes)
	t.WriteString("\n")
}

func leftOut(view string) string {
	return view + " was left out by the fit, whose notes in run.json say why"
}

// lack says which of the two samples lacks the view.
func lack(v explain.PairView) string {
	if len(v.Lacking) == 1 {
		return fmt.Sprintf("sample %s lacks %s", words.Name(v.Lacking[0].ID), words.Name(v.Name))
	}
	return fmt.Sprintf("both samples lack %s", words.Name(v.Name))
}

func figure(format string, x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf(format, *x)
}

func pathText(p *explain.Pair) string {
	round := "no other sample links the two"
	if p.Path.Via != nil {
		round = fmt.Sprintf("the best path, through %s, has %.3f x %.3f = %.3f", words.Name(p.Path.Via.ID), p.Path.Steps[0], p.Path.Steps[1], p.Path.Product)
	}
	switch {
	case !p.Path.Kept:
		return "the fit keeps none for this pair; " + round
	case p.Path.Raised:
		return fmt.Sprintf("%.3f -> %.3f: %s", p.Fused, p.Path.Probability, round)
	}
	return fmt.Sprintf("leave %.3f unchanged: %s", p.Fused, round)
}

// strongest is how many neighbours, links or places a text lists.
const strongest = 5

func coNeighbours(t *page, p *explain.Pair) {
	c := p.CoNeighbours
	rank := func(of, other string, rank, list int) string {
		if rank == 0 {
			return fmt.Sprintf("%s is not among the %d neighbours of %s", other, list, of)
		}
		return fmt.Sprintf("%s is number %d among the %d neighbours of %s", other, rank, list, of)
	}
	t.item("neighbours", "%s; %s", rank(words.Name(p.A.ID), words.Name(p.B.ID), c.Ranks[0], c.Lists[0]), rank(words.Name(p.B.ID), words.Name(p.A.ID), c.Ranks[1], c.Lists[1]))
	if len(c.Common) == 0 {
		t.item("co-neighbours", "none")
		return
	}
	var list []string
	for _, s := range c.Common[:min(strongest, len(c.Common))] {
		list = append(list, fmt.Sprintf("%s %.3f", words.Name(s.ID), s.Share))
	}
	if more := len(c.Common) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	t.item("co-neighbours", "%d, with %.3f of the probability of their neighbours: %s", len(c.Common), c.Probability, strings.Join(list, ", "))
}

func chainText(p *explain.Pair) string {
	c := p.Chain
	switch {
	case c == nil && p.Together:
		return "none within the cluster"
	case c == nil:
		return "none"
	case len(c.Links) == 1:
		return "the link itself: no other chain has a stronger weakest link"
	}
	var b strings.Builder
	const shown = 4 // at either end
	for k, s := range c.Samples {
		switch from := len(c.Samples) - shown; {
		case k == shown && k < from:
			fmt.Fprintf(&b, " - %d more - ", from-k)
			continue
		case k > shown && k < from:
			continue
		case k > 0 && (k != from || k <= shown):
			fmt.Fprintf(&b, " -%.2f- ", c.Links[k-1])
		}
		b.WriteString(words.Name(s.ID))
		if !c.Within {
			fmt.Fprintf(&b, " (%d)", s.Cluster)
		}
	}
	if !c.Within {
		b.WriteString("; clusters in brackets")
	}
	return fmt.Sprintf("weakest link %.3f: %s", c.Weakest, b.String())
}

// sampleText formats the explanation of a sample.
func sampleText(m *mvclust.Model, s *explain.Sample) string {
	var t page
	if s.Size == 1 {
		t.line("sample %s is alone in cluster %d, with confidence %.2f", words.Name(s.ID), s.Cluster, s.Confidence.Value)
	} else {
		t.line("sample %s is in cluster %d (%s), with confidence %.2f", words.Name(s.ID), s.Cluster, words.Count(s.Size, "sample"), s.Confidence.Value)
	}
	if names := mvclust.Names(m.Labels, m.Examples); names != nil && names[s.Cluster] != "" {
		t.line("the examples in its cluster call it (%s)", names[s.Cluster])
	}
	if s.Bound {
		t.line("constraints apply to it, so another cluster may be worth more to it")
	}
	places(&t, m, s)
	own := s.Places[0].Gain
	if s.Second < 0 {
		t.item("second", "none: no link leads to another cluster")
	} else {
		t.item("second", "cluster %d, %s", s.Second, worth(s.Margin))
	}
	if s.Size > 1 {
		t.item("alone", "%s", worth(own))
	}
	c := s.Confidence
	next := "no other"
	if c.Cluster >= 0 {
		next = fmt.Sprintf("%.2f to cluster %d", c.Next, c.Cluster)
	}
	if math.Abs(c.Value-c.Linked*c.Lead) > 1e-4 {
		t.item("confidence", "%.4f: all samples have the same rows", c.Value)
	} else {
		t.item("confidence", "%.4f = %.4f (some link into its cluster is right) x %.4f (lead of %.2f over %s)", c.Value, c.Linked, c.Lead, c.Own, next)
	}
	if len(s.Links) == 0 {
		t.item("links", "none")
		return t.String()
	}
	var list []string
	for _, l := range s.Links[:min(strongest, len(s.Links))] {
		list = append(list, fmt.Sprintf("%s %.3f", words.Name(l.ID), l.Probability))
	}
	if more := len(s.Links) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	t.item("links", "%s", strings.Join(list, ", "))
	parts(&t, s)
	return t.String()
}

// worth compares another cluster with the sample's own, whose gain is larger by margin.
func worth(margin float64) string {
	if margin < 0 {
		return fmt.Sprintf("worth %.2f more: its own cluster is not the best", -margin)
	}
	return fmt.Sprintf("worth %.2f less", margin)
}

// places writes the table of the clusters' gains.
func places(t *page, m *mvclust.Model, s *explain.Sample) {
	rows := [][]string{{"cluster", "links", "for", "against", "gain"}}
	for k, p := range s.Places[:min(strongest, len(s.Places))] {
		name := fmt.Sprint(p.Cluster)
		if k == 0 {
			name += " (its own)"
		}
		rows = append(rows, []string{name, fmt.Sprint(p.Links), fmt.Sprintf("%.2f", p.For), fmt.Sprintf("%.2f", p.Against), fmt.Sprintf("%.2f", p.Gain)})
	}
	t.rows(rows)
	var notes []string
	if more := len(s.Places) - strongest; more > 0 {
		notes = append(notes, "not shown: "+words.Count(more, "cluster")+" of smaller gain")
	}
	if r := m.Settings.Resolution; r > 0 {
		notes = append(notes, fmt.Sprintf("for: the sum of its link probabilities; against: the sum expected by chance, times %.3g", r))
	} else {
		notes = append(notes, "for: log-odds of its links above 1/2; against: log-odds of those below")
	}
	t.notes(notes)
	t.WriteString("\n")
}

// parts writes the table of the views' parts in the links.
func parts(t *page, s *explain.Sample) {
	rows := [][]string{{"view", "links", "mean log-odds", "share"}}
	for _, p := range s.Views {
		rows = append(rows, []string{p.Name, fmt.Sprint(p.Links), figure("%+.2f", p.LogOdds), percent(p.Share) + "%"})
	}
	t.rows(rows)
	var notes []string
	for _, p := range s.Views {
		switch p.State {
		case explain.LeftOut:
			notes = append(notes, leftOut(words.Name(p.Name)))
		case explain.Missing:
			notes = append(notes, fmt.Sprintf("sample %s lacks %s", words.Name(s.ID), words.Name(p.Name)))
		}
	}
	t.notes(notes)
}
