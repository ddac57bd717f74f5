package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/agreement"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/structure"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/score"
)

// runFile is the report on a fit, in a folder of results.
const runFile = "run.json"

// runReport is run.json.
type runReport struct {
	Version  string         `json:"version"`
	Command  string         `json:"command"`
	Preset   string         `json:"preset"`
	Settings map[string]any `json:"settings"`
	Seed     uint64         `json:"seed"`
	Threads  int            `json:"threads"`
	Started  time.Time      `json:"started"`
	Seconds  float64        `json:"seconds"`

	Inputs struct {
		Files    []dataset.File `json:"files"`
		Truth    *truthReport   `json:"truth,omitempty"`
		Pictures *pictureReport `json:"pictures,omitempty"`
		Samples  int            `json:"samples"`
		IDs      bool           `json:"ids"` // whether the samples have ids of their own
		Views    []viewReport   `json:"views"`
	} `json:"inputs"`

	Constraints *constraintReport `json:"constraints,omitempty"`

	// Agreement holds, by view and view, how much more alike neighbours in the second are
	// in the first than random samples are: from -1 to 1, 0 where they are not.
	Agreement [][]float64 `json:"agreement,omitempty"`
	// Alone tells of the one view that is compared because the others only blur it.
	Alone    *mvclust.Alone `json:"alone,omitempty"`
	Stages   []stageReport  `json:"stages"`
	Pairs    int            `json:"pairs"`
	Learning learnReport    `json:"learning"`
	Choice   *choiceReport  `json:"choice,omitempty"`
	// Structure compares with clouds without groups; absent where the granularity is given.
	Structure *structure.Report `json:"structure,omitempty"`
	// Levels holds the granularities that the data support, coarse to fine, and Level says
	// which of them is the result's.
	Levels   []mvclust.Level `json:"levels,omitempty"`
	Level    *int            `json:"level,omitempty"`
	Examples *examplesReport `json:"examples,omitempty"`
	// Names holds the names that examples give to clusters, by label.
	Names []string `json:"names,omitempty"`
	// Cut says that the granularity was changed after the fit.
	Cut       *cutReport `json:"cut,omitempty"`
	Edges     int        `json:"edges"`
	Partition partReport `json:"partition"`

	// Review says that the clusters are those that answers have led to.
	Review *reviewReport `json:"review,omitempty"`

	Labels     string            `json:"labels"`                  // the file that they are in
	Files      map[string]string `json:"files"`                   // the SHA-256 of those written with this one
	Members    string            `json:"model_members,omitempty"` // npy.Members of the model
	Clusters   int               `json:"clusters"`
	Singletons int               `json:"singletons"`
	Sizes      []int             `json:"sizes"` // of the largest clusters
	Confidence float64           `json:"mean_confidence"`
	Scores     *score.Scores     `json:"scores,omitempty"`
	Functions  []viewFunction    `json:"functions"`
	// Profile describes the largest clusters; samples are rows of the views.
	Profile []explain.Cluster `json:"profile"`
	Notes   []string          `json:"notes"`
}

// truthReport is the file of the known classes, and --truth as it was given.
type truthReport struct {
	dataset.File
	Source string `json:"source"`
}

// pictureReport is --thumbs and --thumbs-root as they were given.
type pictureReport struct {
	Source string `json:"source"`
	Root   string `json:"root,omitempty"`
}

type viewReport struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"`
	Dims    int    `json:"dims"`
	Links   int    `json:"links,omitempty"` // that the rows were made of
	Present int    `json:"present"`
	// Fill says how missing values were filled in, and Filled how many.
	Fill       string `json:"fill,omitempty"`
	Filled     int    `json:"filled_cells,omitempty"`
	Zero       int    `json:"zero_rows"` // counted as missing under cosine
	Metric     string `json:"metric"`
	Candidates int    `json:"candidates"`
	LeftOut    bool   `json:"left_out"`
	// Counts says that the view holds counts, view.View.Counts, whose logarithms are compared.
	Counts bool `json:"counts,omitempty"`
	// Version is which version of the rows is compared, where there are several, and Confirmed how
	// far the other views confirm the neighbours by each, agreement.Readings.Confirmed.
	Version    string             `json:"version,omitempty"`
	Confirmed  map[string]float64 `json:"confirmed,omitempty"`
	Neighbours search             `json:"neighbours"`
	// Share is the view's share in the decisions, mvclust.Trace.Shares.
	Share float64 `json:"share"`
}

