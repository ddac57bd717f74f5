package mvclust_test

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
)

var allStages = []mvclust.Stage{
	mvclust.StagePrepare, mvclust.StageNeighbours, mvclust.StagePairs, mvclust.StageLearn,
	mvclust.StageFuse, mvclust.StageRefine, mvclust.StagePartition,
}

func TestProgress(t *testing.T) {
	set := mixed(t)
	for name, opt := range map[string]mvclust.Options{
		"standard":     {Refinement: refine.Settings{Rounds: 3}},
		"levels":       {Partition: partition.Settings{Sweeps: 2, Levels: 5}},
		"learner":      {Learner: constant(3)},
		"approximate":  {Search: neighbour.Settings{Method: neighbour.Approximate}},
		"steps missed": {Learning: probability.Settings{Untrained: true}, Refinement: refine.Settings{WithoutPaths: true, WithoutCoNeighbours: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var running atomic.Int32
			var stages []mvclust.Stage
			var last mvclust.Progress
			totals := map[mvclust.Stage]int{}
			var starts []float64 // by stage, the share of the run that is over
			opt.Threads, opt.Preset = 8, mvclust.Paper
			opt.Progress = func(p mvclust.Progress) {
				if running.Add(1) > 1 {
					t.Error("two reports at a time")
				}
				defer running.Add(-1)
				runtime.Gosched()
				if p.Stage != last.Stage {
					if last.Done != last.Total {
						t.Errorf("the last report of a stage is %+v", last)
					}
					if p.Done != 0 {
						t.Errorf("the first report of a stage is %+v", p)
					}
					stages = append(stages, p.Stage)
					totals[p.Stage] = p.Total
					starts = append(starts, p.Share)
				} else if p.Done < last.Done {
					t.Errorf("%+v after %+v", p, last)
				}
				if p.Done < 0 || p.Done > p.Total || p.Total != totals[p.Stage] {
					t.Errorf("%+v", p)
				}
				if !(p.Share >= last.Share && p.Share <= 1) {
					t.Errorf("%+v after %+v", p, last)
				}
				last = p
			}
			got := fit(t, set.Views, opt)
			if last.Stage != mvclust.StagePartition || last.Done != last.Total {
				t.Errorf("the last report is %+v", last)
			}
			// Every stage that has something to do takes its share of the run.
			starts = append(starts, last.Share)
			if starts[0] != 0 || last.Share < 1-1e-12 {
				t.Errorf("the run goes from a share of %v to %v", starts[0], last.Share)
			}
			for s, stage := range stages {
				if rises := starts[s+1] > starts[s]; rises != (totals[stage] > 0) {
					t.Errorf("%s takes the run from a share of %v to %v", stage, starts[s], starts[s+1])
				}
			}
			if !slices.Equal(stages, allStages) {
				t.Errorf("the stages are %v", stages)
			}
			rows := 0
			for m, v := range set.Views {
				rows += v.Count() - got.Trace.Zero[m]
			}
			want := map[mvclust.Stage]int{
				mvclust.StagePrepare:    len(set.Views),
				mvclust.StageNeighbours: rows,
				mvclust.StagePairs:      1,
				mvclust.StageLearn:      got.Options.Learning.Epochs,
				mvclust.StageFuse:       got.Trace.Pairs,
				mvclust.StageRefine:     got.Options.Refinement.Steps() * set.Views[0].Samples,
				mvclust.StagePartition:  got.Options.Partition.Sweeps,
			}
			if opt.Learner != nil {
				want[mvclust.StageLearn] = 1
			}
			if levels := got.Options.Partition.Levels; levels > 1 { // the levels and the samples come again, three times at most
				want[mvclust.StagePartition] *= 1 + 3*levels
			}
			if !reflect.DeepEqual(totals, want) {
				t.Errorf("the totals are %v, want %v", totals, want)
			}

			opt.Progress = nil
			silent := fit(t, set.Views, opt)
			silent.Options.Learner, got.Options.Learner = nil, nil // functions cannot be compared
			if !reflect.DeepEqual(timeless(silent), timeless(got)) {
				t.Error("without reports the result is another")
			}
		})
	}
}

// TestCancel cancels at the first, a middle and the last report of each stage.
func TestCancel(t *testing.T) {
	set := mixed(t)
	moments := map[string]func(p mvclust.Progress) bool{
		"first":  func(_ mvclust.Progress) bool { return true },
		"middle": func(p mvclust.Progress) bool { return p.Done > 0 },
		"last":   func(p mvclust.Progress) bool { return p.Done == p.Total },
	}
	for _, stage := range allStages {
		for moment, now := range moments {
			ctx, cancel := context.WithCancel(t.Context())
			got, err := mvclust.Fit(ctx, set.Views, mvclust.Options{
				Preset:  mvclust.Paper,
				Threads: 2,
				Progress: func(p mvclust.Progress) {
					if ctx.Err() != nil && p.Stage != stage {
						t.Errorf("%s: cancelled at the %s report, it goes on to %s", stage, moment, p.Stage)
					}
					if p.Stage == stage && now(p) {
						cancel()
					}
				},
			})
			cancel()
			if got != nil || err != context.Canceled { //nolint:errorlint // nothing is wrapped around it
				t.Errorf("%s, %s report: a result (%v), and the error %v", stage, moment, got != nil, err)
			}
		}
	}
}

// TestDeadline starts when it is too late.
func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	set := mixed(t)
	if got, err := mvclust.Fit(ctx, set.Views, mvclust.Options{Preset: mvclust.Paper}); got != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", got, err)
	}
	var of *mvclust.OptionError
	if _, err := mvclust.Fit(ctx, set.Views, mvclust.Options{Preset: mvclust.Paper, Neighbours: -1}); !errors.As(err, &of) {
		t.Errorf("a wrong option is hidden by %v", err)
	}
}
