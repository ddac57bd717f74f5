package mvclust_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mvclust/mvclust"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
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

// TestModelUsable holds that a model fresh from its file is not looked at twice, and any other is.
func TestModelUsable(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{}, true)
	file := modelFile(t, m)
	read, err := mvclust.ReadModel(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(m.Usable(), read.Usable(), read.Current().Usable()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(m *mvclust.Model){
		"labels":     func(m *mvclust.Model) { m.Labels = slices.Repeat([]int{-1}, len(m.Labels)) },
		"confidence": func(m *mvclust.Model) { m.Confidence = nil },
		"graph":      func(m *mvclust.Model) { m.Graph = &graph.Graph{Offsets: []int{0}} },
		"settings":   func(m *mvclust.Model) { m.Settings.Neighbours = 0 },
		"views":      func(m *mvclust.Model) { m.Views = nil },
		"level":      func(m *mvclust.Model) { m.Level = 99 },
	} {
		changed := *read
		if change(&changed); changed.Usable() == nil {
			t.Errorf("%s: the changed model counts as usable", name)
		}
		made := *m
		if change(&made); made.Usable() == nil {
			t.Errorf("%s: a model that was not read counts as usable", name)
		}
	}
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
	want := `{"format":"mvclust model","version":2,"samples":150,"clusters":` + fmt.Sprint(m.Clusters()) + `,"settings":{"neighbors":7,"candidates":28,` +
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
		"it is a model of version 7, and this program reads versions up to 2; use a newer mvclust": other(`{"format": "mvclust model", "version": 7}`),
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
	_, _, whole := modelOf(t, mvclust.Options{}, true)
	var file bytes.Buffer
	if err := whole.Write(&file); err != nil {
		t.Fatal(err)
	}
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
		"all others":   func(m *mvclust.Model) { m.Settings.Neighbours = len(m.Labels) },
		"candidates":   func(m *mvclust.Model) { m.Settings.Candidates = len(m.Labels) },
		"nearest":      func(m *mvclust.Model) { m.Neighbourhoods = nil },
		"chosen":       func(m *mvclust.Model) { m.Settings.Chosen = len(m.Labels) + 1 },
		"anchored":     func(m *mvclust.Model) { m.Settings.Anchored = len(m.Labels) + 1 },
		"empty id":     func(m *mvclust.Model) { m.IDs[1] = "" },
		"same id":      func(m *mvclust.Model) { m.IDs[1] = m.IDs[2] },
		"latin id":     func(m *mvclust.Model) { m.IDs[1] = "M\xfcller" },
		"local scale":  func(m *mvclust.Model) { m.Views[0].LocalScales[1] = -1 },
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
		m, err := mvclust.ReadModel(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
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
	file := modelFile(f, m)
	f.Add(file)
	for path, value := range map[string]string{
		"version": "0", "samples": "2147483647", "clusters": "1", "retired": "1000000", "settings.neighbors": "1000000000",
		"settings.candidates": "149", "settings.chosen": "1", "settings.partition.levels": "100", "views.0.dims": "1",
		"views.0.scale.weights": "[1e300, 1e300, 1e300]", "views.0.block": "7", "base_rate": "null", "ids": "null", "ids.0": `"\u0000"`, "ids.1": `"\ud800"`,
	} {
		f.Add(patched(f, file, path, value))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := mvclust.ReadModel(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			if err := m.Validate(); err != nil {
				t.Error(err)
			}
		}
		if now, err := mvclust.OpenCurrent(bytes.NewReader(file), int64(len(file))); err == nil && now.Validate() != nil {
			t.Error(now.Validate())
		}
		apart, failed := mvclust.OpenModel(bytes.NewReader(file), int64(len(file)))
		if failed != nil {
			return
		}
		for i := range min(apart.Samples(), 3) {
			got, damage := apart.SpacesOf(t.Context(), []int{i, apart.Samples() - 1}, 1)
			if damage != nil || err != nil {
				continue
			}
			want, bad := m.SpacesOf(t.Context(), []int{i, m.Samples() - 1}, 1)
			if bad != nil {
				t.Fatal(bad)
			}
			for v := range want {
				if a, b := want[v].Similarity(0, 1), got[v].Similarity(0, 1); a != b && (a == a || b == b) {
					t.Errorf("view %d, sample %d: %v apart, %v in memory", v, i, b, a)
				}
			}
		}
	})
}

// hostileFields are fields of manifest.json, by their path, with values that no model has,
// and what ReadModel says to them.
var hostileFields = []struct {
	path   string
	values []string // as JSON
	want   string
}{
	{"version", []string{"0", "-1", "-9223372036854775808"}, "it is of version "},
	{"version", []string{"3", "9223372036854775807"}, "reads versions up to 2; use a newer mvclust"},
	{"version", []string{`"1"`, "1.5", "1e30"}, "cannot unmarshal"},
	{"samples", []string{"-1", "2147483648", "9223372036854775807"}, "it has "},
	{"samples", []string{"0", "149", "151", "2147483647"}, "labels has the shape [150]"},
	{"clusters", []string{"0", "-1", "149", "9223372036854775807"}, "and its labels are of "},
	{"retired", []string{"-1", "1048577", "9223372036854775807"}, "numbers of clusters were in use"},
	{"retired", []string{"1"}, " has label "},
	{"settings.neighbors", []string{"-1", "0", "150", "2000000", "1000000000", "2305843009213693952"}, "neighbours of each of 150 samples; there is at least 1, and one fewer than the samples at most"},
	{"settings.candidates", []string{"-1", "0", "150", "2000000", "2305843009213693952"}, "candidates of each of 150 samples; there is at least 1, and one fewer than the samples at most"},
	{"settings.chosen", []string{"-1", "151", "2305843009213693952"}, "was chosen from "},
	{"settings.seed", []string{"-1", "1e30"}, "cannot unmarshal"},
	{"settings.posterior.fusion", []string{`"other"`, "7"}, ""},
	{"settings.posterior.completion", []string{"true"}, ""},
	{"settings.posterior.clip", []string{"-1", "0.5", "1e300"}, "Posterior.Clip"},
	{"settings.refinement.rounds", []string{"-1", "101", "2305843009213693952"}, "Refinement.Rounds"},
	{"settings.partition.sweeps", []string{"-1", "1000001", "2305843009213693952"}, "Partition.Sweeps"},
	{"settings.partition.levels", []string{"-1", "101", "2305843009213693952"}, "Partition.Levels"},
	{"settings.partition.resolution", []string{"-1", "1e13", "1e300"}, "Resolution"},
	{"settings.partition.clip", []string{"-1", "0.5"}, "Partition.Clip"},
	{"views", []string{"[]", "null"}, "there is no view"},
	{"views.0", []string{"{}", "null"}, "view 0 has no dimensions, or no scale"},
	{"views.0.dims", []string{"-1", "0"}, "view 0 has no dimensions"},
	{"views.0.dims", []string{"5", "2305843009213693952"}, "view0/rows has the shape [150 6]"},
	{"views.0.metric", []string{`"other"`, "7"}, ""},
	{"views.0.scale", []string{"null"}, "view 0 has no dimensions, or no scale"},
	{"views.0.scale.scale", []string{`"other"`, "7"}, ""},
	{"views.0.scale.low", []string{"[]", "[1]"}, "the scale has statistics of "},
	{"views.0.scale.span", []string{"[]", "[1]", "[-1, -1, -1, -1, -1, -1]"}, ""},
	{"views.0.scale.mean", []string{"[]", "[1]"}, "the scale has statistics of "},
	{"views.0.scale.inverse", []string{"[]", "[1]", "[-1, -1, -1, -1, -1, -1]"}, ""},
	{"views.0.scale.weights", []string{"[-1, 0, 0]"}, ""},
	{"views.0.function", []string{`{"similarity": [0, 1], "probability": [0]}`}, "similarities and 1 probabilities"},
	{"views.0.function", []string{`{"similarity": [1, 0], "probability": [0, 1]}`}, "must rise from point to point"},
	{"views.0.function", []string{`{"similarity": [0, 1], "probability": [0, 1.5]}`}, "probabilities lie between 0 and 1"},
	{"base_rate", []string{"[]", "[0.5]", "[0.5, 2]", "[0.5, 0.5, 0.5]"}, "base rate"},
	{"cross", []string{"[]", "[[]]", "[[],[],[]]", "[[null],[null]]"}, "cross functions from "},
	{"ids", []string{"[]", `["a"]`}, "ids of 150 samples"},
	{"ids.3", []string{`""`}, "sample 3 has an empty id"},
	{"ids.3", []string{`"same"`}, "samples 3 and 4 have the same id \"same\""},
	{"ids.3", []string{"\"\xff\""}, "manifest.json is not UTF-8"},
	{"ids.3", []string{"7", "null"}, ""},
}

// Every field of the manifest is held against what the file has before memory is asked for.
func TestModelHostileFields(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{}, true)
	m.IDs[4] = "same"
	file := modelFile(t, m)
	if _, err := mvclust.ReadModel(bytes.NewReader(file), int64(len(file))); err != nil {
		t.Fatal(err)
	}
	for _, c := range hostileFields {
		for _, value := range c.values {
			bad := patched(t, file, c.path, value)
			_, err := mvclust.ReadModel(bytes.NewReader(bad), int64(len(bad)))
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 400 {
				t.Errorf("%s = %s: %v; want %q", c.path, value, err, c.want)
			}
		}
	}
}

