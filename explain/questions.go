package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/partition"
)

// Verdict is what somebody says of two samples.
type Verdict string

const (
	// Same says that two samples belong together.
	Same Verdict = "same"
	// Different says that they do not.
	Different Verdict = "different"
	// Skip says nothing. The pair is not asked about again.
	Skip Verdict = "skip"
)

// Answer is a verdict on two samples. About says how far it reaches. Where Same joins the
// clusters of A and B, or Different cuts their cluster in two, it is AboutMerge, AboutSplit or
// AboutClusters. Under AboutSample, A alone moves, with what must be with it.
type Answer struct {
	A       int     `json:"a"`
	B       int     `json:"b"`
	About   Topic   `json:"about"`
	Verdict Verdict `json:"answer"`
}

// Questions asks what the clustering of a model leaves open, and carries out the answers at
// once: clusters are joined or cut, and samples move, so that all later questions are about
// the clusters as they are then. What is known of two samples is never asked. Between
// answers, the questions cost a pass over the links. One goroutine at a time may use it.
//
// A pair may say less than it seems: even central samples may be unlike the rest. So clusters of
// 30 samples or more are joined when a second pair is the same, which is asked about next; until
// then the sample alone moves. AboutClusters joins them at once.
type Questions struct {
	base    *Explainer
	labels  []int
	next    int // the lowest number that no cluster has had
	done    []step
	skipped map[[2]int]bool
	halves  map[int][]int32 // cluster -> its smaller half; nil where it has none
	known   *constraint.Resolved
	once    map[[2]int]bool // clusters of which one pair is the same
	open    []openQuestion  // by falling value; valid if fresh
	fresh   bool
}

// step is an answer, and what undoes it.
type step struct {
	Answer
	moved []int32 // samples
	from  []int   // and their labels before
	next  int
	once  *[2]int // the clusters that it has put into Questions.once
}

// Twice is the size from which clusters are joined by two answers.
const Twice = 30

// Questions returns the questions about the model of x. They begin with the clusters of
// m.Labels and the constraints of the model.
func (x *Explainer) Questions() *Questions {
	return &Questions{
		base: x, labels: slices.Clone(x.m.Labels), next: x.m.Numbers(), known: x.resolved,
		skipped: map[[2]int]bool{}, once: map[[2]int]bool{}, halves: map[int][]int32{},
	}
}

// Labels returns the cluster of every sample after the answers. Clusters keep their numbers;
// one that was split off has a new number, and of two that were joined the larger, or with
// equal sizes the lower number, stays.
func (q *Questions) Labels() []int { return slices.Clone(q.labels) }

// Answers returns the answers that hold, the earliest first.
func (q *Questions) Answers() []Answer {
	out := make([]Answer, len(q.done))
	for k := range q.done {
		out[k] = q.done[k].Answer
	}
	return out
}

// Constraints returns those of the model with what the answers add.
func (q *Questions) Constraints() mvclust.Constraints { return q.with(nil) }

// with returns the constraints with one more answer, if any.
func (q *Questions) with(more *Answer) constraint.Set {
	set := q.base.m.Constraints
	set.MustLink, set.CannotLink = slices.Clone(set.MustLink), slices.Clone(set.CannotLink)
	there := map[[2]int]bool{} // pairs of the model, and then of the answers
	for _, p := range slices.Concat(set.MustLink, set.CannotLink) {
		there[sorted(p[0], p[1])] = true
	}
	add := func(a *Answer) {
		pair := sorted(a.A, a.B)
		switch {
		case there[pair] && a != more: // given twice
		case a.Verdict == Same:
			set.MustLink = append(set.MustLink, pair)
		case a.Verdict == Different:
			set.CannotLink = append(set.CannotLink, pair)
		}
		there[pair] = there[pair] || a.Verdict != Skip
	}
	for k := range q.done {
		add(&q.done[k].Answer)
	}
	if more != nil {
		add(more)
	}
	return set
}