// search says how a view's nearest neighbours were found.
type search struct {
	Method  neighbour.Method `json:"method"`
	Recall  float64          `json:"recall"`  // estimated, where the search was approximate
	Checked int              `json:"checked"` // samples that the estimate rests on
	Cells   int              `json:"cells"`
	Probes  int              `json:"probes"`
	Passes  int              `json:"passes"`
	Widened int              `json:"widened"` // times
}

type stageReport struct {
	Stage   string  `json:"stage"` // read, and those of mvclust.Fit
	Seconds float64 `json:"seconds"`
}

type learnReport struct {
	Epochs int                  `json:"epochs"`
	Kept   int                  `json:"epoch_kept"` // the one of the least loss
	First  float64              `json:"loss_first"`
	Least  float64              `json:"loss_kept"`
	Curve  []probability.Losses `json:"curve"` // before every epoch, and after the last
}

// choiceReport says how the number of neighbours and the resolution were chosen, and why.
type choiceReport struct {
	Why    string                `json:"why"`
	Chosen selection.Candidate   `json:"chosen"`
	Tried  []selection.Candidate `json:"tried"`
}

func newChoiceReport(trace *mvclust.Trace, asked bool) *choiceReport {
	if len(trace.Tried) == 0 {
		return nil
	}
	c := trace.Tried[trace.Chosen]
	r := &choiceReport{Chosen: c, Tried: trace.Tried}
	switch {
	case c.Linked:
		r.Why = fmt.Sprintf("%s of average linkage, which one distance tells (F1 %.2f, without any one view at least %.2f, %.0f%% shorter walks), rather than one of %d partitions by moves",
			words.Count(c.Clusters, "cluster"), c.Plateau, c.Agreement, 100*c.Compression, len(trace.Tried)-1)
	case len(trace.Tried) == 1:
		r.Why = fmt.Sprintf("%s at resolution %.3g, as asked for", words.Count(c.Neighbours, "neighbour"), c.Resolution)
	case c.Score == 0:
		r.Why = fmt.Sprintf("%s at resolution %.3g: no partition of %d tried is stable and worth its clusters", words.Count(c.Neighbours, "neighbour"), c.Resolution, len(trace.Tried))
	case asked:
		r.Why = fmt.Sprintf("%s at resolution %.3g: of the levels, the one that suits what was asked for (%.2f with another resolution, %.2f with other neighbours, %.0f%% shorter walks)",
			words.Count(c.Neighbours, "neighbour"), c.Resolution, c.Plateau, c.Agreement, 100*c.Compression)
	default:
		r.Why = fmt.Sprintf("%s at resolution %.3g: of %d partitions tried, the most stable for its compression (%.2f with another resolution, %.2f with other neighbours, %.0f%% shorter walks)",
			words.Count(c.Neighbours, "neighbour"), c.Resolution, len(trace.Tried), c.Plateau, c.Agreement, 100*c.Compression)
	}
	if n := passedOver(trace); n > 0 && !asked {
		r.Why += fmt.Sprintf("; %s passed over, in whose clusters the views do not place samples", words.Count(n, "other"))
	}
	if c.Divided > 0 {
		r.Why += fmt.Sprintf("; %s divided further, where finer partitions agree on the parts", words.Count(c.Divided, "cluster"))
	}
	return r
}

// passedOver counts the partitions that were not chosen since the views hardly foretell their clusters.
func passedOver(trace *mvclust.Trace) int {
	n := 0
	for at, c := range trace.Tried {
		if at != trace.Chosen && c.Clusters > 1 && c.Foretold() < 1 {
			n++
		}
	}
	return n
}

type partReport struct {
	Sweeps    []partition.Sweep `json:"sweeps"`
	Moves     int               `json:"moves"`
	Objective float64           `json:"objective"`
}

// viewFunction is the learned probability function of a view.
type viewFunction struct {
	View string `json:"view"`
	probability.Function
	BaseRate     float64               `json:"base_rate"`
	Similarities probability.Histogram `json:"similarities"` // of the training pairs
}

// mostSizes bounds the list of sizes in run.json, as there can be hundreds of
// thousands of clusters.
const mostSizes = 1000

