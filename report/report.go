// Package report shows a clustering on a page of HTML: a map of the samples, a table of the
// clusters, and what each view contributed. The page is one file and opens offline.
//
// New computes the numbers, which also marshal to JSON. Report.WriteHTML writes the page.
package report

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/internal/layout"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/selection"
	"github.com/mvclust/mvclust/method/structure"
	"github.com/mvclust/mvclust/score"
)

// Options say what the report shows beside the result. The zero value is valid.
type Options struct {
	// Title is the heading of the page; empty means "Clusters".
	Title string
	// Views are the views that were clustered. The report shows their names and dimensions
	// and which samples have them; Data is not read. If nil, these are left out.
	Views []*mvclust.View
	// IDs holds the id of every sample. If nil, samples are called by their numbers.
	IDs []string
	// Truth holds the known class of every sample, as an index into Classes. If nil, the
	// report has no scores.
	Truth []int
	// Classes holds the names of the classes.
	Classes []string
	// Pictures, if not nil, supplies pictures that the page shows in place of ids.
	Pictures Pictures
	// PictureMemory bounds the bytes that a picture takes while it is made small; one
	// that needs more is left out with a note. 0 means MostPictureMemory.
	PictureMemory int64
	// Facts are shown beneath the title, for example the names of the files.
	Facts []Fact
	// Notes are sentences that the page lists under "Worth knowing".
	Notes []string
	// Threads bounds the goroutines that compute at a time; 0 means GOMAXPROCS. It does
	// not change the report.
	Threads int
	// Progress, if not nil, is called with the number of steps done and in all.
	Progress func(done, total int)
}

// Fact is a name and a value, such as a setting.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Report holds the numbers that a page shows. Samples are numbered as in the result.
type Report struct {
	Title    string   `json:"title"`
	Preset   string   `json:"preset"`
	Samples  int      `json:"samples"`
	Number   int      `json:"clusters"` // of clusters
	Singles  int      `json:"singletons"`
	Mean     float64  `json:"mean_confidence"`
	Pairs    int      `json:"pairs"`
	Edges    int      `json:"edges"`
	Facts    []Fact   `json:"facts"`
	Settings []Fact   `json:"settings"` // of the method
	Notes    []string `json:"notes"`
	Views    []View   `json:"views"`
	Sizes    []int    `json:"sizes"` // of the largest clusters
	Learning Learning `json:"learning"`
	Choice   *Choice  `json:"choice,omitempty"`
	// Structure compares with clouds without groups; nil where that was not done.
	Structure *structure.Report `json:"structure,omitempty"`
	Truth     *Truth            `json:"truth,omitempty"`
	Map       *Map              `json:"map"`
	// Levels holds the granularities that the page can show, coarse to fine, and Level the
	// place of the result's among them.
	Levels []Level `json:"levels"`
	Level  int     `json:"level"`
	// Clusters describes the largest clusters, at most 1,000.
	Clusters []explain.Cluster `json:"profile"`

	ids        []string
	confidence []float64
	labels     []int
	thumbs     map[int]string // sample -> picture, as a data URI
	blamed     int            // the sample that the note on missing pictures names
}

// maxClusters bounds the clusters that are described.
const maxClusters = 1000

// View describes one view.
type View struct {
	Name    string `json:"name"`
	Metric  string `json:"metric"`
	Dims    int    `json:"dims"`     // 0 if not known
	Present int    `json:"present"`  // samples that have it; -1 if not known
	LeftOut string `json:"left_out"` // why, in words, as mvclust.Trace.WhyLeftOut has it; "" where it is not
	// Share is the view's share in the decisions: mvclust.Trace.Shares.
	Share float64 `json:"share"`
	// Function is the view's probability function, and Similarities the histogram of the
	// similarities of the training pairs.
	Function     probability.Function  `json:"function"`
	Similarities probability.Histogram `json:"similarities"`
}