// Next returns the open questions, at most n, the most valuable first. It is an error if n is
// below 1, or if ctx is done.
func (q *Questions) Next(ctx context.Context, n int) ([]Question, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d questions are asked for; ask for at least 1", n)
	}
	if err := q.refresh(ctx); err != nil {
		return nil, err
	}
	out := make([]Question, 0, min(n, len(q.open)))
	for _, p := range q.open[:min(n, len(q.open))] {
		out = append(out, Question{q.ref(p.a), q.ref(p.b), p.about, p.yes, p.samples, p.value, p.second})
	}
	return out, nil
}

// Left returns how many questions are open: about clusters, and about single samples. It is an
// error if ctx is done.
func (q *Questions) Left(ctx context.Context) (clusters, samples int, err error) {
	if err := q.refresh(ctx); err != nil {
		return 0, 0, err
	}
	for _, p := range q.open {
		if p.about == AboutSample {
			samples++
		} else {
			clusters++
		}
	}
	return clusters, samples, nil
}

func (q *Questions) ref(i int) Ref { return Ref{i, q.base.m.ID(i), q.labels[i]} }

// Current returns an Explainer of the clusters as the answers have left them. Its errors are
// the context's.
func (q *Questions) Current(ctx context.Context) (*Explainer, error) {
	m := *q.base.m
	m.Labels, m.Constraints, m.Retired = q.labels, q.with(nil), 0
	worth, err := partition.NewWorth(ctx, m.Graph, m.Labels, m.Settings.Resolution, m.Settings.Partition, q.base.threads)
	if err != nil {
		return nil, err
	}
	x := *q.base
	x.m, x.worth, x.resolved, x.constraints, x.sizes = &m, worth, q.known, q.known.Pairs(), map[int]int{}
	for _, l := range m.Labels {
		x.sizes[l]++
	}
	return &x, nil
}

// Clusters describes the clusters of the model, by rising number, and returns their numbers. Its
// errors are those of Describe.
func (x *Explainer) Clusters(ctx context.Context, set DescribeSettings) ([]Cluster, []int, error) {
	labels, numbers := packed(x.m.Labels)
	set.Resolution, set.Clip = x.m.Settings.Resolution, x.m.Settings.Partition.Clip
	found, err := Describe(ctx, x.m.Graph, labels, x.m.Confidence, set, x.threads)
	for c := range found {
		for k := range found[c].Merges {
			found[c].Merges[k].Cluster = numbers[found[c].Merges[k].Cluster]
		}
	}
	return found, numbers, err
}

// refresh finds the open questions.
func (q *Questions) refresh(ctx context.Context) error {
	if q.fresh {
		return nil
	}
	x, err := q.Current(ctx)
	if err != nil {
		return err
	}
	f, err := newFinder(ctx, x, DefaultTop, q.halves)
	if err != nil {
		return err
	}
	f.once = q.once
	q.open, q.fresh = slices.DeleteFunc(f.open(), func(p openQuestion) bool {
		return q.skipped[sorted(p.a, p.b)]
	}), true
	return nil
}

// Answer carries out an answer, which may be about any two samples. It changes nothing and
// returns an error if the answer is about other samples than the model's, a *ConstraintError
// if it contradicts what is known, or another error where that keeps the clusters apart which
// it would join.
func (q *Questions) Answer(ctx context.Context, a Answer) error { return q.answer(ctx, a, false) }

// Recall carries out an answer that was given about other clusters of the same samples, such as
// those of another level. It differs from Answer where something known keeps the clusters apart
// that the answer would join: then the two samples alone come together, with what must be with
// them, in the cluster of one of them or else in one of their own.
func (q *Questions) Recall(ctx context.Context, a Answer) error { return q.answer(ctx, a, true) }

