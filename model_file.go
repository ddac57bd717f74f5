package mvclust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/mvclust/mvclust/internal/files/array"
	"github.com/mvclust/mvclust/internal/files/npy"
	"github.com/mvclust/mvclust/internal/parallel"
	"github.com/mvclust/mvclust/internal/words"
	"github.com/mvclust/mvclust/method/constraint"
	"github.com/mvclust/mvclust/method/graph"
	"github.com/mvclust/mvclust/method/neighbour"
	"github.com/mvclust/mvclust/method/partition"
	"github.com/mvclust/mvclust/method/posterior"
	"github.com/mvclust/mvclust/method/probability"
	"github.com/mvclust/mvclust/method/refine"
	"github.com/mvclust/mvclust/method/similarity"
	"github.com/mvclust/mvclust/method/view"
)

// A model file is a .npz archive, so that numpy.load opens it, whose members are not
// compressed and carry the checksums of the zip format. docs/model.md describes them.
const (
	modelFormat   = "mvclust model"
	modelVersion  = 2
	modelManifest = "manifest.json"
)

// modelHeader is manifest.json.
type modelHeader struct {
	Format   string            `json:"format"`
	Version  int               `json:"version"`
	Samples  int               `json:"samples"`
	Clusters int               `json:"clusters"`
	Retired  int               `json:"retired,omitempty"` // above all numbers of clusters, where some are no more
	Settings modelSettings     `json:"settings"`
	Views    []modelViewHeader `json:"views"`
	// The figures of the levels, and which is the current one; absent in files of models
	// without levels.
	Levels []Level `json:"levels,omitempty"`
	Level  *int    `json:"level,omitempty"`
	// Examples are the samples whose classes are known.
	Examples []Example `json:"examples,omitempty"`
	// What was learned: the base rates, and the cross functions where completion needs them.
	BaseRate []float64                 `json:"base_rate,omitempty"`
	Cross    [][]*probability.Function `json:"cross,omitempty"`
	IDs      []string                  `json:"ids,omitempty"`
	Block    int                       `json:"block,omitempty"` // samples whose neighbours have a checksum together
}

// modelSettings is ModelSettings as the file has it.
type modelSettings struct {
	Neighbours int                `json:"neighbors"`
	Candidates int                `json:"candidates"`
	Chosen     int                `json:"chosen,omitempty"`
	Anchored   int                `json:"anchored,omitempty"`
	Posterior  posterior.Settings `json:"posterior"`
	Refinement modelRefinement    `json:"refinement"`
	Partition  modelPartition     `json:"partition"`
	Seed       uint64             `json:"seed"`
}

// modelRefinement is refine.Settings as the file has it, with the number of neighbours once
// more.
type modelRefinement struct {
	WithoutPaths        bool `json:"without_paths"`
	Neighbours          int  `json:"neighbors"`
	WithoutCoNeighbours bool `json:"without_co_neighbors"`
	Rounds              int  `json:"rounds"`
}

// modelPartition is partition.Settings as the file has it, with the resolution.
type modelPartition struct {
	Sweeps     int     `json:"sweeps"`
	Levels     int     `json:"levels"`
	Resolution float64 `json:"resolution"`
	Clip       float64 `json:"clip"`
}

func (s *ModelSettings) encode() modelSettings {
	r, p := s.Refinement, s.Partition
	return modelSettings{
		s.Neighbours, s.Candidates, s.Chosen, s.Anchored, s.Posterior,
		modelRefinement{r.WithoutPaths, s.Neighbours, r.WithoutCoNeighbours, r.Rounds},
		modelPartition{p.Sweeps, p.Levels, s.Resolution, p.Clip}, s.Seed,
	}
}