// newRunReport says what a fit was given and what came of it.
func newRunReport(j *job, o *fitOptions, in *fitInput, result *mvclust.Result) (*runReport, error) {
	set, trace, opt := in.set, &result.Trace, &result.Options
	r := &runReport{
		Version: mvclust.Version, Command: "fit", Preset: o.preset, Settings: settings(opt),
		Seed: opt.Seed, Threads: opt.Threads, Started: j.started.UTC().Truncate(time.Millisecond),
		Stages: slices.Clone(j.stages), Pairs: trace.Pairs, Edges: trace.Edges,
		Choice: newChoiceReport(trace, opt.Clusters > 0 || len(opt.Examples) > 0), Learning: newLearnReport(result.Functions),
		Labels: o.format.labelsFile(), Clusters: len(result.Sizes), Sizes: result.Sizes[:min(mostSizes, len(result.Sizes))],
		Notes: append([]string{}, set.Notes...),
	}
	r.Structure = result.Structure
	if len(result.Levels) > 0 {
		r.Levels, r.Level = result.Levels, &result.Level
	}
	r.Examples, r.Names = newExamplesReport(in.examples, opt.Examples, result.Against, set.IDs), mvclust.Names(result.Labels, opt.Examples)
	r.Alone = trace.Alone
	if trace.Agreement != nil {
		r.Agreement = trace.Agreement.Agreement
	}
	for _, s := range trace.Stages {
		r.Stages = append(r.Stages, stageReport{string(s.Stage), s.Duration.Seconds()})
	}
	r.Partition.Sweeps = trace.Sweeps
	for _, s := range trace.Sweeps {
		r.Partition.Moves += s.Moves
		r.Partition.Objective = s.Objective
	}
	for _, size := range result.Sizes {
		if size == 1 {
			r.Singletons++
		}
	}
	r.Confidence = mean(result.Confidence)
	r.addViews(set, result)
	for _, note := range r.Notes[len(set.Notes):] {
		j.progress.note(note)
	}
	var err error
	if r.Constraints, err = in.known.report(result.Constraints, result.Labels); err != nil {
		return nil, err
	}
	if in.pictures != nil {
		r.Inputs.Pictures = &in.pictureSource
	}
	if in.truth != nil {
		s, err := score.Compare(in.truth.Labels, result.Labels)
		if err != nil {
			return nil, err
		}
		r.Inputs.Truth, r.Scores = &truthReport{in.truth.File, in.truthSource}, &s
	}
	return r, nil
}

func newLearnReport(m *probability.Functions) learnReport {
	return learnReport{len(m.Curve) - 1, m.Kept, m.Curve[0].Total, m.Curve[m.Kept].Total, m.Curve}
}

// doubtedNote says why no clear plateau was taken.
const doubtedNote = "broad clusters are found again with other numbers of neighbors, but nearly as well in clouds without groups, so that alone did not choose them"

// linkedNote says where the clusters come from.
const linkedNote = "the clusters are those of average linkage, by which more of the nearest neighbours stay together than in as many clusters made by moves"