func (q *Questions) answer(ctx context.Context, a Answer, recalled bool) error {
	if err := errors.Join(q.base.check(a.A), q.base.check(a.B)); err != nil {
		return err
	}
	if a.A == a.B {
		return fmt.Errorf("the answer is about sample %d alone; name two samples", a.A)
	}
	if !slices.Contains([]Verdict{Same, Different, Skip}, a.Verdict) {
		return fmt.Errorf("there is no answer %q; say %s, %s or %s", a.Verdict, Same, Different, Skip)
	}
	if !slices.Contains([]Topic{AboutMerge, AboutSplit, AboutSample, AboutClusters}, a.About) {
		return fmt.Errorf("no answer is about %q; name %s, %s, %s or %s", a.About, AboutMerge, AboutSplit, AboutSample, AboutClusters)
	}
	set := q.with(&a)
	known, err := set.Resolve(len(q.labels))
	if err != nil {
		return err
	}
	s := step{Answer: a, next: q.next}
	before := q.known
	q.known = known
	switch {
	case a.Verdict == Same && q.labels[a.A] != q.labels[a.B]:
		q.join(&s)
	case a.Verdict == Different && q.labels[a.A] == q.labels[a.B]:
		err = q.part(ctx, &s)
	case a.Verdict == Skip:
		q.skipped[sorted(a.A, a.B)] = true
	}
	pair, broken := known.Violation(q.labels)
	if err == nil && broken && recalled {
		pair, broken = q.settle(&s)
	}
	if err == nil && broken {
		err = fmt.Errorf("samples %s and %s are known to be different, and would be in one cluster; undo that answer first", q.base.m.ID(pair[0]), q.base.m.ID(pair[1]))
	}
	if err != nil {
		q.restore(&s)
		q.known = before
		return err
	}
	q.done, q.fresh = append(q.done, s), false
	return nil
}

// settle does again what a step has done, but moves only what must be with its first sample.
func (q *Questions) settle(s *step) (pair [2]int, broken bool) {
	q.restore(s)
	for _, to := range []int{q.labels[s.B], q.labels[s.A], q.next} {
		*s = step{Answer: s.Answer, next: q.next}
		q.move(s, q.component(s.A), to)
		if pair, broken = q.known.Violation(q.labels); !broken {
			break
		}
		q.restore(s)
	}
	return pair, broken
}

// Undo takes back the last answer, which it returns. It reports false where there is none.
func (q *Questions) Undo() (Answer, bool) {
	if len(q.done) == 0 {
		return Answer{}, false
	}
	s := q.done[len(q.done)-1]
	q.done = q.done[:len(q.done)-1]
	q.restore(&s)
	if s.Verdict == Skip {
		delete(q.skipped, sorted(s.A, s.B))
	}
	set := q.with(nil)
	q.known, _ = set.Resolve(len(q.labels)) // as before the answer
	q.fresh = false
	return s.Answer, true
}

// move gives samples a label.
func (q *Questions) move(s *step, samples []int32, to int) {
	for _, i := range samples {
		delete(q.halves, q.labels[i])
		s.moved, s.from = append(s.moved, i), append(s.from, q.labels[i])
		q.labels[i] = to
	}
	delete(q.halves, to)
	q.next = max(q.next, to+1)
}

// restore undoes a step.
func (q *Questions) restore(s *step) {
	for k, i := range slices.Backward(s.moved) {
		delete(q.halves, q.labels[i])
		q.labels[i] = s.from[k]
		delete(q.halves, q.labels[i])
	}
	q.next = s.next
	if s.once != nil {
		delete(q.once, *s.once)
	}
}

// join carries out that samples of two clusters belong together.
func (q *Questions) join(s *step) {
	if s.About == AboutSample {
		q.move(s, q.component(s.A), q.labels[s.B])
		return
	}
	a, b := q.members(q.labels[s.A]), q.members(q.labels[s.B])
	into, from, sample := q.labels[s.A], b, s.B
	if len(b) > len(a) || len(b) == len(a) && q.labels[s.B] < into {
		into, from, sample = q.labels[s.B], a, s.A
	}
	pair := sorted(q.labels[s.A], q.labels[s.B])
	if s.About != AboutClusters && len(from) >= Twice && !q.once[pair] {
		q.once[pair], s.once = true, &pair
		from = q.component(sample)
	}
	q.move(s, from, into)
}