func (s *modelSettings) decode() ModelSettings {
	r, p := s.Refinement, s.Partition
	return ModelSettings{
		Neighbours: s.Neighbours, Candidates: s.Candidates, Resolution: p.Resolution, Chosen: s.Chosen, Anchored: s.Anchored,
		Posterior:  s.Posterior,
		Refinement: refine.Settings{WithoutPaths: r.WithoutPaths, WithoutCoNeighbours: r.WithoutCoNeighbours, Rounds: r.Rounds},
		Partition:  partition.Settings{Sweeps: p.Sweeps, Levels: p.Levels, Clip: p.Clip},
		Seed:       s.Seed,
	}
}

// modelViewHeader is what manifest.json says of a view.
type modelViewHeader struct {
	Name     string               `json:"name"`
	Dims     int                  `json:"dims"`
	Metric   similarity.Metric    `json:"metric"`
	Scaler   *view.Scaler         `json:"scale"`
	Block    int                  `json:"block,omitempty"` // rows that have a checksum together
	Local    bool                 `json:"local"`           // whether there are local scales
	LeftOut  bool                 `json:"left_out"`
	Function probability.Function `json:"function"`
	Links    int                  `json:"links,omitempty"` // that the rows were made of
	Filling  *view.Filling        `json:"fill,omitempty"`  // of values that were missing
	Index    *modelIndex          `json:"index,omitempty"`
}

// modelIndex is neighbour.Report of the index of a view as the file has it.
type modelIndex struct {
	Method  neighbour.Method `json:"method"`
	Recall  float64          `json:"recall"`
	Checked int              `json:"checked"`
	Cells   int              `json:"cells"`
	Probes  int              `json:"probes"`
	Passes  int              `json:"passes"`
	Widened int              `json:"widened"`
}

// ModelWriter writes a model file in two steps: the rows of the views, which Fit may drop
// if Options.Consume is set, and the rest.
type ModelWriter struct {
	npz  *npy.Writer
	sums [][]int64 // by view whose rows are written: the checksums of its blocks
}

// NewModelWriter returns a ModelWriter that writes to w.
func NewModelWriter(w io.Writer) *ModelWriter { return &ModelWriter{npz: npy.NewWriter(w)} }

// Rows writes the rows of a view. Call it for every view, in their order.
func (w *ModelWriter) Rows(v *View) error {
	if v == nil {
		return errors.New("the view is nil; pass one of those that are clustered")
	}
	if len(v.Data) > 0 {
		if err := v.Check(); err != nil {
			return err
		}
	}
	if len(v.Data) != v.Samples*v.Dims {
		return fmt.Errorf("view %s has no rows any more; write them before the fit, or do not let it consume them", v.Name)
	}
	var sums []int64
	rows := npy.Rows[float32]{Count: v.Samples, Dims: v.Dims, Row: func(i int) []float32 {
		if v.Has(i) {
			return v.Row(i)
		}
		return nil
	}, Absent: float32(math.NaN()), Block: func(values []byte) { sums = append(sums, blockSum(values)) }}
	err := w.npz.Add(fmt.Sprintf("view%d/rows", len(w.sums)), []int{v.Samples, v.Dims}, rows)
	w.sums = append(w.sums, sums)
	return err
}

// Finish writes the rest of m, whose rows may be gone, and ends the file. It does not close
// the underlying writer.
func (w *ModelWriter) Finish(m *Model) error {
	if err := m.validate(); err != nil {
		return fmt.Errorf("the model cannot be written: %w", err)
	}
	return w.finish(m)
}

