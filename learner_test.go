package mvclust_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/synth"
)

// TestLearnerLearns has a Learner do what Fit does without one, which looks only at
// the pairs that it learns from.
func TestLearnerLearns(t *testing.T) {
	set := mixed(t)
	for _, pairs := range []int{0, 1, 500} {
		opt := mvclust.Options{
			Preset:     mvclust.Paper,
			Neighbours: 20,
			Learning:   probability.Settings{Pairs: pairs},
			Posterior:  posterior.Settings{Fusion: posterior.Asymmetric, Completion: true},
		}
		want := timeless(fit(t, set.Views, opt))
		opt.Learner = func(ctx context.Context, all [][2]int32, w [][]float32) (*probability.Functions, error) {
			if len(all) <= 500 {
				t.Errorf("%d pairs are too few to choose from", len(all))
			}
			return probability.Learn(ctx, w, opt.Learning, 1, nil)
		}
		got := timeless(fit(t, set.Views, opt))
		if got.Options.Learning.Segments != 0 {
			t.Errorf("Learning has %d segments, and was not used", got.Options.Learning.Segments)
		}
		if got.Options.Learner == nil {
			t.Error("the options of the result lack the learner")
		}
		for m, h := range got.Trace.Similarities {
			counted := h.Missing
			for _, n := range h.Count {
				counted += n
			}
			if counted != got.Trace.Pairs {
				t.Errorf("view %d: %d similarities are counted of %d pairs", m, counted, got.Trace.Pairs)
			}
		}
		// A learner gets all pairs, of which Learn takes some.
		got.Trace.Similarities = want.Trace.Similarities
		got.Options.Learner, got.Options.Learning = nil, want.Options.Learning
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d pairs: the result differs", pairs)
		}
	}
}

// TestLearnerPairs holds the pairs and their similarities to the views.
func TestLearnerPairs(t *testing.T) {
	set := mixed(t)
	n := set.Views[0].Samples
	opt := mvclust.Options{Preset: mvclust.Paper, Neighbours: 20, Metrics: []similarity.Metric{similarity.Cosine, similarity.L1, similarity.L2}}
	spaces := make([]*similarity.Space, len(set.Views))
	for m, v := range set.Views {
		s, err := similarity.NewSpace(t.Context(), v, opt.Metrics[m], nil, false, 0)
		if err != nil {
			t.Fatal(err)
		}
		spaces[m] = s
	}
	known := 0
	opt.Learner = func(_ context.Context, pairs [][2]int32, w [][]float32) (*probability.Functions, error) {
		known = len(pairs)
		seen := map[[2]int32]bool{}
		for k, p := range pairs {
			if !(0 <= p[0] && p[0] < p[1] && int(p[1]) < n) || seen[p] {
				t.Fatalf("pair %d is %v", k, p)
			}
			seen[p] = true
			for m, s := range spaces {
				got, want := w[m][k], s.Similarity(int(p[0]), int(p[1]))
				if got != want && (got == got || want == want) {
					t.Fatalf("pair %v has similarity %v in view %d, not %v", p, got, m, want)
				}
			}
		}
		return line(len(w)), nil
	}
	for _, opt.Order = range [][]int{nil, rand.New(rand.NewPCG(5, 6)).Perm(n)} {
		if got := fit(t, set.Views, opt); got.Trace.Pairs != known || known == 0 {
			t.Errorf("%d pairs, the learner saw %d", got.Trace.Pairs, known)
		}
	}
}

// line is a model of one straight line for all views.
func line(views int) *probability.Functions {
	model := &probability.Functions{}
	for range views {
		model.ByView = append(model.ByView, probability.Function{X: []float64{-1, 1}, P: []float64{0, 1}})
	}
	return model
}

// constant is a Learner that has learned that line beforehand.
func constant(views int) mvclust.Learner {
	return func(context.Context, [][2]int32, [][]float32) (*probability.Functions, error) {
		return line(views), nil
	}
}

func TestLearnerModels(t *testing.T) {
	set := generate(t, synth.Config{Samples: 60, Classes: 3})
	asymmetric := posterior.Settings{Fusion: posterior.Asymmetric}
	completion := posterior.Settings{Completion: true}
	for _, c := range []struct {
		name  string
		set   posterior.Settings
		model *probability.Functions
		want  string
	}{
		{"functions alone", posterior.Settings{}, line(2), ""},
		{"none", posterior.Settings{}, nil, "Learner: it returned no functions and no error; return one of them"},
		{"a view short", posterior.Settings{}, line(1), "Learner: the model has 1 functions for 2 views; give one per view"},
		{"no base rates", asymmetric, line(2), "Learner: the functions have no base rates, which the asymmetric fusion needs; give one per view, or choose another fusion"},
		{"base rates", asymmetric, &probability.Functions{ByView: line(2).ByView, BaseRate: []float64{0.2, 0.3}}, ""},
		{"no cross functions", completion, line(2), "Learner: the functions have no cross functions, which completion needs; give them, or do without completion"},
		{"cross functions", completion, &probability.Functions{ByView: line(2).ByView, Cross: [][]*probability.Function{{nil, nil}, {nil, nil}}}, ""},
		{"improbable", posterior.Settings{}, &probability.Functions{ByView: line(2).ByView, BaseRate: []float64{0.2, math.NaN()}}, "Learner: the base rate of view 1 is NaN; it is a probability, between 0 and 1"},
	} {
		got, err := mvclust.Fit(t.Context(), set.Views, mvclust.Options{
			Preset:    mvclust.Paper,
			Posterior: c.set,
			Learner: func(context.Context, [][2]int32, [][]float32) (*probability.Functions, error) {
				return c.model, nil
			},
		})
		switch of, ok := errors.AsType[*mvclust.OptionError](err); {
		case c.want == "" && (err != nil || got.Functions != c.model):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (!ok || got != nil || of.Error() != c.want):
			t.Errorf("%s: got  %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestLearnerErrors(t *testing.T) {
	set := generate(t, synth.Config{Samples: 60, Classes: 3})
	own := errors.New("no idea")
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		learner mvclust.Learner
		want    error
	}{
		{func(context.Context, [][2]int32, [][]float32) (*probability.Functions, error) { return line(2), own }, own},
		{func(context.Context, [][2]int32, [][]float32) (*probability.Functions, error) {
			cancel()
			return line(2), nil
		}, context.Canceled},
	} {
		var last mvclust.Progress
		got, err := mvclust.Fit(ctx, set.Views, mvclust.Options{Preset: mvclust.Paper, Learner: c.learner, Progress: func(p mvclust.Progress) { last = p }})
		if got != nil || !errors.Is(err, c.want) {
			t.Errorf("%v, %v, want %v", got, err, c.want)
		}
		if last.Stage != mvclust.StageLearn || last.Total != 1 {
			t.Errorf("the last report is %+v", last)
		}
	}
}