// addViews reports on each view, and notes those that need attention.
func (r *runReport) addViews(set *dataset.Set, result *mvclust.Result) {
	trace, opt := &result.Trace, &result.Options
	r.Inputs.Files, r.Inputs.Samples, r.Inputs.IDs = set.Files, set.Views[0].Samples, set.IDs != nil
	if trace.Distinct == 1 {
		r.Notes = append(r.Notes, same(r.Inputs.Samples, len(result.Sizes)))
	}
	if trace.Doubted {
		r.Notes = append(r.Notes, doubtedNote)
	}
	if trace.Linked && result.Level < 0 {
		r.Notes = append(r.Notes, linkedNote)
	}
	if opt.Lean {
		r.Notes = append(r.Notes, "rows were kept as they are given and scaled when they were compared, which takes longer: scaled rows need more memory than the run may use")
	}
	for m, v := range set.Views {
		leftOut := trace.WhyLeftOut(m) != ""
		r.Inputs.Views = append(r.Inputs.Views, viewReport{
			Name: v.Name, Samples: v.Samples, Dims: v.Dims, Links: v.Links, Present: v.Count(), Zero: trace.Zero[m],
			Metric: opt.Metrics[m].String(), Candidates: trace.Candidates[m], Neighbours: search(trace.Search[m]),
			LeftOut: leftOut, Share: trace.Shares[m],
		})
		last := &r.Inputs.Views[m]
		if f := v.Filling; f != nil {
			last.Fill, last.Filled = f.How.String(), f.Cells
		}
		if result.Scalers[m].Log {
			last.Counts = true
			r.Notes = append(r.Notes, words.Name(v.Name)+": it holds counts (whole numbers from 0 on, most of them 0), so log(1 + x) is compared in place of x")
		}
		if trace.Readings != nil && opt.Scale == view.Mixed && opt.Metrics[m] == similarity.Cosine {
			last.Version, last.Confirmed = trace.Readings.Taken[m].String(), confirmed(trace.Readings.Confirmed[m])
			if said := readingNote(trace.Readings, m); said != "" {
				r.Notes = append(r.Notes, words.Name(v.Name)+": "+said)
			}
		}
		r.Functions = append(r.Functions, viewFunction{v.Name, result.Functions.ByView[m], result.Functions.BaseRate[m], trace.Similarities[m]})
		switch a := trace.Alone; {
		case a != nil && m == a.View:
			r.Notes = append(r.Notes, fmt.Sprintf("%s: its clusters are much clearer alone than those of all views (stability %.2f, and %.2f), so the others were left out; give --neighbors %d to compare all", words.Name(v.Name), a.Own.Stability(), a.All.Stability(), a.All.Neighbours))
		case a == nil && leftOut:
			r.Notes = append(r.Notes, words.Name(v.Name)+": the other views agree with this one hardly more than with noise, so it was left out; remove it from the command, or check its data")
		}
		if n := trace.Zero[m]; n > 0 {
			zeros := "rows of zeros"
			if opt.Scale != view.NoScale {
				zeros += ", after scaling,"
			}
			which := fmt.Sprint("row ", trace.FirstZero[m])
			if set.IDs != nil {
				which = "sample " + words.Quote(set.IDs[trace.FirstZero[m]])
			}
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s have no cosine and count as missing: %d, the first of them %s", words.Name(v.Name), zeros, n, which))
		}
	}
}

// confirmed names how far other views confirm the neighbours by each version, where they can be asked.
func confirmed(byVersion []float64) map[string]float64 {
	out := map[string]float64{}
	for v, x := range byVersion {
		if x != 0 {
			out[view.Version(v).String()] = x
		}
	}
	return out
}

// readingNote says why one version of the rows of view m is compared alone; "" where it is not.
func readingNote(r *agreement.Readings, m int) string {
	v := r.Taken[m]
	less := (r.Confirmed[m][v] - r.Confirmed[m][view.Joined]) / (1 - r.Confirmed[m][view.Joined])
	var rows string
	switch v {
	case view.Given:
		rows = "rows are compared as they are"
	case view.Ranged:
		rows = "rows are compared with every feature scaled to [0, 1]"
	case view.Standard:
		rows = "rows are compared with every feature scaled to variance 1"
	default:
		return ""
	}
	return fmt.Sprintf("%s, not in three ways at once: the neighbours found so disagree %.0f%% less with the other views", rows, 100*less)
}

// same is the note on samples that cannot be told apart.
func same(samples, clusters int) string {
	so := "so they are one cluster"
	if clusters > 1 {
		so = "so nothing but constraints or examples keeps them apart"
	}
	return fmt.Sprintf("all %d samples have the same rows, %s; if their values differ by less than float32 can hold, about 7 digits, subtract an offset from them first", samples, so)
}

// mean returns the average of x, which has at least one element.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// settings returns every setting as it was used.
func settings(opt *mvclust.Options) map[string]any {
	var metrics []string
	for _, m := range opt.Metrics {
		metrics = append(metrics, m.String())
	}
	s := map[string]any{"neighbors": opt.Neighbours, "metric": metrics}
	for _, p := range opt.Parameters() {
		s[p.Name] = p.Value.Get()
	}
	return s
}

// encode returns x as indented JSON with lists of numbers, and objects that hold
// nothing else, on one line each.
func encode(x any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(x); err != nil {
		return nil, err
	}
	const number = `-?[0-9][-+.0-9eE]*`
	flat := regexp.MustCompile(`\[\n\s*(` + number + `,\n\s*)*` + number + `\n\s*\]|` +
		`\{\n\s*("\w+": ` + number + `,\n\s*)*"\w+": ` + number + `\n\s*\}`)
	return flat.ReplaceAllFunc(b.Bytes(), func(lines []byte) []byte {
		words := bytes.Fields(lines)
		last := len(words) - 1
		line := append([]byte{}, words[0]...)
		line = append(line, bytes.Join(words[1:last], []byte(" "))...)
		return append(line, words[last]...)
	}), nil
}

