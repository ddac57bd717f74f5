//go:build !race

package explain

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/dataset"
	"github.com/mvclust/mvclust/score"
)

// tally counts what is right, of all.
type tally struct{ right, of float64 }

func (t *tally) add(right bool) {
	if right {
		t.right++
	}
	t.of++
}

func (t *tally) join(o tally) { t.right, t.of = t.right+o.right, t.of+o.of }

func (t tally) share() float64 { return t.right / max(1, t.of) }

// judged holds suggestions against known classes.
type judged struct {
	*finder
	truth []int
}

// major returns the class of most of the samples.
func (j *judged) major(in func(i int) bool) int {
	count, best := map[int]int{}, -1
	for i, c := range j.truth {
		if in(i) {
			if count[c]++; best < 0 || count[c] > count[best] {
				best = c
			}
		}
	}
	return best
}

// one reports whether two clusters have the same class for their most frequent one.
func (j *judged) one(p couple) bool {
	return j.major(func(i int) bool { return j.labels[i] == p.a }) == j.major(func(i int) bool { return j.labels[i] == p.b })
}

// apart reports whether two halves have not.
func (j *judged) apart(p couple) bool {
	return j.major(func(i int) bool { return j.half[i] == p.a }) != j.major(func(i int) bool { return j.half[i] == p.b })
}

// answer answers questions by the classes: clusters are joined, halves become clusters, and
// samples leave theirs. It counts the answers that contradict the clustering.
func (j *judged) answer(questions []Question) (labels []int, news tally) {
	labels = slices.Clone(j.m.Labels)
	next := len(labels)
	for _, q := range questions {
		yes := j.truth[q.A.Sample] == j.truth[q.B.Sample]
		news.add(yes == (q.About == AboutMerge))
		if yes != (q.About == AboutMerge) {
			continue
		}
		from, to := labels[q.B.Sample], labels[q.A.Sample]
		for i, l := range labels {
			switch {
			case q.About == AboutMerge && l == from:
				labels[i] = to
			case q.About == AboutSplit && j.half[i] == j.half[q.B.Sample]:
				labels[i] = next
			}
		}
		if q.About == AboutSample {
			labels[q.A.Sample] = next
		}
		next++
	}
	return partitioned(labels), news
}

// partitioned numbers labels from 0.
func partitioned(labels []int) []int {
	number := map[int]int{}
	out := make([]int, len(labels))
	for i, l := range labels {
		if _, ok := number[l]; !ok {
			number[l] = len(number)
		}
		out[i] = number[l]
	}
	return out
}

// On real data, what is suggested is right more often than the same of any clusters, and
// somebody who answers the questions by the classes contradicts the clustering more often
// than by any pairs of samples. docs/suggest.md has what this logs.
func TestRealSuggestions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	dir := os.Getenv("MVCLUST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "datasets")
	}
	for _, preset := range []mvclust.Preset{mvclust.Auto, mvclust.Paper} {
		var merges, anyMerge, splits, anySplit, news, anyNews tally
		for name := range strings.FieldsSeq("ORL MSRC BUAA CUB LandUse-21 BBCSport_tfidf Banking77_derived") {
			path := filepath.Join(dir, name+".npz")
			if _, err := os.Stat(path); err != nil {
				t.Skipf("no real data: %v; set MVCLUST_DATA to the folder that holds them", err)
			}
			set, err := dataset.Load(t.Context(), []string{path}, dataset.Options{})
			if err != nil {
				t.Fatal(err)
			}
			truth, err := dataset.Labels(t.Context(), path, nil, set.Views[0].Samples)
			if err != nil {
				t.Fatal(err)
			}
			r, err := mvclust.Fit(t.Context(), set.Views, mvclust.Options{Preset: preset})
			if err != nil {
				t.Fatal(err)
			}
			x, err := New(t.Context(), mvclust.NewModel(set.Views, r, nil), 0)
			if err != nil {
				t.Fatal(err)
			}
			f, err := newFinder(t.Context(), x, 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			j := &judged{f, truth.Labels}
			var m, am, s, as, an tally
			for _, p := range j.topMerges() {
				m.add(j.one(p))
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 2000 { // of all that are linked
				p := j.merges[random.IntN(len(j.merges))]
				if min(j.clusters[p.a].Size, j.clusters[p.b].Size) >= smallest {
					am.add(j.one(p))
				}
			}
			for _, p := range j.topSplits() {
				s.add(j.apart(p))
			}
			for _, p := range j.splits {
				as.add(j.apart(p))
			}
			for range 10_000 {
				a, b := random.IntN(len(r.Labels)), random.IntN(len(r.Labels))
				an.add(a != b && (r.Labels[a] == r.Labels[b]) != (j.truth[a] == j.truth[b]))
			}
			j.top = 50
			labels, n := j.answer(j.questions())
			before, err := score.Compare(truth.Labels, r.Labels)
			if err != nil {
				t.Fatal(err)
			}
			after, err := score.Compare(truth.Labels, labels)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("| %s | %s | %d / %d | %.0f of %.0f (%.0f%%) | %.0f of %.0f (%.0f%%) | %.0f of %.0f (%.1f%%) | %.1f -> %.1f |", preset, name,
				before.Clusters, before.Classes, m.right, m.of, 100*am.share(), s.right, s.of, 100*as.share(), n.right, n.of, 100*an.share(), 100*before.ARI, 100*after.ARI)
			merges.join(m)
			splits.join(s)
			news.join(n)
			anyMerge.join(tally{am.share() * m.of, m.of})
			anySplit.join(tally{as.share() * s.of, s.of})
			anyNews.join(tally{an.share() * n.of, n.of})
		}
		t.Logf("| %s | all | | %.0f (%.1f expected) of %.0f | %.0f (%.1f) of %.0f | %.0f (%.1f) of %.0f |", preset, merges.right, anyMerge.right, merges.of, splits.right, anySplit.right, splits.of, news.right, anyNews.right, news.of)
		if merges.right <= anyMerge.right || news.right <= 2*anyNews.right || splits.right < anySplit.right {
			t.Errorf("%v: suggestions are no better than chance", preset)
		}
	}
}
