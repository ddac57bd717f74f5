package levels

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/experiments/lab"
	"github.com/mvclust/mvclust/explain"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/score"
)

// measuring is the method that fits a set, cuts the model by what a person knows, and answers
// questions about it, of which fits are then told from the start.
const (
	measuring lab.Method = "levels"
)

// The numbers that a run has: scores in percent. Of several draws they are means.
const (
	count      = "levels"     // how many there are
	bestOfFive = "best level" // of the five of the highest score
	bestOfAll  = "best of all levels"

	cutClusters = "clusters by cut"  // and by a fit, which is the same
	cutSeconds  = "seconds of a cut" // the mean

	askedFit  = "asked pairs, fit"
	randomFit = "random pairs, fit"
)

// byCut names the score after so many examples, by a cut or a fit, which is the same, and restOf that on the other samples.
func byCut(examples int) string  { return fmt.Sprintf("%d examples by cut", examples) }
func restOf(examples int) string { return fmt.Sprintf("%d examples by cut, the rest", examples) }

// after names the score after so many answers.
func after(answers int) string { return fmt.Sprintf("after %d answers", answers) }

const (
	draws    = 5  // of examples, with every seed
	five     = 5  // levels that count
	rounds   = 5  // of answers
	perRound = 10 // answers
	pairs    = rounds * perRound

	// mostAnswered is the number of samples of the largest sets about which questions are
	// answered.
	mostAnswered = 5100
)

// given are the numbers of examples.
var given = []int{20, 50}

// The streams of random numbers.
const (
	exampleStream = 130 + iota
	pairStream
)

// knower is somebody who knows the classes.
type knower struct {
	*lab.Task
	views   []*mvclust.View
	classes []int
	number  int // of classes
	model   *mvclust.Model
}

// fit fits the set, and takes the time.
func fit(ctx context.Context, t *lab.Task) (*knower, error) {
	k := &knower{Task: t}
	var result *mvclust.Result
	err := lab.Clustering(func(ctx context.Context, t *lab.Task, views []*mvclust.View) ([]int, error) {
		var err error
		if result, err = mvclust.Fit(ctx, views, mvclust.Options{Seed: t.Seed}); err != nil {
			return nil, err
		}
		k.views = views
		return result.Labels, nil
	})(ctx, t)
	if err != nil {
		return nil, err
	}
	k.model = mvclust.NewModel(k.views, result, nil)
	_, k.classes, k.number, err = t.Lab.Load(ctx, t.Setup)
	return k, err
}

// measure runs the method measuring.
func measure(ctx context.Context, t *lab.Task) error {
	k, err := fit(ctx, t)
	if err != nil {
		return err
	}
	if err := k.levels(); err != nil {
		return err
	}
	if err := k.cuts(ctx); err != nil || len(k.classes) > mostAnswered {
		return err
	}
	return k.answered(ctx)
}

// ari returns the score of labels in percent.
func (k *knower) ari(labels []int) (float64, error) {
	s, err := score.Compare(k.classes, labels)
	return 100 * s.ARI, err
}

// levels scores the levels.
func (k *knower) levels() error {
	order := make([]int, len(k.model.Levels))
	for at := range order {
		order[at] = at
	}
	rank := func(at int) float64 {
		if at == k.model.Level {
			return 2 // scores are at most 1
		}
		return k.model.Levels[at].Score
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if rank(a) > rank(b) {
			return -1
		}
		return 1
	})
	best, all := 100*k.Scores.ARI, 100*k.Scores.ARI
	for place, at := range order {
		a, err := k.ari(k.model.Levels[at].Labels)
		if err != nil {
			return err
		}
		if all = max(all, a); place < five {
			best = max(best, a)
		}
	}
	k.Set(count, float64(len(order)))
	k.Set(bestOfFive, best)
	k.Set(bestOfAll, all)
	return nil
}

// draw returns samples whose classes are known; every set and seed has the same draws.
func (k *knower) draw(examples, draw int) []mvclust.Example {
	random := rand.New(rand.NewPCG(k.Seed*draws+uint64(draw), exampleStream))
	var out []mvclust.Example
	for _, i := range random.Perm(len(k.classes))[:min(examples, len(k.classes))] {
		out = append(out, mvclust.Example{Sample: i, Label: "class " + strconv.Itoa(k.classes[i])})
	}
	return out
}

