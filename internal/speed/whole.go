package speed

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/score"
)

// Data is how the synthetic data is made: as synth does, with classes of heavy-tailed
// sizes whose number grows with that of the samples.
type Data struct {
	Views     int     `json:"views"`
	Dims      int     `json:"dims"`
	PerClass  int     `json:"mean_class_size"`
	Imbalance float64 `json:"imbalance"`
	Noise     float64 `json:"noise"`
}

// recipe is the same at all sizes, though not equally hard: the space that the views
// look at stays as it is, and fills with classes. At 100,000 samples the 20 nearest
// neighbours in one view are of the sample's class in 84 of 100 cases, and the nearest
// class centre is the right one in 95.
var recipe = Data{Views: 2, Dims: 128, PerClass: 50, Imbalance: 0.7, Noise: 0.5}

// classes returns the number of classes of n samples.
func (d Data) classes(n int) int { return max(2, n/d.PerClass) }

// Run is a whole run: mvclust fit as a process of its own, from reading the file to
// writing the results.
type Run struct {
	Samples  int   `json:"samples"`
	Classes  int   `json:"classes"`
	Clusters int   `json:"clusters"`
	Seconds  Times `json:"seconds"`
	// Stages holds the time of every stage of the run in the middle, and Neighbours
	// what that run says of its neighbour graphs, by view.
	Stages     []Stage  `json:"stages"`
	Neighbours []Search `json:"neighbors"`
	// Peak is the most memory that a run had, and Promise what none should exceed:
	// 2.5 times the input and 24 bytes for each of K neighbours of every sample in
	// every view. Both are in bytes; a Peak of 0 is unknown.
	Peak    int64        `json:"peak_bytes"`
	Promise int64        `json:"promise_bytes"`
	Scores  score.Scores `json:"scores"`
	// Growth is the exponent by which the time has grown since the size before, 0 at
	// the first.
	Growth float64 `json:"growth,omitempty"`
}

// Stage is the time that a stage took.
type Stage struct {
	Stage   string  `json:"stage"`
	Seconds float64 `json:"seconds"`
}

// Search is what a run says of the neighbour graph of a view.
type Search struct {
	Method string  `json:"method"`
	Recall float64 `json:"recall"` // as estimated by the run; 1 where it is exact
}

// Reference is what the run of one size is held against.
type Reference struct {
	Samples int `json:"samples"`
	// Faiss is the time of faiss's flat index for the neighbour graphs of all views,
	// with as many Candidates as the run looks for.
	Candidates int     `json:"candidates"`
	Faiss      Times   `json:"faiss_seconds"`
	Ratio      float64 `json:"ratio"` // median of the whole run to median of faiss
	// Exact is the same run with exact neighbours, nil where that was not possible.
	Exact *Run `json:"exact,omitempty"`
	// After is the time of learning, refinement and partition together over that of
	// the exact neighbour graphs.
	After float64 `json:"after_to_exact_neighbors,omitempty"`
}

// exactSetting makes fit search exactly.
const exactSetting = "neighbor-search=exact" //nolint:misspell // spelt as --neighbors is

// report is the part of run.json that is of use here.
type report struct {
	Settings struct {
		Neighbours int `json:"neighbors"`
	} `json:"settings"`
	Inputs struct {
		Samples int `json:"samples"`
		Views   []struct {
			Dims       int `json:"dims"`
			Candidates int `json:"candidates"`
			// Neighbours is nil in a version that knows one method.
			Neighbours *Search `json:"neighbours"`
		} `json:"views"`
	} `json:"inputs"`
	Stages   []Stage `json:"stages"`
	Clusters int     `json:"clusters"`
}

// promise returns the memory that the run should not exceed, in bytes.
func (r *report) promise() int64 {
	input, views := 0, len(r.Inputs.Views)
	for _, v := range r.Inputs.Views {
		input += 4 * r.Inputs.Samples * v.Dims
	}
	return int64(2.5*float64(input)) + 24*int64(r.Inputs.Samples*r.Settings.Neighbours*views)
}

