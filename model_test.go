package mvclust_test

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
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
	"github.com/mvclust/mvclust/synth"
)

// modelOf clusters some samples, of which some lack a view.
func modelOf(t testing.TB, opt mvclust.Options, ids bool) ([]*mvclust.View, *mvclust.Result, *mvclust.Model) {
	t.Helper()
	set, err := synth.Generate(synth.Config{Samples: 150, Classes: 5, Views: 2, Dims: []int{6, 9}, Noise: []float64{0.6}, Missing: 0.2, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	r, err := mvclust.Fit(t.Context(), set.Views, opt)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range r.Labels {
		if ids {
			names = append(names, fmt.Sprintf("ünïque \"%d\"\n", i))
		}
	}
	return set.Views, r, mvclust.NewModel(set.Views, r, names)
}

var modelCases = map[string]mvclust.Options{
	"auto":        {},
	"paper":       {Preset: mvclust.Paper},
	"completion":  {Preset: mvclust.Paper, Posterior: posterior.Settings{Completion: true}},
	"constraints": {Constraints: constraint.Set{MustLink: [][2]int{{3, 9}, {9, 20}}, CannotLink: [][2]int{{0, 1}}}},
	"groups":      {Preset: mvclust.Paper, Constraints: constraint.Set{Distinct: grouped()}},
	"plain": {
		Preset: mvclust.Paper, Scale: view.MinMax, Local: true, Metrics: []similarity.Metric{similarity.L2, similarity.Cosine},
		Refinement: refine.Settings{WithoutCoNeighbours: true},
	},
}

// grouped puts every second sample into a group of three.
func grouped() []int {
	groups := make([]int, 150)
	for i := range groups {
		if groups[i] = -1; i%2 == 0 {
			groups[i] = i / 6
		}
	}
	return groups
}

func modelFile(t testing.TB, m *mvclust.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A model is read as it was written, and compares samples as the fit did.
func TestModelRoundTrip(t *testing.T) {
	for name, opt := range modelCases {
		t.Run(name, func(t *testing.T) {
			views, r, m := modelOf(t, opt, name != "paper")
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			file := modelFile(t, m)
			got, err := mvclust.ReadModel(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			if again := modelFile(t, got); !bytes.Equal(again, file) {
				t.Error("another file is written of what was read")
			}
			if !slices.Equal(got.Labels, m.Labels) || !slices.Equal(got.IDs, m.IDs) || !reflect.DeepEqual(got.Graph, m.Graph) ||
				!reflect.DeepEqual(got.Settings, m.Settings) || !reflect.DeepEqual(got.Constraints, m.Constraints) || !reflect.DeepEqual(got.Functions.ByView, r.Functions.ByView) ||
				got.Clusters() != len(r.Sizes) || got.Samples() != views[0].Samples {
				t.Error("something else was read than was written")
			}
			for i, v := range got.Views {
				if !reflect.DeepEqual(v.Scaler, m.Views[i].Scaler) || v.Rows.Name != views[i].Name || v.Rows.Count() != views[i].Count() {
					t.Errorf("view %d differs", i)
				}
			}
			for i := range m.Samples() {
				if math.Abs(got.Confidence[i]-m.Confidence[i]) > 1e-7 {
					t.Errorf("confidence of %d: %v, not %v", i, got.Confidence[i], m.Confidence[i])
				}
				if m.Neighbourhoods == nil {
					continue
				}
				a, p := m.Neighbourhoods.Of(i)
				b, q := got.Neighbourhoods.Of(i)
				if !slices.Equal(a, b) || !slices.Equal(p, q) {
					t.Errorf("neighbours of %d: %v, not %v", i, b, a)
				}
			}
			compareModel(t, got, r)
		})
	}
}

// The manifest has the keys that files have had from the start, in their order.
func TestModelManifest(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{Preset: mvclust.Paper, Neighbours: 7, Seed: 3}, false)
	file := modelFile(t, m)
	text, err := npy.ReadFile(bytes.NewReader(file), int64(len(file)), "manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":"mvclust model","version":1,"samples":150,"clusters":` + fmt.Sprint(m.Clusters()) + `,"settings":{"neighbors":7,"candidates":28,` +
		`"posterior":{"fusion":"symmetric","completion":false,"clip":0.02},` +
		`"refinement":{"without_paths":false,"neighbors":7,"without_co_neighbors":false,"rounds":1},` +
		`"partition":{"sweeps":20,"levels":1,"resolution":0,"clip":0.01},"seed":3},"views":[{"name":"`
	if !strings.HasPrefix(string(text), want) {
		t.Errorf("the manifest begins with %s, want %s", text[:len(want)], want)
	}
}

// compareModel holds what the model's spaces give for the neighbours in r against what the
// fit found.
func compareModel(t *testing.T, m *mvclust.Model, r *mvclust.Result) {
	t.Helper()
	spaces, err := m.Spaces(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if m.Neighbourhoods == nil || !m.Settings.Refinement.WithoutPaths || !m.Constraints.Empty() {
		return // the neighbours' probabilities are not those of the views alone
	}
	fused, err := posterior.New(m.Functions, m.Settings.Posterior)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Samples() {
		index, probability := r.Neighbourhoods.Of(i)
		for e, j := range index {
			p := make([]float64, len(spaces))
			fused.Views(p, func(v int) float32 { return spaces[v].Similarity(i, int(j)) })
			if got := float32(fused.Fuse(p)); got != probability[e] {
				t.Fatalf("samples %d and %d: %v, not %v", i, j, got, probability[e])
			}
		}
	}
}

// The rows can be written before a fit consumes them.
func TestModelWriterBeforeConsume(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{}, true)
	want := modelFile(t, m)
	views, _, _ := modelOf(t, mvclust.Options{}, true)
	var b bytes.Buffer
	w := mvclust.NewModelWriter(&b)
	for _, v := range views {
		if err := w.Rows(v); err != nil {
			t.Fatal(err)
		}
	}
	r, err := mvclust.Fit(t.Context(), views, mvclust.Options{Consume: true})
	if err != nil {
		t.Fatal(err)
	}
	late := mvclust.NewModel(views, r, m.IDs)
	if err := late.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "has no rows any more") {
		t.Errorf("a model without rows is written: %v", err)
	}
	if err := w.Finish(late); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Error("the files differ")
	}
}

// A file that has lost or changed a byte is refused, and nothing panics.
func TestModelDamaged(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{}, true)
	file := modelFile(t, m)
	read := func(b []byte) error {
		got, err := mvclust.ReadModel(bytes.NewReader(b), int64(len(b)))
		if err == nil && !bytes.Equal(modelFile(t, got), file) {
			t.Error("a damaged file is read as another model")
		}
		return err
	}
	for _, n := range []int{0, 1, 30, len(file) / 2, len(file) - 1} {
		if err := read(file[:n]); err == nil {
			t.Errorf("a file of %d bytes is read", n)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 300 {
		b := bytes.Clone(file)
		b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
		if read(b) != nil {
			refused++
		}
	}
	// Some bytes, such as the times of the members, mean nothing.
	if refused < 280 {
		t.Errorf("only %d of 300 damaged files are refused", refused)
	}
}

func TestReadModelRefuses(t *testing.T) {
	other := func(manifest string) []byte {
		var b bytes.Buffer
		w := npy.NewWriter(&b)
		if err := w.Add("labels", []int{1}, []int64{0}); err != nil {
			t.Fatal(err)
		}
		if manifest != "" {
			if err := w.AddFile("manifest.json", []byte(manifest)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for want, file := range map[string][]byte{
		"it is no whole model of mvclust: zip: not a valid zip file; run \"mvclust fit\" again": []byte("hello"),
		"it holds no manifest.json":                                                                other(""),
		"it is no model of mvclust: its manifest.json is another's":                                other(`{"format": "other"}`),
		"it is a model of version 7, and this program reads versions up to 1; use a newer mvclust": other(`{"format": "mvclust model", "version": 7}`),
		"the model is damaged: labels has the shape [1]":                                           other(`{"format": "mvclust model", "version": 1, "samples": 5}`),
		"the model is damaged: it has -1 samples":                                                  other(`{"format": "mvclust model", "version": 1, "samples": -1}`),
		"the model is damaged: graph/offsets is missing":                                           other(`{"format": "mvclust model", "version": 1, "samples": 1}`),
	} {
		_, err := mvclust.ReadModel(bytes.NewReader(file), int64(len(file)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestModelValidate(t *testing.T) {
	for name, spoil := range map[string]func(m *mvclust.Model){
		"view":         func(m *mvclust.Model) { m.Views = nil },
		"ids":          func(m *mvclust.Model) { m.IDs = m.IDs[1:] },
		"confidence":   func(m *mvclust.Model) { m.Confidence[3] = math.NaN() },
		"confidences":  func(m *mvclust.Model) { m.Confidence = nil },
		"label":        func(m *mvclust.Model) { m.Labels[0] = -1 },
		"gap":          func(m *mvclust.Model) { m.Labels[0] = len(m.Labels) - 1 },
		"functions":    func(m *mvclust.Model) { m.Functions = nil },
		"function":     func(m *mvclust.Model) { m.Functions.ByView[0].P[0] = 2 },
		"graph":        func(m *mvclust.Model) { m.Graph.Weight[0] = -1 },
		"one way":      func(m *mvclust.Model) { m.Graph.Weight[0] /= 2 },
		"end":          func(m *mvclust.Model) { m.Graph.Index[0] = -4 },
		"offsets":      func(m *mvclust.Model) { m.Graph.Offsets[1] = len(m.Graph.Index) + 1 },
		"neighbours":   func(m *mvclust.Model) { m.Settings.Neighbours = 0 },
		"row":          func(m *mvclust.Model) { m.Views[0].Rows.Present, m.Views[0].Rows.Data[0] = nil, float32(math.Inf(1)) },
		"rows":         func(m *mvclust.Model) { m.Views[0].Rows = nil },
		"local scales": func(m *mvclust.Model) { m.Views[0].LocalScales = m.Views[0].LocalScales[1:] },
		"constraint": func(m *mvclust.Model) {
			m.Constraints.CannotLink = [][2]int{{0, slices.Index(m.Labels[1:], m.Labels[0]) + 1}}
		},
		"constraints": func(m *mvclust.Model) { m.Constraints.MustLink = [][2]int{{0, 999}} },
		"scale":       func(m *mvclust.Model) { m.Views[0].Scaler = &view.Scaler{Scale: view.MinMax} },
		"metric":      func(m *mvclust.Model) { m.Views[0].Metric = 9 },
		"fusion":      func(m *mvclust.Model) { m.Settings.Posterior.Fusion = 77 },
		"view samples": func(m *mvclust.Model) {
			m.Views[0].Rows.Samples, m.Views[0].Rows.Dims = 300, 3
			m.Views[0].Rows.Present = nil
		},
	} {
		_, _, m := modelOf(t, mvclust.Options{}, true)
		spoil(m)
		if err := m.Validate(); err == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
}

func FuzzReadModel(f *testing.F) {
	_, _, m := modelOf(f, modelCases["constraints"], true)
	m.Views = m.Views[:1]
	m.Functions.ByView = m.Functions.ByView[:1]
	m.Functions.BaseRate = m.Functions.BaseRate[:1]
	m.Functions.Cross = nil
	f.Add(modelFile(f, m))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := mvclust.ReadModel(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			if err := m.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Numbers of clusters that are no more stay out of use, also in a file; without Retired,
// every number has to be in use.
func TestModelRetired(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{}, false)
	was := m.Clusters()
	for i, l := range m.Labels {
		if l == 0 {
			m.Labels[i] = was + 2
		}
	}
	if m.Validate() == nil {
		t.Error("a model is whole that lacks a cluster")
	}
	m.Retired = was + 5
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	if m.Clusters() != was || m.Numbers() != was+5 {
		t.Errorf("%d clusters, %d numbers; want %d and %d", m.Clusters(), m.Numbers(), was, was+5)
	}
	file := modelFile(t, m)
	got, err := mvclust.ReadModel(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Retired != m.Retired || !slices.Equal(got.Labels, m.Labels) {
		t.Errorf("%d retired, labels %v", got.Retired, got.Labels)
	}
	for _, bad := range []int{-1, was + 2, 1 << 30} {
		if m.Retired = bad; m.Validate() == nil {
			t.Errorf("a model is whole of which %d numbers were in use", bad)
		}
	}
}
