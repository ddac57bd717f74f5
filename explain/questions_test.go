package explain

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/lapse"
	"github.com/mvclust/mvclust/method/probability"
)

// asking returns the questions about a model.
func asking(t testing.TB, m *mvclust.Model, threads int) *Questions {
	t.Helper()
	x, err := New(t.Context(), m, threads)
	if err != nil {
		t.Fatal(err)
	}
	return x.Questions()
}

// next returns the most valuable question, if there is one.
func next(t testing.TB, q *Questions) (Question, bool) {
	t.Helper()
	list, err := q.Next(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return Question{}, false
	}
	return list[0], true
}

// Whatever is answered, the clusters honour it, nothing known is asked, and every answer can be
// taken back. The same answers lead to the same clusters, for any number of threads.
func TestQuestionsHonourAnswers(t *testing.T) {
	for name, opt := range map[string]mvclust.Options{"auto": {}, "paper": {Preset: mvclust.Paper, Learning: probability.Settings{Epochs: 20}}} {
		m, _ := fitted(t, opt, 1.3)
		q, again := asking(t, m, 1), asking(t, m, 3)
		random := rand.New(rand.NewPCG(1, 2))
		states := [][]int{q.Labels()}
		for k := range 60 {
			question, ok := next(t, q)
			if !ok {
				break
			}
			other, _ := next(t, again)
			if !reflect.DeepEqual(question, other) {
				t.Fatalf("%s, question %d: %+v, and with other threads %+v", name, k, question, other)
			}
			known := q.Constraints()
			resolved, err := known.Resolve(m.Samples())
			if err != nil {
				t.Fatal(err)
			}
			if kind := resolved.Pairs().Of(question.A.Sample, question.B.Sample); kind != "" {
				t.Fatalf("%s: %+v is known: %s", name, question, kind)
			}
			if slices.ContainsFunc(q.Answers(), func(a Answer) bool {
				return sorted(a.A, a.B) == sorted(question.A.Sample, question.B.Sample)
			}) {
				t.Fatalf("%s: %+v is asked again", name, question)
			}
			a := Answer{question.A.Sample, question.B.Sample, question.About, []Verdict{Same, Different, Skip}[random.IntN(3)]}
			for _, q := range []*Questions{q, again} {
				if err := q.Answer(t.Context(), a); err != nil {
					t.Fatalf("%s: %+v: %v", name, a, err)
				}
			}
			set := q.Constraints()
			if resolved, err = set.Resolve(m.Samples()); err != nil {
				t.Fatal(err)
			}
			if pair, broken := resolved.Violation(q.Labels()); broken {
				t.Fatalf("%s: after %+v, %v are not as answered", name, a, pair)
			}
			states = append(states, q.Labels())
		}
		if len(states) < 20 {
			t.Fatalf("%s: only %d questions", name, len(states)-1)
		}
		if slices.Equal(states[0], states[len(states)-1]) {
			t.Errorf("%s: the answers change nothing", name)
		}
		answers := q.Answers()
		for k := len(states) - 1; k > 0; k-- {
			if got := q.Labels(); !slices.Equal(got, states[k]) {
				t.Fatalf("%s: the labels after %d answers are not those of before", name, k)
			}
			if a, ok := q.Undo(); !ok || a != answers[k-1] {
				t.Fatalf("%s: undo takes back %+v, want %+v", name, a, answers[k-1])
			}
		}
		if _, ok := q.Undo(); ok || !slices.Equal(q.Labels(), m.Labels) {
			t.Errorf("%s: something is left when all is taken back", name)
		}
		// A later run that is told the answers has the same clusters.
		later := asking(t, m, 2)
		for _, a := range answers {
			if err := later.Answer(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(later.Labels(), states[len(states)-1]) {
			t.Errorf("%s: the answers of one run lead elsewhere in another", name)
		}
	}
}

// Answers about the clusters of one level hold at all others, and can be taken back there.
func TestQuestionsRecall(t *testing.T) {
	m, _ := fitted(t, mvclust.Options{}, 1.3)
	if len(m.Levels) < 2 {
		t.Fatalf("there are %d levels", len(m.Levels))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for from := range m.Levels {
		one, err := m.Cut(t.Context(), mvclust.CutOptions{Level: from})
		if err != nil {
			t.Fatal(err)
		}
		q := asking(t, one, 0)
		for range 30 {
			question, ok := next(t, q)
			if !ok {
				break
			}
			if err := q.Answer(t.Context(), Answer{question.A.Sample, question.B.Sample, AboutClusters, []Verdict{Same, Different, Skip}[random.IntN(3)]}); err != nil {
				t.Log(err) // what is kept apart is not joined
				if err := q.Answer(t.Context(), Answer{question.A.Sample, question.B.Sample, AboutMerge, Skip}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for to := range m.Levels {
			other, err := m.Cut(t.Context(), mvclust.CutOptions{Level: to})
			if err != nil {
				t.Fatal(err)
			}
			there := asking(t, other, 0)
			for _, a := range q.Answers() {
				if err := there.Recall(t.Context(), a); err != nil {
					t.Fatalf("level %d to %d: %+v: %v", from, to, a, err)
				}
				set := there.Constraints()
				known, err := set.Resolve(m.Samples())
				if err != nil {
					t.Fatal(err)
				}
				if pair, broken := known.Violation(there.Labels()); broken {
					t.Fatalf("level %d to %d: after %+v, %v are not as answered", from, to, a, pair)
				}
			}
			if from == to && !slices.Equal(there.Labels(), q.Labels()) {
				t.Errorf("level %d: the same answers make other clusters", from)
			}
			for range q.Answers() {
				there.Undo()
			}
			if !slices.Equal(there.Labels(), other.Labels) {
				t.Errorf("level %d to %d: something is left when all is taken back", from, to)
			}
		}
	}
}

// A join that something known forbids is refused as an answer; recalled, it is of two samples.
func TestQuestionsRecallApart(t *testing.T) {
	m, _ := fitted(t, mvclust.Options{}, 1.3)
	var in [2][]int // samples of clusters 0 and 1
	for i, l := range m.Labels {
		if l < 2 {
			in[l] = append(in[l], i)
		}
	}
	q := asking(t, m, 0)
	for _, a := range []Answer{{in[0][0], in[1][0], AboutMerge, Different}, {in[0][1], in[1][1], AboutMerge, Different}} {
		if err := q.Answer(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	before := q.Labels()
	for _, join := range []Answer{{in[0][2], in[1][2], AboutClusters, Same}, {in[0][0], in[1][1], AboutClusters, Same}} {
		if err := q.Answer(t.Context(), join); err == nil || !slices.Equal(q.Labels(), before) {
			t.Fatalf("%+v: clusters that are kept apart are joined, %v", join, err)
		}
		if err := q.Recall(t.Context(), join); err != nil {
			t.Fatal(err)
		}
		after := q.Labels()
		if after[join.A] != after[join.B] || after[in[0][0]] == after[in[1][0]] || after[in[0][1]] == after[in[1][1]] {
			t.Errorf("%+v: the clusters are not as answered", join)
		}
		moved := 0
		for i := range after {
			if after[i] != before[i] {
				moved++
			}
		}
		if moved == 0 || moved > 2 {
			t.Errorf("%+v moves %d samples", join, moved)
		}
		q.Undo()
		if !slices.Equal(q.Labels(), before) {
			t.Errorf("%+v: undo leaves something", join)
		}
	}
}

// An answer about clusters joins or cuts them whole; one about a sample moves it alone.
func TestQuestionsSettle(t *testing.T) {
	m, _ := fitted(t, mvclust.Options{}, 1.3)
	q := asking(t, m, 0)
	size := func() map[int]int {
		n := map[int]int{}
		for _, l := range q.Labels() {
			n[l]++
		}
		return n
	}
	in := func(label, nth int) int {
		for i, l := range q.Labels() {
			if l == label {
				if nth--; nth < 0 {
					return i
				}
			}
		}
		t.Fatalf("cluster %d has too few samples", label)
		return -1
	}
	tell := func(a Answer) {
		t.Helper()
		if err := q.Answer(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	before := size()
	one, two := in(0, 0), in(1, 0)
	tell(Answer{one, two, AboutMerge, Same})
	if after := size(); len(after) != len(before) || max(after[0], after[1]) != max(before[0], before[1])+1 {
		t.Errorf("one answer about large clusters makes %v of %v", after, before)
	}
	if question, _ := next(t, q); !question.Second || sorted(question.A.Cluster, question.B.Cluster) != [2]int{0, 1} {
		t.Errorf("then %+v is asked, want a second pair of clusters 0 and 1", question)
	} else {
		tell(Answer{question.A.Sample, question.B.Sample, question.About, Same})
	}
	if after := size(); len(after) != len(before)-1 || after[0] != before[0]+before[1] {
		t.Errorf("two answers make %v of %v", after, before)
	}
	q.Undo()
	q.Undo()
	tell(Answer{one, two, AboutClusters, Same})
	if after := size(); after[0] != before[0]+before[1] {
		t.Errorf("an answer about whole clusters makes %v of %v", after, before)
	}
	q.Undo()
	x, err := q.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Suggest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	split := s.Splits[0]
	a, b := split.Halves[0].Central.Sample, split.Halves[1].Central.Sample
	tell(Answer{a, b, AboutSplit, Different})
	labels := q.Labels()
	for i, l := range m.Labels {
		want := l
		if slices.Contains(split.Members, i) {
			want = m.Numbers()
		}
		if labels[i] != want {
			t.Fatalf("sample %d is in cluster %d after a cut, want %d", i, labels[i], want)
		}
	}
	q.Undo()
	tell(Answer{one, two, AboutSample, Same})
	if after := size(); after[1] != before[1]+1 || after[0] != before[0]-1 {
		t.Errorf("an answer about a sample makes %v of %v", after, before)
	}
	tell(Answer{one, two, AboutSample, Skip})
	if clusters, samples, err := q.Left(t.Context()); err != nil || clusters == 0 || samples == 0 {
		t.Errorf("%d and %d questions are left: %v", clusters, samples, err)
	}
}

// Somebody who knows the classes gets closer to them.
func TestQuestionsHelp(t *testing.T) {
	m, truth := fitted(t, mvclust.Options{}, 1.3)
	q := asking(t, m, 0)
	wrong := func(labels []int) (n int) {
		for i := range labels {
			for j := range i {
				if (labels[i] == labels[j]) != (truth[i] == truth[j]) {
					n++
				}
			}
		}
		return n
	}
	for range 40 {
		question, ok := next(t, q)
		if !ok {
			break
		}
		verdict := Different
		if truth[question.A.Sample] == truth[question.B.Sample] {
			verdict = Same
		}
		if err := q.Answer(t.Context(), Answer{question.A.Sample, question.B.Sample, question.About, verdict}); err != nil {
			t.Fatal(err)
		}
	}
	if before, after := wrong(m.Labels), wrong(q.Labels()); after >= before {
		t.Errorf("%d pairs are wrong before, %d after", before, after)
	}
}

// An answer that cannot be carried out changes nothing.
func TestQuestionsRefuse(t *testing.T) {
	m, _ := fitted(t, mvclust.Options{}, 1.3)
	q := asking(t, m, 1)
	ctx := t.Context()
	places := map[int][]int{}
	for i, l := range m.Labels {
		places[l] = append(places[l], i)
	}
	a, b, c := places[0][0], places[0][1], places[1][0]
	for _, known := range []Answer{{a, b, AboutSample, Same}, {b, c, AboutMerge, Different}} {
		if err := q.Answer(ctx, known); err != nil {
			t.Fatal(err)
		}
	}
	before := q.Labels()
	for _, bad := range []Answer{
		{a, a, AboutMerge, Same}, {-1, b, AboutMerge, Same}, {a, m.Samples(), AboutMerge, Same},
		{a, c, "", Same}, {a, c, AboutMerge, "maybe"},
		{a, c, AboutMerge, Same}, {a, b, AboutSplit, Different}, // known otherwise
		{places[0][2], places[1][2], AboutClusters, Same}, // b and c are not the same
	} {
		if err := q.Answer(ctx, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	var contradiction *mvclust.ConstraintError
	if err := q.Answer(ctx, Answer{a, c, AboutMerge, Same}); !errors.As(err, &contradiction) {
		t.Errorf("a contradiction is %v", err)
	}
	if !slices.Equal(q.Labels(), before) || len(q.Answers()) != 2 {
		t.Error("an answer that is refused leaves traces")
	}
	if _, err := q.Next(ctx, 0); err == nil {
		t.Error("no questions can be asked for")
	}
	for checks := range 20 {
		fresh := asking(t, m, 1)
		ctx := lapse.After(t.Context(), checks)
		_, err := fresh.Next(ctx, 1)
		if ctx.Err() != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d checks: %v", checks, err)
		}
		if checks == 0 && err == nil {
			t.Fatal("questions are found without a context")
		}
	}
}

func BenchmarkQuestions(b *testing.B) {
	m, _ := fitted(b, mvclust.Options{}, 1.3)
	q := asking(b, m, 0)
	b.ReportAllocs()
	for b.Loop() {
		question, ok := next(b, q)
		if !ok {
			b.Fatal("there is no question")
		}
		if err := q.Answer(b.Context(), Answer{question.A.Sample, question.B.Sample, question.About, Same}); err != nil {
			b.Fatal(err)
		}
		q.Undo()
	}
}
