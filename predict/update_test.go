package predict_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

func updated(t testing.TB, m *mvclust.Model, views []*view.View, threads int) (*mvclust.Model, *predict.Changes) {
	t.Helper()
	next, changes, err := predict.Update(t.Context(), m, views, nil, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return next, changes
}

func file(t testing.TB, m *mvclust.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An update with nothing leaves everything as it was.
func TestUpdateWithNothing(t *testing.T) {
	for name, opt := range presets {
		t.Run(name, func(t *testing.T) {
			set := made(t, synth.Config{Samples: 300, Classes: 8, Dims: []int{20}, Noise: []float64{0.9}, Missing: 0.3, Outliers: 0.1})
			m := fitted(t, set.Views, opt)
			none := take(set.Views, nil)
			next, changes := updated(t, m, none, 0)
			if !slices.Equal(next.Labels, m.Labels) || !reflect.DeepEqual(next.Graph, m.Graph) || next.Retired != 0 {
				t.Error("labels or links are others than before")
			}
			if changes.Relinked != 0 || changes.Moved != 0 || changes.Kept != m.Clusters() || len(changes.Merged)+len(changes.Split)+len(changes.Created)+len(changes.Grown) > 0 {
				t.Errorf("changes %+v", changes)
			}
		})
	}
}

// The neighbours of a model that allows for more than there are take no more room than those
// that there are.
func TestUpdateRoom(t *testing.T) {
	set := made(t, synth.Config{Samples: 600, Classes: 8, Dims: []int{20}, Noise: []float64{0.5}})
	m := fitted(t, take(set.Views, span(0, 590)), mvclust.Options{})
	wide := *m
	wide.Settings.Neighbours = m.Samples() - 1
	wide.Settings.Chosen = 0
	if err := wide.Validate(); err != nil {
		t.Fatal(err)
	}
	next, _ := updated(t, &wide, take(set.Views, span(590, 600)), 0)
	longest := 0
	for i := range next.Samples() {
		index, _ := next.Neighbourhoods.Of(i)
		longest = max(longest, len(index))
	}
	if k := next.Neighbourhoods.K(); k != longest || k > m.Samples()/2 {
		t.Errorf("room for %d neighbours, of which no sample has more than %d", k, longest)
	}
}

// What an update makes is a whole model, the same for any number of threads, and grows on.
func TestUpdateTwice(t *testing.T) {
	for name, opt := range presets {
		t.Run(name, func(t *testing.T) {
			set := made(t, synth.Config{Samples: 500, Classes: 8, Dims: []int{20}, Noise: []float64{0.5}, Missing: 0.3})
			m := fitted(t, take(set.Views, span(0, 400)), opt)
			before := file(t, m)
			one, changes := updated(t, m, take(set.Views, span(400, 450)), 1)
			again, _ := updated(t, m, take(set.Views, span(400, 450)), 3)
			if !bytes.Equal(file(t, one), file(t, again)) {
				t.Error("the number of threads changes the model")
			}
			if !bytes.Equal(file(t, m), before) {
				t.Error("the model that was updated has changed")
			}
			if changes.Added != 50 || changes.Clusters != one.Clusters() {
				t.Errorf("changes %+v", changes)
			}
			saved := file(t, one)
			read, err := mvclust.ReadModel(bytes.NewReader(saved), int64(len(saved)))
			if err != nil {
				t.Fatal(err)
			}
			two, _ := updated(t, read, []*view.View{take(set.Views, nil)[0], nil}, 0)
			if !slices.Equal(two.Labels, one.Labels) {
				t.Error("an update with nothing of what was read changes labels")
			}
			var there []int // of those that have the first view
			for i := 450; i < 500; i++ {
				if set.Views[0].Has(i) {
					there = append(there, i)
				}
			}
			three, _ := updated(t, two, []*view.View{take(set.Views, there)[0], nil}, 0)
			all := slices.Concat(set.Labels[:450], labelsOf(set.Labels, there))
			s, err := score.Compare(all, three.Labels)
			if err != nil {
				t.Fatal(err)
			}
			if s.PairwisePrecision < 0.9 {
				t.Errorf("scores %+v", s)
			}
			p, err := predict.New(t.Context(), three, 0)
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Predict(t.Context(), take(set.Views, span(0, 450)), nil, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Labels, three.Labels[:450]) {
				t.Error("the samples of an updated model get other labels")
			}
		})
	}
}

// A single new sample has the links that were foreseen for it, and goes where it was said
// to belong.
func TestUpdateAgreesWithPredict(t *testing.T) {
	for name, opt := range presets {
		if name == "rounds" {
			continue // of which prediction is an approximation
		}
		t.Run(name, func(t *testing.T) {
			set := made(t, synth.Config{Samples: 320, Classes: 8, Dims: []int{20}, Noise: []float64{0.7}, Missing: 0.3})
			m := fitted(t, take(set.Views, span(0, 300)), opt)
			p, err := predict.New(t.Context(), m, 0)
			if err != nil {
				t.Fatal(err)
			}
			for i := 300; i < 320; i++ {
				r, err := p.Predict(t.Context(), take(set.Views, []int{i}), nil, 0, nil)
				if err != nil {
					t.Fatal(err)
				}
				next, changes := updated(t, m, take(set.Views, []int{i}), 0)
				if r.Labels[0] == predict.None || changes.Moved > 0 {
					continue
				}
				if next.Labels[300] != r.Labels[0] || math.Abs(next.Confidence[300]-r.Confidence[0]) > 0.01 { // links of other samples may change with it
					t.Errorf("sample %d: cluster %d (%v) was foreseen, and %d (%v) came", i, r.Labels[0], r.Confidence[0], next.Labels[300], next.Confidence[300])
				}
			}
		})
	}
}

// Samples of a class that the model does not know make a cluster of their own, and leave
// the numbers of the others alone.
func TestUpdateCreates(t *testing.T) {
	set := made(t, synth.Config{Samples: 900, Classes: 6, Noise: []float64{0.5}})
	var known, fresh []int
	for i, c := range set.Labels {
		if c == 5 {
			fresh = append(fresh, i)
		} else {
			known = append(known, i)
		}
	}
	m := fitted(t, take(set.Views, known), mvclust.Options{})
	next, changes := updated(t, m, take(set.Views, fresh), 0)
	if !slices.Equal(next.Labels[:len(known)], m.Labels) {
		t.Error("old samples have moved")
	}
	want := predict.Cluster{Label: m.Clusters(), Size: len(fresh), New: len(fresh)}
	if len(changes.Created) != 1 || changes.Created[0] != want || len(changes.Merged)+len(changes.Split) > 0 {
		t.Errorf("changes %+v, want %+v created", changes, want)
	}
}

// The levels stay, with the new samples where they belong; each can become the current one.
func TestUpdateKeepsLevels(t *testing.T) {
	set := made(t, synth.Config{Samples: 700, Classes: 18, Dims: []int{12}, Noise: []float64{0.5}, Seed: 3})
	var known, fresh []int
	for i, c := range set.Labels {
		if c == 17 || i >= 600 {
			fresh = append(fresh, i)
		} else {
			known = append(known, i)
		}
	}
	m := fitted(t, take(set.Views, known), mvclust.Options{})
	next, changes := updated(t, m, take(set.Views, fresh), 0)
	if len(m.Levels) < 2 || changes.Better != nil || len(next.Levels) != len(m.Levels) || next.Level != m.Level {
		t.Fatalf("%d levels became %d, the current one %d became %d, better: %+v", len(m.Levels), len(next.Levels), m.Level, next.Level, changes.Better)
	}
	truth := slices.Concat(pick(set.Labels, known), pick(set.Labels, fresh))
	for at := range next.Levels {
		before, after := &m.Levels[at], &next.Levels[at]
		if kept, err := score.Compare(before.Labels, after.Labels[:len(known)]); err != nil || at != m.Level && kept.ARI < 1 {
			t.Errorf("level %d: the old samples have other labels: %+v %v", at, kept, err)
		}
		old, err := score.Compare(truth[:len(known)], before.Labels)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := score.Compare(truth, after.Labels); err != nil || all.ARI < old.ARI-0.1 { // a coarse level merges the new class, too
			t.Errorf("level %d: an ARI of %.3f became %.3f %v", at, old.ARI, all.ARI, err)
		}
		cut, err := next.Cut(t.Context(), mvclust.CutOptions{Level: at})
		if err != nil || !slices.Equal(cut.Labels, after.Labels) || cut.Level != at {
			t.Errorf("level %d cannot become the current one: %v", at, err)
		}
	}
	file(t, next)
}

func pick(labels, samples []int) []int {
	var out []int
	for _, i := range samples {
		out = append(out, labels[i])
	}
	return out
}

// Granularity that was chosen is looked at again when a tenth of the samples has come, and
// one that was asked for is not.
func TestUpdateLooksAgain(t *testing.T) {
	set := made(t, synth.Config{Samples: 500, Classes: 8, Dims: []int{20}, Noise: []float64{0.5}})
	for name, opt := range map[string]mvclust.Options{
		"chosen": {}, "asked for": {Neighbours: 20}, "paper": presets["paper"],
	} {
		m := fitted(t, take(set.Views, span(0, 400)), opt)
		few, _ := updated(t, m, take(set.Views, span(400, 420)), 0)
		more, _ := updated(t, few, take(set.Views, span(420, 450)), 0)
		got, want := []int{m.Settings.Chosen, few.Settings.Chosen, more.Settings.Chosen}, []int{0, 0, 0}
		if name == "chosen" {
			want = []int{400, 400, 450}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: chosen when there were %v samples, want %v", name, got, want)
		}
	}
}

// Many small updates, which make the samples four times as many, keep the granularity of the model.
func TestUpdateKeepsGranularity(t *testing.T) {
	set := made(t, synth.Config{Samples: 600, Classes: 4, Dims: []int{8, 8}, Noise: []float64{0.6}, Missing: 0.25, Seed: 2})
	m := fitted(t, take(set.Views, span(0, 150)), mvclust.Options{})
	before := m.Clusters()
	for from := 150; from < 600; from += 15 {
		m, _ = updated(t, m, take(set.Views, span(from, from+15)), 0)
	}
	s, err := score.Compare(set.Labels, m.Labels)
	if err != nil {
		t.Fatal(err)
	}
	if before != 4 || m.Clusters() != 4 || s.ARI < 0.8 {
		t.Errorf("%d clusters became %d, with an ARI of %.3f", before, m.Clusters(), s.ARI)
	}
}

// Clusters that are finer than the objective would have them, as of a number that was asked for, stay
// apart: new samples are no reason to join them.
func TestUpdateKeepsDivided(t *testing.T) {
	set := made(t, synth.Config{Samples: 1000, Classes: 6, Dims: []int{8, 8}, Noise: []float64{0.7}, Seed: 4})
	m := fitted(t, take(set.Views, span(0, 960)), mvclust.Options{Clusters: 24})
	for from := 960; from < 1000; from += 20 {
		next, changes := updated(t, m, take(set.Views, span(from, from+20)), 0)
		s, err := score.Compare(m.Labels, next.Labels[:m.Samples()])
		if err != nil {
			t.Fatal(err)
		}
		if s.ARI < 0.9 || len(changes.Merged) > 2 {
			t.Errorf("of %d clusters %d are merged, ARI of old labels %.3f", m.Clusters(), len(changes.Merged), s.ARI)
		}
		m = next
	}
}

func TestUpdateRefuses(t *testing.T) {
	set := made(t, synth.Config{Samples: 60, Classes: 3, Dims: []int{4, 5}})
	m := fitted(t, take(set.Views, span(0, 50)), mvclust.Options{})
	fresh := take(set.Views, span(50, 53))
	for ids, want := range map[string]string{"a b a": `"a"`, "50 51 7": `"7"`} {
		_, _, err := predict.Update(t.Context(), m, fresh, strings.Fields(ids), 0, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", ids, err)
		}
	}
	next, _, err := predict.Update(t.Context(), m, fresh, []string{"x", "y", "z"}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if next.ID(0) != "0" || next.ID(52) != "z" {
		t.Errorf("ids %v", next.IDs)
	}
	if _, _, err := predict.Update(t.Context(), m, fresh[:1], nil, 0, nil); err == nil {
		t.Error("a view too few is taken")
	}
}

// What is said of the changes follows from the labels.
func TestUpdateNames(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			set := made(t, synth.Config{Samples: 400, Classes: 20, Dims: []int{10}, Noise: []float64{1.2}, Imbalance: 1, Seed: seed})
			m := fitted(t, take(set.Views, span(0, 200)), mvclust.Options{})
			next, c := updated(t, m, take(set.Views, span(200, 400)), 0)
			size := map[int]int{}
			for _, l := range next.Labels {
				size[l]++
			}
			moved := 0
			for i, l := range m.Labels {
				if next.Labels[i] != l {
					moved++
				}
			}
			old := m.Clusters()
			kept := 0
			for l := range size {
				if l < old {
					kept++
				}
			}
			if moved != c.Moved || len(size) != c.Clusters || kept != c.Kept || old-kept != len(c.Merged) {
				t.Errorf("changes %+v; %d samples moved, %d of %d clusters kept, %d in all", c, moved, kept, old, len(size))
			}
			for _, x := range slices.Concat(c.Grown, c.Created) {
				if size[x.Label] != x.Size || x.New > x.Size {
					t.Errorf("cluster %+v has %d samples", x, size[x.Label])
				}
			}
		})
	}
}