// whole measures the whole runs.
func (b *bench) whole() error {
	for _, size := range b.Workload.Whole {
		if err := b.size(size); err != nil {
			return err
		}
	}
	return nil
}

// size measures the whole runs of one size.
func (b *bench) size(size Sized) error {
	folder, file, err := b.synth(size.Size, recipe.Views)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	var fits []*fit
	reference := &Reference{Samples: size.Size}
	compare := size.Size == b.Workload.Reference
	for turn := range size.Rounds {
		b.say("clustering %d samples, %d of %d", size.Size, turn+1, size.Rounds)
		f, err := b.fit(file, published...)
		if err != nil {
			return err
		}
		fits = append(fits, f)
		if compare {
			reference.Candidates = f.report.Inputs.Views[0].Candidates
			a, err := b.ask(faiss, &request{Task: "flat", File: file, Arrays: arrays(recipe.Views), Neighbours: reference.Candidates, Threads: b.Threads})
			if err := b.optional("faiss on the views of the whole run", err); err != nil {
				return err
			}
			if compare = err == nil; compare {
				reference.Faiss = append(reference.Faiss, round(a.Seconds))
			}
		}
	}
	run, err := b.summary(file, fits)
	if err != nil {
		return err
	}
	if n := len(b.r.Runs); n > 0 {
		before := b.r.Runs[n-1]
		run.Growth = growth(before.Samples, run.Samples, before.Seconds.Median(), run.Seconds.Median())
	}
	b.r.Runs = append(b.r.Runs, *run)
	b.say("%d samples: %v", run.Samples, run)
	if size.Size <= b.Workload.Automatic {
		if err := b.automatic(file); err != nil {
			return err
		}
	}
	if size.Size == b.Workload.Reference {
		return b.reference(run, reference, file)
	}
	return nil
}

// String is a line about the run.
func (r *Run) String() string {
	return fmt.Sprintf("%.3gs, %.0f MB, ARI %.1f", r.Seconds.Median(), float64(r.Peak)/1e6, 100*r.Scores.ARI)
}

// automatic measures one run in the default mode.
func (b *bench) automatic(file string) error {
	f, err := b.fit(file)
	if err != nil {
		return err
	}
	run, err := b.summary(file, []*fit{f})
	if err != nil {
		return err
	}
	b.r.Automatic = append(b.r.Automatic, *run)
	b.say("in the default mode: %v", run)
	return nil
}

// reference completes what the run is held against.
func (b *bench) reference(run *Run, r *Reference, file string) error {
	r.Ratio = ratio(run.Seconds.Median(), r.Faiss.Median())
	f, err := b.fit(file, append(published, "--param", exactSetting)...)
	if err := b.optional("the run with exact neighbours", err); err != nil {
		return err
	}
	if err == nil {
		if r.Exact, err = b.summary(file, []*fit{f}); err != nil {
			return err
		}
		r.After = ratio(run.stage("learn", "refine", "partition"), r.Exact.stage("neighbours"))
		b.say("with exact neighbours: %v", r.Exact)
	}
	b.r.Reference = r
	return nil
}

// synth writes a synthetic set and returns its folder and its file.
func (b *bench) synth(samples, views int) (folder, file string, err error) {
	b.say("making %d samples", samples)
	folder = filepath.Join(b.Folder, fmt.Sprint("data", samples))
	_, err = b.mvclust("synth", "-o", folder, "--samples", strconv.Itoa(samples),
		"--classes", strconv.Itoa(recipe.classes(samples)), "--views", strconv.Itoa(views),
		"--dims", strconv.Itoa(recipe.Dims), "--imbalance", fmt.Sprint(recipe.Imbalance), "--noise", fmt.Sprint(recipe.Noise))
	return folder, filepath.Join(folder, "synth.npz"), err
}

