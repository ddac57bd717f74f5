// Package bench runs the method on sets of data whose classes are known.
package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/score"
)

// Result is what came of a case.
type Result struct {
	// Set is the name of the set.
	Set string `json:"set"`
	// Views are the views that were used, in order, counted from 0.
	Views []int `json:"views,omitempty"`
	// Missing is the share of samples that was made to lack each of the views.
	Missing    []float64 `json:"missing,omitempty"`
	Completion bool      `json:"completion"`

	Samples int `json:"samples,omitempty"`
	Classes int `json:"classes,omitempty"`
	// Incomplete counts the samples that lack a view, with those that the file
	// itself says lack one.
	Incomplete int `json:"incomplete"`
	K          int `json:"neighbors,omitempty"`
	// FromClasses says that K is the mean size of the classes, and not set.
	FromClasses bool `json:"neighbors_from_classes"`

	// Trials has one trial per seed; it is empty where Skipped says why.
	Trials  []Trial `json:"trials,omitempty"`
	Skipped string  `json:"skipped,omitempty"`
}

// Trial is one run of the method.
type Trial struct {
	Seed    uint64       `json:"seed"`
	Seconds float64      `json:"seconds"` // of mvclust.Fit
	Scores  score.Scores `json:"scores"`
}

// Mean returns Mean of the result's trials, at least one.
func (r *Result) Mean(of func(*Trial) float64) (mean, deviation float64) {
	return Mean(r.Trials, of)
}

// Mean returns the mean over the trials, at least one, of what of takes from each,
// and the standard deviation, which is 0 for a single trial.
func Mean[T any](trials []T, of func(*T) float64) (mean, deviation float64) {
	n := float64(len(trials))
	for i := range trials {
		mean += of(&trials[i]) / n
	}
	if n == 1 {
		return mean, 0
	}
	for i := range trials {
		d := of(&trials[i]) - mean
		deviation += d * d
	}
	return mean, math.Sqrt(deviation / (n - 1))
}

// Run runs a case on the file in the folder. Where the data cannot be used
// the result says so; the error is that of ctx.
func Run(ctx context.Context, folder string, c Case) (*Result, error) {
	r := &Result{Set: c.Name(), Views: c.Views, Missing: c.Missing, Completion: c.Completion}
	err := r.execute(ctx, filepath.Join(folder, filepath.FromSlash(c.File)), c)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Skipped, r.Trials = Reason(folder, err), nil
	}
	return r, nil
}

// Reason returns the words of an error without those that tell where the folder is.
func Reason(folder string, err error) string {
	return strings.ReplaceAll(err.Error(), filepath.Clean(folder)+string(filepath.Separator), "")
}

func (r *Result) execute(ctx context.Context, path string, c Case) error {
	set, err := Load(ctx, path, c.Views, c.Index)
	if err != nil {
		return err
	}
	r.Samples, r.Classes, r.Views = len(set.Labels), set.Classes, set.Numbers
	if r.K = c.K; r.K == 0 {
		r.K, r.FromClasses = meanSize(r.Samples, r.Classes), true
	}
	for seed := range uint64(c.Seeds) {
		views, err := Mask(set.Views, c.Missing, seed)
		if err != nil {
			return err
		}
		r.Incomplete = Incomplete(views)
		start := time.Now()
		result, err := mvclust.Fit(ctx, views, c.options(r.K, seed))
		if err != nil {
			return err
		}
		seconds := time.Since(start).Seconds()
		s, err := score.Compare(set.Labels, result.Labels)
		if err != nil {
			return err
		}
		r.Trials = append(r.Trials, Trial{seed, seconds, s})
	}
	return nil
}

// Set is a set of data with known classes.
type Set struct {
	Views []*mvclust.View
	// Numbers are those of the views in their file, counted from 0.
	Numbers []int
	// Labels holds the class of every sample, below Classes.
	Labels  []int
	Classes int
}

// Load reads the views of the given numbers, nil for all, and the classes from the file at
// path. index is the array that lists the samples of every view, or empty.
func Load(ctx context.Context, path string, numbers []int, index string) (*Set, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	opt := dataset.Options{}
	for _, v := range numbers {
		opt.Views = append(opt.Views, strconv.Itoa(v))
	}
	if index != "" {
		opt.Index = path + ":" + index
	}
	set, err := dataset.Load(ctx, []string{path}, opt)
	if err != nil {
		return nil, err
	}
	truth, err := dataset.Labels(ctx, path, set.IDs, set.Views[0].Samples)
	if err != nil {
		return nil, err
	}
	if numbers == nil {
		for v := range set.Views {
			numbers = append(numbers, v)
		}
	}
	return &Set{set.Views, numbers, truth.Labels, len(truth.Names)}, nil
}

// options are those of the paper's method.
func (c Case) options(k int, seed uint64) mvclust.Options {
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: k, Seed: seed}
	opt.Posterior.Completion = c.Completion
	return opt
}

// meanSize is K for sets without one of their own.
func meanSize(samples, classes int) int {
	size := int(math.Round(float64(samples) / float64(classes)))
	return max(1, min(size, samples/4))
}

// Mask returns the views without the given shares of the samples, drawn at random
// such that none loses two views. The views themselves are not changed. It is an
// error if there is not one share per view; nil takes nothing away.
func Mask(views []*mvclust.View, missing []float64, seed uint64) ([]*mvclust.View, error) {
	if missing == nil {
		return views, nil
	}
	if len(missing) != len(views) {
		return nil, fmt.Errorf("has %d views, and the case is about %d", len(views), len(missing))
	}
	n := views[0].Samples
	order := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	masked := make([]*mvclust.View, len(views))
	share, from := 0.0, 0
	for m, v := range views {
		share += missing[m]
		to := int(math.Round(share * float64(n)))
		present := make([]bool, n)
		for i := range present {
			present[i] = v.Has(i)
		}
		for _, i := range order[from:to] {
			present[i] = false
		}
		from = to
		w := *v
		w.Present = present
		masked[m] = &w
	}
	return masked, nil
}

// Incomplete counts the samples that lack a view.
func Incomplete(views []*mvclust.View) int {
	n := 0
	for i := range views[0].Samples {
		for _, v := range views {
			if !v.Has(i) {
				n++
				break
			}
		}
	}
	return n
}