// finish is Finish of a model that is valid but for its rows.
func (w *ModelWriter) finish(m *Model) error {
	if len(w.sums) != len(m.Views) {
		return fmt.Errorf("the rows of %d views were written where the model has %d", len(w.sums), len(m.Views))
	}
	h := modelHeader{
		Format: modelFormat, Version: modelVersion, Samples: m.Samples(), Clusters: m.Clusters(), Retired: m.Retired, Settings: m.Settings.encode(),
		BaseRate: m.Functions.BaseRate, IDs: m.IDs, Levels: m.Levels, Examples: m.Examples,
	}
	if len(m.Levels) > 0 {
		h.Level = &m.Level
	}
	if m.Neighbourhoods != nil && m.Neighbourhoods.K() > 0 {
		h.Block = npy.BlockRows(m.Neighbourhoods.K())
	}
	if m.Settings.Posterior.Completion {
		h.Cross = m.Functions.Cross
	}
	for i, v := range m.Views {
		h.Views = append(h.Views, modelViewHeader{
			v.Rows.Name, v.Rows.Dims, v.Metric, v.Scaler, npy.BlockRows(v.Rows.Dims), v.LocalScales != nil, v.LeftOut, m.Functions.ByView[i], v.Rows.Links, v.Rows.Filling, nil,
		})
		if v.Index != nil {
			report := modelIndex(v.Index.Report)
			h.Views[i].Index = &report
			if err := w.index(i, v.Index); err != nil {
				return err
			}
		}
		if err := w.npz.Add(fmt.Sprintf("view%d/sums", i), []int{len(w.sums[i])}, w.sums[i]); err != nil {
			return err
		}
		if v.LocalScales != nil {
			if err := w.npz.Add(fmt.Sprintf("view%d/roots", i), []int{len(v.LocalScales)}, v.LocalScales); err != nil {
				return err
			}
		}
	}
	n := m.Samples()
	confidence := make([]float32, n)
	for i, c := range m.Confidence {
		confidence[i] = float32(c)
	}
	members := []struct {
		name  string
		shape []int
		data  any
	}{
		{"labels", []int{n}, narrow[int32](m.Labels)},
		{"confidence", []int{n}, confidence},
		{"graph/offsets", []int{n + 1}, narrow[int64](m.Graph.Offsets)},
		{"graph/index", []int{len(m.Graph.Index)}, m.Graph.Index},
		{"graph/probability", []int{len(m.Graph.Weight)}, m.Graph.Weight},
	}
	for _, x := range members {
		if err := w.npz.Add(x.name, x.shape, x.data); err != nil {
			return err
		}
	}
	if err := w.neighbours(m.Neighbourhoods); err != nil {
		return err
	}
	if err := w.levels(m.Levels, n); err != nil {
		return err
	}
	if err := w.constraints(&m.Constraints); err != nil {
		return err
	}
	text, err := json.Marshal(&h)
	if err != nil {
		return err
	}
	if err := w.npz.AddFile(modelManifest, text); err != nil {
		return err
	}
	return w.npz.Close()
}

// index writes the index of view i.
func (w *ModelWriter) index(i int, p *neighbour.Parts) error {
	for _, part := range []struct {
		name  string
		count int
		data  any
	}{{"axes", len(p.Axes), p.Axes}, {"centres", len(p.Centres), p.Centres}, {"cells", len(p.Cells), p.Cells}, {"rows", len(p.Rows), p.Rows}} {
		if part.count == 0 {
			continue
		}
		if err := w.npz.Add(fmt.Sprintf("view%d/index/%s", i, part.name), []int{part.count}, part.data); err != nil {
			return err
		}
	}
	return nil
}

// index reads what ModelWriter.index writes; nil where there is none. With apart, coordinates stay in the file.
func (f *modelMembers) index(h *modelHeader, i int, apart bool) *neighbour.Parts {
	v := &h.Views[i]
	if v.Index == nil {
		return nil
	}
	p := &neighbour.Parts{Report: neighbour.Report(*v.Index)}
	name := func(part string) string { return fmt.Sprintf("view%d/index/%s", i, part) }
	has := func(part string) bool { _, ok := f.place[name(part)]; return ok }
	if has("axes") {
		p.Axes = f.floats(name("axes"), -1)
	}
	if has("centres") {
		p.Centres = f.floats(name("centres"), -1)
	}
	if has("cells") {
		p.Cells = f.samples(name("cells"), -1)
	}
	switch {
	case has("rows") && apart:
		p.Load = func() ([]float32, error) {
			members := openMembers(f.file)
			rows := members.floats(name("rows"), -1)
			if members.err != nil {
				return nil, damaged(members.err)
			}
			return rows, nil
		}
	case has("rows"):
		p.Rows = f.floats(name("rows"), -1)
	}
	return p
}

