// Package report shows a clustering to people: one page of HTML that holds all it
// needs and opens without a network.
//
// New works out what is to be shown, as numbers that can be had as JSON too, and
// Report.WriteHTML writes the page.
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
	"github.com/mvclust/mvclust/score"
)

// Options say what is known beside the result. The zero value needs nothing.
type Options struct {
	// Title heads the page. Empty stands for "Clusters".
	Title string
	// Views are those that were clustered: their names, dimensions and who has them are
	// shown. Their Data is not read. nil leaves that out.
	Views []*mvclust.View
	// IDs holds the id of every sample; nil stands for their numbers.
	IDs []string
	// Truth holds the known class of every sample, an index into Classes; nil for none.
	Truth []int
	// Classes are the names of the classes.
	Classes []string
	// Pictures, if not nil, is asked for the pictures of some samples.
	Pictures Pictures
	// Facts are shown beneath the title: what was read, when, and so on.
	Facts []Fact
	// Notes are sentences that the reader should know.
	Notes []string
	// Threads bounds the goroutines that compute at a time; 0 stands for GOMAXPROCS. It
	// does not change the report.
	Threads int
	// Progress, if not nil, is called with how many of how many steps are done.
	Progress func(done, total int)
}

// Fact is something to be said in a few words.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Report is what a page shows. Samples are numbered as in the result.
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
	Settings []Fact   `json:"settings"`
	Notes    []string `json:"notes"`
	Views    []View   `json:"views"`
	Sizes    []int    `json:"sizes"` // of the largest clusters
	Learning Learning `json:"learning"`
	Choice   *Choice  `json:"choice,omitempty"`
	Truth    *Truth   `json:"truth,omitempty"`
	Map      *Map     `json:"map"`
	// Clusters describes the largest clusters, MostClusters at most.
	Clusters []explain.Cluster `json:"profile"`

	ids        []string
	confidence []float64
	labels     []int
	thumbs     map[int]string // sample -> picture, as a data URI
	blamed     int            // the sample whose picture is named for all that cannot be shown
}

// MostClusters is how many clusters are described: more than anybody looks at one by one.
const MostClusters = 1000

// View is a view of the samples.
type View struct {
	Name    string `json:"name"`
	Metric  string `json:"metric"`
	Dims    int    `json:"dims"`    // 0 where it is not known
	Present int    `json:"present"` // samples that have it, or -1 where it is not known
	LeftOut bool   `json:"left_out"`
	// Share is the view's share in the decisions, mvclust.Trace.Evidence.
	Share float64 `json:"share"`
	// Function is the learned probability function, and Similarities what it is a
	// function of, among the training pairs.
	Function     probability.Function  `json:"function"`
	Similarities probability.Histogram `json:"similarities"`
}

// Learning is how the functions were learned.
type Learning struct {
	Curve []probability.Losses `json:"curve"` // before every epoch, and after the last
	Kept  int                  `json:"kept"`  // the place in Curve of the least loss
}

// Choice is how the granularity was chosen.
type Choice struct {
	Tried  []selection.Candidate `json:"tried"`
	Chosen int                   `json:"chosen"`
}

// Truth compares the clusters with the known classes.
type Truth struct {
	Scores  score.Scores `json:"scores"`
	Classes []string     `json:"classes"`
	// Counts holds, for each of the described clusters, its members by class.
	Counts [][]int `json:"counts"`
}

// New works out what is to be shown of a result. The result must be of mvclust.Fit; it is
// not changed. The same result and options give the same report, whatever the number of
// threads. The errors are the context's own, those of Options.Pictures, and sentences about
// options that do not fit the result.
func New(ctx context.Context, result *mvclust.Result, opt Options) (*Report, error) {
	if err := opt.check(result); err != nil {
		return nil, err
	}
	set, trace := &result.Options, &result.Trace
	r := &Report{
		Title: opt.Title, Preset: set.Preset.String(), Samples: len(result.Labels), Number: len(result.Sizes),
		Pairs: trace.Pairs, Edges: trace.Edges, Facts: opt.Facts, Settings: settings(set), Notes: opt.Notes,
		Sizes: result.Sizes[:min(len(result.Sizes), MostClusters)],
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
	r.Views = views(result, opt.Views)
	r.Learning = Learning{result.Functions.Curve, result.Functions.Kept}
	if len(trace.Tried) > 0 {
		r.Choice = &Choice{trace.Tried, trace.Chosen}
	}
	var err error
	r.Clusters, err = explain.Describe(ctx, result.Graph, result.Labels, result.Confidence, explain.DescribeSettings{
		First: MostClusters, Resolution: set.Resolution, Clip: set.Partition.Clip,
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
	if opt.Pictures != nil {
		if err := r.illustrate(ctx, opt.Pictures); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// check reports options that are not about the result.
func (o *Options) check(result *mvclust.Result) error {
	if result == nil || result.Graph == nil || result.Functions == nil || len(result.Labels) == 0 {
		return errors.New("there is no result to report on; pass what mvclust.Fit returns")
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

// views says what is known of each view.
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
		if m < len(trace.Evidence) {
			v.Share = trace.Evidence[m]
		}
		if m < len(trace.Similarities) {
			v.Similarities = trace.Similarities[m]
		}
		v.LeftOut = trace.Agreement != nil && trace.Agreement.LeftOut[m]
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
	t := &Truth{Scores: s, Classes: classes, Counts: make([][]int, len(r.Clusters))}
	for c := range t.Counts {
		t.Counts[c] = make([]int, min(len(classes), mostClasses))
	}
	for i, c := range r.labels {
		if c < len(t.Counts) && truth[i] < len(t.Counts[c]) {
			t.Counts[c][truth[i]]++
		}
	}
	return t, nil
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
