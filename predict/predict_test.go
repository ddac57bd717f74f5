package predict_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/predict"
	"github.com/mvclust/mvclust/score"
	"github.com/mvclust/mvclust/synth"
)

var presets = map[string]mvclust.Options{
	"auto":   {},
	"paper":  {Preset: mvclust.Paper, Neighbours: 15},
	"l2":     {Metrics: []similarity.Metric{similarity.L2}},
	"rounds": {Preset: mvclust.Paper, Neighbours: 15, Refinement: refine.Settings{Rounds: 2}},
	"plain":  {Preset: mvclust.Paper, Neighbours: 15, Refinement: refine.Settings{WithoutCoNeighbours: true}},
}

// The samples of the model have the labels that they had.
func TestTrainingSamplesKeepTheirLabels(t *testing.T) {
	for name, opt := range presets {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				set := made(t, synth.Config{Samples: 300, Classes: 12, Views: 3, Dims: []int{7, 9, 11}, Noise: []float64{0.9}, Missing: 0.4, Outliers: 0.05, Seed: seed})
				m := fitted(t, set.Views, opt)
				p, err := predict.New(t.Context(), m, 2)
				if err != nil {
					t.Fatal(err)
				}
				r, err := p.Predict(t.Context(), set.Views, nil, 2, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(r.Labels, m.Labels) || !slices.Equal(r.Confidence, m.Confidence) || !slices.Equal(r.SameAs, span(0, 300)) {
					t.Error("the samples of the model get another result than they have")
				}
			})
		}
	}
}

// Samples of equal values get the label of the one that has their id, and else of the one
// that is surest.
func TestEqualSamples(t *testing.T) {
	set := made(t, synth.Config{Samples: 100, Classes: 4, Dims: []int{6}, Noise: []float64{0.4}})
	m := fitted(t, set.Views, mvclust.Options{})
	ids := make([]string, 100)
	for i := range ids {
		ids[i] = fmt.Sprint("s", i)
	}
	m.IDs = ids
	other := slices.IndexFunc(m.Labels, func(l int) bool { return l != m.Labels[0] })
	for _, v := range m.Views {
		copy(v.Rows.Row(other), v.Rows.Row(0))
	}
	m.Confidence[0], m.Confidence[other] = 0.2, 0.4
	p, err := predict.New(t.Context(), m, 0)
	if err != nil {
		t.Fatal(err)
	}
	same := take(set.Views, []int{0, 0, 0})
	r, err := p.Predict(t.Context(), same, []string{"s0", ids[other], "new"}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, other, other}; !slices.Equal(r.SameAs, want) {
		t.Errorf("samples are the same as %v, want %v", r.SameAs, want)
	}
}