// neighbours writes the neighbours of every sample as a matrix, filled up with -1.
func (w *ModelWriter) neighbours(near *refine.Neighbourhoods) error {
	if near == nil {
		return nil
	}
	shape := []int{near.Samples(), near.K()}
	var sums [2][]int64
	index := npy.Rows[int32]{Count: shape[0], Dims: shape[1], Row: func(i int) []int32 {
		row, _ := near.Of(i)
		return row
	}, Absent: -1, Block: func(values []byte) { sums[0] = append(sums[0], blockSum(values)) }}
	probability := npy.Rows[float32]{Count: shape[0], Dims: shape[1], Row: func(i int) []float32 {
		_, p := near.Of(i)
		return p
	}, Block: func(values []byte) { sums[1] = append(sums[1], blockSum(values)) }}
	return cmp.Or(
		w.npz.Add("neighbors/index", shape, index), w.npz.Add("neighbors/probability", shape, probability),
		w.npz.Add(indexSums, []int{len(sums[0])}, sums[0]), w.npz.Add(probabilitySums, []int{len(sums[1])}, sums[1]),
	)
}

// The members with the checksums of the blocks of neighbours.
const (
	indexSums       = "neighbors/index_sums"
	probabilitySums = "neighbors/probability_sums"
)

// levels writes the labels of the levels, if there are any.
func (w *ModelWriter) levels(levels []Level, samples int) error {
	if len(levels) == 0 {
		return nil
	}
	labels := make([]int32, 0, len(levels)*samples)
	for at := range levels {
		labels = append(labels, narrow[int32](levels[at].Labels)...)
	}
	return w.npz.Add(levelLabels, []int{len(levels), samples}, labels)
}

// readLevels reads what levels writes.
func (m *Model) readLevels(f *modelMembers, h *modelHeader) error {
	m.Level = -1
	if len(h.Levels) == 0 {
		return nil
	}
	if h.Level == nil {
		return errors.New("it has levels, and does not say which is the current one")
	}
	m.Levels, m.Level = h.Levels, *h.Level
	labels := integers(f, levelLabels, len(h.Levels), h.Samples)
	for at := range m.Levels {
		if f.err == nil {
			m.Levels[at].Labels = labels[at*h.Samples : (at+1)*h.Samples : (at+1)*h.Samples]
		}
	}
	return f.err
}

// The member that holds the labels of the levels, and those that hold constraints.
const (
	levelLabels = "levels/labels"
	mustLinks   = "constraints/must_link"
	cannotLinks = "constraints/cannot_link"
	groups      = "constraints/distinct"
)

// constraints writes the constraints, if there are any.
func (w *ModelWriter) constraints(known *constraint.Set) error {
	if known.Empty() {
		return nil
	}
	for _, list := range []struct {
		name  string
		pairs [][2]int
	}{{mustLinks, known.MustLink}, {cannotLinks, known.CannotLink}} {
		flat := make([]int32, 0, 2*len(list.pairs))
		for _, p := range list.pairs {
			flat = append(flat, int32(p[0]), int32(p[1]))
		}
		if err := w.npz.Add(list.name, []int{len(list.pairs), 2}, flat); err != nil {
			return err
		}
	}
	return w.npz.Add(groups, []int{len(known.Distinct)}, narrow[int32](known.Distinct))
}