// patched returns the model file with another value, as JSON, of the field of the manifest
// at path: names and numbers with points between.
func patched(t testing.TB, file []byte, path, value string) []byte {
	t.Helper()
	return rewritten(t, file, func(name string, content []byte) []byte {
		if name != "manifest.json" {
			return content
		}
		var root any
		d := json.NewDecoder(bytes.NewReader(content))
		d.UseNumber()
		if err := d.Decode(&root); err != nil {
			t.Fatal(err)
		}
		at, keys := root, strings.Split(path, ".")
		const mark = "@here@"
		for i, key := range keys {
			last := i == len(keys)-1
			switch x := at.(type) {
			case map[string]any:
				if at = x[key]; last {
					x[key] = mark
				}
			case []any:
				k, err := strconv.Atoi(key)
				if err != nil {
					t.Fatal(err)
				}
				if at = x[k]; last {
					x[k] = mark
				}
			default:
				t.Fatalf("the manifest has no %s", path)
			}
		}
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Replace(text, []byte(`"`+mark+`"`), []byte(value), 1)
	})
}

// rewritten returns the archive with what change makes of each member; nil drops it.
func rewritten(t testing.TB, file []byte, change func(name string, content []byte) []byte) []byte {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if content = change(f.Name, content); content == nil {
			continue
		}
		to, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every member has the shape and the values that go with the others.
func TestModelHostileMembers(t *testing.T) {
	_, _, m := modelOf(t, modelCases["constraints"], false)
	file := modelFile(t, m)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	n, edges := m.Samples(), len(m.Graph.Index)
	ones := func(n int, x float32) []float32 { return slices.Repeat([]float32{x}, n) }
	for _, c := range []struct {
		member string
		shape  []int
		data   any // nil: the member is missing
		want   string
	}{
		{"view0/rows", nil, nil, "view0/rows is missing"},
		{"view0/rows", []int{n, 5}, ones(n*5, 1), "view0/rows has the shape [150 5]"},
		{"view0/rows", []int{n, 6}, ones(n*6, inf), "+Inf"},
		{"view0/roots", nil, nil, "view0/roots is missing"},
		{"view0/roots", []int{n + 1}, ones(n+1, 1), "view0/roots has the shape [151]"},
		{"view0/roots", []int{n}, ones(n, -1), "the local scale -1 of sample 0"},
		{"view0/roots", []int{n}, ones(n, nan), "the local scale NaN of sample 0"},
		{"view0/roots", []int{n}, ones(n, inf), "the local scale +Inf of sample 0"},
		{"labels", nil, nil, "labels is missing"},
		{"labels", []int{n}, slices.Repeat([]int32{-1}, n), "sample 0 has label -1"},
		{"labels", []int{n}, slices.Repeat([]int64{math.MaxInt64}, n), "sample 0 has label 9223372036854775807"},
		{"labels", []int{n}, slices.Repeat([]int32{1}, n), "no sample has label 0"},
		{"confidence", nil, nil, "confidence is missing"},
		{"confidence", []int{n}, ones(n, nan), "sample 0 has confidence NaN"},
		{"graph/offsets", nil, nil, "graph/offsets is missing"},
		{"graph/offsets", []int{n + 1}, make([]int64, n+1), "a graph of 151 offsets"},
		{"graph/offsets", []int{n + 1}, append(slices.Repeat([]int64{math.MinInt64}, n), int64(edges)), "a graph of 151 offsets"},
		{"graph/index", nil, nil, "graph/index is missing"},
		{"graph/index", []int{edges}, slices.Repeat([]int32{math.MaxInt32}, edges), "out of range"},
		{"graph/index", []int{edges}, slices.Repeat([]int64{1 << 40}, edges), "is 1099511627776, not a whole number of at most 31 bits"},
		{"graph/probability", nil, nil, "graph/probability is missing"},
		{"graph/probability", []int{edges}, ones(edges, 2), "has weight 2"},
		{"neighbors/index", nil, nil, "neighbors/index is missing"},
		{"neighbors/index", []int{n, 0}, []int32{}, "neighbors/probability has the shape"},
		{"neighbors/index", []int{n, 1}, slices.Repeat([]int32{7}, n), "neighbors/probability has the shape"},
		{"neighbors/probability", nil, nil, "neighbors/probability is missing"},
		{"constraints/must_link", nil, nil, "constraints/must_link is missing"},
		{"constraints/must_link", []int{1, 2}, []int32{0, 1000}, "there is no sample 1000"},
		{"constraints/must_link", []int{1, 3}, []int32{0, 1, 2}, "constraints/must_link has the shape [1 3]"},
		{"constraints/cannot_link", []int{1, 2}, []int32{-5, 0}, "there is no sample -5"},
		{"constraints/distinct", []int{2}, []int32{0, 0}, "2 groups for 150 samples"},
	} {
		bad := rewritten(t, file, func(name string, content []byte) []byte {
			if name != c.member+".npy" {
				return content
			}
			if c.data == nil {
				return nil
			}
			var b bytes.Buffer
			if err := npy.Write(&b, c.shape, c.data); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		})
		_, err := mvclust.ReadModel(bytes.NewReader(bad), int64(len(bad)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v; want %q", c.member, c.shape, err, c.want)
		}
	}
}

// A member that is compressed, or shares its bytes with others, could be many times as long
// as the file.
func TestModelIsAsLongAsItsMembers(t *testing.T) {
	_, _, m := modelOf(t, mvclust.Options{}, false)
	file := modelFile(t, m)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	to, err := w.Create("view0/rows.npy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// The directory of the archive with the entries of the same members over and over.
	directory := bytes.Index(file, []byte("PK\x01\x02"))
	end := bytes.LastIndex(file, []byte("PK\x05\x06"))
	entries := int(binary.LittleEndian.Uint16(file[end+10:]))
	shared := slices.Concat(file[:directory], bytes.Repeat(file[directory:end], 3), file[end:])
	last := shared[len(shared)-(len(file)-end):]
	binary.LittleEndian.PutUint16(last[8:], uint16(3*entries))
	binary.LittleEndian.PutUint16(last[10:], uint16(3*entries))
	binary.LittleEndian.PutUint32(last[12:], uint32(3*(end-directory)))
	for want, bad := range map[string][]byte{
		"its member view0/rows.npy is compressed": b.Bytes(),
		"its members are longer than its ":        shared,
	} {
		_, err := mvclust.ReadModel(bytes.NewReader(bad), int64(len(bad)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
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