// New samples go to the clusters of their classes, also where they lack a view, or all of
// them do.
func TestNewSamples(t *testing.T) {
	for name, opt := range presets {
		t.Run(name, func(t *testing.T) {
			set := made(t, synth.Config{Samples: 600, Classes: 6, Dims: []int{20}, Noise: []float64{0.5}, Missing: 0.3})
			m := fitted(t, take(set.Views, span(0, 500)), opt)
			p, err := predict.New(t.Context(), m, 0)
			if err != nil {
				t.Fatal(err)
			}
			class := majority(m.Labels, set.Labels[:500])
			fresh := take(set.Views, span(500, 600))
			r, err := p.Predict(t.Context(), fresh, nil, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a := accuracy(class, r.Labels, set.Labels[500:]); a < 0.9 {
				t.Errorf("accuracy %v", a)
			}
			var both []int
			for i := range 100 {
				if fresh[0].Has(i) {
					both = append(both, i)
				}
			}
			one, err := p.Predict(t.Context(), []*view.View{take(fresh, both)[0], nil}, nil, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a := accuracy(class, one.Labels, labelsOf(set.Labels[500:], both)); a < 0.9 {
				t.Errorf("accuracy %v with one view", a)
			}
		})
	}
}

// The result for a sample depends on nothing but the sample.
func TestBatchesChangeNothing(t *testing.T) {
	for name, opt := range presets {
		t.Run(name, func(t *testing.T) {
			set := made(t, synth.Config{Samples: 500, Classes: 6, Dims: []int{20}, Missing: 0.3, Outliers: 0.1})
			m := fitted(t, take(set.Views, span(0, 400)), opt)
			p, err := predict.New(t.Context(), m, 1)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := p.Predict(t.Context(), take(set.Views, span(400, 500)), nil, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			again, err := predict.New(t.Context(), m, 3)
			if err != nil {
				t.Fatal(err)
			}
			order := rand.New(rand.NewPCG(1, 1)).Perm(100)
			rows := make([]int, 100)
			for at, i := range order {
				rows[at] = 400 + i
			}
			for at := 0; at < 100; at += 40 {
				some := rows[at:min(100, at+40)]
				r, err := again.Predict(t.Context(), take(set.Views, some), nil, 3, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := &predict.Result{
					Labels: labelsOf(whole.Labels, order[at:at+len(some)]), Confidence: labelsOf(whole.Confidence, order[at:at+len(some)]),
					Next: labelsOf(whole.Next, order[at:at+len(some)]), Typicality: labelsOf(whole.Typicality, order[at:at+len(some)]),
					SameAs: labelsOf(whole.SameAs, order[at:at+len(some)]),
				}
				if !reflect.DeepEqual(r, want) {
					t.Fatalf("%d samples from place %d get another result than among all", len(some), at)
				}
			}
			for i, c := range whole.Confidence {
				if !(c >= 0 && c <= 1) || !(whole.Typicality[i] >= 0 && whole.Typicality[i] <= 1) || whole.Next[i] == whole.Labels[i] && whole.Next[i] != predict.None {
					t.Errorf("sample %d: confidence %v, typicality %v, cluster %d and then %d", i, c, whole.Typicality[i], whole.Labels[i], whole.Next[i])
				}
			}
		})
	}
}

// Samples of classes that the model does not know belong to no cluster, by far more often
// than those of the others.
func TestUnseenClasses(t *testing.T) {
	set := made(t, synth.Config{Samples: 3000, Classes: 20, Noise: []float64{0.8}})
	var known, seen, unseen []int
	for i, c := range set.Labels {
		switch {
		case c >= 16:
			unseen = append(unseen, i)
		case i%10 == 0:
			seen = append(seen, i)
		default:
			known = append(known, i)
		}
	}
	p, err := predict.New(t.Context(), fitted(t, take(set.Views, known), mvclust.Options{}), 0)
	if err != nil {
		t.Fatal(err)
	}
	none := func(rows []int) float64 {
		r, err := p.Predict(t.Context(), take(set.Views, rows), nil, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, l := range r.Labels {
			if l == predict.None {
				n++
			}
		}
		return float64(n) / float64(len(rows))
	}
	s, u := none(seen), none(unseen)
	t.Logf("to no cluster: %.3f of samples of known classes, %.3f of others", s, u)
	if s > 0.05 || u < 0.7 {
		t.Errorf("to no cluster: %.3f of samples of known classes, %.3f of others", s, u)
	}
}

// A tenth of real samples are assigned to the clusters of the other nine as well as these are
// themselves, and a model that is updated with them has the clusters of such a fit.
func TestRealHandwritten(t *testing.T) {
	views, classes := real(t, "Handwritten")
	whole := fitted(t, views, mvclust.Options{})
	ari := func(truth, labels []int) float64 {
		s, err := score.Compare(truth, labels)
		if err != nil {
			t.Fatal(err)
		}
		return 100 * s.ARI
	}
	wholeARI := ari(classes, whole.Labels)
	const draws = 3
	loss := 0.0
	for seed := range uint64(draws) {
		order := rand.New(rand.NewPCG(seed, 0)).Perm(len(classes))
		known, fresh := order[len(order)/10:], order[:len(order)/10]
		m := fitted(t, take(views, known), mvclust.Options{})
		p, err := predict.New(t.Context(), m, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Predict(t.Context(), take(views, fresh), nil, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		names := majority(m.Labels, labelsOf(classes, known))
		got := 100 * accuracy(names, r.Labels, labelsOf(classes, fresh))
		want := 100 * accuracy(names, m.Labels, labelsOf(classes, known))
		t.Logf("seed %d: accuracy %.1f%%, of the samples of the model %.1f%%", seed, got, want)
		loss += (want - got) / draws

		next, changes := updated(t, m, take(views, fresh), 0)
		nextARI := ari(slices.Concat(labelsOf(classes, known), labelsOf(classes, fresh)), next.Labels)
		before := ari(labelsOf(classes, known), m.Labels)
		t.Logf("seed %d: ARI %.2f, of a fit of all %.2f, of the nine tenths %.2f; %+v", seed, nextARI, wholeARI, before, changes)
		if nextARI < min(wholeARI, before)-2 { // an update keeps the granularity of its model
			t.Errorf("seed %d: ARI %.2f, of a fit of all %.2f, of the nine tenths %.2f", seed, nextARI, wholeARI, before)
		}
	}
	if loss > 2 {
		t.Errorf("the accuracy is %.1f points below that of the samples of the model", loss)
	}
}

func TestRefusals(t *testing.T) {
	set := made(t, synth.Config{Samples: 60, Classes: 3, Dims: []int{4, 5}})
	p, err := predict.New(t.Context(), fitted(t, set.Views, mvclust.Options{}), 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := set.Views[0], set.Views[1]
	nan := &view.View{Name: "nan", Samples: 60, Dims: 4, Data: slices.Repeat([]float32{float32(math.NaN())}, 240)}
	for name, c := range map[string]struct {
		views []*view.View
		ids   []string
	}{
		"fewer views":       {[]*view.View{a}, nil},
		"no view":           {[]*view.View{nil, nil}, nil},
		"swapped views":     {[]*view.View{b, a}, nil},
		"unequal views":     {[]*view.View{a, take(set.Views, span(0, 9))[1]}, nil},
		"too few ids":       {[]*view.View{a, b}, []string{"x"}},
		"not finite":        {[]*view.View{nan, nil}, nil},
		"a viewless sample": {[]*view.View{{Name: "v", Samples: 60, Dims: 4, Data: a.Data, Present: make([]bool, 60)}, nil}, nil},
	} {
		if _, err := p.Predict(t.Context(), c.views, c.ids, 0, nil); err == nil {
			t.Errorf("%s: no error", name)
		} else if _, ok := errors.AsType[*view.InputError](err); !ok {
			t.Errorf("%s: error %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Predict(ctx, []*view.View{a, b}, nil, 0, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A model whose rows stay in its file places new samples as one that has them in memory, but for rounding,
// on any number of threads, and finds damage.
func TestStoredModel(t *testing.T) {
	for name, cfg := range map[string]synth.Config{
		"features": {Samples: 11_200, Classes: 60, Dims: []int{40, 36}, Noise: []float64{0.5}, Missing: 0.1, Seed: 1},
		"few":      {Samples: 11_200, Classes: 30, Dims: []int{6, 40}, Noise: []float64{0.3}, Seed: 2},
		"left out": {Samples: 11_200, Classes: 30, Dims: []int{36, 40}, Noise: []float64{0.5}, Seed: 3},
	} {
		set := made(t, cfg)
		for i := range set.Views[0].Samples { // columns far from 0, of one value, and of another scale
			if row := set.Views[0].Row(i); set.Views[0].Has(i) {
				row[0], row[1], row[2] = 1e5+row[0], 3, 1e-9*row[2]
			}
		}
		m := fitted(t, take(set.Views, span(0, 11_000)), mvclust.Options{Preset: mvclust.Paper, Local: true, Scale: view.Mixed, Neighbours: 10})
		indexed(t, m)
		if name == "left out" {
			m.Views[0].LeftOut, m.Views[0].Index = true, nil
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		place := func(m *mvclust.Model, threads int) (*predict.Result, error) {
			p, err := predict.New(t.Context(), m, threads)
			if err != nil {
				return nil, err
			}
			late := take(set.Views, append(span(11_000, 11_200), 17, 170)) // the last two are in the model
			return p.Predict(t.Context(), late, nil, threads, nil)
		}
		want, err := place(m, 2)
		if err != nil {
			t.Fatal(err)
		}
		var first *predict.Result
		for threads := 1; threads <= 3; threads += 2 {
			stored, err := mvclust.OpenCurrent(bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err != nil {
				t.Fatal(err)
			}
			apart := false
			for _, v := range stored.Views {
				apart = apart || v.Rows.Data == nil
			}
			if !apart {
				t.Fatalf("%s: all rows are read", name)
			}
			got, err := place(stored, threads)
			if err != nil || stored.Validate() != nil {
				t.Fatal(err, stored.Validate())
			}
			if _, _, err := predict.Update(t.Context(), stored, take(set.Views, span(11_000, 11_010)), nil, 1, nil); err == nil || !strings.Contains(err.Error(), "mvclust.ReadModel") {
				t.Errorf("an update of a model whose rows stay in its file: %v", err)
			}
			if first == nil {
				first = got
			}
			if !reflect.DeepEqual(got, first) {
				t.Errorf("%s: %d threads place samples elsewhere", name, threads)
			}
			same := slices.Equal(got.Labels, want.Labels) && slices.Equal(got.SameAs, want.SameAs) && slices.Equal(got.Next, want.Next)
			for i, c := range got.Confidence {
				same = same && math.Abs(c-want.Confidence[i]) < 0.002 && math.Abs(got.Typicality[i]-want.Typicality[i]) < 0.002
			}
			if !same || got.SameAs[200] != 17 {
				t.Errorf("%s: with its rows in the file, the model places samples elsewhere", name)
			}
		}
		bad := bytes.Clone(file.Bytes())
		mark := make([]byte, 16)
		for k := range 4 {
			binary.LittleEndian.PutUint32(mark[4*k:], math.Float32bits(set.Views[1].Row(5)[k]))
		}
		bad[bytes.Index(bad, mark)] ^= 1
		damaged, err := mvclust.OpenCurrent(bytes.NewReader(bad), int64(len(bad)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = place(damaged, 2); err == nil || !strings.Contains(err.Error(), "the model is damaged") {
			t.Errorf("%s: a damaged row: %v", name, err)
		}
	}
}

// A model that has its indexes places new samples as one that has to find them; an update drops them.
func TestIndexOfModel(t *testing.T) {
	set := made(t, synth.Config{Samples: 10_150, Classes: 30, Dims: []int{5, 3}, Noise: []float64{0.5}})
	m := fitted(t, take(set.Views, span(0, 10_100)), mvclust.Options{Preset: mvclust.Paper, Local: true, Scale: view.Mixed, Neighbours: 3})
	late := take(set.Views, span(10_080, 10_150))
	var want *predict.Result
	for _, known := range []bool{false, true} {
		if known {
			indexed(t, m)
		}
		p, err := predict.New(t.Context(), m, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Predict(t.Context(), late, nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		} else if !reflect.DeepEqual(got, want) {
			t.Error("with its indexes, the model places samples elsewhere")
		}
	}
	next, _, err := predict.Update(t.Context(), m, take(late, span(30, 70)), nil, 0, nil)
	if err != nil || next.Views[0].Index != nil {
		t.Errorf("after an update the index is %v; %v", next.Views[0].Index, err)
	}
	other := *m.Views[0].Index
	other.Cells = other.Cells[1:]
	m.Views[0].Index = &other
	if _, err := predict.New(t.Context(), m, 0); err == nil {
		t.Error("the index of other rows is used")
	}
}

// Samples that are placed in several batches, by rows in the file, are placed as in one.
func TestStoredBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("places 33,000 samples")
	}
	set := made(t, synth.Config{Samples: 10_300, Classes: 20, Dims: []int{36}, Noise: []float64{0.5}, Seed: 1})
	m := fitted(t, take(set.Views, span(0, 10_200)), mvclust.Options{Preset: mvclust.Paper, Local: true, Scale: view.Mixed, Neighbours: 5, Candidates: 10})
	indexed(t, m)
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	stored, err := mvclust.OpenCurrent(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if stored.Views[0].Rows.Data != nil {
		t.Fatal("the rows are read")
	}
	p, err := predict.New(t.Context(), stored, 0)
	if err != nil {
		t.Fatal(err)
	}
	late := span(10_200, 10_300)
	want, err := p.Predict(t.Context(), take(set.Views, late), nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Predict(t.Context(), take(set.Views, slices.Repeat(late, 330)), nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range got.Labels {
		if at := i % len(late); l != want.Labels[at] || got.Confidence[i] != want.Confidence[at] || got.Typicality[i] != want.Typicality[at] {
			t.Fatalf("sample %d of many has the label %d, and by itself %d", i, l, want.Labels[at])
		}
	}
}
