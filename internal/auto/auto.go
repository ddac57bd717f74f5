// Package auto measures the default mode of the method on a folder of sets whose classes
// are known: the same options for every set, complete, with missing views and with a view
// of noise, beside the paper's method and simple opponents in the same run.
package auto

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/bench"
	"github.com/mvclust/mvclust/internal/opponent"
	"github.com/mvclust/mvclust/score"
)

// Result is what came of a set in a state.
type Result struct {
	// Set is the name of the set.
	Set string `json:"set"`
	// Views are the views that were used, in order, counted from 0, without one of
	// noise; Chosen says that the set has others.
	Views  []int `json:"views,omitempty"`
	Chosen bool  `json:"chosen_views"`
	State  State `json:"state"`
	// Missing is the share of samples that was made to lack each of the views, but for
	// those that would have been left with nothing but zeros.
	Missing []float64 `json:"missing,omitempty"`

	Samples int `json:"samples,omitempty"`
	Classes int `json:"classes,omitempty"`
	// Incomplete counts the samples that lack a view.
	Incomplete int `json:"incomplete"`

	// Trials has one trial per seed; it is empty where Skipped says why.
	Trials  []Trial `json:"trials,omitempty"`
	Skipped string  `json:"skipped,omitempty"`
}

// Trial is what came of one seed. The opponents are nil where there are more samples
// than MostSamples.
type Trial struct {
	Seed    uint64 `json:"seed"`
	Default *Run   `json:"default"`
	Paper   *Run   `json:"paper"`
	// KMeans and Spectral are told the true number of classes.
	KMeans     *Run `json:"kmeans,omitempty"`
	Spectral   *Run `json:"spectral,omitempty"`
	Modularity *Run `json:"modularity,omitempty"`
}

// Run is how a method did.
type Run struct {
	Scores score.Scores `json:"scores"`
	// Large counts the clusters of at least three samples.
	Large int `json:"clusters_of_three"`
	// Seconds are the times that it took, in order.
	Seconds []float64 `json:"seconds"`
	// Peak is the most memory in bytes that the first time took beside the views, as
	// the Go heap counts it, what is not freed yet included.
	Peak int64 `json:"peak"`
}

// large is the number of samples from which a cluster counts as one.
const large = 3

// MostSamples is the number of samples up to which there are opponents, whose time grows
// with its square.
const MostSamples = 20_000