// readConstraints reads what constraints writes.
func (m *Model) readConstraints(f *modelMembers, _ *modelHeader) error {
	if _, ok := f.place[groups]; !ok {
		return nil
	}
	pairs := func(name string) (list [][2]int) {
		for p := range slices.Chunk(integers(f, name, -1, 2), 2) {
			list = append(list, [2]int{p[0], p[1]})
		}
		return list
	}
	m.Constraints = constraint.Set{MustLink: pairs(mustLinks), CannotLink: pairs(cannotLinks), Distinct: integers(f, groups, -1)}
	if len(m.Constraints.Distinct) == 0 {
		m.Constraints.Distinct = nil
	}
	return f.err
}

func narrow[T int32 | int64](values []int) []T {
	out := make([]T, len(values))
	for i, x := range values {
		out[i] = T(x)
	}
	return out
}

// Write writes the model file to w. The model must be valid and have the rows of its views.
func (m *Model) Write(w io.Writer) error {
	if w == nil {
		return errors.New("there is nothing to write the model to; pass a writer")
	}
	if m == nil || m.read == nil || !m.isRead() {
		if err := m.validate(); err != nil {
			return fmt.Errorf("the model cannot be written: %w", err)
		}
	}
	file := NewModelWriter(w)
	for _, v := range m.Views {
		if err := file.Rows(v.Rows); err != nil {
			return err
		}
	}
	return file.finish(m)
}

// ReadModel reads a model file of size bytes. It returns a valid model, or an error that
// says what is wrong with the file and what to do: it is no model, is damaged, or comes
// from a later version. Files from anywhere are safe to read.
func ReadModel(r io.ReaderAt, size int64) (*Model, error) { return readModelFile(r, size, whole) }

// OpenCurrent is ReadModel of the current granularity alone, as Model.Current has it, which is all that
// is needed to predict: without the levels, and without the neighbours that only these compare. The rows
// of views under the cosine that have an Index with axes stay in the file, most of a large one: package
// predict reads them as it needs them, and fails where they are damaged. r must stay open until then.
func OpenCurrent(r io.ReaderAt, size int64) (*Model, error) { return readModelFile(r, size, current) }

// extent says how much of a file is read.
type extent int

const (
	whole   extent = iota
	apart          // without the rows and the neighbours
	current        // without what only the levels need, and the rows that a search does not need
)

// OpenModel is ReadModel for a model that is to be explained: it leaves the rows of the views and the
// Neighbourhoods, most of the file, where they are. SpacesOf and Nearest, and so package explain, read
// those of the samples that they are asked for, check them, and fail where they are damaged. r must
// stay open until then. For all that needs every row the model has none. Of a file that an older
// version has written, all is read.
func OpenModel(r io.ReaderAt, size int64) (*Model, error) { return readModelFile(r, size, apart) }

// readModelFile is ReadModel, OpenModel or OpenCurrent.
func readModelFile(r io.ReaderAt, size int64, much extent) (*Model, error) {
	h, _, err := readManifest(r, size)
	if err != nil {
		return nil, err
	}
	m, err := readModel(r, size, h, much)
	if err == nil {
		err = m.validateParts() // those who read them have looked at the rows and the graph
	}
	if err == nil && h.Clusters != m.Clusters() {
		err = fmt.Errorf("it says that there are %s, and its labels are of %d", words.Count(h.Clusters, "cluster"), m.Clusters())
	}
	if err != nil {
		return nil, damaged(err)
	}
	read := *m
	m.read = &read
	return m, nil
}

// check checks what can be without the members. text is all of manifest.json.
func (h *modelHeader) check(text []byte) error {
	switch {
	case h.Version < 1:
		return fmt.Errorf("it is of version %d, and versions count from 1", h.Version)
	case !utf8.Valid(text): // reading it as JSON replaces such bytes, and ids may become the same
		return fmt.Errorf("its %s is not UTF-8", modelManifest)
	case h.Samples < 0 || h.Samples > math.MaxInt32:
		return fmt.Errorf("it has %d samples", h.Samples)
	case h.Block < 0:
		return fmt.Errorf("its neighbours have blocks of %d rows", h.Block)
	}
	for k := range h.Views {
		if size := h.Views[k].Block; size < 0 {
			return fmt.Errorf("view %d has blocks of %d rows", k, size)
		}
	}
	return nil
}

