package auto

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/score"
)

// bestLevel is a number that a run of the default mode has: the highest ARI of the levels that it
// offers.
const bestLevel = "best level"

// fit clusters by the default mode. Of complete sets it keeps the labels, by which runs are
// compared.
func fit(ctx context.Context, t *lab.Task) error {
	var result *mvclust.Result
	err := lab.Clustering(func(ctx context.Context, t *lab.Task, views []*mvclust.View) ([]int, error) {
		var err error
		if result, err = mvclust.Fit(ctx, views, mvclust.Options{Seed: t.Seed}); err != nil {
			return nil, err
		}
		return result.Labels, nil
	})(ctx, t)
	if err != nil {
		return err
	}
	if t.Setup.Missing == nil && t.Setup.Noise == 0 {
		t.Labels = result.Labels
	}
	_, classes, _, err := t.Lab.Load(ctx, t.Setup)
	if err != nil {
		return err
	}
	best := t.Scores.ARI
	for _, l := range result.Levels {
		s, err := score.Compare(classes, l.Labels)
		if err != nil {
			return err
		}
		best = max(best, s.ARI)
	}
	t.Set(bestLevel, 100*best)
	return nil
}

// updating is the method that fits four fifths of the samples, drawn at random, and updates the
// model with the rest.
const updating lab.Method = "update"

const (
	mostUpdated  = 5100 // samples
	updateStream = 120
)

// The numbers that an update has: the ARI of the old samples' labels after it with those before,
// and of both with the classes.
const (
	kept   = "kept"
	before = "before"
	after  = "after"
)

// update runs the method updating. The time is that of the update alone.
func update(ctx context.Context, t *lab.Task) error {
	views, labels, _, err := t.Lab.Load(ctx, t.Setup)
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(t.Seed, updateStream)).Perm(len(labels))
	old, fresh := order[:len(order)*4/5], order[len(order)*4/5:]
	slices.Sort(old)
	slices.Sort(fresh)
	parts := [2][]*mvclust.View{}
	for _, v := range views {
		parts[0], parts[1] = append(parts[0], rows(v, old)), append(parts[1], rows(v, fresh))
	}
	result, err := mvclust.Fit(ctx, parts[0], mvclust.Options{Seed: t.Seed})
	if err != nil {
		return err
	}
	start := time.Now()
	next, _, err := predict.Update(ctx, mvclust.NewModel(parts[0], result, nil), parts[1], nil, 0, nil)
	if err != nil {
		return err
	}
	t.Seconds = append(t.Seconds, lab.Round(time.Since(start).Seconds()))
	classes := make([]int, len(old))
	for i, sample := range old {
		classes[i] = labels[sample]
	}
	then := next.Labels[:len(old)]
	for _, of := range []struct {
		name string
		a, b []int
	}{{kept, result.Labels, then}, {before, classes, result.Labels}, {after, classes, then}} {
		s, err := score.Compare(of.a, of.b)
		if err != nil {
			return err
		}
		t.Set(of.name, 100*s.ARI)
	}
	return nil
}

// rows returns a view of some samples.
func rows(v *mvclust.View, samples []int) *mvclust.View {
	w := &mvclust.View{Name: v.Name, Samples: len(samples), Dims: v.Dims, Data: make([]float32, 0, len(samples)*v.Dims), Present: make([]bool, len(samples))}
	for at, i := range samples {
		w.Data = append(w.Data, v.Row(i)...)
		w.Present[at] = v.Has(i)
	}
	return w
}