// arrays returns the names of the views in a file of synth.
func arrays(views int) []string {
	var names []string
	for v := range views {
		names = append(names, fmt.Sprint("view", v))
	}
	return names
}

// fit is a whole run.
type fit struct {
	*process
	report report
}

// published is the method as the paper has it, whose work depends on the size alone.
var published = []string{"--preset", "paper"}

// fit runs the default mode on a file, but for more flags. It is not
// given the classes: the scores are not a part of the run. labels.csv remains.
func (b *bench) fit(file string, more ...string) (*fit, error) {
	args := []string{"fit", file, "--json", "--quiet", "--threads", strconv.Itoa(b.Threads), "-o", b.results()}
	p, err := b.mvclust(append(args, more...)...)
	if err != nil {
		return nil, err
	}
	f := &fit{process: p}
	if err := json.Unmarshal(p.out, &f.report); err != nil {
		return nil, fmt.Errorf("fit: run.json cannot be read: %w", err)
	}
	p.out = nil
	return f, nil
}

// results is the folder to which fit writes.
func (b *bench) results() string { return filepath.Join(b.Folder, "fit") }

// summary makes a Run of the runs of one file, with the scores of the last.
func (b *bench) summary(file string, fits []*fit) (*Run, error) {
	p, err := b.mvclust("eval", "--truth", file+":labels", filepath.Join(b.results(), "labels.csv"), "--json")
	if err != nil {
		return nil, err
	}
	run := &Run{Neighbours: []Search{}}
	if err := json.Unmarshal(p.out, &run.Scores); err != nil {
		return nil, fmt.Errorf("eval: the scores cannot be read: %w", err)
	}
	for _, f := range fits {
		run.Seconds = append(run.Seconds, f.seconds)
		run.Peak = max(run.Peak, f.peak)
	}
	slices.SortFunc(fits, func(a, b *fit) int {
		if a.seconds < b.seconds {
			return -1
		}
		return 1
	})
	r := &fits[(len(fits)-1)/2].report
	run.Samples, run.Classes, run.Clusters = r.Inputs.Samples, run.Scores.Classes, r.Clusters
	run.Promise = r.promise()
	for _, s := range r.Stages {
		run.Stages = append(run.Stages, Stage{s.Stage, round(s.Seconds)})
	}
	for _, v := range r.Inputs.Views {
		if s := v.Neighbours; s != nil {
			if s.Method == neighbour.Exact.String() {
				s.Recall = 1 // whether or not the run says so
			}
			run.Neighbours = append(run.Neighbours, *s)
		}
	}
	return run, nil
}

// stage returns the seconds of some stages together.
func (r *Run) stage(names ...string) float64 {
	total := 0.0
	for _, s := range r.Stages {
		if slices.Contains(names, s.Stage) {
			total += s.Seconds
		}
	}
	return total
}

// growth returns the exponent x with which time grows as samples^x from one size to
// another: 1 is linear. It is 0 where a time or the difference of the sizes is.
func growth(fromSamples, toSamples int, fromSeconds, toSeconds float64) float64 {
	if fromSamples == toSamples || fromSeconds <= 0 || toSeconds <= 0 {
		return 0
	}
	return round(math.Log(toSeconds/fromSeconds) / math.Log(float64(toSamples)/float64(fromSamples)))
}

// of returns the run of a size, or nil.
func (r *Results) of(samples int) *Run {
	i := slices.IndexFunc(r.Runs, func(run Run) bool { return run.Samples == samples })
	if i < 0 {
		return nil
	}
	return &r.Runs[i]
}

// span returns the growth exponent from the reference to the largest run, and that
// size; 0 where they are the same.
func (r *Results) span() (exponent float64, to int) {
	if r.Reference == nil {
		return 0, 0
	}
	from, last := r.of(r.Reference.Samples), &r.Runs[len(r.Runs)-1]
	if from == nil || from.Samples == last.Samples {
		return 0, 0
	}
	return growth(from.Samples, last.Samples, from.Seconds.Median(), last.Seconds.Median()), last.Samples
}