// summary is what fit prints.
func (r *runReport) summary(folder string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s", words.Count(r.Inputs.Samples, "sample"), words.Count(len(r.Inputs.Views), "view"))
	if r.Choice == nil {
		fmt.Fprintf(&b, ", K = %d", r.Settings["neighbors"])
	}
	b.WriteString("\n\n")
	rows := [][]string{{"view", "dims", "missing", "metric", "candidates"}}
	for _, v := range r.Inputs.Views {
		missing, dims := v.Samples-v.Present+v.Zero, strconv.Itoa(v.Dims)
		if v.Links > 0 {
			dims = words.Count(v.Links, "link")
		}
		rows = append(rows, []string{
			words.Name(v.Name), dims, fmt.Sprintf("%d (%s%%)", missing, percent(float64(missing)/float64(v.Samples))),
			v.Metric, strconv.Itoa(v.Candidates),
		})
	}
	b.WriteString(table(rows))
	for _, v := range r.Inputs.Views {
		if v.Filled > 0 {
			fmt.Fprintf(&b, "  %s: %s filled in by %s\n", words.Name(v.Name), words.Count(v.Filled, "missing value"), v.Fill)
		}
	}
	fmt.Fprintf(&b, "\n%s", words.Count(r.Pairs, "pair"))
	if r.Learning.Epochs > 0 {
		fmt.Fprintf(&b, ", loss %.4g -> %.4g in %s", r.Learning.First, r.Learning.Least, words.Count(r.Learning.Epochs, "epoch"))
	}
	b.WriteString("\n")
	if r.Choice != nil {
		b.WriteString(r.Choice.Why + "\n")
	}
	if r.Structure != nil {
		fmt.Fprintf(&b, "structure: %v\n", r.Structure)
	}
	b.WriteString(levelsLine(r.Levels))
	b.WriteString(r.Examples.summary())
	if r.Constraints != nil {
		b.WriteString(r.Constraints.summary())
	}
	largest := strings.Trim(fmt.Sprint(r.Sizes[:min(10, len(r.Sizes))]), "[]")
	fmt.Fprintf(&b, "%s, of which %d of a single sample; the largest: %s\n", words.Count(r.Clusters, "cluster"), r.Singletons, largest)
	fmt.Fprintf(&b, "mean confidence %.2f\n\n", r.Confidence)
	if r.Scores != nil {
		b.WriteString(scoreTable(r.Scores) + "\n")
	}
	fmt.Fprintf(&b, "%s, model.mvclust, run.json and report.html are in %s (%.1f s)\n", r.Labels, words.Printable(folder), r.Seconds)
	return b.String()
}

// scoreTable formats scores in percent.
func scoreTable(s *score.Scores) string {
	row := func(name string, x ...float64) []string {
		cells := []string{name}
		for _, x := range x {
			cells = append(cells, percent(x))
		}
		return cells
	}
	return fmt.Sprintf("scores in %% against %s\n", words.Count(s.Classes, "class")) +
		table([][]string{
			{"", "precision", "recall", "F"},
			row("pairwise", s.PairwisePrecision, s.PairwiseRecall, s.PairwiseF),
			row("BCubed", s.BCubedPrecision, s.BCubedRecall, s.BCubedF),
		}) +
		fmt.Sprintf("  ARI %s   NMI %s (geometric %s)   ACC %s\n", percent(s.ARI), percent(s.NMI), percent(s.NMIGeometric), percent(s.ACC))
}

// table aligns the cells of rows, the first of each to the left.
func table(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, cells := range rows {
		for c, s := range cells {
			width[c] = max(width[c], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	for _, cells := range rows {
		fmt.Fprintf(&b, "  %-*s", width[0], cells[0])
		for c, s := range cells[1:] {
			fmt.Fprintf(&b, "   %*s", width[c+1], s)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// percent formats a share in percent.
func percent(x float64) string { return fmt.Sprintf("%.1f", 100*x) }