// modelMembers reads the arrays of a file by their names.
type modelMembers struct {
	file  array.File
	infos []array.Info
	place map[string]int // of an array's name among infos
	err   error          // the first
}

func openMembers(file array.File) *modelMembers {
	f := &modelMembers{file: file, infos: file.Arrays(), place: map[string]int{}}
	for i, a := range f.infos {
		f.place[a.Name] = i
	}
	return f
}

// find returns the number of the array of the given name, which must have the shape; a
// side of -1 may have any length.
func (f *modelMembers) find(name string, shape ...int) int {
	i, ok := f.place[name]
	if !ok {
		f.err = cmp.Or(f.err, fmt.Errorf("%s is missing", name))
		return -1
	}
	a := f.infos[i]
	fits := len(a.Shape) == len(shape) && !a.ColumnMajor
	for k := 0; fits && k < len(shape); k++ {
		fits = shape[k] == -1 || shape[k] == a.Shape[k]
	}
	if !fits {
		f.err = cmp.Or(f.err, fmt.Errorf("%s has the shape %v", name, a.Shape))
	}
	return i
}

func (f *modelMembers) floats(name string, shape ...int) []float32 {
	i := f.find(name, shape...)
	if f.err != nil {
		return nil
	}
	var values []float32
	values, f.err = f.file.Float32(i)
	return values
}

// integers reads whole numbers.
func integers(f *modelMembers, name string, shape ...int) []int {
	i := f.find(name, shape...)
	if f.err != nil {
		return nil
	}
	values, err := f.file.Int64(i)
	if f.err = err; err != nil {
		return nil
	}
	out := make([]int, len(values))
	for k, x := range values {
		if out[k] = int(x); int64(out[k]) != x {
			f.err = fmt.Errorf("%s holds %d", name, x)
			return nil
		}
	}
	return out
}

// samples reads whole numbers that fit 32 bits.
func (f *modelMembers) samples(name string, shape ...int) []int32 {
	i := f.find(name, shape...)
	if f.err != nil {
		return nil
	}
	var values []int32
	values, f.err = npy.Int32(f.file, i)
	return values
}

// readModel puts the model together, which is then to be validated. Parts are read side by side.
func readModel(r io.ReaderAt, size int64, h *modelHeader, much extent) (*Model, error) {
	file, err := npy.Open(r, size)
	if err != nil {
		return nil, err
	}
	m := &Model{
		IDs: h.IDs, Settings: h.Settings.decode(), Retired: h.Retired, Examples: h.Examples,
		Functions: &probability.Functions{ByView: make([]probability.Function, len(h.Views)), BaseRate: h.BaseRate, Cross: h.Cross},
		Views:     make([]ModelView, len(h.Views)),
	}
	type part = func(f *modelMembers, h *modelHeader) error
	neighbours := func(f *modelMembers, h *modelHeader) error { return m.readNeighbours(f, h, much) }
	parts := []part{m.readGraph, neighbours}
	for i := range h.Views {
		parts = append(parts, func(f *modelMembers, h *modelHeader) error { return m.readView(f, h, i, much) })
	}
	if m.Level = -1; much != current {
		parts = append(parts, m.readLevels)
	}
	parts = append(parts, m.readConstraints)
	failed := make([]error, len(parts))
	err = parallel.Blocks(context.Background(), 0, len(parts), 1, func(_, part, _ int) {
		failed[part] = parts[part](openMembers(file), h)
	})
	if err := cmp.Or(append(failed, err)...); err != nil {
		return nil, err
	}
	return m, nil
}