// cuts scores cuts of the model.
func (k *knower) cuts(ctx context.Context) error {
	start, done := time.Now(), 0
	cut := func(opt mvclust.CutOptions) ([]int, float64, error) {
		next, err := k.model.Cut(ctx, opt)
		if err != nil {
			return nil, 0, err
		}
		done++
		a, err := k.ari(next.Labels)
		return next.Labels, a, err
	}
	for _, n := range given {
		sum, rests := 0.0, 0.0
		for d := range draws {
			examples := k.draw(n, d)
			labels, a, err := cut(mvclust.CutOptions{Examples: examples})
			if err != nil {
				return err
			}
			rest, err := k.without(labels, examples)
			if err != nil {
				return err
			}
			sum, rests = sum+a, rests+rest
		}
		k.Set(byCut(n), sum/draws)
		k.Set(restOf(n), rests/draws)
	}
	_, a, err := cut(mvclust.CutOptions{Clusters: k.number})
	if err != nil {
		return err
	}
	k.Set(cutClusters, a)
	k.Set(cutSeconds, time.Since(start).Seconds()/float64(done))
	return nil
}

// refit fits the set again.
func (k *knower) refit(ctx context.Context, opt mvclust.Options) ([]int, error) {
	opt.Seed = k.Seed
	result, err := mvclust.Fit(ctx, k.views, opt)
	if err != nil {
		return nil, err
	}
	return result.Labels, nil
}

// answered scores the answers of a review, and fits with these and with as many random pairs.
func (k *knower) answered(ctx context.Context) error {
	asked, err := k.answers(ctx)
	if err != nil {
		return err
	}
	for name, known := range map[string]mvclust.Constraints{askedFit: asked, randomFit: k.randomPairs()} {
		labels, err := k.refit(ctx, mvclust.Options{Constraints: known})
		if err != nil {
			return err
		}
		if err := k.keep(name, labels); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps the score of labels.
func (k *knower) keep(name string, labels []int) error {
	a, err := k.ari(labels)
	if err != nil {
		return err
	}
	k.Set(name, a)
	return nil
}

// without returns the score on the samples that are no examples.
func (k *knower) without(labels []int, examples []mvclust.Example) (float64, error) {
	known := map[int]bool{}
	for _, x := range examples {
		known[x.Sample] = true
	}
	var found, classes []int
	for i, l := range labels {
		if !known[i] {
			found, classes = append(found, l), append(classes, k.classes[i])
		}
	}
	s, err := score.Compare(classes, found)
	return 100 * s.ARI, err
}

// randomPairs tells of random pairs what is true.
func (k *knower) randomPairs() mvclust.Constraints {
	random := rand.New(rand.NewPCG(k.Seed, pairStream))
	var set mvclust.Constraints
	for range pairs {
		a, b := random.IntN(len(k.classes)), random.IntN(len(k.classes)-1)
		if b >= a {
			b++
		}
		if k.classes[a] == k.classes[b] {
			set.MustLink = append(set.MustLink, [2]int{a, b})
		} else {
			set.CannotLink = append(set.CannotLink, [2]int{a, b})
		}
	}
	return set
}

// answers answers the questions of a review in rounds, and returns what is known then. After each
// round the answers are applied, as the page does it.
func (k *knower) answers(ctx context.Context) (known mvclust.Constraints, err error) {
	m, told := k.model, []explain.Answer(nil)
	for round := range rounds {
		x, err := explain.New(ctx, m, 0)
		if err != nil {
			return known, err
		}
		q := x.Questions()
		for _, a := range told {
			if err := q.Answer(ctx, a); err != nil {
				return known, fmt.Errorf("an answer contradicts what is known: %w", err)
			}
		}
		for range perRound {
			if err := k.answer(ctx, q); err != nil {
				return known, err
			}
		}
		next := *m
		next.Labels, next.Constraints, next.Retired, next.Level = partition.Number(q.Labels()), q.Constraints(), 0, -1
		if next.Confidence, err = partition.Confidence(next.Graph, next.Labels); err != nil {
			return known, err
		}
		m, told = &next, q.Answers()
		if err := k.keep(after((round+1)*perRound), m.Labels); err != nil {
			return known, err
		}
	}
	return m.Constraints, nil
}

// answer answers the next question, if there is one.
func (k *knower) answer(ctx context.Context, q *explain.Questions) error {
	open, err := q.Next(ctx, 1)
	if err != nil || len(open) == 0 {
		return err
	}
	a := explain.Answer{A: open[0].A.Sample, B: open[0].B.Sample, About: open[0].About, Verdict: explain.Different}
	if k.classes[a.A] == k.classes[a.B] {
		a.Verdict = explain.Same
	}
	if err := q.Answer(ctx, a); err == nil || ctx.Err() != nil {
		return err
	}
	a.Verdict = explain.Skip // the page refuses what would undo an earlier answer
	return q.Answer(ctx, a)
}