// Learning is the learning curve.
type Learning struct {
	Curve []probability.Losses `json:"curve"` // before every epoch, and after the last
	Kept  int                  `json:"kept"`  // the index in Curve of the least loss
}

// Choice lists the partitions that were tried. Tried[Chosen] is the result's.
type Choice struct {
	Tried  []selection.Candidate `json:"tried"`
	Chosen int                   `json:"chosen"`
}

// Truth compares the clusters with the known classes.
type Truth struct {
	Scores  score.Scores `json:"scores"`
	Classes []string     `json:"classes"`
	// Counts holds, for each of Report.Clusters, the number of its members in each class,
	// for at most 200 classes.
	Counts [][]int `json:"counts"`
}

// New computes the report on a result of mvclust.Fit, which it does not change. The same
// result and options give the same report for any number of threads. It returns the error of
// ctx or of Options.Pictures, or an error where the options do not fit the result.
func New(ctx context.Context, result *mvclust.Result, opt Options) (*Report, error) {
	if err := opt.check(result); err != nil {
		return nil, err
	}
	set, trace := &result.Options, &result.Trace
	r := &Report{
		Title: opt.Title, Preset: set.Preset.String(), Samples: len(result.Labels), Number: len(result.Sizes),
		Pairs: trace.Pairs, Edges: trace.Edges, Facts: opt.Facts, Settings: settings(set), Notes: opt.Notes,
		Sizes: result.Sizes[:min(len(result.Sizes), maxClusters)],
		ids:   opt.IDs, confidence: result.Confidence, labels: result.Labels,
	}
	if r.Title == "" {
		r.Title = "Clusters"
	}
	for _, size := range result.Sizes {
		if size == 1 {
			r.Singles++
		}
	}
	for _, c := range result.Confidence {
		r.Mean += c / float64(r.Samples)
	}
	r.Structure = result.Structure
	r.Views = views(result, opt.Views)
	r.Learning = Learning{result.Functions.Curve, result.Functions.Kept}
	if len(trace.Tried) > 0 {
		r.Choice = &Choice{trace.Tried, trace.Chosen}
	}
	var err error
	r.Clusters, err = explain.Describe(ctx, result.Graph, result.Labels, result.Confidence, explain.DescribeSettings{
		First: maxClusters, Resolution: set.Resolution, Clip: set.Partition.Clip,
	}, opt.Threads)
	if err != nil {
		return nil, err
	}
	if opt.Truth != nil {
		if r.Truth, err = r.compare(opt.Truth, opt.Classes); err != nil {
			return nil, err
		}
	}
	drawn, err := layout.Draw(ctx, result.Graph, result.Labels, layout.Settings{Seed: set.Seed}, opt.Threads, func(done int) {
		if opt.Progress != nil {
			opt.Progress(done, layout.Steps)
		}
	})
	if err != nil {
		return nil, err
	}
	r.Map = newMap(drawn, result, opt.Views)
	if err := r.addLevels(ctx, result, &opt); err != nil {
		return nil, err
	}
	if opt.Pictures != nil {
		if err := r.illustrate(ctx, opt.Pictures, opt.PictureMemory); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// check reports options that do not fit the result.
func (o *Options) check(result *mvclust.Result) error {
	if result == nil || result.Graph == nil || result.Functions == nil || len(result.Labels) == 0 {
		return errors.New("there is no result to report on; pass what mvclust.Fit returns")
	}
	if err := result.Graph.Check(); err != nil {
		return err
	}
	n := len(result.Labels)
	if o.IDs != nil && len(o.IDs) != n {
		return fmt.Errorf("there are %d ids for %d samples; give one per sample, or none", len(o.IDs), n)
	}
	if len(result.Confidence) != n || result.Graph.Samples() != n {
		return fmt.Errorf("the result has %d labels, %d confidences and a graph of %d samples; pass it as mvclust.Fit returns it", n, len(result.Confidence), result.Graph.Samples())
	}
	if o.Truth != nil && len(o.Truth) != n {
		return fmt.Errorf("there are %d classes for %d samples; give one per sample, or none", len(o.Truth), n)
	}
	for i, c := range o.Truth {
		if c < 0 || c >= len(o.Classes) {
			return fmt.Errorf("sample %d (counted from 0) is of class %d, where there are names for %d; give every class a name", i, c, len(o.Classes))
		}
	}
	if o.Views != nil && len(o.Views) != len(result.Functions.ByView) {
		return fmt.Errorf("there are %d views for a result of %d; give those that were clustered, or none", len(o.Views), len(result.Functions.ByView))
	}
	for at := range result.Levels {
		if len(result.Levels[at].Labels) != n {
			return fmt.Errorf("level %d has %d labels for %d samples; pass the result as mvclust.Fit returns it", at, len(result.Levels[at].Labels), n)
		}
		for i, c := range result.Levels[at].Labels {
			if c < 0 || c >= result.Levels[at].Clusters || c >= n {
				return fmt.Errorf("level %d has %d clusters, and sample %d (counted from 0) is in cluster %d; pass the result as mvclust.Fit returns it", at, result.Levels[at].Clusters, i, c)
			}
		}
	}
	for m, v := range o.Views {
		if v == nil || v.Samples != n || v.Present != nil && len(v.Present) != n {
			return fmt.Errorf("view %d (counted from 0) is not of the %d samples of the result; give the views that were clustered, or none", m, n)
		}
	}
	return nil
}

// settings lists the settings of the method.
func settings(o *mvclust.Options) []Fact {
	facts := []Fact{
		{"preset", o.Preset.String()},
		{"neighbors", strconv.Itoa(o.Neighbours)},
		{"seed", strconv.FormatUint(o.Seed, 10)},
	}
	for _, p := range o.Parameters() {
		value := p.Value.Get()
		if x, ok := value.(float64); ok {
			value = strconv.FormatFloat(x, 'g', 6, 64)
		}
		facts = append(facts, Fact{p.Name, fmt.Sprint(value)})
	}
	return facts
}

// views describes each view.
func views(result *mvclust.Result, from []*mvclust.View) []View {
	trace := &result.Trace
	out := make([]View, len(result.Functions.ByView))
	for m := range out {
		v := View{Name: fmt.Sprint("view ", m), Present: -1, Function: result.Functions.ByView[m]}
		if from != nil {
			v.Name, v.Dims, v.Present = from[m].Name, from[m].Dims, from[m].Count()
		}
		if m < len(result.Options.Metrics) {
			v.Metric = result.Options.Metrics[m].String()
		}
		if m < len(trace.Shares) {
			v.Share = trace.Shares[m]
		}
		if m < len(trace.Similarities) {
			v.Similarities = trace.Similarities[m]
		}
		v.LeftOut = trace.WhyLeftOut(m)
		out[m] = v
	}
	return out
}

// compare scores the clusters and counts their members by class.
func (r *Report) compare(truth []int, classes []string) (*Truth, error) {
	s, err := score.Compare(truth, r.labels)
	if err != nil {
		return nil, err
	}
	return &Truth{Scores: s, Classes: classes, Counts: countClasses(r.labels, len(r.Clusters), truth, len(classes))}, nil
}

// countClasses counts the members of the first clusters by class.
func countClasses(labels []int, clusters int, truth []int, classes int) [][]int {
	counts := make([][]int, clusters)
	for c := range counts {
		counts[c] = make([]int, min(classes, mostClasses))
	}
	for i, c := range labels {
		if c < len(counts) && truth[i] < len(counts[c]) {
			counts[c][truth[i]]++
		}
	}
	return counts
}

// mostClasses bounds the columns of the confusion table.
const mostClasses = 200

// id returns what sample i is called.
func (r *Report) id(i int) string {
	if r.ids == nil {
		return strconv.Itoa(i)
	}
	return r.ids[i]
}