// What was known of pairs at the fit still holds after an update, also where the clusters
// are found anew, and an update with nothing changes nothing.
func TestUpdateHonoursConstraints(t *testing.T) {
	for name, opt := range presets {
		t.Run(name, func(t *testing.T) {
			set := made(t, synth.Config{Samples: 400, Classes: 8, Dims: []int{20}, Noise: []float64{0.9}, Missing: 0.3})
			old := take(set.Views, span(0, 300))
			// Pairs against the classes: those that nothing else would honour.
			r := rand.New(rand.NewPCG(5, 6))
			opt.Constraints.Distinct = make([]int, 300)
			for i := range opt.Constraints.Distinct {
				opt.Constraints.Distinct[i] = -1
			}
			for c := range 8 {
				var members []int
				for i, l := range set.Labels[:300] {
					if l == c {
						members = append(members, i)
					}
				}
				a, b, d := members[r.IntN(10)], members[10+r.IntN(10)], members[20+r.IntN(3)]
				opt.Constraints.CannotLink = append(opt.Constraints.CannotLink, [2]int{a, b})
				opt.Constraints.Distinct[a], opt.Constraints.Distinct[d] = c, c
			}
			m := fitted(t, old, opt)
			same, _ := updated(t, m, take(set.Views, nil), 0)
			if !slices.Equal(same.Labels, m.Labels) || !reflect.DeepEqual(same.Graph, m.Graph) {
				t.Error("an update with nothing changes something")
			}
			for _, more := range []int{20, 100} {
				next, _ := updated(t, m, take(set.Views, span(300, 300+more)), 2)
				for _, p := range opt.Constraints.CannotLink {
					if next.Labels[p[0]] == next.Labels[p[1]] {
						t.Errorf("%d more: samples %v are together", more, p)
					}
				}
				for i, a := range opt.Constraints.Distinct {
					for j, b := range opt.Constraints.Distinct[:i] {
						if a >= 0 && a == b && next.Labels[i] == next.Labels[j] {
							t.Errorf("%d more: samples %d and %d of group %d are together", more, i, j, a)
						}
					}
				}
				if _, err := mvclust.ReadModel(bytes.NewReader(file(t, next)), int64(len(file(t, next)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A batch that is added again is refused, with ids or without, until it has ids of its own.
func TestUpdateRefusesBatchTwice(t *testing.T) {
	set := made(t, synth.Config{Samples: 130, Classes: 4, Views: 2, Dims: []int{6}, Noise: []float64{0.4}, Missing: 0.2})
	m := fitted(t, take(set.Views, span(0, 100)), mvclust.Options{})
	first, second := take(set.Views, span(100, 115)), take(set.Views, span(115, 130))
	next, _ := updated(t, m, first, 1)
	next, _ = updated(t, next, second, 1)
	for _, batch := range [][]*view.View{first, second, take(set.Views, span(0, 100))} {
		got, _, err := predict.Update(t.Context(), next, batch, nil, 1, nil)
		if err == nil || got != nil || !strings.Contains(err.Error(), "nothing was added") {
			t.Errorf("the error is %v", err)
		}
	}
	updated(t, next, take(set.Views, slices.Concat(span(100, 114), span(0, 1))), 1) // another batch
	ids := make([]string, 15)
	for i := range ids {
		ids[i] = fmt.Sprint("twin", i)
	}
	named, _, err := predict.Update(t.Context(), next, first, ids, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := predict.Update(t.Context(), named, first, ids, 1, nil); err == nil || !strings.Contains(err.Error(), "samples twin0 to twin14") {
		t.Errorf("the error is %v", err)
	}
}