// part carries out that two samples of a cluster do not belong together.
func (q *Questions) part(ctx context.Context, s *step) error {
	label := q.labels[s.A]
	if s.About != AboutSample {
		members := q.members(label)
		half := q.half(ctx, label, members)
		if err := ctx.Err(); err != nil {
			return err
		}
		if half = q.wholeComponents(members, half); len(half) > 0 && slices.Contains(half, int32(s.A)) != slices.Contains(half, int32(s.B)) {
			q.move(s, half, q.next)
			return nil
		}
	}
	samples := q.component(s.A)
	to := q.next
	if best := q.best(samples, label); best >= 0 {
		to = best
	}
	q.move(s, samples, to)
	return nil
}

// members returns the samples of a cluster.
func (q *Questions) members(label int) []int32 {
	var out []int32
	for i, l := range q.labels {
		if l == label {
			out = append(out, int32(i))
		}
	}
	return out
}

// component returns the samples that must be with sample i, and i.
func (q *Questions) component(i int) []int32 {
	out := []int32{}
	for j, c := range q.known.Component {
		if c == q.known.Component[i] {
			out = append(out, int32(j))
		}
	}
	return out
}

// half returns the smaller half of a cluster, none where it is too small.
func (q *Questions) half(ctx context.Context, label int, members []int32) []int32 {
	if half, ok := q.halves[label]; ok {
		return half
	}
	r := cutter{ctx: ctx, g: q.base.m.Graph, degree: q.base.worth.Degrees.Sample, place: make([]int32, len(q.labels))}
	return r.halfOf(members, q.base.m.Settings.Seed, label)
}

// wholeComponents moves samples that must be together to the half that has most of them.
func (q *Questions) wholeComponents(members, half []int32) []int32 {
	in, count := map[int32]int{}, map[int32]int{}
	for _, i := range half {
		in[q.known.Component[i]]++
	}
	for _, i := range members {
		count[q.known.Component[i]]++
	}
	var out []int32
	for _, i := range members {
		if c := q.known.Component[i]; 2*in[c] > count[c] || 2*in[c] == count[c] && slices.Contains(half, c) {
			out = append(out, i)
		}
	}
	return out
}

// best returns the cluster, other than their own, that samples have the strongest links to
// and that nothing known keeps them out of; or -1.
func (q *Questions) best(samples []int32, own int) int {
	weight := map[int]float64{}
	for _, i := range samples {
		index, p := q.base.m.Graph.Of(int(i))
		for e, j := range index {
			weight[q.labels[j]] += float64(p[e])
		}
	}
	for _, i := range samples {
		for _, t := range q.known.Exclusions.Of(int(i)) {
			for j, l := range q.labels {
				if slices.Contains(q.known.Exclusions.Of(j), t) {
					delete(weight, l)
				}
			}
		}
	}
	delete(weight, own)
	best := -1
	for l, w := range weight {
		if w > 0 && (best < 0 || w > weight[best] || w == weight[best] && l < best) {
			best = l
		}
	}
	return best
}

// sorted returns a pair, the lower number first.
func sorted(a, b int) [2]int { return [2]int{min(a, b), max(a, b)} }

// Halves returns the most central sample of either half of a cluster; false if it is too small to
// be cut, or if what is known keeps the halves together. It is an error if ctx is done.
func (q *Questions) Halves(ctx context.Context, cluster int) (central [2]int, ok bool, err error) {
	members := q.members(cluster)
	if len(members) == 0 {
		return central, false, nil
	}
	half := q.half(ctx, cluster, members)
	if q.known != nil {
		half = q.wholeComponents(members, half)
	}
	if len(half) == 0 || len(half) == len(members) || ctx.Err() != nil {
		return central, false, ctx.Err()
	}
	in := make(map[int32]bool, len(half))
	for _, i := range half {
		in[i] = true
	}
	best := [2]float64{-1, -1}
	for _, i := range members {
		side, sum := 0, 0.0
		if in[i] {
			side = 1
		}
		index, weight := q.base.m.Graph.Of(int(i))
		for e, j := range index {
			if q.labels[j] == cluster && in[j] == in[i] {
				sum += float64(weight[e])
			}
		}
		if sum > best[side] {
			best[side], central[side] = sum, int(i)
		}
	}
	return central, true, nil
}