// Run measures the subject in every state that it has, and tells each result to told as
// soon as it is there. Where the data cannot be used a result says so; the error is that
// of ctx.
func (s Subject) Run(ctx context.Context, folder string, told func(*Result)) ([]*Result, error) {
	var list []*Result
	add := func(r *Result, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.Skipped, r.Trials = bench.Reason(folder, err), nil
		}
		list = append(list, r)
		told(r)
		return nil
	}
	set, err := bench.Load(ctx, filepath.Join(folder, s.File), s.Views, "")
	if err != nil {
		err := add(&Result{Set: s.name(), Views: s.Views, Chosen: s.Views != nil, State: Complete}, err)
		return list, err
	}
	for _, state := range s.states(len(set.Views)) {
		r := &Result{
			Set: s.name(), Views: set.Numbers, Chosen: s.Views != nil, State: state,
			Samples: len(set.Labels), Classes: set.Classes,
		}
		if state == HalfMissing {
			r.Missing = s.missing(len(set.Views))
		}
		if err := add(r, r.execute(ctx, set)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r *Result) execute(ctx context.Context, set *bench.Set) error {
	for seed := range r.State.seeds() {
		views, err := r.State.apply(set.Views, r.Missing, seed)
		if err != nil {
			return err
		}
		r.Incomplete = bench.Incomplete(views)
		t := Trial{Seed: seed}
		if err := t.modes(ctx, views, set.Labels); err != nil {
			return err
		}
		if r.Samples <= MostSamples {
			if err := t.opponents(ctx, views, set.Labels, set.Classes); err != nil {
				return err
			}
		}
		r.Trials = append(r.Trials, t)
	}
	return nil
}

// modes runs the default mode and the paper's in turn, several times where that is
// quickly done, since times vary.
func (t *Trial) modes(ctx context.Context, views []*mvclust.View, labels []int) error {
	t.Default, t.Paper = &Run{}, &Run{}
	for round := 0; round == 0 || round < mostRounds && t.Default.spent()+t.Paper.spent() < longEnough; round++ {
		for _, mode := range []struct {
			run *Run
			opt mvclust.Options
		}{{t.Default, defaults(t.Seed)}, {t.Paper, preset(t.Seed)}} {
			err := mode.run.measure(labels, func() ([]int, error) {
				result, err := mvclust.Fit(ctx, views, mode.opt)
				if err != nil {
					return nil, err
				}
				return result.Labels, nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// defaults are the options of the default mode: none.
func defaults(seed uint64) mvclust.Options { return mvclust.Options{Seed: seed} }

// preset are the options of the paper's method, with the K that it has without any
// knowledge of the data.
func preset(seed uint64) mvclust.Options { return mvclust.Options{Preset: mvclust.Paper, Seed: seed} }

// opponents runs the opponents.
func (t *Trial) opponents(ctx context.Context, views []*mvclust.View, labels []int, classes int) error {
	t.KMeans, t.Spectral, t.Modularity = &Run{}, &Run{}, &Run{}
	for _, o := range []struct {
		run *Run
		do  func() ([]int, error)
	}{
		{t.KMeans, func() ([]int, error) { return opponent.KMeans(ctx, views, classes, t.Seed, 0) }},
		{t.Spectral, func() ([]int, error) { return opponent.Spectral(ctx, views, classes, t.Seed, 0) }},
		{t.Modularity, func() ([]int, error) { return opponent.Modularity(ctx, views, t.Seed, 0) }},
	} {
		if err := o.run.measure(labels, o.do); err != nil {
			return err
		}
	}
	return nil
}

// rivals returns the runs of the opponents, nil where there are none.
func (t *Trial) rivals() []*Run { return []*Run{t.KMeans, t.Spectral, t.Modularity} }

// mean returns the mean and the standard deviation over the trials of what of takes from
// the run that which chooses, which must be there.
func (r *Result) mean(which func(*Trial) *Run, of func(*Run) float64) (mean, deviation float64) {
	return bench.Mean(r.Trials, func(t *Trial) float64 { return of(which(t)) })
}

func byDefault(t *Trial) *Run { return t.Default }

func ari(r *Run) float64     { return 100 * r.Scores.ARI }
func bcubed(r *Run) float64  { return 100 * r.Scores.BCubedF }
func largest(r *Run) float64 { return float64(r.Large) }

// Summary says in a few words what came of the set.
func (r *Result) Summary() string {
	if r.Skipped != "" {
		return "skipped: " + r.Skipped
	}
	ours, _ := r.mean(byDefault, ari)
	words := fmt.Sprintf("ARI %.1f", ours)
	if best, there := r.best(); there {
		words += fmt.Sprintf(", best opponent %.1f", best)
	}
	return words + fmt.Sprintf(", %.1f times the paper's time", r.TimeRatio())
}

// Name says which set it is, which of its views, and in which state.
func (r *Result) Name() string { return r.title() + ", " + string(r.State) }

// best returns the mean ARI of the opponent that has the highest.
func (r *Result) best() (ARI float64, there bool) {
	ARI = math.Inf(-1)
	for o, run := range r.Trials[0].rivals() {
		if run != nil {
			x, _ := r.mean(func(t *Trial) *Run { return t.rivals()[o] }, ari)
			ARI, there = max(ARI, x), true
		}
	}
	return ARI, there
}

// TimeRatio returns the median time of the default mode over that of the paper's.
func (r *Result) TimeRatio() float64 { return r.seconds(byDefault) / r.seconds(byPaper) }

func byPaper(t *Trial) *Run { return t.Paper }

// seconds returns the median time of a mode.
func (r *Result) seconds(which func(*Trial) *Run) float64 {
	var all []float64
	for i := range r.Trials {
		all = append(all, which(&r.Trials[i]).Seconds...)
	}
	return median(all)
}

// median returns the middle of the numbers, at least one; of an even number of them the
// mean of the two in the middle.
func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