// readGraph reads the graph and what there is one of for each sample.
func (m *Model) readGraph(f *modelMembers, h *modelHeader) error {
	n := h.Samples
	m.Labels = integers(f, "labels", n)
	m.Graph = &graph.Graph{
		Offsets: integers(f, "graph/offsets", n+1),
		Index:   f.samples("graph/index", -1),
		Weight:  f.floats("graph/probability", -1),
	}
	confidence := f.floats("confidence", n)
	if f.err != nil {
		return f.err
	}
	m.Confidence = make([]float64, n)
	for i, c := range confidence {
		m.Confidence[i] = float64(c)
	}
	return m.Graph.Validate()
}

// readView reads view i.
func (m *Model) readView(f *modelMembers, h *modelHeader, i int, much extent) error {
	v := &h.Views[i]
	if f.checkView(h, i); f.err != nil {
		return f.err
	}
	known, stored, err := f.rows(h, i, much == apart || much == current && f.searched(v, i))
	if err != nil {
		return err
	}
	var scales []float32
	if v.Local {
		scales = f.floats(fmt.Sprintf("view%d/roots", i), h.Samples)
	}
	if f.err != nil {
		return f.err
	}
	if known.Links = v.Links; v.Links < 0 {
		return fmt.Errorf("view %d is of %d links", i, v.Links)
	}
	if known.Filling = v.Filling; v.Filling != nil {
		if err := v.Filling.Validate(v.Dims); err != nil {
			return fmt.Errorf("view %d: %w", i, err)
		}
	}
	m.Views[i] = ModelView{known, v.Metric, v.Scaler, scales, v.LeftOut, nil, stored}
	if much != apart { // nothing that is explained needs it
		m.Views[i].Index = f.index(h, i, stored != nil)
	}
	m.Functions.ByView[i] = v.Function
	return f.err
}

// checkView reports a view without dimensions or a scale, or whose rows have other sides.
func (f *modelMembers) checkView(h *modelHeader, i int) {
	if v := &h.Views[i]; v.Dims < 1 || v.Scaler == nil {
		f.err = cmp.Or(f.err, fmt.Errorf("view %d has no dimensions, or no scale", i))
	}
	f.find(fmt.Sprintf("view%d/rows", i), h.Samples, h.Views[i].Dims)
}

// rows reads the rows of view i, or with apart finds them where that is possible.
func (f *modelMembers) rows(h *modelHeader, i int, apart bool) (*View, *blocks, error) {
	v, name := &h.Views[i], fmt.Sprintf("view%d/rows", i)
	if apart {
		stored := f.blocks(ofView(v.Name), name, "f4", h.Samples, v.Dims, v.Block, fmt.Sprintf("view%d/sums", i))
		if f.err != nil || stored != nil {
			return &View{Name: v.Name, Samples: h.Samples, Dims: v.Dims}, stored, f.err
		}
	}
	values := f.floats(name, h.Samples, v.Dims)
	if f.err != nil {
		return nil, nil, f.err
	}
	rows, err := view.New(v.Name, h.Samples, v.Dims, values)
	return rows, nil, err
}

// readNeighbours reads what neighbours writes.
func (m *Model) readNeighbours(f *modelMembers, h *modelHeader, much extent) error {
	if h.Settings.Refinement.WithoutCoNeighbours {
		return nil
	}
	n := h.Samples
	i := f.find("neighbors/index", n, -1)
	if f.err != nil {
		return f.err
	}
	k := f.infos[i].Shape[1]
	if much != whole && f.nearestStay(h, k) {
		near := f.nearest(h, k)
		if f.err != nil {
			return f.err
		}
		if much == apart {
			m.nearest = near
			return nil
		}
		var err error
		m.Neighbourhoods, err = near.first(n, max(1, min(k, h.Settings.Neighbours)))
		return err
	}
	index, probability := f.samples("neighbors/index", n, k), f.floats("neighbors/probability", n, k)
	if f.err != nil {
		return f.err
	}
	var err error
	m.Neighbourhoods, err = refine.NewNeighbourhoods(k, index, probability)
	return err
}
